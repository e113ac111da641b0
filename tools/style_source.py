"""A source file as the style program sees it."""
import collections
import re

NAME_BEFORE_PARENTHESIS = re.compile(r"\b(\w+)\s*\(")

Violation = collections.namedtuple("Violation", "rule path line name message")


class Source:
    """A file with its lines, and the same lines with comments and strings replaced by blanks."""

    def __init__(self, root, path):
        self.path = path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.splitlines()
        blank = lambda match: re.sub(r"[^\n]", " ", match.group(0))
        code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, self.text, flags=re.DOTALL)
        self.code = code.splitlines()

    def functions(self):
        """Yields (name, first line, last line, signature) of each function. Its braces are in the first column."""
        start = None
        for index, line in enumerate(self.code):
            if line.rstrip() == "{":
                start = index
                while start > 0 and self.code[start - 1].strip() and self.code[start - 1][0] not in "}#" \
                        and not self.code[start - 1].rstrip().endswith(";"):
                    start -= 1
                signature = " ".join(self.code[start:index])
                brace = index
            elif line.startswith("}") and start is not None:
                named = NAME_BEFORE_PARENTHESIS.search(re.sub(r"__attribute__\(\(.*?\)\)|MICAP_FORMAT\(.*?\)", "", signature))
                if named and not re.search(r"\b(struct|union|enum)\s*\w*\s*$", signature):
                    name = named.group(1)
                    if name == "START_TEST":
                        name = re.search(r"\(\s*(\w+)", signature).group(1)
                    yield name, min(start, brace) + 1, index + 1, signature
                start = None
