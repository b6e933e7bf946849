# Two commands to start with: `make demo` and `make test`. They need python3 (3.11 or newer, with venv), make and git.
# Every target below works in .venv, which is made from requirements.txt (exact versions, checked hashes).

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTEST_FLAGS ?= -n auto --maxprocesses=8 --dist=loadfile

.DEFAULT_GOAL := help
.PHONY: help env demo test lint format types docs wheel lock clean distclean

help:
	@echo "make demo     run the slider-crank: NetCDF result and plot in demo/"
	@echo "make test     run the tests (PYTEST_FLAGS replaces the options that spread them over the cores)"
	@echo "make lint     check style and formatting      make format   repair both"
	@echo "make types    check types                     make docs     build the documentation into site/"
	@echo "make wheel    build the wheel, import it      make lock     resolve requirements.txt anew"
	@echo "make clean    remove what the targets made    make distclean  the same, and .venv"

# ---- environment: the first stamp follows the lock file, the second the package metadata

env: $(VENV)/.installed

$(VENV)/.requirements: requirements.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("jaxmbs needs Python 3.11 or newer, this is " + sys.version)'
	@echo "Creating $(VENV) from requirements.txt. This takes a few minutes, once."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --require-hashes -r requirements.txt
	@touch $@

$(VENV)/.installed: $(VENV)/.requirements pyproject.toml
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

# ---- what a user runs

demo: env
	@mkdir -p demo
	$(BIN)/jaxmbs run examples/slider_crank/mbs.yaml --out demo/slider_crank.nc --plot demo/slider_crank.png

test: env
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

# ---- checks

lint: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: env
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: env
	$(BIN)/pyright --pythonpath $(BIN)/python

docs: env
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The wheel is imported without the editable install: -S skips the hooks in site-packages.
wheel: env
	rm -rf build dist
	$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist .
	$(PIP) install --no-deps --target dist/site dist/*.whl
	cd dist && PYTHONPATH="site:$$(../$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
	  ../$(BIN)/python -S -c 'import jaxmbs, jaxmbs.loaders, jaxmbs.solvers; \
	  print("imported jaxmbs", jaxmbs.__version__, "from", jaxmbs.__path__[0]); assert "dist/site" in jaxmbs.__path__[0]'

# ---- upkeep

lock:
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/python -m pip install --quiet pip-tools
	.venv-lock/bin/pip-compile --quiet --upgrade --extra dev --generate-hashes --allow-unsafe --strip-extras --no-header \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file .venv-lock/requirements.txt pyproject.toml
	{ sed '/^$$/q' requirements.txt; sed '/^# The following packages/d' .venv-lock/requirements.txt; } > .venv-lock/new
	mv .venv-lock/new requirements.txt
	rm -rf .venv-lock

clean:
	rm -rf build dist site demo jaxmbs.egg-info .pytest_cache .ruff_cache .hypothesis
	find jaxmbs loaders solvers tests examples docs benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)
