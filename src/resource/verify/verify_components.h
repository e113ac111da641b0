/* The components of a file and their instances. */
#ifndef MICAP_RESOURCE_VERIFY_VERIFY_COMPONENTS_H
#define MICAP_RESOURCE_VERIFY_VERIFY_COMPONENTS_H

#include "resource/verify/resource.h"

/* Whether each component has a type and sections of the right size; needs verified types. */
bool micap_verify_components(mica_resource *resource);

/* Whether bools, references to entities and references to assets in all instances are valid; the last step. */
bool micap_verify_values(mica_resource *resource);

#endif
