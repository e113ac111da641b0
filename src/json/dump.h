/* Writing values and paths of a resource as JSON. */
#ifndef MICAP_JSON_DUMP_H
#define MICAP_JSON_DUMP_H

#include "json/json_writer.h"

/* The family of the entities, by index in the file; children in the order they were written. */
typedef struct micap_dump {
    const mica_resource *resource;
    micap_writer writer;
    uint32_t *first_child;
    uint32_t *next;
    uint32_t *rank; /* among its siblings */
    uint32_t first_root;
    uint32_t count;
    uint32_t depth_max;
} micap_dump;

/* MICA_ERROR_LIMIT for children nested deeper than JSON could say. End it in any case. */
mica_result micap_dump_begin(micap_dump *dump, const mica_resource *resource);
void micap_dump_end(micap_dump *dump);

/* The path of an entity from the top: names where they can be read as such, positions otherwise. */
void micap_dump_path(micap_dump *dump, uint32_t entity);
/* The value of a component; several instances of one entity, which lie one after the other, are an array. */
void micap_dump_value(micap_dump *dump, uint32_t entity, uint32_t component);
void micap_dump_singleton(micap_dump *dump, uint32_t component);

#endif
