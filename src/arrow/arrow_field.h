/* What a described field is in Arrow. The fields of registered components have a kind, also where a description leaves it to the type. */
#ifndef MICAP_ARROW_ARROW_FIELD_H
#define MICAP_ARROW_ARROW_FIELD_H

#include "mica/describe.h"

typedef enum micap_arrow_layout {
    MICAP_ARROW_NUMBER, /* an array of numbers */
    MICAP_ARROW_HANDLE, /* the same, and zero is null */
    MICAP_ARROW_BITS,
    MICAP_ARROW_TEXT,
    MICAP_ARROW_LIST,
    MICAP_ARROW_ARRAY,
    MICAP_ARROW_STRUCT,
} micap_arrow_layout;

/* The value of a type as a field. */
mica_field micap_arrow_value(const char *name, const mica_type *type);

micap_arrow_layout micap_arrow_layout_of(const mica_field *field);

/* The fields of a struct; the element of a list or an array. */
uint32_t micap_arrow_child_count(const mica_field *field);
mica_field micap_arrow_child(const mica_field *field, uint32_t index);

/* Writes the format of the C data interface. */
enum { MICAP_ARROW_FORMAT_BYTES = 16 };
void micap_arrow_format(const mica_field *field, char *out);

#endif
