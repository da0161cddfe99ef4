# Every target sets up what it needs in .venv and is safe to repeat; a fresh machine needs Python >= 3.11 and pip.
# Stamps depend on pyproject.toml and the constraints: change one of them and the next target installs again.

PYTHON ?= python3
WORKERS ?= 2

BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt
# One thread per test worker, so that the workers do not fight over the cores. A file runs in one worker, so that what its
# tests share is computed once.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help demo atlas playground test test-full test-processors test-lowest lint docs tutorials bench bench-quick mutate release clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 24

demo: .venv/.base ## examine a small network on real digits; the report goes into build/demo
	$(BIN)/gnomon examine --budget 45s --out build/demo/report.html

test: .venv/.dev ## tests and doctests, without those marked full; lint runs the rules on the text
	$(PYTEST)

test-full: .venv/.dev ## everything, those marked full as well
	$(PYTEST) -m "full or not full"

# Other processors, imitated: what torch, MKL and numba compute with less of this one, and other numbers of threads.
PROCESSORS := ATEN_CPU_CAPABILITY=default ATEN_CPU_CAPABILITY=avx2 MKL_CBWR=COMPATIBLE NUMBA_CPU_NAME=generic \
	OMP_NUM_THREADS=1 OMP_NUM_THREADS=2

test-processors: .venv/.dev ## the tests under settings that imitate other processors, and on one thread and two
	@for setting in $(PROCESSORS); do \
		echo "== $$setting"; env OMP_NUM_THREADS=1 $$setting $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile || exit 1; done

test-lowest: .venv-lowest/.dev ## the same tests with the lowest versions that pyproject.toml allows, in .venv-lowest
	OMP_NUM_THREADS=1 .venv-lowest/bin/python -m pytest -n $(WORKERS) --dist loadfile

atlas: .venv/.base ## every claim of the atlas at smoke scale
	$(BIN)/gnomon atlas run --jobs $(WORKERS)

# Needs node and npm; everybody else uses the committed page.
playground: .node/.done ## build src/gnomon/playground/playground.html from its TypeScript sources
	.node/node_modules/.bin/tsc --project src/gnomon/playground/web/tsconfig.json
	node src/gnomon/playground/web/build.mjs .node

lint: .venv/.dev ## ruff, mypy and the rules on the text of the project
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -m rules tests/house tests/findings

# Not --quiet: it hides warnings before --strict can count them.
docs: .venv/.dev ## the documentation, warnings as errors, into build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

tutorials: .venv/.dev ## execute the tutorials and pages whose code changed, two at a time
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.tutorials run
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.blocks run

bench: .venv/.base benchmarks/peers/.venv/.done ## every benchmarks/bench_*.py and the faults, results into benchmarks/results
	@for file in benchmarks/bench_*.py; do echo "== $$file"; PYTHONPATH=. $(BIN)/python "$$file" || exit 1; done
	$(BIN)/python -m evaluation.faults --collection tuning

bench-quick: .venv/.base ## ratios to six peers on small workloads in one run; a peer that does not install is skipped
	-@$(MAKE) --no-print-directory benchmarks/peers/.venv/.done
	-@$(MAKE) --no-print-directory benchmarks/peers/.venv-torch/.done
	PYTHONPATH=. $(BIN)/python benchmarks/quick.py

# PACKAGE is a subpackage such as landscape; OPTIONS go to the tool: OPTIONS=--recheck-survivors, OPTIONS=--list.
SEED ?= 0
COUNT ?= 300

mutate: .venv/.dev ## plant numerical errors (PACKAGE=, SEED=, COUNT=) and count those that the nearest tests catch
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.mutate --workers $(WORKERS) --seed $(SEED) --count $(COUNT) \
		$(addprefix --package ,$(PACKAGE)) $(OPTIONS)

# Answers to `make release OPTIONS=...`: --allow-cuda, --skip-docs.
release: .venv/.release ## build the archives, check them, try them in fresh environments, build versioned docs, into dist
	$(BIN)/python -m tools.release $(OPTIONS)

clean: ## remove environments, build and caches
	rm -rf .venv .venv-lowest benchmarks/peers/.venv benchmarks/peers/.venv-torch build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis __pycache__
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Where Python comes without ensurepip, pip is put into the environment from outside.
.venv/.python .venv-lowest/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gnomon needs Python >= 3.11; try: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(@D) || { $(PYTHON) -m venv --clear --without-pip $(@D) && $(PYTHON) -m pip --python $(@D)/bin/python install --quiet pip; }
	@touch $@

.venv/.base: .venv/.python pyproject.toml constraints.txt
	$(INSTALL) --editable .
	@touch $@

.venv/.release: .venv/.dev
	$(BIN)/python -m pip install --quiet --constraint constraints.txt build twine 'readme_renderer[md]'
	@touch $@

.venv/.dev: .venv/.python pyproject.toml constraints.txt
	$(INSTALL) --editable '.[dev]'
	@touch .venv/.base $@

# Python 3.11 is the lowest version of Python, and the last for which all of these have wheels.
.venv-lowest/.dev: .venv-lowest/.python pyproject.toml constraints-lowest.txt
	.venv-lowest/bin/python -m pip install --quiet --constraint constraints-lowest.txt --editable '.[dev]'
	@touch $@

.node/.done: src/gnomon/playground/web/package.json
	mkdir -p .node && cp $< .node/package.json
	cd .node && npm install --silent
	@touch $@

# The peer has dependencies of its own and of another time; it never meets those of gnomon.
benchmarks/peers/.venv/.done: benchmarks/peers/requirements.txt
	$(PYTHON) -m venv benchmarks/peers/.venv || { $(PYTHON) -m venv --clear --without-pip benchmarks/peers/.venv && $(PYTHON) -m pip --python benchmarks/peers/.venv/bin/python install --quiet pip; }
	benchmarks/peers/.venv/bin/python -m pip install --quiet --requirement $<
	@touch $@

# kymatio needs an older scipy; the torch is the one of gnomon.
benchmarks/peers/.venv-torch/.done: benchmarks/peers/requirements-torch.txt
	$(PYTHON) -m venv $(@D) || { $(PYTHON) -m venv --clear --without-pip $(@D) && $(PYTHON) -m pip --python $(@D)/bin/python install --quiet pip; }
	$(@D)/bin/python -m pip install --quiet --requirement $<
	@touch $@
