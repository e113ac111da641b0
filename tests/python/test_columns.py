"""Columns are the memory of the world, and expire."""
import gc
import pickle
import unittest
import weakref

import numpy as np

import mica
from mica._native import ffi, lib
from models import Body, Clock, Counter, Frozen, Health, Monster, Mood, Person, Position, Velocity


class Columns(unittest.TestCase):
    def setUp(self):
        self.world = mica.World(workers=1)
        self.addCleanup(self.world.close)
        self.ship = self.world.create(Position(1, 2), Velocity(3, 4))

    def test_a_column_is_at_the_address_of_the_component(self):
        view = next(iter(self.world.query("write Position")))
        component = self.world.component(Position).id
        entity = ffi.new("mica_entity *", (self.ship & 0xFFFFFFFF, self.ship >> 32))[0]
        address = int(ffi.cast("uintptr_t", lib.mica_get_id(self.world.pointer, entity, component)))
        self.assertEqual(view.Position.ctypes.data, address)
        self.assertEqual(view.Position.shape, (1, 2))
        self.assertEqual(view.Position.dtype, np.float32)

    def test_adding_columns_changes_the_world(self):
        for position, velocity in self.world.query("write Position, Velocity"):
            position += velocity
        self.assertEqual(self.world.get(self.ship, Position), Position(4, 6))
        for position, velocity in self.world.query("write Position, Velocity"):
            position -= 1
            position *= 2
            position /= velocity
        self.assertEqual(self.world.get(self.ship, Position), Position(2, 2.5))

    def test_fields_are_attributes(self):
        for view in self.world.query("write Position"):
            view.Position.x += 10
            view.Position.y = 7
            self.assertEqual(view.Position["x"].tolist(), [11])
            self.assertEqual(view.Position.records["y"].tolist(), [7])
            with self.assertRaisesRegex(AttributeError, "no field 'z'; it has x, y"):
                view.Position.z
            with self.assertRaisesRegex(AttributeError, "no field 'z'"):
                view.Position.z = 1
        self.assertEqual(self.world.get(self.ship, Position), Position(11, 7))

    def test_a_column_that_is_only_read_is_read_only(self):
        view = next(iter(self.world.query("write Position, Velocity")))
        with self.assertRaisesRegex(ValueError, "read-only"):
            view.Velocity[0, 0] = 1
        with self.assertRaisesRegex(ValueError, "read-only"):
            column = view.Velocity
            column += 1
        with self.assertRaisesRegex(ValueError, "read-only"):
            view.entities[0] = 1
        self.assertEqual(self.world.get(self.ship, Velocity), Velocity(3, 4))

    def test_writing_marks_as_changed_and_reading_does_not(self):
        changed = self.world.query("changed Position")
        self.assertEqual(len(list(changed)), 1)
        for position in (view.Position for view in self.world.query("Position")):
            self.assertEqual(position.sum(), 3)
        self.assertEqual(len(list(changed)), 0)
        mark = self.world.mark()
        for view in self.world.query("write Position"):
            view.Position += 1
        self.assertEqual(len(list(changed)), 1)
        self.assertEqual(len(list(changed.views(since=mark))), 1)

    def uses(self, column):
        """Ways to use an array. All must be refused."""
        other = np.ones((1, 2), np.float32)
        return {
            "item": lambda: column[0], "write": lambda: column.__setitem__(0, 1), "field": lambda: column.x, "add": lambda: column + 1,
            "add to another": lambda: other + column, "add in place": lambda: column.__iadd__(1), "out": lambda: np.add(other, 1, out=column),
            "sum": column.sum, "copy": column.copy, "list": column.tolist, "bytes": column.tobytes, "text": lambda: repr(column),
            "function": lambda: np.concatenate([column, other]), "iteration": lambda: list(column), "sort": column.sort,
            "comparison": lambda: column == 1, "order": lambda: column < other, "float": lambda: float(column[0, 0]), "pickle": lambda: pickle.dumps(column),
            "slice": lambda: column[:1], "fill": lambda: column.fill(3), "where": lambda: np.where(column > 0), "records": lambda: column.records,
            "copyto": lambda: np.copyto(column, other), "type": lambda: column.astype("f8"), "contains": lambda: 1 in column,
        }

    def check_expired(self, column):
        for name, use in self.uses(column).items():
            with self.subTest(name), self.assertRaises(mica.ExpiredError):
                use()

    def test_columns_expire(self):
        changes = {
            "create": lambda: self.world.create(Position(0, 0)), "destroy": lambda: self.world.destroy(self.ship),
            "add": lambda: self.world.set(self.ship, Frozen), "step": self.world.step, "flush": self.world.flush, "mark": self.world.mark,
            "snapshot": self.world.snapshot, "clear": self.world.clear, "close": self.world.close,
        }
        for name, change in changes.items():
            with self.subTest(name):
                self.ship = self.world.create(Position(1, 2))
                view = next(iter(self.world.query("write Position")))
                column = view.Position
                part = column[:, 0]
                self.assertEqual(len(part), len(column))
                change()
                self.check_expired(column)
                with self.assertRaises(mica.ExpiredError):
                    part + 1
                with self.assertRaises(mica.ExpiredError):
                    view.Position

    def test_results_and_copies_never_expire(self):
        view = next(iter(self.world.query("Position")))
        kept = [view.Position * 2, view.Position.copy(), view.Position[[0]], view.Position[view.Position.x > 0], np.copy(view.Position),
                view.Position.astype("f8"), np.empty_like(view.Position), view.Position.sum(axis=0)]
        self.world.clear()
        for i, array in enumerate(kept):
            with self.subTest(i):
                self.assertIsInstance((array + 1).sum(), np.floating)

    def test_a_structural_change_in_the_loop_ends_it_with_an_exception(self):
        self.world.create(Position(5, 5), Frozen)
        with self.assertRaises(mica.Error):
            for view in self.world.query("Position"):
                self.world.create(Position(0, 0))

    def test_an_array_without_references_serves_again_and_one_in_use_does_not(self):
        query = self.world.query("write Position")
        kept = next(iter(query)).Position
        self.assertIsNot(next(iter(query)).Position, kept)
        self.world.mark()
        again = next(iter(query)).Position
        again += 1
        with self.assertRaises(mica.ExpiredError):
            kept + 1

    def test_arrays_serve_again_after_every_use(self):
        """An array that refers to itself would be made anew in each loop."""
        self.world.create(Body(Position(1, 2), 3), Position(0, 0))
        query, bodies = self.world.query("write Position, ?Velocity"), self.world.query("write Body")
        found = []
        for _ in range(3):
            for position, velocity in query:
                position += 1
                position.x += 1
                position.y = position[:, 0] * 2
                position *= 1 if velocity is None else velocity
                found.append((id(position), id(position.x)))
            for view in bodies:
                view.Body.mass += 1
                found.append((id(view.Body.mass), 0))
            self.world.mark()
        self.assertEqual(len(set(found)), 3)

    def test_a_field_expires_like_its_column(self):
        query = self.world.query("write Position")
        for (position,) in query:
            kept = position.x
        del position
        self.world.mark()
        for (position,) in query:
            position.x += 1
            self.assertIsNot(position.x, kept)
        with self.assertRaises(mica.ExpiredError):
            kept + 1

    def test_whole_columns_are_attributes_of_views(self):
        for view in self.world.query("write Position, Velocity"):
            view.Position = view.Velocity
            view.Position *= 2
            with self.assertRaises(ValueError):
                view.Velocity = 1
            with self.assertRaisesRegex(mica.UnknownError, "no column 'Health'"):
                view.Health = 1
        self.assertEqual(self.world.get(self.ship, Position), Position(6, 8))

    def test_a_view_that_the_program_keeps_stays_what_it_was(self):
        self.world.create(Position(5, 6))
        self.world.create_many(400, Frozen, Position=np.ones((400, 2), "f4"))
        views = list(self.world.query("Position"))
        self.assertEqual([len(view) for view in views], [1, 1, 400])
        self.assertEqual([view.Position[0].tolist() for view in views], [[1, 2], [5, 6], [1, 1]])

    def test_more_views_than_are_kept(self):
        kinds = [mica.component(type(f"Kind{i}", (), {})) for i in range(9)]
        for number in range(300):
            self.world.create(Velocity(number, 0), *(kind for bit, kind in enumerate(kinds) if number >> bit & 1))
        query = self.world.query("write Velocity")
        for _ in range(2):
            for (velocity,) in query:
                velocity += 1
        self.assertEqual(sorted(query.column(Velocity, "x").tolist()), sorted([5.0] + [number + 2.0 for number in range(300)]))

    def test_a_loop_ends_with_its_world_and_its_system(self):
        loops = []
        self.world.system("Position")(lambda frame: loops.append(iter(frame)))
        self.world.step()
        with self.assertRaisesRegex(mica.ExpiredError, "the system has returned"):
            next(loops[0])
        loop = iter(self.world.query("Position"))
        view = next(loop)
        self.world.close()
        for use in (lambda: next(loop), lambda: list(view), lambda: view.Position, lambda: view.entities):
            with self.assertRaises(mica.ExpiredError):
                use()
        with self.assertRaises(StopIteration):
            next(loop)

    def test_nothing_is_left_of_a_world_without_references(self):
        world = mica.World(workers=1)
        world.create(Position(1, 2), Body(Position(1, 2), 3))
        world.kept = [(view, *view, view.Position.x, view.Body.place.x) for view in world.query("write Position, Body")]
        gone = weakref.ref(world)
        del world
        gc.collect()
        self.assertIsNone(gone())

    def test_views_and_guards_are_made_by_queries(self):
        with self.assertRaisesRegex(mica.ExpiredError, "made by queries"):
            list(mica.View())
        with self.assertRaises(AttributeError):
            type(next(iter(self.world.query("Position")))._guard)(3)
        with self.assertRaises(AttributeError):
            mica.loop.Columns((3,))
        with self.assertRaises(IndexError):
            next(iter(self.world.query("Position")))._column(7)

    def test_components_of_several_kinds_are_structs(self):
        orc = self.world.create(Monster(Position(1, 2), Mood.ANGRY, self.ship, [1, 2, 3]))
        for view in self.world.query("write Monster"):
            column = view.Monster
            self.assertEqual(column.home["x"].tolist(), [1])
            self.assertEqual(column.mood.tolist(), [7])
            self.assertEqual(column.target.tolist(), [self.ship])
            column.level += 1
            column.path = 9
        self.assertEqual(self.world.get(orc, Monster), Monster(Position(1, 2), Mood.ANGRY, self.ship, [9, 9, 9], 3))

    def test_split_components_have_a_column_per_number(self):
        one = self.world.create(Body(Position(1, 2), 3))
        for view in self.world.query("write Body"):
            view.Body.place.x += 5
            view.Body.mass = 4
            self.assertTrue(view.Body.mass.flags.c_contiguous)
        self.assertEqual(self.world.get(one, Body), Body(Position(6, 2), 4))
        view = next(iter(self.world.query("Body")))
        mass = view.Body.mass
        with self.assertRaises(ValueError):
            mass[0] = 1
        self.world.clear()
        with self.assertRaises(mica.ExpiredError):
            mass + 1

    def test_optional_columns_are_none_where_they_are_absent(self):
        self.world.create(Position(0, 0))
        found = [velocity is None for _, velocity in self.world.query("Position, ?Velocity")]
        self.assertEqual(sorted(found), [False, True])

    def test_text_and_lists_can_not_be_written_as_bytes(self):
        self.world.create(Person("Anna", [1], 0, []))
        for view in self.world.query("write Person"):
            self.assertFalse(view.Person.flags.writeable)

    def test_singletons_in_queries_have_one_value(self):
        self.world.set_singleton(Clock(5))
        for view in self.world.query("Position, write Clock"):
            view.Clock += 1
        self.assertEqual(self.world.singleton(Clock), Clock(6))

    def test_tracked_components_count_as_changed_where_they_are_written(self):
        self.world.create(Counter(1))
        changed = self.world.query("changed Counter, Counter")
        list(changed)
        for view in self.world.query("write Counter"):
            view.Counter += 1
        self.assertEqual([view.Counter.tolist() for view in changed], [[2]])

    def test_toggled_components_and_names_of_columns(self):
        one = self.world.create(Health(5))
        self.world.enable(one, Health, False)
        self.assertEqual(len(self.world.query("Health")), 0)
        self.assertEqual(self.world.query("disabled Health").first(), one)
        view = next(iter(self.world.query("Position")))
        with self.assertRaisesRegex(mica.UnknownError, "no column 'Velocity'; it has Position"):
            view.Velocity


if __name__ == "__main__":
    unittest.main()
