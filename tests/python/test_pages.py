"""The samples of the guide and of the README run, and the examples print what is expected."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

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

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")
    def test_examples_draw_pictures(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in sorted((ROOT / "examples/python").glob("*.py")):
                picture = pathlib.Path(folder) / f"{path.stem}.png"
                done = subprocess.run([sys.executable, path, picture], capture_output=True, text=True, timeout=120, check=False,
                                      env={**os.environ, "MPLBACKEND": "Agg", "MPLCONFIGDIR": folder})
                with self.subTest(path.name):
                    self.assertEqual(done.returncode, 0, done.stderr)
                    from matplotlib.image import imread
                    pixels = imread(picture)
                    _colours, counts = np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0, return_counts=True)
                    self.assertGreater(1 - counts.max() / counts.sum(), 0.01, "the picture is nearly empty")

    def test_models_have_fewer_than_80_lines(self):
        for path in (ROOT / "examples/python").glob("*.py"):
            self.assertLess(len(path.read_text(encoding="utf-8").splitlines()), 80, path.name)


if __name__ == "__main__":
    unittest.main()
