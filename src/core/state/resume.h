/* A world that is being restored from bytes. See state_records.h. */
#ifndef MICAP_CORE_STATE_RESUME_H
#define MICAP_CORE_STATE_RESUME_H

#include "core/state/state_records.h"
#include "mica/state.h"

struct mica_resume {
    mica_world *world;
    micap_reader records[MICAP_STATE_KINDS]; /* content by kind; without bytes if there is none */
    mica_version version;                    /* of the world that was saved */
    uint32_t handle_space;                   /* of the world before */
    uint32_t archetype_count;                /* that bytes say, all of which exist before entities are created */
    void *modules[MICAP_MODULES];            /* what modules read; NULL: nothing */
};

/* Steps before entities are created. False if the bytes are invalid or memory is short: `reset` undoes them. */
bool micap_resume_read_index(mica_world *world, micap_reader *reader, const mica_entity *entities, uint32_t count);
bool micap_resume_read_archetypes(mica_world *world, micap_reader *reader);
bool micap_resume_read_buffers(mica_world *world, micap_reader *reader);
/* Whether slots that were never used are free of what was read. Last. */
bool micap_resume_check_unused_slots(const mica_world *world);
/* Makes a world without entities unused again. */
void micap_resume_reset(mica_world *world);
/* Frees handles that were read and belong to nothing, in a world that has entities. */
void micap_resume_free_handles(mica_world *world);

/* Steps after that. What does not fit the world is left out. */
bool micap_resume_prepare_pools(mica_world *world, micap_reader reader);
bool micap_resume_arrange_rows(mica_world *world, micap_reader reader);
void micap_resume_arrange_pools(mica_world *world, micap_reader reader, mica_version version);
bool micap_resume_load_removals(mica_world *world, micap_reader reader);
void micap_resume_load_marks(mica_world *world, micap_reader reader);
/* Removes archetypes that were only there while entities were created: others come next. */
void micap_resume_forget_archetypes(mica_world *world, uint32_t count);
/* Last: everything before this stamps. */
void micap_resume_load_stamps(mica_world *world, micap_reader reader, mica_version version);

/* The component of this world with a name, or NULL. */
const micap_type *micap_resume_find_type(const mica_world *world, uint64_t name_hash);

#endif
