/* Applies a plan with several threads. See recorded_changes.h. */
#ifndef MICAP_CORE_COMMANDS_APPLY_PARALLEL_H
#define MICAP_CORE_COMMANDS_APPLY_PARALLEL_H

#include "mica/world.h"

/* Distributes the batch and single tiers over threads, if that is possible and worth it; false if it was not. */
bool micap_flush_apply_parallel(mica_world *world);

#endif
