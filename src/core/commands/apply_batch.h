/* The batch tier of a flush: many entities make the same change. See recorded_changes.h. */
#ifndef MICAP_CORE_COMMANDS_APPLY_BATCH_H
#define MICAP_CORE_COMMANDS_APPLY_BATCH_H

#include "core/commands/recorded_changes.h"

/* Applies the first of these targets together, if they are neighbours that make the same move and nothing observes it. Returns how
 * many that were, or 0. Everything they need is reserved. */
uint32_t micap_targets_apply_batch(mica_world *world, micap_target *const *targets, uint32_t count);

typedef enum micap_batch_outcome {
    MICAP_BATCH_NONE, /* there is more to do than one change: the flush has to plan */
    MICAP_BATCH_APPLIED,
    MICAP_BATCH_FAILED, /* with a report; nothing has changed, and the flush can be tried again */
} micap_batch_outcome;

/* Applies the recordings of all buffers without a plan, if all are batches of one change to entities of one archetype that
 * nothing observes, and each buffer continues after the last entity of the one before it: one system that worked on rows
 * in pieces. */
micap_batch_outcome micap_flush_apply_batches(mica_world *world);

#endif
