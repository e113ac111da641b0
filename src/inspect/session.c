#include "inspect/session.h"

#include <stdlib.h>

static void free_packets(micap_packet *packet)
{
    while (packet) {
        micap_packet *next = packet->next;
        free(packet);
        packet = next;
    }
}

/* Takes what was lent into a message of its own, which replaces the packet. NULL if memory is short. */
static micap_packet *join(micap_packet *packet)
{
    micap_packet *whole = malloc(sizeof *whole + packet->count + packet->lent_count + 1);
    if (!whole)
        return NULL;
    *whole = (micap_packet){.count = packet->count + packet->lent_count};
    memcpy(whole->bytes, packet->bytes, packet->count);
    memcpy(whole->bytes + packet->count, packet->lent, packet->lent_count);
    return whole;
}

/* Sends a packet and frees it. What was lent is copied here, so that the frame of the program does not wait for it. */
static bool send_packet(micap_session *session, micap_packet *packet)
{
    micap_packet *whole = packet->lent ? join(packet) : packet;
    if (packet->lent) {
        free(packet);
        pthread_mutex_lock(&session->lock);
        session->is_borrowing = false;
        pthread_mutex_unlock(&session->lock);
    }
    bool sent = whole && micap_socket_send(session->socket, false, whole->bytes, whole->count);
    free(whole);
    return sent;
}

/* Sends what is in the queue. Only this thread blocks while a peer is slow. */
static void *write_all(void *context)
{
    micap_session *session = context;
    pthread_mutex_lock(&session->lock);
    for (;;) {
        while (!session->outgoing && !session->is_ending)
            pthread_cond_wait(&session->wakes, &session->lock);
        if (session->is_ending || session->has_failed)
            break;
        micap_packet *packet = session->outgoing;
        session->outgoing = packet->next;
        if (!session->outgoing)
            session->outgoing_end = &session->outgoing;
        session->is_sending = true;
        pthread_mutex_unlock(&session->lock);
        bool sent = send_packet(session, packet);
        pthread_mutex_lock(&session->lock);
        session->is_sending = false;
        --session->outgoing_count;
        session->has_failed |= !sent;
    }
    session->is_borrowing = false; /* what waits is not sent any more */
    pthread_mutex_unlock(&session->lock);
    return NULL;
}

micap_session *micap_session_create(micap_socket *socket)
{
    micap_session *session = calloc(1, sizeof *session);
    if (!session)
        return NULL;
    session->socket = socket;
    session->requests_end = &session->requests;
    session->outgoing_end = &session->outgoing;
    pthread_mutex_init(&session->lock, NULL);
    pthread_cond_init(&session->wakes, NULL);
    if (pthread_create(&session->writer, NULL, write_all, session) == 0)
        return session;
    pthread_cond_destroy(&session->wakes);
    pthread_mutex_destroy(&session->lock);
    free(session);
    return NULL;
}

void micap_session_destroy(micap_session *session)
{
    pthread_mutex_lock(&session->lock);
    session->is_ending = true;
    pthread_cond_signal(&session->wakes);
    pthread_mutex_unlock(&session->lock);
    pthread_join(session->writer, NULL);
    pthread_cond_destroy(&session->wakes);
    pthread_mutex_destroy(&session->lock);
    free_packets(session->requests);
    free_packets(session->outgoing);
    free(session);
}

bool micap_session_receive(micap_session *session, const char *bytes, size_t count)
{
    micap_packet *packet = malloc(sizeof *packet + count + 1);
    if (!packet)
        return false;
    *packet = (micap_packet){.count = count};
    memcpy(packet->bytes, bytes, count);
    packet->bytes[count] = 0;
    pthread_mutex_lock(&session->lock);
    bool fits = session->request_count < MICAP_SESSION_REQUESTS_MAX &&
                session->request_bytes + count <= MICAP_SESSION_BYTES_MAX && !session->has_failed;
    if (fits) {
        *session->requests_end = packet;
        session->requests_end = &packet->next;
        ++session->request_count;
        session->request_bytes += count;
    }
    pthread_mutex_unlock(&session->lock);
    if (!fits)
        free(packet);
    return fits;
}

micap_packet *micap_session_take(micap_session *session)
{
    pthread_mutex_lock(&session->lock);
    micap_packet *requests = session->requests;
    session->requests = NULL;
    session->requests_end = &session->requests;
    session->request_count = 0;
    session->request_bytes = 0;
    pthread_mutex_unlock(&session->lock);
    return requests;
}

/* A packet that begins with `head`, and room for more. NULL if memory is short. */
static micap_packet *begin_packet(const micap_bytes *head, size_t more)
{
    micap_packet *packet = head->failed ? NULL : malloc(sizeof *packet + head->count + more + 1);
    if (packet) {
        *packet = (micap_packet){.count = head->count};
        memcpy(packet->bytes, head->data, head->count);
    }
    return packet;
}

/* Takes the packet; NULL fails the session. */
static void add_packet(micap_session *session, micap_packet *packet)
{
    pthread_mutex_lock(&session->lock);
    if (packet && session->outgoing_count < MICAP_SESSION_PACKETS_MAX) {
        *session->outgoing_end = packet;
        session->outgoing_end = &packet->next;
        ++session->outgoing_count;
        session->is_borrowing |= packet->lent != NULL;
        pthread_cond_signal(&session->wakes);
    } else {
        free(packet);
        session->has_failed = true;
    }
    pthread_mutex_unlock(&session->lock);
}

void micap_session_send(micap_session *session, const micap_bytes *head, const void *bytes, size_t count)
{
    micap_packet *packet = begin_packet(head, count);
    if (packet && count)
        memcpy(packet->bytes + packet->count, bytes, count);
    if (packet)
        packet->count += count;
    add_packet(session, packet);
}

void micap_session_lend(micap_session *session, const micap_bytes *head, const void *bytes, size_t count)
{
    micap_packet *packet = begin_packet(head, 0);
    if (packet) {
        packet->lent = bytes;
        packet->lent_count = count;
    }
    add_packet(session, packet);
}

bool micap_session_is_borrowing(micap_session *session)
{
    pthread_mutex_lock(&session->lock);
    bool is_borrowing = session->is_borrowing;
    pthread_mutex_unlock(&session->lock);
    return is_borrowing;
}

bool micap_session_is_slow(micap_session *session)
{
    pthread_mutex_lock(&session->lock);
    bool is_slow = session->outgoing_count >= MICAP_SESSION_PACKETS_SLOW;
    pthread_mutex_unlock(&session->lock);
    return is_slow;
}

bool micap_session_is_idle(micap_session *session)
{
    pthread_mutex_lock(&session->lock);
    bool is_idle = !session->outgoing && !session->is_sending && !session->has_failed;
    pthread_mutex_unlock(&session->lock);
    return is_idle;
}
