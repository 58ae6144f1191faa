# Every target sets up what it needs in a virtual environment in this folder.
WINDOWS := $(filter Windows_NT,$(OS))
PYTHON ?= $(if $(WINDOWS),python,python3)
VENV ?= .venv
BIN := $(VENV)/$(if $(WINDOWS),Scripts,bin)
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
# It would strip the tests of their assert statements; a test runs the package under -O.
unexport PYTHONOPTIMIZE
# Hundreds of tests start Python: without compiled files each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
# Installs the exact versions of requirements/NAME.txt, then the project itself.
locked = $(PIP) install --require-hashes --requirement requirements/$(1).txt && \
	$(PIP) install --no-deps --no-build-isolation --editable .
MANIFEST := setup.cfg pyproject.toml
TORCH ?= torch==2.13.0+cpu
ROOMS ?= rules trees advice lossy logged conformance batch
COUNT ?= 20

.PHONY: help demo test lint bench bench-peers bench-resolution gpu docs gallery note backends coverage dist fuzz mutants nightly clean cones browser \
	lock latest lowest

help:
	@echo "make demo     the main job: optimal acceptance on a real language-model trace"
	@echo "make test     all tests"
	@echo "make lint     ruff and mypy"
	@echo "make bench    speed as ratios to a reference measured in the same run"
	@echo "make bench-peers  the batch rules compared with what others run, as a table and a chart"
	@echo "make bench-resolution  Global Resolution beside pooled selection, as a table"
	@echo "make gpu      the tests and the benchmarks that need a CUDA device, as a table"
	@echo "make docs     the documentation, as HTML in docs/_build"
	@echo "make gallery  the figures book, into docs/pictures and docs/tables"
	@echo "make note     a paper on the optimal rules, its numbers computed: build/note/note.pdf"
	@echo "make backends PyTorch (CPU), Triton, JAX and transformers, so that make test uses them"
	@echo "make coverage which lines of otspec the tests run; fails below 95%"
	@echo "make dist     wheel and source archive, each tried in an empty environment"
	@echo "make fuzz     readers, arguments, numbers and runs under attack, for half an hour"
	@echo "make mutants  random mutants of seven rooms against the tests of their room: ROOMS=rules COUNT=50"
	@echo "make nightly  all tests with their long searches, and make fuzz"
	@echo "make lock     the newest versions of all packages, with hashes, into requirements"
	@echo "make latest   all tests with the newest versions; says which package broke what"
	@echo "make lowest   all tests with the lowest versions of setup.cfg; says which broke what"
	@echo "make browser  Chromium, in which the explorer is tested"
	@echo "make clean    remove everything that these commands made"

demo: $(VENV)/runtime.stamp
	$(BIN)/otspec trace --out build/demo --overwrite

test: $(VENV)/develop.stamp cones
	$(BIN)/python -m pytest -n auto --dist loadfile

lint: $(VENV)/develop.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/develop.stamp
	$(BIN)/python -m pytest tests/benchmarks

gpu: backends
	PYTHONPATH=.:tests/benchmarks:tests/support $(BIN)/python tests/benchmarks/gpu.py --out build/gpu

bench-peers: backends
	PYTHONPATH=.:tests/benchmarks:tests/support $(BIN)/python tests/benchmarks/bench_peers.py \
		--out build/peers

bench-resolution: $(VENV)/develop.stamp
	PYTHONPATH=.:tests/benchmarks:tests/support $(BIN)/python tests/benchmarks/bench_resolution.py \
		--out build/resolution

docs: $(VENV)/docs.stamp
	$(BIN)/python docs/statements.py
	rm -rf docs/_build docs/jupyter_execute
	$(BIN)/sphinx-build --fail-on-warning --keep-going -q -b html -d build/doctrees docs docs/_build
	$(BIN)/python docs/check_site.py docs/_build
	@echo "docs: docs/_build/index.html"

gallery: $(VENV)/develop.stamp
	$(BIN)/python -m figures --out build/figures --page
	cp build/figures/*.png docs/pictures
	cp build/figures/*.md docs/tables
	$(BIN)/python docs/plots.py

note: $(VENV)/develop.stamp
	$(call locked,note)
	$(BIN)/python -m docs.note --out build/note

# Each archive in an environment of its own, where it has to do the main jobs.
dist: $(VENV)/runtime.stamp
	rm -rf build/dist && mkdir -p build
	$(call locked,tools)
	$(BIN)/python -m build --outdir build/dist . > build/dist.log
	$(BIN)/python -m twine check --strict build/dist/*
	$(BIN)/python packaging/archives.py build/dist
	for archive in build/dist/*.whl build/dist/*.tar.gz; do \
		sh .ci/try-archive $(PYTHON) $$archive build/clean || exit 1; \
	done

coverage: $(VENV)/develop.stamp cones
	$(call locked,tools)
	$(BIN)/python -m pytest -n auto --cov=otspec --cov-report=term:skip-covered --cov-fail-under=95

fuzz: $(VENV)/develop.stamp
	OTSPEC_FUZZ=1 $(BIN)/python -m pytest tests/attacks/test_fuzz.py -n auto

# What git ignores keeps the mutants that were drawn: an interrupted run goes on.
mutants: backends cones
	$(call locked,tools)
	$(BIN)/python packaging/mutants.py $(ROOMS) --count $(COUNT)

nightly: backends cones fuzz
	OTSPEC_NIGHTLY=1 OTSPEC_HYPOTHESIS=nightly $(BIN)/python -m pytest -n auto --dist loadfile

clean:
	rm -rf $(VENV) .venv-latest .venv-lowest build docs/_build docs/jupyter_execute *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

# The CPU build: a plain "pip install torch" may pull gigabytes of GPU libraries.
backends: $(VENV)/develop.stamp
	$(call locked,backends)
	$(PIP) install --no-deps '$(TORCH)' || $(PIP) install --no-deps \
		--extra-index-url https://download.pytorch.org/whl/cpu '$(TORCH)'

lock: $(VENV)/pyvenv.cfg
	$(PIP) install --require-hashes --requirement requirements/tools.txt
	sh .ci/lock $(BIN)/uv '$(TORCH:+cpu=)'

latest lowest: $(VENV)/pyvenv.cfg
	$(PIP) install --require-hashes --requirement requirements/tools.txt
	$(BIN)/python packaging/versions.py $@ --torch '$(TORCH)'

# Not a stamp: the packages that it compiles against may be installed later.
cones: $(VENV)/develop.stamp
	@sh .ci/install-cones.sh $(BIN)/python

# The browser in which the explorer is tested. Never fails: where there is none, tests say so.
browser:
	@sh .ci/install-browser.sh

# A file of a name that is the same everywhere: on Windows the program ends in .exe.
$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "otspec needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
		{ echo "install Python's venv module (on Debian: apt install python3-venv)"; exit 1; }

$(VENV)/runtime.stamp: $(MANIFEST) requirements/runtime.txt | $(VENV)/pyvenv.cfg
	$(call locked,runtime)
	@touch $@

$(VENV)/develop.stamp: $(MANIFEST) requirements/test.txt | $(VENV)/pyvenv.cfg
	$(call locked,test)
	@touch $@ $(VENV)/runtime.stamp

$(VENV)/docs.stamp: $(MANIFEST) requirements/docs.txt | $(VENV)/pyvenv.cfg
	$(call locked,docs)
	@touch $@
