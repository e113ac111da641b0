#include "base/argument.h"
#include "base/hash.h"
#include "cluster/border.h"
#include "cluster/cluster_start.h"
#include "cluster/cluster_trace.h"
#include "cluster/distribution.h"
#include "cluster/exchange.h"
#include "cluster/mail.h"
#include "cluster/new_families.h"
#include "cluster/new_identities.h"
#include "cluster/question.h"
#include "cluster/reference.h"
#include "cluster/rule_codec.h"
#include "cluster/shared_singleton.h"
#include "cluster/shared_stream.h"
#include "mica/component.h"
#include "mica/frame.h"
#include "mica/task.h"
#include "os/clock.h"

#include <stdio.h>

/* ---- create and destroy */

static const char *find_coordinates(mica_cluster *cluster, const mica_cluster_def *def)
{
    const mica_type *type = mica_component_type(def->grid.component);
    if (!type || !type->size_bytes || type->split || type->many || type->storage == MICA_STORAGE_SINGLETON)
        return "the .component of its grid must be a component with data, one per entity and not split";
    const char *problem = micap_codec_problem(def->grid.component), *path = def->grid.fields;
    if (micap_codec_has_entities(type))
        return "the .component of its grid has a field of type mica_entity";
    if (problem || def->key)
        return problem;
    uint32_t count = 0;
    for (; path && *path && count < 3; ++count) {
        path += strspn(path, " ,");
        size_t bytes = strcspn(path, " ,");
        problem =
            micap_number_field_find(&cluster->memory, def->grid.component, path, bytes, &cluster->coordinates[count]);
        if (problem)
            return problem;
        path += bytes;
        path += strspn(path, " ");
    }
    if (path && *path)
        return "its grid has more than three .fields";
    problem = micap_cell_space_init(&cluster->space, &def->grid, count);
    if (problem)
        return problem;
    if (!(def->reach >= 0) || def->reach - def->reach != 0)
        return "its .reach must be a number of at least 0";
    if (micap_cells_in_reach(&cluster->space, def->reach) > MICAP_CELLS_IN_BOX_MAX)
        return "its .reach covers more than 4096 cells: the .cell_size of its grid is too small";
    return NULL;
}

static const char *lay_out_ghosts(micap_ghost_layout *layout, const mica_cluster_def *def)
{
    layout->row_bytes = sizeof(uint64_t);
    if (def->ghost_count > MICAP_GHOSTS_MAX || (def->key && def->ghost_count))
        return "it has more than 30 .ghosts, or .ghosts and a .key";
    for (uint32_t i = 0; i < def->ghost_count; ++i) {
        const mica_type *type = mica_component_type(def->ghosts[i]);
        if (!type || micap_codec_problem(def->ghosts[i]) || micap_codec_has_entities(type) || type->many ||
            type->split || type->storage == MICA_STORAGE_SINGLETON)
            return "its .ghosts must be components without entities, one per entity and not split";
        layout->rich |= (uint64_t)!micap_codec_is_flat(type) << i;
        uint32_t alignment = type->alignment ? type->alignment : 1;
        layout->row_bytes = (layout->row_bytes + alignment - 1) / alignment * alignment;
        layout->components[layout->count] = def->ghosts[i];
        layout->offsets[layout->count] = layout->row_bytes;
        layout->sizes[layout->count++] = type->size_bytes;
        layout->row_bytes += type->size_bytes;
    }
    layout->row_bytes = (layout->row_bytes + 15) / 16 * 16;
    return NULL;
}

static const char *copy_messages(mica_cluster *cluster, const mica_cluster_def *def)
{
    for (uint32_t i = 0; i < def->message_count; ++i)
        if (micap_codec_message_problem(def->messages[i]))
            return "its .messages must be types with data, without entities";
    cluster->messages =
        micap_allocate(&cluster->memory, def->message_count * sizeof *cluster->messages, MICAP_ARRAY_ALIGNMENT);
    if (!cluster->messages)
        return "out of memory";
    cluster->message_count = def->message_count;
    if (def->message_count)
        memcpy(cluster->messages, def->messages, def->message_count * sizeof *cluster->messages);
    return NULL;
}

static bool create_queries(mica_cluster *cluster)
{
    mica_world *world = cluster->world;
    mica_component identity = MICA_ID(mica_identity);
    mica_term shared[] = {{.component = cluster->component, .access = MICA_ACCESS_READ},
                          {.component = identity, .access = MICA_ACCESS_MAYBE_READ}};
    mica_term new_ones[] = {{.component = cluster->component, .access = MICA_ACCESS_HAS},
                            {.component = identity, .access = MICA_ACCESS_WITHOUT}};
    mica_term visible[MICAP_GHOSTS_MAX + 2] = {{.component = cluster->component, .access = MICA_ACCESS_READ},
                                               {.component = identity, .access = MICA_ACCESS_READ}};
    const micap_ghost_layout *layout = &cluster->table.layout;
    for (uint32_t i = 0; i < layout->count; ++i)
        visible[i + 2] = (mica_term){.component = layout->components[i], .access = MICA_ACCESS_MAYBE_READ};
    cluster->shared = mica_query_create(
        world, &(mica_query_def){.name = "cluster", .terms = shared, .term_count = 2, .with_hidden = true});
    cluster->new_ones = mica_query_create(
        world, &(mica_query_def){.name = "cluster, new", .terms = new_ones, .term_count = 2, .with_hidden = true});
    cluster->visible = mica_query_create(
        world, &(mica_query_def){.name = "cluster, ghosts", .terms = visible, .term_count = layout->count + 2});
    return cluster->shared && cluster->new_ones && cluster->visible;
}

static const char *set_up(mica_cluster *cluster, const mica_cluster_def *def)
{
    double limit = def->time_limit_seconds == 0 ? 60 : def->time_limit_seconds;
    if (!(limit > 0) || limit - limit != 0)
        return "its .time_limit_seconds must be a positive number";
    if ((!def->ghosts && def->ghost_count) || (!def->messages && def->message_count) ||
        (!def->streams && def->stream_count) || (!def->requests && def->request_count))
        return "its .ghosts, .messages, .streams or .requests are NULL";
    const char *problem = find_coordinates(cluster, def);
    problem = problem ? problem : lay_out_ghosts(&cluster->table.layout, def);
    problem = problem ? problem : copy_messages(cluster, def);
    problem = problem ? problem : micap_cluster_rules_copy(cluster, def);
    problem = problem ? problem : micap_shared_singletons_copy(cluster, def);
    problem = problem ? problem : micap_shared_streams_copy(cluster, def);
    problem = problem ? problem : micap_questions_copy(cluster, def);
    problem = problem ? problem : micap_transport_open(&cluster->transport, &cluster->memory, limit);
    if (problem)
        return problem;
    const micap_transport *transport = &cluster->transport;
    cluster->parcel_of_rank = micap_allocate_zeroed(
        &cluster->memory, transport->rank_count * sizeof *cluster->parcel_of_rank, MICAP_ARRAY_ALIGNMENT);
    if (cluster->stream_count)
        cluster->gather_ends = micap_allocate_zeroed(
            &cluster->memory, (size_t)2 * transport->rank_count * sizeof *cluster->gather_ends, MICAP_ARRAY_ALIGNMENT);
    if (!cluster->parcel_of_rank || (cluster->stream_count && !cluster->gather_ends) ||
        !micap_cell_table_init(&cluster->cells, &cluster->memory, def->key ? NULL : &cluster->space, def->reach,
                               transport->rank, transport->rank_count))
        return "out of memory";
    return create_queries(cluster) ? NULL : "its queries can't be created";
}

mica_cluster *mica_cluster_create(mica_world *world, const mica_cluster_def *def)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, def))
        return NULL;
    micap_memory memory;
    if (MICAP_INVALID(world, !micap_memory_init(&memory, def->allocator), def->allocator, "needs both functions"))
        return NULL;
    mica_cluster *cluster = micap_allocate_zeroed(&memory, sizeof *cluster, MICAP_CACHE_LINE);
    if (!cluster) {
        mica_world_report(world, MICA_ERROR_MEMORY, "mica_cluster_create: out of memory");
        return NULL;
    }
    micap_memory_init(&cluster->memory, def->allocator);
    cluster->world = world;
    cluster->component = def->grid.component;
    cluster->key = def->key;
    cluster->context = def->context;
    cluster->reach = def->key ? 0 : def->reach;
    cluster->seed = def->seed;
    cluster->balance_steps = def->balance_steps;
    cluster->is_distributed = def->distributed;
    cluster->location = def->location;
    cluster->table.memory = &cluster->memory;
    cluster->table.space = &cluster->space;
    cluster->codec = (micap_codec){.memory = &cluster->memory,
                                   .world = world,
                                   .has_references = def->links,
                                   .scratch = {.memory = &cluster->memory}};
    cluster->identities = (micap_identity_map){.memory = &cluster->memory, .world = world};
    micap_envelopes *lists[] = {&cluster->sent,  &cluster->arrived,   &cluster->pushed,
                                &cluster->asked, &cluster->questions, &cluster->answers};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        lists[i]->bytes.memory = &cluster->memory;
    pthread_mutex_init(&cluster->mail_lock, NULL);
    const char *problem = set_up(cluster, def);
    if (problem) {
        char text[256];
        snprintf(text, sizeof text, "mica_cluster_create: the def is invalid: %s", problem);
        mica_world_report(world, MICA_ERROR_INVALID, text);
        mica_cluster_destroy(cluster);
        return NULL;
    }
    return cluster;
}

void mica_cluster_destroy(mica_cluster *cluster)
{
    if (!cluster)
        return;
    mica_query_destroy(cluster->shared);
    mica_query_destroy(cluster->new_ones);
    mica_query_destroy(cluster->visible);
    for (uint32_t i = 0; i < cluster->parcel_count; ++i)
        micap_bytes_free(&cluster->parcels[i].bytes);
    MICAP_RELEASE_ARRAY(&cluster->memory, cluster->parcels, cluster->parcel_capacity);
    if (cluster->parcel_of_rank)
        MICAP_RELEASE_ARRAY(&cluster->memory, cluster->parcel_of_rank, cluster->transport.rank_count);
    MICAP_RELEASE_ARRAY(&cluster->memory, cluster->leavers, cluster->leaver_capacity);
    MICAP_RELEASE_ARRAY(&cluster->memory, cluster->messages, cluster->message_count);
    MICAP_RELEASE_ARRAY(&cluster->memory, cluster->weights, cluster->weight_capacity);
    micap_border_free(cluster);
    micap_new_identities_free(cluster);
    micap_new_families_free(cluster);
    micap_cluster_trace_free(cluster);
    micap_mail_free(cluster);
    micap_shared_singletons_free(cluster);
    micap_shared_streams_free(cluster);
    micap_questions_free(cluster);
    micap_references_free(cluster);
    micap_neighbour_table_free(&cluster->table);
    micap_cell_table_free(&cluster->cells);
    micap_codec_free(&cluster->codec);
    micap_cluster_rules_free(cluster);
    micap_transport_close(&cluster->transport);
    pthread_mutex_destroy(&cluster->mail_lock);
    micap_memory memory; /* the cluster contains the one that counts its allocations */
    micap_memory_init(&memory, cluster->memory.allocator);
    atomic_store_explicit(&memory.bytes, sizeof *cluster, memory_order_relaxed);
    micap_release(&memory, cluster, sizeof *cluster, MICAP_CACHE_LINE);
}

/* ---- steps */

void micap_cluster_fail(mica_cluster *cluster, mica_result result, const char *text)
{
    if (cluster->result != MICA_OK)
        return;
    char line[700];
    snprintf(line, sizeof line, "cluster: rank %u, step %llu: %s", cluster->transport.rank,
             (unsigned long long)cluster->tick, text);
    cluster->result = mica_world_report(cluster->world, result, line);
}

/* Processor time, since a rank that shares its processor with other programs has not more work. Systems run on all workers. Neither duration
 * includes waiting for other ranks, which systems do if they call collective functions. */
static void measure_work(mica_cluster *cluster, uint64_t systems_ns, uint64_t exchange_ns)
{
    uint64_t work_ns = systems_ns / mica_worker_count(cluster->world) + exchange_ns;
    cluster->stats.processor_seconds = (double)work_ns / 1e9;
    cluster->work_ns += work_ns;
    ++cluster->worked_steps;
}

bool mica_cluster_step(mica_cluster *cluster, float dt)
{
    if (MICAP_MISSING(NULL, cluster) || cluster->result != MICA_OK)
        return false;
    if (!micap_cluster_start(cluster))
        return false;
    micap_transport *transport = &cluster->transport;
    transport->wait_seconds = 0;
    transport->sent_bytes = transport->received_bytes = transport->sent_message_count = 0;
    cluster->stats.arrived_count = cluster->stats.departed_count = 0;
    transport->wait_processor_ns = 0;
    uint64_t begin = micap_clock_ns(), processor_begin = micap_processor_ns();
    mica_result result = mica_step(cluster->world, dt);
    if (result != MICA_OK)
        micap_cluster_fail(cluster, result, "mica_step failed");
    uint64_t end = micap_clock_ns();
    uint64_t systems_ns = micap_processor_ns() - processor_begin - transport->wait_processor_ns;
    cluster->stats.work_seconds = (double)(end - begin) / 1e9;
    ++cluster->tick;
    micap_exchange_run(cluster);
    micap_shared_streams_exchange(cluster);
    if (cluster->result == MICA_OK)
        micap_questions_deliver(cluster);
    if (cluster->result == MICA_OK)
        micap_mail_deliver(cluster);
    bool continues = micap_cluster_agree(cluster);
    uint64_t step_ns = micap_processor_ns() - processor_begin - transport->wait_processor_ns;
    measure_work(cluster, systems_ns, step_ns - systems_ns);
    if (continues && cluster->balance_steps && cluster->tick % cluster->balance_steps == 0)
        micap_distribution_balance(cluster);
    cluster->stats.wait_seconds = transport->wait_seconds;
    cluster->stats.sent_bytes = transport->sent_bytes;
    cluster->stats.received_bytes = transport->received_bytes;
    cluster->stats.sent_message_count = transport->sent_message_count;
    micap_cluster_trace_add(cluster, begin, end);
    return continues;
}

mica_result mica_cluster_balance(mica_cluster *cluster)
{
    if (MICAP_MISSING(NULL, cluster))
        return MICA_ERROR_INVALID;
    if (!cluster->is_started || cluster->result != MICA_OK)
        return mica_world_report(cluster->world, MICA_ERROR_REFUSED,
                                 "mica_cluster_balance: the cluster has not made a step, or has failed");
    micap_distribution_balance(cluster);
    micap_cluster_agree(cluster);
    return cluster->result;
}

void mica_cluster_stop(mica_cluster *cluster)
{
    if (!MICAP_MISSING(NULL, cluster))
        atomic_store_explicit(&cluster->must_stop, true, memory_order_release);
}

/* ---- reading */

mica_result mica_cluster_result(const mica_cluster *cluster)
{
    return MICAP_MISSING(NULL, cluster) ? MICA_ERROR_INVALID : cluster->result;
}

uint32_t mica_cluster_rank(const mica_cluster *cluster)
{
    return MICAP_MISSING(NULL, cluster) ? 0 : cluster->transport.rank;
}

uint32_t mica_cluster_rank_count(const mica_cluster *cluster)
{
    return MICAP_MISSING(NULL, cluster) ? 0 : cluster->transport.rank_count;
}

uint64_t mica_cluster_tick(const mica_cluster *cluster)
{
    return MICAP_MISSING(NULL, cluster) ? 0 : cluster->tick;
}

mica_cluster_stats mica_cluster_get_stats(const mica_cluster *cluster)
{
    return MICAP_MISSING(NULL, cluster) ? (mica_cluster_stats){0} : cluster->stats;
}

mica_entity mica_cluster_find(mica_cluster *cluster, uint64_t identity)
{
    uint32_t row;
    if (MICAP_MISSING(NULL, cluster) || !micap_neighbour_table_find(&cluster->table, identity, &row) ||
        row == MICAP_NO_ROW)
        return mica_nil();
    mica_entity entity = cluster->table.origins[row].entity;
    return mica_is_alive(cluster->world, entity) ? entity : mica_nil();
}

uint64_t mica_cluster_identity(const mica_cluster *cluster, mica_entity entity)
{
    if (MICAP_MISSING(NULL, cluster))
        return 0;
    uint64_t identity = micap_neighbour_table_identity(&cluster->table, entity);
    return identity ? identity : micap_references_identity(cluster, entity);
}

mica_random mica_cluster_random(const mica_cluster *cluster, mica_entity entity, uint64_t stream)
{
    if (MICAP_MISSING(NULL, cluster))
        return mica_random_make(0, 0);
    uint64_t identity = micap_neighbour_table_identity(&cluster->table, entity);
    if (MICAP_INVALID(cluster->world, !identity, entity, "must be an entity with an identity"))
        return mica_random_make(0, 0);
    uint64_t seed = micap_hash_mix(cluster->seed + micap_hash_mix(cluster->tick + 1) * 0x9e3779b97f4a7c15u);
    return mica_random_make(micap_hash_mix(seed ^ identity), stream);
}

static void report_radius(const mica_cluster *cluster, double radius)
{
    char text[200];
    snprintf(
        text, sizeof text,
        "mica_cluster_around: radius is %.9g and must be at least 0 and at most the .reach of the cluster, %.9g: what "
        "is farther away is not known on this rank",
        radius, cluster->reach);
    mica_world_report(cluster->world, MICA_ERROR_INVALID, text);
}

uint32_t mica_cluster_around(const mica_cluster *cluster, mica_entity entity, double radius,
                             mica_cluster_neighbour *out, uint32_t capacity)
{
    if (MICAP_MISSING(NULL, cluster) || MICAP_MISSING_ARRAY(cluster->world, out, capacity))
        return 0;
    if (!(radius >= 0 && radius <= cluster->reach)) {
        report_radius(cluster, radius);
        return 0;
    }
    if (cluster->key)
        return 0;
    return micap_neighbour_table_search(&cluster->table, &cluster->cells, entity, radius, out, capacity);
}

const void *mica_cluster_read(const mica_cluster *cluster, const mica_cluster_neighbour *neighbour,
                              mica_component component)
{
    if (MICAP_MISSING(NULL, cluster) || MICAP_MISSING(cluster->world, neighbour) ||
        MICAP_INVALID(cluster->world, neighbour->private_row >= cluster->table.count, neighbour,
                      "must be from mica_cluster_around of this step"))
        return NULL;
    const micap_ghost_layout *layout = &cluster->table.layout;
    const char *values = cluster->table.values + (size_t)neighbour->private_row * layout->row_bytes;
    uint64_t present;
    memcpy(&present, values, sizeof present);
    for (uint32_t i = 0; i < layout->count; ++i)
        if (layout->components[i] == component)
            return present >> i & 1 ? values + layout->offsets[i] : NULL;
    micap_report_argument(cluster->world, __func__, "component", "must be in the .ghosts of the cluster");
    return NULL;
}
