/* JSON values into the fields of components. */
#ifndef MICAP_JSON_VALUE_COMPILE_H
#define MICAP_JSON_VALUE_COMPILE_H

#include "json/compiler.h"

/* The owner of a value, for references in it; `node` is NULL for a singleton. */
typedef struct micap_value_of {
    const micap_node *node;
    const micap_layer *layer;
} micap_value_of;

/* Writes the fields that a JSON value has into an instance. Returns false with reports on failure. */
bool micap_value_compile(mica_compiler *compiler, micap_value_of owner, const json_t *json, const mica_type *type,
                         void *instance, micap_context context);

/* Whether values of a type are edges: the first field is the target, which a string in "relations" is the path of. */
bool micap_value_is_edge(const mica_type *type);

/* Returns the name of a kind, for example "f32". */
const char *micap_kind_name(mica_kind kind);
mica_kind micap_kind_of_name(const char *name);

#endif
