#include "core/entity/create_rows.h"

#include "core/entity/destroy.h"
#include "core/entity/pool_create.h"
#include "core/events/hooks.h"
#include "core/storage/component_set.h"
#include "base/handle_range.h"
#include "core/storage/rivals.h"
#include "core/storage/row_batch.h"
#include "core/storage/split_row.h"
#include "core/world/report.h"
#include "core/storage/rows.h"

static const mica_location no_place = {0};

static bool insert_value(mica_world *world, micap_set *set, const mica_value *value)
{
    const micap_type *type = micap_type_for_entities(world, value->component);
    if (!type || !micap_takes_values(world, type, no_place) || !micap_value_fits(world, type, value, no_place))
        return false;
    if (micap_is_pooled(type->id))
        return true;
    if (!micap_set_insert(set, type)) {
        micap_fail(world, MICA_ERROR_INVALID, no_place, "component %s is given twice", type->type.name);
        return false;
    }
    return true;
}

/* The set tells for those in chunks. */
static bool is_pooled_twice(mica_world *world, const mica_value *values, uint32_t at)
{
    for (uint32_t i = 0; i < at && micap_is_pooled(values[at].component); ++i)
        if (values[i].component == values[at].component) {
            micap_fail(world, MICA_ERROR_INVALID, no_place, "component %s is given twice",
                       micap_type_of(values[at].component)->type.name);
            return true;
        }
    return false;
}

bool micap_has_pooled(const mica_value *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        if (micap_is_pooled(values[i].component))
            return true;
    return false;
}

micap_archetype *micap_archetype_of_values(mica_world *world, const mica_value *values, uint32_t count)
{
    micap_set set;
    uint32_t room = 0;
    for (uint32_t i = 0; i < count; ++i)
        room += micap_set_room(values[i].component);
    if (!micap_set_init(&set, world, world->archetypes.by_id[0], room))
        return NULL;
    bool fine = true;
    for (uint32_t i = 0; fine && i < count; ++i)
        fine = insert_value(world, &set, &values[i]) && !is_pooled_twice(world, values, i);
    fine = fine && micap_values_agree(world, values, count);
    micap_archetype *archetype = fine ? micap_archetype_of_set(world, set.ids, set.count) : NULL;
    micap_set_free(&set);
    return archetype;
}

/* The value of a component, searched for from `*at` on, which moves after it: mostly values are in the order of columns. */
static const mica_value *value_of(const mica_value *values, uint32_t count, mica_component component, uint32_t *at)
{
    for (uint32_t left = count; left; --left) {
        const mica_value *value = &values[*at];
        *at = *at + 1 < count ? *at + 1 : 0;
        if (value->component == component)
            return value;
    }
    return NULL;
}

/* Fills raw values with copies of one. False: all are raw again. */
static bool repeat_value(const micap_type *type, char *to, const char *value, uint32_t count)
{
    const size_t bytes = type->type.size_bytes;
    if (!type->type.copy) {
        micap_repeat_value(to, value, bytes, count);
        return true;
    }
    for (uint32_t i = 0; i < count; ++i)
        if (!micap_values_copy(type, to + i * bytes, value, 1)) {
            micap_values_destruct(type, to, i);
            return false;
        }
    return true;
}

/* Fills raw values with those of an array, copies of one value, or the default if there is no data. False: all are raw again. */
static bool make_values(const micap_type *type, char *to, uint32_t count, const char *data, bool is_for_all)
{
    if (!data)
        return micap_values_construct(type, to, count);
    return is_for_all ? repeat_value(type, to, data, count) : micap_values_copy(type, to, data, count);
}

static bool fill_column(mica_world *world, const micap_column *column, void *to, uint32_t count, const char *data,
                        bool is_for_all)
{
    switch (column->companion) {
    case MICAP_COMPANION_ENABLED: memset(to, 1, count); return true;
    case MICAP_COMPANION_ADDED:
    case MICAP_COMPANION_CHANGED:
        for (uint32_t i = 0; i < count; ++i)
            ((mica_version *)to)[i] = micap_version(world);
        return true;
    case MICAP_COMPANION_LEAF: memset(to, 0, (size_t)count * column->bytes); return true;
    case MICAP_COMPANION_NONE: break;
    }
    if (make_values(column->type, to, count, data, is_for_all))
        return true;
    return micap_fail_value(world, column->type);
}

/* Fills the raw columns of `count` rows of one chunk from element `first` on. False with a report: all is raw again. */
static bool fill_rows(mica_world *world, micap_row spot, uint32_t count, const mica_value *values, uint32_t value_count,
                      uint64_t first)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    uint32_t at = 0;
    for (uint32_t i = 0; i < archetype->column_count; ++i) {
        const micap_column *column = &archetype->columns[i];
        const mica_value *value = value_of(values, value_count, column->component, &at);
        bool is_for_all = value && micap_is_for_all(value);
        const char *data =
            value && value->data ? (const char *)value->data + (is_for_all ? 0 : first * column->bytes) : NULL;
        void *to = micap_chunk_value(spot.chunk, i, spot.row);
        if (fill_column(world, column, to, count, data, is_for_all))
            continue;
        while (i-- > 0)
            micap_values_destruct(archetype->columns[i].type, micap_chunk_value(spot.chunk, i, spot.row), count);
        return false;
    }
    for (uint32_t i = 0; i < value_count; ++i) {
        const micap_type *type = micap_type_of(values[i].component);
        const char *data = values[i].data;
        bool is_split = type->leaves && !micap_is_pooled(type->id) && (data || type->initial);
        size_t stride = micap_is_for_all(&values[i]) ? 0 : type->type.size_bytes;
        for (uint32_t row = 0; is_split && row < count; ++row)
            micap_row_scatter((micap_row){spot.chunk, spot.row + row}, type,
                              data ? data + (first + row) * stride : NULL);
    }
    return true;
}

void micap_hooks_created(mica_world *world, micap_row spot, uint32_t count, const mica_value *values,
                         uint32_t value_count)
{
    micap_hooks_added(world, NULL, spot, count);
    if (world->pools.count)
        micap_pooled_created(world, values, value_count, micap_chunk_entities(spot.chunk) + spot.row, count);
    micap_hooks_given(world, spot, count, values, value_count);
}

/* Fresh indices follow each other, and so do their records within a page, as long as no slot is free. */
static uint32_t commit_fresh(micap_entities *entities, micap_row spot, uint32_t count, mica_entity *out)
{
    mica_entity first = {(uint32_t)entities->fresh_next, entities->first_generation};
    uint64_t left = entities->fresh_end - entities->fresh_next;
    uint32_t in_page = MICAP_PAGE_RECORDS - (first.index & (MICAP_PAGE_RECORDS - 1));
    uint32_t run = count < in_page ? count : in_page;
    if (run > left)
        run = (uint32_t)left;
    if (!run)
        return 0;
    micap_range_write(micap_record_at(entities, first.index),
                      micap_record_pack(first.generation, spot.chunk->number, spot.row), 1, run);
    micap_range_write(out, micap_handle_number(first), micap_handle_step, run);
    entities->fresh_next += run;
    return run;
}

/* As many free slots as name each the next one, in rising order and with the same generation: what was freed together. Takes nothing
 * if they are few. */
static uint32_t commit_free_range(micap_entities *entities, micap_row spot, uint32_t count, mica_entity *out)
{
    enum { RANGE_MIN = 8 };
    uint32_t page_index = entities->first_page - 1;
    micap_page *page = &entities->pages[page_index];
    uint32_t slot = page->first_free, left = MICAP_PAGE_RECORDS - slot;
    uint64_t *records = page->records + slot;
    mica_entity first = {page_index << MICAP_PAGE_SHIFT | slot, micap_record_generation(*records)};
    uint32_t run = micap_range_length(records, micap_record_pack(first.generation, MICAP_CHUNK_NONE, slot + 1), 1,
                                      count < left ? count : left);
    if (run < RANGE_MIN)
        return 0;
    for (uint32_t i = 0; entities->undo->before && i < run; ++i)
        micap_touch_record(entities, first.index + i);
    micap_range_write(records, micap_record_pack(first.generation, spot.chunk->number, spot.row), 1, run);
    micap_range_write(out, micap_handle_number(first), micap_handle_step, run);
    page->first_free = (uint16_t)(slot + run); /* what the last of them named */
    entities->free_count -= run;
    return run;
}

/* Free slots are often a list of neighbours, in rising order or, if they were freed one after the other, in falling order. Seeing first
 * how far that goes spares waiting for each record to name the next. */
static uint32_t commit_free(micap_entities *entities, micap_row spot, uint32_t count, mica_entity *out)
{
    uint32_t page_index = entities->first_page - 1;
    micap_page *page = &entities->pages[page_index];
    uint64_t *const records = page->records;
    const uint32_t first = page->first_free, base = page_index << MICAP_PAGE_SHIFT;
    const uint32_t step = micap_record_row(records[first]) + 1 == first ? UINT32_MAX : 1;
    uint32_t run = 1, last = first;
    for (; run < count && micap_record_row(records[last]) == last + step; last += step)
        ++run;
    uint32_t next = micap_record_row(records[last]);
    for (uint32_t i = 0; entities->undo->before && i < run; ++i)
        micap_touch_record(entities, base | (first + i * step));
    for (uint32_t i = 0, slot = first; i < run; ++i, slot += step) {
        uint32_t generation = micap_record_generation(records[slot]);
        records[slot] = micap_record_pack(generation, spot.chunk->number, spot.row + i);
        out[i] = (mica_entity){base | slot, generation};
    }
    page->first_free = (uint16_t)next;
    if (next == MICAP_SLOT_END)
        entities->first_page = page->next;
    entities->free_count -= run;
    return run;
}

/* The handles of a world that is restored from a file. */
static uint32_t commit_preset(micap_entities *entities, micap_row spot, uint32_t count, mica_entity *out)
{
    const mica_entity *preset = entities->preset, first = preset[0];
    uint32_t run = micap_handles_in_page(preset, count);
    memcpy(out, preset, run * sizeof *out);
    micap_range_write(micap_record_at(entities, first.index),
                      micap_record_pack(first.generation, spot.chunk->number, spot.row), 1, run);
    entities->preset += run;
    entities->preset_count -= run;
    return run;
}

/* Gives handles to as many rows as is simple, and returns how many; 0 if none is ready. */
static uint32_t commit_next(micap_entities *entities, micap_row spot, uint32_t count, mica_entity *out)
{
    if (entities->preset)
        return commit_preset(entities, spot, count, out);
    if (!entities->first_page)
        return commit_fresh(entities, spot, count, out);
    uint32_t run = commit_free_range(entities, spot, count, out);
    return run ? run : commit_free(entities, spot, count, out);
}

/* Adds `count` rows of one chunk that were filled, with new handles, which were reserved. */
static void commit_rows(mica_world *world, micap_row spot, uint32_t count)
{
    micap_chunk *chunk = spot.chunk;
    mica_entity *entities = micap_chunk_entities(chunk) + spot.row;
    micap_touch_rows(world, chunk, spot.row, count);
    for (uint32_t i = 0; i < count;) {
        micap_row rest = {chunk, spot.row + i};
        uint32_t run = commit_next(&world->entities, rest, count - i, entities + i);
        if (!run)
            micap_entities_next_run(world);
        i += run;
    }
    micap_rows_count_up(spot, count);
}

/* Goes over rows of one archetype that were just created, chunk by chunk. */
typedef struct micap_created_run {
    micap_row spot;
    uint32_t count; /* in this chunk */
    uint32_t left;  /* in the next ones */
} created_run;

static created_run first_run(micap_row first, uint32_t count)
{
    uint32_t here = first.chunk->count - first.row < count ? first.chunk->count - first.row : count;
    return (created_run){first, here, count - here};
}

static bool next_run(created_run *run)
{
    if (!run->left)
        return false;
    const micap_archetype *archetype = run->spot.chunk->archetype;
    *run = first_run((micap_row){archetype->chunks[run->spot.chunk->index + 1], 0}, run->left);
    return true;
}

static void list_created(micap_row first, uint32_t count, mica_entity *out)
{
    created_run run = first_run(first, count);
    do {
        memcpy(out, micap_chunk_entities(run.spot.chunk) + run.spot.row, run.count * sizeof *out);
        out += run.count;
    } while (next_run(&run));
}

/* Rows in pools are created for all entities at once, so that it is all or none. */
static bool create_in_pools(mica_world *world, const micap_creation *what, micap_row first, uint32_t count,
                            const char *operation)
{
    if (!world->pools.count || !micap_has_pooled(what->values, what->value_count))
        return true;
    if (first.chunk->count - first.row >= count)
        return micap_pooled_create(world, what, micap_chunk_entities(first.chunk) + first.row, count);
    size_t bytes = (size_t)count * sizeof(mica_entity);
    mica_entity *entities = micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!entities) {
        micap_fail_memory(world, operation);
        return false;
    }
    list_created(first, count, entities);
    bool done = micap_pooled_create(world, what, entities, count);
    micap_release(&world->memory, entities, bytes, MICAP_ARRAY_ALIGNMENT);
    return done;
}

/* Removes the last rows of an archetype from its chunks. */
static void remove_last_rows(mica_world *world, micap_archetype *archetype, uint32_t count, bool reuse)
{
    for (; count; --count) {
        micap_chunk *chunk = archetype->chunks[archetype->tail];
        micap_row last = {chunk, chunk->count - 1};
        mica_entity entity = micap_chunk_entities(chunk)[last.row];
        micap_rows_destruct(world, last, 1);
        micap_row_fill_hole(world, last);
        if (reuse)
            micap_entity_give_unused(&world->entities, entity);
        else
            micap_entity_forget(world, entity);
    }
    micap_rows_shrink(world, archetype, 1);
}

bool micap_rows_create(mica_world *world, const micap_creation *what, uint32_t count, const char *operation,
                       micap_row *out_first)
{
    micap_archetype *archetype = what->archetype;
    if (!micap_rows_reserve_many(world, archetype, count) || !micap_entities_reserve(world, count)) {
        micap_rows_shrink(world, archetype, 1);
        micap_fail_memory(world, operation);
        return false;
    }
    *out_first = micap_rows_next(archetype);
    uint32_t done = 0, run;
    for (; done < count; done += run) {
        micap_row spot = micap_rows_next(archetype);
        uint32_t room = spot.chunk->capacity - spot.row, element = done % what->period;
        run = room < count - done ? room : count - done;
        run = run < what->period - element ? run : what->period - element;
        if (!fill_rows(world, spot, run, what->values, what->value_count, element))
            break;
        commit_rows(world, spot, run);
    }
    bool created = done == count && create_in_pools(world, what, *out_first, count, operation);
    if (!created)
        remove_last_rows(world, archetype, done, true);
    ++world->structure;
    return created;
}

void micap_rows_created(mica_world *world, const micap_creation *what, micap_row first, uint32_t count,
                        mica_entity *out_entities)
{
    const micap_archetype *archetype = what->archetype;
    if (out_entities)
        list_created(first, count, out_entities);
    if (!micap_has_hooks(archetype, 1 << MICA_EVENT_ADD | 1 << MICA_EVENT_SET) &&
        !micap_has_pooled(what->values, what->value_count))
        return;
    created_run run = first_run(first, count);
    do
        micap_hooks_created(world, run.spot, run.count, what->values, what->value_count);
    while (next_run(&run));
}

void micap_rows_take_back(mica_world *world, const micap_creation *what, uint32_t count, bool reuse)
{
    micap_archetype *archetype = what->archetype;
    micap_chunk **chunk = &archetype->chunks[archetype->tail];
    uint32_t row = (*chunk)->count;
    for (uint32_t i = 0; i < count && micap_has_pooled(what->values, what->value_count); ++i) {
        if (!row)
            row = (*--chunk)->count;
        micap_pooled_take_back(world, what, micap_chunk_entities(*chunk)[--row]);
    }
    remove_last_rows(world, archetype, count, reuse);
}

micap_row micap_row_create(mica_world *world, micap_archetype *archetype, mica_entity entity)
{
    micap_row spot = micap_rows_next(archetype);
    if (archetype->has_companions)
        micap_row_init_companions(world, NULL, spot);
    micap_rows_commit(world, spot, entity);
    return spot;
}
