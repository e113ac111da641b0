/* References from values to entities. */
#ifndef MICAP_JSON_ENTITY_REFERENCE_H
#define MICAP_JSON_ENTITY_REFERENCE_H

#include "json/compiler.h"

/* Finds the entity at a path, for a value of a layer. Returns NULL with a report if there is none. */
const micap_node *micap_reference_find(mica_compiler *compiler, const micap_node *from, const micap_layer *layer,
                                       const char *path, micap_context context);

#endif
