/* The update of transforms: what moved, then down the levels. */
#include "hierarchy/transforms.h"

#include "core/report.h"
#include "hierarchy/matrix.h"

void micap_transforms_free(micap_hierarchy *hierarchy)
{
    micap_transforms *transforms = hierarchy->transforms;
    if (!transforms)
        return;
    micap_slots_free(hierarchy->world, &transforms->slots);
    mica_query_destroy(transforms->query);
    micap_release(&hierarchy->world->memory, transforms, sizeof *transforms, MICAP_ARRAY_ALIGNMENT);
    hierarchy->transforms = NULL;
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
        &(mica_query_def){MICA_TERMS(MICA_READ(mica_local), MICA_WRITE(mica_world_matrix)), .name = name});
    if (!transforms->query) {
        micap_release(memory, transforms, sizeof *transforms, MICAP_ARRAY_ALIGNMENT);
        return NULL;
    }
    transforms->links_version = UINT64_MAX;
    hierarchy->transforms = transforms;
    return transforms;
}

/* A slice of rows that may have changed. */
typedef struct slice {
    micap_chunk *chunk;
    uint32_t row;
    uint32_t count;
    uint16_t local_column;
    uint16_t matrix_column;
    bool places; /* rows came or moved: where they are must be noted */
} slice;

/* Notes where the rows of a slice are; false when one has no slot. */
static bool note_places(micap_slots *slots, const slice *slice)
{
    const mica_entity *entities = micap_chunk_entities(slice->chunk) + slice->row;
    mica_world_matrix *matrices = micap_chunk_value(slice->chunk, slice->matrix_column, slice->row);
    mica_version *stamp = micap_chunk_stamps(slice->chunk, slice->row) + 1 + slice->matrix_column;
    for (uint32_t i = 0; i < slice->count; ++i) {
        uint32_t slot = micap_slot_of(slots, entities[i]);
        if (slot == MICAP_SLOT_NONE)
            return false;
        slots->matrices[slot] = &matrices[i];
        slots->stamps[slot] = stamp;
    }
    return true;
}

static void note_moved(micap_slots *slots, const slice *slice)
{
    const mica_entity *entities = micap_chunk_entities(slice->chunk) + slice->row;
    const mica_local *locals = micap_chunk_value(slice->chunk, slice->local_column, slice->row);
    for (uint32_t i = 0; i < slice->count; ++i) {
        uint32_t slot = slots->by_index[entities[i].index] - 1;
        if (memcmp(&slots->locals[slot], &locals[i], sizeof *locals) == 0)
            continue;
        slots->locals[slot] = locals[i];
        slots->moved[slot] = 1;
    }
}

/* Looks at what was written or moved since the last update, or at everything; false when the order is out of date. */
static bool look(micap_transforms *transforms, bool everything)
{
    micap_slots *slots = &transforms->slots;
    mica_query *query = transforms->query;
    uint64_t row_count = 0;
    for (uint32_t match = 0; match < query->match_count; ++match) {
        const micap_archetype *archetype = query->archetypes[match];
        const uint16_t *columns = micap_query_columns(query, match);
        row_count += archetype->row_count;
        for (uint32_t i = 0; archetype->row_count && i <= archetype->tail; ++i) {
            slice slice = {archetype->chunks[i], 0, 0, columns[0], columns[1], false};
            for (; slice.row < slice.chunk->count; slice.row += MICA_SLICE_ROWS) {
                const mica_version *stamps = micap_chunk_stamps(slice.chunk, slice.row);
                uint32_t left = slice.chunk->count - slice.row;
                slice.count = left < MICA_SLICE_ROWS ? left : MICA_SLICE_ROWS;
                slice.places = everything || stamps[0] > transforms->seen;
                if (slice.places && !note_places(slots, &slice))
                    return false;
                if (slice.places || stamps[1 + slice.local_column] > transforms->seen)
                    note_moved(slots, &slice);
            }
        }
    }
    return row_count == slots->count;
}

typedef struct descent {
    micap_slots *slots;
    mica_version version;
} descent;

/* Gives slots of one level that moved their matrices, and hands the mark down. */
static void descend(uint32_t begin, uint32_t end, void *context)
{
    static const mica_world_matrix identity = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    const descent *descent = context;
    micap_slots *slots = descent->slots;
    for (uint32_t slot = begin; slot < end; ++slot) {
        uint64_t eight;
        while (slot + 8 <= end && (memcpy(&eight, &slots->moved[slot], 8), !eight))
            slot += 8;
        if (slot == end || !slots->moved[slot])
            continue;
        uint32_t parent = slots->parents[slot];
        micap_matrix_compose(&slots->locals[slot], parent == MICAP_SLOT_NONE ? &identity : slots->matrices[parent],
                             slots->matrices[slot]);
        micap_stamp(slots->stamps[slot], descent->version);
        uint32_t child = slots->child_begins[slot], child_end = slots->child_begins[slot + 1];
        if (child < child_end)
            memset(&slots->moved[child], 1, child_end - child);
    }
}

mica_result mica_transform_update(mica_world *world)
{
    if (world->hook_depth)
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_place){0}, "transform_update: called inside a hook");
    micap_hierarchy *hierarchy = micap_hierarchy_use(world);
    micap_transforms *transforms = hierarchy ? use_transforms(hierarchy) : NULL;
    if (!transforms)
        return micap_failure(world);
    micap_slots *slots = &transforms->slots;
    mica_version mark = mica_world_mark(world);
    if (transforms->links_version != hierarchy->version || !look(transforms, false)) {
        if (!micap_slots_rebuild(hierarchy, transforms))
            return micap_fail_memory(world, "transforms");
        look(transforms, true);
    }
    const micap_here *here = micap_here_of(world);
    descent descent = {slots, here ? here->version : micap_version(world)};
    for (uint32_t level = 0; level < slots->level_count; ++level)
        descend(slots->level_begins[level], slots->level_begins[level + 1], &descent);
    if (slots->count)
        memset(slots->moved, 0, slots->count);
    transforms->seen = mark;
    return MICA_OK;
}
