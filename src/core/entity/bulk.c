#include "base/argument.h"
#include "base/assert.h"
#include "core/events/hooks.h"
#include "core/entity/bulk_record.h"
#include "core/entity/create_plan.h"
#include "core/entity/create_rows.h"
#include "core/entity/destroy_list.h"
#include "core/entity/pool_component.h"
#include "core/entity/required.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/world/stale_pointers.h"
#include "core/world/world.h"
#include "core/storage/rows.h"
#include "mica/bulk.h"
#include "mica/component.h"

/* Creates entities with required components that are not given. */
static mica_result create_required(mica_world *world, uint32_t count, const mica_value *columns, uint32_t column_count,
                                   mica_entity *out_entities)
{
    micap_complete complete;
    if (!micap_values_complete(world, columns, column_count, &complete))
        return micap_failure(world);
    mica_result result = mica_create_many(world, count, complete.values, complete.count, out_entities);
    micap_complete_free(world, &complete);
    return result;
}

/* One entity is created as mica_create does it, in half the instructions. */
static mica_result create_one(mica_world *world, const mica_value *values, uint32_t count, mica_entity *out_entity)
{
    mica_entity entity = mica_create_id(world, values, count);
    if (mica_is_nil(entity))
        return micap_failure(world);
    if (out_entity)
        *out_entity = entity;
    return MICA_OK;
}

mica_result mica_create_many(mica_world *world, uint32_t count, const mica_value *columns, uint32_t column_count,
                             mica_entity *out_entities)
{
    MICAP_IMMEDIATE_CHANGE(world);
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, columns, column_count))
        return MICA_ERROR_INVALID;
    if (count == 0)
        return MICA_OK;
    if (world->recording_depth)
        return micap_record_create_many(world, count, columns, column_count, out_entities);
    micap_check_door(world, "create_many");
    if (count == 1)
        return create_one(world, columns, column_count, out_entities);
    micap_archetype *archetype = micap_create_plan_find(world, columns, column_count);
    if (!archetype && micap_values_lack_required(columns, column_count))
        return create_required(world, count, columns, column_count, out_entities);
    if (!archetype)
        archetype = micap_create_plan_archetype(world, columns, column_count);
    if (!archetype)
        return micap_failure(world);
    micap_creation what = {archetype, columns, column_count, UINT32_MAX};
    micap_row first;
    if (!micap_rows_create(world, &what, count, "create_many", &first))
        return micap_failure(world);
    micap_rows_created(world, &what, first, count, out_entities);
    micap_hooks_end(world);
    return MICA_OK;
}

/* Records the destruction of those that live. */
static uint32_t record_many(mica_world *world, const mica_entity *entities, uint32_t count)
{
    uint32_t died = 0;
    for (uint32_t i = 0; i < count; ++i)
        if (mica_is_alive(world, entities[i]) &&
            !micap_recording_destroys(world, &micap_recorder(world)->recording, entities[i]))
            died += mica_destroy(world, entities[i]);
    return died;
}

uint32_t mica_destroy_many(mica_world *world, const mica_entity *entities, uint32_t count)
{
    MICAP_IMMEDIATE_CHANGE(world);
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, entities, count))
        return 0;
    if (world->recording_depth)
        return record_many(world, entities, count);
    uint32_t died = micap_destroy_list(world, entities, count);
    micap_hooks_end(world);
    return died;
}

enum { AHEAD = 32 };

static uint32_t found_one(const void *value, const void **out)
{
    MICAP_PREFETCH(value);
    memcpy(out, &value, sizeof value); /* the caller's pointers have another type */
    return value != NULL;
}

/* The general path. */
static uint32_t get_each(const mica_world *world, const mica_entity *entities, uint32_t count, mica_component component,
                         const void **out)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i)
        found += found_one(mica_get_id(world, entities[i], component), &out[i]);
    return found;
}

/* Any address may be asked for. */
static inline void prefetch_record(const mica_world *world, mica_entity entity)
{
    MICAP_PREFETCH((const void *)((uintptr_t)world->lookup.records + (uintptr_t)entity.index * sizeof(uint64_t)));
}

/* The fast path, for a component that the column table has: the list of its columns is found once, and records are asked for
 * `ahead` entities before they are needed. */
static MICAP_INLINE uint32_t get_listed(const mica_world *world, const mica_entity *entities, uint32_t count,
                                        mica_component component, const void **out, uint32_t ahead)
{
    const mica_private_lookup *lookup = &world->lookup;
    char *const *columns = lookup->columns[component];
    const uint64_t bytes = micap_type_of(component)->type.size_bytes;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i) {
        mica_entity entity = entities[i];
        if (ahead)
            prefetch_record(world, entities[i + ahead]);
        const char *value = NULL;
        if (MICAP_LIKELY(entity.index < lookup->record_count)) {
            uint64_t record = mica_private_record(lookup, entity.index);
            uint64_t number = mica_private_chunk_number(record, entity.generation);
            if (MICAP_LIKELY(number < lookup->chunk_capacity) && MICAP_LIKELY(columns[number] != NULL))
                value = columns[number] + micap_record_row(record) * bytes;
        } else {
            value = mica_get_id(world, entity, component);
        }
        found += found_one(value, &out[i]);
    }
    return found;
}

/* All of a component in a pool, whose index alone tells. There are no records to wait for. */
static uint32_t get_pooled(const mica_private_pool *pool, const mica_entity *entities, uint32_t count, uint64_t bytes,
                           const void **out)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t row = mica_private_pool_row(pool, entities[i]);
        found += found_one(row < pool->row_limit ? pool->values + row * bytes : NULL, &out[i]);
    }
    return found;
}

uint32_t mica_get_many_id(const mica_world *world, const mica_entity *entities, uint32_t count,
                          mica_component component, const void **out_pointers)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, entities, count) || MICAP_MISSING(world, out_pointers))
        return 0;
    const mica_type *type = mica_component_type(component);
    if (!type) {
        memset(out_pointers, 0, count * sizeof *out_pointers);
        return 0;
    }
    const mica_private_pool *pool = MICAP_EVERY_WRITE_IS_CHECKED ? NULL : mica_private_fast_pool(world, component);
    if (pool)
        return get_pooled(pool, entities, count, type->size_bytes, out_pointers);
    bool is_listed = !MICAP_EVERY_WRITE_IS_CHECKED && component < world->lookup.component_count &&
                     world->lookup.columns[component] != world->lookup.no_columns;
    if (!is_listed)
        return get_each(world, entities, count, component, out_pointers);
    for (uint32_t i = 0; i < AHEAD && i < count; ++i)
        prefetch_record(world, entities[i]);
    uint32_t first = count > AHEAD ? count - AHEAD : 0;
    return get_listed(world, entities, first, component, out_pointers, AHEAD) +
           get_listed(world, entities + first, count - first, component, out_pointers + first, 0);
}
