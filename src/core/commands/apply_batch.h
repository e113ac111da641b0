/* The batch tier of a flush: changes of one kind to entities of one archetype, applied from the log. See recorded_changes.h. */
#ifndef MICAP_CORE_COMMANDS_APPLY_BATCH_H
#define MICAP_CORE_COMMANDS_APPLY_BATCH_H

#include "core/commands/flush.h"

/* Whether the batch tier applies changes of a simple kind: nothing observes them, and no function of a type is called. The
 * target is that of one of them, with its place. The others are for the single tier. */
bool micap_is_for_batch(const mica_world *world, const micap_recorded_kind *kind, const micap_target *target);

/* Applies a step of such changes. Everything it needs is reserved. */
void micap_batch_apply(mica_world *world, const micap_flush_step *step);

/* What several threads leave to one: changes of pools, and the handles of those that die. */
void micap_batch_finish(mica_world *world, const micap_flush_step *step);

#endif
