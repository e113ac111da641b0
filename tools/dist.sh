#!/bin/sh
# Writes build/dist/mica.h and mica.c, the core in two files, and tests them: alone with the conformance program, checked builds,
# and included in a file of a program.
set -eu
cd "$(dirname "$0")/.."
dist=build/dist
check=$dist/check
rm -rf "$dist"
python3 tools/amalgamate.py $dist
cp LICENSE $dist
mkdir -p $check/mica
for header in include/mica/*.h; do
    echo '#include "../../mica.h"' >"$check/mica/$(basename "$header")"
done
# With the default options, as a program that copies the files would compile them. There are no warnings.
cc -O2 -Werror -c $dist/mica.c -o $check/mica.o
sources=$(find tests/conformance -name '*.c' ! -name resources.c)
# shellcheck disable=SC2086 # words
cc -O2 -ffp-contract=off -I$check $sources $check/mica.o -pthread -o $check/conformance
$check/conformance --workers 4 >$check/output.txt || { cat $check/output.txt; exit 1; }
grep '^hash' $check/output.txt >$check/hashes.txt
grep '^hash' tests/conformance/expected.txt | grep -v -E '^hash (file|spawned|reloaded|asset|state|resumed) ' | diff - $check/hashes.txt

include_it() { # compiler and options
    "$@" -Wall -Wextra -Werror -I$dist tests/package/amalgamation.c -pthread -lm -o $check/included
    $check/included >/dev/null || { echo "failed: $*"; exit 1; }
}
cc -Werror -DMICA_CHECKED -c $dist/mica.c -o $check/mica.o
include_it cc
include_it cc -DMICA_CHECKED
include_it clang -DMICA_CHECKED -DMICA_C_FIRST -std=c17
tail -n 1 $check/output.txt
