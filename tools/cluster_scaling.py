#!/usr/bin/env python3
"""The scaling model of a cluster: extrapolates what was measured on few ranks (bench/cluster.csv) to many, and names the first bottleneck.

    cluster_scaling.py [--birds N] [--strong-birds N] [--latency SECONDS] [--bandwidth BYTES_PER_SECOND] [--memory BYTES_PER_RANK]

Latency and bandwidth default to those measured between two processes of one computer; give those of a network to see that one. The model of
one step of a rank with n of N entities on P ranks, for the flock of bench/cluster_bench.c (two dimensions, uniform):

    work         n * time per bird, which includes searching neighbours and building the table
    border       ghosts * time per bird / 4 (a ghost is received, checked and sorted, and not moved), ghosts = share * sqrt(n), at most N - n
    transfer     ghosts * bytes per ghost / bandwidth
    messages     2 rounds * 8 neighbours * latency
    collectives  3 * 2 * log2(P) * latency
    imbalance    the slowest of P ranks: spread * sqrt(2 * ln(P)) of the work, where the spread of random counts is 1 / sqrt(n)

and of its memory: a fixed part, bytes per bird, and the tables of cells and parcels, which have 12 + 24 bytes per rank.
"""
import argparse
import csv
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CSV = ROOT / "bench/cluster.csv"
RANKS = (1, 10, 100, 1000, 10000, 100000)
NEIGHBOURS, ROUNDS, COLLECTIVES = 8, 2, 3
BYTES_PER_RANK = 36
BOTTLENECK_SHARE = 0.1  # of a step, or of the memory: from here on it is one


def read(path=CSV):
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {row["name"]: float(row["value"]) for row in csv.DictReader(lines)}


def step(figures, birds, ranks):
    """Returns {part: seconds} of a step of a rank."""
    own = birds / ranks
    ghosts = min(figures["ghost_share"] * math.sqrt(own), birds - own)
    work = own * figures["bird_seconds"]
    spread = math.sqrt(2 * math.log(ranks)) / math.sqrt(max(own, 1))
    return {
        "work": work,
        "border": ghosts * figures["bird_seconds"] / 4,
        "transfer": ghosts * figures["ghost_bytes"] / figures["bandwidth"],
        "messages": min(NEIGHBOURS, ranks - 1) * ROUNDS * figures["latency_seconds"],
        "collectives": COLLECTIVES * 2 * math.log2(ranks) * figures["latency_seconds"],
        "imbalance": spread * work,
    }


def memory(figures, birds, ranks):
    return {"rank": figures["rank_bytes"], "entities": birds / ranks * figures["bird_bytes"], "tables per rank": ranks * BYTES_PER_RANK}


def bottleneck(parts, used, limit):
    """What takes most of a step besides the work, or of the memory; "-" if it is little."""
    total = sum(parts.values())
    name, seconds = max(((name, value) for name, value in parts.items() if name != "work"), key=lambda part: part[1])
    if sum(used.values()) > limit:
        return "memory: " + max(used.items(), key=lambda part: part[1])[0]
    return f"{name} ({100 * seconds / total:.0f}%)" if seconds > BOTTLENECK_SHARE * total else "-"


def table(figures, birds_of, limit):
    """The rows of one kind of scaling: (ranks, birds, seconds, efficiency, memory, bottleneck)."""
    first = sum(step(figures, birds_of(1), 1).values()) / birds_of(1)
    for ranks in RANKS:
        birds = birds_of(ranks)
        parts, used = step(figures, birds, ranks), memory(figures, birds, ranks)
        seconds = sum(parts.values())
        yield ranks, birds, seconds, first * birds / ranks / seconds, sum(used.values()), bottleneck(parts, used, limit)


def first_bottleneck(figures, rows):
    """A sentence: what limits first, or what would."""
    found = next((f"the first bottleneck is {name}, with {ranks} ranks" for ranks, *_, name in rows if name != "-" and ranks > 1), None)
    ranks, birds = rows[-1][:2]
    largest = max(((name, value) for name, value in step(figures, birds, ranks).items() if name != "work"), key=lambda part: part[1])[0]
    return found or f"nothing besides the work takes a tenth of a step up to {ranks} ranks; the largest part is {largest}"


def markdown(figures, weak, strong, limit):
    """Both tables as lines of a page."""
    out = []
    for title, birds_of in ((f"Weak scaling: {weak} birds per rank", lambda ranks: weak * ranks), (f"Strong scaling: {strong} birds", lambda ranks: strong)):
        rows = list(table(figures, birds_of, limit))
        out += [f"{title}; {first_bottleneck(figures, rows)}.", "", "| ranks | birds | ms per step | efficiency | MB per rank | bottleneck |", "|---|---|---|---|---|---|"]
        out += [f"| {ranks} | {birds} | {1000 * seconds:.3g} | {efficiency:.2f} | {used / 1e6:.0f} | {name} |"
                for ranks, birds, seconds, efficiency, used, name in rows]
        out.append("")
    return out


WEAK, STRONG, MEMORY = 100000, 100000000, 2e9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--birds", type=int, default=WEAK, help="per rank, for weak scaling")
    parser.add_argument("--strong-birds", type=int, default=STRONG)
    parser.add_argument("--latency", type=float, help="seconds")
    parser.add_argument("--bandwidth", type=float, help="bytes per second")
    parser.add_argument("--memory", type=float, default=MEMORY, help="bytes of a rank")
    options = parser.parse_args()
    if not CSV.exists():
        sys.exit(f"{CSV} does not exist: run make bench-cluster")
    if min(options.birds, options.strong_birds) < 1 or options.memory <= 0 or min(options.latency or 1, options.bandwidth or 1) <= 0:
        sys.exit("cluster_scaling.py: all numbers must be above 0")
    figures = read()
    figures["latency_seconds"] = options.latency or figures["latency_seconds"]
    figures["bandwidth"] = options.bandwidth or figures["bandwidth"]
    print("\n".join(markdown(figures, options.birds, options.strong_birds, options.memory)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
