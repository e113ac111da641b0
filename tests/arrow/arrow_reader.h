/* A reader of the Arrow C data interface that knows nothing of Mica: it writes values as text. */
#ifndef MICA_TESTS_ARROW_ARROW_READER_H
#define MICA_TESTS_ARROW_ARROW_READER_H

#include "mica/arrow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text with a limit, which is large enough for every test. */
typedef struct rendering {
    char text[1 << 14];
    size_t count;
} rendering;

#define RENDER(out, ...)                                                                                               \
    ((out)->count += (size_t)snprintf((out)->text + (out)->count, sizeof(out)->text - (out)->count, __VA_ARGS__))

static inline bool arrow_is_valid(const struct ArrowArray *array, int64_t row)
{
    const uint8_t *bits = array->buffers[0];
    return !bits || (bits[row / 8] >> row % 8 & 1);
}

static inline void render_number(rendering *out, char format, const void *values, int64_t row)
{
    switch (format) {
    case 'c': RENDER(out, "%d", ((const int8_t *)values)[row]); break;
    case 'C': RENDER(out, "%u", ((const uint8_t *)values)[row]); break;
    case 's': RENDER(out, "%d", ((const int16_t *)values)[row]); break;
    case 'S': RENDER(out, "%u", ((const uint16_t *)values)[row]); break;
    case 'i': RENDER(out, "%d", ((const int32_t *)values)[row]); break;
    case 'I': RENDER(out, "%u", ((const uint32_t *)values)[row]); break;
    case 'l': RENDER(out, "%" PRId64, ((const int64_t *)values)[row]); break;
    case 'L': RENDER(out, "%" PRIu64, ((const uint64_t *)values)[row]); break;
    case 'f': RENDER(out, "%g", (double)((const float *)values)[row]); break;
    case 'g': RENDER(out, "%g", ((const double *)values)[row]); break;
    default: RENDER(out, "unknown format %c", format);
    }
}

/* [1, 2], {"x": 1}, null, true, 'text'. */
static inline void render_value(rendering *out, const struct ArrowSchema *schema, const struct ArrowArray *array,
                                int64_t row)
{
    const char *format = schema->format;
    if (!arrow_is_valid(array, row)) {
        RENDER(out, "null");
    } else if (format[0] == 'b') {
        RENDER(out, "%s", ((const uint8_t *)array->buffers[1])[row / 8] >> row % 8 & 1 ? "true" : "false");
    } else if (format[0] == 'u') {
        const int32_t *offsets = array->buffers[1];
        RENDER(out, "'%.*s'", offsets[row + 1] - offsets[row],
               array->buffers[2] ? (const char *)array->buffers[2] + offsets[row] : "");
    } else if (format[0] == '+' && format[1] == 's') {
        RENDER(out, "{");
        for (int64_t i = 0; i < schema->n_children; ++i) {
            RENDER(out, "%s%s: ", i ? ", " : "", schema->children[i]->name);
            render_value(out, schema->children[i], array->children[i], row);
        }
        RENDER(out, "}");
    } else if (format[0] == '+') {
        const int32_t *offsets = format[1] == 'l' ? array->buffers[1] : NULL;
        int64_t size = offsets ? 0 : strtoll(format + 3, NULL, 10);
        int64_t begin = offsets ? offsets[row] : row * size, end = offsets ? offsets[row + 1] : begin + size;
        RENDER(out, "[");
        for (int64_t i = begin; i < end; ++i) {
            RENDER(out, "%s", i > begin ? ", " : "");
            render_value(out, schema->children[0], array->children[0], i);
        }
        RENDER(out, "]");
    } else {
        render_number(out, format[0], array->buffers[1], row);
    }
}

/* A schema as text: name:format, with ? if it can be null. */
static inline void render_schema(rendering *out, const struct ArrowSchema *schema)
{
    RENDER(out, "%s:%s%s", schema->name, schema->format, schema->flags & ARROW_FLAG_NULLABLE ? "?" : "");
    for (int64_t i = 0; i < schema->n_children; ++i) {
        RENDER(out, "%s", i ? " " : "(");
        render_schema(out, schema->children[i]);
    }
    RENDER(out, "%s", schema->n_children ? ")" : "");
}

/* All rows of a stream, a line each, with a line "--" after each batch. Returns the error of the stream. */
static inline int render_stream(rendering *out, struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    int problem = stream->get_schema(stream, &schema);
    if (problem)
        return problem;
    while (!(problem = stream->get_next(stream, &array)) && array.release) {
        for (int64_t i = 0; i < array.length; ++i) {
            render_value(out, &schema, &array, i);
            RENDER(out, "\n");
        }
        RENDER(out, "--\n");
        array.release(&array);
    }
    schema.release(&schema);
    return problem;
}

#endif
