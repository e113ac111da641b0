#!/usr/bin/env python3
"""Mistakes in C++ programs do not compile, and the compiler says in a sentence of Mica what is wrong.

    mistakes_test.py c++
"""
import subprocess
import sys
import unittest

PRELUDE = """#include "mica/mica.hpp"
#include <memory>
struct Point { float x, y; };
struct Other { int value; };
struct Undescribed { float x; };
struct Hit { static constexpr int event = MICA_EVENT_USER; int points; };
struct Silent { int points; };
struct Sole { std::unique_ptr<int> number; };
struct Wrong { static constexpr int event = 0; };
MICA_COMPONENT(Point, x, y)
MICA_COMPONENT(Other, value)
MICA_TAG(Frozen)
MICA_OPAQUE(Sole, (void()))
void use(mica::world &world)
{
    %s
}
"""
NOT_A_COMPONENT = "this type is no component: write MICA_COMPONENT"
ONLY_MOVES = "a component that cannot be copied is added, and filled then"
PARAMETER = "a parameter of a query or system is T &, const T &"
ARGUMENT = "this further argument is neither a filter"
OPTION = "this option is for something else"
ONCE = "takes nothing but const mica_frame &"
OBSERVER = "the function of an observer takes (const mica_event &)"
# The program without its mistake, the mistake, and what the compiler must say.
MISTAKES = {
    "undescribed component": ("world.create(Point{});", "world.create(Undescribed{});", NOT_A_COMPONENT),
    "undescribed parameter": ("world.each([](Point &) {});", "world.each([](Undescribed &) {});", NOT_A_COMPONENT),
    "undescribed look-up": ("world.read<Point>(mica_nil());", "world.read<Undescribed>(mica_nil());", NOT_A_COMPONENT),
    "creating with a component that only moves": ("*world.add<Sole>(world.create()) = Sole{};", "world.create(Sole{});", ONLY_MOVES),
    "setting a component that only moves": ("world.set(mica_nil(), Point{});", "world.set(mica_nil(), Sole{});", ONLY_MOVES),
    "component by value": ("world.each([](const Point &) {});", "world.each([](Point) {});", PARAMETER),
    "temporary": ("world.each([](Point &) {});", "world.each([](Point &&) {});", PARAMETER),
    "auto": ("world.each([](Point &) {});", "world.each([](auto &point) { point.x = 1; });", "a lambda must name the type of each parameter"),
    "no function": ("world.each([](Point &) {});", "world.each(3);", "this is no function with one list of parameters"),
    "frame in a query": ("world.system(\"a\", [](Point &, const mica_frame &) {});", "world.each([](Point &, const mica_frame &) {});",
                         "only a system has a frame"),
    "wrong filter": ("world.each([](Point &) {}, mica::with<Frozen>);", "world.each([](Point &) {}, 3);", ARGUMENT),
    "option of a system": ("world.system(\"a\", [](Point &) {}, mica::flush_first);", "world.each([](Point &) {}, mica::flush_first);", OPTION),
    "option of an observer": ("world.on_add<Point>([](mica_entity) {}, mica::existing);",
                              "world.system(\"a\", [](Point &) {}, mica::existing);", OPTION),
    "option of an index": ("world.index<&Other::value>(mica::hashed);", "world.index<&Other::value>(mica::once);", OPTION),
    "filter of an index": ("world.index<&Other::value>();", "world.index<&Other::value>(mica::with<Frozen>);", ARGUMENT),
    "entities in a system that runs once": ("world.system(\"a\", [](const mica_frame &) {}, mica::once);",
                                            "world.system(\"a\", [](Point &) {}, mica::once);", ONCE),
    "entities in an exclusive system": ("world.system(\"a\", [](const mica_frame &) {}, mica::exclusive);",
                                        "world.system(\"a\", [](Point &) {}, mica::exclusive);", ONCE),
    "observer of another component": ("world.on_add<Point>([](mica_entity, Point &) {});",
                                      "world.on_add<Point>([](mica_entity, Other &) {});", OBSERVER),
    "event without a kind": ("world.emit(mica_nil(), Hit{1});", "world.emit(mica_nil(), Silent{1});",
                             "the type of a user event has a member that says its kind"),
    "event with a kind of Mica": ("world.on<Hit>([](const Hit &) {});", "world.on<Wrong>([](const Wrong &) {});",
                                  "user events begin with MICA_EVENT_USER"),
    "listener of another event": ("world.on<Hit>([](mica_entity, const Hit &) {});", "world.on<Hit>([](mica_entity, const Silent &) {});",
                                  "the function for a user event E takes"),
    "fields of two components": ("world.grid<&Point::x, &Point::y>(1, {0, 0}, {9, 9});", "world.grid<&Point::x, &Other::value>(1, {0, 0}, {9, 9});",
                                 "the fields of a grid are of one component"),
    "one field of a grid": ("world.grid<&Point::x, &Point::y>(1, {0, 0}, {9, 9});", "world.grid<&Point::x>(1, {0, 0}, {9, 9});",
                            "a grid has two or three fields"),
    "too many names": ("world.system(\"a\", [](Point &) {}, mica::after(\"b\"));",
                       "world.system(\"a\", [](Point &) {}, mica::after(\"1\", \"2\", \"3\", \"4\", \"5\", \"6\", \"7\", \"8\", \"9\"));",
                       "a system has at most 8 names"),
}
COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else "c++"


def compile_program(body):
    command = [*COMPILER.split(), "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-Iinclude", "-"]
    done = subprocess.run(command, input=PRELUDE % body, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


class Mistakes(unittest.TestCase):
    def test_programs_without_their_mistakes_compile(self):
        works, said = compile_program("\n    ".join(right for right, _, _ in MISTAKES.values()))
        self.assertTrue(works, said)

    def test_the_first_error_says_what_is_wrong(self):
        for name, (_, wrong, says) in MISTAKES.items():
            with self.subTest(name):
                works, said = compile_program(wrong)
                self.assertFalse(works, f"{wrong} compiles")
                errors = [line for line in said.splitlines() if "error:" in line]
                self.assertIn(says, errors[0], said[:3000])


if __name__ == "__main__":
    unittest.main()
