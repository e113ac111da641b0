/* The reference model: what a world should look like, kept in plain arrays by the most obvious code there is.
 * It never calls Mica. An entity is a struct; a component is a bit and a number (see sample.h); a query is a loop
 * over everything; a flush replays a list of commands. Random tests do the same to a world and to the model, and
 * compare. */
#ifndef MICA_TESTS_SUPPORT_MODEL_H
#define MICA_TESTS_SUPPORT_MODEL_H

#include "sample.h"

enum {
    MODEL_NAME_BYTES = 8,
    MODEL_OPAQUES = 4, /* components without described fields: see play_opaque.c */
};

/* One of each policy for destroyed targets, and an exclusive one. */
typedef enum model_relation {
    MODEL_LIKES,
    MODEL_OWES,
    MODEL_HOLDS,
    MODEL_NEEDS,
    MODEL_GUARDS,
    MODEL_RELATIONS,
} model_relation;

typedef struct model_relation_traits {
    mica_target_policy on_target;
    bool exclusive;
    bool has_fields; /* made from a number */
} model_relation_traits;

extern const model_relation_traits model_relations[MODEL_RELATIONS];

typedef struct model_edge {
    mica_entity source;
    mica_entity target;
    uint32_t number;
} model_edge;

/* The edges of a relation, in the order in which they were added. */
typedef struct model_edges {
    model_edge *list;
    uint32_t count;
    uint32_t capacity;
} model_edges;

typedef struct model_handles {
    mica_entity *list;
    uint32_t count;
    uint32_t capacity;
} model_handles;

/* Of an operation that destroys: see model_find_ambiguous. */
typedef enum model_mark_kind { MODEL_MARK_NONE, MODEL_MARK_DIES, MODEL_MARK_MAY_DIE } model_mark_kind;

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
    uint32_t rival; /* which of the components that exclude each other it has: see play_rivals.c; 0: none */
    uint32_t rival_number;
    uint32_t rival_flush; /* the next flush when a buffer last spoke of its rivals */
    uint32_t opaques;     /* one bit per component of play_opaque.c */
    uint32_t opaque_numbers[MODEL_OPAQUES];
    uint32_t edge_count; /* edges that begin or end here */
    uint32_t target_counts[MODEL_RELATIONS];
    model_mark_kind mark;
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
    uint32_t clock;      /* the number of the singleton */
    bool copies;         /* an entity is being copied: nothing comes along */
    uint32_t next_flush; /* from 1 on */
    model_edges edges[MODEL_RELATIONS];
    model_handles doomed; /* sources that are destroyed when the operation ends */
    model_handles marked;
    model_handles
        fallen; /* sources that were destroyed so: for tests that remember dead handles; they empty the list */
} model;

/* As realloc, but never returns NULL. */
void *model_grow(void *array, size_t count, size_t element_bytes);

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
/* Adds or overwrites one of the components that exclude each other, if the entity has no other, or removes it. */
void model_rival(model_entity *entity, uint32_t rival, bool added, uint32_t number);

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
    MODEL_COMMAND_RIVAL,  /* adds or sets one of those that exclude each other, or removes it */
    MODEL_COMMAND_OPAQUE, /* the same for a component without described fields */
    MODEL_COMMAND_RELATE, /* the entity is the source */
    MODEL_COMMAND_UNRELATE,
} model_command_kind;

typedef struct model_command {
    model_command_kind kind;
    mica_entity entity;
    sample_kind sample;
    uint32_t number;
    uint32_t rival; /* or the number of an opaque component */
    bool enabled;   /* of a rival or an opaque component: it is added */
    bool copies;    /* nothing comes along */
    bool applies;   /* of an edge: its ends were there when the flush began */
    model_relation relation;
    mica_entity target;
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
    uint32_t opaques;
    uint32_t numbers[SAMPLE_COUNT];
} model_knowledge;

model_knowledge model_buffer_knows(const model *model, const model_buffer *buffer, mica_entity entity);

/* How many commands would find their entity dead. */
uint32_t model_count_dead_targets(model *model, const model_buffer *buffers, uint32_t count);

/* Applies the buffers in order and empties them. Creations come first of all, since their handles are valid at once:
 * a buffer may speak of an entity that a later one creates. Edges come last. Returns how often a destruction was refused. */
uint32_t model_flush(model *model, model_buffer *buffers, uint32_t count);

/* Empties the buffers and forgets the entities they would have made. */
void model_drop(model *model, model_buffer *buffers, uint32_t count);

/* Adds or removes a component without described fields. */
void model_opaque(model_entity *entity, uint32_t which, bool added, uint32_t number);

/* Edges: model_edges.c. An edge is found, added or overwritten, and removed. */
model_edge *model_find_edge(const model *model, model_relation relation, mica_entity source, mica_entity target);
void model_relate(model *model, model_relation relation, model_edge edge, bool sets);
bool model_unrelate(model *model, model_relation relation, mica_entity source, mica_entity target);
/* All edges from an entity to its targets, or from its sources to it. Returns how many. */
uint32_t model_unrelate_all(model *model, model_relation relation, mica_entity center, bool to_targets);

/* Whether an edge of a relation that refuses ends here. */
bool model_is_guarded(const model *model, const model_entity *entity);

/* What the end of an entity means for its edges. Some sources are destroyed at the end of the operation, which the second
 * does. Returns how often it was refused. */
void model_edges_leave(model *model, const model_entity *entity);
uint32_t model_cascade(model *model);

/* Recorded edges: whether one is applied, and what it does. Returns how often a destruction was refused. */
void model_edges_begin_flush(const model *model, model_command *command);
uint32_t model_edges_apply(model *model, const model_command *command);

/* Whether an entity is destroyed may depend on the order in which an operation destroys others, if both ends of an edge that refuses
 * are among them. Finds such an edge for entities that are marked and all that may die with them; in a flush, also one that leads to
 * an entity whose destruction is recorded. Returns NULL, and removes all marks, if there is none. */
void model_expect_death(model *model, mica_entity entity, model_mark_kind mark);
model_edge *model_find_ambiguous(model *model, const model_buffer *buffers, uint32_t buffer_count);

#endif
