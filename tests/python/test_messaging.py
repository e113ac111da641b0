"""Messages, streams and hooks."""
import unittest

import numpy as np

import mica
from models import Body, Frozen, Health, Likes, Person, Position, Velocity


@mica.component
class Damage:
    points: mica.i32 = 1


@mica.component
class News:
    text: str
    numbers: list[mica.f32]


class Messaging(unittest.TestCase):
    def setUp(self):
        self.world = mica.World(workers=2)
        self.addCleanup(self.world.close)
        self.world.define(Damage, News, Health, Person, Position, Velocity, Frozen)

    def test_handlers_change_the_components_of_entities(self):
        @self.world.handler(Health, Damage)
        def take(message):
            message.values.current -= message.data.points
            told.extend(message.entities.tolist())
        told = []
        goblin, orc = self.world.create(Health(10)), self.world.create(Health(20))
        self.assertTrue(self.world.send(goblin, Damage(3)))
        self.world.broadcast(Damage(1))
        self.assertEqual((self.world.get(goblin, Health).current, self.world.get(orc, Health).current), (6, 19))
        self.assertEqual(told, [goblin, goblin, orc])
        self.world.destroy(orc)
        self.assertFalse(self.world.send(orc, Damage(1)))

    def test_messages_of_systems_are_delivered_after_the_phase(self):
        @self.world.handler(Health, News, reads=[Position])
        def read(message):
            heard.append((message.data, self.world.get(message.entities[0], Position)))
            self.world.set(int(message.entities[0]), Frozen)
        heard = []
        entity = self.world.create(Health(1), Position(1, 2))

        @self.world.system("Health")
        def speak(frame):
            for view in frame:
                for one in view.entities.tolist():
                    self.world.send(one, News("a text that needs a block of its own", [1, 2]))
        self.world.step()
        self.assertEqual(heard, [(News("a text that needs a block of its own", [1, 2]), Position(1, 2))])
        self.assertTrue(self.world.has(entity, Frozen))

    def test_messages_every_frame_and_tags(self):
        @self.world.handler(Position, Damage)
        def move(message):
            message.values.x += message.dt
        self.world.message_every_frame(Damage)
        one = self.world.create(Position(0, 0))
        told = []
        self.world.handler(Frozen, Damage)(lambda message: told.append((message.values, message.component.name)))
        self.world.step(0.5)
        self.assertEqual(self.world.get(one, Position).x, 0.5)
        self.world.set(one, Frozen)
        self.world.send(one, Damage(1))
        self.assertEqual(told, [(None, "Frozen")])
        with self.assertRaisesRegex(mica.InvalidError, "no data"):
            self.world.send(one, Frozen)
        with self.assertRaisesRegex(mica.InvalidError, "no data"):
            self.world.broadcast(Frozen)

    def test_columns_of_messages_expire_and_exceptions_are_raised(self):
        kept = []
        self.world.handler(Health, Damage)(lambda message: kept.append(message.values))
        entity = self.world.create(Health(1))
        self.world.send(entity, Damage(1))
        with self.assertRaises(mica.ExpiredError):
            kept[0] + 1
        self.world.handler(Position, Damage)(lambda message: 1 // 0)
        other = self.world.create(Position(0, 0))
        with self.assertRaises(ZeroDivisionError):
            self.world.send(other, Damage(1))

    def test_streams_connect_systems(self):
        stream = self.world.stream(Position, application=True)
        self.world.create_many(3, Velocity=np.ones((3, 2), "f4"))
        found = []

        @self.world.system("Velocity", writes=[stream])
        def write(frame):
            for view in frame:
                stream.push_many(len(view), view.Velocity * 2)
                stream.push(Position(9, 9))

        @self.world.system(reads=[stream])
        def read(frame):
            found.append((len(stream), stream.read().tolist()))
        self.world.step()
        values = [[2, 2]] * 3 + [[9, 9]]
        self.assertEqual(found, [(4, values)])
        self.assertEqual(stream.read().tolist(), values)
        self.assertEqual((len(stream), stream.read().shape, stream.dropped), (0, (0, 2), 0))
        self.assertTrue(stream)

    def test_streams_have_text_and_limits(self):
        with self.world.stream(News, capacity=2, application=True) as stream:
            stream.push(News("one", [1]))
            stream.push_many(2, {"text": ["two", "a longer text that needs a block"], "numbers": [[], [3, 4]]})
            self.assertEqual(stream.read(), [News("two", []), News("a longer text that needs a block", [3, 4])])
            self.assertEqual(stream.dropped, 1)
            with self.assertRaisesRegex(mica.InvalidError, "a stream of News, not of Damage"):
                stream.push(Damage(1))
        with self.assertRaisesRegex(mica.ExpiredError, "closed"):
            stream.read()
        with self.assertRaisesRegex(mica.InvalidError, "no fields"):
            self.world.stream(Frozen)
        numbers = self.world.stream(Damage, application=True)
        numbers.push_many(0, np.empty(0, "i4"))
        numbers.push_many(2, np.array([4, 5], "i4"))
        self.assertEqual(numbers.read().tolist(), [4, 5])
        self.world.system("Position", reads=[numbers])(lambda frame: None)
        with self.assertRaises(mica.Error):
            numbers.close()

    def test_hooks_see_every_change(self):
        told = []

        @self.world.hook("add", Person)
        def added(event):
            told.append(("add", event.entities.tolist(), event.values.name.tolist()))
            event.values.age += 1
            event.values.name[0] += "!"
        self.world.hook("set", Health)(lambda event: told.append(("set", event.values.current.tolist())))
        self.world.hook("remove", Health)(lambda event: told.append(("remove",)))
        self.world.hook("destroy")(lambda event: told.append(("destroy", event.kind)))
        anna = self.world.create(Person("Anna", [], 0, [], 5), Health(1))
        self.assertEqual(self.world.get(anna, Person), Person("Anna!", [], 0, [], 6))
        self.world.set(anna, Health(2))
        self.world.set(anna, Health(3))
        self.world.remove(anna, Health)
        self.world.destroy(anna)
        self.assertEqual([item[0] for item in told], ["set", "add", "set", "set", "remove", "destroy"] if told[0][0] == "set"
                         else ["add", "set", "set", "set", "remove", "destroy"])
        count = len(told)
        self.world.remove_hook("destroy")
        self.world.hook("remove", Health)(lambda event: 1 // 0)
        self.world.destroy(self.world.create(Position(0, 0)))
        self.assertEqual(len(told), count)
        other = self.world.create(Health(1))
        with self.assertRaises(ZeroDivisionError):
            self.world.remove(other, Health)
        with self.assertRaisesRegex(mica.InvalidError, "match is no event of a hook"):
            self.world.hook("match")(print)

    def test_events_of_relations_and_split_components_have_no_values(self):
        told = []
        self.world.observer("add", component=Likes)(lambda event: told.append((event.values, event.target)))
        self.world.observer("add", component=Body)(lambda event: told.append((event.values, event.target)))
        one, two = self.world.create(Position(0, 0)), self.world.create(Body(Position(0, 0), 1))
        self.world.relate(one, Likes(2), two)
        self.assertEqual(told, [(None, 0), (None, two)])


if __name__ == "__main__":
    unittest.main()
