/* The tool as a user meets it: command lines, what they print, and their exit codes. */
#define _DEFAULT_SOURCE 1 /* popen */

#include "tool.h"

#include "mica/compile.h"

static void write_text(const char *name, const char *text)
{
    ck_assert_int_eq(mica_write_file(scratch(name), text, strlen(text), NULL), MICA_OK);
}

static void prepare(void)
{
    mica_blob blob = level_blob(NULL), text;
    mica_resource *resource = level_open(&blob);
    mica_schema *schema = mica_schema_create();
    ck_assert_int_eq(mica_write_file(scratch("level.mica"), blob.bytes, blob.byte_count, NULL), MICA_OK);
    ck_assert_int_eq(mica_write_file(scratch("cut.mica"), blob.bytes, blob.byte_count / 2, NULL), MICA_OK);
    mica_schema_add_resource(schema, resource);
    ck_assert_int_eq(mica_schema_write(schema, &text), MICA_OK);
    ck_assert_int_eq(mica_write_file(scratch("schema.json"), text.bytes, text.byte_count, NULL), MICA_OK);
    mica_schema_destroy(schema);
    mica_resource_free(resource);
    mica_blob_free(&blob);
    mica_blob_free(&text);
    write_text("small.json", "{\"entities\": [{\"name\": \"a\", \"components\": {\"Number\": {\"value\": 1}}}]}");
    write_text("other.json",
               "{\"entities\": [{\"name\": \"a\", \"components\": {\"Number\": {\"value\": 2}, \"Frozen\": {}}},"
               " {\"name\": \"b\"}], \"singletons\": {\"Clock\": {\"ticks\": 1}}}");
    write_text("bad.json", "{\"entities\": [{\"components\": {\"Numbr\": {}}}, {\"nam\": 1}]}");
    write_text("refers.json", "{\"entities\": [{\"components\": {\"Shape\": {\"outline\": \"small.mica\"}}}]}");
    write_text("shape.json", "{\"types\": [{\"name\": \"Shape\", \"component\": \"data\", \"fields\": "
                             "[{\"name\": \"outline\", \"kind\": \"asset\"}]}]}");
    write_text("broken.json", "{\"entities\": [");
}

static const step steps[] = {
    {"", 2, "mica COMMAND [options] FILE..."},
    {"help", 0, "Exit codes: 0 fine, 1 files differ (diff) or a run went wrong (run), 2 wrong usage or bad input."},
    {"--help", 0, "compile    compile JSON to a resource"},
    {"--version", 0, "mica 0."},
    {"help compile", 0, "--schema FILE"},
    {"compile --help", 0, "--schema FILE"},
    {"help fly", 2, "mica: there is no command \"fly\""},
    {"fly", 2, "mica: there is no command \"fly\"; try mica help"},
    {"compile", 2, "mica: compile: expected a file; try mica help compile"},
    {"info", 2, "expected one file"},
    {"info a b", 2, "expected one file"},
    {"diff a", 2, "expected two files"},
    {"compile --fast small.json", 2, "there is no option --fast"},
    {"info --compress x", 2, "there is no option --compress"},
    {"compile --output", 2, "--output needs a value"},
    {"compile --force=1 small.json", 2, "--force takes no value"},
    {"compile --byte-order middle small.json", 2, "the byte order is little or big, not \"middle\""},
    {"compile --compress=99 small.json", 2, "a level of compression is 1 to 19, not \"99\""},
    {"compile small.json other.json -o x.mica", 2, "--output and --depfile go with one file"},
    {"compile missing.json", 2, "missing.json can't be read: No such file or directory"},
    {"compile --schema missing.json small.json", 2, "missing.json can't be read"},
    {"compile --schema cut.mica small.json", 2, "cut.mica: at byte 16: the file has"},
    {"compile broken.json", 2, "broken.json:1:14: error: ']' expected near end of file"},
    {"compile bad.json", 2,
     "bad.json:1:40: error: entities[0].components.Numbr: unknown component \"Numbr\" (did you mean \"Number\"?)"},
    {"compile bad.json", 2, "entities[1].nam: unknown key \"nam\" (did you mean \"name\"?)"},
    {"compile bad.json small.json", 2, "small.mica: "},
    {"info bad.mica", 2, "bad.mica: No such file or directory"},
    {"compile --json bad.json", 2,
     "\"line\": 1, \"column\": 40, \"path\": \"entities[0].components.Numbr\", \"text\": "},
    {"compile small.json other.json", 0, "other.mica: "},
    {"compile -q small.json", 0, ""},
    {"compile --schema level.mica small.json -o /nowhere/x.mica", 2, "/nowhere/x.mica: No such file or directory"},
    {"compile -b big small.json -o big.mica", 0, "big.mica: "},
    {"compile -c19 small.json -o packed.mica", 0, "packed.mica: "},
    {"compile small.json -o made.mica -d made.d", 0, "made.mica: "},
    {"compile small.json -o made.mica -d made.d", 0, "made.mica is up to date"},
    {"compile small.json -o made.mica -d made.d --force", 0, "made.mica: "},
    {"info small.mica", 0, "1 entities in 1 groups"},
    {"info small.mica", 0, "Number                   data                1        4            4      0"},
    {"info big.mica", 0, "big-endian"},
    {"info packed.mica", 0, "zstd"},
    {"info --json small.mica", 0, "{\"name\": \"Number\", \"kind\": \"data\", \"instances\": 1, \"bytes\": 4"},
    {"info cut.mica", 2, "mica: cut.mica: at byte 16: the file has"},
    {"check small.mica big.mica packed.mica level.mica", 0, "level.mica: sound"},
    {"check small.mica cut.mica", 2, "cut.mica: at byte 16"},
    {"check --json cut.mica", 2, "\"sound\": false, \"offset\": 16"},
    {"check schema.json", 2, "this is not a Mica resource"},
    {"diff small.mica big.mica", 0, ""},
    {"diff small.mica packed.mica", 0, ""},
    {"diff small.mica other.mica", 1, "~ /a Number: {\"value\": 1} -> {\"value\": 2}"},
    {"diff small.mica other.mica", 1, "+ /a Frozen: {}"},
    {"diff small.mica other.mica", 1, "+ /b\n"},
    {"diff small.mica other.mica", 1, "+ singletons Clock: {\"seconds\": 0, \"ticks\": 1}"},
    {"diff other.mica small.mica", 1, "- /b\n"},
    {"diff --json small.mica other.mica", 1, "{\"change\": \"added\", \"path\": \"/b\"}"},
    {"diff small.mica cut.mica", 2, "cut.mica: at byte 16"},
    {"dump small.mica", 0, "\"Number\": {\"value\": 1}"},
    {"dump level.mica -o dumped.json", 0, ""},
    {"compile --schema level.mica dumped.json -o again.mica", 0, "again.mica: "},
    {"diff level.mica again.mica", 0, ""},
    {"compile -s shape.json refers.json -d refers.d", 0, "refers.mica: "},
    {"info refers.mica", 0, "refers to\nsmall.mica\n"},
    {"info refers.mica", 0, "format 1.1"},
    {"info --json refers.mica", 0, "\"refers_to\": [\n    \"small.mica\""},
    {"dump refers.mica", 0, "{\"outline\": \"/small.mica\"}"},
    {"schema refers.mica", 0, "\"kind\": \"asset\""},
    {"check refers.mica", 0, "refers.mica: sound"},
    {"check --root . refers.mica", 0, "refers.mica: sound"},
    {"check --root m refers.mica", 2, "mica: refers.mica refers to what can't be loaded: m/small.mica: No such file"},
    {"check --json --root m refers.mica", 2, "\"sound\": false"},
    {"run --root m -u refers.mica", 2, "refers.mica refers to what can't be loaded: m/small.mica: No such file"},
    {"run -n 1 -u refers.mica", 0, "1 frames in"},
    {"compile -s shape.json --root .. refers.json", 2, "\"small.mica\" is not below the root"},
    {"schema level.mica", 0, "\"name\": \"Monster\""},
    {"schema level.mica schema.json -o both.json", 0, ""},
    {"compile -s both.json -- small.json", 0, "small.mica: "},
};

START_TEST(every_command_does_what_its_help_says)
{
    prepare();
    expect_steps(steps, COUNT_OF(steps));
}
END_TEST

START_TEST(compiling_a_dump_gives_the_same_file)
{
    prepare();
    ck_assert_int_eq(run("dump level.mica -o dumped.json"), 0);
    ck_assert_int_eq(run("compile --schema level.mica dumped.json -o again.mica"), 0);
    char command[512];
    snprintf(command, sizeof command, "cmp '%s' '%s'", scratch("level.mica"), scratch("again.mica"));
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(a_failed_compile_leaves_the_old_file_and_nothing_else)
{
    prepare();
    ck_assert_int_eq(run("compile small.json -o kept.mica"), 0);
    write_text("small.json", "{\"entities\": [{\"components\": {\"Nothing\": {}}}]}");
    ck_assert_int_eq(run("compile small.json -o kept.mica"), 2);
    ck_assert_int_eq(run("check kept.mica"), 0);
    char command[512];
    snprintf(command, sizeof command, "test \"$(ls '%s' | grep -c kept)\" = 1", scratch(""));
    ck_assert_int_eq(system(command), 0);
}
END_TEST

TEST_SUITE(tool, every_command_does_what_its_help_says, compiling_a_dump_gives_the_same_file,
           a_failed_compile_leaves_the_old_file_and_nothing_else)
