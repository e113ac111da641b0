/* Mica, singleton: components with exactly one value per world: time, settings, input. Described with MICA_SINGLETON. The value
 * exists from its first use, zero or constructed, and never moves.
 *
 *     mica_singleton_write(world, Clock)->seconds += 1;
 *     float now = mica_singleton_get(world, Clock)->seconds;
 *
 * Queries can READ and WRITE a singleton like other terms; its column then has one element, column[0]. */
#ifndef MICA_SINGLETON_H
#define MICA_SINGLETON_H

#include "mica/describe.h"

MICA_BEGIN

/* Returns the value for reading, or NULL if memory runs out or the component is not a singleton.
 * Threads: owner for the first use, then reader. */
MICA_API const void *mica_singleton_get_id(mica_world *world, mica_component component);

/* Returns whether the value exists, without creating it. Threads: reader. */
MICA_API bool mica_singleton_is_used(const mica_world *world, mica_component component);

/* Returns the value for writing, or NULL. Threads: owner. */
MICA_API void *mica_singleton_write_id(mica_world *world, mica_component component);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_singleton_get_id(world, ...) mica_singleton_get_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_singleton_is_used(world, ...) mica_singleton_is_used(MICA_AT_(world), __VA_ARGS__)
#    define mica_singleton_write_id(world, ...) mica_singleton_write_id(MICA_AT_(world), __VA_ARGS__)
#endif

#define mica_singleton_get(world, T) ((const T *)mica_singleton_get_id((world), MICA_ID(T)))
#define mica_singleton_write(world, T) ((T *)mica_singleton_write_id((world), MICA_ID(T)))

#endif
