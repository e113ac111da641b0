#include "core/events/hooks.h"
#include "core/entity/create_rows.h"
#include "core/entity/destroy.h"
#include "core/entity/pool_component.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "core/storage/rows.h"
#include "mica/bulk.h"

/* Goes over rows that were just created, run by run: hands out their handles, and runs their hooks. */
static void announce(mica_world *world, micap_spot first, uint32_t count, const mica_value *columns,
                     uint32_t column_count, mica_entity *out)
{
    micap_archetype *archetype = first.chunk->archetype;
    bool hooks = micap_has_hooks(archetype, 1 << MICA_EVENT_ADD | 1 << MICA_EVENT_SET) ||
                 micap_has_pooled(columns, column_count);
    uint32_t chunk_index = archetype->tail;
    while (archetype->chunks[chunk_index] != first.chunk)
        --chunk_index;
    for (uint32_t row = first.row; count && (out || hooks); row = 0) {
        micap_chunk *chunk = archetype->chunks[chunk_index++];
        uint32_t run = chunk->count - row < count ? chunk->count - row : count;
        if (out) {
            memcpy(out, micap_chunk_entities(chunk) + row, run * sizeof *out);
            out += run;
        }
        if (hooks)
            micap_hooks_created(world, (micap_spot){chunk, row}, run, columns, column_count);
        count -= run;
    }
    micap_hooks_end(world);
}

/* The entities of rows that were just created, in one list. */
static void list_created(micap_spot first, uint32_t count, mica_entity *out)
{
    const micap_archetype *archetype = first.chunk->archetype;
    uint32_t chunk_index = archetype->tail;
    while (archetype->chunks[chunk_index] != first.chunk)
        --chunk_index;
    for (uint32_t row = first.row; count; row = 0) {
        const micap_chunk *chunk = archetype->chunks[chunk_index++];
        uint32_t run = chunk->count - row < count ? chunk->count - row : count;
        memcpy(out, micap_chunk_entities(chunk) + row, run * sizeof *out);
        out += run;
        count -= run;
    }
}

static bool create_in_pools(mica_world *world, micap_spot first, uint32_t count, const mica_value *columns,
                            uint32_t column_count)
{
    size_t bytes = (size_t)count * sizeof(mica_entity);
    mica_entity *entities = micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!entities) {
        micap_fail_memory(world, "create_many");
        return false;
    }
    list_created(first, count, entities);
    bool done = micap_pooled_create(world, columns, column_count, entities, count);
    micap_release(&world->memory, entities, bytes, MICAP_ARRAY_ALIGNMENT);
    return done;
}

mica_result mica_create_many(mica_world *world, uint32_t count, const mica_value *columns, uint32_t column_count,
                             mica_entity *out_entities)
{
    mica_result result = micap_refuse_while_recording(world, "create_many");
    if (result != MICA_OK || count == 0)
        return result;
    micap_archetype *archetype = micap_archetype_of_values(world, columns, column_count);
    if (!archetype)
        return micap_failure(world);
    if (!micap_rows_reserve(world, archetype, count) || !micap_entities_reserve(world, count)) {
        micap_rows_shrink(world, archetype, 1);
        return micap_fail_memory(world, "create_many");
    }
    ++world->structure;
    micap_spot first = micap_rows_next(archetype);
    for (uint32_t done = 0; done < count;) {
        micap_spot spot = micap_rows_next(archetype);
        uint32_t room = spot.chunk->capacity - spot.row;
        uint32_t run = room < count - done ? room : count - done;
        if (!micap_rows_fill(world, spot, run, columns, column_count, done)) {
            micap_rows_undo(world, archetype, done);
            micap_rows_shrink(world, archetype, 1);
            return MICA_ERROR_MEMORY;
        }
        micap_rows_commit_run(world, spot, run);
        done += run;
    }
    if (micap_has_pooled(columns, column_count) && !create_in_pools(world, first, count, columns, column_count)) {
        micap_rows_undo(world, archetype, count);
        micap_rows_shrink(world, archetype, 1);
        return micap_failure(world);
    }
    announce(world, first, count, columns, column_count, out_entities);
    return MICA_OK;
}

uint32_t mica_destroy_many(mica_world *world, const mica_entity *entities, uint32_t count)
{
    uint32_t died = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (world->recording_depth) {
            const micap_target *target = micap_recording_find(&micap_recorder(world)->recording, entities[i]);
            if (mica_is_alive(world, entities[i]) && !(target && target->destroyed))
                died += mica_destroy(world, entities[i]);
            continue;
        }
        micap_spot spot = micap_locate(world, entities[i]);
        if (!micap_is_row(spot))
            continue;
        died += micap_destroy_with_dependents(world, entities[i]);
    }
    micap_hooks_end(world);
    return died;
}

enum { BLOCK = 64 };

/* Looks up a block whose records were asked for one block ago, and asks for the values. */
static uint32_t get_block(const mica_world *world, const mica_entity *entities, uint32_t count,
                          mica_component component, const void **out)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const void *value = mica_get_id(world, entities[i], component);
        __builtin_prefetch(value);
        memcpy(&out[i], &value, sizeof value); /* the caller's pointers have another type */
        found += value != NULL;
    }
    return found;
}

static void prefetch_records(const mica_world *world, const mica_entity *entities, uint32_t count)
{
    uint32_t page_count = atomic_load_explicit(&world->entities.page_count, memory_order_acquire);
    for (uint32_t i = 0; i < count; ++i)
        if (entities[i].index >> MICAP_PAGE_SHIFT < page_count)
            __builtin_prefetch(micap_record_at(&world->entities, entities[i].index));
}

uint32_t mica_get_many_id(const mica_world *world, const mica_entity *entities, uint32_t count,
                          mica_component component, const void **out_pointers)
{
    uint32_t found = 0;
    prefetch_records(world, entities, count < BLOCK ? count : BLOCK);
    for (uint32_t begin = 0; begin < count; begin += BLOCK) {
        uint32_t run = count - begin < BLOCK ? count - begin : BLOCK;
        uint32_t left = count - begin - run;
        prefetch_records(world, entities + begin + run, left < BLOCK ? left : BLOCK);
        found += get_block(world, entities + begin, run, component, out_pointers + begin);
    }
    return found;
}
