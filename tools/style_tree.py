"""Rules of the style program that compare the files of src with each other. Each rule yields (path, line, name, message)."""
import collections
import pathlib
import re
import statistics

from style_source import Source

# Lowest first. A layer may include itself and every layer on a lower line, not one above it or on the same line.
LAYERS = (
    ("os",),
    ("base",),
    ("type",),
    ("pool",),
    ("core",),
    ("flow",),
    ("relation", "hierarchy", "index", "snapshot", "replication"),
    ("recording", "resource"),
    ("json", "sql", "arrow", "inspect", "cluster", "lua"),
    ("cli",),
)
# The same for the folders of a layer.
FOLDERS = {
    "core": (("world",), ("events",), ("undo",), ("storage",), ("entity",), ("query",), ("commands",), ("state",)),
    "flow": (("threads",), ("schedule",), ("messaging",), ("measure",)),
    "resource": (("format",), ("verify",), ("library",), ("spawn", "save"), ("reload",), ("prefab", "module")),
}

# Layers that are clients of the public API, and what else they may include: headers, or all of a layer.
CLIENTS = {
    "resource": ("base", "os", "type/value_bytes.h"),
    "json": ("base", "os", "resource/format/scalar_fields.h", "type/value_bytes.h"),
    "sql": ("base",),
    "arrow": ("base", "os"),
    "cluster": ("base", "os"),
    "inspect": ("base", "os"),
    "lua": ("base", "os"),
    "cli": ("os", "base/assert.h", "json/json_writer.h", "json/dump.h", "inspect/protocol.h", "inspect/edit.h", "inspect/type_codec.h", "inspect/web.h", "inspect/web_client.h", "inspect/writers.h", "inspect/stats_text.h", "inspect/traffic_log.h", "base/byte_stream.h"),
}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
DECLARATION = re.compile(r"^(?!typedef\b|static\b|extern\b)\w[^;{}#=]*?\b(micap_\w+)\s*\([^{}]*?\)[^{};]*;", re.MULTILINE)
TYPE = re.compile(r"^(?:typedef )?(?:struct|union|enum) (micap_\w+) \{|^\} (micap_\w+);|^typedef [^{;]*?\(\*(micap_\w+)\)"
                  r"|^typedef (?!struct|union)[^{;(]*?\b(micap_\w+);", re.MULTILINE)
ENUM = re.compile(r"^(?:typedef )?enum(?: \w+)? \{(.*?)\}", re.MULTILINE | re.DOTALL)
CONSTANT = re.compile(r"(?:^|[,{])\s*(MICAP_\w+)")
MACRO = re.compile(r"^#\s*define\s+(MICAP_\w+)", re.MULTILINE)


def levels(lines):
    return {folder: level for level, folders in enumerate(lines) for folder in folders}


def includes(source):
    """Yields (line, parts of the path) of each private header that a file includes."""
    for number, line in enumerate(source.lines, 1):
        included = INCLUDE.match(line)
        if included and not included.group(1).startswith("mica/"):
            yield number, tuple(included.group(1).split("/"))


def missing(names, existing, parent):
    """The tables list only folders that exist."""
    for name in names:
        if name not in existing:
            yield "tools/style_tree.py", 1, name, f"{parent}/{name} does not exist"


def check_layering(sources):
    level = levels(LAYERS)
    yield from missing(level, {source.path.split("/")[1] for source in sources}, "src")
    for source in sources:
        layer = source.path.split("/")[1]
        if layer not in level:
            yield source.path, 1, layer, f"src/{layer} is not a layer"
            continue
        for number, parts in includes(source):
            target, name = parts[0], "/".join(parts)
            if len(parts) == 1 or target not in level:
                yield source.path, number, name, f'include "{name}" by layer: "{layer}/..."'
            elif target != layer and level[target] >= level[layer]:
                yield source.path, number, name, f"{layer} may not include {target}: it is not a lower layer"


def check_clients(sources):
    for source in sources:
        layer = source.path.split("/")[1]
        for number, parts in includes(source):
            name = "/".join(parts)
            if layer in CLIENTS and parts[0] != layer and not {parts[0], name} & set(CLIENTS[layer]):
                yield source.path, number, name, f"{layer} uses the public API, and of private headers only {', '.join(CLIENTS[layer])}"


def check_subfolders(sources):
    level_of = {layer: levels(lines) for layer, lines in FOLDERS.items()}
    for layer, level in level_of.items():
        existing = {source.path.split("/")[2] for source in sources if source.path.startswith(f"src/{layer}/")}
        yield from missing(level, existing, f"src/{layer}")
    for source in sources:
        parts = source.path.split("/")
        layer, folder = parts[1], parts[2] if len(parts) == 4 else None
        level = level_of.get(layer, {})
        if folder is not None and folder not in level:
            yield source.path, 1, folder, f"src/{layer}/{folder} is not a folder of the layer {layer}"
            continue
        for number, target in includes(source):
            if folder is not None and len(target) == 3 and target[0] == layer and target[1] != folder:
                if level.get(target[1], 0) >= level[folder]:
                    yield (source.path, number, "/".join(target),
                           f"{layer}/{folder} may not include {layer}/{target[1]}: it is not a lower folder")


def declarations(source):
    """Yields (line, name) of each private function that a header declares."""
    text = "\n".join(source.code)
    for match in DECLARATION.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1)


def definitions(source):
    """Yields (line, name) of each private function, type, constant and macro that a file defines. A function that a header
    declares and, for some builds, also defines inline belongs to the file that matches the header."""
    text = "\n".join(source.code)
    declared = {name for _, name in declarations(source)} if source.path.endswith(".h") else set()
    found = [(first, name) for name, first, _, _ in source.functions() if name.startswith("micap_") and name not in declared]
    line_at = lambda position: text.count("\n", 0, position) + 1
    for match in TYPE.finditer(text):
        found.append((line_at(match.start()), next(filter(None, match.groups()))))
    for match in ENUM.finditer(text):
        found += [(line_at(match.start()), name) for name in CONSTANT.findall(match.group(1))]
    found += [(line_at(match.start()), match.group(1)) for match in MACRO.finditer(text)]
    seen = set()
    for line, name in found:  # A tag and its alias, and alternatives of the preprocessor, are one definition.
        if name not in seen:
            seen.add(name)
            yield line, name


def away_from_home(sources):
    """Returns (functions that headers declare, [(header, line, name, where it is defined)] of those in another file)."""
    defined = {name: source.path for source in sources if source.path.endswith(".c")
               for name, _, _, signature in source.functions() if not re.search(r"\bstatic\b", signature)
               and not source.path.startswith("src/os/windows")}
    count, away, seen = 0, [], set()
    for source in sources:
        if not source.path.endswith(".h"):
            continue
        for line, name in declarations(source):
            count += name not in seen
            where = defined.get(name, "no file")
            if where.removesuffix(".c") != source.path.removesuffix(".h"):
                away.append((source.path, line, name, where))
            seen.add(name)
    return count, away


def visible_headers(root):
    """Returns how many headers of src a .c file of the core sees, directly and through other headers: the median."""
    included = {}

    def direct(path):
        if path not in included:
            names = INCLUDE.findall(path.read_text(encoding="utf-8")) if path.exists() else []
            included[path] = [path for path in (root / "src" / name for name in names) if path.exists()]
        return included[path]

    counts = []
    for source in sorted((root / "src/core").rglob("*.c")):
        seen, waiting = set(), [source]
        while waiting:
            for header in direct(waiting.pop()):
                if header not in seen:
                    seen.add(header)
                    waiting.append(header)
        counts.append(len(seen))
    return statistics.median(counts) if counts else 0


def check_home(sources):
    for path, line, name, where in away_from_home(sources)[1]:
        yield path, line, name, f"{name} is declared here and defined in {where}"


def home_percentage(root):
    count, away = away_from_home([Source(root, path) for path in sorted(pathlib.Path(root, "src").rglob("*.[ch]"))])
    return 100 * (1 - len(away) / count) if count else 100


def check_unique_names(sources):
    first = {}
    for source in sources:
        for line, name in definitions(source):
            if name in first:
                yield source.path, line, name, f"{name} is also defined in {first[name]}"
            first.setdefault(name, source.path)


def check_unique_files(sources):
    """A name may repeat in a layer only as the header and the source of one pair, in one folder."""
    folders = collections.defaultdict(dict)
    for source in sources:
        folder, _, name = source.path.rpartition("/")
        layer, stem = source.path.split("/")[1], name.rsplit(".", 1)[0]
        other = folders[layer].setdefault(stem, folder)
        if other != folder:
            yield source.path, 1, stem, f"{other} has a file named {stem}, too"


RULES = {
    "layering": check_layering,
    "client": check_clients,
    "subfolder": check_subfolders,
    "home": check_home,
    "unique-name": check_unique_names,
    "unique-file": check_unique_files,
}
