/* The batch tier of a flush: changes of one kind to entities of one archetype, applied from the log. See recorded_changes.h. */
#ifndef MICAP_CORE_COMMANDS_APPLY_BATCH_H
#define MICAP_CORE_COMMANDS_APPLY_BATCH_H

#include "core/commands/flush.h"

/* Whether the batch tier applies the changes of a route, whose kind is simple: nothing observes them, and rows move as bytes. The
 * others are applied one after the other: see apply_each.h. */
bool micap_is_for_batch(const mica_world *world, const micap_route *route);

/* Whether all pools of a kind have the fast path. */
bool micap_batch_has_fast_pools(const mica_world *world, const micap_recorded_kind *kind);

/* Applies the part of changes that is in such pools. */
void micap_batch_change_pools(mica_world *world, const micap_flush_step *step);

/* Applies a step of such changes. Everything it needs is reserved. */
void micap_batch_apply(mica_world *world, const micap_flush_step *step);

/* What several threads leave to one: changes of pools, and the handles of those that die. */
void micap_batch_finish(mica_world *world, const micap_flush_step *step);

#endif
