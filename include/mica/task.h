/* Mica, task: work over several threads, and whose threads they are.
 *
 *     static void blur(uint32_t begin, uint32_t end, void *image) { ... }
 *     mica_parallel_for(world, image.height, 16, blur, &image);
 *
 * Works everywhere: outside of systems, and inside one, where the threads that run systems help each other. A thread that waits works
 * meanwhile, so that nothing can lock up, however deep the nesting.
 *
 * The workers are made when there is first something for them to do. With a scheduler of your own, Mica makes no threads:
 * it asks for helpers, and gets on without them when none come.
 */
#ifndef MICA_TASK_H
#define MICA_TASK_H

#include "mica/query.h"

MICA_BEGIN

/* Runs until there is nothing to help with at the moment. */
typedef void (*mica_task_fn)(void *data);

/* A scheduler of your own. The thread that calls mica_step does all the work that nobody else takes, so that a helper may
 * come late or never; but each one that was submitted must have run when wait returns. */
typedef struct mica_scheduler {
    /* Lets fn(data) run once, on any thread, as soon as one is free. May be called from any thread that works. Returns what
     * wait needs. */
    void *(*submit)(mica_task_fn fn, void *data, void *context);
    /* Returns when that task has run. Called by the owner, once for each task submitted. */
    void (*wait)(void *task, void *context);
    void *context;
} mica_scheduler;

/* Handles the elements from `begin` to before `end`. */
typedef void (*mica_range_fn)(uint32_t begin, uint32_t end, void *context);

/* Calls the function for pieces of `grain` elements (the last may be smaller; 0: one that suits) that together are
 * 0 to count - 1, over all workers, and returns when all are done. The pieces are the same for any number of workers.
 * Threads: owner; inside a system, the system's own. */
MICA_API void mica_parallel_for(mica_world *world, uint32_t count, uint32_t grain, mica_range_fn fn, void *context);

/* A sum, a smallest, a box: anything that combines piece by piece. The total is the same, bit for bit, for any number of
 * workers: pieces don't depend on it, and are combined in their order, also where the operation rounds. */
typedef struct mica_reduction {
    const void *zero;                                                      /* what a piece starts with */
    uint32_t bytes;                                                        /* of it, up to MICA_REDUCTION_BYTES_MAX */
    void (*range)(uint32_t begin, uint32_t end, void *sum, void *context); /* adds elements: for mica_reduce_range */
    void (*view)(mica_view *view, void *sum, void *context);               /* adds rows: for mica_reduce_query */
    void (*combine)(void *sum, const void *later, void *context);          /* adds what comes behind it */
    void *context;
} mica_reduction;

enum { MICA_REDUCTION_BYTES_MAX = 1024 };

/* Reduces 0 to count - 1 in pieces of `grain` and fills `out_sum`. Returns MICA_ERROR_MEMORY or MICA_ERROR_INVALID, with
 * `out_sum` untouched. Threads: as mica_parallel_for, owner or the system's own. */
MICA_API mica_result mica_reduce_range(mica_world *world, uint32_t count, uint32_t grain, const mica_reduction *how,
                                       void *out_sum);

/* Reduces the rows of a query, in views of up to MICA_VIEW_ROWS rows. Threads: as above. */
MICA_API mica_result mica_reduce_query(mica_query *query, const mica_reduction *how, void *out_sum);

/* Returns how many threads work for this world, the caller among them. Threads: reader. */
MICA_API uint32_t mica_worker_count(const mica_world *world);

MICA_END
#endif
