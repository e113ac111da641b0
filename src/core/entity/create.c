/* Creating entities, one at a time. */
#include "base/assert.h"
#include "base/bits.h"
#include "core/events/hooks.h"
#include "core/entity/create_rows.h"
#include "core/entity/pool_component.h"
#include "core/world/report.h"
#include "core/storage/component_set.h"
#include "core/world/world.h"
#include "core/storage/rows.h"
#include "core/storage/touch.h"
#include "core/undo/copy_on_write.h"
#include "mica/split.h"

static const mica_location no_place = {0};

static inline micap_shape *shape_of(mica_world *world, const mica_value *values, uint32_t count)
{
    uint32_t key = MICAP_LIKELY(count) ? values[0].component * 5 + values[count - 1].component * 3 + count : 0;
    return &world->shapes[key % MICAP_SHAPES];
}

static void learn_shape(mica_world *world, micap_archetype *archetype, const mica_value *values, uint32_t count)
{
    if (count > MICAP_SHAPE_COMPONENTS || !archetype->plain || micap_has_pooled(values, count))
        return;
    micap_shape shape = {.archetype = archetype, .known = count + 1};
    uint32_t filled = 0;
    bool is_wordy = true;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t column = micap_archetype_column(archetype, values[i].component);
        /* A tag is a value of no bytes in some column. */
        shape.items[i] =
            (struct micap_shape_item){.component = values[i].component, .size_bytes = values[i].size_bytes};
        if (column == MICAP_COLUMN_TAG)
            continue;
        is_wordy &= values[i].data && micap_is_few_words(archetype->columns[column].bytes);
        shape.items[i].lane_offset = micap_lane_offset(archetype, column);
        shape.items[i].bytes = archetype->columns[column].bytes;
        ++filled;
    }
    shape.wordy = is_wordy ? shape.known : 0;
    if (filled == archetype->column_count)
        *shape_of(world, values, count) = shape;
}

static mica_entity create_row(mica_world *world, micap_archetype *archetype, const mica_value *values, uint32_t count)
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
        if (micap_pooled_create(world, values, count, &entity, 1)) {
            micap_rows_commit_record(world, spot, entity, record);
            ++world->structure;
            micap_hooks_created(world, spot, 1, values, count);
            micap_hooks_end(world);
            return entity;
        }
        micap_row_destruct(spot);
    }
    micap_entity_give_unused(&world->entities, entity);
    return mica_nil();
}

/* Lists that are not known yet, chunks that are full, and whatever else is rare. */
static MICAP_COLD mica_entity create_any(mica_world *world, const mica_value *values, uint32_t count)
{
    if (world->recording_depth)
        return mica_command_create_id(micap_recorder(world), values, count, no_place);
    micap_archetype *archetype = micap_archetype_of_values(world, values, count);
    if (!archetype)
        return mica_nil();
    learn_shape(world, archetype, values, count);
    return create_row(world, archetype, values, count);
}

/* Fills the raw row of a shape. False when the list is another one: nothing has happened then, the row is still raw. */
static MICAP_INLINE bool fill_shape(const micap_shape *shape, micap_spot spot, const mica_value *values, uint32_t count,
                                    bool is_wordy)
{
    const struct micap_shape_item *item = shape->items;
    for (; count; --count, ++item, ++values) {
        if (MICAP_UNLIKELY(item->component != values->component || item->size_bytes != values->size_bytes))
            return false;
        uint64_t bytes = item->bytes;
        const micap_lane *lane = (const void *)((const char *)spot.chunk + item->lane_offset);
        char *to = lane->values + spot.row * bytes;
        const void *data = values->data;
        if (is_wordy) {
            if (MICAP_LIKELY(data && bytes))
                micap_copy_few_words(to, data, bytes);
            else if (bytes)
                return false;
        } else if (data) {
            memcpy(to, data, bytes);
        } else {
            memset(to, 0, bytes);
        }
    }
    return true;
}

/* What is left to do when a chunk is full now, or when there are hooks. */
static __attribute__((noinline)) mica_entity end_create(mica_world *world, micap_spot spot, const mica_value *values,
                                                        uint32_t count, mica_entity entity)
{
    if (spot.chunk->count == spot.chunk->capacity)
        micap_rows_update_open(spot.chunk->archetype);
    if (spot.chunk->archetype->lone_add)
        micap_hooks_run_lone(world, spot, 1);
    else
        micap_hooks_created(world, spot, 1, values, count);
    micap_hooks_end(world);
    return entity;
}

/* Makes the row exist that was filled. */
static MICAP_INLINE mica_entity commit_shape(mica_world *world, micap_spot spot, const mica_value *values,
                                             uint32_t count)
{
    uint64_t *record;
    mica_entity entity = micap_entity_take_ready(&world->entities, &record);
    micap_row_own(world, spot, entity, record);
    ++world->structure;
    bool is_full = micap_rows_count(spot, 1);
    if (MICAP_UNLIKELY(is_full || micap_change_hooks(spot.chunk->archetype)))
        return end_create(world, spot, values, count, entity);
    return entity;
}

static inline bool is_ready(const mica_world *world, const micap_shape *shape)
{
    return shape->archetype->open && micap_entity_is_ready(&world->entities);
}

/* As mica_create_id, for lists with large or default values, and while there are snapshots. */
static __attribute__((noinline)) mica_entity create_other(mica_world *world, const mica_value *values, uint32_t count)
{
    const micap_shape *shape = shape_of(world, values, count);
    if (world->recording_depth || shape->known != count + 1 || !is_ready(world, shape))
        return create_any(world, values, count);
    micap_spot spot = micap_rows_next(shape->archetype);
    if (world->keeper.before) {
        micap_keep_next_record(&world->entities);
        if (micap_is_older(world, micap_chunk_stamps(spot.chunk, spot.row)))
            micap_keep_rows(world, spot.chunk, spot.row, 1);
    }
    if (!fill_shape(shape, spot, values, count, false))
        return create_any(world, values, count);
    return commit_shape(world, spot, values, count);
}

/* The way that everybody takes: a known list of small values, and room in the chunk. Every other way is a call at the end,
 * so that this one keeps little on the stack. */
mica_entity mica_create_id(mica_world *world, const mica_value *values, uint32_t count)
{
    const micap_shape *shape = shape_of(world, values, count);
    if (MICAP_UNLIKELY(world->recording_depth | world->keeper.before || shape->wordy != count + 1 ||
                       !is_ready(world, shape)))
        return create_other(world, values, count);
    micap_spot spot = micap_rows_next(shape->archetype);
    if (MICAP_UNLIKELY(!fill_shape(shape, spot, values, count, true)))
        return create_other(world, values, count);
    return commit_shape(world, spot, values, count);
}
