#include "reports.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

void reports_collect(const mica_report *report, void *context)
{
    reports *heard = context;
    if (heard->count < REPORTS_MAX) {
        heard_report *kept = &heard->list[heard->count];
        kept->result = report->result;
        kept->line = report->location.line;
        snprintf(kept->text, sizeof kept->text, "%s", report->text ? report->text : "");
        snprintf(kept->file, sizeof kept->file, "%s", report->location.file ? report->location.file : "");
    }
    ++heard->count;
}

mica_world *open_world_with(reports *heard, mica_world_def def)
{
    memset(heard, 0, sizeof *heard);
    def.report = reports_collect;
    def.report_context = heard;
    mica_world *world = mica_world_create(&def);
    ck_assert_msg(world != NULL, "a world is made from a sound def");
    return world;
}

mica_world *open_world(reports *heard)
{
    return open_world_with(heard, mica_world_def_default());
}

mica_world *open_world_of_small_chunks(reports *heard)
{
    mica_world_def def = mica_world_def_default();
    def.chunk_bytes_first = 1024;
    def.chunk_bytes_last = 1024;
    return open_world_with(heard, def);
}

void expect_no_report_at(reports *heard, mica_location caller)
{
    if (heard->taken < heard->count && heard->taken < REPORTS_MAX)
        ck_abort_msg("%s:%d: unexpected report: %s", caller.file, caller.line, heard->list[heard->taken].text);
    ck_assert_msg(heard->taken >= heard->count, "%s:%d: more reports than the list holds", caller.file, caller.line);
}

void expect_valid_at(mica_world *world, mica_location caller)
{
    mica_result result = mica_world_validate(world);
    ck_assert_msg(result == MICA_OK, "%s:%d: an invariant is broken: %s", caller.file, caller.line,
                  mica_result_text(result));
}

void close_world_at(mica_world *world, reports *heard, mica_location caller)
{
    mica_result result = mica_world_validate(world);
    expect_no_report_at(heard, caller);
    ck_assert_msg(result == MICA_OK, "%s:%d: an invariant is broken at the end", caller.file, caller.line);
    mica_world_destroy(world);
    expect_no_report_at(heard, caller);
}

const heard_report *expect_report_at(reports *heard, mica_result result, const char *fragment, mica_location caller)
{
    ck_assert_msg(heard->taken < heard->count, "%s:%d: no report came, expected one that says '%s'", caller.file,
                  caller.line, fragment);
    ck_assert_msg(heard->taken < REPORTS_MAX, "%s:%d: more reports than the list holds", caller.file, caller.line);
    const heard_report *report = &heard->list[heard->taken++];
    ck_assert_msg(report->result == result, "%s:%d: result is '%s', expected '%s': %s", caller.file, caller.line,
                  mica_result_text(report->result), mica_result_text(result), report->text);
    ck_assert_msg(strstr(report->text, fragment) != NULL, "%s:%d: the report does not say '%s': %s", caller.file,
                  caller.line, fragment, report->text);
    return report;
}

uint32_t forget_reports(reports *heard)
{
    uint32_t forgotten = heard->count - heard->taken;
    heard->count = 0;
    heard->taken = 0;
    return forgotten;
}
