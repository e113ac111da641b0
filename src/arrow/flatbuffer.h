/* Writes flatbuffers, the format of the metadata in Arrow files: tables whose fields are found by a list of offsets before them, vectors
 * and text. Objects follow each other in the order of the calls, so that references lead forward.
 *
 *     uint32_t table = micap_flatbuffer_table(&bytes, 0, (const uint8_t[]){2, 4}, 2);      a number of 2 bytes and a reference
 *     micap_flatbuffer_number(&bytes, table, 0, 2, 7);
 *     micap_flatbuffer_text(&bytes, micap_flatbuffer_slot(&bytes, table, 1), "name", 4);
 */
#ifndef MICAP_ARROW_FLATBUFFER_H
#define MICAP_ARROW_FLATBUFFER_H

#include "base/byte_stream.h"

/* Begins with the reference to the first table, at position 0. */
void micap_flatbuffer_begin(micap_bytes *bytes);

/* Pads to a multiple of 8 bytes. */
void micap_flatbuffer_end(micap_bytes *bytes);

/* Appends a table with fields of so many bytes each, which are zero, and refers to it from a place. 0 bytes: the field is left out. Returns
 * its position, as the next two. If memory is short, positions mean nothing, and nothing is written. */
uint32_t micap_flatbuffer_table(micap_bytes *bytes, uint32_t place, const uint8_t *field_bytes, uint32_t field_count);

/* Appends a vector of zeros, whose elements are aligned to 8 bytes if they have 8 or more. */
uint32_t micap_flatbuffer_vector(micap_bytes *bytes, uint32_t place, uint32_t count, uint32_t element_bytes);

void micap_flatbuffer_text(micap_bytes *bytes, uint32_t place, const char *text, uint32_t length);

/* The position of a field that is not left out. */
uint32_t micap_flatbuffer_slot(const micap_bytes *bytes, uint32_t table, uint32_t field);

/* Writes a number of 1, 2, 4 or 8 bytes, into a field or at a position. */
void micap_flatbuffer_number(micap_bytes *bytes, uint32_t table, uint32_t field, uint32_t byte_count, int64_t value);
void micap_flatbuffer_put(micap_bytes *bytes, uint32_t position, uint32_t byte_count, int64_t value);

#endif
