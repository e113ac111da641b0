/* The bytes of a recording: docs/format.md. Unlike a resource it has no table of sections, whose sizes are known only at the end: a
 * recording must be readable up to the frame in which the program crashed. */
#ifndef MICAP_RECORDING_RECORDING_FORMAT_H
#define MICAP_RECORDING_RECORDING_FORMAT_H

#define MICAP_RECORD_MAGIC "MREC\r\n\x1a\n"

enum {
    MICAP_RECORD_VERSION_MAJOR = 1,
    MICAP_RECORD_VERSION_MINOR = 1,
    MICAP_RECORD_HEADER_BYTES = 48,
    MICAP_RECORD_HEAD_BYTES = 16, /* of each record: kind, size, checksum */
    MICAP_RECORD_LEAF_BYTES = 40,
    MICAP_RECORD_TICK_BYTES = 24,
    MICAP_RECORD_SYSTEM_BYTES = 16,
    MICAP_RECORD_SNAPSHOT_BYTES = 4,
    MICAP_RECORD_SYSTEMS = 1, /* flag: systems are hashed */
};

typedef enum micap_record_kind {
    MICAP_RECORD_NAME = 1, /* hash, text without an end */
    MICAP_RECORD_INPUT,    /* bytes, for the tick that follows */
    MICAP_RECORD_SYSTEM,   /* hash of its name, hash of the world after it */
    MICAP_RECORD_LEAVES,   /* those of the hash tree that changed; no rows: gone */
    MICAP_RECORD_TICK,     /* number, hash of the world, dt, 0: ends a frame */
    MICAP_RECORD_SNAPSHOT, /* was taken; its number, from 1 on. This and the next two since version 1.1 */
    MICAP_RECORD_RESTORE,  /* of the snapshot with this number */
    MICAP_RECORD_DROP,     /* the same */
    MICAP_RECORD_KINDS,
} micap_record_kind;

#endif
