/* Mica, split: components of which every field lies in an array of its own, for SIMD; in chunks and in pools.
 *
 *     MICA_COMPONENT_WITH(Body, (.split = true), (position, Vec3), (velocity, Vec3), mass)
 *
 *     float *x = mica_view_write_field(&view, Body, position.x);          a column per field, and per x, y and z of a vector
 *     const float *vx = mica_view_read_field(&view, Body, velocity.x);
 *     for (uint32_t i = 0; i < view.count; ++i)
 *         x[i] += vx[i] * dt;
 *
 *     float mass = *mica_get_field(world, ship, Body, mass);         one field of one entity
 *     Body whole;
 *     mica_get_value(world, ship, Body, &whole);                     or all of it, as a copy
 *
 * Structs are taken apart, and arrays of up to 4 numbers; text and longer arrays are one column of arrays. Fields that are
 * not described are not kept. Create, set, add, remove and the rest work as ever, but there is no whole value in memory
 * to point to: mica_get and mica_write give NULL with a report, mica_add a pointer that can't be followed, and hooks
 * get no values. Bytes are all it may hold: construct, destruct, copy and move can't be split.
 */
#ifndef MICA_SPLIT_H
#define MICA_SPLIT_H

#include "mica/entity.h"
#include "mica/view.h"

MICA_BEGIN

/* Returns one field of a split component to look at, by its offset in the struct; NULL without a report when the entity
 * is dead or lacks it, and with one when no column begins at that offset. Lives as mica_get's. Threads: reader. */
MICA_API const void *mica_get_field_id(const mica_world *world, mica_entity entity, mica_component component,
                                       size_t offset);

/* As above, to be changed: the field counts as changed from now on. Threads: owner. */
MICA_API void *mica_write_field_id(mica_world *world, mica_entity entity, mica_component component, size_t offset);

/* Copies the value of a component, split or not, as bytes; false when the entity is dead or lacks it. Components that own
 * something are only to be looked at in the copy. Threads: reader. */
MICA_API bool mica_get_value_id(const mica_world *world, mica_entity entity, mica_component component, void *out_value);

/* Returns the column of one field of a split component that the query reads or writes; NULL for an optional one that is
 * not there, and with a report when the query or the component does not have it. Threads: as its query. */
MICA_API const void *mica_view_read_field_id(const mica_view *view, mica_component component, size_t offset);

/* As above for a component the query writes; the rows of the field count as changed from now on.
 * Threads: as its query; disjoint views may be written from several threads. */
MICA_API void *mica_view_write_field_id(mica_view *view, mica_component component, size_t offset);

MICA_END

#define mica_get_field(world, entity, T, field)                                                                        \
    ((const MICA_FIELD_TYPE_(T, field) *)mica_get_field_id((world), (entity), MICA_ID(T), offsetof(T, field)))
#define mica_get_value(world, entity, T, out_value)                                                                    \
    mica_get_value_id((world), (entity), MICA_ID(T), (T *){(out_value)})
#define mica_view_read_field(view, T, field)                                                                                \
    ((const MICA_FIELD_TYPE_(T, field) *)mica_view_read_field_id((view), MICA_ID(T), offsetof(T, field)))
#define mica_view_write_field(view, T, field)                                                                          \
    ((MICA_FIELD_TYPE_(T, field) *)mica_view_write_field_id((view), MICA_ID(T), offsetof(T, field)))
#define mica_write_field(world, entity, T, field)                                                                     \
    ((MICA_FIELD_TYPE_(T, field) *)mica_write_field_id((world), (entity), MICA_ID(T), offsetof(T, field)))

#define MICA_FIELD_TYPE_(T, field) __typeof__(((T *)0)->field)

#endif
