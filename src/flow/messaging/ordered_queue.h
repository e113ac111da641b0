/* A queue that many jobs write at once, and that is read in the order (system, slice, call), whichever thread wrote when.
 *
 * Each worker fills blocks of its own from front to back. What a worker writes for one job without interruption is a span:
 * contiguous memory. Spans are linked by sequence number (schedule/job_run.h) and, when the phase has ended, to one list. So
 * writing takes no lock, and bringing it into order moves nothing and can't fail.
 *
 *     block of worker 0   | span, sequence 3 | span, sequence 4     | span, sequence 9 |
 *     block of worker 1   | span, sequence 5     | span, sequence 3 |       3 was continued by another worker
 *     list                  3 3 4 5 9
 *
 * Positions in the queue are counted in bytes since it was created. What was appended does not move until it is dropped. */
#ifndef MICAP_FLOW_MESSAGING_ORDERED_QUEUE_H
#define MICAP_FLOW_MESSAGING_ORDERED_QUEUE_H

#include "base/assert.h"
#include "base/byte_stream.h"
#include "base/memory.h"
#include "flow/schedule/job_run.h"
#include "type/type.h"

#include <stdatomic.h>

typedef struct micap_queue_block {
    struct micap_queue_block *next; /* of the spare ones */
    size_t bytes;                   /* with this header */
    size_t used;
    uint32_t span_count; /* not dropped */
    uint32_t writer;     /* that owns it */
} micap_queue_block;

/* The header of a span, in its block, right before its content. */
typedef struct micap_queue_span {
    struct micap_queue_span *next;
    micap_queue_block *block;
    char *begin;
    char *end;
    uint64_t position; /* of its first byte, once it is in the list */
    uint64_t frame;    /* in which it was added to the list */
} micap_queue_span;

/* One per worker, each in cache lines of its own. */
typedef struct micap_queue_writer {
    _Alignas(MICAP_CACHE_LINE) char *at; /* where the next entry goes, */
    char *limit;                         /* and the end of the block; both NULL if no span is open */
    micap_queue_span *span;
    micap_queue_block *block;
    micap_queue_block *spare;
    uint32_t sequence; /* of the open span; MICAP_SEQUENCE_NONE is the list itself */
    uint32_t first_sequence, sequence_end;
    uint32_t index;
} micap_queue_writer;

/* What entries own: text and lists. The functions are called with whole entries, one after the other. */
typedef struct micap_queue_life {
    /* Makes entries, which have the bytes of others, copies of these. False if memory is short: then they own nothing. */
    bool (*retain)(const struct micap_queue_life *life, char *begin, char *end);
    /* Gives up what they own. They are uninitialized afterwards. */
    void (*release)(const struct micap_queue_life *life, char *begin, char *end);
    const micap_type *type; /* of a value in each entry; NULL: entries say it themselves */
    uint32_t offset;        /* of the value */
    uint32_t entry_bytes;
} micap_queue_life;

typedef struct micap_saved_queue micap_saved_queue;

typedef struct micap_queue {
    micap_memory *memory;
    micap_queue_writer *writers;
    uint32_t writer_count;
    uint32_t alignment; /* of entries */
    struct micap_queue_sequence {
        micap_queue_span *first, *last;
    } * sequences; /* by sequence number */
    uint32_t sequence_capacity;
    micap_queue_span *first, *last; /* the list */
    uint64_t begin, end;            /* valid positions; spans before `begin` may still be in the list */
    uint64_t frame;                 /* the current or last one */
    micap_queue_life life;
    atomic_bool owns;            /* some entries may own something: then there are functions */
    micap_saved_queue *prepared; /* what will be loaded, if that owns something; else NULL */
} micap_queue;

void micap_queue_init(micap_queue *queue, micap_memory *memory, uint32_t alignment);
void micap_queue_free(micap_queue *queue);

/* Makes room for that many sequence numbers and workers, before a phase and before the first append. False if memory is
 * short. */
bool micap_queue_prepare(micap_queue *queue, uint32_t worker_count, uint32_t sequence_count);

/* The general path of append: opens a span. */
MICAP_COLD void *micap_queue_append_slowly(micap_queue *queue, uint32_t worker, uint32_t sequence, size_t bytes);

/* Whether this worker has a span of this sequence number open. */
static inline bool micap_queue_is_open(const micap_queue *queue, uint32_t worker, uint32_t sequence)
{
    const micap_queue_writer *writer = &queue->writers[worker];
    return writer->span && writer->sequence == sequence;
}

/* Returns room for an entry, a multiple of the alignment, or NULL if memory is short. With MICAP_SEQUENCE_NONE, which the
 * owner uses while no system runs, the entry is at the end of the list at once. */
static inline void *micap_queue_append(micap_queue *queue, uint32_t worker, uint32_t sequence, size_t bytes)
{
    micap_queue_writer *writer = &queue->writers[worker];
    if (MICAP_UNLIKELY(writer->sequence != sequence || (size_t)(writer->limit - writer->at) < bytes))
        return micap_queue_append_slowly(queue, worker, sequence, bytes);
    char *entry = writer->at;
    writer->at += bytes;
    writer->span->end = writer->at;
    if (sequence == MICAP_SEQUENCE_NONE)
        queue->end += bytes;
    return entry;
}

/* Removes the entry that this worker appended last. */
static inline void micap_queue_take_back(micap_queue *queue, uint32_t worker, size_t bytes)
{
    micap_queue_writer *writer = &queue->writers[worker];
    writer->at -= bytes;
    writer->span->end = writer->at;
    if (writer->sequence == MICAP_SEQUENCE_NONE)
        queue->end -= bytes;
}

/* Makes an entry, which was appended with the bytes of another, a copy of it. If memory is short, takes it back and returns false. */
bool micap_queue_own(micap_queue *queue, uint32_t worker, char *entry, size_t bytes);

/* All jobs have ended: moves their spans to the list. */
void micap_queue_commit(micap_queue *queue);

/* Drops the spans that end at or before this position. */
void micap_queue_drop(micap_queue *queue, uint64_t position);

/* Frees blocks without spans. Not while systems run. */
void micap_queue_trim(micap_queue *queue);

/* Copies what is in the list, while no system runs. NULL if memory is short. Loading the copy after a successful
 * micap_queue_prepare_load can't fail. Loading NULL empties the queue. */
micap_saved_queue *micap_queue_save(const micap_queue *queue);
void micap_queue_drop_saved(micap_memory *memory, micap_saved_queue *saved);
bool micap_queue_prepare_load(micap_queue *queue, const micap_saved_queue *saved);
void micap_queue_load(micap_queue *queue, const micap_saved_queue *saved);

/* The same for files. Entries are written and read by functions, since they depend on the machine: `put` appends the number of entries
 * of a span and the entries to bytes, `take` appends them to `out` in their form in memory; false if they are invalid. */
typedef struct micap_queue_codec {
    void (*put)(micap_bytes *bytes, const char *begin, const char *end, const void *context);
    bool (*take)(micap_reader *reader, micap_bytes *out, const void *context);
    uint64_t entry_bytes; /* positions count entries; 0: positions do not matter */
    const void *context;
} micap_queue_codec;

void micap_queue_write(const micap_queue *queue, micap_bytes *bytes, const micap_queue_codec *codec);
/* NULL if the bytes are invalid or memory is short. */
micap_saved_queue *micap_queue_read(const micap_queue *queue, micap_reader *reader, const micap_queue_codec *codec);
/* The positions of what is saved: [begin, end). */
void micap_saved_queue_range(const micap_saved_queue *saved, uint64_t *out_begin, uint64_t *out_end);

static inline uint64_t micap_queue_span_end(const micap_queue_span *span)
{
    return span->position + (uint64_t)(span->end - span->begin);
}

/* Whether counts, links and positions agree; for validation. */
bool micap_queue_is_sound(const micap_queue *queue);

#endif
