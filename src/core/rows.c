#include "core/rows.h"

#include "base/assert.h"
#include "base/bits.h"
#include "core/world.h"

/* The block for the next chunk: twice the last one, larger when many rows are awaited, never too small for one. */
static uint32_t next_order(const mica_world *world, const micap_archetype *archetype, uint64_t rows)
{
    uint32_t first = micap_log2(world->def.chunk_bytes_first), last = micap_log2(world->def.chunk_bytes_last);
    /* Twice the bytes are worth it only while they hold many more rows, whose number has a limit. */
    const uint32_t enough = MICAP_CHUNK_ROWS_MAX / 2 + MICAP_CHUNK_ROWS_MAX / 8;
    uint32_t order = first;
    if (archetype->chunk_count) {
        const micap_chunk *before = archetype->chunks[archetype->chunk_count - 1];
        order = before->order + (before->capacity < enough);
    }
    if (rows > enough)
        rows = enough;
    while (order < last && micap_chunk_capacity(archetype, (uint64_t)1 << order) < rows)
        ++order;
    if (order > last)
        order = last;
    while (micap_chunk_capacity(archetype, (uint64_t)1 << order) == 0)
        ++order;
    return order;
}

static uint64_t room_of(const micap_archetype *archetype)
{
    uint64_t room = 0;
    for (uint32_t i = archetype->tail; i < archetype->chunk_count; ++i)
        room += archetype->chunks[i]->capacity - archetype->chunks[i]->count;
    return room;
}

bool micap_rows_reserve(mica_world *world, micap_archetype *archetype, uint64_t count)
{
    uint64_t room = room_of(archetype);
    while (room < count) {
        if (!MICAP_RESERVE(&world->memory, archetype->chunks, &archetype->chunk_capacity,
                           (uint64_t)archetype->chunk_count + 1))
            return false;
        micap_chunk *chunk = micap_chunk_create(world, archetype, next_order(world, archetype, count - room));
        if (!chunk)
            return false;
        archetype->chunks[archetype->chunk_count++] = chunk;
        room += chunk->capacity;
        micap_rows_update_open(archetype);
    }
    return true;
}

void micap_rows_update_open(micap_archetype *archetype)
{
    uint32_t index = archetype->tail;
    if (index < archetype->chunk_count && archetype->chunks[index]->count == archetype->chunks[index]->capacity)
        ++index;
    archetype->open = index < archetype->chunk_count ? archetype->chunks[index] : NULL;
}

static void move_value(const micap_column *column, void *to, void *from)
{
    if (column->plain)
        micap_copy_bytes(to, from, column->bytes);
    else
        micap_values_move(column->type, to, from, 1);
}

void micap_row_move(micap_spot from, micap_spot to)
{
    const micap_archetype *source = from.chunk->archetype, *target = to.chunk->archetype;
    const micap_column *columns = source->columns, *others = target->columns;
    for (uint32_t i = 0, j = 0; i < source->column_count; ++i) {
        const micap_column *column = &columns[i];
        void *value = micap_chunk_value(from.chunk, i, from.row);
        while (j < target->column_count && others[j].component < column->component)
            ++j;
        if (j < target->column_count && others[j].component == column->component)
            move_value(column, micap_chunk_value(to.chunk, j, to.row), value);
        else if (!column->plain)
            micap_values_destruct(column->type, value, 1);
    }
}

void micap_row_destruct(micap_spot spot)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    for (uint32_t i = 0; i < archetype->column_count; ++i)
        if (!archetype->columns[i].plain)
            micap_values_destruct(archetype->columns[i].type, micap_chunk_value(spot.chunk, i, spot.row), 1);
}

uint32_t micap_rows_shrink(mica_world *world, micap_archetype *archetype, uint32_t keep)
{
    uint32_t used = archetype->row_count ? archetype->tail + 1 : 0, dropped = 0;
    while (archetype->chunk_count > used + keep) {
        micap_chunk_destroy(world, archetype->chunks[--archetype->chunk_count]);
        ++dropped;
    }
    if (dropped)
        micap_rows_update_open(archetype);
    return dropped;
}

static inline void move_into_hole(mica_world *world, micap_spot last, micap_spot hole)
{
    const micap_archetype *archetype = hole.chunk->archetype;
    mica_entity moved = micap_chunk_entities(last.chunk)[last.row];
    uint64_t *record = micap_record_at(&world->entities, moved.index);
    __builtin_prefetch(record, 1); /* it lies anywhere; the copies hide the wait */
    if (MICAP_LIKELY(archetype->small)) {
        const micap_lane *to = micap_chunk_lanes(hole.chunk), *from = micap_chunk_lanes(last.chunk);
        for (uint32_t i = hole.chunk->stride - 1u; i > 0; --i, ++to, ++from)
            micap_copy_small((char *)hole.chunk + to->offset + (size_t)hole.row * to->bytes,
                             (char *)last.chunk + from->offset + (size_t)last.row * to->bytes, to->bytes);
    } else {
        micap_row_move(last, hole);
    }
    micap_chunk_entities(hole.chunk)[hole.row] = moved;
    micap_chunk_stamps(hole.chunk, hole.row)[0] = micap_version(world);
    *record = micap_record_pack(moved.generation, hole.chunk->number, hole.row);
}

/* Takes the last rows, which are in this chunk, out of the archetype. */
static inline void cut_last_rows(mica_world *world, micap_chunk *last_chunk, uint32_t count)
{
    micap_archetype *archetype = last_chunk->archetype;
    archetype->row_count -= count;
    last_chunk->count -= count;
    archetype->open = last_chunk;
    if (MICAP_UNLIKELY(last_chunk->count == 0)) {
        if (archetype->tail)
            --archetype->tail;
        if (!archetype->incoming) /* else the chunks are reserved */
            micap_rows_shrink(world, archetype, 1);
        micap_rows_update_open(archetype);
    }
}

void micap_row_fill_hole(mica_world *world, micap_spot hole)
{
    const micap_archetype *archetype = hole.chunk->archetype;
    micap_chunk *last_chunk = archetype->chunks[archetype->tail];
    micap_spot last = {last_chunk, last_chunk->count - 1};
    if (last.chunk != hole.chunk || last.row != hole.row)
        move_into_hole(world, last, hole);
    cut_last_rows(world, last_chunk, 1);
}

/* Moves rows of an archetype to where nothing is any more, column by column. */
static void move_rows(mica_world *world, micap_spot from, micap_spot to, uint32_t count)
{
    const micap_archetype *archetype = to.chunk->archetype;
    for (uint32_t i = 0; i < archetype->column_count; ++i) {
        const micap_column *column = &archetype->columns[i];
        void *target = micap_chunk_value(to.chunk, i, to.row), *source = micap_chunk_value(from.chunk, i, from.row);
        if (column->plain)
            memcpy(target, source, (size_t)count * column->bytes);
        else
            micap_values_move(column->type, target, source, count);
    }
    mica_entity *entities = micap_chunk_entities(to.chunk) + to.row;
    memcpy(entities, micap_chunk_entities(from.chunk) + from.row, count * sizeof *entities);
    for (uint32_t i = 0; i < count; ++i)
        *micap_record_at(&world->entities, entities[i].index) =
            micap_record_pack(entities[i].generation, to.chunk->number, to.row + i);
    mica_version version = micap_version(world);
    for (uint32_t row = to.row / MICA_SLICE_ROWS * MICA_SLICE_ROWS; row < to.row + count; row += MICA_SLICE_ROWS)
        micap_chunk_stamps(to.chunk, row)[0] = version;
}

void micap_rows_fill_hole(mica_world *world, micap_spot hole, uint32_t count)
{
    const micap_archetype *archetype = hole.chunk->archetype;
    while (count) {
        micap_chunk *last = archetype->chunks[archetype->tail];
        uint32_t behind = last->count - (last == hole.chunk ? hole.row + count : 0);
        uint32_t run = behind < count ? behind : count;
        move_rows(world, (micap_spot){last, last->count - run}, hole, run);
        hole.row += run;
        count -= run;
        uint32_t rest = last == hole.chunk ? count : 0; /* of the hole, which is at the end now */
        cut_last_rows(world, last, run + rest);
        count -= rest;
    }
}

void micap_row_init_companions(mica_world *world, const micap_archetype *from, micap_spot to)
{
    const micap_archetype *archetype = to.chunk->archetype;
    for (uint32_t i = 0; i < archetype->column_count; ++i) {
        const micap_column *column = &archetype->columns[i];
        if (column->companion == MICAP_COMPANION_NONE || (from && micap_archetype_has(from, column->component)))
            continue;
        void *value = micap_chunk_value(to.chunk, i, to.row);
        if (column->companion == MICAP_COMPANION_ENABLED)
            *(uint8_t *)value = 1;
        else
            *(mica_version *)value = micap_version(world);
    }
}

micap_spot micap_row_change_archetype(mica_world *world, micap_spot from, micap_archetype *to)
{
    mica_entity entity = micap_chunk_entities(from.chunk)[from.row];
    micap_spot spot = micap_rows_next(to);
    micap_row_move(from, spot);
    if (to->has_companions)
        micap_row_init_companions(world, from.chunk->archetype, spot);
    micap_rows_commit(world, spot, entity);
    micap_row_fill_hole(world, from);
    return spot;
}

/* Columns before the gap have the same number on both sides, those behind it differ by one. */
static inline void move_across(micap_spot narrow, micap_spot wide, uint32_t gap, bool widen, bool small)
{
    uint32_t count = narrow.chunk->stride - 1u;
    const micap_lane *lanes = micap_chunk_lanes(narrow.chunk), *others = micap_chunk_lanes(wide.chunk);
    for (uint32_t i = 0; i < count; ++i) {
        const micap_lane *lane = &lanes[i], *other = &others[i + (i >= gap)];
        char *near = (char *)narrow.chunk + lane->offset + (size_t)narrow.row * lane->bytes;
        char *far = (char *)wide.chunk + other->offset + (size_t)wide.row * lane->bytes;
        if (small)
            micap_copy_small(widen ? far : near, widen ? near : far, lane->bytes);
        else
            memcpy(widen ? far : near, widen ? near : far, lane->bytes);
    }
}

static __attribute__((noinline)) void move_large_across(micap_spot narrow, micap_spot wide, uint32_t gap, bool widen)
{
    move_across(narrow, wide, gap, widen, false);
}

micap_spot micap_row_step(mica_world *world, micap_spot from, micap_archetype *to, uint32_t gap)
{
    mica_entity entity = micap_chunk_entities(from.chunk)[from.row];
    micap_spot spot = micap_rows_next(to);
    bool widen = spot.chunk->stride >= from.chunk->stride;
    micap_spot narrow = widen ? from : spot, wide = widen ? spot : from;
    if (MICAP_UNLIKELY(!narrow.chunk->archetype->small))
        move_large_across(narrow, wide, gap, widen);
    else if (widen)
        move_across(from, spot, gap, true, true);
    else
        move_across(spot, from, gap, false, true);
    micap_rows_commit(world, spot, entity);
    micap_row_fill_hole(world, from);
    return spot;
}
