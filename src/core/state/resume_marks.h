/* Restores what queries and lists of removals have seen, after entities are created. See state_records.h. */
#ifndef MICAP_CORE_STATE_RESUME_MARKS_H
#define MICAP_CORE_STATE_RESUME_MARKS_H

#include "base/byte_stream.h"
#include "core/world/world.h"

bool micap_resume_load_removals(mica_world *world, micap_reader reader);
void micap_resume_load_marks(mica_world *world, micap_reader reader);

#endif
