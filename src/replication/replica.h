/* A world that follows another. The replica keeps who is who, and a copy of the entity columns of the sender's tables: from that and
 * a delta it knows who came, who went and who has other components now.
 *
 *     delta_read.c     from bytes to lists, every word checked
 *     replica_plan.c   what is to be done, and room for all of it
 *     replica_apply.c  doing it, which can't fail
 *     replica_rest.c   names and links
 */
#ifndef MICAP_REPLICATION_REPLICA_H
#define MICAP_REPLICATION_REPLICA_H

#include "replication/delta_format.h"

/* A slice of a table or pool, in the bytes of the delta. */
typedef struct micap_delta_slice {
    uint32_t row;
    uint32_t row_count;
    const char *owners; /* handles of the sender's; NULL: the same as before */
    uint32_t column_count;
    const char *columns; /* of a table: their numbers */
    const char *values;  /* NULL when there are none */
    const char *toggles; /* of a pool */
} micap_delta_slice;

typedef struct micap_delta_table {
    uint64_t key;           /* of a table */
    const micap_type *type; /* of a pool */
    bool is_direct;         /* of a pool there: a row is the index of its owner, and no rows are listed */
    uint32_t row_count;
    uint32_t column; /* the first of its columns */
    uint32_t column_count;
    uint32_t slice;
    uint32_t slice_count;
    /* What was planned: */
    uint32_t location;   /* among the tables or pools of the replica */
    bool is_moved;       /* its rows are others, or in another order; else what follows is empty */
    mica_entity *rows;   /* as they are to be, the sender's handles */
    mica_entity *locals; /* and those of this world; empty where they are the same */
    uint32_t capacity;
    uint32_t local_capacity;
} micap_delta_table;

typedef struct micap_delta_tags {
    const micap_type *type;
    uint32_t word_count;
    const char *words;
} micap_delta_tags;

typedef struct micap_delta_value {
    const micap_type *type;
    const char *value;
} micap_delta_value;

typedef struct micap_delta_name {
    mica_entity entity;
    mica_entity scope;
    uint32_t length;
    const char *text;
} micap_delta_name;

typedef struct micap_delta_links {
    uint32_t page;
    uint32_t parent_count;
    const char *parents;
} micap_delta_links;

/* An entity that gets its components, or others. */
typedef struct micap_delta_change {
    mica_entity sender;
    mica_entity local;
    uint32_t table;
    bool is_new;
    micap_archetype *from; /* NULL for a new one */
    micap_archetype *to;
} micap_delta_change;

#define MICAP_DELTA_LIST(type, name)                                                                                   \
    type *name;                                                                                                        \
    uint32_t name##_count;                                                                                             \
    uint32_t name##_capacity

/* A delta that was read, and what is to be done about it. */
typedef struct micap_delta_work {
    mica_world *world;
    struct mica_replica *replica;
    mica_version base;
    mica_version version;
    bool has_names;
    MICAP_DELTA_LIST(const micap_type *, columns);
    MICAP_DELTA_LIST(micap_delta_slice, slices);
    MICAP_DELTA_LIST(micap_delta_table, tables);
    MICAP_DELTA_LIST(micap_delta_table, pools);
    MICAP_DELTA_LIST(micap_delta_tags, tags);
    MICAP_DELTA_LIST(micap_delta_value, singletons);
    MICAP_DELTA_LIST(micap_delta_name, names);
    MICAP_DELTA_LIST(micap_delta_links, links);
    MICAP_DELTA_LIST(mica_entity, deaths); /* the sender's */
    MICAP_DELTA_LIST(micap_delta_change, changes);
    uint32_t twins_added;
    uint32_t handles_taken; /* of the changes that are new, when mapped */
} micap_delta_work;

/* Who is who. */
typedef struct micap_twin {
    mica_entity key;   /* the sender's handle; nil: no entry */
    mica_entity other; /* the one here */
    uint32_t table;
    uint32_t row; /* of it */
    uint32_t mark;
} micap_twin;

/* Open addressing by the index of the key. */
typedef struct micap_twins {
    micap_twin *entries;
    uint32_t count;
    uint32_t capacity;
} micap_twins;

/* A table or pool of the sender's. */
typedef struct micap_replica_table {
    uint64_t key;             /* of a table; of a pool the hash of its component's name */
    const micap_type **types; /* the components of a table, without toggles and leaves */
    uint32_t type_count;
    uint32_t type_capacity;
    mica_entity *rows;   /* the sender's handles; in a pool with a direct index nil where there is none */
    mica_entity *locals; /* of a table, when mapped: the same in this world */
    uint32_t row_count;
    uint32_t row_capacity;
    uint32_t local_capacity;
    uint32_t archetype; /* id of the one whose rows were the very same when they were last put in order */
} micap_replica_table;

struct mica_replica {
    mica_world *world;
    bool mapped;
    uint32_t index_limit;
    mica_version version;
    micap_twins twins;
    micap_twins remotes; /* when mapped, the other way round */
    uint32_t mark;       /* raised for each pass that marks twins */
    MICAP_DELTA_LIST(micap_replica_table, tables);
    MICAP_DELTA_LIST(micap_replica_table, pools);
    MICAP_DELTA_LIST(mica_component, singletons); /* that deltas brought */
};

/* NULL when there is none. */
micap_twin *micap_twin_find(const micap_twins *twins, mica_entity key);
/* The one of an index, of whatever generation. */
micap_twin *micap_twin_at(const micap_twins *twins, uint32_t index);
bool micap_twins_reserve(mica_world *world, micap_twins *twins, uint32_t more);
/* After the reserve. */
void micap_twin_add(micap_twins *twins, const micap_twin *twin);
/* One that is there. */
void micap_twin_erase(micap_twins *twins, mica_entity key);

/* The entity here of one there; nil when there is none, or it does not live. */
mica_entity micap_replica_living(const mica_replica *replica, mica_entity sender);

static inline mica_entity micap_handle_at(const char *handles, uint32_t index)
{
    mica_entity entity;
    memcpy(&entity, handles + (size_t)index * sizeof entity, sizeof entity);
    return entity;
}

/* Reads and verifies; a report when the bytes are not sound. */
mica_result micap_delta_read(micap_delta_work *work, const char *bytes, size_t byte_count);
/* Works out what to do, and makes room for it; the other takes that back. */
mica_result micap_replica_plan(micap_delta_work *work);
void micap_replica_give_up(micap_delta_work *work);
/* Does it. */
void micap_replica_do(micap_delta_work *work);
/* Names and links, which may run out of memory. */
mica_result micap_replica_name_and_link(micap_delta_work *work);
void micap_delta_work_free(micap_delta_work *work);

#endif
