#!/usr/bin/env python3
"""Builds the playground, a static page with programs that use Mica as WebAssembly, in build/playground.

    playground.py build              fails if all files together, compressed with gzip, are larger than the limit
    playground.py test [FOLDER]      the same, then tests it in a browser; screenshots go to the folder
    playground.py serve [PORT]       the same, then serves it on this computer
"""
import functools
import gzip
import http.server
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SITE = ROOT / "build/playground"
WASM = ROOT / "build/wasm"
EMSCRIPTEN = "/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake"
COMPRESSED_BYTES_MAX = 400_000
# Everything that the programs do not need.
OFF = ("RESOURCE", "JSON", "ARROW", "SQL", "INSPECT", "CLUSTER", "LUA", "TESTS", "CONFORMANCE", "EXAMPLES", "BENCH")


def run(*command, **options):
    subprocess.run(command, cwd=ROOT, check=True, **options)


def build_module():
    """A page of a server without special headers has no shared memory, and so no threads: the compiler is told that there is no -pthread."""
    environment = dict(os.environ, EMCC_SKIP_SANITY_CHECK="1")
    run("cmake", "-S", ".", "-B", WASM, "-G", "Ninja", "-Wno-dev", f"-DCMAKE_TOOLCHAIN_FILE={EMSCRIPTEN}", "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG", "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON", "-DTHREADS_HAVE_PTHREAD_ARG=OFF",
        "-DMICA_PLAYGROUND=ON", *(f"-DMICA_{name}=OFF" for name in OFF), env=environment, stdout=subprocess.DEVNULL)
    run("cmake", "--build", WASM, "--target", "mica_playground", env=environment)
    return WASM / "playground/playground.wasm"


def source_names():
    """The names of the files that the page shows, as the programs state them."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "playground").glob("*.c")]
    return [name for text in texts for names in re.findall(r'\.sources = "([^"]*)"', text) for name in names.split()]


def copy_sources():
    (SITE / "source").mkdir()
    for name in source_names():
        folders = (ROOT / "playground", ROOT / "examples/show")
        shutil.copy(next(folder / name for folder in folders if (folder / name).exists()), SITE / "source")


def compressed_bytes(folder):
    return sum(len(gzip.compress(path.read_bytes(), 9, mtime=0)) for path in folder.rglob("*") if path.is_file())


def build():
    module = build_module()
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(ROOT / "playground/page", SITE)
    shutil.copyfile(module, SITE / "playground.wasm")
    copy_sources()
    size = compressed_bytes(SITE)
    print(f"the playground is in {SITE.relative_to(ROOT)}: {size / 1000:.1f} kB compressed, at most {COMPRESSED_BYTES_MAX / 1000:.0f}", flush=True)
    if size > COMPRESSED_BYTES_MAX:
        sys.exit("the playground is too large")


def test(folders):
    run("cmake", "--preset", "release", stdout=subprocess.DEVNULL)
    run("cmake", "--build", "--preset", "release", "--target", "mica_playground")
    # The browser driver and the accessibility rules are those of the inspector.
    run("npm", "install", "--prefix", "inspect", "--no-save", "--no-fund", "--no-audit", "--loglevel=error")
    run("node", "tests/playground/page_test.mjs", SITE, ROOT / "build/release/playground/playground", *folders)


def serve(port):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=SITE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass


def main():
    command, *words = sys.argv[1:] or ["build"]
    if command not in ("build", "test", "serve"):
        sys.exit(__doc__)
    try:
        build()
        if command == "test":
            test(words)
        elif command == "serve":
            serve(int(words[0]) if words else 0)
    except subprocess.CalledProcessError as error:
        return error.returncode or 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
