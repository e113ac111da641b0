/* mica sweep: which runs there are, what their rows say, and that they do not depend on processes, ranks and calls. */
#define _DEFAULT_SOURCE 1 /* popen, kill */

#include "tool.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/types.h>
#include <unistd.h>

/* Modules are found in m/. */
static void prepare(void)
{
    char command[512];
    snprintf(command, sizeof command, "cd '%s' && rm -f *.db *.db-journal && ln -sfn '%s' m", scratch(""),
             getenv("MICA_MODULES"));
    ck_assert_int_eq(system(command), 0);
}

/* The results of a statement, columns with | and rows with newlines between them. */
static const char *ask(const char *file, const char *statement)
{
    static char text[1 << 16];
    sqlite3 *database;
    sqlite3_stmt *rows;
    size_t length = 0;
    text[0] = 0;
    ck_assert_int_eq(sqlite3_open(scratch(file), &database), SQLITE_OK);
    ck_assert_msg(sqlite3_prepare_v2(database, statement, -1, &rows, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(database));
    while (sqlite3_step(rows) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(rows); ++i) {
            const char *cell = (const char *)sqlite3_column_text(rows, i);
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", cell ? cell : "-",
                                       i + 1 < sqlite3_column_count(rows) ? "|" : "\n");
        }
    sqlite3_finalize(rows);
    sqlite3_close(database);
    return text;
}

#define SWEEP "sweep m/swept.so -q --out "

static const step error_steps[] = {
    {"help sweep", 0, "mica sweep [options] LIBRARY"},
    {"sweep", 2, "mica: sweep: expected a module; try mica help sweep"},
    {"sweep m/swept.so", 2, "mica: sweep: expected --out RESULTS.db"},
    {"sweep missing.so --out x.db", 2, "missing.so can't be loaded"},
    {"sweep m/fails.so --out x.db", 2, "mica_module_main of m/fails.so failed"},
    {"sweep m/swept.so missing.mica --out x.db", 2, "mica: missing.mica: No such file or directory"},
    {SWEEP "x.db --vary speed", 2, "sweep: --vary speed: expected PARAMETER=VALUES"},
    {SWEEP "x.db --vary =1", 2, "expected PARAMETER=VALUES"},
    {SWEEP "x.db --vary height=1:2", 2, "--vary height: no singleton of the modules has such a field"},
    {SWEEP "x.db --vary speed=1:2", 2, "--vary speed: more than one singleton has such a field"},
    {SWEEP "x.db --vary Settings.height=1", 2, "--vary Settings.height: Settings has no field \"height\""},
    {SWEEP "x.db --vary Place.x=1", 2, "--vary Place.x: Place is no singleton"},
    {SWEEP "x.db --vary Settings.speed=5:1", 2, "the step must be above 0, and there must be 1 to 10000 values"},
    {SWEEP "x.db --vary Settings.speed=1:5:0", 2, "the step must be above 0"},
    {SWEEP "x.db --vary Settings.speed=1:5:1:1", 2, "expected FIRST:LAST or FIRST:LAST:STEP, three numbers"},
    {SWEEP "x.db --vary Settings.speed=1:many", 2, "expected FIRST:LAST or FIRST:LAST:STEP"},
    {SWEEP "x.db --vary Settings.speed=1,,2", 2, "expected values between commas"},
    {SWEEP "x.db --vary Settings.speed=1,1.0", 2, "the value 1 is there twice"},
    {SWEEP "x.db --vary Settings.speed=99:101", 2, "\"101\": "},
    {SWEEP "x.db --vary count=1:2:0.5", 2, "--vary count: \"1.5\": "},
    {SWEEP "x.db --vary count=1 --vary count=2", 2, "--vary count is there twice"},
    {SWEEP "x.db --vary fault=NOTHING:CRASH", 2, "only numbers have a range"},
    {SWEEP "x.db --vary fault=SOME", 2, "--vary fault: \"SOME\": "},
    {SWEEP "x.db --seeds 0", 2, "--seeds is COUNT or FIRST:LAST"},
    {SWEEP "x.db --seeds 5:4", 2, "--seeds is COUNT or FIRST:LAST"},
    {SWEEP "x.db --seeds 1:x", 2, "--seeds is COUNT or FIRST:LAST"},
    {SWEEP "x.db --seeds 100000 --vary count=1:10000", 2, "sweep: more than 100000000 runs"},
    {SWEEP "x.db --measure 'number: Mouse'", 2, "expected count:, sum:, mean:, minimum:, maximum: or value:"},
    {SWEEP "x.db --measure 'count: Rat'", 2, "measurement \"count: Rat\": there is no component \"Rat\""},
    {SWEEP "x.db --measure 'sum: Place'", 2, "expected a component and a field such as Energy.value, not \"Place\""},
    {SWEEP "x.db --measure 'sum: Rat.x'", 2, "there is no component \"Rat\""},
    {SWEEP "x.db --measure 'sum: Place.z'", 2, "measurement \"sum: Place.z\": "},
    {SWEEP "x.db --measure 'sum: Settings.speed'", 2, "Settings is a singleton"},
    {SWEEP "x.db --measure 'value: Place.x'", 2, "Place is no singleton"},
    {SWEEP "x.db --measure 'value: Settings.fault'", 2, "the field is no number"},
    {SWEEP "x.db --measure 'value: Settings.speed, Mouse'", 2, "the field of a singleton has no query"},
    {SWEEP "x.db --measure 'mice=count: Mouse'", 2, "there is a column \"mice\" already"},
    {SWEEP "x.db --every 0", 2, "sweep: the number of frames between samples is 1 to 1000000000, not \"0\""},
    {SWEEP "x.db --processes 0", 2, "sweep: the number of processes is 1 to 1024, not \"0\""},
    {SWEEP "x.db --time-limit 0", 2, "sweep: a run lasts more than 0 and up to 1e+07 seconds, not \"0\""},
    {SWEEP "/nowhere/x.db", 2, "sweep: /nowhere/x.db: unable to open database file"},
};

START_TEST(bad_input_is_named_before_anything_runs)
{
    prepare();
    expect_steps(error_steps, COUNT_OF(error_steps));
    ck_assert_int_ne(access(scratch("x.db"), F_OK), 0);
}
END_TEST

START_TEST(each_combination_has_a_row_with_measurements_and_samples)
{
    prepare();
    const step steps[] = {
        {SWEEP "a.db --vary Settings.speed=0.1:0.3:0.1 --vary count=2,1 --seeds 3:4 -n 25 --every 10 "
               "-a 'value: Settings.speed' -a 'far=count: Place, Place.x > 1000' -a 'mean: Place.x, !Mouse' "
               "-a 'minimum: Place.y' -a 'maximum: Place.y' -a 'sum: Place.y'", 0, ""},
    };
    expect_steps(steps, COUNT_OF(steps));
    ck_assert_str_eq(
        ask("a.db", "SELECT run, \"Settings.speed\", typeof(\"Settings.speed\"), count, seed, status, message, frames, "
                    "mice, \"value: Settings.speed\", far, \"mean: Place.x, !Mouse\", \"minimum: Place.y\", "
                    "\"maximum: Place.y\", \"sum: Place.y\" FROM runs WHERE run IN (1, 2, 3, 12)"),
        "1|0.1|real|2|3|done|-|25|2|0.1|0|-|0|1|1\n"
        "2|0.1|real|2|4|done|-|25|2|0.1|0|-|0|1|1\n"
        "3|0.1|real|1|3|done|-|25|1|0.1|0|-|0|0|0\n"
        "12|0.3|real|1|4|done|-|25|1|0.3|0|-|0|0|0\n");
    ck_assert_str_eq(ask("a.db", "SELECT count(*), count(DISTINCT hash), count(DISTINCT x) FROM runs"), "12|12|12\n");
    ck_assert_str_eq(ask("a.db", "SELECT frame, count(*), sum(mice) FROM samples GROUP BY frame"),
                     "10|12|18\n20|12|18\n");
    ck_assert_str_eq(ask("a.db", "SELECT count(*) FROM timings WHERE seconds > 0"), "12\n");
}
END_TEST

START_TEST(parameters_and_seeds_count_more_than_those_of_a_saved_run)
{
    prepare();
    const step steps[] = {
        {"run m/swept.so --seed 7 -n 5 -q --save level.mica", 0, ""},
        {SWEEP "l.db level.mica --vary Settings.speed=0,60 --seeds 2 -n 2", 0, ""},
    };
    expect_steps(steps, COUNT_OF(steps));
    ck_assert_str_eq(ask("l.db", "SELECT mice, round(x - (SELECT x FROM runs WHERE run = 1)) FROM runs ORDER BY run"),
                     "10|0.0\n10|0.0\n10|2.0\n10|2.0\n");
    ck_assert_str_eq(ask("l.db", "SELECT count(DISTINCT hash) FROM runs"), "4\n");
}
END_TEST

static const char everything[] = "SELECT * FROM runs ORDER BY run";
static const char all_samples[] = "SELECT * FROM samples ORDER BY run, frame";

static void expect_equal(const char *a, const char *b)
{
    static char rows[1 << 16];
    snprintf(rows, sizeof rows, "%s", ask(a, everything));
    ck_assert_str_eq(rows, ask(b, everything));
    snprintf(rows, sizeof rows, "%s", ask(a, all_samples));
    ck_assert_str_eq(rows, ask(b, all_samples));
}

#define SAME " --vary Settings.speed=1:4 --seeds 5 --every 7 -n 30"

START_TEST(rows_do_not_depend_on_processes_and_ranks)
{
    prepare();
    const step steps[] = {{SWEEP "one.db -J 1" SAME, 0, ""}, {SWEEP "three.db -J 3" SAME, 0, ""}};
    expect_steps(steps, COUNT_OF(steps));
    expect_equal("one.db", "three.db");
    const char *more[] = {"1", "3", "4 -J 2"};
    for (uint32_t i = 0; i < COUNT_OF(more); ++i) {
        char command[1024];
        snprintf(command, sizeof command,
                 "cd '%s' && rm -f ranks.db && " MPIRUN "%.1s '%s' " SWEEP "ranks.db" SAME "%s 2>&1", scratch(""),
                 more[i], getenv("MICA_TOOL"), more[i] + 1);
        ck_assert_msg(system(command) == 0, "%s", command);
        expect_equal("one.db", "ranks.db");
    }
}
END_TEST

START_TEST(runs_that_go_wrong_have_a_row_and_the_sweep_continues)
{
    prepare();
    const step steps[] = {
        {"sweep m/swept.so -o f.db -T 1 --vary fault=NOTHING,CRASH,HANG,REPORT,LEAVE,REFUSE --seeds 2 --vary fault_seed=2", 1,
         "12 runs: 6 done, 6 failed; f.db\nrun 4: signal 6"},
    };
    expect_steps(steps, COUNT_OF(steps));
    ck_assert_str_eq(
        ask("f.db", "SELECT fault, status, frames, mice IS NULL, replace(message, ' (Aborted)', '') FROM runs WHERE "
                    "seed = 2 OR fault LIKE '%REF%'"),
        "\"NOTHING\"|done|60|0|-\n\"CRASH\"|crashed|-|1|signal 6\n\"HANG\"|timeout|-|1|it took longer than 1 s\n"
        "\"REPORT\"|failed|3|1|the third frame is not to my taste\n\"LEAVE\"|crashed|-|1|exit code 7\n"
        "\"REFUSE\"|failed|0|1|mica_module_start of m/swept.so failed: refused\n"
        "\"REFUSE\"|failed|0|1|mica_module_start of m/swept.so failed: refused\n");
}
END_TEST

START_TEST(a_second_call_continues_adds_runs_and_rejects_other_sweeps)
{
    prepare();
    const step steps[] = {
        {"sweep m/swept.so -o c.db --seeds 3 -n 5", 0, "3 runs: 3 done; c.db\n"},
        {"sweep m/swept.so -o c.db --seeds 3 -n 5", 0, "3 runs: 3 done; 3 in earlier calls; c.db\n"},
        {"sweep m/swept.so -o c.db --seeds 2:6 -n 5", 0, "5 runs: 5 done; 2 in earlier calls; c.db\n"},
        {SWEEP "c.db -n 6", 2, "c.db has the results of another sweep: frames was \"5\" there and is \"6\" now; use another --out"},
        {SWEEP "c.db -n 5 --vary count=1", 2, "another sweep: parameters was \"\" there"},
        {SWEEP "c.db -n 5 --measure 'count: Place'", 2, "another sweep: measurements was"},
        {"sweep -q m/swept.so m/counts.so --out c.db -n 5", 2, "another sweep: modules was \"swept.so "},
        {"sweep m/swept.so -o r.db --vary fault=REPORT -J 2", 1, "1 runs: 0 done, 1 failed; r.db"},
        {"sweep m/swept.so -o r.db --vary fault=REPORT -J 2", 1, "1 runs: 0 done, 1 failed; 1 in earlier calls; r.db"},
        {"sweep m/swept.so -o r.db --vary fault=REPORT --retry", 1, "1 runs: 0 done, 1 failed; r.db"},
        {SWEEP "other.db", 2, "sweep: other.db is a database of something else"},
        {SWEEP "text.db", 2, "sweep: text.db: file is not a database"},
    };
    ask("other.db", "CREATE TABLE other (x)");
    ck_assert_int_eq(mica_write_file(scratch("text.db"), "not a database at all, but a text", 33, NULL), MICA_OK);
    expect_steps(steps, COUNT_OF(steps));
    ck_assert_str_eq(ask("c.db", "SELECT run, seed, status FROM runs"),
                     "1|1|done\n2|2|done\n3|3|done\n4|4|done\n5|5|done\n6|6|done\n");
}
END_TEST

START_TEST(a_sweep_that_was_killed_continues_with_the_same_rows)
{
    prepare();
    const step whole = {SWEEP "whole.db --seeds 40 -n 20000 --every 5000", 0, ""};
    const step rest = {SWEEP "killed.db --seeds 40 -n 20000 --every 5000", 0, ""};
    expect_steps(&whole, 1);
    for (int i = 0; i < 3; ++i) {
        pid_t child = fork();
        if (child == 0) {
            if (chdir(scratch("")) != 0)
                _exit(1);
            execl(getenv("MICA_TOOL"), "mica", "sweep", "m/swept.so", "-q", "--out", "killed.db", "--seeds", "40", "-n",
                  "20000", "--every", "5000", "-J", "2", (char *)NULL);
            _exit(1);
        }
        usleep(150000);
        kill(child, SIGKILL);
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
    }
    expect_steps(&rest, 1);
    expect_equal("whole.db", "killed.db");
    ck_assert_str_eq(ask("killed.db", "SELECT count(*) FROM runs WHERE status = 'done'"), "40\n");
}
END_TEST

TEST_SUITE(sweep, bad_input_is_named_before_anything_runs, each_combination_has_a_row_with_measurements_and_samples,
           parameters_and_seeds_count_more_than_those_of_a_saved_run, rows_do_not_depend_on_processes_and_ranks,
           runs_that_go_wrong_have_a_row_and_the_sweep_continues,
           a_second_call_continues_adds_runs_and_rejects_other_sweeps,
           a_sweep_that_was_killed_continues_with_the_same_rows)
