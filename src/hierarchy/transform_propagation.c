/* The update of transforms: what moved, then down the levels. */
#include "hierarchy/transform_propagation.h"

#include "core/world/report.h"
#include "core/storage/rows.h"
#include "core/storage/touch.h"
#include "hierarchy/matrix.h"
#include "mica/system.h"
#include "mica/task.h"

void micap_transforms_free(micap_hierarchy *hierarchy)
{
    micap_transforms *transforms = hierarchy->transforms;
    if (!transforms)
        return;
    micap_slots_free(hierarchy->world, &transforms->slots);
    micap_slots_free(hierarchy->world, &transforms->spare);
    MICAP_RELEASE_ARRAY(&hierarchy->world->memory, transforms->slices, transforms->slice_capacity);
    mica_query_destroy(transforms->query);
    micap_release(&hierarchy->world->memory, transforms, sizeof *transforms, MICAP_ARRAY_ALIGNMENT);
    hierarchy->transforms = NULL;
    hierarchy->relinked = NULL;
}

void micap_transforms_trim(micap_hierarchy *hierarchy)
{
    if (hierarchy->transforms)
        micap_slots_free(hierarchy->world, &hierarchy->transforms->spare);
}

static micap_transforms *use_transforms(micap_hierarchy *hierarchy)
{
    if (hierarchy->transforms)
        return hierarchy->transforms;
    micap_memory *memory = &hierarchy->world->memory;
    micap_transforms *transforms = micap_allocate_zeroed(memory, sizeof *transforms, MICAP_ARRAY_ALIGNMENT);
    if (!transforms) {
        micap_fail_memory(hierarchy->world, "transforms");
        return NULL;
    }
    static const char name[] = "transforms";
    transforms->query = mica_query_create(
        hierarchy->world,
        &(mica_query_def){MICA_TERMS(MICA_READ(mica_local), MICA_WRITE(mica_global_matrix)), .name = name});
    if (!transforms->query) {
        micap_release(memory, transforms, sizeof *transforms, MICAP_ARRAY_ALIGNMENT);
        return NULL;
    }
    transforms->is_new = true;
    hierarchy->transforms = transforms;
    hierarchy->relinked = transforms->relinked;
    return transforms;
}

enum { SLICES_AT_ONCE = 4, SLOTS_AT_ONCE = 2048 }; /* a piece of work for one thread; slots by whole cache lines */

/* Over the threads of the world's systems, if it has any: a world without systems does not start threads for this. */
static void share(mica_world *world, uint32_t count, uint32_t grain, mica_range_fn fn, void *context)
{
    if (count > grain && micap_module_state(world, MICAP_MODULE_FLOW))
        mica_parallel_for(world, count, grain, fn, context);
    else if (count)
        fn(0, count, context);
}

/* Notes where the rows of a slice are; false when one has no slot. */
static bool note_places(micap_slots *slots, const micap_slice *slice)
{
    const mica_entity *entities = micap_chunk_entities(slice->chunk) + slice->row;
    mica_global_matrix *matrices = micap_chunk_value(slice->chunk, slice->matrix_column, slice->row);
    mica_version *stamp = micap_chunk_stamps(slice->chunk, slice->row) + 1 + slice->matrix_column;
    bool knows_all = true;
    for (uint32_t i = 0; i < slice->count; ++i) {
        uint32_t slot = micap_slot_of(slots, entities[i]);
        if (slot == MICAP_SLOT_NONE) {
            knows_all = false;
            continue;
        }
        slots->matrices[slot] = &matrices[i];
        slots->stamps[slot] = stamp;
        slots->moved[slot] |= slice->has_moved ? MICAP_REWRITE : 0;
    }
    return knows_all;
}

static void note_moved(micap_slots *slots, const micap_slice *slice)
{
    const mica_entity *entities = micap_chunk_entities(slice->chunk) + slice->row;
    const mica_local *locals = micap_chunk_value(slice->chunk, slice->local_column, slice->row);
    for (uint32_t i = 0; i < slice->count; ++i) {
        uint32_t slot = slots->by_index[entities[i].index] - 1;
        /* By bits: what is not a number has not moved for ever. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
        if (memcmp(&slots->locals[slot], &locals[i], sizeof *locals) == 0)
            continue;
        slots->locals[slot] = locals[i];
        slots->moved[slot] = MICAP_MOVED;
    }
}

/* Lists the slices that were written or moved since the last update, or all for a new order; false when memory is short. */
static bool list_slices(mica_world *world, micap_transforms *transforms)
{
    mica_query *query = transforms->query;
    transforms->slice_count = 0;
    transforms->row_count = 0;
    for (uint32_t match = 0; match < query->match_count; ++match) {
        const micap_archetype *archetype = query->archetypes[match];
        const uint16_t *columns = micap_query_columns(query, match);
        transforms->row_count += archetype->row_count;
        for (uint32_t i = 0; archetype->row_count && i <= archetype->tail; ++i) {
            micap_slice slice = {archetype->chunks[i], 0, 0, columns[0], columns[1], false};
            for (; slice.row < slice.chunk->count; slice.row += MICA_SLICE_ROWS) {
                const mica_version *stamps = micap_chunk_stamps(slice.chunk, slice.row);
                uint32_t left = slice.chunk->count - slice.row;
                slice.count = left < MICA_SLICE_ROWS ? left : MICA_SLICE_ROWS;
                slice.has_moved = stamps[0] > transforms->seen;
                if (!transforms->is_new && !slice.has_moved && stamps[1 + slice.local_column] <= transforms->seen)
                    continue;
                if (!MICAP_RESERVE(&world->memory, transforms->slices, &transforms->slice_capacity,
                                   (uint64_t)transforms->slice_count + 1))
                    return false;
                transforms->slices[transforms->slice_count++] = slice;
            }
        }
    }
    return true;
}

static void look_at_slices(uint32_t begin, uint32_t end, void *context)
{
    micap_transforms *transforms = context;
    for (uint32_t i = begin; i < end; ++i) {
        const micap_slice *slice = &transforms->slices[i];
        if ((slice->has_moved || transforms->is_new) && !note_places(&transforms->slots, slice))
            atomic_store_explicit(&transforms->has_strangers, true, memory_order_relaxed);
        else
            note_moved(&transforms->slots, slice);
    }
}

/* Looks at the slices that are listed; whether some row has no slot. */
static bool look(mica_world *world, micap_transforms *transforms)
{
    atomic_store_explicit(&transforms->has_strangers, false, memory_order_relaxed);
    share(world, transforms->slice_count, SLICES_AT_ONCE, look_at_slices, transforms);
    return atomic_load_explicit(&transforms->has_strangers, memory_order_relaxed);
}

static bool place_strangers(const micap_hierarchy *hierarchy, micap_transforms *transforms)
{
    for (uint32_t i = 0; i < transforms->slice_count; ++i) {
        const micap_slice *slice = &transforms->slices[i];
        const mica_entity *entities = micap_chunk_entities(slice->chunk) + slice->row;
        for (uint32_t row = 0; slice->has_moved && row < slice->count; ++row)
            if (micap_slot_of(&transforms->slots, entities[row]) == MICAP_SLOT_NONE &&
                !micap_slots_place(hierarchy, &transforms->slots, entities[row]))
                return false;
    }
    return true;
}

/* Puts those who came or were linked elsewhere in their places; false when the order must be made anew. */
static bool place_changed(const micap_hierarchy *hierarchy, micap_transforms *transforms, bool has_strangers)
{
    micap_slots *slots = &transforms->slots;
    if (has_strangers && !place_strangers(hierarchy, transforms))
        return false;
    for (uint32_t i = 0; i < hierarchy->relinked_count; ++i)
        if (mica_is_alive(hierarchy->world, hierarchy->relinked[i]) &&
            !micap_slots_place(hierarchy, slots, hierarchy->relinked[i]))
            return false;
    return slots->living_count == transforms->row_count;
}

typedef struct descent {
    mica_world *world;
    micap_slots *slots;
    mica_version version;
    uint32_t begin; /* of the level */
} descent;

static MICAP_COLD void touch_matrix(const descent *descent, mica_entity entity)
{
    micap_spot spot = micap_locate(descent->world, entity);
    uint32_t column = micap_chunk_find(spot.chunk, MICA_ID(mica_global_matrix))->column;
    micap_touch_column(descent->world, spot.chunk, column, spot.row, 1, descent->version);
}

static inline void give_matrix(const descent *descent, uint32_t slot)
{
    static const mica_global_matrix identity = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    const micap_slots *slots = descent->slots;
    uint32_t parent = slots->parents[slot];
    if (!slots->matrices[slot])
        return;
    if (!micap_touch_without_copy(descent->world, slots->stamps[slot], descent->version))
        touch_matrix(descent, slots->entities[slot]);
    micap_matrix_compose(&slots->locals[slot], parent == MICAP_SLOT_NONE ? &identity : slots->matrices[parent],
                         slots->matrices[slot]);
}

/* Gives slots of one level that moved their matrices, and hands the mark down. */
static void descend(uint32_t begin, uint32_t end, void *context)
{
    const descent *descent = context;
    micap_slots *slots = descent->slots;
    end += descent->begin;
    for (uint32_t slot = begin + descent->begin; slot < end; ++slot) {
        uint64_t eight;
        while (slot + 8 <= end && (memcpy(&eight, &slots->moved[slot], 8), !eight))
            slot += 8;
        if (slot == end || !slots->moved[slot])
            continue;
        give_matrix(descent, slot);
        uint32_t child = slots->child_begins[slot], child_end = slots->child_begins[slot + 1];
        if (slots->moved[slot] & MICAP_MOVED && child < child_end)
            memset(&slots->moved[child], MICAP_MOVED, child_end - child);
    }
}

/* The same for those behind the levels. */
static void descend_latecomers(const descent *descent)
{
    micap_slots *slots = descent->slots;
    for (uint32_t slot = slots->sorted_count; slot < slots->count; ++slot) {
        uint32_t parent = slots->parents[slot];
        slots->moved[slot] |= parent == MICAP_SLOT_NONE ? 0 : slots->moved[parent] & MICAP_MOVED;
        if (slots->moved[slot])
            give_matrix(descent, slot);
    }
}

/* Brings order and marks up to date; false when memory is short. */
static bool find_moved(micap_hierarchy *hierarchy, micap_transforms *transforms)
{
    mica_world *world = hierarchy->world;
    micap_slots *slots = &transforms->slots;
    bool is_worn = transforms->is_new || hierarchy->relinked_count > MICAP_RELINKED_MAX ||
                   slots->count / 2 > slots->living_count + 64;
    if (!is_worn) {
        if (!list_slices(world, transforms))
            return false;
        bool has_strangers = look(world, transforms);
        is_worn = !place_changed(hierarchy, transforms, has_strangers);
        if (!is_worn && has_strangers)
            look(world, transforms);
    }
    if (is_worn) {
        if (!micap_slots_rebuild(hierarchy, transforms) || !list_slices(world, transforms))
            return false;
        look(world, transforms);
    }
    transforms->is_new = false;
    hierarchy->relinked_count = 0;
    return true;
}

static void recall(micap_transforms *transforms, micap_slice slice)
{
    micap_slots *slots = &transforms->slots;
    const mica_version *stamps = micap_chunk_stamps(slice.chunk, slice.row);
    const mica_entity *entities = micap_chunk_entities(slice.chunk) + slice.row;
    const mica_local *locals = micap_chunk_value(slice.chunk, slice.local_column, slice.row);
    slice.has_moved = false;
    note_places(slots, &slice);
    if (stamps[0] > transforms->seen || stamps[1 + slice.local_column] > transforms->seen)
        return;
    for (uint32_t i = 0; i < slice.count; ++i) {
        uint32_t slot = micap_slot_of(slots, entities[i]);
        slots->locals[slot] = locals[i];
        slots->moved[slot] = 0;
    }
}

void micap_transforms_restore(micap_hierarchy *hierarchy, mica_version seen)
{
    micap_transforms *transforms = hierarchy->transforms;
    transforms->seen = seen;
    transforms->is_new = true;
    transforms->slots.index_count = transforms->slots.living_count = 0; /* all known of slots is of another world */
    if (!seen || hierarchy->relinked_count || !micap_slots_rebuild(hierarchy, transforms) ||
        !list_slices(hierarchy->world, transforms))
        return;
    for (uint32_t i = 0; i < transforms->slice_count; ++i)
        recall(transforms, transforms->slices[i]);
    transforms->is_new = false;
}

mica_result mica_transform_update(mica_world *world)
{
    if (world->hook_depth)
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "transform_update: called inside a hook");
    micap_hierarchy *hierarchy = micap_hierarchy_use(world);
    micap_transforms *transforms = hierarchy ? use_transforms(hierarchy) : NULL;
    if (!transforms)
        return micap_failure(world);
    mica_version mark = mica_world_mark(world);
    if (!find_moved(hierarchy, transforms))
        return micap_fail_memory(world, "transforms");
    micap_slots *slots = &transforms->slots;
    const micap_here *here = micap_here_of(world);
    descent descent = {world, slots, here ? here->version : micap_version(world), 0};
    for (uint32_t level = 0; level < slots->level_count; ++level) {
        descent.begin = slots->level_begins[level];
        share(world, slots->level_begins[level + 1] - descent.begin, SLOTS_AT_ONCE, descend, &descent);
    }
    descend_latecomers(&descent);
    if (slots->count)
        memset(slots->moved, 0, slots->count);
    transforms->seen = mark;
    return MICA_OK;
}

static void update_transforms(const mica_frame *frame)
{
    mica_transform_update(frame->world);
}

mica_system mica_transform_add_system(mica_world *world, mica_phase phase)
{
    micap_hierarchy *hierarchy = micap_hierarchy_use(world); /* now, because a system makes no queries */
    if (!hierarchy || !use_transforms(hierarchy))
        return (mica_system){0};
    return mica_system_add(
        world, MICA_SYSTEM_ONCE_WITH(update_transforms, (.phase = phase, MICA_TERMS(MICA_READ(mica_local),
                                                                                    MICA_WRITE(mica_global_matrix)))));
}
