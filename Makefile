.DEFAULT_GOAL := help
.PHONY: playground playground-demo test-playground setup-playground
.PHONY: test-python test-lua test-reload wheel
.PHONY: inspect inspect-demo test-inspect help test check check-long demo show bench bench-cluster measurements count-update costs format tidy style analyse coverage docs dist deb install clean

PREFIX ?= /usr/local

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: setup-build ## build, and run every unit test: under five minutes on two cores
	@python3 tools/check.py release

check: setup-check ## every stage of the checks, about 50 minutes on two cores; make check STAGES="style asan" for some
	@python3 tools/check.py $(STAGES)

check-long: setup-check ## random tests and fuzzing with new seeds, all machines, planted faults, static analysis: about two hours on two free cores
	@python3 tools/check.py --long $(STAGES)

test-python: setup-python ## build and install the Python package without network, and test it
	@python3 tools/check.py python

test-lua: setup-build ## scripts with LuaJIT and with Lua 5.4, mods in a sandbox, and their speed
	@python3 tools/check.py lua

test-reload: setup-build ## reload modules while a program runs, a thousand times
	@python3 tools/check.py reload

wheel: setup-python ## write a wheel and a source archive of the Python package to build/wheel
	@sh tools/python.sh wheel

demo: TARGET = example_demo
demo: release ## compile a level, spawn it, simulate it twice and check the world hash
	@build/release/examples/demo

show: setup-show ## show a battle in a window: pause, step, and rewind by dragging the time line
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target mica_show
	@build/release/examples/show/show $(SHOW)

inspect: setup-inspect ## build the page of mica inspect, which needs Node.js, and the tool with it
	@sh tools/inspect.sh build

inspect-demo: setup-inspect ## look into the battle of make show: prints the address of a page; Ctrl-C ends it
	@sh tools/inspect.sh demo

test-inspect: setup-check ## the page of mica inspect in a browser
	@python3 tools/check.py inspect

playground: setup-playground ## build the playground, Mica as WebAssembly on a static page, in build/playground
	@python3 tools/playground.py build

playground-demo: setup-playground ## the same, and serve it on this computer: prints the address; Ctrl-C ends it
	@python3 tools/playground.py serve

test-playground: setup-check ## the playground in a browser, and its hashes against those of the native program
	@python3 tools/check.py playground

bench: TARGET = mica_bench
bench: release ## measure against hand-written arrays; writes build/bench.csv
	@build/release/bench/mica_bench
	@if [ -e build/release/bench/inspect_load ]; then python3 tools/inspect_cost.py build/release; fi

bench-cluster: TARGET = cluster_bench
bench-cluster: release ## measure a cluster on 1 to 16 ranks; writes bench/cluster.csv and its part of docs/measurements.md
	@python3 tools/cluster_bench.py build/release
	@python3 tools/measurements.py --cluster

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

dist: setup-check ## write the core as two files and archives with checksums to build/dist, and test them
	@sh tools/dist.sh

deb: TARGET = all
deb: setup-deb release ## build a Debian package of libraries, headers and the tool in build/deb
	@cd build/release && cpack -G DEB -B ../deb

install: TARGET = all
install: release ## install into PREFIX, /usr/local by default
	@cmake --install build/release --prefix $(PREFIX)

clean: ## remove everything that was built
	rm -rf build

.PHONY: release setup-build setup-check setup-show setup-python setup-deb
release: setup-build
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target $(or $(TARGET),all)
setup-build:
	@sh tools/setup.sh build
setup-check:
	@sh tools/setup.sh check
setup-show:
	@sh tools/setup.sh show
setup-python:
	@sh tools/setup.sh python
setup-playground:
	@sh tools/setup.sh playground
setup-inspect:
	@sh tools/setup.sh inspect
setup-deb:
	@sh tools/setup.sh deb
