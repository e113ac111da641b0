#include "cli/recorded_run.h"

#include "mica/flow.h"
#include "mica/resource.h"

#include <inttypes.h>
#include <stdio.h>

bool is_recording_file(const char *path)
{
    unsigned char begin[MICA_RECORDING_MAGIC_BYTES];
    FILE *file = fopen(path, "rb");
    size_t count = file ? fread(begin, 1, sizeof begin, file) : 0;
    if (file)
        fclose(file);
    return mica_recording_detect(begin, count);
}

mica_recording *load_recording(const char *path)
{
    mica_recording_error error;
    mica_recording *recording = mica_recording_load(path, &error);
    if (!recording && error.offset)
        complain("%s: at byte %" PRIu64 ": %s", path, error.offset, error.text);
    else if (!recording)
        complain("%s: %s", path, error.text);
    return recording;
}

static mica_result set_up(mica_world *world, void *context)
{
    const recorded_run *run = context;
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = run->worker_count;
    return mica_flow_configure(world, &flow);
}

static bool spawn_level(const recorded_run *run, const options *options, const char *path)
{
    mica_resource_error error;
    mica_spawn_def def = {.skip_unknown = options->skip_unknown};
    def.rules = mica_module_get_rules(run->modules, &def.rule_count);
    mica_resource *level = load_or_complain(path);
    bool fine = level != NULL;
    if (fine && mica_library_load_assets(run->library, level, &error) != MICA_OK) {
        complain("%s refers to what can't be loaded: %s", path, error.text);
        fine = false;
    }
    mica_result result = fine ? mica_spawn(run->world, level, &def) : MICA_OK;
    if (result != MICA_OK)
        complain("%s can't be spawned: %s", path, mica_result_text(result));
    mica_resource_free(level);
    return fine && result == MICA_OK;
}

bool recorded_run_open(recorded_run *run, const options *options, mica_report_fn report, void *context)
{
    run->worker_count = options->worker_count;
    run->recording = load_recording(options->inputs[0]);
    run->library = run->recording ? library_beside(options, options->inputs[options->input_count > 1]) : NULL;
    if (!run->library)
        return false;
    run->tick_count = mica_recording_get_info(run->recording).tick_count;
    mica_world_def world = {.report = report, .report_context = context};
    mica_module_def def = {.world = &world,
                           .setup = set_up,
                           .context = run,
                           .library = run->library,
                           .skip_unknown = options->skip_unknown,
                           .in_place = true};
    run->modules = mica_module_load(options->modules, options->module_count, &def);
    run->world = run->modules ? mica_module_world(run->modules) : NULL;
    bool fine = run->world != NULL;
    for (uint32_t i = 1; fine && i < options->input_count; ++i)
        fine = spawn_level(run, options, options->inputs[i]);
    return fine;
}

void recorded_run_close(recorded_run *run)
{
    mica_module_unload(run->modules);
    mica_library_destroy(run->library);
    mica_recording_free(run->recording);
    *run = (recorded_run){0};
}

void recorded_run_input(const recorded_run *run, uint32_t tick)
{
    uint32_t count = mica_recording_tick(run->recording, tick).input_count;
    for (uint32_t i = 0; i < count; ++i) {
        size_t bytes;
        const void *input = mica_recording_input(run->recording, tick, i, &bytes);
        mica_input(run->world, input, bytes); /* without a handler it is reported, and the tick differs */
    }
}

void recorded_run_tick(const recorded_run *run, uint32_t tick)
{
    recorded_run_input(run, tick);
    mica_step(run->world, recorded_run_dt(run, tick)); /* an error that came then comes again */
}

bool recorded_run_agrees(const recorded_run *run, uint32_t tick)
{
    uint64_t recorded =
        tick ? mica_recording_tick(run->recording, tick).hash : mica_recording_get_info(run->recording).start_hash;
    return mica_world_hash(run->world) == recorded;
}

float recorded_run_dt(const recorded_run *run, uint32_t tick)
{
    return mica_recording_tick(run->recording, tick).dt;
}
