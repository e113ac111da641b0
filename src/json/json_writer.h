/* Writes JSON with indentation to a growing text. */
#ifndef MICAP_JSON_JSON_WRITER_H
#define MICAP_JSON_JSON_WRITER_H

#include "base/assert.h"
#include "base/memory.h"
#include "mica/resource.h"
#include "mica/value.h"

typedef struct micap_json_writer {
    micap_memory memory;
    char *text;
    uint32_t count;
    uint32_t capacity;
    uint32_t depth;
    bool has_member; /* the innermost object or array is not empty */
    bool failed;     /* memory was short; nothing more is written */
} micap_json_writer;

void micap_writer_init(micap_json_writer *writer);
void micap_write(micap_json_writer *writer, const char *format, ...) MICAP_FORMAT(2, 3);
/* Writes text as it is, of any length; micap_write cuts what is longer than 255 bytes. */
void micap_write_text(micap_json_writer *writer, const char *text, size_t bytes);
/* Writes a string with quotes and escapes. A byte that is not valid UTF-8 becomes U+FFFD. */
void micap_write_string(micap_json_writer *writer, const char *text);
void micap_write_string_bytes(micap_json_writer *writer, const char *text, size_t bytes);
/* Writes the characters of a string, escaped, without the quotes. */
void micap_write_inside_string(micap_json_writer *writer, const char *text);
/* Writes bytes as a string of hexadecimal digits. */
void micap_write_hex(micap_json_writer *writer, const void *bytes, size_t byte_count);
/* Writes a value as mica_value_write does, in quotes if `is_string`. */
void micap_write_value(micap_json_writer *writer, mica_member member, bool is_string);
/* Writes the shortest text that reads back as the same number; NaN and infinities are the strings "nan", "inf", "-inf". */
void micap_write_real(micap_json_writer *writer, double value, bool is_f32);

/* Begins a member of the innermost object (key) or array (NULL key) on a line of its own. Write its value next. */
void micap_write_member(micap_json_writer *writer, const char *key);
void micap_write_open(micap_json_writer *writer, char bracket);
void micap_write_close(micap_json_writer *writer, char bracket);

/* Passes the text to the caller and frees the writer. Returns MICA_ERROR_MEMORY if memory was short. */
mica_result micap_writer_finish(micap_json_writer *writer, mica_blob *out_text);

#endif
