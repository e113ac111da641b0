/* The order of transforms: slots by depth. */
#include "base/bits.h"
#include "hierarchy/transform_propagation.h"

enum { TAKES_PART = INT32_MAX }; /* in by_index, until the slot is known */

void micap_slots_free(mica_world *world, micap_slots *slots)
{
    micap_release(&world->memory, slots->memory, slots->memory_bytes, MICAP_CACHE_LINE);
    *slots = (micap_slots){0};
}

/* A block with room for that many bytes: the spare one, or a new one that is somewhat larger, for a tree that grows. */
static bool take_memory(mica_world *world, micap_slots *spare, micap_slots *slots)
{
    if (spare->memory_bytes < slots->bytes) {
        size_t bytes = micap_align_up(slots->bytes + slots->bytes / 4, MICAP_CACHE_LINE);
        void *memory = micap_allocate(&world->memory, bytes, MICAP_CACHE_LINE);
        if (!memory)
            return false;
        micap_slots_free(world, spare);
        spare->memory = memory;
        spare->memory_bytes = bytes;
    }
    slots->memory = spare->memory;
    slots->memory_bytes = spare->memory_bytes;
    *spare = (micap_slots){0};
    return true;
}

/* Cuts the next array from the block, or measures it while there is none. */
static void *cut(micap_slots *slots, size_t bytes)
{
    void *array = slots->memory ? (char *)slots->memory + slots->bytes : NULL;
    slots->bytes += micap_align_up(bytes, MICAP_CACHE_LINE);
    return array;
}

static void lay_out(micap_slots *slots)
{
    size_t count = slots->capacity;
    slots->bytes = 0;
    slots->entities = cut(slots, count * sizeof *slots->entities);
    slots->matrices = cut(slots, count * sizeof *slots->matrices);
    slots->stamps = cut(slots, count * sizeof *slots->stamps);
    slots->locals = cut(slots, count * sizeof *slots->locals);
    slots->parents = cut(slots, count * sizeof *slots->parents);
    slots->child_begins = cut(slots, ((size_t)slots->sorted_count + 1) * sizeof *slots->child_begins);
    slots->level_begins = cut(slots, ((size_t)slots->sorted_count + 2) * sizeof *slots->level_begins);
    slots->moved = cut(slots, count);
    slots->by_index = cut(slots, slots->index_count * sizeof *slots->by_index);
}

/* Calls the function for every chunk of the rows that take part. */
typedef void (*chunk_fn)(const micap_chunk *chunk, void *context);

static void each_chunk(const mica_query *query, chunk_fn fn, void *context)
{
    for (uint32_t match = 0; match < query->match_count; ++match) {
        const micap_archetype *archetype = query->archetypes[match];
        for (uint32_t i = 0; archetype->row_count && i <= archetype->tail; ++i)
            fn(archetype->chunks[i], context);
    }
}

static void measure_chunk(const micap_chunk *chunk, void *context)
{
    micap_slots *slots = context;
    const mica_entity *entities = micap_chunk_entities(chunk);
    slots->count += chunk->count;
    for (uint32_t row = 0; row < chunk->count; ++row)
        if (entities[row].index >= slots->index_count)
            slots->index_count = entities[row].index + 1;
}

static void enlist_chunk(const micap_chunk *chunk, void *context)
{
    micap_slots *slots = context;
    const mica_entity *entities = micap_chunk_entities(chunk);
    for (uint32_t row = 0; row < chunk->count; ++row)
        slots->by_index[entities[row].index] = TAKES_PART;
}

static bool takes_part(const micap_slots *slots, uint32_t index)
{
    return index < slots->index_count && slots->by_index[index];
}

typedef struct builder {
    const micap_hierarchy *hierarchy;
    micap_slots *slots;
    uint32_t next; /* slot */
} builder;

static void add_slot(builder *builder, mica_entity entity, uint32_t parent)
{
    uint32_t slot = builder->next++;
    builder->slots->entities[slot] = entity;
    builder->slots->parents[slot] = parent;
    builder->slots->by_index[entity.index] = slot + 1;
}

/* Those without an ancestor that takes part, in the order of their rows. */
static void add_roots(const micap_chunk *chunk, void *context)
{
    builder *builder = context;
    const mica_entity *entities = micap_chunk_entities(chunk);
    for (uint32_t row = 0; row < chunk->count; ++row) {
        uint32_t above = micap_link_of(builder->hierarchy, entities[row])->parent;
        while (above && !takes_part(builder->slots, above))
            above = micap_link_at(builder->hierarchy, above)->parent;
        if (!above)
            add_slot(builder, entities[row], MICAP_SLOT_NONE);
    }
}

/* The nearest below an entity that take part: its children, and through those that don't, theirs. */
static void add_children(builder *builder, uint32_t slot)
{
    const micap_hierarchy *hierarchy = builder->hierarchy;
    mica_entity entity = builder->slots->entities[slot];
    uint32_t at = micap_link_of(hierarchy, entity)->first_child;
    while (at) {
        bool found = takes_part(builder->slots, at);
        if (found)
            add_slot(builder, micap_link_entity(hierarchy, at), slot);
        at = found ? micap_link_next_beside(hierarchy, entity.index, at) : micap_link_next(hierarchy, entity.index, at);
    }
}

static void add_all(builder *builder, const mica_query *query)
{
    micap_slots *slots = builder->slots;
    each_chunk(query, add_roots, builder);
    uint32_t slot = 0;
    while (slot < builder->next) {
        slots->level_begins[slots->level_count++] = slot;
        for (uint32_t end = builder->next; slot < end; ++slot) {
            slots->child_begins[slot] = builder->next;
            add_children(builder, slot);
        }
    }
    slots->level_begins[slots->level_count] = slots->child_begins[slots->count] = slot;
    MICAP_ASSERT(slot == slots->count, "everything that takes part hangs on something without a parent");
}

/* What was known of an entity stays known. A new one has moved, and so has one with another parent. */
static void carry_over(micap_slots *slots, const micap_slots *old)
{
    for (uint32_t slot = 0; slot < slots->count; ++slot) {
        uint32_t was = micap_slot_of(old, slots->entities[slot]);
        if (was == MICAP_SLOT_NONE) {
            memset(&slots->locals[slot], 0xFF, sizeof slots->locals[slot]); /* like no local there is */
            slots->moved[slot] = MICAP_MOVED;
            continue;
        }
        slots->locals[slot] = old->locals[was];
        uint32_t parent = slots->parents[slot], old_parent = old->parents[was];
        mica_entity above = parent == MICAP_SLOT_NONE ? mica_nil() : slots->entities[parent];
        mica_entity old_above = old_parent == MICAP_SLOT_NONE ? mica_nil() : old->entities[old_parent];
        slots->moved[slot] = mica_same(above, old_above) ? old->moved[was] : MICAP_MOVED;
    }
}

bool micap_slots_rebuild(micap_hierarchy *hierarchy, micap_transforms *transforms)
{
    mica_world *world = hierarchy->world;
    micap_slots slots = {0};
    each_chunk(transforms->query, measure_chunk, &slots);
    slots.sorted_count = slots.living_count = slots.count;
    slots.capacity = slots.count + slots.count / 4 + 64; /* room for latecomers, and for their indices */
    slots.index_count += slots.index_count / 4 + 64;
    lay_out(&slots);
    if (!take_memory(world, &transforms->spare, &slots))
        return false;
    lay_out(&slots);
    memset(slots.moved, 0, micap_align_up(slots.capacity, MICAP_CACHE_LINE));
    memset(slots.by_index, 0, slots.index_count * sizeof *slots.by_index);
    each_chunk(transforms->query, enlist_chunk, &slots);
    builder builder = {.hierarchy = hierarchy, .slots = &slots};
    add_all(&builder, transforms->query);
    carry_over(&slots, &transforms->slots);
    transforms->spare = transforms->slots;
    transforms->slots = slots;
    transforms->is_new = true;
    return true;
}
