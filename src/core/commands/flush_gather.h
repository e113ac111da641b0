/* The first step of a flush: one list of targets over all buffers. See flush.h. */
#ifndef MICAP_CORE_COMMANDS_FLUSH_GATHER_H
#define MICAP_CORE_COMMANDS_FLUSH_GATHER_H

#include "core/commands/recorded_changes.h"

/* Fills the list of targets of the flush from what the buffers put aside to be applied. False if memory runs out. */
bool micap_flush_gather(mica_world *world);

/* Every entity that depends on one that dies in this flush dies with it, and no other change is made to it: not even a death of
 * its own, which would come earlier or later than the others. False if memory runs out. */
bool micap_flush_doom_dependents(mica_world *world);

/* Notes that a target is dead: it is reported, and its values dropped, when the flush is applied. */
bool micap_flush_set_aside(mica_world *world, const micap_target *target);

#endif
