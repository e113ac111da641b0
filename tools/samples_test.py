#!/usr/bin/env python3
"""Plants samples that are wrong, each in its own way, and expects to be told; and some that are right, and expects silence."""
import pathlib
import tempfile
import unittest

import samples

BUILD = samples.ROOT / "build/release"

PRELUDE = """<!-- samples: c prelude
typedef struct Position { float x, y; } Position;
MICA_COMPONENT(Position, x, y)
static mica_entity ship;
static void before_samples(void)
{
    ship = mica_create(world, MICA_WITH(Position, {1, 2}));
}
-->
"""
PROGRAM = '```c\n#include <stdio.h>\nint main(void)\n{\n    printf("one\\n");\n    return %d;\n}\n```\n'


def c(text):
    return f"```c\n{text}\n```\n"


# what the page is about, its text, and what must be said of it, or None
PAGES = (
    ("a right program", PROGRAM % 0 + "It prints\n\n```text\none\n```\n", None),
    ("a program that prints something else", PROGRAM % 0 + "```text\ntwo\n```\n", "and the page says"),
    ("a program that fails", PROGRAM % 3, "fails with 3"),
    ("a right fragment", PRELUDE + c("mica_write(world, ship, Position)->x = 5;"), None),
    ("declarations and statements in one block",
     PRELUDE + c("typedef struct Mass { float kg; } Mass;\nMICA_COMPONENT(Mass, kg)\n\nstatic float\nheavy(void)\n{\n    return 9;\n}\n\n"
                 "/* from here on it is heavy */\nfor (int i = 0; i < 2; ++i) {\n    mica_set(world, ship, Mass, {heavy()});\n}"), None),
    ("a fragment with a name that is not there", PRELUDE + c("mica_fly(world, ship);"), "page.md:"),
    ("a fragment that is reported", PRELUDE + c("mica_set(world, mica_nil(), Position, {1, 2});"), "reported:"),
    ("a fragment that is only compiled", PRELUDE + "<!-- sample: compile -->\n" + c("for (;;)\n    mica_step(world, 1);"), None),
    ("a fragment that is only compiled, and wrong", PRELUDE + "<!-- sample: compile -->\n" + c("fly();"), "compiling"),
    ("code of others", "<!-- sample: skip flecs -->\n" + c("ecs_fini(world);"), None),
    ("code of others without a word", "<!-- sample: skip -->\n" + c("ecs_fini(world);"), "without a reason"),
    ("a file that a script reads", "<!-- sample: file a.txt -->\n```text\nhi\n```\n<!-- sample: run -->\n```sh\ncat a.txt\n```\n```text\nhi\n```\n",
     None),
    ("a script that fails", "<!-- sample: run -->\n```sh\nfalse\ntrue\n```\n", "the script fails"),
    ("a right C++ fragment", "```cpp\nstruct Mass { float kg; };\nMICA_COMPONENT(Mass, kg)\n\nworld.create(Mass{3});\n```\n", None),
    ("a block that does not end", "```c\nint x;\n", "does not end"),
)


class SamplesTest(unittest.TestCase):
    def test_each_page(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for number, (what, text, expected) in enumerate(PAGES):
                runner = samples.Runner(BUILD, root)
                path = root / f"{number}_page.md"
                path.write_text(text, encoding="utf-8")
                wrong = "\n".join(runner.check_page(path)[1])
                with self.subTest(what):
                    if expected is None:
                        self.assertEqual(wrong, "")
                    else:
                        self.assertIn(expected, wrong)


if __name__ == "__main__":
    unittest.main()
