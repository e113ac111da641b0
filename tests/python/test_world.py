"""Entities, components, relations, indexes, files and SQL."""
import gc
import os
import pathlib
import subprocess
import tempfile
import unittest
import warnings
from typing import Annotated

import numpy as np

import mica
from models import Burning, Clock, Counter, Frozen, Health, Item, Likes, Monster, Mood, Person, Position, Velocity, Within

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class WorldCase(unittest.TestCase):
    def setUp(self):
        self.world = mica.World(workers=1)
        self.addCleanup(self.world.close)


class Entities(WorldCase):
    def test_values_come_back_as_they_were_set(self):
        one = self.world.create(Position(1, 2), Frozen)
        person = Person("Anna \u00e4", [1.5, 2], one, [one, 0], 30)
        two = self.world.create(person, Monster(Position(3, 4), Mood.ANGRY, one, [1, 2, 3], 9), Health)
        self.assertEqual(self.world.get(one, Position), Position(1, 2))
        self.assertEqual(self.world.get(one, "Frozen"), Frozen())
        self.assertEqual(self.world.get(two, Person), person)
        self.assertEqual(self.world.get(two, Monster), Monster(Position(3, 4), Mood.ANGRY, one, [1, 2, 3], 9))
        self.assertEqual(self.world.get(two, Health), Health(100, 100))
        self.assertIsNone(self.world.get(two, Position))
        self.assertIsNone(self.world.get(two, Frozen))
        self.assertEqual([c.name for c in self.world.components_of(one)], sorted(["Position", "Frozen"], key=lambda n: self.world.component(n).id))
        self.world.validate()

    def test_update_writes_some_fields(self):
        one = self.world.create(Position(1, 2), Person("Anna"))
        self.world.update(one, Position, y=5)
        self.world.update(one, Person, name="Berta")
        self.assertEqual(self.world.get(one, Position), Position(1, 5))
        self.assertEqual(self.world.get(one, Person).name, "Berta")
        with self.assertRaisesRegex(mica.UnknownError, "Position has no field 'z'"):
            self.world.update(one, Position, z=5)
        with self.assertRaisesRegex(mica.DeadError, "has no Velocity"):
            self.world.update(one, Velocity, x=5)

    def test_dead_entities_are_errors_with_the_report(self):
        one = self.world.create(Position(1, 2))
        self.assertTrue(self.world.destroy(one))
        self.assertFalse(self.world.destroy(one))
        self.assertFalse(self.world.is_alive(one))
        with self.assertRaisesRegex(mica.DeadError, "."):
            self.world.set(one, Position(1, 2))
        self.assertIsNone(self.world.get(one, Position))
        self.assertFalse(self.world.has(one, Position))
        self.assertIsInstance(mica.DeadError("x"), LookupError)

    def test_pools_and_defaults(self):
        one = self.world.create(Burning)
        self.assertEqual(self.world.get(one, Burning), Burning(3))
        self.assertTrue(self.world.remove(one, Burning))
        self.assertFalse(self.world.remove(one, Burning))

    def test_many_entities_from_arrays(self):
        places = np.arange(20, dtype="f4").reshape(10, 2)
        entities = self.world.create_many(10, Frozen, Position=places, Health={"current": np.arange(10)}, Item={"price": 5})
        self.assertEqual(len(self.world), 10)
        np.testing.assert_array_equal(self.world.query("Position").entities(), entities)
        np.testing.assert_array_equal(self.world.query("Position").column("Position"), places)
        np.testing.assert_array_equal(self.world.query("Health").column("Health", "current"), np.arange(10))
        values, found = self.world.gather(entities[::-1], Position)
        np.testing.assert_array_equal(values, places[::-1])
        self.assertTrue(found.all())
        self.assertEqual(self.world.scatter(entities[:2], Position, [[7, 8], [9, 10]]), 2)
        self.assertEqual(self.world.get(entities[1], Position), Position(9, 10))
        self.world.destroy(entities[:4])
        self.assertEqual(len(self.world), 6)
        self.assertEqual(self.world.gather(entities, Position)[1].sum(), 6)
        self.world.validate()

    def test_columns_of_the_wrong_shape_are_refused(self):
        for column in (np.zeros((3, 2), "f4"), np.zeros((2, 3), "f4"), np.zeros((2, 2), "c8"), np.zeros(2)):
            with self.assertRaisesRegex(mica.InvalidError, r"the column of Position has shape .*needs shape \(2, 2\) of float32"):
                self.world.create_many(2, Position=column)
        with self.assertRaisesRegex(mica.UnknownError, "Health has no field 'x'"):
            self.world.create_many(2, Health={"x": 1})
        with self.assertRaisesRegex(mica.UnknownError, "no component 'Nothing'"):
            self.world.create_many(2, Nothing=1)
        self.assertEqual(len(self.world), 0)

    def test_bulk_changes_by_query(self):
        self.world.create_many(5, Position=np.zeros((5, 2), "f4"))
        query = self.world.query("Position, !Frozen")
        query.add(Frozen)
        self.assertEqual(len(query), 0)
        frozen = self.world.query("has Frozen")
        frozen.add(Velocity(1, 2))
        self.assertEqual(self.world.get(frozen.first(), Velocity), Velocity(1, 2))
        frozen.remove(Velocity)
        self.assertEqual(len(self.world.query("Velocity")), 0)
        self.assertTrue(frozen.matches(frozen.first()))
        frozen.destroy()
        self.assertEqual(len(self.world), 0)

    def test_columns_of_no_entities_have_their_type(self):
        query = self.world.query("Position, Health, Item")
        self.assertEqual((query.column(Position).shape, query.column(Position).dtype), ((0, 2), np.dtype("f4")))
        self.assertEqual(query.column(Health, "current").dtype, np.dtype("i4"))
        self.assertEqual(query.column(Item).dtype, self.world.component(Item).dtype)
        self.assertEqual((query.first(), len(query), query.entities().dtype), (0, 0, np.dtype("u8")))

    def test_random_order_depends_on_the_seed(self):
        entities = self.world.create_many(50, Frozen)
        query = self.world.query("has Frozen")
        self.assertEqual(query.shuffled(1).tolist(), query.shuffled(1).tolist())
        self.assertNotEqual(query.shuffled(1).tolist(), query.shuffled(2).tolist())
        self.assertEqual(sorted(query.shuffled(3).tolist()), sorted(entities.tolist()))

    def test_names_and_parents(self):
        station = self.world.create(name="station")
        door = self.world.create(Position(1, 1), parent=station)
        self.world.set_name(door, "door", scope=station)
        self.assertEqual(self.world.find("station/door"), door)
        self.assertEqual(self.world.name(station), "station")
        self.assertIsNone(self.world.name(self.world.create()))
        self.assertEqual(self.world.children(station), [door])
        self.assertEqual(self.world.parent(door), station)
        with self.assertRaises(mica.ExistsError):
            self.world.set_name(self.world.create(), "station")

    def test_wrong_queries_say_where_and_why(self):
        self.world.define(Position)
        with self.assertRaisesRegex(mica.InvalidError, r'at 6: there is no component "Positon" \(did you mean "Position"'):
            self.world.query("write Positon")
        self.assertIn("write Position", repr(self.world.query("write Position")))
        self.assertIn("Position", self.world.create(Position()) and self.world.query("Position").explain())

    def test_queries_without_references_are_destroyed(self):
        self.world.create(Position(1, 1))
        for _ in range(500):
            next(iter(self.world.query("Position")))
        gc.collect()
        self.world.query("Position")
        self.assertLess(len(self.world.garbage), 10)

    def test_a_closed_world_refuses_everything(self):
        query = self.world.query("Position")
        index = self.world.index(Item, "price")
        self.world.close()
        self.world.close()
        for use in (self.world.create, self.world.step, lambda: list(query), lambda: len(query), lambda: self.world.hash, lambda: index.find(1)):
            with self.assertRaisesRegex(mica.ExpiredError, "closed"):
                use()


class Descriptions(WorldCase):
    def test_wrong_fields_are_type_errors(self):
        with self.assertRaisesRegex(TypeError, r"Wrong.x: .*complex.* can't be a field"):
            @mica.component
            class Wrong:
                x: complex
        with self.assertRaisesRegex(TypeError, "fast is no trait of a component; the traits are: toggle"):
            @mica.component(fast=True)
            class Fast:
                x: mica.f32
        with self.assertRaisesRegex(TypeError, "decorate it with mica.component"):
            self.world.create(int)

    def test_two_layouts_of_one_name_are_refused(self):
        first = type("Twice", (), {"__annotations__": {"x": mica.f32}})
        second = type("Twice", (), {"__annotations__": {"x": mica.f64}})
        self.world.define(mica.component(first))
        with self.assertRaisesRegex(mica.Error, "Twice"):
            self.world.define(mica.component(second))

    def test_the_layout_is_that_of_c(self):
        @mica.component
        class Mixed:
            a: mica.u8
            b: mica.Entity
            c: mica.f64
            d: mica.u8
            e: Annotated[mica.i16, mica.Field(count=3)]
        component = self.world.component(Mixed)
        self.assertEqual([component.dtype.fields[name][1] for name in "abcde"], [0, 4, 16, 24, 26])
        self.assertEqual(component.dtype.itemsize, 32)

    def test_ranges_are_checked(self):
        one = self.world.create(Health(5))
        with self.assertRaisesRegex(mica.Error, "maximum"):
            self.world.sql("update Health set maximum = 5000")
        self.assertEqual(self.world.get(one, Health).maximum, 100)

    def test_components_of_native_modules_need_no_class(self):
        with tempfile.TemporaryDirectory() as folder:
            module = os.path.join(folder, "gravity.so")
            subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-std=c17", "-I", ROOT / "include", ROOT / "examples/modules/gravity.c", "-o", module],
                           check=True)
            self.world.load_module(module)
            entities = self.world.create_many(3, Height=np.array([1, 2, 3], "f4"), Speed=np.zeros(3, "f4"))
            seen = []

            @self.world.system("Height", after=["move"])
            def look(frame):
                seen.extend(float(height.max()) for (height,) in frame)

            self.world.step(0.1)
            self.assertAlmostEqual(self.world.get(entities[0], "Speed").value, -0.981, 5)
            self.assertAlmostEqual(seen[0], 3 - 0.0981, 5)
            self.assertRegex(self.world.schedule(), r"(?s)fall.*move.*look")
            with self.assertRaises(OSError):
                self.world.load_module(folder + "/nothing.so")
            with self.assertRaisesRegex(mica.DataError, "no entry point"):
                self.world.load_module(mica._native.__file__)


class Relations(WorldCase):
    def test_edges_have_fields_and_an_order(self):
        alice, bob, carl = (self.world.create() for _ in range(3))
        self.world.relate(alice, Likes(2.5), carl)
        self.world.relate(alice, Likes, bob)
        self.assertEqual(self.world.targets(alice, Likes), [carl, bob])
        self.assertEqual(self.world.sources(bob, Likes), [alice])
        self.assertEqual(self.world.edge(alice, Likes, carl), Likes(2.5))
        self.assertIsNone(self.world.edge(bob, Likes, carl))
        self.assertTrue(self.world.is_related(alice, "Likes", bob))
        self.assertTrue(self.world.unrelate(alice, Likes, bob))
        self.assertFalse(self.world.unrelate(alice, Likes, bob))
        self.assertEqual(self.world.query("has Likes").first(), alice)
        with self.assertRaises(mica.Error):
            self.world.relate(alice, Likes, 12345)

    def test_a_column_about_another_entity_has_one_value(self):
        box = self.world.create(Counter(7))
        things = self.world.create_many(3, Position=np.ones((3, 2), "f4"))
        self.world.relate_many(Within, things, np.full(3, box, "u8"))
        views = [(len(view), view["Position"].shape[0], view["Counter"].value.tolist())
                 for view in self.world.query("Position, Within($this, $box), Counter($box)")]
        self.assertEqual(sum(rows for rows, _, _ in views), 3)
        for rows, positions, counters in views:
            self.assertEqual((positions, counters), (rows, [7]))
        self.world.relate(box, Likes(2.5), int(things[0]))
        self.assertEqual([view["Likes"].much.tolist() for view in self.world.query("Likes($this, $liked)")], [[2.5]])

    def test_traits_count(self):
        box, thing, other = (self.world.create() for _ in range(3))
        self.world.relate_many(Within, np.array([thing, other], "u8"), np.array([box, box], "u8"))
        self.assertEqual(self.world.target(thing, Within), box)
        self.world.destroy(box)
        self.assertEqual(len(self.world), 0)


class Indexes(WorldCase):
    def test_values_and_ranges_are_found(self):
        anna = self.world.create()
        items = [self.world.create(Item(anna, price)) for price in (5, 1, 3)]
        by_price = self.world.index(Item, "price")
        self.assertEqual(by_price.range().tolist(), [items[1], items[2], items[0]])
        self.assertEqual(by_price.range(2, 4).tolist(), [items[2]])
        self.assertEqual((by_price.find(5), by_price.find(9), by_price.count(1, 3), len(by_price)), (items[0], 0, 2, 3))
        self.assertEqual(self.world.index(Item, "owner", hashed=True).count(anna, anna), 3)
        self.world.update(items[0], Item, price=2)
        by_price.update()
        self.assertEqual(by_price.find(2), items[0])
        with self.assertRaisesRegex(mica.Error, "colour"):
            self.world.index(Item, "colour")

    def test_text_is_found(self):
        names = ("b", "a text of more than some bytes", "b")
        first, second, _ = (self.world.create(Person(name)) for name in names)
        by_name = self.world.index(Person, "name")
        self.assertEqual((by_name.find(names[0]), by_name.find(names[1]), by_name.find("c")), (first, second, 0))
        self.assertEqual((by_name.range("a", "az").tolist(), by_name.count("b", "b")), ([second], 2))

    def test_grids_find_neighbours(self):
        places = np.array([[1, 1], [2, 1], [50, 50], [99, 1]], "f4")
        entities = self.world.create_many(4, Position=places)
        grid = self.world.grid(Position, "x, y", 5, (100, 100), torus=True)
        self.assertEqual(grid.within((1, 1), 3)["entity"].tolist(), sorted(entities[[0, 1, 3]].tolist(), key=grid.within((1, 1), 3)["entity"].tolist().index))
        self.assertEqual(sorted(grid.around(entities[0], 3)["entity"].tolist()), sorted(entities[[1, 3]].tolist()))
        self.assertEqual(grid.nearest((49, 49))["entity"].tolist(), [entities[2]])
        handles, offsets, neighbours = grid.neighbours(3)
        at = handles.tolist().index(entities[0])
        found = neighbours[offsets[at]:offsets[at + 1]]
        self.assertEqual(sorted(found["entity"].tolist()), sorted(entities[[1, 3]].tolist()))
        self.assertEqual(sorted(found["offset"][:, 0].tolist()), [-2, 1])
        self.assertEqual(offsets[-1], len(neighbours))
        with self.assertRaisesRegex(mica.InvalidError, "a point has two or three numbers"):
            grid.within((1,), 3)

    def test_many_neighbours_fit(self):
        self.world.create_many(200, Position=np.zeros((200, 2), "f4"))
        grid = self.world.grid(Position, "x, y", 5, (100, 100))
        self.assertEqual(len(grid.within((0, 0), 1)), 200)
        self.assertEqual(len(grid.neighbours(1)[2]), 200 * 199)


class Files(WorldCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_loaded_world_continues_exactly(self):
        self.world.create_many(100, Position=np.random.default_rng(1).random((100, 2), "f4"), Velocity=np.ones((100, 2), "f4"))
        self.world.create(Person("Anna", [1], 0, []))
        self.world.step()
        self.world.save(self.folder / "world.mica", compression=3)
        with mica.World(workers=1) as other:
            other.define(*(component.cls for component in self.world.components() if component.cls))
            entities = other.load(self.folder / "world.mica")
            self.assertEqual((other.hash, len(entities)), (self.world.hash, 101))
            self.assertIsNone(self.world.difference(other))
            other.create(Position())
            self.assertIsNotNone(self.world.difference(other))

    def test_missing_and_wrong_files_are_exceptions(self):
        with self.assertRaisesRegex(mica.FileError, "nothing.mica"):
            self.world.load(self.folder / "nothing.mica")
        (self.folder / "wrong.mica").write_bytes(b"no resource at all" * 100)
        with self.assertRaises(mica.DataError):
            self.world.load(self.folder / "wrong.mica")
        with self.assertRaises(OSError):
            self.world.save(self.folder / "no" / "folder.mica")
        with self.assertRaises(mica.DataError):
            mica.Recording(self.folder / "wrong.mica")


class Sql(WorldCase):
    def test_statements_read_and_write(self):
        one = self.world.create(Position(1, 2), Health(5))
        rows = self.world.sql("select entity, x, name from Position join entities using (entity) where y = ?", (2,))
        self.assertEqual((rows, rows.columns), ([(one, 1.0, None)], ("entity", "x", "name")))
        self.world.sql("update Health set current = maximum")
        self.assertEqual(self.world.get(one, Health), Health(100, 100))
        self.world.create(Person("O'Hara"))
        self.assertEqual(self.world.sql("select age from Person where name = ?", ("O'Hara",)), [(7,)])
        self.assertEqual(self.world.sql("select count(*), sum(x) from Position"), [(1, 1.0)])
        self.assertEqual(self.world.sql("select ?, ?, ?, ? is null", (None, 1.5, "text", None)), [(None, 1.5, "text", 1)])

    def test_errors_are_those_of_sqlite(self):
        for text, message in (("selec 1", "syntax error"), ("select * from Unknown", "no such table"), ("select 1; select 2", "one statement")):
            with self.assertRaisesRegex(mica.InvalidError, message):
                self.world.sql(text)
        with self.assertRaisesRegex(mica.InvalidError, "1 parameters, and 0 are given"):
            self.world.sql("select ?")

    def test_writing_makes_columns_expire(self):
        self.world.create(Position(1, 2))
        column = next(iter(self.world.query("write Position"))).Position
        self.world.sql("update Position set x = 5")
        with self.assertRaises(mica.ExpiredError):
            column + 1


class Reports(WorldCase):
    def test_reports_of_calls_that_succeed_are_warnings(self):
        one = self.world.create(Position())
        commands = self.world.commands()
        commands.set(one, Velocity(1, 1))
        self.world.destroy(one)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.world.flush()
        self.assertTrue(any(issubclass(item.category, mica.ReportWarning) for item in caught))


if __name__ == "__main__":
    unittest.main()
