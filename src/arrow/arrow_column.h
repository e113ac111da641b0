/* A column that is being filled, and becomes an array of the Arrow C data interface. */
#ifndef MICAP_ARROW_ARROW_COLUMN_H
#define MICAP_ARROW_ARROW_COLUMN_H

#include "base/byte_stream.h"
#include "mica/arrow.h"

typedef struct micap_arrow_column {
    micap_memory memory; /* of its own: children can outlive their parent, and arrays the stream */
    mica_field field;
    bool is_required; /* handles are never nil */
    int64_t length;
    int64_t null_count;
    micap_bytes validity; /* empty while nothing is null */
    micap_bytes offsets;  /* of text and lists: one more than values */
    micap_bytes data;     /* numbers, bits, or the bytes of text */
    const void *borrowed; /* memory of the world instead of `data` */
    const void *buffers[3];
    uint32_t child_count;
    struct micap_arrow_column **children; /* while it is being filled */
    struct ArrowArray *arrays;            /* then */
    struct ArrowArray **array_pointers;
} micap_arrow_column;

/* Creates an empty column. The allocator has functions. The children of a struct without a type are added by the caller. Returns NULL
 * if memory is short. */
micap_arrow_column *micap_arrow_column_create(mica_allocator allocator, const mica_field *field, uint32_t child_count);
void micap_arrow_column_destroy(micap_arrow_column *column);

/* Appends `count` values that are `stride` bytes apart. With `borrow`, which is only for the first values of a column, it may refer to them
 * instead. Returns false if memory is short or there are too many. */
bool micap_arrow_append(micap_arrow_column *column, const char *values, size_t stride, uint32_t count, bool borrow);

/* Appends values that are null, or zero. */
bool micap_arrow_append_none(micap_arrow_column *column, uint32_t count, bool is_null);

/* Counts values that were appended to the children of a struct. */
bool micap_arrow_append_rows(micap_arrow_column *column, uint32_t count);

/* Hands the column over to an array, which frees it when it is released. */
void micap_arrow_column_export(micap_arrow_column *column, struct ArrowArray *out_array);

#endif
