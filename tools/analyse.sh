#!/bin/sh
# Static analysis of src: cppcheck, gcc's -fanalyzer, clang-tidy. What one of them says fails it.
#   analyse.sh [cppcheck|gcc|tidy]...      all three, or these
set -u
cd "$(dirname "$0")/.."
jobs=$(nproc)
failed=0

run_cppcheck() {
    cppcheck --quiet -j "$jobs" --enable=warning,performance,portability --std=c11 --language=c --error-exitcode=1 \
        --suppressions-list=tools/cppcheck_suppressions.txt --inline-suppr -Iinclude -Isrc \
        -DMICA_BUILD=1 -D__x86_64__=1 -D__GNUC__=12 src
}

# gcc 12 does not follow who owns memory through a caller's allocator, nor does it know that what is looked up is there where an
# invariant says so: leaks, uninitialised values and NULL are left to clang-tidy and to the sanitizers, under which every test runs.
run_gcc() {
    find src -name '*.c' | xargs -P "$jobs" -n 1 gcc -std=c17 -O1 -c -o /dev/null -fanalyzer -Werror -Wno-analyzer-malloc-leak \
        -Wno-analyzer-file-leak -Wno-analyzer-use-of-uninitialized-value -Wno-analyzer-null-dereference -Wno-analyzer-too-complex \
        -DMICA_BUILD -Iinclude -Isrc 2>&1
}

run_tidy() {
    cmake --preset clang >/dev/null
    run-clang-tidy -quiet -j "$jobs" -p build/clang '/src/.*\.c$'
}

[ $# -gt 0 ] || set -- cppcheck gcc tidy
for tool in "$@"; do
    "run_$tool" || { echo "$tool: has something to say"; failed=1; }
done
exit $failed
