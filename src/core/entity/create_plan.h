/* Creation plans: the fast path of mica_create. A plan knows, for a list of values as the caller writes it, the column or pool of every
 * value. There are plans for lists that fill all columns of an archetype without construct and copy functions, so that creating a row
 * is nothing but copies. */
#ifndef MICAP_CORE_ENTITY_CREATE_PLAN_H
#define MICAP_CORE_ENTITY_CREATE_PLAN_H

#include "core/storage/archetype.h"
#include "pool/pool.h"

enum { MICAP_CREATE_PLANS = 64 };

typedef struct micap_create_item {
    mica_component component;
    uint32_t size_bytes;    /* as the caller gives it */
    uint32_t bytes;         /* 0 for a tag */
    uint32_t column_offset; /* see micap_column_offset; 0 for a tag */
    mica_pool *pool;        /* of a value that is kept in one */
} micap_create_item;

typedef struct micap_create_plan {
    micap_archetype *archetype;
    micap_create_item *items;
    uint32_t known;        /* 1 + the number of values, all of them in chunks; 0: no such plan */
    uint32_t known_pooled; /* the same for a list with values in pools */
    uint32_t capacity;
    uint64_t pool_bits; /* of the pools, in masks of entities */
} micap_create_plan;

/* The plan for a list of values, or one for another list in its place. */
static inline uint32_t micap_create_plan_place(const mica_value *values, uint32_t count)
{
    uint32_t key = MICAP_LIKELY(count) ? values[0].component * 5 + values[count - 1].component * 3 + count : 0;
    return key % MICAP_CREATE_PLANS;
}

/* Remembers the plan for a list of values, if it can have one and there is memory for it. */
void micap_create_plan_learn(mica_world *world, micap_archetype *archetype, const mica_value *values, uint32_t count);

/* Forgets all plans. */
void micap_create_plans_clear(mica_world *world);
void micap_create_plans_free(mica_world *world);

#endif
