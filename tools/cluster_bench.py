#!/usr/bin/env python3
"""Measures a cluster with bench/cluster_bench and writes bench/cluster.csv, from which tools/measurements.py makes a part of its page.

    cluster_bench.py BUILD_DIR [--small] [--repeat COUNT]      with --small: few entities, to try it out; nothing is written

Each figure is the least of some repetitions: other programs only make a run slower. Ratios compare CPU time where ranks do not wait for
each other, and time on the clock where they do.
"""
import argparse
import datetime
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CSV = ROOT / "bench/cluster.csv"
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n"]
SECONDS_MAX = 600
BYTES_OF_BIRD = 16  # position and velocity, which change in every step


class Bench:
    """Runs the program and keeps the run that took least of what is compared."""

    def __init__(self, program, repeat):
        self.program, self.repeat = program, repeat

    def run(self, ranks, least, *arguments):
        """Returns {name: value}; 0 ranks are without mpirun."""
        words = [*([*MPIRUN, str(ranks)] if ranks else []), str(self.program), *map(str, arguments)]
        best = None
        for _ in range(self.repeat):
            out = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS_MAX, check=True).stdout
            figures = {name: float(value) for name, value in (line.split() for line in out.splitlines())}
            best = figures if best is None or figures[least] < best[least] else best
        return best


def rows(bench, small):
    """Yields (name, what it is, value, target or None)."""
    scale = 50 if small else 1
    steps, birds = 10, 200000 // scale
    plain, one = bench.run(0, "cpu_seconds", "plain", birds, steps), bench.run(0, "cpu_seconds", "flock", birds, steps)
    yield "one_rank", f"one rank relative to a plain world, flocking {birds}, CPU time", one["cpu_seconds"] / plain["cpu_seconds"], 1.05
    yield "bird_seconds", "CPU time of one rank per bird and step, s", one["cpu_seconds"] / birds / steps, None
    yield "bird_bytes", "memory of one rank per bird", one["memory_bytes"] / birds, None

    many = 500000 // scale
    alone, pair = bench.run(0, "wall_seconds", "flock", many, steps), bench.run(2, "wall_seconds", "flock", many, steps)
    yield "two_ranks", f"two ranks relative to one, flocking {many}, one worker each, time", pair["wall_seconds"] / alone["wall_seconds"], 0.56

    four = bench.run(4, "cpu_seconds", "flock", birds, steps)
    changed = (four["ghosts"] + four["arrived"]) * BYTES_OF_BIRD
    yield "bytes", "bytes exchanged per step relative to bytes changed in border cells, 4 ranks", four["sent_bytes"] / changed, 1.3
    yield "ghost_bytes", "bytes sent per ghost", four["sent_bytes"] / max(four["ghosts"], 1), None
    yield "ghost_share", "ghosts of a rank divided by the square root of its birds", four["ghosts"] / 4 / (birds / 4) ** 0.5, None
    yield "messages", "messages per rank and step relative to neighbours, 4 ranks", four["messages_max"] / 3, 2

    many_ranks = bench.run(16, "cpu_seconds", "flock", birds, steps)
    yield "sixteen_ranks", f"16 ranks oversubscribed, flocking {birds}: CPU time of all relative to one rank", many_ranks["cpu_seconds"] / one["cpu_seconds"], 1.4

    things = 200000 // scale
    copied = bench.run(0, "cpu_seconds", "copy", things)["cpu_seconds"] / things
    still, moving = (bench.run(2, "cpu_seconds", "migrate", things, steps, percent) for percent in (0, 10))
    moved = (moving["cpu_seconds"] - still["cpu_seconds"]) / max(moving["arrived"] * steps, 1)
    yield "migrating", "migrating 10% of entities per step relative to copying them, CPU time of 2 ranks", moved / copied, 2

    million = 1000000 // scale
    with tempfile.TemporaryDirectory() as folder:
        saved, parts = (bench.run(ranks, "wall_seconds", "save", million, f"{folder}/save.mica") for ranks in (0, 4))
    yield "saving", f"save and load of {million} entities on 4 ranks relative to one process, time", parts["wall_seconds"] / saved["wall_seconds"], 1.2

    small_trip = bench.run(2, "round_trip_seconds", "echo", 64, 300)["round_trip_seconds"]
    large_trip = bench.run(2, "round_trip_seconds", "echo", 1 << 22, 10)["round_trip_seconds"]
    yield "latency_seconds", "one way of 64 bytes between 2 ranks, s", small_trip / 2, None
    yield "bandwidth", "bytes per second between 2 ranks", 2 * (1 << 22) / (large_trip - small_trip), None
    empty = bench.run(4, "memory_bytes", "flock", 4, 1)["memory_bytes"] / 4
    yield "rank_bytes", "memory of a rank without entities", empty, None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    program = options.build / "bench/cluster_bench"
    if not program.exists():
        sys.exit(f"{program} does not exist: Open MPI is missing")
    lines = [f"# date {datetime.date.today().isoformat()}", f"# machine {platform.machine()}, {platform.system()}, {os.cpu_count()} cores",
             "name,value,target,what"]
    for name, what, value, target in rows(Bench(program, 1 if options.small else options.repeat), options.small):
        print(f"{what}: {value:.3g}{'' if target is None else f' (target {target})'}", flush=True)
        lines.append(f'{name},{value:.6g},{"" if target is None else target},"{what}"')
    if not options.small:
        CSV.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
