/* mica run, and mica replay, which takes the frames from a recording. */
#include "cli/cli.h"
#include "cli/recorded_run.h"
#include "json/json_writer.h"
#include "mica/flow.h"
#include "mica/module_load.h"
#include "mica/recording.h"
#include "os/clock.h"

#ifdef MICA_WITH_INSPECT
#    include "mica/inspect.h"
#endif

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    FRAMES_KEPT = 1000, /* the last frames, whose statistics are printed */
    REPORTS_SHOWN = 10,
};

typedef struct run {
    const options *options;
    mica_world *world;
    mica_library *library; /* resources that levels refer to */
    mica_modules *modules; /* of the world, which is theirs */
    uint32_t reload_count;
    uint64_t frame; /* starts at 1; 0 before the first */
    uint64_t time_ns;
    mica_recording *recording; /* to replay, or NULL */
    _Atomic uint32_t report_count;
    char hash[17];
} run;

/* Called from any worker: each line is one call. */
static void hear_report(const mica_report *report, void *context)
{
    run *run = context;
    if (atomic_fetch_add_explicit(&run->report_count, 1, memory_order_relaxed) >= REPORTS_SHOWN)
        return;
    char when[32] = "", where[512] = "";
    if (run->frame)
        snprintf(when, sizeof when, "frame %" PRIu64 ": ", run->frame);
    if (report->location.file)
        snprintf(where, sizeof where, " (%s:%d)", report->location.file, report->location.line);
    complain("%s: %s%s%s", run->options->command, when, report->text, where);
}

static bool has_reports(run *run)
{
    uint32_t count = atomic_load_explicit(&run->report_count, memory_order_relaxed);
    if (count > REPORTS_SHOWN)
        complain("%s: and %u more", run->options->command, count - REPORTS_SHOWN);
    return count != 0;
}

static int spawn_levels(run *run)
{
    mica_spawn_def def = {.skip_unknown = run->options->skip_unknown};
    def.rules = mica_module_get_rules(run->modules, &def.rule_count);
    for (uint32_t i = run->recording ? 1 : 0; i < run->options->input_count; ++i) {
        mica_resource_error error;
        mica_resource *level = load_or_complain(run->options->inputs[i]);
        if (level && mica_library_load_assets(run->library, level, &error) != MICA_OK) {
            mica_resource_free(level);
            return complain("run: %s refers to what can't be loaded: %s", run->options->inputs[i], error.text);
        }
        mica_result result = level ? mica_spawn(run->world, level, &def) : MICA_ERROR_DATA;
        mica_resource_free(level);
        if (level && result != MICA_OK)
            complain("%s: %s can't be spawned: %s", run->options->command, run->options->inputs[i],
                     mica_result_text(result));
        if (result != MICA_OK)
            return EXIT_BAD;
    }
    return EXIT_FINE;
}

/* Of each world, before its modules. */
static mica_result set_up(mica_world *world, void *context)
{
    const run *run = context;
    uint32_t kept = run->options->frame_count < FRAMES_KEPT ? run->options->frame_count : FRAMES_KEPT;
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = run->options->worker_count;
    mica_result result = mica_flow_configure(world, &flow);
    return result == MICA_OK ? mica_stats_enable(world, kept) : result;
}

static int prepare(run *run)
{
    const options *options = run->options;
    run->library = library_beside(options, options->inputs[run->recording && options->input_count > 1 ? 1 : 0]);
    if (!run->library)
        return EXIT_BAD;
    mica_world_def world = {.report = hear_report, .report_context = run};
    mica_module_def def = {.world = &world,
                           .setup = set_up,
                           .context = run,
                           .library = run->library,
                           .skip_unknown = options->skip_unknown,
                           .in_place = !options->watch};
    run->modules = mica_module_load(options->modules, options->module_count, &def);
    if (!run->modules)
        return EXIT_BAD; /* the reason was reported */
    run->world = mica_module_world(run->modules);
    return spawn_levels(run) == EXIT_FINE && !has_reports(run) ? EXIT_FINE : EXIT_BAD;
}

/* Replaces the modules and their world if a file changed, or leaves both as they are, with a message. */
static void update(run *run)
{
    if (mica_module_update(run->modules)) {
        run->world = mica_module_world(run->modules);
        ++run->reload_count;
    } else if (has_reports(run)) {
        complain("run: frame %" PRIu64 ": the modules were not reloaded, the old ones continue", run->frame);
        /* What a module that is not used reported does not end the run. */
        atomic_store_explicit(&run->report_count, 0, memory_order_relaxed);
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
    return mica_recording_begin(run->world, run->options->record, &def) == MICA_OK ? EXIT_FINE : EXIT_BAD;
}

static int run_frames(run *run)
{
    if (begin_recording(run) != EXIT_FINE)
        return EXIT_BAD;
    uint64_t begin = micap_clock_ns();
    while (run->frame < run->options->frame_count) {
        uint64_t frame_begin = micap_clock_ns();
        run->frame += !(run->options->inspect && mica_is_paused(run->world)); /* a pause does not count */
        mica_result result = mica_step(run->world, run->options->dt);
        if (has_reports(run))
            return EXIT_DIFFERENT;
        if (result != MICA_OK)
            return complain("run: frame %" PRIu64 ": %s", run->frame, mica_result_text(result)), EXIT_DIFFERENT;
        if (run->options->watch)
            update(run);
        if (run->options->watch || run->options->inspect)
            wait_for_next_frame(run, frame_begin);
    }
    run->time_ns = micap_clock_ns() - begin;
    if (run->options->record && mica_recording_end(run->world) != MICA_OK)
        return EXIT_BAD;
    snprintf(run->hash, sizeof run->hash, "%016" PRIx64, mica_world_hash(run->world));
    const char *expected = run->options->expected_hash;
    if (expected && strcmp(expected, run->hash) != 0)
        return complain("run: the world's hash is %s, not %s", run->hash, expected), EXIT_DIFFERENT;
    return EXIT_FINE;
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
    micap_write(&writer, "%" PRIu64, mica_world_get_stats(run->world).entity_count);
    micap_write_member(&writer, "hash");
    micap_write_string(&writer, run->hash);
    micap_write_member(&writer, "frames_measured");
    micap_write(&writer, "%u", kept);
    micap_write_member(&writer, "systems");
    micap_write_open(&writer, '[');
    for (mica_system system = {0}; (system = mica_system_next(run->world, system)).id;)
        write_system(&writer, run->world, system);
    micap_write_close(&writer, ']');
    micap_write_close(&writer, '}');
    return write_gathered(&writer);
}

static int print_results(const run *run)
{
    if (run->options->frame_count)
        mica_stats_print(run->world, stdout);
    printf("%u frames in %.3f ms: %" PRIu64 " entities, hash %s\n", run->options->frame_count,
           (double)run->time_ns / 1e6, mica_world_get_stats(run->world).entity_count, run->hash);
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
    mica_module_unload(run->modules);
    mica_library_destroy(run->library);
    mica_recording_free(run->recording);
}

static int save(const run *run)
{
    mica_save_def def = {.library = run->library};
    def.rules = mica_module_get_rules(run->modules, &def.rule_count);
    return mica_save(run->world, run->options->save, &def) == MICA_OK ? EXIT_FINE : EXIT_BAD; /* with a report */
}

int run_run(const options *options)
{
    run run = {.options = options};
    if (options->watch && options->record)
        return complain("run: a recording can't contain reloads: use --watch or --record");
    if (options->watch && options->inspect)
        return complain("run: a reload makes another world: use --watch or --inspect");
    int status = prepare(&run);
#ifdef MICA_WITH_INSPECT
    mica_inspector *inspector = NULL;
    if (status == EXIT_FINE && options->inspect && !(inspector = mica_inspect_serve(run.world, NULL)))
        status = EXIT_BAD; /* the world reported the reason */
#endif
    if (status == EXIT_FINE)
        status = run_frames(&run);
#ifdef MICA_WITH_INSPECT
    mica_inspect_stop(inspector);
#endif
    if (status == EXIT_FINE && options->save)
        status = save(&run);
    if (status == EXIT_FINE && options->json)
        status = write_results(&run);
    else if (status == EXIT_FINE && !options->quiet)
        status = print_results(&run);
    finish(&run);
    return status;
}

static int replay(run *run)
{
    mica_difference difference;
    bool same = mica_replay(run->world, run->recording, &difference);
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
