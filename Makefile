# The two commands: `make book` and `make test`. Each sets up the environment that it needs; `make help` lists the rest.

PYTHON ?= python3
ifeq ($(OS),Windows_NT)
PROGRAMS := Scripts
else
PROGRAMS := bin
endif
# Six environments, each with what its targets need and no more.
VENV := .venv
BOOK := .venv-book
BACKENDS := .venv-backends
REAL := .venv-real
AUDIT := .venv-audit
WASM := .venv-wasm
BIN := $(VENV)/$(PROGRAMS)
PY := $(BIN)/python
BOOK_PY := $(BOOK)/$(PROGRAMS)/python
BACKENDS_PY := $(BACKENDS)/$(PROGRAMS)/python
REAL_PY := $(REAL)/$(PROGRAMS)/python
AUDIT_PY := $(AUDIT)/$(PROGRAMS)/python
WASM_PY := $(WASM)/$(PROGRAMS)/python
# What must be compiled is kept for the next environment, and for the next clone.
WHEELS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/bpelab/wheels
NATIVE := setup.py $(wildcard bpelab/native/*.c bpelab/native/*.h)
SOURCES := $(shell find bpelab -name '*.py' -o -name '*.txt' -path '*data*' -o -name '*.js' -o -name '*.css' -o -name '*.html') \
	$(wildcard bpelab/data/tiny_chat/* book/*_record.json)
CHAPTERS := $(wildcard book/*.ipynb book/solutions/*.ipynb)
HTML := _build/html/index.html
# Chapters executed at once. They measure times, so outputs that are kept come from one after the other.
JOBS := 1
PYTEST := $(BIN)/pytest -n logical --maxprocesses 8 --dist worksteal

# A folder whose environment is another Python's, or has no pip, is emptied first.
environment = [ "$$($(1) -c 'import pip, sys; print(sys.version)' 2>/dev/null)" = \
	"$$($(PYTHON) -c 'import sys; print(sys.version)')" ] || $(PYTHON) -m venv --clear $(2)
old_python = $(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'bpelab needs Python 3.11 or newer; this is %s. Name another: make PYTHON=...' % sys.version.split()[0])"
# Modules are compiled when they are first imported: most never are.
install = -m pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt

.DEFAULT_GOAL := help
# Solving the solutions of the book is nobody's progress.
export BPELAB_NO_PROGRESS := 1
.PHONY: help setup book serve test test-all test-backends test-real soak coverage audit mutation wasm lint unit unit-all nbval sanitize chapters dist address commit-address release-check github-release browser picture speeds clean

help:            ## list the targets
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: *[^#]*## */\t/' | expand -t 16

setup: $(VENV)/.ready     ## set up the environment of the tests and the chapters, .venv
$(VENV)/.ready: pyproject.toml constraints.txt $(NATIVE)
	@$(old_python)
	@echo "Installing what the tests and the chapters need into $(VENV): a few minutes, once."
	@$(call environment,$(PY),$(VENV))
	@$(PY) $(install) --editable ".[test]"
	@touch $@

book: $(HTML)    ## build the book from the outputs that its pages store; nothing is executed
	@echo "The book is built: file://$(CURDIR)/$(HTML)"
	@echo "\`make serve\` shows it, with chapters that run in the browser."
serve: $(HTML)   ## serve the book at a free port and open it in the browser
	@$(BOOK_PY) book/serve.py _build/html
$(BOOK)/.ready: pyproject.toml constraints.txt
	@$(old_python)
	@echo "Installing what the build needs into $(BOOK): about a minute, once."
	@$(call environment,$(BOOK_PY),$(BOOK))
	@BPELAB_NO_EXTENSION=1 $(BOOK_PY) $(install) --editable ".[book]"
	@touch $@
_build/vendor/mathjax/tex-svg.js: $(BOOK)/.ready book/vendor.py
	@echo "Fetching MathJax: seconds, once."
	@$(BOOK_PY) book/vendor.py
	@touch $@
_build/.lite: $(BOOK)/.ready $(SOURCES) book/lite.py book/vendor.py book/vocabulary.py
	@echo "Building JupyterLite, which runs chapters in the browser: some 10 seconds, and a download the first time."
	@$(BOOK_PY) book/lite.py
	@mkdir -p _build && touch $@
_build/.lite-notebooks: _build/.lite $(CHAPTERS)
	@$(BOOK_PY) book/lite.py --notebooks
	@touch $@
$(HTML): _build/vendor/mathjax/tex-svg.js _build/.lite-notebooks $(SOURCES) _config.yml _toc.yml $(CHAPTERS) \
	$(wildcard book/*.md book/*.bib book/_static/* book/root/*) book/sphinx_local.py book/landing.py book/road.py book/old_addresses.py
	@echo "Building the pages: some 40 seconds, and 10 when few have changed."
	@PATH="$(CURDIR)/$(BOOK)/$(PROGRAMS):$$PATH" $(BOOK)/$(PROGRAMS)/jupyter-book build . --warningiserror --keep-going --quiet
	@touch $@

test: lint unit nbval    ## lint, unit and property tests, short conformance, notebooks, one browser pass: under ten minutes
test-all: lint unit-all nbval  ## the same and all that is slow: faults, forks, signals, clusters, every page in the browser
lint: $(VENV)/.ready     ## check style (ruff), types (mypy) and who imports whom (import-linter)
	@echo "Checking style, types and imports: a minute, and seconds from then on."
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports --no-cache --no-logo
unit: $(VENV)/.ready $(HTML)
	$(PYTEST) -m "not slow"
unit-all: $(VENV)/.ready $(HTML)
	$(PYTEST) --durations 30
nbval: $(VENV)/.ready    ## run the notebooks and compare what they print with what they store
	$(PYTEST) -c tests/book/nbval.ini --rootdir . --nbval --dist loadfile $(CHAPTERS)

sanitize: $(VENV)/.ready ## the C under sanitizers of memory, undefined behaviour and threads, and without memory
	BPELAB_SANITIZE=all $(BIN)/pytest -n 0 tests/native/test_sanitizers.py

# In an environment of its own: with torch installed transformers behaves differently, and `make test` is for those without.
# BPELAB_REAL=1 make test-backends asks a larger model, too, Qwen: a download of 1.1 GB, and some minutes more.
test-backends: $(BACKENDS)/.ready  ## tests with llama.cpp, MLX, OpenVINO, torch; the first run compiles for minutes
	BPELAB_BACKENDS=1 $(BACKENDS_PY) -m pytest tests/backends tests/real/test_gguf.py
$(BACKENDS)/.ready: pyproject.toml constraints.txt tests/backends/llama_cpp.cmake
	@mkdir -p "$(WHEELS)"
	@ls "$(WHEELS)"/llama_cpp_python-$$(sed -n 's/^llama-cpp-python==//p' constraints.txt)-* >/dev/null 2>&1 && exit; \
	[ "$(OS)" = Windows_NT ] && exit; for name in $${CXX:-c++ g++ clang++}; do command -v $$name >/dev/null && exit; done; \
	echo "llama.cpp has to be compiled and there is no C++ compiler: install g++ or clang++, or name yours in CXX." >&2; exit 1
	$(call environment,$(BACKENDS_PY),$(BACKENDS))
	CMAKE_ARGS='-DLLAVA_BUILD=OFF -DGGML_NATIVE=OFF "-DCMAKE_PROJECT_llama.cpp_INCLUDE=$(CURDIR)/tests/backends/llama_cpp.cmake"' \
		$(BACKENDS_PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --constraint constraints.txt \
		--find-links "$(WHEELS)" --wheel-dir "$(WHEELS)" llama-cpp-python
	@ls "$(WHEELS)"/llama_cpp_python-*.tar.gz >/dev/null 2>&1 || $(BACKENDS_PY) -m pip download --quiet \
		--disable-pip-version-check --no-deps --no-binary llama-cpp-python --constraint constraints.txt --dest "$(WHEELS)" \
		llama-cpp-python || echo "Without llama.cpp's sources, tests with its vocabularies and templates are skipped." >&2
	$(BACKENDS_PY) $(install) \
		--find-links "$(WHEELS)" --editable ".[backends]"
	@touch $@

# The packages that ship the files are downloaded into the user's cache, and no further than there. ONLY names some of the
# files: make test-real ONLY="Qwen or Moonshine". What needs llama.cpp, test_gguf.py, is in test-backends.
test-real: $(REAL)/.ready  ## every real tokenizer file, 300 MB that are fetched once, against its own library
	BPELAB_REAL=1 $(REAL_PY) -m pytest -rs -n logical --maxprocesses 8 --dist worksteal tests/real \
		--ignore tests/real/test_gguf.py $(if $(ONLY),-k "$(ONLY)")
$(REAL)/.ready: pyproject.toml constraints.txt tests/real/constraints.txt $(NATIVE)
	@$(old_python)
	@$(call environment,$(REAL_PY),$(REAL))
	@grep -vE "^($$(sed -n 's/==.*//p' tests/real/constraints.txt | paste -sd '|' -))==" constraints.txt | \
		cat - tests/real/constraints.txt >$(REAL)/constraints.txt
	$(REAL_PY) $(subst constraints.txt,$(REAL)/constraints.txt,$(install)) --editable ".[real]"
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
	$(PY) tests/audit.py $(AUDIT)/$(PROGRAMS)/pip-audit
$(AUDIT)/.ready: $(VENV)/.ready
	$(call environment,$(AUDIT_PY),$(AUDIT))
	$(AUDIT_PY) $(install) pip-audit
	@touch $@

mutation: $(VENV)/.mutation  ## whether a test fails when a line of the library is changed (an hour)
	$(PY) -m tests.mutation
$(VENV)/.mutation: $(VENV)/.ready
	$(PY) $(install) --editable ".[mutation]"
	@touch $@

wasm: $(WASM)/.ready     ## compile the C for the library in JavaScript anew, where a test says that it must be
	@$(WASM_PY) -m tools.make_wasm
$(WASM)/.ready: constraints.txt
	@$(old_python)
	@echo "Installing a compiler for WebAssembly into $(WASM): 100 MB to download, once."
	@$(call environment,$(WASM_PY),$(WASM))
	@$(WASM_PY) $(install) ziglang
	@touch $@

chapters: $(VENV)/.ready  ## execute the chapters in place and store their outputs
	@echo "Executing $(words $(CHAPTERS)) notebooks: some ten minutes."
	@$(PY) book/execute.py --jobs $(JOBS) $(CHAPTERS)

dist: $(VENV)/.ready  ## build the sdist, the pure wheel and this platform's, with C, into dist/, and try them
	@rm -rf dist build
	@BPELAB_NO_EXTENSION=1 $(PY) -m build --no-isolation
	@BPELAB_NO_EXTENSION=0 $(PY) -m build --no-isolation --wheel || \
		echo "The extension in C can't be built here, so there is the pure wheel alone." >&2
	@$(PY) tools/check_dist.py dist
address:         ## write the addresses of repository and book where they are needed: make address ADDRESS=... PAGES=...
	@$(PYTHON) tools/set_repository.py $${ADDRESS+"$$ADDRESS" $${PAGES+"$$PAGES"}}
commit-address:  ## what CI does when the book is published: commit what `make address` changed, if anything, and push it
	@git diff --quiet || { git -c user.name="github-actions[bot]" \
		-c user.email="41898282+github-actions[bot]@users.noreply.github.com" \
		commit --all --quiet --message "The addresses of the repository and the book" && git push; }
release-check:   ## whether these sources can be released as TAG: the version, the changelog, the address
	@$(PYTHON) tools/release.py check "$$TAG"
github-release:  ## what CI does last: a GitHub release of TAG, with the changelog's section and what is in dist/
	@notes=$$($(PYTHON) tools/release.py notes "$$TAG") && \
	gh release create "$$TAG" dist/* --title "$$TAG" --verify-tag --notes "$$notes"
browser: $(VENV)/.ready  ## install the Chromium that the tests in a browser use, where there is none
	@$(PY) -m playwright install chromium

speeds: $(VENV)/.ready   ## measure this library and others for the README's chart, on a quiet machine: a few minutes
	@$(BIN)/bpelab bench --only encode --encoding cl100k_base --json book/speeds_record.json --figure book/images/speeds.svg
picture: $(VENV)/.ready $(HTML)  ## take the README's picture from the built book
	@$(PY) tools/readme_picture.py

clean:          ## remove what was built, but not .venv
	rm -rf _build build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
