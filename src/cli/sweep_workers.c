/* Each run has a process of its own, so that one that crashes or hangs is a row like any other. It is started by a worker, a process that was
 * started before this one had threads or MPI. What goes through a channel begins with its length. */
#include "cli/sweep.h"
#include "os/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a worker knows, and a run that it starts. */
typedef struct worker {
    const sweep_workers *workers; /* those that were started before */
    const sweep_plan *plan;
    int channel; /* to the tool */
    sweep_job job;
} worker;

/* Reads a result. Returns NULL at the end of the channel, and if memory is short. */
static sweep_result *read_result(int channel)
{
    uint64_t byte_count = 0;
    if (micap_channel_read(channel, &byte_count, sizeof byte_count) != sizeof byte_count)
        return NULL;
    sweep_result *result = malloc(byte_count);
    if (result && micap_channel_read(channel, result, byte_count) == byte_count)
        return result;
    free(result);
    return NULL;
}

static bool write_result(int channel, const sweep_result *result)
{
    return micap_channel_write(channel, &result->byte_count, sizeof result->byte_count) == sizeof result->byte_count &&
           micap_channel_write(channel, result, result->byte_count) == result->byte_count;
}

sweep_result *sweep_workers_fail(sweep_job job, sweep_status status, const char *how)
{
    sweep_result *result = calloc(1, sizeof *result);
    if (!result)
        return NULL;
    result->job = job;
    result->byte_count = sizeof *result;
    result->status = status;
    snprintf(result->message, sizeof result->message, "%s", how);
    return result;
}

/* The process of one run. */
static int do_run(int channel, void *context)
{
    const worker *worker = context;
    micap_channel_close(worker->channel);
    sweep_result *result = sweep_run(worker->plan, worker->job);
    bool is_written = result && write_result(channel, result);
    free(result);
    return is_written ? EXIT_FINE : EXIT_BAD;
}

/* Starts a run and waits for its result. Returns NULL if the tool has gone, or memory is short. */
static sweep_result *supervise(worker *worker)
{
    micap_process process;
    char how[128];
    uint64_t begin = micap_clock_ns();
    int problem = micap_process_start(&process, do_run, worker);
    if (problem) {
        snprintf(how, sizeof how, "its process can't be started: %s", strerror(problem));
        return sweep_workers_fail(worker->job, SWEEP_FAILED, how);
    }
    double limit = worker->plan->options.time_limit > 0 ? (double)worker->plan->options.time_limit : 1e9;
    int ready = -1;
    for (double left = limit; ready < 0 && left > 0; left = limit - (double)(micap_clock_ns() - begin) / 1e9)
        ready = micap_channel_wait((const int[]){worker->channel, process.channel}, 2, (int)fmin(left * 1000 + 1, 1e6));
    sweep_result *result = ready == 1 ? read_result(process.channel) : NULL;
    micap_process_end(&process, ready != 1, how, sizeof how);
    if (ready == 0)
        return NULL;
    if (ready < 0) {
        snprintf(how, sizeof how, "it took longer than %g s", limit);
        result = sweep_workers_fail(worker->job, SWEEP_TIMEOUT, how);
    } else if (!result) {
        result = sweep_workers_fail(worker->job, SWEEP_CRASHED, how[0] ? how : "it ended without a result");
    }
    if (result)
        result->seconds = (double)(micap_clock_ns() - begin) / 1e9;
    return result;
}

/* The process of a worker. */
static int work(int channel, void *context)
{
    worker *worker = context;
    worker->channel = channel;
    sweep_ranks_forget();                                 /* a run is no rank of the job */
    for (uint32_t i = 0; i < worker->workers->count; ++i) /* else they would not notice when the tool has gone */
        micap_channel_close(worker->workers->channels[i]);
    bool continues = true;
    while (continues && micap_channel_read(channel, &worker->job, sizeof worker->job) == sizeof worker->job) {
        sweep_result *result = supervise(worker);
        continues = result && write_result(channel, result);
        free(result);
    }
    return EXIT_FINE;
}

int sweep_workers_start(sweep_workers *workers, const sweep_plan *plan, uint32_t count)
{
    workers->plan = plan;
    workers->count = 0;
    worker worker = {.workers = workers, .plan = plan};
    while (workers->count < count) {
        micap_process *process = &workers->processes[workers->count];
        int problem = micap_process_start(process, work, &worker);
        if (problem)
            return complain("sweep: a process can't be started: %s", strerror(problem));
        workers->is_busy[workers->count] = false;
        workers->channels[workers->count++] = process->channel;
    }
    return EXIT_FINE;
}

static void end_worker(sweep_workers *workers, uint32_t worker, char *out_how, size_t how_bytes)
{
    micap_process_end(&workers->processes[worker], false, out_how, how_bytes);
    workers->channels[worker] = -1;
    workers->is_busy[worker] = false;
}

void sweep_workers_end(sweep_workers *workers)
{
    char how[128];
    for (uint32_t i = 0; i < workers->count; ++i)
        if (workers->channels[i] >= 0)
            end_worker(workers, i, how, sizeof how);
    workers->count = 0;
}

int sweep_workers_idle(const sweep_workers *workers)
{
    for (uint32_t i = 0; i < workers->count; ++i)
        if (workers->channels[i] >= 0 && !workers->is_busy[i])
            return (int)i;
    return -1;
}

bool sweep_workers_are_busy(const sweep_workers *workers)
{
    for (uint32_t i = 0; i < workers->count; ++i)
        if (workers->is_busy[i])
            return true;
    return false;
}

void sweep_workers_give(sweep_workers *workers, int worker, sweep_job job)
{
    workers->jobs[worker] = job;
    workers->is_busy[worker] = true;
    micap_channel_write(workers->channels[worker], &job, sizeof job); /* if it has gone, reading says so */
}

sweep_result *sweep_workers_take(sweep_workers *workers, int milliseconds)
{
    int ready = micap_channel_wait(workers->channels, workers->count, milliseconds);
    if (ready < 0)
        return NULL;
    sweep_result *result = read_result(workers->channels[ready]);
    if (result) {
        workers->is_busy[ready] = false;
        return result;
    }
    char how[128], text[192];
    bool was_busy = workers->is_busy[ready];
    end_worker(workers, (uint32_t)ready, how, sizeof how);
    snprintf(text, sizeof text, "the process that started it ended: %s", how);
    return was_busy ? sweep_workers_fail(workers->jobs[ready], SWEEP_CRASHED, text) : NULL;
}
