"""The build of the package: archives, and what it asks for."""
import base64
import hashlib
import importlib.util
import pathlib
import tarfile
import tempfile
import unittest
import unittest.mock
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# By path: the folder also has the sources of the package, and the installed one is tested.
_spec = importlib.util.spec_from_file_location("build_backend", ROOT / "python" / "build_backend.py")
build_backend = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(build_backend)


class Build(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_nothing_is_fetched_where_the_system_has_cffi(self):
        self.assertEqual(build_backend.get_requires_for_build_wheel(), [])
        self.assertEqual(build_backend.get_requires_for_build_sdist(), [])

    def test_without_cffi_pip_fetches_it_and_a_build_says_what_is_missing(self):
        with unittest.mock.patch.object(build_backend, "has_cffi", lambda *_: False):
            self.assertEqual(build_backend.get_requires_for_build_wheel(), ["cffi"])
            with self.assertRaisesRegex(SystemExit, "no Python with cffi was found.*apt install python3-cffi"):
                build_backend.build_wheel(self.folder)

    def test_a_wheel_lists_its_files_with_their_hashes(self):
        name = build_backend.write_wheel(self.folder, [*build_backend.package_files(), ("mica/_native.abi3.so", b"native")])
        first = (self.folder / name).read_bytes()
        build_backend.write_wheel(self.folder, [*build_backend.package_files(), ("mica/_native.abi3.so", b"native")])
        self.assertEqual(first, (self.folder / name).read_bytes())
        with zipfile.ZipFile(self.folder / name) as wheel:
            names = wheel.namelist()
            information = f"mica_ecs-{build_backend.version()}.dist-info"
            self.assertLessEqual({"mica/__init__.py", "mica/py.typed", "mica/_views.pyi", "mica/_native.abi3.so"}, set(names))
            record = dict(line.rsplit(",", 2)[:2] for line in wheel.read(f"{information}/RECORD").decode().splitlines())
            self.assertEqual(sorted(record), sorted(names))
            for path in set(names) - {f"{information}/RECORD"}:
                digest = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(path)).digest()).rstrip(b"=").decode()
                self.assertEqual(record[path], f"sha256={digest}", path)
            self.assertIn("\nRequires-Dist: cffi\n", wheel.read(f"{information}/METADATA").decode())

    def test_equal_sources_give_equal_archives(self):
        name = build_backend.build_sdist(self.folder)
        first = (self.folder / name).read_bytes()
        build_backend.build_sdist(self.folder)
        self.assertEqual(first, (self.folder / name).read_bytes())
        with tarfile.open(self.folder / name) as archive:
            self.assertIn(f"mica_ecs-{build_backend.version()}/PKG-INFO", archive.getnames())

    def test_metadata_is_there_before_the_build(self):
        folder = self.folder / build_backend.prepare_metadata_for_build_wheel(self.folder)
        self.assertIn(f"\nVersion: {build_backend.version()}\n", (folder / "METADATA").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
