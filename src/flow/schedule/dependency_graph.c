/* Systems are taken in their order. For each component or stream, the last group of accesses that do not conflict with each
 * other (many readers, or one writer) is known, and the group before it. A system that fits into the last group waits for the
 * group before. A system that does not starts a new group and waits for the last. */
#include "flow/schedule/dependency_graph.h"

#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/schedule/access_conflict.h"
#include "flow/schedule/fusion.h"
#include "flow/schedule/system.h"
#include "flow/schedule/system_order.h"

/* A component or stream, and the groups of accesses to it. */
typedef struct resource {
    mica_system_access access; /* of the last group */
    uint32_t *last;            /* indices of systems */
    uint32_t last_count, last_capacity;
    uint32_t *before;
    uint32_t before_count, before_capacity;
} resource;

typedef struct builder {
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

static bool add_dependency(builder *build, micap_dependency dependency)
{
    micap_phase *phase = build->phase;
    for (uint32_t i = phase->first_dependency[dependency.to]; i < phase->dependency_count; ++i)
        if (phase->dependencies[i].from == dependency.from)
            return true;
    if (!MICAP_RESERVE(memory_of(build), phase->dependencies, &phase->dependency_capacity,
                       (uint64_t)phase->dependency_count + 1))
        return false;
    phase->dependencies[phase->dependency_count++] = dependency;
    return true;
}

static resource *resource_of(builder *build, const mica_system_access *access)
{
    for (uint32_t i = 0; i < build->resource_count; ++i) {
        resource *found = &build->resources[i];
        if (found->access.component == access->component && found->access.stream == access->stream)
            return found;
    }
    if (!MICAP_RESERVE(memory_of(build), build->resources, &build->resource_capacity,
                       (uint64_t)build->resource_count + 1))
        return NULL;
    resource *fresh = &build->resources[build->resource_count++];
    *fresh = (resource){.access = *access};
    return fresh;
}

static bool add_access(builder *build, uint32_t system, const mica_system_access *access)
{
    resource *accessed = resource_of(build, access);
    if (!accessed)
        return false;
    if (accessed->last_count && micap_accesses_conflict(&accessed->access, access)) {
        uint32_t *list = accessed->before, capacity = accessed->before_capacity;
        accessed->before = accessed->last;
        accessed->before_count = accessed->last_count;
        accessed->before_capacity = accessed->last_capacity;
        accessed->last = list;
        accessed->last_count = 0;
        accessed->last_capacity = capacity;
    }
    accessed->access = *access;
    if (!MICAP_RESERVE(memory_of(build), accessed->last, &accessed->last_capacity, (uint64_t)accessed->last_count + 1))
        return false;
    accessed->last[accessed->last_count++] = system;
    micap_dependency dependency = {.to = system, .component = access->component, .stream = access->stream};
    for (uint32_t i = 0; i < accessed->before_count; ++i) {
        dependency.from = accessed->before[i];
        if (dependency.from != system && !add_dependency(build, dependency))
            return false;
    }
    return true;
}

/* A component that is both read and written counts as written; a term and a use of it are one access. */
static uint32_t merge_accesses(mica_system_access *accesses, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t same = 0;
        while (same < kept &&
               (accesses[same].component != accesses[i].component || accesses[same].stream != accesses[i].stream ||
                (accesses[i].stream && accesses[same].write != accesses[i].write)))
            ++same;
        if (same == kept)
            accesses[kept++] = accesses[i];
        else
            accesses[same].write |= accesses[i].write;
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

/* All systems before an exclusive system, or before a flush, have ended, so systems after it wait for none of them. */
static bool add_dependencies(builder *build, const micap_order_constraints *constraints, const uint32_t *index_of)
{
    micap_phase *phase = build->phase;
    for (uint32_t to = 0; to < phase->system_count; ++to) {
        phase->first_dependency[to] = phase->dependency_count;
        const mica_system_def *def = &phase->order[to]->def;
        if (def->exclusive || def->flush_first)
            free_resources(build);
        if (def->exclusive)
            continue;
        for (uint32_t i = 0; i < constraints->count; ++i) {
            micap_dependency asked = {.from = index_of[constraints->pairs[i].from], .to = to, .is_asked = true};
            if (index_of[constraints->pairs[i].to] == to && !add_dependency(build, asked))
                return false;
        }
        mica_system_access accesses[MICAP_ACCESSES_MAX];
        uint32_t count = merge_accesses(accesses, micap_system_accesses(phase->order[to], accesses));
        for (uint32_t i = 0; i < count; ++i)
            if (!add_access(build, to, &accesses[i]))
                return false;
    }
    phase->first_dependency[phase->system_count] = phase->dependency_count;
    return true;
}

static bool reserve_order(builder *build, uint32_t count)
{
    micap_phase *phase = build->phase;
    micap_memory *memory = memory_of(build);
    return MICAP_RESERVE(memory, phase->order, &phase->order_capacity, count) &&
           MICAP_RESERVE(memory, phase->first_dependency, &phase->first_dependency_capacity, (uint64_t)count + 1) &&
           MICAP_RESERVE(memory, phase->chain_of, &phase->chain_of_capacity, count);
}

/* Puts the systems of the phase into their order, and finds which wait for which. */
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
    uint32_t *index_of = order + flow->system_count;
    for (uint32_t i = 0; i < flow->system_count; ++i)
        if (flow->systems[i]->def.phase == phase->id && !flow->systems[i]->is_removed)
            members[count++] = flow->systems[i];
    micap_order_constraints constraints = {0};
    bool done = reserve_order(build, count) && micap_order_constraints_collect(flow, members, count, &constraints);
    if (done) {
        uint32_t placed = micap_order_sort(&constraints, count, waiting, order);
        MICAP_ASSERT(placed == count, "systems that form a cycle are refused when they are added");
        phase->system_count = placed;
        phase->dependency_count = 0;
        for (uint32_t i = 0; i < placed; ++i) {
            phase->order[i] = members[order[i]];
            phase->order[i]->order = i;
            phase->order[i]->frame.order = i;
            index_of[order[i]] = i;
        }
        done = add_dependencies(build, &constraints, index_of);
    }
    free_resources(build);
    micap_order_constraints_free(flow->world, &constraints);
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
                           "system %s: .%s names %s, which does not exist", system->def.name,
                           before ? "before" : "after", name);
        }
        system->names_checked = true;
    }
}

static void update_gates(const micap_flow *flow)
{
    for (uint32_t i = 0; i < flow->phase_count; ++i)
        for (uint32_t j = 0; j < flow->phases[i]->segment_count; ++j) {
            micap_segment *segment = &flow->phases[i]->segments[j];
            segment->has_gates = false;
            for (uint32_t k = 0; k < segment->system_count; ++k) {
                micap_system *system = segment->systems[k];
                system->is_active = system->is_enabled;
                segment->has_gates |= system->is_gated || !system->is_active;
            }
        }
}

mica_result micap_dependency_graph_update_phase(micap_flow *flow, micap_phase *phase)
{
    builder build = {.flow = flow, .phase = phase};
    micap_dependency_graph_free(flow, phase);
    if (build_order(&build) && micap_fusion_build(flow, phase))
        return MICA_OK;
    micap_dependency_graph_free(flow, phase);
    return micap_fail_memory(flow->world, "graph of systems");
}

mica_result micap_dependency_graph_update(micap_flow *flow)
{
    if (flow->is_stale) {
        for (uint32_t i = 0; i < flow->phase_count; ++i) {
            mica_result result = micap_dependency_graph_update_phase(flow, flow->phases[i]);
            for (uint32_t j = 0; result != MICA_OK && j < i; ++j)
                micap_dependency_graph_free(flow, flow->phases[j]);
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

void micap_dependency_graph_free(micap_flow *flow, micap_phase *phase)
{
    micap_memory *memory = &flow->world->memory;
    micap_fusion_free(flow, phase);
    MICAP_RELEASE_ARRAY(memory, phase->order, phase->order_capacity);
    MICAP_RELEASE_ARRAY(memory, phase->dependencies, phase->dependency_capacity);
    MICAP_RELEASE_ARRAY(memory, phase->first_dependency, phase->first_dependency_capacity);
    MICAP_RELEASE_ARRAY(memory, phase->chain_of, phase->chain_of_capacity);
    phase->order = NULL;
    phase->dependencies = NULL;
    phase->first_dependency = phase->chain_of = NULL;
    phase->system_count = phase->order_capacity = 0;
    phase->dependency_count = phase->dependency_capacity = 0;
    phase->first_dependency_capacity = phase->chain_of_capacity = 0;
}
