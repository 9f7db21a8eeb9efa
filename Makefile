# `make demo` and `make test` are all a newcomer needs: Python 3.11 or newer, make and git.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready
BIN := $(VENV)/bin
WILD_FILES ?= 12000

.PHONY: demo test fuzz wild check format clean

demo: $(READY)
	$(BIN)/hyperloci demo

test: $(READY)
	$(BIN)/python -m pytest -n 2 --ignore=tests/e2e --cov --cov-report=term:skip-covered
	# Whole programs with deadlines of their own: one at a time, so that a small machine isn't what is tested.
	$(BIN)/python -m pytest tests/e2e

# Every property, drawn anew and thirty times as often as in `make test`: hours.
fuzz: $(READY)
	HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest -n 2 -m hypothesis --timeout=7200

# Everything that is installed here, indexed: thousands of files that nobody here wrote.
wild: $(READY)
	$(BIN)/python -m bench wild $(VENV)/lib/python3*/site-packages --copy $(WILD_FILES)

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV), once: some minutes, most of them for torch."
	$(BIN)/python -m pip install --progress-bar on --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
