"""An SIR epidemic in a population with households and random meetings: susceptible, infected, recovered.

    python3 epidemic.py [picture.png]
"""
import sys

import numpy as np

import mica

PEOPLE, HOMES, DAYS, SICK_DAYS = 20000, 6000, 100, 8


@mica.component
class Person:
    home: mica.i32


@mica.component
class Infected:
    days_left: mica.i16 = SICK_DAYS


@mica.component
class Recovered:
    pass


def main():
    with mica.World() as world:
        random = np.random.default_rng(3)
        people = world.create_many(PEOPLE, Person=random.integers(0, HOMES, PEOPLE).astype("i4"))
        for person in people[:10]:
            world.set(int(person), Infected())
        world.define(Recovered)
        susceptible = world.query("Person, !Infected, !Recovered")
        infected, recovered = world.query("Person, Infected"), world.query("Person, has Recovered")

        @world.system("write Infected")
        def recover(frame):
            for view in frame:
                view.Infected -= 1
                for person in view.entities[view.Infected == 0]:
                    frame.commands.remove(int(person), Infected)
                    frame.commands.set(int(person), Recovered)

        @world.system("Person, !Infected, !Recovered", reads=[Infected, Person], after=["recover"])
        def infect(frame):
            random = frame.random()
            sick_homes = np.bincount(infected.column("Person"), minlength=HOMES)
            pressure = 0.25 * sick_homes.sum() / PEOPLE
            for view in frame:
                risk = 1 - np.exp(-pressure - 0.08 * sick_homes[view.Person])
                for person in view.entities[random.random(len(view)) < risk]:
                    frame.commands.set(int(person), Infected())

        curve = []
        for day in range(DAYS):
            curve.append((len(susceptible), len(infected), len(recovered)))
            if day % 20 == 0:
                print("day {:2}: {:5} susceptible, {:5} infected, {:5} recovered".format(day, *curve[-1]))
            world.step(1)
        peak = max(range(DAYS), key=lambda day: curve[day][1])
        print(f"the peak is on day {peak} with {curve[peak][1]} infected")
        assert all(sum(counts) == PEOPLE for counts in curve)
        if len(sys.argv) > 1:
            import matplotlib.pyplot as plt
            plt.plot(curve, label=["susceptible", "infected", "recovered"])
            plt.legend()
            plt.savefig(sys.argv[1])


main()
