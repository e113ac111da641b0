"""Reads the functions, structs and enums that the public headers declare."""
import collections
import pathlib
import re

Parameter = collections.namedtuple("Parameter", "type name")
Function = collections.namedtuple("Function", "header name returns parameters threads")

FUNCTION = re.compile(r"^(?:MICA_API|static inline)\s+([^;{}]*?)(\w+)\(([^;{}]*)\)\s*[;{]", re.MULTILINE)
STRUCT = re.compile(r"^(?:typedef )?struct (\w+)\s*\{(.*?)^\}\s*\w*;", re.MULTILINE | re.DOTALL)
SHORT_STRUCT = re.compile(r"^typedef struct (\w+)\s*\{([^{}\n]*)\}\s*\w+;", re.MULTILINE)
ENUM = re.compile(r"^typedef enum (\w+)\s*\{", re.MULTILINE)
FUNCTION_TYPE = re.compile(r"^typedef [^;{}]*\(\*(\w+)\)\(", re.MULTILINE)
FUNCTION_FIELD = re.compile(r"^.*\(\*(\w+)\)\(.*\)$")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
THREADS = re.compile(r"Threads: *([^*]*?)\s*\*/", re.DOTALL)  # the rule at the end of a comment
MARKED_RULE = re.compile(r"^@threads (.*)$", re.MULTILINE)
CHECKED = re.compile(r"^#if defined\(MICA_CHECKED\) && !defined\(MICA_BUILD\)\n(.*?)^#endif", re.MULTILINE | re.DOTALL)
DECLARATION = re.compile(r"^(.*?)\s*(\w+)\s*(\[\w+\])?$")


class Headers:
    """What all headers of a folder declare, by name."""

    def __init__(self, folder):
        self.files = sorted(pathlib.Path(folder).glob("*.h"))
        self.functions, self.structs = {}, {}
        self.enums, self.function_types = set(), set()
        self.located = set()  # functions that note the line of the call in checked builds
        for path in self.files:
            self.read(path)

    def read(self, path):
        text = COMMENT.sub(rule_of_comment, path.read_text(encoding="utf-8"))
        for block in CHECKED.findall(text):
            self.located.update(re.findall(r"define (mica_\w+)\(", block))
        text = re.sub(r"^#.*?(?<!\\)$", "", text, flags=re.MULTILINE | re.DOTALL)
        rules = [(match.start(), match.group(1)) for match in MARKED_RULE.finditer(text)]
        for match in FUNCTION.finditer(text):
            returns, name, parameters = match.groups()
            if name.startswith("mica_private_"):  # parts of inline functions
                continue
            threads = [rule for start, rule in rules if start < match.start()]
            self.functions[name] = Function(path.name, name, spaced(returns), parameter_list(parameters), threads[-1] if threads else "")
        text = MARKED_RULE.sub("", text)
        for name, body in STRUCT.findall(text) + SHORT_STRUCT.findall(text):
            self.structs[name] = [field(declaration) for declaration in body.split(";") if declaration.strip()]
        self.enums.update(ENUM.findall(text))
        self.function_types.update(FUNCTION_TYPE.findall(text))


def rule_of_comment(comment):
    """What stands for a comment: the thread rule of the functions after it, if it states one."""
    rule = THREADS.search(comment.group())
    return f"\n@threads {spaced(rule.group(1))}\n" if rule else " "


def spaced(text):
    """The text with one space between words, and none between stars."""
    return re.sub(r"\*\s+\*", "**", " ".join(text.split()))


def declared(text):
    """A type and a name; an array parameter is a pointer."""
    kind, name, array = DECLARATION.match(spaced(text)).groups()
    return Parameter(spaced(kind + " *") if array else kind, name)


def parameter_list(text):
    return [] if text.strip() == "void" else [declared(part) for part in text.split(",")]


def field(text):
    text = spaced(text)
    function = FUNCTION_FIELD.match(text)
    if function:
        return Parameter("function", function.group(1))
    if text.endswith("]"):
        return Parameter("[]", declared(text).name)
    return declared(text)
