/* The checksum of a delta, against accidents. */
#ifndef MICAP_REPLICATION_DELTA_CHECKSUM_H
#define MICAP_REPLICATION_DELTA_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Of all bytes of a delta except the checksum itself. */
uint64_t micap_delta_checksum(const char *bytes, size_t byte_count);

#endif
