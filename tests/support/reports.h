/* A report handler that remembers, so that tests assert on what was said and their own output stays clean.
 *
 *     reports heard;
 *     mica_world *world = open_world(&heard);
 *     mica_destroy(world, mica_nil());
 *     expect_report(&heard, MICA_ERROR_DEAD, "nil");       takes the oldest report
 *     close_world(world, &heard);                          fails when a report was not expected
 */
#ifndef MICA_TESTS_SUPPORT_REPORTS_H
#define MICA_TESTS_SUPPORT_REPORTS_H

#include "mica/mica.h"

enum { REPORTS_MAX = 64 };

typedef struct heard_report {
    mica_result result;
    char text[512];
    char file[256]; /* "" where the report carried none */
    int line;
} heard_report;

/* What a world reported. `count` is also increased if the list is full; the list has the first ones. */
typedef struct reports {
    uint32_t count;
    uint32_t taken;
    heard_report list[REPORTS_MAX];
} reports;

void reports_collect(const mica_report *report, void *context);

/* Empties the list and makes a world that reports into it: with the defaults, or as the def says otherwise. */
mica_world *open_world(reports *heard);
mica_world *open_world_with(reports *heard, mica_world_def def);

/* As the default, but chunks of 1 KiB only: a few hundred entities fill many. */
mica_world *open_world_of_small_chunks(reports *heard);

/* Walks every invariant, asserts that no report is left, and destroys the world. */
#define close_world(world, heard) close_world_at((world), (heard), MICA_HERE)
void close_world_at(mica_world *world, reports *heard, mica_location caller);

/* Takes the oldest report and asserts its result and that its text holds the fragment. Returns it. */
#define expect_report(heard, result, fragment) expect_report_at((heard), (result), (fragment), MICA_HERE)
const heard_report *expect_report_at(reports *heard, mica_result result, const char *fragment, mica_location caller);

#define expect_no_report(heard) expect_no_report_at((heard), MICA_HERE)
void expect_no_report_at(reports *heard, mica_location caller);

/* Drops what was heard, where a test doesn't ask what. Returns how many there were. */
uint32_t forget_reports(reports *heard);

/* Asserts that every invariant of the world holds. */
#define expect_valid(world) expect_valid_at((world), MICA_HERE)
void expect_valid_at(mica_world *world, mica_location caller);

#endif
