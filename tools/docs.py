#!/usr/bin/env python3
"""Builds the site in build/docs: the pages of docs, the README as its front, the examples, and the headers by doxygen.

    docs.py [--check]         with --check, only the links; that needs neither mkdocs nor doxygen

The pages are written to be read in the repository, with links to sources. Here they are gathered in build/docs_source, links
to headers and examples becoming links to the pages of these. A link that leads nowhere is an error, as is any warning.
"""
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STAGE = ROOT / "build/docs_source"
SITE = ROOT / "build/docs"
PLAYGROUND = ROOT / "build/playground"

# Pages that lie elsewhere in the repository, and folders that have a page instead.
ELSEWHERE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "LICENSE": "license.md",
    "include/mica": "reference.md",
    "examples": "examples/index.md",
    "docs/mica.1": "tool.md",
    "playground/page/index.html": "playground/index.html",
}
LINK = re.compile(r"""(\]\(|\bsrc=")([^)\s#"]*)(?:#([^)\s]*))?([)"])""")
FENCES = {".c": "c", ".h": "c", ".cpp": "cpp", ".py": "python", ".sh": "sh", ".json": "json"}

# The reading order of the headers; what is not named here comes last.
SECTIONS = (
    ("The core", "mica base world handle entity describe component query view command"),
    ("More of the core", "bulk batch pool split singleton ref name hook removal"),
    ("Systems", "flow system frame task random stats"),
    ("Communication", "stream message request observer"),
    ("Relations, hierarchy, indexes and mathematics", "relation hierarchy transform index math"),
    ("Snapshots and differences", "snapshot history delta hash record"),
    ("Resources", "resource compile library reload prefab draft module"),
)
HIDDEN = ("for_each.h",)


class Broken(Exception):
    pass


def target_of(path):
    """Returns the page of a path of the repository: of a source without one, a page that shows it."""
    if path in ELSEWHERE:
        return ELSEWHERE[path]
    header = re.fullmatch(r"include/mica/(\w+)\.(h|hpp)", path)
    if header:
        name = header.group(1).replace("_", "__")  # as doxygen names its pages
        return f"api/{name}_8{header.group(2)}.html"
    example = re.fullmatch(r"examples/(\w+)\.(c|cpp)", path)
    if example:
        return f"examples/{example.group(1)}.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"source/{path}.md" if pathlib.PurePosixPath(path).suffix in FENCES else None


def anchors_of(path):
    """Returns the anchors that mkdocs gives to the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / path).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def rewrite(text, source, page):
    """Returns a page with its links, which are relative to where it lies in the repository, turned to the site."""

    def turn(match):
        start, link, anchor, end = match.groups()
        if "://" in link or link.startswith("mailto:"):
            return match.group(0)
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link)) if link else source
        target = target_of(path) if (ROOT / path).exists() else None
        if not target or (anchor and anchor not in anchors_of(path)):
            raise Broken(f"{source}: the link to {link}{'#' + anchor if anchor else ''} leads nowhere on the site")
        if target.startswith("source/"):
            fence = FENCES[pathlib.PurePosixPath(path).suffix]
            write(target, f"# {path}\n\n```{fence}\n{(ROOT / path).read_text(encoding='utf-8')}```\n")
        turned = posixpath.relpath(target, posixpath.dirname(page) or ".") if link else ""
        return f"{start}{turned}{'#' + anchor if anchor else ''}{end}"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else LINK.sub(turn, part) for part in parts)


def write(page, text):
    path = STAGE / page
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def stage_pages():
    for path in sorted((ROOT / "docs").rglob("*")):
        page = path.relative_to(ROOT / "docs").as_posix()
        if page.startswith("site/"):
            continue
        if path.suffix == ".md":
            write(page, rewrite(path.read_text(encoding="utf-8"), f"docs/{page}", page))
        elif path.suffix in (".svg", ".png", ".gif"):
            (STAGE / page).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, STAGE / page)
    for source, page in ELSEWHERE.items():
        if source.endswith(".md"):
            write(page, rewrite((ROOT / source).read_text(encoding="utf-8"), source, page))
    shutil.copy(ROOT / "docs/site/site.css", STAGE)
    write("license.md", "# Licence\n\n" + (ROOT / "LICENSE").read_text(encoding="utf-8"))


def opening_comment(path):
    """Returns the first paragraph of the comment at the top of a source, as one line."""
    text = path.read_text(encoding="utf-8")
    comment = re.match(r"/\*(.*?)\*/|((?://[^\n]*\n)+)", text, flags=re.DOTALL)
    words = re.sub(r"^\s*(\*|//) ?", "", comment.group(1) or comment.group(2), flags=re.MULTILINE)
    return " ".join(words.strip().split("\n\n")[0].split())


def stage_examples():
    rows = []
    for path in sorted([*(ROOT / "examples").glob("*.c"), *(ROOT / "examples").glob("*.cpp")]):
        name, what = path.stem, opening_comment(path)
        language = path.suffix[1:]
        text = f"# {path.name}\n\n{what}\n\n```{language}\n{path.read_text(encoding='utf-8')}```\n"
        expected = ROOT / f"examples/expected/{name}.txt"
        if expected.exists():
            text += f"\nIt prints:\n\n```text\n{expected.read_text(encoding='utf-8')}```\n"
        write(f"examples/{name}.md", text)
        rows.append(f"| [{path.name}]({name}.md) | {what} |")
    table = "\n".join(["| program | |", "|---|---|", *rows])
    write("examples/index.md", f"# Examples\n\nEach is one file and shows one thing. Those that print are run in continuous "
                               f"integration, and must print what is shown here.\n\n{table}\n")


def first_sentence(path):
    text = re.sub(r"^Mica(, \w+| for C\+\+17)?: ", "", opening_comment(path))
    sentence = re.match(r".*?[.:](?= [A-Z]|$)", text)
    sentence = (sentence.group(0) if sentence else text).rstrip(":.") + "."
    return (sentence[0].upper() + sentence[1:]).replace("|", "\\|")


def stage_reference():
    folder = ROOT / "include/mica"
    left = {path.stem: path for path in sorted(folder.glob("*.h")) if path.name not in HIDDEN}
    lines = ["# The headers", "", "One noun per header. Each begins with what it is for and how it is used; each function says "
             "what it returns when it can't, how long its pointers live, and from which thread it may be called.", ""]

    def section(title, paths):
        if paths:
            lines.extend([f"## {title}", "", "| header | |", "|---|---|"])
            lines.extend(f"| [mica/{p.name}]({target_of(f'include/mica/{p.name}')}) | {first_sentence(p)} |" for p in paths)
            lines.append("")

    for title, names in SECTIONS:
        section(title, [left.pop(name) for name in names.split() if name in left])
    section("Further", list(left.values()))
    section("C++", sorted(folder.glob("*.hpp")))
    write("reference.md", "\n".join(lines))


def stage_manual():
    """The manual page of the tool, as HTML within a page."""
    done = subprocess.run(["mandoc", "-W", "error,stop", "-T", "html", "-O", "fragment", "docs/mica.1"], cwd=ROOT,
                          stdout=subprocess.PIPE, text=True, check=False)
    html = re.sub(r'<table class="(head|foot)">.*?</table>\n', "", done.stdout, flags=re.DOTALL)
    html = re.sub(r'<a class="permalink" [^>]*>(.*?)</a>', r"\1", html, flags=re.DOTALL)
    html = re.sub(r'<h1 class="Sh"([^>]*)>(.*?)</h1>', lambda m: f"<h2{m.group(1)}>{m.group(2).capitalize()}</h2>", html)
    write("tool.md", f"# The tool\n\n{html}")
    return done.returncode


def stage_playground():
    """Builds the playground if Emscripten is there. Else an older one is used, or a page that says how to build it."""
    failed = shutil.which("emcc") and subprocess.run(["python3", "tools/playground.py", "build"], cwd=ROOT, check=False).returncode
    if PLAYGROUND.exists():
        shutil.copytree(PLAYGROUND, STAGE / "playground", dirs_exist_ok=True)
    else:
        write("playground/index.html", "<!DOCTYPE html><title>Mica playground</title><p>The playground was not built: run <code>make playground</code>, "
                                       "then <code>make docs</code>.</p>\n")
    return failed or 0


def run_doxygen():
    configuration = (ROOT / "docs/site/Doxyfile").read_text(encoding="utf-8") + f"\nOUTPUT_DIRECTORY = {STAGE}\n"
    return subprocess.run(["doxygen", "-"], cwd=ROOT, input=configuration, text=True, check=False).returncode


def main():
    shutil.rmtree(STAGE, ignore_errors=True)
    STAGE.mkdir(parents=True)
    try:
        stage_pages()
    except Broken as error:
        sys.exit(str(error))
    stage_examples()
    stage_reference()
    if "--check" in sys.argv[1:]:
        return 0
    failed = stage_manual() or stage_playground() or run_doxygen()
    # Hides Python's warnings about the packages that mkdocs depends on.
    environment = dict(os.environ, PYTHONWARNINGS="ignore")
    failed = failed or subprocess.run(["mkdocs", "build", "--strict", "--quiet", "--config-file", "docs/site/mkdocs.yml"],
                                      cwd=ROOT, env=environment, check=False).returncode
    if not failed:
        print(f"the site is in {SITE.relative_to(ROOT)}: open {SITE.relative_to(ROOT)}/index.html")
    return failed


if __name__ == "__main__":
    sys.exit(main())
