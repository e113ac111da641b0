#include "cli/recorded_run.h"

#include "mica/flow.h"

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

bool recorded_run_open(recorded_run *run, const options *options, mica_report_fn report, void *context)
{
    model *model = &run->model;
    *model = (struct model){
        .options = options, .first_level = 1, .seed = options->seed, .report = report, .report_context = context};
    run->recording = load_recording(options->inputs[0]);
    if (!run->recording)
        return false;
    run->tick_count = mica_recording_get_info(run->recording).tick_count;
    return model_load(model) == EXIT_FINE && model_spawn(model) == EXIT_FINE && model_start(model) == EXIT_FINE;
}

void recorded_run_close(recorded_run *run)
{
    model_close(&run->model);
    mica_recording_free(run->recording);
    *run = (recorded_run){0};
}

void recorded_run_input(const recorded_run *run, uint32_t tick)
{
    uint32_t count = mica_recording_tick(run->recording, tick).input_count;
    for (uint32_t i = 0; i < count; ++i) {
        size_t bytes;
        const void *input = mica_recording_input(run->recording, tick, i, &bytes);
        mica_input(run->model.world, input, bytes); /* without a handler it is reported, and the tick differs */
    }
}

void recorded_run_tick(const recorded_run *run, uint32_t tick)
{
    recorded_run_input(run, tick);
    mica_step(run->model.world, recorded_run_dt(run, tick)); /* an error that came then comes again */
}

bool recorded_run_agrees(const recorded_run *run, uint32_t tick)
{
    uint64_t recorded =
        tick ? mica_recording_tick(run->recording, tick).hash : mica_recording_get_info(run->recording).start_hash;
    return mica_world_hash(run->model.world) == recorded;
}

float recorded_run_dt(const recorded_run *run, uint32_t tick)
{
    return mica_recording_tick(run->recording, tick).dt;
}
