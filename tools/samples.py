#!/usr/bin/env python3
"""Compiles and runs every sample of the README and of the pages under docs, so that none of them is wrong.

    samples.py BUILD_DIR [PAGE...]        all pages, or only these

Samples are fenced blocks of c and cpp. A block with a main function is a whole program: it is compiled as it stands and
run, and must exit with 0; a fenced block of text after it is what it must print. All other blocks of a page are
fragments of one program: declarations go to file scope, statements are run in the order of the page, with `world`, an
empty world at first. A report of that world is a failure.
What fragments need besides stands in a comment that readers don't see, one per language; when it defines
before_samples(), that is called first:

    <!-- samples: c prelude
    #include "mica/flow.h"
    typedef struct Position { float x, y; } Position;
    MICA_COMPONENT(Position, x, y)
    -->

A comment on the line before a block changes what is done with it:

    <!-- sample: skip REASON -->      nothing: code of others, say
    <!-- sample: compile -->          compiled by itself, not run
    <!-- sample: file NAME -->        written to the folder in which the page's samples run; of any language
    <!-- sample: run -->              sh, run after the programs, with the tool `mica` on the path and its headers where cc finds them
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECONDS_MAX = 60

FLAGS = ["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-ffp-contract=off"]
BRIEF = ["-fmax-errors=3", "-ftrack-macro-expansion=0"] # a description without its struct would give hundreds of lines
COMPILERS = {"c": ["gcc", "-std=c17", *FLAGS, *BRIEF], "cpp": ["g++", "-std=c++17", *FLAGS, *BRIEF]}
SUFFIXES = {"c": ".c", "cpp": ".cpp"}

FENCE = re.compile(r"^```(\w*)\s*$")
MARK = re.compile(r"^<!-- sample: (skip|compile|file|run)\b\s*(.*?)\s*-->$")
PRELUDE = re.compile(r"^<!-- samples: (c|cpp) prelude\n(.*?)^-->$", re.DOTALL | re.MULTILINE)

MAIN = re.compile(r"^int main\(", re.MULTILINE)
CONTROL = ("for", "while", "if", "switch", "do", "else", "return", "case")
DESCRIPTION = re.compile(r"(MICA_(STRUCT|ENUM|FLAGS|COMPONENT|SINGLETON|TAG|POOL|RELATION)\w*|template|namespace|using)\b")
DECLARATION = re.compile(r"(#|typedef\b|static\b|extern\b|struct\b|enum\b|MICA_MODULE\b)")
FUNCTION = re.compile(r"[\w\s*:&<>]+\b\w+\s*\([^;{}]*\)\s*\{")

# What fragments share: a world that complains loudly.
WORLD = {
    "c": """
static int samples_reports;
static void samples_report(const mica_report *report, void *context)
{{
    (void)context;
    ++samples_reports;
    fprintf(stderr, "%s:%d: reported: %s\\n", report->location.file ? report->location.file : "?", report->location.line, report->text);
}}
static mica_world *world;
{functions}
int main(void)
{{
    mica_world_def def = mica_world_def_default();
    def.report = samples_report;
    world = mica_world_create(&def);
{calls}
    mica_world_destroy(world);
    return samples_reports != 0;
}}
""",
    "cpp": """
static int samples_reports;
static void samples_report(const mica_report *report, void *)
{{
    ++samples_reports;
    std::fprintf(stderr, "%s:%d: reported: %s\\n", report->location.file ? report->location.file : "?", report->location.line, report->text);
}}
static mica_world_def samples_def()
{{
    mica_world_def def = mica_world_def_default();
    def.report = samples_report;
    return def;
}}
static const mica_world_def samples_world_def = samples_def();
static mica::world world(&samples_world_def);
{functions}
int main()
{{
{calls}
    return samples_reports != 0;
}}
""",
}


class Block:
    """A fenced block: its language, text, the line of its first line, and the mark before it."""

    def __init__(self, language, line, text, mark, argument):
        self.language, self.line, self.text, self.mark, self.argument = language, line, text, mark, argument
        self.output = None  # of a program or a script: what it must print

    @property
    def is_program(self):
        return bool(MAIN.search(self.text))


class SampleError(Exception):
    pass


def blocks_of(text):
    """Returns the fenced blocks of a page; what a program must print is put where it belongs."""
    blocks, lines, index = [], text.splitlines(), 0
    while index < len(lines):
        fence = FENCE.match(lines[index].strip())
        if not fence:
            index += 1
            continue
        first = index + 1
        indent = len(lines[index]) - len(lines[index].lstrip())
        index = first
        while index < len(lines) and lines[index].strip() != "```":
            index += 1
        if index == len(lines):
            raise SampleError(f"{first}: a block that does not end")
        mark = MARK.match(lines[first - 2].strip()) if first > 1 else None
        body = "".join(line[indent:] + "\n" for line in lines[first:index])
        block = Block(fence.group(1), first + 1, body, mark and mark.group(1), mark and mark.group(2))
        before = blocks[-1] if blocks else None
        runs = before and before.mark not in ("skip", "compile") and (before.is_program or before.mark == "run")
        if block.language == "text" and runs and before.language in ("c", "cpp", "sh"):
            before.output = block.text
        blocks.append(block)
        index += 1
    return blocks


def split_items(text):
    """Yields (line number from 0, lines) of each declaration or statement at the outermost level, comments with it."""
    item, start, depth = [], 0, 0
    for number, line in enumerate(text.splitlines()):
        if not item:
            start = number
        item.append(line)
        code = re.sub(r'"(?:\\.|[^"\\])*"|//.*|/\*.*?\*/', "", line).rstrip()
        depth += sum(code.count(c) for c in "({[") - sum(code.count(c) for c in ")}]")
        begun = next((l for l in item if l.strip() and not l.lstrip().startswith(("/*", "*", "//"))), "")
        ends = code.endswith((";", "}")) or line.startswith("#") or (code.endswith(")") and DESCRIPTION.match(begun))
        if depth == 0 and begun and ends:
            yield start, item
            item = []
    if item:
        yield start, item


def is_declaration(item):
    text = "\n".join(l for l in item if l.strip() and not l.lstrip().startswith(("/*", "*", "//")))
    word = re.match(r"\w*", text).group(0)
    if DESCRIPTION.match(text) or DECLARATION.match(text):
        return True
    return bool(FUNCTION.match(text)) and word not in CONTROL


def fragment_program(page, blocks, language, prelude):
    """Joins the fragments of a page to one program. Each opens a block inside the one before: later fragments see what
    earlier ones declared, and may declare it anew."""
    outside, inside, depth = [prelude], [], 0
    if re.search(r"\bbefore_samples\(", prelude):
        inside.append("before_samples();")
    for block in blocks:
        statements = []
        for start, item in split_items(block.text):
            (outside if is_declaration(item) else statements).extend([f'#line {block.line + start} "{page}"', *item])
        if block.mark == "compile":
            outside.extend([f"static void not_called_{block.line}(void)", "{", *statements, "}"])
        elif statements:
            inside.extend(["{", *statements])
            depth += 1
    inside.append("}" * depth)
    header = '#include "mica/flow.h"\n#include <stdio.h>\n' if language == "c" else '#include "mica/mica.hpp"\n#include <cstdio>\n'
    return header + WORLD[language].format(functions="\n".join(outside), calls="\n".join(inside))


class Runner:
    def __init__(self, build, root=ROOT):
        self.build, self.root = build.resolve(), root
        self.libraries = [str(self.build / f"lib{name}.a") for name in ("mica_lua", "mica_cluster", "mica_arrow", "mica_sql", "mica_json", "mica_resource", "mica")
                          if (self.build / f"lib{name}.a").exists()]
        self.mpi = subprocess.run(["pkg-config", "--libs", "ompi-c"], capture_output=True, text=True, check=False).stdout.split()
        self.lua = subprocess.run(["pkg-config", "--libs", "luajit"], capture_output=True, text=True, check=False).stdout.split()
        self.environment = dict(os.environ, PATH=f"{self.build}{os.pathsep}{os.environ['PATH']}",
                                C_INCLUDE_PATH=str(ROOT / "include"))

    def run(self, command, folder, what):
        """Returns what a command prints; its failure is an error."""
        try:
            done = subprocess.run(command, cwd=folder, env=self.environment, timeout=SECONDS_MAX, check=False,
                                  capture_output=True, text=True)
        except subprocess.TimeoutExpired as error:
            raise SampleError(f"{what} does not end") from error
        if done.returncode != 0:
            raise SampleError(f"{what} fails with {done.returncode}\n{done.stdout}{done.stderr}".rstrip())
        return done.stdout

    def compile(self, language, source, folder, name):
        path, program = folder / (name + SUFFIXES[language]), folder / name
        path.write_text(source, encoding="utf-8")
        self.run([*COMPILERS[language], f"-I{ROOT / 'include'}", str(path), "-o", str(program), *self.libraries,
                  "-lzstd", "-ljansson", "-lsqlite3", *self.mpi, *self.lua, "-lpthread", "-lm"], folder, "compiling")
        return program

    def check_program(self, block, folder, page):
        source = f'#line {block.line} "{page}"\n{block.text}'
        program = self.compile(block.language, source, folder, f"program_{block.line}")
        if block.mark != "compile":
            self.compare(block, self.run([str(program)], folder, "the program"))

    def check_script(self, block, folder):
        self.compare(block, self.run(["sh", "-euc", block.text], folder, "the script"))

    @staticmethod
    def compare(block, printed):
        if block.output is not None and block.output != printed:
            raise SampleError(f"it prints\n{printed}and the page says\n{block.output}".rstrip())

    def check_page(self, path):
        """Returns (samples that were tried, what is wrong, as a list of texts)."""
        page = path.relative_to(self.root).as_posix()
        folder = self.build.parent / "samples" / page.replace("/", "_").removesuffix(".md")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        text = path.read_text(encoding="utf-8")
        try:
            blocks = blocks_of(text)
        except SampleError as error:
            return 0, [f"{page}:{error}"]
        wrong, tasks = [], []
        for block in blocks:
            if block.mark == "skip" and not block.argument:
                wrong.append(f"{page}:{block.line}: skipped without a reason")
            if block.mark == "file":
                (folder / block.argument).write_text(block.text, encoding="utf-8")
        samples = [b for b in blocks if b.language in SUFFIXES and b.mark in (None, "compile")]
        for language in SUFFIXES:
            fragments = [b for b in samples if b.language == language and not b.is_program]
            if fragments:
                prelude = "".join(t for l, t in PRELUDE.findall(text) if l == language)
                source = fragment_program(page, fragments, language, prelude)
                tasks.append((fragments[0].line, lambda s=source, l=language: self.run(
                    [str(self.compile(l, s, folder, f"fragments_{l}"))], folder, "the program of the fragments")))
        tasks.extend((b.line, lambda b=b: self.check_program(b, folder, page)) for b in samples if b.is_program)
        scripts = [b for b in blocks if b.mark == "run"]
        tasks.extend((b.line, lambda b=b: self.check_script(b, folder)) for b in scripts)
        for line, task in tasks:
            try:
                task()
            except SampleError as error:
                wrong.append(f"{page}:{line}: {error}")
        return len(samples) + len(scripts), wrong


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    named = [pathlib.Path(name).resolve() for name in sys.argv[2:]]
    pages = named or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    runner = Runner(pathlib.Path(sys.argv[1]))
    count, failed = 0, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for tried, wrong in pool.map(runner.check_page, pages):
            count += tried
            failed += len(wrong)
            for text in wrong:
                print(text)
    print(f"{count} samples, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
