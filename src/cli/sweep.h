/* mica sweep. sweep_command.c hands out runs and stores results; sweep_plan.c says which runs there are and sweep_measure.c what is measured;
 * sweep_run.c does one run, in a process of sweep_workers.c; sweep_ranks.c connects the ranks of an MPI job; sweep_store.c is the database. */
#ifndef MICAP_CLI_SWEEP_H
#define MICAP_CLI_SWEEP_H

#include "cli/model.h"
#include "mica/module.h"
#include "mica/query.h"
#include "os/process.h"

/* ---- plan */

/* A field of a singleton, and the values it gets. */
typedef struct sweep_parameter {
    char column[128];
    char component[96];
    char path[96];
    char **values; /* as text, see mica/value.h */
    uint32_t value_count;
    bool is_number;
} sweep_parameter;

typedef struct sweep_measurement {
    char column[128];
    char text[256];
} sweep_measurement;

enum { MEASUREMENTS_MAX = 2 * OPTION_TEXTS_MAX };

typedef struct sweep_plan {
    options options; /* of each run */
    sweep_parameter parameters[OPTION_TEXTS_MAX];
    uint32_t parameter_count;
    sweep_measurement measurements[MEASUREMENTS_MAX];
    uint32_t measurement_count;
    uint64_t seed_first;
    uint64_t seed_count;
    uint64_t run_count; /* all combinations of values and seeds; the seed changes fastest */
} sweep_plan;

/* Loads the modules once to look up parameters and measurements. Returns EXIT_FINE, or EXIT_BAD with a message. Free the plan in either case. */
int sweep_plan_make(sweep_plan *plan, const options *options);
void sweep_plan_free(sweep_plan *plan);

const char *sweep_plan_value(const sweep_plan *plan, uint64_t run, uint32_t parameter);
uint64_t sweep_plan_seed(const sweep_plan *plan, uint64_t run);

/* ---- measurements */

/* The measurements of a world, ready to be made. */
typedef struct sweep_gauge {
    int kind;
    mica_query *query; /* NULL: a field of a singleton */
    mica_component component;
    char path[96];
} sweep_gauge;

/* Looks up one measurement. Returns false and says what is wrong. */
bool sweep_gauge_open(sweep_gauge *gauge, mica_world *world, const char *text, char *out_error, size_t error_bytes);
void sweep_gauge_close(sweep_gauge *gauge);

/* Returns the number; NaN if there is none, as the mean of nothing. */
double sweep_gauge_read(const sweep_gauge *gauge, mica_world *world);

/* ---- runs and processes */

typedef struct sweep_job {
    uint64_t run; /* in the plan */
    uint64_t row; /* in the database */
} sweep_job;

typedef enum sweep_status { SWEEP_DONE, SWEEP_FAILED, SWEEP_CRASHED, SWEEP_TIMEOUT } sweep_status;

/* What a run found. The samples follow, the last one from the end of the run: a frame and the measurements of each. */
typedef struct sweep_result {
    sweep_job job;
    uint64_t byte_count; /* with the samples */
    uint64_t hash;
    uint64_t frame_count;
    uint64_t sample_count;
    double seconds;
    sweep_status status;
    char message[256];
} sweep_result;

/* A sample: the number of the frame as a double, and the measurements. */
static inline const double *sweep_result_sample(const sweep_plan *plan, const sweep_result *result, uint64_t position)
{
    return (const double *)(result + 1) + position * (plan->measurement_count + 1);
}

/* Does a run. Free the result; NULL if memory is short. */
sweep_result *sweep_run(const sweep_plan *plan, sweep_job job);

/* Processes that each do one run after the other, in a process of its own. */
typedef struct sweep_workers {
    const sweep_plan *plan;
    uint32_t count;
    micap_process processes[PROCESSES_MAX];
    int channels[PROCESSES_MAX]; /* -1: ended */
    sweep_job jobs[PROCESSES_MAX];
    bool is_busy[PROCESSES_MAX];
} sweep_workers;

/* Starts the processes, before the program has threads. Returns EXIT_FINE, or EXIT_BAD with a message. */
int sweep_workers_start(sweep_workers *workers, const sweep_plan *plan, uint32_t count);
void sweep_workers_end(sweep_workers *workers);

/* Returns a worker without a run, or -1. */
int sweep_workers_idle(const sweep_workers *workers);
bool sweep_workers_are_busy(const sweep_workers *workers);
void sweep_workers_give(sweep_workers *workers, int worker, sweep_job job);

/* A result without samples, for a run that could not be done. NULL if memory is short. */
sweep_result *sweep_workers_fail(sweep_job job, sweep_status status, const char *how);

/* Waits for a result, at most for the time. Returns NULL if there is none; otherwise free it. */
sweep_result *sweep_workers_take(sweep_workers *workers, int milliseconds);

/* ---- ranks: without mpirun, this is rank 0 of one. */

typedef struct sweep_ranks {
    struct mica_ranks *ranks; /* NULL: one rank */
    uint32_t rank;
    uint32_t rank_count;
} sweep_ranks;

typedef enum sweep_message_kind { SWEEP_ASK, SWEEP_RESULT, SWEEP_BYE, SWEEP_JOB, SWEEP_END } sweep_message_kind;

/* What ranks send: of SWEEP_RESULT, the result follows. */
typedef struct sweep_message {
    sweep_message_kind kind;
    sweep_job job; /* of SWEEP_JOB */
} sweep_message;

/* Whether the program was started by mpirun. */
bool sweep_ranks_are_launched(void);
/* Afterwards this process, and those that it starts, were not. */
void sweep_ranks_forget(void);
int sweep_ranks_open(sweep_ranks *ranks);
void sweep_ranks_close(sweep_ranks *ranks);
bool sweep_ranks_send(sweep_ranks *ranks, uint32_t to, sweep_message message, const sweep_result *result);
/* Returns false if nothing has arrived. Free the result, which is NULL except for SWEEP_RESULT. */
bool sweep_ranks_receive(sweep_ranks *ranks, uint32_t *out_from, sweep_message *out_message, sweep_result **out_result);

/* ---- the database */

typedef struct sweep_store {
    const sweep_plan *plan;
    const char *path;
    struct sqlite3 *database;
    struct sqlite3_stmt *finish, *sample, *time;
    bool is_open; /* a transaction */
    uint64_t opened_ns;
    sweep_job *jobs; /* to do */
    uint64_t job_count;
    uint64_t old_count; /* rows of the plan that earlier calls finished */
    uint64_t old_failed_count;
} sweep_store;

/* Creates or continues a database and finds the runs that are to be done. Returns EXIT_FINE, or EXIT_BAD with a message. Close it in either case. */
int sweep_store_open(sweep_store *store, const sweep_plan *plan);
int sweep_store_put(sweep_store *store, const sweep_result *result);
/* Makes what was put last permanent. */
int sweep_store_commit(sweep_store *store);
void sweep_store_close(sweep_store *store);

#endif
