/* What was there before: the old bytes of places that have changed since a snapshot.
 *
 * A keeper has a log for each snapshot that lives, oldest to newest. Whoever is about to change a place keeps its bytes first,
 * in the newest log, unless they are there already. So a log says what its snapshot had in all places that changed before
 * the next one was taken:
 *
 *     snapshot 1 ---- log 1 ----> snapshot 2 ---- log 2 ----> now          what snapshot 1 had: log 1, else log 2, else now
 *
 * Taking a snapshot is a new log. Dropping one hands what it kept to the one before, which takes what it lacks.
 *
 * A place is a kind, a number and a part. The keeper knows nothing about what they mean. Threads may keep at once: places are
 * spread over stripes, each with a lock, and a place is kept under the lock of its stripe, so that nobody writes to it before
 * its old bytes are safe. When memory is short the log is lost, with all before it, since they need it; the write goes on. */
#ifndef MICAP_BASE_UNDO_LOG_H
#define MICAP_BASE_UNDO_LOG_H

#include "base/arena.h"
#include "base/assert.h"

#include <pthread.h>

typedef enum micap_keep_kind {
    MICAP_KEEP_ARCHETYPE, /* how many rows and which chunks it has */
    MICAP_KEEP_ROWS,      /* entities of a slice, and the stamp of its structure */
    MICAP_KEEP_COLUMN,    /* values of a slice, and their stamp */
    MICAP_KEEP_RECORDS,   /* a block of entity records */
    MICAP_KEEP_PAGE,      /* the free list of a page of records */
    MICAP_KEEP_NAME,
    MICAP_KEEP_POOL, /* a slice of a pool, all lanes */
    MICAP_KEEP_MAP,  /* a block of a pool's index */
    MICAP_KEEP_BITS, /* a block of a pool's bits */
    MICAP_KEEP_MASKS,
    MICAP_KEEP_LINKS,
} micap_keep_kind;

typedef struct micap_kept {
    struct micap_kept *next; /* of its stripe */
    uint64_t location;
    uint32_t part;
    uint16_t kind;
    bool is_owned;  /* the bytes own something: see micap_keep_ops */
    uint32_t count; /* as its kind likes: rows */
    uint64_t stamp; /* likewise */
    size_t bytes;
    size_t alignment;
    const void *type; /* likewise */
    void *data;
} micap_kept;

enum { MICAP_KEEP_STRIPES = 8 };

typedef struct micap_keep_block {
    struct micap_keep_block *next;
    size_t bytes;
    size_t used;
} micap_keep_block;

typedef struct micap_keep_stripe {
    micap_kept *first;
    micap_kept **table; /* open addressing */
    uint32_t count;
    uint32_t capacity;
    micap_keep_block *blocks; /* the one that is filled first */
} micap_keep_stripe;

typedef struct micap_log {
    struct micap_log *older;
    struct micap_log *newer;
    uint64_t serial; /* rises from log to log */
    uint64_t before; /* see micap_keeper */
    atomic_bool is_lost;
    atomic_size_t bytes;
    micap_keep_stripe stripes[MICAP_KEEP_STRIPES];
} micap_log;

/* For bytes that own something. */
typedef struct micap_keep_ops {
    bool (*copy)(micap_kept *to, const micap_kept *from); /* false when memory is short: `to` is raw */
    void (*move)(micap_kept *to, micap_kept *from);
    void (*release)(micap_kept *kept);
} micap_keep_ops;

typedef struct micap_keeper {
    uint64_t
        before; /* stamps below it were there when the newest snapshot was taken; 0: there is none, and nothing is */
    micap_log *oldest;
    micap_log *newest;
    uint64_t serial; /* of the next log */
    uint32_t count;
    const micap_keep_ops *ops;
    micap_memory *memory;
    micap_arena arena;
    pthread_mutex_t arena_lock;
    pthread_mutex_t locks[MICAP_KEEP_STRIPES];
} micap_keeper;

void micap_keeper_init(micap_keeper *keeper, micap_memory *memory, const micap_keep_ops *ops);
void micap_keeper_free(micap_keeper *keeper);
/* Drops all logs. */
void micap_keeper_clear(micap_keeper *keeper);

/* A log behind the newest: stamps below `before` are older than it. NULL when memory is short. For the owner, as all below. */
micap_log *micap_keeper_add(micap_keeper *keeper, uint64_t before);

/* Takes a log away; what it kept goes to the one before. */
void micap_keeper_drop(micap_keeper *keeper, micap_log *log);

/* Forgets all that a log kept. */
void micap_log_clear(micap_keeper *keeper, micap_log *log);

/* Whether something that this log or a newer one should have kept was lost. */
bool micap_log_is_lost(const micap_log *log);

/* Lists what a log kept, and what newer ones kept of places that those before them did not. The list has `capacity` entries, for
 * MICAP_RELEASE_ARRAY. False when memory is short. */
typedef struct micap_kept_list {
    micap_kept **all;
    uint32_t count;
    uint32_t capacity;
} micap_kept_list;

bool micap_log_gather(micap_keeper *keeper, const micap_log *log, micap_kept_list *out_list);

/* Opens a place to be kept in the newest log: room for its bytes, for the caller to fill; its stripe is locked until it is closed. NULL
 * when it is kept already, or can't be. Any thread. */
micap_kept *micap_keep_open(micap_keeper *keeper, micap_keep_kind kind, uint64_t location, uint32_t part, size_t bytes,
                            size_t alignment);
void micap_keep_close(micap_keeper *keeper, const micap_kept *kept);
/* The open place could not be filled. */
void micap_keep_give_up(micap_keeper *keeper, micap_kept *kept);

/* Keeps bytes as they lie. */
MICAP_COLD void micap_keep_bytes(micap_keeper *keeper, micap_keep_kind kind, uint64_t location, uint32_t part,
                                 const void *data, size_t bytes);

/* What a log kept of a place, or NULL. */
micap_kept *micap_log_find(const micap_log *log, micap_keep_kind kind, uint64_t location, uint32_t part);

#endif
