#!/bin/sh
# Every public header compiles alone, as C17 and as C++17, with gcc and with clang, without a warning; and all of them together in
# any order in checked builds, in which headers define macros with the names of functions.
set -eu
cd "$(dirname "$0")/.."

failed=0
compile() { # compiler, language, standard, header
    # A header of macros alone would be an empty translation unit, which ISO C forbids: hence the typedef.
    printf '#include "mica/%s"\ntypedef int translation_unit;\n' "$(basename "$4")" |
        "$1" -x "$2" -std="$3" -Iinclude -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Werror - ||
        { echo "$4 does not compile alone with $1 as $3"; failed=1; }
}
for header in include/mica/*.h; do
    for compiler in gcc clang; do
        compile $compiler c c17 "$header"
        compile $compiler c++ c++17 "$header"
    done
done
for compiler in gcc clang; do compile $compiler c++ c++17 include/mica/mica.hpp; done
for order in "sort" "sort -r"; do
    for compiler in gcc clang; do
        ls include/mica/*.h | $order | sed 's/.*include.\(.*\)/#include "\1"/' |
            "$compiler" -x c -std=c17 -DMICA_CHECKED=1 -Iinclude -fsyntax-only -Wall -Wextra -Wpedantic -Werror - ||
            { echo "all headers in the order of $order do not compile with $compiler and MICA_CHECKED"; failed=1; }
    done
done
exit $failed
