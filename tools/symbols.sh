#!/bin/sh
# symbols.sh BUILD_DIR NAME...
# The shared libraries libNAME_shared.so show nothing but mica_..., and together all of what the headers declare; between
# the files of the static ones, libNAME.a, there is nothing but mica_... and micap_...
set -eu
build=$1
shift
shared=
static=
for name in "$@"; do
    shared="$shared $build/lib${name}_shared.so"
    static="$static $build/lib$name.a"
done
root=$(cd "$(dirname "$0")/.." && pwd)

defined() { # nm's arguments: prints the names of defined global symbols
    nm --defined-only --extern-only --format=posix "$@" | awk 'NF >= 3 { print $1 }' | sort -u
}
failed=0
report() { # what is wrong, names
    [ -z "$2" ] || { echo "$1:"; echo "$2" | sed 's/^/    /'; failed=1; }
}
# shellcheck disable=SC2086 # the libraries are words
shown=$(defined -D $shared)
# Sanitizers and coverage are not part of a release; what the linker itself adds is.
stray=$(echo "$shown" | grep -Ev '^(mica_|_init$|_fini$|__bss_start$|_edata$|_end$)' || true)
report "shown by the shared library, but not mica_..." "$stray"

# shellcheck disable=SC2086
inside=$(defined $static | grep -Ev '^(mica_|micap_)' || true)
report "global in the static library, but neither mica_... nor micap_..." "$inside"

declared=$(cat "$root"/include/mica/*.h | grep '^MICA_API' | grep -Eo 'mica_\w+\(' | tr -d '(' | sort -u)
absent=$(echo "$declared" | while read -r name; do echo "$shown" | grep -qx "$name" || echo "$name"; done)
report "declared in include/mica, but not shown by the shared library" "$absent"

echo "symbols: $(echo "$shown" | grep -c '^mica_') public"
exit $failed
