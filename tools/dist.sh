#!/bin/sh
# Writes build/dist/mica.h and mica.c, the core in two files, and lets the conformance program say whether they are Mica.
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
# One call, with nothing but the optimisation, as somebody who copies the files would write it; there must be nothing to warn of.
cc -O2 -Werror -c $dist/mica.c -o $check/mica.o
sources=$(find tests/conformance -name '*.c' ! -name resources.c)
# shellcheck disable=SC2086 # words
cc -O2 -ffp-contract=off -I$check $sources $check/mica.o -pthread -o $check/conformance
$check/conformance --workers 4 >$check/output.txt || { cat $check/output.txt; exit 1; }
grep '^hash' $check/output.txt >$check/hashes.txt
grep '^hash' tests/conformance/expected.txt | grep -v -E '^hash (file|spawned|reloaded|asset) ' | diff - $check/hashes.txt
tail -n 1 $check/output.txt
