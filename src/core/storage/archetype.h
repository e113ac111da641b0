/* An archetype: the entities that have exactly one set of chunk components and tags, their rows packed in chunks.
 * Sets are canonical (sorted by id), so {P, Q} is {Q, P}. Adding or removing a component is an edge of a graph between
 * archetypes, found by search once and remembered. */
#ifndef MICAP_CORE_STORAGE_ARCHETYPE_H
#define MICAP_CORE_STORAGE_ARCHETYPE_H

#include "base/assert.h"
#include "core/storage/chunk.h"
#include "core/storage/component.h"

enum {
    MICAP_COLUMN_NONE = 0xFFFF, /* the archetype does not have the component */
    MICAP_COLUMN_TAG = 0xFFFE,  /* it does, and the component has no data */
};

/* The slot of a component that no archetype has: ids from 0x8000 on are those of pools. */
#define MICAP_SLOT_EMPTY UINT32_MAX

/* What moving a value needs, next to each other. */
typedef struct micap_column {
    mica_component component;
    uint32_t bytes;
    bool trivial; /* of its type */
    uint16_t
        changed; /* the column with the versions at which its rows were written; MICAP_COLUMN_NONE if it is not tracked */
    micap_companion companion;
    const micap_type *type;
} micap_column;

/* How a row moves along an edge. The fast path, micap_row_step_add and _remove, is for edges between two archetypes that move as bytes,
 * whose columns differ in at most the one of the edge, and whose new value is zero. */
typedef enum micap_edge_path {
    MICAP_EDGE_GENERAL = 0,
    MICAP_EDGE_ADDS,    /* fast path; the end has the component */
    MICAP_EDGE_REMOVES, /* fast path; the end lacks it */
} micap_edge_path;

/* From an archetype by one component: to the archetype without it when it is there, else to the one with it. */
typedef struct micap_edge {
    uint16_t component;  /* 0: not known yet */
    uint16_t column;     /* of the component where it is there; MICAP_COLUMN_TAG for a tag */
    uint16_t set_limit;  /* 1 + the bytes of a value that the fast path can add; 0 if the type has a copy function */
    uint8_t path;        /* micap_edge_path */
    bool calls_destruct; /* the value that is removed has a destructor */
    struct micap_archetype *end; /* NULL: not known yet */
} micap_edge;

typedef struct micap_archetype {
    micap_chunk *open; /* where the next row goes; NULL when there is no room */
    uint32_t slot_mask;
    uint32_t column_count;
    micap_chunk **chunks;
    uint32_t chunk_count; /* with at most one that is empty at the end, unless rows were reserved */
    uint32_t chunk_capacity;
    uint32_t tail; /* the last chunk that holds rows; 0 when none does */
    uint32_t id;
    uint64_t row_count;
    micap_column *columns;      /* by rising component id */
    mica_component *components; /* all of them, tags and companions too, by rising id */
    uint32_t component_count;
    uint32_t row_bytes;
    bool trivial;         /* all columns are */
    bool moves_as_bytes;  /* no column has a move function, */
    bool copies_as_bytes; /* or a copy function, or a destruct function */
    bool destroys_fast;   /* trivial, and without hooks that see it: see mica_destroy */
    bool has_companions;  /* some column is one */
    bool is_hidden;       /* some component hides its entities */
    uint8_t hook_mask;    /* bit per event that some component has a hook or a watch for */
    /* By event (ADD, SET, REMOVE): a bit per component of the list below that has a hook, a watch or a list for it; the last bit is for
     * all others. See micap_next_hooked. */
    uint64_t hooked[3];
    uint32_t incoming; /* rows a flush is about to add */
    uint32_t listed;   /* while entities of a list are sorted by archetype: 1 + its place among them; else 0 */
    micap_edge *edges; /* open addressing by component id */
    uint32_t edge_count;
    uint32_t edge_capacity;
    uint64_t signature; /* a bit per component, id modulo 64: rules out most archetypes at a glance */
    uint64_t set_hash;
    uint32_t flush_place; /* among the archetypes of a flush, if it is that one's place: see micap_origin */
    /* Look-up of a component: open addressing in a small power-of-two table. A slot is component << 16 | column. */
    uint32_t slots[];
} micap_archetype;

typedef struct micap_archetypes {
    micap_archetype **by_id; /* [0] is the empty set */
    uint64_t *signatures;    /* the same again, close together for the query to scan */
    uint32_t hidden_count;   /* of those that are hidden */
    uint32_t count;
    uint32_t capacity;
    uint32_t signature_capacity;
    uint32_t *table; /* open addressing by set_hash: id + 1 */
    uint32_t table_capacity;
    bool sealed;
} micap_archetypes;

static inline uint32_t micap_archetype_column(const micap_archetype *archetype, mica_component component)
{
    for (uint32_t at = component;; ++at) {
        uint32_t slot = archetype->slots[at & archetype->slot_mask];
        if (slot >> 16 == component)
            return slot & 0xFFFF;
        if (slot == MICAP_SLOT_EMPTY)
            return MICAP_COLUMN_NONE;
    }
}

/* Whether a component is there is as good as random to the processor: the answer of the first slot, which mostly holds the
 * component or nothing, is computed and not branched on (has_random_1M, best of four runs in turn: 12 against 16 ns).
 * The empty assembler line keeps compilers from branching anyway. */
static inline bool micap_archetype_has(const micap_archetype *archetype, mica_component component)
{
    uint32_t slot = archetype->slots[component & archetype->slot_mask];
    uint32_t hit = slot >> 16 == component;
    uint32_t is_known = hit | (slot == MICAP_SLOT_EMPTY);
    MICAP_OPAQUE_TO_COMPILER(is_known);
    if (MICAP_LIKELY(is_known))
        return hit;
    return micap_archetype_column(archetype, component) != MICAP_COLUMN_NONE;
}

/* The hooks of living entities: not those of death, which every archetype has once a module wants to know. */
static inline uint32_t micap_change_hooks(const micap_archetype *archetype)
{
    return archetype->hook_mask & ~(1u << MICA_EVENT_DESTROY);
}

/* Those that run when an entity is created, */
static inline uint32_t micap_creation_hooks(const micap_archetype *archetype)
{
    return archetype->hook_mask & (1u << MICA_EVENT_ADD | 1u << MICA_EVENT_SET);
}

/* and when it is destroyed. */
static inline uint32_t micap_death_hooks(const micap_archetype *archetype)
{
    return archetype->hook_mask & (1u << MICA_EVENT_REMOVE | 1u << MICA_EVENT_DESTROY);
}

/* The position of the next component, from `at` on, that may have a hook for an event; component_count if none has. */
static inline uint32_t micap_next_hooked(const micap_archetype *archetype, uint32_t kind, uint32_t at)
{
    if (at >= 63)
        return at;
    uint64_t bits = archetype->hooked[kind] >> at;
    return bits ? at + (uint32_t)MICAP_TRAILING_ZEROS(bits) : archetype->component_count;
}

static inline uint64_t micap_signature_bit(mica_component component)
{
    return (uint64_t)1 << (component & 63);
}

/* The edge by a component, or one that is blank; the archetype has edges. */
static inline micap_edge *micap_archetype_edge(const micap_archetype *archetype, mica_component component)
{
    for (uint32_t at = component;; ++at) {
        micap_edge *edge = &archetype->edges[at & (archetype->edge_capacity - 1)];
        if (edge->component == component || !edge->component)
            return edge;
    }
}

bool micap_archetypes_init(mica_world *world);
void micap_archetypes_free(mica_world *world);

/* The archetype of a sorted set of components, made when there is none; NULL with a report when it can't. */
micap_archetype *micap_archetype_of_set(mica_world *world, const mica_component *components, uint32_t count);

/* Removes all archetypes after the first `count`. They have no chunks. */
void micap_archetypes_forget(mica_world *world, uint32_t count);

/* Updates hook_mask after hooks were set. */
void micap_archetype_update_hooks(mica_world *world, micap_archetype *archetype);

#endif
