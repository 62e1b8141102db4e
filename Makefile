# make demo and make test need Python 3.11 or newer, pip and make; everything else is set up here, in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
PYTEST := $(BIN)/pytest --quiet --numprocesses=auto --dist=loadfile

# What pyproject.toml offers, but for adapters, of which LangChain's alone is quick to install; the tools are a
# dependency group, which older versions of pip do not know.
EXTRAS := excel,lab,serve,spark
GROUPS := pip>=25.1

# Stamps: a set-up is done again only when what it is made from has changed.
BASE := $(VENV)/.installed-base
DEV := $(VENV)/.installed-dev

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

.PHONY: help
help:  ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: demo
demo: $(BASE)  ## Show the whole path on real text; nothing is downloaded but the packages
	@$(BIN)/deltavec demo

.PHONY: test
test: $(DEV)  ## Run the tests on all cores: core without the JIT for line coverage, then everything with it
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m "nojit and not compiled" \
		tests/unit/core tests/unit/search tests/laws/core tests/laws/search \
		--cov=src/deltavec/core --cov=src/deltavec/search --cov-report=term-missing:skip-covered --cov-fail-under=100
	$(PYTEST)

# Files mutated, commands killed, a server attacked, pages looked at, over and over; what failed is kept in torture/.
MINUTES ?= 10
.PHONY: torture
torture: $(DEV)  ## Mutate files, kill commands and attack a server for MINUTES=10, and say what failed
	OMP_NUM_THREADS=1 $(BIN)/python tests/campaigns/torture.py --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

# Its own environment: the libraries that our vectors go to bring a hundred packages.
PEERS := .venv-peers
ENGINES := .venv-engines
.PHONY: test-peers
test-peers: $(PEERS)/.installed $(ENGINES)/.installed  ## Run what other libraries expect of us in those libraries: stores, engines, BERTopic
	HAYSTACK_TELEMETRY_ENABLED=False $(PEERS)/bin/pytest --quiet tests/contracts tests/laws/io/export
	$(ENGINES)/bin/pytest --quiet tests/contracts/test_pages.py

# Its own environment: .venv has the versions of constraints.txt.
LOWEST := .venv-lowest
.PHONY: test-lowest
test-lowest: $(LOWEST)/.installed  ## Run the unit tests and laws on the lowest versions that pyproject.toml promises
	$(LOWEST)/bin/pytest --quiet --numprocesses=auto --dist=loadfile tests/unit tests/laws

.PHONY: check
check: $(DEV)  ## Check style, types, layers and docs
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --strict
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory docs

.PHONY: docs
docs: $(DEV)  ## Build the documentation into docs/_build/html
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build/html

.PHONY: format
format: $(DEV)  ## Rewrite the sources in the house format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Its own environment: the peers stay out of .venv. REVIEWS=file.parquet measures on that file's text.
BENCH := .venv-bench
REVIEWS ?=
.PHONY: bench
bench:  ## Measure speed and memory beside peers (REVIEWS=file.parquet for your text)
	@$(MAKE) --no-print-directory VENV=$(BENCH) $(BENCH)/.installed-base
	@$(BENCH)/bin/python benchmarks/set_up.py
	@$(BENCH)/bin/python benchmarks/run.py --peers --models $(BENCH)/models $(if $(REVIEWS),--text "$(REVIEWS)")

.PHONY: clean
clean:  ## Remove the set-up, the caches and what was built
	rm -rf $(VENV) $(BENCH) $(LOWEST) $(PEERS) $(ENGINES) build dist docs/_build .coverage .coverage.* .hypothesis \
		.import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +

# Some systems ship a venv module without ensurepip; pip then installs pip into the new environment.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit( \
		"deltavec needs Python 3.11 or newer, got " + sys.version.split()[0] \
		+ "; try: make PYTHON=python3.12 ...")'
	@echo "Setting up $(VENV) ..."
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 \
		|| { $(PYTHON) -m venv --clear --without-pip $(VENV) \
			&& $(PYTHON) -m pip --python $@ --disable-pip-version-check -qq install pip; } \
		|| { rm -rf $(VENV); \
			echo "$(PYTHON) cannot make a virtual environment; install its venv module (Debian: python3-venv)" >&2; \
			exit 1; }

$(BASE): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing deltavec into $(VENV) ..."
	@$(PIP) install -c constraints.txt -e '.[lab]'
	@touch $@

$(DEV): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing deltavec and its development tools into $(VENV) ..."
	@$(PIP) install '$(GROUPS)'
	@$(PIP) install -c constraints.txt -e '.[$(EXTRAS),langchain]' --group dev
	@touch $(BASE) $@

# Without constraints.txt: Beam asks for older versions of what others need.
$(ENGINES)/.installed: pyproject.toml
	@$(MAKE) --no-print-directory VENV=$(ENGINES) $(ENGINES)/bin/python
	@echo "Installing deltavec and other engines into $(ENGINES) ..."
	@$(ENGINES)/bin/python -m pip --disable-pip-version-check -qq install '$(GROUPS)'
	@$(ENGINES)/bin/python -m pip --disable-pip-version-check -qq install -e . --group engines
	@touch $@

# BERTopic without what it depends on: all that is used of it works without torch.
$(PEERS)/.installed: pyproject.toml constraints.txt
	@$(MAKE) --no-print-directory VENV=$(PEERS) $(PEERS)/bin/python
	@echo "Installing deltavec and the libraries that it is tested with into $(PEERS) ..."
	@$(PEERS)/bin/python -m pip --disable-pip-version-check -qq install '$(GROUPS)'
	@$(PEERS)/bin/python -m pip --disable-pip-version-check -qq install -c constraints.txt \
		-e '.[haystack,langchain,llama-index]' --group peers
	@$(PEERS)/bin/python -m pip --disable-pip-version-check -qq install --no-deps -c constraints.txt bertopic plotly
	@touch $@

$(LOWEST)/.installed: pyproject.toml tools/lowest_versions.py
	@$(MAKE) --no-print-directory VENV=$(LOWEST) $(LOWEST)/bin/python
	@echo "Installing deltavec and the lowest versions it works with into $(LOWEST) ..."
	@$(LOWEST)/bin/python tools/lowest_versions.py > $(LOWEST)/lowest.txt
	@$(LOWEST)/bin/python -m pip --disable-pip-version-check -qq install '$(GROUPS)'
	@$(LOWEST)/bin/python -m pip --disable-pip-version-check -qq install -c $(LOWEST)/lowest.txt \
		-e '.[$(EXTRAS)]' --group test
	@touch $@
