/* A schema: the components that a level may use. */
#ifndef MICAP_JSON_SCHEMA_H
#define MICAP_JSON_SCHEMA_H

#include "base/memory.h"
#include "mica/compile.h"

typedef struct micap_schema_entry {
    char *name;     /* of the component; the type may have another */
    mica_type type; /* deep copy */
    int32_t spawn_order;
} micap_schema_entry;

struct mica_schema {
    micap_memory memory;
    micap_schema_entry **entries;
    uint32_t count;
    uint32_t capacity;
};

/* Adds a component with this name. Copies the type. */
mica_result micap_schema_add(mica_schema *schema, const char *name, const mica_type *type, int32_t spawn_order);
const micap_schema_entry *micap_schema_find(const mica_schema *schema, const char *name);

/* Whether a component names another one as excluded. */
bool micap_schema_excludes(const micap_schema_entry *entry, const char *name);

#endif
