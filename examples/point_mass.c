/* Point masses in a pool: a loop over packed arrays, and rows that are removed lazily while it runs. */
#include "mica/flow.h"
#include "mica/mica.h"

#include <stdio.h>

typedef struct Vec3 {
    float x, y, z;
} Vec3;
MICA_STRUCT(Vec3, x, y, z)

typedef struct PointMass {
    float mass;
    Vec3 position, velocity, acceleration;
} PointMass;

/* One array per field and direction, in one buffer. Destroying an entity does not touch its row: mica_pool_gc removes it
 * later. */
MICA_POOL_WITH(PointMass, (.split = true, .dying = MICA_DYING_LAZILY), mass, (position, Vec3), (velocity, Vec3),
               (acceleration, Vec3))

/* The arrays of the pool and the time step. */
typedef struct Motion {
    float *position[3], *velocity[3];
    const float *acceleration[3];
    float dt;
} Motion;

/* The compiler vectorizes this loop: four or eight masses at a time. */
static void integrate(uint32_t begin, uint32_t end, float *restrict position, float *restrict velocity,
                      const float *restrict acceleration, float dt)
{
    for (uint32_t i = begin; i < end; ++i) {
        velocity[i] += acceleration[i] * dt;
        position[i] += velocity[i] * dt;
    }
}

static void integrate_range(uint32_t begin, uint32_t end, void *context)
{
    const Motion *motion = context;
    for (int axis = 0; axis < 3; ++axis)
        integrate(begin, end, motion->position[axis], motion->velocity[axis], motion->acceleration[axis], motion->dt);
}

/* Simulates all rows, also those of destroyed entities, because testing them costs more. Jobs are whole slices, on all
 * workers. */
static void simulate_point_masses(mica_world *world, mica_pool *pool, float dt)
{
    Motion motion = {
        .position = {mica_pool_write_field(pool, PointMass, position.x),
                     mica_pool_write_field(pool, PointMass, position.y),
                     mica_pool_write_field(pool, PointMass, position.z)},
        .velocity = {mica_pool_write_field(pool, PointMass, velocity.x),
                     mica_pool_write_field(pool, PointMass, velocity.y),
                     mica_pool_write_field(pool, PointMass, velocity.z)},
        .acceleration = {mica_pool_read_field(pool, PointMass, acceleration.x),
                         mica_pool_read_field(pool, PointMass, acceleration.y),
                         mica_pool_read_field(pool, PointMass, acceleration.z)},
        .dt = dt,
    };
    mica_parallel_for(world, mica_pool_row_count(pool), 4 * MICA_SLICE_ROWS, integrate_range, &motion);
}

int main(void)
{
    enum { MASSES = 10000, FRAMES = 60 };
    static mica_entity masses[MASSES];
    mica_world *world = mica_world_create(NULL);
    for (uint32_t i = 0; i < MASSES; ++i)
        masses[i] = mica_create(world, MICA_WITH(PointMass, {.mass = 1,
                                                             .position = {(float)i, 100, 0},
                                                             .velocity = {1, 0, 0},
                                                             .acceleration = {0, -9.81f, 0}}));
    mica_pool *pool = mica_pool_of(world, PointMass);
    uint32_t buried = 0;
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        simulate_point_masses(world, pool, 1.0f / 60);
        for (uint32_t i = 0; i < 80; ++i)
            mica_destroy(world, masses[frame * 80 + i]);
        buried += mica_pool_gc(pool, 1000);
    }
    mica_instance last = mica_pool_find(pool, masses[MASSES - 1]);
    printf("%u of %u masses live\n", mica_pool_count(pool), (uint32_t)MASSES);
    printf("gc cleared %u rows of %u dead, looking at %llu\n", buried, (uint32_t)FRAMES * 80,
           (unsigned long long)mica_pool_get_stats(pool).probe_count);
    printf("the last one fell to %.2f\n", *mica_instance_read_field(pool, last, PointMass, position.y));
    mica_world_destroy(world);
}
