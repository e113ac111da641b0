#!/usr/bin/env python3
"""printers_test.py GDB FOLDER PROGRAM: the printers of FOLDER/mica-gdb.py in a real gdb; and that the fields which FOLDER/mica.natvis names
exist. Its expressions are not evaluated: that takes a debugger of Windows.

Ends with 77, which means skipped, where gdb can't start a program, for example in a container without ptrace.
"""
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

# What gdb is asked, and what it must answer. `...` stands for anything.
ANSWERS = (
    ("print *world", "world of 5 entities, 3 archetypes, 3 chunks, 1 pool, 1 name = {archetype 1 = Person: 2 rows in 1 chunk, "
                     "archetype 2 = Position, Enemy: 3 rows in 1 chunk, pool Burning = 2 rows}"),
    ("print dead", "entity ... (generation 1)"),
    ("print person->friend", "entity ... (generation ...)"),
    ("print other->friend", "nil"),
    ("print person->name", '"Anna"'),
    ("print other->name", '"Bert, whose name is longer than a value"'),
    ("print person->inventory", "list of 2 elements of 24 bytes at 0x..."),
    ("print other->inventory", "empty list"),
    ('print $mica_items(person->inventory, "Item")', '{{name = "rope", count = 0}, {name = "", count = 7}}'),
    ("print *view", "view of 3 rows = {dt = 0, entities = {entity ... (generation ...), entity ..., entity ...}, "
                    "Position = {{x = 0, y = 0.5}, {x = 1, y = 0.5}, {x = 2, y = 0.5}}}"),
    ('print $mica_get(world, person->friend, "Person").name', '"Bert, ...'),
    ('print $mica_get(world, view->entities[2], "Burning")', "{seconds = 20}"),
    ('print $mica_get(*world, view->entities[2], "Position")', "{x = 2, y = 0.5}"),
    # What is wrong is said, and nothing ends.
    ('print $mica_get(world, view->entities[0], "Burning")', "the entity has no value of Burning"),
    ('print $mica_get(world, view->entities[0], "Person")', "the entity has no value of Person"),
    ('print $mica_get(world, dead, "Person")', "the entity is not alive"),
    ('print $mica_get(world, dead, "Dragon")', "no type Dragon"),
    ('print $mica_items(other->inventory, "Item")', "the list is empty"),
    ('print $mica_items(person->inventory, "Position")', "the elements of the list have 24 bytes, not 8"),
    ("print broken_text", "<invalid text>"),
    ("print broken_list", "<invalid list>"),
)
MARK = "=== "


def matches(pattern, answer):
    return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("...")), answer, re.DOTALL)


def named_fields(natvis):
    """What a natvis file names: pairs of a type and a path of fields."""
    for entry in xml.etree.ElementTree.parse(natvis).getroot():
        for part in entry.iter():
            texts = [part.text or "", part.get("Condition", "")]
            if part.tag.endswith("DisplayString"):
                texts[0] = " ".join(re.findall(r"{([^}]*)}", texts[0]))
            for text in texts:
                text = re.sub(r",(\[|s8).*", lambda match: match.group(0).replace("s8", ""), text)
                for path in re.findall(r"(?<![\w.>])[a-z_]\w*(?:(?:\.|->)\w+)*", text):
                    if path not in ("unsigned", "int", "char", "const"):
                        yield entry.get("Name"), path


def main():
    gdb, folder, program = sys.argv[1:]
    printers, questions = f"{folder}/mica-gdb.py", list(ANSWERS)
    questions += [(f"print sizeof((({name} *)0)->{path}) > 0", "1") for name, path in dict.fromkeys(named_fields(f"{folder}/mica.natvis"))]
    commands = ["set confirm off", "set debuginfod enabled off", "set print pretty off", f"source {printers}", "break stop_here", "run"]
    for number, (question, _) in enumerate(questions):
        # A failed command would end a list of commands: Python takes its error.
        commands += [f"python print('{MARK}{number}')",
                     f"python\ntry:\n    gdb.execute({question!r})\nexcept gdb.error as error:\n    print(error)\nend"]
    with tempfile.NamedTemporaryFile("w", suffix=".gdb") as script:
        script.write("\n".join([*commands, "kill", ""]))
        script.flush()
        run = subprocess.run([gdb, "-nx", "-batch", "-x", script.name, program], capture_output=True, text=True, timeout=300, check=False)
    if "ptrace" in run.stderr:
        print(run.stderr)
        return 77
    answers = re.split(rf"^{MARK}\d+\n", run.stdout, flags=re.MULTILINE)[1:]
    failed = 0
    for (question, expected), answer in zip(questions, answers):
        answer = re.sub(r"^\$\d+ = ", "", answer.strip().split("\n[Inferior")[0])
        if not matches(expected, answer):
            print(f"{question}\n    expected: {expected}\n    answer:   {answer}")
            failed += 1
    if len(answers) != len(questions):
        print(run.stdout, run.stderr, f"{len(answers)} answers to {len(questions)} questions", sep="\n")
        failed += 1
    print(f"{len(questions) - failed} of {len(questions)} answers are as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
