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

# gcc 12 does not follow who owns memory through a caller's allocator, and takes a loop that ends for one that need not:
# leaks and uninitialised values are left to the sanitizers, under which every test runs.
# Neither does it know that a schema, or a request that is destroyed, is there: it has been looked up.
there="src/json/schema.c src/flow/request.c"
run_gcc() {
    flags="-std=c17 -O1 -c -o /dev/null -fanalyzer -Werror -Wno-analyzer-malloc-leak -Wno-analyzer-file-leak
           -Wno-analyzer-use-of-uninitialized-value -Wno-analyzer-too-complex -DMICA_BUILD -Iinclude -Isrc"
    # shellcheck disable=SC2086 # words
    {
        printf '%s\n' $there | xargs -P "$jobs" -n 1 gcc $flags -Wno-analyzer-null-dereference &&
            find src -name '*.c' | grep -v -F "$(printf '%s\n' $there)" | xargs -P "$jobs" -n 1 gcc $flags
    } 2>&1
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
