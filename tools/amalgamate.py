#!/usr/bin/env python3
"""Writes the core as two files, mica.h and mica.c, for programs that copy the source instead of linking a library.

    amalgamate.py FOLDER

    cc -c mica.c                 and in your program: #include "mica.h"
    #include "mica.c"            in one file of your program instead, after system headers and mica.h or before them

The files contain every layer that needs only libc and threads. Names local to a source file get its name as a suffix, so that
they conflict neither with each other nor with names of the program.
"""
import collections
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = ("os", "base", "type", "pool", "core", "flow", "relation", "hierarchy", "index", "snapshot", "replication", "recording")
# Headers in this order are complete.
PUBLIC = ("mica", "flow", "math", "relation", "hierarchy", "transform", "index", "partition", "snapshot", "hash", "recording", "module")
# Used only by libraries on top of the core.
ABOVE_CORE = ("os/dynamic_library", "os/process")
INCLUDE = re.compile(r'^#\s*include\s+"([^"]+)".*\n?', re.MULTILINE)
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(?<![\w.])(?<!->)[A-Za-z_]\w*', re.DOTALL)

KEYWORDS = {"void", "bool", "char", "int", "struct", "union", "enum", "const", "inline", "_Thread_local", "defined"}


def version():
    return re.search(r"project\(mica VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def is_core(name):
    """Whether a public header does without mica/resource.h, which is another library's."""
    if name == "mica/resource.h":
        return False
    return all(is_core(included) for included in INCLUDE.findall((ROOT / "include" / name).read_text(encoding="utf-8")))


def public_header():
    done = set()

    def expand(name):
        if name in done or not is_core(name):
            return ""
        done.add(name)
        text = (ROOT / "include" / name).read_text(encoding="utf-8")
        return f"/* {name} */\n" + INCLUDE.sub(lambda match: expand(match.group(1)), text) + "\n"

    every = {path.name.removesuffix(".h") for path in (ROOT / "include/mica").glob("*.h")}
    order = [*PUBLIC, *sorted(every - set(PUBLIC))]
    body = "".join(expand(f"mica/{name}.h") for name in order)
    return f"/* Mica {version()}, in one header. Generated: see the headers of include/mica to read it. */\n{body}"


def local_names(text):
    """Returns the names local to a file: functions, variables, types, constants and macros."""
    code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|__attribute__\(\((?:[^()]|\([^()]*\))*\)\)\s*|MICAP_FORMAT\([^()]*\)\s*', "", text, flags=re.DOTALL)
    names = set(re.findall(r"^#\s*define\s+(\w+)", code, re.MULTILINE))
    names |= set(re.findall(r"^static\b[^;={]*?\b(\w+)\s*(?:\(|=|;|\[)", code, re.MULTILINE))
    names |= set(re.findall(r"^static\b[^;={(]*\(\*(\w+)\)", code, re.MULTILINE))
    names |= set(re.findall(r"^MICAP_\w+ static\b[^;={]*?\b(\w+)\s*\(", code, re.MULTILINE))
    names |= set(re.findall(r"^typedef\b[^;{]*?\b(\w+);", code, re.MULTILINE))
    names |= set(re.findall(r"^typedef\b[^;{]*?\(\*(\w+)\)", code, re.MULTILINE))
    names |= set(re.findall(r"^(?:typedef )?(?:struct|union|enum) (\w+) \{", code, re.MULTILINE))
    names |= set(re.findall(r"^\} (\w+);", code, re.MULTILINE)) | set(re.findall(r"^typedef (?:struct|enum) \w+ \{.*\} (\w+);", code, re.MULTILINE))
    for body in re.findall(r"^(?:typedef )?enum(?: \w+)? \{(.*?)\}", code, re.MULTILINE | re.DOTALL):
        names |= set(re.findall(r"(?:^|,)\s*(\w+)", body))
    return {name for name in names if not name.startswith(("mica_", "MICA_", "_"))} - KEYWORDS


def suffix_of(name):
    return "__" + re.sub(r"\W", "_", name.rsplit(".", 1)[0])


class Sources:
    """The files of src, with names made unique."""

    def __init__(self):
        self.texts = {path.relative_to(ROOT / "src").as_posix(): path.read_text(encoding="utf-8")
                      for layer in LAYERS for path in sorted((ROOT / "src" / layer).rglob("*.[ch]"))
                      if path.relative_to(ROOT / "src").with_suffix("").as_posix() not in ABOVE_CORE}
        self.local = {name: local_names(text) | set(re.findall(r"^\w[^;={(#]*?\b(micap_\w+)\(", text, re.MULTILINE))
                      for name, text in self.texts.items()}
        self.owners = {ending: collections.Counter(word for name, words in self.local.items() if name.endswith(ending) for word in words)
                       for ending in (".c", ".h")}

    @functools.cache
    def reached(self, name):
        """The private headers that a file includes, and those that these include."""
        found = []
        for match in INCLUDE.finditer(self.texts[name]):
            if match.group(1) in self.texts and match.group(1) not in found:
                found += [header for header in [match.group(1), *self.reached(match.group(1))] if header not in found]
        return found

    def renames(self, name):
        """Returns {name: new name} for a file: what it defines and another one too, and what the headers it sees define."""
        table = {}
        for header in [*self.reached(name), *([name] if name.endswith(".h") else [])]:
            table |= {word: word + suffix_of(header) for word in self.local[header] if self.owners[".h"][word] > 1}
        if name.endswith(".c"):
            table |= {word: word + suffix_of(name) for word in self.local[name]
                      if word not in table and self.must_rename(word, name) and not self.is_shared(word, name)}
        return table

    def must_rename(self, word, name):
        """Names that another file defines, and other local names unless a member has the same name."""
        if self.owners[".c"][word] + self.owners[".h"][word] > 1:
            return True
        return not word.lower().startswith("micap_") and not re.search(rf"(?:\.|->){word}\b", self.texts[name])

    def is_shared(self, word, name):
        return any(word in self.local[header] for header in self.reached(name))

    def body(self, name):
        table = self.renames(name)
        text = TOKEN.sub(lambda match: table.get(match.group(0), match.group(0)), INCLUDE.sub("", self.texts[name]))
        macros = [table[macro] for macro in re.findall(r"^#\s*define\s+(\w+)", self.texts[name], re.MULTILINE) if macro in table]
        return f"/* src/{name} */\n{text}\n" + "".join(f"#undef {macro}\n" for macro in macros if name.endswith(".c"))


def macros_of_programs(checked):
    """The lines of the public headers that, in checked builds of a program or in others, define macros with the names of functions."""
    condition = f"#if {'' if checked else '!'}defined(MICA_CHECKED) && !defined(MICA_BUILD)\n"
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "include/mica").glob("*.h"))]
    blocks = [block for text in texts
              for block in re.findall("^" + re.escape(condition) + "(.*?)^#endif", text, re.MULTILINE | re.DOTALL)]
    return [line for block in blocks for line in block.splitlines() if re.match(r"#\s*define (?:mica_|MICA_AT_)", line)]


def source_file():
    sources, done = Sources(), set()

    def expand(name):
        if name in done or name not in sources.texts:
            return ""
        done.add(name)
        return "".join(expand(match.group(1)) for match in INCLUDE.finditer(sources.texts[name])) + sources.body(name)

    files = [name for layer in LAYERS for name in sources.texts if name.startswith(layer + "/") and name.endswith(".c")]
    files.sort(key=lambda name: name.endswith("windows.c"))  # so that the macros of its headers affect no other file
    checked, unchecked = macros_of_programs(True), macros_of_programs(False)
    names = dict.fromkeys(re.search(r"define (\w+)", line).group(1) for line in checked + unchecked)
    undefine = "\n".join(f"#    undef {name}" for name in names)
    return f"""/* Mica {version()}, in one file. Generated: see the files of src to read it. */
#if defined(__clang__)
#    pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#    pragma GCC optimize("fp-contract=off")
#endif
#if defined(__linux__) && !defined(_GNU_SOURCE)
#    define _GNU_SOURCE 1
#endif
#ifndef _DEFAULT_SOURCE
#    define _DEFAULT_SOURCE 1
#endif
#ifdef MICA_H /* this file is included after mica.h */
#    define MICA_WAS_INCLUDED_
#endif
#define MICA_BUILD 1
#include "mica.h"
#ifdef MICA_WAS_INCLUDED_
{undefine}
#endif
""" + "".join(expand(name) for name in files) + """#undef MICA_BUILD
#ifdef MICA_CHECKED
""" + "\n".join(checked) + """
#else
""" + "\n".join(unchecked) + """
#endif
"""


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mica.h").write_text(public_header(), encoding="utf-8")
    (folder / "mica.c").write_text(source_file(), encoding="utf-8")


if __name__ == "__main__":
    main()
