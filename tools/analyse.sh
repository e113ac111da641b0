#!/bin/sh
# Static analysis of src: cppcheck, gcc's -fanalyzer, clang-tidy. What one of them says fails it.
#   analyse.sh [cppcheck|gcc|tidy]...      all three, or these; MICA_JOBS=N runs N at once
set -u
cd "$(dirname "$0")/.."
jobs=${MICA_JOBS:-$(nproc)}
failed=0

run_cppcheck() {
    cppcheck --quiet -j "$jobs" --enable=warning,performance,portability --std=c11 --language=c --error-exitcode=1 \
        --suppressions-list=tools/cppcheck_suppressions.txt --inline-suppr -Iinclude -Isrc \
        -DMICA_BUILD=1 -D__x86_64__=1 -D__GNUC__=12 src
}

# A file with exceptions has those warnings switched off: tools/analyzer_exceptions.txt says why.
analyse_with_gcc() { # path
    excused=$(awk -F ' \\| ' -v path="$1" '$1 == path { print "-Wno-analyzer-" $2 }' tools/analyzer_exceptions.txt)
    # shellcheck disable=SC2046,SC2086
    gcc -std=c17 -O1 -c -o /dev/null -fanalyzer -Werror -Wno-analyzer-too-complex $excused -DMICA_BUILD -DMICA_ANALYSED \
        -DMICA_VERSION=\"\" -DPROJECT_MAJOR=MICA_VERSION_MAJOR -DPROJECT_MINOR=MICA_VERSION_MINOR -Iinclude -Isrc \
        $(pkg-config --cflags luajit) $(pkg-config --cflags ompi 2>/dev/null) "$1"
}

run_gcc() {
    find src -name '*.c' | xargs -P "$jobs" -n 1 sh tools/analyse.sh gcc-file
}

run_tidy() {
    cmake --preset clang >/dev/null
    run-clang-tidy -quiet -j "$jobs" -p build/clang '/src/.*\.c$'
}

if [ "${1:-}" = gcc-file ]; then
    analyse_with_gcc "$2"
    exit
fi
[ $# -gt 0 ] || set -- cppcheck gcc tidy
for tool in "$@"; do
    echo "$tool ..."
    "run_$tool" || { echo "$tool: reports problems"; failed=1; }
done
exit $failed
