#!/bin/sh
# fuzz.sh SECONDS [NAME...]          MICA_FUZZ_RUNS=N ends each target after N inputs, MICA_FUZZ_SEED=N sets the seed
# Runs the fuzz targets, all or these, side by side and for so long, from the inputs in tests/fuzz/corpus/NAME. New inputs that
# reach more code are kept in build/fuzz/corpus, inputs that fail in build/fuzz/found. A program of the target `world` that fails
# is reduced and printed as text: see tests/fuzz/cross_feature_test.c.
set -eu
cd "$(dirname "$0")/.."
seconds=$1
shift
[ $# -gt 0 ] || set -- $(cd tests/fuzz && ls ./*_fuzz.c | sed 's|^\./||; s|_fuzz\.c$||')
programs=build/fuzz/tests/test_fuzz_cross_feature

# One build at a time: `make check-long` fuzzes twice at once.
mkdir -p build/fuzz
exec 9>build/fuzz/lock
flock 9
cmake --preset fuzz >/dev/null
targets=
for name in "$@"; do targets="$targets ${name}_fuzz"; done
case " $* " in *" world "*) targets="$targets test_fuzz_cross_feature" ;; esac
# shellcheck disable=SC2086 # the targets are words
cmake --build --preset fuzz --target $targets
flock -u 9
exec 9>&-
mkdir -p build/fuzz/found
for name in "$@"; do
    mkdir -p "build/fuzz/corpus/$name"
    given=tests/fuzz/corpus/$name
    if [ "$name" = world ]; then # kept as text, which outlives changes of the table of operations
        given=build/fuzz/corpus/world_kept
        mkdir -p "$given"
        for text in tests/fuzz/corpus/world/*.txt; do
            "$programs" assemble "$text" "$given/$(basename "$text" .txt)"
        done
    fi
    rm -f "build/fuzz/$name.status"
    {
        result=0
        "build/fuzz/tests/fuzz/${name}_fuzz" -max_total_time="$seconds" -runs="${MICA_FUZZ_RUNS:--1}" -seed="${MICA_FUZZ_SEED:-1}" -timeout=60 \
            -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="build/fuzz/found/$name-" "build/fuzz/corpus/$name" "$given" \
            >"build/fuzz/$name.log" 2>&1 || result=$?
        echo "$result" >"build/fuzz/$name.status"
    } &
done

# Says once a minute how far each is.
waited=0
for name in "$@"; do
    until [ -s "build/fuzz/$name.status" ]; do
        sleep 1
        waited=$((waited + 1))
        [ $((waited % 60)) -ne 0 ] || for one in "$@"; do echo "$one: $(tail -n 1 "build/fuzz/$one.log")"; done
    done
done
broken=0
for name in "$@"; do
    log=build/fuzz/$name.log
    if [ "$(cat "build/fuzz/$name.status")" = 0 ]; then
        echo "$name: $(grep stat::number_of_executed_units "$log" | tr -dc 0-9) inputs tried"
    else
        tail -n 60 "$log"
        echo "$name: failed"
        broken=1
        found=$(sed -n 's/^artifact_prefix=.*Test unit written to //p' "$log" | tail -n 1)
        [ "$name" != world ] || [ -z "$found" ] || "$programs" reduce "$found"
    fi
done
exit $broken
