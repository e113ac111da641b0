#!/usr/bin/env python3
"""The API of mica inspect, on a running battle and on a file: api_test.py MICA INSPECTED SOURCE_DIR MODULE"""
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from programs import PAGE_TOKEN, PROGRAM_TOKEN, Battle, Tool

TOOL, PROGRAM, SOURCE, MODULE = sys.argv[1:5]


def is_free(port):
    with socket.socket() as other:
        return other.connect_ex(("127.0.0.1", port)) != 0


class Running(unittest.TestCase):
    def setUp(self):
        self.battle = Battle(PROGRAM, "--units", "1000")
        self.tool = Tool(TOOL, self.battle.url)
        self.tool.wait(lambda status: status["moments"] > 5, "the first frames arrive")

    def tearDown(self):
        self.tool.end()
        self.battle.end()

    def captain(self):
        return self.tool.get("entities", query="Captain")["rows"][0]["id"]

    def test_entities_are_listed_by_queries(self):
        found = self.tool.get("entities", query="Soldier, Place", limit=3)
        self.assertEqual(found["columns"], ["Soldier", "Place"])
        self.assertEqual(len(found["rows"]), 3)
        self.assertGreater(found["total"], 500)
        self.assertIn("health", found["rows"][0]["cells"][0])
        last = self.tool.get("entities", query="Captain", offset=1)
        self.assertEqual(len(last["rows"]), 1)
        self.assertEqual(self.tool.get("entities", query="Captain", offset=5)["rows"], [])
        status, error = self.tool.call("GET", "entities", query="Soldier, Captan")
        self.assertEqual((status, error["position"]), (400, 9))
        self.assertIn("Captain", error["error"])

    def test_a_plan_says_what_a_query_visits(self):
        plan = self.tool.get("query", query="Captain")
        self.assertEqual(plan["total"], 2)
        self.assertIn("archetype", plan["plan"])

    def test_described_fields_of_components_with_functions_are_shown_and_edited(self):
        camp = self.tool.get("entity", path="red camp")
        self.assertEqual(camp["value"]["components"]["Banner"], {"height": 12})
        self.tool.post("control", '{"components": {"Banner": {"height": 15}}}', do=f"entity {camp['id']}")
        self.tool.wait(lambda _: self.tool.get("entity", path="red camp")["value"]["components"]["Banner"]["height"] == 15, "the banner is raised")
        first = self.tool.get("status")["first"]
        self.tool.post("show", frame=first)
        self.assertEqual(self.tool.get("entity", path="red camp")["value"]["components"]["Banner"], {"height": 12})
        self.tool.post("show")

    def test_the_tree_has_parents_and_children(self):
        camp = next(row for row in self.tool.get("entities", query="Camp")["rows"] if row["name"] == "red camp")
        self.assertEqual(camp["children"], 1)
        children = self.tool.get("tree", parent=camp["id"])
        self.assertEqual([row["name"] for row in children["rows"]], ["captain"])
        named = [row["name"] for row in self.tool.get("tree", linked=1)["rows"]]
        self.assertEqual(sorted(named), ["blue camp", "red camp"])
        self.assertEqual(self.tool.get("entity", path="red camp/captain")["id"], children["rows"][0]["id"])
        roots = self.tool.get("tree", limit=1000)
        self.assertGreater(roots["total"], 500)

    def test_an_entity_is_shown_and_edited(self):
        captain = self.captain()
        entity = self.tool.get("entity", id=captain)
        self.assertEqual(entity["value"]["components"]["Captain"]["order"], "ATTACK")
        self.assertEqual(entity["parent"]["name"], "red camp")
        relations = {(edge["relation"], edge["direction"]) for edge in entity["relations"]}
        self.assertLessEqual({("Opposes", "to"), ("Commands", "to")}, relations)
        self.tool.post("control", '{"components": {"Captain": {"courage": 12.5, "motto": "<b>no</b>"}, "Fortified": {}}}',
                       do=f"entity {captain}")
        frame = self.tool.get("status")["last"]
        self.tool.wait(lambda status: status["last"] > frame, "the next frame arrives")
        entity = self.tool.get("entity", id=captain)["value"]["components"]
        self.assertEqual((entity["Captain"]["courage"], entity["Captain"]["motto"]), (12.5, "<b>no</b>"))
        self.assertIn("Fortified", entity)
        status, error = self.tool.call("POST", "control", '{"components": {"Captain": {"courage": 101}}}', do=f"entity {captain}")
        self.assertEqual(status, 409)
        self.assertIn("100", error["error"])
        self.assertEqual(self.tool.call("GET", "entity", id=1)[0], 404)

    def test_the_program_is_paused_stepped_and_continued(self):
        self.tool.post("control", do="pause on")
        paused = self.tool.wait(lambda status: status["paused"], "the pause is seen")
        seconds = self.tool.wait(lambda status: status["change"] > paused["change"] + 5, "messages arrive")["seconds"]
        self.tool.post("control", do="step")
        self.tool.wait(lambda status: status["seconds"] > seconds and status["paused"], "a single frame runs")
        self.tool.post("control", do="pause off")
        self.tool.wait(lambda status: not status["paused"], "the program continues")

    def test_past_frames_are_shown_and_compared(self):
        self.tool.wait(lambda status: status["moments"] > 40, "frames arrive")
        first = self.tool.get("status")["first"]
        shown = self.tool.post("show", frame=first + 5)
        self.assertFalse(shown["live"])
        frames = self.tool.get("history", points=100000)["frames"]
        moved = [self.tool.post("show", frame=frames[5], by=by)["frame"] for by in (1, -2, -100000)]
        self.assertEqual(moved, [frames[6], frames[3], frames[0]])
        self.assertTrue(self.tool.post("show", frame=first + 5, by=100000)["live"])
        shown = self.tool.post("show", frame=first + 5)
        then = self.tool.post("sql", "select sum(x) from Place")["rows"]
        self.assertEqual(self.tool.get("status")["frame"], shown["frame"])
        self.assertEqual(self.tool.post("sql", "select sum(x) from Place")["rows"], then)
        self.assertEqual(self.tool.call("POST", "control", "", do="step")[0], 409)
        difference = self.tool.get("diff", **{"from": first + 5, "to": first + 30})
        self.assertGreater(difference["changed"], 500)
        self.assertEqual(len(difference["differences"]), 500)
        self.assertEqual(self.tool.get("diff", **{"from": first + 5, "to": first + 5})["changed"], 0)
        self.assertEqual(self.tool.post("sql", "select sum(x) from Place")["rows"], then)  # the shown frame is the same
        self.assertTrue(self.tool.post("show")["live"])
        self.tool.wait(lambda status: status["last"] > shown["frame"] + 60, "the stream continues")
        self.assertNotEqual(self.tool.post("sql", "select sum(x) from Place")["rows"], then)
        self.assertEqual(self.tool.call("POST", "show", "", frame=0)[0], 404)
        soldier = self.tool.get("entities", query="Soldier, Place", limit=1)["rows"][0]["id"]
        changes = self.tool.get("changes", entity=soldier, component="Place", field="x")["changes"]
        self.assertGreater(len(changes), 5)
        self.assertGreater(changes[0]["frame"], changes[-1]["frame"])

    def test_the_history_continues_while_a_past_frame_is_shown(self):
        self.tool.wait(lambda status: status["moments"] > 40, "frames arrive")
        shown = self.tool.post("show", frame=self.tool.get("status")["first"] + 10)
        self.assertEqual((shown["status"]["frame"], shown["status"]["live"]), (shown["frame"], False))
        then = self.tool.post("sql", "select sum(x), sum(y) from Place")["rows"]
        watched = self.tool.post("watch", do="add", query="Soldier")["id"]
        first = self.tool.get("status")["last"]
        status = self.tool.wait(lambda now: now["last"] > first + 90, "new frames arrive")
        self.assertEqual((status["frame"], status["live"]), (shown["frame"], False))
        self.assertEqual(self.tool.post("sql", "select sum(x), sum(y) from Place")["rows"], then)
        values = next(one for one in self.tool.get("watches")["watches"] if one["id"] == watched)
        self.assertGreater(values["frames"][-1], first + 60)
        self.assertTrue(self.tool.post("show")["live"])
        self.assertNotEqual(self.tool.post("sql", "select sum(x), sum(y) from Place")["rows"], then)
        frames = self.tool.get("history", points=100000)["frames"]
        self.assertGreater(len([frame for frame in frames if first < frame <= first + 90]), 12)  # 90 if the machine is not busy
        self.tool.post("show", frame=shown["frame"])
        self.assertEqual(self.tool.post("sql", "select sum(x), sum(y) from Place")["rows"], then)

    def test_the_program_continues_from_a_past_frame(self):
        self.tool.wait(lambda status: status["moments"] > 40, "frames arrive")
        self.tool.post("control", do="pause on")
        status = self.tool.wait(lambda status: status["paused"], "the pause is seen")
        self.tool.post("control", do="step")
        status = self.tool.wait(lambda now: now["seconds"] > status["seconds"], "a single frame runs")
        frame = status["last"] - 10
        self.tool.post("show", frame=frame)
        then = self.tool.post("sql", "select sum(x) from Place")["rows"]
        frame = self.tool.get("status")["frame"]
        self.tool.post("branch", frame=frame)
        self.tool.wait(lambda status: status["live"] and status["last"] == frame, "the program is in the past")
        self.assertEqual(self.tool.post("sql", "select sum(x) from Place")["rows"], then)
        self.tool.post("control", do="pause off")
        self.tool.wait(lambda status: not status["paused"] and status["last"] > frame + 3, "it continues from there")
        self.tool.wait(lambda status: status["last"] > frame + 40, "all frames arrive")
        self.assertEqual(self.tool.call("POST", "branch", "", frame=0)[0], 404)

    def test_what_wrote_a_value_is_found(self):
        self.tool.wait(lambda status: status["moments"] > 40, "frames arrive")
        self.tool.post("control", do="pause on")
        self.tool.wait(lambda status: status["paused"], "the pause is seen")
        soldier = self.tool.get("entities", query="Soldier, Place, Motion", limit=1)["rows"][0]["id"]
        change = self.tool.get("changes", entity=soldier, component="Place", field="x")["changes"][0]
        found = self.tool.get("wrote", entity=soldier, component="Place", field="x", frame=change["frame"])["changes"]
        self.assertEqual([one["kind"] for one in found], ["system"])
        self.assertEqual(found[0]["systems"][0]["system"], "move")
        self.assertTrue(found[0]["systems"][0]["file"].endswith("battle.c"))
        self.assertEqual(found[0]["after"], change["after"])
        captain = self.captain()
        self.tool.post("control", '{"components": {"Captain": {"courage": 11}}}', do=f"entity {captain}")
        last = self.tool.get("status")["last"]
        found = self.tool.get("wrote", entity=captain, component="Captain", field="courage", frame=last)["changes"]
        self.assertEqual([(one["kind"], one["before"], one["after"]) for one in found], [("program", 80, 11)])
        self.assertEqual(self.tool.call("GET", "wrote", entity=captain, component="Captan", field="x", frame=last)[0], 409)
        self.assertEqual(self.tool.call("GET", "wrote", entity=captain, component="Captain", frame=0)[0], 404)

    def test_values_are_watched_and_a_query_pauses_the_program(self):
        captain = self.captain()
        count = self.tool.post("watch", do="add", query="Soldier")["id"]
        self.tool.post("watch", do="add", entity=captain, component="Captain", field="courage")
        self.assertEqual(self.tool.call("POST", "watch", "", do="add", query="Soldir")[0], 400)
        self.assertEqual(self.tool.call("POST", "watch", "", do="add", component="Captan", entity=captain)[0], 404)
        self.tool.wait(lambda status: status["moments"] > 30, "frames arrive")
        soldiers, courage = self.tool.get("watches")["watches"]
        self.assertGreater(len(soldiers["values"]), 10)
        self.assertGreater(soldiers["values"][-1], 500)
        self.assertEqual((courage["label"], courage["values"][-1]), ("captain Captain.courage", 80))
        self.tool.post("watch", do="remove", id=count)
        self.assertEqual(self.tool.call("POST", "watch", "", do="remove", id=count)[0], 404)
        self.assertEqual(len(self.tool.get("watches")["watches"]), 1)
        self.tool.post("control", "Captain, Fortified", do="break")
        self.tool.post("control", '{"components": {"Fortified": {}}}', do=f"entity {captain}")
        self.tool.wait(lambda status: status["paused"], "the query becomes true")
        self.tool.wait(lambda _: self.tool.get("stats")["break"]["frame"] > 0, "the reason is sent")

    def test_events_a_time_line_and_points_are_served(self):
        captain = self.captain()
        self.tool.post("control", '{"components": {"Fortified": {}}}', do=f"entity {captain}")
        self.tool.post("control", do="timeline on")
        self.tool.wait(lambda _: any(event["component"] == "Fortified" and event["kind"] == "added" and event["entity"] == captain
                                     for event in self.tool.get("events")["events"]), "the event is seen")
        self.tool.wait(lambda _: self.tool.get("timeline"), "a frame is traced")
        names = {event["name"] for event in self.tool.get("timeline")["traceEvents"]}
        self.assertLessEqual({"move", "flush", "thread_name"}, names)
        points = self.tool.get("scatter", query="Place, Soldier", x="Place.x", y="Place.y", color="Soldier.health")
        self.assertGreater(points["total"], 500)
        self.assertEqual(len(points["points"]), 4 * points["total"])
        self.assertEqual(self.tool.call("GET", "scatter", query="Place", x="Place.x")[0], 400)
        self.assertGreaterEqual(self.tool.get("history", points=0)["count"], 1)

    def test_what_passes_through_the_program_is_listed(self):
        captain = self.captain()
        seen = {}

        def listed(_):
            for event in self.tool.get("events")["events"]:
                seen.setdefault(event["kind"], []).append(event)
            return {"stream", "message", "request", "event", "observer"} <= set(seen)

        self.tool.wait(listed, "the captains shout")
        shout = seen["stream"][0]
        self.assertEqual((shout["what"], shout["entity"]), ("Shout", "0"))
        self.assertIn("words", shout["value"])
        cheer = next(one for one in seen["message"] if one["entity"] == captain)
        self.assertEqual((cheer["what"], cheer["name"], cheer["value"]), ("Cheer", "captain", '{"volume": 100}'))
        self.assertEqual((seen["request"][0]["what"], seen["request"][0]["key"]), ("scouts", "0"))
        rally = seen["event"][0]
        self.assertEqual((rally["event"], rally["component"], rally["value"]), (64, "Captain", '{"volume": 80}'))
        self.assertIn(("hear_rally", 64), {(one["what"], one["event"]) for one in seen["observer"]})

    def test_sql_reads_and_nothing_else(self):
        found = self.tool.post("sql", "select name, count(*) as n from entities where name = 'captain'")
        self.assertEqual((found["columns"], found["rows"]), (["name", "n"], [["captain", 2]]))
        for statement in ("update Soldier set health = 1", "attach 'x' as y", "pragma user_version = 3", "selec", "", "create table t(x)", "drop table Soldier",
                          "create temp table t as select * from Soldier", "vacuum into '/tmp/x'", "select load_extension('x')", "select zeroblob(2000000)",
                          "select printf('%.*c', 2000000000, 'x')", "select format('%.*c', 2000000000, 'x')", "select 'a' like hex(zeroblob(1000))",
                          "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"):
            with self.subTest(statement):
                begin = time.monotonic()
                status, error = self.tool.call("POST", "sql", statement)
                self.assertEqual(status, 400)
                self.assertTrue(error["error"])
                self.assertLess(time.monotonic() - begin, 8)
        long = self.tool.post("sql", "select hex(zeroblob(500000)) from Soldier")
        self.assertEqual((long["cut"], len(long["rows"])), (True, 9))

    def test_systems_and_memory_are_described(self):
        stats = self.tool.wait(lambda status: status["moments"] > 10, "frames") and self.tool.get("stats")
        names = [system["name"] for system in stats["systems"]]
        self.assertIn("spread", names)
        self.assertTrue(all(system["file"].endswith(("battle.c", "inspected.c")) for system in stats["systems"] if not system["handlers"]))
        self.assertGreater(stats["world"]["bytes"], 0)
        archetypes = self.tool.get("memory")["archetypes"]
        self.assertIn(["Camp", "Banner"], [archetype["components"] for archetype in archetypes])
        self.assertIn("Captain", [component["name"] for component in self.tool.get("components")["components"]])
        self.tool.post("control", "spread", do="system off")
        self.tool.wait(lambda _: not next(s for s in self.tool.get("stats")["systems"] if s["name"] == "spread")["enabled"],
                       "the system is off")

    def test_the_inspector_outlives_the_program_and_connects_again(self):
        self.tool.wait(lambda status: status["moments"] > 20, "frames arrive")
        port = self.battle.port
        self.battle.end()
        self.tool.wait(lambda status: not status["connected"], "the end is noticed")
        self.assertEqual(len(self.tool.get("entities", query="Captain")["rows"]), 2)
        self.assertFalse(self.tool.post("show", frame=self.tool.get("status")["first"] + 3)["live"])
        self.assertEqual(self.tool.call("POST", "control", "", do="pause on")[0], 409)
        self.tool.post("show")
        self.battle = Battle(PROGRAM, "--units", "1500", port=port)
        self.tool.wait(lambda status: status["connected"] and status["entities"] > 1200, "the new program is seen")

    def test_requests_without_the_token_and_of_other_sites_are_refused(self):
        token = {"Authorization": f"Bearer {PAGE_TOKEN}"}
        host = f"127.0.0.1:{self.tool.port}"
        for headers, path, expected in (
                ({}, "/api/status", 401), ({}, "/", 401), ({}, "/?token=wrong", 401), (token, "/api/status", 200), (token, "/", 200),
                ({**token, "Host": "evil.example"}, "/api/status", 403), ({**token, "Host": host}, "/api/status", 200),
                ({**token, "Host": f"localhost:{self.tool.port}"}, "/api/status", 200),
                ({**token, "Origin": "http://evil.example"}, "/api/status", 403), ({**token, "Origin": "null"}, "/api/status", 403),
                ({**token, "Origin": f"http://{host}"}, "/api/status", 200), (token, "/api/nothing", 404),
                (token, "/api/status?source=7", 404), (token, "/api/sql", 400), (token, "/../../etc/passwd", 404)):
            with self.subTest(path=path, headers=headers):
                status, _, answered = self.tool.raw("GET", path, headers=headers)
                self.assertEqual(status, expected)
                self.assertIsNone(answered["Access-Control-Allow-Origin"])
        self.assertEqual(self.tool.raw("POST", "/api/sql", "x" * (2 << 20), token)[0], 413)
        self.assertEqual(self.tool.raw("DELETE", "/api/status", None, token)[0], 400)


class Files(unittest.TestCase):
    def test_a_level_is_opened_and_not_changed(self):
        with tempfile.TemporaryDirectory() as folder:
            level = pathlib.Path(folder, "level.mica")
            subprocess.run([TOOL, "compile", "-q", pathlib.Path(SOURCE, "examples/modules/level.json"), "-o", level], check=True)
            tool = Tool(TOOL, str(level))
            try:
                status = tool.get("status")
                self.assertEqual((status["name"], status["program"], status["read_only"]), ("level.mica", False, True))
                self.assertIn("apple", [row["name"] for row in tool.get("entities")["rows"]])
                self.assertEqual(tool.call("POST", "control", "", do="create")[0], 409)
            finally:
                tool.end()

    def test_a_level_that_runs_can_be_inspected(self):
        with tempfile.TemporaryDirectory() as folder:
            level = pathlib.Path(folder, "level.mica")
            subprocess.run([TOOL, "compile", "-q", pathlib.Path(SOURCE, "examples/modules/level.json"), "-o", level], check=True)
            run = subprocess.Popen([TOOL, "run", "--inspect", "--skip-unknown", "--frames", "1000000", level], stdout=subprocess.PIPE, text=True)
            url = re.search(r"http://\S+token=\w+", run.stdout.readline()).group(0)
            tool = Tool(TOOL, url)
            try:
                tool.wait(lambda status: status["moments"] > 5, "frames arrive")
                tool.post("control", do="pause on")
                tool.wait(lambda status: status["paused"], "the pause is seen")
            finally:
                tool.end()
                run.kill()
                run.wait()
                run.stdout.close()

    def test_a_recording_is_rewound_compared_and_branched(self):
        with tempfile.TemporaryDirectory() as folder:
            level, recording = pathlib.Path(folder, "level.mica"), pathlib.Path(folder, "run.micarec")
            subprocess.run([TOOL, "compile", "-q", pathlib.Path(SOURCE, "examples/modules/level.json"), "-o", level], check=True)
            subprocess.run([TOOL, "run", "-q", "-u", "-m", MODULE, "--frames", "8000", "-R", recording, level], check=True)
            self.assertEqual(subprocess.run([TOOL, "inspect", "-m", MODULE, recording], capture_output=True, timeout=60, check=False).returncode, 2)
            tool = Tool(TOOL, "-u", "-m", MODULE, str(recording), str(level))
            try:
                self.replayed(tool)
            finally:
                tool.end()

    def replayed(self, tool):
        status = tool.wait(lambda status: status["last"] == 8000, "all ticks run")
        self.assertEqual((status["recording"], status["program"], status["read_only"], status["problem"]), (True, False, True, ""))
        self.assertLess(status["moments"], 3600)  # so not each tick is kept
        height = lambda: tool.post("sql", "select sum(value) from Height")["rows"][0][0]
        last, sums = height(), {}
        for frame in (4001, 3, 7999, 4001, 0, 3, 5550, 5551, 7999):
            shown = tool.post("show", frame=frame)
            self.assertEqual((shown["frame"], shown["live"]), (frame, False))
            self.assertEqual(sums.setdefault(frame, height()), height())
            self.assertEqual(tool.get("status")["frame"], frame)
        self.assertEqual(len(set(sums.values())), len(sums))
        tool.post("show")
        self.assertEqual(height(), last)
        self.assertEqual(tool.get("diff", **{"from": 4001, "to": 4002})["changed"], 2)
        apple = tool.get("entity", path="apple")["id"]
        changes = tool.get("changes", entity=apple, component="Height", field="value")["changes"]
        self.assertEqual([change["frame"] for change in changes], list(range(8000, 7940, -1)))
        for change in changes[:3]:
            found = tool.get("wrote", entity=apple, component="Height", field="value", frame=change["frame"])["changes"]
            self.assertEqual([(one["kind"], one["systems"][0]["system"], one["after"]) for one in found], [("system", "move", change["after"])])
        self.assertEqual([tool.post("show", frame=100, by=by)["frame"] for by in (-1, 2, -5000)], [99, 102, 0])
        tool.post("show", frame=100)
        changes = tool.get("changes", entity=apple, component="Height", field="value")["changes"]
        self.assertEqual(changes[0]["frame"], 100)  # from the tick that is shown backwards
        tool.post("show")
        self.assertEqual(tool.call("GET", "wrote", entity=apple, component="Heigt", field="value", frame=3)[0], 404)
        self.assertEqual(tool.call("GET", "wrote", entity=apple, component="Height", field="value", frame=0)[0], 404)
        status, error = tool.call("POST", "control", "", do="create")
        self.assertEqual(status, 409)
        self.assertIn("branch", error["error"])
        self.assertEqual([system["name"] for system in tool.get("stats")["systems"]], ["fall", "move"])
        self.branched(tool, apple, height)

    def branched(self, tool, apple, height):
        tool.post("branch", frame=4001)
        status = tool.get("status")
        self.assertEqual((status["frame"], status["paused"], status["branched"], status["read_only"]), (4001, True, True, False))
        tool.post("control", '{"components": {"Height": {"value": 50}}}', do=f"entity {apple}")
        tool.post("control", do="step")
        tool.wait(lambda status: status["last"] == 4002 and status["paused"], "one frame runs")
        self.assertGreater(height(), 49)
        found = tool.get("wrote", entity=apple, component="Height", field="value", frame=4002)["changes"]
        self.assertEqual([(one["kind"], one["before"]) for one in found], [("system", 50)])
        tool.post("control", "Height", do="break")
        tool.post("control", do="pause off")
        tool.wait(lambda status: status["last"] > 4010, "the branch runs")
        tool.post("show", frame=4003)
        self.assertGreater(height(), 49)
        tool.post("branch", frame=4000)  # also before the first branch
        self.assertEqual(tool.get("status")["last"], 4000)
        tool.post("branch", back=1)
        status = tool.wait(lambda status: status["last"] == 8000, "the recording runs again")
        self.assertEqual((status["branched"], status["problem"]), (False, ""))
        self.assertEqual(tool.call("POST", "branch", "", frame=1 << 40)[0], 200)  # the last tick
        tool.post("branch", back=1)

    def test_a_range_of_ports_is_a_program_each(self):
        first = next(port for port in range(20000, 60000, 7) if all(is_free(port + i) for i in range(2)))
        battles = [Battle(PROGRAM, "--units", "100", port=first + i) for i in range(2)]
        tool = Tool(TOOL, f"http://127.0.0.1:{first}-{first + 1}/?token={PROGRAM_TOKEN}")
        tool.wait(lambda _: all(status["connected"] and status["moments"] for status in tool.get("sources")), "both are there")
        self.assertEqual(len(tool.get("sources")), 2)
        tool.end()
        for battle in battles:
            battle.end()

    def test_wrong_inputs_are_reported(self):
        url = f"http://127.0.0.1:{{}}/?token={PROGRAM_TOKEN}"
        for arguments, text in (([url.format("5-4")], "ports"), ([url.format("0-4")], "ports"), ([url.format("65530-65536")], "ports"),
                                ([url.format("100-116")], "at most 16"), (["nothing.mica"], "nothing.mica"), (["--token", "short", "x.mica"], ""), ([], "expected")):
            with self.subTest(arguments):
                done = subprocess.run([TOOL, "inspect", *arguments], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
