#!/usr/bin/env python3
"""Builds the conformance program for many compilers and machines and runs it with many numbers of workers: what it prints must be
tests/conformance/expected.txt everywhere.

    conformance.py [CELL...]            these cells, or all of them; "ci" is what every change is checked with
    conformance.py --list               the cells
    conformance.py --update             writes what this machine prints as what is expected

What a cell needs is installed first (Debian packages). Writes a table to build/conformance/table.md.
"""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/conformance"
EXPECTED = ROOT / "tests/conformance/expected.txt"
EMSCRIPTEN = "/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake"


@dataclasses.dataclass
class Cell:
    machine: str
    compiler: str
    level: str
    commands: dict                 # needed programs, with the Debian package of each
    settings: tuple = ()           # of CMake
    flags: str = ""
    runner: tuple = ()
    suffix: str = ""
    linked: str = ""               # flags for the linker
    foreign: tuple = ()            # (Debian architecture, GNU triplet) of libraries that are fetched
    archiver: str = ""             # where Debian has no libraries for the machine: makes them of their sources
    workers: tuple = (1, 2, 3, 4, 7, 16)
    environment: dict = dataclasses.field(default_factory=dict)


def native(compiler, package, level):
    return Cell("x86-64, Linux", compiler, level, {compiler: package}, flags=level)


def emulated(machine, processor, triplet, architecture, level):
    settings = ("-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={processor}")
    return Cell(machine, f"{triplet}-gcc", level,
                {f"{triplet}-gcc": f"gcc-{triplet}", f"qemu-{processor}-static": "qemu-user-static",
                 f"/usr/{triplet}/lib/libc.a": f"libc6-dev-{architecture}-cross"},
                settings, level, (f"qemu-{processor}-static",), linked="-static", foreign=(architecture, triplet), workers=(1, 2, 4, 16))


CELLS = {
    "release": Cell("x86-64, Linux", "gcc", "release preset", {}, workers=(1, 2, 4, 16)),
    **{f"{name}{level}": native(compiler, package, level)
       for name, compiler, package in (("gcc", "gcc", "gcc"), ("clang14", "clang-14", "clang-14"),
                                       ("clang19", "clang-19", "clang-19"))
       for level in ("-O0", "-O2", "-O3", "-O3 -march=native")},
    "aarch64": emulated("aarch64, Linux (qemu)", "aarch64", "aarch64-linux-gnu", "arm64", "-O2"),
    "aarch64-O0": emulated("aarch64, Linux (qemu)", "aarch64", "aarch64-linux-gnu", "arm64", "-O0"),
    "s390x": emulated("s390x, Linux (qemu), big-endian", "s390x", "s390x-linux-gnu", "s390x", "-O1"),
    "s390x-O3": emulated("s390x, Linux (qemu), big-endian", "s390x", "s390x-linux-gnu", "s390x", "-O3"),
    "windows": Cell("x86-64, Windows (wine)", "x86_64-w64-mingw32-gcc-posix", "-O2",
                    {"x86_64-w64-mingw32-gcc-posix": "gcc-mingw-w64-x86-64-posix", "/usr/lib/wine/wine64": "wine64"},
                    ("-DCMAKE_SYSTEM_NAME=Windows",), "-O2", ("/usr/lib/wine/wine64",),
                    ".exe", linked="-static", archiver="x86_64-w64-mingw32-ar", environment={"WINEDEBUG": "-all", "WINEPREFIX": str(BUILD / "wine")}),
    "wasm": Cell("WebAssembly with threads (node)", "emcc", "-O2", {"emcc": "emscripten", "node": "nodejs", "/usr/share/nodejs/acorn": "node-acorn"},
                 (f"-DCMAKE_TOOLCHAIN_FILE={EMSCRIPTEN}",), "-O2 -pthread", ("node", "--no-experimental-fetch"), ".js",
                 linked="-pthread -sPTHREAD_POOL_SIZE=16 -sINITIAL_MEMORY=512MB -sEXIT_RUNTIME=1", archiver="emar", environment={"NODE_PATH": "/usr/share/nodejs"}),
}
CELLS = {name.replace(" -march=", "-"): cell for name, cell in CELLS.items()}
GROUPS = {"ci": ["release", "s390x"]}


def run(command, log, **options):
    return subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=True, **options)


def install(cells, log):
    missing = {package for cell in cells for command, package in cell.commands.items()
               if not shutil.which(command) and not os.path.exists(command)}
    if missing:
        print("installing:", *sorted(missing), flush=True)
        as_root = [] if os.geteuid() == 0 else ["sudo"]
        command = [*as_root, "apt-get", "install", "-qq", "-y", "--no-install-recommends", *sorted(missing)]
        if subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False).returncode != 0:
            run([*as_root, "apt-get", "update", "-qq"], log)
            run(command, log)


def fetch_libraries(architecture, triplet, log):
    """Fetches xxhash, zstd and jansson for another architecture into a folder, without making it known to the system. Returns the
    folder of the libraries, and the environment in which CMake finds them."""
    folder = BUILD / "libraries" / architecture
    root = folder / "root"
    if not (folder / "complete").exists():
        print(f"fetching libraries for {architecture}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        for path in (folder / "lists/partial", root):
            path.mkdir(parents=True)
        apt = ["apt-get", "-qq", "-o", f"APT::Architectures::={architecture}", "-o", f"Dir::State::lists={folder / 'lists'}",
               "-o", "APT::Sandbox::User=root"]
        run([*apt, "update"], log, cwd=folder)
        run([*apt, "download", *(f"{name}:{architecture}" for name in ("libxxhash-dev", "libzstd-dev", "libjansson-dev"))], log,
            cwd=folder)
        for package in folder.glob("*.deb"):
            run(["dpkg", "-x", package, root], log)
        for shared in root.glob("usr/lib/*/*.so"):  # links to what is not there; the static ones are used
            shared.unlink()
        shutil.rmtree(folder / "lists")
        (folder / "complete").touch()
    libraries = root / "usr/lib" / triplet
    return libraries, {"PKG_CONFIG_LIBDIR": str(libraries / "pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": str(root)}


def fetch_sources(log):
    """Fetches the sources of zstd, as Debian has them. Returns their folder."""
    folder = BUILD / "libraries/source"
    if not (folder / "lib/zstd.h").exists():
        shutil.rmtree(folder, ignore_errors=True)
        for path in (folder / "lists/partial", folder / "parts"):
            path.mkdir(parents=True)
        for known in (*pathlib.Path("/etc/apt/sources.list.d").glob("*"), pathlib.Path("/etc/apt/sources.list")):
            if known.suffix in (".list", ".sources") and known.exists():
                text = re.sub(r"^(Types:.*?)\bdeb\b", r"\1deb-src", known.read_text(), flags=re.MULTILINE)
                (folder / "parts" / known.name).write_text(re.sub(r"^deb ", "deb-src ", text, flags=re.MULTILINE))
        apt = ["apt-get", "-qq", "-o", "Dir::Etc::SourceList=/dev/null", "-o", f"Dir::Etc::SourceParts={folder / 'parts'}",
               "-o", f"Dir::State::lists={folder / 'lists'}", "-o", "APT::Sandbox::User=root"]
        run([*apt, "update"], log, cwd=folder)
        run([*apt, "--download-only", "source", "libzstd"], log, cwd=folder)
        with tarfile.open(next(folder.glob("*.orig.tar.?z"))) as archive:
            for member in archive:
                member.name = member.name.partition("/")[2]
                if member.name.startswith("lib/"):
                    archive.extract(member, folder)
    return folder / "lib"


def make_libraries(name, cell, log):
    """Compiles zstd for a machine that Debian has no libraries for, and puts xxhash, which is a header, beside it. As fetch_libraries."""
    folder = BUILD / "libraries" / name
    if not (folder / "libzstd.a").exists():
        source = fetch_sources(log)
        print(f"making libraries for {name}", flush=True)
        (folder / "object").mkdir(parents=True, exist_ok=True)
        files = [path for part in ("common", "compress", "decompress") for path in sorted((source / part).glob("*.c"))]
        run([cell.compiler, *cell.flags.split(), "-DZSTD_DISABLE_ASM", "-c", *files], log, cwd=folder / "object")
        run([cell.archiver, "rcs", folder / "libzstd.a", *(folder / "object").glob("*.o")], log)
        for header in (*source.glob("*.h"), pathlib.Path("/usr/include/xxhash.h")):
            shutil.copy(header, folder)
        for library, flags in (("libzstd", f"Libs: -L{folder} -lzstd\n"), ("libxxhash", "")):
            (folder / f"{library}.pc").write_text(f"Name: {library}\nDescription: {library}\nVersion: 0\nCflags: -I{folder}\n{flags}")
    return folder, {"PKG_CONFIG_LIBDIR": str(folder)}


def build(name, cell, log):
    """Returns the program of a cell."""
    if name == "release":
        run(["cmake", "--preset", "release"], log, cwd=ROOT)
        run(["cmake", "--build", "--preset", "release", "--target", "mica_conformance"], log, cwd=ROOT)
        return ROOT / "build/release/tests/conformance/mica_conformance"
    environment, settings = os.environ | cell.environment, list(cell.settings)
    linked = cell.linked
    if cell.foreign or cell.archiver:
        libraries, found = fetch_libraries(*cell.foreign, log) if cell.foreign else make_libraries(name, cell, log)
        environment |= found
        settings.append(f"-DCMAKE_LIBRARY_PATH={libraries}")
        linked += f" -L{libraries}"
    if cell.compiler != "emcc":
        settings.append(f"-DCMAKE_C_COMPILER={cell.compiler}")
    run(["cmake", "-S", ROOT, "-B", BUILD / name, "-G", "Ninja", *settings, "-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_C_FLAGS={cell.flags}",
         f"-DCMAKE_EXE_LINKER_FLAGS={linked}", "-DMICA_JSON=OFF", "-DMICA_SQL=OFF", "-DMICA_LUA=OFF", "-DMICA_TESTS=OFF", "-DMICA_EXAMPLES=OFF", "-DMICA_BENCH=OFF"],
        log, env=environment)
    run(["cmake", "--build", BUILD / name, "--target", "mica_conformance"], log, env=environment)
    return BUILD / name / f"tests/conformance/mica_conformance{cell.suffix}"


def lines_of(text):
    return text.replace("\r", "").splitlines()


def check(cell, program, workers, log):
    """Returns what is wrong with one run, or None."""
    command = [*cell.runner, program, "--workers", str(workers)]
    try:
        done = subprocess.run(command, cwd=program.parent, capture_output=True, text=True, timeout=600, check=False,
                              env=os.environ | cell.environment)
    except subprocess.TimeoutExpired:
        return "does not end"
    print(f"$ {command}", done.stdout, done.stderr[-2000:], sep="\n", file=log, flush=True)
    expected, printed = lines_of(EXPECTED.read_text()), lines_of(done.stdout)
    if printed != expected:
        different = [b for a, b in zip(expected, printed) if a != b] or ["less"]
        return f"prints {different[0]!r}"
    return None if done.returncode == 0 else f"returns {done.returncode}"


def uncalled(folder):
    """Returns the public functions that the program does not call. mica_note_location is only called in checked builds, and the
    name mica_world_create only by bindings."""
    symbols = lambda *command: {line.split()[-1] for line in subprocess.run(
        command, capture_output=True, text=True, check=True).stdout.splitlines() if "mica_" in line}
    public = {name for library in ("libmica.a", "libmica_resource.a")
              for name in symbols("nm", "--defined-only", "--extern-only", folder / library) if name.startswith("mica_")}
    called = symbols("nm", "-u", *(folder / "tests/conformance").rglob("*.o"))
    return sorted(public - called - {"mica_note_location", "mica_world_create"})


def compiler_version(cell):
    text = subprocess.run([cell.compiler, "--version"], capture_output=True, text=True, check=False).stdout
    words = [word for word in text.splitlines()[0].split() if word[:1].isdigit()] if text else []
    return words[-1].rstrip(")") if words else ""


def try_cell(name):
    """Returns a row of the table and whether all was well."""
    cell = CELLS[name]
    start = time.monotonic()
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / f"{name}.log", "w", encoding="utf-8") as log:
        try:
            program = build(name, cell, log)
            wrong = [f"{workers} workers: {problem}" for workers in cell.workers
                     if (problem := check(cell, program, workers, log))]
            if name == "release" and (missing := uncalled(ROOT / "build/release")):
                wrong.append(f"not called: {' '.join(missing)}")
        except subprocess.CalledProcessError as error:
            wrong = [f"{error.cmd[0]} failed: see build/conformance/{name}.log"]
    print(f"{'FAILED' if wrong else 'passed'}  {name:20}{time.monotonic() - start:7.1f} s", *wrong[:3], flush=True)
    workers = ", ".join(map(str, cell.workers))
    row = (f"| {cell.machine} | {cell.compiler} {compiler_version(cell)} | {cell.level} | {workers} | "
           f"{'differs' if wrong else 'the same'} |")
    return row, not wrong


def main():
    names = [name for word in sys.argv[1:] or list(CELLS) for name in GROUPS.get(word, [word])]
    if names == ["--list"]:
        print(*CELLS, sep="\n")
        return 0
    if names == ["--update"]:
        with open(os.devnull, "w", encoding="utf-8") as log:
            program = build("release", CELLS["release"], log)
        EXPECTED.write_bytes(subprocess.run([program, "--workers", "1"], capture_output=True, check=True).stdout)
        return 0
    if unknown := [name for name in names if name not in CELLS]:
        sys.exit(f"no such cell: {' '.join(unknown)}")
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "install.log", "w", encoding="utf-8") as log:
        install([CELLS[name] for name in names], log)
    rows = [try_cell(name) for name in names]
    table = ["| machine | compiler | level | workers | hashes |", "|---|---|---|---|---|", *(row for row, _ in rows)]
    (BUILD / "table.md").write_text("\n".join(table) + "\n", encoding="utf-8")
    failed = sum(not fine for _, fine in rows)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
