/* Strings, and the descriptions of types. */
#ifndef MICAP_RESOURCE_VERIFY_VERIFY_TYPES_H
#define MICAP_RESOURCE_VERIFY_VERIFY_TYPES_H

#include "resource/verify/resource.h"

/* Whether strings end, types and their fields are valid, and fields lie within their types; needs verified sections. */
bool micap_verify_types(mica_resource *resource);

/* Whether a string begins there; every string ends before the section does. */
bool micap_is_text(const mica_resource *resource, uint32_t offset);

#endif
