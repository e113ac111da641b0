#!/bin/sh
# probes.sh COMPILER SOURCE_DIR SCRATCH_DIR
# The probes for tracing tools are where the guide says, with as many arguments, and only in files compiled with MICA_PROBES.
# Ends with 77, which means skipped, where <sys/sdt.h> is missing.
set -eu
compiler=$1
source=$2
scratch=$3
mkdir -p "$scratch"
echo '#include <sys/sdt.h>' | "$compiler" -E -x c - >/dev/null 2>&1 || { echo "no sys/sdt.h: not tested"; exit 77; }

list() { # options...: the probes, as lines of name and number of arguments
    for file in core/commands/flush.c flow/frame.c flow/schedule/job_run.c; do
        "$compiler" -std=c17 -O2 -Wall -Wextra -Wpedantic -Werror -DMICA_BUILD -I"$source/include" -I"$source/src" "$@" -c "$source/src/$file" \
            -o "$scratch/probes.o"
        readelf -n "$scratch/probes.o"
    done | awk '/Provider:/ { provider = $2 } /Name:/ { name = $2 } /Arguments:/ { print provider ":" name, NF - 1 }' | sort -u
}
list -DMICA_PROBES >"$scratch/found.txt"
# The table of the guide: | `mica:name` | arguments | ...
sed -n 's/^| `\(mica:[a-z_]*\)` | \(.*\) | .* |$/\1 \2/p' "$source/docs/guide/performance.md" |
    awk '{ print $1, gsub(/,/, ",") + 1 }' | sort -u >"$scratch/documented.txt"
[ -s "$scratch/documented.txt" ] || { echo "the guide lists no probes"; exit 1; }
diff "$scratch/documented.txt" "$scratch/found.txt"
list >"$scratch/none.txt"
if [ -s "$scratch/none.txt" ]; then echo "probes without MICA_PROBES"; cat "$scratch/none.txt"; exit 1; fi
wc -l <"$scratch/found.txt"
