/* Mica, entity: what is done to one entity.
 *
 *     mica_entity ship = mica_create(world, MICA_WITH(Position, {0, 0, 0}), MICA_WITH(Frozen));
 *     mica_set(world, ship, Velocity, {1, 0, 0});            adds it, or overwrites it; a value in braces
 *     mica_set_from(world, ship, Velocity, &start);          the same from a variable; MICA_FROM with mica_create
 *     mica_write(world, ship, Position)->x += 1;             to change, stamped as changed
 *     float x = mica_get(world, ship, Position)->x;          to look
 *     mica_remove(world, ship, Frozen);
 *     mica_destroy(world, ship);
 *
 * Changes are immediate, except while the world is recording (mica/command.h), inside hooks for example: then they
 * are applied by the next flush, in order. A dead handle gives nil, NULL or false, and nothing happens; trying to change
 * it is reported, looking at it (is_alive, has, get, write, is_enabled, components_of) is not.
 * Pointers to components live until the next structural change: create, destroy, add or remove of any entity.
 *
 * Each macro is sugar over the function with the same name and _component, which takes an id instead of a type;
 * mica_create is sugar over mica_create_id.
 */
#ifndef MICA_ENTITY_H
#define MICA_ENTITY_H

#include "mica/describe.h"

MICA_BEGIN

/* A component with the value it starts with; NULL is the default value: constructed, or zero. */
typedef struct mica_value {
    mica_component component;
    uint32_t size_bytes; /* of what data points to, checked against the component's; 0 is unchecked */
    const void *data;
} mica_value;

/* Creates an entity with these components, in any order, none twice. Returns nil when it can't.
 * Threads: owner. */
MICA_API mica_entity mica_create_id(mica_world *world, const mica_value *values, uint32_t count);

/* Destroys an entity with all its components. Returns false when it is dead already. Threads: owner. */
MICA_API bool mica_destroy(mica_world *world, mica_entity entity);

/* Returns whether the handle names a living entity, or one whose creation is recorded; has and get see nothing of the
 * latter until the flush. Threads: reader. */
MICA_API bool mica_is_alive(const mica_world *world, mica_entity entity);

/* Adds a component with its default value and returns it, to be filled in; when it is there already, returns that.
 * Returns NULL when it can't. A tag gives a pointer that can't be followed. Threads: owner. */
MICA_API void *mica_add_id(mica_world *world, mica_entity entity, mica_component component);

/* Adds or overwrites a component by copying the value. Returns false when it can't. Threads: owner. */
MICA_API bool mica_set_id(mica_world *world, mica_entity entity, mica_value value);

/* Removes a component. Returns false when the entity is dead or does not have it. Threads: owner. */
MICA_API bool mica_remove_id(mica_world *world, mica_entity entity, mica_component component);

/* Returns whether the entity lives and has the component, switched on or off. Threads: reader. */
MICA_API bool mica_has_id(const mica_world *world, mica_entity entity, mica_component component);

/* Returns the component to look at, NULL when the entity is dead or does not have it, without a report.
 * Threads: reader. */
MICA_API const void *mica_get_id(const mica_world *world, mica_entity entity, mica_component component);

/* As mica_get_id, to be changed: the value counts as changed from now on. Threads: owner. */
MICA_API void *mica_write_id(mica_world *world, mica_entity entity, mica_component component);

/* Switches a component that is described with .toggle off and on in place: nothing moves, the value is kept, and
 * queries pass over it. Returns false when the entity does not have it or it can't be toggled. Threads: owner. */
MICA_API bool mica_enable_id(mica_world *world, mica_entity entity, mica_component component, bool enabled);

/* Returns whether the entity has the component and it is switched on. Threads: reader. */
MICA_API bool mica_is_enabled_id(const mica_world *world, mica_entity entity, mica_component component);

/* Fills `out` with up to `capacity` components of the entity, by rising id, and returns how many it has.
 * Threads: reader. */
MICA_API uint32_t mica_get_components(const mica_world *world, mica_entity entity, mica_component *out,
                                      uint32_t capacity);

/* Creates an entity with the components, values and switches of another, which must have been flushed; the name stays
 * with that one. Returns nil when it can't. Threads: owner. */
MICA_API mica_entity mica_clone(mica_world *world, mica_entity entity);

MICA_END

/* MICA_WITH(T, {value}) or MICA_WITH(T) for the default value and for tags. */
#define MICA_WITH(...) MICA_JOIN_(MICA_WITH_, MICA_ONE_OR_MORE_(__VA_ARGS__))(__VA_ARGS__)
#define MICA_WITH_1(T) {MICA_ID(T), 0, NULL}
#define MICA_WITH_2(T, ...) {MICA_ID(T), sizeof(T), &(const T)__VA_ARGS__}
/* MICA_FROM(T, pointer) takes a value that is there already. */
#define MICA_FROM(T, pointer) {MICA_ID(T), sizeof(T), (const T *){(pointer)}}
#define MICA_VALUE_(T, ...) ((mica_value)MICA_WITH_2(T, __VA_ARGS__))

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
#define mica_has(world, entity, T) mica_has_id((world), (entity), MICA_ID(T))
#define mica_get(world, entity, T) ((const T *)mica_get_id((world), (entity), MICA_ID(T)))
#define mica_enable(world, entity, T) mica_enable_id((world), (entity), MICA_ID(T), true)
#define mica_disable(world, entity, T) mica_enable_id((world), (entity), MICA_ID(T), false)
#define mica_is_enabled(world, entity, T) mica_is_enabled_id((world), (entity), MICA_ID(T))

#define mica_write(world, entity, T) ((T *)mica_write_id((world), (entity), MICA_ID(T)))

#endif
