/* A world on its way into a draft. The draft borrows the values from the world, so that saving copies them once. */
#ifndef MICAP_RESOURCE_SAVE_SAVE_H
#define MICAP_RESOURCE_SAVE_SAVE_H

#include "mica/draft.h"
#include "resource/save/draft.h"

/* A component in the rows of a view. */
typedef struct micap_saved_column {
    mica_component component;
    uint32_t part;      /* MICA_DRAFT_NONE: saved entity by entity */
    const char *values; /* NULL for a tag */
} micap_saved_column;

/* Entities that lie one after the other in the world. */
typedef struct micap_saved_view {
    const mica_entity *entities;
    uint32_t first; /* how many are in the views before */
    uint32_t count;
    uint32_t first_column; /* once it is known */
    uint32_t column_count;
    bool is_known;
} micap_saved_view;

/* The entities that are saved, by index of the handle. */
typedef struct micap_saved_slot {
    uint32_t generation;
    uint32_t index; /* 1 + that of the draft; 0: not saved */
} micap_saved_slot;

typedef struct micap_saving {
    mica_world *world;
    const mica_save_def *def;
    mica_draft *draft;
    micap_memory *memory;
    micap_saved_view *views;
    uint32_t view_count;
    uint32_t view_capacity;
    micap_saved_column *columns;
    uint32_t column_count;
    uint32_t column_capacity;
    uint32_t count;        /* entities of all views: they are collected in this order, */
    uint32_t *order;       /* and have this one in the draft; NULL: the same */
    mica_entity *entities; /* as they were collected; NULL until they are needed as one array */
    uint32_t capacity;
    micap_saved_slot *slots; /* NULL until an entity has to be found */
    uint32_t slot_count;
    uint32_t *part_of; /* by component id: 1 + draft component */
    uint32_t part_capacity;
    micap_scalars *assets; /* by draft component */
    uint32_t assets_capacity;
    mica_component *components; /* of the entity at hand */
    uint32_t component_capacity;
    bool has_circle; /* of scopes, which are not stored as parents then */
} micap_saving;

/* How many entities from the first one on lie one after the other in the world; 0 when memory is short. */
uint32_t micap_saving_run(micap_saving *work, const mica_entity *entities, uint32_t count);

#endif
