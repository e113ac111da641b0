#!/usr/bin/env python3
"""Links are turned to the site or refused, and comments of a small header become those that doxygen reads."""
import unittest

import docs
import doxygen_filter

# where a page lies, a link in it, and what becomes of it on the site; None: it is refused
LINKS = (
    ("docs/guide/start.md", "[h](../../include/mica/entity.h)", "[h](../api/entity_8h.html)"),
    ("docs/guide/start.md", "[h](../../examples/hello.c)", "[h](../examples/hello.md)"),
    ("docs/guide/start.md", "[h](../../README.md#performance)", "[h](../index.md#performance)"),
    ("docs/guide/start.md", "[h](queries.md#terms)", "[h](queries.md#terms)"),
    ("docs/guide/start.md", "[h](#install)", "[h](#install)"),
    ("docs/guide/start.md", "![p](../chunk.svg)", "![p](../chunk.svg)"),
    ("README.md", "[h](docs/architecture/overview.md)", "[h](architecture/overview.md)"),
    ("README.md", "[h](https://example.org/a.md)", "[h](https://example.org/a.md)"),
    ("README.md", "```\n[h](nowhere.md)\n```", "```\n[h](nowhere.md)\n```"),
    ("docs/guide/start.md", "[h](nowhere.md)", None),
    ("docs/guide/start.md", "[h](queries.md#nothing)", None),
    ("docs/guide/start.md", "[h](#nothing)", None),
    ("docs/guide/start.md", "[h](../../src/core)", None),
    ("docs/guide/start.md", "[h](../../src/core/world/world.c)", "[h](../source/src/core/world/world.c.md)"),
    ("README.md", '<img src="docs/chunk.svg" width="400">', '<img src="chunk.svg" width="400">'),
)

HEADER = """\
/* Mica, thing: a thing with <brackets>.
 *
 *     mica_thing_make(world);       makes one
 */
#ifndef MICA_THING_H
#define MICA_THING_H

/* Not about what follows. */

/* A thing. */
typedef struct mica_thing {
    int count; /* of parts, from
                * 1 on */
} mica_thing;

/* Makes one, or two. Threads: owner. */
MICA_API mica_thing mica_thing_make(mica_world *world);
MICA_API mica_thing mica_thing_make_two(mica_world *world);

#define mica_thing(world) ((mica_thing)mica_thing_make(world))
#endif
"""
SHOWN = (
    "/** @file\nMica, thing: a thing with \\<brackets\\>.",
    "@code{.c}\n    mica_thing_make(world);       makes one\n@endcode",
    "/* Not about what follows. */",
    "/** A thing.\n */\ntypedef struct mica_thing {",
    "int count; /**< of parts, from\n1 on */",
    "@par Threads\nowner.\n */\nMICA_API mica_thing mica_thing_make(mica_world *world);",
    "@par Threads\nowner.\n */\nMICA_API mica_thing mica_thing_make_two(mica_world *world);",
    "/** Calls mica_thing_make(). */\n#define mica_thing(world)",
)


class DocsTest(unittest.TestCase):
    def test_links(self):
        for source, link, turned in LINKS:
            page = docs.target_of(source)
            with self.subTest(link):
                if turned is None:
                    with self.assertRaises(docs.Broken):
                        docs.rewrite(link, source, page)
                else:
                    self.assertEqual(docs.rewrite(link, source, page), turned)

    def test_comments(self):
        text = doxygen_filter.Filter(HEADER).run()
        for part in SHOWN:
            with self.subTest(part):
                self.assertIn(part, text)


if __name__ == "__main__":
    unittest.main()
