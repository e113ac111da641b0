/* The second step of a flush: where each target goes, with room for it. See flush.h. */
#ifndef MICAP_CORE_COMMANDS_FLUSH_PLAN_H
#define MICAP_CORE_COMMANDS_FLUSH_PLAN_H

#include "mica/world.h"

/* Gathers the targets, applies notes, finds the archetype of each target, reserves rows and sorts the targets by (from, to). On
 * error nothing has changed once the caller has called the next function and micap_notes_undo. */
mica_result micap_flush_plan(mica_world *world);

/* Forgets the rows that the plan expects, after it was applied or in place of that. */
void micap_flush_forget_incoming(mica_world *world);

#endif
