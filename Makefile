.DEFAULT_GOAL := help
.PHONY: help test check check-long demo show bench measurements count-update costs format tidy style analyse coverage docs dist deb install clean

PREFIX ?= /usr/local

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: setup-build ## build, and run every unit test: under five minutes on two cores
	@python3 tools/check.py release

check: setup-check ## every stage of the checks, about half an hour; make check STAGES="style asan" for some
	@python3 tools/check.py $(STAGES)

check-long: setup-check ## random tests and fuzzing with new seeds, all machines, planted faults, static analysis: about 90 minutes on two free cores
	@python3 tools/check.py --long $(STAGES)

demo: TARGET = example_demo
demo: release ## compile a level, spawn it, simulate it twice and check the world hash
	@build/release/examples/demo

show: setup-show ## show a battle in a window: pause, step, and rewind by dragging the time line
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target mica_show
	@build/release/examples/show/show $(SHOW)

bench: TARGET = mica_bench
bench: release ## measure against hand-written arrays; writes build/bench.csv
	@build/release/bench/mica_bench

measurements: TARGET = mica_bench
measurements: release ## measure, and write docs/measurements.md and its chart
	@build/release/bench/mica_bench --csv build/bench.csv
	@python3 tools/measurements.py build/bench.csv

count-update: setup-check release ## write the current instruction counts into the baseline
	@python3 tools/count.py build/release --update

costs: TARGET = mica_costs
costs: setup-check release ## count the instructions of every operation in every circumstance; writes the cost map
	@python3 tools/costs.py build/release --update
	@python3 tools/measurements.py --costs

format: setup-check ## format the C files with clang-format
	@python3 tools/format.py

tidy: setup-check ## run clang-tidy
	@cmake --preset clang >/dev/null
	@run-clang-tidy -quiet -p build/clang '/(src|examples)/.*\.c$$'

analyse: setup-check ## run cppcheck, gcc's analyzer and clang-tidy over src
	@sh tools/analyse.sh

style: setup-check ## check layers, sizes, names, words and thread rules
	@python3 tools/style_test.py
	@python3 tools/style.py

coverage: setup-check ## measure which lines of src the tests reach
	@python3 tools/check.py coverage
	@python3 tools/coverage.py build/coverage

docs: ## build the site (guide, headers, examples) in build/docs; warnings are errors
	@sh tools/setup.sh docs
	@python3 tools/docs.py

dist: setup-check ## write the core as two files, mica.h and mica.c, to build/dist, and test them
	@sh tools/dist.sh

deb: TARGET = all
deb: setup-deb release ## build a Debian package of libraries, headers and the tool in build/deb
	@cd build/release && cpack -G DEB -B ../deb

install: TARGET = all
install: release ## install into PREFIX, /usr/local by default
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
