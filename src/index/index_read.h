/* What functions that read an index check first. */
#ifndef MICAP_INDEX_INDEX_READ_H
#define MICAP_INDEX_INDEX_READ_H

#include "index/world_index.h"

/* The parts of an index that can be read; NULL with a report for NULL and for an index of the other kind. In checked builds, a system
 * must declare the index. `function` is the public function. */
const micap_grid *micap_index_read_grid(const mica_index *index, const char *function);
const micap_sorted_keys *micap_index_read_keys(const mica_index *index, const char *function);

static inline mica_world *micap_index_world(const mica_index *index)
{
    return index->head.world;
}

static inline micap_memory *micap_index_memory(mica_world *world)
{
    return &world->memory;
}

/* The words of an entity of the index, or NULL. */
static inline const uint64_t *micap_index_words(const mica_index *index, mica_entity entity)
{
    return index->must_rebuild ? NULL : micap_tracked_find(&index->tracked, entity);
}

/* Whether loops may run on workers: a world without systems starts no threads for this. */
static inline bool micap_index_has_workers(const mica_world *world)
{
    return micap_module_state(world, MICAP_MODULE_FLOW) != NULL;
}

#endif
