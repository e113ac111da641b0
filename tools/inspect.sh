#!/bin/sh
# inspect.sh build: builds the page of mica inspect, and the tool with it.
# inspect.sh test:  the same, then what an inspector costs a program, and the tests of the page in a browser; with a second argument, screenshots go to that folder.
# inspect.sh demo:  the same, then the battle of `make show` and mica inspect on it.
set -eu
cd "$(dirname "$0")/.."
build=build/release

# The versions of the lock file. npm ci would refuse it where a registry has the compiler of vite for some platforms only.
(cd inspect && npm install --no-save --no-fund --no-audit --loglevel=error && npm run --silent build)
cmake --preset release >/dev/null
cmake --build --preset release --target mica_tool mica_inspected gravity
case ${1:-build} in
build) ;;
test)
    cmake --build --preset release --target inspect_load
    python3 tools/inspect_cost.py $build --check
    node inspect/page_test.mjs $build/mica $build/examples/inspect/inspected ${2:+"$2"}
    ;;
demo)
    token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    port=${MICA_INSPECT_PORT:-43817}
    $build/examples/inspect/inspected --units 10000 --port "$port" --token "$token" >/dev/null &
    program=$!
    trap 'kill $program 2>/dev/null' EXIT INT TERM
    $build/mica inspect "http://127.0.0.1:$port/?token=$token"
    ;;
esac
