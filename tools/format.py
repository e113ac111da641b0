#!/usr/bin/env python3
"""Formats the C files with clang-format, or with --check reports what it would change.

    format.py [--check] [PATH...]        these files, or all of them

Left as they were written: macros, for the formatter tears `#define MICA_READ(T) {...}` into five lines; tables, for it
puts two rows on one line; and structs on one line, `typedef struct Position { float x, y; } Position;`.

build/formatted.json has the hashes of files that are known to be formatted: they are not formatted again.
"""
import concurrent.futures
import difflib
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KNOWN = ROOT / "build/formatted.json"
FOLDERS = ("include", "src", "tests", "examples", "playground", "bench", "python")
ONE_LINE_STRUCT = re.compile(r"typedef (struct|union|enum) \w+ \{.*\} \w+;")
# An initialiser whose first row starts with a brace, up to the line that closes it at the same depth.
TABLE = re.compile(r"^( *)[^ \n#][^\n]*\{\n +\{.*?^\1\}", re.DOTALL | re.MULTILINE)
MACRO = re.compile(r"^# *define(?:[^\n]*\\\n)*", re.MULTILINE)


def kept_lines(text):
    """Returns the numbers, from 1, of the lines that the formatter may not touch."""
    kept = {number for number, line in enumerate(text.split("\n"), 1) if ONE_LINE_STRUCT.match(line)}
    for match in (*TABLE.finditer(text), *MACRO.finditer(text)):
        kept.update(range(text.count("\n", 0, match.start()) + 1, text.count("\n", 0, match.end()) + 2))
    return kept


def formatted_ranges(text):
    """Returns the runs of lines that it may touch."""
    kept, last = kept_lines(text), text.count("\n") + 1
    edges = [0, *sorted(kept), last + 1]
    return [(before + 1, after - 1) for before, after in zip(edges, edges[1:]) if after - before > 1]


def clang_format(path, *mode):
    lines = [f"--lines={first}:{last}" for first, last in formatted_ranges(path.read_text(encoding="utf-8"))]
    return subprocess.run(["clang-format", *mode, *lines, path], cwd=ROOT, capture_output=True, text=True, check=True)


def content_hash(path):
    """Of a file, the settings of the formatter and this program."""
    rules = (ROOT / ".clang-format").read_bytes() + pathlib.Path(__file__).read_bytes()
    return hashlib.sha256(rules + path.read_bytes()).hexdigest()


def read_known():
    try:
        return set(json.loads(KNOWN.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return set()


def main():
    check = "--check" in sys.argv[1:]
    differing = 0
    given = [pathlib.Path(name).resolve() for name in sys.argv[1:] if name != "--check"]
    paths = given or sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.[ch]"))
    known = read_known()
    paths = [path for path in paths if content_hash(path) not in known]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        formatted = pool.map(clang_format, paths) if check else pool.map(lambda path: clang_format(path, "-i"), paths)
        for path, after in zip(paths, formatted):
            before = path.read_text(encoding="utf-8")
            if check and before != after.stdout:
                differing += 1
                sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), after.stdout.splitlines(True),
                                                           str(path.relative_to(ROOT)), "formatted", n=0))
            else:
                known.add(content_hash(path))
    KNOWN.parent.mkdir(exist_ok=True)
    KNOWN.write_text(json.dumps(sorted(known)), encoding="utf-8")
    if differing:
        print(f"{differing} files are not formatted: make format")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
