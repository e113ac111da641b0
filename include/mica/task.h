/* Mica, task: parallel loops, reductions, and custom schedulers.
 *
 *     static void blur(uint32_t begin, uint32_t end, void *image) { ... }
 *     mica_parallel_for(world, image.height, 16, blur, &image);
 *
 * These functions work outside and inside systems. A thread that waits works meanwhile, so nesting cannot deadlock.
 *
 * Worker threads are created on first use. With a custom scheduler Mica creates no threads: it asks for helpers, and works
 * without them if none come.
 */
#ifndef MICA_TASK_H
#define MICA_TASK_H

#include "mica/query.h"

MICA_BEGIN

/* A task: works until there is no more work at the moment. */
typedef void (*mica_task_fn)(void *data);

/* A custom scheduler. The thread that calls mica_step does all work that no helper takes, so helpers may come late. But each
 * submitted task must have run when wait returns. */
typedef struct mica_scheduler {
    /* Runs fn(data) once, on any thread. Can be called from any worker. Returns a handle for wait. */
    void *(*submit)(mica_task_fn fn, void *data, void *context);
    /* Returns when the task has run. Called by the owner, once per submitted task. */
    void (*wait)(void *task, void *context);
    void *context;
} mica_scheduler;

/* Processes the elements begin to end - 1. */
typedef void (*mica_range_fn)(uint32_t begin, uint32_t end, void *context);

/* Calls the function for ranges of `grain` elements (0: chosen automatically) that cover 0 to count - 1, on all workers. Returns
 * when all are done. The ranges do not depend on the number of workers. Threads: owner; inside a system, the system's own. */
MICA_API void mica_parallel_for(mica_world *world, uint32_t count, uint32_t grain, mica_range_fn fn, void *context);

/* A reduction: a sum, a minimum, a bounding box. The result is bit-identical for any number of workers, even if the operation
 * rounds, because the parts do not depend on the workers and are combined in order. */
typedef struct mica_reduction {
    const void *zero; /* initial value of each part */
    uint32_t bytes;   /* its size, up to MICA_REDUCTION_BYTES_MAX */
    void (*range)(uint32_t begin, uint32_t end, void *sum,
                  void *context);                                 /* adds elements to a part: for mica_reduce_range */
    void (*view)(mica_view *view, void *sum, void *context);      /* adds rows to a part: for mica_reduce_query */
    void (*combine)(void *sum, const void *later, void *context); /* adds the following part */
    void *context;
} mica_reduction;

enum {
    MICA_WORKERS_MAX = 256, /* threads of a world, including the owner */
    MICA_REDUCTION_BYTES_MAX = 1024,
};

/* Reduces 0 to count - 1 in ranges of `grain` and writes the result to `out_sum`. Returns MICA_ERROR_MEMORY or MICA_ERROR_INVALID and
 * leaves `out_sum` unchanged on error. Threads: as mica_parallel_for, owner or the system's own. */
MICA_API mica_result mica_reduce_range(mica_world *world, uint32_t count, uint32_t grain, const mica_reduction *how,
                                       void *out_sum);

/* Reduces the rows of a query, in views of up to MICA_VIEW_ROWS rows. Threads: as above. */
MICA_API mica_result mica_reduce_query(mica_query *query, const mica_reduction *how, void *out_sum);

/* Returns the number of threads that work for this world, including the caller. Threads: reader. */
MICA_API uint32_t mica_worker_count(const mica_world *world);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_parallel_for(world, ...) mica_parallel_for(MICA_AT_(world), __VA_ARGS__)
#    define mica_reduce_range(world, ...) mica_reduce_range(MICA_AT_(world), __VA_ARGS__)
#    define mica_reduce_query(query, ...) mica_reduce_query(MICA_AT_(query), __VA_ARGS__)
#    define mica_worker_count(world) mica_worker_count(MICA_AT_(world))
#endif
#endif
