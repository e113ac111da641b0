"""Text and lists: as values, in recorded changes, and as columns."""
import unittest

import numpy as np

import mica
from models import Person, Position


@mica.component
class Note:
    text: str
    tags: list[str]
    places: list[Position]
    weight: mica.f32 = 1


LONG = "a text that does not fit into the value itself, and so needs a block"


class Dynamic(unittest.TestCase):
    def setUp(self):
        self.world = mica.World(workers=1)
        self.addCleanup(self.world.close)

    def test_values_are_created_set_and_read(self):
        anna = self.world.create(Person("Anna", [1, 2.5], 0, []), Position(1, 2), name="anna")
        self.world.set(anna, Person(LONG, [], anna, [anna, 0], 9))
        self.assertEqual(self.world.get(anna, Person), Person(LONG, [], anna, [anna, 0], 9))
        self.world.validate()

    def test_they_can_be_recorded(self):
        self.world.define(Person, Note)

        @self.world.system("Position")
        def grow(frame):
            for view in frame:
                for entity in view.entities.tolist():
                    frame.commands.set(entity, Person(LONG, [3], entity, []))
            frame.commands.create(Note("new", ["a", LONG], [Position(1, 2)]))
        one = self.world.create(Position(0, 0))
        self.world.step()
        self.assertEqual(self.world.get(one, Person), Person(LONG, [3], one, []))
        self.assertEqual(self.world.get(self.world.query("Note").first(), Note), Note("new", ["a", LONG], [Position(1, 2)]))
        with self.world.commands() as commands:
            commands.create(Person("discarded", [1], 0, []))
            commands.close()
        with self.world.defer():
            self.world.set(one, Person("deferred", [], 0, []))
        self.assertEqual(self.world.get(one, Person).name, "deferred")
        self.world.validate()

    def test_many_are_created_from_columns(self):
        made = self.world.create_many(3, Person={"name": ["a", LONG, ""], "scores": [[1], [], [2, 3]], "age": [1, 2, 3]},
                                      Note={"text": "same", "tags": [["x"], [LONG, "y"], []]})
        people = [self.world.get(entity, Person) for entity in made]
        self.assertEqual([person.name for person in people], ["a", LONG, ""])
        self.assertEqual([person.scores for person in people], [[1], [], [2, 3]])
        self.assertEqual([person.age for person in people], [1, 2, 3])
        self.assertEqual([self.world.get(entity, Note).tags for entity in made], [["x"], [LONG, "y"], []])
        self.assertEqual(self.world.get(int(made[1]), Note).text, "same")
        for wrong, text in (([1, 2, 3], "is a dict"), ({"name": ["a"]}, "1 values for 3 rows"), ({"name": [1, 2, 3]}, "is a text, and 1 is none"),
                            ({"scores": [["x"], [], []]}, "is a list of float32"), ({"nothing": 1}, "no field 'nothing'")):
            with self.subTest(text), self.assertRaisesRegex(mica.Error, text):
                self.world.create_many(3, Person=wrong)
        self.assertEqual(len(self.world), 3)
        self.world.validate()

    def test_text_and_lists_are_columns(self):
        self.world.create_many(3, Person={"name": ["a", LONG, "c"], "scores": [[1], [2, 3], []]}, Note={"tags": [["x"], [], ["y"]]})
        changed = self.world.query("changed Person")
        list(changed)
        for view in self.world.query("write Person, write Note"):
            person, note = view.Person, view.Note
            self.assertEqual(person.name, ["a", LONG, "c"])
            self.assertEqual([scores.tolist() for scores in person.scores], [[1], [2, 3], []])
            self.assertEqual(note.tags.tolist(), [["x"], [], ["y"]])
            self.assertEqual(person.name[-1], "c")
            self.assertEqual(person.name[:2], ["a", LONG])
            self.assertIn("'c'", repr(person.name))
            person.name[0] = LONG + "!"
            person.name[1:] = ["b", "b"]
            person.scores[2] = np.arange(4)
            person.scores[0] = []
            note.tags[1] = ["new", LONG]
            note.places[0] = [Position(3, 4)]
            note.text = "all"
            person.age += 5
            note.weight = 2
            self.assertEqual(person[1:].name, ["b", "b"])
            person[1:].age += 1
        found = [self.world.get(entity, Person) for entity in self.world.query("Person").entities()]
        self.assertEqual([person.name for person in found], [LONG + "!", "b", "b"])
        self.assertEqual([person.scores for person in found], [[], [2, 3], [0, 1, 2, 3]])
        self.assertEqual([person.age for person in found], [5, 6, 6])
        notes = [self.world.get(entity, Note) for entity in self.world.query("Note").entities()]
        self.assertEqual([(note.text, note.tags, note.places, note.weight) for note in notes],
                         [("all", ["x"], [Position(3, 4)], 2), ("all", ["new", LONG], [], 2), ("all", ["y"], [], 2)])
        self.assertEqual(len(list(changed)), 1)
        self.world.validate()

    def test_columns_of_text_are_checked_like_others(self):
        self.world.create(Person("a", [1], 0, []))
        view = next(iter(self.world.query("Person")))
        names = view.Person.name
        with self.assertRaisesRegex(ValueError, "read-only"):
            names[0] = "b"
        with self.assertRaises(ValueError):
            view.Person.age += 1
        with self.assertRaises(IndexError):
            names[1]
        view = next(iter(self.world.query("write Person")))
        with self.assertRaisesRegex(mica.InvalidError, "is a text"):
            view.Person.name[0] = 3
        with self.assertRaises(ValueError):
            view.Person[0] = view.Person[0]
        names = view.Person.name
        self.world.clear()
        for use in (lambda: names[0], lambda: list(names), lambda: names.__setitem__(0, "x")):
            with self.assertRaises(mica.ExpiredError):
                use()

    def test_snapshots_restore_what_a_column_wrote(self):
        one = self.world.create(Person(LONG, [1, 2], 0, []))
        before = self.world.hash
        with self.world.snapshot() as snapshot:
            for view in self.world.query("write Person"):
                view.Person.name[0] = "short"
                view.Person.scores[0] = [9, 9, 9]
            self.assertEqual(self.world.get(one, Person).name, "short")
            snapshot.restore()
        self.assertEqual(self.world.hash, before)
        self.assertEqual(self.world.get(one, Person), Person(LONG, [1, 2], 0, []))


if __name__ == "__main__":
    unittest.main()
