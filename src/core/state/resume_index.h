/* Restores handles: the entity index and the handles of command buffers, before entities are created. See state_records.h. */
#ifndef MICAP_CORE_STATE_RESUME_INDEX_H
#define MICAP_CORE_STATE_RESUME_INDEX_H

#include "base/byte_stream.h"
#include "core/world/world.h"

/* Return false if the bytes are invalid or memory is short: `reset` undoes what they did. */
bool micap_resume_read_index(mica_world *world, micap_reader *reader, const mica_entity *entities, uint32_t count);
bool micap_resume_read_buffers(mica_world *world, micap_reader *reader);
/* Whether slots that were never used are free of what was read. Last. */
bool micap_resume_check_unused_slots(const mica_world *world);

/* Makes a world without entities unused again. */
void micap_resume_reset(mica_world *world);
/* Frees handles that were read and belong to nothing, in a world that has entities. */
void micap_resume_free_handles(mica_world *world);

#endif
