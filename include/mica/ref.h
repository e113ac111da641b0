/* Mica, ref: a reference to a component of an entity. It finds the component after moves, and yields NULL once the entity is
 * destroyed or the component removed. Copy and assign it freely.
 *
 *     mica_ref target = mica_ref_of(enemy, Position);
 *     const Position *there = mica_ref_read(world, &target, Position);        NULL if it no longer exists
 */
#ifndef MICA_REF_H
#define MICA_REF_H

#include "mica/lookup.h"

MICA_BEGIN

/* Zero refers to nothing. The private fields cache the last look-up. It is valid while nothing moves in the world or, for a component
 * in chunks, while the entity stays in its row. */
typedef struct mica_ref {
    mica_entity entity;
    mica_component component;
    uint32_t private_epoch;
    uint64_t private_structure;
    uint64_t private_record;
    void *private_value;
} mica_ref;

/* Creates a reference. The component need not exist yet. Threads: any. */
static inline mica_ref mica_ref_of_id(mica_entity entity, mica_component component)
{
    mica_ref ref = {entity, component, 0, 0, 0, NULL};
    return ref;
}

/* Returns the component for reading, or NULL. Valid as long as a pointer from mica_get. Threads: reader, one per reference. */
MICA_API const void *mica_ref_read_id(const mica_world *world, mica_ref *ref);

/* Returns the component for writing, or NULL. Valid as long as a pointer from mica_write. Threads: owner. */
MICA_API void *mica_ref_write_id(mica_world *world, mica_ref *ref);

/* Like mica_ref_read_id, inline unless the last look-up is invalid, and in checked builds. Threads: reader, one per reference. */
static inline const void *mica_lookup_ref_read(const mica_world *world, mica_ref *ref)
{
#ifndef MICA_CHECKED
    if (MICA_EXPECT_(world && ref, 1)) {
        const mica_private_lookup *lookup = mica_private_of(world);
        uint64_t structure = lookup->structure;
        if (MICA_EXPECT_(structure == ref->private_structure, 1))
            return ref->private_value;
        bool is_same_world = !((structure ^ ref->private_structure) >> 40);
        if (is_same_world && ref->private_epoch == lookup->chunk_epoch && ref->entity.index < lookup->record_count &&
            ref->private_record == mica_private_record(lookup, ref->entity.index)) {
            ref->private_structure = structure;
            return ref->private_value;
        }
    }
#endif
    return mica_ref_read_id(world, ref);
}

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_ref_read_id(world, ...) mica_ref_read_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_ref_write_id(world, ...) mica_ref_write_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_lookup_ref_read(world, ...) mica_lookup_ref_read(MICA_AT_(world), __VA_ARGS__)
#endif

#define mica_ref_of(entity, T) mica_ref_of_id((entity), MICA_ID(T))
#define mica_ref_read(world, ref, T) ((const T *)mica_lookup_ref_read((world), (ref)))
#define mica_ref_write(world, ref, T) ((T *)mica_ref_write_id((world), (ref)))

#endif
