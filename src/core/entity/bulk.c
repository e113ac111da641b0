#include "base/argument.h"
#include "base/assert.h"
#include "core/events/hooks.h"
#include "core/entity/create_plan.h"
#include "core/entity/create_rows.h"
#include "core/entity/destroy.h"
#include "core/entity/pool_component.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "core/storage/rows.h"
#include "mica/bulk.h"
#include "mica/component.h"

mica_result mica_create_many(mica_world *world, uint32_t count, const mica_value *columns, uint32_t column_count,
                             mica_entity *out_entities)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, columns, column_count))
        return MICA_ERROR_INVALID;
    mica_result result = micap_refuse_while_recording(world, "create_many");
    if (result != MICA_OK || count == 0)
        return result;
    micap_archetype *archetype = micap_create_plan_archetype(world, columns, column_count);
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

uint32_t mica_destroy_many(mica_world *world, const mica_entity *entities, uint32_t count)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, entities, count))
        return 0;
    uint32_t died = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (world->recording_depth) {
            if (mica_is_alive(world, entities[i]) &&
                !micap_recording_destroys(world, &micap_recorder(world)->recording, entities[i]))
                died += mica_destroy(world, entities[i]);
            continue;
        }
        bool is_alone = !micap_pools_mask(&world->pools, entities[i].index) &&
                        !micap_is_attached(&world->attachments, entities[i].index);
        uint32_t run = is_alone ? micap_destroy_neighbours(world, entities + i, count - i) : 0;
        if (run) {
            died += run;
            i += run - 1;
        } else if (micap_is_row(micap_locate(world, entities[i]))) {
            died += micap_destroy_with_dependents(world, entities[i]);
        }
    }
    micap_hooks_end(world);
    return died;
}

enum { BLOCK = 64 };

static uint32_t found_one(const void *value, const void **out)
{
    __builtin_prefetch(value);
    memcpy(out, &value, sizeof value); /* the caller's pointers have another type */
    return value != NULL;
}

/* Looks up a block whose records were asked for one block ago, and asks for the values. */
static uint32_t get_block(const mica_world *world, const mica_entity *entities, uint32_t count, mica_type *type,
                          const void **out)
{
    MICAP_ASSERT(type, "the type of the component");
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i)
        found += found_one(mica_lookup_get(world, entities[i], type), &out[i]);
    return found;
}

/* The same for a component that the column table has: the list of its columns is found once. */
static uint32_t get_listed_block(const mica_world *world, const mica_entity *entities, uint32_t count,
                                 mica_component component, uint64_t bytes, const void **out)
{
    char *const *columns = world->lookup.columns[component];
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t record = mica_private_record(world, entities[i]);
        const char *column = columns[micap_record_chunk(record)];
        found += found_one(MICAP_LIKELY(column != NULL) ? column + micap_record_row(record) * bytes
                                                        : mica_get_id(world, entities[i], component),
                           &out[i]);
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

static void prefetch_records(const mica_world *world, const mica_entity *entities, uint32_t count)
{
    const uintptr_t *directory = atomic_load_explicit(&world->entities.directory, memory_order_acquire);
    for (uint32_t i = 0; i < count; ++i)
        if (entities[i].index >> MICAP_PAGE_SHIFT < directory[-1])
            __builtin_prefetch(micap_record_at(&world->entities, entities[i].index));
}

uint32_t mica_get_many_id(const mica_world *world, const mica_entity *entities, uint32_t count,
                          mica_component component, const void **out_pointers)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, entities, count) || MICAP_MISSING(world, out_pointers))
        return 0;
    mica_type *type =
        (mica_type *)(uintptr_t)mica_component_type(component); /* its id is known: nothing is written to it */
    if (!type) {
        memset(out_pointers, 0, count * sizeof *out_pointers);
        return 0;
    }
    const mica_private_pool *pool = MICAP_EVERY_WRITE_IS_CHECKED ? NULL : mica_private_fast_pool(world, component);
    if (pool)
        return get_pooled(pool, entities, count, type->size_bytes, out_pointers);
    bool is_listed = !MICAP_EVERY_WRITE_IS_CHECKED && component < world->lookup.component_count;
    uint32_t found = 0;
    prefetch_records(world, entities, count < BLOCK ? count : BLOCK);
    for (uint32_t begin = 0; begin < count; begin += BLOCK) {
        uint32_t run = count - begin < BLOCK ? count - begin : BLOCK;
        uint32_t left = count - begin - run;
        prefetch_records(world, entities + begin + run, left < BLOCK ? left : BLOCK);
        const void **out = out_pointers + begin;
        found += is_listed ? get_listed_block(world, entities + begin, run, component, type->size_bytes, out)
                           : get_block(world, entities + begin, run, type, out);
    }
    return found;
}
