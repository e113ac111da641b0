#include "core/storage/row_batch.h"
#include "core/storage/rows.h"

static uint32_t at_most(uint32_t count, uint32_t limit)
{
    return count < limit ? count : limit;
}

/* How far a run may go: to the end of the chunks, and not so far that the rows to fill the holes are themselves in it. */
micap_row_batch micap_row_batch_begin(micap_row from, const micap_archetype *to, uint32_t count)
{
    micap_row_batch run = {.from = from, .to = to ? micap_rows_next(to) : (micap_row){0}};
    const micap_archetype *archetype = from.chunk->archetype;
    const micap_chunk *last = archetype->chunks[archetype->tail];
    uint32_t limit = to ? at_most(count, run.to.chunk->capacity - run.to.row) : count;
    run.is_backward = last == from.chunk && from.row == last->count - 1;
    if (run.is_backward) {
        run.count = at_most(limit, from.row + 1);
    } else {
        uint32_t others = last == from.chunk ? (last->count - from.row) / 2 : last->count;
        run.count = at_most(at_most(limit, others), from.chunk->count - from.row);
    }
    return run;
}

/* Copies `count` values, those of the source in falling order. */
static void copy_backward(char *to, const char *last, uint64_t bytes, uint32_t count)
{
    for (; count; --count, to += bytes, last -= bytes)
        micap_copy_inline(to, last, bytes);
}

/* Makes the copies that a snapshot needs of the rows that go and of those that fill their holes. */
static void preserve(mica_world *world, const micap_row_batch *run)
{
    const micap_archetype *archetype = run->from.chunk->archetype;
    const micap_chunk *last = archetype->chunks[archetype->tail];
    if (!run->is_backward)
        micap_preserve_rows(world, run->from.chunk, run->from.row, run->count);
    micap_preserve_rows(world, last, last->count - run->count, run->count);
}

/* Copies the columns both have. */
static void copy_columns(const micap_row_batch *run)
{
    const micap_archetype *source = run->from.chunk->archetype, *target = run->to.chunk->archetype;
    const micap_column *column = source->columns, *other = target->columns, *end = other + target->column_count;
    const micap_column_data *lane = micap_chunk_columns(run->from.chunk), *place = micap_chunk_columns(run->to.chunk);
    for (uint32_t left = source->column_count; left; --left, ++column, ++lane) {
        for (; other < end && other->component < column->component; ++other)
            ++place;
        if (other == end || other->component != column->component)
            continue;
        char *to = place->values + run->to.row * lane->bytes;
        const char *from = lane->values + run->from.row * lane->bytes;
        if (run->is_backward)
            copy_backward(to, from, lane->bytes, run->count);
        else
            memcpy(to, from, run->count * lane->bytes);
    }
}

void micap_row_batch_move_columns(mica_world *world, const micap_row_batch *run)
{
    preserve(world, run);
    micap_touch_rows(world, run->to.chunk, run->to.row, run->count);
    copy_columns(run);
}

/* The last rows of the archetype fill the holes that the run left. */
static void fill_holes(mica_world *world, const micap_row_batch *run)
{
    const micap_archetype *archetype = run->from.chunk->archetype;
    const micap_chunk *last = archetype->chunks[archetype->tail];
    uint32_t last_row = last->count - 1;
    const micap_column_data *lanes = micap_chunk_columns(run->from.chunk), *others = micap_chunk_columns(last);
    micap_touch_rows(world, run->from.chunk, run->from.row, run->count);
    for (uint32_t i = 0; i < archetype->column_count; ++i)
        copy_backward(lanes[i].values + run->from.row * lanes[i].bytes, others[i].values + last_row * lanes[i].bytes,
                      lanes[i].bytes, run->count);
    mica_entity *entities = micap_chunk_entities(run->from.chunk) + run->from.row;
    const mica_entity *moved = micap_chunk_entities(last) + last_row;
    for (uint32_t i = 0; i < run->count; ++i, --moved) {
        entities[i] = *moved;
        *micap_record_at(&world->entities, moved->index) =
            micap_record_pack(moved->generation, run->from.chunk->number, run->from.row + i);
    }
}

void micap_row_batch_end(mica_world *world, const micap_row_batch *run)
{
    micap_archetype *from = run->from.chunk->archetype;
    if (!run->to.chunk)
        preserve(world, run);
    if (!run->is_backward)
        fill_holes(world, run);
    if (run->to.chunk)
        micap_rows_count_up(run->to, run->count);
    micap_rows_drop_last(world, from, run->count);
    micap_rows_have_moved(world);
}

uint32_t micap_rows_in_order(micap_row first, const mica_entity *entities, uint32_t count)
{
    const mica_entity *owners = micap_chunk_entities(first.chunk) + first.row;
    uint32_t run = 1, limit = at_most(count, first.chunk->count - first.row);
    if (limit == 1 || memcmp(owners, entities, limit * sizeof *owners) == 0)
        return limit;
    while (run < limit && mica_same(owners[run], entities[run]))
        ++run;
    return run;
}

uint32_t micap_rows_in_reverse(micap_row first, const mica_entity *entities, uint32_t count)
{
    const mica_entity *owners = micap_chunk_entities(first.chunk) + first.row;
    uint32_t run = 1, limit = at_most(count, first.row + 1);
    while (run < limit && mica_same(*(owners - run), entities[run]))
        ++run;
    return run;
}

void micap_repeat_value(char *to, const char *value, size_t bytes, uint32_t count)
{
    size_t all = bytes * count, filled = bytes;
    memcpy(to, value, bytes);
    for (; filled < all; filled *= 2)
        memcpy(to + filled, to, filled < all - filled ? filled : all - filled);
}

/* What a step of several rows does apart from moving the columns that both archetypes have: what is removed is destroyed, what is
 * added gets its values, and entities and records name each other. */
static void finish_step(const mica_world *world, const micap_row_batch *run, const micap_edge *edge,
                        const mica_entity *entities, const micap_new_values *values)
{
    if (edge->path == MICAP_EDGE_REMOVES && edge->calls_destruct) {
        uint32_t first = run->is_backward ? run->from.row + 1 - run->count : run->from.row;
        micap_values_destruct(run->from.chunk->archetype->columns[edge->column].type,
                              micap_chunk_value(run->from.chunk, edge->column, first), run->count);
    }
    if (edge->path == MICAP_EDGE_ADDS && edge->column != MICAP_COLUMN_TAG) {
        void *to = micap_chunk_value(run->to.chunk, edge->column, run->to.row);
        if (values->stride)
            micap_values_move(values->type, to, values->data, run->count);
        else
            micap_repeat_value(to, values->data, values->type->type.size_bytes, run->count);
    }
    memcpy(micap_chunk_entities(run->to.chunk) + run->to.row, entities, run->count * sizeof *entities);
    for (uint32_t i = 0; i < run->count; ++i)
        *micap_record_at(&world->entities, entities[i].index) =
            micap_record_pack(entities[i].generation, run->to.chunk->number, run->to.row + i);
}

/* Rows of an archetype that loses all its rows: they leave no holes, and are dropped afterwards. Returns how many went. */
static uint32_t step_without_holes(mica_world *world, const mica_entity *entities, uint32_t count,
                                   const micap_edge *edge, const micap_new_values *values)
{
    micap_row_batch run = {.from = micap_locate(world, entities[0]), .to = micap_rows_next(edge->end)};
    run.count = micap_rows_in_order(run.from, entities, at_most(count, run.to.chunk->capacity - run.to.row));
    micap_preserve_rows(world, run.from.chunk, run.from.row, run.count);
    micap_touch_rows(world, run.to.chunk, run.to.row, run.count);
    copy_columns(&run);
    finish_step(world, &run, edge, entities, values);
    micap_rows_count_up(run.to, run.count);
    return run.count;
}

static uint32_t step_with_holes(mica_world *world, const mica_entity *entities, uint32_t count, const micap_edge *edge,
                                const micap_new_values *values)
{
    micap_row_batch run = micap_row_batch_begin(micap_locate(world, entities[0]), edge->end, count);
    MICAP_ASSERT(run.to.chunk, "an edge ends at an archetype");
    run.count = run.is_backward ? micap_rows_in_reverse(run.from, entities, run.count)
                                : micap_rows_in_order(run.from, entities, run.count);
    micap_row_batch_move_columns(world, &run);
    finish_step(world, &run, edge, entities, values);
    micap_row_batch_end(world, &run);
    return run.count;
}

void micap_rows_step_many(mica_world *world, const mica_entity *entities, uint32_t count, const micap_edge *edge,
                          micap_new_values values)
{
    micap_archetype *from = micap_locate(world, entities[0]).chunk->archetype;
    bool is_all = count == from->row_count;
    for (uint32_t went; count; count -= went, entities += went) {
        went = is_all ? step_without_holes(world, entities, count, edge, &values)
                      : step_with_holes(world, entities, count, edge, &values);
        values.data = micap_new_values_after(&values, went);
    }
    while (is_all && from->row_count)
        micap_rows_drop_last(world, from, from->chunks[from->tail]->count);
}

enum { SCATTERED_MAX = 512 };

/* A row that gets the values of a row of the last chunk. */
typedef struct refill {
    micap_chunk *chunk;
    uint32_t row;
    uint32_t from;
} refill;

static void copy_refills(const micap_archetype *archetype, const micap_chunk *last, const refill *refills,
                         uint32_t count)
{
    const micap_column_data *others = micap_chunk_columns(last);
    for (uint32_t i = 0; i < archetype->column_count; ++i) {
        const uint64_t bytes = others[i].bytes;
        const char *values = others[i].values;
        for (uint32_t k = 0; k < count; ++k)
            micap_copy_trivial(micap_chunk_columns(refills[k].chunk)[i].values + refills[k].row * bytes,
                               values + refills[k].from * bytes, bytes);
    }
}

/* Removes rows of at most as many entities as the last chunk has rows. Rows and records get their entities one after the other, but the
 * columns are copied afterwards: all values come from the last `count` rows, where those of rows that go in the meantime are not
 * overwritten. */
static uint32_t remove_scattered(mica_world *world, micap_archetype *archetype, const mica_entity *entities,
                                 uint32_t count)
{
    refill refills[SCATTERED_MAX];
    uint32_t from[SCATTERED_MAX]; /* of the last `count` rows: the row whose values belong there */
    micap_chunk *last = archetype->chunks[archetype->tail];
    const mica_entity *owners = micap_chunk_entities(last);
    uint32_t first = last->count - count, left = last->count, refill_count = 0;
    micap_preserve_rows(world, last, first, count);
    for (uint32_t i = 0; i < count; ++i)
        from[i] = first + i;
    for (uint32_t i = 0; i < count; ++i) {
        micap_row hole = micap_locate(world, entities[i]);
        bool is_last = hole.chunk == last;
        if (MICAP_UNLIKELY(hole.row >= (is_last ? left : hole.chunk->count) ||
                           !mica_same(micap_chunk_entities(hole.chunk)[hole.row], entities[i])))
            continue;
        --left;
        if (is_last && hole.row == left)
            continue;
        micap_touch_row(world, hole.chunk, hole.row);
        micap_row_own(hole, owners[left], micap_record_at(&world->entities, owners[left].index));
        if (is_last && hole.row >= first)
            from[hole.row - first] = from[left - first];
        else
            refills[refill_count++] = (refill){hole.chunk, hole.row, from[left - first]};
    }
    uint32_t removed = last->count - left;
    for (uint32_t row = first; row < left; ++row)
        if (from[row - first] != row)
            refills[refill_count++] = (refill){last, row, from[row - first]};
    copy_refills(archetype, last, refills, refill_count);
    micap_rows_drop_last(world, archetype, removed);
    return removed;
}

uint32_t micap_rows_remove_scattered(mica_world *world, micap_archetype *archetype, const mica_entity *entities,
                                     uint32_t count)
{
    uint32_t removed = 0;
    for (uint32_t batch; count && archetype->row_count; count -= batch, entities += batch) {
        batch = at_most(at_most(count, SCATTERED_MAX), archetype->chunks[archetype->tail]->count);
        removed += remove_scattered(world, archetype, entities, batch);
    }
    return removed;
}
