/* Writing values as text: see mica/value.h. */
#ifndef MICAP_TYPE_VALUE_WRITE_H
#define MICAP_TYPE_VALUE_WRITE_H

#include "mica/value.h"

/* Writes the path of an entity, if it has one. False if it has none: the handle is written. */
typedef bool (*micap_path_fn)(mica_entity entity, char *path, size_t capacity, const void *context);

/* Where text goes: what does not fit is only counted. */
typedef struct micap_text_output {
    char *text;
    size_t capacity;
    size_t count;
    micap_path_fn path; /* NULL: references are handles */
    const void *context;
} micap_text_output;

/* An output that leaves room for the zero byte, and its end, which returns the length of the whole text. */
micap_text_output micap_output_begin(char *text, size_t capacity);
size_t micap_output_end(micap_text_output *out);

void micap_output_text(micap_text_output *out, const char *text);
void micap_output_string(micap_text_output *out, const char *text, size_t bytes);
void micap_output_value(micap_text_output *out, mica_member member);

#endif
