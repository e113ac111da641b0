#!/usr/bin/env python3
"""The conventions of the house that a program can check. Reports each violation as `path:line: rule: message`.

    style.py [--root DIR]

Exceptions live in tools/style_exceptions.txt, one per line: rule, subject, reason. A subject is a path, or path:name.
An exception that excuses nothing is a violation itself, so the list never outlives its reasons.
"""
import argparse
import collections
import pathlib
import re
import sys

# Lowest first. A folder may include itself and everything on a lower line: never up, never sideways.
LAYERS = (
    ("os",),
    ("base",),
    ("type",),
    ("pool",),
    ("core",),
    ("flow",),
    ("hierarchy", "snapshot", "replication"),
    ("recording", "resource"),
    ("json", "sql"),
    ("cli",),
)
LEVEL = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70

CODE_FOLDERS = ("include", "src", "tests", "examples", "bench")
TEXT_FOLDERS = CODE_FOLDERS + ("tools", "cmake")
TEXT_SUFFIXES = (".c", ".h", ".cpp", ".py", ".sh", ".cmake", ".txt")
# This program and its test have to name what they look for.
SELF = ("tools/style.py", "tools/style_test.py")

PLATFORM = re.compile(
    r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*\b("
    r"_WIN32|_WIN64|WIN32|_MSC_VER|__MINGW32__|__linux__|__APPLE__|__unix__|__FreeBSD__|__ANDROID__|__EMSCRIPTEN__|"
    r"__GNUC__|__clang__|__x86_64__|__i386__|__aarch64__|__arm__|__riscv|__BYTE_ORDER__|__SSE\w*|__AVX\w*|__ARM_NEON"
    r")\b")
PLATFORM_HOME = ("src/os/", "src/base/", "include/mica/base.h")

NAME_BEFORE_PARENTHESIS = re.compile(r"\b(\w+)\s*\(")
PUBLIC_FUNCTION = re.compile(r"^(?:MICA_API|static inline)\b")

Violation = collections.namedtuple("Violation", "rule path line name message")


class Source:
    """A file with its lines, and the same lines with comments and strings blanked out."""

    def __init__(self, root, path):
        self.path = path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.splitlines()
        blank = lambda match: re.sub(r"[^\n]", " ", match.group(0))
        code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, self.text, flags=re.DOTALL)
        self.code = code.splitlines()

    def functions(self):
        """Yields (name, first line, last line, signature) of each function: its braces stand in the first column."""
        start = None
        for index, line in enumerate(self.code):
            if line.rstrip() == "{":
                start = index
                while start > 0 and self.code[start - 1].strip() and self.code[start - 1][0] not in "}#":
                    start -= 1
                signature = " ".join(self.code[start:index])
                brace = index
            elif line.startswith("}") and start is not None:
                named = NAME_BEFORE_PARENTHESIS.search(signature)
                if named and not re.search(r"\b(struct|union|enum)\s*\w*\s*$", signature):
                    name = named.group(1)
                    if name == "START_TEST":
                        name = re.search(r"\(\s*(\w+)", signature).group(1)
                    yield name, min(start, brace) + 1, index + 1, signature
                start = None


def check_layering(source):
    if not source.path.startswith("src/"):
        return
    folder = source.path.split("/")[1]
    if folder not in LEVEL:
        yield 1, folder, f"src/{folder} is not a layer"
        return
    for number, line in enumerate(source.lines, 1):
        included = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not included or included.group(1).startswith("mica/"):
            continue
        target = included.group(1).split("/")[0]
        if "/" not in included.group(1) or target not in LEVEL:
            yield number, included.group(1), f'include "{included.group(1)}" by layer: "{folder}/..."'
        elif target != folder and LEVEL[target] >= LEVEL[folder]:
            yield number, included.group(1), f"{folder} may not include {target}: it is not below"


def check_file_size(source):
    if len(source.lines) > FILE_LINES_MAX:
        yield 1, "", f"{len(source.lines)} lines, the limit is {FILE_LINES_MAX}"


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


CODE_RULES = {
    "layering": check_layering,
    "function-size": check_function_size,
    "thread-rule": check_thread_rule,
    "public-name": check_public_names,
    "private-name": check_private_names,
    "platform": check_platform,
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
    for folder in TEXT_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in TEXT_SUFFIXES or "expected" in path.parts:
                continue
            source = Source(root, path)
            rules = dict(TEXT_RULES)
            if source.path in SELF:
                del rules["leftover"]
            if folder in CODE_FOLDERS and path.suffix in (".c", ".h", ".cpp"):
                rules.update(CODE_RULES)
            for rule, check in rules.items():
                for line, name, message in check(source):
                    yield Violation(rule, source.path, line, name, message)
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
    """Returns what is left after the exceptions, unused exceptions included."""
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    found = violations(parser.parse_args().root)
    for violation in found:
        print(f"{violation.path}:{violation.line}: {violation.rule}: {violation.message}")
    print(f"style: {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
