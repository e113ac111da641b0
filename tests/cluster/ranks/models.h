#ifndef CLUSTER_MODELS_H
#define CLUSTER_MODELS_H

#include "mica/cluster.h"
#include "mica/flow.h"
#include "mica/message.h"
#include "mica/mica.h"

typedef struct settings {
    uint64_t steps;
    uint32_t agents;
    uint32_t workers;
    uint32_t balance; /* steps between */
    uint64_t seed;
    bool is_plain;    /* without a cluster */
    bool keys;        /* ownership by the targets of a relation */
    bool scopes;      /* names are in the scopes of others than parents */
    uint64_t hangs;   /* a rank that hangs in the middle */
    uint64_t writes;  /* a rank that changes an entity of another in the middle */
    uint64_t slow;    /* a rank that needs more time for the same work */
    uint64_t differs; /* a rank that has another world at the start */
    uint64_t save_at; /* number of steps after which it saves */
    uint64_t save_every;
    const char *trace; /* paths; or NULL */
    const char *save;
    const char *resume;
} settings;

typedef struct model {
    const char *name;
    mica_cluster *(*create)(mica_world *world, const settings *settings);
    uint64_t (*content)(
        mica_world *world); /* a sum over entities, of values that do not depend on identities; or NULL */
    bool (*plain_step)(mica_world *world); /* of a world without a cluster; or NULL */
    void (*resume)(uint64_t tick);         /* for what a model keeps outside the world; or NULL */
    uint64_t (*load)(mica_world *world);   /* the work of this rank, which does not depend on time; or NULL */
} model;

extern const model wanderers_model, flock_model, market_model, epidemic_model, couriers_model, workshop_model,
    lineage_model;

void add_words(void *to, const void *from, void *context);

static inline uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t value = a * 0x9e3779b97f4a7c15u + b;
    value ^= value >> 31;
    value *= 0xff51afd7ed558ccdu;
    value ^= value >> 29;
    return value * 0xc4ceb9fe1a85ec53u ^ value >> 32;
}

#endif
