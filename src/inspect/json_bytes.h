/* JSON as bytes. */
#ifndef MICAP_INSPECT_JSON_BYTES_H
#define MICAP_INSPECT_JSON_BYTES_H

#include "base/assert.h"
#include "base/byte_stream.h"

/* Appends a formatted text of up to 255 bytes. */
void micap_json_put(micap_bytes *bytes, const char *format, ...) MICAP_FORMAT(2, 3);
/* Appends a string. A byte that is not valid UTF-8 becomes a question mark. */
void micap_json_put_string(micap_bytes *bytes, const char *text);

#endif
