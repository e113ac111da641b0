#!/bin/sh
# fuzz.sh SECONDS [NAME...]
# Runs the fuzz targets, all or these, side by side and for so long, from the inputs in tests/fuzz/corpus/NAME. What they
# find new is kept in build/fuzz/corpus; what breaks them, in build/fuzz/found.
set -eu
cd "$(dirname "$0")/.."
seconds=$1
shift
[ $# -gt 0 ] || set -- $(cd tests/fuzz && ls ./*_fuzz.c | sed 's|^\./||; s|_fuzz\.c$||')

cmake --preset fuzz >/dev/null
targets=
for name in "$@"; do targets="$targets ${name}_fuzz"; done
# shellcheck disable=SC2086 # the targets are words
cmake --build --preset fuzz --target $targets
mkdir -p build/fuzz/found
for name in "$@"; do
    mkdir -p "build/fuzz/corpus/$name"
    "build/fuzz/tests/fuzz/${name}_fuzz" -max_total_time="$seconds" -seed="${MICA_FUZZ_SEED:-1}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix=build/fuzz/found/ "build/fuzz/corpus/$name" "tests/fuzz/corpus/$name" >"build/fuzz/$name.log" 2>&1 &
    running="${running-} $!:$name"
done
broken=0
for job in $running; do
    name=${job#*:}
    log=build/fuzz/$name.log
    if wait "${job%%:*}"; then
        echo "$name: $(grep stat::number_of_executed_units "$log" | tr -dc 0-9) inputs tried"
    else
        tail -n 60 "$log"
        echo "$name: broken"
        broken=1
    fi
done
exit $broken
