/* A draft: entities and instances that are to be written. How they become a file is in file_sections.h. */
#ifndef MICAP_RESOURCE_SAVE_DRAFT_H
#define MICAP_RESOURCE_SAVE_DRAFT_H

#include "base/assert.h"
#include "base/memory.h"
#include "mica/draft.h"
#include "resource/format/file_format.h"
#include "resource/format/scalar_fields.h"

/* Instances of entities that follow each other, with values that do so too. */
typedef struct micap_draft_run {
    uint32_t entity; /* the first */
    uint32_t count;
    const char *values; /* lent; NULL: the next ones in the data of the part */
} micap_draft_run;

/* A part has values that are lent, or data of its own, not both. */
typedef struct micap_draft_part {
    const char *name;
    const mica_type *type;
    uint32_t role;
    int32_t spawn_order;
    uint32_t count; /* instances */
    micap_draft_run *runs;
    uint32_t run_count;
    uint32_t run_capacity;
    char *data;
    uint32_t data_capacity;
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
    uint32_t *parents; /* NULL while no entity has one */
    uint32_t parent_capacity;
    uint32_t *names; /* string by entity, 0 for none; NULL while no entity has one */
    uint32_t name_capacity;
    uint32_t entity_count;
    uint32_t name_count;
    micap_strings strings; /* the names of entities */
    micap_strings assets;  /* paths of resources */
    /* The entity that a reference means, MICAP_NONE for nil; NULL: its index, as mica_draft_add says. */
    uint32_t (*find)(const void *context, mica_entity reference);
    const void *find_context;
    /* Of a whole world: its state, and the handles of entities from one of the draft on, as many as are contiguous. */
    const void *state;
    size_t state_bytes;
    const mica_entity *(*handles_of)(const void *context, uint32_t entity, uint32_t *out_count); /* with find_context */
    mica_resource_error error;
};

bool micap_draft_refuse(mica_draft *draft, mica_result result, const char *format, ...) MICAP_FORMAT(3, 4);
/* In line, so that analysers know that it returns false. */
static inline bool micap_draft_refuse_memory(mica_draft *draft)
{
    micap_draft_refuse(draft, MICA_ERROR_MEMORY, "out of memory");
    return false;
}

/* Adds an instance to each of `count` entities that follow each other; they lie one after the other, zeroed. NULL as
 * mica_draft_add. */
char *micap_draft_add_run(mica_draft *draft, uint32_t first, uint32_t component, uint32_t count);

/* The same for values that stay where they are, unchanged, until the draft is finished. */
bool micap_draft_lend(mica_draft *draft, uint32_t first, uint32_t component, uint32_t count, const char *values);

/* Marks an instance, by the order they were added in; rising. */
bool micap_draft_disable_instance(mica_draft *draft, uint32_t component, uint32_t instance);

/* The offset of a string, added when it is new; MICAP_NONE when memory is short. */
uint32_t micap_string_of(micap_strings *strings, mica_draft *draft, const char *text);
void micap_strings_free(micap_strings *strings, mica_draft *draft);

#endif
