#!/usr/bin/env python3
"""Checks the conventions of CONTRIBUTING.md. Reports each violation as `path:line: rule: message`.

    style.py [--root DIR] [--list RULE]

Exceptions are listed in tools/style_exceptions.txt, one per line: rule, subject, reason. A subject is a path, or path:name.
An exception that excuses nothing is a violation too, so that the list stays current.

A rule with an entry in RATCHETS may be violated that often and no more. Lower the number when you remove violations; never
raise it. `--list RULE` prints the violations of such a rule.
"""
import argparse
import pathlib
import re
import sys

import style_tree
import style_words
from style_source import Source, Violation, NAME_BEFORE_PARENTHESIS

# How many violations of a rule are allowed. The goal is 0 for all rules but public-macro, which counts macros.
RATCHETS = {
    "unique-name": 0,
    "subfolder": 0,
    "public-macro": 202,
    "words": 0,
    "test-words": 0,
}
# The share of the functions declared in x.h that x.c must define. The goal is 95.
HOME_PERCENTAGE_MIN = 95
# How many headers of src the median .c file of the core may see, through other headers too. The goal is 18.
VISIBLE_HEADERS_MAX = 30

FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 70

CODE_FOLDERS = ("include", "src", "tests", "examples", "playground", "bench")
TEXT_FOLDERS = CODE_FOLDERS + ("tools", "cmake", "python")
TEXT_SUFFIXES = (".c", ".h", ".cpp", ".py", ".sh", ".cmake", ".txt")
# The style programs and their test contain what they look for.
SELF = ("tools/style.py", "tools/style_tree.py", "tools/style_words.py", "tools/style_test.py")

PLATFORM = re.compile(
    r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*\b("
    r"_WIN32|_WIN64|WIN32|_MSC_VER|__MINGW32__|__linux__|__APPLE__|__unix__|__FreeBSD__|__ANDROID__|__EMSCRIPTEN__|"
    r"__GNUC__|__clang__|__x86_64__|__i386__|__aarch64__|__arm__|__riscv|__BYTE_ORDER__|__SSE\w*|__AVX\w*|__ARM_NEON"
    r")\b")
PLATFORM_HOME = ("src/os/", "src/base/", "include/mica/base.h")

# Builtins, attributes and other extensions of compilers. They have names in these headers.
COMPILER = re.compile(r"__builtin_\w+|__attribute__|__atomic_\w+|__ATOMIC_\w+|__sync_\w+|\b__asm__|\basm\b|__typeof__|__declspec|__extension__")
COMPILER_HOME = ("src/base/assert.h", "include/mica/base.h")

PUBLIC_FUNCTION = re.compile(r"^(?:MICA_API|static inline)\b")


def check_file_size(source):
    if len(source.lines) > FILE_LINES_MAX:
        yield 1, "", f"{len(source.lines)} lines, the limit is {FILE_LINES_MAX}: look for a second topic"


def check_function_size(source):
    for name, first, last, _ in source.functions():
        if last - first + 1 > FUNCTION_LINES_MAX:
            yield first, name, f"{name} has {last - first + 1} lines, the limit is {FUNCTION_LINES_MAX}"


def check_thread_rule(source):
    """The comment of a public function stands right above it, or above the declarations it shares it with."""
    if not source.path.startswith("include/"):
        return
    for index, line in enumerate(source.code):
        if not PUBLIC_FUNCTION.match(line):
            continue
        above = index
        while above > 0 and source.lines[above - 1].strip():
            above -= 1
        if "Threads:" not in "\n".join(source.lines[above:index]):
            named = NAME_BEFORE_PARENTHESIS.search(line)
            name = named.group(1) if named else "?"
            yield index + 1, name, f"the comment of {name} does not say from which thread it may be called"


def public_names(source):
    """Yields (line, name) of every macro, type, constant and function that a public header declares."""
    in_enum = False
    for number, line in enumerate(source.code, 1):
        macro = re.match(r"\s*#\s*define\s+(\w+)", line)
        if macro:
            yield number, macro.group(1)
            continue
        if PUBLIC_FUNCTION.match(line):
            named = NAME_BEFORE_PARENTHESIS.search(line)
            if named:
                yield number, named.group(1)
        alias = re.match(r"typedef\b[^{]*?\(\*(\w+)\)\(|typedef\b[^{(]*?(\w+);|}\s*(\w+);", line)
        if alias:
            yield number, next(filter(None, alias.groups()))
        if re.match(r"(typedef )?enum\b.*\{", line):
            in_enum = True
            line = line.split("{", 1)[1]
        if in_enum:
            for constant in re.finditer(r"(?:^|,)\s*([A-Za-z_]\w*)\s*(?==|,|$|})", line.split("}")[0]):
                yield number, constant.group(1)
            in_enum = "}" not in line


def check_public_names(source):
    if source.path.startswith("include/"):
        for number, name in public_names(source):
            if not re.match(r"mica_|MICA_", name):
                yield number, name, f"{name} is public and does not start with mica_ or MICA_"


def check_private_names(source):
    if source.path.startswith("src/") and not source.path.startswith("src/cli/"):
        for name, first, _, signature in source.functions():
            if not re.search(r"\bstatic\b", signature) and not re.match(r"micap?_", name):
                yield first, name, f"{name} is neither static nor named mica_ or micap_"


def check_platform(source):
    if source.path.startswith(PLATFORM_HOME):
        return
    for number, line in enumerate(source.code, 1):
        platform = PLATFORM.match(line)
        if platform:
            yield number, platform.group(1), f"{platform.group(1)} belongs in src/os or src/base"


def check_compiler(source):
    if not source.path.startswith(("src/", "include/")) or source.path in COMPILER_HOME:
        return
    for number, line in enumerate(source.code, 1):
        for name in COMPILER.findall(line):
            yield number, name, f"{name} depends on the compiler: it belongs in {' or '.join(COMPILER_HOME)}"


def check_blanks(source):
    for number, line in enumerate(source.lines, 1):
        if "\t" in line:
            yield number, "", "a tab"
        if line != line.rstrip():
            yield number, "", "blanks at the end of the line"


def check_leftovers(source):
    for number, line in enumerate(source.lines, 1):
        mark = re.search(r"\b(TODO|FIXME|XXX)\b", line)
        if mark:
            yield number, mark.group(1), f"{mark.group(1)}: do it, or say in the documentation that it is missing"


def check_public_macros(source):
    """Functions, _Generic and def structs read better than macros: each function-like macro counts, except those that add the
    location of the call to a function of the same name, or to mica_private_x for mica_x."""
    if source.path.startswith("include/"):
        for number, line in enumerate(source.code, 1):
            macro = re.match(r"\s*#\s*define\s+(\w+)\(", line)
            name = re.sub("^mica_", "mica_(?:private_)?", macro.group(1)) if macro else ""
            if macro and not re.match(rf"[^)]*\)\s+(?:MICA_AT_\()?{name}\(", line[macro.end():]):
                yield number, macro.group(1), f"{macro.group(1)} is a public function-like macro"


CODE_RULES = {
    "function-size": check_function_size,
    "thread-rule": check_thread_rule,
    "public-name": check_public_names,
    "private-name": check_private_names,
    "platform": check_platform,
    "compiler": check_compiler,
    "public-macro": check_public_macros,
}
TEXT_RULES = {
    "file-size": check_file_size,
    "blanks": check_blanks,
    "leftover": check_leftovers,
}


def check_readme(root):
    """The README shows examples/hello.c as it is."""
    readme, hello = root / "README.md", root / "examples/hello.c"
    if readme.exists() and hello.exists():
        shown = "```c\n" + hello.read_text(encoding="utf-8") + "```\n"
        if shown not in readme.read_text(encoding="utf-8"):
            yield Violation("readme", "README.md", 1, "", "its program is not examples/hello.c as it stands")


def check_tree(root):
    sources = []
    for folder in TEXT_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in TEXT_SUFFIXES or "expected" in path.parts or path.parent.suffix == ".egg-info":
                continue
            source = Source(root, path)
            rules = dict(TEXT_RULES)
            if source.path in SELF:
                del rules["leftover"]
            if folder in CODE_FOLDERS and path.suffix in (".c", ".h", ".cpp"):
                rules.update(CODE_RULES)
                if folder == "src":
                    sources.append(source)
            for rule, check in rules.items():
                for line, name, message in check(source):
                    yield Violation(rule, source.path, line, name, message)
    for rule, check in style_tree.RULES.items():
        for path, line, name, message in check(sources):
            yield Violation(rule, path, line, name, message)
    yield from style_words.check(root, SELF)
    yield from check_readme(root)


def read_exceptions(root):
    """Returns {(rule, subject): line number}; raises ValueError for a line without a reason."""
    path, exceptions = root / "tools/style_exceptions.txt", {}
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            parts = line.split(None, 2)
            if len(parts) < 3:
                raise ValueError(f"tools/style_exceptions.txt:{number}: wants a rule, a subject and a reason")
            exceptions[parts[0], parts[1]] = number
    return exceptions


def violations(root):
    """Returns the violations that no exception excuses, and the exceptions that excuse nothing."""
    try:
        exceptions = read_exceptions(root)
    except ValueError as error:
        return [Violation("exception", "tools/style_exceptions.txt", 1, "", str(error))]
    found, used = [], set()
    for violation in check_tree(root):
        keys = {(violation.rule, violation.path), (violation.rule, f"{violation.path}:{violation.name}")}
        excused = keys & exceptions.keys()
        used |= excused
        if not excused:
            found.append(violation)
    for key in sorted(exceptions.keys() - used):
        found.append(Violation("exception", "tools/style_exceptions.txt", exceptions[key], "",
                               f"nothing needs the exception {key[0]} {key[1]} any more"))
    return found


def failing(found, ratchets, home_percentage, home_percentage_min):
    """Returns the violations that fail the check: those of rules without a ratchet, and one for each ratchet that is exceeded."""
    failed = [violation for violation in found if violation.rule not in ratchets and violation.rule != "home"]
    for rule, allowed in ratchets.items():
        count = sum(violation.rule == rule for violation in found)
        if count > allowed:
            failed.append(Violation(rule, "tools/style.py", 1, "", f"{count} violations, the ratchet allows {allowed}; "
                                    f"tools/style.py --list {rule} prints them"))
    if home_percentage < home_percentage_min:
        failed.append(Violation("home", "tools/style.py", 1, "", f"{home_percentage:.1f}% of functions are defined in the file that "
                                f"matches their header, {home_percentage_min}% is the minimum; tools/style.py --list home prints the others"))
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--root", type=pathlib.Path, default=root)
    parser.add_argument("--list", metavar="RULE", help="print the violations of a rule that has a ratchet")
    options = parser.parse_args()
    found = violations(options.root)
    percentage = style_tree.home_percentage(options.root)
    failed = failing(found, RATCHETS, percentage, HOME_PERCENTAGE_MIN)
    visible = style_tree.visible_headers(options.root)
    if visible > VISIBLE_HEADERS_MAX:
        failed.append(Violation("visible-headers", "tools/style.py", 1, "", f"the median .c file of the core sees {visible:g} headers of src, "
                                f"{VISIBLE_HEADERS_MAX} is the maximum: use forward declarations in headers"))
    for violation in [violation for violation in found if violation.rule == options.list] if options.list else failed:
        print(f"{violation.path}:{violation.line}: {violation.rule}: {violation.message}")
    for rule, allowed in RATCHETS.items():
        count = sum(violation.rule == rule for violation in found)
        print(f"{rule}: {count} of at most {allowed}" + (", lower the ratchet" if count < allowed else ""))
    print(f"home: {percentage:.1f}% of functions are defined in the file that matches their header, the minimum is {HOME_PERCENTAGE_MIN}%")
    print(f"visible-headers: the median .c file of the core sees {visible:g} headers of src, the maximum is {VISIBLE_HEADERS_MAX}")
    print(f"style: {len(failed)} violations")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
