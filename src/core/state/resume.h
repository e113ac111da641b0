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

#endif
