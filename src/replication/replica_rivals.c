/* The archetypes of the plan tell about components in chunks. For each pair with one in a pool, two bits per entity say which of them it has
 * once the delta is applied. Worlds without such pairs, and pairs that a delta does not touch, cost nothing. */
#include "replication/replica_rivals.h"

#include "core/storage/pool_lookup.h"
#include "core/storage/rows.h"
#include "core/world/report.h"
#include "core/world/world.h"

typedef struct memberships {
    const micap_delta_work *work;
    uint8_t *bits; /* by place of the twin in the map */
} memberships;

static void put(const memberships *all, const micap_twin *twin, uint8_t bit, bool has)
{
    uint8_t *bits = &all->bits[twin - all->work->replica->twins.entries];
    *bits = has ? *bits | bit : *bits & (uint8_t)~bit;
}

static const micap_delta_table *pool_table(const micap_delta_work *work, mica_component component)
{
    for (uint32_t i = 0; i < work->pools_count; ++i)
        if (work->pools[i].type->id == component)
            return &work->pools[i];
    return NULL;
}

static const micap_delta_tags *tags_of(const micap_delta_work *work, mica_component component)
{
    for (uint32_t i = 0; i < work->tags_count; ++i)
        if (work->tags[i].type->id == component)
            return &work->tags[i];
    return NULL;
}

/* What is here now. */
static void put_present(const memberships *all, mica_component component, uint8_t bit)
{
    const micap_entity_map *twins = &all->work->replica->twins;
    for (uint32_t i = 0; i < twins->capacity; ++i)
        put(all, &twins->entries[i], bit, mica_has_id(all->work->world, twins->entries[i].other, component));
}

static void put_moved(const memberships *all, mica_component component, uint8_t bit)
{
    const micap_delta_work *work = all->work;
    for (uint32_t i = 0; i < work->changes_count; ++i)
        if (work->changes[i].to)
            put(all, micap_entity_map_find(&work->replica->twins, work->changes[i].sender), bit,
                micap_archetype_has(work->changes[i].to, component));
}

static void put_tags(const memberships *all, const micap_delta_tags *tags, uint8_t bit)
{
    const micap_entity_map *twins = &all->work->replica->twins;
    for (uint32_t i = 0; i < twins->capacity; ++i) {
        uint32_t index = twins->entries[i].key.index;
        uint64_t word = 0;
        if (index / 64 < tags->word_count)
            memcpy(&word, tags->words + (size_t)(index / 64) * 8, 8);
        put(all, &twins->entries[i], bit, micap_little64(word) >> index % 64 & 1);
    }
}

/* A pool whose rows are the indices of their owners. */
static void put_direct(const memberships *all, const micap_delta_table *table, uint8_t bit)
{
    const micap_entity_map *twins = &all->work->replica->twins;
    for (uint32_t i = 0; table->is_moved && i < twins->capacity; ++i)
        if (twins->entries[i].key.index >= table->row_count)
            put(all, &twins->entries[i], bit, false);
    for (uint32_t i = 0; i < table->slice_count; ++i) {
        const micap_delta_slice *slice = &all->work->slices[table->slice + i];
        for (uint32_t at = 0; slice->owners && at < slice->row_count; ++at) {
            const micap_twin *before = micap_entity_map_at(twins, slice->row + at);
            const micap_twin *after = micap_entity_map_find(twins, micap_handle_at(slice->owners, at));
            if (before)
                put(all, before, bit, false);
            if (after)
                put(all, after, bit, true);
        }
    }
}

static void put_rows(const memberships *all, const micap_delta_table *table, uint8_t bit)
{
    const micap_entity_map *twins = &all->work->replica->twins;
    for (uint32_t i = 0; i < twins->capacity; ++i)
        put(all, &twins->entries[i], bit, false);
    for (uint32_t row = 0; row < table->row_count; ++row) {
        const micap_twin *twin = micap_entity_map_find(twins, table->rows[row]);
        if (twin)
            put(all, twin, bit, true);
    }
}

/* Notes which entities have a component then. */
static void find_owners(const memberships *all, mica_component component, uint8_t bit)
{
    const micap_delta_table *table = pool_table(all->work, component);
    const micap_delta_tags *tags = tags_of(all->work, component);
    put_present(all, component, bit);
    if (!micap_is_pooled(component))
        put_moved(all, component, bit);
    else if (tags)
        put_tags(all, tags, bit);
    else if (table && table->is_direct)
        put_direct(all, table, bit);
    else if (table && table->is_moved)
        put_rows(all, table, bit);
}

static bool is_touched(const micap_delta_work *work, mica_component component)
{
    return micap_is_pooled(component) ? pool_table(work, component) || tags_of(work, component) : work->changes_count;
}

static mica_result check_pair(const memberships *all, mica_component a, mica_component b)
{
    const micap_delta_work *work = all->work;
    const micap_entity_map *twins = &work->replica->twins;
    find_owners(all, a, 1);
    find_owners(all, b, 2);
    for (uint32_t i = 0; i < work->deaths_count; ++i)
        all->bits[micap_entity_map_find(twins, work->deaths[i]) - twins->entries] = 0;
    for (uint32_t i = 0; i < twins->capacity; ++i)
        if (all->bits[i] == 3 && !mica_is_nil(twins->entries[i].key))
            return micap_fail(
                work->world, MICA_ERROR_INVALID, (mica_location){0},
                "delta: the sender's entity %u (generation %u) would have %s and %s, which exclude each other",
                twins->entries[i].key.index, twins->entries[i].key.generation, micap_type_of(a)->type.name,
                micap_type_of(b)->type.name);
    return MICA_OK;
}

mica_result micap_replica_check_rivals(const micap_delta_work *work)
{
    const micap_components *components = &work->world->components;
    uint32_t capacity = work->replica->twins.capacity;
    if (!components->meets_pools || !capacity)
        return MICA_OK;
    memberships all = {work, micap_allocate_zeroed(&work->world->memory, capacity, 1)};
    if (!all.bits)
        return micap_fail_memory(work->world, "delta");
    mica_result result = MICA_OK;
    for (mica_component id = 0; result == MICA_OK && (id = micap_component_after(components, id));) {
        const micap_component *used = micap_component_of(components, id);
        for (uint32_t i = 0; result == MICA_OK && used->meets_pools && i < used->rival_count; ++i)
            if (used->rivals[i] > id && (is_touched(work, id) || is_touched(work, used->rivals[i])))
                result = check_pair(&all, id, used->rivals[i]);
    }
    micap_release(&work->world->memory, all.bits, capacity, 1);
    return result;
}
