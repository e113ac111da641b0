/* The flush: from recordings to one move per entity. It first plans, which only reads, and then applies, which can't fail.
 * flush_coalesce and flush_plan make the plan; apply_batch, apply_each, apply_single and apply_parallel apply it. */
#ifndef MICAP_CORE_COMMANDS_FLUSH_H
#define MICAP_CORE_COMMANDS_FLUSH_H

#include "core/commands/command_buffer.h"

/* The net change of one component of a target. Commands for a pool with many instances per entity are a list instead, applied
 * in order. */
typedef struct micap_command {
    struct micap_command *next; /* of the same target */
    void *value;                /* staged; NULL for a tag */
    const micap_type *type;
    uint32_t nth; /* of REMOVE_INSTANCE: which one */
    uint8_t
        operation; /* NONE, VALUE, REMOVE, INSTANCE, REMOVE_INSTANCE, or REQUIRED, which the plan turns into NONE or VALUE */
    uint8_t toggle;
    bool is_set;       /* by set or create: the set hook runs */
    bool toggle_first; /* the toggle was recorded before the value: it applies only if the component was there before */
    bool toggled;      /* set when it is applied: the toggle changes something */
    bool is_default;   /* a value that the plan still has to make */
} micap_command;

/* The net change of one entity, made by the flush for changes that the batch tier can't apply. */
typedef struct micap_target {
    mica_entity entity;
    micap_command *first;
    micap_command *last;
    const micap_recorded_kind *kind; /* of the first change, or of the destruction */
    bool created;
    bool destroyed;
    bool has_toggles;
    bool brings;           /* required components are among the commands */
    bool doomed;           /* it dies because another entity dies */
    micap_edge edge;       /* from one archetype to the other, if it has the fast path */
    micap_archetype *from; /* NULL if it is created */
    micap_archetype *to;   /* NULL if it is destroyed */
} micap_target;

/* What is gathered: a target, or changes that lie one after the other in a log, each the only one of its entity. */
typedef struct micap_gathered {
    const micap_recorded_kind *kind; /* of the changes; NULL: it is a target */
    union {
        micap_recorded *changes;
        micap_target *target;
    };
    uint32_t count; /* of entities */
} micap_gathered;

/* A step of the plan: the same, of entities that all take the same way. */
typedef struct micap_flush_step {
    const micap_recorded_kind *kind;
    union {
        micap_recorded *changes;
        micap_target *target;
    };
    const struct micap_each_plan *each; /* the changes are applied one after the other; NULL: all at once */
    struct micap_flush_step *next;      /* of the same group */
    uint32_t count;
} micap_flush_step;

/* Steps with the same (from, to) are applied together. */
typedef struct micap_group {
    micap_archetype *from, *to; /* as of a target */
    micap_edge edge;            /* if it has the fast path */
    micap_flush_step *first, *last;
} micap_group;

/* Where changes of a kind to entities of one archetype go. */
typedef struct micap_route {
    const micap_recorded_kind *kind;
    micap_archetype *from;              /* NULL if they are created */
    micap_archetype *to;                /* NULL if they are destroyed */
    micap_edge edge;                    /* if it has the fast path */
    struct micap_route *after;          /* the one that was used after it: a loop repeats the same routes */
    bool is_known;                      /* otherwise the first change finds it, by its target */
    bool is_batch;                      /* the batch tier applies the changes, */
    const struct micap_each_plan *each; /* or they are applied one after the other; otherwise they are targets */
    micap_group *group;
    micap_group own_group; /* memory for the group, if it is not there yet */
} micap_route;

/* What a flush finds by two addresses: the kind of two kinds of changes to one entity; and, if it is not the first one of its archetype,
 * the route of a kind and an archetype or the group of two archetypes. */
typedef struct micap_pair {
    const void *first, *second;
    void *found;
    uint32_t place; /* in the table */
} micap_pair;

/* An archetype that a flush changes rows of, with its first route and group: most have no other. */
typedef struct micap_origin {
    const micap_archetype *archetype;
    struct micap_route *first_route; /* of changes to entities of this archetype; NULL: none yet */
    struct micap_group *first_group; /* of entities that go from it, or that are created in it; NULL: none yet */
} micap_origin;

typedef struct micap_dropped {
    const micap_type *type;
    void *value;
} micap_dropped;

typedef struct micap_dead {
    mica_entity entity;
    mica_location location;
    const char *label;
} micap_dead;

/* The state of a flush. Its memory is kept between flushes. */
typedef struct micap_flush {
    micap_gathered *gathered; /* in order of first touch over all buffers */
    uint32_t gathered_count;
    uint32_t gathered_capacity;
    uint64_t entity_count;
    uint32_t *table; /* by entity: 1 + position among those gathered, which have one entity each then */
    uint32_t table_capacity;
    uint32_t table_mask;
    bool has_table;
    bool has_doomed;
    micap_group **groups; /* in order of first appearance: what is gathered, split by archetype and without the dead */
    uint32_t group_count;
    uint32_t group_capacity;
    micap_group *last_group; /* of the last step that was planned */
    micap_origin *origins;
    uint32_t origin_count;
    uint32_t origin_capacity;
    micap_pair *pairs;
    uint32_t pair_count;
    uint32_t recent_pair; /* the one that was found last */
    uint32_t pair_capacity;
    uint32_t *pair_table; /* open addressing: a pair, whose place it is; otherwise it is left over from another flush */
    uint32_t pair_table_capacity;
    micap_route *recent;    /* that was used last */
    micap_dropped *dropped; /* values that are not needed */
    uint32_t dropped_count;
    uint32_t dropped_capacity;
    micap_dropped *made; /* values of required components, to be destroyed if the plan is not applied */
    uint32_t made_count;
    uint32_t made_capacity;
    micap_dead *dead; /* for which something was recorded */
    uint32_t dead_count;
    uint32_t dead_capacity;
    struct micap_note *last_note; /* that was applied */
    micap_stage stage;   /* memory of the plan: targets, commands, combined kinds and changes, routes, steps, groups */
    bool is_shared;      /* several threads apply it: what is not of an archetype is left alone */
    mica_result refusal; /* why changes of some target were dropped as impossible, or MICA_OK */
} micap_flush;

void micap_flush_free(mica_world *world);

/* Memory that is valid until the end of the flush. NULL if memory runs out. */
void *micap_flush_allocate(mica_world *world, size_t bytes);

/* What is found by two addresses: the caller sets it if it is NULL. Returns NULL if memory runs out. */
void **micap_flush_find(mica_world *world, const void *first, const void *second);

/* Applies what is recorded in the world's own buffer, and nothing of other buffers. */
mica_result micap_flush_own(mica_world *world);

#endif
