/* mica query: which entities of a file match a text. */
#define _DEFAULT_SOURCE 1 /* popen */

#include "tool.h"

static const step steps[] = {
    {"help query", 0, "mica query [--json | --plan | --arrow OUT] FILE TEXT"},
    {"query", 2, "mica: query"},
    {"query missing.mica Position", 2, "missing.mica: No such file or directory"},
    {"query level.mica 'Position, !Monster'", 0, "station/door  Position {\"x\": 4"},
    {"query level.mica 'Monster, ?Position'", 0, "  Monster {\"home\": "},
    {"query --json level.mica Monster", 0, "\"components\": {"},
    {"query --plan level.mica '!Position'", 0, "visits "},
    {"query level.mica 'Positon, Monster'", 2,
     "mica: query: there is no component \"Positon\" (did you mean \"Position\"?)\n  Positon, Monster\n  ^\n"},
    {"query level.mica 'Position, ,'", 2, "found ','\n  Position, ,\n            ^\n"},
    {"query level.mica 'Position\t,'", 2, "mica: query: expected the name of a component, found the end\n"},
    {"query level.mica 'Position, !Position'", 2, "it is both asked for and excluded"},
    {"query --json --plan level.mica '' extra", 2, "mica: query"},
    {"query level.mica 'Position, Monster($other)'", 0, "  $other "},
    {"query --plan level.mica 'Position, Monster($other)'", 0, "visit $other: Monster, "},
    {"query level.mica 'Position, mica_child_of($this, station)'", 0, "station/door  Position {"},
    {"query --arrow monsters.arrow level.mica 'Monster, ?Position'", 0, ""},
    {"query --arrow - level.mica 'Monster, ?Position'", 0, "ARROW1"},
    {"query --arrow missing/x.arrow level.mica Position", 2, "mica: query: missing/x.arrow: No such file or directory"},
    {"query --arrow - level.mica Position >/dev/full", 2, ""},
    {"query level.mica 'Position, Monster($other'", 2, "expected ')', found the end"},
};

START_TEST(entities_of_a_file_are_listed)
{
    mica_blob blob = level_blob(NULL);
    ck_assert_int_eq(mica_write_file(scratch("level.mica"), blob.bytes, blob.byte_count, NULL), MICA_OK);
    mica_blob_free(&blob);
    expect_steps(steps, COUNT_OF(steps));
    ck_assert_int_eq(run("query level.mica ''"), 0);
    uint32_t lines = 0;
    for (const char *at = output; (at = strchr(at, '\n')); ++at)
        ++lines;
    ck_assert_msg(lines == 12, "an empty text lists every entity: %s", output);
    ck_assert_msg(strstr(output, "station/door\n") != NULL, "entities have paths: %s", output);
}
END_TEST

TEST_SUITE(query, entities_of_a_file_are_listed)
