/* Frames of systems: over many rows, over few, and over none; and what it costs to hand work to other threads. */
#define _POSIX_C_SOURCE 200809L /* for the clock, which strict C17 hides */
#include "bench.h"
#include "components.h"
#include "kernel.h"
#include "population.h"
#include "raw.h"

#include "mica/flow.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static const float seconds = 1.0f / 64;

static void fall_system(mica_view *view)
{
    fall(mica_view_write_at(view, 0), view->count, view->dt);
}

static void integrate_system(mica_view *view)
{
    integrate(mica_view_write_at(view, 0), mica_view_read_at(view, 1), view->count, view->dt);
}

static void drag_system(mica_view *view)
{
    drag(mica_view_write_at(view, 0), view->count);
}

/* Several threads work: the time that passes is what counts. */
static double wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static uint32_t frames_for(uint32_t n)
{
    return n > 4000000 ? 4 : 10000000 / n;
}

static mica_world *make_world(uint32_t workers)
{
    mica_world *world = mica_world_create(NULL);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    require(world && mica_flow_configure(world, &flow) == MICA_OK, "a world can't be made");
    return world;
}

static measurement frame_mica(uint32_t n, uint32_t workers)
{
    mica_world *world = make_world(workers);
    free(populate_mica(world, n, NULL));
    mica_system_add(world, MICA_SYSTEM(fall_system, MICA_WRITE(Velocity)));
    mica_system_add(world, MICA_SYSTEM(integrate_system, MICA_WRITE(Position), MICA_READ(Velocity)));
    mica_system_add(world, MICA_SYSTEM(drag_system, MICA_WRITE(Velocity)));
    double start = 0;
    for (uint32_t frame = 0; frame <= frames_for(n); ++frame) {
        if (frame == 1)
            start = wall_ns();
        require(mica_step(world, seconds) == MICA_OK, "mica_step failed");
    }
    double time = (wall_ns() - start) / n / frames_for(n);
    return finish_mica(world, time);
}

static measurement frame_1(uint32_t n)
{
    return frame_mica(n, 1);
}

static measurement frame_2(uint32_t n)
{
    return frame_mica(n, 2);
}

/* System after system over plain arrays. */
static measurement frame_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    free(populate_raw(&world, n, NULL));
    double start = 0;
    for (uint32_t frame = 0; frame <= frames_for(n); ++frame) {
        if (frame == 1)
            start = wall_ns();
        fall(world.velocity, n, seconds);
        integrate(world.position, world.velocity, n, seconds);
        drag(world.velocity, n);
    }
    double time = (wall_ns() - start) / n / frames_for(n);
    return finish_raw(&world, time);
}

enum { SMALL_SYSTEMS = 100, SMALL_FRAMES = 2000 };

static void small_system(mica_view *view)
{
    double_data(mica_view_write_at(view, 0), view->count);
}

static void small_columns_system(uint32_t count, void *const *columns)
{
    double_data(columns[0], count);
}

/* A hundred components, so that each system has rows of its own. */
static mica_component component_in(mica_world *world, uint32_t number, mica_storage storage)
{
    char name[16] = {storage == MICA_STORAGE_POOL ? 'P' : 'D', (char)('0' + number / 10), (char)('0' + number % 10)};
    static const mica_field field = {.name = "value", .element_bytes = 4, .count = 1, .kind = MICA_KIND_F32};
    mica_component component = mica_component_define(world, &(mica_type){.name = name,
                                                                         .fields = &field,
                                                                         .field_count = 1,
                                                                         .size_bytes = sizeof(Data),
                                                                         .alignment = _Alignof(Data),
                                                                         .storage = storage,
                                                                         .kind = MICA_KIND_STRUCT});
    require(component != 0, "a component can't be made");
    return component;
}

static mica_component component_of(mica_world *world, uint32_t number)
{
    return component_in(world, number, MICA_STORAGE_CHUNK);
}

typedef struct small_frames {
    bool populated;
    bool with_columns; /* systems get columns instead of views */
    mica_storage storage;
} small_frames;

static measurement small_frames_mica(small_frames shape)
{
    mica_world *world = make_world(1);
    for (uint32_t i = 0; i < SMALL_SYSTEMS; ++i) {
        char name[16] = {'s', (char)('0' + i / 10), (char)('0' + i % 10)};
        mica_component component = component_in(world, i, shape.storage);
        Data data = {0};
        if (shape.populated)
            mica_create_id(world, &(mica_value){component, sizeof data, &data}, 1);
        mica_term term = {.component = component, .access = MICA_ACCESS_WRITE};
        mica_system_def def = {.name = name, .terms = &term, .term_count = 1};
        if (shape.with_columns)
            def.columns = small_columns_system;
        else
            def.view = small_system;
        require(mica_system_add(world, &def).id != 0, "a system can't be made");
    }
    mica_step(world, seconds);
    double start = now_ns();
    for (uint32_t frame = 0; frame < SMALL_FRAMES; ++frame)
        mica_step(world, seconds);
    double time = (now_ns() - start) / SMALL_FRAMES / SMALL_SYSTEMS;
    mica_world_destroy(world);
    return (measurement){time, 0};
}

static void idle(Data *data, uint32_t count)
{
    if (count)
        double_data(data, count);
}

typedef void (*raw_system_fn)(Data *data, uint32_t count);

static measurement small_frames_raw(uint32_t count)
{
    /* Through volatile pointers, or the compiler would see that they are all the same. */
    static raw_system_fn volatile systems[SMALL_SYSTEMS];
    static Data data[SMALL_SYSTEMS][16];
    for (uint32_t i = 0; i < SMALL_SYSTEMS; ++i)
        systems[i] = count ? double_data : idle;
    double start = now_ns();
    for (uint32_t frame = 0; frame < SMALL_FRAMES; ++frame)
        for (uint32_t i = 0; i < SMALL_SYSTEMS; ++i)
            systems[i](data[i], count);
    return (measurement){(now_ns() - start) / SMALL_FRAMES / SMALL_SYSTEMS, 0};
}

static measurement empty_frame_mica(uint32_t n)
{
    (void)n;
    return small_frames_mica((small_frames){.populated = false});
}

static measurement empty_frame_raw(uint32_t n)
{
    (void)n;
    return small_frames_raw(0);
}

static measurement one_each_mica(uint32_t n)
{
    (void)n;
    return small_frames_mica((small_frames){.populated = true});
}

static measurement one_each_columns_mica(uint32_t n)
{
    (void)n;
    return small_frames_mica((small_frames){.populated = true, .with_columns = true});
}

static measurement one_each_pools_mica(uint32_t n)
{
    (void)n;
    return small_frames_mica((small_frames){.populated = true, .storage = MICA_STORAGE_POOL});
}

static measurement one_each_raw(uint32_t n)
{
    (void)n;
    return small_frames_raw(1);
}

enum { FLUSH_KINDS = 8, FLUSHES = 10 };

/* Adds a component to entities of eight archetypes and removes it again. Only flushes are timed. */
static measurement flush_by(uint32_t n, uint32_t workers)
{
    mica_world *world = make_world(workers);
    mica_entity *entities = malloc(n * sizeof *entities);
    mica_component kinds[FLUSH_KINDS], extra = component_of(world, 99);
    for (uint32_t i = 0; i < FLUSH_KINDS; ++i)
        kinds[i] = component_of(world, i);
    for (uint32_t i = 0; i < n; ++i)
        entities[i] = mica_create_id(world, &(mica_value){kinds[i % FLUSH_KINDS], 0, NULL}, 1);
    double time = 0;
    for (uint32_t flush = 0; flush <= FLUSHES; ++flush) {
        mica_defer(world);
        for (uint32_t i = 0; i < n; ++i)
            if (flush % 2)
                mica_remove_id(world, entities[i], extra);
            else
                mica_add_id(world, entities[i], extra);
        double start = wall_ns();
        require(mica_flush(world) == MICA_OK, "mica_flush failed");
        time += flush ? wall_ns() - start : 0;
    }
    free(entities);
    return finish_mica(world, time / n / FLUSHES);
}

static measurement flush_1(uint32_t n)
{
    return flush_by(n, 1);
}

static measurement flush_2(uint32_t n)
{
    return flush_by(n, 2);
}

static void tiny_job(uint32_t begin, uint32_t end, void *context)
{
    for (uint32_t i = begin; i < end; ++i)
        ++((uint32_t *)context)[i];
}

static measurement parallel_for_mica(uint32_t n)
{
    mica_world *world = make_world(2);
    uint32_t *numbers = calloc(n, sizeof *numbers);
    enum { ROUNDS = 200 };
    double start = 0;
    for (uint32_t round = 0; round <= ROUNDS; ++round) {
        if (round == 1)
            start = wall_ns();
        mica_parallel_for(world, n, 1, tiny_job, numbers);
    }
    double time = (wall_ns() - start) / n / ROUNDS;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; ++i)
        sum += numbers[i];
    free(numbers);
    mica_world_destroy(world);
    return (measurement){time, sum};
}

static measurement parallel_for_raw(uint32_t n)
{
    uint32_t *numbers = calloc(n, sizeof *numbers);
    static mica_range_fn volatile job = tiny_job;
    enum { ROUNDS = 200 };
    double start = 0;
    for (uint32_t round = 0; round <= ROUNDS; ++round) {
        if (round == 1)
            start = wall_ns();
        for (uint32_t i = 0; i < n; ++i)
            job(i, i + 1, numbers);
    }
    double time = (wall_ns() - start) / n / ROUNDS;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; ++i)
        sum += numbers[i];
    free(numbers);
    return (measurement){time, sum};
}

/* Piece 0 waits for piece 1, which another thread must run: the time until another worker starts on submitted work. */
static void meet(uint32_t begin, uint32_t end, void *context)
{
    atomic_uint *met = context;
    (void)end;
    atomic_fetch_add(met, 1);
    for (double until = wall_ns() + 5e6; begin == 0 && atomic_load(met) < 2 && wall_ns() < until;) {
    }
}

/* After a pause in which workers fall asleep (`n` microseconds), how long until one has woken up and works. */
static measurement wake_mica(uint32_t n)
{
    mica_world *world = make_world(2);
    enum { ROUNDS = 50 };
    double total = 0;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        struct timespec pause = {0, (long)n * 1000};
        nanosleep(&pause, NULL);
        atomic_uint met = 0;
        double start = wall_ns();
        mica_parallel_for(world, 2, 1, meet, &met);
        total += wall_ns() - start;
    }
    mica_world_destroy(world);
    return (measurement){total / ROUNDS, 0};
}

/* The least that a sleeping thread costs: the clock ticks for as long as a sleep of nothing takes. */
static measurement wake_raw(uint32_t n)
{
    (void)n;
    enum { ROUNDS = 50 };
    double start = wall_ns();
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        struct timespec pause = {0, 1};
        nanosleep(&pause, NULL);
    }
    return (measurement){(wall_ns() - start) / ROUNDS, 0};
}

const workload flow_workloads[] = {
    {"frame_3sys_1M", 1000000, frame_1, frame_raw, 1.03, UNIT_RATIO},
    {"frame_3sys_8M", 8000000, frame_1, frame_raw, 0.75, UNIT_RATIO},
    {"frame_3sys_1M_2_to_1", 1000000, frame_2, frame_1, 0.55, UNIT_RATIO},
    {"empty_frame_100", SMALL_SYSTEMS, empty_frame_mica, empty_frame_raw, 2, UNIT_RATIO},
    {"one_each_frame_100", SMALL_SYSTEMS, one_each_mica, one_each_raw, 2.5, UNIT_RATIO},
    {"one_each_columns_100", SMALL_SYSTEMS, one_each_columns_mica, one_each_raw, 2.5, UNIT_RATIO},
    {"one_each_pools_100", SMALL_SYSTEMS, one_each_pools_mica, one_each_raw, 2.5, UNIT_RATIO},
    {"flush_2_to_1", 200000, flush_2, flush_1, 1, UNIT_RATIO},
    {"parallel_for_1000", 1000, parallel_for_mica, parallel_for_raw, 20, UNIT_RATIO},
    {"wake_worker", 500, wake_mica, wake_raw, 1, UNIT_RATIO},
    {0},
};
