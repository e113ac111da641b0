#include "cluster/exchange.h"

#include "base/hash.h"
#include "cluster/border.h"
#include "cluster/distribution.h"
#include "cluster/link_codec.h"
#include "cluster/mail.h"
#include "cluster/new_families.h"
#include "cluster/new_identities.h"
#include "cluster/question.h"
#include "cluster/reference.h"
#include "cluster/shared_stream.h"
#include "mica/bulk.h"
#include "mica/component.h"
#include "mica/hierarchy.h"

#include <stdio.h>

enum { MAGIC = 0x3143434d, HEADER_BYTES = 12, END_BYTES = 9 };

/* ---- parcels */

static void empty_parcels(mica_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->parcel_count; ++i)
        cluster->parcels[i].bytes.count = 0;
}

static void add_parcel(mica_cluster *cluster, uint32_t rank)
{
    if (!MICAP_RESERVE(&cluster->memory, cluster->parcels, &cluster->parcel_capacity,
                       (uint64_t)cluster->parcel_count + 1)) {
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for another rank");
        return;
    }
    cluster->parcel_of_rank[rank] = ++cluster->parcel_count;
    cluster->parcels[cluster->parcel_count - 1] = (micap_parcel){.rank = rank, .bytes = {.memory = &cluster->memory}};
}

void micap_exchange_put_header(const mica_cluster *cluster, micap_bytes *bytes)
{
    micap_bytes_put32(bytes, MAGIC);
    micap_bytes_put64(bytes, cluster->tick);
}

uint32_t micap_exchange_parcel_number(mica_cluster *cluster, uint32_t rank)
{
    if (!cluster->parcel_of_rank[rank])
        add_parcel(cluster, rank);
    return cluster->parcel_of_rank[rank];
}

micap_bytes *micap_exchange_parcel(mica_cluster *cluster, uint32_t rank)
{
    uint32_t number = micap_exchange_parcel_number(cluster, rank);
    micap_parcel *parcel = number ? &cluster->parcels[number - 1] : NULL;
    if (parcel && !parcel->bytes.count)
        micap_exchange_put_header(cluster, &parcel->bytes);
    return parcel ? &parcel->bytes : NULL;
}

static uint64_t checksum(const char *bytes, size_t byte_count)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_bytes(&hasher, bytes, byte_count);
    return micap_hasher_finish(&hasher);
}

void micap_exchange_put_end(micap_bytes *bytes)
{
    uint64_t sum = checksum(bytes->data, bytes->count);
    micap_bytes_put(bytes, &(uint8_t){MICAP_RECORD_END}, 1);
    micap_bytes_put64(bytes, sum);
}

static void close_parcels(mica_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->parcel_count; ++i) {
        micap_bytes *bytes = &cluster->parcels[i].bytes;
        if (!bytes->count)
            continue;
        micap_exchange_put_end(bytes);
        if (bytes->failed) {
            micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for what goes to another rank");
            bytes->failed = false;
            bytes->count = 0;
        }
    }
}

/* ---- verifying */

static float take_weight(micap_reader *reader)
{
    float weight = 0;
    const char *bytes = micap_reader_take(reader, sizeof weight);
    if (bytes)
        memcpy(&weight, bytes, sizeof weight);
    return weight;
}

static const char *check_entity(mica_cluster *cluster, micap_reader *reader)
{
    micap_reader_take64(reader);
    float weight = take_weight(reader);
    if (!(weight >= 0 && weight < 1e12f))
        return "an entity has an impossible share of the work";
    return micap_codec_check_entity(&cluster->codec, reader);
}

static const char *check_record(mica_cluster *cluster, uint32_t from, micap_reader *reader, bool *has_changes)
{
    const char *kind = micap_reader_take(reader, 1);
    if (kind && *kind == MICAP_RECORD_CHANGES && *has_changes)
        return "it changes neighbours twice";
    switch (kind ? *kind : 0) {
    case MICAP_RECORD_ENTITY: return check_entity(cluster, reader);
    case MICAP_RECORD_ENVELOPE: return micap_mail_check(cluster, reader);
    case MICAP_RECORD_GHOST: return micap_border_check_new(cluster, reader);
    case MICAP_RECORD_CHANGES: *has_changes = true; return micap_border_check_changes(cluster, from, reader);
    case MICAP_RECORD_NOTE: return micap_references_check(cluster, reader);
    case MICAP_RECORD_QUESTION: return micap_questions_check(cluster, reader);
    case MICAP_RECORD_ANSWER: return micap_questions_check_answer(cluster, reader);
    default: return "a record is of no known kind";
    }
}

const char *micap_exchange_open(const mica_cluster *cluster, const char *bytes, size_t byte_count,
                                micap_reader *out_reader)
{
    if (byte_count < HEADER_BYTES + END_BYTES)
        return "it is shorter than a parcel";
    micap_reader reader = {.begin = bytes, .at = bytes, .end = bytes + byte_count};
    if (micap_reader_take32(&reader) != MAGIC)
        return "it does not begin as a parcel does";
    if (micap_reader_take64(&reader) != cluster->tick)
        return "it is of another step";
    reader.end -= END_BYTES;
    micap_reader end = {.begin = bytes, .at = reader.end + 1, .end = reader.end + END_BYTES};
    if (*reader.end != MICAP_RECORD_END || micap_reader_take64(&end) != checksum(bytes, byte_count - END_BYTES))
        return "its checksum is wrong";
    *out_reader = reader;
    return NULL;
}

const char *micap_exchange_check(mica_cluster *cluster, uint32_t from, const char *bytes, size_t byte_count)
{
    bool has_changes = false;
    micap_reader reader;
    const char *problem = micap_exchange_open(cluster, bytes, byte_count, &reader);
    while (!problem && micap_reader_left(&reader)) {
        problem = check_record(cluster, from, &reader, &has_changes);
        if (!problem && reader.failed)
            problem = "a record is cut off";
    }
    return problem;
}

/* ---- using what has arrived */

uint32_t micap_cluster_cell(mica_cluster *cluster, mica_entity entity, const void *value, double out_at[3])
{
    out_at[0] = out_at[1] = out_at[2] = 0;
    if (cluster->key) {
        uint64_t key = cluster->key(cluster->world, entity, cluster->context);
        return micap_cell_table_require(&cluster->cells, key, (micap_cell){{0}});
    }
    for (uint32_t i = 0; i < cluster->space.axis_count; ++i)
        out_at[i] =
            micap_number_field_load(&cluster->coordinates[i], (const char *)value + cluster->coordinates[i].offset);
    micap_cell_space_wrap(&cluster->space, out_at);
    micap_cell cell = micap_cell_of(&cluster->space, out_at);
    return micap_cell_table_require(&cluster->cells, micap_cell_number(cell), cell);
}

static void use_entity(mica_cluster *cluster, micap_reader *reader)
{
    uint64_t identity = micap_reader_take64(reader);
    float weight = take_weight(reader);
    micap_reader begin = *reader;
    if (!identity) {
        micap_codec_check_entity(&cluster->codec, reader);
        micap_new_identities_add_arrival(cluster, begin.at, (size_t)(reader->at - begin.at));
        return;
    }
    mica_entity entity = micap_codec_create_entity(&cluster->codec, reader, identity);
    if (!mica_is_nil(entity)) {
        micap_distribution_set_weight(cluster, entity, weight);
    } else {
        char text[120];
        snprintf(text, sizeof text, "an entity of another rank, identity %llx, can't be created here",
                 (unsigned long long)identity);
        micap_cluster_fail(cluster, MICA_ERROR_REFUSED, text);
        *reader = begin;
        micap_codec_check_entity(&cluster->codec, reader);
    }
    ++cluster->stats.arrived_count;
}

static void receive(uint32_t from, const char *bytes, size_t byte_count, void *context)
{
    mica_cluster *cluster = context;
    const char *problem = micap_exchange_check(cluster, from, bytes, byte_count);
    if (problem) {
        char text[200];
        snprintf(text, sizeof text, "what rank %u sent is invalid: %s", from, problem);
        micap_cluster_fail(cluster, MICA_ERROR_DATA, text);
        return;
    }
    micap_reader reader = {.begin = bytes, .at = bytes + HEADER_BYTES, .end = bytes + byte_count - END_BYTES};
    while (micap_reader_left(&reader))
        switch (*micap_reader_take(&reader, 1)) {
        case MICAP_RECORD_ENTITY: use_entity(cluster, &reader); break;
        case MICAP_RECORD_ENVELOPE: micap_mail_receive(cluster, &reader); break;
        case MICAP_RECORD_NOTE: micap_references_receive(cluster, from, &reader); break;
        case MICAP_RECORD_QUESTION: micap_questions_receive(cluster, &reader); break;
        case MICAP_RECORD_ANSWER: micap_questions_receive_answer(cluster, &reader); break;
        case MICAP_RECORD_CHANGES: micap_border_receive_changes(cluster, from, &reader); break;
        default: micap_border_receive_new(cluster, from, &reader); break;
        }
}

void micap_exchange_round(mica_cluster *cluster)
{
    close_parcels(cluster);
    if (!micap_transport_exchange(&cluster->transport, cluster->parcels, cluster->parcel_count, receive, cluster))
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for what another rank sent");
    empty_parcels(cluster);
}

/* ---- the first round: entities */

/* Lists the entities of this rank whose cells belong to others. */
static void list_leavers(mica_cluster *cluster)
{
    cluster->leaver_count = 0;
    for (mica_view view = mica_query_begin(cluster->shared); mica_view_next(&view);) {
        const char *values = mica_view_read_at(&view, 0);
        uint32_t stride = mica_component_type(cluster->component)->size_bytes;
        for (uint32_t i = 0; i < view.count; ++i) {
            double at[3];
            uint32_t cell = micap_cluster_cell(cluster, view.entities[i], values + (size_t)i * stride, at);
            uint32_t owner = cell == MICAP_NO_CELL ? cluster->transport.rank : cluster->cells.cells[cell].owner;
            if (cell != MICAP_NO_CELL && owner == cluster->transport.rank)
                continue;
            if (cell == MICAP_NO_CELL || !MICAP_RESERVE(&cluster->memory, cluster->leavers, &cluster->leaver_capacity,
                                                        (uint64_t)cluster->leaver_count + 1)) {
                micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for entities that leave");
                return;
            }
            cluster->leavers[cluster->leaver_count++] = (micap_leaver){view.entities[i], 0, owner};
        }
    }
}

static void send_leavers(mica_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->leaver_count; ++i) {
        mica_entity entity = cluster->leavers[i].entity;
        const mica_identity *identity = mica_get(cluster->world, entity, mica_identity);
        micap_bytes *bytes = micap_exchange_parcel(cluster, cluster->leavers[i].rank);
        if (!bytes)
            return;
        micap_bytes_put(bytes, &(uint8_t){MICAP_RECORD_ENTITY}, 1);
        cluster->leavers[i].identity = identity ? identity->value : 0;
        micap_bytes_put64(bytes, cluster->leavers[i].identity);
        float weight = micap_distribution_weight(cluster, entity);
        micap_bytes_put(bytes, &weight, sizeof weight);
        micap_codec_put_entity(&cluster->codec, bytes, entity);
        micap_references_leave(cluster, entity, cluster->leavers[i].identity, cluster->leavers[i].rank);
    }
    cluster->stats.departed_count = cluster->leaver_count;
}

/* ---- the second round: neighbours */

/* Copies the components of a row of a view that the table shows. False if memory is short. */
static bool fill_values(mica_cluster *cluster, const mica_view *view, uint32_t row, char *out)
{
    const micap_ghost_layout *layout = &cluster->table.layout;
    uint64_t present = 0;
    for (uint32_t i = 0; i < layout->count; ++i) {
        const char *column = mica_view_read_at(view, i + 2);
        if (!column)
            continue;
        present |= (uint64_t)1 << i;
        const char *value = column + (size_t)row * layout->sizes[i];
        if (!(layout->rich >> i & 1))
            memcpy(out + layout->offsets[i], value, layout->sizes[i]);
        else if (!micap_codec_copy_value(&cluster->codec, mica_component_type(layout->components[i]), value,
                                         out + layout->offsets[i]))
            return false;
    }
    memcpy(out, &present, sizeof present);
    return true;
}

static void fill_table(mica_cluster *cluster)
{
    uint32_t stride = mica_component_type(cluster->component)->size_bytes;
    for (mica_view view = mica_query_begin(cluster->visible); mica_view_next(&view);) {
        const char *values = mica_view_read_at(&view, 0);
        const mica_identity *identities = mica_view_read_at(&view, 1);
        for (uint32_t i = 0; i < view.count; ++i) {
            micap_neighbour_row row = {
                .identity = identities[i].value, .entity = view.entities[i], .rank = cluster->transport.rank};
            const char *value = values + (size_t)i * stride;
            row.cell = micap_cluster_cell(cluster, row.entity, value, row.at);
            char *to = row.cell == MICAP_NO_CELL ? NULL : micap_neighbour_table_add(&cluster->table, &row);
            if (!to || !fill_values(cluster, &view, i, to) ||
                (cluster->cells.cells[row.cell].needed_count && !micap_border_add(cluster, &row, value, to))) {
                micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for neighbours");
                return;
            }
        }
    }
    cluster->stats.owned_count = cluster->table.added_count;
}

void micap_exchange_neighbours(mica_cluster *cluster)
{
    micap_neighbour_table_begin(&cluster->table);
    micap_border_begin(cluster);
    if (cluster->result == MICA_OK) /* otherwise the step fails on all ranks, and entities may have no identity yet */
        fill_table(cluster);
    if (cluster->result == MICA_OK)
        micap_border_send(cluster);
    micap_references_send(cluster);
    micap_exchange_round(cluster);
    micap_border_finish(cluster);
    micap_references_finish(cluster);
    if (!micap_neighbour_table_end(&cluster->table, &cluster->cells))
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for neighbours");
    cluster->stats.ghost_count = cluster->table.ghost_count;
}

/* NULL, or why a shared entity can't be in a cluster: it is linked with what does not go to other ranks, and would die here. */
static const char *find_bad_link(const mica_cluster *cluster, mica_entity entity)
{
    const mica_world *world = cluster->world;
    mica_entity parent = mica_parent(world, entity);
    if (mica_is_nil(parent) && mica_is_nil(mica_first_child(world, entity)))
        return NULL;
    if (!cluster->codec.has_references)
        return "a shared entity has a parent or children, and the cluster has no .links";
    bool is_shared =
        mica_is_nil(parent) || mica_has_id(world, parent, cluster->component) || mica_has(world, parent, mica_remote);
    if (!is_shared)
        return "a shared entity has a parent that is not shared";
    return micap_codec_has_shared_children(world, entity, cluster->component)
               ? NULL
               : "a shared entity has a child that is not shared";
}

static void check_links(mica_cluster *cluster)
{
    for (mica_view view = mica_query_begin(cluster->shared); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            const char *problem = find_bad_link(cluster, view.entities[i]);
            if (problem) {
                micap_cluster_fail(cluster, MICA_ERROR_REFUSED, problem);
                return;
            }
        }
}

void micap_exchange_check_world(mica_cluster *cluster)
{
    if (!micap_codec_update(&cluster->codec))
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for components");
    if (cluster->codec.problem[0])
        micap_cluster_fail(cluster, MICA_ERROR_REFUSED, cluster->codec.problem);
    if (mica_linked_count(cluster->world))
        check_links(cluster);
    micap_shared_streams_check(cluster);
    if (cluster->is_started && cluster->codec.has_references && !cluster->references)
        micap_cluster_fail(
            cluster, MICA_ERROR_REFUSED,
            "a relation, or a component with a field of type mica_entity, was defined after the first step");
}

void micap_exchange_run(mica_cluster *cluster)
{
    micap_exchange_check_world(cluster);
    micap_references_check_stand_ins(cluster);
    micap_references_mark(cluster);
    if (micap_references_settle(cluster))
        micap_new_families_assign(cluster);
    micap_mail_send(cluster);
    /* Cells that nothing is in any more are forgotten now and then. */
    if (cluster->must_clear_cells || cluster->cells.cell_count > 4 * (uint64_t)cluster->table.count + 1024)
        micap_cell_table_clear(&cluster->cells);
    cluster->must_clear_cells = false;
    if (cluster->transport.rank_count > 1 && cluster->result == MICA_OK) {
        list_leavers(cluster);
        send_leavers(cluster);
    }
    if (cluster->codec.problem[0])
        micap_cluster_fail(cluster, MICA_ERROR_REFUSED, cluster->codec.problem);
    micap_mail_sort_leavers(cluster);
    micap_questions_send(cluster);
    micap_exchange_round(cluster);
    micap_new_identities_assign(cluster);
    micap_mail_forward(cluster);
    micap_questions_answer(cluster);
    micap_exchange_neighbours(cluster);
}
