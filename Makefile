# Two commands for a newcomer: `make demo` and `make test`. Each makes the virtual environment it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

PYTEST := python -m pytest -n auto --dist worksteal
PLAIN := tests/algorithms tests/kernels tests/data tests/learners tests/boosting tests/hostile tests/test_established.py tests/test_contributing.py

.PHONY: demo test check kernels tests tests-without-jit test-thorough test-oldest test-newest guarantees bench clean

demo: $(VENV)/.demo
	$(BIN)/adacc compare --report demo.html
	@echo "Open demo.html in a browser."

# Before a commit, from a fresh clone: about 15 minutes on two cores. The checks and the compiler take one core each,
# and so are run beside each other.
test: $(VENV)/.test
	$(MAKE) -j2 check kernels
	$(MAKE) tests
	$(MAKE) tests-without-jit

# What takes long and is much like a test of `make test`, with the JIT and without. CI runs this too.
test-thorough: kernels
	$(BIN)/$(PYTEST) -m thorough
	NUMBA_DISABLE_JIT=1 $(BIN)/$(PYTEST) -m "thorough and not compiled" $(PLAIN)

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Numba keeps what it compiled beside the sources; processes that want it at the same time would compile it each.
kernels: $(VENV)/.test
	$(BIN)/python -W ignore tests/compile_kernels.py

tests: $(VENV)/.test
	$(BIN)/$(PYTEST) -m "not thorough"

# The same code as plain Python: what the compiler is given must be right before it is fast, and no index may be out of
# range, which compiled code would not notice.
tests-without-jit: $(VENV)/.test
	NUMBA_DISABLE_JIT=1 $(BIN)/$(PYTEST) -m "not compiled and not thorough" $(PLAIN)

# The suite with the oldest versions that are promised, and with the newest there are, in environments of their own.
test-oldest: .venv-oldest/.test
	.venv-oldest/bin/$(PYTEST) $(ONLY)

test-newest: .venv-newest/.test
	.venv-newest/bin/python -m pip install -q --upgrade --upgrade-strategy eager -e ".[test]"
	.venv-newest/bin/$(PYTEST) $(ONLY)

guarantees: $(VENV)/.test
	$(BIN)/python tests/hostile/guarantees.py

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e ".[compare]"
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
