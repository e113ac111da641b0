/* The order of systems in a phase: as they were added, but for what before and after ask. */
#include "flow/schedule/system_order.h"

#include "core/world/report.h"

#include <stdio.h>

static uint32_t find_in(micap_system *const *systems, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; ++i)
        if (strcmp(systems[i]->def.name, name) == 0)
            return i;
    return count;
}

static bool add_asked(mica_world *world, micap_asked *asked, uint32_t from, uint32_t to)
{
    if (!MICAP_RESERVE(&world->memory, asked->pairs, &asked->capacity, (uint64_t)asked->count + 1))
        return false;
    asked->pairs[asked->count++] = (struct micap_pair){from, to};
    return true;
}

bool micap_asked_collect(mica_world *world, micap_system *const *systems, uint32_t count, micap_asked *out)
{
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t j = 0; j < MICA_SYSTEM_ORDERS_MAX; ++j) {
            const char *before = systems[i]->def.before[j], *after = systems[i]->def.after[j];
            uint32_t later = before ? find_in(systems, count, before) : count;
            uint32_t earlier = after ? find_in(systems, count, after) : count;
            if ((later < count && !add_asked(world, out, i, later)) ||
                (earlier < count && !add_asked(world, out, earlier, i)))
                return false;
        }
    return true;
}

void micap_asked_free(mica_world *world, micap_asked *asked)
{
    MICAP_RELEASE_ARRAY(&world->memory, asked->pairs, asked->capacity);
    *asked = (micap_asked){0};
}

/* Of those whose predecessors are placed, the one that was added first comes next. */
uint32_t micap_order_sort(const micap_asked *asked, uint32_t count, uint32_t *waiting, uint32_t *out_order)
{
    memset(waiting, 0, count * sizeof *waiting);
    for (uint32_t i = 0; i < asked->count; ++i)
        ++waiting[asked->pairs[i].to];
    if (!asked->count) {
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
        for (uint32_t j = 0; j < asked->count; ++j)
            if (asked->pairs[j].from == i && --waiting[asked->pairs[j].to] == 0 && asked->pairs[j].to < next)
                next = asked->pairs[j].to;
        i = next;
    }
    return placed;
}

/* Walks back from one that could not be placed until a system comes twice, and tells the loop in the order it is asked for. */
static void report_loop(mica_world *world, micap_system *const *systems, const micap_asked *asked,
                        const uint32_t *waiting, uint32_t *trail)
{
    uint32_t at = 0, length = 0;
    while (waiting[at] == UINT32_MAX)
        ++at;
    uint32_t start = 0;
    for (bool closed = false; !closed;) {
        trail[length++] = at;
        uint32_t i = 0; /* who waits has somebody to wait for */
        while (asked->pairs[i].to != at || waiting[asked->pairs[i].from] == UINT32_MAX)
            ++i;
        at = asked->pairs[i].from;
        for (start = 0; start < length && trail[start] != at;)
            ++start;
        closed = start < length;
    }
    char text[400];
    size_t used = 0;
    for (uint32_t i = length; i-- > start && used < sizeof text;)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s before ", systems[trail[i]]->def.name);
    micap_fail(world, MICA_ERROR_INVALID, systems[trail[start]]->def.location,
               "systems: before and after make a loop: %s%s", text, systems[trail[length - 1]]->def.name);
}

/* In one phase; `members` has room for all. */
static bool phase_has_loop(micap_flow *flow, mica_phase phase, micap_system *const *systems, uint32_t count)
{
    mica_world *world = flow->world;
    size_t bytes = count * (sizeof(micap_system *) + 3 * sizeof(uint32_t));
    micap_system **members = micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    micap_asked asked = {0};
    bool bad = true;
    if (members) {
        uint32_t *waiting = (uint32_t *)(void *)(members + count), *order = waiting + count, *trail = order + count;
        uint32_t member_count = 0;
        for (uint32_t i = 0; i < count; ++i)
            if (systems[i]->def.phase == phase && !systems[i]->is_removed)
                members[member_count++] = systems[i];
        if (!micap_asked_collect(world, members, member_count, &asked)) {
            micap_fail_memory(world, "system");
        } else {
            bad = micap_order_sort(&asked, member_count, waiting, order) < member_count;
            if (bad)
                report_loop(world, members, &asked, waiting, trail);
        }
    } else {
        micap_fail_memory(world, "system");
    }
    micap_asked_free(world, &asked);
    micap_release(&world->memory, members, bytes, MICAP_ARRAY_ALIGNMENT);
    return bad;
}

static uint32_t place_of_phase(const micap_flow *flow, mica_phase phase)
{
    uint32_t location = 0;
    while (flow->phases[location]->id != phase)
        ++location;
    return location;
}

/* Whether before or after ask for something that the order of phases makes impossible. */
static bool contradicts_phases(const micap_flow *flow, micap_system *const *systems, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const mica_system_def *def = &systems[i]->def;
        uint32_t own = place_of_phase(flow, def->phase);
        for (uint32_t j = 0; j < 2 * MICA_SYSTEM_ORDERS_MAX; ++j) {
            bool before = j < MICA_SYSTEM_ORDERS_MAX;
            const char *name = before ? def->before[j] : def->after[j - MICA_SYSTEM_ORDERS_MAX];
            uint32_t other = name ? find_in(systems, count, name) : count;
            if (other == count)
                continue;
            uint32_t location = place_of_phase(flow, systems[other]->def.phase);
            if (before ? location >= own : location <= own)
                continue;
            micap_fail(flow->world, MICA_ERROR_INVALID, def->location,
                       "system %s: it can't run %s %s, whose phase %s runs %s its phase %s", def->name,
                       before ? "before" : "after", name, flow->phases[location]->name, before ? "before" : "after",
                       flow->phases[own]->name);
            return true;
        }
    }
    return false;
}

static bool asks_for_anything(micap_system *const *systems, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t j = 0; j < MICA_SYSTEM_ORDERS_MAX; ++j)
            if (systems[i]->def.before[j] || systems[i]->def.after[j])
                return true;
    return false;
}

bool micap_graph_has_loop(micap_flow *flow, micap_system *const *systems, uint32_t count)
{
    if (!asks_for_anything(systems, count))
        return false;
    for (uint32_t i = 0; i < flow->phase_count; ++i)
        if (phase_has_loop(flow, flow->phases[i]->id, systems, count))
            return true;
    return contradicts_phases(flow, systems, count);
}
