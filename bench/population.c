#include "population.h"

#include "components.h"
#include "kernel.h"

#include <stdlib.h>

mica_entity *populate_mica(mica_world *world, uint32_t n, const uint32_t *order)
{
    mica_entity *made = allocate_or_exit(n * sizeof *made);
    for (uint32_t i = 0; i < n; ++i) {
        Position position = position_of(i);
        Velocity velocity = velocity_of(i);
        made[i] = mica_create(world, MICA_WITH(Position, {position.x, position.y, position.z}),
                              MICA_WITH(Velocity, {velocity.x, velocity.y, velocity.z}));
        require(!mica_is_nil(made[i]), "mica_create failed");
    }
    if (order == NULL)
        return made;
    mica_entity *permuted = allocate_or_exit(n * sizeof *permuted);
    for (uint32_t i = 0; i < n; ++i)
        permuted[i] = made[order[i]];
    free(made);
    return permuted;
}

raw_id *populate_raw(raw_world *world, uint32_t n, const uint32_t *order)
{
    raw_id *made = allocate_or_exit(n * sizeof *made);
    for (uint32_t i = 0; i < n; ++i) {
        uint32_t row = raw_create(world);
        require(row != RAW_NONE, "raw_create failed");
        world->position[row] = position_of(i);
        world->velocity[row] = velocity_of(i);
        made[i] = world->owner[row];
    }
    if (order == NULL)
        return made;
    raw_id *permuted = allocate_or_exit(n * sizeof *permuted);
    for (uint32_t i = 0; i < n; ++i)
        permuted[i] = made[order[i]];
    free(made);
    return permuted;
}

measurement finish_mica(mica_world *world, double time)
{
    mica_query *moving = mica_query_create(world, MICA_QUERY(MICA_READ(Position), MICA_READ(Velocity)));
    require(moving != NULL, "mica_query_create failed");
    uint64_t sum = 0;
    for (mica_view view = mica_query_begin(moving); mica_view_next(&view);)
        sum += sum_of_motion(mica_view_read(&view, Position), mica_view_read(&view, Velocity), view.count);
    mica_world_destroy(world);
    return (measurement){time, sum};
}

measurement finish_raw(raw_world *world, double time)
{
    uint64_t sum = sum_of_motion(world->position, world->velocity, world->count);
    raw_world_free(world);
    return (measurement){time, sum};
}
