/* A pool: one packed table per component type. One buffer holds the owner of each row, the data (one column, or one per
 * leaf of a split component) and what else a row needs; the index finds the row of an entity. A pool knows rows and
 * owners, but not whether an owner lives: that is the world's business.
 *
 * Rows are packed: the last one fills the hole of one that goes. With a direct index the row is the entity's index, and
 * there are holes. A pool of tags has neither rows nor a buffer, only one bit per entity.
 *
 * pool_rows   adds, removes and swaps rows; creates, moves and destroys values
 * pool_undo   writes: copy-on-write for snapshots and stamps; restores copies
 * pool_edges  rows of a relation, which have a target besides their owner
 * pool_group, pool_sort   the order of rows
 * index       from an entity to its row;   pool_check   the invariants */
#ifndef MICAP_POOL_POOL_H
#define MICAP_POOL_POOL_H

#include "base/assert.h"
#include "mica/lookup.h"
#include "mica/pool.h"
#include "pool/index.h"
#include "type/values.h"

typedef enum micap_pool_kind {
    MICAP_POOL_MAP = MICA_INDEX_MAP,
    MICAP_POOL_DIRECT = MICA_INDEX_DIRECT,
    MICAP_POOL_HASH = MICA_INDEX_HASH,
    MICAP_POOL_TAG,
} micap_pool_kind;

/* A column of the buffer. */
typedef struct micap_pool_column {
    char *data;
    uint32_t bytes; /* of one row */
    uint32_t alignment;
    uint32_t from; /* of a leaf: where it lies in the value */
} micap_pool_column;

enum { MICAP_POOL_EXTRA_COLUMNS = 7 }; /* owner, next, previous, links, added, changed, enabled */

/* Pools whose rows are kept in the same order: the first `count` rows of each belong to the same entities. */
typedef struct micap_pool_group {
    mica_pool *pools[MICA_GROUP_POOLS_MAX];
    uint32_t pool_count;
    uint32_t count;
} micap_pool_group;

struct mica_pool {
    /* What a look-up reads. */
    union {
        mica_private_pool lookup; /* what the inline functions of the public headers read */
        struct {
            micap_pool_kind
                fast_kind;      /* `kind` for whole values without rows of the dead, where the index alone tells; else
                                   MICAP_POOL_TAG */
            uint32_t row_limit; /* rows in use lie below it; all of them are, but with a direct index */
            char *values;       /* of a component that is not split */
            mica_entity *owners;
            micap_index index;
        };
    };
    micap_pool_kind kind;
    uint32_t value_bytes;
    uint64_t *present; /* direct index and tags: a bit per row */
    uint32_t present_words;

    bool changes_fast;   /* trivial whole values, and nothing else to do: see core/entity/pool_fast_path.h */
    bool changes_by_map; /* the same, packed, with a map and in no group */
    uint32_t count;      /* rows in use */
    uint32_t capacity;
    uint32_t stamp;                 /* counts changes after which instances are void */
    uint32_t incoming;              /* rows that are about to be added */
    uint8_t *enabled;               /* of what can be toggled: 1 where it is switched on */
    uint64_t *added;                /* of what is tracked: the version of its addition, */
    mica_version *changed;          /* and of its last write */
    uint32_t *next;                 /* of many instances: the row of the next one of the same entity, and of */
    uint32_t *previous;             /* the one before; the first one's is the last */
    struct micap_edge_links *links; /* of a relation: the same for the edges of a target, */
    struct micap_pool_edges *edges; /* and what finds them; else NULL */
    bool is_queried;                /* some query depends on the rows */
    mica_version
        *stamps; /* per slice: structure, then each data lane; then, of what is tracked, the newest of `changed` */
    micap_pool_column *lanes; /* owner, data, then the others that it has */
    uint32_t lane_count;
    uint32_t data_lane_count; /* from lanes[1] on */
    uint32_t stamp_count;     /* per slice */
    char *buffer;
    size_t buffer_bytes;
    void *scratch; /* one value, for swapping what can't be copied as bytes */
    micap_pool_group *group;
    char *staged; /* values on their way in while rows of the dead go: see core/entity/pool_create.c */

    const micap_type *type;
    mica_world *world;
    micap_memory *memory;

    micap_undo_logs *undo;
    uint8_t hook_mask;   /* bit per mica_event_kind that has a hook or a list */
    uint32_t bit;        /* in the masks of its world */
    bool may_hold_dead;  /* rows outlive their owners: */
    uint32_t dead_count; /* so many have now */
    uint64_t probe_count;
    uint64_t removed_count;
    bool is_shuffled; /* while it is restored: rows have other owners than they had */
#ifdef MICA_CHECKED
    /* Compares a write to values of rows with what the running system declared; NULL outside of a world. */
    void (*check_write)(const mica_world *world, mica_component component, const mica_entity *owners, uint32_t count);
#endif
};

_Static_assert(offsetof(mica_pool, fast_kind) == offsetof(mica_private_pool, kind) &&
                   offsetof(mica_pool, row_limit) == offsetof(mica_private_pool, row_limit) &&
                   offsetof(mica_pool, values) == offsetof(mica_private_pool, values) &&
                   offsetof(mica_pool, owners) == offsetof(mica_private_pool, owners) &&
                   offsetof(mica_pool, index.pages) == offsetof(mica_private_pool, pages) &&
                   offsetof(mica_pool, index.page_count) == offsetof(mica_private_pool, page_count) &&
                   sizeof(micap_pool_kind) == sizeof(uint32_t) && MICAP_MAP_PAGE_ENTRIES == 1 << MICA_PRIVATE_MAP_SHIFT,
               "inline functions find the fields where they are");

/* With the pages of its index in an arena; NULL when memory is short. */
mica_pool *micap_pool_create(mica_world *world, micap_arena *arena, micap_undo_logs *undo, const micap_type *type);
/* Of a pool without rows. */
void micap_pool_free(mica_pool *pool);

static inline bool micap_bit(const uint64_t *words, uint32_t at)
{
    return words[at / 64] >> at % 64 & 1;
}

/* The row of an entity, or MICAP_ROW_NONE; stale handles have none, but in a pool of tags, which knows only indices. */
static inline uint32_t micap_pool_row(const mica_pool *pool, mica_entity entity)
{
    uint32_t row;
    switch (pool->kind) {
    case MICAP_POOL_MAP: return micap_map_find(&pool->index, entity);
    case MICAP_POOL_DIRECT:
        return entity.index < pool->row_limit && mica_same(pool->owners[entity.index], entity) && !mica_is_nil(entity)
                   ? entity.index
                   : MICAP_ROW_NONE;
    case MICAP_POOL_HASH:
        row = micap_hash_find(&pool->index, entity.index);
        return row != MICAP_ROW_NONE && pool->owners[row].generation == entity.generation ? row : MICAP_ROW_NONE;
    case MICAP_POOL_TAG: break;
    }
    MICAP_ASSERT_HOT(pool->present || !pool->present_words, "a pool of tags has its bits");
    return entity.index / 64 < pool->present_words && micap_bit(pool->present, entity.index) ? entity.index
                                                                                             : MICAP_ROW_NONE;
}

/* The row of an index, of whatever generation. */
uint32_t micap_pool_row_at(const mica_pool *pool, uint32_t entity_index);

/* Whether the row is in use: with a direct index not all are. */
static inline bool micap_pool_has_row(const mica_pool *pool, uint32_t row)
{
    return row < pool->row_limit && (!pool->present || micap_bit(pool->present, row));
}

/* The first instance of its entity, in a pool for many. */
static inline bool micap_pool_is_first(const mica_pool *pool, uint32_t row)
{
    return micap_pool_row(pool, pool->owners[row]) == row;
}

static inline void *micap_pool_value(const mica_pool *pool, uint32_t row)
{
    return pool->values + (size_t)row * pool->value_bytes;
}

/* The data lane of a leaf, by its offset in the value; NULL when none begins there. */
micap_pool_column *micap_pool_column_at(const mica_pool *pool, size_t offset);

/* Makes room for `more` rows without adding any; false when memory is short. */
bool micap_pool_reserve_rows(mica_pool *pool, uint64_t more);
/* The same for the index entry of an entity; with a direct index for its row, and for tags its bit. */
bool micap_pool_reserve_entity(mica_pool *pool, uint32_t entity_index);

/* Where the value of the next row of an entity goes, after both reserves: the row does not exist until it is appended. */
static inline uint32_t micap_pool_next_row(const mica_pool *pool, mica_entity entity)
{
    return pool->kind == MICAP_POOL_DIRECT || pool->kind == MICAP_POOL_TAG ? entity.index : pool->row_limit;
}

static inline mica_version *micap_pool_stamps(const mica_pool *pool, uint32_t row)
{
    return pool->stamps + (size_t)(row / MICA_SLICE_ROWS) * pool->stamp_count;
}

/* The stamp of a slice of a tracked pool that is not older than the last write of any of its rows, unless the row moved since. */
static inline mica_version *micap_pool_marked(const mica_pool *pool, uint32_t row)
{
    return &micap_pool_stamps(pool, row)[1 + pool->data_lane_count];
}

/* What a place of a pool is called in a log: of `part` 0 of a slice all lanes, of 1 the values that can't be copied as bytes. */
static inline uint64_t micap_pool_place(const mica_pool *pool, uint32_t part)
{
    return (uint64_t)pool->type->id << 32 | part;
}

/* Whether a slice was written or moved since a mark. */
bool micap_pool_slice_changed(const mica_pool *pool, uint32_t row, mica_version since);

/* The first row in use at or after `row`, and where the run of rows in use that begins there ends. */
uint32_t micap_pool_next_used(const mica_pool *pool, uint32_t row);
uint32_t micap_pool_run_end(const mica_pool *pool, uint32_t row);

/* Gives unused memory back; returns how many bytes. */
size_t micap_pool_trim(mica_pool *pool);
size_t micap_pool_bytes(const mica_pool *pool);

#endif
