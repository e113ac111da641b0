#include "flow/schedule/flow.h"

#include "base/argument.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/flow_state.h"
#include "flow/schedule/dependency_graph.h"
#include "flow/schedule/flow_snapshot.h"
#include "flow/schedule/system.h"
#include "flow/threads/worker_pool.h"
#include "os/clock.h"

mica_flow_def mica_flow_def_default(void)
{
    return (mica_flow_def){.fixed_seconds = 1.0 / 60, .catch_up_max = 8};
}

char *micap_flow_copy_text(mica_world *world, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = micap_allocate(&world->memory, bytes, 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

void micap_flow_free_text(mica_world *world, const char *text)
{
    if (text)
        micap_release(&world->memory, (void *)text, strlen(text) + 1, 1);
}

static void free_flow(mica_world *world, void *state)
{
    micap_flow *flow = state;
    world->share = NULL;
    micap_worker_pool_destroy(flow->worker_pool);
    micap_listeners_free(flow);
    for (uint32_t i = 0; i < flow->phase_count; ++i)
        micap_phase_free(flow, flow->phases[i]);
    for (uint32_t i = 0; i < flow->system_count; ++i)
        micap_system_free(flow, flow->systems[i]);
    MICAP_RELEASE_ARRAY(&world->memory, flow->phases, flow->phase_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flow->systems, flow->system_capacity);
    micap_system_names_free(flow);
    MICAP_RELEASE_ARRAY(&world->memory, flow->first_rows, flow->first_row_capacity);
    micap_release(&world->memory, flow, sizeof *flow, MICAP_CACHE_LINE);
}

static void hash_seconds(micap_hasher *hasher, double seconds)
{
    uint64_t bits;
    memcpy(&bits, &seconds, sizeof bits);
    micap_hasher_integer(hasher, bits, 8);
}

/* Time, and clocks that run; nothing before the first frame. */
static void hash_clocks(const micap_flow *flow, micap_hasher *hasher)
{
    if (flow->time.frame) {
        hash_seconds(hasher, flow->time.seconds);
        micap_hasher_integer(hasher, flow->time.frame, 8);
        micap_hasher_integer(hasher, flow->time.step, 8);
        hash_seconds(hasher, flow->time.dt);
        hash_seconds(hasher, flow->time.alpha);
    }
    for (uint32_t i = 0; i < flow->phase_count; ++i) {
        const micap_phase *phase = flow->phases[i];
        if (!phase->tick && phase->waited_seconds == 0)
            continue;
        micap_hasher_bytes(hasher, phase->name, strlen(phase->name) + 1);
        micap_hasher_integer(hasher, phase->tick, 8);
        hash_seconds(hasher, phase->seconds);
        hash_seconds(hasher, phase->waited_seconds);
    }
    for (uint32_t i = 0; i < flow->system_count; ++i) {
        const micap_system *system = flow->systems[i];
        if (system->seconds_waited == 0)
            continue;
        micap_hasher_bytes(hasher, system->def.name, strlen(system->def.name) + 1);
        hash_seconds(hasher, system->seconds_waited);
    }
}

static void hash(const mica_world *world, const void *state, micap_hasher *hasher)
{
    (void)world;
    hash_clocks(state, hasher);
    micap_listeners_hash(state, hasher);
}

static bool validate(mica_world *world, void *state)
{
    (void)world;
    return micap_listeners_validate(state);
}

static void trim(mica_world *world, void *state)
{
    (void)world;
    micap_flow *flow = state;
    micap_listeners_trim(flow);
    if (flow->is_stepping)
        return;
    for (uint32_t i = 0; i < flow->phase_count; ++i)
        micap_dependency_graph_free(flow, flow->phases[i]);
    flow->is_stale = true;
}

static const micap_module_ops module_ops = {.free = free_flow,
                                            .hash = hash,
                                            .validate = validate,
                                            .trim = trim,
                                            .save = micap_flow_save,
                                            .drop = micap_flow_drop,
                                            .prepare = micap_flow_prepare,
                                            .load = micap_flow_load,
                                            .clone = micap_flow_clone,
                                            .write = micap_flow_write,
                                            .read = micap_flow_read,
                                            .is_unused = micap_flow_is_unused};

static uint32_t worker_count_of(const mica_flow_def *def)
{
    uint32_t count = def->worker_count ? def->worker_count : micap_core_count();
    return count < MICA_WORKERS_MAX ? count : MICA_WORKERS_MAX;
}

static micap_flow *create_flow(mica_world *world)
{
    micap_flow *flow = micap_allocate_zeroed(&world->memory, sizeof *flow, MICAP_CACHE_LINE);
    if (!flow)
        return NULL;
    flow->world = world;
    flow->def = mica_flow_def_default();
    flow->scale = 1;
    flow->next_id = 1;
    if (!micap_phases_add_built_in(flow) ||
        !(flow->worker_pool = micap_worker_pool_create(&world->memory, worker_count_of(&flow->def), NULL))) {
        free_flow(world, flow);
        return NULL;
    }
    return flow;
}

/* Work of the core that runs on the worker pool. */
typedef struct core_work {
    void (*fn)(void *data, uint32_t job);
    void *data;
} core_work;

static void run_core_job(void *data, uint32_t job, uint32_t worker)
{
    (void)worker;
    const core_work *work = data;
    work->fn(work->data, job);
}

static void run_core_work(mica_world *world, void (*fn)(void *data, uint32_t job), void *data, uint32_t count)
{
    micap_flow *flow = micap_flow_get(world);
    core_work work = {fn, data};
    micap_worker_pool_run(flow->worker_pool, micap_worker_pool_index(flow->worker_pool), run_core_job, &work, count);
    if (!flow->is_stepping)
        micap_worker_pool_join_helpers(flow->worker_pool);
}

micap_flow *micap_flow_of(mica_world *world)
{
    micap_flow *flow = micap_flow_get(world);
    if (flow)
        return flow;
    if (!(flow = create_flow(world))) {
        micap_fail_memory(world, "flow");
        return NULL;
    }
    micap_module_set(world, MICAP_MODULE_FLOW, &module_ops, flow);
    world->share = run_core_work;
    return flow;
}

/* The def with the defaults in the place of zeros. */
static mica_flow_def with_defaults(const mica_flow_def *def)
{
    mica_flow_def chosen = *def, standard = mica_flow_def_default();
    if (chosen.fixed_seconds == 0)
        chosen.fixed_seconds = standard.fixed_seconds;
    if (!chosen.catch_up_max)
        chosen.catch_up_max = standard.catch_up_max;
    return chosen;
}

/* Returns what is wrong with a def, or NULL. */
static const char *problem_of(const mica_flow_def *def)
{
    if (def->worker_count > MICA_WORKERS_MAX)
        return "worker_count is too large";
    if (!(def->fixed_seconds > 0 && def->fixed_seconds < 1e9))
        return "fixed_seconds must be from 0 to 1e9";
    if (def->scheduler && (!def->scheduler->submit || !def->scheduler->wait))
        return "the scheduler needs submit and wait";
    return NULL;
}

mica_result mica_flow_configure(mica_world *world, const mica_flow_def *def)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, def))
        return MICA_ERROR_INVALID;
    mica_flow_def chosen = with_defaults(def);
    const char *problem = problem_of(&chosen);
    if (problem)
        return micap_fail(world, MICA_ERROR_INVALID, (mica_location){0}, "flow_configure: %s", problem);
    micap_flow *flow = micap_flow_of(world);
    if (!flow)
        return MICA_ERROR_MEMORY;
    if (flow->is_stepping)
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "flow_configure: refused inside a frame");
    micap_worker_pool *pool = micap_worker_pool_create(&world->memory, worker_count_of(&chosen), chosen.scheduler);
    if (!pool)
        return micap_fail_memory(world, "flow");
    micap_worker_pool_destroy(flow->worker_pool);
    flow->worker_pool = pool;
    flow->is_stale |= flow->def.no_fusion != chosen.no_fusion;
    flow->def = chosen;
    flow->def.scheduler = NULL; /* copied into the worker pool */
    micap_phase_find_id(flow, MICA_PHASE_FIXED)->fixed_seconds = chosen.fixed_seconds;
    return MICA_OK;
}

uint32_t mica_worker_count(const mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return 0;
    const micap_flow *flow = micap_flow_get(world);
    mica_flow_def def = mica_flow_def_default();
    return flow ? flow->worker_pool->worker_count : worker_count_of(&def);
}
