#include "cluster/distribution.h"

#include "base/assert.h"
#include "base/hash.h"
#include "cluster/reference.h"
#include "mica/bulk.h"
#include "mica/component.h"

#include <stdlib.h>

/* The shared entities of this rank, sorted by key. */
typedef struct keyed_entity {
    uint64_t key;
    uint32_t index; /* of the entity */
    float weight;
} keyed_entity;

typedef struct sorted_keys {
    keyed_entity *list;
    uint32_t count, capacity;
} sorted_keys;

static int compare_keys(const void *a, const void *b)
{
    const keyed_entity *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static bool collect_keys(mica_cluster *cluster, sorted_keys *out)
{
    uint32_t stride = mica_component_type(cluster->component)->size_bytes;
    for (mica_view view = mica_query_begin(cluster->shared); mica_view_next(&view);) {
        const char *values = mica_view_read_at(&view, 0);
        if (!MICAP_RESERVE(&cluster->memory, out->list, &out->capacity, (uint64_t)out->count + view.count))
            return false;
        for (uint32_t i = 0; i < view.count; ++i) {
            double at[3];
            uint32_t cell = micap_cluster_cell(cluster, view.entities[i], values + (size_t)i * stride, at);
            if (cell == MICAP_NO_CELL)
                return false;
            out->list[out->count++] = (keyed_entity){cluster->cells.cells[cell].key, view.entities[i].index,
                                                     micap_distribution_weight(cluster, view.entities[i])};
        }
    }
    if (out->count)
        qsort(out->list, out->count, sizeof *out->list, compare_keys);
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
        uint64_t first = keys->count ? keys->list[at].key : 0;
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
    MICAP_RELEASE_ARRAY(&cluster->memory, keys.list, keys.capacity);
    keep_own(cluster);
}

/* ---- balancing */

/* What a step may cost a rank without entities, and by how much its measurement may be wrong. */
#define STEP_OVERHEAD_NS 100000.0
/* How fast weights come to resemble those of the rank: what was expensive may have moved away. */
#define FORGETTING 0.05f

/* Sums of all ranks. */
enum { SUM_WORK, SUM_ENTITIES, SUM_WEIGHTS, SUM_FAILURES, SUM_COUNT };
#define WEIGHT_UNIT 1024.0 /* of the sum of weights, which is an integer */

float micap_distribution_weight(const mica_cluster *cluster, mica_entity entity)
{
    return entity.index < cluster->weight_capacity ? cluster->weights[entity.index] : 0;
}

void micap_distribution_set_weight(mica_cluster *cluster, mica_entity entity, float weight)
{
    uint32_t before = cluster->weight_capacity;
    if (!weight && entity.index >= before)
        return;
    if (!MICAP_RESERVE(&cluster->memory, cluster->weights, &cluster->weight_capacity, (uint64_t)entity.index + 1))
        return; /* it counts as much as others of this rank */
    memset(cluster->weights + before, 0, (cluster->weight_capacity - before) * sizeof *cluster->weights);
    cluster->weights[entity.index] = weight;
}

/* New entities weigh as much as others of this rank. Returns the sum. */
static double complete_weights(sorted_keys *keys)
{
    double known = 0;
    uint32_t known_count = 0;
    for (uint32_t i = 0; i < keys->count; ++i) {
        known += keys->list[i].weight;
        known_count += keys->list[i].weight > 0;
    }
    float usual = known_count ? (float)(known / known_count) : 1;
    for (uint32_t i = 0; i < keys->count; ++i)
        if (!(keys->list[i].weight > 0))
            keys->list[i].weight = usual;
    return known + (double)usual * (keys->count - known_count);
}

/* Weights of this rank grow if it measured more work than they promised. A measurement counts as far as it is more than what a step costs
 * anyway. As ranges move, what is expensive is found more and more precisely. Returns the new sum; the mean of all ranks is about 1. */
static double learn_weights(mica_cluster *cluster, sorted_keys *keys, double weight, const uint64_t sums[SUM_COUNT])
{
    double overhead = STEP_OVERHEAD_NS * (double)cluster->worked_steps + 1;
    double total = (double)sums[SUM_WEIGHTS] / WEIGHT_UNIT;
    double promised = (double)sums[SUM_WORK] * weight / total;
    double factor = sums[SUM_WORK] ? ((double)cluster->work_ns + overhead) / (promised + overhead) : 1;
    float scale = (float)(factor * (double)sums[SUM_ENTITIES] / total);
    float usual = (float)(weight / keys->count) * scale;
    double sum = 0;
    for (uint32_t i = 0; i < keys->count; ++i) {
        float *own = &keys->list[i].weight;
        *own = *own * scale * (1 - FORGETTING) + usual * FORGETTING;
        sum += *own;
        micap_distribution_set_weight(cluster, (mica_entity){.index = keys->list[i].index}, *own);
    }
    return sum;
}

/* Finds those of the new limits that are inside the range of this rank. */
static void find_limits(const mica_cluster *cluster, const sorted_keys *keys, double before, double own, double total,
                        uint64_t *limits)
{
    uint32_t rank_count = cluster->transport.rank_count, at = 0;
    double weight = before; /* of what comes before `at` */
    for (uint32_t rank = 1; rank < rank_count && keys->count; ++rank) {
        double target = total * rank / rank_count;
        if (target < before || (target >= before + own && cluster->transport.rank + 1 < rank_count))
            continue;
        while (at + 1 < keys->count && weight + keys->list[at].weight <= target)
            weight += keys->list[at++].weight;
        limits[rank] = keys->list[at].key;
    }
}

/* The curve is cut into parts of equal weight. Each rank knows how much comes before its first key; the highest key that any rank found
 * for a limit counts. */
void micap_distribution_balance(mica_cluster *cluster)
{
    micap_transport *transport = &cluster->transport;
    uint32_t rank_count = transport->rank_count;
    if (rank_count == 1)
        return;
    sorted_keys keys = {0};
    bool done = collect_keys(cluster, &keys);
    double own = complete_weights(&keys);
    uint64_t *limits = micap_allocate_zeroed(&cluster->memory, rank_count * sizeof *limits, MICAP_ARRAY_ALIGNMENT);
    uint64_t sums[SUM_COUNT] = {keys.count ? cluster->work_ns : 0, keys.count, (uint64_t)(own * WEIGHT_UNIT),
                                !limits || !done};
    micap_transport_sum(transport, sums, SUM_COUNT);
    own = keys.count && sums[SUM_WEIGHTS] ? learn_weights(cluster, &keys, own, sums) : 0;
    double before = micap_transport_before(transport, own);
    uint64_t whole = (uint64_t)((before + own) * WEIGHT_UNIT);
    micap_transport_maximum(transport, &whole, 1); /* that of the last rank */
    if (sums[SUM_FAILURES]) {
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for balancing");
    } else {
        MICAP_ASSERT(limits, "this rank has not failed");
        find_limits(cluster, &keys, before, own, (double)whole / WEIGHT_UNIT, limits);
        micap_transport_maximum(transport, limits, rank_count);
        for (uint32_t rank = 1; rank < rank_count; ++rank) {
            uint64_t least = cluster->cells.first_keys[rank - 1];
            uint64_t first = limits[rank] ? limits[rank] : cluster->cells.first_keys[rank]; /* lost in rounding */
            adopt(cluster, rank, first > least ? first : least);
        }
        ++cluster->stats.balance_count;
    }
    cluster->work_ns = cluster->worked_steps = 0;
    micap_release(&cluster->memory, limits, rank_count * sizeof *limits, MICAP_ARRAY_ALIGNMENT);
    MICAP_RELEASE_ARRAY(&cluster->memory, keys.list, keys.capacity);
}
