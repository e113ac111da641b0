"""How fast columns and bulk creation are, compared with NumPy and with the C function in the same process."""
import time
import unittest

import numpy as np

import mica
from mica._native import ffi, lib
from models import Motion, Place

COUNT = 1_000_000
ADD_MAX, CREATE_MAX = 1.3, 2.0
STRUCT_MAX, SPLIT_MAX = 1.3, 2.0  # against arrays of structs; against plain arrays: of one field, calls count more
ATTEMPTS = 8  # other programs on the machine can only make a ratio worse


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def numbers(name, number, width):
    """A component of equal numbers."""
    return mica.component(type(name, (), {"__annotations__": {field: number for field in "xyzw"[:width]}}))


def mixed(name, traits):
    """A component of two floats and an integer."""
    return mica.component(**traits)(type(name, (), {"__annotations__": {"x": mica.f32, "y": mica.f32, "team": mica.i32}}))


class Speed(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(1)
        self.position, self.velocity = (random.random((COUNT, 3), "f4") for _ in range(2))

    def assert_ratio(self, measure, limit, name):
        ratios = []
        for _ in range(ATTEMPTS):
            ratios.append(measure())
            if ratios[-1] <= limit:
                break
        print(f"{name}: {min(ratios):.2f}, the limit is {limit}")
        self.assertLessEqual(min(ratios), limit, f"{name}: {ratios}")

    def measured(self, columns, arrays):
        times = [(seconds(columns), seconds(arrays)) for _ in range(15)]
        return min(pair[0] for pair in times) / min(pair[1] for pair in times)

    def assert_adding_is_fast(self, kinds, array, name):
        """position += velocity, whose arrays are like `array`, against the same arrays of NumPy."""
        places, motions = kinds
        with mica.World() as world:
            world.create_many(COUNT, **{places.__name__: array, motions.__name__: array})
            query = world.query(f"write {places.__name__}, {motions.__name__}")
            first, second = array.copy(), array.copy()

            def columns():
                for position, velocity in query:
                    position += velocity

            def arrays():
                np.add(first, second, out=first)
            self.assert_ratio(lambda: self.measured(columns, arrays), ADD_MAX, f"position += velocity / NumPy, {name}")

    def test_adding_columns_is_as_fast_as_adding_arrays(self):
        for number in (mica.f32, mica.f64):
            for width in (1, 2, 3, 4):
                dtype = "f4" if number is mica.f32 else "f8"
                array = np.ones((COUNT, width), dtype)
                with self.subTest(width=width, dtype=dtype):
                    self.assert_adding_is_fast([numbers(f"{kind}{width}{dtype}", number, width) for kind in ("Place", "Motion")], array,
                                               f"{width} {dtype}")

    def test_fields_of_mixed_structs_are_as_fast_as_those_of_numpy(self):
        self.assert_fields_are_fast({}, STRUCT_MAX, lambda: np.zeros(COUNT, [("x", "f4"), ("y", "f4"), ("team", "i4")]), "fields of structs")

    def test_fields_of_split_components_need_not_much_more_than_arrays(self):
        self.assert_fields_are_fast({"split": True}, SPLIT_MAX, lambda: {name: np.zeros(COUNT, "f4") for name in "xy"}, "fields of split components")

    def assert_fields_are_fast(self, traits, limit, make, name):
        """place.x += motion.x and the same for y, against arrays of NumPy."""
        kinds = [mixed(f"{kind}{'Split' if traits else 'Mixed'}", traits) for kind in ("Place", "Motion")]
        with mica.World() as world:
            world.create_many(COUNT, *kinds)
            query = world.query(f"write {kinds[0].__name__}, {kinds[1].__name__}")
            first, second = make(), make()

            def columns():
                for place, motion in query:
                    place.x += motion.x
                    place.y += motion.y

            def arrays():
                for field in "xy":
                    np.add(first[field], second[field], out=first[field])
            self.assert_ratio(lambda: self.measured(columns, arrays), limit, name)

    def test_creating_from_arrays_is_as_fast_as_the_c_function(self):
        def python():
            with mica.World() as world:
                return seconds(lambda: world.create_many(COUNT, Place=self.position, Motion=self.velocity))

        def native():
            with mica.World() as world:
                values = ffi.new("mica_value[]", [(world.component(kind).id, 12, ffi.cast("void *", column.ctypes.data))
                                                  for kind, column in ((Place, self.position), (Motion, self.velocity))])
                entities = ffi.new("mica_entity[]", COUNT)
                return seconds(lambda: lib.mica_create_many(world.pointer, COUNT, values, 2, entities))

        def measure():
            times = [(python(), native()) for _ in range(5)]
            return min(pair[0] for pair in times) / min(pair[1] for pair in times)
        self.assert_ratio(measure, CREATE_MAX, "create_many / mica_create_many")


if __name__ == "__main__":
    unittest.main()
