/* The messages between a program and an inspector: docs/inspect_protocol.md. From the program they are binary: a letter, then what
 * base/byte_stream.h writes. To the program they are text: a number, a verb and its arguments; after a line break, a body. */
#ifndef MICAP_INSPECT_PROTOCOL_H
#define MICAP_INSPECT_PROTOCOL_H

enum {
    MICAP_PROTOCOL_VERSION = 2,
    MICAP_DELTAS_IN_FLIGHT = 8,   /* that a program sends without an acknowledgement */
    MICAP_MESSAGE_HELLO = 'H',    /* version, read only, name */
    MICAP_MESSAGE_TYPES = 'T',    /* all components: type_codec.h */
    MICAP_MESSAGE_DELTA = 'D',    /* frame, seconds, paused, then the bytes of a delta */
    MICAP_MESSAGE_STATS = 'S',    /* stats_text.h */
    MICAP_MESSAGE_EVENTS = 'E',   /* frame, left out, then what micap_traffic_log_add writes */
    MICAP_MESSAGE_TIMELINE = 'L', /* a frame as a trace (mica/stats.h) */
    MICAP_MESSAGE_REPLY = 'R',    /* number of the request, result, text */
};

#define MICAP_INSPECT_SOCKET "/inspect"

#endif
