/* Components that come and go, at once and recorded. One operation is an addition and the removal that undoes it. */
#include "baselines.h"
#include "bench.h"
#include "components.h"
#include "kernel.h"
#include "population.h"
#include "raw.h"

#include <stdlib.h>

static uint64_t mass_sum_mica(mica_world *world)
{
    mica_query *heavy = mica_query_create(world, MICA_QUERY(MICA_READ(Mass)));
    require(heavy != NULL, "mica_query_create failed");
    uint64_t sum = 0;
    for (mica_view view = mica_query_begin(heavy); mica_view_next(&view);) {
        const Mass *mass = mica_view_read(&view, Mass);
        for (uint32_t i = 0; i < view.count; ++i)
            sum += bits_of(mass[i].value);
    }
    mica_query_destroy(heavy);
    return sum;
}

static uint64_t mass_sum_raw(const raw_world *world)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < world->mass_count; ++i)
        sum += bits_of(world->mass[i].value);
    return sum;
}

static measurement add_remove_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *ids = populate_mica(world, n, NULL);
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        mica_add(world, ids[i], Mass)->value = mass_of(i);
    double time = now_ns() - start;
    uint64_t sum = mass_sum_mica(world);
    start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        sum += mica_remove(world, ids[i], Mass);
    time += now_ns() - start;
    free(ids);
    measurement result = finish_mica(world, time / n);
    result.checksum += sum;
    return result;
}

measurement add_remove_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    raw_id *ids = populate_raw(&world, n, NULL);
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        raw_add_mass(&world, ids[i])->value = mass_of(i);
    double time = now_ns() - start;
    uint64_t sum = mass_sum_raw(&world);
    start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        sum += raw_remove_mass(&world, ids[i]);
    time += now_ns() - start;
    free(ids);
    measurement result = finish_raw(&world, time / n);
    result.checksum += sum;
    return result;
}

static measurement deferred_add_remove_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *ids = populate_mica(world, n, NULL);
    double start = now_ns();
    mica_defer(world);
    for (uint32_t i = 0; i < n; ++i)
        mica_set(world, ids[i], Mass, {mass_of(i)});
    mica_flush(world);
    double time = now_ns() - start;
    uint64_t sum = mass_sum_mica(world);
    start = now_ns();
    mica_defer(world);
    for (uint32_t i = 0; i < n; ++i)
        mica_remove(world, ids[i], Mass);
    mica_flush(world);
    time += now_ns() - start;
    sum += mass_sum_mica(world);
    free(ids);
    measurement result = finish_mica(world, time / n);
    result.checksum += sum;
    return result;
}

/* Does what is asked of Mica: remembers the changes in a list, then goes through it. */
measurement deferred_add_remove_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    raw_id *ids = populate_raw(&world, n, NULL);
    raw_queue queue = {0};
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        raw_queue_add_mass(&queue, ids[i], (Mass){mass_of(i)});
    raw_queue_apply(&queue, &world);
    double time = now_ns() - start;
    uint64_t sum = mass_sum_raw(&world);
    start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        raw_queue_remove_mass(&queue, ids[i]);
    raw_queue_apply(&queue, &world);
    time += now_ns() - start;
    sum += mass_sum_raw(&world);
    free(queue.changes);
    free(ids);
    measurement result = finish_raw(&world, time / n);
    result.checksum += sum;
    return result;
}

const workload structure_workloads[] = {
    {"add_remove_100k", 100000, add_remove_mica, add_remove_raw, 3.5, UNIT_RATIO},
    {"deferred_add_remove_100k", 100000, deferred_add_remove_mica, deferred_add_remove_raw, 2.0, UNIT_RATIO},
    {0},
};
