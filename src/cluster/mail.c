#include "cluster/mail.h"

#include "base/argument.h"
#include "cluster/exchange.h"
#include "cluster/reference.h"
#include "mica/component.h"
#include "mica/message.h"

#include <stdlib.h>

/* Adds a message whose bytes were appended from its offset on. */
static bool keep(mica_cluster *cluster, micap_letters *letters, micap_letter letter)
{
    if (letters->bytes.failed ||
        !MICAP_RESERVE(&cluster->memory, letters->letters, &letters->capacity, (uint64_t)letters->count + 1)) {
        letters->bytes.failed = false;
        letters->bytes.count = letter.offset;
        return false;
    }
    letter.byte_count = letters->bytes.count - letter.offset;
    letters->letters[letters->count++] = letter;
    return true;
}

static bool keep_copy(mica_cluster *cluster, micap_letters *letters, micap_letter letter, const char *bytes)
{
    letter.offset = letters->bytes.count;
    micap_bytes_put(&letters->bytes, bytes, letter.byte_count);
    return keep(cluster, letters, letter);
}

static void empty(micap_letters *letters)
{
    letters->count = letters->bytes.count = 0;
}

bool mica_cluster_send(mica_cluster *cluster, mica_entity from, uint64_t to, mica_value message)
{
    if (MICAP_MISSING(NULL, cluster) || MICAP_MISSING(cluster->world, message.data))
        return false;
    uint64_t sender = micap_neighbour_table_identity(&cluster->table, from);
    if (MICAP_INVALID(cluster->world, !sender, from, "must be an entity with an identity") ||
        MICAP_INVALID(cluster->world, !to, to, "must be an identity, not 0"))
        return false;
    uint32_t kind = 0;
    while (kind < cluster->message_count && cluster->messages[kind] != message.component)
        ++kind;
    if (MICAP_INVALID(cluster->world, kind == cluster->message_count, message.component, "must be in .messages") ||
        MICAP_INVALID(cluster->world,
                      message.size_bytes && message.size_bytes != mica_component_type(message.component)->size_bytes,
                      message.size_bytes, "must be the size of the type"))
        return false;
    pthread_mutex_lock(&cluster->mail_lock);
    micap_letter letter = {.to = to, .from = sender, .kind = kind, .offset = cluster->sent.bytes.count};
    micap_codec_put_value(&cluster->codec, &cluster->sent.bytes, mica_component_type(message.component), message.data);
    bool done = keep(cluster, &cluster->sent, letter);
    pthread_mutex_unlock(&cluster->mail_lock);
    return done;
}

static void put_letter(mica_cluster *cluster, uint32_t rank, const micap_letters *letters, const micap_letter *letter)
{
    micap_bytes *bytes = micap_exchange_parcel(cluster, rank);
    if (!bytes)
        return;
    micap_bytes_put(bytes, &(uint8_t){MICAP_RECORD_LETTER}, 1);
    micap_bytes_put64(bytes, letter->to);
    micap_bytes_put64(bytes, letter->from);
    micap_bytes_put_number(bytes, letter->kind);
    micap_bytes_put(bytes, letters->bytes.data + letter->offset, letter->byte_count);
}

/* Whether a cell is within reach of another on each axis. Depends on cells only, which are the same for any number of ranks. */
static bool is_within_reach(const mica_cluster *cluster, const micap_neighbour_row *from, const micap_neighbour_row *to)
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
    const micap_neighbour_row *rows = cluster->table.sorted.rows;
    for (uint32_t i = 0; i < cluster->sent.count; ++i) {
        const micap_letter *letter = &cluster->sent.letters[i];
        uint32_t from, to;
        if (!micap_neighbour_table_find(&cluster->table, letter->from, &from) ||
            !micap_neighbour_table_find(&cluster->table, letter->to, &to)) {
            micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for messages");
            break;
        }
        bool is_near = from != MICAP_NO_ROW && to != MICAP_NO_ROW &&
                       (from == to || (!cluster->key && is_within_reach(cluster, &rows[from], &rows[to])));
        uint32_t rank = is_near ? rows[to].rank : micap_references_home(cluster, letter->to);
        if (!is_near && !cluster->references) {
            mica_world_report(cluster->world, MICA_ERROR_INVALID,
                              "mica_cluster_send: the target was not within .reach of the sender at the end of the "
                              "last step; the message is dropped");
            ++cluster->stats.dropped_count;
        } else if (rank != cluster->transport.rank) {
            put_letter(cluster, rank, &cluster->sent, letter);
        } else if (!keep_copy(cluster, &cluster->arrived, *letter, cluster->sent.bytes.data + letter->offset)) {
            micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for messages");
        }
    }
    empty(&cluster->sent);
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
    micap_letter letter = {.to = micap_reader_take64(reader), .from = micap_reader_take64(reader)};
    letter.kind = (uint32_t)micap_reader_take_number(reader);
    const char *bytes = reader->at;
    micap_codec_take_value(&cluster->codec, reader, mica_component_type(cluster->messages[letter.kind]), NULL);
    letter.byte_count = (uint32_t)(reader->at - bytes);
    if (!keep_copy(cluster, &cluster->arrived, letter, bytes))
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for messages");
}

static int compare_leavers(const void *a, const void *b)
{
    uint64_t x = ((const micap_leaver *)a)->identity, y = ((const micap_leaver *)b)->identity;
    return (x > y) - (x < y);
}

/* The rank to which a message goes next: that to which the target has moved, or that which owns it, if this rank is the home. */
static uint32_t next_rank(mica_cluster *cluster, const micap_letter *letter)
{
    const micap_leaver *left = cluster->leaver_count
                                   ? bsearch(&(micap_leaver){.identity = letter->to}, cluster->leavers,
                                             cluster->leaver_count, sizeof *cluster->leavers, compare_leavers)
                                   : NULL;
    uint32_t owner = left ? left->rank : micap_references_owner(cluster, letter->to);
    return owner == MICAP_NO_RANK ? cluster->transport.rank : owner;
}

void micap_mail_forward(mica_cluster *cluster)
{
    if (!cluster->arrived.count || cluster->transport.rank_count == 1)
        return;
    if (cluster->leaver_count)
        qsort(cluster->leavers, cluster->leaver_count, sizeof *cluster->leavers, compare_leavers);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < cluster->arrived.count; ++i) {
        const micap_letter *letter = &cluster->arrived.letters[i];
        uint32_t rank = next_rank(cluster, letter);
        if (rank != cluster->transport.rank)
            put_letter(cluster, rank, &cluster->arrived, letter);
        else
            cluster->arrived.letters[kept++] = *letter;
    }
    cluster->arrived.count = kept;
}

/* A message with its bytes, for sorting. */
typedef struct delivery {
    micap_letter letter;
    const char *bytes;
} delivery;

static int compare_deliveries(const void *a, const void *b)
{
    const delivery *x = a, *y = b;
    if (x->letter.to != y->letter.to)
        return x->letter.to < y->letter.to ? -1 : 1;
    if (x->letter.from != y->letter.from)
        return x->letter.from < y->letter.from ? -1 : 1;
    if (x->letter.kind != y->letter.kind)
        return x->letter.kind < y->letter.kind ? -1 : 1;
    return memcmp(x->bytes, y->bytes, x->letter.byte_count);
}

static void deliver(mica_cluster *cluster, const delivery *delivery)
{
    mica_component kind = cluster->messages[delivery->letter.kind];
    const mica_type *type = mica_component_type(kind);
    mica_entity target = mica_cluster_find(cluster, delivery->letter.to);
    if (mica_is_nil(target)) {
        ++cluster->stats.dropped_count;
        return;
    }
    char *value = micap_allocate_zeroed(&cluster->memory, type->size_bytes, MICAP_ARRAY_ALIGNMENT);
    micap_reader reader = {.at = delivery->bytes, .end = delivery->bytes + delivery->letter.byte_count};
    if (!value || !micap_codec_take_value(&cluster->codec, &reader, type, value) ||
        !mica_send_id(cluster->world, target, (mica_value){kind, type->size_bytes, value}, cluster->location))
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "a message can't be delivered");
    micap_release(&cluster->memory, value, type->size_bytes, MICAP_ARRAY_ALIGNMENT);
}

void micap_mail_deliver(mica_cluster *cluster)
{
    uint32_t count = cluster->arrived.count;
    if (!count)
        return;
    size_t bytes = count * sizeof(delivery);
    delivery *deliveries = micap_allocate(&cluster->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    for (uint32_t i = 0; deliveries && i < count; ++i)
        deliveries[i] =
            (delivery){cluster->arrived.letters[i], cluster->arrived.bytes.data + cluster->arrived.letters[i].offset};
    if (deliveries)
        qsort(deliveries, count, sizeof *deliveries, compare_deliveries);
    else
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for messages");
    for (uint32_t i = 0; deliveries && i < count; ++i)
        deliver(cluster, &deliveries[i]);
    micap_release(&cluster->memory, deliveries, bytes, MICAP_ARRAY_ALIGNMENT);
    empty(&cluster->arrived);
}

void micap_mail_free(mica_cluster *cluster)
{
    MICAP_RELEASE_ARRAY(&cluster->memory, cluster->sent.letters, cluster->sent.capacity);
    MICAP_RELEASE_ARRAY(&cluster->memory, cluster->arrived.letters, cluster->arrived.capacity);
    micap_bytes_free(&cluster->sent.bytes);
    micap_bytes_free(&cluster->arrived.bytes);
}
