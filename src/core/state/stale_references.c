#include "core/state/stale_references.h"

#include "core/state/resume.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/rows.h"
#include "core/storage/singleton.h"

/* Where the entities in values of a type are. Those of types with more than that are left out. */
typedef struct reference_list {
    uint32_t offsets[256];
    uint32_t count;
} reference_list;

static void list_references(const mica_type *type, uint32_t base, reference_list *out)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        for (uint32_t at = 0; at < field->count && out->count < 256; ++at) {
            uint32_t offset = base + field->offset + at * field->element_bytes;
            if (field->kind == MICA_KIND_STRUCT)
                list_references(field->type, offset, out);
            else if (field->kind == MICA_KIND_ENTITY)
                out->offsets[out->count++] = offset;
        }
    }
}

static void put_entity(micap_bytes *bytes, mica_entity entity)
{
    micap_bytes_put_number(bytes, entity.index);
    micap_bytes_put_number(bytes, entity.generation);
}

static mica_entity take_entity(micap_reader *reader)
{
    uint32_t index = (uint32_t)micap_reader_take_up_to(reader, UINT32_MAX);
    return (mica_entity){index, (uint32_t)micap_reader_take_up_to(reader, UINT32_MAX)};
}

/* What values belong to: an owner, nil for a singleton, and which of its instances. */
typedef struct value_owner {
    uint64_t column;
    mica_entity entity;
    uint32_t instance;
} value_owner;

static void write_stale(const mica_world *world, value_owner owner, const reference_list *references, const char *value,
                        micap_bytes *bytes)
{
    for (uint32_t i = 0; i < references->count; ++i) {
        mica_entity entity;
        memcpy(&entity, value + references->offsets[i], sizeof entity);
        if (mica_is_nil(entity) || micap_is_row(micap_locate(world, entity)))
            continue;
        micap_bytes_put64(bytes, owner.column);
        put_entity(bytes, owner.entity);
        micap_bytes_put_number(bytes, owner.instance);
        micap_bytes_put_number(bytes, references->offsets[i]);
        put_entity(bytes, entity);
    }
}

static void write_column(const mica_world *world, const micap_archetype *archetype, uint32_t column, micap_bytes *bytes)
{
    reference_list references = {.count = 0};
    const micap_column *about = &archetype->columns[column];
    list_references(&about->type->type, 0, &references);
    for (uint32_t i = 0; references.count && i < archetype->chunk_count; ++i)
        for (uint32_t row = 0; row < archetype->chunks[i]->count; ++row) {
            value_owner owner = {micap_state_column_hash(about), micap_chunk_entities(archetype->chunks[i])[row], 0};
            write_stale(world, owner, &references, micap_chunk_value(archetype->chunks[i], column, row), bytes);
        }
}

/* Of pools that are not split. */
static void write_pool(const mica_world *world, const mica_pool *pool, micap_bytes *bytes)
{
    reference_list references = {.count = 0};
    if (pool->values)
        list_references(&pool->type->type, 0, &references);
    for (uint32_t row = micap_pool_next_used(pool, 0); references.count && row < pool->row_limit;
         row = micap_pool_next_used(pool, row + 1)) {
        value_owner owner = {pool->type->name_hash, pool->owners[row], 0};
        for (uint32_t at = micap_pool_row(pool, owner.entity); at != row; at = pool->next[at])
            ++owner.instance;
        write_stale(world, owner, &references, micap_pool_value(pool, row), bytes);
    }
}

static void write_singletons(const mica_world *world, micap_bytes *bytes)
{
    mica_component id = 0;
    while ((id = micap_component_after(&world->components, id))) {
        const micap_component *component = micap_component_of(&world->components, id);
        if (!component->singleton || component->is_unborn)
            continue;
        reference_list references = {.count = 0};
        list_references(&component->type->type, 0, &references);
        write_stale(world, (value_owner){component->type->name_hash, mica_nil(), 0}, &references, component->singleton,
                    bytes);
    }
}

void micap_stale_references_write(const mica_world *world, micap_bytes *bytes)
{
    for (uint32_t i = 0; i < world->archetypes.count; ++i)
        for (uint32_t k = 0; k < world->archetypes.by_id[i]->column_count; ++k)
            write_column(world, world->archetypes.by_id[i], k, bytes);
    for (uint32_t i = 0; i < world->pools.count; ++i)
        write_pool(world, world->pools.all[i], bytes);
    write_singletons(world, bytes);
}

static char *find_in_chunk(const mica_world *world, value_owner owner, const micap_type **out_type)
{
    micap_row spot = micap_locate(world, owner.entity);
    const micap_archetype *archetype = micap_is_row(spot) ? spot.chunk->archetype : NULL;
    for (uint32_t i = 0; archetype && i < archetype->column_count; ++i)
        if (micap_state_column_hash(&archetype->columns[i]) == owner.column) {
            *out_type = archetype->columns[i].type;
            return micap_chunk_value(spot.chunk, i, spot.row);
        }
    return NULL;
}

/* The value that belongs to an owner here, or NULL. */
static char *find_value(const mica_world *world, value_owner owner, const micap_type **out_type)
{
    *out_type = micap_resume_find_type(world, owner.column);
    if (*out_type && mica_is_nil(owner.entity))
        return micap_component_of(&world->components, (*out_type)->id)->singleton;
    if (!*out_type || !micap_is_pooled((*out_type)->id))
        return find_in_chunk(world, owner, out_type);
    const mica_pool *pool = micap_pool_of(world, (*out_type)->id);
    uint32_t row = pool->values ? micap_pool_row(pool, owner.entity) : MICAP_ROW_NONE;
    for (; row != MICAP_ROW_NONE && owner.instance; --owner.instance)
        row = pool->next ? pool->next[row] : MICAP_ROW_NONE;
    return row == MICAP_ROW_NONE ? NULL : micap_pool_value(pool, row);
}

void micap_stale_references_load(mica_world *world, micap_reader reader)
{
    while (micap_reader_left(&reader) && !reader.failed) {
        value_owner owner = {.column = micap_reader_take64(&reader)};
        owner.entity = take_entity(&reader);
        owner.instance = (uint32_t)micap_reader_take_up_to(&reader, UINT32_MAX);
        uint64_t offset = micap_reader_take_number(&reader);
        mica_entity entity = take_entity(&reader);
        const micap_type *type;
        char *value = reader.failed ? NULL : find_value(world, owner, &type);
        reference_list references = {.count = 0};
        if (value)
            list_references(&type->type, 0, &references);
        for (uint32_t i = 0; i < references.count; ++i)
            if (references.offsets[i] == offset)
                memcpy(value + offset, &entity, sizeof entity);
    }
}
