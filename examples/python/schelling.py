"""Schelling's model of segregation: families of two kinds live in a city. One that has too few neighbours of its own kind moves to
an empty house. Mild preferences are enough to divide the city.

    python3 schelling.py [picture.png]
"""
import sys

import numpy as np

import mica

SIZE, WANTED = 64, 0.4


@mica.component
class House:
    x: mica.i16
    y: mica.i16


@mica.component
class Kind:
    value: mica.i8


def settle(world):  # a family of either kind into four of five houses
    random = np.random.default_rng(7)
    houses = random.permutation(SIZE * SIZE)[:SIZE * SIZE * 4 // 5]
    kinds = random.choice(np.array([-1, 1], "i1"), len(houses))
    world.create_many(len(houses), House=np.column_stack([houses % SIZE, houses // SIZE]).astype("i2"), Kind=kinds)


def neighbours(city):
    """The sum over the eight houses around each house, on a torus."""
    rows = city + np.roll(city, 1, 0) + np.roll(city, -1, 0)
    return rows + np.roll(rows, 1, 1) + np.roll(rows, -1, 1) - city


def draw(families):
    city = np.zeros((SIZE, SIZE), "i4")
    for house, kind in families:
        city[house.y, house.x] = kind
    return city


def similarity(city):
    """Which share of the neighbours of a house is of the kind of its family."""
    same = np.where(city > 0, neighbours((city > 0).astype("i4")), neighbours((city < 0).astype("i4")))
    return same / np.maximum(neighbours((city != 0).astype("i4")), 1)


def main():
    with mica.World() as world:
        settle(world)
        families, moves = world.query("House, Kind"), []

        @world.system("write House, Kind")
        def move(frame):
            random, city = frame.random(), draw(frame)
            unhappy, empty = similarity(city) < WANTED, random.permutation(np.argwhere(city == 0))
            moves.append(0)
            for house, kind in frame:
                movers = random.permutation(np.flatnonzero(unhappy[house.y, house.x]))[:len(empty)]
                house[movers] = empty[:len(movers), ::-1]
                empty = empty[len(movers):]
                moves[-1] += len(movers)

        for round_ in range(41):
            if round_ % 10 == 0:
                alike = similarity(draw(families))[draw(families) != 0].mean()
                print(f"round {round_:2}: {100 * alike:.0f}% of the neighbours are alike")
            world.step()
        print(f"{moves[0]} families moved in the first round, {moves[-1]} in the last")
        if len(sys.argv) > 1:
            import matplotlib.pyplot as plt
            plt.imsave(sys.argv[1], draw(families), cmap="coolwarm")


main()
