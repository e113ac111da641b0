/* Arrow IPC files: a magic word, messages for the schema and each batch, an end, a footer that says where the batches are. A message is
 * a mark, the length of its metadata, the metadata and the buffers, each padded to 8 bytes. */
#include "arrow/arrow_metadata.h"
#include "base/argument.h"
#include "os/file.h"

#include <errno.h>
#include <string.h>

typedef struct micap_arrow_writer {
    micap_memory memory;
    mica_arrow_write_fn fn;
    void *context;
    int64_t position;
    bool is_refused; /* the function returned false */
    micap_bytes metadata;
    micap_arrow_body body;
    micap_arrow_block *blocks;
    uint32_t block_count, block_capacity;
    uint64_t row_count;
} writer;

static bool put(writer *writer, const void *bytes, size_t byte_count)
{
    writer->is_refused = writer->is_refused || (byte_count && !writer->fn(bytes, byte_count, writer->context));
    writer->position += (int64_t)byte_count;
    return !writer->is_refused;
}

static bool put_numbers(writer *writer, uint32_t a, uint32_t b)
{
    uint32_t numbers[] = {micap_little32(a), micap_little32(b)};
    return put(writer, numbers, sizeof numbers);
}

/* Writes the metadata as a message. */
static mica_result put_message(writer *writer)
{
    if (writer->metadata.failed)
        return MICA_ERROR_MEMORY;
    return put_numbers(writer, UINT32_MAX, writer->metadata.count) &&
                   put(writer, writer->metadata.data, writer->metadata.count)
               ? MICA_OK
               : MICA_ERROR_FILE;
}

static bool add_piece(micap_arrow_body *body, const void *data, int64_t byte_count)
{
    if (!MICAP_RESERVE(body->memory, body->pieces, &body->piece_capacity, body->piece_count + 1))
        return false;
    body->pieces[body->piece_count++] = (micap_arrow_piece){data, body->byte_count, byte_count};
    body->byte_count += (byte_count + 7) & -8;
    return true;
}

/* The bytes of a number by its format. */
static int64_t number_bytes(char format)
{
    switch (format) {
    case 'c':
    case 'C': return 1;
    case 's':
    case 'S': return 2;
    case 'i':
    case 'I':
    case 'f': return 4;
    default: return 8;
    }
}

/* The bytes of buffers, which the C data interface leaves to the reader. */
static bool add_pieces(micap_arrow_body *body, const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    const char *format = schema->format;
    bool has_offsets = format[0] == 'u' || format[1] == 'l';
    const int32_t *offsets = has_offsets ? array->buffers[1] : NULL;
    int64_t length = array->length;
    if (!add_piece(body, array->buffers[0], array->null_count ? (length + 7) / 8 : 0))
        return false;
    if (has_offsets && !add_piece(body, offsets, (length + 1) * (int64_t)sizeof *offsets))
        return false;
    if (format[0] == 'u')
        return add_piece(body, array->buffers[2], offsets[length]);
    if (format[0] == 'b')
        return add_piece(body, array->buffers[1], (length + 7) / 8);
    return format[0] == '+' || add_piece(body, array->buffers[1], length * number_bytes(format[0]));
}

/* A column and its children. */
static bool add_column(micap_arrow_body *body, const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    if (!MICAP_RESERVE(body->memory, body->nodes, &body->node_capacity, body->node_count + 1))
        return false;
    body->nodes[body->node_count++] = (micap_arrow_node){array->length, array->null_count};
    if (!add_pieces(body, schema, array))
        return false;
    for (int64_t i = 0; i < array->n_children; ++i)
        if (!add_column(body, schema->children[i], array->children[i]))
            return false;
    return true;
}

static bool put_body(writer *writer)
{
    static const char padding[8];
    for (uint32_t i = 0; i < writer->body.piece_count; ++i) {
        const micap_arrow_piece *piece = &writer->body.pieces[i];
        if (!put(writer, piece->data, (size_t)piece->byte_count) ||
            !put(writer, padding, (size_t)(-piece->byte_count & 7)))
            return false;
    }
    return true;
}

static mica_result put_batch(writer *writer, const struct ArrowSchema *schema, const struct ArrowArray *batch)
{
    micap_arrow_body *body = &writer->body;
    body->piece_count = body->node_count = 0;
    body->byte_count = 0;
    body->row_count = batch->length;
    for (int64_t i = 0; i < batch->n_children; ++i)
        if (!add_column(body, schema->children[i], batch->children[i]))
            return MICA_ERROR_MEMORY;
    if (!MICAP_RESERVE(&writer->memory, writer->blocks, &writer->block_capacity, writer->block_count + 1))
        return MICA_ERROR_MEMORY;
    micap_arrow_put_batch(&writer->metadata, body);
    writer->blocks[writer->block_count++] =
        (micap_arrow_block){writer->position, 8 + (int64_t)writer->metadata.count, body->byte_count};
    writer->row_count += (uint64_t)batch->length;
    mica_result result = put_message(writer);
    return result != MICA_OK || put_body(writer) ? result : MICA_ERROR_FILE;
}

static mica_result put_batches(writer *writer, struct ArrowArrayStream *stream, const struct ArrowSchema *schema)
{
    struct ArrowArray batch;
    int problem;
    while (!(problem = stream->get_next(stream, &batch)) && batch.release) {
        mica_result result = put_batch(writer, schema, &batch);
        batch.release(&batch);
        if (result != MICA_OK)
            return result;
    }
    return problem == 0 ? MICA_OK : problem == ENOMEM ? MICA_ERROR_MEMORY : MICA_ERROR_REFUSED;
}

static mica_result put_footer(writer *writer, const struct ArrowSchema *schema)
{
    micap_arrow_put_footer(&writer->metadata, schema, writer->blocks, writer->block_count);
    uint32_t length = micap_little32(writer->metadata.count);
    return writer->metadata.failed ? MICA_ERROR_MEMORY
           : put_numbers(writer, UINT32_MAX, 0) && put(writer, writer->metadata.data, writer->metadata.count) &&
                   put(writer, &length, sizeof length) && put(writer, "ARROW1", 6)
               ? MICA_OK
               : MICA_ERROR_FILE;
}

static mica_result put_all(writer *writer, struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema;
    if (stream->get_schema(stream, &schema) != 0)
        return MICA_ERROR_MEMORY;
    mica_result result = put(writer, "ARROW1\0", 8) ? MICA_OK : MICA_ERROR_FILE;
    micap_arrow_put_schema(&writer->metadata, &schema);
    if (result == MICA_OK)
        result = put_message(writer);
    if (result == MICA_OK)
        result = put_batches(writer, stream, &schema);
    if (result == MICA_OK)
        result = put_footer(writer, &schema);
    schema.release(&schema);
    return result;
}

mica_result mica_arrow_write(mica_query *query, const mica_arrow_def *def, uint64_t *out_row_count,
                             mica_arrow_write_fn fn, void *context)
{
    mica_arrow_def used = def ? *def : (mica_arrow_def){0};
    struct ArrowArrayStream stream;
    if (MICAP_MISSING(NULL, query) || MICAP_MISSING(NULL, fn))
        return MICA_ERROR_INVALID;
    used.copy = used.batch_rows > 0;
    mica_result result = mica_arrow_stream(query, &used, &stream);
    if (result != MICA_OK)
        return result;
    writer writer = {.fn = fn, .context = context};
    micap_memory_init(&writer.memory, used.allocator);
    writer.metadata.memory = writer.body.memory = &writer.memory;
    result = put_all(&writer, &stream);
    stream.release(&stream);
    MICAP_RELEASE_ARRAY(&writer.memory, writer.metadata.data, writer.metadata.capacity);
    MICAP_RELEASE_ARRAY(&writer.memory, writer.body.pieces, writer.body.piece_capacity);
    MICAP_RELEASE_ARRAY(&writer.memory, writer.body.nodes, writer.body.node_capacity);
    MICAP_RELEASE_ARRAY(&writer.memory, writer.blocks, writer.block_capacity);
    if (out_row_count)
        *out_row_count = writer.row_count;
    if (result == MICA_ERROR_MEMORY)
        mica_world_report(mica_query_begin_since(query, 0).world, result, "arrow: out of memory");
    return result;
}

/* A file that is written in order. */
typedef struct micap_arrow_file {
    micap_replacement replacement;
    uint64_t offset;
    int problem;
} file;

static bool write_to_file(const void *bytes, size_t byte_count, void *context)
{
    file *file = context;
    file->problem = micap_replacement_write(&file->replacement, file->offset, bytes, byte_count);
    file->offset += byte_count;
    return file->problem == 0;
}

mica_result mica_arrow_save(mica_query *query, const mica_arrow_def *def, const char *path, uint64_t *out_row_count)
{
    file file = {.offset = 0};
    if (MICAP_MISSING(NULL, query) || MICAP_MISSING(NULL, path))
        return MICA_ERROR_INVALID;
    file.problem = micap_replacement_begin(&file.replacement, path, 0);
    mica_result result = MICA_ERROR_FILE;
    if (!file.problem) {
        result = mica_arrow_write(query, def, out_row_count, write_to_file, &file);
        /* A problem of another kind also keeps the old file. */
        int problem = result == MICA_OK || file.problem ? file.problem : ECANCELED;
        problem = micap_replacement_end(&file.replacement, problem);
        file.problem = result == MICA_OK ? problem : file.problem;
    }
    if (!file.problem)
        return result;
    char text[512];
    snprintf(text, sizeof text, "%.300s: %s", path, strerror(file.problem));
    return mica_world_report(mica_query_begin_since(query, 0).world, MICA_ERROR_FILE, text);
}
