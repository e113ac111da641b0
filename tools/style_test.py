#!/usr/bin/env python3
"""Plants one violation of each rule in a small tree and expects exactly that one to be reported."""
import pathlib
import tempfile
import unittest

import style

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
    "src/core/thing.c": """\
#include "core/thing.h"
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
    "src/core/thing.h": "void micap_thing(void);\n",
    "examples/hello.c": "int main(void)\n{\n}\n",
    "README.md": "# Mica\n```c\nint main(void)\n{\n}\n```\n",
}

LONG_FUNCTION = "static void tall(void)\n{\n" + "    call();\n" * 70 + "}\n"

# rule, the file that is written or lengthened, what is put at its end
PLANTED = (
    ("layering", "src/core/up.c", '#include "flow/graph.h"\n'),
    ("layering", "src/pool/sideways.c", '#include "flow/system.h"\n'),
    ("layering", "src/core/bare.c", '#include "thing.h"\n'),
    ("layering", "src/misc/any.c", "\n"),
    ("file-size", "src/core/long.c", "\n" * 501),
    ("function-size", "src/core/tall.c", LONG_FUNCTION),
    ("function-size", "tests/core/tall_test.c", LONG_FUNCTION.replace("static void tall(void)", "START_TEST(tall)")),
    ("thread-rule", "include/mica/silent.h", "/* Says nothing. */\nMICA_API void mica_silent(void);\n"),
    ("thread-rule", "include/mica/bare.h", "/* Threads: any. */\n\nstatic inline int mica_bare(void)\n{\n}\n"),
    ("public-name", "include/mica/macro.h", "#define THING 1\n"),
    ("public-name", "include/mica/type.h", "typedef struct thing thing;\n"),
    ("public-name", "include/mica/function_type.h", "typedef int (*thing_fn)(int);\n"),
    ("public-name", "include/mica/constant.h", "enum mica_size {\n    MICA_SMALL,\n    LARGE = 2,\n};\n"),
    ("public-name", "include/mica/function.h", "/* Threads: any. */\nMICA_API int make_thing(void);\n"),
    ("private-name", "src/core/open.c", "int open_thing(void)\n{\n    return 1;\n}\n"),
    ("platform", "src/core/platform.c", "#if defined(_WIN32)\n#endif\n"),
    ("blanks", "src/core/tab.c", "\tint x;\n"),
    ("blanks", "src/core/trailing.c", "int x; \n"),
    ("leftover", "tools/later.py", "# TODO: later\n"),
    ("readme", "examples/hello.c", "/* changed */\n"),
    ("exception", "tools/style_exceptions.txt", "file-size src/core/thing.c  it was long once\n"),
    ("exception", "tools/style_exceptions.txt", "file-size src/core/thing.c\n"),
)


def report_for(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        return style.violations(root)


class StyleTest(unittest.TestCase):
    def test_a_clean_tree_has_no_violations(self):
        self.assertEqual(report_for(CLEAN), [])

    def test_each_planted_violation_is_reported_alone(self):
        for rule, name, text in PLANTED:
            with self.subTest(rule=rule, file=name):
                found = report_for({**CLEAN, name: CLEAN.get(name, "") + text})
                self.assertEqual([(v.rule, v.path) for v in found],
                                 [(rule, "README.md" if rule == "readme" else name)])

    def test_every_rule_has_a_planted_violation(self):
        rules = {*style.CODE_RULES, *style.TEXT_RULES, "readme", "exception"}
        self.assertEqual(rules, {rule for rule, _, _ in PLANTED})

    def test_an_exception_excuses_its_subject(self):
        files = {**CLEAN, "src/core/tall.c": LONG_FUNCTION}
        for subject in ("src/core/tall.c", "src/core/tall.c:tall"):
            files["tools/style_exceptions.txt"] = f"function-size {subject}  a table\n"
            self.assertEqual(report_for(files), [])


if __name__ == "__main__":
    unittest.main()
