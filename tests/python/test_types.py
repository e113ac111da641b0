"""Types and documentation of the package: what type checkers and readers see is what is there."""
import ast
import importlib
import inspect
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import mica

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = pathlib.Path(mica.__file__).resolve().parent
MODULES = sorted(path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__")
MYPY = ["mypy", "--python-version", "3.9", "--strict", "--allow-any-generics", "--allow-untyped-decorators", "--no-warn-return-any",
        "--python-executable", sys.executable, "--no-error-summary", "--hide-error-codes", "--cache-dir", "/dev/null"]
KNOWN_METHODS = ("__new__", "__iter__", "__next__")


def is_of(module, item):
    return getattr(item, "__module__", "") == module.__name__


def is_generated(function):
    """Whether dataclasses made it."""
    return function.__code__.co_filename == "<string>" or "dataclasses" in function.__code__.co_filename or hasattr(function, "__wrapped__")


def functions_of(cls):
    """The functions that a class defines, also those of properties and static methods."""
    for name, item in vars(cls).items():
        item = item.fget if isinstance(item, property) else getattr(item, "__wrapped__", getattr(item, "__func__", item))
        if inspect.isfunction(item) and item.__module__ == cls.__module__ and item.__name__ == name and not is_generated(item):
            yield name, item


class Types(unittest.TestCase):
    def everything(self):
        """Every function and class of the package, with its name."""
        for name in MODULES:
            module = importlib.import_module(f"mica.{name}")
            for key, item in vars(module).items():
                if is_of(module, item) and inspect.isclass(item):
                    yield f"{name}.{key}", item
                    for part, function in functions_of(item):
                        yield f"{name}.{key}.{part}", function
                elif is_of(module, item) and inspect.isfunction(item):
                    yield f"{name}.{key}", item

    def test_every_public_function_and_class_is_documented(self):
        missing = [name for name, item in self.everything()
                   if not any(part.startswith("_") for part in name.split(".")) and not inspect.getdoc(item)]
        self.assertEqual(missing, [])
        self.assertTrue(all(inspect.getdoc(importlib.import_module(f"mica.{name}")) for name in MODULES))

    def test_every_function_has_types(self):
        missing = []
        for name, item in self.everything():
            if inspect.isfunction(item) and name not in ("types.dataclass_transform", "column.method"):
                signature = inspect.signature(item)
                untyped = [key for key, parameter in signature.parameters.items()
                           if key not in ("self", "cls") and parameter.annotation is inspect.Parameter.empty]
                if untyped or signature.return_annotation is inspect.Signature.empty:
                    missing.append(name)
        self.assertEqual(missing, [])
        self.assertTrue((PACKAGE / "py.typed").exists())

    def test_all_names_are_listed(self):
        for name in mica.__all__:
            self.assertTrue(hasattr(mica, name), name)
        public = {name for name, item in vars(mica).items() if not name.startswith("_") and not inspect.ismodule(item)}
        self.assertEqual(sorted(mica.__all__), sorted(public))

    def test_the_stub_of_the_c_part_has_what_is_there(self):
        from mica import loop
        tree = ast.parse((PACKAGE / "_views.pyi").read_text(encoding="utf-8"))
        described = {}
        for item in tree.body:
            if isinstance(item, ast.ClassDef):
                described[item.name] = {getattr(part, "name", None) or part.target.id for part in item.body
                                        if isinstance(part, (ast.FunctionDef, ast.AnnAssign))}
            elif isinstance(item, ast.FunctionDef):
                described[item.name] = None
        module = loop._views
        self.assertEqual(set(described), {name for name in vars(module) if not name.startswith("__")})
        for name, parts in described.items():
            if parts is not None:
                there = {part for part in vars(getattr(module, name)) if not part.startswith("__") or part in KNOWN_METHODS}
                self.assertEqual(parts, there, name)

    def test_c_types_refuse_wrong_arguments(self):
        from mica import loop
        for kind in (loop.Guard, loop.Columns, loop.Views):
            with self.subTest(kind), self.assertRaises(TypeError):
                kind()
        for arguments in ((), (1, 2, 3)):
            with self.assertRaises(TypeError):
                loop.connect(*arguments)
        with self.assertRaises(TypeError):
            mica.View()._move(1, "x")

    @unittest.skipUnless(shutil.which("mypy"), "mypy is not installed")
    def test_the_type_checker_finds_no_error_in_the_package(self):
        done = subprocess.run([*MYPY, PACKAGE], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout + done.stderr, "")

    @unittest.skipUnless(shutil.which("mypy"), "mypy is not installed")
    def test_the_type_checker_understands_programs(self):
        done = subprocess.run([*MYPY, "typed_program.py"], capture_output=True, text=True, check=False, cwd=HERE)
        wanted = {}
        for number, line in enumerate((HERE / "typed_program.py").read_text(encoding="utf-8").splitlines(), 1):
            if "# error: " in line:
                wanted[number] = line.split("# error: ")[1]
        # Versions before 1.1 do not know dataclass_transform, and see no constructor.
        found = [re.match(r"typed_program\.py:(\d+): error: (.*)", line) for line in done.stdout.splitlines() if "Too many arguments for" not in line]
        self.assertTrue(all(found), done.stdout + done.stderr)
        self.assertEqual([int(match.group(1)) for match in found], sorted(wanted), done.stdout)
        for match in found:
            self.assertIn(wanted[int(match.group(1))], match.group(2))


if __name__ == "__main__":
    unittest.main()
