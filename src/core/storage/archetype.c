#include "core/storage/archetype.h"

#include "base/bits.h"
#include "base/hash.h"
#include "core/entity/create_plan.h"
#include "core/query/query.h"
#include "core/storage/rivals.h"
#include "core/world/report.h"
#include "core/world/world.h"

enum { ROW_BYTES_MAX = 1 << 30 };

static uint64_t hash_set(const mica_component *components, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; ++i)
        hash = (hash ^ components[i]) * 0x9e3779b97f4a7c15ull + (hash >> 29);
    return micap_hash_mix(hash);
}

static micap_archetype *find(const mica_world *world, const mica_component *components, uint32_t count, uint64_t hash)
{
    const micap_archetypes *archetypes = &world->archetypes;
    for (uint64_t at = hash; archetypes->table_capacity; ++at) {
        uint32_t id = archetypes->table[at & (archetypes->table_capacity - 1)];
        if (!id)
            return NULL;
        micap_archetype *archetype = archetypes->by_id[id - 1];
        if (archetype->set_hash == hash && archetype->component_count == count &&
            (count == 0 || memcmp(archetype->components, components, count * sizeof *components) == 0))
            return archetype;
    }
    return NULL;
}

static bool reserve_table(mica_world *world)
{
    micap_archetypes *archetypes = &world->archetypes;
    if ((archetypes->count + 1) * 2 <= archetypes->table_capacity)
        return true;
    uint32_t grown = archetypes->table_capacity ? archetypes->table_capacity * 2 : 64;
    uint32_t *table = micap_allocate_zeroed(&world->memory, grown * sizeof *table, MICAP_ARRAY_ALIGNMENT);
    if (!table)
        return false;
    for (uint32_t id = 0; id < archetypes->count; ++id) {
        uint64_t at = archetypes->by_id[id]->set_hash;
        while (table[at & (grown - 1)])
            ++at;
        table[at & (grown - 1)] = id + 1;
    }
    MICAP_RELEASE_ARRAY(&world->memory, archetypes->table, archetypes->table_capacity);
    archetypes->table = table;
    archetypes->table_capacity = grown;
    return true;
}

static void fill_slots(micap_archetype *archetype)
{
    uint32_t column = 0;
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        mica_component component = archetype->components[i];
        bool has_data = column < archetype->column_count && archetype->columns[column].component == component;
        uint32_t at = component;
        while (archetype->slots[at & archetype->slot_mask] != MICAP_SLOT_EMPTY)
            ++at;
        archetype->slots[at & archetype->slot_mask] = component << 16 | (has_data ? column++ : MICAP_COLUMN_TAG);
    }
}

static void fill_columns(mica_world *world, micap_archetype *archetype)
{
    micap_column *column = archetype->columns;
    archetype->trivial = archetype->moves_as_bytes = archetype->copies_as_bytes = true;
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        const micap_type *type = micap_component_of(&world->components, archetype->components[i])->type;
        archetype->signature |= micap_signature_bit(type->id);
        archetype->is_hidden |= type->type.hides;
        if (!micap_has_column(type))
            continue;
        column->component = type->id;
        column->bytes = type->type.size_bytes;
        column->trivial = type->trivial;
        column->changed = MICAP_COLUMN_NONE;
        column->companion = type->companion;
        column->type = type;
        archetype->trivial &= column->trivial;
        archetype->moves_as_bytes &= !type->type.move;
        archetype->copies_as_bytes &= !type->type.copy && !type->type.destruct;
        archetype->has_companions |= type->companion != MICAP_COMPANION_NONE;
        ++column;
    }
}

/* Finds the versions of tracked columns. The fields of a split component have one column of versions. */
static void link_changed(micap_archetype *archetype)
{
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        const micap_type *type = micap_type_of(archetype->components[i]);
        uint16_t changed =
            (uint16_t)(type->changed ? micap_archetype_column(archetype, type->changed) : MICAP_COLUMN_NONE);
        if (!type->changed)
            continue;
        if (!type->leaves)
            archetype->columns[micap_archetype_column(archetype, type->id)].changed = changed;
        for (uint32_t leaf = 0; leaf < type->leaf_count; ++leaf)
            archetype->columns[micap_archetype_column(archetype, type->leaves[leaf].component)].changed = changed;
    }
}

/* One allocation holds the struct and its fixed arrays: thousands of archetypes stay cheap. Where they are, and its bytes. */
typedef struct layout {
    uint32_t slot_count;
    size_t columns_at;
    size_t components_at;
    size_t bytes;
} layout;

static layout layout_of(uint32_t count, uint32_t column_count)
{
    layout layout = {.slot_count = (uint32_t)micap_power_of_two_at_least(count * 2 + 1)};
    size_t slots_end = sizeof(micap_archetype) + layout.slot_count * sizeof(uint32_t);
    layout.columns_at = micap_align_up(slots_end, _Alignof(micap_column));
    layout.components_at = layout.columns_at + column_count * sizeof(micap_column);
    layout.bytes = layout.components_at + count * sizeof(mica_component);
    return layout;
}

static micap_archetype *allocate(mica_world *world, const mica_component *components, uint32_t count,
                                 uint32_t column_count)
{
    const layout layout = layout_of(count, column_count);
    char *memory = micap_allocate_zeroed(&world->memory, layout.bytes, MICAP_CACHE_LINE);
    if (!memory)
        return NULL;
    micap_archetype *archetype = (micap_archetype *)(void *)memory;
    archetype->columns = (micap_column *)(void *)(memory + layout.columns_at);
    archetype->components = (mica_component *)(void *)(memory + layout.components_at);
    archetype->slot_mask = layout.slot_count - 1;
    for (uint32_t i = 0; i < layout.slot_count; ++i)
        archetype->slots[i] = MICAP_SLOT_EMPTY;
    archetype->component_count = count;
    archetype->column_count = column_count;
    if (count)
        memcpy(archetype->components, components, count * sizeof *components);
    return archetype;
}

static void release(mica_world *world, micap_archetype *archetype)
{
    MICAP_RELEASE_ARRAY(&world->memory, archetype->chunks, archetype->chunk_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, archetype->edges, archetype->edge_capacity);
    micap_release(&world->memory, archetype, layout_of(archetype->component_count, archetype->column_count).bytes,
                  MICAP_CACHE_LINE);
}

/* Room in every list the archetype will be in, so that entering them can't fail half-way. */
static bool reserve_lists(mica_world *world, const mica_component *components, uint32_t count)
{
    micap_archetypes *archetypes = &world->archetypes;
    uint64_t needed = (uint64_t)archetypes->count + 1;
    if (!reserve_table(world) || !MICAP_RESERVE(&world->memory, archetypes->by_id, &archetypes->capacity, needed) ||
        !MICAP_RESERVE(&world->memory, archetypes->signatures, &archetypes->signature_capacity, needed))
        return false;
    for (uint32_t i = 0; i < count; ++i) {
        micap_component *component = micap_component_of(&world->components, components[i]);
        if (!MICAP_RESERVE(&world->memory, component->archetypes, &component->archetype_capacity,
                           (uint64_t)component->archetype_count + 1))
            return false;
    }
    return true;
}

static void enter_table(micap_archetypes *archetypes, const micap_archetype *archetype)
{
    uint64_t at = archetype->set_hash;
    while (archetypes->table[at & (archetypes->table_capacity - 1)])
        ++at;
    archetypes->table[at & (archetypes->table_capacity - 1)] = archetype->id + 1;
}

static void enter_lists(mica_world *world, micap_archetype *archetype)
{
    micap_archetypes *archetypes = &world->archetypes;
    archetype->id = archetypes->count++;
    archetypes->by_id[archetype->id] = archetype;
    archetypes->signatures[archetype->id] = archetype->signature;
    archetypes->hidden_count += archetype->is_hidden;
    enter_table(archetypes, archetype);
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        micap_component *component = micap_component_of(&world->components, archetype->components[i]);
        component->archetypes[component->archetype_count++] = archetype;
    }
}

static micap_archetype *create(mica_world *world, const mica_component *components, uint32_t count, uint64_t hash)
{
    uint64_t row_bytes = sizeof(mica_entity);
    uint32_t column_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const micap_component *component = micap_component_use(world, components[i]);
        if (!component)
            return NULL;
        bool has_column = micap_has_column(component->type);
        column_count += has_column;
        row_bytes += has_column ? component->type->type.size_bytes : 0;
    }
    if (count > MICA_ENTITY_COMPONENTS_MAX) {
        micap_fail(world, MICA_ERROR_LIMIT, (mica_location){0}, "an entity has at most %d components, not %u",
                   MICA_ENTITY_COMPONENTS_MAX, count);
        return NULL;
    }
    if (row_bytes > ROW_BYTES_MAX) {
        micap_fail(world, MICA_ERROR_LIMIT, (mica_location){0},
                   "an entity with these %u components is too big: %llu bytes, the limit is %u", count,
                   (unsigned long long)row_bytes, (unsigned)ROW_BYTES_MAX);
        return NULL;
    }
    micap_archetype *archetype = allocate(world, components, count, column_count);
    if (!archetype) {
        micap_fail_memory(world, "archetype");
        return NULL;
    }
    archetype->set_hash = hash;
    archetype->row_bytes = (uint32_t)row_bytes;
    fill_columns(world, archetype);
    fill_slots(archetype);
    link_changed(archetype);
    micap_archetype_update_hooks(world, archetype);
    if (!reserve_lists(world, components, count) || !micap_queries_announce(world, archetype)) {
        release(world, archetype);
        micap_fail_memory(world, "archetype");
        return NULL;
    }
    enter_lists(world, archetype);
    return archetype;
}

micap_archetype *micap_archetype_of_set(mica_world *world, const mica_component *components, uint32_t count)
{
    uint64_t hash = hash_set(components, count);
    micap_archetype *archetype = find(world, components, count, hash);
    if (archetype)
        return archetype;
    if (!micap_components_agree(world, components, count))
        return NULL;
    if (world->archetypes.sealed) {
        micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                   "the world is sealed and has no archetype with these %u components", count);
        return NULL;
    }
    return create(world, components, count, hash);
}

bool micap_archetypes_init(mica_world *world)
{
    return micap_archetype_of_set(world, NULL, 0) != NULL;
}

/* They came last into all lists, and in the order of their ids. */
static void leave_lists(mica_world *world, const micap_archetype *archetype)
{
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        micap_component *component = micap_component_of(&world->components, archetype->components[i]);
        MICAP_ASSERT(component->archetypes[component->archetype_count - 1] == archetype, "it came last");
        --component->archetype_count;
    }
    for (uint32_t i = 0; i < world->queries->count; ++i) {
        mica_query *query = world->queries->all[i];
        if (query->match_count && query->archetypes[query->match_count - 1] == archetype)
            --query->match_count;
    }
    world->archetypes.by_id[archetype->id] = NULL;
    --world->archetypes.count;
}

static void forget_edges(const micap_archetype *archetype, uint32_t count)
{
    for (uint32_t i = 0; i < archetype->edge_capacity; ++i) {
        micap_edge *edge = &archetype->edges[i];
        if (!edge->end || edge->end->id < count)
            continue;
        edge->end = NULL;
        edge->path = MICAP_EDGE_GENERAL;
    }
}

void micap_archetypes_forget(mica_world *world, uint32_t count)
{
    micap_archetypes *archetypes = &world->archetypes;
    if (archetypes->count <= count)
        return;
    for (uint32_t i = 0; i < count; ++i)
        forget_edges(archetypes->by_id[i], count);
    micap_create_plans_free(world);
    while (archetypes->count > count) {
        micap_archetype *archetype = archetypes->by_id[archetypes->count - 1];
        MICAP_ASSERT(!archetype->chunk_count, "an archetype that goes is empty");
        leave_lists(world, archetype);
        release(world, archetype);
    }
    memset(archetypes->table, 0, archetypes->table_capacity * sizeof *archetypes->table);
    for (uint32_t i = 0; i < count; ++i)
        enter_table(archetypes, archetypes->by_id[i]);
}

void micap_archetypes_free(mica_world *world)
{
    micap_archetypes *archetypes = &world->archetypes;
    for (uint32_t i = 0; i < archetypes->count; ++i)
        release(world, archetypes->by_id[i]);
    MICAP_RELEASE_ARRAY(&world->memory, archetypes->by_id, archetypes->capacity);
    MICAP_RELEASE_ARRAY(&world->memory, archetypes->signatures, archetypes->signature_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, archetypes->table, archetypes->table_capacity);
}

void micap_archetype_update_hooks(mica_world *world, micap_archetype *archetype)
{
    bool destroy = world->destroy_hook.fn || world->destroy_watches || world->sees_every_death;
    archetype->hook_mask = destroy ? 1 << MICA_EVENT_DESTROY : 0;
    memset(archetype->hooked, 0, sizeof archetype->hooked);
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        const micap_component *component = micap_component_of(&world->components, archetype->components[i]);
        uint32_t awaited = micap_component_awaits(component);
        archetype->hook_mask |= (uint8_t)awaited;
        for (uint32_t kind = MICA_EVENT_ADD; kind < MICA_EVENT_DESTROY; ++kind)
            archetype->hooked[kind] |= (uint64_t)(awaited >> kind & 1) << (i < 63 ? i : 63);
    }
    archetype->destroys_fast = archetype->trivial && !micap_death_hooks(archetype);
}
