#!/usr/bin/env python3
"""recipes_test.py SCRATCH_DIR: the recipes of packaging/ whose tools are not here, as far as that is possible.

The functions that the recipes call are replaced by stand-ins, which configure Mica with CMake as the tools would. A recipe that is no valid
program, names an option that CMakeLists.txt does not have, or a file that does not exist, fails. Nothing is built.
"""
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGING = ROOT / "packaging"
VCPKG_STAND_IN = r"""
cmake_minimum_required(VERSION 3.25)
macro(vcpkg_check_features)
    cmake_parse_arguments(arg "" "OUT_FEATURE_OPTIONS" "FEATURES" ${ARGN})
    set(${arg_OUT_FEATURE_OPTIONS})
    while(arg_FEATURES)
        list(POP_FRONT arg_FEATURES feature option)
        if(feature IN_LIST FEATURES)
            list(APPEND ${arg_OUT_FEATURE_OPTIONS} -D${option}=ON)
        else()
            list(APPEND ${arg_OUT_FEATURE_OPTIONS} -D${option}=OFF)
        endif()
    endwhile()
endmacro()
macro(vcpkg_find_acquire_program name)
    find_program(${name} pkg-config REQUIRED)
endmacro()
function(vcpkg_cmake_configure)
    cmake_parse_arguments(arg "" "SOURCE_PATH" "OPTIONS" ${ARGN})
    execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${arg_SOURCE_PATH} -B ${SCRATCH} ${arg_OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_install_copyright)
    cmake_parse_arguments(arg "" "" "FILE_LIST" ${ARGN})
    foreach(file IN LISTS arg_FILE_LIST)
        if(NOT EXISTS ${file})
            message(FATAL_ERROR "no file ${file}")
        endif()
    endforeach()
endfunction()
foreach(name cmake_install cmake_config_fixup fixup_pkgconfig copy_tools)
    cmake_language(EVAL CODE "function(vcpkg_${name})\nendfunction()")
endforeach()
include(${CURRENT_PORT_DIR}/portfile.cmake)
"""


def run(command, what):
    """Runs cmake. A variable that Mica does not know is an error here."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or "not used by the project" in done.stderr:
        sys.exit(f"{what}:\n{done.stdout}\n{done.stderr}")
    print(f"{what}: ok")


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def test_vcpkg(scratch):
    port = PACKAGING / "vcpkg/mica"
    names = list(json.loads((port / "vcpkg.json").read_text(encoding="utf-8"))["features"])
    script = fresh(scratch) / "stand_in.cmake"
    script.write_text(VCPKG_STAND_IN, encoding="utf-8")
    for features in ([], names):
        run(["cmake", f"-DCURRENT_PORT_DIR={port}", f"-DCURRENT_PACKAGES_DIR={scratch}/package", f"-DFEATURES={';'.join(['core', *features])}",
             f"-DSCRATCH={scratch}/{len(features)}", "-DVCPKG_LIBRARY_LINKAGE=static", "-P", str(script)],
            f"vcpkg port in a stand-in, with {', '.join(features) or 'no features'}")


class Settings(types.SimpleNamespace):
    def rm_safe(self, name):
        self.__dict__.pop(name, None)

    def get_safe(self, name):
        return self.__dict__.get(name)


class Component(types.SimpleNamespace):
    def __init__(self):
        super().__init__(libs=[], requires=[], defines=[], system_libs=[], properties={}, components={})

    def set_property(self, name, value):
        self.properties[name] = value


def fake_conan(copied):
    """Modules with what the recipe imports. `copied` gets the patterns of files that it exports."""

    class Toolchain:
        def __init__(self, recipe):
            self.cache_variables = recipe.variables = {}

        def generate(self):
            pass

    def copy(_recipe, pattern, source, _target):
        copied.append((pattern, source))

    modules = {name: types.ModuleType(name) for name in ("conan", "conan.tools", "conan.tools.cmake", "conan.tools.files")}
    modules["conan"].ConanFile = object
    modules["conan.tools.cmake"].__dict__.update(CMake=object, CMakeToolchain=Toolchain, cmake_layout=lambda recipe: None)
    modules["conan.tools.files"].__dict__.update(copy=copy, load=lambda recipe, path: pathlib.Path(path).read_text(encoding="utf-8"),
                                                 rmdir=lambda recipe, path: None)
    return modules


def test_conan(scratch):
    copied = []
    sys.modules.update(fake_conan(copied))
    spec = importlib.util.spec_from_file_location("recipe", PACKAGING / "conan/conanfile.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for is_on in (False, True):
        recipe = module.Mica()
        recipe.recipe_folder, recipe.export_sources_folder = str(PACKAGING / "conan"), str(scratch)
        recipe.settings, recipe.options = Settings(os="Linux"), Settings(**{name: is_on for name in module.Mica.options})
        recipe.requires, recipe.cpp_info = lambda reference: None, Component()
        recipe.cpp_info.components = {part: Component() for part in ("mica", "resource", "json", "sql")}
        for method in ("set_version", "export_sources", "config_options", "configure", "requirements", "layout", "generate", "package_info"):
            getattr(recipe, method)()
        variables = [f"-D{name}={'ON' if value else 'OFF'}" for name, value in recipe.variables.items()]
        # What it exports is all that CMake needs.
        tree = fresh(scratch / f"tree_{is_on}")
        for pattern, source in copied:
            fixed, star, _ = pattern.partition("*")
            place = pathlib.Path(source).resolve() / fixed
            found = [path for path in (place.rglob("*") if star else [place]) if path.is_file()]
            if not found:
                sys.exit(f"Conan recipe: there is no {pattern}")
            for path in found:
                target = tree / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
        run(["cmake", "-G", "Ninja", "-S", str(tree), "-B", str(tree / "build"), *variables, f"-DBUILD_SHARED_LIBS={'ON' if is_on else 'OFF'}"],
            f"Conan recipe {recipe.version} in a stand-in, with all options {'on' if is_on else 'off'}")


def main():
    scratch = pathlib.Path(sys.argv[1]).resolve()
    subprocess.run([sys.executable, str(PACKAGING / "sources.py"), "--check"], check=True)
    test_vcpkg(scratch / "vcpkg")
    test_conan(scratch / "conan")


if __name__ == "__main__":
    main()
