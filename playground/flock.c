/* Birds fly like those around them, which a grid finds. As examples/boids.c, with manners that change while they fly. */
#include "mica/index.h"
#include "mica/math.h"
#include "program.h"

typedef struct Position { float x, y; } Position;
typedef struct Velocity { float x, y; } Velocity;
typedef struct Steering { float x, y; } Steering;
typedef struct Manners { float sight, alignment, distance; } Manners;
MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Velocity, x, y)
MICA_COMPONENT(Steering, x, y)
MICA_SINGLETON(Manners, sight, alignment, distance)

enum { WIDTH = 200, HEIGHT = 110, NEIGHBOURS_MAX = 64, DIRECTIONS = 24 };
enum { BIRDS, SIGHT, ALIGNMENT, DISTANCE };

static const float speed = 14;
static mica_index *grid;
static mica_query *birds;

/* Towards the mean direction and the middle of the neighbours, and away from those that are too close. */
static Steering steer_among(const mica_world *world, const Manners *manners, const mica_neighbour *near, uint32_t count)
{
    Steering steering = {0, 0};
    float share = 1 / (float)(count ? count : 1);
    for (uint32_t k = 0; k < count; ++k) {
        const Velocity *other = mica_get(world, near[k].entity, Velocity);
        float x = (float)near[k].offset.x, y = (float)near[k].offset.y;
        float squared = (float)near[k].distance_squared + 0.01f;
        float away = squared < manners->distance * manners->distance ? 30 / squared : 0;
        steering.x += (other->x * manners->alignment + 1.5f * x) * share - x * away;
        steering.y += (other->y * manners->alignment + 1.5f * y) * share - y * away;
    }
    return steering;
}

/* The grid is current when the system starts: it is in the system's .uses. */
static void flock(mica_view *view)
{
    const Manners *manners = mica_singleton_get(view->world, Manners);
    Steering *steering = mica_view_write(view, Steering);
    mica_neighbour near[NEIGHBOURS_MAX];
    for (uint32_t i = 0; i < view->count; ++i) {
        uint32_t count = mica_grid_around(grid, view->entities[i], (double)manners->sight, near, NEIGHBOURS_MAX);
        count = count < NEIGHBOURS_MAX ? count : NEIGHBOURS_MAX;
        steering[i] = steer_among(view->world, manners, near, count);
    }
}

static float wrap(float at, float end)
{
    return at < 0 ? at + end : at >= end ? at - end : at;
}

static void fly(mica_view *view)
{
    Position *position = mica_view_write(view, Position);
    Velocity *velocity = mica_view_write(view, Velocity);
    const Steering *steering = mica_view_read(view, Steering);
    mica_random random = mica_random_of(view);
    for (uint32_t i = 0; i < view->count; ++i) {
        float x = velocity[i].x + (steering[i].x + mica_random_range(&random, -20, 20)) * view->dt;
        float y = velocity[i].y + (steering[i].y + mica_random_range(&random, -20, 20)) * view->dt;
        float scale = speed / (mica_sqrtf(x * x + y * y) + 0.001f); /* they fly at one speed */
        velocity[i] = (Velocity){x * scale, y * scale};
        position[i].x = wrap(position[i].x + velocity[i].x * view->dt, WIDTH);
        position[i].y = wrap(position[i].y + velocity[i].y * view->dt, HEIGHT);
    }
}

static void adjust_manners(mica_world *world, const float *values)
{
    Manners *manners = mica_singleton_write(world, Manners);
    if (manners)
        *manners = (Manners){values[SIGHT], values[ALIGNMENT], values[DISTANCE]};
}

static void create_birds(mica_world *world, uint32_t count)
{
    mica_random random = mica_random_make(1, 0);
    for (uint32_t i = 0; i < count; ++i) {
        float angle = mica_random_range(&random, 0, 6.2831853f);
        mica_create(
            world, MICA_WITH(Position, {mica_random_range(&random, 0, WIDTH), mica_random_range(&random, 0, HEIGHT)}),
            MICA_WITH(Velocity, {speed * mica_cosf(angle), speed * mica_sinf(angle)}), MICA_WITH(Steering, {0}));
    }
}

static bool start_flock(mica_world *world, const float *values)
{
    adjust_manners(world, values);
    create_birds(world, (uint32_t)values[BIRDS]);
    birds = mica_query_create(world, MICA_QUERY(MICA_READ(Position), MICA_READ(Velocity)));
    grid = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Position),
                                                      .fields = "x, y",
                                                      .cell_size = 5,
                                                      .maximum = {WIDTH, HEIGHT},
                                                      .torus = true,
                                                      .location = MICA_HERE});
    mica_system_add(
        world, MICA_SYSTEM_WITH(flock, (MICA_USES({.index = grid}, MICA_USE_READ(Velocity), MICA_USE_READ(Manners))),
                                MICA_WRITE(Steering)));
    mica_system_add(world, MICA_SYSTEM(fly, MICA_WRITE(Position), MICA_WRITE(Velocity), MICA_READ(Steering)));
    return birds && grid && mica_world_take_error(world) == MICA_OK;
}

/* A colour for each direction, from a circle through the three primary colours. */
static uint32_t color_of(const Velocity *velocity)
{
    static uint32_t colors[DIRECTIONS];
    for (int i = 0; i < DIRECTIONS && !colors[DIRECTIONS - 1]; ++i)
        for (int part = 0; part < 3; ++part) {
            float angle = 6.2831853f * ((float)i / DIRECTIONS - (float)part / 3);
            colors[i] = colors[i] << 8 | (uint32_t)(132 + 96 * mica_cosf(angle));
        }
    float turn = mica_atan2f(velocity->y, velocity->x) / 6.2831853f + 0.5f;
    return colors[(uint32_t)(turn * DIRECTIONS) % DIRECTIONS] << 8 | 0xff;
}

static void draw_flock(mica_world *world, picture *picture)
{
    (void)world;
    float x = 0, y = 0;
    uint32_t count = 0;
    for (mica_view view = mica_query_begin(birds); mica_view_next(&view); count += view.count) {
        const Position *position = mica_view_read(&view, Position);
        const Velocity *velocity = mica_view_read(&view, Velocity);
        for (uint32_t i = 0; i < view.count; ++i) {
            x += velocity[i].x;
            y += velocity[i].y;
            picture_add(picture, (mark){.x = position[i].x,
                                        .y = position[i].y,
                                        .across = velocity[i].x / 11,
                                        .down = velocity[i].y / 11,
                                        .size = 0.45f,
                                        .color = color_of(&velocity[i])});
        }
    }
    picture->numbers[0] = 100 * mica_sqrtf(x * x + y * y) / (speed * (float)(count ? count : 1));
}

const program flock_program = {
    .name = "flock",
    .shows =
        "Birds on a torus fly like their neighbours, and keep a distance. A grid index finds the neighbours; it is "
        "updated from what was written, right before the system that reads it.",
    .sources = "flock.c",
    .width = WIDTH,
    .height = HEIGHT,
    .frames_per_second = 30,
    .frame_seconds = 1.0f / 30,
    .parameters = {{"birds", 100, 3000, 100, 1600, true},
                   {"sight", 0, 10, 0.5f, 5, false},
                   {"alignment", 0, 10, 0.5f, 4, false},
                   {"distance", 0, 4, 0.25f, 1.5f, false}},
    .numbers = {{"order in %", 0x0e9f6eff}},
    .start = start_flock,
    .adjust = adjust_manners,
    .draw = draw_flock,
};
