# The two commands: `make book` and `make test`. Both set up what they need in .venv; `make help` lists the rest.

PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PY := $(BIN)/python
# What must be compiled is kept for the next environment, and for the next clone.
BACKENDS := .venv-backends
AUDIT := .venv-audit
BACKENDS_PY := $(subst $(VENV),$(BACKENDS),$(PY))
AUDIT_PY := $(subst $(VENV),$(AUDIT),$(PY))
WHEELS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/bpelab/wheels
SOURCES := $(shell find bpelab -name '*.py' -o -name '*.txt' -path '*data*' -o -name '*.js' -o -name '*.css') \
	$(wildcard bpelab/data/tiny_chat/* book/backends_record.json book/growth_record.json)
CHAPTERS := $(wildcard book/*.ipynb book/solutions/*.ipynb)
HTML := _build/html/index.html

# A folder whose environment is another Python's, or has no pip, is emptied first.
environment = [ "$$($(1) -c 'import pip, sys; print(sys.version)' 2>/dev/null)" = \
	"$$($(PYTHON) -c 'import sys; print(sys.version)')" ] || $(PYTHON) -m venv --clear $(2)

.DEFAULT_GOAL := help
# Solving the solutions of the book is nobody's progress.
export BPELAB_NO_PROGRESS := 1
.PHONY: help setup book serve test test-backends soak coverage audit mutation lint unit nbval chapters clean

help:            ## this list
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: *[^#]*## */\t/' | expand -t 16

setup: $(VENV)/.ready     ## the virtual environment, made anew only when its versions change
$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'bpelab needs Python 3.11 or newer; this is %s. Name another: make PYTHON=...' % sys.version.split()[0])"
	$(call environment,$(PY),$(VENV))
	$(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[test]"
	@touch $@

book: $(HTML)    ## build the whole book, every chapter executed, warnings as errors
	@echo "The book is built. Open file://$(CURDIR)/$(HTML), or run \`make serve\` to run chapters in the browser."
serve: $(HTML)   ## serve the built book, so that its chapters run in the browser, at http://localhost:8000
	$(PY) -m http.server --bind 127.0.0.1 --directory _build/html 8000
# Executed chapters are kept; they are executed again when the library changes, which the cache does not notice.
_build/vendor/mathjax/tex-svg.js: $(VENV)/.ready book/vendor.py
	$(PY) book/vendor.py
	@touch $@
_build/.lite: $(VENV)/.ready $(SOURCES) $(CHAPTERS) book/lite.py book/vendor.py
	$(PY) book/lite.py
	@mkdir -p _build && touch $@
_build/.library: $(VENV)/.ready $(SOURCES)
	@rm -rf _build/.jupyter_cache _build/.doctrees && mkdir -p _build && touch $@
$(HTML): _build/.library _build/vendor/mathjax/tex-svg.js _build/.lite _config.yml _toc.yml $(CHAPTERS) \
	$(wildcard book/*.md book/*.bib book/_static/*) book/sphinx_local.py
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/jupyter-book build . --warningiserror --keep-going --quiet
	@touch $@

test: lint unit nbval    ## style, types, unit, property, conformance, notebook and browser tests
lint: $(VENV)/.ready
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy
unit: $(VENV)/.ready $(HTML)
	$(BIN)/pytest -n 2
nbval: $(VENV)/.ready
	$(BIN)/pytest -c tests/book/nbval.ini --rootdir . --nbval -n 2 --dist loadfile $(CHAPTERS)

# In an environment of its own: with torch installed transformers behaves differently, and `make test` is for those without.
test-backends: $(BACKENDS)/.ready  ## tests with llama.cpp, MLX, OpenVINO, torch; the first run compiles for minutes
	BPELAB_BACKENDS=1 $(BACKENDS_PY) -m pytest tests/backends
$(BACKENDS)/.ready: pyproject.toml constraints.txt tests/backends/llama_cpp.cmake
	@mkdir -p "$(WHEELS)"
	@ls "$(WHEELS)"/llama_cpp_python-$$(sed -n 's/^llama-cpp-python==//p' constraints.txt)-* >/dev/null 2>&1 && exit; \
	[ "$(OS)" = Windows_NT ] && exit; for name in $${CXX:-c++ g++ clang++}; do command -v $$name >/dev/null && exit; done; \
	echo "llama.cpp has to be compiled and there is no C++ compiler: install g++ or clang++, or name yours in CXX." >&2; exit 1
	$(call environment,$(BACKENDS_PY),$(BACKENDS))
	CMAKE_ARGS='-DLLAVA_BUILD=OFF -DGGML_NATIVE=OFF "-DCMAKE_PROJECT_llama.cpp_INCLUDE=$(CURDIR)/tests/backends/llama_cpp.cmake"' \
		$(BACKENDS_PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --constraint constraints.txt \
		--find-links "$(WHEELS)" --wheel-dir "$(WHEELS)" llama-cpp-python
	$(BACKENDS_PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--find-links "$(WHEELS)" --editable ".[backends]"
	@touch $@

soak: $(VENV)/.ready $(VENV)/.mutation $(HTML)     ## the same tests at full counts, fuzzing, mutation (hours); writes tests/soak.log
	$(PY) tests/soak.py

# Without tests in a browser, those whose children are killed, and two that coverage itself fails in: by an interrupt
# inside its lock, and by a file of its own that may not grow.
coverage: $(VENV)/.ready  ## branch coverage of bpelab by its unit tests, printed; fails under 95 %
	COVERAGE_FILE=$(CURDIR)/.coverage $(BIN)/pytest -n 2 -p no:cacheprovider --cov --cov-report=term --cov-fail-under=95 \
		--ignore tests/book --ignore tests/faults --ignore tests/widgets/test_browser.py \
		--deselect tests/chat/test_session.py::test_interrupts_at_any_moment \
		--deselect tests/shards/test_resuming.py::test_no_room

audit: $(AUDIT)/.ready    ## compare constraints.txt with known vulnerabilities; says so where that needs a network
	$(PY) tests/audit.py $(subst $(VENV),$(AUDIT),$(BIN))/pip-audit
$(AUDIT)/.ready: $(VENV)/.ready
	$(call environment,$(AUDIT_PY),$(AUDIT))
	$(AUDIT_PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt pip-audit
	@touch $@

mutation: $(VENV)/.mutation  ## whether a test fails when a line of the library is changed (an hour)
	$(PY) -m tests.mutation
$(VENV)/.mutation: $(VENV)/.ready
	$(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[mutation]"
	@touch $@

chapters: $(VENV)/.ready  ## execute the chapters in place and store their outputs
	$(PY) book/execute.py $(CHAPTERS)

clean:           ## remove what was built, but not .venv
	rm -rf _build build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
