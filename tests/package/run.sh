#!/bin/sh
# run.sh BUILD_DIR SCRATCH_DIR
# Installs Mica and uses it as others do: by find_package, by pkg-config, and as a subdirectory, static and shared.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
scratch=$(cd "$2" && pwd)
consumer=$source/tests/package

answer() { # what it is, command...
    what=$1
    shift
    [ "$("$@")" = 42 ] || { echo "$what: wrong answer"; exit 1; }
    echo "$what: ok"
}
refused() { # setting of the program, compiler command...: a program that must not be linked
    program=$1
    shift
    if "$@" -o "$scratch/mixed" 2>"$scratch/mixed.txt"; then
        echo "a $program program was linked with another library: $*"
        exit 1
    fi
    grep -q "mica_world_create_needs_${program}_mica_0_2" "$scratch/mixed.txt" || { cat "$scratch/mixed.txt"; exit 1; }
    echo "refused: $program program, other library: ok"
}
build_consumer() { # name, cmake arguments...
    name=$1
    shift
    cmake -G Ninja -S "$consumer" -B "$scratch/$name" "$@" >/dev/null
    cmake --build "$scratch/$name"
    answer "$name" "$scratch/$name/consumer"
    answer "$name, C++" "$scratch/$name/consumer_cpp"
    answer "$name, resource" "$scratch/$name/resource_consumer"
    answer "$name, SQL" "$scratch/$name/sql_consumer"
}

# An old stage could hide a header that is no longer installed.
rm -rf "$scratch/stage"
cmake --install "$build" --prefix "$scratch/stage" >/dev/null
build_consumer find_package -DCMAKE_PREFIX_PATH="$scratch/stage"

# A module for the installed tool, built with the installed Mica.
tool=$scratch/stage/bin/mica
cmake -G Ninja -S "$source/examples/modules" -B "$scratch/module" -DCMAKE_PREFIX_PATH="$scratch/stage" >/dev/null
cmake --build "$scratch/module"
"$tool" compile -q "$source/examples/modules/level.json" -o "$scratch/level.mica"
run_module() { # prints the answer when things have fallen
    "$tool" run -q -n 30 -m "$scratch/module/gravity.so" --save "$scratch/end.mica" "$scratch/level.mica" &&
        "$tool" diff "$scratch/level.mica" "$scratch/end.mica" | grep -q '^~ /apple Height' && echo 42
}
answer "mica run" run_module

PKG_CONFIG_PATH=$(dirname "$(find "$scratch/stage" -name mica.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # the flags are words
gcc -std=c17 "$consumer/consumer.c" -o "$scratch/by_pkg_config" \
    $(pkg-config --cflags --libs mica)
answer pkg-config "$scratch/by_pkg_config"
# shellcheck disable=SC2046
refused checked gcc -std=c17 -DMICA_CHECKED "$consumer/consumer.c" $(pkg-config --cflags --libs mica)
# shellcheck disable=SC2046
refused checked g++ -std=c++17 -DMICA_CHECKED "$consumer/consumer.cpp" $(pkg-config --cflags --libs mica)
# shellcheck disable=SC2046
gcc -std=c17 "$consumer/resource_consumer.c" -o "$scratch/resource_by_pkg_config" \
    $(pkg-config --cflags --libs mica_resource)
answer "pkg-config, resource" "$scratch/resource_by_pkg_config"
# shellcheck disable=SC2046
gcc -std=c17 "$source/examples/level.c" -o "$scratch/level_by_pkg_config" \
    $(pkg-config --cflags --libs mica_json)
"$scratch/level_by_pkg_config" | diff "$source/examples/expected/level.txt" -
echo "pkg-config, JSON: ok"
# shellcheck disable=SC2046
gcc -std=c17 "$source/examples/sql.c" -o "$scratch/sql_by_pkg_config" \
    $(pkg-config --cflags --libs mica_sql)
"$scratch/sql_by_pkg_config" | diff "$source/examples/expected/sql.txt" -
echo "pkg-config, SQL: ok"

build_consumer subdirectory -DMICA_SOURCE="$source"
build_consumer subdirectory_shared -DMICA_SOURCE="$source" -DBUILD_SHARED_LIBS=ON
refused checked gcc -std=c17 -DMICA_CHECKED -I"$source/include" "$consumer/consumer.c" "$scratch/subdirectory_shared/mica/libmica.so"
