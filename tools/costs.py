#!/usr/bin/env python3
"""The cost map: instructions of every operation in every circumstance (bench/costs), and the rules they have to follow.

    costs.py BUILD_DIR              count, print the violations, and fail if one is new or got worse
    costs.py BUILD_DIR --update     the same, and write the counts to bench/costs/costs.csv
    costs.py BUILD_DIR --accept     write them although a violation got worse

bench/costs/costs.csv is the map that was committed last, with the violations that are known. A cell that violates a rule may not
cost more than it did there. A violation that is not listed is a failure, except if the cell itself did not get more expensive (then
what it is compared with got cheaper). --update never makes a violation worse.
"""
import argparse
import csv
import pathlib
import sys
import tempfile

import callgrind

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAP = ROOT / "bench/costs/costs.csv"
# A cell that violates a rule may cost this much more than in the committed map before it counts as worse: allocators and
# compilers differ a little.
TOLERANCE, SLACK = 1.05, 1.0

BASE = "components_2"
COMPONENTS = ["components_1", "components_2", "components_4", "components_8", "components_16", "components_32"]
BYTES = [f"bytes_{size}" for size in (1, 2, 3, 4, 8, 12, 16, 20, 32, 64, 200)]
# A row and the row next to it. Values of more bytes must not be cheaper than half, either: that is a cliff in the other direction.
NEIGHBOURS = [*zip(COMPONENTS, COMPONENTS[1:]), *zip(BYTES, BYTES[1:]), *zip(BYTES[1:], BYTES), (BASE, "tags"), (BASE, "destructors"),
              ("hook_here", "observer_here"), ("pool_map", "pool_direct"), ("pool_map", "pool_hash"), ("pool_map", "pool_tags"),
              ("pool_map", "pool_group"), ("pool_group", "pool_subset"), (BASE, "archetypes_26"), ("archetypes_26", "archetypes_1024"),
              (BASE, "any_order")]
UNRELATED = ["name_elsewhere", "link_elsewhere", "hook_elsewhere", "observer_elsewhere"]
# What a name or a link of the entity itself must not change.
UNRELATED_HERE = {"add", "remove", "set", "set_adds", "get", "has", "ref", "iterate", "clone"}
# What a hook of another component of the entity must not make expensive.
BESIDE = {f"{operation}{suffix}" for operation in ("add", "remove", "set", "set_adds", "mixed") for suffix in ("", "_recorded")}
SNAPSHOTS = ["snapshot_elsewhere", "snapshot_here"]
BULK = ["create", "destroy", "add", "remove", "get", "spawn"]
RECORDED = ["create", "destroy", "add", "remove", "set", "set_adds", "mixed"]
READING = {"get", "get_bulk", "has", "ref", "iterate", "system", "system_columns"}
# Loops show one view per archetype: what a view may cost, per entity of the map.
VIEW_INSTRUCTIONS = 60
VIEWS_PER_ENTITY = {"archetypes_26": 26 / 520, "archetypes_1024": 1}

UNRELATED_MAX, SNAPSHOT_MAX, NEIGHBOUR_MAX, BULK_MAX, RECORDED_MAX, SET_MAX, HOOK_MAX = 3, 1.5, 1.5, 0.5, 2, 1.1, 1.5


def count_all(build):
    """Returns ({(operation, circumstance): instructions}, {circumstance: bytes of an entity})."""
    program = build / "bench/costs/costs"
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "callgrind.out"
        run = callgrind.run(output, ["--toggle-collect=measured", "--dump-after=measured", "--combine-dumps=yes"], [program])
        if run.returncode != 0:
            sys.exit(f"{program} failed under callgrind\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
        with open(output, encoding="utf-8") as file:
            totals = [int(line.split()[1]) for line in file if line.startswith("totals: ")]
    cells = [line.split() for line in run.stdout.splitlines()]
    if len(totals) < len(cells):
        sys.exit(f"{len(cells)} cells, but {len(totals)} totals: {program} needs a function `measured` that is not inlined")
    counts = {(cell[0], cell[1]): total / int(cell[2]) for cell, total in zip(cells, totals)}
    return counts, {cell[1]: int(cell[3]) for cell in cells}


def limits(counts, sizes):
    """Yields (rule, cell, limit): the most that each cell may cost, because of another cell."""
    operations = list(dict.fromkeys(operation for operation, _ in counts))
    circumstances = list(dict.fromkeys(circumstance for _, circumstance in counts))

    def compared(operation, circumstance, other_operation, other_circumstance, rule, factor, more=0):
        if (operation, circumstance) in counts and (other_operation, other_circumstance) in counts:
            yield rule, (operation, circumstance), counts[other_operation, other_circumstance] * factor + more

    for operation in operations:
        for circumstance in UNRELATED:
            yield from compared(operation, circumstance, operation, BASE, "unrelated", 1, UNRELATED_MAX)
        if operation in UNRELATED_HERE:
            for circumstance in ("name_here", "link_here"):
                yield from compared(operation, circumstance, operation, BASE, "unrelated", 1, UNRELATED_MAX)
        for circumstance in SNAPSHOTS:
            yield from compared(operation, circumstance, operation, BASE, "snapshot", SNAPSHOT_MAX)
        yield from compared(operation, "hook_here", operation, BASE, "hook", HOOK_MAX)
        if operation in BESIDE:
            yield from compared(operation, "hook_beside", operation, BASE, "hook", HOOK_MAX)
        for row, circumstance in NEIGHBOURS:
            # A changed row is copied, and the last row fills its place.
            copied = 0 if operation in READING else max(0, 2 * (sizes[circumstance] - sizes[row]) / 8)
            views = VIEW_INSTRUCTIONS * VIEWS_PER_ENTITY.get(circumstance, 0) if operation == "iterate" else 0
            yield from compared(operation, circumstance, operation, row, "neighbour", NEIGHBOUR_MAX, copied + views)
    for circumstance in circumstances:
        for operation in BULK:
            yield from compared(f"{operation}_bulk", circumstance, operation, circumstance, "bulk", BULK_MAX)
        for operation in RECORDED:
            yield from compared(f"{operation}_recorded", circumstance, operation, circumstance, "recorded", RECORDED_MAX)
        yield from compared("set_adds", circumstance, "add", circumstance, "set", SET_MAX, sizes[circumstance] / 8)


def violations(counts, sizes):
    """Returns {cell: {rule: limit}} of the limits that are exceeded; the lowest one per rule."""
    found = {}
    for rule, cell, limit in limits(counts, sizes):
        if counts[cell] > limit + 0.5:
            rules = found.setdefault(cell, {})
            rules[rule] = min(limit, rules.get(rule, limit))
    return found


def read_map(path=MAP):
    """Returns {cell: (count, violated rules)} of the committed map: a row per circumstance, a column per operation, and in each cell
    the count and the rules it violates."""
    cells = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            circumstance = row.pop("circumstance")
            cells.update({(operation, circumstance): (float(cell.split()[0]), set(cell.split()[1:])) for operation, cell in row.items() if cell})
    return cells


def worse(counts, found, known):
    """Yields (cell, why) for each violation that is not accepted."""
    for cell, rules in found.items():
        before, listed = known.get(cell, (None, set()))
        risen = before is None or counts[cell] > before * TOLERANCE + SLACK
        new = [rule for rule in rules if rule not in listed]
        if risen and before is not None:
            yield cell, f"{' '.join(rules)}: {counts[cell]:.1f} instructions, {before:.1f} before, at most {min(rules.values()):.1f} allowed"
        elif new and before is None:
            yield cell, f"{' '.join(new)}: {counts[cell]:.1f} instructions, at most {min(rules.values()):.1f} allowed"


def write_map(counts, found):
    operations = list(dict.fromkeys(operation for operation, _ in counts))
    with open(MAP, "w", encoding="utf-8") as file:
        print("circumstance", *operations, sep=",", file=file)
        for circumstance in dict.fromkeys(circumstance for _, circumstance in counts):
            cells = ((operation, circumstance) for operation in operations)
            print(circumstance, *(" ".join((f"{counts[cell]:.1f}", *sorted(found.get(cell, ())))) if cell in counts else "" for cell in cells),
                  sep=",", file=file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--accept", action="store_true", help="write the map although a violation got worse; give the reason in the commit")
    arguments = parser.parse_args()
    counts, sizes = count_all(arguments.build)
    found = violations(counts, sizes)
    known = read_map() if MAP.exists() else None
    for (operation, circumstance), rules in found.items():
        detail = ", ".join(f"{rule} (at most {limit:.1f})" for rule, limit in rules.items())
        print(f"{operation:20}{circumstance:22}{counts[operation, circumstance]:10.1f}  {detail}")
    failures = list(worse(counts, found, known)) if known is not None else []
    for (operation, circumstance), why in failures:
        print(f"FAILED {operation} {circumstance}: {why}")
    gone = len(known.keys() - counts.keys()) if known is not None else 0
    print(f"{len(counts)} cells, {len(found)} of them violate a rule, {len(failures)} of these are new or worse")
    if gone:
        print(f"{gone} cells of {MAP.relative_to(ROOT)} are not in the program any more")
    if arguments.accept or (arguments.update and not failures):
        write_map(counts, found)
        return 0
    return 1 if failures or gone else 0


if __name__ == "__main__":
    sys.exit(main())
