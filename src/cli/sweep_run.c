#include "cli/sweep.h"
#include "mica/flow.h"
#include "os/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool set_parameters(const sweep_plan *plan, model *model, uint64_t run)
{
    for (uint32_t i = 0; i < plan->parameter_count; ++i) {
        const sweep_parameter *parameter = &plan->parameters[i];
        mica_component component = mica_component_find(model->world, parameter->component);
        mica_value_error error = {.text = "the module no longer defines it"};
        mica_member value = mica_member_of(component, mica_singleton_write_id(model->world, component));
        value = mica_member_write(value, parameter->path, &error);
        if (!value.data || mica_value_parse(value, sweep_plan_value(plan, run, i), &error) != MICA_OK) {
            model_complain(model, "parameter %s: %.200s", parameter->column, error.text);
            return false;
        }
    }
    return true;
}

static bool open_gauges(const sweep_plan *plan, model *model, sweep_gauge *gauges)
{
    char problem[256];
    for (uint32_t i = 0; i < plan->measurement_count; ++i)
        if (!sweep_gauge_open(&gauges[i], model->world, plan->measurements[i].text, problem, sizeof problem)) {
            model_complain(model, "measurement \"%s\": %s", plan->measurements[i].text, problem);
            return false;
        }
    return true;
}

static int prepare(const sweep_plan *plan, model *model, uint64_t run, sweep_gauge *gauges)
{
    int status = model_load(model);
    if (status == EXIT_FINE && model_has_cluster(model))
        status = model_cluster_open(model);
    if (status == EXIT_FINE)
        status = model_spawn(model);
    if (status == EXIT_FINE && !set_parameters(plan, model, run)) /* after levels, which may have other values */
        status = EXIT_BAD;
    if (status == EXIT_FINE)
        status = model_start(model);
    return status == EXIT_FINE && !open_gauges(plan, model, gauges) ? EXIT_BAD : status;
}

static void take_sample(const sweep_plan *plan, const model *model, const sweep_gauge *gauges, sweep_result *result)
{
    double *sample = (double *)sweep_result_sample(plan, result, result->sample_count++);
    *sample++ = (double)model->frame;
    for (uint32_t i = 0; i < plan->measurement_count; ++i)
        *sample++ = sweep_gauge_read(&gauges[i], model->world);
}

static int run_frames(const sweep_plan *plan, model *model, const sweep_gauge *gauges, sweep_result *result)
{
    uint32_t every = plan->options.sample_frames;
    while (model->frame < plan->options.frame_count) {
        ++model->frame;
        int status = model_step(model);
        if (status != EXIT_FINE)
            return status;
        if (every && model->frame % every == 0)
            take_sample(plan, model, gauges, result);
    }
    take_sample(plan, model, gauges, result); /* the end */
    result->hash = model_hash(model);
    return model_has_reports(model) ? EXIT_DIFFERENT : EXIT_FINE;
}

/* Closes what is open. Closing gauges that were not opened does nothing. */
static void finish(const sweep_plan *plan, model *model, sweep_gauge *gauges)
{
    for (uint32_t i = 0; i < plan->measurement_count; ++i)
        sweep_gauge_close(&gauges[i]);
    model_close(model);
}

sweep_result *sweep_run(const sweep_plan *plan, sweep_job job)
{
    uint32_t every = plan->options.sample_frames;
    uint64_t samples = 1 + (every ? plan->options.frame_count / every : 0);
    uint64_t sample_bytes = (plan->measurement_count + 1) * sizeof(double), begin = micap_clock_ns();
    sweep_result *result = calloc(1, sizeof *result + samples * sample_bytes);
    sweep_gauge gauges[MEASUREMENTS_MAX] = {{.kind = 0}};
    if (!result)
        return NULL;
    model model = {.options = &plan->options, .seed = sweep_plan_seed(plan, job.run), .is_quiet = true};
    int status = prepare(plan, &model, job.run, gauges);
    if (status == EXIT_FINE)
        status = run_frames(plan, &model, gauges, result);
    finish(plan, &model, gauges);
    result->job = job;
    result->frame_count = model.frame;
    result->status = status == EXIT_FINE ? SWEEP_DONE : SWEEP_FAILED;
    if (status != EXIT_FINE)
        snprintf(result->message, sizeof result->message, "%s",
                 model.first_report[0] ? model.first_report : "the run failed without a report");
    result->seconds = (double)(micap_clock_ns() - begin) / 1e9;
    result->byte_count = sizeof *result + result->sample_count * sample_bytes;
    return result;
}
