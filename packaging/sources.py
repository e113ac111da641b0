#!/usr/bin/env python3
"""Lists the source files of a library of Mica, one per line, for build systems that can't search for files themselves.

    sources.py             of the core: the layers that CMakeLists.txt lists
    sources.py FOLDER      of src/FOLDER, for example resource
    sources.py --version   prints the version of CMakeLists.txt instead
    sources.py --check     compares it with the versions in the other recipes, which can't read it
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Files that must have the version as text, and how they spell it.
COPIES = {"meson.build": r"version: '([^']*)', license", "packaging/vcpkg/mica/vcpkg.json": r'"version": "([^"]*)"'}


def cmake_text(pattern):
    return re.search(pattern, (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)


def version():
    return cmake_text(r"project\(mica VERSION ([\d.]+)")


def sources(folders):
    """The files as paths from the root of the repository."""
    return [path.relative_to(ROOT).as_posix() for folder in folders for path in sorted((ROOT / "src" / folder).rglob("*.c"))]


def check_versions():
    failed = 0
    for name, pattern in COPIES.items():
        found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"))
        if not found or found.group(1) != version():
            print(f"{name}: the version is {found and found.group(1)}, and {version()} in CMakeLists.txt")
            failed = 1
    return failed


def main(arguments):
    if arguments == ["--version"]:
        print(version())
        return 0
    if arguments == ["--check"]:
        return check_versions()
    found = sources(arguments or cmake_text(r"foreach\(layer ([\w ]+)\)").split())
    if not found:
        print(f"no sources in {' '.join(arguments)}", file=sys.stderr)
        return 1
    print(*found, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
