#include "flow/schedule/job_plan.h"

#include "core/query/pattern_part.h"
#include "core/query/query_join.h"
#include "core/world/report.h"
#include "flow/schedule/access_conflict.h"
#include "flow/schedule/delivery.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/system.h"

enum {
    PARTITIONS_MAX = 64, /* enough for many workers, and few enough that each job takes a while */
    PARTITION_ROWS_MIN = 2 * MICA_VIEW_ROWS,
    OWN_JOBS_MAX = 4096,
};

/* Returns how many rows a partition has: whole views, and not too few of them. */
static uint64_t partition_rows_for(uint64_t rows)
{
    uint64_t partition = (rows + PARTITIONS_MAX - 1) / PARTITIONS_MAX;
    partition = (partition + MICA_VIEW_ROWS - 1) / MICA_VIEW_ROWS * MICA_VIEW_ROWS;
    return partition > PARTITION_ROWS_MIN ? partition : PARTITION_ROWS_MIN;
}

/* Returns how many rows a job of a system with MICA_PARALLEL_EVERY has. */
static uint64_t split_rows_for(const mica_system_def *def, uint64_t rows)
{
    uint64_t least = (rows + OWN_JOBS_MAX - 1) / OWN_JOBS_MAX;
    return def->parallel_rows > least ? def->parallel_rows : least;
}

static bool plan_partitions(micap_flow *flow)
{
    mica_world *world = flow->world;
    uint32_t count = world->archetypes.count;
    if (flow->partition_structure == world->structure)
        return true;
    if (!MICAP_RESERVE(&world->memory, flow->first_rows, &flow->first_row_capacity, count))
        return false;
    uint64_t rows = 0;
    for (uint32_t i = 0; i < count; ++i) {
        flow->first_rows[i] = rows;
        rows += world->archetypes.by_id[i]->row_count;
    }
    flow->partition_rows = partition_rows_for(rows);
    flow->partition_count = rows ? (uint32_t)((rows + flow->partition_rows - 1) / flow->partition_rows) : 1;
    flow->partition_structure = world->structure;
    return true;
}

/* Lists the archetypes of all systems of a chain, merged by id. The matches of a query only become more. */
static bool list_archetypes(mica_world *world, micap_chain *chain)
{
    uint64_t known = 0;
    for (uint32_t i = 0; i < chain->system_count; ++i)
        known += chain->systems[i]->query->match_count;
    if (known == chain->known_matches && chain->archetype_count)
        return true;
    uint64_t match_count = chain->system_count > 1 ? known * chain->system_count : 0;
    if (!MICAP_RESERVE(&world->memory, chain->archetypes, &chain->archetype_capacity, known) ||
        !MICAP_RESERVE(&world->memory, chain->matches, &chain->matches_capacity, match_count))
        return false;
    uint32_t next[MICAP_CHAIN_SYSTEMS] = {0}, count = 0;
    for (;; ++count) {
        micap_archetype *first = NULL;
        for (uint32_t i = 0; i < chain->system_count; ++i) {
            const mica_query *query = chain->systems[i]->query;
            if (next[i] < query->match_count && (!first || query->archetypes[next[i]]->id < first->id))
                first = query->archetypes[next[i]];
        }
        if (!first)
            break;
        chain->archetypes[count] = first;
        for (uint32_t i = 0; i < chain->system_count; ++i) {
            const mica_query *query = chain->systems[i]->query;
            bool matches = next[i] < query->match_count && query->archetypes[next[i]] == first;
            if (chain->system_count > 1)
                chain->matches[count * chain->system_count + i] = matches ? next[i] : MICAP_CHAIN_NO_MATCH;
            next[i] += matches;
        }
    }
    chain->archetype_count = count;
    chain->known_matches = known;
    return true;
}

static uint64_t count_rows(const micap_chain *chain)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < chain->archetype_count; ++i)
        rows += chain->archetypes[i]->row_count;
    return rows;
}

bool micap_job_plan_add(mica_world *world, micap_chain *chain, micap_job_start start, micap_job_start end)
{
    if (!MICAP_RESERVE(&world->memory, chain->starts, &chain->start_capacity, (uint64_t)chain->job_count + 2))
        return false;
    chain->starts[chain->job_count] = start;
    chain->starts[++chain->job_count] = end;
    return true;
}

/* Visits the views of a chain and starts a job wherever the partition changes. With `own_rows`, partitions have that many
 * rows of the chain; else they are those of the world. */
static bool plan_row_jobs(micap_flow *flow, micap_chain *chain, uint64_t own_rows)
{
    const micap_job_start end = {.entry = chain->archetype_count};
    uint64_t size = own_rows ? own_rows : flow->partition_rows, partition_end = 0, seen = 0;
    for (uint32_t entry = 0; entry < chain->archetype_count; ++entry) {
        const micap_archetype *archetype = chain->archetypes[entry];
        uint64_t first_row = flow->first_rows[archetype->id], base = 0;
        for (uint32_t i = 0; base < archetype->row_count; ++i) {
            const micap_chunk *chunk = archetype->chunks[i];
            for (uint32_t row = 0; row < chunk->count; row += chain->view_rows) {
                uint64_t at = own_rows ? seen : first_row + base + row; /* never decreases */
                seen += chunk->count - row < chain->view_rows ? chunk->count - row : chain->view_rows;
                if (at < partition_end)
                    continue;
                uint64_t partition = at / size;
                partition_end = (partition + 1) * size;
                uint32_t buffer_index = own_rows ? chain->job_count : (uint32_t)partition;
                if (!micap_job_plan_add(flow->world, chain, (micap_job_start){entry, i, row, buffer_index, base}, end))
                    return false;
            }
            base += chunk->count;
        }
    }
    return true;
}

/* Returns an upper bound for the rows of a query, without looking at any of them. */
static uint64_t row_bound(const mica_query *query)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < query->match_count; ++i)
        rows += query->archetypes[i]->row_count;
    return rows;
}

/* Plans the jobs of a system that visits the rows of a pool. False if memory is short. */
static bool plan_pool_jobs(micap_segment *segment, micap_chain *chain, uint64_t rows)
{
    const mica_system_def *def = &chain->systems[0]->def;
    uint64_t job_rows = def->parallel == MICA_PARALLEL_EVERY ? split_rows_for(def, rows) : partition_rows_for(rows);
    if (job_rows < chain->view_rows)
        chain->view_rows = (uint32_t)job_rows;
    chain->has_own_partitions = true;
    chain->row_count = rows;
    for (uint64_t row = 0; row < rows; row += job_rows)
        if (!micap_job_plan_add(segment->world, chain,
                                (micap_job_start){.row = (uint32_t)row, .buffer_index = chain->job_count},
                                (micap_job_start){.row = (uint32_t)rows}))
            return false;
    micap_prepared_runs_plan(segment, chain);
    return true;
}

static bool writes_own_rows(const micap_system *system)
{
    mica_system_access accesses[MICAP_ACCESSES_MAX];
    uint32_t count = micap_system_own_accesses(system, accesses);
    for (uint32_t i = 0; i < count; ++i)
        if (accesses[i].own_rows && accesses[i].write)
            return true;
    return false;
}

/* Plans the jobs of a system that visits the rows of a query in its order: one, or those of a pattern that can be divided. False if memory
 * is short. */
static bool plan_ordered_jobs(micap_segment *segment, micap_chain *chain)
{
    micap_system *system = chain->systems[0];
    micap_pattern_division division = {.keeps_apart = writes_own_rows(system), .has_lists = system->uses_indexes};
    if (!system->query->pattern || system->is_single) {
        chain->row_count = system->query->pattern ? 1 : row_bound(system->query);
        chain->job_count = chain->row_count ? 1 : 0;
        return true;
    }
    if (system->def.parallel == MICA_PARALLEL_EVERY)
        division.rows = system->def.parallel_rows;
    micap_pattern_divide(system->query, &division);
    chain->row_count = division.row_count;
    chain->keeps_apart = division.keeps_apart;
    chain->is_divided = chain->has_own_partitions = division.count > 1;
    if (!chain->is_divided) {
        chain->job_count = 1;
        return true;
    }
    bool done = true;
    for (uint32_t i = 0; done && i < division.count; ++i) {
        const micap_part_place *begin = &division.places[i], *end = begin + 1;
        done = micap_job_plan_add(segment->world, chain,
                                  (micap_job_start){begin->match, begin->chunk_index, begin->row, i, 0},
                                  (micap_job_start){end->match, end->chunk_index, end->row, i, 0});
    }
    return done;
}

static bool plan_chain(micap_segment *segment, micap_chain *chain)
{
    const micap_system *first = chain->systems[0];
    const mica_system_def *def = &first->def;
    chain->job_count = 0;
    chain->is_prepared = chain->has_own_partitions = chain->is_divided = false;
    chain->driver = NULL;
    chain->view_rows = MICA_VIEW_ROWS;
    if (first->once) {
        chain->job_count = 1;
        return true;
    }
    if (first->is_ordered)
        return plan_ordered_jobs(segment, chain);
    bool has_only_deliveries = first->deliveries && !first->deliveries->broadcast_count;
    if (first->query->join_count) {
        mica_view walk = {.world = segment->world, .private_.query = first->query};
        micap_join_begin(&walk, first->query);
        chain->driver = walk.private_.driver;
        chain->driver_walk = walk.private_.walk;
        if (walk.private_.driver && !has_only_deliveries)
            return plan_pool_jobs(segment, chain, walk.private_.end);
    }
    if (!list_archetypes(segment->world, chain))
        return false;
    if (has_only_deliveries)
        return micap_delivery_plan_jobs(segment->world, chain);
    chain->row_count = count_rows(chain);
    if (!chain->row_count)
        return true;
    uint64_t own_rows = 0;
    if (def->parallel == MICA_PARALLEL_EVERY) {
        own_rows = split_rows_for(def, chain->row_count);
        chain->has_own_partitions = true;
        if (own_rows < chain->view_rows)
            chain->view_rows = (uint32_t)own_rows;
    }
    if (!plan_row_jobs(segment->flow, chain, own_rows))
        return false;
    micap_prepared_runs_plan(segment, chain);
    return true;
}

static uint32_t sequence_count_of(const micap_flow *flow, const micap_system *system, const micap_chain *chain)
{
    if (system->once || (system->is_ordered && !chain->is_divided))
        return 1;
    return chain->has_own_partitions ? chain->job_count : flow->partition_count;
}

static bool plan_sequences(micap_segment *segment)
{
    segment->sequence_count = 0;
    for (uint32_t i = 0; i < segment->system_count; ++i) {
        micap_system *system = segment->systems[i];
        const micap_chain *chain = &segment->chains[segment->phase->chain_of[system->order]];
        uint32_t before = system->buffer_capacity;
        system->first_sequence = segment->sequence_count;
        system->sequence_count = sequence_count_of(segment->flow, system, chain);
        if (!MICAP_RESERVE(&segment->world->memory, system->buffers, &system->buffer_capacity, system->sequence_count))
            return false;
        for (uint32_t j = before; j < system->buffer_capacity; ++j)
            system->buffers[j] = NULL;
        segment->sequence_count += system->sequence_count;
    }
    for (uint32_t i = 0; i < segment->chain_count; ++i) {
        micap_chain *chain = &segment->chains[i];
        for (uint32_t j = 0; chain->is_prepared && j < chain->prepared_count; ++j) {
            micap_running_job *job = &chain->prepared[j].job;
            job->sequence = job->system->first_sequence + job->buffer_index;
        }
    }
    return true;
}

mica_result micap_job_plan_segment(micap_segment *segment)
{
    if (segment->structure == segment->world->structure)
        return MICA_OK;
    segment->structure = 0;
    segment->prepared_count = 0;
    segment->is_cost_known = false;
    bool done = plan_partitions(segment->flow);
    for (uint32_t i = 0; done && i < segment->chain_count; ++i)
        done = plan_chain(segment, &segment->chains[segment->run_order[i]]);
    if (!done || !plan_sequences(segment))
        return micap_fail_memory(segment->world, "plan of systems");
    micap_run_steps_plan(segment);
    segment->structure = segment->world->structure;
    return MICA_OK;
}
