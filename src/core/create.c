/* Creating entities, one at a time. */
#include "base/assert.h"
#include "core/hooks.h"
#include "core/life.h"
#include "core/report.h"
#include "core/set.h"
#include "core/world.h"

static const mica_place no_place = {0};

static bool insert_value(mica_world *world, micap_set *set, const mica_value *value)
{
    const micap_type *type = micap_type_for_entities(world, value->component);
    if (!type || !micap_value_fits(world, type, value, no_place))
        return false;
    if (!micap_set_insert(set, type)) {
        micap_fail(world, MICA_ERROR_INVALID, no_place, "component %s is given twice", type->type.name);
        return false;
    }
    return true;
}

micap_archetype *micap_archetype_of_values(mica_world *world, const mica_value *values, uint32_t count)
{
    micap_set set;
    if (!micap_set_init(&set, world, world->archetypes.by_id[0], count))
        return NULL;
    bool fine = true;
    for (uint32_t i = 0; fine && i < count; ++i)
        fine = insert_value(world, &set, &values[i]);
    micap_archetype *archetype = fine ? micap_archetype_of_set(world, set.ids, set.count) : NULL;
    micap_set_free(&set);
    return archetype;
}

static const mica_value *value_of(const mica_value *values, uint32_t count, mica_component component)
{
    for (uint32_t i = 0; i < count; ++i)
        if (values[i].component == component)
            return &values[i];
    return NULL;
}

static bool fill_column(mica_world *world, const micap_column *column, void *to, uint32_t count, const char *data)
{
    switch (column->companion) {
    case MICAP_COMPANION_ENABLED: memset(to, 1, count); return true;
    case MICAP_COMPANION_ADDED:
        for (uint32_t i = 0; i < count; ++i)
            ((mica_version *)to)[i] = micap_version(world);
        return true;
    case MICAP_COMPANION_NONE: break;
    }
    if (data ? micap_values_copy(column->type, to, data, count) : micap_values_construct(column->type, to, count))
        return true;
    micap_fail(world, MICA_ERROR_MEMORY, no_place, "a value of %s can't be made", column->type->type.name);
    return false;
}

bool micap_rows_fill(mica_world *world, micap_spot spot, uint32_t count, const mica_value *values, uint32_t value_count,
                     uint64_t first)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    for (uint32_t i = 0; i < archetype->column_count; ++i) {
        const micap_column *column = &archetype->columns[i];
        const mica_value *value = value_of(values, value_count, column->component);
        const char *data = value && value->data ? (const char *)value->data + first * column->bytes : NULL;
        void *to = micap_chunk_value(spot.chunk, i, spot.row);
        if (fill_column(world, column, to, count, data))
            continue;
        while (i-- > 0)
            micap_values_destruct(archetype->columns[i].type, micap_chunk_value(spot.chunk, i, spot.row), count);
        return false;
    }
    return true;
}

void micap_hooks_created(mica_world *world, micap_spot spot, uint32_t count, const mica_value *values,
                         uint32_t value_count)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    micap_hooks_added(world, NULL, spot, count);
    if (!micap_has_hooks(archetype, 1 << MICA_EVENT_SET))
        return;
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        const mica_value *value = value_of(values, value_count, archetype->components[i]);
        if (value && value->data)
            micap_hooks_run(world, MICA_EVENT_SET, value->component, spot, count);
    }
}

static micap_shape *shape_of(mica_world *world, const mica_value *values, uint32_t count)
{
    uint32_t key = count ? values[0].component * 5 + values[count - 1].component * 3 + count : 0;
    return &world->shapes[key % MICAP_SHAPES];
}

static inline bool is_shape(const micap_shape *shape, const mica_value *values, uint32_t count)
{
    if (shape->count != count || !shape->archetype)
        return false;
    for (uint32_t i = 0; i < count; ++i)
        if (shape->items[i].component != values[i].component || shape->items[i].size_bytes != values[i].size_bytes)
            return false;
    return true;
}

static void learn_shape(mica_world *world, micap_archetype *archetype, const mica_value *values, uint32_t count)
{
    if (count > MICAP_SHAPE_COMPONENTS || !archetype->plain)
        return;
    micap_shape shape = {.archetype = archetype, .count = count};
    uint32_t filled = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t column = micap_archetype_column(archetype, values[i].component);
        /* A tag is a value of no bytes in some column. */
        shape.items[i] =
            (struct micap_shape_item){.component = values[i].component, .size_bytes = values[i].size_bytes};
        if (column == MICAP_COLUMN_TAG)
            continue;
        shape.items[i].column = (uint16_t)column;
        shape.items[i].is_small = micap_is_small(archetype->columns[column].bytes);
        shape.items[i].bytes = archetype->columns[column].bytes;
        ++filled;
    }
    if (filled == archetype->column_count)
        *shape_of(world, values, count) = shape;
}

static MICAP_COLD void run_hooks(mica_world *world, micap_spot spot, const mica_value *values, uint32_t count)
{
    micap_hooks_created(world, spot, 1, values, count);
    micap_hooks_end(world);
}

static MICAP_COLD mica_entity create_row(mica_world *world, micap_archetype *archetype, const mica_value *values,
                                         uint32_t count)
{
    uint64_t *record;
    mica_entity entity = micap_entity_take_record(world, &world->entities, &record);
    if (mica_is_nil(entity)) {
        micap_fail_memory(world, "create");
        return entity;
    }
    if (!micap_rows_reserve_one(world, archetype))
        micap_fail_memory(world, "create");
    else if (micap_rows_fill(world, micap_rows_next(archetype), 1, values, count, 0)) {
        micap_spot spot = micap_rows_next(archetype);
        micap_rows_commit_record(world, spot, entity, record);
        ++world->structure;
        run_hooks(world, spot, values, count);
        return entity;
    }
    micap_entity_give_unused(&world->entities, entity);
    return mica_nil();
}

static MICAP_COLD mica_entity create_unknown(mica_world *world, const mica_value *values, uint32_t count)
{
    if (world->recording_depth)
        return mica_command_create_values(micap_recorder(world), values, count, no_place);
    micap_archetype *archetype = micap_archetype_of_values(world, values, count);
    if (!archetype)
        return mica_nil();
    learn_shape(world, archetype, values, count);
    return create_row(world, archetype, values, count);
}

static MICAP_COLD void fill_other(char *to, const void *data, uint32_t bytes)
{
    if (data)
        memcpy(to, data, bytes);
    else
        memset(to, 0, bytes);
}

/* Fills the raw row of a shape, before anything else is on the way that would have to wait on the stack for it. */
static inline void fill_shape(const micap_shape *shape, micap_spot spot, const mica_value *values)
{
    const micap_lane *lanes = micap_chunk_lanes(spot.chunk);
    const struct micap_shape_item *item = shape->items, *end = item + shape->count;
    for (; item < end; ++item, ++values) {
        uint32_t bytes = item->bytes;
        char *to = (char *)spot.chunk + lanes[item->column].offset + (size_t)spot.row * bytes;
        if (MICAP_LIKELY(item->is_small && values->data))
            micap_copy_small_fresh(to, values->data, bytes);
        else if (bytes)
            fill_other(to, values->data, bytes);
    }
}

/* The way that everybody takes: a known list, and room in the chunk. */
mica_entity mica_create_values(mica_world *world, const mica_value *values, uint32_t count)
{
    const micap_shape *shape = shape_of(world, values, count);
    if (MICAP_UNLIKELY(world->recording_depth || !is_shape(shape, values, count)))
        return create_unknown(world, values, count);
    micap_archetype *archetype = shape->archetype;
    if (MICAP_UNLIKELY(!archetype->open))
        return create_row(world, archetype, values, count);
    micap_spot spot = micap_rows_next(archetype);
    fill_shape(shape, spot, values);
    uint64_t *record;
    mica_entity entity = micap_entity_take_record(world, &world->entities, &record);
    if (MICAP_UNLIKELY(mica_is_nil(entity)))
        return create_row(world, archetype, values, count); /* tries again, and reports */
    micap_rows_commit_record(world, spot, entity, record);
    ++world->structure;
    if (MICAP_UNLIKELY(micap_has_hooks(archetype, 1 << MICA_EVENT_ADD | 1 << MICA_EVENT_SET)))
        run_hooks(world, spot, values, count);
    return entity;
}

/* Lists the components of a row, with pointers to their values, and which of them are switched off. */
static uint32_t list_values(const mica_world *world, micap_spot spot, mica_value *values, bool *off)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    mica_entity entity = micap_chunk_entities(spot.chunk)[spot.row];
    uint32_t count = 0;
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        mica_component component = archetype->components[i];
        if (micap_type_of(component)->companion != MICAP_COMPANION_NONE)
            continue;
        uint32_t column = micap_archetype_column(archetype, component);
        values[count].component = component;
        values[count].size_bytes = 0;
        values[count].data = column == MICAP_COLUMN_TAG ? NULL : micap_chunk_value(spot.chunk, column, spot.row);
        off[count++] = !mica_is_enabled_component(world, entity, component);
    }
    return count;
}

mica_entity mica_clone(mica_world *world, mica_entity entity)
{
    micap_spot spot = micap_locate(world, entity);
    if (!micap_is_row(spot)) {
        micap_fail_dead(world, entity, "clone");
        return mica_nil();
    }
    uint32_t room = spot.chunk->archetype->component_count;
    size_t bytes = room * (sizeof(mica_value) + sizeof(bool));
    mica_value *values = micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!values) {
        micap_fail_memory(world, "clone");
        return mica_nil();
    }
    bool *off = (bool *)(void *)(values + room);
    uint32_t count = list_values(world, spot, values, off);
    mica_entity clone = mica_create_values(world, values, count);
    for (uint32_t i = 0; i < count && !mica_is_nil(clone); ++i)
        if (off[i])
            mica_enable_component(world, clone, values[i].component, false);
    micap_release(&world->memory, values, bytes, MICAP_ARRAY_ALIGNMENT);
    return clone;
}
