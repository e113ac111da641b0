/* Interned descriptions, shared by all worlds of the process: one id for equal name, layout and traits. They live until
 * the process ends and do not change, except for the ring of types with the same name, so any thread may read them without a lock. */
#ifndef MICAP_TYPE_TYPE_H
#define MICAP_TYPE_TYPE_H

#include "mica/describe.h"

/* What a hidden companion column holds. Toggle bits and added-versions are ordinary columns next to the component they
 * belong to: the row-move primitive, sorting and snapshots need not know about them. */
typedef enum micap_companion {
    MICAP_COMPANION_NONE = 0,
    MICAP_COMPANION_ENABLED, /* uint8_t, 1 where the component is switched on */
    MICAP_COMPANION_ADDED,   /* mica_version at which the component was added */
    MICAP_COMPANION_LEAF,    /* one field of a component that is split */
    MICAP_COMPANION_CHANGED, /* mica_version at which the component was last written */
} micap_companion;

enum {
    MICAP_IDS = 0x10000,
    MICAP_POOL_IDS = 0x8000, /* components in pools have ids from here on: the id alone says where to look */
    MICAP_LEAVES_MAX = 64,
    MICAP_LEAF_ARRAY_MAX = 4, /* longer arrays are not taken apart */
};

/* A part of a split component that has a column of its own. */
typedef struct micap_leaf {
    uint32_t offset; /* in the value */
    uint32_t bytes;
    uint32_t element_bytes;
    mica_kind kind;
    mica_component component; /* the hidden component in chunks; 0 in a pool */
    const mica_field *field;
} micap_leaf;

typedef struct micap_type {
    mica_type type; /* a deep copy */
    uint64_t name_hash;
    uint64_t layout_hash;
    mica_component id;
    mica_component namesake; /* the next type of this name, in a ring; mostly itself */
    mica_component enabled;  /* the companions of this component, 0 where it has none */
    mica_component added;
    mica_component changed;
    micap_companion companion; /* what this is itself */
    bool
        trivial; /* no construct, destruct, copy or move function of the program: values are bytes; fresh ones are zero, or `initial` */
    void *
        initial; /* what the construct function copies that comes from the attributes of fields: see type/attributes.h */
    bool owns;   /* has text or lists, and with them functions that copy and destroy them: see type/owned.h */
    bool has_padding;   /* some bytes belong to no described field, so that values can't be hashed as bytes */
    micap_leaf *leaves; /* of a split component, else NULL */
    uint32_t leaf_count;
    uint32_t required_count;
    mica_component
        *required;       /* those that come along, with all that they require, before what requires them; else NULL */
    bool requires_pools; /* some of them are in pools */
    uint32_t excluded_count;
    uint64_t *excluded; /* hashes of the names of the components that it excludes; else NULL */
} micap_type;

static inline bool micap_is_pooled(mica_component id)
{
    return id >= MICAP_POOL_IDS;
}

/* Whether the component has a column of its own in chunks: not a tag, nor one that is split into leaves. */
static inline bool micap_has_column(const micap_type *type)
{
    return type->type.size_bytes && !type->leaves;
}

/* Whether the column holds a version per row. Versions count marks, which programs place as they like: they are neither hashed nor sent. */
static inline bool micap_holds_versions(micap_companion companion)
{
    return companion == MICAP_COMPANION_ADDED || companion == MICAP_COMPANION_CHANGED;
}

/* Whether a component comes along with another one. */
static inline bool micap_type_requires(const micap_type *type, mica_component component)
{
    for (uint32_t i = 0; i < type->required_count; ++i)
        if (type->required[i] == component)
            return true;
    return false;
}

/* Whether one of two types excludes the other. */
bool micap_types_exclude(const micap_type *a, const micap_type *b);

/* Whether values can be copied. */
static inline bool micap_can_copy(const micap_type *type)
{
    return type->type.copy || !type->type.destruct;
}

/* The leaf that begins at an offset of the value; NULL when none does. */
const micap_leaf *micap_type_leaf(const micap_type *type, uint32_t offset);

/* The next type with the same name, in a ring: itself, where it is the only one. */
const micap_type *micap_type_namesake(const micap_type *type);

/* NULL for an unknown id. */
const micap_type *micap_type_of(mica_component id);

/* As mica_type_intern; on failure `*out_problem` says what is wrong with the description. */
const micap_type *micap_type_intern(const mica_type *type, const char **out_problem);

/* The result that goes with a problem. */
mica_result micap_type_problem_result(const char *problem);

uint32_t micap_kind_bytes(mica_kind kind); /* 0 for kinds without a size of their own */

#endif
