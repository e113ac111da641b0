/* One connected inspector: what it asked for, and what waits to be sent to it. The thread of mica_step and the threads of the connection
 * share it; a mutex protects the queues. */
#ifndef MICAP_INSPECT_SESSION_H
#define MICAP_INSPECT_SESSION_H

#include "base/byte_stream.h"
#include "inspect/web.h"

#include <pthread.h>

enum {
    MICAP_SESSION_REQUESTS_MAX = 256,  /* that wait for the next frame */
    MICAP_SESSION_BYTES_MAX = 4 << 20, /* of these */
    MICAP_SESSION_PACKETS_SLOW = 64,   /* with so many, it gets no events */
    MICAP_SESSION_PACKETS_MAX = 2048,  /* that wait to be sent: a client that does not read is disconnected */
};

/* A message in a queue. */
typedef struct micap_packet {
    struct micap_packet *next;
    const void *lent; /* bytes that follow, which the thread that sends copies; or NULL */
    size_t lent_count;
    size_t count;
    char bytes[]; /* and a zero byte */
} micap_packet;

typedef struct micap_session {
    struct micap_session *next;
    micap_socket *socket;
    pthread_t writer;
    pthread_mutex_t lock;
    pthread_cond_t wakes; /* the writer */
    micap_packet *requests, **requests_end;
    uint32_t request_count;
    size_t request_bytes;
    micap_packet *outgoing, **outgoing_end;
    uint32_t outgoing_count;
    bool is_sending;   /* a packet that is no longer in the queue */
    bool is_borrowing; /* a packet has lent bytes, which must stay */
    bool is_ending;
    /* The peer takes nothing: the session is over. The thread that reads from the socket ends it, with the next message, the end of the connection or
     * the timeout: civetweb closes the socket at once when another thread asks for it, while it is still used. */
    bool has_failed;
    /* Used by the thread of mica_step alone. */
    bool has_hello;
    uint32_t in_flight; /* deltas that are not acknowledged */
    uint64_t acknowledged;
    uint64_t sent;       /* version of the last delta: the base of the next one, since a connection loses nothing */
    uint32_t type_count; /* components it knows */
    bool wants_events;   /* what passes through the world, as a list */
    uint64_t stats_ns;   /* when statistics were sent */
    uint64_t delta_ns;   /* when the next delta may be sent; 0: at once */
} micap_session;

/* Returns NULL if memory or threads are short. */
micap_session *micap_session_create(micap_socket *socket);
/* Ends the writer and frees everything. */
void micap_session_destroy(micap_session *session);

/* Stores a request. False if there are too many. */
bool micap_session_receive(micap_session *session, const char *bytes, size_t count);
/* Takes all requests; free each. */
micap_packet *micap_session_take(micap_session *session);
/* Queues a message that begins with `head`. If memory is short, or too many messages wait, the session fails. */
void micap_session_send(micap_session *session, const micap_bytes *head, const void *bytes, size_t count);
/* The same, and the bytes are not copied yet: they must stay until micap_session_is_borrowing is false. There is one such message at a time. */
void micap_session_lend(micap_session *session, const micap_bytes *head, const void *bytes, size_t count);
bool micap_session_is_borrowing(micap_session *session);
/* Whether it is slower than the program. */
bool micap_session_is_slow(micap_session *session);
/* Whether everything was sent. */
bool micap_session_is_idle(micap_session *session);

#endif
