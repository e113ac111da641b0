#!/usr/bin/env python3
"""Prints, per file of src, how many lines and branches the tests of a coverage build reached, and which lines they did not.

    coverage.py BUILD_DIR [--gate] [--show PATH...]

With --show it prints the lines of these files or folders that were missed, or where a branch was never taken, instead. With --gate it
fails when tests miss a line of the gated layers, or take fewer than 95 in 100 of their branches. Lines that no test can reach are listed in
tools/coverage_exceptions.txt with a reason each, and don't count; an exception that excuses nothing fails too.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXCEPTIONS = ROOT / "tools/coverage_exceptions.txt"
GATED = ("type", "pool", "core", "flow", "relation", "hierarchy", "index", "snapshot", "replication", "recording", "resource")
BRANCHES_MIN = 0.95


def gcov(data):
    command = ["gcov", "--branch-probabilities", "--json-format", "--stdout", data.resolve()]
    return json.loads(subprocess.run(command, cwd=data.parent, capture_output=True, text=True, check=True).stdout)["files"]


def counts_of(build):
    """Returns ({path: {line: how often it ran}}, {path: {(line, branch): how often it was taken}}): a header, compiled many times,
    adds up."""
    lines = collections.defaultdict(collections.Counter)
    branches = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for files in pool.map(gcov, sorted(build.rglob("*.gcda"))):
            for file in files:
                path = pathlib.Path(build, file["file"]).resolve()
                if not path.is_relative_to(ROOT / "src"):
                    continue
                path = path.relative_to(ROOT).as_posix()
                for line in file["lines"]:
                    lines[path][line["line_number"]] += line["count"]
                    for index, branch in enumerate(line["branches"]):
                        branches[path][line["line_number"], index] += branch["count"]
    return lines, branches


def runs(numbers):
    """Returns 3 4 5 9 as "3-5 9"."""
    parts = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def share(counts):
    return sum(count > 0 for count in counts) / max(len(counts), 1)


def exceptions():
    """Returns {(path, text of the line): reason}."""
    fields = [line.split(" | ") for line in EXCEPTIONS.read_text(encoding="utf-8").splitlines()
              if line.strip() and not line.startswith("#")]
    return {(path, text.strip()): reason for path, text, reason in fields}


def gate(lines, branches):
    """Returns what is wrong."""
    excused, used, missed, wrong = exceptions(), set(), [], []
    for path, counts in sorted(lines.items()):
        source = (ROOT / path).read_text(encoding="utf-8").splitlines()
        for number in sorted(number for number, count in counts.items() if count == 0):
            key = (path, source[number - 1].strip())
            if key in excused:
                used.add(key)
            elif path.split("/")[1] in GATED:
                missed.append(f"{path}:{number}: no test gets here: {key[1]}")
    print(*missed, f"{len(missed)} lines missed", sep="\n")
    if missed:
        wrong.append(f"tests miss {len(missed)} lines")
    wrong += [f"tools/coverage_exceptions.txt: excuses nothing: {path} | {text}" for path, text in sorted(excused.keys() - used)]
    for layer in GATED:
        taken = share([count for path, counts in branches.items() if path.split("/")[1] == layer for count in counts.values()])
        print(f"{layer}: {100 * taken:.1f}% of branches taken")
        if taken < BRANCHES_MIN:
            wrong.append(f"src/{layer}: tests take {100 * taken:.1f}% of branches, {100 * BRANCHES_MIN:.0f}% is the least")
    return wrong


def show(lines, branches, prefixes):
    for path in sorted(path for path in lines if path.startswith(tuple(prefixes))):
        source = (ROOT / path).read_text(encoding="utf-8").splitlines()
        untaken = collections.Counter(number for (number, _), count in branches[path].items() if count == 0)
        for number, count in sorted(lines[path].items()):
            if count == 0 or untaken[number]:
                what = "missed" if count == 0 else f"{untaken[number]} of {sum(key[0] == number for key in branches[path])}"
                print(f"{path}:{number}: {what:8} {source[number - 1].strip()}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--show", nargs="+")
    options = parser.parse_args()
    lines, branches = counts_of(options.build.resolve())
    if options.show:
        show(lines, branches, options.show)
        return 0
    for path, counts in sorted(lines.items()):
        missed = [number for number, count in counts.items() if count == 0]
        print(f"{100 * share(counts.values()):6.1f}%  {100 * share(branches[path].values()):6.1f}%  {path:32}{runs(missed)}")
    everything = [count for counts in lines.values() for count in counts.values()]
    print(f"{100 * share(everything):6.1f}%  of {len(everything)} lines")
    wrong = gate(lines, branches) if options.gate else []
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
