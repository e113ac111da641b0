/* mica sweep: hands out the runs of a plan. Rank 0 has the database; other ranks ask it for runs and send it results. */
#include "cli/sweep.h"
#include "os/clock.h"
#include "os/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    WAIT_MS = 100,     /* for a result of this computer */
    WAIT_RANKS_MS = 2, /* if ranks may ask, too */
    PROGRESS_NS = 100000000,
};

typedef struct sweep {
    sweep_plan plan;
    sweep_workers workers;
    sweep_ranks ranks;
    sweep_store store;
    uint64_t next_job;
    uint64_t finished_count; /* in this call */
    uint64_t failed_count;
    uint64_t first_failed_row;
    char first_message[256];
    uint32_t rank_count; /* other ranks that have not said goodbye */
    bool is_broken;      /* the database can't be written: no more runs */
    uint64_t begin_ns, shown_ns;
    bool shows_progress;
} sweep;

/* ---- progress */

static void show_progress(sweep *sweep)
{
    uint64_t now = micap_clock_ns();
    if (!sweep->shows_progress || now - sweep->shown_ns < PROGRESS_NS)
        return;
    sweep->shown_ns = now;
    double seconds = (double)(now - sweep->begin_ns) / 1e9;
    double left = (double)(sweep->store.job_count - sweep->finished_count);
    double rate = (double)sweep->finished_count / seconds;
    fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " runs", sweep->store.old_count + sweep->finished_count,
            sweep->plan.run_count);
    if (sweep->failed_count)
        fprintf(stderr, ", %" PRIu64 " failed", sweep->failed_count);
    if (sweep->finished_count)
        fprintf(stderr, ", %.3g per second, %.0f s left", rate, left / rate);
    fprintf(stderr, "\033[K"); /* the rest of the line */
}

static void end_progress(const sweep *sweep)
{
    if (sweep->shows_progress)
        fprintf(stderr, "\r\033[K");
}

static int print_summary(const sweep *sweep)
{
    uint64_t failed = sweep->failed_count + sweep->store.old_failed_count;
    printf("%" PRIu64 " runs: %" PRIu64 " done", sweep->plan.run_count,
           sweep->store.old_count + sweep->finished_count - failed);
    if (failed)
        printf(", %" PRIu64 " failed", failed);
    if (sweep->store.old_count)
        printf("; %" PRIu64 " in earlier calls", sweep->store.old_count);
    printf("; %s\n", sweep->store.path);
    if (sweep->failed_count)
        printf("run %" PRIu64 ": %s\n", sweep->first_failed_row, sweep->first_message);
    return fflush(stdout) == 0 ? EXIT_FINE : complain("standard output can't be written");
}

/* ---- rank 0 */

static bool has_job(const sweep *sweep)
{
    return !sweep->is_broken && sweep->next_job < sweep->store.job_count;
}

/* Stores and frees a result. */
static void finish_run(sweep *sweep, sweep_result *result)
{
    ++sweep->finished_count;
    if (result->status != SWEEP_DONE && (!sweep->failed_count++ || result->job.row < sweep->first_failed_row)) {
        sweep->first_failed_row = result->job.row;
        snprintf(sweep->first_message, sizeof sweep->first_message, "%s", result->message);
    }
    if (!sweep->is_broken && sweep_store_put(&sweep->store, result) != EXIT_FINE)
        sweep->is_broken = true;
    free(result);
}

/* Answers the ranks that ask. */
static void serve_ranks(sweep *sweep)
{
    uint32_t from;
    sweep_message message;
    sweep_result *result;
    while (sweep_ranks_receive(&sweep->ranks, &from, &message, &result)) {
        sweep_message answer = {.kind = SWEEP_END};
        if (result)
            finish_run(sweep, result);
        if (message.kind == SWEEP_BYE) {
            --sweep->rank_count;
            continue;
        }
        if (message.kind == SWEEP_ASK && has_job(sweep))
            answer = (sweep_message){.kind = SWEEP_JOB, .job = sweep->store.jobs[sweep->next_job++]};
        if (message.kind == SWEEP_ASK && !sweep_ranks_send(&sweep->ranks, from, answer, NULL))
            sweep->is_broken = true;
    }
}

/* Runs all jobs. Returns EXIT_FINE, or EXIT_BAD with a message. */
static int lead(sweep *sweep)
{
    while (has_job(sweep) || sweep_workers_are_busy(&sweep->workers) || sweep->rank_count) {
        int worker;
        while (has_job(sweep) && (worker = sweep_workers_idle(&sweep->workers)) >= 0)
            sweep_workers_give(&sweep->workers, worker, sweep->store.jobs[sweep->next_job++]);
        if (!sweep_workers_are_busy(&sweep->workers) && !sweep->rank_count && has_job(sweep))
            return complain("sweep: all processes that start runs have ended");
        sweep_result *result = sweep_workers_take(&sweep->workers, sweep->rank_count ? WAIT_RANKS_MS : WAIT_MS);
        if (result)
            finish_run(sweep, result);
        serve_ranks(sweep);
        show_progress(sweep);
    }
    return sweep->is_broken ? EXIT_BAD : sweep_store_commit(&sweep->store);
}

/* ---- other ranks */

static bool send_to_leader(sweep *sweep, sweep_message_kind kind, const sweep_result *result)
{
    return sweep_ranks_send(&sweep->ranks, 0, (sweep_message){.kind = kind}, result);
}

/* Sends and frees a result. False if that is impossible: then this rank ends. */
static bool report_run(sweep *sweep, sweep_result *result)
{
    bool is_sent = result && send_to_leader(sweep, SWEEP_RESULT, result);
    free(result);
    return is_sent;
}

/* Does what the leader answered. */
static bool take_answers(sweep *sweep, uint32_t *asked)
{
    uint32_t from;
    sweep_message message;
    sweep_result *result;
    bool is_fine = true;
    while (is_fine && sweep_ranks_receive(&sweep->ranks, &from, &message, &result)) {
        int worker = sweep_workers_idle(&sweep->workers);
        --*asked;
        if (message.kind == SWEEP_JOB && worker >= 0)
            sweep_workers_give(&sweep->workers, worker, message.job);
        else if (message.kind == SWEEP_JOB)
            is_fine = report_run(sweep, sweep_workers_fail(message.job, SWEEP_CRASHED, "its process has ended"));
    }
    return is_fine;
}

/* Asks for a run for each worker, and again after each result, until an answer is that there are no more. */
static int follow(sweep *sweep)
{
    uint32_t asked = 0;
    bool is_fine = true;
    for (; is_fine && asked < sweep->workers.count; ++asked)
        is_fine = send_to_leader(sweep, SWEEP_ASK, NULL);
    while (is_fine && (asked || sweep_workers_are_busy(&sweep->workers))) {
        is_fine = take_answers(sweep, &asked);
        sweep_result *result = sweep_workers_take(&sweep->workers, WAIT_RANKS_MS);
        if (!result || !is_fine)
            continue;
        is_fine = report_run(sweep, result);
        if (is_fine && sweep_workers_idle(&sweep->workers) >= 0) {
            is_fine = send_to_leader(sweep, SWEEP_ASK, NULL);
            ++asked;
        }
    }
    return send_to_leader(sweep, SWEEP_BYE, NULL) && is_fine ? EXIT_FINE : EXIT_BAD;
}

/* ---- the command */

static int run_leader(sweep *sweep, bool is_quiet)
{
    int status = sweep_store_open(&sweep->store, &sweep->plan);
    sweep->is_broken = status != EXIT_FINE; /* ranks that ask get no runs */
    sweep->shows_progress = !sweep->is_broken && !is_quiet && micap_is_terminal(stderr);
    sweep->rank_count = sweep->ranks.rank_count - 1;
    sweep->begin_ns = micap_clock_ns();
    int led = lead(sweep);
    end_progress(sweep);
    status = status == EXIT_FINE ? led : status;
    if (status == EXIT_FINE && !is_quiet)
        status = print_summary(sweep);
    if (status == EXIT_FINE && sweep->failed_count + sweep->store.old_failed_count)
        status = EXIT_DIFFERENT;
    sweep_store_close(&sweep->store);
    return status;
}

int run_sweep(const options *options)
{
    static sweep sweep;
    uint32_t count = options->process_count       ? options->process_count
                     : sweep_ranks_are_launched() ? 1
                                                  : micap_core_count();
    int status = sweep_plan_make(&sweep.plan, options);
    if (status == EXIT_FINE)
        status = sweep_workers_start(&sweep.workers, &sweep.plan, count < PROCESSES_MAX ? count : PROCESSES_MAX);
    if (status == EXIT_FINE)
        status = sweep_ranks_open(&sweep.ranks);
    if (status == EXIT_FINE)
        status = sweep.ranks.rank == 0 ? run_leader(&sweep, options->quiet) : follow(&sweep);
    sweep_workers_end(&sweep.workers);
    sweep_ranks_close(&sweep.ranks);
    sweep_plan_free(&sweep.plan);
    return status;
}
