/* A draft on its way to a file. Nothing is copied before the file is: what is known of the draft is runs of entities and of
 * values, of which a world without hierarchies has a few per chunk.
 *
 *     grouping   which entities have the same components, and so where each goes
 *     source     the instances of a component by their place in the file, wherever they lie now
 *     output     sections, of tables that are small and of sources; laid out before a byte is written
 *     sink       where the bytes go: all of them into memory, or a buffer at a time into a file
 */
#ifndef MICAP_RESOURCE_SAVE_FILE_SECTIONS_H
#define MICAP_RESOURCE_SAVE_FILE_SECTIONS_H

#include "os/file.h"
#include "resource/save/draft.h"

/* Entities that follow each other in the draft and have the same components: they do so in the file too. */
typedef struct micap_stretch {
    uint32_t first;
    uint32_t location; /* of the first in the file */
    uint32_t group;
    uint32_t position; /* among the stretches of the group */
} micap_stretch;

/* How entities are numbered in the file. */
typedef struct micap_grouping {
    uint32_t *rank;           /* parts, sorted by spawn order and name */
    uint64_t *begins;         /* a bit by entity: a stretch begins with it */
    uint32_t *begun;          /* by word of these bits: how many begin before it */
    uint32_t word_count;      /* one more than is full of entities */
    micap_stretch *stretches; /* and one behind the last */
    uint32_t stretch_count;
    bool in_order;        /* places are the numbers of the draft */
    uint32_t group_count; /* in order of first appearance */
    uint32_t *group_first;
    uint32_t *group_size;
    uint32_t *group_stretches; /* how many */
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

/* The stretch an entity of the draft lies in. */
static inline const micap_stretch *micap_stretch_of(const micap_grouping *grouping, uint32_t entity)
{
    uint32_t word = entity / 64;
    uint64_t up_to = grouping->begins[word] & UINT64_MAX >> (63 - entity % 64);
    return &grouping->stretches[grouping->begun[word] + (uint32_t)__builtin_popcountll(up_to) - 1];
}

/* The index in the file of an entity of the draft. */
static inline uint32_t micap_place_of(const micap_grouping *grouping, uint32_t entity)
{
    if (grouping->in_order)
        return entity;
    const micap_stretch *stretch = micap_stretch_of(grouping, entity);
    return stretch->location + (entity - stretch->first);
}

/* Whether the entities of a group have a component that is a column of groups. */
static inline bool micap_group_has(const micap_grouping *grouping, uint32_t group, uint32_t rank)
{
    uint32_t set = grouping->group_set[group];
    while (set && grouping->sets[set].component > rank)
        set = grouping->sets[set].without;
    return set && grouping->sets[set].component == rank;
}

/* Instances that follow each other where they lie and in the file. */
typedef struct micap_piece {
    const char *values;
    uint32_t count;
} micap_piece;

/* What sources need one after the other. */
typedef struct micap_workbench {
    micap_piece *pieces; /* of the source that is being filled in, in the order of the file */
    uint32_t piece_capacity;
    uint32_t *group_firsts; /* by group: of a part, the first instance there, or the first piece */
} micap_workbench;

/* The instances of a part, in the order of the file. */
typedef struct micap_source {
    mica_draft *draft;
    const micap_grouping *grouping;
    micap_workbench *bench;
    const micap_draft_part *part;
    uint32_t rank;
    micap_leaves leaves;
    micap_leaves references;
    bool is_whole;       /* every byte is described */
    bool is_foreign;     /* to be turned into the other byte order */
    bool is_begun;       /* its pieces are on the bench */
    uint32_t next_piece; /* to be filled in, */
    uint32_t next_value; /* and what of it */
} micap_source;

/* Looks at the type of the part; false with a reason. Free it in either case. */
bool micap_source_make(micap_source *source);
void micap_source_free(micap_source *source);

/* Lists the owners of instances, for a part that repeats, and those that are switched off, rising; false with a reason. */
bool micap_source_list(const micap_source *source, uint32_t *owners, uint32_t *disabled);

/* Copies the next `count` instances as they are in the file; false with a reason. One source at a time, from the first instance to
 * the last. */
bool micap_source_fill(micap_source *source, char *out, uint32_t count);

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

/* Notes what instances refer to. False with a reason when there is no path for it. */
bool micap_asset_list_note(micap_asset_list *assets, const micap_source *source);

/* Where a file goes. */
typedef struct micap_sink {
    micap_replacement *file; /* NULL: the buffer takes all of it */
    char *buffer;
    size_t capacity;
    size_t filled;
    uint64_t offset; /* in the file, where the buffer begins */
    int problem;     /* an errno of the file */
} micap_sink;

/* Sections in the making. */
typedef struct micap_output {
    struct micap_output_section {
        micap_section record;
        char *data;           /* or */
        micap_source *source; /* or neither: MICAP_NONE, again and again */
        size_t allocated;     /* of data */
    } * sections;
    uint32_t count;
    uint32_t capacity;
    micap_header header;
    bool is_foreign;
} micap_output;

/* A new section of zeroed records to be filled in, and its number; NULL when memory is short. */
void *micap_output_add(micap_output *output, mica_draft *draft, micap_section_kind kind, uint32_t count,
                       uint32_t stride);
/* A new section of instances; false when memory is short. */
bool micap_output_add_source(micap_output *output, micap_source *source);
/* A new section of numbers that are all MICAP_NONE. */
bool micap_output_add_nones(micap_output *output, mica_draft *draft, micap_section_kind kind, uint32_t count);
void micap_output_free(micap_output *output, mica_draft *draft);

/* Turns and compresses what is to be, and finds out where everything goes: the header is complete but for its hash. */
bool micap_output_lay_out(micap_output *output, mica_draft *draft, const mica_draft_finish_def *def);

/* How large the buffer of a sink must be at least. */
size_t micap_output_buffer_bytes(const micap_output *output);

/* Writes all of it; false with a reason, or with a problem of the file. */
bool micap_output_write(micap_output *output, micap_sink *sink);

/* As mica_draft_finish into a file, which is replaced. */
mica_result micap_draft_finish_file(mica_draft *draft, const mica_draft_finish_def *def, const char *path);

#endif
