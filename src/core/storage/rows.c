#include "core/storage/rows.h"

#include "base/assert.h"
#include "base/bits.h"
#include "core/world/world.h"
#include "core/undo/copy_on_write.h"

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
    if (room < count && world->keeper.before)
        micap_keep_archetype(world, archetype);
    while (room < count) {
        if (!MICAP_RESERVE(&world->memory, archetype->chunks, &archetype->chunk_capacity,
                           (uint64_t)archetype->chunk_count + 1))
            return false;
        micap_chunk *chunk = micap_chunk_create(world, archetype, next_order(world, archetype, count - room));
        if (!chunk)
            return false;
        chunk->index = archetype->chunk_count;
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
    if (archetype->chunk_count > used + keep && world->keeper.before)
        micap_keep_archetype(world, archetype);
    while (archetype->chunk_count > used + keep) {
        micap_chunk *chunk = archetype->chunks[--archetype->chunk_count];
        if (world->keeper.before)
            micap_chunk_retire(world, chunk);
        else
            micap_chunk_destroy(world, chunk);
        ++dropped;
    }
    if (dropped)
        micap_rows_update_open(archetype);
    return dropped;
}

/* Copies a run of small values from one row to another. */
static inline void copy_lanes(const micap_lane *to, uint64_t to_row, const micap_lane *from, uint64_t from_row,
                              uint32_t count)
{
    for (; count; --count, ++to, ++from) {
        uint64_t bytes = to->bytes;
        micap_copy_small(to->values + to_row * bytes, from->values + from_row * bytes, bytes);
    }
}

/* The row that filled a hole has got its values; now its entity is told. */
static inline void own_hole(const mica_world *world, micap_spot last, micap_spot hole)
{
    mica_entity moved = micap_chunk_entities(last.chunk)[last.row];
    micap_row_own(world, hole, moved, micap_record_at(&world->entities, moved.index));
}

/* The last chunk of an archetype lost its last row. */
static MICAP_COLD bool leave_chunk(mica_world *world, micap_archetype *archetype)
{
    if (archetype->tail)
        --archetype->tail;
    if (!archetype->incoming) /* else the chunks are reserved */
        micap_rows_shrink(world, archetype, 1);
    micap_rows_update_open(archetype);
    return true;
}

/* Takes the last row off an archetype and returns where it was. */
static inline micap_spot drop_last(micap_archetype *archetype)
{
    micap_chunk *chunk = archetype->chunks[archetype->tail];
    uint32_t row = chunk->count - 1;
    chunk->count = row;
    --archetype->row_count;
    archetype->open = chunk;
    return (micap_spot){chunk, row};
}

static __attribute__((noinline)) bool fill_large_hole(mica_world *world, micap_spot hole)
{
    if (MICAP_UNLIKELY(world->keeper.before)) {
        micap_keep_rows(world, hole.chunk, hole.row, 1);
        micap_keep_last_rows(world, hole.chunk->archetype, 1);
    }
    micap_spot last = drop_last(hole.chunk->archetype);
    if (last.chunk != hole.chunk || last.row != hole.row) {
        micap_row_move(last, hole);
        own_hole(world, last, hole);
    }
    return last.row || leave_chunk(world, hole.chunk->archetype);
}

void micap_rows_drop_last(mica_world *world, micap_archetype *archetype, uint32_t count)
{
    micap_chunk *chunk = archetype->chunks[archetype->tail];
    if (MICAP_UNLIKELY(world->keeper.before) && count)
        micap_keep_rows(world, chunk, chunk->count - count, count);
    MICAP_ASSERT(count <= chunk->count, "the rows that are dropped lie in the last chunk");
    chunk->count -= count;
    archetype->row_count -= count;
    archetype->open = chunk;
    if (!chunk->count)
        leave_chunk(world, archetype);
}

/* Ends with calls and has none in between, so that nothing has to be kept on the stack. */
bool micap_row_fill_hole(mica_world *world, micap_spot hole)
{
    micap_archetype *archetype = hole.chunk->archetype;
    if (MICAP_UNLIKELY(!archetype->small || world->keeper.before))
        return fill_large_hole(world, hole);
    micap_spot last = drop_last(archetype);
    if (last.chunk != hole.chunk || last.row != hole.row) {
        copy_lanes(micap_chunk_lanes(hole.chunk), hole.row, micap_chunk_lanes(last.chunk), last.row,
                   archetype->column_count);
        own_hole(world, last, hole);
    }
    return MICAP_LIKELY(last.row) || leave_chunk(world, hole.chunk->archetype);
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
    micap_archetype *archetype = hole.chunk->archetype;
    if (world->keeper.before)
        micap_keep_rows(world, hole.chunk, hole.row, count);
    while (count) {
        micap_chunk *last = archetype->chunks[archetype->tail];
        uint32_t behind = last->count - (last == hole.chunk ? hole.row + count : 0);
        uint32_t run = behind < count ? behind : count;
        if (world->keeper.before)
            micap_keep_rows(world, last, last->count - run, run);
        move_rows(world, (micap_spot){last, last->count - run}, hole, run);
        hole.row += run;
        count -= run;
        uint32_t rest = last == hole.chunk ? count : 0; /* of the hole, which is at the end now */
        micap_rows_drop_last(world, archetype, run + rest);
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
        else if (column->companion == MICAP_COMPANION_ADDED)
            *(mica_version *)value = micap_version(world);
    }
}

micap_spot micap_row_change_archetype(mica_world *world, micap_spot from, micap_archetype *to)
{
    mica_entity entity = micap_chunk_entities(from.chunk)[from.row];
    micap_spot spot = micap_rows_next(to);
    if (MICAP_UNLIKELY(world->keeper.before)) /* while its values are there */
        micap_keep_rows(world, from.chunk, from.row, 1);
    micap_row_move(from, spot);
    if (to->has_companions)
        micap_row_init_companions(world, from.chunk->archetype, spot);
    micap_rows_commit(world, spot, entity);
    micap_row_fill_hole(world, from);
    return spot;
}

char micap_tag_value;

void *micap_row_widen(mica_world *world, mica_entity entity, micap_spot from, const micap_edge *edge)
{
    static const char zeros[16];
    micap_spot spot = micap_rows_next(edge->end);
    uint32_t count = from.chunk->archetype->column_count, gap = edge->column;
    const micap_lane *lanes = micap_chunk_lanes(from.chunk), *others = micap_chunk_lanes(spot.chunk);
    copy_lanes(others, spot.row, lanes, from.row, gap < count ? gap : count);
    if (gap < count)
        copy_lanes(others + gap + 1, spot.row, lanes + gap, from.row, count - gap);
    micap_rows_commit(world, spot, entity);
    micap_row_fill_hole(world, from);
    if (gap == MICAP_COLUMN_TAG)
        return &micap_tag_value;
    char *value = others[gap].values + spot.row * others[gap].bytes;
    micap_copy_small(value, zeros, others[gap].bytes);
    return value;
}

bool micap_row_narrow(mica_world *world, mica_entity entity, micap_spot from, const micap_edge *edge)
{
    micap_spot spot = micap_rows_next(edge->end);
    uint32_t count = spot.chunk->archetype->column_count, gap = edge->column;
    const micap_lane *lanes = micap_chunk_lanes(from.chunk), *others = micap_chunk_lanes(spot.chunk);
    copy_lanes(others, spot.row, lanes, from.row, gap < count ? gap : count);
    if (gap < count)
        copy_lanes(others + gap, spot.row, lanes + gap + 1, from.row, count - gap);
    micap_rows_commit(world, spot, entity);
    return micap_row_fill_hole(world, from);
}
