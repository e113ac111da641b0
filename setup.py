"""Builds the Python package: CMake builds the extension module mica._native with all of Mica in it. See docs/guide/python.md."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent


def version():
    return re.search(r"project\(mica VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)


class BuildNative(build_ext):
    """Builds the extension module with CMake instead of a list of files."""

    def run(self):
        folder = pathlib.Path(os.environ.get("MICA_PYTHON_BUILD", pathlib.Path(self.build_temp) / "cmake")).resolve()
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), *generator, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
                        "-DMICA_PYTHON=ON", f"-DMICA_PYTHON_PROGRAM={sys.executable}", "-DMICA_SQL=ON", "-DMICA_ARROW=ON", "-DMICA_JSON=OFF", "-DMICA_LUA=OFF", "-DMICA_TESTS=OFF",
                        "-DMICA_CONFORMANCE=OFF", "-DMICA_EXAMPLES=OFF", "-DMICA_BENCH=OFF"], check=True)
        subprocess.run(["cmake", "--build", str(folder), "--target", "mica_python", "--parallel", "2"], check=True)
        package = ROOT / "python" if self.inplace else pathlib.Path(self.build_lib)
        (package / "mica").mkdir(parents=True, exist_ok=True)
        shutil.copy2(folder / "_native.abi3.so", package / "mica")

    def get_outputs(self):
        return [str(pathlib.Path(self.build_lib) / "mica" / "_native.abi3.so")]


setup(version=version(), ext_modules=[Extension("mica._native", [], py_limited_api=True)], cmdclass={"build_ext": BuildNative},
      options={"bdist_wheel": {"py_limited_api": "cp39"}})
