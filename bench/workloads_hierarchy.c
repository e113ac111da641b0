/* Trees: children made and killed with their parents, and transforms handed down. One operation is one child, or one node. */
#include "bench.h"
#include "components.h"
#include "population.h"
#include "raw_tree.h"

#include <stdlib.h>

enum { CHILDREN = 100, BRANCHES = 10, FRAMES = 3 };

static mica_entity make_mica(mica_world *world, mica_entity parent, uint32_t i)
{
    Position position = position_of(i);
    Velocity velocity = velocity_of(i);
    mica_value values[] = {MICA_FROM(Position, &position), MICA_FROM(Velocity, &velocity)};
    return mica_is_nil(parent) ? mica_create_id(world, values, 2) : mica_create_child_id(world, parent, values, 2);
}

static double plant_mica(mica_world *world, uint32_t n, mica_entity *parents)
{
    double start = now_ns();
    for (uint32_t p = 0; p < n / CHILDREN; ++p)
        parents[p] = make_mica(world, mica_nil(), p);
    for (uint32_t p = 0; p < n / CHILDREN; ++p)
        for (uint32_t i = 0; i < CHILDREN; ++i)
            make_mica(world, parents[p], i);
    return (now_ns() - start) / n;
}

static raw_id make_raw(raw_tree *tree, raw_id parent, uint32_t i)
{
    uint32_t row = raw_create(&tree->world);
    tree->world.position[row] = position_of(i);
    tree->world.velocity[row] = velocity_of(i);
    raw_id id = tree->world.owner[row];
    if (parent.generation != 0)
        require(raw_tree_link(tree, id, parent), "raw_tree_link failed");
    return id;
}

static double plant_raw(raw_tree *tree, uint32_t n, raw_id *parents)
{
    double start = now_ns();
    for (uint32_t p = 0; p < n / CHILDREN; ++p)
        parents[p] = make_raw(tree, (raw_id){0}, p);
    for (uint32_t p = 0; p < n / CHILDREN; ++p)
        for (uint32_t i = 0; i < CHILDREN; ++i)
            make_raw(tree, parents[p], i);
    return (now_ns() - start) / n;
}

/* What both must agree on: the children of every parent, in order. */
static uint64_t sum_of_tree_mica(const mica_world *world, const mica_entity *parents, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < count; ++p)
        for (mica_entity child = mica_first_child(world, parents[p]); !mica_is_nil(child);
             child = mica_next_sibling(world, child))
            sum = sum * 31 + bits_of(mica_get(world, child, Position)->x);
    return sum;
}

static uint64_t sum_of_tree_raw(const raw_tree *tree, const raw_id *parents, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < count; ++p)
        for (uint32_t child = tree->links[parents[p].index].first_child; child != RAW_NONE;
             child = tree->links[child].next)
            sum = sum * 31 + bits_of(tree->world.position[tree->world.slots[child].row].x);
    return sum;
}

static measurement hier_create_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *parents = allocate_or_exit(n / CHILDREN * sizeof *parents);
    double time = plant_mica(world, n, parents);
    uint64_t sum = sum_of_tree_mica(world, parents, n / CHILDREN);
    free(parents);
    measurement result = finish_mica(world, time);
    result.checksum += sum;
    return result;
}

static measurement hier_create_raw(uint32_t n)
{
    raw_tree tree = raw_tree_make();
    raw_id *parents = allocate_or_exit(n / CHILDREN * sizeof *parents);
    double time = plant_raw(&tree, n, parents);
    uint64_t sum = sum_of_tree_raw(&tree, parents, n / CHILDREN);
    free(parents);
    measurement result = finish_raw(&tree.world, time);
    raw_tree_free(&tree);
    result.checksum += sum;
    return result;
}

/* Two of three parents die: what is left can be compared. */
static measurement hier_delete_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *parents = allocate_or_exit(n / CHILDREN * sizeof *parents);
    plant_mica(world, n, parents);
    uint64_t died = 0;
    double start = now_ns();
    for (uint32_t p = 0; p < n / CHILDREN; ++p)
        if (p % 3 != 0)
            died += mica_destroy(world, parents[p]);
    double time = (now_ns() - start) / (double)(died * CHILDREN);
    free(parents);
    measurement result = finish_mica(world, time);
    result.checksum += died;
    return result;
}

static measurement hier_delete_raw(uint32_t n)
{
    raw_tree tree = raw_tree_make();
    raw_id *parents = allocate_or_exit(n / CHILDREN * sizeof *parents);
    plant_raw(&tree, n, parents);
    uint64_t died = 0;
    double start = now_ns();
    for (uint32_t p = 0; p < n / CHILDREN; ++p)
        if (p % 3 != 0)
            died += raw_tree_destroy(&tree, parents[p]);
    double time = (now_ns() - start) / (double)(died * CHILDREN);
    free(parents);
    measurement result = finish_raw(&tree.world, time);
    raw_tree_free(&tree);
    result.checksum += died;
    return result;
}

/* Node i hangs on node (i - 1) / BRANCHES, so that rising numbers are sorted by depth. */
static mica_local local_of(uint32_t i)
{
    mica_local local = MICA_LOCAL_AT((float)(i & 15), (float)(i & 3), 1);
    local.rotation[2] = 0.6f;
    local.rotation[3] = 0.8f;
    return local;
}

/* Which nodes move in a frame: number k of them. */
typedef uint32_t (*move_fn)(uint32_t k, uint32_t n);

static uint32_t move_each(uint32_t k, uint32_t n)
{
    (void)n;
    return k;
}

static uint32_t move_scattered(uint32_t k, uint32_t n)
{
    uint32_t top = n / 100; /* these have hundreds below them */
    return top + (uint32_t)((uint64_t)k * 7919 * 13 % (n - top));
}

static uint32_t move_neighbours(uint32_t k, uint32_t n)
{
    return n / 2 + k;
}

static uint64_t sum_of_matrix(const mica_global_matrix *matrix)
{
    return bits_of(matrix->x[3]) + 3ull * bits_of(matrix->y[3]) + 5ull * bits_of(matrix->z[3]) + bits_of(matrix->x[0]);
}

static measurement transform_mica(uint32_t n, uint32_t movers, move_fn move)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *ids = allocate_or_exit(n * sizeof *ids);
    for (uint32_t i = 0; i < n; ++i) {
        mica_local local = local_of(i);
        ids[i] = mica_create(world, MICA_FROM(mica_local, &local), MICA_WITH(mica_global_matrix));
        if (i > 0)
            mica_set_parent(world, ids[i], ids[(i - 1) / BRANCHES]);
    }
    require(mica_transform_update(world) == MICA_OK, "mica_transform_update failed");
    measurement result = {1e30, 0};
    for (int frame = 0; frame < FRAMES; ++frame) {
        for (uint32_t k = 0; k < movers; ++k)
            mica_write(world, ids[move(k, n)], mica_local)->position[0] += 0.5f;
        double start = now_ns();
        mica_transform_update(world);
        double time = (now_ns() - start) / n;
        result.per_operation = time < result.per_operation ? time : result.per_operation;
    }
    for (uint32_t i = 0; i < n; ++i)
        result.checksum += sum_of_matrix(mica_get(world, ids[i], mica_global_matrix)) * (i + 1);
    free(ids);
    mica_world_destroy(world);
    return result;
}

static measurement transform_raw(uint32_t n, uint32_t movers, move_fn move)
{
    raw_transforms all = {.count = n,
                          .parent = allocate_or_exit(n * sizeof *all.parent),
                          .moved = allocate_or_exit(n * sizeof *all.moved),
                          .local = allocate_or_exit(n * sizeof *all.local),
                          .matrix = allocate_or_exit(n * sizeof *all.matrix)};
    for (uint32_t i = 0; i < n; ++i) {
        all.local[i] = local_of(i);
        all.parent[i] = i > 0 ? (i - 1) / BRANCHES : 0;
        all.moved[i] = true;
    }
    raw_transforms_update(&all);
    measurement result = {1e30, 0};
    for (int frame = 0; frame < FRAMES; ++frame) {
        for (uint32_t k = 0; k < movers; ++k) {
            all.local[move(k, n)].position[0] += 0.5f;
            all.moved[move(k, n)] = true;
        }
        double start = now_ns();
        raw_transforms_update(&all);
        double time = (now_ns() - start) / n;
        result.per_operation = time < result.per_operation ? time : result.per_operation;
    }
    for (uint32_t i = 0; i < n; ++i)
        result.checksum += sum_of_matrix(&all.matrix[i]) * (i + 1);
    free(all.parent);
    free(all.moved);
    free(all.local);
    free(all.matrix);
    return result;
}

static measurement transform_all_mica(uint32_t n)
{
    return transform_mica(n, n, move_each);
}

static measurement transform_all_raw(uint32_t n)
{
    return transform_raw(n, n, move_each);
}

static measurement transform_scattered_mica(uint32_t n)
{
    return transform_mica(n, n / 100, move_scattered);
}

static measurement transform_scattered_raw(uint32_t n)
{
    return transform_raw(n, n / 100, move_scattered);
}

static measurement transform_neighbours_mica(uint32_t n)
{
    return transform_mica(n, n / 100, move_neighbours);
}

static measurement transform_neighbours_raw(uint32_t n)
{
    return transform_raw(n, n / 100, move_neighbours);
}

const workload hierarchy_workloads[] = {
    {"hier_create_100k", 100000, hier_create_mica, hier_create_raw, 1.3, UNIT_RATIO},
    {"hier_delete_100k", 100000, hier_delete_mica, hier_delete_raw, 1.0, UNIT_RATIO},
    {"transform_all_100k", 100000, transform_all_mica, transform_all_raw, 2.0, UNIT_RATIO},
    {"transform_1pct_100k", 100000, transform_scattered_mica, transform_scattered_raw, 3.0, UNIT_RATIO},
    {"transform_1pct_near_100k", 100000, transform_neighbours_mica, transform_neighbours_raw, 1.5, UNIT_RATIO},
    {0},
};
