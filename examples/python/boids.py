"""Boids on a grid: birds that keep their distance, fly like their neighbours and stay with them become flocks.

    python3 boids.py [picture.png]
"""
import sys

import numpy as np

import mica

COUNT, SIZE, SIGHT, SPEED = 600, 40.0, 4.0, 8.0


@mica.component
class Position:
    x: mica.f32
    y: mica.f32


@mica.component
class Velocity:
    x: mica.f32
    y: mica.f32


def order(world):
    """How alike the directions are: 0 for none, 1 if all fly the same way."""
    velocity = world.query("Velocity").column("Velocity")
    return np.linalg.norm((velocity / np.linalg.norm(velocity, axis=1, keepdims=True)).mean(axis=0))


def main():
    with mica.World() as world:
        random = np.random.default_rng(1)
        angle = random.random(COUNT, "f4") * 2 * np.pi
        world.create_many(COUNT, Position=random.random((COUNT, 2), "f4") * np.float32(SIZE),
                          Velocity=np.column_stack([np.cos(angle), np.sin(angle)]).astype("f4") * np.float32(SPEED))
        grid = world.grid(Position, "x, y", SIGHT, (SIZE, SIZE), torus=True)

        @world.system("write Velocity", reads=[Velocity], indexes=[grid])
        def flock(frame):
            birds, first, found = grid.neighbours(SIGHT)
            old, _ = world.gather(birds, Velocity)
            other, _ = world.gather(found["entity"], Velocity)
            owner = np.repeat(np.arange(len(birds)), np.diff(first))
            offset = found["offset"][:, :2]
            count = np.maximum(np.diff(first), 1)[:, None]

            def mean(values):
                return np.column_stack([np.bincount(owner, values[:, i], len(birds)) for i in (0, 1)]) / count

            apart = mean(-offset / np.maximum(found["distance_squared"], 0.05)[:, None])
            alike = mean(other) - old * (np.diff(first) > 0)[:, None]
            new = old + frame.dt * (4 * apart + 9 * alike + mean(offset))
            new *= SPEED / np.linalg.norm(new, axis=1, keepdims=True)
            world.scatter(birds, Velocity, new.astype("f4"))

        @world.system("write Position, Velocity")
        def fly(frame):
            for position, velocity in frame:
                position += velocity * np.float32(frame.dt)
                position %= np.float32(SIZE)

        for second in range(6):
            print(f"second {second}: order {order(world):.1f}")
            world.run(20, 1 / 20)
        if len(sys.argv) > 1:
            import matplotlib.pyplot as plt
            place, speed = (world.query("Position, Velocity").column(name) for name in ("Position", "Velocity"))
            plt.quiver(*place.T, *speed.T, np.arctan2(speed[:, 1], speed[:, 0]), cmap="hsv")
            plt.savefig(sys.argv[1])


main()
