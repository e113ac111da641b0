/* Values of messages as bytes that are the same on every machine: described fields, little-endian. What is not described is zero when
 * it is read. */
#ifndef MICAP_FLOW_MESSAGING_VALUE_BYTES_H
#define MICAP_FLOW_MESSAGING_VALUE_BYTES_H

#include "base/byte_stream.h"
#include "mica/describe.h"

void micap_value_put(micap_bytes *bytes, const mica_type *type, const char *value);

/* Fills a zeroed value; the reader fails if there are too few bytes, or a bool is neither 0 nor 1. */
void micap_value_take(micap_reader *reader, const mica_type *type, char *value);

#endif
