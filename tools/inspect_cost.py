#!/usr/bin/env python3
"""What an inspector costs a program: a world of a million entities, of which a tenth of the slices changes per frame.

    inspect_cost.py BUILD_DIR [--entities N] [--frames N] [--check]

Prints the mean time of a frame without a server, with a server and no inspector, and with `mica inspect` in another process whose table of entities is
read 8 times per second, as the page does; what the tool needs meanwhile; the time until the first rows are there; how long it takes to show past frames; and
how many frames pass until an edit is there. Times are those of the processor that the threads need, and the least of several windows of half a second, so
that other work on the machine counts little; real times are printed beside them. With --check, it fails if a limit is exceeded in three attempts. The limit
of a frame with an inspector is wider then: the tool and other programs use the caches and the memory of the machine, too.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import time
import urllib.request

TOKEN, PAGE = "programprogram0123", "pagepagepage012345"
GROWTH_SERVED, GROWTH_INSPECTED, GROWTH_CHECKED, TOOL_SHARE, FIRST_SECONDS, SHOW_MS, EDIT_FRAMES = 0.05, 0.10, 0.25, 0.15, 2.0, 50.0, 1
NOISE_US = 30  # two runs of the same program differ by that much
WINDOWS = 8


def processor_seconds(process):
    """What all threads of a process have needed so far."""
    threads = pathlib.Path(f"/proc/{process.pid}/task").glob("*/schedstat")
    return sum(int(path.read_text().split()[0]) for path in threads) / 1e9


def least(process, windows=WINDOWS):
    """The real median, the median and the mean of the frames of the best window."""
    lines = [[float(word) for word in process.stdout.readline().split()] for _ in range(windows)]
    return [min(column) for column in zip(*lines)]


class Bench:
    def __init__(self, build, entities, frames):
        self.load = [build / "bench/inspect_load", str(entities), str(frames)]
        self.tool = build / "mica"
        self.frames = frames
        self.results = {}

    def ask(self, path, body=None):
        request = urllib.request.Request(f"{self.address}/api/{path}", body, {"Authorization": f"Bearer {PAGE}"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def run(self):
        with subprocess.Popen(self.load, stdout=subprocess.PIPE, text=True) as program:
            alone = least(program)
            program.kill()
        self.program = subprocess.Popen([*self.load, "--serve", TOKEN], stdout=subprocess.PIPE, text=True)
        url = re.search(r"http://\S+token=\w+", self.program.stdout.readline()).group(0)
        served = least(self.program)
        tool = subprocess.Popen([self.tool, "inspect", "--token", PAGE, url], stdout=subprocess.PIPE, text=True)
        try:
            self.address = re.search(r"http://[\d.:]+", tool.stdout.readline()).group(0)
            first = self.first_rows(tool)
            least(self.program, 2)  # they contain the first delta, of everything
            inspected, share = self.inspected(tool)
            shown, edit = self.edit_and_rewind()
        finally:
            tool.terminate()
            self.program.kill()
            tool.wait()
            self.program.wait()
        return alone, served, inspected, share, first, shown, edit

    def first_rows(self, tool):
        begin, frames = time.monotonic(), processor_seconds(self.program)
        while not self.ask("status")["moments"] or not self.ask("entities?query=Place&limit=60")["rows"]:
            time.sleep(0.01)
        return time.monotonic() - begin, processor_seconds(tool) + processor_seconds(self.program) - frames

    def inspected(self, tool):
        """The windows while a page asks, and the part of a processor that the tool needs."""
        begin, needed = time.monotonic(), processor_seconds(tool)
        end = begin + (WINDOWS + 1) * self.frames / 60
        while time.monotonic() < end:
            self.ask("entities?query=Place%2C%20Speed&offset=5000&limit=60")
            time.sleep(0.12)
        share = (processor_seconds(tool) - needed) / (time.monotonic() - begin)
        return least(self.program), share

    def settled(self):
        """The status when all frames from before the pause are there."""
        before, status = None, self.ask("status")
        while before is None or status["last"] != before["last"] or not status["paused"]:
            time.sleep(0.3)
            before, status = status, self.ask("status")
        return status

    def edit_and_rewind(self):
        """Pauses, so that frames are counted."""
        self.ask("control?do=pause%20on", b"")
        status = self.settled()
        steps = range(status["last"], max(status["first"], status["last"] - 60), -1)
        shown = sorted(self.ask(f"show?frame={frame}", b"")["ms"] for frame in steps)
        self.ask("show", b"")
        row = self.ask("entities?query=Place&limit=1")["rows"][0]["id"]
        self.ask(f"control?do=entity%20{row}", b'{"components": {"Place": {"y": 77}}}')
        while self.ask(f"entity?id={row}")["value"]["components"]["Place"]["y"] < 77:
            time.sleep(0.01)
        return shown, self.ask("status")["last"] - status["last"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--entities", type=int, default=1000000)
    parser.add_argument("--frames", type=int, default=30, help="of a window")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    attempts = 3 if options.check else 1
    while attempts and report(Bench(options.build, options.entities, options.frames).run(), options.check):
        attempts -= 1
    return options.check and not attempts


def report(results, is_check):
    """Prints what was measured. Returns how many limits are exceeded."""
    alone, served, inspected, share, first, shown, edit = results
    growth = GROWTH_CHECKED if is_check else GROWTH_INSPECTED
    failed = 0

    def line(name, value, unit, limit, real):
        nonlocal failed
        failed += value > limit
        print(f"{'passed' if value <= limit else 'FAILED'}  {name:34} {value:9.2f} {unit:3} at most {limit:9.2f}   ({real})")

    base = alone[2]
    line("frame with a server", served[2], "us", base * (1 + GROWTH_SERVED) + NOISE_US, f"alone {base:.0f} us; real {served[0]:.0f} us")
    line("frame with an inspector", inspected[2], "us", base * (1 + growth) + NOISE_US, f"alone {base:.0f} us; real {inspected[0]:.0f} us")
    line("mica inspect, of a processor", 100 * share, "%", 100 * TOOL_SHARE, "a table is read 8 times per second")
    line("first rows", first[1], "s", FIRST_SECONDS, f"real {first[0]:.2f} s")
    line("showing a past frame, the slowest", shown[-1], "ms", SHOW_MS, f"median {shown[len(shown) // 2]:.2f} ms")
    line("frames until an edit is there", edit, "", EDIT_FRAMES, "paused: the frame that shows it replaces the one before")
    return failed


if __name__ == "__main__":
    sys.exit(main())
