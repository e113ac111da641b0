/* What passed through a world in a frame (mica/traffic.h), as a message for inspectors. */
#ifndef MICAP_INSPECT_TRAFFIC_LOG_H
#define MICAP_INSPECT_TRAFFIC_LOG_H

#include "base/byte_stream.h"
#include "mica/traffic.h"

enum {
    MICAP_TRAFFIC_KINDS_MAX = 64, /* streams, types of messages and so on, of which each has a limit per frame */
    MICAP_TRAFFIC_SAME_MAX = 16,  /* of one of these */
    MICAP_TRAFFIC_FRAME_MAX = 256,
    MICAP_TRAFFIC_VALUE_MAX = 400, /* bytes of the text of a value */
};

/* How often something was listed in this frame. */
typedef struct micap_traffic_source {
    mica_traffic_kind kind;
    uint64_t name_hash;
    uint32_t count;
} micap_traffic_source;

typedef struct micap_traffic_log {
    micap_bytes bytes;
    uint32_t count;    /* listed */
    uint64_t left_out; /* not listed */
    bool is_ignoring;  /* a past frame runs again */
    micap_traffic_source sources[MICAP_TRAFFIC_KINDS_MAX];
    uint32_t source_count;
} micap_traffic_log;

/* For mica_traffic_watch: the context is a log. */
void micap_traffic_log_add(const mica_traffic *traffic, void *context);
/* Begins the next frame. */
void micap_traffic_log_clear(micap_traffic_log *log);

#endif
