/* The entities of a file: groups, parents, order and names. */
#ifndef MICAP_RESOURCE_VERIFY_VERIFY_ENTITIES_H
#define MICAP_RESOURCE_VERIFY_VERIFY_ENTITIES_H

#include "resource/verify/resource.h"

/* Whether groups cover all entities and instances, parents form no cycle, and names are unique; needs verified components. */
bool micap_verify_entities(mica_resource *resource);

#endif
