/* Restores archetypes, chunks and the order of rows. See state_records.h. */
#ifndef MICAP_CORE_STATE_RESUME_ROWS_H
#define MICAP_CORE_STATE_RESUME_ROWS_H

#include "base/byte_stream.h"
#include "core/world/world.h"

/* Before entities are created. False if the bytes are invalid or memory is short. */
bool micap_resume_read_archetypes(mica_world *world, micap_reader *reader);

/* After that. What does not fit the world is left out. */
bool micap_resume_arrange_rows(mica_world *world, micap_reader reader);
/* Removes archetypes that were only there while entities were created: others come next. */
void micap_resume_forget_archetypes(mica_world *world, uint32_t count);
/* Last: everything before this stamps. */
void micap_resume_load_stamps(mica_world *world, micap_reader reader, mica_version version);

#endif
