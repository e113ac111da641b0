/* Which entities of two files are the same: those with the same path, where a name, or the place among siblings without one,
 * is a step. Found through a table of the old file's; parents come before children in either order. */
#include "base/bits.h"
#include "base/hash.h"
#include "resource/reload/reload_match.h"

#include <string.h>

typedef struct matching {
    const mica_resource *old;
    uint32_t *table; /* open addressing: 1 + old entity */
    uint32_t table_capacity;
    uint32_t *places; /* by old entity without a name: how many such siblings stand before it */
    uint32_t place_capacity;
    uint32_t *counts; /* by parent: those passed so far; the last is for what has none */
    uint32_t count_capacity;
} matching;

/* A step of a path: below which entity of the old file, under which name or at which place. */
typedef struct step {
    uint32_t parent;
    uint32_t location;
    const char *name;
} step;

static uint64_t hash_step(const step *step)
{
    return micap_hash_mix((step->name ? micap_hash_text(step->name) : step->location) * 31 + step->parent);
}

static bool is_at(const matching *match, uint32_t entity, const step *step)
{
    const char *name = mica_resource_name(match->old, entity);
    if (mica_resource_parent(match->old, entity) != step->parent || !name != !step->name)
        return false;
    return name ? strcmp(name, step->name) == 0 : match->places[entity] == step->location;
}

static uint32_t *find_slot(const matching *match, const step *step)
{
    for (uint64_t at = hash_step(step);; ++at) {
        uint32_t *slot = &match->table[at & (match->table_capacity - 1)];
        if (!*slot || is_at(match, *slot - 1, step))
            return slot;
    }
}

static void fill_table(matching *match)
{
    uint32_t count = match->old->header.entity_count;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t entity = mica_resource_entity_in_order(match->old, i);
        uint32_t parent = mica_resource_parent(match->old, entity);
        step at = {.parent = parent, .name = mica_resource_name(match->old, entity)};
        if (!at.name)
            at.location = match->places[entity] = match->counts[parent == MICA_NO_PARENT ? count : parent]++;
        *find_slot(match, &at) = entity + 1;
    }
}

static void look_up(const matching *match, micap_reloading *work)
{
    const mica_resource *resource = work->after.resource;
    uint32_t count = resource->header.entity_count;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t entity = mica_resource_entity_in_order(resource, i);
        uint32_t parent = mica_resource_parent(resource, entity);
        step at = {.parent = MICA_NO_PARENT, .name = mica_resource_name(resource, entity)};
        if (!at.name)
            at.location = match->counts[parent == MICA_NO_PARENT ? count : parent]++;
        if (parent != MICA_NO_PARENT && (at.parent = work->old_of_new[parent]) == MICAP_NONE)
            continue;
        uint32_t found = *find_slot(match, &at);
        if (!found)
            continue;
        work->old_of_new[entity] = found - 1;
        work->new_of_old[found - 1] = entity;
    }
}

/* Takes what the caller knows. */
static bool take_known(micap_reloading *work)
{
    uint32_t count = work->after.resource->header.entity_count;
    for (uint32_t i = 0; i < count; ++i) {
        work->old_of_new[i] = work->spawned->old_of_new[i];
        if (work->old_of_new[i] != MICAP_NONE)
            work->new_of_old[work->old_of_new[i]] = i;
    }
    return true;
}

bool micap_reload_match(micap_reloading *work)
{
    matching match = {.old = work->before.resource};
    uint32_t old_count = match.old->header.entity_count, new_count = work->after.resource->header.entity_count;
    uint32_t most = old_count > new_count ? old_count : new_count;
    match.table_capacity = (uint32_t)micap_power_of_two_at_least((uint64_t)old_count * 2 + 1);
    match.place_capacity = old_count;
    match.count_capacity = most + 1;
    memset(work->old_of_new, 0xFF, new_count * sizeof *work->old_of_new);
    memset(work->new_of_old, 0xFF, old_count * sizeof *work->new_of_old);
    if (work->spawned->old_of_new)
        return take_known(work);
    size_t table_bytes = match.table_capacity * sizeof *match.table;
    size_t place_bytes = match.place_capacity * sizeof *match.places;
    size_t count_bytes = match.count_capacity * sizeof *match.counts;
    match.table = micap_allocate_zeroed(work->memory, table_bytes, MICAP_ARRAY_ALIGNMENT);
    match.places = micap_allocate_zeroed(work->memory, place_bytes, MICAP_ARRAY_ALIGNMENT);
    match.counts = micap_allocate_zeroed(work->memory, count_bytes, MICAP_ARRAY_ALIGNMENT);
    bool fine = match.table && match.places && match.counts;
    if (fine) {
        fill_table(&match);
        memset(match.counts, 0, count_bytes);
        look_up(&match, work);
    }
    micap_release(work->memory, match.table, table_bytes, MICAP_ARRAY_ALIGNMENT);
    micap_release(work->memory, match.places, place_bytes, MICAP_ARRAY_ALIGNMENT);
    micap_release(work->memory, match.counts, count_bytes, MICAP_ARRAY_ALIGNMENT);
    return fine;
}
