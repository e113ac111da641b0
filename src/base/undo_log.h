/* Undo logs: the old bytes of everything that changed since a snapshot.
 *
 * There is one log per snapshot, from oldest to newest. Before a place in memory changes, its bytes are saved in the newest log,
 * unless that log has the place already. A log therefore holds the state of its snapshot for all places that changed before the
 * next snapshot was taken:
 *
 *     snapshot 1 ---- log 1 ----> snapshot 2 ---- log 2 ----> now      state of snapshot 1: log 1, else log 2, else now
 *
 * Taking a snapshot adds a log. Dropping a snapshot moves the entries of its log to the next older log, unless that has them.
 *
 * An entry is found by kind, key and part, whose meaning this file does not know. Several threads may save at once: entries are
 * spread over stripes with a lock each, and a place is saved under the lock of its stripe, so that no thread writes to it before
 * its old bytes are saved. If memory is short, the log is lost, with all older ones, which depend on it; the write continues. */
#ifndef MICAP_BASE_UNDO_LOG_H
#define MICAP_BASE_UNDO_LOG_H

#include "base/region_arena.h"
#include "base/assert.h"
#include "mica/world.h"

#include <pthread.h>

typedef enum micap_undo_kind {
    MICAP_UNDO_ARCHETYPE, /* how many rows and which chunks it has */
    MICAP_UNDO_ROWS,      /* entities of a slice, and the stamp of its structure */
    MICAP_UNDO_COLUMN,    /* values of a slice, and their stamp */
    MICAP_UNDO_RECORDS,   /* a block of entity records */
    MICAP_UNDO_PAGE,      /* the free list of a page of records */
    MICAP_UNDO_NAME,
    MICAP_UNDO_POOL, /* a slice of a pool, all lanes */
    MICAP_UNDO_MAP,  /* a block of a pool's index */
    MICAP_UNDO_BITS, /* a block of a pool's bits */
    MICAP_UNDO_MASKS,
    MICAP_UNDO_LINKS,
    MICAP_UNDO_TARGETS, /* a block of the index of a pool's edges */
} micap_undo_kind;

typedef struct micap_undo_entry {
    struct micap_undo_entry *next; /* of its stripe */
    uint64_t key;
    uint32_t part;
    uint16_t kind;
    bool is_owned;  /* the values are not trivial: see micap_undo_value_ops */
    uint32_t count; /* as its kind likes: rows */
    uint64_t stamp; /* likewise */
    size_t bytes;
    size_t alignment;
    const void *type; /* likewise */
    void *data;
} micap_undo_entry;

enum { MICAP_UNDO_STRIPES = 8 };

typedef struct micap_undo_block {
    struct micap_undo_block *next;
    size_t bytes;
    size_t used;
} micap_undo_block;

typedef struct micap_undo_stripe {
    micap_undo_entry *first;
    micap_undo_entry **table; /* open addressing */
    uint32_t count;
    uint32_t capacity;
    micap_undo_block *blocks; /* the one that is filled first */
} micap_undo_stripe;

typedef struct micap_undo_log {
    struct micap_undo_log *older;
    struct micap_undo_log *newer;
    uint64_t serial; /* rises from log to log */
    uint64_t before; /* see micap_undo_logs */
    atomic_bool is_lost;
    atomic_size_t bytes;
    micap_undo_stripe stripes[MICAP_UNDO_STRIPES];
} micap_undo_log;

/* For values that are not trivial. */
typedef struct micap_undo_value_ops {
    bool (*copy)(micap_undo_entry *to,
                 const micap_undo_entry *from); /* false if memory is short: `to` stays uninitialized */
    void (*move)(micap_undo_entry *to, micap_undo_entry *from);
    void (*release)(micap_undo_entry *kept);
} micap_undo_value_ops;

/* Rows that the newest log has. */
typedef struct micap_undo_recent {
    uint64_t key; /* 0: none */
    uint32_t part;
} micap_undo_recent;

enum { MICAP_UNDO_RECENT = 64 };

typedef struct micap_undo_logs {
    uint64_t
        before; /* stamps below it were there when the newest snapshot was taken; 0: there is none, and nothing is */
    micap_undo_log *oldest;
    micap_undo_log *newest;
    uint64_t serial; /* of the next log */
    uint32_t count;
    const micap_undo_value_ops *ops;
    micap_memory *memory;
    micap_arena arena;
    pthread_mutex_t arena_lock;
    pthread_mutex_t locks[MICAP_UNDO_STRIPES];
    /* Places that were saved lately, so that saving them again costs a comparison: noted by the owner, while no other thread saves. Each
     * kind has places of its own: a destroyed entity needs both, and one must not replace the other. */
    micap_undo_recent recent_rows[MICAP_UNDO_RECENT];
    uint64_t recent_records[MICAP_UNDO_RECENT]; /* 1 + the key; 0: none */
} micap_undo_logs;

/* Slices of a chunk, and neighbouring chunks, have different places: see micap_slice_place. */
static inline uint32_t micap_undo_rows_slot(uint64_t key)
{
    return (uint32_t)(key >> 32 ^ key >> 16) % MICAP_UNDO_RECENT;
}

/* Whether the newest log is known to have MICAP_UNDO_ROWS of a key. If not, the log decides. */
static inline bool micap_undo_has_rows(const micap_undo_logs *undo, uint64_t key, uint32_t part)
{
    const micap_undo_recent *recent = &undo->recent_rows[micap_undo_rows_slot(key)];
    return recent->key == key && recent->part == part;
}

static inline void micap_undo_note_rows(micap_undo_logs *undo, uint64_t key, uint32_t part)
{
    undo->recent_rows[micap_undo_rows_slot(key)] = (micap_undo_recent){key, part};
}

/* The same for MICAP_UNDO_RECORDS. */
static inline bool micap_undo_has_records(const micap_undo_logs *undo, uint64_t key)
{
    return undo->recent_records[key % MICAP_UNDO_RECENT] == key + 1;
}

static inline void micap_undo_note_records(micap_undo_logs *undo, uint64_t key)
{
    undo->recent_records[key % MICAP_UNDO_RECENT] = key + 1;
}

void micap_undo_logs_init(micap_undo_logs *undo, micap_memory *memory, const micap_undo_value_ops *ops);
void micap_undo_logs_free(micap_undo_logs *undo);
/* Removes all logs. */
void micap_undo_logs_clear(micap_undo_logs *undo);

/* Adds a log after the newest: stamps below `before` are older than it. NULL if memory is short. Threads: owner, as for all
 * functions below that do not say otherwise. */
micap_undo_log *micap_undo_log_add(micap_undo_logs *undo, uint64_t before);

/* Removes a log; its entries move to the next older one. */
void micap_undo_log_drop(micap_undo_logs *undo, micap_undo_log *log);

/* Removes all entries of a log. */
void micap_undo_log_clear(micap_undo_logs *undo, micap_undo_log *log);

/* Whether memory was short for an entry of this log or a newer one. */
bool micap_undo_log_is_lost(const micap_undo_log *log);

/* Lists the entries of a log, and those of newer logs for places that older logs lack. Release the list with
 * MICAP_RELEASE_ARRAY and its capacity. False if memory is short. */
typedef struct micap_undo_entries {
    micap_undo_entry **all;
    uint32_t count;
    uint32_t capacity;
} micap_undo_entries;

bool micap_undo_log_gather(micap_undo_logs *undo, const micap_undo_log *log, micap_undo_entries *out_list);

/* Adds an entry to the newest log, for the caller to fill. Its stripe is locked until the entry is closed. NULL if the log has the
 * entry already, or memory is short. Threads: any. */
micap_undo_entry *micap_undo_open(micap_undo_logs *undo, micap_undo_kind kind, uint64_t key, uint32_t part,
                                  size_t bytes, size_t alignment);
void micap_undo_close(micap_undo_logs *undo, const micap_undo_entry *kept);
/* Closes an entry that could not be filled: the log is lost. */
void micap_undo_give_up(micap_undo_logs *undo, micap_undo_entry *kept);

/* Saves trivial bytes. */
MICAP_COLD void micap_undo_save_bytes(micap_undo_logs *undo, micap_undo_kind kind, uint64_t key, uint32_t part,
                                      const void *data, size_t bytes);

/* The entry of a log, or NULL. */
micap_undo_entry *micap_undo_log_find(const micap_undo_log *log, micap_undo_kind kind, uint64_t key, uint32_t part);

/* Change stamps: when something was last written.
 *
 * The stamps of a slice whose component is tracked (.track_changed) have their highest bit set. As a signed number such a stamp is
 * older than every snapshot. A write therefore never takes the fast path, which asks only whether the stamp is older, and the
 * slow path stores the version of each row too. Components that are not tracked do not pay for this. */
#define MICAP_STAMP_TRACKED ((mica_version)1 << 63)

/* The version of a stamp that may be tracked. */
static inline mica_version micap_stamp_version(mica_version stamp)
{
    return stamp & ~MICAP_STAMP_TRACKED;
}

/* A stamp of another version, tracked if the old one is. */
static inline mica_version micap_stamp_of(mica_version old, mica_version version)
{
    return (old & MICAP_STAMP_TRACKED) | version;
}

/* Whether the slow path has to write what has this stamp: a snapshot may need a copy, or rows are tracked. The version of the snapshot
 * is read after the stamp, by the comparison. */
static inline bool micap_stamp_is_older(const mica_version *stamp, const micap_undo_logs *undo)
{
    return (int64_t)MICAP_LOAD(stamp, MICAP_ACQUIRE) < (int64_t)undo->before;
}

/* Makes a stamp no newer than a version. */
static inline void micap_stamp_bound(mica_version *stamp, mica_version version)
{
    if (micap_stamp_version(*stamp) > version)
        *stamp = micap_stamp_of(*stamp, version);
}

/* Threads that write different rows of one slice write the same stamp. A thread that sees the new stamp does not copy the slice to the
 * undo log: the release store below makes the copy of the other thread visible before its writes. */
static inline void micap_stamp(mica_version *stamp, mica_version version)
{
    MICAP_STORE(stamp, version, MICAP_RELEASE);
}

/* The same for the stamp of rows that are marked: it is never older than one of them. */
static inline void micap_stamp_newest(mica_version *stamp, mica_version version)
{
    mica_version old = MICAP_LOAD(stamp, MICAP_ACQUIRE);
    while (old < version && !MICAP_EXCHANGE_IF_SAME(stamp, &old, version)) {
    }
}

#endif
