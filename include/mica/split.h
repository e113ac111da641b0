/* Mica, split: components whose fields have a column each, for SIMD. Works in chunks and in pools.
 *
 *     MICA_COMPONENT_WITH(Body, (.split = true), (position, Vec3), (velocity, Vec3), mass)
 *
 *     float *x = mica_view_write_field(&view, Body, position.x);     one column per field, and per x, y and z of a vector
 *     const float *vx = mica_view_read_field(&view, Body, velocity.x);
 *     for (uint32_t i = 0; i < view.count; ++i)
 *         x[i] += vx[i] * dt;
 *
 *     float mass = *mica_get_field(world, ship, Body, mass);         one field of one entity
 *     Body whole;
 *     mica_get_value(world, ship, Body, &whole);                     a copy of the whole value
 *
 * Nested structs, and arrays of up to 4 numbers, become one column per element. Text and longer arrays stay one column of arrays.
 * Fields that are not described are not stored. Create, set, add, remove and everything else works as usual, but the whole
 * value has no address: mica_get and mica_write return NULL with a report, the pointer from mica_add must not be dereferenced,
 * and hooks get no values. A split component must be trivially copyable: no construct, destruct, copy or move function.
 */
#ifndef MICA_SPLIT_H
#define MICA_SPLIT_H

#include "mica/entity.h"
#include "mica/view.h"

MICA_BEGIN

/* Returns one field of a split component for reading, by its offset in the struct. Returns NULL without a report if the entity is
 * not alive or does not have it, and NULL with a report if no column starts at that offset. Valid as long as a pointer from
 * mica_get. Threads: reader. */
MICA_API const void *mica_get_field_id(const mica_world *world, mica_entity entity, mica_component component,
                                       size_t offset);

/* Like above, for writing: marks the field as changed. Threads: owner. */
MICA_API void *mica_write_field_id(mica_world *world, mica_entity entity, mica_component component, size_t offset);

/* Copies the bytes of a component, split or not. Returns false if the entity is not alive or does not have it. The copy of a
 * component that owns something must only be read. Threads: reader. */
MICA_API bool mica_get_value_id(const mica_world *world, mica_entity entity, mica_component component, void *out_value);

/* Returns the column of one field of a split component that the query reads or writes. Returns NULL for an optional component that
 * is absent, and NULL with a report if the query or the component does not have it. Threads: as its query. */
MICA_API const void *mica_view_read_field_id(const mica_view *view, mica_component component, size_t offset);

/* Like above, for a component that the query writes. Marks the field as changed in all rows of the view.
 * Threads: as its query; several threads may write disjoint views. */
MICA_API void *mica_view_write_field_id(mica_view *view, mica_component component, size_t offset);

/* Like above, but of a component with .track_changed only the rows passed to mica_view_mark_id count as changed. Threads: as above. */
MICA_API void *mica_view_write_field_unmarked_id(mica_view *view, mica_component component, size_t offset);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_get_field_id(world, ...) mica_get_field_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_write_field_id(world, ...) mica_write_field_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_get_value_id(world, ...) mica_get_value_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_view_read_field_id(view, ...) mica_view_read_field_id(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_write_field_id(view, ...) mica_view_write_field_id(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_write_field_unmarked_id(view, ...) mica_view_write_field_unmarked_id(MICA_AT_(view), __VA_ARGS__)
#endif

#define mica_get_field(world, entity, T, field)                                                                        \
    ((const MICA_TYPEOF_(((T *)0)->field) *)mica_get_field_id((world), (entity), MICA_ID(T), offsetof(T, field)))
#define mica_get_value(world, entity, T, out_value)                                                                    \
    mica_get_value_id((world), (entity), MICA_ID(T), (T *){(out_value)})
#define mica_view_read_field(view, T, field)                                                                                \
    ((const MICA_TYPEOF_(((T *)0)->field) *)mica_view_read_field_id((view), MICA_ID(T), offsetof(T, field)))
#define mica_view_write_field(view, T, field)                                                                          \
    ((MICA_TYPEOF_(((T *)0)->field) *)mica_view_write_field_id((view), MICA_ID(T), offsetof(T, field)))
#define mica_view_write_field_unmarked(view, T, field)                                                                 \
    ((MICA_TYPEOF_(((T *)0)->field) *)mica_view_write_field_unmarked_id((view), MICA_ID(T), offsetof(T, field)))
#define mica_write_field(world, entity, T, field)                                                                     \
    ((MICA_TYPEOF_(((T *)0)->field) *)mica_write_field_id((world), (entity), MICA_ID(T), offsetof(T, field)))

#endif
