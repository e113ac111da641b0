/* Creation plans: the fast path of mica_create. A plan knows, for a list of values as the caller writes it, the archetype, and the column
 * or pool of every value. The fast path is for lists that fill all columns of an archetype without construct and copy functions, so that
 * creating a row is nothing but copies; plans of other lists only know the archetype.
 *
 * Plans are in a hash table that grows with them. The fast path does not compute the hash: a key of few values leads to the plan that was
 * used last with that key, which several lists can have. */
#ifndef MICAP_CORE_ENTITY_CREATE_PLAN_H
#define MICAP_CORE_ENTITY_CREATE_PLAN_H

#include "core/world/world.h"

typedef struct micap_create_item {
    mica_component component;
    uint32_t size_bytes;    /* as the caller gives it */
    uint32_t bytes;         /* 0 for a tag */
    uint32_t column_offset; /* see micap_column_offset; 0 for a tag */
    mica_pool *pool;        /* of a value that is kept in one */
} micap_create_item;

typedef struct micap_create_plan {
    uint32_t known;        /* 1 + the number of values, all of them in chunks; 0: the fast path is not for them */
    uint32_t known_pooled; /* the same for a list with values in pools */
    micap_archetype *archetype;
    uint64_t pool_bits;             /* of the pools, in masks of entities */
    struct micap_create_plan *next; /* in its chain */
    uint32_t key;
    uint32_t hash;
    uint32_t count; /* of items: the values */
    micap_create_item items[];
} micap_create_plan;

static inline uint32_t micap_create_plan_key(const mica_value *values, uint32_t count)
{
    if (MICAP_UNLIKELY(!count))
        return 0;
    const mica_value *middle = values + count / 2, *last = values + (count - 1);
    return values->component * 5 + middle->component * 16 + last->component * 3 + count;
}

/* The plan that was used last with the key of a list: it may be for another list, or for none. */
static inline micap_create_plan **micap_create_plan_recent(const micap_create_plans *plans, const mica_value *values,
                                                           uint32_t count)
{
    return &plans->recent[micap_create_plan_key(values, count) & plans->mask];
}

void micap_create_plans_init(mica_world *world);

/* Makes the plan of a list the recent one of its key. False if it is that already, or there is none. */
bool micap_create_plan_choose(mica_world *world, const mica_value *values, uint32_t count);

/* The archetype of a list of values, if it has a plan; otherwise NULL. */
micap_archetype *micap_create_plan_find(const mica_world *world, const mica_value *values, uint32_t count);

/* The archetype of exactly these values, from their plan, which is made if there is memory for it. A list that lacks required components,
 * as a copy of an entity that lost them, gets no plan. NULL with a report as micap_archetype_of_values. */
micap_archetype *micap_create_plan_archetype(mica_world *world, const mica_value *values, uint32_t count);

/* Forgets all plans. */
void micap_create_plans_free(mica_world *world);

#endif
