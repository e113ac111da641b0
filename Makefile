.DEFAULT_GOAL := help
.PHONY: help test demo show bench check-long count-update format tidy style analyse coverage docs dist deb install clean

PREFIX ?= /usr/local

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: setup-check ## every check, about a quarter of an hour; make test STAGES="style release" for some
	@python3 tools/test.py $(STAGES)

demo: TARGET = example_demo
demo: release ## compile a level, spawn it, simulate it twice, and check the world hash
	@build/release/examples/demo

show: setup-show ## a battle in a window: pause, step, and rewind by dragging the time line
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target mica_show
	@build/release/examples/show/show $(SHOW)

bench: TARGET = mica_bench
bench: release ## measure against hand-written arrays; writes build/bench.csv
	@build/release/bench/mica_bench

check-long: release ## random operations against the model, ten times as many, from a new seed; fuzzing for long; all machines
	@MICA_TEST_STEPS=200000000 MICA_TEST_SEED=$$(date +%s) CK_TIMEOUT_MULTIPLIER=100 build/release/tests/test_core_model
	@MICA_TEST_ROUNDS=2000000 MICA_TEST_SEED=$$(date +%s) CK_TIMEOUT_MULTIPLIER=100 build/release/tests/test_resource_hostile
	@MICA_TEST_TICKS=600000000 CK_TIMEOUT_MULTIPLIER=100 build/release/tests/test_snapshot_snapshot
	@MICA_FUZZ_SEED=0 sh tools/fuzz.sh 1800
	@python3 tools/conformance.py
	@sh tools/dist.sh
	@python3 tools/mutate.py
	@sh tools/analyse.sh

count-update: setup-check release ## write the instruction counts of today into the baseline
	@python3 tools/count.py build/release --update

format: setup-check ## lay out the C files
	@python3 tools/format.py

tidy: setup-check ## what clang-tidy has to say
	@cmake --preset clang >/dev/null
	@run-clang-tidy -quiet -p build/clang '/(src|examples)/.*\.c$$'

analyse: setup-check ## what cppcheck, gcc's analyzer and clang-tidy have to say about src
	@sh tools/analyse.sh

style: setup-check ## layers, sizes, names, thread rules
	@python3 tools/style_test.py
	@python3 tools/style.py

coverage: setup-check ## which lines of src the tests reach
	@python3 tools/test.py coverage
	@python3 tools/coverage.py build/coverage

docs: ## the site: guide, headers, examples; warnings are errors; into build/docs
	@sh tools/setup.sh docs
	@python3 tools/docs.py

dist: setup-build ## the core as two files, mica.h and mica.c, tried with the conformance program; into build/dist
	@sh tools/dist.sh

deb: TARGET = all
deb: setup-deb release ## a Debian package of libraries, headers and the tool; into build/deb
	@cd build/release && cpack -G DEB -B ../deb

install: TARGET = all
install: release ## into PREFIX, /usr/local if not said
	@cmake --install build/release --prefix $(PREFIX)

clean: ## remove everything that was built
	rm -rf build

.PHONY: release setup-build setup-check setup-show setup-deb
release: setup-build
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target $(or $(TARGET),all)
setup-build:
	@sh tools/setup.sh build
setup-check:
	@sh tools/setup.sh check
setup-show:
	@sh tools/setup.sh show
setup-deb:
	@sh tools/setup.sh deb
