#!/usr/bin/env python3
"""What an inspector costs a program: a world of a million entities, of which a tenth of the slices changes per frame.

    inspect_cost.py BUILD_DIR [ENTITIES] [FRAMES]

Prints the median time of a frame without a server, with a server and no inspector, and with `mica inspect` in another process whose table of entities is
read 8 times per second, as the page does; the time until the first rows are there; and how long it takes to show past frames.
"""
import json
import pathlib
import re
import subprocess
import sys
import time
import urllib.request

TOKEN, PAGE = "programprogram0123", "pagepagepage012345"


def main():
    build = pathlib.Path(sys.argv[1])
    entities, frames = (sys.argv[2:4] + ["1000000", "120"][len(sys.argv) - 2:])[:2]
    load = [build / "bench/inspect_load", entities, frames]
    alone = float(subprocess.run(load, capture_output=True, text=True, check=True).stdout)
    program = subprocess.Popen([*load, "--serve", TOKEN], stdout=subprocess.PIPE, text=True)
    url = re.search(r"http://\S+token=\w+", program.stdout.readline()).group(0)
    served = float(program.stdout.readline())
    tool = subprocess.Popen([build / "mica", "inspect", "--token", PAGE, url], stdout=subprocess.PIPE, text=True)
    address = re.search(r"http://[\d.:]+", tool.stdout.readline()).group(0)

    def ask(path, body=None):
        request = urllib.request.Request(f"{address}/api/{path}", body, {"Authorization": f"Bearer {PAGE}"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    try:
        begin = time.monotonic()
        while not ask("status")["moments"] or not ask("entities?query=Place&limit=60")["rows"]:
            time.sleep(0.01)
        first = time.monotonic() - begin
        program.stdout.readline()  # it contains the first delta, of everything
        end = time.monotonic() + int(frames) / 60 + 1
        while time.monotonic() < end:
            ask("entities?query=Place%2C%20Speed&offset=5000&limit=60")
            time.sleep(0.12)
        inspected = float(program.stdout.readline())
        ask("control?do=pause%20on", b"")
        status = ask("status")
        steps = range(status["last"], max(status["first"], status["last"] - 60), -1)
        shown = sorted(ask(f"show?frame={frame}", b"")["ms"] for frame in steps)
    finally:
        tool.terminate()
        program.kill()
        tool.wait()
        program.wait()
    print(f"frame alone          {alone:9.1f} us")
    print(f"with a server        {served:9.1f} us   {served / alone - 1:+.1%}")
    print(f"with an inspector    {inspected:9.1f} us   {inspected / alone - 1:+.1%}")
    print(f"first rows           {first:9.2f} s")
    print(f"showing a past frame {shown[len(shown) // 2]:9.2f} ms median, {shown[-1]:.2f} ms at most of {len(shown)}")


if __name__ == "__main__":
    main()
