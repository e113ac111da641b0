/* The byte order of tables: files are written for the machine that will map them. */
#ifndef MICAP_RESOURCE_FORMAT_BYTE_ORDER_H
#define MICAP_RESOURCE_FORMAT_BYTE_ORDER_H

#include "resource/format/file_format.h"

#include <stddef.h>

void micap_swap_header(micap_header *header);
void micap_swap_section(micap_section *section);

/* Turns the records of a table; instances, whose types say how they lie, are turned by micap_scalars_swap. */
void micap_swap_table(micap_section_kind kind, char *records, uint32_t count, uint32_t stride);

/* The smallest record of a kind, and what its size must be a multiple of. */
uint32_t micap_record_bytes(micap_section_kind kind);
uint32_t micap_record_alignment(micap_section_kind kind);

#endif
