#!/bin/sh
# big_endian.sh
# Builds the library for s390x, a big-endian machine, and lets it map, under qemu, what this machine compiled for it: the
# world must have the hash it has here. Needs gcc-s390x-linux-gnu and qemu-user-static; zstd for s390x is fetched.
set -eu
cd "$(dirname "$0")/.."
for program in s390x-linux-gnu-gcc qemu-s390x-static apt-get dpkg; do
    command -v $program >/dev/null || { echo "needs $program: apt-get install gcc-s390x-linux-gnu qemu-user-static"; exit 1; }
done
build=$(pwd)/build/big_endian
root=$build/root
mkdir -p "$build/lists/partial" "$root"
if [ ! -e "$root/usr/include/zstd.h" ]; then
    (
        cd "$build"
        apt="apt-get -qq -o APT::Architectures::=s390x -o Dir::State::lists=$build/lists -o APT::Sandbox::User=root"
        $apt update
        $apt download libzstd-dev:s390x
        dpkg -x libzstd-dev_*.deb "$root"
    )
fi
# xxhash is a header and the same everywhere; it is copied so that no other header of this machine is seen.
cp /usr/include/xxhash.h /usr/include/xxh3.h "$root/usr/include/" 2>/dev/null || cp /usr/include/xxhash.h "$root/usr/include/"

sources="src/os/*.c src/base/*.c src/type/*.c src/pool/*.c src/core/*.c src/flow/*.c src/hierarchy/*.c src/resource/*.c
         tests/support/components.c tests/big_endian/spawn_hash.c"
flags="-std=c17 -O1 -ffp-contract=off -Iinclude -Isrc -Itests/support -pthread"
# By the letter of ISO C, gcc for s390x computes with floats as doubles, which no other machine does.
# shellcheck disable=SC2086 # words
{
    s390x-linux-gnu-gcc $flags -fexcess-precision=fast -isystem "$root/usr/include" $sources "$root/usr/lib/s390x-linux-gnu/libzstd.a" -lm \
        -static -o "$build/spawn_hash_big"
    gcc $flags $sources -lzstd -lm -o "$build/spawn_hash_little"
}
little=$("$build/spawn_hash_little" tests/resource/golden/version_1_0_little.mica)
big=$(qemu-s390x-static "$build/spawn_hash_big" tests/resource/golden/version_1_0_big.mica)
echo "little: $little"
echo "big:    $big"
[ "$little" = "$big" ]
