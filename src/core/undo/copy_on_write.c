#include "core/undo/copy_on_write.h"

#include "base/assert.h"
#include "core/undo/undo_pools.h"
#include "core/world/report.h"

static bool copy_values(micap_undo_entry *to, const micap_undo_entry *from)
{
    return micap_values_copy(from->type, to->data, from->data, from->count);
}

static void move_values(micap_undo_entry *to, micap_undo_entry *from)
{
    micap_values_move(from->type, to->data, from->data, from->count);
}

static void release_values(micap_undo_entry *kept)
{
    micap_values_destruct(kept->type, kept->data, kept->count);
}

const micap_undo_value_ops micap_undo_ops_of_values = {copy_values, move_values, release_values};

void micap_undo_save_column(mica_world *world, const micap_chunk *chunk, uint32_t column, uint32_t row)
{
    const micap_column *about = &chunk->archetype->columns[column];
    uint32_t count = micap_slice_count(chunk, row), first = row / MICA_SLICE_ROWS * MICA_SLICE_ROWS;
    size_t bytes = (size_t)count * about->bytes;
    micap_undo_entry *kept = micap_undo_open(&world->undo, MICAP_UNDO_COLUMN, micap_slice_place(chunk, row, column),
                                             chunk->born, bytes, about->type->type.alignment);
    if (!kept)
        return;
    const void *values = micap_chunk_value(chunk, column, first);
    kept->count = count;
    kept->stamp = MICAP_LOAD(&micap_chunk_stamps(chunk, row)[1 + column], MICAP_RELAXED);
    kept->type = about->type;
    kept->is_owned = !about->trivial;
    if (about->trivial)
        memcpy(kept->data, values, bytes);
    else if (count && (!micap_can_copy(about->type) || !micap_values_copy(about->type, kept->data, values, count))) {
        micap_undo_give_up(&world->undo, kept);
        return;
    }
    micap_undo_close(&world->undo, kept);
}

void micap_undo_save_archetype(mica_world *world, const micap_archetype *archetype)
{
    micap_undo_entry *kept = micap_undo_open(&world->undo, MICAP_UNDO_ARCHETYPE, archetype->id, 0,
                                             archetype->chunk_count * sizeof *archetype->chunks, 1);
    if (!kept)
        return;
    kept->count = archetype->chunk_count;
    kept->stamp = archetype->row_count;
    if (archetype->chunk_count)
        memcpy(kept->data, archetype->chunks, archetype->chunk_count * sizeof *archetype->chunks);
    micap_undo_close(&world->undo, kept);
}

/* A slice whose rows come, go or move, with all its columns. */
static void keep_slice(mica_world *world, const micap_chunk *chunk, uint32_t row)
{
    uint32_t count = micap_slice_count(chunk, row), first = row / MICA_SLICE_ROWS * MICA_SLICE_ROWS;
    micap_undo_entry *kept = micap_undo_open(&world->undo, MICAP_UNDO_ROWS, micap_slice_place(chunk, row, 0),
                                             chunk->born, count * sizeof(mica_entity), _Alignof(mica_entity));
    if (!kept)
        return;
    kept->count = count;
    kept->stamp = micap_chunk_stamps(chunk, row)[0];
    memcpy(kept->data, micap_chunk_entities(chunk) + first, count * sizeof(mica_entity));
    micap_undo_close(&world->undo, kept);
    for (uint32_t column = 0; column < chunk->archetype->column_count; ++column)
        micap_undo_save_column(world, chunk, column, row);
}

void micap_undo_save_rows(mica_world *world, const micap_chunk *chunk, uint32_t row, uint32_t count)
{
    uint64_t place = micap_slice_place(chunk, row, 0);
    bool is_one = count == 1 && !world->flush.is_shared;
    if (is_one && micap_undo_has_rows(&world->undo, place, chunk->born))
        return;
    if (is_one)
        micap_undo_note_rows(&world->undo, place, chunk->born);
    micap_undo_save_archetype(world, chunk->archetype);
    for (uint32_t end = row + count; row < end; row = (row / MICA_SLICE_ROWS + 1) * MICA_SLICE_ROWS)
        keep_slice(world, chunk, row);
}

const micap_chunk *micap_place_chunk(const mica_world *world, const micap_undo_entry *kept)
{
    const micap_chunk *chunk = world->chunks.by_number[kept->key >> 32];
    return !((uintptr_t)chunk & 1) && chunk->born == kept->part ? chunk : NULL;
}

void micap_undo_save_again(mica_world *world, const micap_undo_entry *kept)
{
    const micap_chunk *chunk;
    switch ((micap_undo_kind)kept->kind) {
    case MICAP_UNDO_ARCHETYPE: micap_undo_save_archetype(world, world->archetypes.by_id[kept->key]); break;
    case MICAP_UNDO_ROWS:
    case MICAP_UNDO_COLUMN:
        /* A retired one has no rows. It may come back. */
        chunk = micap_place_chunk(world, kept);
        if (chunk)
            micap_undo_save_rows(world, chunk, micap_place_row(kept->key), 1);
        break;
    case MICAP_UNDO_RECORDS:
    case MICAP_UNDO_PAGE:
        micap_undo_save_record(&world->entities,
                               (uint32_t)kept->key << (kept->kind == MICAP_UNDO_PAGE ? MICAP_PAGE_SHIFT : 6));
        break;
    case MICAP_UNDO_NAME:
        micap_undo_save_name(world, (mica_entity){(uint32_t)kept->key, (uint32_t)(kept->key >> 32)});
        break;
    case MICAP_UNDO_POOL:
    case MICAP_UNDO_MAP:
    case MICAP_UNDO_BITS:
    case MICAP_UNDO_MASKS:
    case MICAP_UNDO_TARGETS: micap_pools_save_again(world, kept); break;
    case MICAP_UNDO_LINKS: micap_modules_save_again(world, kept); break;
    }
}

static bool broken(const mica_world *world, const char *what, uint64_t location, uint32_t part)
{
    micap_fail(world, MICA_ERROR_INVALID, (mica_location){0}, "broken invariant: %s (%llu, %u)", what,
               (unsigned long long)location, part);
    return false;
}

static bool check_slice(const mica_world *world, const micap_chunk *chunk, uint32_t row)
{
    const micap_undo_log *log = world->undo.newest;
    const mica_version *stamps = micap_chunk_stamps(chunk, row);
    uint64_t before = world->undo.before;
    if (stamps[0] >= before &&
        !micap_undo_log_find(log, MICAP_UNDO_ROWS, micap_slice_place(chunk, row, 0), chunk->born))
        return broken(world, "rows that moved since a snapshot are kept", chunk->number, row);
    for (uint32_t column = 0; column < chunk->archetype->column_count; ++column)
        if (micap_stamp_version(stamps[1 + column]) >= before &&
            !micap_undo_log_find(log, MICAP_UNDO_COLUMN, micap_slice_place(chunk, row, column), chunk->born))
            return broken(world, "values that were written since a snapshot are kept", chunk->number, row);
    return true;
}

/* Also slices without rows: rows that come would otherwise be taken for those of the snapshot. */
static bool check_chunk(const mica_world *world, const micap_chunk *chunk)
{
    for (uint32_t row = 0; row < chunk->capacity; row += MICA_SLICE_ROWS)
        if (!check_slice(world, chunk, row))
            return false;
    return true;
}

static bool check_pool(const mica_world *world, const mica_pool *pool)
{
    for (uint32_t row = 0; pool->owners && row < pool->row_limit; row += MICA_SLICE_ROWS)
        if (micap_pool_slice_changed(pool, row, world->undo.before - 1) &&
            !micap_undo_log_find(world->undo.newest, MICAP_UNDO_POOL, micap_pool_place(pool, row / MICA_SLICE_ROWS), 0))
            return broken(world, "rows of a pool that changed since a snapshot are kept", pool->type->id, row);
    return true;
}

bool micap_undo_validate(const mica_world *world)
{
    if (!world->undo.newest || micap_undo_log_is_lost(world->undo.newest))
        return true;
    for (uint32_t id = 0; id < world->archetypes.count; ++id) {
        const micap_archetype *archetype = world->archetypes.by_id[id];
        for (uint32_t i = 0; i < archetype->chunk_count; ++i)
            if (!check_chunk(world, archetype->chunks[i]))
                return false;
    }
    bool holds = true;
    for (uint32_t i = 0; holds && i < world->chunks.retired_count; ++i)
        holds = check_chunk(world, world->chunks.retired[i].chunk);
    for (uint32_t i = 0; holds && i < world->pools.count; ++i)
        holds = check_pool(world, world->pools.all[i]);
    return holds;
}
