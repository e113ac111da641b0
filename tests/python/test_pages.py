"""The samples of the guide and of the README run, and the examples print what is expected."""
import pathlib
import re
import subprocess
import sys
import tempfile
import os
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Pages(unittest.TestCase):
    def check_page(self, path):
        blocks = BLOCK.findall((ROOT / path).read_text(encoding="utf-8"))
        self.assertTrue(blocks, path)
        names = {"__name__": path}
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for block in blocks:
                    exec(compile(block, path, "exec"), names)  # pylint: disable=exec-used
            finally:
                os.chdir(before)

    def test_samples_of_the_guide_run(self):
        self.check_page("docs/guide/python.md")

    def test_samples_of_the_readme_run(self):
        self.check_page("README.md")

    def test_examples_print_what_is_expected(self):
        for path in sorted((ROOT / "examples/python").glob("*.py")):
            with self.subTest(path.name):
                done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=60, check=False)
                expected = (path.parent / "expected" / f"{path.stem}.txt").read_text(encoding="utf-8")
                self.assertEqual((done.stdout, done.stderr), (expected, ""))

    def test_models_have_fewer_than_80_lines(self):
        for path in (ROOT / "examples/python").glob("*.py"):
            self.assertLess(len(path.read_text(encoding="utf-8").splitlines()), 80, path.name)


if __name__ == "__main__":
    unittest.main()
