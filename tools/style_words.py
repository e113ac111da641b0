"""Words that the style program rejects in headers, sources and documentation, and what to write instead."""
import re

from style_source import Violation

# Pattern, what to write instead. A blank also matches an underscore, because names are made of words too.
WORDS = (
    ("behind", "after, or below"),
    ("who|whom|whoever", "what, which or that; or name the caller, the system, the reader"),
    ("nobody|somebody|everybody|anybody|someone", "nothing, or name the caller, the system, the reader"),
    ("(?:is|are|be|becomes?|was|were|stays?) void(?! ?\\*)", "is invalid"),
    ("farewell|latecomers?", "destructor, or name the event"),
    ("the house", "the project"),
    ("as it lies|as they lie", "in place"),
    ("makes? no sense", "is invalid, and say what was expected"),
    ("nothing such|none such", "none"),
    ("but for|all but", "except for, all except"),
    ("as said", "name the rule"),
    ("what there is", "name it"),
    ("has a word|a word to say|something to say|have to say|has to say", "name the message"),
    ("goes on|go on", "continues"),
    ("is gone|are gone", "was destroyed, or was removed"),
    ("in its stead|instead whereof|thereof|whence|thence|hither", "plain English"),
)
PATTERN = re.compile("|".join(f"(?P<word{number}>(?<![A-Za-z])(?:{pattern.replace(' ', '[ _]')})(?![A-Za-z]))"
                              for number, (pattern, _) in enumerate(WORDS)), re.IGNORECASE)

READ = ("include", "src", "docs", "examples", "playground", "python")  # what users and readers of the source see
TESTS = ("tests", "bench", "tools", "cmake")
SUFFIXES = (".c", ".h", ".cpp", ".hpp", ".py", ".sh", ".cmake", ".md", ".1", ".txt")


def check_file(root, path, rule):
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        for match in PATTERN.finditer(line):
            suggestion = WORDS[int(match.lastgroup.removeprefix("word"))][1]
            yield Violation(rule, path.relative_to(root).as_posix(), number, match.group(0), f'"{match.group(0)}": write {suggestion}')


def check(root, skipped):
    """Yields a violation per word: rule `words` for headers, sources and documentation, `test-words` for the rest."""
    for rule, folders in (("words", READ), ("test-words", TESTS)):
        paths = [path for folder in folders for path in sorted((root / folder).rglob("*"))]
        if rule == "words":
            paths += sorted(root.glob("*.md"))
        for path in paths:
            if path.suffix in SUFFIXES and path.is_file() and path.relative_to(root).as_posix() not in skipped:
                yield from check_file(root, path, rule)
