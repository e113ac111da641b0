/* A field of 100 000 ships, rocks and beacons, 600 frames long: demo [entities] [frames]
 * What it prints is the same on every machine; how long it took goes to standard error. */
#include "mica/mica.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Position { float x, y; } Position;
typedef struct Velocity { float x, y; } Velocity;
typedef struct Engine { float thrust; uint32_t fuel; } Engine;
typedef struct Lifetime { uint32_t frames; } Lifetime;
typedef struct Signal { uint32_t received; } Signal;

MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Velocity, x, y)
MICA_COMPONENT_WITH(Engine, (.toggle = true), thrust, fuel)
MICA_COMPONENT(Lifetime, frames)
MICA_COMPONENT(Signal, received)
MICA_TAG(Rock)

static const float field_size = 1024;
static const float frame_seconds = 1.0f / 64;

typedef struct simulation {
    mica_world *world;
    mica_commands *commands;
    mica_query *moving, *driven, *idle, *mortal, *beacons;
    uint32_t random; /* xorshift: the same numbers everywhere */
    uint64_t died;
} simulation;

static uint32_t random_below(simulation *field, uint32_t limit)
{
    uint32_t x = field->random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    field->random = x;
    return x % limit;
}

/* C leaves open which of two initialisers is evaluated first: random numbers are drawn one statement at a time. */
static Position random_position(simulation *field)
{
    float x = (float)random_below(field, 1024);
    return (Position){x, (float)random_below(field, 1024)};
}

/* Made all at once, then filled in column by column, through a query made for the occasion. */
static void create_rocks(simulation *field, uint32_t count)
{
    const mica_value rock[] = {MICA_WITH(Position), MICA_WITH(Velocity), MICA_WITH(Rock)};
    mica_create_many(field->world, count, rock, 3, NULL);

    mica_query *rocks =
        mica_query_create(field->world, MICA_QUERY(MICA_WRITE(Position), MICA_WRITE(Velocity), MICA_HAS(Rock)));
    for (mica_view view = mica_query_begin(rocks); mica_view_next(&view);) {
        Position *position = mica_write(&view, Position);
        Velocity *velocity = mica_write(&view, Velocity);
        for (uint32_t i = 0; i < view.count; ++i) {
            position[i] = random_position(field);
            velocity[i].x = (float)random_below(field, 128) - 64;
            velocity[i].y = (float)random_below(field, 128) - 64;
        }
    }
    mica_query_destroy(rocks);
}

/* Half of the field is rocks; the rest is a few beacons, and ships, which wear out. */
static void populate(simulation *field, uint32_t entity_count)
{
    uint32_t rock_count = entity_count / 2, beacon_count = entity_count / 100;
    for (uint32_t i = 0; i < beacon_count; ++i) {
        Position place = random_position(field);
        mica_create(field->world, MICA_WITH(Position, {place.x, place.y}), MICA_WITH(Signal));
    }
    for (uint32_t i = rock_count + beacon_count; i < entity_count; ++i) {
        Position place = random_position(field);
        uint32_t fuel = random_below(field, 100), frames = 1 + random_below(field, 1000);
        mica_create(field->world, MICA_WITH(Position, {place.x, place.y}), MICA_WITH(Velocity),
                    MICA_WITH(Engine, {8, fuel}), MICA_WITH(Lifetime, {frames}));
    }
    create_rocks(field, rock_count);
}

static float wrapped(float coordinate)
{
    return coordinate < 0 ? coordinate + field_size : coordinate >= field_size ? coordinate - field_size : coordinate;
}

static void move(simulation *field)
{
    for (mica_view view = mica_query_begin(field->moving); mica_view_next(&view);) {
        Position *position = mica_write(&view, Position);
        const Velocity *velocity = mica_read(&view, Velocity);
        for (uint32_t i = 0; i < view.count; ++i) {
            position[i].x = wrapped(position[i].x + velocity[i].x * frame_seconds);
            position[i].y = wrapped(position[i].y + velocity[i].y * frame_seconds);
        }
    }
}

/* An engine that has burnt its fuel is switched off; it stays where it is, and the query passes over it. */
static void drive(simulation *field)
{
    for (mica_view view = mica_query_begin(field->driven); mica_view_next(&view);) {
        Velocity *velocity = mica_write(&view, Velocity);
        Engine *engine = mica_write(&view, Engine);
        for (uint32_t i = 0; i < view.count; ++i) {
            velocity[i].x += engine[i].thrust * frame_seconds;
            if (engine[i].fuel > 0)
                --engine[i].fuel;
            else
                mica_command_disable(field->commands, view.entities[i], Engine);
        }
    }
}

static void replace(simulation *field, mica_entity ship, Position wreck)
{
    Position place = random_position(field);
    mica_command_destroy(field->commands, ship);
    mica_command_create(field->commands, MICA_WITH(Position, {place.x, place.y}), MICA_WITH(Velocity),
                        MICA_WITH(Engine, {8, 100}), MICA_WITH(Lifetime, {1000}));
    if (random_below(field, 8) == 0)
        mica_command_create(field->commands, MICA_WITH(Position, {wreck.x, wreck.y}), MICA_WITH(Velocity),
                            MICA_WITH(Rock));
    ++field->died;
}

/* Ships die of age; each is replaced by a new one, and now and then leaves a rock behind. */
static void age(simulation *field)
{
    for (mica_view view = mica_query_begin(field->mortal); mica_view_next(&view);) {
        Lifetime *lifetime = mica_write(&view, Lifetime);
        const Position *position = mica_read(&view, Position);
        for (uint32_t i = 0; i < view.count; ++i)
            if (--lifetime[i].frames == 0)
                replace(field, view.entities[i], position[i]);
    }
}

static void listen(simulation *field)
{
    uint32_t silent = (uint32_t)mica_query_count(field->idle);
    for (mica_view view = mica_query_begin(field->beacons); mica_view_next(&view);) {
        Signal *signal = mica_write(&view, Signal);
        for (uint32_t i = 0; i < view.count; ++i)
            signal[i].received += silent;
    }
}

static double seconds_now(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    uint32_t entity_count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100000;
    uint32_t frame_count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 600;

    mica_world *world = mica_world_create(NULL);
    simulation field = {.world = world, .random = 2463534242u, .commands = mica_commands_create(world)};
    field.moving = mica_query_create(world, MICA_QUERY(MICA_WRITE(Position), MICA_READ(Velocity)));
    field.driven = mica_query_create(world, MICA_QUERY(MICA_WRITE(Velocity), MICA_WRITE(Engine)));
    field.idle = mica_query_create(world, MICA_QUERY(MICA_DISABLED(Engine)));
    field.mortal = mica_query_create(world, MICA_QUERY(MICA_WRITE(Lifetime), MICA_READ(Position)));
    field.beacons = mica_query_create(world, MICA_QUERY(MICA_WRITE(Signal), MICA_WITHOUT(Velocity)));

    printf("a field of %" PRIu32 " ships, rocks and beacons for %" PRIu32 " frames\n", entity_count, frame_count);
    double start = seconds_now();
    populate(&field, entity_count);
    double running = seconds_now();
    for (uint32_t frame = 0; frame < frame_count; ++frame) {
        move(&field);
        drive(&field);
        age(&field);
        listen(&field);
        mica_flush(world);
    }
    double seconds = seconds_now() - running;

    mica_world_stats stats = mica_world_get_stats(world);
    printf("%" PRIu64 " ships died and were replaced, %" PRIu64 " engines are off\n", field.died,
           mica_query_count(field.idle));
    printf("%" PRIu64 " entities in %" PRIu32 " archetypes\n", stats.entity_count, stats.archetype_count);
    printf("world hash %016" PRIx64 "\n", mica_world_hash(world));
    fprintf(stderr, "made in %.1f ms, then %.3f ms per frame: %.2f ns per entity and frame, %.1f MB\n",
            (running - start) * 1e3, seconds * 1e3 / frame_count, seconds * 1e9 / frame_count / entity_count,
            (double)stats.memory_bytes / 1e6);
    bool sound = mica_world_validate(world) == MICA_OK && mica_world_take_error(world) == MICA_OK;
    mica_world_destroy(world);
    return sound ? EXIT_SUCCESS : EXIT_FAILURE;
}
