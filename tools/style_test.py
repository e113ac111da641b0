#!/usr/bin/env python3
"""Adds one violation of each rule to a small tree and expects exactly that one to be reported."""
import pathlib
import tempfile
import unittest
from unittest import mock

import style
import style_tree

LAYERS = (("os",), ("pool",), ("core",), ("flow",), ("cli",))
FOLDERS = {"core": (("events",), ("storage",))}
CLIENTS = {"cli": ("os", "core/events/hooks.h")}

CLEAN = {
    "include/mica/thing.h": """\
#ifndef MICA_THING_H
#define MICA_THING_H
typedef struct mica_thing { int count; } mica_thing;
typedef enum mica_color {
    MICA_RED = 1, /* not, a name */
    MICA_BLUE,
} mica_color;
enum { MICA_THINGS_MAX = 3 };
typedef void (*mica_thing_fn)(mica_thing *thing);

/* Makes one. Threads: any. */
MICA_API mica_thing mica_thing_make(void);
MICA_API mica_thing mica_thing_make_at(int place);

/* Counts. Threads: any. */
static inline int mica_thing_count(mica_thing thing)
{
    return thing.count;
}
#endif
""",
    "src/os/memory.h": "#ifdef __linux__\n#endif\nvoid micap_memory(void);\n",
    "src/os/memory.c": "void micap_memory(void)\n{\n}\n",
    "src/pool/pool.h": "typedef struct micap_pool {\n    int count;\n} micap_pool;\nstruct micap_thing;\n",
    "src/cli/main.c": '#include "os/memory.h"\n#include "core/events/hooks.h"\n',
    "src/flow/graph.h": "#ifndef MICAP_GRAPH_H\n#define MICAP_GRAPH_H\nenum { MICAP_GRAPH_MAX = 2 };\n#endif\n",
    "src/core/events/hooks.h": """\
#ifdef MICAP_CHECKED
void micap_hook(void);
#else
static inline void micap_hook(void)
{
}
#endif
""",
    "src/core/events/hooks.c": "void micap_hook(void)\n{\n}\n",
    "src/core/storage/thing.c": """\
#include "core/storage/thing.h"
#include "core/events/hooks.h"
#include "os/memory.h"
#include "mica/thing.h"
static int table[] = {
    1,
};
static void helper(void)
{
}
void micap_thing(void)
{
    helper();
}
""",
    "src/core/storage/thing.h": "void micap_thing(void);\n",
    "examples/hello.c": "int main(void)\n{\n}\n",
    "README.md": "# Mica\n```c\nint main(void)\n{\n}\n```\n",
}

LONG_FUNCTION = "static void tall(void)\n{\n" + "    call();\n" * 70 + "}\n"

# rule, the file that is written or lengthened, what is put at its end
PLANTED = (
    ("layering", "src/core/storage/up.c", '#include "flow/graph.h"\n'),
    ("layering", "src/pool/sideways.c", '#include "flow/system.h"\n'),
    ("layering", "src/core/storage/bare.c", '#include "thing.h"\n'),
    ("layering", "src/misc/any.c", "\n"),
    ("client", "src/cli/command.c", '#include "flow/graph.h"\n'),
    ("client", "src/cli/other.c", '#include "core/storage/thing.h"\n'),
    ("file-size", "src/core/storage/long.c", "\n" * 801),
    ("function-size", "src/core/storage/tall.c", LONG_FUNCTION),
    ("function-size", "tests/core/tall_test.c", LONG_FUNCTION.replace("static void tall(void)", "START_TEST(tall)")),
    ("thread-rule", "include/mica/silent.h", "/* Says nothing. */\nMICA_API void mica_silent(void);\n"),
    ("thread-rule", "include/mica/bare.h", "/* Threads: any. */\n\nstatic inline int mica_bare(void)\n{\n}\n"),
    ("public-name", "include/mica/macro.h", "#define THING 1\n"),
    ("public-name", "include/mica/type.h", "typedef struct thing thing;\n"),
    ("public-name", "include/mica/function_type.h", "typedef int (*thing_fn)(int);\n"),
    ("public-name", "include/mica/constant.h", "enum mica_size {\n    MICA_SMALL,\n    LARGE = 2,\n};\n"),
    ("public-name", "include/mica/function.h", "/* Threads: any. */\nMICA_API int make_thing(void);\n"),
    ("private-name", "src/core/storage/open.c", "int open_thing(void)\n{\n    return 1;\n}\n"),
    ("platform", "src/core/storage/platform.c", "#if defined(_WIN32)\n#endif\n"),
    ("compiler", "src/core/storage/hint.c", "int micap_thing(int x) /* __builtin_expect */;\n__attribute__((cold)) void micap_thing(void);\n"),
    ("blanks", "src/core/storage/tab.c", "\tint x;\n"),
    ("blanks", "src/core/storage/trailing.c", "int x; \n"),
    ("subfolder", "src/core/events/up.c", '#include "core/storage/thing.h"\n'),
    ("subfolder", "src/core/misc/any.c", "\n"),
    ("subfolder", "src/flow/misc/any.c", "\n"),
    ("home", "src/core/storage/thing.h", "void micap_hook_late(void);\n"),
    ("home", "src/core/storage/twice.h", "int *micap_thing(\n    int a);\n"),
    ("unique-name", "src/pool/type.c", "typedef struct micap_pool {\n    int count;\n} micap_pool;\n"),
    ("unique-name", "src/pool/table.h", "typedef int micap_pool;\n"),
    ("unique-name", "src/pool/constant.c", "enum {\n    MICAP_OTHER,\n    MICAP_GRAPH_MAX,\n};\n"),
    ("unique-name", "src/pool/macro.c", "#define MICAP_GRAPH_MAX 1\n"),
    ("unique-name", "src/os/twin.h", "static inline void micap_memory(void)\n{\n}\n"),
    ("unique-file", "src/core/storage/hooks.c", "\n"),
    ("public-macro", "include/mica/call.h", "#define MICA_CALL(x) (x)\n#define MICA_VALUE (1)\n"
     "#    define mica_find(world, ...) mica_find(MICA_AT_(world), __VA_ARGS__)\n"),
    ("words", "docs/guide/start.md", "The tag stays, whose fields follow, and behinds.\nIt comes behind them.\n"),
    ("words", "include/mica/void.h", "/* A pointer is void after a flush. What it is: void *. */\n"),
    ("test-words", "tests/core/words_test.c", "START_TEST(nobody_reads_it)\n{\n}\n"),
    ("leftover", "tools/later.py", "# TODO: later\n"),
    ("readme", "examples/hello.c", "/* changed */\n"),
    ("exception", "tools/style_exceptions.txt", "file-size src/core/storage/thing.c  it was long once\n"),
    ("exception", "tools/style_exceptions.txt", "file-size src/core/storage/thing.c\n"),
)


def report_for(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        with mock.patch.multiple(style_tree, LAYERS=LAYERS, FOLDERS=FOLDERS, CLIENTS=CLIENTS):
            return style.violations(root)


def shown(violations):
    return [(violation.rule, violation.path) for violation in violations]


class StyleTest(unittest.TestCase):
    def test_a_clean_tree_has_no_violations(self):
        self.assertEqual(report_for(CLEAN), [])

    def test_each_planted_violation_is_reported_alone(self):
        for rule, name, text in PLANTED:
            with self.subTest(rule=rule, file=name):
                found = report_for({**CLEAN, name: CLEAN.get(name, "") + text})
                self.assertEqual(shown(found), [(rule, "README.md" if rule == "readme" else name)])

    def test_every_rule_has_a_planted_violation(self):
        rules = {*style.CODE_RULES, *style.TEXT_RULES, *style_tree.RULES, "words", "test-words", "readme", "exception"}
        self.assertEqual(rules, {rule for rule, _, _ in PLANTED})

    def test_an_exception_excuses_its_subject(self):
        files = {**CLEAN, "src/core/storage/tall.c": LONG_FUNCTION}
        for subject in ("src/core/storage/tall.c", "src/core/storage/tall.c:tall"):
            files["tools/style_exceptions.txt"] = f"function-size {subject}  a table\n"
            self.assertEqual(report_for(files), [])

    def test_folders_of_the_tables_exist(self):
        files = {name: text for name, text in CLEAN.items() if not name.startswith("src/flow/")}
        self.assertEqual(shown(report_for(files)), [("layering", "tools/style_tree.py")])
        files = {**CLEAN, "src/core/storage/thing.c": "void micap_thing(void)\n{\n}\n"}
        files = {name: text for name, text in files.items() if "events" not in name}
        self.assertEqual(shown(report_for(files)), [("subfolder", "tools/style_tree.py")])

    def test_a_ratchet_allows_its_number_and_no_more(self):
        found = [style.Violation("words", "README.md", line, "who", "") for line in range(3)]
        self.assertEqual(style.failing(found, {"words": 3}, 100, 95), [])
        self.assertEqual(shown(style.failing(found, {"words": 2}, 100, 95)), [("words", "tools/style.py")])

    def test_headers_are_counted_through_headers(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"core/a.c": '#include "core/a.h"\n#include "mica/world.h"\n', "core/a.h": '#include "os/b.h"\n', "os/b.h": ""}.items():
                path = pathlib.Path(folder, "src", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            self.assertEqual(style_tree.visible_headers(pathlib.Path(folder)), 2)

    def test_the_share_of_functions_at_home_has_a_minimum(self):
        found = [style.Violation("home", "src/os/file.h", 1, "micap_map", "")]
        self.assertEqual(style.failing(found, {}, 95, 95), [])
        self.assertEqual(shown(style.failing(found, {}, 94.9, 95)), [("home", "tools/style.py")])


if __name__ == "__main__":
    unittest.main()
