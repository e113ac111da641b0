/* What a world knows about a component beyond its interned description. */
#ifndef MICAP_CORE_STORAGE_COMPONENT_H
#define MICAP_CORE_STORAGE_COMPONENT_H

#include "base/assert.h"
#include "type/type.h"
#include "type/values.h"
#include "mica/entity.h"
#include "mica/hook.h"
#include "mica/world.h"

typedef struct micap_hook {
    mica_event_fn fn;
    void *context;
} micap_hook;

/* See core/events/watch.h. Embed this as the first member. As in a hook, changes to the world are recorded. `seen` may change the context of
 * the event. */
typedef struct micap_watch {
    struct micap_watch *next;
    void (*seen)(struct micap_watch *watch, mica_event *event);
} micap_watch;

typedef struct micap_problem {
    mica_result result;
    char text[256];
} micap_problem;

typedef struct micap_component {
    const micap_type *type;
    /* The archetypes that have it, in the order they were made: where a query looks for what it may match. */
    struct micap_archetype **archetypes;
    uint32_t archetype_count;
    uint32_t archetype_capacity;
    void *singleton;
    bool
        is_unborn; /* a singleton that was never requested: it was only prepared, or a snapshot from before its first use was restored */
    micap_hook hooks[MICA_EVENT_KINDS]; /* of add, set and remove; the others have none */
    micap_watch *watches[MICA_EVENT_KINDS];
    micap_watch range_watch;        /* of MICA_EVENT_SET, if ranges are checked: see core/storage/range_check.h */
    struct mica_removals *removals; /* the lists of removals of this component */
    mica_component
        *rivals; /* the components of this world that an entity can't have beside it: see core/storage/rivals.h */
    uint32_t rival_count;
    uint32_t rival_capacity;
    bool meets_pools; /* it or one of its rivals is in a pool: an archetype does not tell whether they meet */
} micap_component;

/* A bit per event that the component has a hook, a watch or a list for. */
uint32_t micap_component_awaits(const micap_component *component);

/* By id; NULL until the world uses the component. Those in pools have a range of ids, and a list, of their own. */
typedef struct micap_components {
    micap_component **by_id;
    uint32_t capacity;
    uint32_t limit;           /* one more than the largest id in use */
    uint32_t used;            /* how many are */
    micap_component **pooled; /* by id - MICAP_POOL_IDS */
    uint32_t pooled_capacity;
    uint32_t pooled_limit;
    uint32_t exclusive_count; /* how many of them exclude others */
    bool meets_pools;         /* some of them does: see micap_component */
} micap_components;

/* NULL when this world does not use it. */
static inline micap_component *micap_component_find(const micap_components *components, mica_component id)
{
    if (id < components->limit)
        return components->by_id[id];
    return id - MICAP_POOL_IDS < components->pooled_limit ? components->pooled[id - MICAP_POOL_IDS] : NULL;
}

/* One that the world is known to use. */
static inline micap_component *micap_component_of(const micap_components *components, mica_component id)
{
    micap_component *component = micap_component_find(components, id);
    MICAP_ASSERT(component, "the world uses the component");
    return component;
}

/* The id in use that follows one, 0 to begin with; 0 when there is none. */
mica_component micap_component_after(const micap_components *components, mica_component id);

/* Registers the component with the world when it is not yet; NULL with a report when it can't. */
micap_component *micap_component_use(mica_world *world, mica_component id);
/* The same without a report: when it can't, `out_problem` has the result and a text, to be reported with more context. */
micap_component *micap_component_try(mica_world *world, mica_component id, micap_problem *out_problem);
/* The type of a component that an entity can have, registered with the world; NULL with a report. */
const micap_type *micap_type_for_entities(mica_world *world, mica_component component);

/* The size of a value as the program gave it; 0 if it did not. */
static inline uint32_t micap_value_bytes(const mica_value *value)
{
    return value->size_bytes & ~MICA_VALUE_FOR_ALL;
}

/* Whether values of a component can be added without anything else: not of a relation, whose edges need a target. Reports if not. */
bool micap_takes_values(const mica_world *world, const micap_type *type, mica_location location);
/* Whether the size that a value is given with is that of its component; a report when not. */
bool micap_value_fits(const mica_world *world, const micap_type *type, const mica_value *value, mica_location location);
/* Reports that the construct or copy function of a type failed; returns false. */
bool micap_fail_value(const mica_world *world, const micap_type *type);
/* Whether values of a type can be copied; a report when not. */
bool micap_expect_copyable(const mica_world *world, const micap_type *type, const char *what);
/* Another component of this world with the same name, or NULL. */
const micap_type *micap_component_namesake(const mica_world *world, const micap_type *type);
void micap_components_free(mica_world *world);

#endif
