#include "cluster/mail.h"

#include "base/argument.h"
#include "cluster/exchange.h"
#include "cluster/envelopes.h"
#include "cluster/reference.h"
#include "mica/component.h"
#include "mica/message.h"

#include <stdlib.h>
#include <string.h>

bool mica_cluster_send(mica_cluster *cluster, mica_entity from, uint64_t to, mica_value message)
{
    if (MICAP_MISSING(NULL, cluster) || MICAP_MISSING(cluster->world, message.data))
        return false;
    uint64_t sender = micap_envelopes_sender(cluster, from, __func__);
    if (!sender || MICAP_INVALID(cluster->world, !to, to, "must be an identity, not 0"))
        return false;
    uint32_t kind = 0;
    while (kind < cluster->message_count && cluster->messages[kind] != message.component)
        ++kind;
    if (MICAP_INVALID(cluster->world, kind == cluster->message_count, message.component, "must be in .messages") ||
        MICAP_INVALID(cluster->world, !micap_envelopes_fits(&message), message.size_bytes,
                      "must be the size of the type"))
        return false;
    return micap_envelopes_post(cluster, &cluster->sent, (micap_envelope){.to = to, .from = sender, .kind = kind},
                                message);
}

static void put_envelope(mica_cluster *cluster, uint32_t rank, const micap_envelopes *envelopes,
                         const micap_envelope *envelope)
{
    micap_bytes *bytes = micap_exchange_parcel(cluster, rank);
    if (!bytes)
        return;
    micap_bytes_put(bytes, &(uint8_t){MICAP_RECORD_ENVELOPE}, 1);
    micap_bytes_put64(bytes, envelope->to);
    micap_bytes_put64(bytes, envelope->from);
    micap_bytes_put_number(bytes, envelope->kind);
    micap_bytes_put(bytes, envelopes->bytes.data + envelope->offset, envelope->byte_count);
}

/* Whether a cell is within reach of another on each axis. Depends on cells only, which are the same for any number of ranks. */
static bool is_within_reach(const mica_cluster *cluster, const micap_row_origin *from, const micap_row_origin *to)
{
    const micap_cell *a = &cluster->cells.cells[from->cell].cell, *b = &cluster->cells.cells[to->cell].cell;
    for (uint32_t axis = 0; axis < cluster->space.axis_count; ++axis) {
        micap_cell_span span = micap_cell_span_around(&cluster->space, axis, a->at[axis], cluster->reach);
        int32_t distance = b->at[axis] - span.first;
        if (distance < 0 && cluster->space.is_torus)
            distance += cluster->space.axes[axis].count;
        if (distance < 0 || distance >= span.count)
            return false;
    }
    return true;
}

void micap_mail_send(mica_cluster *cluster)
{
    const micap_row_origin *rows = cluster->table.origins;
    for (uint32_t i = 0; i < cluster->sent.count; ++i) {
        const micap_envelope *envelope = &cluster->sent.envelopes[i];
        uint32_t from, to;
        if (!micap_neighbour_table_find(&cluster->table, envelope->from, &from) ||
            !micap_neighbour_table_find(&cluster->table, envelope->to, &to)) {
            micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for messages");
            break;
        }
        bool is_near = from != MICAP_NO_ROW && to != MICAP_NO_ROW &&
                       (from == to || (!cluster->key && is_within_reach(cluster, &rows[from], &rows[to])));
        uint32_t rank = is_near ? rows[to].rank : micap_references_home(cluster, envelope->to);
        if (!is_near && !cluster->references) {
            mica_world_report(cluster->world, MICA_ERROR_INVALID,
                              "mica_cluster_send: the target was not within .reach of the sender at the end of the "
                              "last step; the message is dropped");
            ++cluster->stats.dropped_count;
        } else if (rank != cluster->transport.rank) {
            put_envelope(cluster, rank, &cluster->sent, envelope);
        } else if (!micap_envelopes_keep_copy(cluster, &cluster->arrived, *envelope,
                                              cluster->sent.bytes.data + envelope->offset)) {
            micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for messages");
        }
    }
    micap_envelopes_empty(&cluster->sent);
}

const char *micap_mail_check(mica_cluster *cluster, micap_reader *reader)
{
    micap_reader_take(reader, 16);
    uint64_t kind = micap_reader_take_number(reader);
    if (reader->failed || kind >= cluster->message_count)
        return "a message is of a type that this rank does not know";
    bool is_valid = micap_codec_take_value(&cluster->codec, reader, mica_component_type(cluster->messages[kind]), NULL);
    return is_valid ? NULL : "a message is invalid";
}

void micap_mail_receive(mica_cluster *cluster, micap_reader *reader)
{
    micap_envelope envelope = {.to = micap_reader_take64(reader), .from = micap_reader_take64(reader)};
    envelope.kind = (uint32_t)micap_reader_take_number(reader);
    const char *bytes = reader->at;
    micap_codec_take_value(&cluster->codec, reader, mica_component_type(cluster->messages[envelope.kind]), NULL);
    envelope.byte_count = (uint32_t)(reader->at - bytes);
    if (!micap_envelopes_keep_copy(cluster, &cluster->arrived, envelope, bytes))
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for messages");
}

static int compare_leavers(const void *a, const void *b)
{
    return micap_compare_words(((const micap_leaver *)a)->identity, ((const micap_leaver *)b)->identity);
}

void micap_mail_sort_leavers(mica_cluster *cluster)
{
    if (cluster->leaver_count)
        qsort(cluster->leavers, cluster->leaver_count, sizeof *cluster->leavers, compare_leavers);
}

uint32_t micap_mail_next_rank(const mica_cluster *cluster, uint64_t identity)
{
    const micap_leaver *left = cluster->leaver_count
                                   ? bsearch(&(micap_leaver){.identity = identity}, cluster->leavers,
                                             cluster->leaver_count, sizeof *cluster->leavers, compare_leavers)
                                   : NULL;
    return left ? left->rank : cluster->transport.rank;
}

/* The rank to which a message goes next: that to which the target has moved, or that which owns it, if this rank is the home. */
static uint32_t next_rank(const mica_cluster *cluster, const micap_envelope *envelope)
{
    uint32_t next = micap_mail_next_rank(cluster, envelope->to);
    uint32_t owner = micap_references_owner(cluster, envelope->to);
    return next == cluster->transport.rank && owner != MICAP_NO_RANK ? owner : next;
}

void micap_mail_forward(mica_cluster *cluster)
{
    if (!cluster->arrived.count || cluster->transport.rank_count == 1)
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < cluster->arrived.count; ++i) {
        const micap_envelope *envelope = &cluster->arrived.envelopes[i];
        uint32_t rank = next_rank(cluster, envelope);
        if (rank != cluster->transport.rank)
            put_envelope(cluster, rank, &cluster->arrived, envelope);
        else
            cluster->arrived.envelopes[kept++] = *envelope;
    }
    cluster->arrived.count = kept;
}

static int compare_deliveries(const void *a, const void *b)
{
    const micap_sorted_envelope *x = a, *y = b;
    int order = micap_compare_words(x->envelope.to, y->envelope.to);
    order = order ? order : micap_compare_words(x->envelope.from, y->envelope.from);
    order = order ? order : micap_compare_words(x->envelope.kind, y->envelope.kind);
    order = order ? order : micap_compare_words(x->envelope.byte_count, y->envelope.byte_count);
    return order ? order : memcmp(x->bytes, y->bytes, x->envelope.byte_count);
}

static void deliver(mica_cluster *cluster, const micap_sorted_envelope *delivery)
{
    mica_component kind = cluster->messages[delivery->envelope.kind];
    const mica_type *type = mica_component_type(kind);
    mica_entity target = mica_cluster_find(cluster, delivery->envelope.to);
    if (mica_is_nil(target)) {
        ++cluster->stats.dropped_count;
        return;
    }
    char *value = micap_envelopes_value(cluster, type);
    if (!value)
        return;
    if (!micap_envelopes_read(cluster, delivery, type, value) ||
        !mica_send_id(cluster->world, target, (mica_value){kind, type->size_bytes, value}, cluster->location))
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "a message can't be delivered");
    micap_codec_clear_value(type, value);
    micap_envelopes_free_value(cluster, type, value);
}

void micap_mail_deliver(mica_cluster *cluster)
{
    uint32_t count = cluster->arrived.count;
    micap_sorted_envelope *deliveries = micap_envelopes_sort(cluster, &cluster->arrived, compare_deliveries);
    for (uint32_t i = 0; deliveries && i < count; ++i)
        deliver(cluster, &deliveries[i]);
    micap_envelopes_free_sorted(cluster, deliveries, count);
    micap_envelopes_empty(&cluster->arrived);
}

void micap_mail_free(mica_cluster *cluster)
{
    micap_envelopes_free(cluster, &cluster->sent);
    micap_envelopes_free(cluster, &cluster->arrived);
}
