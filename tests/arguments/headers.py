"""Reads the functions, structs and enums that the public headers declare."""
import collections
import pathlib
import re

Parameter = collections.namedtuple("Parameter", "type name")
Function = collections.namedtuple("Function", "header name returns parameters")

FUNCTION = re.compile(r"^(?:MICA_API|static inline)\s+([^;{}]*?)(\w+)\(([^;{}]*)\)\s*[;{]", re.MULTILINE)
STRUCT = re.compile(r"^(?:typedef )?struct (\w+)\s*\{(.*?)^\}\s*\w*;", re.MULTILINE | re.DOTALL)
SHORT_STRUCT = re.compile(r"^typedef struct (\w+)\s*\{([^{}\n]*)\}\s*\w+;", re.MULTILINE)
ENUM = re.compile(r"^typedef enum (\w+)\s*\{", re.MULTILINE)
FUNCTION_TYPE = re.compile(r"^typedef [^;{}]*\(\*(\w+)\)\(", re.MULTILINE)
FUNCTION_FIELD = re.compile(r"^.*\(\*(\w+)\)\(.*\)$")
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
        text = re.sub(r"/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for block in CHECKED.findall(text):
            self.located.update(re.findall(r"define (mica_\w+)\(", block))
        text = re.sub(r"^#.*?(?<!\\)$", "", text, flags=re.MULTILINE | re.DOTALL)
        for returns, name, parameters in FUNCTION.findall(text):
            if name.startswith("mica_private_"):  # parts of inline functions
                continue
            self.functions[name] = Function(path.name, name, spaced(returns), parameter_list(parameters))
        for name, body in STRUCT.findall(text) + SHORT_STRUCT.findall(text):
            self.structs[name] = [field(declaration) for declaration in body.split(";") if declaration.strip()]
        self.enums.update(ENUM.findall(text))
        self.function_types.update(FUNCTION_TYPE.findall(text))


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
