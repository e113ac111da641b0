#include "flow/messaging/existing_matches.h"

#include "base/assert.h"
#include "base/call_location.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/rows.h"
#include "core/world/callback.h"
#include "flow/messaging/monitor.h"
#include "pool/pool_undo.h"

static void tell(mica_world *world, micap_subject *subject, const mica_entity *entities, void *values, uint32_t count)
{
    mica_event event = {.world = world, .kind = MICA_EVENT_ADD, .component = subject->component};
    event.count = count;
    event.entities = entities;
    event.values = values;
    const micap_type *type = micap_type_of(subject->component);
    MICAP_ASSERT(values || !type->type.relation, "edges have values");
    if (type->type.relation)
        memcpy(&event.target, (const char *)values + type->type.fields[0].offset, sizeof event.target);
    mica_location location = micap_noted_place();
    uint32_t depth = micap_callback_begin(world);
    micap_subject_call(subject, &event);
    micap_callback_end(world, depth);
    micap_note_again(location);
}

/* The function may write to the values, which therefore count as changed: rows that were just added do so anyway. */
static void tell_chunk(mica_world *world, micap_subject *subject, micap_chunk *chunk)
{
    uint32_t column = micap_archetype_column(chunk->archetype, subject->component);
    void *values = micap_finder_value(micap_chunk_find(chunk, subject->component), 0);
    if (values)
        micap_touch_column(world, chunk, column, 0, chunk->count, micap_version(world));
    tell(world, subject, micap_chunk_entities(chunk), values, chunk->count);
}

static void tell_chunks(mica_world *world, micap_subject *subject)
{
    for (uint32_t i = 0; i < world->archetypes.count; ++i) {
        const micap_archetype *archetype = world->archetypes.by_id[i];
        if (!micap_archetype_has(archetype, subject->component) ||
            (subject->filter && !micap_query_matches_archetype(subject->filter, archetype)))
            continue;
        for (uint32_t k = 0; archetype->row_count && k <= archetype->tail; ++k)
            tell_chunk(world, subject, archetype->chunks[k]);
    }
}

/* A pool of tags has bits by entity index, and no owners. */
static void tell_tags(mica_world *world, micap_subject *subject, const mica_pool *pool)
{
    uint32_t end = pool->present_words * 64;
    for (uint32_t row = 0; (row = micap_pool_next_used(pool, row)) < end; ++row) {
        mica_entity owner = {row, micap_record_generation(*micap_record_at(&world->entities, row))};
        if (mica_is_alive(world, owner))
            tell(world, subject, &owner, NULL, 1);
    }
}

/* Rows of owners that died are left out. */
static void tell_pool(mica_world *world, micap_subject *subject, mica_pool *pool)
{
    for (uint32_t row = 0, end; (row = micap_pool_next_used(pool, row)) < pool->row_limit; row = end) {
        end = row + 1;
        if (pool->dead_count && !mica_is_alive(world, pool->owners[row]))
            continue;
        uint32_t used_end = micap_pool_run_end(pool, row);
        while (!pool->edges && end < used_end && (!pool->dead_count || mica_is_alive(world, pool->owners[end])))
            ++end;
        if (pool->values)
            micap_pool_touch(pool, MICAP_ALL_COLUMNS, row, end - row, micap_version(world));
        tell(world, subject, pool->owners + row, pool->values ? micap_pool_value(pool, row) : NULL, end - row);
    }
}

void micap_existing_tell(mica_world *world, micap_observer *observer)
{
    if (observer->monitor)
        micap_monitor_tell_existing(world, observer->monitor);
    for (uint32_t i = 0; i < observer->subject_count; ++i) {
        micap_subject *subject = &observer->subjects[i];
        mica_pool *pool = micap_is_pooled(subject->component) ? micap_pool_of(world, subject->component) : NULL;
        if (subject->event != MICA_EVENT_ADD)
            continue;
        if (!pool)
            tell_chunks(world, subject);
        else if (pool->kind == MICAP_POOL_TAG)
            tell_tags(world, subject, pool);
        else
            tell_pool(world, subject, pool);
    }
}
