#!/bin/sh
# Writes build/dist/mica.h and mica.c, the core in two files, and tests them: alone with the conformance program, checked builds,
# included in a file of a program, and mixed with programs that are checked if they are not.
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
cc -Werror -DMICA_CHECKED -c $dist/mica.c -o $check/mica_checked.o
include_it cc
include_it cc -DMICA_CHECKED
include_it clang -DMICA_CHECKED -DMICA_C_FIRST -std=c17

# A program and a library that do not belong together: the linker says what is missing, or the loader does when the program starts.
refused() { # the setting that is missing, command...
    setting=$1
    shift
    if "$@" >$check/mixed.txt 2>&1; then echo "not refused: $*"; exit 1; fi
    grep -q "mica_world_create_needs_${setting}_mica_0_2" $check/mixed.txt || { cat $check/mixed.txt; exit 1; }
}
for language in "cc tests/package/consumer.c -I$check" "c++ -std=c++17 tests/package/consumer.cpp -Iinclude"; do
    $language $check/mica.o -pthread -o $check/mixed
    $language -DMICA_CHECKED $check/mica_checked.o -pthread -o $check/mixed
    refused checked $language -DMICA_CHECKED $check/mica.o -pthread -o $check/mixed
    refused unchecked $language $check/mica_checked.o -pthread -o $check/mixed
done
share() { # options
    cc -shared -fPIC "$@" $dist/mica.c -pthread -o $check/libmica.so
}
share -DMICA_CHECKED
cc -DMICA_CHECKED tests/package/consumer.c -I$check -L$check -lmica -o $check/mixed
LD_LIBRARY_PATH=$check $check/mixed >/dev/null
share
refused checked env LD_LIBRARY_PATH=$check $check/mixed
tail -n 1 $check/output.txt
