/* A delta that was read: lists that point into its bytes, every word checked. What is planned for it is stored beside. */
#ifndef MICAP_REPLICATION_DELTA_READ_H
#define MICAP_REPLICATION_DELTA_READ_H

#include "core/storage/archetype.h"
#include "replication/delta_format.h"
#include "replication/delta_rules.h"

#define MICAP_DELTA_LIST(type, name)                                                                                   \
    type *name;                                                                                                        \
    uint32_t name##_count;                                                                                             \
    uint32_t name##_capacity

/* A slice of a table or pool, in the bytes of the delta. */
typedef struct micap_delta_slice {
    uint32_t row;
    uint32_t row_count;
    const char *owners; /* handles of the sender's; NULL: the same as before */
    uint32_t column_count;
    const char *columns; /* of a table: their numbers */
    const char *values;  /* NULL when there are none */
    uint32_t contents;   /* of a table: the first of its columns with text, lists or a rule */
    const char *toggles; /* of a pool */
    const char *next;    /* of a pool for many instances */
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
    /* Of a pool for many instances: */
    uint32_t *next; /* by row: the row of the next instance */
    uint32_t next_capacity;
    uint32_t *places; /* by row: the row here; and room for what replica_instances.c needs */
    uint32_t place_capacity;
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

/* What has values. */
typedef enum micap_delta_owner { MICAP_DELTA_OF_TABLE, MICAP_DELTA_OF_POOL, MICAP_DELTA_OF_SINGLETON } micap_delta_owner;

/* Values with text and lists, which are made when a delta is read, and values by a rule, which are made when it is planned. Applying it
 * moves them into the world. */
typedef struct micap_delta_contents {
    const micap_type *type;
    const mica_resource_rule *rule; /* NULL: none */
    const mica_type *layout;        /* of the values as they were read: of the component, or of a recipe */
    char *values;
    char *made; /* by the rule, values of the component */
    uint32_t count;
    const char *end; /* in the bytes of the delta */
    micap_delta_owner owner;
    uint32_t number; /* of the table, pool or singleton */
    uint32_t slice;
} micap_delta_contents;

/* Default values, made when a delta is planned: for rows that begin to exist. */
typedef struct micap_delta_defaults {
    const micap_type *type;
    char *values;
    uint32_t count;
    uint32_t left; /* that are not used yet: the first ones */
} micap_delta_defaults;

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

/* A record of the sender's state. */
typedef struct micap_delta_record {
    uint32_t kind;
    uint32_t byte_count;
    const char *bytes; /* NULL: as the replica has it */
} micap_delta_record;

/* An entity that gets its components, or others. */
typedef struct micap_delta_change {
    mica_entity sender;
    mica_entity local;
    uint32_t table;
    bool is_new;
    micap_archetype *from; /* NULL for a new one */
    micap_archetype *to;
} micap_delta_change;

/* A delta that was read, and what is to be done about it. */
typedef struct micap_delta_work {
    mica_world *world;
    struct mica_replica *replica;
    mica_version base;
    mica_version version;
    bool has_names;
    bool is_foreign; /* values and handles are in the other byte order: they are converted in: */
    char *copy;      /* of the delta */
    size_t copy_bytes;
    MICAP_DELTA_LIST(const micap_type *, columns);
    MICAP_DELTA_LIST(micap_delta_slice, slices);
    MICAP_DELTA_LIST(micap_delta_contents, contents);
    MICAP_DELTA_LIST(micap_delta_defaults, defaults);
    char *spare; /* room for one value that has a rule */
    size_t spare_bytes;
    MICAP_DELTA_LIST(micap_delta_table, tables);
    MICAP_DELTA_LIST(micap_delta_table, pools);
    MICAP_DELTA_LIST(micap_delta_tags, tags);
    MICAP_DELTA_LIST(micap_delta_value, singletons);
    MICAP_DELTA_LIST(micap_delta_name, names);
    char *name_text; /* room for the longest */
    uint32_t name_text_capacity;
    MICAP_DELTA_LIST(micap_delta_links, links);
    MICAP_DELTA_LIST(micap_delta_record, records);
    micap_bytes state;                     /* of the sender, as it will be */
    MICAP_DELTA_LIST(mica_entity, deaths); /* the sender's */
    MICAP_DELTA_LIST(micap_delta_change, changes);
    uint32_t twins_added;
    uint32_t handles_taken; /* of the changes that are new, when mapped */
} micap_delta_work;

static inline mica_entity micap_handle_at(const char *handles, uint32_t index)
{
    mica_entity entity;
    memcpy(&entity, handles + (size_t)index * sizeof entity, sizeof entity);
    return entity;
}

/* Reads and verifies a delta; an error with a report for bytes that are not a valid one. Free the work in either case. */
mica_result micap_delta_read(micap_delta_work *work, const char *bytes, size_t byte_count);
void micap_delta_work_free(micap_delta_work *work);

#endif
