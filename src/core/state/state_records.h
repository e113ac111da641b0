/* The state of a world as bytes: records of a kind, a size and content, in any order.
 *
 *     state_write.c     writes the state of the core; modules write their own
 *     state_records.c   what reading and writing share
 *     resume.c          restores a state: what happens before entities are created, and after
 *     resume_index.c    the handles
 *     resume_rows.c     archetypes, chunks, rows, stamps
 *     resume_pools.c    rows of pools
 *     resume_marks.c    what queries and lists of removals have seen
 *     stale_references.c  entities in values that are not alive
 *
 * Everything that comes from bytes is checked: a file may be hostile. What does not fit the world is left as it is. */
#ifndef MICAP_CORE_STATE_STATE_RECORDS_H
#define MICAP_CORE_STATE_STATE_RECORDS_H

#include "base/byte_stream.h"
#include "core/world/world.h"

typedef enum micap_state_kind {
    MICAP_STATE_WORLD = 1,
    MICAP_STATE_INDEX,
    MICAP_STATE_ARCHETYPES,
    MICAP_STATE_POOLS,
    MICAP_STATE_BUFFERS,
    MICAP_STATE_MARKS,
    MICAP_STATE_REMOVALS,
    MICAP_STATE_REFERENCES,
    MICAP_STATE_NAMES,
    MICAP_STATE_MODULES = 16, /* and the id of the module */
    MICAP_STATE_KINDS = MICAP_STATE_MODULES + MICAP_MODULES,
} micap_state_kind;

/* Identifies a column: companions have names like other components. */
static inline uint64_t micap_state_column_hash(const micap_column *column)
{
    return column->type->name_hash + (uint64_t)column->companion;
}

/* Numbers that often repeat: each with how often. */
typedef struct micap_number_runs {
    micap_bytes *bytes;
    uint64_t value;
    uint64_t count;
} micap_number_runs;

static inline void micap_number_runs_end(micap_number_runs *runs)
{
    if (runs->count) {
        micap_bytes_put_number(runs->bytes, runs->count);
        micap_bytes_put_number(runs->bytes, runs->value);
    }
    runs->count = 0;
}

static inline void micap_number_runs_put(micap_number_runs *runs, uint64_t value)
{
    if (runs->count && runs->value != value)
        micap_number_runs_end(runs);
    runs->value = value;
    ++runs->count;
}

/* The next of such numbers; the runs begin zeroed. */
static inline uint64_t micap_number_runs_take(micap_number_runs *runs, micap_reader *reader)
{
    if (!runs->count) {
        runs->count = micap_reader_take_number(reader);
        runs->value = micap_reader_take_number(reader);
        if (!runs->count) { /* also if the reader failed */
            reader->failed = true;
            return 0;
        }
    }
    --runs->count;
    return runs->value;
}

/* A version that was written as its age in a world of this version; 0 if it is older than that. */
static inline mica_version micap_number_runs_take_version(micap_number_runs *runs, micap_reader *reader,
                                                          mica_version version)
{
    uint64_t age = micap_number_runs_take(runs, reader);
    return age < version ? version - age : 0;
}

/* Entities whose indices follow each other, with the same generation. */
typedef struct micap_handle_runs {
    micap_bytes *bytes;
    mica_entity next; /* of the run; index 0: there is none */
    uint32_t count;
    uint32_t end; /* of the run before */
} micap_handle_runs;

static inline void micap_handle_runs_end(micap_handle_runs *runs)
{
    if (!runs->count)
        return;
    uint32_t first = runs->next.index - runs->count;
    micap_bytes_put_number(runs->bytes, runs->count);
    micap_bytes_put_difference(runs->bytes, first, runs->end);
    micap_bytes_put_number(runs->bytes, runs->next.generation);
    runs->end = runs->next.index;
    runs->count = 0;
}

/* Entities whose indices follow each other, from `first` on. */
static inline void micap_handle_runs_put_range(micap_handle_runs *runs, mica_entity first, uint32_t count)
{
    if (runs->count && !mica_same(runs->next, first))
        micap_handle_runs_end(runs);
    runs->next = (mica_entity){first.index + count, first.generation};
    runs->count += count;
}

static inline void micap_handle_runs_put(micap_handle_runs *runs, mica_entity entity)
{
    micap_handle_runs_put_range(runs, entity, 1);
}

/* The next of such entities; nil if the reader fails. The runs begin zeroed. */
static inline mica_entity micap_handle_runs_take(micap_handle_runs *runs, micap_reader *reader)
{
    if (!runs->count) {
        runs->count = (uint32_t)micap_reader_take_up_to(reader, UINT32_MAX);
        uint64_t first = micap_reader_take_difference(reader, runs->end);
        runs->next.generation = (uint32_t)micap_reader_take_up_to(reader, MICAP_GENERATION_MAX);
        if (reader->failed || !runs->count || !first || first + runs->count > UINT32_MAX || !runs->next.generation) {
            reader->failed = true;
            runs->count = 0;
            return mica_nil();
        }
        runs->next.index = (uint32_t)first;
        runs->end = (uint32_t)(first + runs->count);
    }
    --runs->count;
    mica_entity entity = runs->next;
    ++runs->next.index;
    return entity;
}

/* The next handles of a record, preceded by their number: allocates an array of them. False if the bytes are invalid or memory is
 * short: then there is no array. */
bool micap_state_take_handles(mica_world *world, micap_reader *reader, mica_entity **out_entities, uint32_t *out_count);

/* The component of this world with a name, or NULL. */
const micap_type *micap_state_find_type(const mica_world *world, uint64_t name_hash);

#endif
