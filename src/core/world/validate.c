/* Checks every invariant of a world. Tests call it after each step, so that a bug is found where it happens. */
#include "base/argument.h"
#include "core/storage/column_table.h"
#include "core/storage/rivals.h"
#include "core/query/query_chunks.h"
#include "core/undo/copy_on_write.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "type/owned.h"

static bool broken(const mica_world *world, const char *what, uint64_t a, uint64_t b)
{
    micap_fail(world, MICA_ERROR_INVALID, (mica_location){0}, "broken invariant: %s (%llu, %llu)", what,
               (unsigned long long)a, (unsigned long long)b);
    return false;
}

/* The text and lists of a value. */
static bool check_owned(const mica_world *world, const micap_type *type, const void *value)
{
    const char *problem = type->owns ? micap_owned_problem(&type->type, value) : NULL;
    return !problem || broken(world, problem, type->id, 0);
}

/* The versions at which components of a row were added and written. */
static bool check_versions(const mica_world *world, const micap_chunk *chunk, uint32_t row)
{
    const mica_version *stamps = micap_chunk_stamps(chunk, row);
    for (uint32_t i = 0; i < chunk->archetype->column_count; ++i) {
        const micap_column *column = &chunk->archetype->columns[i];
        if (!micap_holds_versions(column->companion))
            continue;
        mica_version version = *(const mica_version *)micap_chunk_value(chunk, i, row);
        if (version > micap_version(world))
            return broken(world, "no component was added or written after now", chunk->number, row);
        if (column->companion == MICAP_COMPANION_CHANGED && version > stamps[0] && version > stamps[1 + i])
            return broken(world, "a row that was written lies in a slice that was", chunk->number, row);
    }
    return true;
}

static bool check_row(const mica_world *world, const micap_chunk *chunk, uint32_t row)
{
    mica_entity entity = micap_chunk_entities(chunk)[row];
    uint64_t record = micap_record_of(&world->entities, entity);
    if (micap_record_chunk(record) != chunk->number || micap_record_row(record) != row)
        return broken(world, "a row's entity has a record that names the row", entity.index, row);
    for (uint32_t i = 0; i < chunk->archetype->column_count; ++i)
        if (chunk->archetype->columns[i].companion == MICAP_COMPANION_ENABLED &&
            *(uint8_t *)micap_chunk_value(chunk, i, row) > 1)
            return broken(world, "a toggle is 0 or 1", entity.index, row);
    if (chunk->archetype->has_companions && !check_versions(world, chunk, row))
        return false;
    for (uint32_t i = 0; !chunk->archetype->trivial && i < chunk->archetype->column_count; ++i)
        if (!check_owned(world, chunk->archetype->columns[i].type, micap_chunk_value(chunk, i, row)))
            return false;
    return true;
}

static bool check_chunk(const mica_world *world, const micap_archetype *archetype, uint32_t index)
{
    const micap_chunk *chunk = archetype->chunks[index];
    if (chunk->archetype != archetype || world->chunks.by_number[chunk->number] != chunk)
        return broken(world, "a chunk is in its archetype and in the table", chunk->number, index);
    if (chunk->count > chunk->capacity || chunk->capacity > MICAP_CHUNK_ROWS_MAX)
        return broken(world, "a chunk holds no more than it can", chunk->count, chunk->capacity);
    const micap_column_data *last =
        archetype->column_count ? &micap_chunk_columns(chunk)[archetype->column_count - 1] : NULL;
    if (last && (uint64_t)chunk->color_lines * MICAP_CACHE_LINE + (uint64_t)(last->values - (const char *)chunk) +
                        (uint64_t)chunk->capacity * last->bytes >
                    (uint64_t)1 << chunk->order)
        return broken(world, "the last column ends within the block", chunk->number, chunk->capacity);
    if (index < archetype->tail && chunk->count != chunk->capacity)
        return broken(world, "chunks before the tail are full", chunk->count, chunk->capacity);
    if (index > archetype->tail && chunk->count)
        return broken(world, "chunks after the tail are empty", chunk->count, index);
    for (uint32_t row = 0; row < chunk->count; row += MICA_SLICE_ROWS)
        for (uint32_t i = 0; i < chunk->stride; ++i)
            if (micap_stamp_version(micap_chunk_stamps(chunk, row)[i]) > micap_version(world))
                return broken(world, "a stamp is not newer than the world", row, i);
    for (uint32_t row = 0; row < chunk->capacity; row += MICA_SLICE_ROWS)
        for (uint32_t i = 0; i < archetype->column_count; ++i)
            if ((micap_chunk_stamps(chunk, row)[1 + i] >= MICAP_STAMP_TRACKED) !=
                (archetype->columns[i].changed != MICAP_COLUMN_NONE))
                return broken(world, "stamps say which columns are tracked", row, i);
    for (uint32_t row = 0; row < chunk->count; ++row)
        if (!check_row(world, chunk, row))
            return false;
    return true;
}

static bool is_listed(const micap_component *component, const micap_archetype *archetype)
{
    uint32_t low = 0, high = component->archetype_count; /* in order of id */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (component->archetypes[middle]->id < archetype->id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < component->archetype_count && component->archetypes[low] == archetype;
}

static bool check_set(const mica_world *world, const micap_archetype *archetype)
{
    uint32_t columns = 0;
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        mica_component id = archetype->components[i];
        if (i && archetype->components[i - 1] >= id)
            return broken(world, "the components of an archetype rise", archetype->id, i);
        const micap_component *component = micap_component_find(&world->components, id);
        uint32_t column = micap_archetype_column(archetype, id);
        bool is_tag = component && !micap_has_column(component->type);
        if (!component || column != (is_tag ? MICAP_COLUMN_TAG : columns))
            return broken(world, "a component is found at its column", archetype->id, id);
        columns += !is_tag;
        if (!is_listed(component, archetype))
            return broken(world, "a component lists its archetypes", archetype->id, id);
    }
    if (columns != archetype->column_count)
        return broken(world, "an archetype counts its columns", columns, archetype->column_count);
    return true;
}

static bool check_archetype(const mica_world *world, const micap_archetype *archetype)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < archetype->chunk_count; ++i) {
        if (!check_chunk(world, archetype, i))
            return false;
        rows += archetype->chunks[i]->count;
    }
    if (rows != archetype->row_count)
        return broken(world, "an archetype counts its rows", rows, archetype->row_count);
    if (rows ? !archetype->chunks[archetype->tail]->count : archetype->tail != 0)
        return broken(world, "the tail is the last chunk with rows", archetype->id, archetype->tail);
    if (archetype->incoming)
        return broken(world, "nothing is awaited between operations", archetype->id, archetype->incoming);
    if (!check_set(world, archetype))
        return false;
    if (!micap_rivals_are_apart(world, archetype))
        return broken(world, "components that exclude each other are on different entities", archetype->id, 0);
    for (uint32_t i = 0; i < archetype->chunk_count; ++i)
        if (!micap_column_table_is_right(world, archetype->chunks[i]))
            return broken(world, "the column table has the columns of a chunk", archetype->chunks[i]->number, i);
    return true;
}

static bool check_singletons(const mica_world *world)
{
    for (mica_component id = 0; (id = micap_component_after(&world->components, id)) != 0;) {
        const micap_component *component = micap_component_of(&world->components, id);
        if (component->singleton && !check_owned(world, component->type, component->singleton))
            return false;
    }
    return true;
}

/* Also the rows of entities that are dead: they are destroyed later. */
static bool check_pool_values(const mica_world *world, const mica_pool *pool)
{
    for (uint32_t row = 0; pool->type->owns && row < pool->row_limit; ++row)
        if (micap_pool_next_used(pool, row) == row && !check_owned(world, pool->type, micap_pool_value(pool, row)))
            return false;
    return true;
}

static bool check_queries(const mica_world *world)
{
    for (uint32_t i = 0; i < world->queries->count; ++i) {
        const mica_query *query = world->queries->all[i];
        uint32_t match = 0;
        for (uint32_t id = 0; id < world->archetypes.count; ++id) {
            const micap_archetype *archetype = world->archetypes.by_id[id];
            if (query->pattern || !micap_query_matches_archetype(query, archetype))
                continue;
            if (match >= query->match_count || query->archetypes[match] != archetype)
                return broken(world, "a query knows its archetypes, in order", i, id);
            ++match;
        }
        if (match != query->match_count || query->index != i)
            return broken(world, "a query knows no other archetypes", match, query->match_count);
        if (!micap_query_chunks_are_right(query))
            return broken(world, "the list of a query has its chunks", i, query->chunk_list.count);
    }
    return true;
}

/* The records of indices that were never used are zero. */
static bool check_unused(const mica_world *world, uint64_t begin, uint64_t end)
{
    uint64_t used = micap_entities_first_used(&world->entities, begin, end);
    return used == end || broken(world, "an index that was never used has an empty record", used, end);
}

static bool check_all_unused(const mica_world *world)
{
    const micap_entities *entities = &world->entities;
    bool holds =
        (entities->fresh_next && entities->fresh_next <= entities->fresh_end) ||
        broken(world, "fresh indices begin where they were given out", entities->fresh_next, entities->fresh_end);
    for (uint32_t i = 0; holds && i < entities->hole_count; ++i)
        holds = check_unused(world, entities->holes[i], (uint64_t)entities->holes[i] + MICAP_ID_BLOCK);
    return holds && check_unused(world, entities->fresh_next, entities->fresh_end) &&
           (atomic_load(&entities->lanes_taken) || check_unused(world, entities->high_water, UINT64_MAX));
}

static bool check_free_list(const mica_world *world, uint64_t *out_listed)
{
    const micap_entities *entities = &world->entities;
    *out_listed = 0;
    for (uint32_t page = entities->first_page; page; page = entities->pages[page - 1].next) {
        uint32_t slot = entities->pages[page - 1].first_free, count = 0;
        for (; slot != MICAP_SLOT_END && count <= MICAP_PAGE_RECORDS; ++count) {
            uint64_t record = *micap_record_at(entities, (page - 1) << MICAP_PAGE_SHIFT | slot);
            if (micap_record_chunk(record) != MICAP_CHUNK_NONE)
                return broken(world, "a slot on a free list is free", page - 1, slot);
            slot = micap_record_row(record);
        }
        if (!count)
            return broken(world, "a page on the list has free slots", page - 1, count);
        *out_listed += count;
    }
    if (*out_listed != entities->free_count)
        return broken(world, "free slots are counted", *out_listed, entities->free_count);
    return true;
}

/* Every slot is alive, pending, reserved, on a free list, retired, or was never used; only the last two have empty records. */
static bool check_slots(const mica_world *world)
{
    const micap_entities *entities = &world->entities;
    micap_handle_count owned = micap_commands_count_handles(world);
    uint64_t alive = 0, pending = 0, others = 0, listed;
    for (uint64_t index = 0; (index = micap_entities_first_used(entities, index, UINT64_MAX)) < UINT64_MAX; ++index) {
        uint64_t record = *micap_record_at(entities, (uint32_t)index);
        alive += micap_record_chunk(record) > MICAP_CHUNK_PENDING;
        pending += micap_record_chunk(record) == MICAP_CHUNK_PENDING;
        others += micap_record_chunk(record) == MICAP_CHUNK_NONE && record;
        mica_entity entity = {(uint32_t)index, micap_record_generation(record)};
        if (!micap_entity_is_of_space(world->def.handle_space, entity))
            return broken(world, "a slot has the handle space of its world", index, entity.generation);
    }
    if (!micap_entities_array_is_right(world))
        return broken(world, "inline look-ups read the records", entities->array_count, world->lookup.record_count);
    uint32_t list_count = micap_column_table_count_lists(world);
    if (list_count != world->chunks.list_count)
        return broken(world, "the lists of the column table are counted", list_count, world->chunks.list_count);
    if (alive != micap_entity_count(world))
        return broken(world, "every living entity has a row", alive, micap_entity_count(world));
    if (pending != owned.pending)
        return broken(world, "a pending handle is of one recorded creation", pending, owned.pending);
    if (!check_free_list(world, &listed) || !check_all_unused(world))
        return false;
    uint64_t reserved = owned.reserved + micap_entities_spare_count(entities);
    if (others != listed + reserved)
        return broken(world, "a dead slot is free, or reserved by one buffer", others, listed + reserved);
    return true;
}

mica_result mica_world_validate(mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    for (uint32_t i = 0; i < world->archetypes.count; ++i)
        if (!check_archetype(world, world->archetypes.by_id[i]))
            return MICA_ERROR_INVALID;
    if (!check_queries(world) || !check_slots(world))
        return MICA_ERROR_INVALID;
    const mica_pool *pool;
    const char *problem = micap_pools_check(world, &pool);
    if (problem) {
        micap_fail(world, MICA_ERROR_INVALID, (mica_location){0}, "broken invariant: %s (pool %s)", problem,
                   pool->type->type.name);
        return MICA_ERROR_INVALID;
    }
    for (uint32_t i = 0; i < world->pools.count; ++i)
        if (!check_pool_values(world, world->pools.all[i]))
            return MICA_ERROR_INVALID;
    if (!check_singletons(world))
        return MICA_ERROR_INVALID;
    if (micap_names_check(world) != world->names.count)
        return broken(world, "names are found both ways", world->names.count, 0), MICA_ERROR_INVALID;
    if (!micap_undo_validate(world))
        return MICA_ERROR_INVALID;
    if (!micap_modules_validate(world))
        return MICA_ERROR_INVALID;
    return world->def.check_ranges ? mica_world_check_ranges(world, 0) : MICA_OK;
}
