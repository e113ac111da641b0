#include "cluster/distribution.h"

#include "base/assert.h"
#include "base/hash.h"
#include "cluster/reference.h"
#include "mica/bulk.h"
#include "mica/component.h"

#include <stdlib.h>

/* The keys of the shared entities of this rank, sorted. */
typedef struct sorted_keys {
    uint64_t *keys;
    uint32_t count, capacity;
} sorted_keys;

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool collect_keys(mica_cluster *cluster, sorted_keys *out)
{
    uint32_t stride = mica_component_type(cluster->component)->size_bytes;
    for (mica_view view = mica_query_begin(cluster->shared); mica_view_next(&view);) {
        const char *values = mica_view_read_at(&view, 0);
        if (!MICAP_RESERVE(&cluster->memory, out->keys, &out->capacity, (uint64_t)out->count + view.count))
            return false;
        for (uint32_t i = 0; i < view.count; ++i) {
            double at[3];
            uint32_t cell = micap_cluster_cell(cluster, view.entities[i], values + (size_t)i * stride, at);
            if (cell == MICAP_NO_CELL)
                return false;
            out->keys[out->count++] = cluster->cells.cells[cell].key;
        }
    }
    if (out->count)
        qsort(out->keys, out->count, sizeof *out->keys, compare_keys);
    return true;
}

/* New ranges count when the next exchange begins. */
static void adopt(mica_cluster *cluster, uint32_t rank, uint64_t first_key)
{
    cluster->cells.first_keys[rank] = first_key;
    cluster->must_clear_cells = true;
}

/* All ranks have the same entities, and so the same keys. */
static void split_by_count(mica_cluster *cluster, const sorted_keys *keys)
{
    uint32_t rank_count = cluster->transport.rank_count;
    for (uint32_t rank = 1; rank < rank_count; ++rank) {
        uint64_t at = (uint64_t)keys->count * rank / rank_count;
        uint64_t first = keys->count ? keys->keys[at] : 0;
        uint64_t before = cluster->cells.first_keys[rank - 1];
        adopt(cluster, rank, first > before ? first : before);
    }
}

/* Equal parts of the curve, or of the 64 bits of keys. */
static void split_space(mica_cluster *cluster)
{
    uint32_t bits = cluster->key ? 64 : cluster->space.bits * cluster->space.axis_count;
    uint64_t last = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
    for (uint32_t rank = 1; rank < cluster->transport.rank_count; ++rank)
        adopt(cluster, rank, last / cluster->transport.rank_count * rank);
}

/* Every rank has all entities in the same order: their numbers are identities. */
static void number_entities(mica_cluster *cluster)
{
    mica_identity none = {0};
    if (mica_add_all_id(cluster->new_ones, (mica_value){MICA_ID(mica_identity), sizeof none, &none}) != MICA_OK) {
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for identities");
        return;
    }
    uint64_t number = 0;
    for (mica_view view = mica_query_begin(cluster->shared); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            mica_identity *identity = mica_write(cluster->world, view.entities[i], mica_identity);
            ++number;
            if (!identity->value)
                identity->value = micap_hash_mix(cluster->seed * 0x9e3779b97f4a7c15u + number);
        }
}

/* The entities that others keep become stand-ins if this rank refers to them. First all lose their edges, so that none of them has
 * consequences for another. */
static void leave_others(mica_cluster *cluster, const mica_entity *others, uint32_t count)
{
    if (!cluster->references) {
        mica_destroy_many(cluster->world, others, count);
        return;
    }
    for (uint32_t i = 0; i < count; ++i)
        if (!micap_codec_strip_entity(&cluster->codec, others[i]))
            micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for the entities of other ranks");
    micap_references_mark(cluster);
}

/* Destroys the entities that others keep. */
static void keep_own(mica_cluster *cluster)
{
    mica_entity *others = NULL;
    uint32_t count = 0, capacity = 0, stride = mica_component_type(cluster->component)->size_bytes;
    micap_cell_table_clear(&cluster->cells);
    cluster->must_clear_cells = false;
    for (mica_view view = mica_query_begin(cluster->shared); mica_view_next(&view);) {
        const char *values = mica_view_read_at(&view, 0);
        bool has_room = MICAP_RESERVE(&cluster->memory, others, &capacity, (uint64_t)count + view.count);
        for (uint32_t i = 0; i < view.count && has_room; ++i) {
            double at[3];
            uint32_t cell = micap_cluster_cell(cluster, view.entities[i], values + (size_t)i * stride, at);
            has_room = cell != MICAP_NO_CELL;
            MICAP_ASSERT(others, "there is room for the entities of the view");
            if (has_room && cluster->cells.cells[cell].owner != cluster->transport.rank)
                others[count++] = view.entities[i];
        }
        if (!has_room) {
            micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for the entities of other ranks");
            break;
        }
    }
    leave_others(cluster, others, count);
    MICAP_RELEASE_ARRAY(&cluster->memory, others, capacity);
}

void micap_distribution_start(mica_cluster *cluster)
{
    if (cluster->is_distributed) {
        split_space(cluster);
        return;
    }
    sorted_keys keys = {0};
    number_entities(cluster);
    if (collect_keys(cluster, &keys))
        split_by_count(cluster, &keys);
    else
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for keys");
    MICAP_RELEASE_ARRAY(&cluster->memory, keys.keys, keys.capacity);
    keep_own(cluster);
}

/* The work of an entity is the work of its rank divided by its entities. Each rank knows how much work is before its first key, so it
 * finds those of the new limits that are inside its range; the highest one that any rank found for a limit counts. */
void micap_distribution_balance(mica_cluster *cluster)
{
    micap_transport *transport = &cluster->transport;
    uint32_t rank_count = transport->rank_count;
    if (rank_count == 1)
        return;
    sorted_keys keys = {0};
    bool done = collect_keys(cluster, &keys);
    /* A rank that measured nothing still counts its entities a little. */
    double own = keys.count ? cluster->work_seconds + 1e-9 * keys.count : 0;
    double before = micap_transport_before(transport, own), total = before + own;
    uint64_t whole = (uint64_t)(total * 1e12);
    micap_transport_maximum(transport, &whole, 1); /* that of the last rank */
    total = (double)whole / 1e12;
    uint64_t *limits = micap_allocate_zeroed(&cluster->memory, rank_count * sizeof *limits, MICAP_ARRAY_ALIGNMENT);
    for (uint32_t rank = 1; limits && done && rank < rank_count && keys.count; ++rank) {
        double target = total * rank / rank_count;
        if (target < before || (target >= before + own && transport->rank + 1 < rank_count))
            continue;
        uint64_t at = (uint64_t)((target - before) / own * keys.count);
        limits[rank] = keys.keys[at < keys.count ? at : keys.count - 1];
    }
    uint64_t failures = !limits || !done;
    micap_transport_maximum(transport, &failures, 1);
    if (failures) {
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for balancing");
    } else {
        MICAP_ASSERT(limits, "this rank has not failed");
        micap_transport_maximum(transport, limits, rank_count);
        for (uint32_t rank = 1; rank < rank_count; ++rank) {
            uint64_t least = cluster->cells.first_keys[rank - 1];
            uint64_t first = limits[rank] ? limits[rank] : cluster->cells.first_keys[rank]; /* lost in rounding */
            adopt(cluster, rank, first > least ? first : least);
        }
        ++cluster->stats.balance_count;
    }
    cluster->work_seconds = 0;
    micap_release(&cluster->memory, limits, rank_count * sizeof *limits, MICAP_ARRAY_ALIGNMENT);
    MICAP_RELEASE_ARRAY(&cluster->memory, keys.keys, keys.capacity);
}
