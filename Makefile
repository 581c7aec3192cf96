# Two commands: `make demo` and `make test`. Both make the environment they need.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test test-bytes test-lerobot lint browser clean

demo: $(VENV)/.installed
	$(BIN)/etude doctor
	$(BIN)/etude evaluate --plan examples/demo.txt --policy oracle --out out/demo/oracle
	$(BIN)/etude evaluate --plan examples/demo.txt --policy oracle:noise=0.01,wrong=0.3 --record failures --out out/demo/shaky
	$(BIN)/etude evaluate --plan examples/demo.txt --policy random --out out/demo/random
	$(BIN)/etude report out/demo/oracle out/demo/shaky out/demo/random --out out/report.html
	@echo "Open out/report.html"

# A file's tests are played by one worker: many share a run, a data set, a cluster or made shapes.
test: $(VENV)/.tested lint browser
	$(BIN)/python -m pytest -n 2 --dist loadfile

# Whole episodes under every BLAS kernel this CPU can run, without SIMD, for a generic CPU, with other threads and hash seeds: all equal.
test-bytes: $(VENV)/.tested
	$(BIN)/python -m pytest -n 2 -m bytes tests/test_digests.py

# Our data sets in the real lerobot, in an environment of its own: its pins exclude ours, so it is installed without them.
test-lerobot: $(VENV)-lerobot/.installed
	$(VENV)-lerobot/bin/python -m pytest tests/with_lerobot

# The page is tested in Chromium: Debian's is installed where that is allowed, elsewhere those tests are skipped.
browser:
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  { apt-get -qq install -y --no-install-recommends chromium >/dev/null 2>&1 || \
	    { apt-get -qq update >/dev/null 2>&1 && apt-get -qq install -y --no-install-recommends chromium >/dev/null 2>&1; }; } || \
	  echo "no Chromium here: tests of pages in a browser are skipped"; }

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

$(VENV)-lerobot/.installed: pyproject.toml tests/with_lerobot/requirements.txt tests/with_lerobot/prepare.py
	$(PYTHON) -m venv $(VENV)-lerobot
	$(VENV)-lerobot/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --ignore-requires-python -r tests/with_lerobot/requirements.txt
	$(VENV)-lerobot/bin/python tests/with_lerobot/prepare.py
	$(VENV)-lerobot/bin/python -m pip install --quiet --disable-pip-version-check -e '.[datasets]' hypothesis pytest
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-lerobot out build
