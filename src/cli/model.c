#include "cli/model.h"

#include "mica/flow.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Called from any worker: each line is one call. */
static void hear_report(const mica_report *report, void *context)
{
    model *model = context;
    uint32_t count = atomic_fetch_add_explicit(&model->report_count, 1, memory_order_relaxed);
    if (count == 0)
        snprintf(model->first_report, sizeof model->first_report, "%s", report->text);
    model_cluster_stop(model);
    if (count >= REPORTS_SHOWN || model->is_quiet)
        return;
    char when[32] = "", where[512] = "";
    if (model->frame)
        snprintf(when, sizeof when, "frame %" PRIu64 ": ", model->frame);
    if (report->location.file)
        snprintf(where, sizeof where, " (%s:%d)", report->location.file, report->location.line);
    complain("%s: %s%s%s", model->options->command, when, report->text, where);
}

int model_complain(model *model, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!model->first_report[0])
        snprintf(model->first_report, sizeof model->first_report, "%.255s", text);
    return model->is_quiet ? EXIT_BAD : complain("%s: %s", model->options->command, text);
}

bool model_has_reports(model *model)
{
    uint32_t count = atomic_load_explicit(&model->report_count, memory_order_relaxed);
    if (count > REPORTS_SHOWN && !model->is_quiet)
        complain("%s: and %u more", model->options->command, count - REPORTS_SHOWN);
    return count != 0;
}

/* Of random numbers. A level that continues a run has its own. */
static bool configure(mica_world *world, const model *model)
{
    mica_flow_def flow = {.worker_count = model->options->worker_count, .seed = model->seed};
    return mica_flow_configure(world, &flow) == MICA_OK;
}

/* Of each world, before its modules. */
static mica_result set_up(mica_world *world, void *context)
{
    const model *model = context;
    return configure(world, model) ? mica_stats_enable(world, model->stats_frames) : MICA_ERROR_MEMORY;
}

int model_load(model *model)
{
    const options *options = model->options;
    uint32_t beside = model->first_level < options->input_count ? model->first_level : 0;
    model->library = library_beside(options, options->input_count ? options->inputs[beside] : "");
    if (!model->library)
        return EXIT_BAD;
    mica_world_def world = {.report = model->report ? model->report : hear_report,
                            .report_context = model->report ? model->report_context : model,
                            .seed = model->seed};
    mica_module_def def = {.world = &world,
                           .setup = set_up,
                           .context = model,
                           .library = model->library,
                           .skip_unknown = options->skip_unknown,
                           .in_place = !options->watch};
    model->modules = mica_module_load(options->modules, options->module_count, &def);
    if (!model->modules)
        return EXIT_BAD; /* the reason was reported */
    model->world = mica_module_world(model->modules);
    return EXIT_FINE;
}

static int spawn_level(model *model, const char *path)
{
    mica_spawn_def def = {.skip_unknown = model->options->skip_unknown};
    def.rules = mica_module_get_rules(model->modules, &def.rule_count);
    mica_resource_error error;
    mica_resource *level = load_or_complain(path);
    if (!level)
        return EXIT_BAD;
    model->is_resumed = model->is_resumed || mica_resource_get_info(level).has_state;
    if (mica_library_load_assets(model->library, level, &error) != MICA_OK) {
        mica_resource_free(level);
        return model_complain(model, "%s refers to what can't be loaded: %s", path, error.text);
    }
    mica_result result = mica_spawn(model->world, level, &def);
    mica_resource_free(level);
    return result == MICA_OK ? EXIT_FINE
                             : model_complain(model, "%s can't be spawned: %s", path, mica_result_text(result));
}

static int spawn_levels(model *model)
{
    const options *options = model->options;
    uint32_t first_level = model->first_level;
    bool is_saved_cluster = model->cluster && options->input_count && is_cluster_save(options->inputs[first_level]);
    if (is_saved_cluster && options->input_count > first_level + 1)
        return model_complain(model, "%s is the save of a cluster: it can't be combined with other levels",
                              options->inputs[first_level]);
    if (is_saved_cluster)
        return model_cluster_load(model, options->inputs[first_level]);
    for (uint32_t i = first_level; i < options->input_count; ++i)
        if (spawn_level(model, options->inputs[i]) != EXIT_FINE)
            return EXIT_BAD;
    if (model->is_resumed && model->seed && !configure(model->world, model))
        return EXIT_BAD;
    return model_has_reports(model) ? EXIT_BAD : EXIT_FINE;
}

int model_spawn(model *model)
{
    return model_cluster_agree(model, spawn_levels(model));
}

int model_start(model *model)
{
    bool is_fine = model->is_resumed || mica_module_start_run(model->modules) == MICA_OK;
    return model_cluster_agree(model, is_fine && !model_has_reports(model) ? EXIT_FINE : EXIT_BAD);
}

int model_step(model *model)
{
    if (model->cluster)
        return model_cluster_step(model);
    mica_result result = mica_step(model->world, model->options->dt);
    if (model_has_reports(model))
        return EXIT_DIFFERENT;
    if (result == MICA_OK)
        return EXIT_FINE;
    model_complain(model, "frame %" PRIu64 ": %s", model->frame, mica_result_text(result));
    return EXIT_DIFFERENT;
}

uint64_t model_hash(model *model)
{
    return model->cluster ? model_cluster_hash(model) : mica_world_hash(model->world);
}

void model_close(model *model)
{
    model_cluster_close(model);
    mica_module_unload(model->modules);
    mica_library_destroy(model->library);
}
