/* The hash of everything a program can observe. Archetypes, components and names are combined in an order that does not
 * depend on when they were first used: each is hashed by itself under its name, and the hashes are added. Rows and
 * columns are hashed in the order they lie. Fields are hashed, never padding, as little-endian bytes. */
#include "core/world/world_hash.h"

#include "base/argument.h"
#include "base/assert.h"
#include "base/bits.h"
#include "core/storage/rows.h"
#include "mica/entity.h"

void micap_hash_entity(micap_hasher *hasher, mica_entity entity)
{
    micap_hasher_integer(hasher, entity.index, 4);
    micap_hasher_integer(hasher, entity.generation, 4);
}

static void hash_struct(micap_hasher *hasher, const mica_type *type, const char *value)
{
    for (uint32_t i = 0; i < type->field_count; ++i)
        micap_hash_field(hasher, &type->fields[i], value + type->fields[i].offset);
}

static uint64_t load_integer(const char *value, uint32_t bytes)
{
    uint64_t integer = 0;
    uint32_t half;
    uint16_t quarter;
    switch (bytes) {
    case 1: return (uint8_t)*value;
    case 2: memcpy(&quarter, value, 2); return quarter;
    case 4: memcpy(&half, value, 4); return half;
    default: memcpy(&integer, value, 8); return integer;
    }
}

static void hash_text(micap_hasher *hasher, const char *value)
{
    mica_text text;
    memcpy(&text, value, sizeof text);
    micap_hasher_integer(hasher, mica_text_length(&text), 4);
    micap_hasher_bytes(hasher, mica_text_get(&text), mica_text_length(&text));
}

static void hash_list(micap_hasher *hasher, const mica_type *element, const char *value)
{
    MICAP_ASSERT(element, "a list says what its elements are");
    mica_list list;
    memcpy(&list, value, sizeof list);
    mica_field elements = {
        .type = element, .element_bytes = element->size_bytes, .count = mica_list_count(&list), .kind = element->kind};
    micap_hasher_integer(hasher, elements.count, 4);
    micap_hash_field(hasher, &elements, list.private_.items);
}

void micap_hash_field(micap_hasher *hasher, const mica_field *field, const char *value)
{
    for (uint32_t i = 0; i < field->count; ++i, value += field->element_bytes) {
        if (field->kind == MICA_KIND_STRUCT) {
            hash_struct(hasher, field->type, value);
        } else if (field->kind == MICA_KIND_TEXT) {
            hash_text(hasher, value);
        } else if (field->kind == MICA_KIND_LIST) {
            hash_list(hasher, field->type, value);
        } else if (field->kind == MICA_KIND_ENTITY) {
            mica_entity entity;
            memcpy(&entity, value, sizeof entity);
            micap_hash_entity(hasher, entity);
        } else {
            micap_hasher_integer(hasher, load_integer(value, field->element_bytes), field->element_bytes);
        }
    }
}

static bool lies_as_hashed(const micap_type *type)
{
    if (MICAP_IS_BIG_ENDIAN || type->has_padding || type->owns)
        return false;
    uint32_t at = 0; /* and the fields are listed in the order they lie */
    for (uint32_t i = 0; i < type->type.field_count; ++i) {
        const mica_field *field = &type->type.fields[i];
        if (field->offset != at || field->kind == MICA_KIND_STRUCT)
            return false;
        at += field->element_bytes * field->count;
    }
    return true;
}

void micap_hash_values(micap_hasher *hasher, const micap_type *type, const char *values, uint32_t count)
{
    if (type->companion == MICAP_COMPANION_ENABLED || lies_as_hashed(type)) {
        micap_hasher_bytes(hasher, values, (size_t)count * type->type.size_bytes);
        return;
    }
    for (uint32_t row = 0; row < count; ++row)
        hash_struct(hasher, &type->type, values + (size_t)row * type->type.size_bytes);
}

static uint64_t hash_entities(const micap_archetype *archetype)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    for (uint32_t i = 0; i < archetype->chunk_count; ++i) {
        const micap_chunk *chunk = archetype->chunks[i];
        for (uint32_t row = 0; row < chunk->count; ++row)
            micap_hash_entity(&hasher, micap_chunk_entities(chunk)[row]);
    }
    return micap_hasher_finish(&hasher);
}

static uint64_t hash_component(const micap_archetype *archetype, const micap_type *type)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_integer(&hasher, type->name_hash, 8);
    uint32_t column = micap_archetype_column(archetype, type->id);
    for (uint32_t i = 0; column != MICAP_COLUMN_TAG && i < archetype->chunk_count; ++i)
        micap_hash_values(&hasher, type, micap_chunk_column(archetype->chunks[i], column), archetype->chunks[i]->count);
    return micap_hasher_finish(&hasher);
}

static uint64_t hash_archetype(const micap_archetype *archetype)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        const micap_type *type = micap_type_of(archetype->components[i]);
        if (!micap_holds_versions(type->companion)) /* versions count marks, which programs place as they like */
            sum += hash_component(archetype, type);
    }
    return micap_hash_mix(sum ^ micap_hash_mix(hash_entities(archetype)));
}

static uint64_t hash_singletons(const mica_world *world)
{
    uint64_t sum = 0;
    mica_component id = 0;
    while ((id = micap_component_after(&world->components, id))) {
        const micap_component *component = micap_component_of(&world->components, id);
        if (!component->singleton || component->is_unborn)
            continue;
        micap_hasher hasher;
        micap_hasher_init(&hasher);
        micap_hasher_integer(&hasher, component->type->name_hash, 8);
        micap_hash_values(&hasher, component->type, component->singleton, 1);
        sum += micap_hasher_finish(&hasher);
    }
    return sum;
}

static void hash_leaves(micap_hasher *hasher, const mica_pool *pool, uint32_t row)
{
    for (uint32_t i = 0; i < pool->type->leaf_count; ++i) {
        const micap_leaf *leaf = &pool->type->leaves[i];
        mica_field field = {.element_bytes = leaf->element_bytes, .count = leaf->bytes / leaf->element_bytes};
        field.kind = leaf->kind;
        micap_hash_field(hasher, &field, pool->lanes[1 + i].data + (size_t)row * leaf->bytes);
    }
}

void micap_hash_pool_value(micap_hasher *hasher, const mica_pool *pool, uint32_t row)
{
    if (!pool->owners)
        return;
    if (pool->values)
        micap_hash_values(hasher, pool->type, micap_pool_value(pool, row), 1);
    else
        hash_leaves(hasher, pool, row);
    if (pool->enabled)
        micap_hasher_integer(hasher, pool->enabled[row], 1);
}

mica_entity micap_pool_living_owner(const mica_world *world, const mica_pool *pool, uint32_t row)
{
    if (!pool->owners)
        return (mica_entity){row, micap_record_generation(*micap_record_at(&world->entities, row))};
    return mica_is_alive(world, pool->owners[row]) ? pool->owners[row] : mica_nil();
}

uint32_t micap_pool_limit(const mica_pool *pool)
{
    return pool->owners ? pool->row_limit : pool->present_words * 64;
}

/* Rows in order, without those of dead entities; 0 for a pool without living owners. */
static uint64_t hash_pool(const mica_world *world, const mica_pool *pool)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_integer(&hasher, pool->type->name_hash, 8);
    uint32_t limit = micap_pool_limit(pool), count = 0;
    for (uint32_t row = micap_pool_next_used(pool, 0); row < limit; row = micap_pool_next_used(pool, row + 1)) {
        mica_entity owner = micap_pool_living_owner(world, pool, row);
        if (mica_is_nil(owner))
            continue;
        micap_hash_entity(&hasher, owner);
        micap_hash_pool_value(&hasher, pool, row);
        ++count;
    }
    return count ? micap_hasher_finish(&hasher) : 0;
}

static uint64_t hash_pools(const mica_world *world)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < world->pools.count; ++i) {
        const mica_pool *pool = world->pools.all[i];
        sum += pool->edges ? 0 : hash_pool(world, pool); /* the module of edges hashes them, in an order of its own */
    }
    return sum;
}

uint64_t micap_hash_names(const mica_world *world)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < world->names.entry_count; ++i) {
        const micap_name *name = &world->names.entries[i];
        if (!name->text || !micap_is_row(micap_locate(world, name->entity)))
            continue; /* a recorded creation counts once it is applied, and so does its name */
        micap_hasher hasher;
        micap_hasher_init(&hasher);
        micap_hash_entity(&hasher, name->entity);
        micap_hash_entity(&hasher, name->scope);
        micap_hasher_bytes(&hasher, name->text, strlen(name->text));
        sum += micap_hasher_finish(&hasher);
    }
    return sum;
}

static uint64_t hash_world(const mica_world *world, bool with_flow)
{
    uint64_t sum = micap_entity_count(world);
    for (uint32_t i = 0; i < world->archetypes.count; ++i)
        if (world->archetypes.by_id[i]->row_count)
            sum += hash_archetype(world->archetypes.by_id[i]);
    return micap_hash_mix(sum + 3 * hash_singletons(world) + 5 * micap_hash_names(world) +
                          7 * micap_modules_hash(world, with_flow) + 11 * hash_pools(world));
}

uint64_t mica_world_hash(const mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return 0;
    return hash_world(world, true);
}

uint64_t mica_world_hash_content(const mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return 0;
    return hash_world(world, false);
}
