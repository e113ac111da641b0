/* mica compile */
#include "cli/cli.h"
#include "json/json_writer.h"
#include "os/file.h"
#include "os/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints errors: as lines, or as members of a JSON array. */
typedef struct listener {
    micap_json_writer *json; /* NULL: lines */
    const char *file;
    bool has_bar;
    uint32_t percent;
} listener;

static void clear_bar(listener *listener)
{
    if (listener->has_bar)
        fprintf(stderr, "\r\033[K");
    listener->has_bar = false;
}

static void hear_error(const mica_compile_error *error, void *context)
{
    listener *listener = context;
    clear_bar(listener);
    if (!listener->json) {
        fprintf(stderr, "%s", error->file);
        if (error->line)
            fprintf(stderr, ":%d:%d", error->line, error->column);
        fprintf(stderr, ": error: %s%s%s\n", error->path, *error->path ? ": " : "", error->text);
        return;
    }
    micap_write_member(listener->json, NULL);
    micap_write(listener->json, "{\"file\": ");
    micap_write_string(listener->json, error->file);
    micap_write(listener->json, ", \"line\": %d, \"column\": %d, \"path\": ", error->line, error->column);
    micap_write_string(listener->json, error->path);
    micap_write(listener->json, ", \"text\": ");
    micap_write_string(listener->json, error->text);
    micap_write(listener->json, "}");
}

/* Shows a progress bar if standard error is a terminal. */
static void show_progress(uint64_t done, uint64_t total, void *context)
{
    enum { WIDTH = 30 };
    listener *listener = context;
    uint32_t percent = total ? (uint32_t)(done * 100 / total) : 0;
    if (listener->has_bar && percent == listener->percent)
        return;
    char bar[WIDTH + 1];
    for (uint32_t i = 0; i < WIDTH; ++i)
        bar[i] = i < percent * WIDTH / 100 ? '=' : ' ';
    bar[WIDTH] = 0;
    fprintf(stderr, "\r[%s] %3u%% %s", bar, percent, listener->file);
    fflush(stderr);
    listener->has_bar = true;
    listener->percent = percent;
}

/* Replaces the suffix .json by .mica, or appends .mica. */
static char *output_beside(const char *input)
{
    size_t length = strlen(input), stem = ends_with(input, ".json") ? length - 5 : length;
    char *output = malloc(length + sizeof ".mica");
    if (output) {
        memcpy(output, input, stem);
        memcpy(output + stem, ".mica", sizeof ".mica");
    }
    return output;
}

/* Returns the modification time of a file in nanoseconds since 1970; 0 if there is no file. */
static uint64_t time_of(const char *path)
{
    micap_file_stamp stamp = micap_file_look(path);
    return stamp.seconds * 1000000000u + stamp.nanoseconds;
}

static bool load_schema(const options *options, mica_schema *schema, char *beside, size_t beside_bytes)
{
    for (uint32_t i = 0; i < options->schema_count; ++i)
        if (!schema_add_any(schema, options->schemas[i]))
            return false;
    if (options->schema_count)
        return true;
    const char *slash = strrchr(options->inputs[0], '/');
    int folder = slash ? (int)(slash - options->inputs[0]) + 1 : 0;
    snprintf(beside, beside_bytes, "%.*sschema.json", folder, options->inputs[0]);
    if (time_of(beside) == 0)
        return complain("compile: which components are there? Give a --schema, or put one at %s", beside), false;
    return schema_add_any(schema, beside);
}

/* Returns true if the target is newer than everything in its dependency file. */
static bool is_up_to_date(const char *depfile, const char *target)
{
    uint64_t made = time_of(target);
    FILE *file = made ? fopen(depfile, "r") : NULL;
    if (!file)
        return false;
    char line[4096], path[4096];
    bool newest = fgets(line, sizeof line, file) != NULL, more = true;
    while (newest && more && fgets(line, sizeof line, file) && line[0] == ' ') {
        size_t length = strcspn(line, "\n"), count = 0;
        more = length > 2 && line[length - 1] == '\\';
        length -= more ? 2 : 0;
        for (size_t i = 2; i < length; ++i) {
            bool escaped = (line[i] == '\\' && strchr(" #", line[i + 1])) || (line[i] == '$' && line[i + 1] == '$');
            path[count++] = line[escaped ? ++i : i];
        }
        path[count] = 0;
        uint64_t changed = time_of(path);
        newest = changed && changed <= made;
    }
    fclose(file);
    return newest;
}

static bool write_dependencies(const options *options, const mica_compiled *compiled, const char *beside,
                               const char *target)
{
    uint32_t count = compiled->dependency_count;
    const char **files = malloc((count + options->schema_count + 1) * sizeof *files);
    mica_resource_error error = {.text = "out of memory"};
    if (!files)
        return complain("%s", error.text), false;
    for (uint32_t i = 0; i < count; ++i)
        files[i] = compiled->dependencies[i];
    for (uint32_t i = 0; i < options->schema_count; ++i)
        files[count++] = options->schemas[i];
    if (!options->schema_count)
        files[count++] = beside;
    mica_result result = mica_write_depfile(options->depfile, target, files, count, &error);
    free((void *)files);
    return result == MICA_OK || (complain("%s", error.text), false);
}

static int compile_one(const options *options, const mica_schema *schema, const char *beside, const char *input,
                       listener *listener)
{
    char *made = options->output ? NULL : output_beside(input);
    const char *output = options->output ? options->output : made;
    if (!output)
        return complain("out of memory");
    if (options->depfile && !options->force && is_up_to_date(options->depfile, output)) {
        if (!options->quiet && !options->json)
            printf("%s is up to date\n", output);
        free(made);
        return EXIT_FINE;
    }
    listener->file = input;
    mica_compile_def def = {.schema = schema,
                            .root = options->root,
                            .byte_order = options->byte_order,
                            .compression = options->compression,
                            .error = hear_error,
                            .error_context = listener,
                            .progress = micap_is_terminal(stderr) && !options->quiet ? show_progress : NULL,
                            .progress_context = listener};
    mica_compiled compiled;
    int status = mica_compile_file(input, &def, &compiled) == MICA_OK ? EXIT_FINE : EXIT_BAD;
    clear_bar(listener);
    if (status == EXIT_FINE)
        status = write_output(output, compiled.blob.bytes, compiled.blob.byte_count);
    if (status == EXIT_FINE && options->depfile && !write_dependencies(options, &compiled, beside, output))
        status = EXIT_BAD;
    if (status == EXIT_FINE && !options->quiet && !options->json)
        printf("%s: %zu bytes\n", output, compiled.blob.byte_count);
    mica_compiled_free(&compiled);
    free(made);
    return status;
}

int run_compile(const options *options)
{
    char beside[4096];
    if (options->input_count > 1 && (options->output || options->depfile))
        return complain("compile: --output and --depfile go with one file");
    mica_schema *schema = mica_schema_create();
    int status = schema && load_schema(options, schema, beside, sizeof beside) ? EXIT_FINE : EXIT_BAD;
    micap_json_writer writer;
    listener listener = {0};
    if (options->json) {
        micap_writer_init(&writer);
        micap_write_open(&writer, '[');
        listener.json = &writer;
    }
    bool has_schema = status == EXIT_FINE;
    for (uint32_t i = 0; has_schema && i < options->input_count; ++i)
        if (compile_one(options, schema, beside, options->inputs[i], &listener) != EXIT_FINE)
            status = EXIT_BAD; /* continue, to report the errors of all files */
    if (options->json) {
        mica_blob text;
        micap_write_close(&writer, ']');
        if (micap_writer_finish(&writer, &text) == MICA_OK)
            write_output(NULL, text.bytes, text.byte_count);
        mica_blob_free(&text);
    }
    mica_schema_destroy(schema);
    return status;
}
