/* Mica, handle: the name of an entity. */
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

MICA_END
#endif
