/* Mica, entity: operations on one entity.
 *
 *     mica_entity ship = mica_create(world, MICA_WITH(Position, {0, 0, 0}), MICA_WITH(Frozen));
 *     mica_set(world, ship, Velocity, {1, 0, 0});            adds or overwrites a component
 *     mica_set_from(world, ship, Velocity, &start);          the same, from a variable (MICA_FROM in mica_create)
 *     mica_write(world, ship, Position)->x += 1;             a pointer for writing; marks the value as changed
 *     float x = mica_get(world, ship, Position)->x;          a pointer for reading
 *     mica_remove(world, ship, Frozen);
 *     mica_destroy(world, ship);
 *
 * Changes are immediate, except while the world records (mica/command.h), for example inside systems and hooks: then the next
 * flush applies them in order. For a stale handle every function returns nil, NULL or false. Functions that would change the
 * entity also report it; functions that only read (is_alive, has, get, write, is_enabled, get_components) do not.
 * Pointers to components are valid until the next structural change: create, destroy, add or remove, on any entity.
 *
 * Each macro calls the function with the suffix _id, which takes a component id instead of a type.
 */
#ifndef MICA_ENTITY_H
#define MICA_ENTITY_H

#include "mica/describe.h"
#include "mica/lookup.h"
#include "mica/world.h"

MICA_BEGIN

/* A component and its value. If data is NULL, the default value is used: constructed, or zero. */
typedef struct mica_value {
    mica_component component;
    uint32_t
        size_bytes; /* size of one value, checked against the component; 0 skips the check. May have MICA_VALUE_FOR_ALL in it. */
    const void *data;
} mica_value;

/* In size_bytes: the data is one value, which all entities get, also where an array is expected (mica/bulk.h, mica/batch.h). MICA_WITH
 * sets it. */
#define MICA_VALUE_FOR_ALL 0x80000000u

/* Creates an entity with these components, in any order, each at most once. Returns nil on error. Threads: owner. */
MICA_API mica_entity mica_create_id(mica_world *world, const mica_value *values, uint32_t count);

/* Destroys an entity and its components. Returns false if it is not alive. Threads: owner. */
MICA_API bool mica_destroy(mica_world *world, mica_entity entity);

/* Returns whether the entity is alive, or its creation is recorded. (Until the flush, has and get find no components of a
 * recorded entity.) Threads: reader. */
MICA_API bool mica_is_alive(const mica_world *world, mica_entity entity);

/* Adds a component with its default value and returns a pointer to it. If the entity has the component, returns a pointer to
 * that. Returns NULL on error. The pointer of a tag must not be dereferenced. Threads: owner. */
MICA_API void *mica_add_id(mica_world *world, mica_entity entity, mica_component component);

/* Adds or overwrites a component with a copy of the value. Returns false on error. Threads: owner. */
MICA_API bool mica_set_id(mica_world *world, mica_entity entity, mica_value value);

/* Removes a component. Returns false if the entity is not alive or does not have it. Threads: owner. */
MICA_API bool mica_remove_id(mica_world *world, mica_entity entity, mica_component component);

/* Returns whether the entity is alive and has the component, enabled or not. Threads: reader. */
MICA_API bool mica_has_id(const mica_world *world, mica_entity entity, mica_component component);

/* Returns the component for reading, or NULL without a report if the entity is not alive or does not have it.
 * Threads: reader. */
MICA_API const void *mica_get_id(const mica_world *world, mica_entity entity, mica_component component);

/* Like mica_get_id, for writing: marks the value as changed. Threads: owner. */
MICA_API void *mica_write_id(mica_world *world, mica_entity entity, mica_component component);

/* Enables or disables a component described with .toggle. No row moves and the value is kept; queries skip a disabled
 * component. Returns false if the entity does not have the component or it has no .toggle. Threads: owner. */
MICA_API bool mica_enable_id(mica_world *world, mica_entity entity, mica_component component, bool enabled);

/* Returns whether the entity has the component and it is enabled. Threads: reader. */
MICA_API bool mica_is_enabled_id(const mica_world *world, mica_entity entity, mica_component component);

/* Writes up to `capacity` component ids of the entity to `out`, in ascending order. Returns how many components the entity
 * has. Threads: reader. */
MICA_API uint32_t mica_get_components(const mica_world *world, mica_entity entity, mica_component *out,
                                      uint32_t capacity);

/* Creates an entity with copies of the components, values and enabled states of another. The name, the parent and the
 * children are not copied; mica_clone_tree of mica/hierarchy.h copies children too. Returns nil on error, also for an entity whose
 * creation is only recorded. Threads: owner. */
MICA_API mica_entity mica_clone(mica_world *world, mica_entity entity);

/* The inline functions that the macros below call. They read the private layout of mica/lookup.h, and call the functions above for
 * what it does not have: in checked builds always. */

/* Like mica_get_id, for a described component. Threads: reader. */
static inline const void *mica_lookup_get(const mica_world *world, mica_entity entity, mica_type *type)
{
#ifndef MICA_CHECKED
    const mica_private_lookup *lookup = mica_private_of(world);
    uint64_t component = mica_private_id(type), index = entity.index;
    if (MICA_EXPECT_(world && component < lookup->component_count, 1)) {
        if (MICA_EXPECT_(index < lookup->record_count, 1)) {
            uint64_t record = mica_private_record(lookup, index);
            uint64_t number = mica_private_chunk_number(record, entity.generation);
            char *const *columns = lookup->columns[component];
            const char *column = MICA_EXPECT_(number < lookup->chunk_capacity, 1) ? columns[number] : NULL;
            if (MICA_EXPECT_(column != NULL, 1))
                return column + (uint32_t)(record & 0xFFFF) * type->size_bytes;
            if (columns != lookup->no_columns)
                return NULL;
        }
    } else {
        const mica_private_pool *pool = mica_private_fast_pool(world, component);
        uint64_t row = mica_private_pool_row(pool, entity);
        if (MICA_EXPECT_(pool != NULL, 1))
            return row < pool->row_limit ? pool->values + row * type->size_bytes : NULL;
    }
#endif
    return mica_get_id(world, entity, (mica_type_id)(type));
}

/* Like mica_has_id, for a described component. Threads: reader. */
static inline bool mica_lookup_has(const mica_world *world, mica_entity entity, mica_type *type)
{
#ifndef MICA_CHECKED
    const mica_private_lookup *lookup = mica_private_of(world);
    uint64_t component = mica_private_id(type), index = entity.index;
    if (MICA_EXPECT_(world && component < lookup->component_count, 1)) {
        char *const *columns = lookup->columns[component];
        if (MICA_EXPECT_(columns != lookup->no_columns && index < lookup->record_count, 1)) {
            uint64_t record = mica_private_record(lookup, index);
            uint64_t number = mica_private_chunk_number(record, entity.generation);
            return MICA_EXPECT_(number < lookup->chunk_capacity, 1) && columns[number] != NULL;
        }
    } else {
        const mica_private_pool *pool = mica_private_fast_pool(world, component);
        if (MICA_EXPECT_(pool != NULL, 1))
            return mica_private_pool_row(pool, entity) < pool->row_limit;
    }
#endif
    return mica_has_id(world, entity, (mica_type_id)(type));
}

/* Like mica_write_id, for a described component. The first write to a slice since the version of the world changed is left to the
 * library, which stamps the slice and makes the copy that a snapshot needs. Threads: owner. */
static inline void *mica_lookup_write(mica_world *world, mica_entity entity, mica_type *type)
{
#ifndef MICA_CHECKED
    const mica_private_lookup *lookup = mica_private_of(world);
    uint64_t component = mica_private_id(type), index = entity.index;
    if (MICA_EXPECT_(world && component < lookup->component_count && index < lookup->record_count, 1)) {
        uint64_t record = mica_private_record(lookup, index);
        uint64_t number = mica_private_chunk_number(record, entity.generation);
        char *const *columns = lookup->columns[component];
        if (MICA_EXPECT_(number < lookup->chunk_capacity && columns[number], 1)) {
            uint32_t row = (uint32_t)record & 0xFFFF;
            const mica_private_chunk *chunk = lookup->chunks[number];
            uint32_t column = ((const uint16_t *)(const void *)(columns + lookup->chunk_capacity))[number];
            const uint64_t *stamp = (const uint64_t *)(const void *)((const char *)chunk + chunk->stamps_offset) + 1 +
                                    column + (row >> MICA_PRIVATE_SLICE_SHIFT) * chunk->stride;
            if (MICA_EXPECT_(type->size_bytes &&
                                 MICA_LOAD_(stamp, MICA_ACQUIRE_) == MICA_LOAD_(&lookup->version, MICA_RELAXED_),
                             1))
                return columns[number] + row * type->size_bytes;
        }
    }
#endif
    return mica_write_id(world, entity, (mica_type_id)(type));
}

/* A component to look up with mica_get_several, and where to write the pointer to its value. Use MICA_INTO. */
typedef struct mica_wanted {
    mica_type *type;
    const void *out_pointer; /* the address of a pointer */
} mica_wanted;

/* The most components of one call. */
enum { MICA_WANTED_MAX = 64 };

/* Looks up several components of one entity, at most MICA_WANTED_MAX. Writes NULL for those that it does not have. Returns how many were
 * found. The pointers are valid as long as those from mica_get_id. Threads: reader. */
static inline uint32_t mica_lookup_several(const mica_world *world, mica_entity entity, const mica_wanted *wanted,
                                           uint32_t count)
{
    uint32_t found = 0;
    if (count > MICA_WANTED_MAX) {
        (mica_world_report)(world, MICA_ERROR_INVALID, "mica_get_several: the number of components must be at most 64");
        return 0;
    }
    for (uint32_t i = 0; wanted && i < count; ++i) {
        const void *value = mica_lookup_get(world, entity, wanted[i].type);
        if (wanted[i].out_pointer)
            MICA_COPY_BYTES_((void *)(uintptr_t)wanted[i].out_pointer, &value, sizeof value);
        found += value != NULL;
    }
    return found;
}

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_create_id(world, ...) mica_create_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_destroy(world, ...) mica_destroy(MICA_AT_(world), __VA_ARGS__)
#    define mica_is_alive(world, ...) mica_is_alive(MICA_AT_(world), __VA_ARGS__)
#    define mica_add_id(world, ...) mica_add_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_set_id(world, ...) mica_set_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_remove_id(world, ...) mica_remove_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_has_id(world, ...) mica_has_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_get_id(world, ...) mica_get_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_write_id(world, ...) mica_write_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_enable_id(world, ...) mica_enable_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_is_enabled_id(world, ...) mica_is_enabled_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_get_components(world, ...) mica_get_components(MICA_AT_(world), __VA_ARGS__)
#    define mica_clone(world, ...) mica_clone(MICA_AT_(world), __VA_ARGS__)
#    define mica_lookup_get(world, ...) mica_lookup_get(MICA_AT_(world), __VA_ARGS__)
#    define mica_lookup_has(world, ...) mica_lookup_has(MICA_AT_(world), __VA_ARGS__)
#    define mica_lookup_write(world, ...) mica_lookup_write(MICA_AT_(world), __VA_ARGS__)
#    define mica_lookup_several(world, ...) mica_lookup_several(MICA_AT_(world), __VA_ARGS__)
#endif

/* MICA_WITH(T, {value}), or MICA_WITH(T) for the default value and for tags. */
#define MICA_WITH(...) MICA_JOIN_(MICA_WITH_, MICA_ONE_OR_MORE_(__VA_ARGS__))(__VA_ARGS__)
#define MICA_WITH_1(T) {MICA_ID(T), 0, NULL}
#define MICA_WITH_2(T, ...) {MICA_ID(T), (uint32_t)sizeof(T) | MICA_VALUE_FOR_ALL, &(const T)__VA_ARGS__}
/* MICA_FROM(T, pointer) copies the value from a variable. */
#define MICA_FROM(T, pointer) {MICA_ID(T), sizeof(T), (const T *){(pointer)}}
#define MICA_VALUE_(T, ...) ((mica_value){MICA_ID(T), sizeof(T), &(const T)__VA_ARGS__})

/* mica_create(world) or mica_create(world, MICA_WITH(...), ...) */
#define mica_create(...) MICA_JOIN_(MICA_CREATE_, MICA_ONE_OR_MORE_(__VA_ARGS__))(__VA_ARGS__)
#define MICA_CREATE_1(world) mica_create_id((world), NULL, 0)
#define MICA_CREATE_2(world, ...) mica_create_id((world), MICA_VALUES_(__VA_ARGS__))
#define MICA_VALUES_(...)                                                                                              \
    (const mica_value[]){__VA_ARGS__}, (uint32_t)(sizeof((const mica_value[]){__VA_ARGS__}) / sizeof(mica_value))

#define mica_add(world, entity, T) ((T *)mica_add_id((world), (entity), MICA_ID(T)))
#define mica_set(world, entity, T, ...) mica_set_id((world), (entity), MICA_VALUE_(T, __VA_ARGS__))
#define mica_set_from(world, entity, T, pointer)                                                                       \
    mica_set_id((world), (entity), (mica_value)MICA_FROM(T, pointer))
#define mica_remove(world, entity, T) mica_remove_id((world), (entity), MICA_ID(T))
#define mica_has(world, entity, T) mica_lookup_has((world), (entity), &MICA_JOIN_(mica_type_of_, T))
#define mica_get(world, entity, T) ((const T *)mica_lookup_get((world), (entity), &MICA_JOIN_(mica_type_of_, T)))
/* mica_get_several(world, entity, MICA_INTO(Position, &position), MICA_INTO(Velocity, &velocity)) */
#define mica_get_several(world, entity, ...)                                                                           \
    mica_lookup_several((world), (entity), (const mica_wanted[]){__VA_ARGS__},                                         \
                        (uint32_t)(sizeof((const mica_wanted[]){__VA_ARGS__}) / sizeof(mica_wanted)))
#define MICA_INTO(T, pointer) {&MICA_JOIN_(mica_type_of_, T), (const T **){(pointer)}}
#define mica_enable(world, entity, T) mica_enable_id((world), (entity), MICA_ID(T), true)
#define mica_disable(world, entity, T) mica_enable_id((world), (entity), MICA_ID(T), false)
#define mica_is_enabled(world, entity, T) mica_is_enabled_id((world), (entity), MICA_ID(T))

#define mica_write(world, entity, T) ((T *)mica_lookup_write((world), (entity), &MICA_JOIN_(mica_type_of_, T)))

#endif
