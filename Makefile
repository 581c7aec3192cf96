# Two commands: `make demo` and `make test`. Both make the environment they need.
PYTHON ?= python3
# LeRobot wants Python 3.12 or newer.
PYTHON312 ?= $(firstword $(wildcard $(HOME)/.pyenv/versions/3.12*/bin/python) python3.12)
VENV ?= .venv
TORCH ?= torch
BIN := $(VENV)/bin
ZOO := $(wildcard zoo/src/etude_zoo/*.onnx) # trained policies: where one ships, it is installed with what plays it

.PHONY: demo test test-bytes test-hub test-learn test-lerobot test-openpi test-ray test-sb3 test-view test-vla-eval test-wheel docs lint browser screen clean

# Where the trained policy ships, the first page says what it has understood, and the oracle on every suite has a page of its own.
LEARNED := $(patsubst zoo/src/etude_zoo/%.onnx,zoo:%,$(wildcard zoo/src/etude_zoo/vima-objects.onnx))

demo: $(VENV)/.installed
	$(BIN)/etude doctor
	$(BIN)/etude evaluate --plan examples/demo.txt --policy oracle --out out/demo/oracle
ifeq ($(LEARNED),)
	$(BIN)/etude evaluate --plan examples/demo.txt --policy oracle:noise=0.01,wrong=0.3 --record failures --out out/demo/shaky
	$(BIN)/etude evaluate --plan examples/demo.txt --policy random --out out/demo/random
	$(BIN)/etude report out/demo/oracle out/demo/shaky out/demo/random --out out/report.html
else
	$(BIN)/etude report out/demo/oracle --out out/suites.html
	$(BIN)/etude evaluate --plan examples/understanding.txt --policy $(LEARNED) --out out/demo/learned
	$(BIN)/etude evaluate --plan examples/understanding.txt --policy blind:$(LEARNED) --out out/demo/blind
	$(BIN)/etude evaluate --plan examples/understanding.txt --policy oracle --out out/demo/yardstick
	$(BIN)/etude report out/demo/learned out/demo/blind out/demo/yardstick --out out/report.html
endif
	@echo "Open out/report.html"

# A file's tests are played by one worker: many share a run, a dataset, a cluster or made shapes. Long files first (tests/conftest.py).
test: $(VENV)/.tested lint browser screen
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

# Whole episodes under every BLAS kernel this CPU can run, without SIMD, for a generic CPU, with other threads and hash seeds: all equal.
test-bytes: $(VENV)/.tested
	$(BIN)/python -m pytest -n 2 -m bytes tests/test_digests.py

# What is pushed by the real client of the Hugging Face Hub, to a Hub of our own.
test-hub: $(VENV)-hub/.installed
	$(VENV)-hub/bin/python -m pytest tests/with_hub

# Training, its policies and planners, T5, ViT and language models as transformers has them (tiny ones of random weights), and exports to ONNX, on
# the CPU. `make test` has no torch and leaves them out. TORCH chooses another build: TORCH='torch==2.13.0'.
test-learn: $(VENV)-learn/.installed
	$(VENV)-learn/bin/python -m pytest -n 2 --dist loadfile tests/learn tests/policies/test_server.py tests/perturb/test_pieces.py

# The real LeRobot, in an environment of its own: our datasets in it, our episodes in lerobot-eval, its checkpoints in etude evaluate.
test-lerobot: $(VENV)-lerobot/.installed
	$(VENV)-lerobot/bin/python -m pytest tests/with_lerobot

# The real client of openpi at our policy server, and its wire in a server that our evaluations play. It wants a NumPy that is older than ours, so
# it lives in an environment without etude, and what is tested of it are programs.
test-openpi: $(VENV)/.tested $(VENV)-openpi/.installed
	ETUDE_OPENPI_PYTHON=$(abspath $(VENV)-openpi/bin/python) $(BIN)/python -m pytest -m openpi tests/with_openpi

# Episodes and streams on the machines of a real Ray cluster, some of which are lost, and what is learned from them, which needs torch. Ray gives
# itself seconds to start: a machine that is busy with other tests is no place for it.
test-ray: $(VENV)-ray/.installed
	$(VENV)-ray/bin/python -m pytest -m ray tests/with_ray

# The vector environment in the real Stable-Baselines3, in an environment of its own: it needs torch, and brings matplotlib and pandas. There too:
# the wrappers of Gymnasium that need other packages.
test-sb3: $(VENV)-sb3/.installed screen
	$(VENV)-sb3/bin/python -m pytest tests/with_sb3 tests/test_examples.py tests/envs/test_wrappers.py -k 'sb3 or train_ or need_a_package'

# Our episodes in the real vla-eval, against a server whose actions are all zero, and one that knows better.
test-vla-eval: $(VENV)-vla-eval/.installed
	$(VENV)-vla-eval/bin/python -m pytest tests/with_vla_eval

# Episodes to walk around in and to drive, in Chromium, drawn in software: what is seen is what the renderer sees, every control works.
test-view: $(VENV)/.tested browser
	$(BIN)/python -m pytest -m browser tests/with_browser

# What `python -m build` makes, installed in an empty environment: it holds all it needs, passes tests, and computes the same bytes.
test-wheel: $(VENV)-wheel/.installed
	$(VENV)-wheel/bin/python -m pytest -m wheel tests/with_wheel

# Guides and API reference as one site. A warning is an error: a broken link, a page nobody links to, a name that is gone.
docs: $(VENV)-docs/.installed
	$(VENV)-docs/bin/python -m sphinx --fail-on-warning --keep-going --fresh-env --quiet docs out/site
	@echo "Open out/site/index.html"

# The page is tested in Chromium: Debian's is installed where that is allowed, elsewhere those tests are skipped.
browser:
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  { apt-get -qq install -y --no-install-recommends chromium >/dev/null 2>&1 || \
	    { apt-get -qq update >/dev/null 2>&1 && apt-get -qq install -y --no-install-recommends chromium >/dev/null 2>&1; }; } || \
	  echo "no Chromium here: tests of pages in a browser are skipped"; }

# Windows are opened on a screen that nobody sees: Xvfb, installed in the same way.
screen:
	@command -v Xvfb >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  { apt-get -qq install -y --no-install-recommends xvfb >/dev/null 2>&1 || \
	    { apt-get -qq update >/dev/null 2>&1 && apt-get -qq install -y --no-install-recommends xvfb >/dev/null 2>&1; }; } || \
	  echo "no Xvfb here: tests of windows are skipped"; }

lint: $(VENV)/.tested
	$(BIN)/ruff check src tests examples docs
	$(BIN)/ruff format --check src tests examples docs
	$(BIN)/mypy

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt $(ZOO) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e $(if $(strip $(ZOO)),'.[zoo]' -e ./zoo,.)
	touch $@

$(VENV)/.tested: pyproject.toml constraints.txt $(ZOO) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]' $(if $(strip $(ZOO)),-e ./zoo)
	touch $@ $(VENV)/.installed

$(VENV)-lerobot/.installed: pyproject.toml
	@$(PYTHON312) -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null || { \
	  echo "LeRobot wants Python 3.12 or newer, and '$(strip $(PYTHON312))' is none: make test-lerobot PYTHON312=/path/to/python3.12"; exit 1; }
	$(PYTHON312) -m venv $(VENV)-lerobot
	$(VENV)-lerobot/bin/python -m pip install --quiet --disable-pip-version-check -e '.[datasets,lerobot]' 'lerobot[diffusion,smolvla]' hypothesis pytest
	touch $@

$(VENV)-learn/.installed: pyproject.toml $(ZOO)
	$(PYTHON) -m venv $(VENV)-learn
	$(VENV)-learn/bin/python -m pip install --quiet --disable-pip-version-check $(TORCH) -e '.[datasets,learn,zoo]' $(if $(strip $(ZOO)),-e ./zoo) \
	  hypothesis onnx pytest pytest-xdist sentencepiece tokenizers transformers
	touch $@

$(VENV)-hub/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-hub
	$(VENV)-hub/bin/python -m pip install --quiet --disable-pip-version-check -e '.[datasets,hub]' hypothesis pytest
	touch $@

# (openpi-client 0.1.2 imports typing_extensions and does not ask for it.)
$(VENV)-openpi/.installed:
	$(PYTHON) -m venv $(VENV)-openpi
	$(VENV)-openpi/bin/python -m pip install --quiet --disable-pip-version-check openpi-client typing_extensions
	touch $@

$(VENV)-ray/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-ray
	$(VENV)-ray/bin/python -m pip install --quiet --disable-pip-version-check -e '.[ray,learn]' hypothesis pytest
	touch $@

$(VENV)-sb3/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-sb3
	$(VENV)-sb3/bin/python -m pip install --quiet --disable-pip-version-check -e . array-api-compat hypothesis moviepy opencv-python-headless pygame pytest 'stable-baselines3>=2.7'
	touch $@

$(VENV)-vla-eval/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-vla-eval
	$(VENV)-vla-eval/bin/python -m pip install --quiet --disable-pip-version-check -e '.[vla-eval]' hypothesis pytest
	touch $@

$(VENV)-wheel/.installed:
	$(PYTHON) -m venv $(VENV)-wheel
	$(VENV)-wheel/bin/python -m pip install --quiet --disable-pip-version-check build hypothesis pytest twine
	touch $@

$(VENV)-docs/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-docs
	$(VENV)-docs/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-hub $(VENV)-learn $(VENV)-lerobot $(VENV)-openpi $(VENV)-ray $(VENV)-sb3 $(VENV)-vla-eval $(VENV)-wheel $(VENV)-docs out build
