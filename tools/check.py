#!/usr/bin/env python3
"""Runs the checks of the project. Ends with one line per stage and `N passed, N failed`, which counts stages and tests.

    check.py [STAGE...]        every stage, or only these
    check.py --long [STAGE...] the stages of `make check-long`, about two hours on two cores, or only these
    check.py --long --scale N  the same with N times the time for each stage, for example 0.02

The output of each stage goes to build/log/STAGE.log. If a stage fails, the end of its output is shown.
"""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOG = ROOT / "build/log"
SHOWN_LINES = 60


def without_address_randomization():
    """Older thread sanitizer runtimes fail with the address randomization of newer kernels."""
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


LIBRARIES = ("mica", "mica_resource", "mica_json", "mica_sql", "mica_arrow", "mica_inspect", "mica_cluster", "mica_lua")
RELEASE = [["cmake", "--preset", "release"], ["cmake", "--build", "--preset", "release"]]

# `make test` runs the stage release, so `make check` begins with it. A stage is a list of commands.
STAGES = {
    "release": preset("release"),
    "style": [["python3", "tools/style_test.py"], ["python3", "tools/style.py"]],
    "format": [["python3", "tools/format.py", "--check"]],
    "headers": [["sh", "tools/headers.sh"]],
    "symbols": [*RELEASE, ["cmake", "--build", "--preset", "release", "--target", *(f"{name}_shared" for name in LIBRARIES)],
                ["sh", "tools/symbols.sh", "build/release", *LIBRARIES]],
    "package": [*RELEASE, ["sh", "tests/package/run.sh", "build/release", "build/package"]],
    "samples": [*RELEASE, ["python3", "tools/samples_test.py"], ["python3", "tools/samples.py", "build/release"],
                ["python3", "tools/docs_test.py"], ["python3", "tools/docs.py", "--check"], ["python3", "tools/measurements.py", "--check"]],
    "cluster": [*RELEASE, ["python3", "tools/cluster.py", "build/release"]],
    "conformance": [*RELEASE, ["python3", "tools/conformance.py", "ci"]],
    "dist": [["sh", "tools/dist.sh"]],
    "count": [*RELEASE, ["python3", "tools/count.py", "build/release"]],
    "costs": [*RELEASE, ["python3", "tools/costs.py", "build/release"]],
    "show": [*RELEASE, ["sh", "tools/show.sh", "build/release"]],
    "reload": [*RELEASE, ["ctest", "--preset", "release", "-R", "^(cli.watch|resource.module_load|examples.module_reload)$"]],
    # Both engines, then the speed of LuaJIT's columns: at most 3 times that of C.
    "lua": [*RELEASE, ["ctest", "--preset", "release", "-R", "^lua\\.|^examples\\.lua$"], ["build/release/bench/mica_lua_speed", "3"]],
    "arrow": [*RELEASE, ["node", "tests/arrow/read_files.mjs", "build/release", "build/npm"]],
    "python": [["cmake", "--preset", "python"], ["cmake", "--build", "--preset", "python"], ["sh", "tools/python.sh"]],
    "inspect": [["sh", "tools/inspect.sh", "test"]],
    "playground": [["python3", "tools/playground.py", "test"]],
    "coverage": [["cmake", "--preset", "coverage"], ["cmake", "--build", "--preset", "coverage"],
                 ["find", "build/coverage", "-name", "*.gcda", "-delete"], *preset("coverage")[-1:],
                 ["python3", "tools/coverage.py", "build/coverage", "--gate"]],
    "clang": preset("clang"),
    "asan": preset("asan"),
    "clang-asan": preset("clang-asan"),
    # The same inputs on every machine that is fast enough: new ones are for `make check-long`.
    "fuzz": [["env", "MICA_FUZZ_RUNS=200000", "sh", "tools/fuzz.sh", "60", "compile", "delta", "load", "lua", "query", "value"],
             ["env", "MICA_FUZZ_RUNS=10000", "sh", "tools/fuzz.sh", "300", "world"]],
    "tsan": preset("tsan", *without_address_randomization()),
}


@dataclasses.dataclass
class LongStage:
    seconds: int  # without building; what can't be bounded by time needs about so long on one core
    commands: object  # from the seconds and a new seed, which is in the log

    def limit(self, seconds):
        """When a stage that hangs is ended."""
        return 2 * seconds + 1800


def random_test(program):
    """A randomised test of the release build."""
    return lambda seconds, seed: [*RELEASE, ["env", f"MICA_TEST_SEED={seed}", f"MICA_TEST_SECONDS={seconds}", "CK_TIMEOUT_MULTIPLIER=100",
                                             f"build/release/tests/{program}"]]


def fuzz(*targets):
    return lambda seconds, seed: [["env", f"MICA_FUZZ_SEED={seed}", "sh", "tools/fuzz.sh", str(seconds), *targets]]


LONG_STAGES = {
    "world": LongStage(3600, fuzz("world")),
    "model": LongStage(600, random_test("test_core_model")),
    "hostile": LongStage(240, random_test("test_resource_hostile")),
    "snapshot": LongStage(240, random_test("test_snapshot_snapshot")),
    "fuzz": LongStage(600, fuzz("compile", "delta", "load", "lua", "query", "value")),
    "cluster": LongStage(1800, lambda seconds, seed: [*RELEASE, ["python3", "tools/cluster.py", "build/release", "--long"],
                                                      ["env", f"MICA_TEST_SEED={seed}", "MICA_TEST_WORLDS=20000", "CK_TIMEOUT_MULTIPLIER=100",
                                                       "build/release/tests/test_cluster_random_world"]]),
    "analyse": LongStage(1800, lambda seconds, seed: [["sh", "tools/analyse.sh"]]),
    "conformance": LongStage(1200, lambda seconds, seed: [["python3", "tools/conformance.py"]]),
    "mutate": LongStage(1500, lambda seconds, seed: [["python3", "tools/mutate.py", "--seconds", str(seconds), "--seed", str(seed)]]),
}
# Groups run one after the other. The lanes of a group run side by side, and the stages of a lane one after the other.
ON_ALL_CORES = ("coverage", "clang", "asan", "clang-asan", "tsan")
BESIDE_FUZZ = ("fuzz", "dist")
GROUPS = ([["release"]], [list(BESIDE_FUZZ), [name for name in STAGES if name not in ("release", *BESIDE_FUZZ, *ON_ALL_CORES)]],
          [list(ON_ALL_CORES)])
# Both lanes of the first group need one core for an hour. The others use all cores.
LONG_GROUPS = ([["world"], ["model", "hostile", "snapshot", "cluster", "conformance"]], [["fuzz", "analyse", "mutate"]])


RUNNING = set()  # groups of processes of stages with a limit, which the terminal does not know


def end_running(number, _frame):
    for group in list(RUNNING):
        os.killpg(group, signal.SIGKILL)
    os._exit(128 + number)


def run_command(command, log, limit):
    """Whether a command succeeds. It is ended, with all that it started, after `limit` seconds."""
    with subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, start_new_session=limit is not None) as process:
        if limit is not None:
            RUNNING.add(process.pid)
        try:
            return process.wait(limit) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            print(f"ended after {limit:.0f} seconds", file=log, flush=True)
            return False
        finally:
            RUNNING.discard(process.pid)


def find_reasons(text):
    """The lines of an output that say most about why it failed, for the end of the run: a few, or the program that a fuzzer reduced."""
    if "\nreduced:\n" in text:
        return text[text.rindex("\nreduced:\n"):].split("\n")[2:22]
    telling = [line.strip() for line in text.splitlines()
               if re.search(r":[FE]:|\berror:|ERROR|SUMMARY:|\(Failed\)|\(Timeout\)|^FAILED|: failed$|cross_feature/.*: step", line)]
    return [line[:240] for line in dict.fromkeys(telling or text.strip().splitlines()[-3:])][:8]


def run_stage(name, commands, broken, limit=None):
    """Returns (passed, tests passed, tests failed, reasons) of a stage. `broken` maps each command that failed to its stage. A command
    that failed once, for example the release build, is not run or shown again."""
    path = LOG / f"{name}.log"
    passed = True
    with open(path, "w", encoding="utf-8") as log:
        for command in map(tuple, commands):
            print("$", *command, file=log, flush=True)
            if command in broken:
                print(f"already failed in stage {broken[command]}", file=log, flush=True)
                passed = False
            elif not run_command(command, log, limit):
                broken[command] = name
                passed = False
            if not passed:
                break
    text = path.read_text(encoding="utf-8", errors="replace")
    reasons = []
    if not passed:
        last_command = text[text.rindex("\n$ ") + 1 if "\n$ " in text else 0:]
        print(*last_command.splitlines()[-SHOWN_LINES:], sep="\n")
        reasons = find_reasons(last_command)
    tests = re.search(r"tests passed, (\d+) tests failed out of (\d+)", text)
    failed, total = map(int, tests.groups()) if tests else (0, 0)
    return passed, total - failed, failed, reasons


def run_stages(names, stages, broken, limits):
    """Runs stages one after the other. Returns a line for each, and how many stages and tests passed and failed. What made a stage fail
    follows its line: the output above it may be long."""
    lines, passed_count, failed_count = [], 0, 0
    for name in names:
        print(f"{name} ...", flush=True)
        start = time.monotonic()
        passed, tests_passed, tests_failed, reasons = run_stage(name, stages[name], broken, limits.get(name))
        seconds = time.monotonic() - start
        detail = f"{tests_passed} of {tests_passed + tests_failed} tests" if tests_passed + tests_failed else ""
        lines.append(f"{'passed' if passed else 'FAILED'}  {name:12}{seconds:7.1f} s   {detail}".rstrip())
        lines += [f"        {line}" for line in reasons]
        print(lines[-1 - len(reasons)], flush=True)
        passed_count += passed + tests_passed
        failed_count += (not passed) + tests_failed
    return lines, passed_count, failed_count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("names", nargs="*", metavar="STAGE")
    options = parser.parse_args()
    stages, groups, limits = STAGES, GROUPS, {}
    if options.long:
        seconds = {name: max(10, int(stage.seconds * options.scale)) for name, stage in LONG_STAGES.items()}
        stages = {name: stage.commands(seconds[name], int(time.time())) for name, stage in LONG_STAGES.items()}
        limits = {name: stage.limit(seconds[name]) for name, stage in LONG_STAGES.items()}
        groups = LONG_GROUPS
    unknown = [name for name in options.names if name not in stages]
    if unknown:
        sys.exit(f"unknown stage: {' '.join(unknown)}; the stages are: {' '.join(stages)}")
    wanted = options.names or list(stages)
    groups = [[[name for name in lane if name in wanted] for lane in lanes] for lanes in groups]
    LOG.mkdir(parents=True, exist_ok=True)

    for number in (signal.SIGINT, signal.SIGTERM) if options.long else ():
        signal.signal(number, end_running)
    broken, results = {}, []
    for lanes in groups:
        with concurrent.futures.ThreadPoolExecutor(len(lanes)) as pool:
            results += pool.map(lambda lane: run_stages(lane, stages, broken, limits), lanes)
    passed, failed = (sum(result[i] for result in results) for i in (1, 2))
    print("", *(line for result in results for line in result[0]), f"{passed} passed, {failed} failed", sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
