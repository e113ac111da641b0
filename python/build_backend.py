#!/usr/bin/env python3
"""Builds the Python package: the part of pyproject.toml that pip calls (PEP 517 and PEP 660).

    build_backend.py wheel FOLDER       write a wheel
    build_backend.py sdist FOLDER       write a source archive

It needs nothing but Python's own library, CMake, a C compiler and cffi, which reads the headers. pip builds packages in an environment
without the packages of the system, and fetches what they require into it. This package requires nothing there if an interpreter outside
has cffi, so `pip install .` works without network. Equal sources give equal archives.
"""
import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = "mica_ecs"
SUMMARY = "A data-oriented Entity Component System: columns as NumPy arrays, snapshots, recordings, SQL"
PYTHON = "3.9"
RUNTIME = ("numpy", "cffi")
TAG = f"cp{PYTHON.replace('.', '')}-abi3"
# What the build reads.
SOURCES = ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "pyproject.toml", "cmake/*", "include/mica/*.h",
           "include/mica/*.hpp", "src/**/*.[ch]", "python/*.[ch]", "python/*.py", "python/mica/*.py", "python/mica/*.pyi", "python/mica/py.typed")
TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip file can have


def version():
    return re.search(r"project\(mica VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)


def metadata():
    head = ["Metadata-Version: 2.1", f"Name: {NAME.replace('_', '-')}", f"Version: {version()}", f"Summary: {SUMMARY}", "License: MIT",
            f"Requires-Python: >={PYTHON}", *(f"Requires-Dist: {name}" for name in RUNTIME), "Description-Content-Type: text/markdown"]
    return "\n".join(head) + "\n\n" + (ROOT / "README.md").read_text(encoding="utf-8")


# Interpreters with cffi

def clean_environment():
    """The environment without what pip adds to hide the packages of the system."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONNOUSERSITE")}


def has_cffi(program, environment):
    command = [program, "-c", "import cffi, pycparser"]
    return subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0


def generator():
    """An interpreter that can read the headers, and its environment: this one, with or without what pip installed for it, or that of the
    system. None if there is none. It only writes C source, so it need not be the one that the package is for."""
    programs = [(sys.executable, dict(os.environ)), (sys.executable, clean_environment()), ("/usr/bin/python3", clean_environment())]
    return next((item for item in programs if shutil.which(item[0]) and has_cffi(*item)), None)


def get_requires_for_build_wheel(config_settings=None):
    del config_settings
    return [] if generator() else ["cffi"]


def get_requires_for_build_sdist(config_settings=None):
    del config_settings
    return []


get_requires_for_build_editable = get_requires_for_build_wheel


# Archives

def build_native():
    """Builds the extension module with CMake. Returns its path."""
    found = generator()
    if not found:
        raise SystemExit("mica: no Python with cffi was found, which the build needs to read the headers. Install it with "
                         "`apt install python3-cffi` or `pip install cffi`")
    program, environment = found
    folder = pathlib.Path(os.environ.get("MICA_PYTHON_BUILD", ROOT / "build" / "python")).resolve()
    tool = ["-G", "Ninja"] if shutil.which("ninja") and not (folder / "CMakeCache.txt").exists() else []
    include = sysconfig.get_paths()["include"]
    subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), *tool, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
                    "-DMICA_PYTHON=ON", f"-DMICA_PYTHON_PROGRAM={program}", f"-DMICA_PYTHON_INCLUDE={include}", "-DMICA_SQL=ON",
                    "-DMICA_ARROW=ON", "-DMICA_JSON=OFF", "-DMICA_LUA=OFF", "-DMICA_TESTS=OFF", "-DMICA_CONFORMANCE=OFF",
                    "-DMICA_EXAMPLES=OFF", "-DMICA_BENCH=OFF"], check=True, env=environment)
    subprocess.run(["cmake", "--build", str(folder), "--target", "mica_python", "--parallel", "2"], check=True, env=environment)
    return folder / "_native.abi3.so"


def package_files():
    """The files of the package that are not built: name in the wheel and content."""
    for path in sorted((ROOT / "python" / "mica").iterdir()):
        if path.suffix in (".py", ".pyi") or path.name == "py.typed":
            yield f"mica/{path.name}", path.read_bytes()


def write_wheel(folder, files):
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    name, tag, information = f"{NAME}-{version()}", f"{TAG}-{platform}", f"{NAME}-{version()}.dist-info"
    files = [*files, (f"{information}/LICENSE", (ROOT / "LICENSE").read_bytes()), (f"{information}/METADATA", metadata().encode()),
             (f"{information}/WHEEL", f"Wheel-Version: 1.0\nGenerator: mica {version()}\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())]
    record = []
    with zipfile.ZipFile(pathlib.Path(folder) / f"{name}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(path, content):
            entry = zipfile.ZipInfo(path, TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o755 if path.endswith(".so") else 0o644) << 16
            wheel.writestr(entry, content)
        for path, content in files:
            add(path, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}\n")
        add(f"{information}/RECORD", ("".join(record) + f"{information}/RECORD,,\n").encode())
    return f"{name}-{tag}.whl"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    del config_settings, metadata_directory
    native = build_native()
    return write_wheel(wheel_directory, [*package_files(), (f"mica/{native.name}", native.read_bytes())])


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """A wheel that refers to the source tree; the extension module is copied there."""
    del config_settings, metadata_directory
    native = build_native()
    shutil.copy2(native, ROOT / "python" / "mica")
    return write_wheel(wheel_directory, [(f"{NAME}.pth", f"{ROOT / 'python'}\n".encode())])


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    del config_settings
    folder = pathlib.Path(metadata_directory) / f"{NAME}-{version()}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(metadata(), encoding="utf-8")
    (folder / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: mica {version()}\nRoot-Is-Purelib: false\n", encoding="utf-8")
    return folder.name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def source_files():
    return sorted({path for pattern in SOURCES for path in ROOT.glob(pattern) if path.is_file()})


def build_sdist(sdist_directory, config_settings=None):
    del config_settings
    name = f"{NAME}-{version()}"
    contents = [("PKG-INFO", metadata().encode())] + [(path.relative_to(ROOT).as_posix(), path.read_bytes()) for path in source_files()]
    with open(pathlib.Path(sdist_directory) / f"{name}.tar.gz", "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, content in contents:
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return f"{name}.tar.gz"


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("wheel", "sdist"):
        raise SystemExit(__doc__)
    pathlib.Path(sys.argv[2]).mkdir(parents=True, exist_ok=True)
    print((build_wheel if sys.argv[1] == "wheel" else build_sdist)(sys.argv[2]))


if __name__ == "__main__":
    main()
