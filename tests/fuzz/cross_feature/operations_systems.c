/* Systems, frames, phases and measurements. */
#include "program.h"

#include <stdlib.h>
#include <unistd.h>

static void run_view(mica_view *view)
{
    const reaction *reaction = view->frame->context;
    sample_kind kind = reaction->reads;
    if (sample_is_whole(kind)) {
        char *values = mica_view_write_at(view, 0);
        for (uint32_t i = 0; i < view->count; ++i) {
            char *value = values + (size_t)i * samples[kind].type->size_bytes;
            samples[kind].assign(value, samples[kind].key(value) + 1);
        }
    }
    react(reaction, view->entities, view->count, 2);
}

static void run_each(mica_entity entity, void *const *columns, void *context)
{
    (void)columns;
    react(context, &entity, 1, 2);
}

static void run_exclusive(const mica_frame *frame)
{
    run_body(frame->context, BODY_EXCLUSIVE, NULL, 0);
}

/* The system of a slot goes, or gets another def. Time that it has waited does not come back with a snapshot. */
static void note_rate(scene *scene, const mica_system *slot, bool has_rate)
{
    bool *had_rate = &scene->has_rate[slot - scene->systems];
    scene->stream_age += *had_rate;
    *had_rate = has_rate;
}

static void forget_system(program *program, scene *scene, mica_system *slot)
{
    note_rate(scene, slot, false);
    if (slot->id && (program->depth == 0 || program->body == BODY_EXCLUSIVE))
        mica_system_remove(scene->world, *slot);
    *slot = (mica_system){0};
}

/* All names have one length: memory must not grow with them. */
static const char *system_name(scene *scene)
{
    static char name[32];
    snprintf(name, sizeof name, "s%06u", scene->system_serial++);
    return name;
}

static mica_phase take_phase(program *program, scene *scene)
{
    static const mica_phase phases[] = {MICA_PHASE_UPDATE, MICA_PHASE_UPDATE, MICA_PHASE_BEGIN, MICA_PHASE_FIXED,
                                        MICA_PHASE_END};
    uint32_t which = take_below(program, 6);
    if (which == 5)
        return scene->phase;
    return phases[which];
}

/* The system becomes a join along edges, divided into jobs of few rows. */
static void add_edge_term(mica_system_def *def, mica_term *terms, uint8_t special)
{
    const mica_component relations[] = {MICA_ID(FuzzLikes), MICA_ID(FuzzDocked), MICA_ID(FuzzBorders)};
    terms[def->term_count++] =
        (mica_term){.component = relations[special / 16 % 3], .access = MICA_ACCESS_HAS, .target = mica_variable(1)};
    def->parallel = MICA_PARALLEL_EVERY;
    def->parallel_rows = 1 + special % 4;
}

static mica_system_def draw_system(program *program, scene *scene, reaction *reaction, mica_term *terms, mica_use *uses)
{
    reaction->reads = take_kind(program, scene);
    reaction->changes = take_kind(program, scene);
    reaction->choice = take(program) % REACTION_CHOICES;
    mica_phase phase = take_phase(program, scene);
    uint8_t special = take(program);
    terms[0] = (mica_term){.component = sample_id(reaction->reads),
                           .access = sample_is_whole(reaction->reads) ? MICA_ACCESS_WRITE : MICA_ACCESS_HAS};
    mica_system_def def = {
        .name = system_name(scene),
        .terms = terms,
        .term_count = 1,
        .context = reaction,
        .phase = special % 11 == 10 ? MICA_PHASE_START : phase,
        .flush_first = special % 13 == 12,
        .with_hidden = special % 3 == 1,
        .uses = uses,
        .parallel = special & 1 ? MICA_PARALLEL_EVEN : MICA_PARALLEL_AUTO,
        .every_frames = special % 5 == 4 ? 2 : 0,
        .while_paused = special % 7 == 6,
        .location = MICA_HERE,
    };
    if (special % 8 == 6)
        add_edge_term(&def, terms, special);
    if (special % 3 == 2)
        def.each = run_each;
    else
        def.view = run_view;
    if (reaction_writes_stream(reaction))
        uses[def.use_count++] = (mica_use){.stream = scene->streams[0], .write = true};
    else if (reaction->choice == 12 && scene->requests)
        uses[def.use_count++] = (mica_use){.stream = mica_requests_stream(scene->requests), .write = true};
    return def;
}

static void system_add(program *program, scene *scene)
{
    mica_term terms[2];
    mica_use uses[1];
    mica_system *slot = &scene->systems[take_below(program, SYSTEMS)];
    if (scene->reaction_next == REACTIONS)
        return;
    reaction *reaction = &scene->reactions[scene->reaction_next++];
    *reaction = (struct reaction){.program = program, .scene = scene};
    mica_system_def def = draw_system(program, scene, reaction, terms, uses);
    if (slot->id && take_one_in(program, 3)) {
        bool had_rate = scene->has_rate[slot - scene->systems]; /* what it has waited stays, also without a rate */
        if (mica_system_replace(scene->world, *slot, &def) == MICA_OK)
            note_rate(scene, slot, had_rate || def.every_frames != 0);
        return;
    }
    forget_system(program, scene, slot);
    *slot = mica_system_add(scene->world, &def);
    note_rate(scene, slot, def.every_frames != 0);
}

static void system_exclusive(program *program, scene *scene)
{
    mica_system *slot = &scene->systems[take_below(program, SYSTEMS)];
    mica_system_def def = {.name = system_name(scene), .once = run_exclusive, .exclusive = true, .location = MICA_HERE};
    def.phase = take_phase(program, scene);
    def.context = take_reaction(program, scene);
    forget_system(program, scene, slot);
    if (def.context)
        *slot = mica_system_add(scene->world, &def);
}

/* One that there is, or none when there is none. */
static mica_system *take_system(program *program, scene *scene)
{
    uint32_t first = take(program);
    for (uint32_t i = 0; i < SYSTEMS; ++i)
        if (scene->systems[(first + i) % SYSTEMS].id)
            return &scene->systems[(first + i) % SYSTEMS];
    return &scene->systems[first % SYSTEMS];
}

static void system_remove(program *program, scene *scene)
{
    forget_system(program, scene, take_system(program, scene));
}

static void system_enable(program *program, scene *scene)
{
    mica_system system = *take_system(program, scene);
    mica_system_enable(scene->world, system, take_one_in(program, 2));
}

static float take_seconds(program *program)
{
    static const float seconds[] = {0, 1.0f / 60, 0.1f, 1};
    return seconds[take_below(program, 4)];
}

static void ran(program *program, scene *scene, mica_result result)
{
    if (program->depth > 0)
        return;
    program->used_workers = true;
    if (result == MICA_OK)
        scene->recorded_count = 0;
}

static void see_system(mica_world *world, mica_system system, void *context)
{
    ++*(uint64_t *)context;
    (void)world, (void)system;
}

/* Some frames run system by system, which makes no difference. */
static void step_frame(program *program, scene *scene)
{
    float seconds = take_seconds(program);
    uint64_t seen = 0;
    bool is_watched = mica_time_get(scene->world).frame % 8 == 5;
    ran(program, scene,
        is_watched ? mica_step_each(scene->world, seconds, see_system, &seen) : mica_step(scene->world, seconds));
}

static double clock_now(void *context)
{
    return *(double *)context;
}

static void clock_wait(double seconds, void *context)
{
    *(double *)context += seconds;
}

/* Some frames, in a time that only passes between frames. A system may stop it. */
static void run_frames(program *program, scene *scene)
{
    double now = 0;
    mica_clock clock = {.now = clock_now, .wait = clock_wait, .context = &now};
    mica_run_def def = mica_run_def_default();
    def.frame_count = 1 + take_below(program, 3);
    def.frames_per_second = 1 << take_below(program, 6);
    def.clock = &clock;
    if (take_one_in(program, 4))
        mica_stop(scene->world);
    ran(program, scene, mica_run(scene->world, &def));
}

static void step_from(program *program, scene *scene)
{
    mica_system system = *take_system(program, scene);
    ran(program, scene, mica_step_from(scene->world, system, take_seconds(program)));
}

static void system_run(program *program, scene *scene)
{
    mica_system system = *take_system(program, scene);
    ran(program, scene, mica_system_run(scene->world, system, take_seconds(program)));
}

static void pause_frames(program *program, scene *scene)
{
    mica_pause(scene->world, take_one_in(program, 2));
    if (take_one_in(program, 2))
        mica_pause_step(scene->world);
    mica_time_set_scale(scene->world, 1 + take_below(program, 3));
}

static void phase_add(program *program, scene *scene)
{
    if (scene->phase && scene->phase != MICA_PHASE_NONE && program->depth == 0 &&
        mica_phase_remove(scene->world, scene->phase))
        ++scene->stream_age; /* the ticks of a removed phase do not come back with a snapshot */
    mica_phase_def def = {.name = system_name(scene), .location = MICA_HERE};
    def.beside = take_phase(program, scene);
    def.before = take_one_in(program, 2);
    def.fixed_seconds = take_one_in(program, 3) ? 1.0 / 60 : 0;
    mica_phase phase = mica_phase_add(scene->world, &def);
    scene->phase = phase == MICA_PHASE_NONE ? MICA_PHASE_UPDATE : phase;
}

static void phase_enable(program *program, scene *scene)
{
    mica_phase phase = take_phase(program, scene);
    mica_phase_enable(scene->world, phase, take_one_in(program, 2));
}

/* Every dependency is on a system that is listed earlier. */
static void list_systems(program *program, mica_world *world)
{
    uint32_t position[256] = {0}, count = 0;
    for (mica_phase phase = MICA_PHASE_NONE; (phase = mica_phase_next(world, phase)) != MICA_PHASE_NONE;) {
        mica_phase_info info;
        if (!mica_phase_get_info(world, phase, &info)) { /* it puts systems in order, which needs memory */
            EXPECT(program, program->used_faults, "a listed phase is not found");
            return;
        }
        EXPECT(program, mica_phase_find(world, info.name) == phase, "a listed phase has the name of another one");
    }
    for (mica_system system = {0}; (system = mica_system_next(world, system)).id;) {
        mica_system_info info;
        mica_system_access accesses[4];
        mica_system_dependency dependencies[8];
        EXPECT(program,
               mica_system_get_info(world, system, &info) && mica_system_find(world, info.name).id == system.id,
               "a listed system is not found");
        mica_system_get_accesses(world, system, accesses, 4);
        uint32_t dependency_count = mica_system_get_dependencies(world, system, dependencies, 8);
        position[system.id % 256] = ++count;
        for (uint32_t i = 0; i < dependency_count && i < 8 && system.id < 256; ++i)
            EXPECT(program, position[dependencies[i].on.id] && position[dependencies[i].on.id] < count,
                   "a system waits for a later one");
    }
}

static void measure(program *program, scene *scene)
{
    char text[512];
    mica_stats_enable(scene->world, take_below(program, 4));
    mica_graph_write(scene->world, MICA_GRAPH_TEXT, text, sizeof text);
    mica_graph_write(scene->world, MICA_GRAPH_DOT, text, sizeof text);
    list_systems(program, scene->world);
    if (!scene->is_traced) {
        scene->is_traced = mica_trace_start(scene->world) == MICA_OK;
    } else {
        mica_trace_stop(scene->world, take_one_in(program, 2) ? scratch_path("trace") : NULL);
        unlink(scratch_path("trace"));
        scene->is_traced = false;
    }
}

static void add_range(uint32_t begin, uint32_t end, void *sum, void *context)
{
    (void)context;
    *(uint64_t *)sum += end - begin;
}

static void add_view(mica_view *view, void *sum, void *context)
{
    (void)context;
    *(uint64_t *)sum += view->count;
}

static void combine(void *sum, const void *later, void *context)
{
    (void)context;
    *(uint64_t *)sum += *(const uint64_t *)later;
}

static void reduce(program *program, scene *scene)
{
    uint64_t zero = 0, sum = 0;
    mica_reduction how = {
        .zero = &zero, .bytes = sizeof zero, .range = add_range, .view = add_view, .combine = combine};
    uint32_t count = take(program) * 3u;
    if (mica_reduce_range(scene->world, count, 7, &how, &sum) == MICA_OK)
        EXPECT(program, sum == count, "a reduction leaves elements out");
    const kept_query *kept = &scene->queries[take_below(program, QUERIES)];
    if (kept->query)
        mica_reduce_query(kept->query, &how, &sum);
}

const operation system_operations[] = {
    {"system_add", system_add, IN_BODY},
    {"system_exclusive", system_exclusive, 0},
    {"system_remove", system_remove, IN_BODY},
    {"system_enable", system_enable, IN_BODY},
    {"step", step_frame, IN_BODY | WHILE_RECORDING},
    {"run_frames", run_frames, IN_BODY | WHILE_RECORDING | SLOW},
    {"step_from", step_from, IN_BODY | SLOW},
    {"system_run", system_run, IN_BODY | SLOW},
    {"pause", pause_frames, IN_BODY},
    {"phase_add", phase_add, 0},
    {"phase_enable", phase_enable, IN_BODY},
    {"measure", measure, WHILE_RECORDING | KEEPS_FOLLOWING | SLOW},
    {"reduce", reduce, WHILE_RECORDING | KEEPS_FOLLOWING | SLOW},
};
OPERATIONS(system)
