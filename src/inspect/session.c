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
        pthread_mutex_unlock(&session->lock);
        bool sent = micap_socket_send(session->socket, false, packet->bytes, packet->count);
        pthread_mutex_lock(&session->lock);
        session->outgoing = packet->next;
        if (!session->outgoing)
            session->outgoing_end = &session->outgoing;
        --session->outgoing_count;
        free(packet);
        session->has_failed |= !sent;
    }
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
    packet->next = NULL;
    packet->count = count;
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

void micap_session_send(micap_session *session, const micap_bytes *head, const void *bytes, size_t count)
{
    micap_packet *packet = head->failed ? NULL : malloc(sizeof *packet + head->count + count + 1);
    if (packet) {
        packet->next = NULL;
        packet->count = head->count + count;
        memcpy(packet->bytes, head->data, head->count);
        if (count)
            memcpy(packet->bytes + head->count, bytes, count);
    }
    pthread_mutex_lock(&session->lock);
    if (packet && session->outgoing_count < MICAP_SESSION_PACKETS_MAX) {
        *session->outgoing_end = packet;
        session->outgoing_end = &packet->next;
        ++session->outgoing_count;
        pthread_cond_signal(&session->wakes);
    } else {
        free(packet);
        session->has_failed = true;
    }
    pthread_mutex_unlock(&session->lock);
}

bool micap_session_is_idle(micap_session *session)
{
    pthread_mutex_lock(&session->lock);
    bool is_idle = !session->outgoing && !session->has_failed;
    pthread_mutex_unlock(&session->lock);
    return is_idle;
}
