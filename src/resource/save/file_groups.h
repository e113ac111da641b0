/* Entities with the same components are one group in the file. Their numbers in the file follow from that. */
#ifndef MICAP_RESOURCE_SAVE_FILE_GROUPS_H
#define MICAP_RESOURCE_SAVE_FILE_GROUPS_H

#include "base/assert.h"
#include "resource/save/draft.h"

/* Entities that follow each other in the draft and have the same components: they do so in the file too. */
typedef struct micap_stretch {
    uint32_t first;
    uint32_t location; /* of the first in the file */
    uint32_t group;
    uint32_t position; /* among the stretches of the group */
} micap_stretch;

/* How entities are numbered in the file. */
typedef struct micap_grouping {
    uint32_t *rank;           /* parts, sorted by spawn order and name */
    uint64_t *begins;         /* a bit by entity: a stretch begins with it */
    uint32_t *begun;          /* by word of these bits: how many begin before it */
    uint32_t word_count;      /* one more than is full of entities */
    micap_stretch *stretches; /* and one after the last */
    uint32_t stretch_count;
    bool in_order;        /* places are the numbers of the draft */
    uint32_t group_count; /* in order of first appearance */
    uint32_t *group_first;
    uint32_t *group_size;
    uint32_t *group_stretches; /* how many */
    uint32_t *group_set;
    struct micap_set_node {
        uint32_t without;   /* the set this one extends, */
        uint32_t component; /* by this component, by its rank */
        uint32_t depth;
        uint32_t group; /* MICAP_NONE where no entity has exactly this set */
    } * sets;           /* [0] is the empty one */
    uint32_t set_count;
    uint32_t set_capacity;
    uint32_t *table; /* open addressing by (without, component) */
    uint32_t table_capacity;
} micap_grouping;

bool micap_grouping_make(micap_grouping *grouping, mica_draft *draft);
void micap_grouping_free(micap_grouping *grouping, mica_draft *draft);

/* The stretch an entity of the draft lies in. */
static inline const micap_stretch *micap_stretch_of(const micap_grouping *grouping, uint32_t entity)
{
    uint32_t word = entity / 64;
    uint64_t up_to = grouping->begins[word] & UINT64_MAX >> (63 - entity % 64);
    return &grouping->stretches[grouping->begun[word] + (uint32_t)MICAP_ONE_BITS(up_to) - 1];
}

/* The index in the file of an entity of the draft. */
static inline uint32_t micap_place_of(const micap_grouping *grouping, uint32_t entity)
{
    if (grouping->in_order)
        return entity;
    const micap_stretch *stretch = micap_stretch_of(grouping, entity);
    return stretch->location + (entity - stretch->first);
}

/* Whether the entities of a group have a component that is a column of groups. */
static inline bool micap_group_has(const micap_grouping *grouping, uint32_t group, uint32_t rank)
{
    uint32_t set = grouping->group_set[group];
    while (set && grouping->sets[set].component > rank)
        set = grouping->sets[set].without;
    return set && grouping->sets[set].component == rank;
}

#endif
