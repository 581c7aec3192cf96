# Two commands: `make demo` and `make test`. Both make the environment they need.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test lint clean

demo: $(VENV)/.installed
	$(BIN)/etude doctor
	$(BIN)/etude evaluate --suite clevrskills --policy oracle --episodes 2
	$(BIN)/etude rollout "clevrskills/stack@train#7" --policy oracle --video out/stack.webp
	$(BIN)/etude show gallery --out out/gallery.html
	@echo "Open out/gallery.html and out/stack.webp"

test: $(VENV)/.tested lint
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/.tested
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests
	$(BIN)/mypy

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.tested: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) out build
