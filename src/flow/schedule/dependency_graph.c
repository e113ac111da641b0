/* From declared access to who waits for whom. Systems stand in their order; for each thing they touch, the last group of accesses that
 * do not disturb each other (many readers, or one writer) is remembered with the group before it. A system that fits into
 * the last group waits for the group before; one that does not starts a new group and waits for the last. */
#include "flow/schedule/fusion.h"
#include "flow/schedule/system_order.h"

#include "core/world/report.h"

/* Something that systems touch, and the groups of accesses to it. */
typedef struct micap_resource {
    micap_touch kind; /* of the last group */
    uint32_t *last;   /* places of systems */
    uint32_t last_count, last_capacity;
    uint32_t *before;
    uint32_t before_count, before_capacity;
} resource;

typedef struct micap_builder {
    micap_flow *flow;
    micap_phase *phase;
    resource *resources;
    uint32_t resource_count;
    uint32_t resource_capacity;
} builder;

static micap_memory *memory_of(builder *build)
{
    return &build->flow->world->memory;
}

static bool add_link(builder *build, uint32_t from, uint32_t to, micap_reason reason)
{
    micap_phase *phase = build->phase;
    for (uint32_t i = phase->link_first[to]; i < phase->link_count; ++i)
        if (phase->links[i].from == from)
            return true;
    if (!MICAP_RESERVE(memory_of(build), phase->links, &phase->link_capacity, (uint64_t)phase->link_count + 1))
        return false;
    phase->links[phase->link_count++] = (micap_link){from, to, reason};
    return true;
}

static resource *resource_of(builder *build, const micap_touch *touch)
{
    for (uint32_t i = 0; i < build->resource_count; ++i) {
        resource *found = &build->resources[i];
        if (found->kind.component == touch->component && found->kind.stream == touch->stream)
            return found;
    }
    if (!MICAP_RESERVE(memory_of(build), build->resources, &build->resource_capacity,
                       (uint64_t)build->resource_count + 1))
        return NULL;
    resource *fresh = &build->resources[build->resource_count++];
    *fresh = (resource){.kind = *touch};
    return fresh;
}

static bool link_touch(builder *build, uint32_t location, const micap_touch *touch)
{
    resource *touched = resource_of(build, touch);
    if (!touched)
        return false;
    if (touched->last_count && micap_touches_conflict(&touched->kind, touch)) {
        uint32_t *list = touched->before, capacity = touched->before_capacity;
        touched->before = touched->last;
        touched->before_count = touched->last_count;
        touched->before_capacity = touched->last_capacity;
        touched->last = list;
        touched->last_count = 0;
        touched->last_capacity = capacity;
    }
    touched->kind = *touch;
    if (!MICAP_RESERVE(memory_of(build), touched->last, &touched->last_capacity, (uint64_t)touched->last_count + 1))
        return false;
    touched->last[touched->last_count++] = location;
    micap_reason reason = {.component = touch->component, .stream = touch->stream};
    for (uint32_t i = 0; i < touched->before_count; ++i)
        if (touched->before[i] != location && !add_link(build, touched->before[i], location, reason))
            return false;
    return true;
}

/* A component that is both read and written counts as written; a term and a use of it are one touch. */
static uint32_t merge_touches(micap_touch *touches, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t same = 0;
        while (same < kept &&
               (touches[same].component != touches[i].component || touches[same].stream != touches[i].stream ||
                (touches[i].stream && touches[same].write != touches[i].write)))
            ++same;
        if (same == kept)
            touches[kept++] = touches[i];
        else
            touches[same].write |= touches[i].write;
    }
    return kept;
}

static void free_resources(builder *build)
{
    for (uint32_t i = 0; i < build->resource_count; ++i) {
        MICAP_RELEASE_ARRAY(memory_of(build), build->resources[i].last, build->resources[i].last_capacity);
        MICAP_RELEASE_ARRAY(memory_of(build), build->resources[i].before, build->resources[i].before_capacity);
    }
    MICAP_RELEASE_ARRAY(memory_of(build), build->resources, build->resource_capacity);
    build->resources = NULL;
    build->resource_count = build->resource_capacity = 0;
}

/* An exclusive system ends everything before it: what comes behind it waits for nothing before it. */
static bool link_all(builder *build, const micap_asked *asked, const uint32_t *place_of)
{
    micap_phase *phase = build->phase;
    for (uint32_t to = 0; to < phase->system_count; ++to) {
        phase->link_first[to] = phase->link_count;
        if (phase->order[to]->def.exclusive) {
            free_resources(build);
            continue;
        }
        for (uint32_t i = 0; i < asked->count; ++i)
            if (place_of[asked->pairs[i].to] == to &&
                !add_link(build, place_of[asked->pairs[i].from], to, (micap_reason){.is_asked = true}))
                return false;
        micap_touch touches[MICAP_TOUCHES_MAX];
        uint32_t count = merge_touches(touches, micap_system_touches(phase->order[to], touches));
        for (uint32_t i = 0; i < count; ++i)
            if (!link_touch(build, to, &touches[i]))
                return false;
    }
    phase->link_first[phase->system_count] = phase->link_count;
    return true;
}

static bool reserve_order(builder *build, uint32_t count)
{
    micap_phase *phase = build->phase;
    micap_memory *memory = memory_of(build);
    return MICAP_RESERVE(memory, phase->order, &phase->order_capacity, count) &&
           MICAP_RESERVE(memory, phase->link_first, &phase->link_first_capacity, (uint64_t)count + 1) &&
           MICAP_RESERVE(memory, phase->chain_of, &phase->chain_of_capacity, count);
}

/* Puts the systems of the phase into their order, and links them. */
static bool build_order(builder *build)
{
    micap_flow *flow = build->flow;
    micap_phase *phase = build->phase;
    uint32_t count = 0;
    size_t bytes = flow->system_count * (sizeof(micap_system *) + 3 * sizeof(uint32_t));
    micap_system **members = micap_allocate(memory_of(build), bytes, MICAP_ARRAY_ALIGNMENT);
    if (!members)
        return false;
    uint32_t *waiting = (uint32_t *)(void *)(members + flow->system_count), *order = waiting + flow->system_count;
    uint32_t *place_of = order + flow->system_count;
    for (uint32_t i = 0; i < flow->system_count; ++i)
        if (flow->systems[i]->def.phase == phase->id && !flow->systems[i]->is_removed)
            members[count++] = flow->systems[i];
    micap_asked asked = {0};
    bool done = reserve_order(build, count) && micap_asked_collect(flow->world, members, count, &asked);
    if (done) {
        uint32_t placed = micap_order_sort(&asked, count, waiting, order);
        MICAP_ASSERT(placed == count, "a system that makes a loop was refused");
        phase->system_count = placed;
        phase->link_count = 0;
        for (uint32_t i = 0; i < placed; ++i) {
            phase->order[i] = members[order[i]];
            phase->order[i]->order = i;
            phase->order[i]->frame.order = i;
            place_of[order[i]] = i;
        }
        done = link_all(build, &asked, place_of);
    }
    free_resources(build);
    micap_asked_free(flow->world, &asked);
    micap_release(memory_of(build), members, bytes, MICAP_ARRAY_ALIGNMENT);
    return done;
}

static void report_unknown_names(const micap_flow *flow)
{
    for (uint32_t i = 0; i < flow->system_count; ++i) {
        micap_system *system = flow->systems[i];
        for (uint32_t j = 0; j < 2 * MICA_SYSTEM_ORDERS_MAX && !system->names_checked; ++j) {
            bool before = j < MICA_SYSTEM_ORDERS_MAX;
            const char *name = before ? system->def.before[j] : system->def.after[j - MICA_SYSTEM_ORDERS_MAX];
            if (name && !mica_system_find(flow->world, name).id)
                micap_fail(flow->world, MICA_ERROR_UNKNOWN, system->def.location,
                           "system %s: there is no system %s that it could run %s", system->def.name, name,
                           before ? "before" : "after");
        }
        system->names_checked = true;
    }
}

static void update_gates(const micap_flow *flow)
{
    for (uint32_t i = 0; i < flow->phase_count; ++i)
        for (uint32_t j = 0; j < flow->phases[i]->leg_count; ++j) {
            micap_leg *leg = &flow->phases[i]->legs[j];
            leg->has_gates = false;
            for (uint32_t k = 0; k < leg->system_count; ++k) {
                micap_system *system = leg->systems[k];
                system->is_active = system->is_enabled;
                leg->has_gates |= system->is_gated || !system->is_active;
            }
        }
}

mica_result micap_graph_update_phase(micap_flow *flow, micap_phase *phase)
{
    builder build = {.flow = flow, .phase = phase};
    micap_graph_free(flow, phase);
    if (build_order(&build) && micap_chains_build(flow, phase))
        return MICA_OK;
    micap_graph_free(flow, phase);
    return micap_fail_memory(flow->world, "graph of systems");
}

mica_result micap_graph_update(micap_flow *flow)
{
    if (flow->is_stale) {
        for (uint32_t i = 0; i < flow->phase_count; ++i) {
            mica_result result = micap_graph_update_phase(flow, flow->phases[i]);
            for (uint32_t j = 0; result != MICA_OK && j < i; ++j)
                micap_graph_free(flow, flow->phases[j]);
            if (result != MICA_OK)
                return result;
        }
        flow->is_stale = false;
        flow->gates_stale = true;
        report_unknown_names(flow);
    }
    if (flow->gates_stale)
        update_gates(flow);
    flow->gates_stale = false;
    return MICA_OK;
}

static void free_leg(micap_memory *memory, micap_leg *leg)
{
    for (uint32_t i = 0; i < leg->chain_count; ++i) {
        micap_chain *chain = &leg->chains[i];
        MICAP_RELEASE_ARRAY(memory, chain->archetypes, chain->archetype_capacity);
        MICAP_RELEASE_ARRAY(memory, chain->matches, chain->matches_capacity);
        MICAP_RELEASE_ARRAY(memory, chain->starts, chain->start_capacity);
    }
    micap_release(memory, leg->chains, leg->chain_capacity * sizeof *leg->chains, MICAP_CACHE_LINE);
    MICAP_RELEASE_ARRAY(memory, leg->run_order, leg->run_order ? leg->chain_capacity : 0);
    MICAP_RELEASE_ARRAY(memory, leg->successors, leg->successor_capacity);
}

void micap_graph_free(micap_flow *flow, micap_phase *phase)
{
    micap_memory *memory = &flow->world->memory;
    for (uint32_t i = 0; i < phase->leg_count; ++i)
        free_leg(memory, &phase->legs[i]);
    MICAP_RELEASE_ARRAY(memory, phase->legs, phase->leg_capacity);
    MICAP_RELEASE_ARRAY(memory, phase->order, phase->order_capacity);
    MICAP_RELEASE_ARRAY(memory, phase->links, phase->link_capacity);
    MICAP_RELEASE_ARRAY(memory, phase->link_first, phase->link_first_capacity);
    MICAP_RELEASE_ARRAY(memory, phase->chain_of, phase->chain_of_capacity);
    phase->legs = NULL;
    phase->order = NULL;
    phase->links = NULL;
    phase->link_first = phase->chain_of = NULL;
    phase->leg_count = phase->leg_capacity = phase->system_count = phase->order_capacity = 0;
    phase->link_count = phase->link_capacity = phase->link_first_capacity = phase->chain_of_capacity = 0;
}
