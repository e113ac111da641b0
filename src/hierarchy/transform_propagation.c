#include "hierarchy/transform_propagation.h"

#include "base/argument.h"
#include "base/call_location.h"
#include "core/query/query.h"
#include "core/world/report.h"
#include "core/storage/rows.h"
#include "core/storage/chunk_write.h"
#include "hierarchy/hierarchy_module.h"
#include "hierarchy/matrix.h"
#include "hierarchy/transform_changes.h"
#include "mica/system.h"
#include "mica/task.h"

void micap_transforms_free(micap_hierarchy *hierarchy)
{
    micap_transforms *transforms = hierarchy->transforms;
    if (!transforms)
        return;
    micap_transform_nodes_free(hierarchy->world, &transforms->nodes);
    micap_transform_nodes_free(hierarchy->world, &transforms->spare);
    MICAP_RELEASE_ARRAY(&hierarchy->world->memory, transforms->slices, transforms->slice_capacity);
    micap_query_free(transforms->query);
    micap_release(&hierarchy->world->memory, transforms, sizeof *transforms, MICAP_ARRAY_ALIGNMENT);
    hierarchy->transforms = NULL;
    hierarchy->relinked = NULL;
}

void micap_transforms_trim(micap_hierarchy *hierarchy)
{
    if (hierarchy->transforms)
        micap_transform_nodes_free(hierarchy->world, &hierarchy->transforms->spare);
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
        hierarchy->world, &(mica_query_def){MICA_TERMS(MICA_READ(mica_local), MICA_WRITE(mica_global_matrix)),
                                            .name = name, .with_hidden = true});
    if (!transforms->query) {
        micap_release(memory, transforms, sizeof *transforms, MICAP_ARRAY_ALIGNMENT);
        return NULL;
    }
    transforms->is_new = true;
    hierarchy->transforms = transforms;
    hierarchy->relinked = transforms->relinked;
    micap_modules_see_every_death(hierarchy->world);
    return transforms;
}

enum { SLICES_PER_JOB = 4, NODES_PER_JOB = 2048 }; /* nodes by whole cache lines */

/* Runs a loop on the workers of the world, if it has systems: a world without systems starts no threads for this. */
static void run_loop(mica_world *world, uint32_t count, uint32_t grain, mica_range_fn fn, void *context)
{
    if (count > grain && micap_module_state(world, MICAP_MODULE_FLOW))
        mica_parallel_for(world, count, grain, fn, context);
    else if (count)
        fn(0, count, context);
}

static bool sort_nodes(const micap_hierarchy *hierarchy, micap_transforms *transforms)
{
    if (!micap_transform_order_rebuild(hierarchy, transforms->query, &transforms->nodes, &transforms->spare))
        return false;
    transforms->is_new = true;
    return true;
}

/* Stores where the rows of a slice are. False if the entity of a row has no node. */
static bool find_rows(micap_transform_nodes *nodes, const micap_transform_slice *slice)
{
    const mica_entity *entities = micap_chunk_entities(slice->chunk) + slice->row;
    mica_global_matrix *matrices = micap_chunk_value(slice->chunk, slice->matrix_column, slice->row);
    mica_version *stamp = micap_chunk_stamps(slice->chunk, slice->row) + 1 + slice->matrix_column;
    bool has_all = true;
    for (uint32_t i = 0; i < slice->count; ++i) {
        uint32_t node = micap_transform_node_of(nodes, entities[i]);
        if (node == MICAP_NODE_NONE) {
            has_all = false;
            continue;
        }
        nodes->matrices[node] = &matrices[i];
        nodes->stamps[node] = stamp;
        nodes->moved[node] |= slice->has_moved ? MICAP_NODE_REWRITE : 0;
    }
    return has_all;
}

static void find_moved_rows(micap_transform_nodes *nodes, const micap_transform_slice *slice)
{
    const mica_entity *entities = micap_chunk_entities(slice->chunk) + slice->row;
    const mica_local *locals = micap_chunk_value(slice->chunk, slice->local_column, slice->row);
    for (uint32_t i = 0; i < slice->count; ++i) {
        uint32_t node = nodes->by_index[entities[i].index] - 1;
        /* By bits: a NaN differs from itself, but has not moved. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
        if (memcmp(&nodes->locals[node], &locals[i], sizeof *locals) == 0)
            continue;
        nodes->locals[node] = locals[i];
        nodes->moved[node] = MICAP_NODE_MOVED;
    }
}

/* Lists the slices that were written or moved since the last update, or all if the nodes are new. False if memory is short. */
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
            micap_transform_slice slice = {archetype->chunks[i], 0, 0, columns[0], columns[1], false};
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

static void compare_slices(uint32_t begin, uint32_t end, void *context)
{
    micap_transforms *transforms = context;
    for (uint32_t i = begin; i < end; ++i) {
        const micap_transform_slice *slice = &transforms->slices[i];
        if ((slice->has_moved || transforms->is_new) && !find_rows(&transforms->nodes, slice))
            atomic_store_explicit(&transforms->has_new, true, memory_order_relaxed);
        else
            find_moved_rows(&transforms->nodes, slice);
    }
}

/* Compares the listed slices. Returns whether a row has no node. */
static bool compare(mica_world *world, micap_transforms *transforms)
{
    atomic_store_explicit(&transforms->has_new, false, memory_order_relaxed);
    run_loop(world, transforms->slice_count, SLICES_PER_JOB, compare_slices, transforms);
    return atomic_load_explicit(&transforms->has_new, memory_order_relaxed);
}

static bool append_new(const micap_hierarchy *hierarchy, micap_transforms *transforms)
{
    for (uint32_t i = 0; i < transforms->slice_count; ++i) {
        const micap_transform_slice *slice = &transforms->slices[i];
        const mica_entity *entities = micap_chunk_entities(slice->chunk) + slice->row;
        for (uint32_t row = 0; slice->has_moved && row < slice->count; ++row)
            if (micap_transform_node_of(&transforms->nodes, entities[row]) == MICAP_NODE_NONE &&
                !micap_transform_nodes_append(hierarchy, &transforms->nodes, entities[row]))
                return false;
    }
    return true;
}

/* Appends nodes of entities that were added or have another parent. False if the nodes must be sorted again. */
static bool append_changed(const micap_hierarchy *hierarchy, micap_transforms *transforms, bool has_new)
{
    micap_transform_nodes *nodes = &transforms->nodes;
    if (has_new && !append_new(hierarchy, transforms))
        return false;
    for (uint32_t i = 0; i < hierarchy->relinked_count; ++i)
        if (mica_is_alive(hierarchy->world, hierarchy->relinked[i]) &&
            !micap_transform_nodes_append(hierarchy, nodes, hierarchy->relinked[i]))
            return false;
    return nodes->living_count == transforms->row_count;
}

typedef struct descent {
    mica_world *world;
    micap_transform_nodes *nodes;
    mica_version version;
    uint32_t begin; /* of the level */
} descent;

static MICAP_COLD void touch_matrix(const descent *descent, mica_entity entity)
{
    micap_row spot = micap_locate(descent->world, entity);
    uint32_t column = micap_chunk_find(spot.chunk, MICA_ID(mica_global_matrix))->column;
    micap_touch_column(descent->world, spot.chunk, column, spot.row, 1, descent->version);
}

static inline void write_matrix(const descent *descent, uint32_t node)
{
    static const mica_global_matrix identity = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    const micap_transform_nodes *nodes = descent->nodes;
    uint32_t parent = nodes->parents[node];
    if (!nodes->matrices[node])
        return;
    if (!micap_touch_without_copy(descent->world, nodes->stamps[node], descent->version))
        touch_matrix(descent, nodes->entities[node]);
    micap_matrix_compose(&nodes->locals[node], parent == MICAP_NODE_NONE ? &identity : nodes->matrices[parent],
                         nodes->matrices[node]);
}

/* Writes the matrices of nodes of one level that have moved, and marks their children. */
static void descend(uint32_t begin, uint32_t end, void *context)
{
    const descent *descent = context;
    micap_transform_nodes *nodes = descent->nodes;
    end += descent->begin;
    for (uint32_t node = begin + descent->begin; node < end; ++node) {
        uint64_t eight;
        while (node + 8 <= end && (memcpy(&eight, &nodes->moved[node], 8), !eight))
            node += 8;
        if (node == end || !nodes->moved[node])
            continue;
        write_matrix(descent, node);
        uint32_t child = nodes->child_begins[node], child_end = nodes->child_begins[node + 1];
        if (nodes->moved[node] & MICAP_NODE_MOVED && child < child_end)
            memset(&nodes->moved[child], MICAP_NODE_MOVED, child_end - child);
    }
}

/* The same for nodes after the levels. */
static void descend_appended(const descent *descent)
{
    micap_transform_nodes *nodes = descent->nodes;
    for (uint32_t node = nodes->sorted_count; node < nodes->count; ++node) {
        uint32_t parent = nodes->parents[node];
        nodes->moved[node] |= parent == MICAP_NODE_NONE ? 0 : nodes->moved[parent] & MICAP_NODE_MOVED;
        if (nodes->moved[node])
            write_matrix(descent, node);
    }
}

/* Updates nodes and their marks. False if memory is short. */
static bool update_nodes(micap_hierarchy *hierarchy, micap_transforms *transforms)
{
    mica_world *world = hierarchy->world;
    micap_transform_nodes *nodes = &transforms->nodes;
    bool must_sort = transforms->is_new || hierarchy->relinked_count > MICAP_RELINKED_MAX ||
                     nodes->count / 2 > nodes->living_count + 64;
    if (!must_sort) {
        if (!list_slices(world, transforms))
            return false;
        bool has_new = compare(world, transforms);
        must_sort = !append_changed(hierarchy, transforms, has_new);
        if (!must_sort && has_new)
            compare(world, transforms);
    }
    if (must_sort) {
        if (!sort_nodes(hierarchy, transforms) || !list_slices(world, transforms))
            return false;
        compare(world, transforms);
    }
    transforms->is_new = false;
    hierarchy->relinked_count = 0;
    return true;
}

static void recall_slice(micap_transforms *transforms, micap_transform_slice slice)
{
    micap_transform_nodes *nodes = &transforms->nodes;
    const mica_version *stamps = micap_chunk_stamps(slice.chunk, slice.row);
    const mica_entity *entities = micap_chunk_entities(slice.chunk) + slice.row;
    const mica_local *locals = micap_chunk_value(slice.chunk, slice.local_column, slice.row);
    slice.has_moved = false;
    find_rows(nodes, &slice);
    if (stamps[0] > transforms->seen || stamps[1 + slice.local_column] > transforms->seen)
        return;
    for (uint32_t i = 0; i < slice.count; ++i) {
        uint32_t node = micap_transform_node_of(nodes, entities[i]);
        nodes->locals[node] = locals[i];
        nodes->moved[node] = 0;
    }
}

void micap_transforms_restore(micap_hierarchy *hierarchy, mica_version seen)
{
    micap_transforms *transforms = hierarchy->transforms;
    transforms->seen = seen;
    transforms->is_new = true;
    transforms->nodes.index_count = transforms->nodes.living_count = 0; /* the old nodes are invalid */
    if (!seen || hierarchy->relinked_count || !sort_nodes(hierarchy, transforms) ||
        !list_slices(hierarchy->world, transforms))
        return;
    for (uint32_t i = 0; i < transforms->slice_count; ++i)
        recall_slice(transforms, transforms->slices[i]);
    transforms->is_new = false;
}

mica_result mica_transform_update(mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    if (world->hook_depth)
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "transform_update: called inside a hook");
    micap_hierarchy *hierarchy = micap_hierarchy_require(world);
    micap_transforms *transforms = hierarchy ? use_transforms(hierarchy) : NULL;
    if (!transforms)
        return micap_failure(world);
    mica_version mark = mica_world_mark(world);
    if (!update_nodes(hierarchy, transforms))
        return micap_fail_memory(world, "transforms");
    micap_transform_nodes *nodes = &transforms->nodes;
    const micap_thread_context *here = micap_thread_context_of(world);
    descent descent = {world, nodes, here ? here->version : micap_version(world), 0};
    for (uint32_t level = 0; level < nodes->level_count; ++level) {
        descent.begin = nodes->level_begins[level];
        run_loop(world, nodes->level_begins[level + 1] - descent.begin, NODES_PER_JOB, descend, &descent);
    }
    descend_appended(&descent);
    if (nodes->count)
        memset(nodes->moved, 0, nodes->count);
    transforms->seen = mark;
    return MICA_OK;
}

static void update_transforms(const mica_frame *frame)
{
    mica_transform_update(frame->world);
}

mica_system mica_transform_add_system(mica_world *world, mica_phase phase)
{
    if (MICAP_MISSING(NULL, world))
        return (mica_system){0};
    micap_hierarchy *hierarchy = micap_hierarchy_require(world); /* now, because a system can't create queries */
    if (!hierarchy || !use_transforms(hierarchy))
        return (mica_system){0};
    mica_system_def def = *MICA_SYSTEM_ONCE_WITH(
        update_transforms, (.phase = phase, MICA_TERMS(MICA_READ(mica_local), MICA_WRITE(mica_global_matrix))));
    def.location = micap_noted_place();
    return mica_system_add(world, &def);
}
