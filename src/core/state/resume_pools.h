/* Restores the order of the rows of pools, after entities are created. See state_records.h. */
#ifndef MICAP_CORE_STATE_RESUME_POOLS_H
#define MICAP_CORE_STATE_RESUME_POOLS_H

#include "base/byte_stream.h"
#include "core/world/world.h"

bool micap_resume_prepare_pools(mica_world *world, micap_reader reader);
void micap_resume_arrange_pools(mica_world *world, micap_reader reader, mica_version version);

#endif
