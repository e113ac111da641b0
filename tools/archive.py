#!/usr/bin/env python3
"""Writes the archives of a version, with checksums: the source tree, and the core in two files.

    archive.py FOLDER      FOLDER has mica.h and mica.c already; adds
        mica-VERSION.tar.gz               the source tree: the files that git knows; all except build/ if it is no repository
        mica-VERSION-two-files.tar.gz     mica.h, mica.c and the licence
        mica.wrap                         for Meson, with the checksum of the first
        SHA256SUMS                        of all of these

The same files result in the same bytes on every machine, at any time.
"""
import gzip
import hashlib
import io
import pathlib
import re
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TWO_FILES = ("mica.h", "mica.c", "LICENSE")
EXECUTABLE = 0o111


def version():
    return re.search(r"project\(mica VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)


def source_files():
    """The files of the tree, as paths from its root."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
        names = set(listed.stdout.decode().split("\0")) - {""}
    else:
        names = {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")}
        names = {name for name in names if not name.startswith("build/") and "__pycache__" not in name}
    return sorted(name for name in names if (ROOT / name).is_file())


def write_archive(path, top, files):
    """Writes `files`, pairs of a name and a path, into a folder `top`. Owners, times and modes that depend on the machine are left out."""
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, source in files:
            entry = tarfile.TarInfo(f"{top}/{name}")
            data = source.read_bytes()
            entry.size = len(data)
            entry.mode = 0o755 if source.stat().st_mode & EXECUTABLE else 0o644
            archive.addfile(entry, io.BytesIO(data))
    with open(path, "wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
        packed.write(memory.getvalue())


def checksum(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def wrap_text(top, archive):
    """Meson takes the archive from subprojects/packagefiles unless a source_url is added."""
    return (f"[wrap-file]\ndirectory = {top}\nsource_filename = {archive.name}\nsource_hash = {checksum(archive)}\n\n"
            "[provide]\ndependency_names = mica, mica_resource, mica_json, mica_sql\n")


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    top = f"mica-{version()}"
    sources, two_files, wrap = folder / f"{top}.tar.gz", folder / f"{top}-two-files.tar.gz", folder / "mica.wrap"
    write_archive(sources, top, [(name, ROOT / name) for name in source_files()])
    write_archive(two_files, f"{top}-two-files", [(name, folder / name) for name in TWO_FILES])
    wrap.write_text(wrap_text(top, sources), encoding="utf-8")
    sums = [f"{checksum(path)}  {path.name}\n" for path in sorted((sources, two_files, wrap, folder / "mica.c", folder / "mica.h"))]
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")


if __name__ == "__main__":
    main()
