/* Systems that declare an index. The layer of indexes is above this one: here an index is what it begins with. */
#ifndef MICAP_FLOW_SCHEDULE_INDEX_USE_H
#define MICAP_FLOW_SCHEDULE_INDEX_USE_H

#include "mica/index.h"

struct micap_system;

/* What an index begins with. */
typedef struct micap_index_head {
    mica_private_index lookup; /* what inline functions of the public header read */
    mica_world *world;
    uint32_t component;
    /* Makes the index current. Whatever has a stamp of at most `seen` is in it then. May be called from several threads: only the
     * first finds something to change. */
    void (*update)(struct mica_index *index, mica_version seen);
} micap_index_head;

static inline const micap_index_head *micap_index_head_of(const struct mica_index *index)
{
    return (const micap_index_head *)(const void *)index;
}

/* Makes the indexes that a system declares current, before it starts. */
void micap_index_uses_update(const struct micap_system *system, mica_version seen);

/* Whether a system declares the index. */
bool micap_system_uses_index(const struct micap_system *system, const struct mica_index *index);

/* How many systems declare the index. It can't be destroyed then. */
uint32_t micap_index_user_count(const mica_world *world, const struct mica_index *index);

#endif
