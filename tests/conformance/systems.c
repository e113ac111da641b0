/* Frames, phases and work over several threads; statistics and traces. */
#include "conformance.h"
#include "mica/snapshot.h"
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>

static void move(mica_view *view)
{
    Place *location = mica_view_write(view, Place);
    const Speed *speed = mica_view_read(view, Speed);
    for (uint32_t i = 0; i < view->count; ++i)
        location[i].x += speed[i].x * view->dt;
}

static void drag(uint32_t count, void *const *columns)
{
    Speed *speed = columns[0];
    for (uint32_t i = 0; i < count; ++i)
        speed[i].x *= 0.9f;
}

static void label(const mica_frame *frame)
{
    EXPECT(mica_system_running(frame->world).id == frame->system.id);
    mica_command_set(mica_frame_commands(frame), mica_query_first(frame->query), Count, {(uint32_t)frame->tick});
    mica_singleton_write(frame->world, Total)->seen += mica_random_of_frame(frame).state;
}

static bool is_even(const mica_frame *frame)
{
    return frame->tick % 2 == 0;
}

static void add_systems(mica_world *world)
{
    mica_phase late = mica_phase_add(world, MICA_PHASE_AFTER("late", MICA_PHASE_END));
    mica_phase extra = mica_phase_add(world, MICA_PHASE_BEFORE("extra", MICA_PHASE_END));
    EXPECT(mica_phase_find(world, "late") == late && mica_phase_remove(world, extra));
    mica_system moving = mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Place), MICA_READ(Speed)));
    mica_system_add(world, MICA_SYSTEM(drag, MICA_WRITE(Speed)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(label, (.phase = late, .condition = is_even,
                                                         MICA_TERMS(MICA_READ(Place), MICA_WRITE(Total)))));
    EXPECT(mica_system_find(world, "move").id == moving.id && mica_system_name(world, moving)[0] == 'm');
    uint32_t system_count = 0;
    for (mica_system system = {0}; (system = mica_system_next(world, system)).id; ++system_count) {
        mica_system_info info;
        EXPECT(mica_system_get_info(world, system, &info) && info.enabled);
    }
    mica_system_access access;
    mica_system_dependency dependency;
    EXPECT(system_count == 3 && mica_system_get_accesses(world, moving, &access, 1) == 2 && access.write);
    EXPECT(mica_system_get_dependencies(world, mica_system_find(world, "drag"), &dependency, 1) == 1 &&
           dependency.on.id == moving.id);
    mica_phase_info phase;
    EXPECT(mica_phase_next(world, MICA_PHASE_END) == late && mica_phase_get_info(world, late, &phase) &&
           phase.system_count == 1);
    char graph[2048];
    EXPECT(mica_graph_write(world, MICA_GRAPH_TEXT, graph, sizeof graph) > 0);
}

static void count_frames(mica_world *world, void *context)
{
    (void)world;
    ++*(uint32_t *)context;
}

static void count_systems(mica_world *world, mica_system system, void *context)
{
    (void)world, (void)system;
    ++*(uint32_t *)context;
}

static void run_frames(mica_world *world)
{
    mica_system moving = mica_system_find(world, "move"), dragging = mica_system_find(world, "drag");
    EXPECT(mica_stats_enable(world, 8) == MICA_OK && mica_trace_start(world) == MICA_OK);
    for (uint32_t i = 0; i < 4; ++i)
        EXPECT(mica_step(world, 0.25f) == MICA_OK);
    mica_frame_stats frame;
    mica_system_stats system;
    EXPECT(mica_stats_get_frame(world, 0, &frame) && frame.frame == 4);
    EXPECT(mica_stats_get_system(world, moving, 0, &system) && system.entities == 3000);
    EXPECT(mica_stats_get_system_total(world, moving, &system) && system.runs == 4);
    FILE *scratch = tmpfile();
    if (scratch) {
        mica_stats_print(world, scratch);
        EXPECT(ftell(scratch) > 0);
        fclose(scratch);
    }
    EXPECT(mica_trace_stop(world, NULL) == MICA_OK);
    EXPECT(mica_trace_stop_part(world, 2, "part", stdout) == MICA_ERROR_REFUSED); /* it has ended */
    FILE *written = tmpfile();
    EXPECT(mica_trace_start(world) == MICA_OK);
    EXPECT((written ? mica_trace_stop_to(world, written) : mica_trace_stop(world, NULL)) == MICA_OK);
    if (written)
        fclose(written);
    mica_snapshot each_before = mica_snapshot_take(world);
    uint64_t each_content = mica_world_hash(world);
    uint32_t call_count = 0;
    EXPECT(mica_step_each(world, 0.25f, count_systems, &call_count) == MICA_OK && call_count > 2);
    EXPECT(mica_snapshot_restore(world, each_before) == MICA_OK && mica_world_hash(world) == each_content);
    mica_snapshot_drop(world, each_before);

    EXPECT(mica_time_set_scale(world, 0.5) == MICA_OK && mica_step_from(world, dragging, 0.25f) == MICA_OK);
    EXPECT(mica_system_run(world, moving, 1) == MICA_OK);
    uint32_t frame_count = 0;
    EXPECT(mica_after_frame(world, count_frames, &frame_count) == MICA_OK);
    mica_pause(world, true);
    EXPECT(mica_is_paused(world));
    EXPECT(!mica_is_stepping(world));
    uint64_t before = mica_world_hash_content(world);
    EXPECT(mica_step(world, 1) == MICA_OK && mica_world_hash_content(world) == before);
    mica_pause_step(world);
    EXPECT(mica_step(world, 1) == MICA_OK && mica_world_hash_content(world) != before);
    mica_pause(world, false);
    EXPECT(frame_count == 2 && mica_after_frame(world, NULL, NULL) == MICA_OK);
    EXPECT(mica_time_get(world).frame == 7);
    EXPECT(mica_system_enable(world, dragging, false) && mica_phase_enable(world, MICA_PHASE_END, false));
    EXPECT(mica_system_replace(world, dragging, MICA_SYSTEM(drag, MICA_WRITE(Speed))) == MICA_OK);
    EXPECT(mica_step(world, 1) == MICA_OK && mica_system_remove(world, moving));
    print_hash("frames", 0, mica_world_hash(world));
}

static double clock_now(void *context)
{
    return *(double *)context;
}

static void clock_wait(double seconds, void *context)
{
    *(double *)context += seconds;
}

static void make_places(const mica_frame *frame)
{
    for (uint32_t i = 0; i < 10; ++i)
        mica_create(frame->world, MICA_WITH(Place, {(float)i, 0}));
}

/* After a flush in the phase that created the places. */
static void mark_places(const mica_frame *frame)
{
    for (mica_view view = mica_query_begin(frame->query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            mica_set(frame->world, view.entities[i], Count, {view.count});
}

static void stop_at_tenth(const mica_frame *frame)
{
    if (frame->tick == 9)
        mica_stop(frame->world);
}

/* Frames in a time that only passes while the loop waits. */
static void run_loop(uint32_t worker_count)
{
    mica_world *world = open_world();
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = worker_count;
    EXPECT(mica_flow_configure(world, &flow) == MICA_OK);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(make_places, (.phase = MICA_PHASE_START)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(mark_places, (.phase = MICA_PHASE_START, .flush_first = true,
                                                               MICA_TERMS(MICA_READ(Place)))));
    mica_system_add(world, MICA_SYSTEM_ONCE(stop_at_tenth));
    double now = 0;
    mica_clock clock = {.now = clock_now, .wait = clock_wait, .context = &now};
    mica_run_def run = mica_run_def_default();
    run.clock = &clock;
    run.frames_per_second = 8;
    EXPECT(mica_run(world, &run) == MICA_OK && mica_time_get(world).frame == 10);
    EXPECT(mica_time_get(world).seconds == 9 * 0.125);
    print_hash("loop", 0, mica_world_hash(world));
    close_world(world, 0);
}

static void fill(uint32_t begin, uint32_t end, void *context)
{
    for (uint32_t i = begin; i < end; ++i)
        ((float *)context)[i] = 1 / (float)(i + 1);
}

static const float *numbers;

static void add_range(uint32_t begin, uint32_t end, void *sum, void *context)
{
    (void)context;
    for (uint32_t i = begin; i < end; ++i)
        *(float *)sum += numbers[i];
}

static void add_view(mica_view *view, void *sum, void *context)
{
    (void)context;
    const Place *location = mica_view_read(view, Place);
    for (uint32_t i = 0; i < view->count; ++i)
        *(float *)sum += location[i].x;
}

static void add_sums(void *sum, const void *later, void *context)
{
    (void)context;
    *(float *)sum += *(const float *)later;
}

/* Sums that round: the order in which they are added shows. */
static void check_tasks(mica_world *world)
{
    enum { COUNT = 20000 };
    static float values[COUNT];
    mica_parallel_for(world, COUNT, 100, fill, values);
    numbers = values;
    static const float zero;
    float sum = 0;
    mica_reduction how = {.zero = &zero, .bytes = sizeof zero, .range = add_range, .combine = add_sums};
    EXPECT(mica_reduce_range(world, COUNT, 64, &how, &sum) == MICA_OK);
    print_hash("sum", 0, (uint64_t)(sum * 1048576));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Place)));
    how.view = add_view;
    EXPECT(mica_reduce_query(query, &how, &sum) == MICA_OK);
    print_hash("sum", 1, (uint64_t)sum);
}

void check_systems(uint32_t worker_count)
{
    mica_world *world = open_world();
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = worker_count;
    EXPECT(mica_flow_configure(world, &def) == MICA_OK);
    EXPECT(worker_count == 0 || mica_worker_count(world) == worker_count);
    add_systems(world);
    for (uint32_t i = 0; i < 3000; ++i)
        mica_create(world, MICA_WITH(Place, {(float)i, 0}), MICA_WITH(Speed, {1.5f, 0}));
    run_frames(world);
    run_loop(worker_count);
    check_tasks(world);
    close_world(world, 0);
}
