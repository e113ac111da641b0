#!/usr/bin/env python3
"""Turns the plain comments of a public header into those that doxygen reads, on standard output.

    doxygen_filter.py HEADER

The headers are written to be read as they are. What a comment belongs to follows from where it stands: at the top of the
file, above a declaration, or after a field. Indented lines are code. A comment that several declarations share is
repeated for each, and a macro that calls a function says so.
"""
import pathlib
import re
import sys

DECLARATION = re.compile(r"\s*(MICA_API|MICA_EXPORT|extern|static inline|typedef|struct|enum|template|class|#\s*define|explicit|"
                         r"inline|[\w:<>*& ]+\()")
BODY = re.compile(r"^(typedef\s+)?(struct|enum|class|template.*\bclass)\b[^;]*\{\s*(/\*.*)?$")


def escape(line):
    """Text stays text: nothing in it is a command, a tag or a mark of emphasis, except for `code`."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(p if p.startswith("`") else re.sub(r"([\\@<>#%*\[\]$])", r"\\\1", p) for p in parts)


def body_lines(comment):
    """Returns the lines of a comment without its frame, indented as they are to each other."""
    lines = comment[2:-2].strip().split("\n")
    return [lines[0]] + [re.sub(r"^\s*\*? ?", "", line, count=1) if line.strip() != "*" else "" for line in lines[1:]]


def convert(comment, is_file):
    """Returns the lines of a comment as doxygen wants them, without the frame."""
    lines, out, code = body_lines(comment), [], False
    for index, line in enumerate(lines):
        following = next((l for l in lines[index:] if l.strip()), "")
        is_code = index > 0 and (line if line.strip() else following).startswith("  ") and (code or bool(line.strip()))
        if is_code != code:
            out.append(("@code{.c}" if is_code and line.startswith("    ") else "@code{.unparsed}") if is_code else "@endcode")
            code = is_code
        out.append(line if code else escape(line))
    if code:
        out.append("@endcode")
    text = "\n".join(out)
    if not is_file:
        text = re.sub(r"\s*\bThreads: (\S.*)\Z", lambda m: "\n\n@par Threads\n" + m.group(1), text, flags=re.DOTALL)
    return text


def above(comment, is_file=False):
    return "/** " + ("@file\n" if is_file else "") + convert(comment, is_file) + "\n */"


class Filter:
    def __init__(self, text):
        self.lines = text.splitlines()
        self.out = []
        self.shared = None  # the comment of the declaration before, while no blank line or other thing came
        self.in_body = False

    def take_comment(self, index):
        """Returns (comment, index of the line after it)."""
        end = index
        while "*/" not in self.lines[end]:
            end += 1
        return "\n".join(self.lines[index:end + 1]).strip(), end + 1

    def own_line_comment(self, index):
        comment, following_index = self.take_comment(index)
        following = self.lines[following_index] if following_index < len(self.lines) else ""
        if index == 0:
            self.out.append(above(comment, is_file=True))
        elif self.in_body or DECLARATION.match(following):
            self.shared = above(comment)
            self.out.append(self.shared)
        else:
            self.out.append(comment)
        return following_index

    def trailing_comment(self, index):
        """A field or constant with a comment after it, which may continue on further lines."""
        comment, following_index = self.take_comment(index)
        code, text = comment.split("/*", 1)
        self.out.append(code + "/**< " + convert("/*" + text, False) + " */")
        return following_index

    def declaration(self, index):
        line = self.lines[index]
        first = index == 0 or not self.lines[index - 1].rstrip().endswith("*/")
        starts = line.startswith("MICA_API") or (line.startswith("static inline"))
        if starts and first and self.shared:
            self.out.append(self.shared)
        macro = re.match(r"#\s*define (mica_\w+|MICA_\w+[A-Z0-9])\(", line)
        if macro and not self.lines[index - 1].rstrip().endswith("*/"):
            end = index
            while self.lines[end].endswith("\\"):
                end += 1
            body = " ".join(self.lines[index:end + 1])[len(macro.group(0)):]
            function = next((n for n in re.findall(r"\bmica_[a-z_]+(?=\()", body) if n not in ("mica_type_id", macro.group(1))), None)
            if function:
                self.out.append(f"/** Calls {function}(). */")
        self.out.append(line)
        return index + 1

    def run(self):
        index = 0
        while index < len(self.lines):
            line = self.lines[index]
            if not line.strip():
                self.shared = None
            if line.lstrip().startswith("/*"):
                index = self.own_line_comment(index)
                continue
            if self.in_body and "/*" in line and not line.endswith("\\"):
                index = self.trailing_comment(index)
                continue
            index = self.declaration(index)
            if BODY.match(line):
                self.in_body = True
            elif line.startswith("}"):
                self.in_body = False
        return "\n".join(self.out) + "\n"


def main():
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    text = re.sub(r"^namespace detail \{.*?^\} // namespace detail\n", "", text, flags=re.DOTALL | re.MULTILINE)
    sys.stdout.write(Filter(text).run())


if __name__ == "__main__":
    main()
