/* Values and paths of a resource as JSON. */
#ifndef MICAP_JSON_DUMP_H
#define MICAP_JSON_DUMP_H

#include "json/json_writer.h"

/* Parent and child links of the entities of a resource, by index in the file. Children are in the order of the file. */
typedef struct micap_dump {
    const mica_resource *resource;
    micap_json_writer writer;
    uint32_t *first_child;
    uint32_t *next;
    uint32_t *rank; /* among its siblings */
    uint32_t first_root;
    uint32_t count;
    uint32_t depth_max;
} micap_dump;

/* Returns MICA_ERROR_LIMIT if children are nested too deeply for JSON. Call micap_dump_end also after an error. */
mica_result micap_dump_begin(micap_dump *dump, const mica_resource *resource);
void micap_dump_end(micap_dump *dump);

/* Writes the path of an entity: names, or positions for entities without a usable name. */
void micap_dump_path(micap_dump *dump, uint32_t entity);
/* Writes the value of a component; an array if an entity may have several instances. */
void micap_dump_value(micap_dump *dump, uint32_t entity, uint32_t component);
void micap_dump_singleton(micap_dump *dump, uint32_t component);

#endif
