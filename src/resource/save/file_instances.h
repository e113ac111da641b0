/* The instances of a component in the order of the file, wherever they lie now. */
#ifndef MICAP_RESOURCE_SAVE_FILE_INSTANCES_H
#define MICAP_RESOURCE_SAVE_FILE_INSTANCES_H

#include "base/byte_stream.h"
#include "resource/save/file_groups.h"

/* Instances that follow each other where they lie and in the file. */
typedef struct micap_value_run {
    const char *values;
    uint32_t count;
} micap_value_run;

/* Working memory that all sources share, one after the other. */
typedef struct micap_instance_bench {
    micap_value_run *pieces; /* of the source that is being filled in, in the order of the file */
    uint32_t piece_capacity;
    uint32_t *group_firsts; /* by group: of a part, the first instance there, or the first piece */
} micap_instance_bench;

/* The instances of a part, in the order of the file. */
typedef struct micap_instance_source {
    mica_draft *draft;
    const micap_grouping *grouping;
    micap_instance_bench *bench;
    const micap_draft_part *part;
    uint32_t rank;
    micap_scalars scalars;
    micap_scalars references;
    bool is_whole;       /* every byte is described */
    bool has_contents;   /* text or lists, which are written apart */
    bool is_foreign;     /* to be turned into the other byte order */
    bool is_begun;       /* its pieces are on the bench */
    uint32_t next_piece; /* to be filled in, */
    uint32_t next_value; /* and what of it */
} micap_instance_source;

/* Looks at the type of the part; false with a reason. Free it in either case. */
bool micap_instance_source_make(micap_instance_source *source);
void micap_instance_source_free(micap_instance_source *source);

/* Lists the owners of instances, for a part that repeats, and those that are switched off, rising; false with a reason. */
bool micap_instance_source_list(const micap_instance_source *source, uint32_t *owners, uint32_t *disabled);

/* Appends the text and lists of all instances, in the order of the file; false with a reason. */
bool micap_instance_source_put_contents(micap_instance_source *source, micap_bytes *bytes);

/* Copies the next `count` instances as they are in the file; false with a reason. One source at a time, from the first instance to
 * the last. */
bool micap_instance_source_fill(micap_instance_source *source, char *out, uint32_t count);

#endif
