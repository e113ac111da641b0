/* Systems that mark rows of tracked components, on any number of workers, against an array of the last writes. */
#include "support/test.h"

#include "mica/flow.h"
#include "mica/hash.h"
#include "mica/snapshot.h"

typedef struct Number {
    uint32_t value;
} Number;
MICA_COMPONENT(Number, value)
typedef struct Vigour {
    uint32_t value, writes;
} Vigour;
MICA_COMPONENT_WITH(Vigour, (.track_changed = true), value, writes)
typedef struct Poison {
    uint32_t value, writes;
} Poison;
MICA_POOL_WITH(Poison, (.track_changed = true), value, writes)
MICA_TAG(Moved)

enum { UNITS = 6000, FRAMES = 40, WORLDS = 5 };

/* The frame in which each unit was last written, and what systems saw. */
typedef struct unit {
    uint32_t vigour, poison;
} unit;
static unit units[UNITS];
static uint8_t seen[2][UNITS];
static uint32_t frame_number;

/* Which units a system writes in a frame: follows from numbers alone. */
static bool is_written(uint32_t number, uint32_t salt)
{
    uint64_t random = number / 3 * 7919ull + frame_number * 104729ull + salt * 31ull;
    return random % 97 == 0;
}

static void write_vigour(mica_view *view)
{
    const Number *numbers = mica_view_read(view, Number);
    Vigour *values = mica_view_write_unmarked(view, Vigour);
    for (uint32_t i = 0; i < view->count; ++i)
        if (is_written(numbers[i].value, 1)) {
            ++values[i].writes;
            mica_view_mark(view, Vigour, i);
        }
}

static void write_poison(mica_view *view)
{
    const Number *numbers = mica_view_read(view, Number);
    Poison *values = mica_view_write_unmarked(view, Poison);
    for (uint32_t i = 0; i < view->count; ++i)
        if (is_written(numbers[i].value, 2)) {
            ++values[i].writes;
            mica_view_mark(view, Poison, i);
        }
}

/* Writes single values of the rows that it reads, with recorded changes among them. */
static void write_single(mica_view *view)
{
    const Number *numbers = mica_view_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i) {
        if (is_written(numbers[i].value, 3))
            mica_set(view->world, view->entities[i], Vigour, {numbers[i].value, 1});
        if (is_written(numbers[i].value, 4))
            mica_add(view->world, view->entities[i], Moved);
        if (is_written(numbers[i].value, 5))
            mica_remove(view->world, view->entities[i], Moved);
    }
}

static void see(mica_view *view, uint8_t *out)
{
    const Number *numbers = mica_view_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        ++out[numbers[i].value];
}

static void see_vigour(mica_view *view)
{
    see(view, seen[0]);
}

static void see_poison(mica_view *view)
{
    see(view, seen[1]);
}

static mica_world *open_units(uint32_t workers)
{
    mica_world *world = mica_world_create(NULL);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    mica_flow_configure(world, &flow);
    for (uint32_t i = 0; i < UNITS; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Vigour, {i, 0}));
        if (i % 2 == 0)
            mica_set(world, entity, Poison, {i, 0});
        units[i] = (unit){1, 1};
    }
    mica_system_add(world, MICA_SYSTEM_WITH(write_vigour, (.parallel = MICA_PARALLEL_EVERY, .parallel_rows = 64),
                                            MICA_READ(Number), MICA_WRITE(Vigour)));
    mica_system_add(world, MICA_SYSTEM_WITH(write_poison, (.parallel = MICA_PARALLEL_EVERY, .parallel_rows = 64),
                                            MICA_READ(Number), MICA_WRITE(Poison)));
    mica_system_add(world, MICA_SYSTEM_WITH(see_vigour, (.parallel = MICA_PARALLEL_EVERY, .parallel_rows = 64),
                                            MICA_READ(Number), MICA_CHANGED(Vigour)));
    mica_system_add(world, MICA_SYSTEM(see_poison, MICA_READ(Number), MICA_CHANGED(Poison)));
    mica_system_add(world, MICA_SYSTEM_WITH(write_single, (.phase = MICA_PHASE_END), MICA_READ(Number)));
    return world;
}

/* What the systems of a frame write, in their order; `is_late` for what is flushed after the others looked. */
static void model_frame(bool is_late)
{
    for (uint32_t i = 0; i < UNITS; ++i) {
        if (!is_late && is_written(i, 1))
            units[i].vigour = frame_number;
        if (!is_late && is_written(i, 2))
            units[i].poison = frame_number;
        if (is_late && is_written(i, 3))
            units[i].vigour = frame_number + 1;
    }
}

static void step(mica_world *world, uint32_t workers)
{
    ++frame_number;
    memset(seen, 0, sizeof seen);
    model_frame(false);
    mica_step(world, 1.0 / 60);
    for (uint32_t i = 0; i < UNITS; ++i) {
        bool vigour = units[i].vigour == frame_number, poison = i % 2 == 0 && units[i].poison == frame_number;
        ck_assert_msg(seen[0][i] == vigour, "frame %u, %u workers: unit %u", frame_number, workers, i);
        ck_assert_msg(seen[1][i] == poison, "frame %u, %u workers: poison of unit %u", frame_number, workers, i);
    }
    model_frame(true);
}

START_TEST(systems_see_exactly_the_rows_that_were_written)
{
    const uint32_t workers[WORLDS] = {0, 1, 2, 4, 8};
    uint64_t first = 0;
    for (uint32_t i = 0; i < WORLDS; ++i) {
        frame_number = 0;
        mica_world *world = open_units(workers[i]);
        mica_snapshot snapshot = {0};
        unit saved[UNITS];
        uint32_t saved_frame = 0;
        for (uint32_t frame = 0; frame < FRAMES; ++frame) {
            if (frame == 10) {
                snapshot = mica_snapshot_take(world);
                memcpy(saved, units, sizeof saved);
                saved_frame = frame_number;
            }
            if (frame == 25) {
                ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
                memcpy(units, saved, sizeof saved);
                frame_number = saved_frame;
            }
            step(world, workers[i]);
        }
        ck_assert_int_eq(mica_world_validate(world), MICA_OK);
        uint64_t hash = mica_world_hash(world);
        first = i ? first : hash;
        ck_assert_msg(hash == first, "%u workers end with the same world", workers[i]);
        mica_world_destroy(world);
    }
}
END_TEST

TEST_SUITE(flow_changed_rows, systems_see_exactly_the_rows_that_were_written)
