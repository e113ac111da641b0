/* Mica, lookup: what the inline functions of mica/entity.h and mica/ref.h read. Everything here is private and may change with
 * every version: see docs/abi.md.
 *
 *     entity -> record: generation (24 bits), chunk number (24), row (16)
 *     component, chunk number -> column; column, row -> value
 *     component in a pool -> pool; entity -> row of the pool -> value
 */
#ifndef MICA_LOOKUP_H
#define MICA_LOOKUP_H

#include "mica/describe.h"

MICA_BEGIN

enum {
    MICA_PRIVATE_PAGE_SHIFT = 10,  /* records per page of the library */
    MICA_PRIVATE_SLICE_SHIFT = 9,  /* rows per slice */
    MICA_PRIVATE_MAP_SHIFT = 12,   /* entries per page of the map of a pool */
    MICA_PRIVATE_POOL_ID = 0x8000, /* the first id of components in pools */
};

/* The beginning of a chunk. */
typedef struct mica_private_chunk {
    uint32_t stamps_offset; /* of the first slice, from the beginning of the chunk */
    uint16_t stride;        /* stamps per slice: one for its structure, then one per column */
    uint8_t unused[2];
} mica_private_chunk;

/* The beginning of a pool. */
typedef struct mica_private_pool {
    uint32_t kind;      /* a mica_pool_index if the fields below find every value; else another number */
    uint32_t row_limit; /* rows in use lie below it */
    char *values;
    const mica_entity *owners;    /* by row */
    const uint64_t *const *pages; /* of a map: generation << 32 | row + 1, by entity index */
    uint32_t page_count;
} mica_private_pool;

/* The beginning of a world. */
typedef struct mica_private_lookup {
    uint64_t
        structure; /* changes whenever a pointer to a value may become invalid; its upper 24 bits are the world's own */
    uint64_t version;        /* stamped on what is written */
    const uint64_t *records; /* by entity index; the library has those from record_count on elsewhere */
    uint64_t record_count;
    uint64_t
        chunk_capacity; /* entries of a list of columns; after them are 16 bits each for the number of the column */
    char *const *const *columns; /* by component id, then chunk number: the column, or NULL if the chunk has none */
    char *const *no_columns;     /* the list of components that have none: only the library knows where they are */
    const mica_private_chunk *const *chunks; /* by number */
    const mica_private_pool *const *pools;   /* by component id - MICA_PRIVATE_POOL_ID; NULL where the world has none */
    uint64_t component_count;                /* entries of `columns` */
    uint32_t pool_count;
    uint32_t chunk_epoch; /* changes when a chunk number becomes free */
    uint64_t undo_before; /* the newest snapshot may need a copy of what has an older stamp; 0 without snapshots */
} mica_private_lookup;

/* Returns the beginning of a world. Threads: any. */
static inline const mica_private_lookup *mica_private_of(const mica_world *world)
{
    return (const mica_private_lookup *)(const void *)world;
}

/* Returns the record of an index below record_count. Other threads may hand out its entity meanwhile. Threads: reader. */
static inline uint64_t mica_private_record(const mica_private_lookup *lookup, uint64_t index)
{
    return MICA_LOAD_(&lookup->records[index], MICA_RELAXED_);
}

/* Returns the chunk number of a record; a number that is not below chunk_capacity if the record has another generation.
 * Threads: any. */
static inline uint64_t mica_private_chunk_number(uint64_t record, uint32_t generation)
{
    return (record >> 16) - ((uint64_t)generation << 24);
}

/* Returns the id of a type, or 0 if it has none yet. Threads: any. */
static inline uint64_t mica_private_id(const mica_type *type)
{
    return type ? MICA_LOAD_(&type->id_cache, MICA_RELAXED_) : 0;
}

/* Returns the pool of a component if the fields of mica_private_pool find its values, or NULL. Threads: reader. */
static inline const mica_private_pool *mica_private_fast_pool(const mica_world *world, uint64_t component)
{
    uint64_t number = component - MICA_PRIVATE_POOL_ID;
    if (!world || number >= mica_private_of(world)->pool_count)
        return NULL;
    const mica_private_pool *pool = mica_private_of(world)->pools[number];
    return pool && pool->kind <= MICA_INDEX_DIRECT ? pool : NULL;
}

/* Returns the row of an entity in such a pool; a number that is not below row_limit if it has none. Threads: reader. */
static inline uint64_t mica_private_pool_row(const mica_private_pool *pool, mica_entity entity)
{
    if (!pool)
        return UINT64_MAX;
    if (pool->kind == MICA_INDEX_DIRECT) {
        bool is_owner =
            entity.index < pool->row_limit && mica_same(pool->owners[entity.index], entity) && !mica_is_nil(entity);
        return is_owner ? entity.index : UINT64_MAX;
    }
    uint64_t index = entity.index, page = index >> MICA_PRIVATE_MAP_SHIFT;
    if (MICA_EXPECT_(page >= pool->page_count, 0))
        return UINT64_MAX;
    uint64_t entry = pool->pages[page][index & ((1u << MICA_PRIVATE_MAP_SHIFT) - 1)];
    return entry - ((uint64_t)entity.generation << 32) - 1;
}

MICA_END
#endif
