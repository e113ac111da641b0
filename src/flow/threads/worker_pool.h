/* The worker pool: the threads that run the jobs of a world, and how they find jobs, steal from each other and sleep.
 *
 *     worker_pool            threads, stealing, sleeping, the user's scheduler
 *     work_stealing_deque    the queue of one worker
 *
 * A batch is a function and a number of jobs. A worker submits a batch by pushing its range on a deque of its own. A worker
 * that takes a range halves it, keeps the lower half and leaves the upper half for others to steal. A thread that waits for a
 * batch runs other jobs meanwhile, so a pool of any size, even of one, completes everything however deep parallel work
 * nests: no thread ever waits for another to become free.
 *
 * Worker 0 is the owner of the world. The others are threads of the pool, started with the first batch that needs them, or
 * helpers from the user's scheduler, which are requested when there are jobs, run while they find some, and return. An idle
 * worker looks for jobs for a short time and then sleeps on one condition. */
#ifndef MICAP_FLOW_THREADS_WORKER_POOL_H
#define MICAP_FLOW_THREADS_WORKER_POOL_H

#include "base/memory.h"
#include "flow/threads/work_stealing_deque.h"
#include "mica/task.h"

#include <pthread.h>

enum { MICAP_PRIORITIES = 3 }; /* 0 runs first */

/* Runs one job. */
typedef void (*micap_job_fn)(void *data, uint32_t job, uint32_t worker);

/* Must live until all jobs are done: mostly on the stack of the function that waits for it. */
typedef struct micap_job_batch {
    micap_job_fn fn;
    void *data;
    uint32_t priority;
    atomic_uint left; /* jobs that are not done */
    /* Called by the worker that ran the last job. NULL if a thread waits for the batch. */
    void (*done)(struct micap_job_batch *batch, uint32_t worker);
} micap_job_batch;

struct micap_worker_pool;

typedef struct micap_worker {
    micap_deque deques[MICAP_PRIORITIES];
    struct micap_worker_pool *pool;
    pthread_t thread;
    uint32_t index;
    uint32_t next_victim;
    bool started;
    atomic_bool busy; /* a helper works under this index */
} micap_worker;

typedef struct micap_worker_pool {
    micap_memory *memory;
    micap_worker *workers;
    uint32_t worker_count;
    bool started;
    /* Sleeping: the event counter rises when there is something new. A worker that read the counter before it looked for jobs
     * may sleep until the counter changes. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_uint sleepers;
    atomic_uint event;
    atomic_bool ending;
    /* The user's scheduler. */
    mica_scheduler scheduler; /* submit is NULL: the pool has its own threads */
    atomic_uint helpers;      /* requested and not returned yet */
    void **tickets;
    uint32_t ticket_count;
    uint32_t ticket_capacity;
} micap_worker_pool;

/* Creates a pool without starting threads. Returns NULL if memory is short. */
micap_worker_pool *micap_worker_pool_create(micap_memory *memory, uint32_t worker_count,
                                            const mica_scheduler *scheduler);
/* Ends the threads. NULL is a no-op. */
void micap_worker_pool_destroy(micap_worker_pool *pool);

/* Returns the index of the calling thread in the pool, or 0, the owner, for any other thread. */
uint32_t micap_worker_pool_index(const micap_worker_pool *pool);

/* Submits jobs [0, count) of a batch as a worker of the pool. If the deque of the worker is full, it runs them at once. */
void micap_worker_pool_submit(micap_worker_pool *pool, uint32_t worker, micap_job_batch *batch, uint32_t count);

/* Runs jobs until the counter is zero. */
void micap_worker_pool_work_until(micap_worker_pool *pool, uint32_t worker, const atomic_uint *left);

/* Submits a batch and returns when it is done. */
void micap_worker_pool_run(micap_worker_pool *pool, uint32_t worker, micap_job_fn fn, void *data, uint32_t count);

/* Waits until the helpers of the user's scheduler have returned. Called by the owner when no job is left. */
void micap_worker_pool_join_helpers(micap_worker_pool *pool);

#endif
