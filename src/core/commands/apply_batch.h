/* The batch tier of a flush: changes of one kind to entities of one archetype, applied from the log. See recorded_changes.h. */
#ifndef MICAP_CORE_COMMANDS_APPLY_BATCH_H
#define MICAP_CORE_COMMANDS_APPLY_BATCH_H

#include "core/commands/flush.h"

/* Whether the batch tier applies the changes of a route, whose kind is simple: nothing observes them, and rows move as bytes. The
 * others are applied one after the other: see apply_each.h. */
bool micap_is_for_batch(const mica_world *world, const micap_route *route);

/* Whether all pools of a kind have the fast path. */
bool micap_batch_has_fast_pools(const mica_world *world, const micap_recorded_kind *kind);

/* Applies the part of changes that is in such pools: of the steps from one to another, which have the same kind. */
void micap_batch_change_pools(mica_world *world, const micap_flush_step *step, const micap_flush_step *end);

/* Applies a step of such changes, and those of the same kind that follow it in its group. Everything they need is reserved. Returns the
 * step after them. */
const micap_flush_step *micap_batch_apply(mica_world *world, const micap_group *group, const micap_flush_step *step);

/* What several threads leave to one: changes of pools, and the handles of those that die. */
void micap_batch_finish(mica_world *world, const micap_group *group, const micap_flush_step *step);

#endif
