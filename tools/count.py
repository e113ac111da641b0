#!/usr/bin/env python3
"""The instruction-count gate: runs the workloads of bench/count under callgrind and compares with the baseline.

    count.py BUILD_DIR [--update] [--baseline FILE]

Time on a shared machine is noise; the number of instructions is not. Each program of BUILD_DIR/bench/count lists its
workloads with --list, one per line: a name, and how many operations it does. Given a name, it runs that workload, and
only what its function `measured` does is counted. A workload that needs more than 5% more instructions per operation
than bench/count/baseline.txt says is a failure; --update writes the counts of today into that file.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import callgrind

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASELINE = ROOT / "bench/count/baseline.txt"
TOLERANCE = 1.05
# Below one instruction of difference it is the rounding of the file that speaks.
SLACK = 0.5
HEADER = "# Instructions per operation, counted by callgrind with the release preset: make count-update\n"


def workloads(program):
    """Yields (name, operations) of a program."""
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        name, operations = (line.split() + ["1"])[:2]
        yield name, int(operations)


def count_instructions(program, name):
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "callgrind.out"
        run = callgrind.run(output, ["--toggle-collect=measured*"], [program, name])
        if run.returncode != 0:
            sys.exit(f"{name}: {program} failed under callgrind\n{run.stdout}{run.stderr}")
        total = re.search(r"^(?:totals|summary): (\d+)", output.read_text(encoding="utf-8"), re.MULTILINE)
    if not total or total.group(1) == "0":
        sys.exit(f"{name}: nothing was counted; {program} needs a function `measured` that is not inlined")
    return int(total.group(1))


def count_all(build):
    programs = sorted(p for p in (build / "bench/count").glob("*") if p.is_file() and os.access(p, os.X_OK))
    jobs = [(program, name, operations) for program in programs for name, operations in workloads(program)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(lambda job: count_instructions(job[0], job[1]) / job[2], jobs))
    return {name: count for (_, name, _), count in zip(jobs, counts)}


def read_baseline(path):
    if not path.exists():
        return {}
    lines = (line.split("#")[0].split() for line in path.read_text(encoding="utf-8").splitlines())
    return {parts[0]: float(parts[1]) for parts in lines if parts}


def compare(counts, baseline):
    """Prints a line per workload and returns how many failed."""
    failed = 0
    for name in sorted(counts.keys() | baseline.keys()):
        now, before = counts.get(name), baseline.get(name)
        if now is None or before is None:
            verdict = "has no baseline: make count-update" if now is not None else "is in the baseline but not in bench/count"
            bad = True
        else:
            verdict = f"{100 * (now / before - 1):+.1f}%"
            bad = now > before * TOLERANCE + SLACK
        failed += bad
        print(f"{'FAILED' if bad else 'ok':7}{name:32}{now or 0:12.1f} against {before or 0:12.1f}  {verdict}")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--baseline", type=pathlib.Path, default=BASELINE)
    arguments = parser.parse_args()
    counts = count_all(arguments.build)
    if arguments.update:
        rows = "".join(f"{name:32}{counts[name]:12.1f}\n" for name in sorted(counts))
        arguments.baseline.write_text(HEADER + rows, encoding="utf-8")
        print(f"{arguments.baseline.absolute().relative_to(ROOT)}: {len(counts)} workloads")
        return 0
    return 1 if compare(counts, read_baseline(arguments.baseline)) else 0


if __name__ == "__main__":
    sys.exit(main())
