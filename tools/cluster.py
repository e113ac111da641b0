#!/usr/bin/env python3
"""Runs the models of tests/cluster/ranks and the example on different numbers of ranks and workers, with balancing off, every step and
now and then, and compares the hashes after every step. It saves on some ranks and continues on others. Then it lets ranks hang, die and differ, and expects the job to end with a message
that names the rank.

    cluster.py BUILD_DIR [--long]      with --long: up to 16 ranks, more seeds and more faults
    cluster.py BUILD_DIR --quick       only the models, for builds with a sanitizer; what Open MPI leaks is not reported
"""
import argparse
import itertools
import json
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
MODELS = ("wanderers", "flock", "market", "epidemic", "couriers", "workshop", "lineage")
SECONDS_MAX = 120
LOAD_MAX = 1.4  # of a rank, relative to the mean
TIME_LIMIT = 2  # of a model in which a rank hangs


class Failure(Exception):
    """What is wrong with a run."""


def command(ranks, program, *arguments):
    """Without mpirun if there is no number of ranks."""
    return [*([*MPIRUN, "-n", str(ranks)] if ranks else []), str(program), *arguments]


def run(words, may_fail=False):
    """Returns (exit code, standard output, standard error)."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{' '.join(words)}: does not end") from error
    if done.returncode and not may_fail:
        raise Failure(f"{' '.join(words)}: ends with {done.returncode}\n{done.stdout[-500:]}{done.stderr[-2000:]}")
    return done.returncode, done.stdout, done.stderr


def compare(words, expected, what=lambda line: line):
    lines = [what(line) for line in run(words)[1].splitlines()]
    if not expected:
        raise Failure(f"{' '.join(words)}: there is nothing to compare with")
    for here, there in itertools.zip_longest(lines, expected):
        if here != there:
            raise Failure(f"{' '.join(words)}: prints {here!r} instead of {there!r}")


def check_models(models, is_long):
    """The hash after every step does not depend on ranks, workers and balancing."""
    ranks = (1, 2, 3, 4, 7, 16) if is_long else (1, 2, 3, 4)
    count = 0
    for name, seed in itertools.product(MODELS, range(1, 6 if is_long else 2)):
        fixed = (f"seed={seed}", "steps=40" if is_long else "steps=25")
        expected = run(command(0, models, name, *fixed))[1].splitlines()
        variants = list(itertools.product(ranks, (1, 2, 4) if is_long else (1, 2), (0, 1, 7)))
        if not is_long:  # every number of ranks, workers and balancing, and some of their combinations
            variants = [variant for i, variant in enumerate(variants) if i % 5 in (0, 3)]
        for rank_count, workers, balance in variants:
            compare(command(rank_count, models, name, *fixed, f"workers={workers}", f"balance={balance}"), expected)
            count += 1
    for option, rank_count in itertools.product(("scopes=1", "keys=1"), (2, 3)):
        expected = run(command(0, models, "lineage", option))[1].splitlines()
        compare(command(rank_count, models, "lineage", option, "balance=3"), expected)
        count += 1
    for seed in range(1, 10 if is_long else 3):
        content = [line.split()[2] for line in run(command(0, models, "wanderers", f"seed={seed}", "plain=1"))[1].splitlines()]
        compare(command(0, models, "wanderers", f"seed={seed}"), content, lambda line: line.split()[2])
        compare(command(2, models, "wanderers", f"seed={seed}"), content, lambda line: line.split()[2])
        count += 2
    return count


def check_example(example, is_long):
    """The same binary with and without mpirun; a save continues on another number of ranks."""
    expected = run(command(0, example, "1000", "60"))[1].splitlines()
    if not re.search(r"hash [0-9a-f]{16}$", expected[-1]):
        raise Failure(f"{example}: the last line has no hash: {expected[-1]}")
    counts = (1, 2, 3, 4, 7, 16) if is_long else (2, 3, 4)
    for rank_count in counts:
        compare(command(rank_count, example, "1000", "60"), expected)
    with tempfile.TemporaryDirectory() as folder:
        run(command(3, example, "1000", "50", "--save", f"{folder}/save.mica"))
        for rank_count in (0, 2):
            compare(command(rank_count, example, "1000", "60", "--resume", f"{folder}/save.mica"), expected[2:])
    return len(counts) + 2


def check_picture(example, rank_count):
    """A PNG file that is complete, with a colour for each rank."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "picture.png"
        run(command(rank_count, example, "1000", "3", "--picture", str(path)))
        data = path.read_bytes()
        code, _, errors = run(command(rank_count, example, "100", "1", "--picture", f"{folder}/none/picture.png"), may_fail=True)
        expect_failure("a picture that can't be written", code, errors, "picture.png can't be written")
    parts, at = {}, 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if zlib.crc32(kind + body) != struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]:
            raise Failure(f"{example}: the checksum of {kind} in the picture is wrong")
        parts[kind], at = body, at + 12 + size
    width, height, depth, colour = struct.unpack(">IIBB", parts[b"IHDR"][:10])
    pixels = zlib.decompress(parts[b"IDAT"])  # checks its checksum, too
    if (depth, colour, len(pixels)) != (8, 3, (width + 1) * height) or b"IEND" not in parts or not data.startswith(b"\x89PNG\r\n\x1a\n"):
        raise Failure(f"{example}: the picture is no PNG file of {width} x {height} pixels")
    if set(pixels) != set(range((rank_count or 1) + 1)):
        raise Failure(f"{example}: the picture has the colours {sorted(set(pixels))}")


def check_tool(tool, path):
    """The tool opens the parts of a save as one world."""
    count = sum(int(number) for number in re.findall(r"entities (\d+)", pathlib.Path(path).read_text(encoding="utf-8")))
    for words, text in ((["info"], f"{count} entities in"), (["check"], "sound"), (["sql"], str(count))):
        shown = run([str(tool), *words, path, *(["select count(*) from Agent"] if words == ["sql"] else [])])[1]
        if text not in shown:
            raise Failure(f"mica {words[0]} {path}: does not say {text!r}:\n{shown}")


def check_saves(models, is_long):
    """A save continues with the same hashes on any number of ranks; a part that is missing or truncated is named."""
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for i, name in enumerate(MODELS):
            path = f"{folder}/{name}.mica"
            expected = run(command(0, models, name, "steps=20"))[1].splitlines()
            for saved, loaded in [(0, 3), (3, 0), (2, 4), (4, 2), (3, 3)] if is_long else [(3, 2), (2, 0), (0, 3)][i % 2:]:
                run(command(saved, models, name, "steps=12", "save_at=12", f"save={path}", "balance=1"))
                compare(command(loaded, models, name, "steps=20", f"resume={path}"), expected[12:])
                count += 1
        files = sorted(pathlib.Path(folder).glob(f"{MODELS[0]}.mica.*"))
        if len(files) != int(re.search(r"^parts (\d+)$", pathlib.Path(f"{folder}/{MODELS[0]}.mica").read_text(encoding="utf-8"), re.M).group(1)):
            raise Failure(f"an old save has left parts: {files}")
        path = f"{folder}/{MODELS[0]}.mica"
        run(command(3, models, MODELS[0], "steps=12", "save_at=12", f"save={path}"))
        check_tool(models.parent.parent / "mica", path)
        for part, damage in ((1, lambda file: os.truncate(file, 100)), (2, os.remove)):
            [file] = pathlib.Path(folder).glob(f"{MODELS[0]}.mica.*.{part}")
            damage(file)
            for rank_count in (0, 2):
                code, _, errors = run(command(rank_count, models, MODELS[0], f"resume={path}"), may_fail=True)
                expect_failure(f"{file} is damaged", code, errors, r"part [12] of the save, .* is rejected: its file")
    return count


def expect_failure(what, code, errors, pattern):
    if code == 0:
        raise Failure(f"{what}: ends with 0")
    if not re.search(pattern, errors):
        raise Failure(f"{what}: does not say {pattern!r}:\n{errors[-2000:]}")


def check_hang(models, rank):
    begin = time.monotonic()
    code, _, errors = run(command(3, models, "wanderers", f"hangs={rank}"), may_fail=True)
    expect_failure(f"rank {rank} hangs", code, errors, f"rank {rank} does not answer")
    if time.monotonic() - begin > 10 * TIME_LIMIT:
        raise Failure(f"rank {rank} hangs: the job ends after {time.monotonic() - begin:.0f} s")


def check_difference(models, rank):
    code, _, errors = run(command(3, models, "wanderers", f"differs={rank}"), may_fail=True)
    expect_failure(f"rank {rank} differs", code, errors, f"rank {rank} differs from rank 0: here \"world at the start: hash")
    code, _, errors = run(command(3, models, "market", f"differs={rank}"), may_fail=True)
    expect_failure(f"the price of rank {rank} differs", code, errors,
                   rf"rank {rank or '[12]'}, step 6: the singleton Price differs from that of rank 0")


def check_trace(models, rank_count):
    """One file has the systems, exchanges, waits and statistics of all ranks."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        run(command(rank_count, models, "wanderers", "steps=6", f"trace={path}"))
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
        if [entry.name for entry in pathlib.Path(folder).iterdir()] != ["trace.json"]:
            raise Failure(f"a trace leaves other files in {folder}")
    owned = 0
    for rank in range(rank_count or 1):
        own = [event for event in events if event["pid"] == rank + 1]
        names = [event["name"] for event in own]
        steps = [event for event in own if re.fullmatch(r"step \d+", event["name"])]
        expected = {"systems": 6, "exchange": 6, "entities": 6, "migrated": 6, "bytes": 6, "process_name": 1}
        if len(steps) != 6 or "act" not in names or any(names.count(name) != count for name, count in expected.items()):
            raise Failure(f"the trace of rank {rank} of {rank_count} lacks events: {sorted(set(names))}")
        if rank_count and "wait" not in names:
            raise Failure(f"rank {rank} does not wait")
        owned += steps[0]["args"]["owned"]
        if any(step["dur"] < 0 or not -1e6 < step["ts"] < 1e9 for step in steps):
            raise Failure(f"the trace of rank {rank} has impossible times")
    if owned != 400:
        raise Failure(f"the ranks of a trace own {owned} entities after the first step instead of 400")


def check_balance(models, name, *arguments):
    """After some balancing, no rank has much more to do than the others: the load is counted, not measured. Ranks that are slow for
    another reason, and programs beside, change nothing."""
    words = command(4, models, name, "steps=40", "agents=1500", "balance=4", *arguments)
    loads = [int(load) for load in re.findall(r"load (\d+)", run(words)[2])]
    if len(loads) != 4 or max(loads) > LOAD_MAX * sum(loads) / 4:
        raise Failure(f"{' '.join(words)}: the loads of the ranks are {loads}")


def check_write(models, rank):
    """A rank changes an entity of another."""
    code, _, errors = run(command(3, models, "epidemic", f"writes={rank}"), may_fail=True)
    expect_failure(f"rank {rank} changes an entity of another", code, errors,
                   rf"rank {rank}, step \d+: the stand-in of identity [0-9a-f]+ got the component Intruder: entities of other ranks are read-only")


def children(process):
    """The processes that a process has started, with their ranks."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            environment = (entry / "environ").read_bytes().decode(errors="replace")
        except (OSError, ValueError, IndexError):
            continue
        rank = re.search(r"OMPI_COMM_WORLD_RANK=(\d+)", environment)
        if parent == process and rank:
            found[int(rank.group(1))] = int(entry.name)
    return found


def check_kill(models, rank, seconds):
    """A rank is killed at a random step."""
    words = command(3, models, "flock", "steps=100000", "agents=300")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()  # it has made a step
        time.sleep(seconds)
        os.kill(children(process.pid)[rank], signal.SIGKILL)
        try:
            _, errors = process.communicate(timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise Failure(f"rank {rank} is killed: the job does not end") from error
        expect_failure(f"rank {rank} is killed", process.returncode, errors, rf"rank {rank}\b.*\n?.*signal 9")


class Injector:
    """Kills a random rank at a random moment of a run that saves now and then, continues the last save on another number of ranks, kills
    again, and compares every line with those of a run without faults."""

    def __init__(self, models, seed):
        self.models = models
        self.random = random.Random(seed)
        self.name = self.random.choice(MODELS)
        self.fixed = (f"seed={seed % 5 + 1}", "steps=30", "agents=200")
        self.expected = run(command(0, models, self.name, *self.fixed))[1].splitlines()

    def start(self, path, rank_count):
        resumed = [f"resume={path}"] if path.exists() else []
        return command(rank_count, self.models, self.name, *self.fixed, "balance=3", f"save={path}", "save_every=4", *resumed)

    def check_lines(self, lines, what):
        for line in lines:
            if line.endswith("\n") and line.strip() != self.expected[int(line.split()[0])]:
                raise Failure(f"{what}: prints {line.strip()!r} instead of {self.expected[int(line.split()[0])]!r}")

    def interrupt(self, path, rank_count):
        """Returns whether the job was killed; False if it had ended before."""
        words, line_count = self.start(path, rank_count), self.random.randrange(1, 14)
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            lines = [process.stdout.readline() for _ in range(line_count)]
            time.sleep(self.random.random() * 0.02)
            rank = self.random.randrange(rank_count)
            what = f"{' '.join(words)}: rank {rank} is killed after {line_count} lines"
            try:
                os.kill(children(process.pid)[rank], signal.SIGKILL)
                is_killed = True
            except (KeyError, ProcessLookupError):  # it ends, or has ended
                is_killed = False
            try:
                rest, errors = process.communicate(timeout=SECONDS_MAX)
            except subprocess.TimeoutExpired as error:
                process.kill()
                raise Failure(f"{what}: the job does not end") from error
        self.check_lines([*lines, *rest.splitlines(keepends=True)], what)
        if process.returncode and is_killed:
            expect_failure(what, process.returncode, errors, rf"rank {rank}\b.*\n?.*signal 9")
        elif process.returncode:
            raise Failure(f"{what}: ends with {process.returncode}\n{errors[-2000:]}")
        return process.returncode != 0

    def run(self):
        """Returns the number of kills."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "save.mica"
            kills = sum(self.interrupt(path, self.random.choice((2, 3, 4))) for _ in range(2))
            # It saves at its end: a save removes what killed jobs have left.
            done = run([*self.start(path, self.random.choice((0, 2, 3, 4))), "save_at=30"])[1].splitlines(keepends=True)
            self.check_lines(done, f"{self.name} after {kills} kills")
            if kills and done[-1].strip() != self.expected[-1]:
                raise Failure(f"{self.name} ends with {done[-1]!r} after {kills} kills instead of {self.expected[-1]!r}")
            parts = int(re.search(r"^parts (\d+)$", path.read_text(encoding="utf-8"), re.M).group(1))
            found = sorted(entry.name for entry in pathlib.Path(folder).iterdir())
            if len(found) != parts + 1:
                raise Failure(f"{self.name}: {kills} kills leave files: {found}")
            return kills


def check_faults(models, kill_count):
    """Faults until that many ranks have been killed."""
    kills, seed = 0, random.randrange(1 << 30)
    while kills < kill_count:
        try:
            kills += Injector(models, seed).run()
        except Failure as failure:
            raise Failure(f"faults of seed {seed}: {failure}") from failure
        seed += 1
    return kills


def check_quickly(models):
    """For builds with a sanitizer: every model on two and three ranks, a save in the middle, and a job that continues it."""
    for name in MODELS:
        expected = run(command(0, models, name, "steps=8", "agents=120"))[1].splitlines()
        with tempfile.TemporaryDirectory() as folder:
            fixed = ("agents=120", "workers=2", "balance=2")
            compare(command(2, models, name, "steps=8", *fixed, f"save={folder}/save.mica", "save_at=4"), expected)
            compare(command(3, models, name, "steps=8", *fixed, f"resume={folder}/save.mica"), expected[4:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    models = options.build / "tests/cluster_models"
    if not models.exists():
        sys.exit(f"{models} does not exist: Open MPI is missing")
    try:
        if options.quick:
            check_quickly(models)
            print(f"cluster: {len(MODELS)} models are equal on two ranks, and continue on three")
            return 0
        count = check_models(models, options.long)
        for example in ("flocking", "epidemic"):
            count += check_example(options.build / f"examples/cluster_{example}", options.long)
            for rank_count in (0, 3):
                check_picture(options.build / f"examples/cluster_{example}", rank_count)
        saves = check_saves(models, options.long)
        for rank in range(3):
            check_hang(models, rank)
        for rank in (1, 2):
            check_difference(models, rank)
        for rank_count in (0, 3):
            check_trace(models, rank_count)
        for name, slow, workers in (("workshop", 9, 1), ("workshop", 0, 1), ("workshop", 2, 2), ("workshop", 9, 4), ("epidemic", 9, 1),
                                    ("flock", 9, 1)):
            check_balance(models, name, f"slow={slow}", f"workers={workers}")
        for rank in range(3):
            check_write(models, rank)
        for rank in range(3):
            check_kill(models, rank, random.random() * 0.3)
        kills = check_faults(models, 100 if options.long else 4)
    except Failure as failure:
        print(f"cluster: {failure}")
        return 1
    print(f"cluster: {count} runs on several ranks are equal, {saves} saves continue; 3 hangs, 2 differences, 3 writes and 3 kills end the job; {kills} jobs continue the last save after a rank was killed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
