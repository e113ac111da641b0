/* JSON on its way out: a growing text with indentation. */
#ifndef MICAP_JSON_WRITER_H
#define MICAP_JSON_WRITER_H

#include "base/memory.h"
#include "mica/resource.h"

typedef struct micap_writer {
    micap_memory memory;
    char *text;
    uint32_t count;
    uint32_t capacity;
    uint32_t depth;
    bool has_member; /* the innermost object or array has one already */
    bool failed;     /* memory was short; nothing is written any more */
} micap_writer;

void micap_writer_init(micap_writer *writer);
void micap_write(micap_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* With quotes and escapes. Bytes that are not UTF-8 can't occur: files are checked. */
void micap_write_string(micap_writer *writer, const char *text);
/* Without the quotes. */
void micap_write_inside_string(micap_writer *writer, const char *text);
/* The shortest digits that read back as the same number. */
void micap_write_real(micap_writer *writer, double value, bool is_f32);

/* A member of the innermost object (key) or array (NULL key), on a line of its own: what follows is its value. */
void micap_write_member(micap_writer *writer, const char *key);
void micap_write_open(micap_writer *writer, char bracket);
void micap_write_close(micap_writer *writer, char bracket);

/* Gives the text away; MICA_ERROR_MEMORY when it is not whole. */
mica_result micap_writer_finish(micap_writer *writer, mica_blob *out_text);

#endif
