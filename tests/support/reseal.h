/* Recomputes the checksums of a damaged resource, so that the checks after them are tested too. */
#ifndef MICA_TESTS_SUPPORT_RESEAL_H
#define MICA_TESTS_SUPPORT_RESEAL_H

#include "resource/format/file_format.h"
#include "resource/format/checksum.h"

#include <string.h>

static inline void reseal(void *bytes, size_t byte_count)
{
    micap_header header;
    if (byte_count < sizeof header)
        return;
    memcpy(&header, bytes, sizeof header);
    char *table = (char *)bytes + header.header_bytes;
    uint64_t end = header.header_bytes + (uint64_t)header.section_count * header.section_bytes;
    if (end > byte_count || header.header_bytes < sizeof header || header.section_bytes < sizeof(micap_section))
        return;
    for (uint32_t i = 0; i < header.section_count; ++i, table += header.section_bytes) {
        micap_section section;
        memcpy(&section, table, sizeof section);
        if (section.offset > byte_count || section.stored_bytes > byte_count - section.offset)
            continue;
        section.hash = micap_checksum((char *)bytes + section.offset, section.stored_bytes);
        memcpy(table, &section, sizeof section);
    }
    header.hash = 0;
    memcpy(bytes, &header, sizeof header);
    header.hash = micap_checksum(bytes, end);
    memcpy(bytes, &header, sizeof header);
}

#endif
