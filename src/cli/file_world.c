#include "cli/file_world.h"

#include <stdlib.h>

static void hear_report(const mica_report *report, void *context)
{
    const file_world *file = context;
    if (!file->is_quiet)
        complain("%s: %s", file->command, report->text);
}

static bool has_disabled(const mica_resource *resource, uint32_t component)
{
    for (uint32_t i = 0; i < mica_resource_entity_count(resource); ++i)
        if (mica_resource_is_disabled(resource, i, component))
            return true;
    return false;
}

/* A file does not store the storage kind or the toggle trait of a component: they are inferred if the data needs them. */
static bool define_components(file_world *file)
{
    const mica_resource *resource = file->resource;
    file->rule_count = mica_resource_component_count(resource);
    file->rules = calloc(file->rule_count + 1, sizeof *file->rules);
    for (uint32_t i = 0; file->rules && i < file->rule_count; ++i) {
        mica_resource_component component = mica_resource_component_at(resource, i);
        mica_type type = *component.type;
        type.name = component.name;
        type.many = mica_resource_is_repeated(resource, i);
        type.storage = type.many ? MICA_STORAGE_POOL : component.storage;
        type.toggle = has_disabled(resource, i);
        file->rules[i].component = mica_component_define(file->world, &type);
        file->rules[i].spawn_order = component.spawn_order;
        if (!file->rules[i].component)
            return false;
    }
    return file->rules || (complain("out of memory"), false);
}

bool file_world_open(file_world *file, const options *options)
{
    mica_world_def def = mica_world_def_default();
    def.report = hear_report;
    def.report_context = file;
    file->command = options->command;
    file->resource = load_or_complain(options->inputs[0]);
    file->world = file->resource ? mica_world_create(&def) : NULL;
    if (!file->world || !define_components(file))
        return false;
    mica_spawn_def spawn = {.rules = file->rules, .rule_count = file->rule_count};
    return mica_spawn(file->world, file->resource, &spawn) == MICA_OK;
}

void file_world_close(file_world *file)
{
    mica_world_destroy(file->world);
    mica_resource_free(file->resource);
    free(file->rules);
}
