/* Mica, arrow: the rows of a query as Apache Arrow, for data frames, databases and files.
 *
 *     struct ArrowArrayStream stream;
 *     if (mica_arrow_stream(query, NULL, &stream) == MICA_OK)
 *         use(&stream);                                      anything that reads the Arrow C stream interface
 *
 * A stream has one record batch per view of the query. Batches are structs of columns, as the Arrow C data interface requires; the
 * consumer releases each struct by its `release` function, once.
 *
 * Columns. `entity` comes first. A variable of the query is `$planet`. Then come the described fields of each component that the query
 * reads or writes: `Position.x`. If a term tests another entity, its node is part of the name: `Planet($planet).size`. An optional tag is
 * a bool column, `Frozen`.
 *
 *     bool, integers      bool and integers
 *     f32, f64            floating-point numbers
 *     enum, flags         integers; the field's metadata mica.constants has the names, as "CALM=0,ANGRY=1"
 *     mica_entity         uint64, the generation in the upper half; nil is null. mica_asset likewise, as its hash
 *     char, mica_text     utf8; char[] up to the first zero byte; invalid bytes become U+FFFD
 *     struct              struct
 *     array               fixed-size list
 *     mica_list           list
 *
 * A component that a view does not have, of an optional term or a group, is null. Units and notes of fields are metadata, too.
 *
 * Copies. Where memory has the layout of Arrow, aligned to the size of a number, a column refers to the memory of the world instead of a
 * copy: handles of entities, unless a term tests other entities; components of a single number, handle or array of numbers; and fields of
 * components with .split (mica/split.h), except arrays of up to 4 elements. Bool, text and lists are always copied. A column that refers to
 * the world shows later writes. It must not be read after entities or components were created, added, removed or destroyed, or the world
 * was destroyed. With .copy everything is a copy, which is valid until it is released, also after the world was destroyed.
 *
 * Files. mica_arrow_save writes an Arrow IPC file, which pandas, polars, DuckDB, R and Julia read.
 *
 * Past ticks. Export a clone of the world, or the world after mica_snapshot_restore (mica/snapshot.h), with .copy if it continues.
 *
 * In the library mica_arrow (CMake: mica::arrow), which needs nothing but Mica.
 */
#ifndef MICA_ARROW_H
#define MICA_ARROW_H

#include "mica/query.h"

/* The structs of the Arrow C data interface, the same in every header that has them. */
#ifndef ARROW_C_DATA_INTERFACE
#    define ARROW_C_DATA_INTERFACE
#    define ARROW_FLAG_DICTIONARY_ORDERED 1
#    define ARROW_FLAG_NULLABLE 2
#    define ARROW_FLAG_MAP_KEYS_SORTED 4
MICA_BEGIN
struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *schema);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *array);
    void *private_data;
};
MICA_END
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#    define ARROW_C_STREAM_INTERFACE
MICA_BEGIN
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *stream);
    void (*release)(struct ArrowArrayStream *stream);
    void *private_data;
};
MICA_END
#endif

MICA_BEGIN

/* Options. Zero is the default. */
typedef struct mica_arrow_def {
    bool copy;                /* batches refer to nothing of the world */
    uint32_t batch_rows;      /* with copy: a batch has at least so many rows, except the last; 0: one batch per view */
    mica_version since;       /* for CHANGED and ADDED: a mark (mica_world_mark); 0: as in mica_query_begin */
    mica_allocator allocator; /* must be valid until everything is released; callable from the threads that do so */
} mica_arrow_def;

/* Describes the columns of a query, as a struct. NULL for the def means the defaults. Returns MICA_ERROR_MEMORY, or MICA_ERROR_REFUSED with a
 * report if two terms read the same component with .split. The schema refers neither to the query nor to the world. Threads: reader. */
MICA_API mica_result mica_arrow_schema(mica_query *query, const mica_arrow_def *def, struct ArrowSchema *out_schema);

/* Opens a stream over the rows of a query. The iteration begins with the first batch. If the world's structure changes before the
 * last one, get_next fails with EINVAL; with ENOMEM if memory runs out or a batch has more than 2 GiB of text or elements. Returns what
 * mica_arrow_schema returns. The query must stay valid until the stream is released. Threads: as the iteration, reader; one thread per stream. */
MICA_API mica_result mica_arrow_stream(mica_query *query, const mica_arrow_def *def,
                                       struct ArrowArrayStream *out_stream);

/* Receives the bytes of a file, in order. Returns false to stop. */
typedef bool (*mica_arrow_write_fn)(const void *bytes, size_t byte_count, void *context);

/* Writes the rows of a query as an Arrow IPC file, in the byte order of the machine, and counts them, if the count is wanted. .copy does not
 * matter; .batch_rows gathers views. Returns what mica_arrow_schema returns, and MICA_ERROR_FILE if the function returned false. The function
 * must not change the world. Threads: as the iteration, reader. */
MICA_API mica_result mica_arrow_write(mica_query *query, const mica_arrow_def *def, uint64_t *out_row_count,
                                      mica_arrow_write_fn fn, void *context);

/* The same to a file, which is replaced when everything is written. Returns MICA_ERROR_FILE with a report if the operating system can't write
 * it. Threads: as above, reader. */
MICA_API mica_result mica_arrow_save(mica_query *query, const mica_arrow_def *def, const char *path,
                                     uint64_t *out_row_count);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_arrow_schema(query, ...) mica_arrow_schema(MICA_AT_(query), __VA_ARGS__)
#    define mica_arrow_stream(query, ...) mica_arrow_stream(MICA_AT_(query), __VA_ARGS__)
#    define mica_arrow_write(query, ...) mica_arrow_write(MICA_AT_(query), __VA_ARGS__)
#    define mica_arrow_save(query, ...) mica_arrow_save(MICA_AT_(query), __VA_ARGS__)
#endif
#endif
