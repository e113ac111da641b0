#!/usr/bin/env python3
"""Writes the cases of the argument test: each public function with valid arguments, and with each argument spoiled in turn.

    generate.py INCLUDE_DIR OUTPUT

A function that is added to a header is covered without further work, as long as values.py knows the types of its
parameters; if not, this program fails and names them.
"""
import pathlib
import sys

import headers
import values
from values import ANY, LOOK, LOUD, QUIET, REPORT, Bad

NUMBERS = ("uint32_t", "uint64_t", "size_t", "mica_version", "mica_component", "mica_phase", "int64_t", "int")
# Results of which 0 is as good as any other.
AMOUNTS = ("uint32_t", "uint64_t", "size_t", "int64_t", "mica_version", "mica_random")
COUNTS = ("uint32_t", "size_t")


class Unknown(Exception):
    """A declaration that the tables say nothing about."""


def plain(kind):
    """A type as values.py writes it: without const and struct."""
    words = kind.replace("struct ", "")
    return words[len("const "):] if words.startswith("const ") else words


def is_pointer(kind):
    return kind.endswith("*")


def array_of_count(parameters, index):
    """The index of the array that a parameter counts, or None: the pointer before it."""
    parameter = parameters[index]
    is_count = parameter.name in ("count", "capacity") or parameter.name.endswith(("_count", "_bytes"))
    if index == 0 or parameter.type not in COUNTS or not is_count:
        return None
    before = parameters[index - 1]
    return index - 1 if is_pointer(before.type) and plain(before.type) in values.ARRAYS else None


def has_const_handle(function):
    """Whether a function looks at something and does not change it."""
    first = function.parameters[0].type
    return first.startswith("const ") and plain(first) in values.HANDLES


class Generator:
    def __init__(self, declared):
        self.declared = declared
        self.cases = []
        self.used = set()

    def entry(self, table, key):
        """An entry of a table; entries that nothing asks for are errors, so that the tables don't outlive the headers."""
        if key in table:
            self.used.add((id(table), key))
            return table[key]
        return None

    def values_of(self, function, parameter):
        kind = plain(parameter.type)
        found = self.entry(values.NAMED, (kind, parameter.name)) or values.TYPES.get(kind)
        if not found and parameter.type in self.declared.enums:
            found = values.Values(f"({kind})0", [Bad("unknown", f"({kind})0x7FFF", REPORT)])
        if not found:
            raise Unknown(f"{function.header}: {function.name}: nothing is known about `{parameter.type} "
                          f"{parameter.name}`: add the type to tests/arguments/values.py")
        valid = self.entry(values.VALID, (function.name, parameter.name))
        bad = self.entry(values.BAD, (function.name, parameter.name))
        return values.Values(valid or found.valid, found.bad if bad is None else bad)

    def expectation(self, function, parameter, bad):
        """What a bad value is to lead to, and whether a table says so."""
        for label in (bad.label, "*"):
            special = self.entry(values.EXPECTED, (function.name, parameter, label))
            if special:
                return special[0]
        special = self.entry(values.FUNCTIONS, (function.name, bad.label))
        if special:
            return special[0]
        if bad.label.startswith("NULL") and "." not in parameter: # NULL is a mistake; a field may have a default
            return bad.expectation
        if function.name in values.TOTAL:
            return ANY
        if function.name in values.ANSWERS or has_const_handle(function):
            return {LOOK: QUIET, LOUD: ANY}.get(bad.expectation, bad.expectation)
        return REPORT if bad.expectation == LOOK else bad.expectation

    def harmless(self, function):
        """An expression that is true for the result of a call that did nothing."""
        special = self.entry(values.HARMLESS, function.name)
        if special:
            return special
        kind = function.returns
        if kind == "void" or kind in ("float", "double", "mica_random"):
            return "true"
        if kind == "bool":
            return "!result"
        if kind == "mica_result":
            return "result != MICA_OK"
        if is_pointer(kind):
            return "result == NULL"
        if kind in NUMBERS:
            return "result == 0"
        if kind in self.declared.structs:
            return "is_zero(&result, sizeof result)"
        raise Unknown(f"{function.header}: {function.name}: nothing is known about the result `{kind}`: add it to "
                      "tests/arguments/generate.py")

    def add(self, function, label, expectation, arguments, before="", begin="begin_call"):
        """One case: `arguments` are expressions in the order of the parameters."""
        number = len(self.cases)
        lines = [f"static void case_{number}(void)", "{", "    int first_line = __LINE__;"]
        if before:
            lines.append(f"    {before}")
        for index, (parameter, argument) in enumerate(zip(function.parameters, arguments)):
            lines.append(f"    {parameter.type} argument_{index} = {argument};")
        call = f"{function.name}({', '.join(f'argument_{i}' for i in range(len(arguments)))})"
        lines.append(f"    {begin}(__FILE__, first_line, __LINE__ + 1);")
        if function.returns == "void":
            lines.append(f"    {call};")
            expectation = {LOUD: ANY, "SUCCESS": "NO_REPORT"}.get(expectation, expectation)
        elif expectation == LOUD and function.returns in AMOUNTS and function.name not in values.HARMLESS:
            expectation = ANY
        if function.returns != "void":
            lines.append(f"    {function.returns} result = {call};")
            lines.append("    (void)result;")
        lines.append(f"    end_call({self.harmless(function)});")
        lines.append("}")
        stage = values.STAGES.get(function.name, "run_plain")
        row = f'{{"{function.name}", "{label}", EXPECT_{expectation}, {stage}, case_{number}}},'
        self.cases.append(("\n".join(lines), row))

    def add_function(self, function):
        known = [self.values_of(function, parameter) for parameter in function.parameters]
        valid = [entry.valid for entry in known]
        self.add_valid(function, valid)
        for index, (parameter, entry) in enumerate(zip(function.parameters, known)):
            array = array_of_count(function.parameters, index)
            bads = [Bad("0", "0", ANY)] if array is not None else entry.bad
            for bad in bads:
                arguments = valid[:index] + [bad.expression] + valid[index + 1:]
                self.add(function, f"{parameter.name}: {bad.label}", self.expectation(function, parameter.name, bad),
                         arguments)
            if array is not None:
                bad = Bad("NULL of a huge count", "", REPORT)
                arguments = list(valid)
                arguments[array] = "NULL"
                arguments[index] = "SIZE_MAX" if parameter.type == "size_t" else "UINT32_MAX"
                name = function.parameters[array].name
                self.add(function, f"{name}: {bad.label}", self.expectation(function, name, bad), arguments)
            self.add_fields(function, index, valid)

    def add_valid(self, function, valid):
        special = self.entry(values.VALID_CALLS, function.name)
        tells = function.returns in ("bool", "mica_result") or is_pointer(function.returns)
        expectation = special[0] if special else "SUCCESS" if tells else "NO_REPORT"
        begin = "begin_call" if function.name in values.WRITERS else "begin_reading"
        if expectation:
            self.add(function, "all valid", expectation, valid, begin=begin)

    def add_fields(self, function, index, valid):
        """Spoils the fields of a def one by one."""
        parameter = function.parameters[index]
        struct = plain(parameter.type).removesuffix(" *")
        if not parameter.type.startswith("const ") or struct not in self.declared.structs or struct in values.WHOLE:
            return
        for path, statement, label, expectation in self.spoiled(struct, "spoiled"):
            name = f"{parameter.name}{path}"
            expectation = self.expectation(function, name, Bad(label, "", expectation))
            arguments = valid[:index] + ["&spoiled"] + valid[index + 1:]
            before = f"{struct} spoiled = *({valid[index]}); {statement}"
            self.add(function, f"{name}: {label}", expectation, arguments, before)

    def spoiled(self, struct, target):
        """Yields (path, statement, label, expectation) for each bad value of each field."""
        fields = self.declared.structs[struct]
        names = {field.name: field for field in fields}
        for field in fields:
            if field.name.startswith("private_") or field.name in values.PRIVATE_FIELDS or field.type.endswith("[]"):
                continue
            place = f"{target}.{field.name}"
            array = field.name.removesuffix("_count") + "s" if field.name.endswith("_count") else ""
            array = array if array in names else field.name.removesuffix("_count")
            if field.name.endswith("_count") and array in names and is_pointer(names[array].type):
                yield (f".{array}", f"{target}.{array} = NULL; {place} = UINT32_MAX;", "NULL of a huge count", LOUD)
                continue
            if field.type in self.declared.structs and field.type in values.NESTED:
                for path, statement, label, expectation in self.spoiled(field.type, place):
                    yield f".{field.name}{path}", statement, label, expectation
                continue
            for bad in self.bad_fields(struct, field):
                yield f".{field.name}", f"{place} = {bad.expression};", bad.label, bad.expectation

    def bad_fields(self, struct, field):
        special = self.entry(values.FIELDS, (struct, field.name))
        if special is not None:
            return special
        kind = plain(field.type)
        if kind == "function" or kind in self.declared.function_types:
            return [Bad("NULL", "NULL", LOUD)]
        if field.type in self.declared.enums:
            return [Bad("unknown", f"({kind})0x7FFF", LOUD)]
        if kind in values.FIELD_TYPES:
            return values.FIELD_TYPES[kind]
        if kind not in values.TYPES:
            raise Unknown(f"struct {struct}: nothing is known about the field `{field.type} {field.name}`: add the type "
                          "to tests/arguments/values.py")
        return [Bad(bad.label, bad.expression, LOUD if bad.expectation != ANY else ANY) for bad in
                values.TYPES[kind].bad]

    def without_location(self):
        """The functions that can report, and don't note the line of the call in checked builds."""
        for function in self.declared.functions.values():
            if function.parameters and function.name not in self.declared.located and not values.is_silent(function):
                yield (f"{function.header}: {function.name} does not note the line of the call in checked builds: add "
                       f"`#define {function.name}(...) MICA_AT_({function.name}(__VA_ARGS__))` at the end of the header")

    def unused(self):
        """The entries of the tables that no function asked for."""
        tables = {"VALID": values.VALID, "BAD": values.BAD, "EXPECTED": values.EXPECTED, "HARMLESS": values.HARMLESS,
                  "FUNCTIONS": values.FUNCTIONS, "VALID_CALLS": values.VALID_CALLS, "FIELDS": values.FIELDS}
        for name in sorted(values.WRITERS):
            function = self.declared.functions.get(name)
            if not function:
                yield f"tests/arguments/values.py: WRITERS has {name}, which no header declares"
            elif function.threads.startswith("reader"):
                yield f"{function.header}: {name} has the thread rule `{function.threads}`, and changes the world"
        for name, table in tables.items():
            for key in table:
                if (id(table), key) not in self.used:
                    yield f"tests/arguments/values.py: {name}[{key}] is about nothing that the headers declare"


def text_of(generator):
    includes = "".join(f'#include "mica/{path.name}"\n' for path in generator.declared.files)
    bodies = "\n\n".join(body for body, _ in generator.cases)
    rows = "\n".join(f"    {row}" for _, row in generator.cases)
    return (f"/* Made by tests/arguments/generate.py from the public headers. */\n{includes}\n"
            f'#include "fixture.h"\n\n{bodies}\n\nconst argument_case argument_cases[] = {{\n{rows}\n}};\n'
            "const unsigned argument_case_count = sizeof argument_cases / sizeof *argument_cases;\n")


def main():
    include, output = sys.argv[1:]
    generator = Generator(headers.Headers(include))
    problems = []
    for function in generator.declared.functions.values():
        try:
            generator.add_function(function)
        except Unknown as problem:
            problems.append(str(problem))
    problems += [] if problems else [*generator.unused(), *generator.without_location()]
    if problems:
        sys.exit("\n".join(problems))
    pathlib.Path(output).write_text(text_of(generator), encoding="utf-8")


if __name__ == "__main__":
    main()
