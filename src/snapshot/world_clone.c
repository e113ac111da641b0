/* Clones a world: the same entities with the same handles, in the same rows. */
#include "base/argument.h"
#include "core/entity/pool_component.h"
#include "core/world/report.h"
#include "core/storage/rows.h"
#include "snapshot/snapshot.h"

static bool clone_archetypes(mica_world *to, const mica_world *from)
{
    for (uint32_t i = 0; i < from->archetypes.count; ++i) {
        const micap_archetype *archetype = from->archetypes.by_id[i];
        if (!micap_archetype_of_set(to, archetype->components, archetype->component_count))
            return false;
    }
    return true;
}

static bool clone_values(const micap_column *column, void *to, const void *from, uint32_t count)
{
    if (!column->trivial)
        return micap_values_copy(column->type, to, from, count);
    if (count)
        memcpy(to, from, (size_t)count * column->bytes);
    return true;
}

/* All columns, or none. */
static bool clone_columns(const micap_chunk *to, const micap_chunk *from)
{
    const micap_archetype *archetype = to->archetype;
    for (uint32_t i = 0; i < archetype->column_count; ++i) {
        if (clone_values(&archetype->columns[i], micap_chunk_column(to, i), micap_chunk_column(from, i), from->count))
            continue;
        while (i-- > 0)
            micap_values_destruct(archetype->columns[i].type, micap_chunk_column(to, i), from->count);
        return false;
    }
    return true;
}

/* A chunk as large as the other, with the same rows and stamps. */
static bool clone_chunk(mica_world *to, micap_archetype *archetype, const micap_chunk *from)
{
    if (!MICAP_RESERVE(&to->memory, archetype->chunks, &archetype->chunk_capacity,
                       (uint64_t)archetype->chunk_count + 1))
        return false;
    micap_chunk *chunk = micap_chunk_create(to, archetype, from->order);
    if (!chunk)
        return false;
    chunk->index = archetype->chunk_count;
    archetype->chunks[archetype->chunk_count++] = chunk;
    ++to->chunks.epoch;
    if (!clone_columns(chunk, from))
        return false;
    chunk->count = from->count;
    archetype->row_count += from->count;
    if (chunk->count)
        archetype->tail = chunk->index;
    const mica_entity *entities = micap_chunk_entities(from);
    memcpy(micap_chunk_entities(chunk), entities, from->count * sizeof *entities);
    for (uint32_t row = 0; row < from->count; row += MICA_SLICE_ROWS)
        memcpy(micap_chunk_stamps(chunk, row), micap_chunk_stamps(from, row), from->stride * sizeof(mica_version));
    for (uint32_t row = 0; row < from->count; ++row)
        *micap_record_at(&to->entities, entities[row].index) =
            micap_record_pack(entities[row].generation, chunk->number, row);
    return true;
}

static bool clone_rows(mica_world *to, const mica_world *from)
{
    for (uint32_t i = 0; i < from->archetypes.count; ++i) {
        const micap_archetype *archetype = from->archetypes.by_id[i];
        for (uint32_t k = 0; k < archetype->chunk_count; ++k)
            if (!clone_chunk(to, to->archetypes.by_id[i], archetype->chunks[k]))
                return false;
        micap_rows_update_open(to->archetypes.by_id[i]);
    }
    return true;
}

static bool clone_singletons(mica_world *to, const mica_world *from)
{
    mica_component id = 0;
    while ((id = micap_component_after(&from->components, id))) {
        const micap_component *component = micap_component_of(&from->components, id);
        if (!micap_component_use(to, id))
            return false;
        if (!component->singleton || component->is_unborn)
            continue;
        const micap_type *type = component->type;
        void *value = micap_allocate(&to->memory, type->type.size_bytes, type->type.alignment);
        if (!value || !micap_values_copy(type, value, component->singleton, 1)) {
            micap_release(&to->memory, value, type->type.size_bytes, type->type.alignment);
            return false;
        }
        micap_component_of(&to->components, id)->singleton = value;
    }
    return true;
}

static bool clone_names(mica_world *to, const mica_world *from)
{
    for (uint32_t i = 0; i < from->names.entry_count; ++i) {
        const micap_name *name = &from->names.entries[i];
        bool is_cloned = name->text && micap_is_row(micap_locate(from, name->entity)); /* not if creation is pending */
        if (is_cloned && !micap_name_copy(to, name))
            return false;
    }
    return true;
}

static bool clone_modules(mica_world *to, const mica_world *from)
{
    for (uint32_t id = 0; id < MICAP_MODULES; ++id) {
        const micap_module *module = &from->modules[id];
        if (module->ops && module->ops->clone && !module->ops->clone(to, module->state))
            return false;
    }
    return true;
}

mica_world *mica_world_clone(mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    if (micap_refuse_while_recording(world, "world_clone") != MICA_OK || !micap_can_copy_all(world, "world_clone"))
        return NULL;
    mica_world *clone = mica_world_create(&world->def);
    if (!clone) {
        micap_fail_memory(world, "world_clone");
        return NULL;
    }
    bool done = clone_singletons(clone, world) && clone_archetypes(clone, world) && micap_handles_clone(clone, world) &&
                clone_rows(clone, world) && micap_pools_clone(clone, world) && clone_names(clone, world) &&
                clone_modules(clone, world);
    atomic_store_explicit(&clone->version, micap_version(world), memory_order_relaxed);
    if (done)
        return clone;
    mica_world_destroy(clone);
    micap_fail_memory(world, "world_clone");
    return NULL;
}
