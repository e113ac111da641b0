#include "flow/schedule/system_names.h"

#include "base/hash.h"
#include "core/world/world.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/system.h"

enum { SLOTS_MIN = 16 };

static void insert_system(micap_system_names *names, micap_system *system)
{
    uint32_t mask = names->system_capacity - 1, at = (uint32_t)system->frame.identity & mask;
    while (names->systems[at])
        at = (at + 1) & mask;
    names->systems[at] = system;
    ++names->system_count;
}

/* The slot of a hash, or the empty one where it belongs. */
static uint64_t *mentioned_slot(const micap_system_names *names, uint64_t hash)
{
    uint32_t mask = names->mentioned_capacity - 1, at = (uint32_t)hash & mask;
    while (names->mentioned[at] && names->mentioned[at] != hash)
        at = (at + 1) & mask;
    return &names->mentioned[at];
}

static uint64_t hash_of(const char *name)
{
    uint64_t hash = micap_hash_text(name);
    return hash ? hash : 1;
}

/* Makes room for one more system. */
static bool grow_systems(micap_memory *memory, micap_system_names *names)
{
    micap_system_names old = *names;
    if ((old.system_count + 1) * 2 <= old.system_capacity)
        return true;
    uint32_t capacity = old.system_capacity ? old.system_capacity * 2 : SLOTS_MIN;
    micap_system **systems = micap_allocate_zeroed(memory, capacity * sizeof *systems, MICAP_ARRAY_ALIGNMENT);
    if (!systems)
        return false;
    names->systems = systems;
    names->system_capacity = capacity;
    names->system_count = 0;
    for (uint32_t i = 0; i < old.system_capacity; ++i)
        if (old.systems[i])
            insert_system(names, old.systems[i]);
    MICAP_RELEASE_ARRAY(memory, old.systems, old.system_capacity);
    return true;
}

/* Makes room for `more` names. */
static bool grow_mentioned(micap_memory *memory, micap_system_names *names, uint32_t more)
{
    micap_system_names old = *names;
    if ((old.mentioned_count + more) * 2 <= old.mentioned_capacity)
        return true;
    uint32_t capacity = old.mentioned_capacity ? old.mentioned_capacity * 2 : 2 * SLOTS_MIN;
    uint64_t *mentioned = micap_allocate_zeroed(memory, capacity * sizeof *mentioned, MICAP_ARRAY_ALIGNMENT);
    if (!mentioned)
        return false;
    names->mentioned = mentioned;
    names->mentioned_capacity = capacity;
    for (uint32_t i = 0; i < old.mentioned_capacity; ++i)
        if (old.mentioned[i])
            *mentioned_slot(names, old.mentioned[i]) = old.mentioned[i];
    MICAP_RELEASE_ARRAY(memory, old.mentioned, old.mentioned_capacity);
    return true;
}

static void mention(micap_system_names *names, const char *name)
{
    uint64_t *slot = mentioned_slot(names, hash_of(name));
    names->mentioned_count += !*slot;
    *slot = hash_of(name);
}

/* There is room for it. */
static void enter(micap_system_names *names, micap_system *system)
{
    insert_system(names, system);
    for (uint32_t i = 0; i < MICA_SYSTEM_ORDERS_MAX; ++i) {
        if (system->def.before[i])
            mention(names, system->def.before[i]);
        if (system->def.after[i])
            mention(names, system->def.after[i]);
    }
}

bool micap_system_names_add(micap_flow *flow, micap_system *system)
{
    micap_system_names *names = &flow->names;
    micap_memory *memory = &flow->world->memory;
    uint32_t more = 0;
    for (uint32_t i = 0; i < MICA_SYSTEM_ORDERS_MAX; ++i)
        more += (system->def.before[i] != NULL) + (system->def.after[i] != NULL);
    if (!grow_systems(memory, names) || (more && !grow_mentioned(memory, names, more)))
        return false;
    enter(names, system);
    return true;
}

void micap_system_names_rebuild(micap_flow *flow)
{
    micap_system_names *names = &flow->names;
    if (names->systems)
        memset(names->systems, 0, names->system_capacity * sizeof *names->systems);
    if (names->mentioned)
        memset(names->mentioned, 0, names->mentioned_capacity * sizeof *names->mentioned);
    names->system_count = names->mentioned_count = 0;
    for (uint32_t i = 0; i < flow->system_count; ++i)
        enter(names, flow->systems[i]);
}

micap_system *micap_system_find_name(const micap_flow *flow, const char *name)
{
    if (!flow || !flow->names.system_capacity)
        return NULL;
    const micap_system_names *names = &flow->names;
    uint32_t mask = names->system_capacity - 1;
    for (uint32_t at = (uint32_t)micap_hash_text(name) & mask; names->systems[at]; at = (at + 1) & mask)
        if (!names->systems[at]->is_removed && strcmp(names->systems[at]->def.name, name) == 0)
            return names->systems[at];
    return NULL;
}

bool micap_system_names_mention(const micap_flow *flow, const micap_system *system)
{
    return flow->names.mentioned_capacity && *mentioned_slot(&flow->names, hash_of(system->def.name));
}

void micap_system_names_free(micap_flow *flow)
{
    MICAP_RELEASE_ARRAY(&flow->world->memory, flow->names.systems, flow->names.system_capacity);
    MICAP_RELEASE_ARRAY(&flow->world->memory, flow->names.mentioned, flow->names.mentioned_capacity);
}
