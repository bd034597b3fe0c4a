# Two commands for a newcomer: `make demo` and `make test`. Each makes the virtual environment it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check tests tests-without-jit bench clean

demo: $(VENV)/.demo
	$(BIN)/python examples/01_family_on_digits.py

test: check tests tests-without-jit

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

tests: $(VENV)/.test
	$(BIN)/python -m pytest -n auto --dist worksteal

# The same code as plain Python: what the compiler is given must be right before it is fast.
tests-without-jit: $(VENV)/.test
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n auto --dist worksteal -m "not compiled"

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e ".[resampling]"
	touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e ".[test]"
	touch $@ $(VENV)/.demo

$(VENV)/.bench: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e ".[bench]"
	touch $@

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
