/* Where the indexed fields of a component are, and their values as words: 64 bits that sort as the values do, or the bits of a double for the
 * coordinates of a grid. */
#ifndef MICAP_INDEX_FIELD_SOURCE_H
#define MICAP_INDEX_FIELD_SOURCE_H

#include "core/storage/archetype.h"
#include "mica/index.h"
#include "pool/pool.h"

enum { MICAP_INDEX_FIELDS_MAX = 3, MICAP_INDEX_NOTE = 240 };

typedef struct micap_field_source {
    mica_kind kind;
    uint32_t bytes;
    bool is_coordinate;
    uint32_t leaf_offset;     /* of a split component: where its leaf begins in the value; else 0 */
    uint32_t offset;          /* in the values of the column */
    mica_component component; /* whose column it is in: that of the index, or a leaf in chunks */
} micap_field_source;

/* Consecutive rows, with the first value of each field and the distance to the next. */
typedef struct micap_indexed_rows {
    const mica_entity *entities;
    uint32_t count;
    const char *values[MICAP_INDEX_FIELDS_MAX];
    size_t strides[MICAP_INDEX_FIELDS_MAX];
} micap_indexed_rows;

/* Finds the fields that a text lists. Returns how many, or 0 and what is wrong. The memory is for a value to search in. */
uint32_t micap_field_sources_find(micap_memory *memory, const micap_type *type, const char *fields,
                                  bool are_coordinates, micap_field_source *out, char note[MICAP_INDEX_NOTE]);

/* Rows [row, row + count) of a chunk and of a pool. */
micap_indexed_rows micap_field_rows_in_chunk(const micap_field_source *sources, uint32_t source_count,
                                             const micap_chunk *chunk, uint32_t row, uint32_t count);
micap_indexed_rows micap_field_rows_in_pool(const micap_field_source *sources, uint32_t source_count,
                                            const mica_pool *pool, uint32_t row, uint32_t count);

/* The words of one field of `count` values, each `stride` bytes after the one before. */
void micap_field_load(const micap_field_source *source, const char *values, size_t stride, uint32_t count,
                      uint64_t *out_words);

/* Whether the values are integers, and which bits of them are inverted in their words. */
bool micap_field_is_integer(const micap_field_source *source);
uint64_t micap_field_flipped_bits(const micap_field_source *source);

/* How a key that need not be equal to a value of the field is rounded. */
typedef enum micap_rounding { MICAP_ROUND_NONE, MICAP_ROUND_UP, MICAP_ROUND_DOWN } micap_rounding;

typedef enum micap_key_fit {
    MICAP_KEY_FITS,
    MICAP_KEY_NEVER, /* no value of the field is equal, or beyond it in the direction of rounding */
    MICAP_KEY_WRONG, /* the field has another kind of values */
} micap_key_fit;

/* The word of a key, which is not open. */
micap_key_fit micap_key_word(const micap_field_source *source, mica_key key, micap_rounding rounding,
                             uint64_t *out_word);

#endif
