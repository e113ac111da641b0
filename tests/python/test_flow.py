"""Systems, observers, commands, snapshots, recordings and deltas."""
import pathlib
import tempfile
import threading
import unittest

import numpy as np

import mica
from models import Clock, Frozen, Health, Item, Likes, Position, Velocity


def make_world(workers=2, count=1000, seed=1):
    world = mica.World(workers=workers, seed=seed)
    random = np.random.default_rng(1)
    world.create_many(count, Position=random.random((count, 2), "f4"), Velocity=random.random((count, 2), "f4"))

    @world.system("write Position, Velocity")
    def move(frame):
        for position, velocity in frame:
            position += velocity * np.float32(frame.dt)

    @world.system("write Velocity")
    def shake(frame):
        random = frame.random()
        for view in frame:
            view.Velocity += random.random((len(view), 2), "f4")
    return world


class Systems(unittest.TestCase):
    def test_systems_run_over_whole_columns(self):
        with make_world() as world:
            before = world.query("Position").column("Position") + world.query("Velocity").column("Velocity") * np.float32(0.5)
            world.step(0.5)
            np.testing.assert_allclose(world.query("Position").column("Position"), before, rtol=1e-6)
            self.assertEqual(world.frame_count, 1)
            self.assertAlmostEqual(world.seconds, 0.5)

    def test_the_result_does_not_depend_on_threads(self):
        hashes = set()
        for workers in (1, 2, 4):
            with make_world(workers) as world:
                world.run(10)
                hashes.add(world.hash)
        self.assertEqual(len(hashes), 1)

    def test_conflicting_systems_wait_for_each_other(self):
        with mica.World(workers=2) as world:
            order = []
            world.create(Position(), Velocity())
            world.system("write Position", name="second", after=["first"])(lambda frame: order.append("second"))
            world.system("write Position", name="first")(lambda frame: order.append("first"))
            world.system("", name="last", phase="end")(lambda frame: order.append("last"))
            world.system("", name="begin", phase="begin", every_frames=2)(lambda frame: order.append("begin"))
            world.run(2)
            self.assertEqual([item for item in order if item != "begin"], ["first", "second", "last"] * 2)
            self.assertEqual(order.count("begin"), 1)
            world.enable_system("last", False)
            world.remove_system("begin")
            order.clear()
            world.step()
            self.assertEqual(order, ["first", "second"])
            self.assertFalse(world.remove_system("nothing"))

    def test_systems_that_do_not_conflict_can_run_in_other_threads(self):
        with mica.World(workers=2) as world:
            world.create(Position(), Velocity())
            threads = set()
            for component in ("Position", "Velocity", "Health", "Item"):
                world.system(f"write {component}", name=component)(lambda frame: threads.add(threading.get_ident()))
            for _ in range(20):
                world.step()
            self.assertGreaterEqual(len(threads), 1)

    def test_an_exception_of_a_system_is_raised_by_the_step(self):
        with make_world() as world:
            world.create(Health())

            @world.system("write Health")
            def fail(frame):
                for (health,) in frame:
                    raise KeyError("the message")
            with self.assertRaisesRegex(KeyError, "the message"):
                world.step()
            world.remove_system("fail")
            world.step()
            world.validate()

    def test_columns_of_a_system_expire_when_it_returns(self):
        with make_world() as world:
            kept = []

            @world.system("Position", name="keep")
            def keep(frame):
                kept.extend((view.Position, view, frame) for view in frame)
            world.step()
            column, view, frame = kept[0]
            with self.assertRaises(mica.ExpiredError):
                column + 1
            with self.assertRaises(mica.ExpiredError):
                view.Position
            with self.assertRaises(mica.ExpiredError):
                list(frame)
            with self.assertRaises(mica.ExpiredError):
                frame.commands.create(Frozen)

    def test_a_system_can_write_only_what_it_declares(self):
        with make_world() as world:
            @world.system("Position", name="wrong")
            def wrong(frame):
                for (position,) in frame:
                    position += 1
            with self.assertRaisesRegex(ValueError, "read-only"):
                world.step()

    def test_changes_in_systems_are_recorded(self):
        with mica.World() as world:
            world.create_many(4, Health={"current": [0, 1, 0, 2]})
            world.define(Frozen)

            @world.system("Health")
            def bury(frame):
                for view in frame:
                    for entity in view.entities[view.Health.current == 0]:
                        frame.commands.destroy(entity)
                frame.commands.create(Frozen)
                world.create(Frozen)
                with self.assertRaisesRegex(mica.RefusedError, r"world.define\(Item\) before the frame"):
                    world.create(Item())
            world.step()
            self.assertEqual(len(world.query("Health")), 2)
            self.assertEqual(len(world.query("has Frozen")), 2)
            world.validate()

    def test_indexes_are_current_in_systems(self):
        with mica.World() as world:
            world.create_many(10, Position=np.zeros((10, 2), "f4"))
            grid = world.grid(Position, "x, y", 1, (10, 10))
            found = []

            @world.system("write Position")
            def spread(frame):
                for (position,) in frame:
                    position.x = np.arange(10)

            @world.system("", indexes=[grid], after=["spread"])
            def look(frame):
                found.append(len(grid.within((0, 0), 2.5)))
            world.step()
            self.assertEqual(found, [3])

    def test_wrong_systems_are_exceptions(self):
        with mica.World() as world:
            with self.assertRaisesRegex(mica.InvalidError, "Nothing"):
                world.system("Nothing")(lambda frame: None)
            with self.assertRaisesRegex(mica.UnknownError, "no phase 'later'"):
                world.system(phase="later")(lambda frame: None)
            world.system(name="twice")(lambda frame: None)
            with self.assertRaisesRegex(mica.Error, "twice"):
                world.system(name="twice")(lambda frame: None)
            with self.assertRaises(mica.UnknownError):
                world.enable_system("nothing")

    def test_a_query_made_in_a_system_is_refused_with_the_reason(self):
        with mica.World() as world:
            world.define(Position)
            world.system(name="ask")(lambda frame: world.query("Position"))
            with self.assertRaisesRegex(mica.RefusedError, "inside a system"):
                world.step()

    def test_a_system_can_not_close_its_world(self):
        with mica.World() as world:
            world.system(name="close")(lambda frame: world.close())
            with self.assertRaises(mica.RefusedError):
                world.step()


class Observers(unittest.TestCase):
    def test_observers_are_told_and_can_change(self):
        with mica.World() as world:
            told = []
            world.define(Frozen)

            @world.observer("add", "remove", component=Health, terms="has Position")
            def tell(event):
                told.append((event.kind, event.component.name, event.entities.tolist(), event.values.current.tolist()))
                if event.kind == "add" and not self.assertRaises(mica.RefusedError, world.close):
                    world.set(int(event.entities[0]), Frozen)
            one = world.create(Health(7), Position())
            world.create(Health(8))
            self.assertTrue(world.has(one, Frozen))
            world.remove(one, Health)
            self.assertEqual(told, [("add", "Health", [one], [7]), ("remove", "Health", [one], [7])])

    def test_monitors_and_exceptions(self):
        with mica.World() as world:
            told = []

            @world.observer("match", "unmatch", terms="Position, !Frozen", existing=False)
            def watch(event):
                told.append((event.kind, event.entities.tolist()))
            one = world.create(Position())
            world.set(one, Frozen)
            self.assertEqual(told, [("match", [one]), ("unmatch", [one])])

            @world.observer("add", component=Health)
            def fail(event):
                raise KeyError("the message")
            with self.assertRaisesRegex(KeyError, "the message"):
                world.create(Health())
            self.assertEqual(len(world.query("Health")), 1)
            with self.assertRaisesRegex(mica.InvalidError, "is no event"):
                world.observer("never")(watch)


class CommandBuffers(unittest.TestCase):
    def test_a_block_is_applied_at_its_end(self):
        with mica.World() as world:
            one = world.create(Position())
            with world.commands() as commands:
                two = commands.create(Position(1, 1), Frozen)
                commands.set(one, Velocity(1, 2))
                commands.relate(one, Likes, two)
                commands.remove(one, Position)
                self.assertFalse(world.has(one, Velocity))
            self.assertEqual(world.get(one, Velocity), Velocity(1, 2))
            self.assertEqual(world.targets(one, Likes), [two])
            self.assertFalse(world.has(one, Position))
            with self.assertRaisesRegex(mica.ExpiredError, "closed"):
                commands.create()

    def test_deferring_allows_changes_in_a_loop(self):
        with mica.World() as world:
            world.create_many(10, Health={"current": np.arange(10)})
            with world.defer():
                for view in world.query("Health"):
                    for entity in view.entities[view.Health.current < 5]:
                        world.destroy(int(entity))
            self.assertEqual(len(world), 5)


class Past(unittest.TestCase):
    def test_a_snapshot_restores_what_arrays_wrote(self):
        with make_world() as world:
            with world.snapshot() as snapshot:
                before = world.hash
                world.run(5)
                for (position,) in world.query("write Position"):
                    position[:] = 0
                world.clear()
                self.assertGreater(snapshot.bytes, 0)
                snapshot.restore()
                self.assertEqual(world.hash, before)
                world.validate()
            with self.assertRaises(mica.UnknownError):
                snapshot.restore()

    def test_history_rolls_back(self):
        with make_world() as world, world.history(10) as history:
            hashes = []
            for tick in range(1, 6):
                history.take(tick)
                hashes.append(world.hash)
                world.step()
            final = world.hash
            self.assertEqual((len(history), 3 in history, 9 in history), (5, True, False))
            history.restore(3)
            self.assertEqual(world.hash, hashes[2])
            world.run(3)
            self.assertEqual(world.hash, final)
            with self.assertRaises(mica.InvalidError):
                history.take(1)

    def test_a_recording_replays(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.micarec"

            def prepare(fault=0.0):
                world = make_world()
                world.on_input(lambda data: world.set_singleton(Clock(float(data[0]))))
                for (position,) in world.query("write Position"):
                    position[0, 0] += fault
                return world
            with prepare() as world, world.record(path):
                for i in range(5):
                    world.input(bytes([i]))
                    world.step()
                final = world.hash
            recording = mica.Recording(path)
            self.assertEqual((len(recording), recording.hash(5)), (5, final))
            self.assertIsNone(recording.difference(recording))
            with prepare() as world:
                self.assertIsNone(world.replay(recording))
                self.assertEqual(world.singleton(Clock), Clock(4))
            with prepare(1) as world:
                self.assertRegex(world.replay(recording), ".")
            with self.assertRaises(IndexError):
                recording.hash(6)


class Deltas(unittest.TestCase):
    def test_a_replica_follows(self):
        with make_world() as server, mica.World() as client:
            client.define(Position, Velocity)
            with mica.Sender(server) as sender, mica.Replica(client) as replica:
                version = 0
                for _ in range(3):
                    server.step()
                    version, data = sender.encode(replica.version)
                    replica.apply(data)
                    self.assertEqual(replica.version, version)
                    self.assertEqual(client.content_hash, server.content_hash)
                self.assertEqual(replica.local(server.query("Position").first()), client.query("Position").first())
                with self.assertRaises(mica.DataError):
                    replica.apply(b"nonsense" * 10)
                with self.assertRaises(mica.InvalidError):
                    sender.encode(1 << 60)
            with self.assertRaises(mica.ExpiredError):
                sender.encode()

    def test_a_clone_is_equal(self):
        with make_world() as world, world.clone() as clone:
            self.assertEqual(clone.content_hash, world.content_hash)
            clone.create(Item())
            self.assertNotEqual(clone.content_hash, world.content_hash)


if __name__ == "__main__":
    unittest.main()
