#!/usr/bin/env python3
"""Plants small faults in the core and looks whether the tests notice: a flipped comparison, a line left out, a number off by one.

    mutate.py [--count N | --seconds N] [--seed N]

With --seconds as many as fit: half of the time is for drawing, the rest for the sanitizers.
Prints a line per fault and ends with `N of N caught`; fails when fewer than 95 in 100 are. Faults are drawn by the seed and by what they are, so
that a run can be repeated, and one that survived is drawn again when the code around it has changed. One that does not compile, or that the compiler makes the same code of, is none, and another one is drawn. The core is a shared
library here, so that a fault costs one file and one link; test programs run in the order that finds most, each fault until one fails. The
last of them counts instructions: many faults only make something slower.
What no program notices is tried once more as the sanitizers' stage of every check does, with address and undefined-behaviour sanitizers.
"""
import argparse
import concurrent.futures
import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/mutate"
CORE = ("base", "type", "pool", "core", "flow", "relation", "hierarchy", "index", "snapshot", "replication", "recording")
LIBRARY = ("os", *CORE, "resource", "json", "sql", "arrow")
LIBRARIES = ("-ljansson", "-lsqlite3", "-lzstd", "-lm", "-ldl")
MUTATED = ("type", "pool", "core")
TESTED = (*CORE, "resource", "integration", "fuzz")
# What the programs of a folder of tests are linked with, besides the library and tests/support.
SUPPORT = {"resource": "resource/level.c", "fuzz": "fuzz/cross_feature/*.c"}
# Programs that let malloc fail, for which they are linked with the library's objects: with those of the mutant, when it is one of this folder.
STATIC = {"type/type_test.c": "-Wl,--wrap=malloc,--wrap=calloc,--wrap=free"}
# The validators are tools of the tests: a fault in one is seen when something else is broken, too.
SPARED = ("src/core/world/validate.c", "src/pool/pool_check.c")
# Faults that change nothing in this build, as `path | the line | what | why`: they are passed over, as those are that compile to the same code.
EQUAL = ROOT / "tools/mutate_equal.txt"
# Those that look at speed or at compilers, or that need other programs.
LEFT_OUT = ("core/compile_fail_test.c", "core/scale_test.c", "pool/vector_test.c", "resource/module/module_load_test.c")
FLAGS = ("-std=c17", "-O1", "-fPIC", "-pthread", "-ffp-contract=off", "-w", f"-I{ROOT}/include", f"-I{ROOT}/src",
         f"-I{ROOT}/tests", f"-I{ROOT}/tests/support", "-DMICA_BUILD")
ENVIRONMENT = os.environ | {"MICA_TEST_STEPS": "100000", "MICA_TEST_PROGRAMS": "3000", "CK_DEFAULT_TIMEOUT": "60", "CC": "gcc"}
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
CAUGHT_MIN = 0.95

# (pattern, replacement, what it is). Patterns see code without comments and strings.
SWAPS = tuple((re.compile(pattern), replacement, f"{name} for {old}") for pattern, replacement, old, name in (
    (r"(?<![<-]) < ", " <= ", "<", "<="), (r" <= ", " < ", "<=", "<"), (r"(?<!-)(?<!>) > ", " >= ", ">", ">="), (r" >= ", " > ", ">=", ">"),
    (r" == ", " != ", "==", "!="), (r" != ", " == ", "!=", "=="), (r" && ", " || ", "&&", "||"), (r" \|\| ", " && ", "||", "&&"),
    (r" \+ 1\b(?!\.)", " + 0", "+ 1", "+ 0"), (r" - 1\b(?!\.)", " - 0", "- 1", "- 0"), (r" \+ (?=[a-z(])", " - ", "+", "-"),
    (r" - (?=[a-z(])", " + ", "-", "+"), (r"\+\+", "--", "++", "--"), (r"(?<=\()!(?=[a-z(])", "", "not", "nothing"),
    (r"(?<=return )true(?=;)", "false", "true", "false"), (r"(?<=return )false(?=;)", "true", "false", "true"),
    (r"(?<== )0(?=;)", "1", "0", "1")))
STATEMENT = re.compile(r"^\s+(?!return\b|break\b|continue\b|goto\b|case\b|default\b|else\b|for\b|while\b|MICAP_ASSERT|static\b|const\b|typedef\b)"
                       r"(?:[a-z_][\w>.\[\]-]*\(.*\);|[\w>.\[\]*()-]+(?: [-+|&^]?=) .*;|(?:\+\+|--)[\w>.\[\]-]+;)\s*$")


@dataclasses.dataclass(frozen=True)
class Fault:
    path: str
    line: int
    what: str
    text: str  # of the whole line, with the fault
    original: str

    def rank(self, seed):
        """Where it is drawn: by what it is, not by where it lies."""
        return hashlib.md5(f"{seed} {self.path} {self.what} {self.text}".encode()).hexdigest()

    def __str__(self):
        return f"{self.path}:{self.line}: {self.what}" + ("" if self.what.startswith("without") else f": {self.text.strip()}")


def blanked(text):
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', lambda match: re.sub(r"[^\n]", "\x00", match.group(0)), text, flags=re.DOTALL)


def faults_of(path):
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT).as_posix()
    lines = text.splitlines()
    inside = False
    for number, code in enumerate(blanked(text).splitlines()):
        inside = code.startswith("{") or (inside and not code.startswith("}"))
        if not inside or code.lstrip().startswith("#") or "MICAP_ASSERT" in code or "prefetch" in code:
            continue
        line = lines[number]
        for pattern, replacement, what in SWAPS:
            for match in pattern.finditer(code):
                yield Fault(name, number + 1, what, line[:match.start()] + replacement + line[match.end():], line.strip())
        declares = re.match(r"\s+(?:const )?[a-z_]\w*(?: \w+)? \*?\w+(?:\[.*\])? = ", code)
        if STATEMENT.match(code) and not declares and lines[number - 1].rstrip().endswith((";", "{", "}", ")")):
            yield Fault(name, number + 1, f"without `{line.strip()}`", re.match(r"\s*", line).group(0) + ";", line.strip())


def program_name(path):
    return path.relative_to(ROOT / "tests").as_posix().replace("/", "_").removesuffix(".c")


class Bench:
    """The library and the programs that test it, in a folder of their own."""

    def __init__(self, jobs, folder, flags=()):
        self.lock = threading.Lock()
        self.folder = folder
        self.flags = flags
        self.objects = {}
        sources = [path for layer in LIBRARY for path in sorted((ROOT / "src" / layer).rglob("*.c"))]
        support = {layer: sorted((ROOT / "tests").glob(pattern)) for layer, pattern in {"": "support/*.c", **SUPPORT}.items()}
        tests = [path for layer in TESTED for path in sorted((ROOT / "tests" / layer).rglob("*_test.c"))
                 if path.relative_to(ROOT / "tests").as_posix() not in LEFT_OUT]
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "object").mkdir(parents=True)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            compiled = list(pool.map(lambda path: self.compile(path), [*sources, *sum(support.values(), []), *tests]))
        if not all(compiled):
            sys.exit("the tests do not compile")
        self.library = [self.objects[path] for path in sources]
        # An archive, because the folders of tests may use names of tests/support for things of their own.
        shared = folder / "support.a"
        subprocess.run(["ar", "rcs", shared, *(self.objects[path] for path in support.pop(""))], check=True)
        self.support = {layer: [*(self.objects[path] for path in support.get(layer, ())), shared] for layer in TESTED}
        self.whole = folder / "whole"
        self.whole.mkdir()
        self.link(self.library, self.whole / "libmica.so")
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            self.programs = [*pool.map(lambda path: self.link_test(path, self.library, folder), tests), self.link_conformance(),
                             *([] if flags else [self.link_count()])]
            self.seconds = dict(zip(self.programs, pool.map(self.time, self.programs)))
        self.static = {folder / program_name(path): path for path in tests if path.relative_to(ROOT / "tests").as_posix() in STATIC}
        self.finds = dict.fromkeys(self.programs, 0)

    def compile_file(self, source, target):
        return subprocess.run(["gcc", *FLAGS, *self.flags, "-c", source, "-o", target], capture_output=True, check=False).returncode == 0

    def compile(self, path):
        target = self.folder / "object" / (path.relative_to(ROOT).as_posix().replace("/", "_") + ".o")
        self.objects[path] = target
        return self.compile_file(path, target)

    def link(self, objects, target):
        subprocess.run(["gcc", *self.flags, "-shared", "-pthread", "-o", target, *objects, *LIBRARIES], check=True)

    def link_conformance(self):
        """The program that prints hashes: a fault must not change what it prints."""
        program = self.folder / "conformance"
        sources = [path for path in sorted((ROOT / "tests/conformance").glob("*.c")) if path.name != "resources.c"]
        subprocess.run(["gcc", *FLAGS, *self.flags, "-o", program, *sources, f"-L{self.whole}", "-lmica", "-lm"], check=True)
        script = self.folder / "conformance_test"
        script.write_text(f'#!/bin/sh\n{program} --workers 4 | cmp - {self.folder}/conformance.txt\n')
        script.chmod(0o755)
        with open(self.folder / "conformance.txt", "w", encoding="utf-8") as printed:
            subprocess.run([program, "--workers", "1"], env=ENVIRONMENT | {"LD_LIBRARY_PATH": str(self.whole)}, stdout=printed, check=True)
        return script

    def link_count(self):
        """The workloads whose instructions every check counts: a fault must not make one slower by more than the check allows."""
        build = self.folder / "counted"
        (build / "bench/count").mkdir(parents=True)
        for path in sorted((ROOT / "bench/count").glob("*.c")):
            subprocess.run(["gcc", *FLAGS, "-o", build / "bench/count" / path.stem, path, f"-L{self.whole}", "-lmica", "-lm"], check=True)
        count = ["python3", ROOT / "tools/count.py", build, "--baseline", build / "baseline.txt"]
        subprocess.run([*count, "--update"], env=ENVIRONMENT | {"LD_LIBRARY_PATH": str(self.whole)}, stdout=subprocess.DEVNULL, check=True)
        script = self.folder / "count_test"
        script.write_text(f'#!/bin/sh\nexec {" ".join(map(str, count))}\n')
        script.chmod(0o755)
        return script

    def link_test(self, path, library, folder):
        program = folder / program_name(path)
        support = self.support[path.relative_to(ROOT / "tests").parts[0]]
        wrap = STATIC.get(path.relative_to(ROOT / "tests").as_posix())
        mica = [wrap, *library] if wrap else [f"-L{self.whole}", "-lmica"]
        subprocess.run(["gcc", *self.flags, "-pthread", "-o", program, self.objects[path], *support, *mica, "-lcheck", "-lsubunit", "-lrt",
                        *LIBRARIES], check=True)
        return program

    def run(self, program, folder, timeout):
        """Returns "" when the program is content, else how it ended. Tests are processes, in groups of their own: all end with it."""
        with subprocess.Popen([program], cwd=ROOT, env=ENVIRONMENT | {"LD_LIBRARY_PATH": str(folder)}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, start_new_session=True) as process:
            try:
                return "fails" if process.wait(timeout) else ""
            except subprocess.TimeoutExpired:
                return "does not end"
            finally:
                subprocess.run(["pkill", "-KILL", "--session", str(process.pid)], check=False)

    def time(self, program):
        start = time.monotonic()
        if self.run(program, self.whole, 600):
            sys.exit(f"{program.name} fails without a fault")
        return time.monotonic() - start

    def try_fault(self, fault):
        """Returns None when it is no fault, else what the program that caught it does, or "" when none did."""
        with self.lock:
            order = sorted(self.programs, key=lambda program: ((self.finds[program] + 1) / (self.seconds[program] + 0.02)), reverse=True)
        source = ROOT / fault.path
        folder = self.folder / ("mutant_" + hashlib.md5(f"{fault}{fault.text}".encode()).hexdigest()[:12])
        folder.mkdir()
        try:
            lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
            lines[fault.line - 1] = fault.text + "\n"
            (folder / source.name).write_text("".join(lines), encoding="utf-8")
            if not self.compile_file(folder / source.name, folder / "object.o"):
                return None
            if (folder / "object.o").read_bytes() == self.object_bytes(source, folder):
                return None
            library = [folder / "object.o" if path == self.objects[source] else path for path in self.library]
            self.link(library, folder / "libmica.so")
            for program in order:
                tried = program
                if path := self.static.get(program):
                    if path.parent.name != source.parent.name:
                        continue
                    tried = self.link_test(path, library, folder)
                if ending := self.run(tried, folder, 5 * self.seconds[program] + 10):
                    with self.lock:
                        self.finds[program] += 1
                    return f"{program.name} {ending}"
            return ""
        finally:
            shutil.rmtree(folder)

    def object_bytes(self, source, folder):
        """The same file without the fault, under the same path: __FILE__ of assertions is part of the object."""
        text = (folder / source.name).read_text(encoding="utf-8")
        shutil.copy(source, folder / source.name)
        self.compile_file(folder / source.name, folder / "original.o")
        (folder / source.name).write_text(text, encoding="utf-8")
        return (folder / "original.o").read_bytes()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, help="draws as many as fit instead")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="only the faults that would be drawn first")
    options = parser.parse_args()
    drawing_end = time.monotonic() + options.seconds / 2 if options.seconds else float("inf")
    wanted = sys.maxsize if options.seconds else options.count
    faults = [fault for layer in MUTATED for path in sorted((ROOT / "src" / layer).rglob("*.c")) for fault in faults_of(path)
              if fault.path not in SPARED]
    equal = {tuple(line.split(" | ")[:3]) for line in EQUAL.read_text(encoding="utf-8").splitlines() if not line.startswith("#")}
    if unknown := equal - {(fault.path, fault.original, fault.what) for fault in faults}:
        sys.exit("\n".join(f"{EQUAL.relative_to(ROOT)}: there is no such fault: {' | '.join(entry)}" for entry in sorted(unknown)))
    faults = [fault for fault in faults if (fault.path, fault.original, fault.what) not in equal]
    faults.sort(key=lambda fault: fault.rank(options.seed))
    if options.list:
        print(*faults[:options.count], sep="\n")
        return 0
    shutil.rmtree(BUILD, ignore_errors=True)
    bench = Bench(options.jobs, BUILD / "plain")
    print(f"seed {options.seed}: {len(faults)} faults to draw from, {len(bench.programs)} programs", flush=True)
    caught, survivors, waiting = 0, [], iter(faults)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {}
        while caught + len(survivors) < wanted:
            while (len(running) < min(options.jobs, wanted - caught - len(survivors)) and time.monotonic() < drawing_end
                   and (fault := next(waiting, None))):
                running[pool.submit(bench.try_fault, fault)] = fault
            if not running:
                break
            for done in concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done:
                fault, outcome = running.pop(done), done.result()
                if outcome is None:
                    continue
                caught += outcome != ""
                if outcome == "":
                    survivors.append(fault)
                print(f"{'caught  ' if outcome else 'SURVIVED'}  {fault}  {outcome}", flush=True)
    count = caught + len(survivors)
    if survivors:
        print(f"{len(survivors)} survivors meet sanitizers", flush=True)
        bench = Bench(options.jobs, BUILD / "sanitized", SANITIZERS)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            running = {pool.submit(bench.try_fault, fault): fault for fault in survivors}
            for done in concurrent.futures.as_completed(running):
                if outcome := done.result():
                    survivors.remove(running[done])
                    print(f"caught    {running[done]}  {outcome} with sanitizers", flush=True)
        caught = count - len(survivors)
    print("", *(f"survived: {fault}" for fault in survivors), f"{caught} of {count} caught", sep="\n")
    return 0 if count and caught >= CAUGHT_MIN * count else 1


if __name__ == "__main__":
    sys.exit(main())
