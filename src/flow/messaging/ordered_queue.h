/* A queue that many write at once and that reads in the order (system, slice, call), whoever wrote when.
 *
 * Each worker fills blocks of its own from front to back. What one piece of work writes while a worker stays with it lies
 * one behind the other: a run. Runs are linked by lane, and lanes, when the phase has ended, to one list. So writing takes
 * no lock, and bringing it into order moves nothing and can't fail.
 *
 *     block of worker 0   | run, lane 3 | run, lane 4        | run, lane 9 |
 *     block of worker 1   | run, lane 5     | run, lane 3 |                     lane 3 was continued by another worker
 *     list                  3 3 4 5 9
 *
 * Places in the queue are counted in bytes since it was made. What was appended stays where it is until it is dropped. */
#ifndef MICAP_FLOW_MESSAGING_ORDERED_QUEUE_H
#define MICAP_FLOW_MESSAGING_ORDERED_QUEUE_H

#include "base/assert.h"
#include "base/memory.h"
#include "flow/schedule/listener.h"

typedef struct micap_queue_block {
    struct micap_queue_block *next; /* of the spare ones */
    size_t bytes;                   /* with this header */
    size_t used;
    uint32_t run_count; /* not dropped */
    uint32_t writer;    /* whose it is */
} micap_queue_block;

/* The header of a run, in its block, right before what was written. */
typedef struct micap_run {
    struct micap_run *next;
    micap_queue_block *block;
    char *begin;
    char *end;
    uint64_t location; /* of its first byte, once it is in the list */
    uint64_t frame;    /* when it was put there */
} micap_run;

/* A line of its own per worker, or they would slow each other down. */
typedef struct micap_writer {
    _Alignas(MICAP_CACHE_LINE) char *at; /* where the next record goes, */
    char *limit;                         /* and the end of its room; both NULL when no run is open */
    micap_run *run;
    micap_queue_block *block;
    micap_queue_block *spare;
    uint32_t lane; /* of the open run; MICAP_LANE_NONE is the list itself */
    uint32_t lane_low, lane_end;
    uint32_t index;
} micap_writer;

typedef struct micap_queue {
    micap_memory *memory;
    micap_writer *writers;
    uint32_t writer_count;
    uint32_t alignment; /* of records */
    struct micap_lane_runs {
        micap_run *first, *last;
    } * lanes;
    uint32_t lane_capacity;
    micap_run *first, *last; /* the list */
    uint64_t begin, end;     /* the places in it that count: what is before `begin` is only still there */
    uint64_t frame;          /* the one that runs, or ran last */
} micap_queue;

void micap_queue_init(micap_queue *queue, micap_memory *memory, uint32_t alignment);
void micap_queue_free(micap_queue *queue);

/* Makes room for so many lanes and workers: before a phase begins, and before the first append. False: memory is short. */
bool micap_queue_prepare(micap_queue *queue, uint32_t worker_count, uint32_t lane_count);

/* The part of append that is not taken often: opens a run. */
MICAP_COLD void *micap_queue_append_slowly(micap_queue *queue, uint32_t worker, uint32_t lane, size_t bytes);

/* Whether this worker has a run of this lane open. */
static inline bool micap_queue_is_open(const micap_queue *queue, uint32_t worker, uint32_t lane)
{
    const micap_writer *writer = &queue->writers[worker];
    return writer->run && writer->lane == lane;
}

/* Room for a record of a multiple of the alignment; NULL when memory is short. With MICAP_LANE_NONE, by the owner while no
 * system runs, it is behind all in the list at once. */
static inline void *micap_queue_append(micap_queue *queue, uint32_t worker, uint32_t lane, size_t bytes)
{
    micap_writer *writer = &queue->writers[worker];
    if (MICAP_UNLIKELY(writer->lane != lane || (size_t)(writer->limit - writer->at) < bytes))
        return micap_queue_append_slowly(queue, worker, lane, bytes);
    char *record = writer->at;
    writer->at += bytes;
    writer->run->end = writer->at;
    if (lane == MICAP_LANE_NONE)
        queue->end += bytes;
    return record;
}

/* All lanes have ended: puts them into the list. */
void micap_queue_commit(micap_queue *queue);

/* Gives back the memory of runs that lie before this place as a whole. Nobody may still look at them. */
void micap_queue_drop(micap_queue *queue, uint64_t location);

/* Gives back the memory of blocks without runs. Not while systems run. */
void micap_queue_trim(micap_queue *queue);

/* A copy of what is in the list, while no system runs; NULL when memory is short. Loading it, or with NULL emptying the queue, can't fail
 * once it was prepared. */
typedef struct micap_saved_queue micap_saved_queue;
micap_saved_queue *micap_queue_save(const micap_queue *queue);
void micap_queue_drop_saved(const micap_queue *queue, micap_saved_queue *saved);
bool micap_queue_prepare_load(micap_queue *queue, const micap_saved_queue *saved);
void micap_queue_load(micap_queue *queue, const micap_saved_queue *saved);

/* For these: room for that many bytes in one spare block; what is appended begins a run; nothing is left. */
bool micap_queue_spare(micap_queue *queue, size_t bytes);
void micap_queue_close(micap_queue *queue);
void micap_queue_clear(micap_queue *queue);

static inline uint64_t micap_run_end(const micap_run *run)
{
    return run->location + (uint64_t)(run->end - run->begin);
}

/* Whether counts, links and places agree; for validation. */
bool micap_queue_is_sound(const micap_queue *queue);

#endif
