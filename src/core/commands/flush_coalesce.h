/* The first step of a flush: one list of steps over all buffers, each entity in one of them. See flush.h. */
#ifndef MICAP_CORE_COMMANDS_FLUSH_COALESCE_H
#define MICAP_CORE_COMMANDS_FLUSH_COALESCE_H

#include "core/commands/flush.h"

/* Fills the list from what the buffers put aside to be applied. False if memory runs out. */
bool micap_flush_coalesce(mica_world *world);

/* Every entity that depends on one that dies in this flush dies with it, and no other change is made to it: not even a death of
 * its own, which would come earlier or later than the others. False if memory runs out. */
bool micap_flush_doom_dependents(mica_world *world);

/* Whether an entity is destroyed by a change that was gathered; asked by notes. Not if it only dies with another one. */
bool micap_flush_destroys(const mica_world *world, mica_entity entity);

/* Makes a target of the only change of an entity. NULL if memory runs out. */
micap_target *micap_flush_make_target(mica_world *world, micap_recorded *change, const micap_recorded_kind *kind);

/* Lists the staged values of a target, to be dropped when the flush is applied. */
bool micap_flush_drop_values(mica_world *world, const micap_target *target);

/* Lists the staged values of a change to an entity that is dead, and notes that it is. */
bool micap_flush_drop_dead(mica_world *world, micap_recorded *change, const micap_recorded_kind *kind);

/* Notes that an entity is dead, for which something was recorded: it is reported when the flush is applied. */
bool micap_flush_set_aside(mica_world *world, mica_entity entity, mica_location location, const char *label);

#endif
