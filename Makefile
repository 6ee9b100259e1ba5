# Every target does the set-up it needs. Two commands are enough on a fresh machine: `make drill` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
UV_VERSION := 0.13.9
# Byte code is compiled at install time: where PYTHONDONTWRITEBYTECODE is set a fresh environment starts twice as slowly.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup drill test check generate lock bench clean
setup: .venv/.ready

.venv/.ready: requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r requirements/dev.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	touch $@

drill: setup
	$(BIN)/chaosgate run chaos-specs/scenarios/stream-degradation.yaml

test: setup
	$(BIN)/pytest

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest tests/unit tests/contract -m "not slow" -n 2

generate: setup
	$(BIN)/python -m chaosgate.cli.generate

lock:
	$(BIN)/uv pip compile pyproject.toml --extra argo --extra kfp --extra mlflow --group dev --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --quiet --output-file requirements/dev.txt

bench: setup
	$(BIN)/python benchmarks/drill.py

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
