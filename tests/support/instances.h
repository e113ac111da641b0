/* The instances that a handful of entities should have in one pool for many, in order, and the pool itself. */
#ifndef MICA_TESTS_SUPPORT_INSTANCES_H
#define MICA_TESTS_SUPPORT_INSTANCES_H

#include "reports.h"
#include "variants.h"

enum { ENTITIES = 24, INSTANCES_MAX = 64 };

typedef struct instances {
    mica_world *world;
    mica_component component;
    mica_pool *pool;
    bool is_split;
    reports heard;
    mica_entity entities[ENTITIES];
    uint32_t numbers[ENTITIES][INSTANCES_MAX];
    uint32_t counts[ENTITIES];
} instances;

/* A world with the entities, which have no instance yet. */
void instances_open(instances *model, const variant *how);
void instances_close(instances *model);

/* What is done to the world and the model alike, to the entity with this number. A death is followed by a birth in the same
 * slot. Removing an instance that is not there does nothing, nor does adding to a full list. */
void instances_add(instances *model, uint32_t at, uint32_t number);
void instances_remove(instances *model, uint32_t at, uint32_t nth);
void instances_die(instances *model, uint32_t at);

/* What the next call that sets the (first) instance does to the model. */
void instances_note_set(instances *model, uint32_t at, uint32_t number);

void instance_write(const instances *model, mica_instance instance, uint32_t number);
uint32_t instance_read(const instances *model, mica_instance instance);

/* Asserts that every entity has what the model says, in its order, and nothing else is there. */
void instances_expect(instances *model);

#endif
