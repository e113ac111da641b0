/* mica run, and mica replay, which takes the frames from a recording. */
#include "cli/model.h"
#include "cli/recorded_run.h"
#include "json/json_writer.h"
#include "mica/flow.h"
#include "mica/recording.h"
#include "os/clock.h"

#ifdef MICA_WITH_INSPECT
#    include "mica/inspect.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    FRAMES_KEPT = 1000, /* the last frames, whose statistics are printed */
};

typedef struct run {
    const options *options;
    model model;
    uint32_t reload_count;
    uint64_t time_ns;
    uint64_t entity_count;     /* at the end */
    mica_recording *recording; /* to replay, or NULL */
    char hash[17];
} run;

static int prepare(run *run)
{
    const options *options = run->options;
    run->model = (model){.options = options, .first_level = run->recording != NULL, .seed = options->seed};
    run->model.stats_frames = options->frame_count < FRAMES_KEPT ? options->frame_count : FRAMES_KEPT;
    int status = model_load(&run->model);
    if (status == EXIT_FINE && options->cluster)
        status = model_cluster_open(&run->model);
    if (status == EXIT_FINE)
        status = model_spawn(&run->model);
    return status == EXIT_FINE ? model_start(&run->model) : status;
}

/* Replaces the modules and their world if a file changed, or leaves both as they are, with a message. */
static void update(run *run)
{
    model *model = &run->model;
    if (mica_module_update(model->modules)) {
        model->world = mica_module_world(model->modules);
        ++run->reload_count;
    } else if (model_has_reports(model)) {
        complain("run: frame %" PRIu64 ": the modules were not reloaded, the old ones continue", model->frame);
        /* What a module that is not used reported does not end the run. */
        atomic_store_explicit(&model->report_count, 0, memory_order_relaxed);
    }
}

/* The rest of a frame that takes real time. */
static void wait_for_next_frame(const run *run, uint64_t begin)
{
    uint64_t length = (uint64_t)((double)run->options->dt * 1e9), passed = micap_clock_ns() - begin;
    if (passed < length)
        micap_sleep_ns(length - passed);
}

static int begin_recording(const run *run)
{
    if (!run->options->record)
        return EXIT_FINE;
    mica_recording_def def = {.detail = run->options->detail, .systems = run->options->systems};
    return mica_recording_begin(run->model.world, run->options->record, &def) == MICA_OK ? EXIT_FINE : EXIT_BAD;
}

/* The rest of the frames, and what they cost. */
static int step_frames(run *run)
{
    const options *options = run->options;
    model *model = &run->model;
    uint64_t begin = micap_clock_ns();
    while (model->frame < options->frame_count) {
        uint64_t frame_begin = micap_clock_ns();
        model->frame += !(options->inspect && mica_is_paused(model->world)); /* a pause does not count */
        if (model_step(model) != EXIT_FINE)
            return EXIT_DIFFERENT;
        if (options->watch)
            update(run);
        if (options->watch || options->inspect)
            wait_for_next_frame(run, frame_begin);
    }
    run->time_ns = micap_clock_ns() - begin;
    return EXIT_FINE;
}

static int run_frames(run *run)
{
    const options *options = run->options;
    model *model = &run->model;
    if (begin_recording(run) != EXIT_FINE)
        return EXIT_BAD;
    if (step_frames(run) != EXIT_FINE) {
        if (!options->cluster && model_has_cluster(model))
            complain("run: a module describes a cluster: it may need --cluster");
        return EXIT_DIFFERENT;
    }
    if (model_cluster_agree(model, model_has_reports(model) ? EXIT_DIFFERENT : EXIT_FINE) != EXIT_FINE)
        return EXIT_DIFFERENT;
    if (options->record && mica_recording_end(model->world) != MICA_OK)
        return EXIT_BAD;
    run->entity_count = mica_world_get_stats(model->world).entity_count;
    if (model->cluster)
        run->entity_count = model_cluster_entity_count(model);
    snprintf(run->hash, sizeof run->hash, "%016" PRIx64, model_hash(model));
    const char *expected = options->expected_hash;
    if (!expected || strcmp(expected, run->hash) == 0)
        return EXIT_FINE;
    if (model_cluster_rank(model) == 0)
        complain("run: the world's hash is %s, not %s", run->hash, expected);
    return EXIT_DIFFERENT;
}

static void write_system(micap_json_writer *writer, const mica_world *world, mica_system system)
{
    mica_system_stats stats;
    if (!mica_stats_get_system_total(world, system, &stats))
        return;
    micap_write_member(writer, NULL);
    micap_write(writer, "{\"name\": ");
    micap_write_string(writer, mica_system_name(world, system));
    micap_write(writer, ", \"runs\": %" PRIu64 ", \"time_ns\": %" PRIu64 ", \"entities\": %" PRIu64, stats.runs,
                stats.time_ns, stats.entities);
    micap_write(writer, ", \"slices\": %u, \"commands\": %u, \"workers\": %u, \"fused_with\": %u}", stats.slices,
                stats.commands, stats.workers, stats.fused_with);
}

static int write_results(const run *run)
{
    micap_json_writer writer;
    uint32_t kept = run->options->frame_count < FRAMES_KEPT ? run->options->frame_count : FRAMES_KEPT;
    micap_writer_init(&writer);
    micap_write_open(&writer, '{');
    micap_write_member(&writer, "frames");
    micap_write(&writer, "%u", run->options->frame_count);
    micap_write_member(&writer, "time_ns");
    micap_write(&writer, "%" PRIu64, run->time_ns);
    micap_write_member(&writer, "entities");
    micap_write(&writer, "%" PRIu64, run->entity_count);
    micap_write_member(&writer, "hash");
    micap_write_string(&writer, run->hash);
    micap_write_member(&writer, "frames_measured");
    micap_write(&writer, "%u", kept);
    micap_write_member(&writer, "systems");
    micap_write_open(&writer, '[');
    for (mica_system system = {0}; (system = mica_system_next(run->model.world, system)).id;)
        write_system(&writer, run->model.world, system);
    micap_write_close(&writer, ']');
    micap_write_close(&writer, '}');
    return write_gathered(&writer);
}

static int print_results(const run *run)
{
    if (run->options->frame_count)
        mica_stats_print(run->model.world, stdout);
    printf("%u frames in %.3f ms: %" PRIu64 " entities, hash %s\n", run->options->frame_count,
           (double)run->time_ns / 1e6, run->entity_count, run->hash);
    if (run->options->watch)
        printf("reloaded %u times\n", run->reload_count);
    if (run->options->record)
        printf("recorded %s\n", run->options->record);
    if (run->options->save)
        printf("saved %s\n", run->options->save);
    return fflush(stdout) == 0 ? EXIT_FINE : complain("standard output can't be written");
}

static void finish(run *run)
{
    model_close(&run->model);
    mica_recording_free(run->recording);
}

static int save(run *run)
{
    model *model = &run->model;
    if (model->cluster)
        return model_cluster_save(model, run->options->save);
    mica_save_def def = {.library = model->library};
    def.rules = mica_module_get_rules(model->modules, &def.rule_count);
    return mica_save(model->world, run->options->save, &def) == MICA_OK ? EXIT_FINE : EXIT_BAD; /* with a report */
}

static int check_options(const options *options)
{
    if (!options->input_count && !options->module_count)
        return complain("run: expected a file; try mica help run");
    if (options->watch && options->record)
        return complain("run: a recording can't contain reloads: use --watch or --record");
    if (options->watch && options->inspect)
        return complain("run: a reload makes another world: use --watch or --inspect");
    if (options->cluster && (options->watch || options->record || options->inspect))
        return complain("run: --cluster can't be combined with --watch, --record and --inspect");
    return EXIT_FINE;
}

int run_run(const options *options)
{
    run run = {.options = options};
    if (check_options(options) != EXIT_FINE)
        return EXIT_BAD;
    int status = prepare(&run);
#ifdef MICA_WITH_INSPECT
    mica_inspector *inspector = NULL;
    if (status == EXIT_FINE && options->inspect && !(inspector = mica_inspect_serve(run.model.world, NULL)))
        status = EXIT_BAD; /* the world reported the reason */
#endif
    if (status == EXIT_FINE)
        status = run_frames(&run);
#ifdef MICA_WITH_INSPECT
    mica_inspect_stop(inspector);
#endif
    if (status == EXIT_FINE && options->save)
        status = save(&run);
    bool is_printed = model_cluster_rank(&run.model) == 0;
    if (status == EXIT_FINE && options->json && is_printed)
        status = write_results(&run);
    else if (status == EXIT_FINE && !options->quiet && is_printed)
        status = print_results(&run);
    finish(&run);
    return status;
}

static int replay(run *run)
{
    mica_difference difference;
    bool same = mica_replay(run->model.world, run->recording, &difference);
    mica_recording_info info = mica_recording_get_info(run->recording);
    if (!same && !difference.text[0])
        return EXIT_BAD; /* the world reported the reason */
    if (!same)
        return printf("%s differs\n", difference.text), EXIT_DIFFERENT;
    if (!run->options->quiet)
        printf("%u ticks as recorded%s\n", info.tick_count, info.is_cut ? "; the recording was cut off there" : "");
    return EXIT_FINE;
}

int run_replay(const options *options)
{
    run run = {.options = options, .recording = load_recording(options->inputs[0])};
    if (!run.recording)
        return EXIT_BAD;
    int status = prepare(&run);
    if (status == EXIT_FINE)
        status = replay(&run);
    finish(&run);
    return status;
}

int diff_recordings(const options *options)
{
    mica_recording *a = load_recording(options->inputs[0]), *b = a ? load_recording(options->inputs[1]) : NULL;
    mica_difference difference;
    bool differs = b && mica_recording_diff(a, b, &difference);
    if (differs && !options->quiet)
        printf("%s differs\n", difference.text);
    int status = !b ? EXIT_BAD : differs ? EXIT_DIFFERENT : EXIT_FINE;
    mica_recording_free(a);
    mica_recording_free(b);
    return status;
}
