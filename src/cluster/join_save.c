/* All parts of a save as one file. The components are those that the files describe, so that no program is needed. */
#include "base/argument.h"
#include "cluster/manifest.h"
#include "cluster/part_transfer.h"
#include "mica/component.h"

#include <stdio.h>

static void hear_report(const mica_report *report, void *context)
{
    mica_resource_error *error = context;
    snprintf(error->text, sizeof error->text, "%.250s", report->text);
}

static bool has_disabled(const mica_resource *resource, uint32_t component)
{
    for (uint32_t i = 0; i < mica_resource_entity_count(resource); ++i)
        if (mica_resource_is_disabled(resource, i, component))
            return true;
    return false;
}

/* A file does not store all traits of a component: those that its data needs are inferred. Each part has its own data, so all parts are
 * asked before the component is defined. */
static bool define_component(mica_world *world, const micap_part_file *parts, uint32_t part_count, uint32_t part,
                             uint32_t index)
{
    mica_resource_component component = mica_resource_component_at(parts[part].resource, index);
    if (mica_component_find(world, component.name))
        return true;
    mica_type type = *component.type;
    type.name = component.name;
    type.many = type.toggle = false;
    for (uint32_t i = part; i < part_count; ++i)
        for (uint32_t k = 0; k < mica_resource_component_count(parts[i].resource); ++k) {
            mica_resource_component other = mica_resource_component_at(parts[i].resource, k);
            if (other.name_hash != component.name_hash)
                continue;
            type.many = type.many || mica_resource_is_repeated(parts[i].resource, k);
            type.toggle = type.toggle || has_disabled(parts[i].resource, k);
        }
    type.storage = type.many ? MICA_STORAGE_POOL : component.storage;
    return mica_component_define(world, &type) != 0;
}

static bool define_components(mica_world *world, const micap_part_file *parts, uint32_t part_count)
{
    bool done = true;
    for (uint32_t i = 0; i < part_count; ++i)
        for (uint32_t k = 0; k < mica_resource_component_count(parts[i].resource); ++k)
            done = define_component(world, parts, part_count, i, k) && done;
    return done;
}

/* Fills a world with all parts. False if something failed, which was reported to the error. */
static bool fill_world(mica_world *world, micap_memory *memory, const micap_part_file *parts, uint32_t part_count,
                       mica_resource_error *out_error)
{
    micap_identity_map map = {.memory = memory, .world = world};
    micap_codec codec = {.memory = memory, .world = world, .map = &map, .scratch = {.memory = memory}};
    bool done = define_components(world, parts, part_count) &&
                mica_spawn(world, parts[0].resource, &(mica_spawn_def){.skip_state = true}) == MICA_OK &&
                micap_codec_update(&codec);
    for (uint32_t i = 1; i < part_count && done; ++i) {
        char text[MICAP_TRANSFER_TEXT_BYTES];
        done = micap_part_transfer(&codec, parts[i].resource, text);
        if (!done)
            snprintf(out_error->text, sizeof out_error->text, "part %u of the save: %.200s", i, text);
    }
    micap_codec_free(&codec);
    micap_identity_map_free(&map);
    return done;
}

/* NULL, or what is wrong, which may be the text of the error. */
static const char *join(const char *path, micap_memory *memory, micap_manifest *manifest, micap_part_file **out_parts,
                        mica_resource_error *out_error, mica_blob *out_blob)
{
    out_error->result = MICA_ERROR_DATA;
    const char *problem = micap_manifest_load(manifest, path);
    if (problem)
        return problem;
    *out_parts = micap_allocate_zeroed(memory, manifest->part_count * sizeof **out_parts, MICAP_ARRAY_ALIGNMENT);
    char text[MICAP_MANIFEST_TEXT_BYTES];
    for (uint32_t i = 0; *out_parts && i < manifest->part_count; ++i)
        if (!micap_part_file_open(&(*out_parts)[i], manifest, path, i, text)) {
            snprintf(out_error->text, sizeof out_error->text, "%.255s", text);
            return out_error->text;
        }
    out_error->result = MICA_ERROR_MEMORY;
    mica_world_def def = mica_world_def_default();
    def.report = hear_report;
    def.report_context = out_error;
    mica_world *world = *out_parts ? mica_world_create(&def) : NULL;
    bool done = world && fill_world(world, memory, *out_parts, manifest->part_count, out_error);
    done = done && mica_pack(world, &(mica_save_def){.skip_state = true}, out_blob) == MICA_OK;
    mica_world_destroy(world);
    if (done)
        return NULL;
    return out_error->text[0] ? out_error->text : "memory is short";
}

mica_result mica_cluster_join(const char *path, mica_blob *out_blob, mica_resource_error *out_error)
{
    mica_resource_error error = {0};
    if (MICAP_MISSING_INTO(out_error, path) || MICAP_MISSING_INTO(out_error, out_blob))
        return MICA_ERROR_INVALID;
    *out_blob = (mica_blob){0};
    micap_memory memory;
    micap_memory_init(&memory, (mica_allocator){0});
    micap_manifest manifest = {.memory = &memory};
    micap_part_file *parts = NULL;
    const char *problem = join(path, &memory, &manifest, &parts, &error, out_blob);
    if (problem && problem != error.text)
        snprintf(error.text, sizeof error.text, "%.150s: %s", path, problem);
    for (uint32_t i = 0; parts && i < manifest.part_count; ++i)
        micap_part_file_close(&parts[i]);
    micap_release(&memory, parts, manifest.part_count * sizeof *parts, MICAP_ARRAY_ALIGNMENT);
    micap_manifest_free(&manifest);
    if (out_error)
        *out_error = problem ? error : (mica_resource_error){0};
    return problem ? error.result : MICA_OK;
}
