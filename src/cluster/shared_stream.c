#include "cluster/shared_stream.h"

#include "base/argument.h"
#include "cluster/exchange.h"
#include "cluster/envelopes.h"
#include "mica/component.h"
#include "mica/schedule.h"
#include "mica/stream.h"

#include <stdio.h>
#include <stdlib.h>

enum { ACCESSES_MAX = 256 };

const char *micap_shared_streams_copy(mica_cluster *cluster, const mica_cluster_def *def)
{
    for (uint32_t i = 0; i < def->stream_count; ++i) {
        bool is_known = false;
        for (uint32_t k = 0; k < i; ++k)
            is_known |= def->streams[k] == def->streams[i];
        if (!def->streams[i] || is_known || micap_codec_message_problem(mica_stream_component(def->streams[i])))
            return "its .streams must be different streams of types without entities";
    }
    cluster->streams =
        micap_allocate(&cluster->memory, def->stream_count * sizeof *cluster->streams, MICAP_ARRAY_ALIGNMENT);
    if (!cluster->streams)
        return "out of memory";
    cluster->stream_count = def->stream_count;
    if (def->stream_count)
        memcpy(cluster->streams, def->streams, def->stream_count * sizeof *cluster->streams);
    return NULL;
}

void micap_shared_streams_free(mica_cluster *cluster)
{
    MICAP_RELEASE_ARRAY(&cluster->memory, cluster->streams, cluster->stream_count);
    if (cluster->gather_ends)
        MICAP_RELEASE_ARRAY(&cluster->memory, cluster->gather_ends, 2 * cluster->transport.rank_count);
    micap_envelopes_free(cluster, &cluster->pushed);
}

static uint32_t number_of(const mica_cluster *cluster, const mica_stream *stream)
{
    uint32_t number = 0;
    while (number < cluster->stream_count && cluster->streams[number] != stream)
        ++number;
    return number;
}

/* What a system writes to the stream of its rank, other ranks would not see. */
static void check_system(mica_cluster *cluster, mica_system system)
{
    mica_system_access accesses[ACCESSES_MAX];
    uint32_t count = mica_system_get_accesses(cluster->world, system, accesses, ACCESSES_MAX);
    for (uint32_t i = 0; i < count && i < ACCESSES_MAX; ++i)
        if (accesses[i].stream && accesses[i].write && number_of(cluster, accesses[i].stream) < cluster->stream_count) {
            char text[300];
            snprintf(text, sizeof text,
                     "the system %.100s writes a stream of .streams itself: mica_cluster_push writes it on all ranks",
                     mica_system_name(cluster->world, system));
            micap_cluster_fail(cluster, MICA_ERROR_REFUSED, text);
        }
}

void micap_shared_streams_check(mica_cluster *cluster)
{
    mica_system system = {0};
    while (cluster->stream_count && (system = mica_system_next(cluster->world, system)).id)
        check_system(cluster, system);
}

bool mica_cluster_push(mica_cluster *cluster, mica_entity from, const mica_stream *stream, mica_value message)
{
    if (MICAP_MISSING(NULL, cluster) || MICAP_MISSING(cluster->world, stream) ||
        MICAP_MISSING(cluster->world, message.data))
        return false;
    uint32_t number = number_of(cluster, stream);
    if (MICAP_INVALID(cluster->world, number == cluster->stream_count, stream, "must be in .streams") ||
        MICAP_INVALID(cluster->world, message.component != mica_stream_component(stream), message.component,
                      "must be the type of the stream") ||
        MICAP_INVALID(cluster->world, !micap_envelopes_fits(&message), message.size_bytes,
                      "must be the size of the type"))
        return false;
    uint64_t sender = micap_envelopes_sender(cluster, from, __func__);
    return sender &&
           micap_envelopes_post(cluster, &cluster->pushed, (micap_envelope){.from = sender, .kind = number}, message);
}

static void put_envelopes(mica_cluster *cluster, micap_bytes *bytes)
{
    if (!cluster->pushed.count)
        return;
    micap_exchange_put_header(cluster, bytes);
    for (uint32_t i = 0; i < cluster->pushed.count; ++i) {
        const micap_envelope *envelope = &cluster->pushed.envelopes[i];
        micap_bytes_put_number(bytes, envelope->kind);
        micap_bytes_put64(bytes, envelope->from);
        micap_bytes_put_number(bytes, envelope->system);
        micap_bytes_put(bytes, cluster->pushed.bytes.data + envelope->offset, envelope->byte_count);
    }
    micap_exchange_put_end(bytes);
}

/* Reads a message; its value stays where it is. NULL, or what is wrong. */
static const char *take_envelope(mica_cluster *cluster, micap_reader *reader, micap_sorted_envelope *out)
{
    uint64_t kind = micap_reader_take_number(reader);
    out->envelope = (micap_envelope){.from = micap_reader_take64(reader)};
    out->envelope.system = (uint32_t)micap_reader_take_up_to(reader, UINT32_MAX);
    if (reader->failed || kind >= cluster->stream_count)
        return "a message is of a stream that this rank does not know";
    out->envelope.kind = (uint32_t)kind;
    out->bytes = reader->at;
    const mica_type *type = mica_component_type(mica_stream_component(cluster->streams[kind]));
    if (!micap_codec_take_value(&cluster->codec, reader, type, NULL))
        return "a message of a stream is invalid";
    out->envelope.byte_count = (uint32_t)(reader->at - out->bytes);
    return NULL;
}

const char *micap_shared_streams_verify(mica_cluster *cluster, const char *bytes, size_t byte_count)
{
    micap_reader reader;
    const char *problem = micap_exchange_open(cluster, bytes, byte_count, &reader);
    for (micap_sorted_envelope envelope; !problem && micap_reader_left(&reader);)
        problem = take_envelope(cluster, &reader, &envelope);
    return problem;
}

/* What all ranks pushed. The order of ranks is not used: all messages of a writer are from one rank, in their order. */
typedef struct gathered {
    micap_bytes bytes;
    uint32_t *ends; /* by rank */
    micap_sorted_envelope *messages;
    uint32_t count, capacity;
} gathered;

static void list_messages(mica_cluster *cluster, gathered *all)
{
    uint32_t begin = 0;
    for (uint32_t rank = 0; rank < cluster->transport.rank_count && cluster->result == MICA_OK; ++rank) {
        const char *bytes = all->bytes.data + begin;
        uint32_t byte_count = all->ends[rank] - begin;
        begin = all->ends[rank];
        const char *problem = byte_count ? micap_shared_streams_verify(cluster, bytes, byte_count) : NULL;
        if (problem) {
            char text[200];
            snprintf(text, sizeof text, "what rank %u pushed to streams is invalid: %s", rank, problem);
            micap_cluster_fail(cluster, MICA_ERROR_DATA, text);
        }
        micap_reader reader;
        if (problem || !byte_count || micap_exchange_open(cluster, bytes, byte_count, &reader))
            continue;
        while (micap_reader_left(&reader)) {
            if (!MICAP_RESERVE(&cluster->memory, all->messages, &all->capacity, (uint64_t)all->count + 1)) {
                micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for streams");
                return;
            }
            take_envelope(cluster, &reader, &all->messages[all->count]);
            all->messages[all->count].envelope.order = all->count;
            ++all->count;
        }
    }
}

static int compare_messages(const void *a, const void *b)
{
    const micap_envelope *x = &((const micap_sorted_envelope *)a)->envelope,
                         *y = &((const micap_sorted_envelope *)b)->envelope;
    int order = micap_compare_words(x->from, y->from);
    order = order ? order : micap_compare_words(x->system, y->system);
    return order ? order : micap_compare_words(x->order, y->order);
}

static void add_message(mica_cluster *cluster, const micap_sorted_envelope *message)
{
    mica_stream *stream = cluster->streams[message->envelope.kind];
    const mica_type *type = mica_component_type(mica_stream_component(stream));
    char *value = micap_envelopes_value(cluster, type);
    if (!value)
        return;
    if (!micap_envelopes_read(cluster, message, type, value) ||
        !mica_stream_push_id(stream, value, type->size_bytes, cluster->location))
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for a stream");
    micap_codec_clear_value(type, value);
    micap_envelopes_free_value(cluster, type, value);
}

void micap_shared_streams_exchange(mica_cluster *cluster)
{
    if (!cluster->stream_count)
        return;
    gathered all = {.bytes = {.memory = &cluster->memory}};
    micap_bytes own = {.memory = &cluster->memory};
    put_envelopes(cluster, &own);
    micap_envelopes_empty(&cluster->pushed);
    if (!micap_transport_gather_all(&cluster->transport, &own, &all.bytes, cluster->gather_ends))
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for streams, or more than 2 GiB in one step");
    all.ends = cluster->gather_ends;
    if (all.bytes.count && cluster->result == MICA_OK)
        list_messages(cluster, &all);
    if (all.count)
        qsort(all.messages, all.count, sizeof *all.messages, compare_messages);
    for (uint32_t i = 0; i < all.count && cluster->result == MICA_OK; ++i)
        add_message(cluster, &all.messages[i]);
    MICAP_RELEASE_ARRAY(&cluster->memory, all.messages, all.capacity);
    micap_bytes_free(&all.bytes);
    micap_bytes_free(&own);
}
