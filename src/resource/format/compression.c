#include "resource/format/compression.h"

#include <zstd.h>

size_t micap_packed_bytes_max(size_t byte_count)
{
    return ZSTD_compressBound(byte_count);
}

size_t micap_pack_bytes(const void *bytes, size_t byte_count, int level, void *out, size_t capacity)
{
    size_t packed = ZSTD_compress(out, capacity, bytes, byte_count, level);
    return ZSTD_isError(packed) ? 0 : packed;
}

bool micap_unpack_bytes(const void *packed, size_t packed_count, void *out, size_t byte_count)
{
    /* Asking first costs nothing and spares a hostile frame its work. */
    if (ZSTD_getFrameContentSize(packed, packed_count) != byte_count)
        return false;
    return ZSTD_decompress(out, byte_count, packed, packed_count) == byte_count; /* no error is: they are huge */
}
