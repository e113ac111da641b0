#include "cluster/envelopes.h"

#include "base/argument.h"
#include "mica/component.h"
#include "mica/system.h"

#include <stdlib.h>

uint64_t micap_envelopes_sender(const mica_cluster *cluster, mica_entity from, const char *function)
{
    uint64_t identity = micap_neighbour_table_identity(&cluster->table, from);
    if (!identity)
        micap_report_argument(cluster->world, function, "from", "must be an entity with an identity");
    return identity;
}

bool micap_envelopes_fits(const mica_value *value)
{
    uint32_t bytes = value->size_bytes & ~MICA_VALUE_FOR_ALL;
    return !bytes || bytes == mica_component_type(value->component)->size_bytes;
}

bool micap_envelopes_keep(mica_cluster *cluster, micap_envelopes *envelopes, micap_envelope envelope)
{
    if (envelopes->bytes.failed ||
        !MICAP_RESERVE(&cluster->memory, envelopes->envelopes, &envelopes->capacity, (uint64_t)envelopes->count + 1)) {
        envelopes->bytes.failed = false;
        envelopes->bytes.count = envelope.offset;
        return false;
    }
    envelope.byte_count = envelopes->bytes.count - envelope.offset;
    envelopes->envelopes[envelopes->count++] = envelope;
    return true;
}

bool micap_envelopes_keep_copy(mica_cluster *cluster, micap_envelopes *envelopes, micap_envelope envelope,
                               const char *bytes)
{
    envelope.offset = envelopes->bytes.count;
    micap_bytes_put(&envelopes->bytes, bytes, envelope.byte_count);
    return micap_envelopes_keep(cluster, envelopes, envelope);
}

bool micap_envelopes_post(mica_cluster *cluster, micap_envelopes *envelopes, micap_envelope envelope, mica_value value)
{
    envelope.system = mica_system_running(cluster->world).id;
    pthread_mutex_lock(&cluster->mail_lock);
    envelope.offset = envelopes->bytes.count;
    envelope.order = envelopes->count;
    micap_codec_put_value(&cluster->codec, &envelopes->bytes, mica_component_type(value.component), value.data);
    bool done = micap_envelopes_keep(cluster, envelopes, envelope);
    pthread_mutex_unlock(&cluster->mail_lock);
    return done;
}

micap_sorted_envelope *micap_envelopes_sort(mica_cluster *cluster, const micap_envelopes *envelopes,
                                            int (*compare)(const void *a, const void *b))
{
    uint32_t count = envelopes->count;
    if (!count)
        return NULL;
    micap_sorted_envelope *sorted = micap_allocate(&cluster->memory, count * sizeof *sorted, MICAP_ARRAY_ALIGNMENT);
    if (!sorted) {
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for messages");
        return NULL;
    }
    for (uint32_t i = 0; i < count; ++i)
        sorted[i] =
            (micap_sorted_envelope){envelopes->envelopes[i], envelopes->bytes.data + envelopes->envelopes[i].offset};
    qsort(sorted, count, sizeof *sorted, compare);
    return sorted;
}

void micap_envelopes_free_sorted(mica_cluster *cluster, micap_sorted_envelope *deliveries, uint32_t count)
{
    micap_release(&cluster->memory, deliveries, count * sizeof *deliveries, MICAP_ARRAY_ALIGNMENT);
}

bool micap_envelopes_read(mica_cluster *cluster, const micap_sorted_envelope *delivery, const mica_type *type,
                          char *value)
{
    micap_reader reader = {
        .begin = delivery->bytes, .at = delivery->bytes, .end = delivery->bytes + delivery->envelope.byte_count};
    memset(value, 0, type->size_bytes);
    return micap_codec_take_value(&cluster->codec, &reader, type, value);
}

char *micap_envelopes_value(mica_cluster *cluster, const mica_type *type)
{
    char *value = micap_allocate_zeroed(&cluster->memory, type->size_bytes, MICAP_ARRAY_ALIGNMENT);
    if (!value)
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for messages");
    return value;
}

void micap_envelopes_free_value(mica_cluster *cluster, const mica_type *type, char *value)
{
    micap_release(&cluster->memory, value, type->size_bytes, MICAP_ARRAY_ALIGNMENT);
}

void micap_envelopes_empty(micap_envelopes *envelopes)
{
    envelopes->count = envelopes->bytes.count = 0;
}

void micap_envelopes_free(mica_cluster *cluster, micap_envelopes *envelopes)
{
    MICAP_RELEASE_ARRAY(&cluster->memory, envelopes->envelopes, envelopes->capacity);
    micap_bytes_free(&envelopes->bytes);
}
