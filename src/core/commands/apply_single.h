/* The single tier of a flush: the net change of one entity, at most one move. See recorded_changes.h. */
#ifndef MICAP_CORE_COMMANDS_APPLY_SINGLE_H
#define MICAP_CORE_COMMANDS_APPLY_SINGLE_H

#include "core/commands/flush.h"

/* Applies a target. Everything it needs is reserved: it can't fail. */
void micap_target_apply(mica_world *world, micap_target *target);

/* Applies the part in pools, of an entity that lives: what several threads leave to one. */
void micap_target_apply_pools(mica_world *world, const micap_target *target);

#endif
