#include "flow/schedule/fusion.h"

static bool is_level_of(int32_t priority, uint32_t level)
{
    return level == (priority > 0 ? 0u : priority == 0 ? 1u : 2u);
}

/* Whether two systems have a column in common, which is what makes a chain worth while. What else they may share is in
 * nobody's way: systems that keep to their rows only read singletons, and only write streams. */
static bool share_columns(const micap_system *a, const micap_system *b)
{
    micap_touch ours[MICAP_TOUCHES_MAX], theirs[MICAP_TOUCHES_MAX];
    uint32_t our_count = micap_system_touches(a, ours), their_count = micap_system_touches(b, theirs);
    for (uint32_t i = 0; i < our_count; ++i)
        for (uint32_t j = 0; j < their_count; ++j)
            if (ours[i].is_rows && ours[i].component == theirs[j].component)
                return true;
    return false;
}

typedef struct micap_cutter {
    micap_flow *flow;
    micap_phase *phase;
    micap_leg *leg;
    uint32_t first;    /* place of the leg's first system in the phase */
    uint32_t *visited; /* per chain: the number of the search that came by */
    uint32_t search;
} cutter;

/* Whether something outside of a chain has to run between it and a system: the system, or what it waits for, waits for a
 * chain that waits for this one. */
static bool is_reached(cutter *cut, uint32_t location, uint32_t chain, bool direct)
{
    const micap_phase *phase = cut->phase;
    for (uint32_t i = phase->link_first[location]; i < phase->link_first[location + 1]; ++i) {
        uint32_t from = phase->links[i].from;
        if (from < cut->first)
            continue;
        uint32_t other = phase->chain_of[from];
        if (other == chain) {
            if (!direct)
                return true;
            continue;
        }
        if (cut->visited[other] == cut->search)
            continue;
        cut->visited[other] = cut->search;
        const micap_chain *between = &cut->leg->chains[other];
        for (uint32_t j = 0; j < between->system_count; ++j)
            if (is_reached(cut, between->systems[j]->order, chain, false))
                return true;
    }
    return false;
}

static bool can_join(cutter *cut, const micap_system *system, uint32_t index)
{
    const micap_chain *chain = &cut->leg->chains[index];
    bool share = false;
    if (!system->is_local || !chain->systems[0]->is_local || chain->system_count == MICAP_CHAIN_SYSTEMS ||
        !is_level_of(system->def.priority, chain->level))
        return false;
    for (uint32_t i = 0; i < chain->system_count && !share; ++i)
        share = share_columns(chain->systems[i], system);
    ++cut->search;
    return share && !is_reached(cut, system->order, index, true);
}

/* The chain that a system joins: the last one that it can, else a new one. */
static uint32_t chain_for(cutter *cut, micap_system *system)
{
    micap_leg *leg = cut->leg;
    for (uint32_t i = leg->chain_count; !cut->flow->def.no_fusion && i-- > 0;)
        if (can_join(cut, system, i))
            return i;
    micap_chain *chain = &leg->chains[leg->chain_count];
    *chain = (micap_chain){.level = system->def.priority > 0 ? 0 : system->def.priority == 0 ? 1 : 2};
    return leg->chain_count++;
}

static bool fill_chains(cutter *cut)
{
    micap_leg *leg = cut->leg;
    micap_memory *memory = &cut->flow->world->memory;
    leg->chain_capacity = leg->system_count;
    leg->chains = micap_allocate_zeroed(memory, leg->chain_capacity * sizeof *leg->chains, MICAP_CACHE_LINE);
    size_t bytes = leg->system_count * sizeof *cut->visited;
    cut->visited = micap_allocate_zeroed(memory, bytes, MICAP_ARRAY_ALIGNMENT);
    bool done = leg->chains && cut->visited;
    for (uint32_t i = 0; done && i < leg->system_count; ++i) {
        uint32_t index = chain_for(cut, leg->systems[i]);
        micap_chain *chain = &leg->chains[index];
        chain->systems[chain->system_count++] = leg->systems[i];
        cut->phase->chain_of[cut->first + i] = index;
    }
    micap_release(memory, cut->visited, bytes, MICAP_ARRAY_ALIGNMENT);
    return done;
}

/* The chains that wait for a chain: `successors` of the leg from its first on. */
static bool link_chains(cutter *cut)
{
    micap_leg *leg = cut->leg;
    const micap_phase *phase = cut->phase;
    for (uint32_t from = 0; from < leg->chain_count; ++from) {
        micap_chain *chain = &leg->chains[from];
        chain->first_successor = leg->successor_count;
        for (uint32_t i = phase->link_first[cut->first]; i < phase->link_first[cut->first + leg->system_count]; ++i) {
            const micap_link *link = &phase->links[i];
            if (link->from < cut->first || phase->chain_of[link->from] != from || phase->chain_of[link->to] == from)
                continue;
            uint32_t to = phase->chain_of[link->to];
            bool known = false;
            for (uint32_t j = chain->first_successor; j < leg->successor_count; ++j)
                known |= leg->successors[j] == to;
            if (known)
                continue;
            if (!MICAP_RESERVE(&cut->flow->world->memory, leg->successors, &leg->successor_capacity,
                               (uint64_t)leg->successor_count + 1))
                return false;
            leg->successors[leg->successor_count++] = to;
            ++leg->chains[to].predecessor_count;
        }
        chain->successor_count = leg->successor_count - chain->first_successor;
    }
    return true;
}

/* The order in which one thread runs the chains: of those that may start, the highest priority, then the first. */
static bool order_runs(cutter *cut)
{
    micap_leg *leg = cut->leg;
    micap_memory *memory = &cut->flow->world->memory;
    leg->run_order = micap_allocate(memory, leg->chain_capacity * sizeof *leg->run_order, MICAP_ARRAY_ALIGNMENT);
    if (!leg->run_order)
        return false;
    for (uint32_t i = 0; i < leg->chain_count; ++i)
        atomic_init(&leg->chains[i].waiting_for, leg->chains[i].predecessor_count);
    for (uint32_t placed = 0; placed < leg->chain_count; ++placed) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < leg->chain_count; ++i) {
            const micap_chain *chain = &leg->chains[i];
            if (atomic_load_explicit(&chain->waiting_for, memory_order_relaxed) == 0 &&
                (best == UINT32_MAX || chain->systems[0]->def.priority > leg->chains[best].systems[0]->def.priority))
                best = i;
        }
        MICAP_ASSERT(best != UINT32_MAX, "chains make no loop");
        leg->run_order[placed] = best;
        micap_chain *chain = &leg->chains[best];
        atomic_store_explicit(&chain->waiting_for, UINT32_MAX, memory_order_relaxed);
        for (uint32_t i = 0; i < chain->successor_count; ++i)
            atomic_fetch_sub_explicit(&leg->chains[leg->successors[chain->first_successor + i]].waiting_for, 1,
                                      memory_order_relaxed);
    }
    return true;
}

static bool add_leg(micap_flow *flow, micap_phase *phase, uint32_t first, uint32_t count)
{
    if (!MICAP_RESERVE(&flow->world->memory, phase->legs, &phase->leg_capacity, (uint64_t)phase->leg_count + 1))
        return false;
    micap_leg *leg = &phase->legs[phase->leg_count++];
    *leg = (micap_leg){
        .world = flow->world, .flow = flow, .phase = phase, .systems = phase->order + first, .system_count = count};
    if (phase->order[first]->def.exclusive) {
        leg->exclusive = phase->order[first];
        return true;
    }
    cutter cut = {.flow = flow, .phase = phase, .leg = leg, .first = first};
    if (!fill_chains(&cut) || !link_chains(&cut) || !order_runs(&cut))
        return false;
    return true;
}

bool micap_chains_build(micap_flow *flow, micap_phase *phase)
{
    for (uint32_t first = 0, count; first < phase->system_count; first += count) {
        count = 1;
        if (!phase->order[first]->def.exclusive)
            while (first + count < phase->system_count && !phase->order[first + count]->def.exclusive)
                ++count;
        if (!add_leg(flow, phase, first, count))
            return false;
    }
    for (uint32_t i = 0; i < phase->leg_count; ++i) /* where legs lie is known now */
        for (uint32_t j = 0; j < phase->legs[i].chain_count; ++j)
            phase->legs[i].chains[j].leg = &phase->legs[i];
    return true;
}
