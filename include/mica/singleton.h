/* Mica, singleton: components of which a world has exactly one: time, settings, input. Described with MICA_SINGLETON;
 * the value is there, zero or constructed, from its first use on, and never moves.
 *
 *     mica_singleton_write(world, Clock)->seconds += 1;
 *     float now = mica_singleton_get(world, Clock)->seconds;
 *
 * Queries may READ and WRITE it beside other terms: the column then is the one value, column[0] and never column[i]. */
#ifndef MICA_SINGLETON_H
#define MICA_SINGLETON_H

#include "mica/describe.h"

MICA_BEGIN

/* Returns the world's one value to look at; NULL when memory is short or the component is no singleton.
 * Threads: owner on first use, reader later. */
MICA_API const void *mica_singleton_get_id(mica_world *world, mica_component component);

/* Returns whether the value is there, since somebody has asked for it: for tools, which want to look without using it.
 * Threads: reader. */
MICA_API bool mica_singleton_is_used(const mica_world *world, mica_component component);

/* Returns the world's one value to change, or NULL. Threads: owner. */
MICA_API void *mica_singleton_write_id(mica_world *world, mica_component component);

MICA_END

#define mica_singleton_get(world, T) ((const T *)mica_singleton_get_id((world), MICA_ID(T)))
#define mica_singleton_write(world, T) ((T *)mica_singleton_write_id((world), MICA_ID(T)))

#endif
