/* Table runs has all runs of the plan from the start, in the order of the plan, so that their numbers do not depend on the order in which they end. What
 * differs from call to call, the time, is in a table of its own. */
#include "cli/sweep.h"
#include "os/clock.h"

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUSY_MS = 10000, COMMIT_NS = 250000000 };

static const char *const status_words[] = {"done", "failed", "crashed", "timeout"};

static int fail(const sweep_store *store)
{
    return complain("sweep: %s: %s", store->path, sqlite3_errmsg(store->database));
}

static int execute(const sweep_store *store, const char *statement)
{
    return sqlite3_exec(store->database, statement, NULL, NULL, NULL) == SQLITE_OK ? EXIT_FINE : fail(store);
}

/* ---- statements */

/* A statement of any length, as SQLite grows it. */
static void put_columns(sqlite3_str *text, const sweep_plan *plan, bool with_parameters, bool with_measurements,
                        const char *format)
{
    for (uint32_t i = 0; with_parameters && i < plan->parameter_count; ++i)
        sqlite3_str_appendf(text, format, plan->parameters[i].column);
    for (uint32_t i = 0; with_measurements && i < plan->measurement_count; ++i)
        sqlite3_str_appendf(text, format, plan->measurements[i].column);
}

static int prepare(const sweep_store *store, sqlite3_str *text, sqlite3_stmt **out)
{
    char *statement = sqlite3_str_finish(text);
    int result = statement ? sqlite3_prepare_v2(store->database, statement, -1, out, NULL) : SQLITE_NOMEM;
    sqlite3_free(statement);
    return result == SQLITE_OK ? EXIT_FINE : fail(store);
}

/* Runs a statement that returns no rows. */
static int run_once(const sweep_store *store, sqlite3_str *text)
{
    sqlite3_stmt *statement = NULL;
    int status = prepare(store, text, &statement);
    if (status == EXIT_FINE && sqlite3_step(statement) != SQLITE_DONE)
        status = fail(store);
    sqlite3_finalize(statement);
    return status;
}

static int create_tables(const sweep_store *store)
{
    const sweep_plan *plan = store->plan;
    sqlite3_str *text = sqlite3_str_new(store->database);
    sqlite3_str_appendall(text, "CREATE TABLE runs (run INTEGER PRIMARY KEY, ");
    put_columns(text, plan, true, false, "\"%w\", ");
    sqlite3_str_appendall(text, "seed INTEGER NOT NULL, status TEXT NOT NULL DEFAULT 'pending', message TEXT, frames "
                                "INTEGER, hash TEXT, ");
    put_columns(text, plan, false, true, "\"%w\", ");
    sqlite3_str_appendall(text, "UNIQUE (");
    put_columns(text, plan, true, false, "\"%w\", ");
    sqlite3_str_appendall(text, "seed))");
    int status = run_once(store, text);
    text = sqlite3_str_new(store->database);
    sqlite3_str_appendall(text, "CREATE TABLE samples (run INTEGER NOT NULL REFERENCES runs, frame INTEGER NOT NULL, ");
    put_columns(text, plan, false, true, "\"%w\", ");
    sqlite3_str_appendall(text, "PRIMARY KEY (run, frame)) WITHOUT ROWID");
    status = status == EXIT_FINE ? run_once(store, text) : (sqlite3_free(sqlite3_str_finish(text)), status);
    return status == EXIT_FINE
               ? execute(store, "CREATE TABLE timings (run INTEGER PRIMARY KEY REFERENCES runs, seconds REAL)")
               : status;
}

/* ---- what sweep a database is of */

/* FNV-1a of a file; 0 if it can't be read. */
static uint64_t hash_file(const char *path)
{
    uint64_t hash = 0xcbf29ce484222325u;
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    for (int byte = fgetc(file); byte != EOF; byte = fgetc(file))
        hash = (hash ^ (uint64_t)byte) * 0x100000001b3u;
    fclose(file);
    return hash;
}

/* Compares a setting with that of the database, or writes it. */
static int settle(const sweep_store *store, bool is_new, const char *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *value = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    if (!value)
        return fail(store);
    sqlite3_stmt *statement = NULL;
    const char *text = is_new ? "INSERT INTO sweep VALUES (?1, ?2)" : "SELECT value FROM sweep WHERE key = ?1";
    int status = sqlite3_prepare_v2(store->database, text, -1, &statement, NULL) == SQLITE_OK ? EXIT_FINE : fail(store);
    if (status == EXIT_FINE) {
        sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
        if (is_new)
            sqlite3_bind_text(statement, 2, value, -1, SQLITE_STATIC);
        int step = sqlite3_step(statement);
        const char *old = step == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
        if (step != SQLITE_ROW && step != SQLITE_DONE)
            status = fail(store);
        else if (!is_new && (!old || strcmp(old, value) != 0))
            status = complain(
                "sweep: %s has the results of another sweep: %s was \"%s\" there and is \"%s\" now; use another "
                "--out",
                store->path, key, old ? old : "", value);
    }
    sqlite3_finalize(statement);
    sqlite3_free(value);
    return status;
}

/* The files by their contents: what was built again may have other results. */
static int settle_files(const sweep_store *store, bool is_new, const char *key, const char *const *paths,
                        uint32_t count)
{
    sqlite3_str *text = sqlite3_str_new(store->database);
    for (uint32_t i = 0; i < count; ++i) {
        const char *slash = strrchr(paths[i], '/');
        sqlite3_str_appendf(text, "%s%s %016llx", i ? ", " : "", slash ? slash + 1 : paths[i],
                            (unsigned long long)hash_file(paths[i]));
    }
    char *value = sqlite3_str_finish(text);
    int status = settle(store, is_new, key, "%s", value ? value : "");
    sqlite3_free(value);
    return status;
}

static int settle_columns(const sweep_store *store, bool is_new)
{
    const sweep_plan *plan = store->plan;
    sqlite3_str *parameters = sqlite3_str_new(store->database), *measurements = sqlite3_str_new(store->database);
    for (uint32_t i = 0; i < plan->parameter_count; ++i)
        sqlite3_str_appendf(parameters, "%s%s.%s", i ? ", " : "", plan->parameters[i].component,
                            plan->parameters[i].path);
    for (uint32_t i = 0; i < plan->measurement_count; ++i)
        sqlite3_str_appendf(measurements, "%s%s=%s", i ? "; " : "", plan->measurements[i].column,
                            plan->measurements[i].text);
    char *names = sqlite3_str_finish(parameters), *texts = sqlite3_str_finish(measurements);
    int status = settle(store, is_new, "parameters", "%s", names ? names : "");
    if (status == EXIT_FINE)
        status = settle(store, is_new, "measurements", "%s", texts ? texts : "");
    sqlite3_free(names);
    sqlite3_free(texts);
    return status;
}

static int settle_all(const sweep_store *store, bool is_new)
{
    const options *options = &store->plan->options;
    int status = settle(store, is_new, "mica", "%d.%d", MICA_VERSION_MAJOR, MICA_VERSION_MINOR);
    if (status == EXIT_FINE)
        status = settle_files(store, is_new, "modules", options->modules, options->module_count);
    if (status == EXIT_FINE)
        status = settle_files(store, is_new, "levels", options->inputs, options->input_count);
    if (status == EXIT_FINE)
        status = settle(store, is_new, "frames", "%u", options->frame_count);
    if (status == EXIT_FINE)
        status = settle(store, is_new, "dt", "%.9g", (double)options->dt);
    if (status == EXIT_FINE)
        status = settle(store, is_new, "every", "%u", options->sample_frames);
    return status == EXIT_FINE ? settle_columns(store, is_new) : status;
}

/* A new database gets its tables; an old one must be of the same sweep. */
static int settle_tables(const sweep_store *store)
{
    sqlite3_stmt *statement = NULL;
    int tables = 0, sweeps = 0;
    if (sqlite3_prepare_v2(store->database,
                           "SELECT count(*), count(CASE name WHEN 'sweep' THEN 1 END) FROM sqlite_master", -1,
                           &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW) {
        sqlite3_finalize(statement);
        return fail(store);
    }
    tables = sqlite3_column_int(statement, 0);
    sweeps = sqlite3_column_int(statement, 1);
    sqlite3_finalize(statement);
    if (tables && !sweeps)
        return complain("sweep: %s is a database of something else", store->path);
    int status = tables ? EXIT_FINE : execute(store, "CREATE TABLE sweep (key TEXT PRIMARY KEY, value TEXT)");
    if (status == EXIT_FINE)
        status = settle_all(store, !tables);
    return status == EXIT_FINE && !tables ? create_tables(store) : status;
}

/* ---- jobs */

/* Numbers as numbers. */
static void bind_parameters(const sweep_store *store, sqlite3_stmt *statement, uint64_t run)
{
    const sweep_plan *plan = store->plan;
    for (uint32_t i = 0; i < plan->parameter_count; ++i) {
        const char *text = sweep_plan_value(plan, run, i);
        int at = (int)i + 1;
        if (!plan->parameters[i].is_number)
            sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
        else if (strpbrk(text, ".einf\""))
            sqlite3_bind_double(statement, at, strtod(text, NULL));
        else
            sqlite3_bind_int64(statement, at, strtoll(text, NULL, 10));
    }
    sqlite3_bind_int64(statement, (int)plan->parameter_count + 1, (sqlite3_int64)sweep_plan_seed(plan, run));
}

static int prepare_rows(const sweep_store *store, sqlite3_stmt **out_insert, sqlite3_stmt **out_find)
{
    const sweep_plan *plan = store->plan;
    sqlite3_str *text = sqlite3_str_new(store->database);
    sqlite3_str_appendall(text, "INSERT OR IGNORE INTO runs (");
    put_columns(text, plan, true, false, "\"%w\", ");
    sqlite3_str_appendall(text, "seed) VALUES (");
    put_columns(text, plan, true, false, "?%.0s, ");
    sqlite3_str_appendall(text, "?)");
    int status = prepare(store, text, out_insert);
    text = sqlite3_str_new(store->database);
    sqlite3_str_appendall(text, "SELECT run, status FROM runs WHERE ");
    put_columns(text, plan, true, false, "\"%w\" = ? AND ");
    sqlite3_str_appendall(text, "seed = ?");
    return status == EXIT_FINE ? prepare(store, text, out_find) : (sqlite3_free(sqlite3_str_finish(text)), status);
}

/* Notes a run that is to be done, or was. */
static void add_job(sweep_store *store, uint64_t run, sqlite3_stmt *found)
{
    const char *status = (const char *)sqlite3_column_text(found, 1);
    bool is_pending = !status || strcmp(status, "pending") == 0, is_done = status && strcmp(status, "done") == 0;
    if (is_pending || (store->plan->options.retry && !is_done)) {
        MICAP_ASSERT(store->jobs, "there is room for all runs of the plan");
        store->jobs[store->job_count++] = (sweep_job){run, (uint64_t)sqlite3_column_int64(found, 0)};
    } else {
        ++store->old_count;
        store->old_failed_count += !is_done;
    }
}

static int find_jobs(sweep_store *store)
{
    sqlite3_stmt *insert = NULL, *find = NULL;
    int status = prepare_rows(store, &insert, &find);
    store->jobs = status == EXIT_FINE ? malloc(store->plan->run_count * sizeof *store->jobs) : NULL;
    if (status == EXIT_FINE && !store->jobs)
        status = complain("out of memory");
    for (uint64_t run = 0; status == EXIT_FINE && run < store->plan->run_count; ++run) {
        bind_parameters(store, insert, run);
        bind_parameters(store, find, run);
        if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_step(find) != SQLITE_ROW)
            status = fail(store);
        else
            add_job(store, run, find);
        sqlite3_reset(insert);
        sqlite3_reset(find);
    }
    sqlite3_finalize(insert);
    sqlite3_finalize(find);
    return status;
}

/* ---- results */

static int prepare_results(sweep_store *store)
{
    const sweep_plan *plan = store->plan;
    sqlite3_str *text = sqlite3_str_new(store->database);
    sqlite3_str_appendall(text, "UPDATE runs SET status = ?, message = ?, frames = ?, hash = ?");
    put_columns(text, plan, false, true, ", \"%w\" = ?");
    sqlite3_str_appendall(text, " WHERE run = ?");
    int status = prepare(store, text, &store->finish);
    text = sqlite3_str_new(store->database);
    sqlite3_str_appendall(text, "INSERT OR REPLACE INTO samples VALUES (?, ?");
    put_columns(text, plan, false, true, ", ?%.0s");
    sqlite3_str_appendall(text, ")");
    status =
        status == EXIT_FINE ? prepare(store, text, &store->sample) : (sqlite3_free(sqlite3_str_finish(text)), status);
    if (status != EXIT_FINE)
        return status;
    text = sqlite3_str_new(store->database);
    sqlite3_str_appendall(text, "INSERT OR REPLACE INTO timings VALUES (?, ?)");
    return prepare(store, text, &store->time);
}

int sweep_store_open(sweep_store *store, const sweep_plan *plan)
{
    *store = (sweep_store){.plan = plan, .path = plan->options.output};
    if (sqlite3_open(store->path, &store->database) != SQLITE_OK)
        return fail(store);
    sqlite3_busy_timeout(store->database, BUSY_MS);
    int status = execute(store, "BEGIN IMMEDIATE");
    if (status == EXIT_FINE)
        status = settle_tables(store);
    if (status == EXIT_FINE)
        status = find_jobs(store);
    if (status == EXIT_FINE)
        status = execute(store, "COMMIT");
    return status == EXIT_FINE ? prepare_results(store) : status;
}

/* Binds a number as an integer if it is one, NULL for NaN, and returns the next position. */
static int bind_number(sqlite3_stmt *statement, int at, double number)
{
    if (isnan(number))
        sqlite3_bind_null(statement, at);
    else if (number == floor(number) && fabs(number) < 9007199254740992.0)
        sqlite3_bind_int64(statement, at, (sqlite3_int64)number);
    else
        sqlite3_bind_double(statement, at, number);
    return at + 1;
}

static int step_once(const sweep_store *store, sqlite3_stmt *statement)
{
    int result = sqlite3_step(statement);
    sqlite3_reset(statement);
    return result == SQLITE_DONE ? EXIT_FINE : fail(store);
}

static int put_samples(sweep_store *store, const sweep_result *result)
{
    uint32_t count = store->plan->measurement_count;
    int status = EXIT_FINE;
    bool has_end = result->status == SWEEP_DONE; /* it is in table runs */
    for (uint64_t i = 0; status == EXIT_FINE && i + has_end < result->sample_count; ++i) {
        const double *sample = sweep_result_sample(store->plan, result, i);
        sqlite3_bind_int64(store->sample, 1, (sqlite3_int64)result->job.row);
        for (uint32_t k = 0, at = 2; k < count + 1; ++k)
            at = (uint32_t)bind_number(store->sample, (int)at, sample[k]);
        status = step_once(store, store->sample);
    }
    return status;
}

static int put_row(sweep_store *store, const sweep_result *result)
{
    char hash[17];
    bool is_done = result->status == SWEEP_DONE;
    const double *end = is_done ? sweep_result_sample(store->plan, result, result->sample_count - 1) + 1 : NULL;
    snprintf(hash, sizeof hash, "%016" PRIx64, result->hash);
    sqlite3_bind_text(store->finish, 1, status_words[result->status], -1, SQLITE_STATIC);
    sqlite3_bind_text(store->finish, 2, result->message[0] ? result->message : NULL, -1, SQLITE_STATIC);
    if (is_done || result->status == SWEEP_FAILED)
        sqlite3_bind_int64(store->finish, 3, (sqlite3_int64)result->frame_count);
    else
        sqlite3_bind_null(store->finish, 3);
    sqlite3_bind_text(store->finish, 4, is_done ? hash : NULL, -1, SQLITE_STATIC);
    int at = 5;
    for (uint32_t i = 0; i < store->plan->measurement_count; ++i)
        at = bind_number(store->finish, at, end ? end[i] : NAN);
    sqlite3_bind_int64(store->finish, at, (sqlite3_int64)result->job.row);
    return step_once(store, store->finish);
}

int sweep_store_put(sweep_store *store, const sweep_result *result)
{
    if (!store->is_open) {
        if (execute(store, "BEGIN IMMEDIATE") != EXIT_FINE)
            return EXIT_BAD;
        store->is_open = true;
        store->opened_ns = micap_clock_ns();
    }
    int status = put_row(store, result);
    if (status == EXIT_FINE)
        status = put_samples(store, result);
    sqlite3_bind_int64(store->time, 1, (sqlite3_int64)result->job.row);
    sqlite3_bind_double(store->time, 2, result->seconds);
    if (status == EXIT_FINE)
        status = step_once(store, store->time);
    return status == EXIT_FINE && micap_clock_ns() - store->opened_ns > COMMIT_NS ? sweep_store_commit(store) : status;
}

int sweep_store_commit(sweep_store *store)
{
    if (!store->is_open)
        return EXIT_FINE;
    store->is_open = false;
    return execute(store, "COMMIT");
}

void sweep_store_close(sweep_store *store)
{
    sqlite3_finalize(store->finish);
    sqlite3_finalize(store->sample);
    sqlite3_finalize(store->time);
    sqlite3_close(store->database);
    free(store->jobs);
}
