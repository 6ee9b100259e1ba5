# Every target does the set-up it needs. Two commands are enough on a fresh machine: `make drill` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
UV_VERSION := 0.13.9
# Byte code is compiled at install time: where PYTHONDONTWRITEBYTECODE is set a fresh environment starts twice as slowly.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup drill test test-thorough test-image test-cluster test-cluster-all test-cluster-kind cluster-build test-torch train lint check generate lock image bench clean
setup: .venv/.ready

.venv/.ready: requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r requirements/dev.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	touch $@

drill: setup
	$(BIN)/chaosgate run chaos-specs/scenarios/stream-degradation.yaml

# What measures latency runs alone: a drill beside another may be inconclusive, and rightly so. Drills that are harmed
# on purpose wait more than they compute, and go first, so that no worker is left with them at the end.
test: setup
	$(BIN)/pytest tests/e2e tests/docs tests/unit tests/contract -m "not thorough and not alone" -n 3 --dist loadgroup
	$(BIN)/pytest tests/e2e tests/docs -m "alone and not thorough"

test-thorough: setup
	$(BIN)/pytest tests/unit tests/contract -m thorough -n 2
	$(BIN)/pytest tests/e2e tests/docs -m thorough

test-image: setup
	$(BIN)/pytest tests/image

# What needs the extra `torch`, some gigabytes, in an environment of its own: the embedded model's training and its export.
TORCH := .venv-torch
$(TORCH)/.ready: requirements/torch.txt pyproject.toml | setup
	$(PYTHON) -m venv $(TORCH)
	$(BIN)/uv pip install --quiet --python $(TORCH)/bin/python --compile-bytecode --require-hashes -r requirements/torch.txt
	$(BIN)/uv pip install --quiet --python $(TORCH)/bin/python --no-deps --no-build-isolation --editable .
	touch $@

test-torch: $(TORCH)/.ready
	$(TORCH)/bin/pytest tests/unit/engine/training tests/unit/engine/network

train: $(TORCH)/.ready
	$(TORCH)/bin/python -m chaosgate.engine.training

# A cluster of this machine's own, or the one that KUBECONFIG names: docs/test-cluster.md.
TESTBED = PYTHONPATH=tests/cluster:tests/support $(BIN)/python -m testbed
cluster-build: setup
	$(TESTBED).cluster build

test-cluster: cluster-build
	$(BIN)/pytest tests/cluster -m "not thorough" --timeout 600

test-cluster-all: cluster-build
	$(BIN)/pytest tests/cluster --timeout 900 --record docs/test-cluster-record.md

test-cluster-kind: setup
	$(TESTBED).kind $(BIN)/pytest tests/cluster -m "not thorough" --timeout 600

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint
	$(BIN)/pytest tests/unit tests/contract -m "not slow" -n 2

generate: setup
	$(BIN)/python -m chaosgate.cli.generate

LOCK = $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet
lock:
	$(LOCK) pyproject.toml --extra argo --extra kfp --extra kubernetes --extra mlflow --group dev --output-file requirements/dev.txt
	$(LOCK) pyproject.toml --extra torch --group dev --constraints requirements/dev.txt --output-file requirements/torch.txt
	$(LOCK) pyproject.toml requirements/image.in --constraints requirements/dev.txt --output-file requirements/image.txt
	$(LOCK) requirements/build.in --constraints requirements/dev.txt --output-file requirements/build.txt

# IMAGE is what a pipeline runs unless its profile names another; BASE is any image with Python 3.11 or newer and pip.
VERSION := $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' pyproject.toml)
BUILDER ?= $(notdir $(firstword $(shell command -v podman docker)))
IMAGE ?= chaosgate:$(VERSION)
BASE ?= python:3.12-slim
REVISION ?= $(shell git describe --always --dirty --abbrev=40 --exclude='*')
SOURCE ?=
BUILD_FLAGS ?=
# One time for all files, whatever the commit: layers that hold the same are the same, and are neither pushed nor pulled again.
SOURCE_DATE_EPOCH ?= 315532800
STAMP_podman = --timestamp $(SOURCE_DATE_EPOCH)
image:
	$(if $(BUILDER),,$(error podman and docker are not on PATH; install one, or say where one is: make image BUILDER=PATH))
	$(if $(REVISION),,$(error this is no git checkout; say what is built: make image REVISION=...))
	$(BUILDER) build $(STAMP_$(notdir $(BUILDER))) $(BUILD_FLAGS) --file components/Containerfile --tag $(IMAGE) \
	  --build-arg BASE=$(BASE) --build-arg VERSION=$(VERSION) --build-arg REVISION=$(REVISION) --build-arg SOURCE=$(SOURCE) \
	  --build-arg SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) .

bench: setup
	$(BIN)/python benchmarks/drill.py
	$(BIN)/python benchmarks/compile.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/coverage.py

clean:
	rm -rf .venv $(TORCH) .pytest_cache .mypy_cache .ruff_cache .hypothesis
