/* Streams of the Arrow C data interface over queries. */
#include "arrow/arrow_batch.h"
#include "arrow/arrow_schema.h"
#include "base/argument.h"

#include <errno.h>

/* What a stream owns. */
typedef struct micap_arrow_stream {
    mica_allocator allocator; /* with functions */
    mica_arrow_def def;
    micap_arrow_plan plan;
    mica_view view;
    mica_version structure; /* of the world when the iteration began */
    bool has_begun, has_ended;
    const char *error;
} stream;

static int fail(stream *stream, int number, const char *text)
{
    stream->error = text;
    return number;
}

static int fail_memory(stream *stream)
{
    return fail(stream, ENOMEM, "memory ran out, or a batch has more than 2 GiB of text or elements");
}

static int get_schema(struct ArrowArrayStream *from, struct ArrowSchema *out)
{
    stream *stream = from->private_data;
    *out = (struct ArrowSchema){0};
    return micap_arrow_schema_make(&stream->plan, out) ? 0 : fail_memory(stream);
}

/* Shows the next view. Returns false at the end. */
static bool advance(stream *stream)
{
    if (!stream->has_begun) {
        mica_query *query = stream->plan.query;
        stream->view = stream->def.since ? mica_query_begin_since(query, stream->def.since) : mica_query_begin(query);
        stream->structure = mica_world_structure(stream->view.world);
        stream->has_begun = true;
    }
    stream->has_ended = stream->has_ended || !mica_view_next(&stream->view);
    return !stream->has_ended;
}

static int get_next(struct ArrowArrayStream *from, struct ArrowArray *out)
{
    stream *stream = from->private_data;
    *out = (struct ArrowArray){0};
    if (stream->has_begun && !stream->has_ended && stream->structure != mica_world_structure(stream->view.world))
        return fail(stream, EINVAL, "the structure of the world changed since the first batch");
    if (!advance(stream))
        return 0;
    micap_arrow_column *batch = micap_arrow_batch_create(&stream->plan);
    bool is_done = batch && micap_arrow_batch_append(batch, &stream->plan, &stream->view, !stream->def.copy);
    while (is_done && stream->def.copy && batch->length < stream->def.batch_rows && advance(stream))
        is_done = micap_arrow_batch_append(batch, &stream->plan, &stream->view, false);
    if (is_done) {
        micap_arrow_column_export(batch, out);
        return 0;
    }
    micap_arrow_column_destroy(batch);
    stream->has_ended = true; /* the rows of this view are lost */
    return fail_memory(stream);
}

static const char *get_last_error(struct ArrowArrayStream *from)
{
    return ((stream *)from->private_data)->error;
}

static void release(struct ArrowArrayStream *from)
{
    stream *stream = from->private_data;
    mica_allocator allocator = stream->allocator;
    micap_arrow_plan_free(&stream->plan);
    allocator.release(stream, sizeof *stream, MICAP_ARRAY_ALIGNMENT, allocator.context);
    from->release = NULL;
}

/* Takes the allocator of a def. Returns false with a report if it is incomplete. */
static bool take_memory(micap_memory *memory, mica_query *query, const mica_arrow_def *def)
{
    *memory = (micap_memory){.failures = 0};
    bool is_valid = micap_memory_init(memory, def ? def->allocator : (mica_allocator){0});
    return !MICAP_INVALID(mica_query_begin_since(query, 0).world, !is_valid, def->allocator,
                          "must have both functions or none");
}

static mica_result report(mica_query *query, mica_result result)
{
    if (result != MICA_ERROR_MEMORY)
        return result;
    return mica_world_report(mica_query_begin_since(query, 0).world, result, "arrow: out of memory");
}

mica_result mica_arrow_schema(mica_query *query, const mica_arrow_def *def, struct ArrowSchema *out_schema)
{
    micap_arrow_plan plan = {.term_count = 0};
    if (MICAP_MISSING(NULL, query) || MICAP_MISSING(NULL, out_schema))
        return MICA_ERROR_INVALID;
    *out_schema = (struct ArrowSchema){0};
    if (!take_memory(&plan.memory, query, def))
        return MICA_ERROR_INVALID;
    mica_result result = micap_arrow_plan_make(&plan, query);
    if (result == MICA_OK && !micap_arrow_schema_make(&plan, out_schema))
        result = MICA_ERROR_MEMORY;
    micap_arrow_plan_free(&plan);
    return report(query, result);
}

mica_result mica_arrow_stream(mica_query *query, const mica_arrow_def *def, struct ArrowArrayStream *out_stream)
{
    micap_memory memory;
    if (MICAP_MISSING(NULL, query) || MICAP_MISSING(NULL, out_stream))
        return MICA_ERROR_INVALID;
    *out_stream = (struct ArrowArrayStream){0};
    if (!take_memory(&memory, query, def))
        return MICA_ERROR_INVALID;
    mica_allocator allocator = memory.allocator;
    stream *stream = allocator.allocate(sizeof *stream, MICAP_ARRAY_ALIGNMENT, allocator.context);
    if (!stream)
        return report(query, MICA_ERROR_MEMORY);
    memset(stream, 0, sizeof *stream);
    stream->allocator = allocator;
    stream->def = def ? *def : (mica_arrow_def){0};
    micap_memory_init(&stream->plan.memory, allocator);
    *out_stream = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release, stream};
    mica_result result = micap_arrow_plan_make(&stream->plan, query);
    if (result != MICA_OK)
        release(out_stream);
    return report(query, result);
}
