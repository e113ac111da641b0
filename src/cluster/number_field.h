/* A number in a component, found by its path and read as a double. */
#ifndef MICAP_CLUSTER_NUMBER_FIELD_H
#define MICAP_CLUSTER_NUMBER_FIELD_H

#include "base/memory.h"
#include "mica/describe.h"

typedef struct micap_number_field {
    uint32_t offset;
    uint32_t bytes;
    mica_kind kind;
} micap_number_field;

/* NULL, or what is wrong with the path. `path` need not end with a zero byte. */
const char *micap_number_field_find(micap_memory *memory, mica_component component, const char *path, size_t path_bytes,
                                    micap_number_field *out);

/* The number at an address, which may be unaligned. */
double micap_number_field_load(const micap_number_field *field, const void *at);

#endif
