# One command each: make demo · make test · make check · make bench · make honesty · make docs
VENV ?= .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
PIP := $(PY) -m pip --disable-pip-version-check -q
NATIVE := CMakeLists.txt $(wildcard web/*) $(shell find core -name '*.hpp' -o -name '*.cpp')
FAMILY ?= neighbors
WITH_NINJA := PATH="$(abspath $(BIN)):$$PATH"

.PHONY: demo test check bench honesty docs core clean format dev test-python test-core test-sanitize
.PHONY: test-wheel test-lowest test-other-python test-long

demo: $(VENV)/.installed
	$(BIN)/assay fit src/assay/datasets/data/titanic.csv --target Survived
	@echo "Next       open titanic.html in a browser; type: source $(BIN)/activate"

test: test-core test-python

# The estimators' contract, golden numbers, doctests, README and docs are all collected here.
test-python: $(VENV)/.dev
	$(PY) -m pytest -q -n 2 --durations=30

test-core: $(VENV)/.dev
	$(WITH_NINJA) core/test.sh plain

# The same C++ tests under AddressSanitizer with UBSan, then the thread pool under ThreadSanitizer.
test-sanitize: $(VENV)/.dev
	$(WITH_NINJA) core/test.sh address,undefined
	$(WITH_NINJA) core/test.sh thread

# What a user gets: the wheel without extras, in a virtual environment of its own. All tests ran on
# the same code before; this is about what was packed: imports, the core, golden numbers, commands.
OWN := -m pip --disable-pip-version-check -q install
SMOKE := tests/test_import.py tests/core tests/golden
dist/.built: $(VENV)/.dev $(shell find src -name '*.py' -o -name '*.html' -o -name '*.csv')
	rm -rf dist && $(PY) -m build -q --wheel --no-isolation --outdir dist
	touch $@

test-wheel: dist/.built
	rm -rf build/wheel-venv && $(PY) -m venv build/wheel-venv
	build/wheel-venv/bin/python $(OWN) dist/*.whl 'pytest>=8' 'pytest-xdist>=3.6' 'hypothesis>=6.100'
	build/wheel-venv/bin/pytest -q -n 2 -p no:cacheprovider $(SMOKE)
	.ci/smoke.sh build/wheel-venv/bin

# The same wheel on the lowest version of every dependency that pyproject.toml allows.
LOWEST_TESTS := $(SMOKE) tests/store tests/table
test-lowest: dist/.built
	rm -rf build/lowest-venv && $(PY) -m venv build/lowest-venv
	$(PY) .ci/lowest.py >build/lowest.txt
	build/lowest-venv/bin/python $(OWN) dist/*.whl -r build/lowest.txt
	build/lowest-venv/bin/pytest -q -n 2 -p no:cacheprovider $(LOWEST_TESTS)
	.ci/smoke.sh build/lowest-venv/bin

# A newer Python than that of $(VENV), where the machine has one.
test-other-python: $(VENV)/.dev
	.ci/other_python.sh $(PY)

# What takes too long for every day: 500 examples of each property, all CPU levels under the
# sanitizers, and the tests of studies and commands on the lowest versions.
test-long: $(VENV)/.dev
	$(PY) -m pytest -q -n 2 --hypothesis-profile=long
	$(WITH_NINJA) LEVELS=all core/test.sh address,undefined
	$(WITH_NINJA) core/test.sh thread
	$(MAKE) test-lowest LOWEST_TESTS='$(LOWEST_TESTS) tests/study tests/cli tests/report'

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PY) -m tests.style
	$(BIN)/clang-format --dry-run --Werror $$(find core -name '*.hpp' -o -name '*.cpp')
	core/tidy.sh $(BIN)

format: $(VENV)/.dev
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format .
	$(BIN)/clang-format -i $$(find core -name '*.hpp' -o -name '*.cpp')

# hnswlib has no wheel: without isolation its build must find these two here.
bench: $(VENV)/.dev
	$(PIP) install pybind11 'setuptools>=70.1'
	$(PIP) install -e '.[bench]' --no-build-isolation
	$(PY) benchmarks/run.py $(FAMILY)

# Do our promises hold? Simulated tables and real ones as populations, beside the peers.
honesty: $(VENV)/.dev
	$(PY) -m tests.honesty --peers

dev: $(VENV)/.dev

docs: $(VENV)/.dev
	$(PIP) install -e '.[docs]' --no-build-isolation
	$(BIN)/sphinx-build -q -W --keep-going docs docs/_build/html

# Inner loop of a kernel author: rebuild the extension in place after an edit, in seconds.
core:
	test -d build/editable || $(MAKE) $(VENV)/.installed
	cmake --build build/editable
	touch $(VENV)/.installed

$(VENV)/bin/python:
	python3 -m venv $(VENV)
	$(PIP) install -U pip

$(VENV)/.installed: pyproject.toml $(NATIVE) | $(VENV)/bin/python
	$(PIP) install 'scikit-build-core>=0.10' 'nanobind>=2.8' 'ninja>=1.11' 'vl-convert-python>=1.7'
	$(PIP) install -e . --no-build-isolation
	touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(PIP) install -e '.[dev]' --no-build-isolation
	touch $@

clean:
	rm -rf build dist docs/_build docs/api
