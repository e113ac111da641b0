"""Arrow files are read by the reader of the Arrow project, which tools/setup.sh installs."""
import ctypes
import gc
import json
import pathlib
import resource
import subprocess
import tempfile
import unittest
import weakref

import numpy as np

import mica
from mica._native import ffi
from models import Body, Clock, Frozen, Health, Monster, Mood, Person, Position, Velocity

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@mica.component
class Flags:
    on: bool
    off: bool
    small: mica.i8
    large: mica.u64


class Arrow(unittest.TestCase):
    def setUp(self):
        self.world = mica.World(workers=1)
        self.addCleanup(self.world.close)

    def read(self, query):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "query.arrow"
            count = query.write_arrow(path)
            done = subprocess.run(["node", ROOT / "tests/python/read_arrow.mjs", ROOT / "build/npm", path], capture_output=True, text=True, check=False)
            self.assertEqual(done.stderr, "")
            table = json.loads(done.stdout)
            self.assertEqual(len(table["rows"]), count)
            return table

    def test_numbers_come_back(self):
        entities = self.world.create_many(3, Position=[[1, 2], [3, 4.5], [-5, 6]], Flags={"on": True, "small": [-1, 0, 127], "large": 2 ** 63 + 1})
        table = self.read(self.world.query("Position, Flags"))
        self.assertEqual(table["fields"], [["entity", "Uint64"], ["Position.x", "Float32"], ["Position.y", "Float32"], ["Flags.on", "Bool"],
                                           ["Flags.off", "Bool"], ["Flags.small", "Int8"], ["Flags.large", "Uint64"]])
        self.assertEqual(table["rows"], [[str(entities[i]), *place, True, False, small, str(2 ** 63 + 1)]
                                         for i, (place, small) in enumerate((([1, 2], -1), ([3, 4.5], 0), ([-5, 6], 127)))])

    def test_absent_components_are_null(self):
        self.world.create(Position(1, 2), Health(5, 6))
        self.world.create(Position(3, 4))
        self.world.create(Position(5, 6), Person("x"))
        table = self.read(self.world.query("Position, ?Health, ?Person"))
        values = {row[1]: row[3:] for row in table["rows"]}
        self.assertEqual(values[1], [5, 6, None, None, None, None, None])
        self.assertEqual(values[3], [None] * 7)
        self.assertEqual(values[5], [None, None, "x", [], None, [], 7])
        self.assertEqual(table["batches"], 1)

    def test_text_lists_arrays_enums_and_structs(self):
        one = self.world.create(Person('\u00e4 "quoted"', [1.5, 2], 0, [], 9), Monster(Position(1, 2), Mood.ANGRY, 0, [7, 8, 9], 4))
        table = self.read(self.world.query("Person, Monster"))
        self.assertEqual(dict(table["fields"][1:]), {
            "Person.name": "Utf8", "Person.scores": "List<Float32>", "Person.friend": "Uint64", "Person.friends": "List<Uint64>", "Person.age": "Int32",
            "Monster.home": "Struct<{x:Float32, y:Float32}>", "Monster.mood": "Int32", "Monster.target": "Uint64",
            "Monster.path": "FixedSizeList[3]<Float32>", "Monster.level": "Uint8"})
        self.assertEqual(table["rows"], [[str(one), '\u00e4 "quoted"', [1.5, 2], None, [], 9, {"x": 1, "y": 2}, 7, None, [7, 8, 9], 4]])

    def test_split_components_singletons_and_tags(self):
        self.world.set_singleton(Clock(2.5))
        self.world.create(Body(Position(1, 2), 3), Frozen)
        self.world.create(Body(Position(4, 5), 6), Frozen)
        table = self.read(self.world.query("Body, has Frozen, Clock"))
        self.assertEqual([row[1:] for row in table["rows"]], [[{"x": 1, "y": 2}, 3, 2.5], [{"x": 4, "y": 5}, 6, 2.5]])

    def test_many_chunks_and_no_rows(self):
        values = np.arange(20_000, dtype="f4").reshape(-1, 2)
        self.world.create_many(4000, Position=values[:4000])
        self.world.create_many(6000, Frozen, Position=values[4000:])
        table = self.read(self.world.query("Position"))
        self.assertEqual(table["batches"], 1)
        np.testing.assert_array_equal(np.array([row[1:] for row in table["rows"]]), values)
        self.assertEqual(self.read(self.world.query("Velocity"))["rows"], [])

    def test_past_ticks_and_changes_can_be_written(self):
        one = self.world.create(Position(1, 2), Velocity(0, 0))
        with self.world.snapshot() as snapshot:
            self.world.update(one, Position, x=9)
            snapshot.restore()
            self.assertEqual(self.read(self.world.query("Position"))["rows"][0][1:], [1, 2])
        query = self.world.query("Position, changed Velocity")
        self.assertEqual(len(self.read(query)["rows"]), 1)
        self.assertEqual(self.read(query)["rows"], [])
        mark = self.world.mark()
        self.world.update(one, Velocity, x=9)
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(query.write_arrow(pathlib.Path(folder) / "changed.arrow", mark), 1)

    def test_a_path_that_cannot_be_written_raises(self):
        with self.assertRaisesRegex(mica.Error, "/missing/units.arrow: No such file"):
            self.world.query("").write_arrow("/missing/units.arrow")


class Stream(unittest.TestCase):
    """The Arrow C stream interface, read by hand: what a library like pyarrow does."""

    def open(self, capsule):
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        return ffi.cast("struct ArrowArrayStream *", get(capsule, b"arrow_array_stream"))

    def test_a_stream_is_a_copy_that_outlives_the_world(self):
        with mica.World(workers=1) as world:
            world.create_many(100_000, Position=np.arange(200_000, dtype="f4").reshape(-1, 2))
            capsule = world.query("Position, ?Velocity").__arrow_c_stream__()
        gc.collect()
        stream, schema, array, rows = self.open(capsule), ffi.new("struct ArrowSchema *"), ffi.new("struct ArrowArray *"), 0
        for _ in range(2):
            self.assertEqual(stream.get_schema(stream, schema), 0)
            names = [(ffi.string(schema.children[i].name), ffi.string(schema.children[i].format)) for i in range(schema.n_children)]
            self.assertEqual(names, [(b"entity", b"L"), (b"Position.x", b"f"), (b"Position.y", b"f"), (b"Velocity.x", b"f"), (b"Velocity.y", b"f")])
            schema.release(schema)
        while stream.get_next(stream, array) == 0 and array.release:
            values = np.frombuffer(ffi.buffer(array.children[1].buffers[1], 4 * array.length), "f4")
            np.testing.assert_array_equal(values, np.arange(2 * rows, 2 * (rows + array.length), 2))
            self.assertEqual(array.children[3].null_count, array.length)
            rows += array.length
            array.release(array)
        self.assertEqual(rows, 100_000)
        stream.release(stream)
        self.assertFalse(stream.release)
        del capsule

    def test_a_stream_that_nothing_reads_is_freed(self):
        with mica.World(workers=1) as world:
            world.create_many(1000, Position=np.ones((1000, 2), "f4"))
            query = world.query("Position")
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            for _ in range(10_000):
                query.__arrow_c_stream__()
            self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 50_000)


class LiveStream(unittest.TestCase):
    def setUp(self):
        self.world = mica.World(workers=1)
        self.addCleanup(self.world.close)

    def consumed(self, source):
        """The batches of a stream as a consumer in C gets them."""
        capsule = source.__arrow_c_stream__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        stream = ffi.cast("struct ArrowArrayStream *", get(capsule, b"arrow_array_stream"))
        while True:
            array = ffi.new("struct ArrowArray *")
            result = stream.get_next(stream, array)
            if result:
                raise OSError(result, ffi.string(stream.get_last_error(stream)).decode())
            if not array.release:
                return
            yield array
            array.release(array)

    def test_a_live_stream_refers_to_the_memory_of_the_world(self):
        self.world.create_many(5, Body={"place": np.zeros(5, [("x", "f4"), ("y", "f4")]), "mass": np.arange(5)})
        query = self.world.query("Body")
        view = next(iter(query))
        mass, entities = view.Body.mass.ctypes.data, view.entities.ctypes.data
        found = []
        for batch in self.consumed(query.arrow()):
            addresses = {int(ffi.cast("uintptr_t", batch.children[i].buffers[1])) for i in range(batch.n_children)
                         if batch.children[i].n_buffers == 2}
            found.append((batch.length, mass in addresses, entities in addresses))
        self.assertEqual(found, [(5, True, True)])
        copies = [int(ffi.cast("uintptr_t", batch.children[0].buffers[1])) for batch in self.consumed(query)]
        self.assertNotIn(entities, copies)

    def test_a_live_stream_ends_when_the_world_changes(self):
        self.world.create(Position(1, 2))
        self.world.create(Position(1, 2), Frozen)
        for change in (lambda: self.world.create(Position(3, 4)), self.world.mark, self.world.close):
            batches = self.consumed(self.world.query("Position").arrow())
            next(batches)
            change()
            with self.assertRaisesRegex(OSError, "the world changed or was closed"):
                next(batches)
        with self.assertRaises(mica.ExpiredError):
            self.world.query("Position")

    def test_a_live_stream_keeps_its_world(self):
        world = mica.World(workers=1)
        world.create(Position(1, 2))
        gone = weakref.ref(world)
        capsule = world.query("Position").arrow().__arrow_c_stream__()
        del world
        gc.collect()
        self.assertIsNotNone(gone())
        del capsule
        gc.collect()
        self.assertIsNone(gone())

    def test_a_live_stream_that_cannot_be_made_raises(self):
        self.world.create(Body(Position(1, 2), 3))
        with self.assertRaisesRegex(mica.Error, "."):
            self.world.query("Body, up Body").arrow().__arrow_c_stream__()


if __name__ == "__main__":
    unittest.main()
