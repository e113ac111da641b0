/* The general path of changes that are applied from the log: one after the other, with hooks and functions of types. See
 * recorded_changes.h. A third path beside batches and targets: with a hook, a target takes twice the instructions. */
#ifndef MICAP_CORE_COMMANDS_APPLY_EACH_H
#define MICAP_CORE_COMMANDS_APPLY_EACH_H

#include "core/commands/flush.h"
#include "core/events/hooks.h"

/* A staged value, and the column it goes to. */
typedef struct micap_each_value {
    uint32_t offset; /* from the change */
    uint32_t bytes;
    uint32_t column;
    const micap_type *replaced; /* of the value that is there already; NULL: the place is raw */
} micap_each_value;

/* What changes of one kind to entities of one archetype do, found out once. */
typedef struct micap_each_plan {
    const micap_each_value *values;
    uint32_t value_count;
    uint32_t removed_count;
    uint32_t added_count;
    uint32_t set_count;
    micap_hooked hooked[]; /* of components that are removed, added and set, in the order of the calls */
} micap_each_plan;

/* Whether the changes of a route, whose kind is simple, can be applied in this way. */
bool micap_is_for_each(const mica_world *world, const micap_route *route);

/* The plan of such changes. NULL if memory runs out. */
const micap_each_plan *micap_each_make_plan(mica_world *world, const micap_route *route);

/* Applies a step with a plan. Everything it needs is reserved. */
void micap_each_apply(mica_world *world, const micap_group *group, const micap_flush_step *step);

#endif
