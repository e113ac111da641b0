#!/usr/bin/env python3
"""Writes docs/measurements.md, the chart docs/peers.svg and the table of tasks in docs/guide/performance.md.

    measurements.py BENCH.csv         a run of mica_bench (make bench), bench/side_by_side.csv, bench/costs/costs.csv and bench/cluster.csv become the page
    measurements.py --costs           only the cost map and the table of tasks are written again
    measurements.py --cluster         only the part about the cluster is written again, from bench/cluster.csv (make bench-cluster)
    measurements.py --check           pages and chart agree with the side-by-side figures and the cost map

Other pages have no performance figures; they link to these two.
"""
import csv
import datetime
import pathlib
import platform
import sys

import cluster_scaling
import costs

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/measurements.md"
CHART = ROOT / "docs/peers.svg"
SIDE_BY_SIDE = ROOT / "bench/side_by_side.csv"
LIBRARIES = (("mica", "Mica", "#2b6cb0"), ("flecs", "flecs", "#a0aec0"), ("entt", "EnTT", "#cbd5e0"))
CHARTED = ("create_2", "create_bulk_2", "destroy_random", "iter2_1M", "iter3_mixed_1M", "get_random_1M", "add_remove_100k",
           "deferred_add_remove_100k", "frame_3sys_1M_1thr", "onadd_hook_1M", "hier_create", "memory_1M")
GUIDE = ROOT / "docs/guide/performance.md"
TASKS_BEGIN, TASKS_END = "<!-- tasks -->", "<!-- end of tasks -->"
# What the guide recommends: a task, and ways to do it with their cell of the cost map, the recommended one first.
TASKS = (
    ("create an entity", (("`mica_create`", "create", "components_2"), ("recorded in a system", "create_recorded", "components_2"),
                          ("`mica_clone`", "clone", "components_2"), ("`mica_spawn`, one copy", "spawn", "components_2"))),
    ("create many alike", (("`mica_create_many`", "create_bulk", "components_2"), ("`mica_spawn` with copies", "spawn_bulk", "components_2"),
                           ("`mica_create` for each", "create", "components_2"))),
    ("create with pool components", (("`mica_create`", "create", "pool_map"), ("in a group", "create", "pool_group"))),
    ("destroy an entity", (("`mica_destroy`", "destroy", "components_2"), ("recorded in a system", "destroy_recorded", "components_2"),
                           ("with a name", "destroy", "name_here"), ("with a parent", "destroy", "link_here"))),
    ("destroy many", (("`mica_destroy_many`", "destroy_bulk", "components_2"), ("`mica_destroy` for each", "destroy", "components_2"))),
    ("add a component that is often added and removed", (("to a pool: `mica_add`", "add", "pool_map"), ("to a chunk: `mica_add`", "add", "components_2"),
                                                         ("recorded", "add_recorded", "components_2"))),
    ("mark an entity", (("pool tag", "add", "pool_tags"), ("tag", "add", "tags"))),
    ("add a component to all that match", (("`mica_add_all`", "add_bulk", "components_2"), ("`mica_add` for each", "add", "components_2"))),
    ("remove a component", (("from a pool", "remove", "pool_map"), ("from a chunk", "remove", "components_2"),
                            ("recorded", "remove_recorded", "components_2"), ("`mica_remove_all`, each", "remove_bulk", "components_2"))),
    ("change a value of one entity", (("`mica_set`", "set", "components_2"), ("recorded", "set_recorded", "components_2"))),
    ("read a value of one entity", (("`mica_ref_read`, again and again", "ref", "components_2"), ("`mica_get`", "get", "components_2"),
                                    ("`mica_get_many`, each", "get_bulk", "components_2"), ("`mica_get`, hash index", "get", "pool_hash"))),
    ("test for a component", (("`mica_has`", "has", "components_2"),)),
    ("visit all rows, each", (("chunks", "iterate", "components_2"), ("pools in a group", "iterate", "pool_group"),
                              ("26 archetypes", "iterate", "archetypes_26"), ("1024 archetypes", "iterate", "archetypes_1024"))),
    ("run a system for one entity", (("with views", "system", "components_2"), ("with columns", "system_columns", "components_2"))),
    ("react to additions", (("`mica_add` with a hook", "add", "hook_here"), ("with an observer", "add", "observer_here"))),
)
MARK, COSTS_MARK, CLUSTER_MARK = "<!-- side by side -->", "<!-- cost map -->", "<!-- cluster -->"
COST_TABLES = (("Create and destroy", ("create", "destroy")), ("Add and remove", ("add", "remove")), ("Set", ("set", "set_adds", "flush")),
               ("Read", ("get", "has", "ref", "iterate", "system")), ("Copy", ("clone", "spawn")))


def side_by_side():
    """Returns ({fact: value} of the comment lines, rows)."""
    lines = SIDE_BY_SIDE.read_text(encoding="utf-8").splitlines()
    facts = dict(line[2:].split(" ", 1) for line in lines if line.startswith("#"))
    return facts, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def chart(facts, rows):
    """One group of bars per workload, scaled to the slowest of the group; the figures stand beside the bars."""
    chosen = [next(row for row in rows if row["workload"] == name) for name in CHARTED]
    bar, gap, left, width = 11, 12, 290, 380
    height = 46 + len(chosen) * (len(LIBRARIES) * bar + gap)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="760" height="{height}" fill="#ffffff"/>']
    for index, (_, title, colour) in enumerate(LIBRARIES):
        out += [f'<rect x="{left + index * 110}" y="12" width="12" height="12" fill="{colour}"/>',
                f'<text x="{left + 18 + index * 110}" y="22" fill="#1a202c">{title} {facts[title if title != "Mica" else "mica"]}</text>']
    y = 40
    for row in chosen:
        most = max(float(row[key]) for key, _, _ in LIBRARIES if row[key])
        out.append(f'<text x="{left - 10}" y="{y + 21}" text-anchor="end" fill="#1a202c">{row["description"]}</text>')
        for key, _, colour in LIBRARIES:
            if row[key]:
                length = max(1, round(width * float(row[key]) / most))
                out += [f'<rect x="{left}" y="{y}" width="{length}" height="{bar - 1}" fill="{colour}"/>',
                        f'<text x="{left + length + 5}" y="{y + 9}" font-size="10" fill="#4a5568">{float(row[key]):g} {row["unit"]}</text>']
            y += bar
        y += gap
    return "\n".join([*out, "</svg>", ""])


def comparison(facts, rows):
    cell = lambda text: f"{float(text):g}" if text else "-"
    table = [f"| {row['description']} | `{row['workload']}` | {row['unit']} | " + " | ".join(cell(row[key]) for key in ("mica", "flecs", "entt", "raw")) + " |"
             for row in rows]
    return "\n".join((
        MARK, "## Side by side with flecs and EnTT", "",
        f"Measured on {facts['date']}: Mica {facts['mica']}, flecs {facts['flecs']}, EnTT {facts['EnTT']}; {facts['machine']}. One program per library",
        "runs the same workload, one process at a time; checksums are compared. The figures are minima over several runs with cold memory; noise is up to 30%.",
        "Mica's components are in chunks. Where a peer has several ways to do the work, the fastest is listed. *raw* is hand-written arrays.", "",
        "![Mica, flecs and EnTT](peers.svg)", "",
        "| workload | name | unit | Mica | flecs | EnTT | raw |", "|---|---|---|---|---|---|---|", *table, "",
        "An edge of flecs is a pair, and entities with equal pairs share a table: sources of a target follow each other in memory while there are few combinations of",
        "targets. With eight random targets of 1000 for each of 125 000 sources, almost every source has a table: 3.4 s and 2.6 GB to create, 0.18 s and 85 MB in Mica, where",
        "an edge is a row in a list. In the join, flecs is fastest if docking makes tables and war does not (`DontFragment`); other choices take 57 to 140 ns per ship.",
        ""))


def own(path):
    rows = list(csv.DictReader(open(path, encoding="utf-8")))
    table = [f"| `{row['workload']}` | {row['n']} | {float(row['mica_ns']):.3g} | {float(row['raw_ns']):.3g} | {float(row['ratio']):.2f} |" for row in rows]
    return "\n".join((
        "# Measurements", "",
        "This page is written by `make measurements` and is the only place with performance figures. Machines are noisy: compare ratios, not times.", "",
        "## Mica next to hand-written arrays", "",
        f"One run of `make bench` on {datetime.date.today().isoformat()} ({platform.machine()}, {platform.system()}). *raw* does the same work with plain arrays,",
        "as a competent C programmer would write it, in the same process. Times are nanoseconds per operation (bytes per entity for memory); a ratio of 1 is as",
        "fast as raw, below 1 is faster.", "",
        "| workload | n | Mica | raw | ratio |", "|---|---|---|---|---|", *table, ""))


def cost_map():
    cells = costs.read_map()
    circumstances = list(dict.fromkeys(circumstance for _, circumstance in cells))

    def figure(operation, circumstance):
        if (operation, circumstance) not in cells:
            return "-"
        count, violated = cells[operation, circumstance]
        return f"**{count:.0f}**" if violated else f"{count:.0f}"

    out = [COSTS_MARK, "## Cost map", "",
           "Instructions per operation in a release build, counted by `make costs`. Bold figures violate a rule of `tools/costs.py`: something unrelated adds cost,",
           "the cost is out of proportion to the neighbouring row, or a bulk or recorded call costs too much. Entities have two components of 12 bytes unless the",
           "row says otherwise; `_bulk` is one call for all entities, `_recorded` includes the flush.", ""]
    for title, families in COST_TABLES:
        operations = [operation for operation in dict.fromkeys(operation for operation, _ in cells)
                      if operation in families or operation.rsplit("_", 1)[0] in families]
        out += [f"### {title}", "", "| | " + " | ".join(f"`{operation}`" for operation in operations) + " |", "|---" * (len(operations) + 1) + "|"]
        out += [f"| {circumstance} | " + " | ".join(figure(operation, circumstance) for operation in operations) + " |" for circumstance in circumstances]
        out.append("")
    return "\n".join(out)


def cluster():
    """What make bench-cluster measured, and what the scaling model makes of it."""
    path = cluster_scaling.CSV
    lines = path.read_text(encoding="utf-8").splitlines()
    facts = dict(line[2:].split(" ", 1) for line in lines if line.startswith("#"))
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    out = [CLUSTER_MARK, "## Cluster", "",
           f"One run of `make bench-cluster` on {facts['date']} ({facts['machine']}). Ranks beyond the number of cores show only what they cost, not what they gain.", "",
           "| measurement | measured | target |", "|---|---|---|"]
    out += [f"| {row['what']} | {float(row['value']):.3g} | {row['target'] or '-'} |" for row in rows]
    out += ["", "### Scaling model", "",
            "`tools/cluster_scaling.py` extrapolates the figures above; the model is described there. Give it latency and bandwidth of a network to see that one; these are",
            "between two processes of one computer, for ranks with 2 GB.", ""]
    return "\n".join(out + cluster_scaling.markdown(cluster_scaling.read(), cluster_scaling.WEAK, cluster_scaling.STRONG, cluster_scaling.MEMORY))


def tasks():
    """The table of tasks. A way that the cost map does not have is an error."""
    cells = costs.read_map()
    lines = [TASKS_BEGIN, "| task | recommended | instructions | other ways |", "|---|---|---|---|"]
    for task, ways in TASKS:
        figures = [(way, f"{cells[operation, circumstance][0]:.0f}") for way, operation, circumstance in ways]
        others = ", ".join(f"{way}: {count}" for way, count in figures[1:]) or "-"
        lines.append(f"| {task} | {figures[0][0]} | {figures[0][1]} | {others} |")
    return "\n".join([*lines, TASKS_END])


def guide_with_tasks():
    text = GUIDE.read_text(encoding="utf-8")
    return text[:text.index(TASKS_BEGIN)] + tasks() + text[text.index(TASKS_END) + len(TASKS_END):]


def below(facts, rows):
    """The page after the figures of mica_bench. The part about the cluster is left out until it was measured."""
    return "\n".join((comparison(facts, rows), cost_map(), *([cluster()] if cluster_scaling.CSV.exists() else [])))


def main():
    facts, rows = side_by_side()
    if sys.argv[1:] == ["--check"]:
        page = PAGE.read_text(encoding="utf-8")
        stale = [path.name for path, good in ((PAGE, page[page.index(MARK):] == below(facts, rows)),
                                              (GUIDE, GUIDE.read_text(encoding="utf-8") == guide_with_tasks()),
                                              (CHART, CHART.read_text(encoding="utf-8") == chart(facts, rows))) if not good]
        for name in stale:
            print(f"{name} does not agree with bench/side_by_side.csv, bench/costs/costs.csv or bench/cluster.csv: run make measurements")
        return 1 if stale else 0
    GUIDE.write_text(guide_with_tasks(), encoding="utf-8")
    if sys.argv[1:] in (["--costs"], ["--cluster"]):
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(page[:page.index(MARK)] + below(facts, rows), encoding="utf-8")
        return 0
    PAGE.write_text(own(sys.argv[1]) + "\n" + below(facts, rows), encoding="utf-8")
    CHART.write_text(chart(facts, rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
