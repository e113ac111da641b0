/* The crew: the threads that work for a world, and how they find work, help each other and sleep.
 *
 * Work is a number of pieces and a function. Whoever has work offers it by pushing its range on a queue of his own; whoever
 * takes a range splits it, keeps one half and leaves the other to thieves. A thread that waits for work to end does other work
 * meanwhile, so that a crew of any size, even of one, gets everything done however deep parallel work nests: nobody
 * ever waits for a thread to become free.
 *
 * Worker 0 is the owner of the world. The others are threads of the crew, started with the first work that is worth it, or helpers lent by the
 * user's scheduler, who come when called, work while they find something, and leave. Idle workers look around for a short time
 * and then sleep on one condition. */
#ifndef MICAP_FLOW_THREADS_WORKER_POOL_H
#define MICAP_FLOW_THREADS_WORKER_POOL_H

#include "base/memory.h"
#include "flow/threads/work_stealing_deque.h"
#include "mica/task.h"

#include <pthread.h>

enum {
    MICAP_WORKERS_MAX = 256,
    MICAP_LEVELS = 3, /* of priority; 0 is urgent */
};

/* Runs one piece. */
typedef void (*micap_work_fn)(void *data, uint32_t piece, uint32_t worker);

/* Lives until all pieces are done: mostly on the stack of who waits for it. */
typedef struct micap_work {
    micap_work_fn fn;
    void *data;
    uint32_t level;
    atomic_uint left; /* pieces that are not done */
    /* Called by whoever did the last piece; NULL for work that somebody waits for. */
    void (*done)(struct micap_work *work, uint32_t worker);
} micap_work;

struct micap_crew;

typedef struct micap_worker {
    micap_deque queues[MICAP_LEVELS];
    struct micap_crew *crew;
    pthread_t thread;
    uint32_t index;
    uint32_t next_victim;
    bool started;
    atomic_bool busy; /* a helper works under this index */
} micap_worker;

typedef struct micap_crew {
    micap_memory *memory;
    micap_worker *workers;
    uint32_t worker_count;
    bool started;
    /* Sleep: an event counts up when there is something new, and those who saw the old count before they looked
     * around may sleep until it changes. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_uint sleepers;
    atomic_uint event;
    atomic_bool ending;
    /* The user's scheduler. */
    mica_scheduler scheduler; /* submit is NULL: threads of our own */
    atomic_uint helpers;      /* submitted and not yet leaving */
    void **tickets;
    uint32_t ticket_count;
    uint32_t ticket_capacity;
} micap_crew;

/* Makes a crew of that many; no threads yet. NULL when memory is short. */
micap_crew *micap_crew_create(micap_memory *memory, uint32_t worker_count, const mica_scheduler *scheduler);
/* Ends its threads; NULL is fine. */
void micap_crew_destroy(micap_crew *crew);

/* Which worker of the crew this thread is; 0, the owner, for a thread that is none. */
uint32_t micap_crew_here(const micap_crew *crew);

/* Offers pieces [0, count) of work to the crew, from a worker of it, or does them at once when its queue is full. */
void micap_crew_offer(micap_crew *crew, uint32_t worker, micap_work *work, uint32_t count);

/* Works until a counter is zero. */
void micap_crew_work_until(micap_crew *crew, uint32_t worker, const atomic_uint *left);

/* Both: runs all pieces over the crew and returns when they are done. */
void micap_crew_run(micap_crew *crew, uint32_t worker, micap_work_fn fn, void *data, uint32_t count);

/* Waits until helpers of the user's scheduler are gone. For the owner, when nothing is left to do. */
void micap_crew_dismiss(micap_crew *crew);

#endif
