#!/usr/bin/env python3
"""Runs every check of the house and ends with a summary: one line per stage, then `N passed, N failed`.

    test.py [STAGE...]         all stages, or only these

The output of each stage goes to build/log/STAGE.log; when it fails, the end of it is shown.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOG = ROOT / "build/log"
SHOWN_LINES = 60


def without_address_randomization():
    """Thread sanitizer runtimes of this age can't live with the randomization of newer kernels."""
    command = ["setarch", "--addr-no-randomize"]
    try:
        works = subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        works = False
    return command if works else []


def preset(name, *test_prefix):
    return [["cmake", "--preset", name],
            ["cmake", "--build", "--preset", name],
            [*test_prefix, "ctest", "--preset", name, "--parallel", str(os.cpu_count())]]


LIBRARIES = ("mica", "mica_resource", "mica_json", "mica_sql")
RELEASE = [["cmake", "--preset", "release"], ["cmake", "--build", "--preset", "release"]]

# Quick ones first. Each stage is a list of commands; what several stages need is built once.
STAGES = {
    "style": [["python3", "tools/style_test.py"], ["python3", "tools/style.py"]],
    "format": [["python3", "tools/format.py", "--check"]],
    "headers": [["sh", "tools/headers.sh"]],
    "release": preset("release"),
    "symbols": [*RELEASE, ["cmake", "--build", "--preset", "release", "--target", *(f"{name}_shared" for name in LIBRARIES)],
                ["sh", "tools/symbols.sh", "build/release", *LIBRARIES]],
    "package": [*RELEASE, ["sh", "tests/package/run.sh", "build/release", "build/package"]],
    "samples": [*RELEASE, ["python3", "tools/samples_test.py"], ["python3", "tools/samples.py", "build/release"],
                ["python3", "tools/docs_test.py"], ["python3", "tools/docs.py", "--check"]],
    "conformance": [*RELEASE, ["python3", "tools/conformance.py", "ci"]],
    "count": [*RELEASE, ["python3", "tools/count.py", "build/release"]],
    "show": [*RELEASE, ["sh", "tools/show.sh", "build/release"]],
    "coverage": [["cmake", "--preset", "coverage"], ["cmake", "--build", "--preset", "coverage"],
                 ["find", "build/coverage", "-name", "*.gcda", "-delete"], *preset("coverage")[-1:],
                 ["python3", "tools/coverage.py", "build/coverage", "--gate"]],
    "clang": preset("clang"),
    "asan": preset("asan"),
    "fuzz": [["sh", "tools/fuzz.sh", "60"]],
    "tsan": preset("tsan", *without_address_randomization()),
}


def run_stage(name, broken):
    """Returns (passed, tests passed, tests failed) of a stage. `broken` collects commands that failed, with the stage:
    what failed once, the release build for example, is neither run nor shown again."""
    path = LOG / f"{name}.log"
    passed = True
    with open(path, "w", encoding="utf-8") as log:
        for command in map(tuple, STAGES[name]):
            print("$", *command, file=log, flush=True)
            if command in broken:
                print(f"failed in the stage {broken[command]} already", file=log, flush=True)
                passed = False
            elif subprocess.run(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, check=False).returncode != 0:
                broken[command] = name
                passed = False
            if not passed:
                break
    text = path.read_text(encoding="utf-8", errors="replace")
    if not passed:
        last_command = text[text.rindex("\n$ ") + 1 if "\n$ " in text else 0:]
        print(*last_command.splitlines()[-SHOWN_LINES:], sep="\n")
    tests = re.search(r"tests passed, (\d+) tests failed out of (\d+)", text)
    failed, total = map(int, tests.groups()) if tests else (0, 0)
    return passed, total - failed, failed


def main():
    names = sys.argv[1:] or list(STAGES)
    unknown = [name for name in names if name not in STAGES]
    if unknown:
        sys.exit(f"no such stage: {' '.join(unknown)}; there are: {' '.join(STAGES)}")
    LOG.mkdir(parents=True, exist_ok=True)

    broken, summary, passed_count, failed_count = {}, [], 0, 0
    for name in names:
        print(f"{name} ...", flush=True)
        start = time.monotonic()
        passed, tests_passed, tests_failed = run_stage(name, broken)
        seconds = time.monotonic() - start
        detail = f"{tests_passed} of {tests_passed + tests_failed} tests" if tests_passed + tests_failed else ""
        summary.append(f"{'passed' if passed else 'FAILED'}  {name:10}{seconds:7.1f} s   {detail}".rstrip())
        passed_count += passed + tests_passed
        failed_count += (not passed) + tests_failed
    print("", *summary, f"{passed_count} passed, {failed_count} failed", sep="\n")
    return 1 if failed_count else 0


if __name__ == "__main__":
    sys.exit(main())
