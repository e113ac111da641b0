/* All entities of a grid with their neighbours, cell by cell. */
#include "base/argument.h"
#include "core/query/query.h"
#include "core/world/callback.h"
#include "core/world/report.h"
#include "index/grid_search.h"
#include "index/index_read.h"
#include "mica/task.h"

enum { ENTRIES_PER_JOB = 512, NEIGHBOURS = 128 };

typedef struct visit {
    mica_world *world;
    const micap_grid *grid;
    const mica_grid_loop *loop;
    atomic_bool is_short; /* of memory */
} visit;

/* The neighbours of a job: a few, or as many as were needed. */
typedef struct neighbours {
    mica_neighbour few[NEIGHBOURS];
    mica_neighbour *many;
    uint32_t capacity; /* of `many` */
} neighbours;

/* Searches again with more room if there are more neighbours. False if memory is short. */
static bool find_neighbours(visit *visit, neighbours *buffer, micap_grid_search *search)
{
    search->out = buffer->many ? buffer->many : buffer->few;
    search->capacity = buffer->many ? buffer->capacity : NEIGHBOURS;
    micap_grid_search_run(visit->grid, search);
    if (search->count <= search->capacity)
        return true;
    if (!MICAP_RESERVE(micap_index_memory(visit->world), buffer->many, &buffer->capacity, search->count))
        return false;
    search->out = buffer->many;
    search->capacity = buffer->capacity;
    micap_grid_search_run(visit->grid, search);
    return true;
}

static void visit_cells(uint32_t begin, uint32_t end, void *context)
{
    visit *visit = context;
    const micap_grid *grid = visit->grid;
    const mica_grid_loop *loop = visit->loop;
    neighbours buffer;
    buffer.many = NULL;
    buffer.capacity = 0;
    for (uint32_t cell = begin; cell < end; ++cell)
        for (uint32_t i = 0; i < grid->cells[cell].count; ++i) {
            const micap_grid_entry *entry = &grid->entries[grid->cells[cell].start + i];
            micap_grid_search search = {.at = {entry->at[0], entry->at[1], entry->at[2]},
                                        .radius = loop->radius,
                                        .self = entry,
                                        .after_self = loop->pairs};
            if (loop->query && !mica_query_matches(loop->query, entry->entity))
                continue;
            if (find_neighbours(visit, &buffer, &search))
                loop->fn(entry->entity, search.out, search.count, loop->context);
            else
                atomic_store_explicit(&visit->is_short, true, memory_order_relaxed);
        }
    MICAP_RELEASE_ARRAY(micap_index_memory(visit->world), buffer.many, buffer.capacity);
}

mica_result mica_grid_each(const mica_index *index, const mica_grid_loop *loop)
{
    const micap_grid *grid = micap_index_read_grid(index, __func__);
    if (!grid)
        return MICA_ERROR_INVALID;
    mica_world *world = micap_index_world(index);
    if (MICAP_MISSING(world, loop) || MICAP_MISSING(world, loop->fn) ||
        MICAP_INVALID(world, !(loop->radius >= 0), loop->radius, "must be a number of at least 0") ||
        MICAP_INVALID(world, loop->query && loop->query->world != world, loop->query, "is a query of another world"))
        return MICA_ERROR_INVALID;
    visit visit = {.world = world, .grid = grid, .loop = loop};
    atomic_uint *loop_count = (atomic_uint *)(uintptr_t)&index->loop_count;
    atomic_fetch_add_explicit(loop_count, 1, memory_order_relaxed);
    micap_world_hold(world);
    uint32_t jobs = grid->count / ENTRIES_PER_JOB + 1, grain = grid->cell_count / jobs + 1;
    if (!loop->one_thread && jobs > 1 && micap_index_has_workers(world))
        mica_parallel_for(world, grid->cell_count, grain, visit_cells, &visit);
    else
        visit_cells(0, grid->cell_count, &visit);
    micap_world_let_go(world);
    atomic_fetch_sub_explicit(loop_count, 1, memory_order_relaxed);
    if (atomic_load_explicit(&visit.is_short, memory_order_relaxed))
        return micap_fail_memory(world, "neighbours of a grid");
    return MICA_OK;
}
