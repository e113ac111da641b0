#include "core/storage/rows.h"

#include "base/assert.h"
#include "base/bits.h"
#include "core/world/world.h"

/* The largest chunk that a growing archetype is copied into: 256 KiB. Larger archetypes get further chunks. */
enum { ONLY_CHUNK_ORDER_MAX = 18 };

/* The block for the next chunk: twice the last one, larger when many rows are awaited, never too small for one. */
static uint32_t next_order(const mica_world *world, const micap_archetype *archetype, uint64_t rows)
{
    uint32_t first = micap_log2(world->def.chunk_bytes_first), last = micap_log2(world->def.chunk_bytes_last);
    /* Twice the bytes are worth it only while they hold twice the rows, whose number has a limit: the rest of the block is wasted. */
    const uint32_t enough = MICAP_CHUNK_ROWS_MAX / 2;
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

/* Moves rows of an archetype to where nothing is any more, column by column. */
static void move_rows(mica_world *world, micap_row from, micap_row to, uint32_t count)
{
    const micap_archetype *archetype = to.chunk->archetype;
    for (uint32_t i = 0; i < archetype->column_count; ++i) {
        const micap_column *column = &archetype->columns[i];
        void *target = micap_chunk_value(to.chunk, i, to.row), *source = micap_chunk_value(from.chunk, i, from.row);
        if (column->trivial)
            memcpy(target, source, (size_t)count * column->bytes);
        else
            micap_values_move(column->type, target, source, count);
    }
    mica_entity *entities = micap_chunk_entities(to.chunk) + to.row;
    memcpy(entities, micap_chunk_entities(from.chunk) + from.row, count * sizeof *entities);
    for (uint32_t i = 0; i < count; ++i)
        *micap_record_at(&world->entities, entities[i].index) =
            micap_record_pack(entities[i].generation, to.chunk->number, to.row + i);
}

/* Copies whole cache lines: columns begin at one, and what follows their last value in it belongs to no other column. */
static void copy_lines(void *to, const void *from, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += MICAP_CACHE_LINE)
        memcpy((char *)to + at, (const char *)from + at, MICAP_CACHE_LINE);
}

/* Copies all rows of a trivial archetype from one chunk to another. Their records still name the first. */
static void copy_chunk(const micap_chunk *from, micap_chunk *to)
{
    copy_lines(micap_chunk_entities(to), micap_chunk_entities(from), from->count * sizeof(mica_entity));
    for (uint32_t i = 0; i < from->archetype->column_count; ++i)
        copy_lines(micap_chunk_column(to, i), micap_chunk_column(from, i),
                   (uint64_t)from->count * from->archetype->columns[i].bytes);
}

/* Replaces the only chunk of a trivial archetype by one of 2^order bytes, with the same rows and stamps. The old chunk stays
 * readable until the operation is over, because its caller may be about to copy values from it. Values that are not trivial could
 * not be read any more after they were moved. */
static bool replace_only_chunk(mica_world *world, micap_archetype *archetype, uint32_t order)
{
    micap_chunk *old = archetype->chunks[0];
    uint32_t count = old->count;
    if (!micap_chunks_reserve_outgrown(world))
        return false;
    micap_chunk *chunk = micap_chunk_create(world, archetype, order);
    if (!chunk)
        return false;
    if (MICAP_UNLIKELY(world->undo.before)) {
        micap_preserve_rows(world, old, 0, count);
        micap_touch_rows(world, chunk, 0, count);
        move_rows(world, (micap_row){old, 0}, (micap_row){chunk, 0}, count);
    } else { /* no log refers to the old chunk by its number: with that, the records stay valid */
        copy_chunk(old, chunk);
        micap_chunks_swap_numbers(world, old, chunk);
    }
    micap_chunk_copy_stamps(chunk, old);
    chunk->index = 0;
    chunk->count = count;
    archetype->chunks[0] = chunk;
    ++world->chunks.epoch;
    micap_chunk_retire(world, old);
    micap_rows_update_open(archetype);
    world->chunks.outgrown_structure = ++world->structure;
    return true;
}

/* The order of a chunk that holds all rows of an archetype and `count` more, in place of its only chunk; 0 if it should get a further
 * chunk. A small archetype is one chunk, and so one view: walking eight chunks takes up to three times as long. */
static uint32_t larger_order(const mica_world *world, const micap_archetype *archetype, uint64_t count)
{
    if (archetype->chunk_count != 1 || !archetype->trivial)
        return 0;
    uint32_t last = micap_log2(world->def.chunk_bytes_last), order = archetype->chunks[0]->order + 1u;
    if (last > ONLY_CHUNK_ORDER_MAX)
        last = ONLY_CHUNK_ORDER_MAX;
    while (order <= last && micap_chunk_capacity(archetype, (uint64_t)1 << order) < archetype->row_count + count)
        ++order;
    return order <= last ? order : 0;
}

void micap_rows_fit(mica_world *world, micap_archetype *archetype)
{
    if (archetype->chunk_count != 1 || !archetype->trivial)
        return;
    uint32_t order = archetype->chunks[0]->order, first = micap_log2(world->def.chunk_bytes_first);
    while (order > first && micap_chunk_capacity(archetype, (uint64_t)1 << (order - 1)) >= archetype->row_count)
        --order;
    if (order < archetype->chunks[0]->order) {
        micap_touch_archetype(world, archetype);
        replace_only_chunk(world, archetype, order); /* without memory for it, the chunk stays as large as it is */
    }
}

bool micap_rows_reserve(mica_world *world, micap_archetype *archetype, uint64_t count)
{
    uint64_t room = room_of(archetype);
    if (room < count) {
        micap_touch_archetype(world, archetype);
        uint32_t order = larger_order(world, archetype, count);
        if (order)
            return replace_only_chunk(world, archetype, order);
    }
    while (room < count) {
        if (!MICAP_RESERVE(&world->memory, archetype->chunks, &archetype->chunk_capacity,
                           (uint64_t)archetype->chunk_count + 1))
            return false;
        micap_chunk *chunk = micap_chunk_create(world, archetype, next_order(world, archetype, count - room));
        if (!chunk)
            return false;
        chunk->index = archetype->chunk_count;
        archetype->chunks[archetype->chunk_count++] = chunk;
        ++world->chunks.epoch;
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

static inline void move_value(const micap_column *column, void *to, void *from)
{
    if (MICAP_LIKELY(column->trivial))
        micap_copy_inline(to, from, column->bytes);
    else
        micap_values_move(column->type, to, from, 1);
}

void micap_row_move(micap_row from, micap_row to)
{
    const micap_archetype *source = from.chunk->archetype, *target = to.chunk->archetype;
    const micap_column *column = source->columns, *other = target->columns, *end = other + target->column_count;
    const micap_column_data *lane = micap_chunk_columns(from.chunk), *place = micap_chunk_columns(to.chunk);
    for (uint32_t left = source->column_count; left; --left, ++column, ++lane) {
        char *value = lane->values + from.row * (uint64_t)column->bytes;
        for (; other < end && other->component < column->component; ++other)
            ++place;
        if (other < end && other->component == column->component)
            move_value(column, place->values + to.row * (uint64_t)column->bytes, value);
        else if (!column->trivial)
            micap_values_destruct(column->type, value, 1);
    }
}

void micap_rows_destruct(mica_world *world, micap_row spot, uint32_t count)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    micap_preserve_rows(world, spot.chunk, spot.row, count);
    for (uint32_t i = 0; !archetype->trivial && i < archetype->column_count; ++i)
        if (!archetype->columns[i].trivial)
            micap_values_destruct(archetype->columns[i].type, micap_chunk_value(spot.chunk, i, spot.row), count);
}

uint32_t micap_rows_shrink(mica_world *world, micap_archetype *archetype, uint32_t keep)
{
    uint32_t used = archetype->row_count ? archetype->tail + 1 : 0, dropped = 0;
    if (archetype->chunk_count > used + keep)
        micap_touch_archetype(world, archetype);
    while (archetype->chunk_count > used + keep) {
        micap_chunk_release(world, archetype->chunks[--archetype->chunk_count]);
        ++dropped;
    }
    world->chunks.epoch += dropped;
    if (dropped)
        micap_rows_update_open(archetype);
    return dropped;
}

static inline void copy_value(const micap_column_data *to, uint64_t to_row, const micap_column_data *from,
                              uint64_t from_row)
{
    uint64_t bytes = to->bytes;
    micap_copy_inline(to->values + to_row * bytes, from->values + from_row * bytes, bytes);
}

/* Gives a hole that was filled with the values of the last row to the entity of that row. */
static inline void own_hole(const mica_world *world, micap_row last, micap_row hole)
{
    mica_entity moved = micap_chunk_entities(last.chunk)[last.row];
    micap_row_own(hole, moved, micap_record_at(&world->entities, moved.index));
}

/* The last chunk of an archetype lost its last row. */
static MICAP_COLD bool leave_chunk(mica_world *world, micap_archetype *archetype)
{
    if (archetype->chunk_count == 1) /* it stays, and is open */
        return true;
    if (archetype->tail)
        --archetype->tail;
    if (!archetype->incoming) /* else the chunks are reserved */
        micap_rows_shrink(world, archetype, 1);
    micap_rows_update_open(archetype);
    return true;
}

static inline micap_row last_row(const micap_archetype *archetype)
{
    micap_chunk *chunk = archetype->chunks[archetype->tail];
    return (micap_row){chunk, chunk->count - 1};
}

/* Removes the last row of an archetype. The caller calls leave_chunk afterwards if it was the only row of its chunk. */
static inline void drop_last(micap_archetype *archetype, micap_row last)
{
    last.chunk->count = last.row;
    --archetype->row_count;
    archetype->open = last.chunk;
}

static inline bool is_same_row(micap_row a, micap_row b)
{
    return a.chunk == b.chunk && a.row == b.row;
}

/* The general path: values that are moved by functions of their own, and the last row of a chunk. */
static MICAP_NOINLINE bool fill_hole_any(mica_world *world, micap_row hole)
{
    micap_archetype *archetype = hole.chunk->archetype;
    micap_row last = last_row(archetype);
    micap_preserve_row(world, last.chunk, last.row);
    if (!is_same_row(last, hole)) {
        micap_touch_row(world, hole.chunk, hole.row);
        micap_row_move(last, hole);
        own_hole(world, last, hole);
    }
    drop_last(archetype, last);
    return last.row || leave_chunk(world, archetype);
}

/* Makes the copies that snapshots need before a hole is filled with the last row, and stamps it. */
static inline void preserve_for_hole(mica_world *world, micap_row last, micap_row hole)
{
    micap_preserve_row(world, last.chunk, last.row);
    if (!is_same_row(last, hole))
        micap_touch_row(world, hole.chunk, hole.row);
}

/* The fast path. Nothing but the copies remains after the loop has begun, so that little is saved on the stack. */
static MICAP_INLINE bool fill_hole_bytes(mica_world *world, micap_row hole, bool has_snapshots)
{
    micap_archetype *archetype = hole.chunk->archetype;
    micap_row last = last_row(archetype);
    if (MICAP_UNLIKELY(!last.row))
        return fill_hole_any(world, hole);
    if (has_snapshots)
        preserve_for_hole(world, last, hole);
    drop_last(archetype, last);
    if (is_same_row(last, hole))
        return true;
    if (!has_snapshots)
        micap_stamp_row(world, hole.chunk, hole.row);
    own_hole(world, last, hole);
    const micap_column_data *lanes = micap_chunk_columns(hole.chunk), *others = micap_chunk_columns(last.chunk);
    for (uint32_t i = archetype->column_count; i; --i, ++lanes, ++others)
        copy_value(lanes, hole.row, others, last.row);
    return true;
}

bool micap_row_fill_hole_fast(mica_world *world, micap_row hole)
{
    return fill_hole_bytes(world, hole, false);
}

bool micap_row_fill_hole_saving(mica_world *world, micap_row hole)
{
    return fill_hole_bytes(world, hole, true);
}

bool micap_row_fill_hole(mica_world *world, micap_row hole)
{
    if (MICAP_UNLIKELY(!hole.chunk->archetype->moves_as_bytes))
        return fill_hole_any(world, hole);
    if (MICAP_UNLIKELY(world->undo.before))
        return micap_row_fill_hole_saving(world, hole);
    return fill_hole_bytes(world, hole, false);
}

void micap_rows_drop_last(mica_world *world, micap_archetype *archetype, uint32_t count)
{
    micap_chunk *chunk = archetype->chunks[archetype->tail];
    micap_preserve_rows(world, chunk, chunk->count - count, count);
    MICAP_ASSERT(count <= chunk->count, "the rows that are dropped lie in the last chunk");
    chunk->count -= count;
    archetype->row_count -= count;
    archetype->open = chunk;
    if (!chunk->count)
        leave_chunk(world, archetype);
}

void micap_rows_fill_holes(mica_world *world, micap_row hole, uint32_t count)
{
    micap_archetype *archetype = hole.chunk->archetype;
    micap_preserve_rows(world, hole.chunk, hole.row, count);
    while (count) {
        micap_chunk *last = archetype->chunks[archetype->tail];
        uint32_t after = last->count - (last == hole.chunk ? hole.row + count : 0);
        uint32_t run = after < count ? after : count;
        micap_preserve_rows(world, last, last->count - run, run);
        micap_touch_rows(world, hole.chunk, hole.row, run);
        move_rows(world, (micap_row){last, last->count - run}, hole, run);
        hole.row += run;
        count -= run;
        uint32_t rest = last == hole.chunk ? count : 0; /* of the hole, which is at the end now */
        micap_rows_drop_last(world, archetype, run + rest);
        count -= rest;
    }
}

/* Moves the last `count` rows of an archetype, which lie in one chunk, to holes that lie one after the other: the last row first. */
static void fill_backwards(const mica_world *world, micap_row last, micap_row hole, uint32_t count)
{
    const micap_column_data *to = micap_chunk_columns(hole.chunk), *from = micap_chunk_columns(last.chunk);
    for (uint32_t column = hole.chunk->archetype->column_count; column; --column, ++to, ++from) {
        uint64_t bytes = to->bytes;
        char *target = to->values + hole.row * bytes;
        const char *source = from->values + last.row * bytes;
        for (uint32_t i = count; i; --i, target += bytes, source -= bytes)
            micap_copy_inline(target, source, bytes);
    }
    const mica_entity *moved = micap_chunk_entities(last.chunk) + last.row;
    mica_entity *entities = micap_chunk_entities(hole.chunk) + hole.row;
    for (uint32_t i = 0; i < count; ++i) {
        mica_entity entity = entities[i] = *(moved - i);
        *micap_record_at(&world->entities, entity.index) =
            micap_record_pack(entity.generation, hole.chunk->number, hole.row + i);
    }
}

void micap_rows_remove(mica_world *world, micap_row first, uint32_t count)
{
    micap_archetype *archetype = first.chunk->archetype;
    uint32_t end = first.row + count;
    while (first.row < end) {
        micap_row last = last_row(archetype);
        uint32_t left = end - first.row, begin = last.chunk == first.chunk ? end : 0;
        uint32_t run = last.row + 1 - begin < left ? last.row + 1 - begin : left;
        if (!run) { /* only rows that are removed are left */
            micap_rows_drop_last(world, archetype, left);
            return;
        }
        micap_preserve_rows(world, last.chunk, last.row + 1 - run, run);
        micap_touch_rows(world, first.chunk, first.row, run);
        fill_backwards(world, last, first, run);
        micap_rows_drop_last(world, archetype, run);
        first.row += run;
    }
}

void micap_row_init_companions(mica_world *world, const micap_archetype *from, micap_row to)
{
    const micap_archetype *archetype = to.chunk->archetype;
    for (uint32_t i = 0; i < archetype->column_count; ++i) {
        const micap_column *column = &archetype->columns[i];
        if (column->companion == MICAP_COMPANION_NONE || (from && micap_archetype_has(from, column->component)))
            continue;
        void *value = micap_chunk_value(to.chunk, i, to.row);
        if (column->companion == MICAP_COMPANION_ENABLED)
            *(uint8_t *)value = 1;
        else if (micap_holds_versions(column->companion))
            *(mica_version *)value = micap_version(world);
    }
}

micap_row micap_row_change_archetype(mica_world *world, micap_row from, micap_archetype *to)
{
    mica_entity entity = micap_chunk_entities(from.chunk)[from.row];
    micap_row spot = micap_rows_next(to);
    micap_preserve_row(world, from.chunk, from.row);
    micap_row_move(from, spot);
    if (to->has_companions)
        micap_row_init_companions(world, from.chunk->archetype, spot);
    micap_rows_commit(world, spot, entity);
    micap_row_fill_hole(world, from);
    return spot;
}

char micap_tag_value;

/* The rows that a step copies: of the entity, of its new row, and the last row of the archetype, which fills the hole. */
typedef struct step_rows {
    micap_row from, to, last;
} step_rows;

/* While there are snapshots: the copies that they need before the row leaves its archetype. */
static MICAP_COLD void save_for_step(mica_world *world, micap_row from, micap_row last)
{
    preserve_for_hole(world, last, from);
}

/* Moves the values of a row along an edge and, unless it is the last row itself, the last row of its archetype into the hole, in one
 * pass over the columns. Columns before the one of the edge have the same number in both archetypes, those after it differ by one. */
static MICAP_INLINE void step_columns(step_rows rows, uint32_t gap, uint32_t count, bool adds, bool is_last)
{
    const micap_column_data *lane = micap_chunk_columns(rows.from.chunk), *other = micap_chunk_columns(rows.to.chunk);
    const micap_column_data *last = micap_chunk_columns(rows.last.chunk);
    for (const micap_column_data *stop = lane + (gap < count ? gap : count);; gap = count) {
        for (; lane != stop; ++lane, ++other, ++last) {
            uint64_t bytes = lane->bytes;
            char *to = other->values + rows.to.row * bytes, *value = lane->values + rows.from.row * bytes;
            if (is_last)
                micap_copy_inline(to, value, bytes);
            else
                micap_copy_and_replace(to, value, last->values + rows.last.row * bytes, bytes);
        }
        if (gap >= count)
            break;
        stop += count - gap;
        other += adds;
        if (!adds && !is_last)
            copy_value(lane, rows.from.row, last, rows.last.row);
        lane += !adds;
        last += !adds;
    }
}

/* Makes the value that an edge adds: a copy, or from NULL zero. Returns it; micap_tag_value for a tag. */
static MICAP_INLINE char *make_added(micap_row to, const micap_edge *edge, const void *from)
{
    if (edge->column == MICAP_COLUMN_TAG)
        return &micap_tag_value;
    const micap_column_data *column = &micap_chunk_columns(to.chunk)[edge->column];
    char *value = column->values + to.row * column->bytes;
    if (from)
        micap_copy_fresh(value, from, column->bytes);
    else
        micap_zero_trivial(value, column->bytes);
    return value;
}

/* Moves an entity along an edge, with all values that both archetypes have, and fills the hole. Returns the value that was added.
 * Everything but the copies is done before the loop, so that little is saved on the stack. The new value is made first, because
 * `added` may point to the row that moves. */
static MICAP_INLINE char *step(mica_world *world, mica_entity entity, micap_row from, const micap_edge *edge, bool adds,
                               const void *added)
{
    micap_archetype *archetype = from.chunk->archetype;
    step_rows rows = {from, micap_rows_next(edge->end), last_row(archetype)};
    if (MICAP_UNLIKELY(world->undo.before))
        save_for_step(world, from, rows.last);
    char *value = adds ? make_added(rows.to, edge, added) : NULL;
    micap_rows_commit(world, rows.to, entity);
    drop_last(archetype, rows.last);
    if (is_same_row(rows.last, from)) {
        step_columns(rows, edge->column, archetype->column_count, adds, true);
    } else {
        micap_stamp_row(world, from.chunk, from.row);
        own_hole(world, rows.last, from);
        step_columns(rows, edge->column, archetype->column_count, adds, false);
    }
    if (MICAP_UNLIKELY(!rows.last.row))
        leave_chunk(world, archetype);
    return value;
}

void *micap_row_step_add(mica_world *world, mica_entity entity, micap_row from, const micap_edge *edge)
{
    return step(world, entity, from, edge, true, NULL);
}

bool micap_row_step_set(mica_world *world, mica_entity entity, micap_row from, const micap_edge *edge,
                        const void *value)
{
    step(world, entity, from, edge, true, value);
    return true;
}

/* The value that is removed has a destructor. */
static MICAP_COLD void destruct_value(mica_world *world, micap_row spot, uint32_t column)
{
    micap_preserve_row(world, spot.chunk, spot.row);
    micap_values_destruct(spot.chunk->archetype->columns[column].type, micap_chunk_value(spot.chunk, column, spot.row),
                          1);
}

bool micap_row_step_remove(mica_world *world, mica_entity entity, micap_row from, const micap_edge *edge)
{
    if (MICAP_UNLIKELY(edge->calls_destruct))
        destruct_value(world, from, edge->column);
    step(world, entity, from, edge, false, NULL);
    return true;
}
