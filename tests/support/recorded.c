#define _POSIX_C_SOURCE 200809L
#include "recorded.h"

#include "components.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THINGS = 700, STRAY_NUMBER = 600 };

char recorded_path[64], recorded_other_path[64];
uint32_t recorded_stray_tick;

void recorded_begin(void)
{
    snprintf(recorded_path, sizeof recorded_path, "/tmp/mica_recorded.%d.rec", (int)getpid());
    snprintf(recorded_other_path, sizeof recorded_other_path, "/tmp/mica_recorded_other.%d.rec", (int)getpid());
}

void recorded_end(void)
{
    unlink(recorded_path);
    unlink(recorded_other_path);
}

static void move(mica_view *view)
{
    Position *position = mica_view_write(view, Position);
    const Velocity *velocity = mica_view_read(view, Velocity);
    for (uint32_t i = 0; i < view->count; ++i)
        position[i].x += velocity[i].x * view->dt;
}

static void age(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i) {
        if (recorded_stray_tick && view->frame->tick + 1 == recorded_stray_tick && number[i].value == STRAY_NUMBER)
            mica_view_write(view, Velocity)[i].y = 1;
        if (number[i].value % 97 == view->frame->tick)
            mica_destroy(view->world, view->entities[i]);
    }
}

static void rest(mica_view *view)
{
    (void)view;
}

void recorded_input(mica_world *world, const void *bytes, size_t byte_count, void *context)
{
    (void)context;
    uint32_t count;
    ck_assert_uint_eq(byte_count, sizeof count);
    memcpy(&count, bytes, sizeof count);
    for (uint32_t i = 0; i < count; ++i)
        mica_create(world, MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Velocity, {1, 0, 0}), MICA_WITH(Number, {i}));
}

mica_world *recorded_world(reports *heard, mica_world_def def, uint32_t workers)
{
    mica_world *world = open_world_with(heard, def);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    mica_flow_configure(world, &flow);
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Position), MICA_READ(Velocity)));
    mica_system_add(world, MICA_SYSTEM(age, MICA_WRITE(Number), MICA_WRITE(Velocity)));
    mica_system_add(world, MICA_SYSTEM(rest, MICA_READ(Number)));
    for (uint32_t i = 0; i < THINGS; ++i)
        mica_create(world, MICA_WITH(Position, {0}), MICA_WITH(Velocity, {(float)i, 0, 0}), MICA_WITH(Number, {i}));
    ck_assert_int_eq(mica_input_handle(world, recorded_input, NULL), MICA_OK);
    return world;
}

static void run(mica_world *world)
{
    for (uint32_t tick = 1; tick <= RECORDED_TICKS; ++tick) {
        for (uint32_t count = 1; tick % 3 == 0 && count < 3; ++count)
            ck_assert_int_eq(mica_input(world, &count, sizeof count), MICA_OK);
        ck_assert_int_eq(mica_step(world, tick % 2 ? 0.5f : 0.25f), MICA_OK);
    }
}

void recorded_make(const char *to, mica_recording_def def)
{
    reports heard;
    mica_world *world = recorded_world(&heard, mica_world_def_default(), 2);
    ck_assert_int_eq(mica_recording_begin(world, to, &def), MICA_OK);
    run(world);
    ck_assert_int_eq(mica_recording_end(world), MICA_OK);
    close_world(world, &heard);
}

mica_recording *recorded_load(const char *from)
{
    mica_recording_error error = {0};
    mica_recording *recording = mica_recording_load(from, &error);
    ck_assert_msg(recording != NULL, "%s", error.text);
    return recording;
}

bool recorded_replay(const mica_recording *recording, uint32_t workers, mica_difference *out)
{
    reports heard;
    mica_world *world = recorded_world(&heard, mica_world_def_default(), workers);
    bool same = mica_replay(world, recording, out);
    close_world(world, &heard);
    return same;
}

const mica_recording_def recorded_forms[RECORDED_FORMS] = {
    {MICA_RECORDING_WORLD, false},    {MICA_RECORDING_WORLD, true},     {MICA_RECORDING_SLICES, false},
    {MICA_RECORDING_SLICES, true},    {MICA_RECORDING_ENTITIES, false}, {MICA_RECORDING_ENTITIES, true},
};
