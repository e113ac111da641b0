/* Where fields of a component are that indexes and terms of queries compare, and their values as words: 64 bits that sort as the values do, or the bits of a double for the
 * coordinates of a grid. The words of text are given by an index (index/text_keys.h). */
#ifndef MICAP_CORE_QUERY_FIELD_SOURCE_H
#define MICAP_CORE_QUERY_FIELD_SOURCE_H

#include "base/memory.h"
#include "mica/key.h"
#include "mica/pool.h"
#include "type/type.h"

enum { MICAP_INDEX_NOTE = 240, MICAP_INDEX_FIELDS_MAX = 3 };

struct micap_chunk;

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
                                             const struct micap_chunk *chunk, uint32_t row, uint32_t count);
micap_indexed_rows micap_field_rows_in_pool(const micap_field_source *sources, uint32_t source_count,
                                            const mica_pool *pool, uint32_t row, uint32_t count);

/* The words of one field of `count` values, each `stride` bytes after the one before; or of the values that a list numbers, if there is
 * one. */
void micap_field_load(const micap_field_source *source, const char *values, size_t stride, const uint16_t *listed,
                      uint32_t count, uint64_t *out_words);

/* Whether the values are integers of at most 32 bits; if so the lowest one and how many there are from there on. Their words differ in the
 * low halves. */
bool micap_field_is_narrow(const micap_field_source *source, int64_t *out_lowest, uint64_t *out_span);

/* How a key that need not be equal to a value of the field is rounded. */
typedef enum micap_rounding { MICAP_ROUND_NONE, MICAP_ROUND_UP, MICAP_ROUND_DOWN } micap_rounding;

typedef enum micap_key_fit {
    MICAP_KEY_FITS,
    MICAP_KEY_NEVER, /* no value of the field is equal, or beyond it in the direction of rounding */
    MICAP_KEY_WRONG, /* the field has another kind of values */
} micap_key_fit;

/* The word of a key, which is not open. Without rounding, it is the word of a value that the field can have. */
micap_key_fit micap_key_word(const micap_field_source *source, mica_key key, micap_rounding rounding,
                             uint64_t *out_word);

/* The key of a word: an integer if it fits. */
mica_key micap_key_of_word(const micap_field_source *source, uint64_t word);

#endif
