#!/bin/sh
# Installs what is missing on Debian or Ubuntu: to build Mica (`setup.sh build`), to build and check it (`setup.sh check`), to
# make its site (`setup.sh docs`) or its Debian package (`setup.sh deb`), or to look at the battle (`setup.sh show`).
# Does nothing, and asks for nothing, when everything is there.
set -eu

missing=
need() { # command, package
    command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}
need_library() { # pkg-config name, package
    pkg-config --exists "$1" 2>/dev/null || missing="$missing $2"
}

if [ "${1:-build}" = docs ]; then
    need python3 python3
    need mkdocs mkdocs
    need doxygen doxygen
    need mandoc mandoc
    [ -e /usr/share/mkdocs/themes/material ] || missing="$missing mkdocs-material"
else
    need make make
    need cmake cmake
    need ninja ninja-build
    need gcc gcc
    need pkg-config pkg-config
    [ -e /usr/include/stdio.h ] || missing="$missing libc6-dev"
    need_library check check
    need_library libxxhash libxxhash-dev
    need_library libzstd libzstd-dev
    need_library jansson libjansson-dev
    need_library sqlite3 libsqlite3-dev
fi
if [ "${1:-build}" = deb ]; then
    need file file
    need dpkg-shlibdeps dpkg-dev
fi
if [ "${1:-build}" = show ] || [ "${1:-build}" = check ]; then
    need_library sdl2 libsdl2-dev
    need_library zlib zlib1g-dev
fi
if [ "${1:-build}" = check ]; then
    need Xvfb xvfb
    need xvfb-run xvfb
    need xauth xauth
    need g++ g++
    need clang clang
    # Sanitizers and the fuzzer of clang are a package of their own, which clang only recommends.
    ls "$(clang -print-resource-dir 2>/dev/null)"/lib/linux/libclang_rt.fuzzer-* >/dev/null 2>&1 ||
        missing="$missing libclang-rt-dev"
    need clang-format clang-format
    need clang-tidy clang-tidy
    need cppcheck cppcheck
    need valgrind valgrind
    need python3 python3
    need nm binutils
    need diff diffutils
    need_library libenet libenet-dev
fi
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "missing, and there is no apt-get to install them:$missing" >&2
    exit 1
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "missing, and neither root nor sudo to install them:$missing" >&2
        exit 1
    fi
    as_root="sudo DEBIAN_FRONTEND=noninteractive"
fi
export DEBIAN_FRONTEND=noninteractive

echo "installing:$missing"
install="$as_root apt-get install -qq -y --no-install-recommends $missing"
# The package lists of a fresh machine are empty or old: fetch them only when the first attempt fails.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
$install >"$log" 2>&1 || { $as_root apt-get update -qq >>"$log" 2>&1 && $install >>"$log" 2>&1; } || {
    cat "$log" >&2
    exit 1
}
