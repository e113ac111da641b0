#!/usr/bin/env python3
"""Prints, per file of src, how many lines the tests of a coverage build reached, and which ones they did not.

    coverage.py BUILD_DIR
"""
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def line_counts(build):
    """Returns {path: {line: how often it ran}}: a header, compiled many times, adds up."""
    counts = collections.defaultdict(collections.Counter)
    for data in build.rglob("*.gcda"):
        command = ["gcov", "--json-format", "--stdout", data.resolve()]
        output = subprocess.run(command, cwd=build, capture_output=True, text=True, check=True).stdout
        for file in json.loads(output)["files"]:
            path = pathlib.Path(build, file["file"]).resolve()
            if path.is_relative_to(ROOT / "src"):
                for line in file["lines"]:
                    counts[path.relative_to(ROOT).as_posix()][line["line_number"]] += line["count"]
    return counts


def runs(numbers):
    """Returns 3 4 5 9 as "3-5 9"."""
    parts = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def main():
    total = reached = 0
    for path, lines in sorted(line_counts(pathlib.Path(sys.argv[1])).items()):
        missed = [number for number, count in lines.items() if count == 0]
        total += len(lines)
        reached += len(lines) - len(missed)
        print(f"{100 * (1 - len(missed) / len(lines)):6.1f}%  {path:32}{runs(missed)}")
    print(f"{100 * reached / max(total, 1):6.1f}%  of {total} lines")


if __name__ == "__main__":
    main()
