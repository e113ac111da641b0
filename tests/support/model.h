/* The reference model: what a world should look like, kept in plain arrays by the most obvious code there is.
 * It never calls Mica. An entity is a struct; a component is a bit and a number (see sample.h); a query is a loop
 * over everything; a flush replays a list of commands. Random tests do the same to a world and to the model, and
 * compare. */
#ifndef MICA_TESTS_SUPPORT_MODEL_H
#define MICA_TESTS_SUPPORT_MODEL_H

#include "sample.h"

enum { MODEL_NAME_BYTES = 8 };

typedef enum model_life {
    MODEL_DEAD,    /* or never handed out */
    MODEL_PENDING, /* its creation is recorded */
    MODEL_LIVING,
} model_life;

/* One of many. */
typedef struct model_instance {
    uint32_t number;
    uint32_t added;
    uint32_t changed;
} model_instance;

/* The instances of one entity beyond the first, in the order they were added. */
typedef struct model_instances {
    model_instance *list;
    uint32_t count;
    uint32_t capacity;
} model_instances;

/* One slot, found by the index of a handle. What a dead one holds means nothing. */
typedef struct model_entity {
    mica_entity handle; /* the last that was handed out for this slot */
    model_life life;
    uint32_t location;              /* in the list of the living */
    uint32_t components;            /* one bit per sample */
    uint32_t disabled;              /* one bit per sample that is there but switched off */
    uint32_t numbers[SAMPLE_COUNT]; /* of a pool with many instances, the first one's */
    uint32_t added[SAMPLE_COUNT];   /* epoch of the last addition */
    uint32_t changed[SAMPLE_COUNT]; /* epoch of the last write */
    model_instances more[SAMPLE_MANY];
    mica_entity scope;
    char name[MODEL_NAME_BYTES]; /* "" is none */

    /* Of the flush that is under way. */
    bool touched;
    model_life life_before;
    uint32_t components_before;
    uint32_t instances_before[SAMPLE_MANY];
    uint32_t instances_kept[SAMPLE_MANY]; /* of those before */
    uint32_t added_before[SAMPLE_MANY];   /* the first of them */
} model_entity;

/* How often something happened since the model was made: what hooks should have seen. */
typedef struct model_events {
    uint64_t adds[SAMPLE_COUNT];
    uint64_t removes[SAMPLE_COUNT];
    uint64_t destroys;
} model_events;

typedef struct model {
    model_entity *slots;
    uint32_t slot_count;
    uint32_t *used; /* the indices that were ever handed out: handles can lie far apart */
    uint32_t used_count;
    mica_entity *living;
    uint32_t living_count;
    uint32_t pending_count;
    uint32_t instances[SAMPLE_COUNT]; /* how many living entities have it, or how often */
    uint32_t epoch;                   /* grows with every mark; see model_mark */
    model_events events;
    uint32_t clock; /* the number of the singleton */
    bool copies;    /* an entity is being copied: nothing comes along */
} model;

void model_init(model *model);
void model_free(model *model);
/* A raw model becomes a copy of another. */
void model_copy(model *to, const model *from);

/* A handle the world has made. NULL when it is not new: nil, alive, or an earlier generation of its slot. */
model_entity *model_spawn(model *model, mica_entity handle, model_life life);

/* The living entity of a handle, or NULL. */
model_entity *model_find(const model *model, mica_entity handle);

/* The living or pending entity of a handle, or NULL. */
model_entity *model_find_promised(const model *model, mica_entity handle);

/* The instances of an entity, from 0 on: none or one of most samples. */
uint32_t model_instance_count(const model_entity *entity, sample_kind kind);
model_instance model_instance_at(const model_entity *entity, sample_kind kind, uint32_t which);
void model_instance_add(model *model, model_entity *entity, sample_kind kind, uint32_t number);
void model_instance_remove(model *model, model_entity *entity, sample_kind kind, uint32_t which);
void model_instance_touch(model *model, model_entity *entity, sample_kind kind, uint32_t which, uint32_t number);

/* Adds or overwrites, the first instance where there are many. */
void model_put(model *model, model_entity *entity, sample_kind kind, uint32_t number);
void model_take(model *model, model_entity *entity, sample_kind kind);
void model_kill(model *model, model_entity *entity);
void model_touch_value(model *model, model_entity *entity, sample_kind kind, uint32_t number);
void model_clear(model *model);

/* Starts a new epoch: what happens from now on is newer than what happened before. Returns it. */
uint32_t model_mark(model *model);

/* The living entity of that name in a scope, or NULL. A name ends with its entity, not with its scope. */
model_entity *model_find_name(const model *model, mica_entity scope, const char *name);

typedef struct model_term {
    sample_kind kind;
    mica_access access;
} model_term;

enum { MODEL_TERMS_MAX = 8 };

typedef struct model_query {
    model_term terms[MODEL_TERMS_MAX];
    uint32_t term_count;
    uint32_t since;           /* ADDED and CHANGED: in this epoch or later */
    sample_kind instances_of; /* shown one by one; 0, which is no pool, for none */
    bool with_hidden;         /* also those with SAMPLE_HIDING_TAG */
} model_query;

/* How sure the model is: changes are stamped by slice, unless a component is tracked, so neighbours of a changed row may show up too. */
typedef enum model_answer { MODEL_NO, MODEL_MAYBE, MODEL_YES } model_answer;

model_answer model_query_asks(const model_query *query, const model_entity *entity);

/* The same for one of the instances that the query shows. */
model_answer model_query_asks_instance(const model_query *query, const model_entity *entity, uint32_t which);

/* How many are a YES, and with `maybe` how many are at least a MAYBE. */
uint32_t model_query_count(const model *model, const model_query *query, bool maybe);

typedef enum model_command_kind {
    MODEL_COMMAND_CREATE,
    MODEL_COMMAND_DESTROY,
    MODEL_COMMAND_PUT, /* add and set: both end in a value */
    MODEL_COMMAND_INSTANCE,
    MODEL_COMMAND_TAKE,
    MODEL_COMMAND_SWITCH,
} model_command_kind;

typedef struct model_command {
    model_command_kind kind;
    mica_entity entity;
    sample_kind sample;
    uint32_t number;
    bool enabled;
    bool copies;  /* nothing comes along */
    void *staged; /* of an add: where its value can be filled in until the flush */
} model_command;

typedef struct model_buffer {
    model_command *commands;
    uint32_t count;
    uint32_t capacity;
} model_buffer;

void model_record(model_buffer *buffer, model_command command);
void model_buffer_free(model_buffer *buffer);

/* What a buffer knows of an entity: the world as it is, and on top what it recorded itself. */
typedef struct model_knowledge {
    bool promised; /* alive, or to be */
    bool doomed;   /* this buffer destroys it */
    uint32_t components;
    uint32_t numbers[SAMPLE_COUNT];
} model_knowledge;

model_knowledge model_buffer_knows(const model *model, const model_buffer *buffer, mica_entity entity);

/* How many commands would find their entity dead. */
uint32_t model_count_dead_targets(model *model, const model_buffer *buffers, uint32_t count);

/* Applies the buffers in order and empties them. Creations come first of all, since their handles are valid at once:
 * a buffer may speak of an entity that a later one creates. */
void model_flush(model *model, model_buffer *buffers, uint32_t count);

/* Empties the buffers and forgets the entities they would have made. */
void model_drop(model *model, model_buffer *buffers, uint32_t count);

#endif
