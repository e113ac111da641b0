#include "flow/schedule/system_order.h"

#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/schedule/phase.h"

#include <stdio.h>

/* The position of a system in a list whose systems know their places; `count` if it is not there. */
static uint32_t find_in(const micap_flow *flow, micap_system *const *systems, uint32_t count, const char *name)
{
    const micap_system *found = micap_system_find_name(flow, name);
    return found && found->place < count && systems[found->place] == found ? found->place : count;
}

static bool add_pair(mica_world *world, micap_order_constraints *constraints, uint32_t from, uint32_t to)
{
    if (!MICAP_RESERVE(&world->memory, constraints->pairs, &constraints->capacity, (uint64_t)constraints->count + 1))
        return false;
    constraints->pairs[constraints->count++] = (struct micap_order_pair){from, to};
    return true;
}

/* Puts the pairs into the order of their first systems. */
static bool sort_pairs(mica_world *world, uint32_t count, micap_order_constraints *constraints)
{
    size_t bytes = constraints->count * sizeof *constraints->pairs;
    struct micap_order_pair *old = bytes ? micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT) : NULL;
    if ((bytes && !old) ||
        !MICAP_RESERVE(&world->memory, constraints->firsts, &constraints->first_capacity, (uint64_t)count + 1)) {
        micap_release(&world->memory, old, bytes, MICAP_ARRAY_ALIGNMENT);
        return false;
    }
    uint32_t *firsts = constraints->firsts, first = 0;
    memset(firsts, 0, (count + (size_t)1) * sizeof *firsts);
    for (uint32_t i = 0; i < constraints->count; ++i)
        ++firsts[constraints->pairs[i].from];
    for (uint32_t i = 0, own; i <= count; ++i, first += own) {
        own = firsts[i];
        firsts[i] = first;
    }
    if (bytes)
        memcpy(old, constraints->pairs, bytes);
    for (uint32_t i = 0; i < constraints->count; ++i)
        constraints->pairs[firsts[old[i].from]++] = old[i];
    for (uint32_t i = count; i-- > 0;) /* each is where the next one begins */
        firsts[i + 1] = firsts[i];
    firsts[0] = 0;
    micap_release(&world->memory, old, bytes, MICAP_ARRAY_ALIGNMENT);
    return true;
}

bool micap_order_constraints_collect(micap_flow *flow, micap_system *const *systems, uint32_t count,
                                     micap_order_constraints *out)
{
    for (uint32_t i = 0; i < count; ++i)
        systems[i]->place = i;
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t j = 0; j < MICA_SYSTEM_ORDERS_MAX; ++j) {
            const char *before = systems[i]->def.before[j], *after = systems[i]->def.after[j];
            uint32_t later = before ? find_in(flow, systems, count, before) : count;
            uint32_t earlier = after ? find_in(flow, systems, count, after) : count;
            if ((later < count && !add_pair(flow->world, out, i, later)) ||
                (earlier < count && !add_pair(flow->world, out, earlier, i)))
                return false;
        }
    return sort_pairs(flow->world, count, out);
}

void micap_order_constraints_free(mica_world *world, micap_order_constraints *constraints)
{
    MICAP_RELEASE_ARRAY(&world->memory, constraints->pairs, constraints->capacity);
    MICAP_RELEASE_ARRAY(&world->memory, constraints->firsts, constraints->first_capacity);
    *constraints = (micap_order_constraints){0};
}

/* Of the systems whose predecessors are placed, the one that was added first comes next. */
uint32_t micap_order_sort(const micap_order_constraints *constraints, uint32_t count, uint32_t *waiting,
                          uint32_t *out_order)
{
    memset(waiting, 0, count * sizeof *waiting);
    for (uint32_t i = 0; i < constraints->count; ++i)
        ++waiting[constraints->pairs[i].to];
    if (!constraints->count) {
        for (uint32_t i = 0; i < count; ++i)
            out_order[i] = i;
        return count;
    }
    uint32_t placed = 0;
    for (uint32_t i = 0; i < count;) {
        if (waiting[i] != 0) {
            ++i;
            continue;
        }
        waiting[i] = UINT32_MAX;
        out_order[placed++] = i;
        uint32_t next = i + 1;
        for (uint32_t j = constraints->firsts[i]; j < constraints->firsts[i + 1]; ++j)
            if (--waiting[constraints->pairs[j].to] == 0 && constraints->pairs[j].to < next)
                next = constraints->pairs[j].to;
        i = next;
    }
    return placed;
}

/* Walks back from a system that could not be placed until a system comes twice, and reports that cycle. */
static void report_cycle(mica_world *world, micap_system *const *systems, const micap_order_constraints *constraints,
                         const uint32_t *waiting, uint32_t *trail)
{
    uint32_t at = 0, length = 0;
    while (waiting[at] == UINT32_MAX)
        ++at;
    uint32_t start = 0;
    for (bool closed = false; !closed;) {
        trail[length++] = at;
        uint32_t i = 0; /* a system that waits has a predecessor */
        while (constraints->pairs[i].to != at || waiting[constraints->pairs[i].from] == UINT32_MAX)
            ++i;
        at = constraints->pairs[i].from;
        for (start = 0; start < length && trail[start] != at;)
            ++start;
        closed = start < length;
    }
    char text[400];
    size_t used = 0;
    for (uint32_t i = length; i-- > start && used < sizeof text;)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s before ", systems[trail[i]]->def.name);
    micap_fail(world, MICA_ERROR_INVALID, systems[trail[start]]->def.location,
               "systems: before and after form a loop: %s%s", text, systems[trail[length - 1]]->def.name);
}

static bool phase_has_cycle(micap_flow *flow, mica_phase phase, micap_system *const *systems, uint32_t count)
{
    mica_world *world = flow->world;
    size_t bytes = count * (sizeof(micap_system *) + 3 * sizeof(uint32_t));
    micap_system **members = micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    micap_order_constraints constraints = {0};
    bool has_cycle = true;
    if (members) {
        uint32_t *waiting = (uint32_t *)(void *)(members + count), *order = waiting + count, *trail = order + count;
        uint32_t member_count = 0;
        for (uint32_t i = 0; i < count; ++i)
            if (systems[i]->def.phase == phase && !systems[i]->is_removed)
                members[member_count++] = systems[i];
        if (!micap_order_constraints_collect(flow, members, member_count, &constraints)) {
            micap_fail_memory(world, "system");
        } else {
            has_cycle = micap_order_sort(&constraints, member_count, waiting, order) < member_count;
            if (has_cycle)
                report_cycle(world, members, &constraints, waiting, trail);
        }
    } else {
        micap_fail_memory(world, "system");
    }
    micap_order_constraints_free(world, &constraints);
    micap_release(&world->memory, members, bytes, MICAP_ARRAY_ALIGNMENT);
    return has_cycle;
}

static uint32_t index_of_phase(const micap_flow *flow, mica_phase phase)
{
    uint32_t index = 0;
    while (flow->phases[index]->id != phase)
        ++index;
    return index;
}

/* Whether before or after of these systems contradict the order of phases. */
static bool contradicts_phases(const micap_flow *flow, micap_system *const *systems, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const mica_system_def *def = &systems[i]->def;
        uint32_t own = index_of_phase(flow, def->phase);
        for (uint32_t j = 0; j < 2 * MICA_SYSTEM_ORDERS_MAX; ++j) {
            bool before = j < MICA_SYSTEM_ORDERS_MAX;
            const char *name = before ? def->before[j] : def->after[j - MICA_SYSTEM_ORDERS_MAX];
            const micap_system *other = name ? micap_system_find_name(flow, name) : NULL;
            if (!other)
                continue;
            uint32_t index = index_of_phase(flow, other->def.phase);
            if (before ? index >= own : index <= own)
                continue;
            micap_fail(flow->world, MICA_ERROR_INVALID, def->location,
                       "system %s: it can't run %s %s, because phase %s runs %s phase %s", def->name,
                       before ? "before" : "after", name, flow->phases[index]->name, before ? "before" : "after",
                       flow->phases[own]->name);
            return true;
        }
    }
    return false;
}

static bool has_any(const char *const *names)
{
    for (uint32_t i = 0; i < MICA_SYSTEM_ORDERS_MAX; ++i)
        if (names[i])
            return true;
    return false;
}

bool micap_order_has_cycle(micap_flow *flow, micap_system *const *systems, uint32_t count)
{
    bool is_ordered = false;
    for (uint32_t i = 0; !is_ordered && i < count; ++i)
        is_ordered = has_any(systems[i]->def.before) || has_any(systems[i]->def.after);
    for (uint32_t i = 0; is_ordered && i < flow->phase_count; ++i)
        if (phase_has_cycle(flow, flow->phases[i]->id, systems, count))
            return true;
    return is_ordered && contradicts_phases(flow, systems, count);
}

bool micap_order_fails(micap_flow *flow, micap_system *added)
{
    if (micap_system_names_mention(flow, added) || (has_any(added->def.before) && has_any(added->def.after)))
        return micap_order_has_cycle(flow, flow->systems, flow->system_count + 1);
    return contradicts_phases(flow, &added, 1);
}
