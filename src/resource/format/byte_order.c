#include "resource/format/byte_order.h"

#include <string.h>

/* The sizes of the fields of each record, in order. */
static const char *const patterns[MICAP_SECTION_KINDS] = {
    [MICAP_SECTION_STRINGS] = "1",
    [MICAP_SECTION_TYPES] = "444444",
    [MICAP_SECTION_FIELDS] = "444444",
    [MICAP_SECTION_CONSTANTS] = "844",
    [MICAP_SECTION_COMPONENTS] = "8844444444",
    [MICAP_SECTION_GROUPS] = "4444",
    [MICAP_SECTION_COLUMNS] = "44",
    [MICAP_SECTION_PARENTS] = "4",
    [MICAP_SECTION_ORDER] = "4",
    [MICAP_SECTION_NAMES] = "44",
    [MICAP_SECTION_INSTANCES] = "",
    [MICAP_SECTION_OWNERS] = "4",
    [MICAP_SECTION_DISABLED] = "4",
    [MICAP_SECTION_ASSETS] = "844",
    [MICAP_SECTION_HANDLES] = "444",
    [MICAP_SECTION_STATE] = "1", /* little-endian on every machine, as the next */
    [MICAP_SECTION_CONTENTS] = "1",
};

static void swap_fields(char *at, const char *pattern)
{
    for (; *pattern; ++pattern) {
        uint32_t bytes = (uint32_t)(*pattern - '0');
        for (uint32_t i = 0; i < bytes / 2; ++i) {
            char kept = at[i];
            at[i] = at[bytes - 1 - i];
            at[bytes - 1 - i] = kept;
        }
        at += bytes;
    }
}

void micap_swap_header(micap_header *header)
{
    swap_fields((char *)header + sizeof header->magic, "42284444888");
}

void micap_swap_section(micap_section *section)
{
    swap_fields((char *)section, "44888844");
}

void micap_swap_table(micap_section_kind kind, char *records, uint32_t count, uint32_t stride)
{
    if (micap_record_alignment(kind) > 1)
        for (uint32_t i = 0; i < count; ++i)
            swap_fields(records + (size_t)i * stride, patterns[kind]);
}

uint32_t micap_record_bytes(micap_section_kind kind)
{
    uint32_t bytes = 0;
    for (const char *pattern = patterns[kind]; *pattern; ++pattern)
        bytes += (uint32_t)(*pattern - '0');
    return bytes;
}

uint32_t micap_record_alignment(micap_section_kind kind)
{
    return strchr(patterns[kind], '8') ? 8 : strchr(patterns[kind], '4') ? 4 : 1;
}
