"""Conan 2 recipe of the repository that this folder is in: conan create packaging/conan"""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir


class Mica(ConanFile):
    name = "mica"
    license = "MIT"
    description = "A data-oriented Entity Component System"
    topics = ("ecs", "simulation", "games")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False], "checked": [True, False], "resource": [True, False], "json": [True, False],
               "sql": [True, False]}
    default_options = {"shared": False, "fPIC": True, "checked": False, "resource": False, "json": False, "sql": False}
    generators = "PkgConfigDeps"

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        self.version = re.search(r"project\(mica VERSION ([\d.]+)", load(self, os.path.join(self._root, "CMakeLists.txt"))).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "docs/mica.1", "tools/completion/*", "tools/debugger/*",
                        "inspect/missing.html"):
            copy(self, pattern, self._root, self.export_sources_folder)

    def config_options(self):
        if self.settings.os == "Windows":
            del self.options.fPIC

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")
        if self.options.json:
            self.options.resource = True
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")

    def requirements(self):
        if self.options.resource:
            self.requires("xxhash/[>=0.8]")
            self.requires("zstd/[>=1.5]")
        if self.options.json:
            self.requires("jansson/[>=2.14]")
        if self.options.sql:
            self.requires("sqlite3/[>=3.40]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("CHECKED", "RESOURCE", "JSON", "SQL"):
            toolchain.cache_variables[f"MICA_{part}"] = bool(self.options.get_safe(part.lower()))
        for part in ("INSPECT", "CLUSTER", "LUA", "PYTHON", "TESTS", "CONFORMANCE", "EXAMPLES", "BENCH"):
            toolchain.cache_variables[f"MICA_{part}"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "mica")
        needs = {"mica": [], "resource": ["mica", "xxhash::xxhash", "zstd::zstd"], "json": ["resource", "jansson::jansson"],
                 "sql": ["mica", "sqlite3::sqlite3"]}
        for part, requires in needs.items():
            if part != "mica" and not self.options.get_safe(part):
                continue
            component = self.cpp_info.components[part]
            component.libs = ["mica" if part == "mica" else f"mica_{part}"]
            component.requires = requires
            component.set_property("cmake_target_name", f"mica::{part}")
            component.set_property("pkg_config_name", component.libs[0])
            if self.options.checked:
                component.defines.append("MICA_CHECKED=1")
            if self.options.shared:
                component.defines.append("MICA_SHARED")
            elif self.settings.os != "Windows":
                component.system_libs.append("pthread")
