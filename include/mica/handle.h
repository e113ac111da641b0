/* Mica, handle: the name of an entity, and of a resource. */
#ifndef MICA_HANDLE_H
#define MICA_HANDLE_H

#include "mica/base.h"

MICA_BEGIN

/* A 64-bit handle, passed by value. All zero is nil. The generation makes a stale handle harmless: a slot that has
 * used up its generations is retired, so a dead handle never comes alive again. */
typedef struct mica_entity {
    uint32_t index;
    uint32_t generation;
} mica_entity;

/* Returns the handle that names nothing. Threads: any. */
static inline mica_entity mica_nil(void)
{
    mica_entity nil = {0, 0};
    return nil;
}

/* Returns whether the handle is nil; a dead handle is not. Threads: any. */
static inline bool mica_is_nil(mica_entity entity)
{
    return entity.generation == 0;
}

/* Returns whether both name the same entity. Threads: any. */
static inline bool mica_same(mica_entity a, mica_entity b)
{
    return a.index == b.index && a.generation == b.generation;
}

/* The name of a resource that a value refers to: the hash of its path, so that it is the same in every process, and is copied,
 * hashed, sent and saved as it lies. All zero is none. What it stands for is looked up: see mica/library.h. */
typedef struct mica_asset {
    uint64_t path_hash;
} mica_asset;

MICA_END
#endif
