#include "json/writer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOB_ALIGNMENT = 64 };

void micap_writer_init(micap_writer *writer)
{
    *writer = (micap_writer){0};
    micap_memory_init(&writer->memory, (mica_allocator){0});
}

static void write_bytes(micap_writer *writer, const char *bytes, size_t count)
{
    if (writer->failed ||
        !MICAP_RESERVE(&writer->memory, writer->text, &writer->capacity, (uint64_t)writer->count + count)) {
        writer->failed = true;
        return;
    }
    memcpy(writer->text + writer->count, bytes, count);
    writer->count += (uint32_t)count;
}

void micap_write(micap_writer *writer, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    write_bytes(writer, text, length < (int)sizeof text ? (size_t)length : sizeof text - 1);
}

void micap_write_inside_string(micap_writer *writer, const char *text)
{
    for (; *text; ++text) {
        if (*text == '"' || *text == '\\')
            micap_write(writer, "\\%c", *text);
        else if ((unsigned char)*text < 0x20 || *text == 0x7F)
            micap_write(writer, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            write_bytes(writer, text, 1);
    }
}

void micap_write_string(micap_writer *writer, const char *text)
{
    write_bytes(writer, "\"", 1);
    micap_write_inside_string(writer, text);
    write_bytes(writer, "\"", 1);
}

void micap_write_real(micap_writer *writer, double value, bool is_f32)
{
    char text[40];
    if (isnan(value) || isinf(value)) {
        micap_write(writer, "%s", isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
        return;
    }
    for (int digits = 1; digits <= 17; ++digits) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        double again = strtod(text, NULL);
        if (is_f32 ? (float)again == (float)value : again == value)
            break;
    }
    /* A real stays one: 1 would read as an integer, and -0 as 0. */
    micap_write(writer, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void indent(micap_writer *writer)
{
    write_bytes(writer, "\n", 1);
    for (uint32_t i = 0; i < writer->depth; ++i)
        write_bytes(writer, "  ", 2);
}

void micap_write_member(micap_writer *writer, const char *key)
{
    if (writer->has_member)
        write_bytes(writer, ",", 1);
    writer->has_member = true;
    indent(writer);
    if (key) {
        micap_write_string(writer, key);
        write_bytes(writer, ": ", 2);
    }
}

void micap_write_open(micap_writer *writer, char bracket)
{
    write_bytes(writer, &bracket, 1);
    ++writer->depth;
    writer->has_member = false;
}

void micap_write_close(micap_writer *writer, char bracket)
{
    --writer->depth;
    if (writer->has_member)
        indent(writer);
    write_bytes(writer, &bracket, 1);
    writer->has_member = true;
}

mica_result micap_writer_finish(micap_writer *writer, mica_blob *out_text)
{
    *out_text = (mica_blob){0};
    write_bytes(writer, "\n", 1);
    mica_allocator allocator = writer->memory.allocator;
    if (!writer->failed) {
        out_text->bytes = allocator.allocate(writer->count, BLOB_ALIGNMENT, allocator.context);
        out_text->byte_count = writer->count;
        out_text->private_allocator = allocator;
    }
    if (out_text->bytes)
        memcpy(out_text->bytes, writer->text, writer->count);
    MICAP_RELEASE_ARRAY(&writer->memory, writer->text, writer->capacity);
    writer->text = NULL;
    writer->count = writer->capacity = 0;
    return out_text->bytes ? MICA_OK : MICA_ERROR_MEMORY;
}
