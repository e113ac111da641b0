/* The flow as a module of the world: made on first use, asked by the core, taken down with it. */
#include "flow/schedule/flow.h"

#include "core/world/report.h"
#include "os/clock.h"

mica_flow_def mica_flow_def_default(void)
{
    return (mica_flow_def){.fixed_seconds = 1.0 / 60, .catch_up_max = 8};
}

char *micap_text_copy(mica_world *world, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = micap_allocate(&world->memory, bytes, 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

void micap_text_free(mica_world *world, const char *text)
{
    if (text)
        micap_release(&world->memory, (void *)text, strlen(text) + 1, 1);
}

static void release(mica_world *world, void *state)
{
    micap_flow *flow = state;
    world->share = NULL;
    micap_crew_destroy(flow->crew);
    for (uint32_t i = MICAP_LISTENERS; i-- > 0;)
        if (flow->listeners[i].ops)
            flow->listeners[i].ops->free(world, flow->listeners[i].state);
    for (uint32_t i = 0; i < flow->phase_count; ++i)
        micap_phase_free(flow, flow->phases[i]);
    for (uint32_t i = 0; i < flow->system_count; ++i)
        micap_system_free(flow, flow->systems[i]);
    MICAP_RELEASE_ARRAY(&world->memory, flow->phases, flow->phase_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flow->systems, flow->system_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flow->offsets, flow->offset_capacity);
    micap_release(&world->memory, flow, sizeof *flow, MICAP_CACHE_LINE);
}

static void hash(const mica_world *world, const void *state, micap_hasher *hasher)
{
    const micap_flow *flow = state;
    for (uint32_t i = 0; i < MICAP_LISTENERS; ++i)
        if (flow->listeners[i].ops && flow->listeners[i].ops->hash)
            flow->listeners[i].ops->hash(world, flow->listeners[i].state, hasher);
}

static bool validate(mica_world *world, void *state)
{
    const micap_flow *flow = state;
    for (uint32_t i = 0; i < MICAP_LISTENERS; ++i)
        if (flow->listeners[i].ops && flow->listeners[i].ops->validate &&
            !flow->listeners[i].ops->validate(world, flow->listeners[i].state))
            return false;
    return true;
}

static void trim(mica_world *world, void *state)
{
    micap_flow *flow = state;
    for (uint32_t i = 0; i < MICAP_LISTENERS; ++i)
        if (flow->listeners[i].ops && flow->listeners[i].ops->trim)
            flow->listeners[i].ops->trim(world, flow->listeners[i].state);
    if (flow->is_stepping)
        return;
    for (uint32_t i = 0; i < flow->phase_count; ++i)
        micap_graph_free(flow, flow->phases[i]);
    flow->is_stale = true;
}

static const micap_module_ops module_ops = {.free = release,
                                            .hash = hash,
                                            .validate = validate,
                                            .trim = trim,
                                            .save = micap_flow_save,
                                            .drop = micap_flow_drop,
                                            .prepare = micap_flow_prepare,
                                            .load = micap_flow_load};

static bool add_built_in_phases(micap_flow *flow)
{
    static const struct {
        const char *name;
        mica_phase id;
    } built_in[MICAP_BUILT_IN_PHASES] = {{"begin", MICA_PHASE_BEGIN},
                                         {"fixed", MICA_PHASE_FIXED},
                                         {"update", MICA_PHASE_UPDATE},
                                         {"end", MICA_PHASE_END},
                                         {"(messages)", MICAP_PHASE_MESSAGES}};
    mica_world *world = flow->world;
    if (!MICAP_RESERVE(&world->memory, flow->phases, &flow->phase_capacity, MICAP_BUILT_IN_PHASES))
        return false;
    for (uint32_t i = 0; i < MICAP_BUILT_IN_PHASES; ++i) {
        micap_phase *phase = micap_allocate_zeroed(&world->memory, sizeof *phase, MICAP_ARRAY_ALIGNMENT);
        if (!phase)
            return false;
        flow->phases[flow->phase_count++] = phase;
        phase->id = built_in[i].id;
        phase->is_enabled = true;
        phase->fixed_seconds = phase->id == MICA_PHASE_FIXED ? flow->def.fixed_seconds : 0;
        if (!(phase->name = micap_text_copy(world, built_in[i].name)))
            return false;
    }
    flow->next_phase = MICAP_BUILT_IN_PHASES;
    return true;
}

static uint32_t worker_count_of(const mica_flow_def *def)
{
    uint32_t count = def->worker_count ? def->worker_count : micap_core_count();
    return count < MICAP_WORKERS_MAX ? count : MICAP_WORKERS_MAX;
}

static micap_flow *create(mica_world *world)
{
    micap_flow *flow = micap_allocate_zeroed(&world->memory, sizeof *flow, MICAP_CACHE_LINE);
    if (!flow)
        return NULL;
    flow->world = world;
    flow->def = mica_flow_def_default();
    flow->scale = 1;
    flow->next_id = 1;
    if (!add_built_in_phases(flow) ||
        !(flow->crew = micap_crew_create(&world->memory, worker_count_of(&flow->def), NULL))) {
        release(world, flow);
        return NULL;
    }
    return flow;
}

/* Pieces of the core's own work, over the crew. */
typedef struct micap_core_work {
    void (*fn)(void *data, uint32_t piece);
    void *data;
} core_work;

static void run_core_piece(void *data, uint32_t piece, uint32_t worker)
{
    (void)worker;
    ((core_work *)data)->fn(((core_work *)data)->data, piece);
}

static void share(mica_world *world, void (*fn)(void *data, uint32_t piece), void *data, uint32_t count)
{
    micap_flow *flow = micap_flow_get(world);
    core_work work = {fn, data};
    micap_crew_run(flow->crew, micap_crew_here(flow->crew), run_core_piece, &work, count);
    if (!flow->is_stepping)
        micap_crew_dismiss(flow->crew);
}

micap_flow *micap_flow_of(mica_world *world)
{
    micap_flow *flow = micap_flow_get(world);
    if (flow)
        return flow;
    if (!(flow = create(world))) {
        micap_fail_memory(world, "flow");
        return NULL;
    }
    micap_module_set(world, MICAP_MODULE_FLOW, &module_ops, flow);
    world->share = share;
    return flow;
}

static bool is_sane(const mica_flow_def *def)
{
    return def->worker_count <= MICAP_WORKERS_MAX && def->fixed_seconds > 0 && def->fixed_seconds < 1e9 &&
           def->catch_up_max > 0 && (!def->scheduler || (def->scheduler->submit && def->scheduler->wait));
}

mica_result mica_flow_configure(mica_world *world, const mica_flow_def *def)
{
    if (!def || !is_sane(def))
        return micap_fail(world, MICA_ERROR_INVALID, (mica_location){0}, "flow: its def makes no sense");
    micap_flow *flow = micap_flow_of(world);
    if (!flow)
        return MICA_ERROR_MEMORY;
    if (flow->is_stepping)
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                          "flow: it can't be set up anew inside a frame");
    micap_crew *crew = micap_crew_create(&world->memory, worker_count_of(def), def->scheduler);
    if (!crew)
        return micap_fail_memory(world, "flow");
    micap_crew_destroy(flow->crew);
    flow->crew = crew;
    flow->is_stale |= flow->def.no_fusion != def->no_fusion;
    flow->def = *def;
    flow->def.scheduler = NULL; /* copied into the crew */
    micap_flow_phase(flow, MICA_PHASE_FIXED)->fixed_seconds = def->fixed_seconds;
    return MICA_OK;
}

uint32_t mica_worker_count(const mica_world *world)
{
    const micap_flow *flow = micap_flow_get(world);
    mica_flow_def def = mica_flow_def_default();
    return flow ? flow->crew->worker_count : worker_count_of(&def);
}

bool micap_listen(mica_world *world, micap_listener_id id, const micap_listener_ops *ops, void *state)
{
    micap_flow *flow = micap_flow_of(world);
    if (!flow)
        return false;
    flow->listeners[id].ops = ops;
    flow->listeners[id].state = state;
    flow->has_probe = flow->is_one_by_one = false;
    for (uint32_t i = 0; i < MICAP_LISTENERS; ++i) {
        flow->has_probe |= flow->listeners[i].ops && flow->listeners[i].ops->ran;
        flow->is_one_by_one |= flow->listeners[i].ops && flow->listeners[i].ops->system_ran;
    }
    return true;
}

void *micap_listener_state(const mica_world *world, micap_listener_id id)
{
    const micap_flow *flow = micap_flow_get(world);
    return flow ? flow->listeners[id].state : NULL;
}

micap_task *micap_task_here(const mica_world *world)
{
    return (micap_task *)(void *)micap_here_of(world);
}

uint32_t micap_lane_count(const mica_world *world)
{
    return micap_flow_get(world)->running->lane_count;
}

bool micap_is_running(const mica_world *world)
{
    const micap_flow *flow = micap_flow_get(world);
    return flow && flow->running;
}
