#!/bin/sh
# Every public header compiles alone, as C17 and as C++17, with gcc and with clang, without a warning; and all of them together in
# any order in checked builds, in which headers define macros with the names of functions; and in the mode of clang that imitates Microsoft's
# compiler. tools/dist.sh checks that the core is strict C17.
set -eu
cd "$(dirname "$0")/.."

failed=0
compile() { # compiler, language, standard, header
    # A header of macros alone would be an empty translation unit, which ISO C forbids: hence the typedef.
    printf '#include "mica/%s"\ntypedef int translation_unit;\n' "$(basename "$4")" |
        "$1" -x "$2" -std="$3" -Iinclude -fsyntax-only -Wall -Wextra -pedantic-errors -Wshadow -Werror - ||
        { echo "$4 does not compile alone with $1 as $3"; failed=1; }
}
for header in include/mica/*.h; do
    for compiler in gcc clang; do
        compile $compiler c c17 "$header"
        compile $compiler c++ c++17 "$header"
    done
done
for compiler in gcc clang; do
    for header in include/mica/*.hpp; do compile $compiler c++ c++17 "$header"; done
done
for order in "sort" "sort -r"; do
    for compiler in gcc clang; do
        ls include/mica/*.h | $order | sed 's/.*include.\(.*\)/#include "\1"/' |
            "$compiler" -x c -std=c17 -DMICA_CHECKED=1 -Iinclude -fsyntax-only -Wall -Wextra -Wpedantic -Werror - ||
            { echo "all headers in the order of $order do not compile with $compiler and MICA_CHECKED"; failed=1; }
    done
done

# Microsoft's headers are not here. Those of mingw are for this purpose only good enough for what public headers include, in C.
windows=/usr/x86_64-w64-mingw32/include
if [ -e $windows/string.h ]; then
    for options in "-UMICA_SHARED" "-DMICA_SHARED -DMICA_CHECKED=1"; do
        # shellcheck disable=SC2086 # words
        ls include/mica/*.h | sed 's/.*include.\(.*\)/#include "\1"/' |
            clang -target x86_64-pc-windows-msvc -fms-extensions -fms-compatibility -x c -std=c17 -Iinclude $options \
                -isystem "$(clang -print-resource-dir)/include" -isystem $windows -fsyntax-only -Wall -Wextra -Werror - ||
            { echo "the headers do not compile in the mode of Microsoft's compiler with $options"; failed=1; }
    done
else
    echo "the mode of Microsoft's compiler: not tested, $windows is missing"
fi
exit $failed
