# `make chat` and `make test` do all the set-up on a fresh clone; see README.md.

SHELL := /bin/sh
PY := .venv/bin/python
NAME ?=
TESTS ?= tests

.PHONY: chat test lint format bench docs lock clean help

help:
	@echo "make chat [NAME=council]     talk to a syndicate; echo hi | make chat answers and exits"
	@echo "make test [TESTS=tests/cli]  run the tests"
	@echo "make lint                    ruff and pyright; make format lets ruff mend what it can"
	@echo "make bench                   measure, and print a table"
	@echo "make docs                    write the generated pages anew"
	@echo "make lock                    resolve the dependencies anew (needs uv)"
	@echo "make clean                   remove what was built and installed"

chat:
	@scripts/install local
	@.venv/bin/syndicate chat $(NAME)

test:
	@scripts/install dev
	@$(PY) -m pytest -n auto --dist loadgroup $(TESTS)

lint:
	@scripts/install dev
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m pyright --pythonpath $(PY)

format:
	@scripts/install dev
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

bench:
	@scripts/install dev
	@$(PY) -m benchmarks

docs:
	@scripts/install dev
	@$(PY) -m scripts.docs

lock:
	@command -v uv >/dev/null || { echo "make lock needs uv on the PATH: pip install uv" >&2; exit 1; }
	uv pip compile --quiet $(UV_FLAGS) --universal --generate-hashes --python-version 3.11 --no-emit-index-url \
		--custom-compile-command "make lock" --all-extras --group dev \
		--output-file requirements/dev.txt pyproject.toml requirements/build.in
	uv pip compile --quiet $(UV_FLAGS) --universal --generate-hashes --python-version 3.11 --no-emit-index-url \
		--custom-compile-command "make lock" --extra local --constraint requirements/dev.txt \
		--output-file requirements/local.txt pyproject.toml requirements/build.in

clean:
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
