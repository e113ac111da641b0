/* The streams of a world around frames and phases: room for the running systems is made before a phase, what they wrote is
 * brought into order after it, and what all readers have read is dropped when the next frame begins. */
#ifndef MICAP_FLOW_MESSAGING_STREAM_FRAME_H
#define MICAP_FLOW_MESSAGING_STREAM_FRAME_H

#include "flow/messaging/stream.h"

typedef struct micap_streams {
    mica_stream *first, *last;
    uint64_t made_count;
    uint64_t frame; /* frames begun */
    bool is_in_frame;
    uint64_t systems_version; /* of the flow when readers were last compared with what systems declare */
} micap_streams;

/* Returns the streams of a world, or NULL with a report if memory is short. */
micap_streams *micap_streams_of(mica_world *world);

#endif
