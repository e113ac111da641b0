"""A program for the type checker, which must find exactly the errors that comments announce. test_types.py checks and runs it."""
from __future__ import annotations

import numpy as np

import mica


@mica.component
class Place:
    x: mica.f32
    y: mica.f32 = 1


@mica.component(storage="pool", toggle=True)
class Burning:
    seconds: mica.f32
    source: mica.Entity


@mica.singleton
class Score:
    points: mica.i64


@mica.relation(exclusive=True)
class Follows:
    distance: mica.f32


def count_of(query: mica.Query) -> int:
    return sum(len(view) for view in query)


def main() -> None:
    with mica.World(workers=1, seed=3) as world:
        ship: int = world.create(Place(1, 2), name="ship")
        other = world.create(Place(0), Burning(3, ship))
        world.relate(other, Follows(2), ship)
        world.set_singleton(Score(3))
        handles: np.ndarray = world.create_many(3, Place=np.ones((3, 2), "f4"))

        @world.system("write Place", every_frames=1)
        def move(frame: mica.Frame) -> None:
            for (place,) in frame:
                place.x += frame.dt

        @world.observer("add", component=Burning)
        def burning(event: mica.Event) -> None:
            print(event.kind, event.entities.tolist())

        world.step(0.5)
        move.missing  # error: "Callable[[Frame], Any]" has no attribute "missing"
        with world.snapshot() as snapshot, world.commands() as commands:
            commands.destroy(other)
            snapshot.restoer()  # error: "Snapshot" has no attribute "restoer"
        text: str = world.hash  # error: Incompatible types in assignment
        world.step("fast")  # error: Argument 1 to "step"
        print(text, count_of(world.query("Place")), len(handles), burning)


if __name__ == "__main__":
    main()
