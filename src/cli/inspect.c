/* mica info, dump, check and schema. */
#include "cli/cli.h"
#include "json/json_writer.h"
#include "mica/module_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const roles[] = {"data", "tag", "singleton"};

static const char *order_text(const mica_resource *resource)
{
    return mica_resource_get_info(resource).byte_order == MICA_BYTE_ORDER_BIG ? "big" : "little";
}

static void print_info(const char *path, const mica_resource *resource)
{
    mica_resource_info info = mica_resource_get_info(resource);
    printf("%s: %" PRIu64 " bytes, format %u.%u, %s-endian\n", path, info.file_bytes, info.version_major,
           info.version_minor, order_text(resource));
    printf("%u entities in %u groups\n\n", mica_resource_entity_count(resource), info.group_count);
    printf("%-24s %-10s %10s %8s %12s %6s  %s\n", "component", "kind", "instances", "bytes", "total", "order",
           "layout");
    for (uint32_t i = 0; i < mica_resource_component_count(resource); ++i) {
        mica_resource_component component = mica_resource_component_at(resource, i);
        printf("%-24s %-10s %10u %8u %12" PRIu64 " %6d  %016" PRIx64 "\n", component.name, roles[component.storage],
               component.instance_count, component.type->size_bytes,
               (uint64_t)component.instance_count * component.type->size_bytes, component.spawn_order,
               component.layout_hash);
    }
    for (uint32_t i = 0; i < mica_resource_asset_count(resource); ++i)
        printf("%s%s\n", i ? "" : "\nrefers to\n",
               mica_resource_asset_path(resource, mica_resource_asset_at(resource, i)));
    printf("\n%-12s %12s %12s %12s %10s\n", "section", "offset", "stored", "bytes", "records");
    for (uint32_t i = 0; i < info.section_count; ++i) {
        mica_resource_section section = mica_resource_section_at(resource, i);
        printf("%-12s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %10u%s\n", section.kind, section.offset,
               section.stored_bytes, section.bytes, section.count, section.compressed ? "  zstd" : "");
    }
}

static void write_components(micap_json_writer *writer, const mica_resource *resource)
{
    micap_write_member(writer, "components");
    micap_write_open(writer, '[');
    for (uint32_t i = 0; i < mica_resource_component_count(resource); ++i) {
        mica_resource_component component = mica_resource_component_at(resource, i);
        micap_write_member(writer, NULL);
        micap_write(writer, "{\"name\": ");
        micap_write_string(writer, component.name);
        micap_write(writer, ", \"kind\": \"%s\", \"instances\": %u, \"bytes\": %u", roles[component.storage],
                    component.instance_count, component.type->size_bytes);
        micap_write(writer, ", \"spawn_order\": %d, \"layout\": \"%016" PRIx64 "\"}", component.spawn_order,
                    component.layout_hash);
    }
    micap_write_close(writer, ']');
}

static void write_assets(micap_json_writer *writer, const mica_resource *resource)
{
    micap_write_member(writer, "refers_to");
    micap_write_open(writer, '[');
    for (uint32_t i = 0; i < mica_resource_asset_count(resource); ++i) {
        micap_write_member(writer, NULL);
        micap_write_string(writer, mica_resource_asset_path(resource, mica_resource_asset_at(resource, i)));
    }
    micap_write_close(writer, ']');
}

static int write_info(const mica_resource *resource)
{
    micap_json_writer writer;
    mica_resource_info info = mica_resource_get_info(resource);
    micap_writer_init(&writer);
    micap_write_open(&writer, '{');
    micap_write_member(&writer, "file_bytes");
    micap_write(&writer, "%" PRIu64, info.file_bytes);
    micap_write_member(&writer, "format");
    micap_write(&writer, "\"%u.%u\"", info.version_major, info.version_minor);
    micap_write_member(&writer, "byte_order");
    micap_write_string(&writer, order_text(resource));
    micap_write_member(&writer, "entities");
    micap_write(&writer, "%u", mica_resource_entity_count(resource));
    micap_write_member(&writer, "groups");
    micap_write(&writer, "%u", info.group_count);
    write_components(&writer, resource);
    write_assets(&writer, resource);
    micap_write_member(&writer, "sections");
    micap_write_open(&writer, '[');
    for (uint32_t i = 0; i < info.section_count; ++i) {
        mica_resource_section section = mica_resource_section_at(resource, i);
        micap_write_member(&writer, NULL);
        micap_write(&writer,
                    "{\"kind\": \"%s\", \"offset\": %" PRIu64 ", \"stored_bytes\": %" PRIu64 ", \"bytes\": %" PRIu64
                    ", \"records\": %u, \"compressed\": %s}",
                    section.kind, section.offset, section.stored_bytes, section.bytes, section.count,
                    section.compressed ? "true" : "false");
    }
    micap_write_close(&writer, ']');
    micap_write_close(&writer, '}');
    return write_gathered(&writer);
}

int run_info(const options *options)
{
    mica_resource *resource = load_or_complain(options->inputs[0]);
    int status = resource ? EXIT_FINE : EXIT_BAD;
    if (resource && options->json)
        status = write_info(resource);
    else if (resource)
        print_info(options->inputs[0], resource);
    mica_resource_free(resource);
    return status;
}

int run_dump(const options *options)
{
    mica_resource *resource = load_or_complain(options->inputs[0]);
    if (!resource)
        return EXIT_BAD;
    mica_blob text;
    mica_result result = mica_dump(resource, &text);
    int status = result == MICA_OK ? write_output(options->output, text.bytes, text.byte_count)
                                   : complain("%s: %s", options->inputs[0],
                                              result == MICA_ERROR_LIMIT ? "children are nested too deep for JSON"
                                                                         : mica_result_text(result));
    mica_blob_free(&text);
    mica_resource_free(resource);
    return status;
}

/* Checks a file and the resources it refers to. Returns false with an error if one is invalid. */
static bool check(const options *options, const char *path, mica_resource_error *out_error)
{
    mica_resource *resource = load_any(path, out_error);
    bool fine = resource != NULL;
    if (fine && mica_resource_asset_count(resource)) {
        mica_library *library = library_beside(options, path);
        mica_resource_error inner = {.text = "out of memory"};
        fine = library && mica_library_load_assets(library, resource, &inner) == MICA_OK;
        if (!fine) {
            out_error->result = MICA_ERROR_UNKNOWN;
            snprintf(out_error->text, sizeof out_error->text, "refers to what can't be loaded: %.200s", inner.text);
        }
        mica_library_destroy(library);
    }
    mica_resource_free(resource);
    return fine;
}

int run_check(const options *options)
{
    int status = EXIT_FINE;
    micap_json_writer writer;
    mica_blob text;
    micap_writer_init(&writer);
    micap_write_open(&writer, '[');
    for (uint32_t i = 0; i < options->input_count; ++i) {
        mica_resource_error error = {0};
        const char *path = options->inputs[i];
        bool is_sound = check(options, path, &error);
        micap_write_member(&writer, NULL);
        micap_write(&writer, "{\"file\": ");
        micap_write_string(&writer, path);
        micap_write(&writer, ", \"sound\": %s", is_sound ? "true" : "false");
        if (!is_sound) {
            status = EXIT_BAD;
            micap_write(&writer, ", \"offset\": %" PRIu64 ", \"text\": ", error.offset);
            micap_write_string(&writer, error.text);
            if (!options->json && error.result == MICA_ERROR_FILE)
                complain("%s", error.text);
            else if (!options->json && error.result == MICA_ERROR_UNKNOWN)
                complain("%s %s", path, error.text);
            else if (!options->json)
                complain("%s: at byte %" PRIu64 ": %s", path, error.offset, error.text);
        } else if (!options->json && !options->quiet) {
            printf("%s: sound\n", path);
        }
        micap_write(&writer, "}");
    }
    micap_write_close(&writer, ']');
    if (micap_writer_finish(&writer, &text) != MICA_OK)
        return complain("out of memory");
    if (options->json && write_output(NULL, text.bytes, text.byte_count) != EXIT_FINE)
        status = EXIT_BAD;
    mica_blob_free(&text);
    return status;
}

static void print_error(const mica_compile_error *error, void *context)
{
    (void)context;
    if (error->line)
        fprintf(stderr, "%s:%d:%d: error: %s%s%s\n", error->file, error->line, error->column, error->path,
                *error->path ? ": " : "", error->text);
    else
        fprintf(stderr, "mica: %s\n", error->text);
}

bool schema_add_any(mica_schema *schema, const char *path)
{
    if (ends_with(path, ".json"))
        return mica_schema_add_file(schema, path, print_error, NULL) == MICA_OK;
    mica_resource *resource = load_or_complain(path);
    mica_result result = resource ? mica_schema_add_resource(schema, resource) : MICA_ERROR_DATA;
    mica_resource_free(resource);
    if (result == MICA_ERROR_EXISTS)
        complain("%s has a component that another file describes otherwise", path);
    else if (resource && result != MICA_OK)
        complain("%s: %s", path, mica_result_text(result));
    return result == MICA_OK;
}

/* Adds the components that modules define, with the attributes of their fields, which files do not have. */
static bool schema_add_modules(mica_schema *schema, const options *options)
{
    mica_library *library = library_beside(options, options->modules[0]);
    mica_modules *modules = mica_module_load(options->modules, options->module_count,
                                             &(mica_module_def){.library = library, .in_place = true});
    mica_result result = modules ? mica_schema_add_world(schema, mica_module_world(modules)) : MICA_ERROR_FILE;
    if (modules && result != MICA_OK)
        complain("schema: %s", mica_result_text(result));
    mica_module_unload(modules);
    mica_library_destroy(library);
    return result == MICA_OK;
}

int run_schema(const options *options)
{
    if (!options->input_count && !options->module_count)
        return complain("schema: expected a file or a module; try mica help schema");
    mica_schema *schema = mica_schema_create();
    bool fine = schema && (!options->module_count || schema_add_modules(schema, options));
    for (uint32_t i = 0; fine && i < options->input_count; ++i)
        fine = schema_add_any(schema, options->inputs[i]);
    mica_blob text = {0};
    if (fine && mica_schema_write(schema, &text) != MICA_OK)
        fine = complain("out of memory") == EXIT_FINE;
    int status = fine ? write_output(options->output, text.bytes, text.byte_count) : EXIT_BAD;
    mica_blob_free(&text);
    mica_schema_destroy(schema);
    return status;
}
