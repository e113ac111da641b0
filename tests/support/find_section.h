/* The entry of a section in the bytes of a resource, for tests that change it. */
#ifndef MICA_TESTS_SUPPORT_FIND_SECTION_H
#define MICA_TESTS_SUPPORT_FIND_SECTION_H

#include "resource/format/file_format.h"

#include <check.h>
#include <string.h>

static inline micap_section *find_section(char *bytes, micap_section_kind kind)
{
    micap_header header;
    memcpy(&header, bytes, sizeof header);
    micap_section *sections = (micap_section *)(void *)(bytes + sizeof header);
    for (uint32_t i = 0; i < header.section_count; ++i)
        if (sections[i].kind == (uint32_t)kind)
            return &sections[i];
    ck_abort_msg("no section of kind %d", kind);
    return NULL;
}

#endif
