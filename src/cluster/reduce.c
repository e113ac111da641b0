/* Reductions over all shared entities. */
#include "base/argument.h"
#include "base/float_bits.h"
#include "base/hash.h"
#include "cluster/cluster_state.h"
#include "cluster/exact_sum.h"
#include "cluster/shared_singleton.h"
#include "mica/component.h"

#include <stdio.h>

#define SIGN ((uint64_t)1 << 63)

/* Words that sort as the doubles do. */
static uint64_t word_of(double value)
{
    uint64_t bits = micap_bits_of(value == 0 ? 0 : value); /* minus zero is zero */
    return bits & SIGN ? ~bits : bits | SIGN;
}

static double value_of(uint64_t word)
{
    return micap_double_of(word & SIGN ? word ^ SIGN : ~word);
}

/* What one rank found. */
typedef struct partial {
    micap_exact_sum sum;
    uint64_t count;
    uint64_t ends[2]; /* words: of the maximum, and the inverted one of the minimum; 0: none */
} partial;

static void add_number(partial *partial, const mica_cluster_reduction *reduction, double value, uint64_t *bins)
{
    if (value - value != 0)
        return;
    uint64_t word = word_of(value);
    micap_exact_sum_add(&partial->sum, value);
    partial->ends[0] = word > partial->ends[0] ? word : partial->ends[0];
    partial->ends[1] = ~word > partial->ends[1] ? ~word : partial->ends[1];
    if (!reduction->bin_count)
        return;
    double bin = (value - reduction->low) / (reduction->high - reduction->low) * reduction->bin_count;
    bin = bin > 0 ? bin : 0;
    ++bins[bin < reduction->bin_count - 1 ? (uint32_t)bin : reduction->bin_count - 1];
}

static bool is_valid(const mica_cluster *cluster, const mica_cluster_reduction *reduction, const uint64_t *bins)
{
    const mica_type *type = mica_component_type(reduction->component);
    double extent = reduction->high - reduction->low;
    return !MICAP_INVALID(cluster->world, !type || type->split || type->many || type->storage == MICA_STORAGE_SINGLETON,
                          reduction->component, "must be a component, one per entity and not split") &&
           !MICAP_INVALID(cluster->world, reduction->bin_count && (!(extent > 0) || extent - extent != 0),
                          reduction->high, "must be above .low") &&
           !MICAP_INVALID(cluster->world, reduction->bin_count && !reduction->field, reduction->field,
                          "must not be NULL for a histogram") &&
           !MICAP_MISSING_ARRAY(cluster->world, bins, reduction->bin_count);
}

/* Visits the shared entities of this rank that have the component. */
static mica_result add_entities(mica_cluster *cluster, const mica_cluster_reduction *reduction, partial *out,
                                uint64_t *bins)
{
    micap_number_field field = {0};
    const char *problem = reduction->field ? micap_number_field_find(&cluster->memory, reduction->component,
                                                                     reduction->field, strlen(reduction->field), &field)
                                           : NULL;
    if (MICAP_INVALID(cluster->world, problem, reduction->field, problem ? problem : ""))
        return MICA_ERROR_INVALID;
    uint32_t stride = mica_component_type(reduction->component)->size_bytes;
    mica_term terms[] = {
        {.component = MICA_ID(mica_identity), .access = MICA_ACCESS_HAS},
        {.component = reduction->component, .access = reduction->field ? MICA_ACCESS_READ : MICA_ACCESS_HAS},
        {.component = MICA_ID(mica_remote), .access = MICA_ACCESS_WITHOUT}}; /* others count these */
    mica_query *query = mica_query_create(
        cluster->world, &(mica_query_def){.name = "mica_cluster_reduce", .terms = terms, .term_count = 3});
    if (!query)
        return MICA_ERROR_MEMORY;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        const char *values = reduction->field ? mica_view_read_at(&view, 1) : NULL;
        out->count += view.count;
        for (uint32_t i = 0; values && i < view.count; ++i)
            add_number(out, reduction, micap_number_field_load(&field, values + (size_t)i * stride + field.offset),
                       bins);
    }
    mica_query_destroy(query);
    return MICA_OK;
}

mica_result mica_cluster_reduce(mica_cluster *cluster, const mica_cluster_reduction *reduction,
                                mica_summary *out_summary, uint64_t *out_bins)
{
    if (MICAP_MISSING(NULL, cluster) || MICAP_MISSING(cluster->world, reduction) ||
        MICAP_MISSING(cluster->world, out_summary) || !is_valid(cluster, reduction, out_bins))
        return MICA_ERROR_INVALID;
    *out_summary = (mica_summary){0};
    if (reduction->bin_count)
        memset(out_bins, 0, reduction->bin_count * sizeof *out_bins);
    partial partial = {0};
    uint64_t result = (uint64_t)add_entities(cluster, reduction, &partial, out_bins);
    micap_exact_sum_settle(&partial.sum);
    /* One collective for the maxima, one for the sums. A failure of one rank is the result of all. */
    uint64_t maxima[3] = {partial.ends[0], partial.ends[1], result};
    micap_transport_maximum(&cluster->transport, maxima, 3);
    uint64_t sums[MICAP_SUM_WORDS + 1];
    memcpy(sums, partial.sum.words, sizeof partial.sum.words);
    sums[MICAP_SUM_WORDS] = partial.count;
    micap_transport_sum(&cluster->transport, sums, MICAP_SUM_WORDS + 1);
    if (reduction->bin_count)
        micap_transport_sum(&cluster->transport, out_bins, reduction->bin_count);
    if (maxima[2] != MICA_OK)
        return (mica_result)maxima[2];
    memcpy(partial.sum.words, sums, sizeof partial.sum.words);
    double infinity = micap_double_of((uint64_t)0x7FF << 52);
    *out_summary = (mica_summary){.count = sums[MICAP_SUM_WORDS],
                                  .sum = micap_exact_sum_value(&partial.sum),
                                  .minimum = maxima[1] ? value_of(~maxima[1]) : infinity,
                                  .maximum = maxima[0] ? value_of(maxima[0]) : -infinity};
    return MICA_OK;
}

mica_result mica_cluster_combine(mica_cluster *cluster, void *value, size_t value_bytes, mica_combine_fn fn,
                                 void *context)
{
    if (MICAP_MISSING(NULL, cluster) || MICAP_MISSING(cluster->world, value) || MICAP_MISSING(cluster->world, fn) ||
        MICAP_INVALID(cluster->world, !value_bytes || value_bytes > 1 << 20, value_bytes, "must be from 1 to 1048576"))
        return MICA_ERROR_INVALID;
    char *other = micap_allocate(&cluster->memory, value_bytes, MICAP_ARRAY_ALIGNMENT);
    uint64_t is_short = !other;
    micap_transport_maximum(&cluster->transport, &is_short, 1);
    if (!is_short)
        micap_transport_combine(&cluster->transport, value, other, (uint32_t)value_bytes, fn, context);
    micap_release(&cluster->memory, other, value_bytes, MICAP_ARRAY_ALIGNMENT);
    return is_short ? mica_world_report(cluster->world, MICA_ERROR_MEMORY, "mica_cluster_combine: out of memory")
                    : MICA_OK;
}

/* New entities get identities at the end of the step. */
static void skip_new(mica_entity target, uint32_t offset, void *context)
{
    mica_cluster *cluster = context;
    (void)offset;
    if (!mica_has_id(cluster->world, target, cluster->component))
        snprintf(cluster->codec.problem, sizeof cluster->codec.problem, MICAP_CODEC_NOT_SHARED);
}

/* The sum of the hashes of all entities does not depend on their order. */
uint64_t mica_cluster_hash(mica_cluster *cluster)
{
    if (MICAP_MISSING(NULL, cluster))
        return 0;
    micap_bytes bytes = {.memory = &cluster->memory};
    uint64_t sums[2] = {0};
    bool done = micap_codec_update(&cluster->codec);
    cluster->codec.on_new = skip_new;
    cluster->codec.on_new_context = cluster;
    for (mica_view view = mica_query_begin(cluster->shared); done && mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            const mica_identity *identity = mica_get(cluster->world, view.entities[i], mica_identity);
            bytes.count = 0;
            micap_codec_put_entity(&cluster->codec, &bytes, view.entities[i]);
            if (bytes.failed)
                break;
            micap_hasher hasher;
            micap_hasher_init(&hasher);
            micap_hasher_integer(&hasher, identity ? identity->value : 0, 8);
            micap_hasher_bytes(&hasher, bytes.data, bytes.count);
            sums[0] += micap_hasher_finish(&hasher);
        }
    cluster->codec.on_new = NULL;
    if (cluster->singleton_count && cluster->transport.rank == 0) /* equal on all ranks */
        sums[0] += micap_shared_singletons_hash(cluster);
    sums[1] = bytes.failed || !done || cluster->result == MICA_ERROR_MEMORY;
    micap_bytes_free(&bytes);
    micap_transport_sum(&cluster->transport, sums, 2);
    if (sums[1]) {
        mica_world_report(cluster->world, MICA_ERROR_MEMORY, "mica_cluster_hash: out of memory");
        return 0;
    }
    return micap_hash_mix(sums[0] + cluster->tick);
}
