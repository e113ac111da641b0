#include "core/state/stale_references.h"

#include "base/assert.h"
#include "core/state/state_records.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/rows.h"
#include "core/storage/singleton.h"
#include "type/value_bytes.h"
#include "pool/pool_edge_table.h"

/* Where the entities in values of a type are. Those of types with more than that are left out. Entities in lists are counted: their
 * place is the size of the value and their number. */
typedef struct reference_list {
    uint32_t offsets[256];
    uint32_t count;
    const mica_type *type; /* if lists have entities, else NULL */
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

static reference_list references_of(const mica_type *type)
{
    reference_list references = {.count = 0};
    references.type = micap_contents_have(type, MICA_KIND_ENTITY) ? type : NULL;
    list_references(type, 0, &references);
    return references;
}

static bool has_references(const reference_list *references)
{
    return references->count || references->type;
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

/* The entities of one value on their way into a state. */
typedef struct stale_output {
    const mica_world *world;
    micap_bytes *bytes;
    value_owner owner;
    uint64_t place; /* of the next entity */
} stale_output;

static void write_one(const stale_output *out, const void *at)
{
    mica_entity entity;
    memcpy(&entity, at, sizeof entity);
    if (mica_is_nil(entity) || micap_is_row(micap_locate(out->world, entity)))
        return;
    micap_bytes_put64(out->bytes, out->owner.column);
    put_entity(out->bytes, out->owner.entity);
    micap_bytes_put_number(out->bytes, out->owner.instance);
    micap_bytes_put_number(out->bytes, out->place);
    put_entity(out->bytes, entity);
}

static bool write_next(void *at, void *context)
{
    stale_output *out = context;
    write_one(out, at);
    ++out->place;
    return true;
}

static void write_stale(const mica_world *world, value_owner owner, const reference_list *references, const char *value,
                        micap_bytes *bytes)
{
    stale_output out = {world, bytes, owner, 0};
    for (uint32_t i = 0; i < references->count; ++i) {
        out.place = references->offsets[i];
        write_one(&out, value + references->offsets[i]);
    }
    if (!references->type)
        return;
    out.place = references->type->size_bytes;
    micap_contents_visit(references->type, (char *)value, MICA_KIND_ENTITY, false, write_next, &out);
}

static void write_column(const mica_world *world, const micap_archetype *archetype, uint32_t column, micap_bytes *bytes)
{
    const micap_column *about = &archetype->columns[column];
    reference_list references = references_of(&about->type->type);
    for (uint32_t i = 0; has_references(&references) && i < archetype->chunk_count; ++i)
        for (uint32_t row = 0; row < archetype->chunks[i]->count; ++row) {
            value_owner owner = {micap_state_column_hash(about), micap_chunk_entities(archetype->chunks[i])[row], 0};
            write_stale(world, owner, &references, micap_chunk_value(archetype->chunks[i], column, row), bytes);
        }
}

/* Of pools that are not split; of pools for many instances, entity by entity. */
static void write_pool(const mica_world *world, const mica_pool *pool, micap_bytes *bytes)
{
    reference_list references = {.count = 0};
    if (pool->values)
        references = references_of(&pool->type->type);
    for (uint32_t row = micap_pool_next_used(pool, 0); has_references(&references) && row < pool->row_limit;
         row = micap_pool_next_used(pool, row + 1)) {
        value_owner owner = {pool->type->name_hash, pool->owners[row], 0};
        if (pool->next && !micap_pool_is_first(pool, row))
            continue;
        for (uint32_t at = row; at != MICAP_ROW_NONE; at = pool->next ? pool->next[at] : MICAP_ROW_NONE) {
            write_stale(world, owner, &references, micap_pool_value(pool, at), bytes);
            ++owner.instance;
        }
    }
}

static void write_singletons(const mica_world *world, micap_bytes *bytes)
{
    mica_component id = 0;
    while ((id = micap_component_after(&world->components, id))) {
        const micap_component *component = micap_component_of(&world->components, id);
        if (!component->singleton || component->is_unborn)
            continue;
        reference_list references = references_of(&component->type->type);
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
    *out_type = micap_state_find_type(world, owner.column);
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

/* The entity in a list that is replaced. */
typedef struct stale_input {
    uint64_t left; /* entities before it */
    mica_entity entity;
} stale_input;

static bool load_next(void *at, void *context)
{
    stale_input *in = context;
    if (!in->left)
        memcpy(at, &in->entity, sizeof in->entity);
    return in->left-- != 0;
}

static void load_one(const mica_type *type, char *value, uint64_t place, mica_entity entity)
{
    reference_list references = references_of(type);
    for (uint32_t i = 0; i < references.count; ++i)
        if (references.offsets[i] == place)
            memcpy(value + place, &entity, sizeof entity);
    stale_input in = {place - type->size_bytes, entity};
    if (references.type && place >= type->size_bytes)
        micap_contents_visit(type, value, MICA_KIND_ENTITY, true, load_next, &in);
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
        if (value &&
            !(type->type.relation && mica_is_alive(world, entity))) /* that would be an edge that is not linked */
            load_one(&type->type, value, offset, entity);
    }
    for (uint32_t i = 0; i < world->pools.count; ++i)
        if (world->pools.all[i]->edges)
            micap_edge_table_renew(world->pools.all[i]);
}

void micap_scoped_names_write(const mica_world *world, micap_bytes *bytes)
{
    for (uint32_t i = 0; i < world->names.entry_count; ++i) {
        const micap_name *name = &world->names.entries[i];
        if (!name->text || mica_same(name->scope, micap_modules_parent(world, name->entity)))
            continue;
        put_entity(bytes, name->entity);
        put_entity(bytes, name->scope);
        micap_bytes_put_text(bytes, name->text);
    }
}

/* The next name whose entity is alive; `text` does not end with zero. False after the last. */
static bool take_name(const mica_world *world, micap_reader *reader, micap_name *out_name, size_t *out_length)
{
    while (micap_reader_left(reader)) {
        out_name->entity = take_entity(reader);
        out_name->scope = take_entity(reader);
        out_name->text = (char *)(uintptr_t)micap_reader_take_text(reader, out_length);
        if (reader->failed)
            return false;
        MICAP_ASSERT(out_name->text, "what was read is somewhere");
        bool is_name =
            *out_length && !memchr(out_name->text, 0, *out_length) && !memchr(out_name->text, '/', *out_length);
        if (is_name && micap_is_row(micap_locate(world, out_name->entity)) &&
            !mica_same(out_name->entity, out_name->scope))
            return true;
    }
    return false;
}

/* False if memory is short. */
static bool load_name(mica_world *world, const micap_name *name, size_t length)
{
    char *text = micap_allocate(&world->memory, length + 1, 1);
    if (!text)
        return false;
    memcpy(text, name->text, length);
    text[length] = 0;
    bool done = micap_name_is_taken(world, name->scope, text) || mica_name_get(world, name->entity) ||
                micap_name_copy(world, &(micap_name){.entity = name->entity, .scope = name->scope, .text = text});
    micap_release(&world->memory, text, length + 1, 1);
    return done;
}

bool micap_scoped_names_load(mica_world *world, micap_reader reader)
{
    micap_name name;
    size_t length;
    /* Names that the file gave are removed first, so that detaching does not move them. What a hook gave stays. */
    for (micap_reader all = reader; take_name(world, &all, &name, &length);) {
        const char *given = mica_name_get(world, name.entity);
        if (given && strlen(given) == length && memcmp(given, name.text, length) == 0)
            micap_name_forget(world, name.entity);
        if (!mica_is_nil(name.scope) && mica_same(name.scope, micap_modules_parent(world, name.entity)))
            micap_modules_detach(world, name.entity);
    }
    while (take_name(world, &reader, &name, &length))
        if (!load_name(world, &name, length))
            return false;
    return true;
}
