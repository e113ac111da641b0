/* Walking columns: in one large archetype, in a few, and in very many small ones. */
#include "baselines.h"
#include "bench.h"
#include "components.h"
#include "fragments.h"
#include "kernel.h"
#include "population.h"
#include "raw.h"

#include <stdlib.h>

static const float seconds = 1.0f / 64;

/* The first sweep, outside the clock, brings everything into whatever cache it fits in. */
static measurement sweep_mica(mica_world *world, uint32_t n, uint32_t sweeps)
{
    mica_query *moving = mica_query_create(world, MICA_QUERY(MICA_WRITE(Position), MICA_READ(Velocity)));
    require(moving != NULL, "mica_query_create failed");
    double start = 0;
    for (uint32_t sweep = 0; sweep <= sweeps; ++sweep) {
        if (sweep == 1)
            start = now_ns();
        for (mica_view view = mica_query_begin(moving); mica_view_next(&view);)
            integrate(mica_view_write_at(&view, 0), mica_view_read_at(&view, 1), view.count, seconds);
    }
    double time = (now_ns() - start) / n / sweeps;
    return finish_mica(world, time);
}

static measurement sweep_raw(raw_world *world, uint32_t sweeps)
{
    double start = 0;
    for (uint32_t sweep = 0; sweep <= sweeps; ++sweep) {
        if (sweep == 1)
            start = now_ns();
        integrate(world->position, world->velocity, world->count, seconds);
    }
    double time = (now_ns() - start) / world->count / sweeps;
    return finish_raw(world, time);
}

/* About ten million rows per measurement, so that small worlds are timed as well as large ones. */
static uint32_t sweeps_for(uint32_t n)
{
    return 10000000 / n;
}

static measurement iter2_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    free(populate_mica(world, n, NULL));
    return sweep_mica(world, n, sweeps_for(n));
}

measurement iter2_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    free(populate_raw(&world, n, NULL));
    return sweep_raw(&world, sweeps_for(n));
}

/* Every other entity has Mass too, and where it is there it is used. */
static measurement iter3_mixed_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    for (uint32_t i = 0; i < n; ++i) {
        Position position = position_of(i / 2);
        Velocity velocity = velocity_of(i / 2);
        const mica_value values[] = {MICA_WITH(Position, {position.x, position.y, position.z}),
                                     MICA_WITH(Velocity, {velocity.x, velocity.y, velocity.z}),
                                     MICA_WITH(Mass, {mass_of(i / 2)})};
        mica_create_id(world, values, i % 2 == 0 ? 3 : 2);
    }
    mica_query *moving =
        mica_query_create(world, MICA_QUERY(MICA_WRITE(Position), MICA_READ(Velocity), MICA_MAYBE_READ(Mass)));
    require(moving != NULL, "mica_query_create failed");
    uint32_t sweeps = sweeps_for(n);
    double start = 0;
    for (uint32_t sweep = 0; sweep <= sweeps; ++sweep) {
        if (sweep == 1)
            start = now_ns();
        for (mica_view view = mica_query_begin(moving); mica_view_next(&view);) {
            Position *position = mica_view_write_at(&view, 0);
            const Velocity *velocity = mica_view_read_at(&view, 1);
            const Mass *mass = mica_view_read_at(&view, 2);
            if (mass != NULL)
                integrate_heavy(position, velocity, mass, view.count, seconds);
            else
                integrate(position, velocity, view.count, seconds);
        }
    }
    double time = (now_ns() - start) / n / sweeps;
    return finish_mica(world, time);
}

/* By hand one would keep those with mass in front, so that mass is one more dense array. */
static measurement iter3_mixed_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    uint32_t half = n / 2;
    Mass *mass = allocate_or_exit(half * sizeof *mass);
    for (uint32_t i = 0; i < half; ++i)
        mass[i].value = mass_of(i);
    for (uint32_t i = 0; i < n; ++i) {
        uint32_t row = raw_create(&world);
        world.position[row] = position_of(i % half);
        world.velocity[row] = velocity_of(i % half);
    }
    uint32_t sweeps = sweeps_for(n);
    double start = 0;
    for (uint32_t sweep = 0; sweep <= sweeps; ++sweep) {
        if (sweep == 1)
            start = now_ns();
        integrate_heavy(world.position, world.velocity, mass, half, seconds);
        integrate(world.position + half, world.velocity + half, n - half, seconds);
    }
    double time = (now_ns() - start) / n / sweeps;
    free(mass);
    return finish_raw(&world, time);
}

/* A hundred sweeps double a value of one a hundred times, which a float still holds. */
enum { DOUBLINGS = 100 };

static measurement double_all(mica_world *world, uint32_t n)
{
    mica_query *all = mica_query_create(world, MICA_QUERY(MICA_WRITE(Data)));
    require(all != NULL, "mica_query_create failed");
    double start = 0;
    for (uint32_t sweep = 0; sweep <= DOUBLINGS; ++sweep) {
        if (sweep == 1)
            start = now_ns();
        for (mica_view view = mica_query_begin(all); mica_view_next(&view);)
            double_data(mica_view_write_at(&view, 0), view.count);
    }
    double time = (now_ns() - start) / n / DOUBLINGS;
    uint64_t sum = 0;
    for (mica_view view = mica_query_begin(all); mica_view_next(&view);)
        sum += sum_of_data(mica_view_read_at(&view, 0), view.count);
    mica_world_destroy(world);
    return (measurement){time, sum};
}

static measurement frag_26_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    populate_letters(world, n);
    return double_all(world, n);
}

/* One component, whose loop is short: what a view costs shows. */
static measurement iter1_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    for (uint32_t i = 0; i < n; ++i)
        mica_create(world, MICA_WITH(Data, {1}));
    return double_all(world, n);
}

static measurement double_all_raw(uint32_t n)
{
    Data *data = allocate_or_exit(n * sizeof *data);
    for (uint32_t i = 0; i < n; ++i)
        data[i].value = 1;
    double start = 0;
    for (uint32_t sweep = 0; sweep <= DOUBLINGS; ++sweep) {
        if (sweep == 1)
            start = now_ns();
        double_data(data, n);
    }
    double time = (now_ns() - start) / n / DOUBLINGS;
    uint64_t sum = sum_of_data(data, n);
    free(data);
    return (measurement){time, sum};
}

static measurement frag_1024_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    populate_tag_sets(world, n);
    return sweep_mica(world, n, sweeps_for(n));
}

const workload iterate_workloads[] = {
    {"iter2_1M", 1000000, iter2_mica, iter2_raw, 1.03, UNIT_RATIO},
    {"iter2_10k", 10000, iter2_mica, iter2_raw, 1.03, UNIT_RATIO},
    {"iter1_10k", 10000, iter1_mica, double_all_raw, 1.03, UNIT_RATIO},
    {"iter3_mixed_1M", 1000000, iter3_mixed_mica, iter3_mixed_raw, 1.03, UNIT_RATIO},
    {"frag_26", 26 * 100, frag_26_mica, double_all_raw, 1.2, UNIT_RATIO},
    {"frag_1024", 65536, frag_1024_mica, iter2_raw, 1.1, UNIT_RATIO},
    {0},
};
