#include "flow/schedule/fusion.h"

#include "flow/schedule/access_conflict.h"
#include "flow/schedule/dependency_graph.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/system.h"

static uint32_t priority_of(const micap_system *system)
{
    return system->def.priority > 0 ? 0 : system->def.priority == 0 ? 1 : 2;
}

/* Whether two systems access the same column, which makes fusion worthwhile. Other things that local systems access do not
 * conflict: they only read singletons, and only write streams. */
static bool share_columns(const micap_system *a, const micap_system *b)
{
    mica_system_access ours[MICAP_ACCESSES_MAX], theirs[MICAP_ACCESSES_MAX];
    uint32_t our_count = micap_system_accesses(a, ours), their_count = micap_system_accesses(b, theirs);
    for (uint32_t i = 0; i < our_count; ++i)
        for (uint32_t j = 0; j < their_count; ++j)
            if (ours[i].own_rows && ours[i].component == theirs[j].component)
                return true;
    return false;
}

typedef struct builder {
    micap_flow *flow;
    micap_phase *phase;
    micap_segment *segment;
    uint32_t first;    /* index of the segment's first system in the phase */
    uint32_t *visited; /* per chain: the number of the search that visited it */
    uint32_t search;
} builder;

/* Whether another chain must run between a chain and a system: the system waits, directly or not, for a chain that waits for
 * this one. */
static bool has_chain_between(builder *build, uint32_t system, uint32_t chain, bool direct)
{
    const micap_phase *phase = build->phase;
    for (uint32_t i = phase->first_dependency[system]; i < phase->first_dependency[system + 1]; ++i) {
        uint32_t from = phase->dependencies[i].from;
        if (from < build->first)
            continue;
        uint32_t other = phase->chain_of[from];
        if (other == chain) {
            if (!direct)
                return true;
            continue;
        }
        if (build->visited[other] == build->search)
            continue;
        build->visited[other] = build->search;
        const micap_chain *between = &build->segment->chains[other];
        for (uint32_t j = 0; j < between->system_count; ++j)
            if (has_chain_between(build, between->systems[j]->order, chain, false))
                return true;
    }
    return false;
}

static bool can_join(builder *build, const micap_system *system, uint32_t index)
{
    const micap_chain *chain = &build->segment->chains[index];
    bool share = false;
    if (!system->is_local || !chain->systems[0]->is_local || chain->system_count == MICAP_CHAIN_SYSTEMS ||
        chain->priority != priority_of(system))
        return false;
    for (uint32_t i = 0; i < chain->system_count && !share; ++i)
        share = share_columns(chain->systems[i], system);
    ++build->search;
    return share && !has_chain_between(build, system->order, index, true);
}

/* Returns the last chain that the system can join, or a new chain. */
static uint32_t chain_for(builder *build, micap_system *system)
{
    micap_segment *segment = build->segment;
    for (uint32_t i = segment->chain_count; !build->flow->def.no_fusion && i-- > 0;)
        if (can_join(build, system, i))
            return i;
    micap_chain *chain = &segment->chains[segment->chain_count];
    *chain = (micap_chain){.priority = priority_of(system)};
    return segment->chain_count++;
}

static bool fill_chains(builder *build)
{
    micap_segment *segment = build->segment;
    micap_memory *memory = &build->flow->world->memory;
    segment->chain_capacity = segment->system_count;
    segment->chains =
        micap_allocate_zeroed(memory, segment->chain_capacity * sizeof *segment->chains, MICAP_CACHE_LINE);
    size_t bytes = segment->system_count * sizeof *build->visited;
    build->visited = micap_allocate_zeroed(memory, bytes, MICAP_ARRAY_ALIGNMENT);
    bool done = segment->chains && build->visited;
    for (uint32_t i = 0; done && i < segment->system_count; ++i) {
        uint32_t index = chain_for(build, segment->systems[i]);
        micap_chain *chain = &segment->chains[index];
        chain->systems[chain->system_count++] = segment->systems[i];
        build->phase->chain_of[build->first + i] = index;
    }
    micap_release(memory, build->visited, bytes, MICAP_ARRAY_ALIGNMENT);
    return done;
}

/* Lists the chains that wait for each chain in the successors of the segment. */
static bool link_chains(builder *build)
{
    micap_segment *segment = build->segment;
    const micap_phase *phase = build->phase;
    for (uint32_t from = 0; from < segment->chain_count; ++from) {
        micap_chain *chain = &segment->chains[from];
        chain->first_successor = segment->successor_count;
        uint32_t end = phase->first_dependency[build->first + segment->system_count];
        for (uint32_t i = phase->first_dependency[build->first]; i < end; ++i) {
            const micap_dependency *dependency = &phase->dependencies[i];
            uint32_t to = phase->chain_of[dependency->to];
            if (dependency->from < build->first || phase->chain_of[dependency->from] != from || to == from)
                continue;
            bool known = false;
            for (uint32_t j = chain->first_successor; j < segment->successor_count; ++j)
                known |= segment->successors[j] == to;
            if (known)
                continue;
            if (!MICAP_RESERVE(&build->flow->world->memory, segment->successors, &segment->successor_capacity,
                               (uint64_t)segment->successor_count + 1))
                return false;
            segment->successors[segment->successor_count++] = to;
            ++segment->chains[to].predecessor_count;
        }
        chain->successor_count = segment->successor_count - chain->first_successor;
    }
    return true;
}

/* The order in which one thread runs the chains: of those that may start, the one with the highest priority, then the first. */
static bool order_chains(builder *build)
{
    micap_segment *segment = build->segment;
    micap_memory *memory = &build->flow->world->memory;
    segment->run_order =
        micap_allocate(memory, segment->chain_capacity * sizeof *segment->run_order, MICAP_ARRAY_ALIGNMENT);
    if (!segment->run_order)
        return false;
    for (uint32_t i = 0; i < segment->chain_count; ++i)
        atomic_init(&segment->chains[i].waiting_for, segment->chains[i].predecessor_count);
    for (uint32_t placed = 0; placed < segment->chain_count; ++placed) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < segment->chain_count; ++i) {
            const micap_chain *chain = &segment->chains[i];
            if (atomic_load_explicit(&chain->waiting_for, memory_order_relaxed) == 0 &&
                (best == UINT32_MAX ||
                 chain->systems[0]->def.priority > segment->chains[best].systems[0]->def.priority))
                best = i;
        }
        MICAP_ASSERT(best != UINT32_MAX, "chains form no cycle");
        segment->run_order[placed] = best;
        micap_chain *chain = &segment->chains[best];
        atomic_store_explicit(&chain->waiting_for, UINT32_MAX, memory_order_relaxed);
        for (uint32_t i = 0; i < chain->successor_count; ++i)
            atomic_fetch_sub_explicit(&segment->chains[segment->successors[chain->first_successor + i]].waiting_for, 1,
                                      memory_order_relaxed);
    }
    return true;
}

/* Makes room for what the plan prepares. */
static bool allocate_prepared_runs(builder *build)
{
    micap_segment *segment = build->segment;
    micap_memory *memory = &build->flow->world->memory;
    segment->prepared =
        micap_allocate_zeroed(memory, segment->system_count * sizeof *segment->prepared, MICAP_CACHE_LINE);
    segment->steps = micap_allocate(memory, segment->chain_capacity * sizeof *segment->steps, MICAP_ARRAY_ALIGNMENT);
    return segment->prepared && segment->steps;
}

static bool add_segment(micap_flow *flow, micap_phase *phase, uint32_t first, uint32_t count)
{
    if (!MICAP_RESERVE(&flow->world->memory, phase->segments, &phase->segment_capacity,
                       (uint64_t)phase->segment_count + 1))
        return false;
    micap_segment *segment = &phase->segments[phase->segment_count++];
    *segment = (micap_segment){
        .world = flow->world, .flow = flow, .phase = phase, .systems = phase->order + first, .system_count = count};
    if (phase->order[first]->def.exclusive) {
        segment->exclusive = phase->order[first];
        return true;
    }
    builder build = {.flow = flow, .phase = phase, .segment = segment, .first = first};
    return fill_chains(&build) && link_chains(&build) && order_chains(&build) && allocate_prepared_runs(&build);
}

/* Whether the system is in another segment than those before it. */
static bool begins_segment(const micap_system *system)
{
    return system->def.exclusive || system->def.flush_first;
}

bool micap_fusion_build(micap_flow *flow, micap_phase *phase)
{
    for (uint32_t first = 0, count; first < phase->system_count; first += count) {
        count = 1;
        if (!phase->order[first]->def.exclusive)
            while (first + count < phase->system_count && !begins_segment(phase->order[first + count]))
                ++count;
        if (!add_segment(flow, phase, first, count))
            return false;
    }
    for (uint32_t i = 0; i < phase->segment_count; ++i) /* segments no longer move */
        for (uint32_t j = 0; j < phase->segments[i].chain_count; ++j)
            phase->segments[i].chains[j].segment = &phase->segments[i];
    return true;
}

static void free_segment(micap_memory *memory, micap_segment *segment)
{
    for (uint32_t i = 0; i < segment->chain_count; ++i) {
        micap_chain *chain = &segment->chains[i];
        MICAP_RELEASE_ARRAY(memory, chain->archetypes, chain->archetype_capacity);
        MICAP_RELEASE_ARRAY(memory, chain->matches, chain->matches_capacity);
        MICAP_RELEASE_ARRAY(memory, chain->starts, chain->start_capacity);
    }
    micap_release(memory, segment->chains, segment->chain_capacity * sizeof *segment->chains, MICAP_CACHE_LINE);
    MICAP_RELEASE_ARRAY(memory, segment->run_order, segment->run_order ? segment->chain_capacity : 0);
    MICAP_RELEASE_ARRAY(memory, segment->steps, segment->steps ? segment->chain_capacity : 0);
    MICAP_RELEASE_ARRAY(memory, segment->successors, segment->successor_capacity);
    micap_release(memory, segment->prepared, segment->prepared ? segment->system_count * sizeof *segment->prepared : 0,
                  MICAP_CACHE_LINE);
}

void micap_fusion_free(micap_flow *flow, micap_phase *phase)
{
    micap_memory *memory = &flow->world->memory;
    for (uint32_t i = 0; i < phase->segment_count; ++i)
        free_segment(memory, &phase->segments[i]);
    MICAP_RELEASE_ARRAY(memory, phase->segments, phase->segment_capacity);
    phase->segments = NULL;
    phase->segment_count = phase->segment_capacity = 0;
}
