/* A draft inside, and a file on its way to bytes. */
#ifndef MICAP_RESOURCE_DRAFT_H
#define MICAP_RESOURCE_DRAFT_H

#include "base/memory.h"
#include "mica/draft.h"
#include "resource/format.h"
#include "resource/leaves.h"

typedef struct micap_draft_part {
    const char *name;
    const mica_type *type;
    uint32_t role;
    int32_t spawn_order;
    uint32_t count; /* instances */
    char *data;
    uint32_t data_capacity;
    uint32_t *owners;
    uint32_t owner_capacity;
    uint32_t *disabled; /* instances, rising */
    uint32_t disabled_count;
    uint32_t disabled_capacity;
    bool repeats; /* some entity has several: worked out when finishing */
} micap_draft_part;

typedef struct micap_strings {
    char *bytes;
    uint32_t count;
    uint32_t capacity;
    uint32_t *table; /* open addressing: offset, 0 is free */
    uint32_t table_capacity;
    uint32_t text_count;
} micap_strings;

struct mica_draft {
    micap_memory memory;
    micap_draft_part *parts;
    uint32_t part_count;
    uint32_t part_capacity;
    uint32_t *parents;
    uint32_t parent_capacity;
    uint32_t *names; /* string by entity, 0 for none */
    uint32_t name_capacity;
    uint32_t entity_count;
    uint32_t name_count;
    micap_strings strings; /* the names of entities */
    micap_strings assets;  /* paths of resources */
    mica_resource_error error;
};

bool micap_draft_refuse(mica_draft *draft, mica_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool micap_draft_refuse_memory(mica_draft *draft);

/* Adds an instance to each of `count` entities that follow each other; they lie one after the other, zeroed. NULL as
 * mica_draft_add. */
char *micap_draft_add_run(mica_draft *draft, uint32_t first, uint32_t component, uint32_t count);

/* The offset of a string, added when it is new; MICAP_NONE when memory is short. */
uint32_t micap_string_of(micap_strings *strings, mica_draft *draft, const char *text);
void micap_strings_free(micap_strings *strings, mica_draft *draft);

/* How entities are numbered in the file. */
typedef struct micap_grouping {
    uint32_t *rank;       /* parts, sorted by spawn order and name */
    uint32_t *place;      /* by draft entity: its index in the file */
    uint32_t *group;      /* by draft entity */
    uint32_t group_count; /* in order of first appearance */
    uint32_t *group_first;
    uint32_t *group_size;
    uint32_t *group_set;
    struct micap_set_node {
        uint32_t without;   /* the set this one extends, */
        uint32_t component; /* by this component, by its rank */
        uint32_t depth;
        uint32_t group; /* MICAP_NONE where no entity has exactly this set */
    } * sets;           /* [0] is the empty one */
    uint32_t set_count;
    uint32_t set_capacity;
    uint32_t *table; /* open addressing by (without, component) */
    uint32_t table_capacity;
} micap_grouping;

bool micap_grouping_make(micap_grouping *grouping, mica_draft *draft);
void micap_grouping_free(micap_grouping *grouping, mica_draft *draft);

/* The paths a draft knows, by hash: those that values refer to are written. */
typedef struct micap_asset_list {
    struct micap_listed_asset {
        uint64_t path_hash;
        const char *path;
        bool used;
    } * list;
    uint32_t count;
    uint32_t capacity;
} micap_asset_list;

bool micap_asset_list_make(micap_asset_list *assets, mica_draft *draft);
void micap_asset_list_free(micap_asset_list *assets, mica_draft *draft);

/* Notes what the instances of a part refer to. False with a reason when there is no path for it. */
bool micap_asset_list_note(micap_asset_list *assets, mica_draft *draft, const micap_draft_part *part,
                           const char *instances);

/* Sections in the making. */
typedef struct micap_output {
    struct micap_output_section {
        micap_section record;
        char *data;
        size_t allocated;
    } * sections;
    uint32_t count;
    uint32_t capacity;
} micap_output;

/* A new section of zeroed records to be filled in, and its number; NULL when memory is short. */
void *micap_output_add(micap_output *output, mica_draft *draft, micap_section_kind kind, uint32_t count,
                       uint32_t stride);
bool micap_output_finish(micap_output *output, mica_draft *draft, int compression, bool is_foreign, mica_blob *out);
void micap_output_free(micap_output *output, mica_draft *draft);

#endif
