#!/bin/sh
# Writes build/dist/mica.h and mica.c, the core in two files, and tests them: alone with the conformance program, checked builds,
# included in a file of a program, and mixed with programs that are checked if they are not. Writes archives of them and of the source tree,
# with checksums, and tests these.
set -eu
cd "$(dirname "$0")/.."
dist=build/dist
check=$dist/check
rm -rf "$dist"
python3 tools/amalgamate.py $dist
cp LICENSE $dist
python3 tools/archive.py $dist
mkdir -p $check/mica
for header in include/mica/*.h; do
    echo '#include "../../mica.h"' >"$check/mica/$(basename "$header")"
done
# With the default options, as a program that copies the files would compile them. There are no warnings. And as strict C17.
cc -O2 -Werror -c $dist/mica.c -o $check/mica.o
for compiler in gcc clang; do $compiler -std=c17 -pedantic-errors -fsyntax-only $dist/mica.c; done
sources=$(find tests/conformance -name '*.c' ! -name resources.c)
# shellcheck disable=SC2086 # words
cc -O2 -ffp-contract=off -I$check $sources $check/mica.o -pthread -o $check/conformance
$check/conformance --workers 4 >$check/output.txt || { cat $check/output.txt; exit 1; }
grep '^hash' $check/output.txt >$check/hashes.txt
grep '^hash' tests/conformance/expected.txt | grep -v -E '^hash (file|spawned|reloaded|asset|state|resumed|prefab) ' | diff - $check/hashes.txt

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

# Archives: the checksums fit, a second run writes the same bytes, all sources are there, and an unpacked tree writes the same archive.
(cd $dist && sha256sum --quiet --check SHA256SUMS)
archive=$(basename $dist/mica-*[0-9].tar.gz .tar.gz)
for name in "$archive" "$archive-two-files"; do
    grep -q " $name.tar.gz\$" $dist/SHA256SUMS || { echo "SHA256SUMS lacks $name.tar.gz"; exit 1; }
    tar -xzf "$dist/$name.tar.gz" -C $check
done
for file in mica.h mica.c LICENSE; do cmp $dist/$file "$check/$archive-two-files/$file"; done
python3 packaging/sources.py | while read -r file; do cmp "$file" "$check/$archive/$file"; done
mkdir -p "$check/again"
cp $dist/mica.h $dist/mica.c LICENSE $check/again
python3 "$check/$archive/tools/archive.py" $check/again
diff $dist/SHA256SUMS $check/again/SHA256SUMS
tail -n 1 $check/output.txt
