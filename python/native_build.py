#!/usr/bin/env python3
"""Writes the C source of the extension module mica._native.

    native_build.py --compiler CC --include include --output build/native.c

The declarations are those of the public headers: they are preprocessed, and cffi compiles what remains after the bodies of inline functions
are removed. The C compiler checks every declaration against the same headers when it compiles the result.
"""
import argparse
import pathlib
import re
import subprocess
import tempfile

import cffi

HEADERS = ("flow", "value", "relation", "hierarchy", "index", "snapshot", "delta", "hash", "recording", "resource", "saver", "sql", "arrow",
           "random", "query_text", "module")
# What cffi knows by itself, or what no header of Mica needs for its declarations.
EMPTY_HEADERS = ("stdbool.h", "stddef.h", "stdint.h", "stdio.h", "string.h", "stdlib.h", "math.h", "limits.h", "stdarg.h", "float.h")
# What reads the result of a statement.
SQLITE = """
typedef struct sqlite3_stmt sqlite3_stmt;
int sqlite3_prepare_v2(struct sqlite3 *database, const char *text, int bytes, sqlite3_stmt **out, const char **out_rest);
int sqlite3_step(sqlite3_stmt *statement);
int sqlite3_finalize(sqlite3_stmt *statement);
int sqlite3_close(struct sqlite3 *database);
const char *sqlite3_errmsg(struct sqlite3 *database);
int sqlite3_column_count(sqlite3_stmt *statement);
const char *sqlite3_column_name(sqlite3_stmt *statement, int column);
int sqlite3_column_type(sqlite3_stmt *statement, int column);
int64_t sqlite3_column_int64(sqlite3_stmt *statement, int column);
double sqlite3_column_double(sqlite3_stmt *statement, int column);
const void *sqlite3_column_blob(sqlite3_stmt *statement, int column);
int sqlite3_column_bytes(sqlite3_stmt *statement, int column);
int sqlite3_bind_parameter_count(sqlite3_stmt *statement);
int sqlite3_bind_null(sqlite3_stmt *statement, int index);
int sqlite3_bind_int64(sqlite3_stmt *statement, int index, int64_t value);
int sqlite3_bind_double(sqlite3_stmt *statement, int index, double value);
int sqlite3_bind_text(sqlite3_stmt *statement, int index, const char *text, int bytes, void (*release)(void *));
"""
# What Mica calls, and Python implements; and the version of the headers, which are macros.
CALLBACKS = """
enum { MICA_PYTHON_MAJOR = ..., MICA_PYTHON_MINOR = ... };
extern "Python" void mica_python_report(const mica_report *report, void *context);
extern "Python" void mica_python_system(const mica_frame *frame);
extern "Python" void mica_python_observer(const mica_event *event);
extern "Python" void mica_python_message(const mica_message *message);
extern "Python" void mica_python_input(mica_world *world, const void *bytes, size_t byte_count, void *context);
"""
HERE = pathlib.Path(__file__).resolve().parent


def preprocess(compiler, include):
    """The headers as one text, without directives, attributes and the content of system headers."""
    with tempfile.TemporaryDirectory() as folder:
        for name in EMPTY_HEADERS:
            (pathlib.Path(folder) / name).write_text("", encoding="utf-8")
        source = "".join(f'#include "mica/{name}.h"\n' for name in HEADERS)
        command = [*compiler.split(), "-E", "-P", "-nostdinc", "-std=c17", "-I", folder, "-I", str(include), "-DMICA_BUILD",
                   "-D__attribute__(x)=", "-DNULL=0", "-xc", "-"]
        return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def split_declarations(text):
    """Yields each declaration of a preprocessed file, up to its semicolon or closing brace."""
    depth, begin = 0, 0
    for match in re.finditer(r"[{};]", text):
        depth += {"{": 1, "}": -1, ";": 0}[match.group()]
        rest = text[match.end():].lstrip()
        ends = match.group() == ";" or (match.group() == "}" and text[begin:match.end()].lstrip().startswith("static inline"))
        if depth == 0 and ends and not rest.startswith(";"):
            yield text[begin:match.end()].strip()
            begin = match.end()


def declarations(compiler, include):
    """What cffi is given: types and functions, without what is defined in the headers or belongs to C alone."""
    kept = []
    # What modules define, not the library.
    exports = re.findall(r"\bMICA_EXPORT[^;]*?\b(mica_module_\w+)\s*[(\[;]", (include / "mica" / "module.h").read_text(encoding="utf-8"))
    for declaration in split_declarations(preprocess(compiler, include)):
        if declaration.startswith("static inline"):  # a function like others: cffi makes a call of it
            declaration = declaration.removeprefix("static inline").split("{")[0].strip() + ";"
        skipped = (declaration.startswith(("static ", "_Static_assert")) or "FILE *" in declaration
                   or re.search(rf"\bmica_world_create_needs_|\b({'|'.join(exports)})\b|\bextern const\b", declaration))
        if not skipped:
            kept.append(declaration)
    return "\n".join(kept)


def make_ffi(compiler, include):
    ffi = cffi.FFI()
    text = declarations(compiler, include)
    ffi.cdef(text)
    for header in ("native.h", "views.h"):
        ffi.cdef(re.sub(r"^#.*$", "", (HERE / header).read_text(encoding="utf-8"), flags=re.MULTILINE))
    ffi.cdef(SQLITE)
    ffi.cdef(CALLBACKS)
    includes = "".join(f'#include "mica/{name}.h"\n' for name in HEADERS)
    ffi.set_source("mica._native", f'{includes}#include "native.h"\n#include "views.h"\n#include <sqlite3.h>\n'
                   "enum { MICA_PYTHON_MAJOR = MICA_VERSION_MAJOR, MICA_PYTHON_MINOR = MICA_VERSION_MINOR };\n")
    return ffi


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--include", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    make_ffi(options.compiler, options.include).emit_c_code(str(options.output))


if __name__ == "__main__":
    main()
