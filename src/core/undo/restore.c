/* The order matters: first what finds things (records, chunks), then rows, then values. */
#include "core/undo/restore.h"

#include "core/undo/copy_on_write.h"
#include "core/storage/rows.h"

typedef void (*kept_fn)(const micap_restoring *restoring, micap_undo_entry *kept);

static void each(const micap_restoring *restoring, micap_undo_kind kind, kept_fn fn)
{
    for (uint32_t i = 0; i < restoring->kept.count; ++i)
        if (restoring->kept.all[i]->kind == kind)
            fn(restoring, restoring->kept.all[i]);
}

/* Values that own something, and are about to be overwritten. A retired chunk has none. */
static void destruct_values(const micap_restoring *restoring, micap_undo_entry *kept)
{
    const micap_chunk *chunk = micap_place_chunk(restoring->world, kept);
    if (!kept->is_owned || !chunk)
        return;
    uint32_t row = micap_place_row(kept->key);
    if (micap_slice_count(chunk, row))
        micap_values_destruct(kept->type, micap_chunk_value(chunk, micap_place_column(kept->key), row),
                              micap_slice_count(chunk, row));
}

static void restore_records(const micap_restoring *restoring, micap_undo_entry *kept)
{
    uint32_t count = (uint32_t)(kept->bytes / sizeof(uint64_t)), first = (uint32_t)kept->key * count;
    uint64_t *records = micap_record_at(&restoring->world->entities, first);
    memcpy(records, kept->data, kept->bytes);
    micap_handles_clear_fresh(restoring->handles, first, records, count);
}

static void restore_page(const micap_restoring *restoring, micap_undo_entry *kept)
{
    micap_page *page = &restoring->world->entities.pages[kept->key];
    const micap_page *old = kept->data;
    page->next = old->next;
    page->first_free = old->first_free;
}

static void restore_archetype(const micap_restoring *restoring, micap_undo_entry *kept)
{
    mica_world *world = restoring->world;
    micap_archetype *archetype = world->archetypes.by_id[kept->key];
    micap_chunk *const *chunks = kept->data;
    uint32_t same = 0;
    while (same < kept->count && same < archetype->chunk_count && chunks[same] == archetype->chunks[same])
        ++same;
    for (uint32_t i = same; i < archetype->chunk_count; ++i)
        micap_chunk_retire(world, archetype->chunks[i]);
    for (uint32_t i = same; i < kept->count; ++i)
        micap_chunk_revive(world, archetype->chunks[i] = chunks[i]);
    archetype->chunk_count = kept->count;
    ++world->chunks.epoch;
    archetype->row_count = kept->stamp;
    archetype->tail = 0;
    uint64_t left = kept->stamp;
    for (uint32_t i = 0; i < archetype->chunk_count; ++i) {
        micap_chunk *chunk = archetype->chunks[i];
        chunk->count = left < chunk->capacity ? (uint32_t)left : chunk->capacity;
        left -= chunk->count;
        if (chunk->count)
            archetype->tail = i;
    }
    micap_rows_update_open(archetype);
}

static void restore_rows(const micap_restoring *restoring, micap_undo_entry *kept)
{
    const micap_chunk *chunk = micap_place_chunk(restoring->world, kept);
    if (!chunk)
        return;
    uint32_t first = micap_place_row(kept->key);
    const mica_entity *entities = kept->data;
    /* Also if it is retired now: when another restore brings it back, a newer stamp would say that the log has its rows. */
    micap_chunk_stamps(chunk, first)[0] = kept->stamp;
    if (!kept->count || !micap_chunk_in_use(restoring->world, chunk->number))
        return;
    memcpy(micap_chunk_entities(chunk) + first, entities, kept->count * sizeof *entities);
    for (uint32_t i = 0; i < kept->count; ++i)
        *micap_record_at(&restoring->world->entities, entities[i].index) =
            micap_record_pack(entities[i].generation, chunk->number, first + i);
}

static void restore_column(const micap_restoring *restoring, micap_undo_entry *kept)
{
    const micap_chunk *chunk = micap_place_chunk(restoring->world, kept);
    if (!chunk)
        return;
    uint32_t first = micap_place_row(kept->key), column = micap_place_column(kept->key);
    micap_chunk_stamps(chunk, first)[1 + column] = kept->stamp;
    if (!kept->count || !micap_chunk_in_use(restoring->world, chunk->number))
        return;
    void *values = micap_chunk_value(chunk, column, first);
    if (kept->is_owned)
        micap_values_move(kept->type, values, kept->data, kept->count);
    else
        memcpy(values, kept->data, kept->bytes);
    kept->is_owned = false;
}

bool micap_restore_prepare(const micap_restoring *restoring)
{
    for (uint32_t i = 0; i < restoring->kept.count; ++i)
        if (restoring->kept.all[i]->kind == MICAP_UNDO_NAME &&
            !micap_name_prepare(restoring->world, restoring->kept.all[i]))
            return false;
    return true;
}

void micap_restore_give_up(const micap_restoring *restoring)
{
    for (uint32_t i = 0; i < restoring->kept.count; ++i)
        if (restoring->kept.all[i]->kind == MICAP_UNDO_NAME)
            micap_name_give_up(restoring->world, restoring->kept.all[i]);
}

static void clear_name(const micap_restoring *restoring, micap_undo_entry *kept)
{
    micap_name_clear(restoring->world, kept);
}

static void restore_name(const micap_restoring *restoring, micap_undo_entry *kept)
{
    micap_name_restore(restoring->world, kept);
}

static void restore_links(const micap_restoring *restoring, micap_undo_entry *kept)
{
    micap_modules_restore_entry(restoring->world, kept);
}

void micap_restore_entries(micap_restoring *restoring)
{
    mica_world *world = restoring->world;
    micap_entities_settle(world);
    each(restoring, MICAP_UNDO_COLUMN, destruct_values);
    each(restoring, MICAP_UNDO_RECORDS, restore_records);
    each(restoring, MICAP_UNDO_PAGE, restore_page);
    micap_handles_restore(world, restoring->handles);
    each(restoring, MICAP_UNDO_ARCHETYPE, restore_archetype);
    each(restoring, MICAP_UNDO_ROWS, restore_rows);
    each(restoring, MICAP_UNDO_COLUMN, restore_column);
    micap_pools_restore(world, &restoring->kept, restoring->pools);
    each(restoring, MICAP_UNDO_NAME, clear_name);
    each(restoring, MICAP_UNDO_NAME, restore_name);
    each(restoring, MICAP_UNDO_LINKS, restore_links);
    ++world->structure;
}
