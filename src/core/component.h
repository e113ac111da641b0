/* What a world knows about a component beyond its interned description. */
#ifndef MICAP_CORE_COMPONENT_H
#define MICAP_CORE_COMPONENT_H

#include "core/type.h"
#include "mica/entity.h"
#include "mica/hook.h"
#include "mica/world.h"

#include <string.h>

typedef struct micap_hook {
    mica_hook_fn fn;
    void *context;
} micap_hook;

typedef struct micap_problem {
    mica_result result;
    char text[256];
} micap_problem;

enum { MICAP_WATCHED = MICA_EVENT_KINDS + 2 }; /* events that are watched: see core/watch.h */

typedef struct micap_component {
    const micap_type *type;
    /* The archetypes that have it, in the order they were made: where a query looks for what it may match. */
    struct micap_archetype **archetypes;
    uint32_t archetype_count;
    uint32_t archetype_capacity;
    void *singleton;
    micap_hook hooks[MICA_EVENT_DESTROY]; /* add, set, remove */
    struct micap_watch *watches[MICAP_WATCHED];
    struct mica_removals *removals; /* who keeps a list of removals */
} micap_component;

/* By id; NULL until the world uses the component. */
typedef struct micap_components {
    micap_component **by_id;
    uint32_t capacity;
    uint32_t limit; /* one more than the largest id in use */
    uint32_t used;  /* how many are */
} micap_components;

/* NULL when this world does not use it. */
static inline micap_component *micap_component_of(const micap_components *components, mica_component id)
{
    return id < components->limit ? components->by_id[id] : NULL;
}

/* Registers the component with the world when it is not yet; NULL with a report when it can't. */
micap_component *micap_component_use(mica_world *world, mica_component id);
/* The same without a report: when it can't, `out_problem` has the result and a text, to be reported with more context. */
micap_component *micap_component_try(mica_world *world, mica_component id, micap_problem *out_problem);
/* Whether the size that a value is given with is that of its component; a report when not. */
bool micap_value_fits(const mica_world *world, const micap_type *type, const mica_value *value, mica_place place);
/* Another component of this world with the same name, or NULL. */
const micap_type *micap_component_namesake(const mica_world *world, const micap_type *type);
void micap_components_free(mica_world *world);

/* The value functions with their defaults. All work on `count` values that lie one after the other. */
bool micap_values_construct(const micap_type *type, void *values, uint32_t count);
void micap_values_destruct(const micap_type *type, void *values, uint32_t count);
bool micap_values_copy(const micap_type *type, void *to, const void *from, uint32_t count);
void micap_values_move(const micap_type *type, void *to, void *from, uint32_t count);

/* Values of 4 or of 8 to 16 bytes are small: they are copied in line, as two halves that may overlap. A call to memcpy
 * costs more than everything else of a row move, and that it might come makes the compiler keep all it knows on the stack:
 * loops over columns therefore have a version for archetypes of small components, without a call in it. */
static inline bool micap_is_small(uint32_t bytes)
{
    return bytes == 4 || (bytes >= 8 && bytes <= 16);
}

static inline void micap_copy_small(void *to, const void *from, uint32_t bytes)
{
    if (bytes >= 8) {
        uint64_t head, tail;
        memcpy(&head, from, 8);
        memcpy(&tail, (const char *)from + bytes - 8, 8);
        memcpy(to, &head, 8);
        memcpy((char *)to + bytes - 8, &tail, 8);
    } else {
        memcpy(to, from, 4);
    }
}

/* Copies a small value that the caller has just written, word by word: the stores are still on their way, and a load that
 * is wider than the store it needs would have to wait for memory (a store-forwarding stall). */
static inline void micap_copy_small_fresh(void *to, const void *from, uint32_t bytes)
{
    typedef uint32_t __attribute__((may_alias, aligned(1))) word;
    const volatile word *source = from; /* volatile: or the compiler makes wide loads of it again */
    word *target = to;
    if (bytes % 4) {
        micap_copy_small(to, from, bytes);
        return;
    }
    target[0] = source[0];
    if (bytes == 4)
        return;
    target[1] = source[1];
    if (bytes == 8)
        return;
    target[2] = source[2];
    if (bytes == 16)
        target[3] = source[3];
}

/* The same for any size. */
static inline void micap_copy_bytes(void *to, const void *from, uint32_t bytes)
{
    if (micap_is_small(bytes))
        micap_copy_small(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

static inline void micap_copy_fresh_bytes(void *to, const void *from, uint32_t bytes)
{
    if (micap_is_small(bytes))
        micap_copy_small_fresh(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

#endif
