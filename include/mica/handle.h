/* Mica, handle: entity handles and resource references. */
#ifndef MICA_HANDLE_H
#define MICA_HANDLE_H

#include "mica/base.h"

MICA_BEGIN

/* A 64-bit entity handle, passed by value. All zero is nil. The generation distinguishes entities that use the same slot
 * one after another. A slot whose generations are used up is retired, so a stale handle never becomes valid again. */
typedef struct mica_entity {
    uint32_t index;
    uint32_t generation;
} mica_entity;

/* Returns the nil handle. Threads: any. */
static inline mica_entity mica_nil(void)
{
    mica_entity nil = {0, 0};
    return nil;
}

/* Returns whether the handle is nil. A stale handle is not nil. Threads: any. */
static inline bool mica_is_nil(mica_entity entity)
{
    return entity.generation == 0;
}

/* Returns whether both handles refer to the same entity. Threads: any. */
static inline bool mica_same(mica_entity a, mica_entity b)
{
    return a.index == b.index && a.generation == b.generation;
}

/* A reference to a resource: the hash of its path. It is the same in every process, so it can be copied, hashed, sent and
 * saved as a plain value. All zero is none. mica/library.h finds the resource. */
typedef struct mica_asset {
    uint64_t path_hash;
} mica_asset;

MICA_END
#endif
