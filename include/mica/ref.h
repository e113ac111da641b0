/* Mica, ref: a reference to a component of an entity that outlives moves: it finds the component wherever it went,
 * and is NULL once the entity is dead or the component removed. Copy and assign it freely.
 *
 *     mica_ref target = mica_ref_of(enemy, Position);
 *     const Position *there = mica_ref_read(world, &target, Position);        NULL when it is gone
 */
#ifndef MICA_REF_H
#define MICA_REF_H

#include "mica/describe.h"

MICA_BEGIN

/* Zero is a reference to nothing. The pointer is a memory of the last look-up, used while nothing has moved. */
typedef struct mica_ref {
    mica_entity entity;
    mica_component component;
    uint64_t private_structure;
    void *private_value;
} mica_ref;

/* Makes a reference; the component need not be there yet. Threads: any. */
static inline mica_ref mica_ref_of_id(mica_entity entity, mica_component component)
{
    mica_ref ref = {entity, component, 0, 0};
    return ref;
}

/* Returns the component to look at, or NULL. Lives as mica_get's. Threads: reader, one per reference. */
MICA_API const void *mica_ref_read_id(const mica_world *world, mica_ref *ref);

/* Returns the component to change, or NULL. Lives as mica_write's. Threads: owner. */
MICA_API void *mica_ref_write_id(mica_world *world, mica_ref *ref);

MICA_END

#define mica_ref_of(entity, T) mica_ref_of_id((entity), MICA_ID(T))
#define mica_ref_read(world, ref, T) ((const T *)mica_ref_read_id((world), (ref)))
#define mica_ref_write(world, ref, T) ((T *)mica_ref_write_id((world), (ref)))

#endif
