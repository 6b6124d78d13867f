.DEFAULT_GOAL := help
.PHONY: help setup demo airflow test lint bench lock clean

BIN := .venv/bin
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url

help: ## list these habits
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## make .venv and fetch the Delta jars; does nothing when that is done
	@./setup.sh

demo: setup ## three generated archives from raw files to who was unbeaten, through a private Airflow
	@$(BIN)/skyarchive demo

airflow: setup ## keep a private Airflow running on your warehouse, until Ctrl-C
	@$(BIN)/skyarchive airflow

# Spark's tests wait most of the time for one thread of the JVM: the others run beside them and are shown after.
test: lint ## lint, then all tests
	@log=$$(mktemp); { $(BIN)/pytest tests/unit; unit=$$?; $(BIN)/pytest tests/dags && [ $$unit = 0 ]; } > "$$log" 2>&1 & others=$$!; \
	$(BIN)/pytest tests/integration; spark=$$?; \
	wait $$others; others=$$?; cat "$$log"; rm "$$log"; \
	[ $$spark = 0 ] && [ $$others = 0 ]

lint: setup ## ruff, mypy, who may import whom, and hadolint for the image
	$(BIN)/ruff check
	$(BIN)/ruff format --check --quiet dags jobs lib tests
	$(BIN)/hadolint docker/Dockerfile
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy lib $(sort $(dir $(wildcard jobs/*.py dags/*.py)))

bench: setup ## measure the steps on generated data
	$(BIN)/python tests/bench/run.py

lock: setup ## resolve the dependencies of pyproject.toml anew into the locks
	$(COMPILE) --all-extras pyproject.toml --output-file requirements.lock
	$(COMPILE) --group pyproject.toml:build --constraint requirements.lock --output-file requirements-build.lock

clean: ## remove what was generated: .venv, .jars, caches, the demo; never tables or raw files
	rm -rf .venv .jars .skyarchive build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find $(wildcard dags jobs lib tests) -name __pycache__ -type d -prune -exec rm -rf {} +
