#include "core/storage/range_check.h"

#include "base/argument.h"
#include "core/events/watch.h"
#include "core/storage/split_row.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "mica/split.h"
#include "type/attributes.h"

#include <string.h>

mica_result micap_range_fail(const mica_world *world, const char *what, const micap_range_fault *fault)
{
    const char *name = micap_type_of(fault->component)->type.name;
    if (mica_is_nil(fault->entity))
        return micap_fail(world, fault->error.result, (mica_location){0}, "%s: %s: %s", what, name, fault->error.text);
    return micap_fail(world, fault->error.result, (mica_location){0}, "%s: %s of entity %u (generation %u): %s", what,
                      name, fault->entity.index, fault->entity.generation, fault->error.text);
}

/* The values of one component that are compared. */
typedef struct scan {
    const mica_world *world;
    const micap_type *type;
    mica_version since;
    char *whole; /* of a split component: room for a value */
    micap_range_fault *fault;
} scan;

static bool begin(scan *scan, mica_world *world)
{
    if (!scan->type->leaves)
        return true;
    scan->whole = micap_allocate(&world->memory, scan->type->type.size_bytes, MICAP_ARRAY_ALIGNMENT);
    return scan->whole != NULL;
}

static void end(scan *scan, mica_world *world)
{
    micap_release(&world->memory, scan->whole, scan->type->type.size_bytes, MICAP_ARRAY_ALIGNMENT);
}

/* Of a component that the program sees. */
static bool has_ranges(const micap_type *type)
{
    return type->companion == MICAP_COMPANION_NONE && micap_type_has_ranges(&type->type);
}

static bool holds(const scan *scan, mica_entity entity, mica_version version, void *value)
{
    micap_range_fault *fault = scan->fault;
    if (mica_value_check(mica_member_of_type(&scan->type->type, value), &fault->error) == MICA_OK)
        return true;
    fault->component = scan->type->id;
    fault->entity = entity;
    fault->version = version;
    return false;
}

/* The newest stamp of a component in a slice of a chunk. */
static mica_version chunk_version(const micap_type *type, const micap_chunk *chunk, uint32_t row)
{
    const mica_version *stamps = micap_chunk_stamps(chunk, row);
    mica_version newest = stamps[0];
    for (uint32_t i = 0; i < (type->leaves ? type->leaf_count : 1); ++i) {
        mica_component column = type->leaves ? type->leaves[i].component : type->id;
        mica_version version = micap_stamp_version(stamps[1 + micap_archetype_column(chunk->archetype, column)]);
        newest = version > newest ? version : newest;
    }
    return newest;
}

static bool chunk_holds(const scan *scan, micap_chunk *chunk)
{
    const micap_type *type = scan->type;
    mica_version version = 0;
    for (uint32_t row = 0; row < chunk->count; ++row) {
        mica_entity entity = micap_chunk_entities(chunk)[row];
        void *value = scan->whole;
        if (row % MICA_SLICE_ROWS == 0)
            version = chunk_version(type, chunk, row);
        if (version <= scan->since)
            continue;
        if (type->leaves)
            micap_row_gather((micap_row){chunk, row}, type, value);
        else
            value = micap_chunk_value(chunk, micap_archetype_column(chunk->archetype, type->id), row);
        if (!holds(scan, entity, version, value))
            return false;
    }
    return true;
}

static bool pool_holds(const scan *scan, const mica_pool *pool)
{
    const micap_type *type = scan->type;
    for (uint32_t row = 0; row < pool->row_limit; ++row) {
        if (!micap_pool_has_row(pool, row) || !micap_pool_slice_changed(pool, row, scan->since))
            continue;
        mica_version version = 0;
        for (uint32_t i = 0; i <= pool->data_lane_count; ++i) {
            mica_version stamp = micap_stamp_version(micap_pool_stamps(pool, row)[i]);
            version = stamp > version ? stamp : version;
        }
        for (uint32_t i = 0; i < type->leaf_count; ++i)
            memcpy(scan->whole + type->leaves[i].offset,
                   micap_pool_column_at(pool, type->leaves[i].offset)->data + (size_t)row * type->leaves[i].bytes,
                   type->leaves[i].bytes);
        if (!holds(scan, pool->owners[row], version, type->leaves ? scan->whole : micap_pool_value(pool, row)))
            return false;
    }
    return true;
}

static bool component_holds(const scan *scan, const micap_component *component)
{
    if (component->singleton)
        return holds(scan, mica_nil(), 0, component->singleton);
    if (micap_is_pooled(scan->type->id))
        return pool_holds(scan, scan->world->pools.by_number[scan->type->id - MICAP_POOL_IDS]);
    for (uint32_t i = 0; i < component->archetype_count; ++i)
        for (uint32_t j = 0; j < component->archetypes[i]->chunk_count; ++j)
            if (!chunk_holds(scan, component->archetypes[i]->chunks[j]))
                return false;
    return true;
}

bool micap_ranges_hold(mica_world *world, mica_version since, micap_range_fault *out_fault)
{
    bool all_hold = true;
    for (mica_component id = 0; all_hold && (id = micap_component_after(&world->components, id));) {
        const micap_component *component = micap_component_of(&world->components, id);
        scan scan = {.world = world, .type = component->type, .since = since, .fault = out_fault};
        if (!has_ranges(component->type))
            continue;
        if (!begin(&scan, world)) {
            *out_fault = (micap_range_fault){.component = id, .error = {MICA_ERROR_MEMORY, 0, "out of memory"}};
            return false;
        }
        all_hold = component_holds(&scan, component);
        end(&scan, world);
    }
    return all_hold;
}

mica_result mica_world_check_ranges(mica_world *world, mica_version since)
{
    micap_range_fault fault;
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    return micap_ranges_hold(world, since, &fault) ? MICA_OK : micap_range_fail(world, "ranges", &fault);
}

/* Called after the hook of the program, which may correct the values. */
static void see_set(micap_watch *watch, mica_event *event)
{
    micap_range_fault fault;
    const micap_type *type = micap_type_of(event->component);
    scan scan = {.world = event->world, .type = type, .fault = &fault};
    (void)watch;
    if (!begin(&scan, event->world)) {
        micap_fail_memory(event->world, "the ranges of a split component");
        return;
    }
    for (uint32_t i = 0; i < event->count; ++i) {
        void *value = type->leaves ? scan.whole : (char *)event->values + (size_t)i * type->type.size_bytes;
        if (type->leaves)
            mica_get_value_id(event->world, event->entities[i], type->id, value);
        if (!holds(&scan, event->entities[i], 0, value))
            micap_range_fail(event->world, "set", &fault);
    }
    end(&scan, event->world);
}

void micap_ranges_watch(mica_world *world, micap_component *component)
{
    const micap_type *type = component->type;
    if (!world->def.check_ranges || type->type.storage == MICA_STORAGE_SINGLETON || !has_ranges(type))
        return;
    component->range_watch.seen = see_set;
    micap_watch_add(world, MICA_EVENT_SET, type->id, &component->range_watch);
}
