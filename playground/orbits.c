/* A tree of transforms: moons orbit planets, which orbit a sun. As examples/solar_system.c, with as many as you like. */
#include "mica/math.h"
#include "mica/transform.h"
#include "program.h"

typedef struct Orbit { float turns_per_second, turns; } Orbit;
typedef struct Body { float distance; int32_t level; } Body;
typedef struct Pace { float factor, reach; } Pace;
MICA_COMPONENT(Orbit, turns_per_second, turns)
MICA_COMPONENT(Body, distance, level)
MICA_SINGLETON(Pace, factor, reach)

enum { WIDTH = 200, HEIGHT = 110 };
enum { LEVELS, CHILDREN, PACE, REACH };

static const uint32_t level_colors[] = {0xe3a008ff, 0xf2682aff, 0x3f83f8ff, 0x0e9f6eff, 0x9061f9ff, 0xe74694ff};
static const float planet_distance = 74;
static mica_query *bodies;
static mica_entity sun;

/* A body orbits its parent: an entity without a picture rotates and carries it. */
static void add_bodies(mica_world *world, mica_entity around, int level, int levels, int count, mica_random *random)
{
    float distance = planet_distance;
    for (int i = 0; i < level; ++i)
        distance *= 0.42f;
    for (int i = 0; i < count && level <= levels; ++i) {
        float near = distance * (0.45f + 0.55f * (float)(i + 1) / (float)count);
        float turns = mica_random_range(random, 0.03f, 0.12f) * (float)(level * level) * (i % 2 ? -1 : 1);
        mica_entity arm =
            mica_create_child(world, around, MICA_WITH(mica_local, MICA_LOCAL_AT(0, 0, 0)),
                              MICA_WITH(mica_global_matrix), MICA_WITH(Orbit, {turns, mica_random_unit(random)}));
        mica_entity body = mica_create_child(world, arm, MICA_WITH(mica_local, MICA_LOCAL_AT(near, 0, 0)),
                                             MICA_WITH(mica_global_matrix), MICA_WITH(Body, {near, level}));
        add_bodies(world, body, level + 1, levels, count, random);
    }
}

static void turn(mica_view *view)
{
    const Pace *pace = mica_singleton_get(view->world, Pace);
    mica_local *local = mica_view_write(view, mica_local);
    Orbit *orbit = mica_view_write(view, Orbit);
    for (uint32_t i = 0; i < view->count; ++i) {
        orbit[i].turns += orbit[i].turns_per_second * pace->factor * view->dt;
        orbit[i].turns -= (float)(int32_t)orbit[i].turns;
        float half = orbit[i].turns * 3.14159265f; /* of the angle, for the quaternion */
        local[i].rotation[2] = mica_sinf(half);
        local[i].rotation[3] = mica_cosf(half);
    }
}

static void stretch(mica_view *view)
{
    const Pace *pace = mica_singleton_get(view->world, Pace);
    mica_local *local = mica_view_write(view, mica_local);
    const Body *body = mica_view_read(view, Body);
    for (uint32_t i = 0; i < view->count; ++i)
        if (body[i].level > 0)
            local[i].position[0] = body[i].distance * (body[i].level == 1 ? 1 : pace->reach);
}

static void adjust_pace(mica_world *world, const float *values)
{
    Pace *pace = mica_singleton_write(world, Pace);
    if (pace)
        *pace = (Pace){values[PACE], values[REACH]};
}

static bool start_orbits(mica_world *world, const float *values)
{
    adjust_pace(world, values);
    mica_random random = mica_random_make(1, 0);
    sun = mica_create(world, MICA_WITH(mica_local, MICA_LOCAL_AT(WIDTH / 2, HEIGHT / 2, 0)),
                      MICA_WITH(mica_global_matrix), MICA_WITH(Body, {0, 0}));
    add_bodies(world, sun, 1, (int)values[LEVELS], (int)values[CHILDREN], &random);
    mica_system_add(
        world, MICA_SYSTEM_WITH(turn, (MICA_USES(MICA_USE_READ(Pace))), MICA_WRITE(mica_local), MICA_WRITE(Orbit)));
    mica_system_add(
        world, MICA_SYSTEM_WITH(stretch, (MICA_USES(MICA_USE_READ(Pace))), MICA_WRITE(mica_local), MICA_READ(Body)));
    mica_transform_add_system(world, MICA_PHASE_END);
    bodies = mica_query_create(world, MICA_QUERY(MICA_READ(Body), MICA_READ(mica_global_matrix)));
    return bodies && mica_transform_update(world) == MICA_OK && mica_world_take_error(world) == MICA_OK;
}

/* A line from a body to the one that it orbits, which is the parent of its parent. */
static void draw_line(mica_world *world, picture *picture, mica_entity entity, float x, float y)
{
    mica_entity center = mica_parent(world, mica_parent(world, entity));
    const mica_global_matrix *at = mica_get(world, center, mica_global_matrix);
    picture_add(picture, (mark){x, y, at->x[3] - x, at->y[3] - y, 0.18f, 0x8a94a6a0});
}

static void draw_orbits(mica_world *world, picture *picture)
{
    float farthest = 0, sum = 0;
    uint32_t count = 0;
    for (int is_body = 0; is_body < 2; ++is_body) /* lines lie below bodies */
        for (mica_view view = mica_query_begin(bodies); mica_view_next(&view);) {
            const Body *body = mica_view_read(&view, Body);
            const mica_global_matrix *matrix = mica_view_read(&view, mica_global_matrix);
            for (uint32_t i = 0; i < view.count; ++i) {
                float x = matrix[i].x[3], y = matrix[i].y[3], across = x - WIDTH / 2, down = y - HEIGHT / 2;
                float distance = mica_sqrtf(across * across + down * down);
                farthest = distance > farthest ? distance : farthest;
                if (is_body)
                    picture_add(picture, (mark){.x = x,
                                                .y = y,
                                                .size = 4.5f / (float)(body[i].level + 1),
                                                .color = level_colors[body[i].level]});
                else if (body[i].level)
                    draw_line(world, picture, view.entities[i], x, y);
                sum += (float)is_body * distance;
                count += (uint32_t)is_body;
            }
        }
    picture->numbers[0] = sum / (float)(count ? count : 1);
    picture->numbers[1] = farthest;
}

const program orbits_program = {
    .name = "orbits",
    .shows =
        "Moons orbit planets, which orbit a sun. Each body has a position relative to its parent in the hierarchy; the "
        "transform system computes where it is.",
    .sources = "orbits.c",
    .width = WIDTH,
    .height = HEIGHT,
    .frames_per_second = 30,
    .frame_seconds = 1.0f / 30,
    .parameters = {{"levels", 1, 5, 1, 4, true},
                   {"children", 1, 6, 1, 4, true},
                   {"pace", -4, 4, 0.25f, 1, false},
                   {"reach", 0.2f, 1.4f, 0.1f, 1, false}},
    .numbers = {{"mean distance", 0x3f83f8ff}, {"farthest", 0x9061f9ff}},
    .start = start_orbits,
    .adjust = adjust_pace,
    .draw = draw_orbits,
};
