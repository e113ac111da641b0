/* The cost map: every operation in every circumstance, counted in instructions.
 *
 *     circumstance.c   what the world and its entities are like: one row of the map each
 *     operation.c      what is counted: one column of the map each
 *     main.c           runs every operation in every circumstance, each in a new world
 */
#ifndef BENCH_COSTS_H
#define BENCH_COSTS_H

#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "mica/mica.h"
#include "mica/resource.h"
#include "mica/snapshot.h"

enum {
    ENTITIES_MIN = 512, /* one slice */
    ENTITIES_MAX = 1024,
    COMPONENTS_MAX = 32,
    BYTES_MAX = 200,
};

typedef enum kind { KIND_CHUNK, KIND_TAG, KIND_OWNER, KIND_MAP, KIND_DIRECT, KIND_HASH, KIND_POOL_TAG } kind;
typedef enum extra { EXTRA_NONE, EXTRA_NAME, EXTRA_LINK, EXTRA_HOOK, EXTRA_OBSERVER, EXTRA_SNAPSHOT } extra;

typedef struct circumstance {
    const char *name;
    uint32_t components; /* of each entity */
    uint32_t bytes;      /* of each component */
    kind kind;
    extra extra;         /* something that exists in the world, */
    bool here;           /* on the entities of the map, or only elsewhere */
    bool beside;         /* on the second component of the entities, which most operations do not change */
    uint32_t group;      /* how many of the components are in one pool group */
    uint32_t archetypes; /* over which the entities are distributed; 0: one */
    bool shuffled;       /* the entities are used in an order that is not that of their indices and rows */
} circumstance;

typedef struct stage {
    mica_world *world;
    const circumstance *circumstance;
    uint32_t entity_count;
    uint32_t archetype_count;
    mica_component components[COMPONENTS_MAX + 1]; /* the last one is what operations add and remove */
    mica_type *type;                               /* of the first one */
    mica_component tags[ENTITIES_MAX];             /* one per archetype */
    mica_value values[COMPONENTS_MAX + 1];
    uint32_t value_count;
    mica_entity parent; /* of linked entities */
    mica_entity entities[ENTITIES_MAX];
    mica_entity copies[ENTITIES_MAX];
    mica_ref refs[ENTITIES_MAX];
    const void *found[ENTITIES_MAX];
    mica_query *query;
    mica_resource *resource;
    mica_resource_rule rules[COMPONENTS_MAX + 1]; /* for saving and spawning */
    uint32_t rule_count;
    mica_blob blob;
    _Alignas(64) unsigned char data[ENTITIES_MAX * BYTES_MAX];
    uint64_t result; /* keeps the compiler from removing reads */
} stage;

typedef struct operation {
    const char *name;
    void (*prepare)(stage *stage);
    void (*run)(stage *stage);
    uint32_t repeats;    /* operations per entity; 0 means 1 */
    uint32_t per_world;  /* if not 0: operations per run, independent of the number of entities */
    bool copies;         /* values of entities: the type must allow it */
    bool makes_entities; /* names and links of the entities do not matter, because it makes them */
} operation;

extern const circumstance circumstances[]; /* ends with a name of NULL */
extern const operation operations[];

/* Defines components, and adds what exists elsewhere in the world. */
void stage_begin(stage *stage, const circumstance *circumstance);

/* Creates the entities of the map, and what belongs to them. */
void stage_populate(stage *stage);

/* Called when everything is prepared: takes the snapshot, if it is one of these entities. */
void stage_ready(stage *stage);
void stage_end(stage *stage);

/* Returns the values of the archetype; the last one is its tag, if there are several archetypes. */
const mica_value *values_of_archetype(stage *stage, uint32_t archetype);
#endif
