/* The header and the section table: the first step of loading, which trusts nothing. */
#ifndef MICAP_RESOURCE_VERIFY_VERIFY_SECTIONS_H
#define MICAP_RESOURCE_VERIFY_VERIFY_SECTIONS_H

#include "resource/verify/resource.h"

/* Whether all sections lie within the file and have their checksums; unpacks those that are compressed. */
bool micap_verify_sections(mica_resource *resource);

#endif
