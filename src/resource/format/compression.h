/* Compressed sections: the one place that uses zstd. */
#ifndef MICAP_RESOURCE_FORMAT_COMPRESSION_H
#define MICAP_RESOURCE_FORMAT_COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t micap_packed_bytes_max(size_t byte_count);
/* Returns the size, or 0 when it can't. The same bytes and level give the same result. */
size_t micap_pack_bytes(const void *bytes, size_t byte_count, int level, void *out, size_t capacity);
/* True when the frame holds exactly that many bytes. */
bool micap_unpack_bytes(const void *packed, size_t packed_count, void *out, size_t byte_count);

#endif
