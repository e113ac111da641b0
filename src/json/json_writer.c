#include "json/json_writer.h"

#include "base/number_text.h"
#include "base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { BLOB_ALIGNMENT = 64 };

void micap_writer_init(micap_json_writer *writer)
{
    *writer = (micap_json_writer){0};
    micap_memory_init(&writer->memory, (mica_allocator){0});
}

static bool make_room(micap_json_writer *writer, size_t bytes)
{
    writer->failed = writer->failed ||
                     !MICAP_RESERVE(&writer->memory, writer->text, &writer->capacity, (uint64_t)writer->count + bytes);
    return !writer->failed;
}

static void write_bytes(micap_json_writer *writer, const char *bytes, size_t count)
{
    if (!make_room(writer, count))
        return;
    memcpy(writer->text + writer->count, bytes, count);
    writer->count += (uint32_t)count;
}

void micap_write(micap_json_writer *writer, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    write_bytes(writer, text, length < (int)sizeof text ? (size_t)length : sizeof text - 1);
}

void micap_write_text(micap_json_writer *writer, const char *text, size_t bytes)
{
    write_bytes(writer, text, bytes);
}

static void write_escaped(micap_json_writer *writer, const char *text, size_t bytes)
{
    while (bytes) {
        uint32_t count = micap_character_bytes((const unsigned char *)text, bytes);
        if (count == 0)
            write_bytes(writer, "\xEF\xBF\xBD", 3); /* U+FFFD, the replacement character */
        else if (*text == '"' || *text == '\\')
            micap_write(writer, "\\%c", *text);
        else if ((unsigned char)*text < 0x20 || *text == 0x7F)
            micap_write(writer, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            write_bytes(writer, text, count);
        text += count ? count : 1;
        bytes -= count ? count : 1;
    }
}

void micap_write_inside_string(micap_json_writer *writer, const char *text)
{
    write_escaped(writer, text, strlen(text));
}

void micap_write_string_bytes(micap_json_writer *writer, const char *text, size_t bytes)
{
    write_bytes(writer, "\"", 1);
    write_escaped(writer, text, bytes);
    write_bytes(writer, "\"", 1);
}

void micap_write_string(micap_json_writer *writer, const char *text)
{
    micap_write_string_bytes(writer, text, strlen(text));
}

void micap_write_hex(micap_json_writer *writer, const void *bytes, size_t byte_count)
{
    write_bytes(writer, "\"", 1);
    for (size_t i = 0; i < byte_count; ++i)
        micap_write(writer, "%02X", (unsigned)((const unsigned char *)bytes)[i]);
    write_bytes(writer, "\"", 1);
}

void micap_write_value(micap_json_writer *writer, mica_member member, bool is_string)
{
    char text[128];
    size_t length = mica_value_write(member, text, sizeof text);
    write_bytes(writer, "\"", is_string);
    if (length < sizeof text) {
        write_bytes(writer, text, length);
    } else if (make_room(writer, length + 1)) {
        mica_value_write(member, writer->text + writer->count, length + 1);
        writer->count += (uint32_t)length;
    }
    write_bytes(writer, "\"", is_string);
}

void micap_write_real(micap_json_writer *writer, double value, bool is_f32)
{
    char text[MICAP_NUMBER_TEXT_BYTES];
    if (isnan(value) || isinf(value)) {
        micap_write(writer, "%s", isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
        return;
    }
    micap_number_text(value, is_f32, text);
    micap_write(writer, "%s", text);
}

static void indent(micap_json_writer *writer)
{
    write_bytes(writer, "\n", 1);
    for (uint32_t i = 0; i < writer->depth; ++i)
        write_bytes(writer, "  ", 2);
}

void micap_write_member(micap_json_writer *writer, const char *key)
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

void micap_write_open(micap_json_writer *writer, char bracket)
{
    write_bytes(writer, &bracket, 1);
    ++writer->depth;
    writer->has_member = false;
}

void micap_write_close(micap_json_writer *writer, char bracket)
{
    --writer->depth;
    if (writer->has_member)
        indent(writer);
    write_bytes(writer, &bracket, 1);
    writer->has_member = true;
}

mica_result micap_writer_finish(micap_json_writer *writer, mica_blob *out_text)
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
