/* Stale pointers, in checked builds: values are lent to the program at addresses that become invalid with the next flush or immediate
 * change that moves anything, so that a pointer that was kept is caught where it is used. In other builds these functions do nothing. */
#ifndef MICAP_CORE_WORLD_STALE_POINTERS_H
#define MICAP_CORE_WORLD_STALE_POINTERS_H

#include "base/assert.h"
#include "mica/view.h"

#ifdef MICA_CHECKED

/* Returns the address at which the program gets `count` values, of which the first belong to this entity. Values that can't be
 * lent, since they are not trivial, keep their own address. */
void *micap_lend_values(const mica_world *world, mica_entity entity, mica_component component, const void *value,
                        uint32_t count);
/* The same for the column of a term. */
void *micap_lend_column(const mica_view *view, uint32_t term, const void *values);
/* Invalidates all that was lent. */
void micap_lend_end(const mica_world *world);
/* The world is destroyed. */
void micap_lend_drop(const mica_world *world);

typedef struct micap_immediate_change {
    const mica_world *world;
    uint64_t structure; /* of the world before */
} micap_immediate_change;

micap_immediate_change micap_immediate_change_begin(const mica_world *world);
void micap_immediate_change_end(const micap_immediate_change *change);

/* At the begin of a public function that changes the structure of the world: what was lent becomes invalid when the function
 * returns, after it has copied the values it was given, if the structure changed. */
#    define MICAP_IMMEDIATE_CHANGE(world)                                                                              \
        const micap_immediate_change immediate_change MICAP_UNUSED MICAP_CLEANUP(micap_immediate_change_end) =   \
            micap_immediate_change_begin(world)

#else

typedef int micap_immediate_change;
#    define MICAP_IMMEDIATE_CHANGE(world) ((void)0)

static inline micap_immediate_change micap_immediate_change_begin(const mica_world *world)
{
    (void)world;
    return 0;
}

static inline void micap_immediate_change_end(const micap_immediate_change *change)
{
    (void)change;
}

static inline void *micap_lend_values(const mica_world *world, mica_entity entity, mica_component component,
                                      const void *value, uint32_t count)
{
    (void)world, (void)entity, (void)component, (void)count;
    return (void *)(uintptr_t)value;
}

static inline void *micap_lend_column(const mica_view *view, uint32_t term, const void *values)
{
    (void)view, (void)term;
    return (void *)(uintptr_t)values;
}

static inline void micap_lend_end(const mica_world *world)
{
    (void)world;
}

static inline void micap_lend_drop(const mica_world *world)
{
    (void)world;
}

#endif
#endif
