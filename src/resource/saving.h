/* A world on its way into a draft. */
#ifndef MICAP_RESOURCE_SAVING_H
#define MICAP_RESOURCE_SAVING_H

#include "mica/draft.h"
#include "resource/draft.h"

typedef struct micap_saving {
    mica_world *world;
    const mica_save_def *def;
    mica_draft *draft;
    micap_memory *memory;
    mica_entity *entities; /* in order: parents before children */
    uint32_t count;
    uint32_t capacity;
    uint32_t *parents; /* among `entities`, or MICAP_NONE */
    uint32_t parents_capacity;
    uint32_t *index_of; /* by slot of the handle: 1 + draft index, 0 for what is not saved */
    uint32_t slot_count;
    uint32_t *part_of; /* by component id: 1 + draft component */
    uint32_t part_capacity;
    micap_leaves *leaves; /* by draft component: the fields of the component in the world */
    uint32_t leaves_capacity;
    micap_leaves *references;
    uint32_t references_capacity;
    micap_leaves *assets;
    uint32_t assets_capacity;
    mica_component *components; /* of the entity at hand */
    uint32_t component_capacity;
    bool has_pools; /* the world has, so that entities of one archetype may differ */
} micap_saving;

/* Collects the entities and puts them into the draft, parents before children. */
bool micap_saving_order(micap_saving *work);

/* The draft index of an entity, or MICAP_NONE for what is not saved. */
uint32_t micap_saving_find(const micap_saving *work, mica_entity entity);

#endif
