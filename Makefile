# Two commands for a newcomer: `make demo` and `make test`. Each makes the virtual environment it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check tests tests-without-jit test-thorough test-oldest test-newest guarantees bench clean

demo: $(VENV)/.demo
	$(BIN)/adacc compare --report demo.html
	@echo "Open demo.html in a browser."

test: check tests tests-without-jit

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

tests: $(VENV)/.test
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not thorough"

test-thorough: $(VENV)/.test
	$(BIN)/python -m pytest -n auto --dist worksteal -m thorough

# The same code as plain Python: what the compiler is given must be right before it is fast, and no index may be out of
# range, which compiled code would not notice.
tests-without-jit: $(VENV)/.test
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n auto --dist worksteal -m "not compiled" \
		tests/engine tests/rules tests/hostile tests/test_established.py tests/test_contributing.py

# The suite with the oldest versions that are promised, and with the newest there are, in environments of their own.
test-oldest: .venv-oldest/.test
	.venv-oldest/bin/python -m pytest -n auto --dist worksteal $(ONLY)

test-newest: .venv-newest/.test
	.venv-newest/bin/python -m pip install -q --upgrade --upgrade-strategy eager -e ".[test]"
	.venv-newest/bin/python -m pytest -n auto --dist worksteal $(ONLY)

guarantees: $(VENV)/.test
	$(BIN)/python tests/hostile/guarantees.py

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e ".[cli]"
	touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e ".[test]"
	touch $@ $(VENV)/.demo

$(VENV)/.bench: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e ".[bench]"
	touch $@

.venv-oldest/.test: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install -q -c constraints-oldest.txt -e ".[test]"
	touch $@

.venv-newest/.test: pyproject.toml
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python -m pip install -q -e ".[test]"
	touch $@

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) .venv-oldest .venv-newest .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
