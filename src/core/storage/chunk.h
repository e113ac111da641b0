/* A chunk: one block of the arena with a header, the stamps, the entity column and a column per component with data.
 *
 *     | header | finders | lanes | stamps | entity column | column 0 | column 1 | ...    columns aligned to a cache line
 *
 * All chunks of an archetype but the last that holds rows are full, so that a loop meets no holes. Stamps say when a
 * slice of MICA_SLICE_ROWS rows was last changed: one stamp per slice for its structure (rows that came or moved), and
 * one per slice and column for values written in place. A column of a slice has changed when either is newer. Columns of tracked
 * components have a column of versions besides, one per row (micap_column.changed): see base/undo_log.h. */
#ifndef MICAP_CORE_STORAGE_CHUNK_H
#define MICAP_CORE_STORAGE_CHUNK_H

#include "base/region_arena.h"
#include "base/assert.h"
#include "base/undo_log.h"
#include "mica/describe.h"
#include "mica/handle.h"
#include "mica/lookup.h"
#include "mica/view.h"
#include "mica/world.h"

enum {
    MICAP_CHUNK_ROWS_MAX = 1 << 16, /* a record has 16 bits for the row */
    MICAP_CHUNKS_MAX = 1 << 24,     /* and 24 for the chunk */
    MICAP_CHUNK_NONE = 0,           /* chunk number of a free slot: an empty chunk without components */
    MICAP_CHUNK_PENDING = 1,        /* of an entity whose creation is recorded: likewise */
};

struct micap_archetype;

/* From a component with data to its column, in the chunk itself: looking up a value of one entity reads nothing else but
 * its record. Open addressing; component 0 ends a search, and its values are NULL by the same arithmetic as all others. */
typedef struct micap_finder {
    uint16_t component;
    uint16_t column;
    uint32_t bytes;
    _Alignas(8) char *values; /* the column; NULL where a search ends */
} micap_finder;

/* A column, and the bytes of a value. Chunks never move, so that it is found without another addition. */
typedef struct micap_column_data {
    _Alignas(8) char *values;
    uint64_t bytes;
} micap_column_data;

typedef struct micap_chunk {
    union {
        mica_private_chunk lookup;
        struct {
            uint32_t stamps_offset;
            uint16_t stride;     /* stamps per slice: 1 + columns */
            uint8_t color_lines; /* cache lines between the start of the block and the chunk */
            uint8_t order;       /* the block has 2^order bytes */
        };
    };
    struct micap_archetype *archetype;
    _Alignas(8) uint32_t number; /* in the world's table of chunks */
    uint32_t index;              /* among the chunks of its archetype */
    uint32_t count;
    uint32_t capacity;
    uint32_t finder_mask; /* the size of the table of finders, less 1 */
    uint32_t lanes_offset;
    uint32_t entities_offset;
    uint32_t born; /* the serial of the first snapshot that may have it; no other chunk of this number has the same */
    _Alignas(16) micap_finder finders[];
} micap_chunk;

/* A row of a chunk. */
typedef struct micap_row {
    micap_chunk *chunk;
    uint32_t row;
} micap_row;

/* How many rows fit decides which rows a system sees together, and must not depend on the size of pointers. */
_Static_assert(sizeof(micap_finder) == 16 && sizeof(micap_column_data) == 16 && sizeof(micap_chunk) == 48,
               "chunks have as many rows on every machine");
_Static_assert(offsetof(micap_chunk, stamps_offset) == offsetof(mica_private_chunk, stamps_offset) &&
                   offsetof(micap_chunk, stride) == offsetof(mica_private_chunk, stride) &&
                   MICA_SLICE_ROWS == 1 << MICA_PRIVATE_SLICE_SHIFT,
               "inline functions find the stamps where they are");

static inline const micap_finder *micap_chunk_find(const micap_chunk *chunk, mica_component component)
{
    for (uint32_t at = component;; ++at) {
        const micap_finder *finder = &chunk->finders[at & chunk->finder_mask];
        if (finder->component == component || !finder->component)
            return finder;
    }
}

/* Where a search begins, and mostly ends. */
static inline const micap_finder *micap_chunk_first_finder(const micap_chunk *chunk, mica_component component)
{
    return &chunk->finders[component & chunk->finder_mask];
}

/* NULL when the finder is that of no component. */
static inline void *micap_finder_value(const micap_finder *finder, uint32_t row)
{
    return (char *)((uintptr_t)finder->values + (size_t)row * finder->bytes);
}

static inline micap_column_data *micap_chunk_columns(const micap_chunk *chunk)
{
    return (micap_column_data *)(void *)((char *)chunk + chunk->lanes_offset);
}

static inline mica_entity *micap_chunk_entities(const micap_chunk *chunk)
{
    return (mica_entity *)(void *)((char *)chunk + chunk->entities_offset);
}

static inline void *micap_chunk_column(const micap_chunk *chunk, uint32_t column)
{
    return micap_chunk_columns(chunk)[column].values;
}

static inline void *micap_chunk_value(const micap_chunk *chunk, uint32_t column, uint32_t row)
{
    const micap_column_data *lane = &micap_chunk_columns(chunk)[column];
    return lane->values + row * lane->bytes;
}

/* The stamps of the slice that holds a row: [0] is its structure, [1 + column] the values of a column. */
static inline mica_version *micap_chunk_stamps(const micap_chunk *chunk, uint32_t row)
{
    return (mica_version *)(void *)((char *)chunk + chunk->stamps_offset) +
           (size_t)(row / MICA_SLICE_ROWS) * chunk->stride;
}

/* How many rows fit into a block of that many bytes; 0 when not even one does. */
uint32_t micap_chunk_capacity(const struct micap_archetype *archetype, uint64_t bytes);

/* Where the lane of a column is in every chunk of the archetype, from the beginning of the chunk. */
uint32_t micap_column_offset(const struct micap_archetype *archetype, uint32_t column);

/* Lays out an empty chunk in a raw block. */
void micap_chunk_lay_out(micap_chunk *chunk, struct micap_archetype *archetype, uint32_t order, uint32_t capacity);

/* The world's table of chunks by number: numbers are reused, last freed first. */
typedef struct micap_chunks {
    micap_chunk **by_number; /* a free entry holds the next free number, shifted, with the lowest bit set */
    uint32_t capacity;
    uint32_t limit;      /* one more than the largest number ever used */
    uint32_t first_free; /* 0 is none */
    uint32_t count;
    size_t bytes;                /* in chunks that exist */
    uint32_t list_count;         /* of the column table */
    uint64_t epoch;              /* raised when an archetype gains, loses or replaces a chunk; not 0 */
    uint64_t outgrown_structure; /* that of the world since an archetype outgrew its chunk */
    /* Chunks that no archetype has any more, and some snapshot does, or the operation that outgrew them. There is always room for
     * all chunks while there are snapshots. */
    struct micap_retired {
        micap_chunk *chunk;
        uint64_t died; /* the serial of the first snapshot without it */
    } * retired;
    uint32_t retired_count;
    uint32_t retired_capacity;
} micap_chunks;

bool micap_chunks_init(mica_world *world);
void micap_chunks_free(mica_world *world);

/* A new chunk of 2^order bytes with a number, or NULL when memory or numbers are short. */
micap_chunk *micap_chunk_create(mica_world *world, struct micap_archetype *archetype, uint32_t order);
/* The chunk of that number; NULL when no archetype has it. */
const micap_chunk *micap_chunk_in_use(const mica_world *world, uint32_t number);
/* Gives an empty chunk back that its archetype does not need any more. */
void micap_chunk_release(mica_world *world, micap_chunk *chunk);
/* Gives the memory of rows that are not in use back to the system, of a world without snapshots. */
void micap_chunk_discard_unused(const mica_world *world, const micap_chunk *chunk);
/* Puts an empty chunk aside as long as a snapshot may need it. */
void micap_chunk_retire(mica_world *world, micap_chunk *chunk);
/* Takes it back. */
void micap_chunk_revive(mica_world *world, const micap_chunk *chunk);
/* Destroys those that no snapshot needs any more. */
void micap_chunks_sweep(mica_world *world);

/* Makes room to retire a chunk that an archetype outgrows, and destroys those that earlier operations outgrew. False if memory
 * is short. */
bool micap_chunks_reserve_outgrown(mica_world *world);
void micap_chunks_swap_numbers(mica_world *world, micap_chunk *a, micap_chunk *b);
/* Gives a chunk the stamps of another one with the same rows. */
void micap_chunk_copy_stamps(micap_chunk *to, const micap_chunk *from);

#endif
