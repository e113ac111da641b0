#!/bin/sh
# show.sh BUILD_DIR
# Draws the battle into files, and into a window of a virtual screen, and compares the pictures.
set -eu
cd "$(dirname "$0")/.."
build=$1
cmake --build "$build" --target mica_show
out=$build/examples/show
"$out/show" --headless --units 20000 --frames 60 --png "$out/files.png" --gif "$out/files.gif"
xvfb-run -a "$out/show" --units 20000 --frames 60 --png "$out/window.png"
python3 tools/picture.py "$out/files.png" "$out/files.gif" "$out/window.png"
