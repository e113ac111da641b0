#include "json/source_file.h"

#include "json/compile_error.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

void micap_sources_free(mica_compiler *compiler)
{
    for (micap_source_file *source = compiler->sources; source; source = source->next) {
        json_decref(source->root);
        micap_release(&compiler->memory, source->text, source->text_bytes, 1);
    }
}

static bool read_text(mica_compiler *compiler, micap_source_file *source, const char *text, size_t text_bytes,
                      micap_context asked)
{
    micap_mapping mapping = {0};
    if (!text) {
        int problem = micap_file_map(source->path, &mapping);
        if (problem) {
            if (compiler->result == MICA_OK && !asked.location)
                compiler->result = MICA_ERROR_FILE;
            return micap_json_error(compiler, asked.location ? asked : (micap_context){.source = source},
                                    "%.200s can't be read: %s", source->path, strerror(problem));
        }
        text = mapping.bytes;
        text_bytes = mapping.byte_count;
    }
    source->text = micap_allocate(&compiler->memory, text_bytes, 1);
    if (source->text) {
        source->text_bytes = text_bytes;
        if (text_bytes)
            memcpy(source->text, text, text_bytes);
    }
    micap_file_unmap(&mapping);
    return source->text || micap_json_error_memory(compiler);
}

/* jansson names what it expected. Its column counts characters and is after the error. */
static bool parse(mica_compiler *compiler, micap_source_file *source)
{
    json_error_t problem = {0};
    source->root = json_loadb(source->text, source->text_bytes, JSON_REJECT_DUPLICATES, &problem);
    if (source->root)
        return true;
    /* If memory is short, jansson usually returns an empty text, and sometimes a syntax error. */
    if (json_error_code(&problem) == json_error_out_of_memory || !problem.text[0])
        return micap_json_error_memory(compiler);
    char text[320];
    const char *hint = strstr(problem.text, "too big") ? "; write it as a string" : "";
    snprintf(text, sizeof text, "%s%s", problem.text, hint);
    mica_compile_error error = {.file = source->path,
                                .line = problem.line > 0 ? problem.line : 0,
                                .column = problem.column > 0 ? problem.column : 1,
                                .path = "",
                                .text = text};
    mica_compile_error_fn report = compiler->def->error ? compiler->def->error : micap_json_print_error;
    report(&error, compiler->def->error_context);
    ++compiler->error_count;
    compiler->result = compiler->result == MICA_OK ? MICA_ERROR_DATA : compiler->result;
    return false;
}

micap_source_file *micap_source_get(mica_compiler *compiler, const char *path, const char *text, size_t text_bytes,
                                    micap_context asked)
{
    for (micap_source_file *source = compiler->sources; source; source = source->next)
        if (strcmp(source->path, path) == 0)
            return source;
    micap_source_file *source = micap_json_allocate(compiler, sizeof *source);
    char *copy = source ? (char *)micap_json_copy(compiler, path) : NULL;
    if (!copy)
        return NULL;
    source->path = copy;
    if (compiler->last_source)
        compiler->last_source->next = source;
    else
        compiler->sources = source;
    compiler->last_source = source;
    ++compiler->source_count;
    source->broken = !read_text(compiler, source, text, text_bytes, asked) || !parse(compiler, source);
    return source;
}
