# Every target sets up what it needs in .venv, once, and again when pyproject.toml or constraints.txt change.
#
#   make demo    audit invented messages and write a report (unembed-demo/report.html)
#   make test    the whole test suite, with the documentation and the examples
#   make crash   let every write of an audit fail in turn (some minutes)
#   make fuzz    10,000 damaged files through the command line (some minutes)
#   make lint    ruff, formatting, types
#   make bench   the speed of every hot path beside its limit; fails where one became slower
#   make docs    the documentation, into site/
#   make clean   remove everything the targets above made

PYTHON ?= python3
JOBS ?= 2

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
USE := $(VENV)/.set-up-for-use
DEV := $(VENV)/.set-up-for-development
SETTINGS := pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test crash fuzz lint bench docs clean

help:
	@sed -n 's/^#   //p' Makefile

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "unembed needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	@echo "making $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# torch goes first and alone, so that the second call finds it there and looks for no other build of it.
$(USE): $(SETTINGS) | $(BIN)/python
	@echo "installing unembed (some minutes the first time)"
	@$(PIP) install -c constraints.txt torch
	@$(PIP) install -c constraints.txt -e '.[standard]'
	@touch $@

$(DEV): $(SETTINGS) | $(BIN)/python
	@echo "installing unembed with everything its tests need (some minutes the first time)"
	@$(PIP) install -c constraints.txt torch
	@$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@ $(USE)

demo: $(USE)
	$(BIN)/unembed demo --out unembed-demo

test: $(DEV)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

crash: $(DEV)
	UNEMBED_EVERY_WRITE=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/runner/test_every_write.py

fuzz: $(DEV)
	OMP_NUM_THREADS=1 $(BIN)/python tests/fuzz/fuzzer.py --jobs $(JOBS)

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(DEV)
	$(BIN)/python benchmarks/run.py

docs: $(DEV)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site

clean:
	rm -rf $(VENV) site build dist unembed-demo unembed-runs src/*.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
