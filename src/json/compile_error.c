#include "json/compile_error.h"

#include "base/argument.h"
#include "base/assert.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 512 };

void micap_json_print_error(const mica_compile_error *error, void *context)
{
    (void)context;
    fprintf(stderr, "%s", error->file);
    if (error->line)
        fprintf(stderr, ":%d:%d", error->line, error->column);
    fprintf(stderr, ": %s%s%s\n", error->path, *error->path ? ": " : "", error->text);
}

static void append(char *path, const char *format, ...) MICAP_FORMAT(2, 3);
static void append(char *path, const char *format, ...)
{
    size_t used = strlen(path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path + used, PATH_BYTES - used, format, arguments);
    va_end(arguments);
}

static void append_place(char *path, const micap_json_location *location)
{
    if (!location)
        return;
    append_place(path, location->up);
    append(path, location->up ? ".children[%u]" : "entities[%u]", location->index);
}

static void append_steps(char *path, const micap_step_in *step)
{
    if (!step)
        return;
    append_steps(path, step->up);
    if (step->key)
        append(path, "%s%s", *path ? "." : "", step->key);
    else
        append(path, "[%zu]", step->index);
}

bool micap_json_error(mica_compiler *compiler, micap_context context, const char *format, ...)
{
    char text[512], path[PATH_BYTES] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    append_place(path, context.location);
    append_steps(path, context.path);
    const micap_source_file *source = context.location ? context.location->source : context.source;
    mica_compile_error error = {.file = source ? source->path : "", .path = path, .text = text};
    if (source && source->text)
        micap_json_locate(source->text, source->text_bytes, path, &error.line, &error.column);
    mica_compile_error_fn report = compiler->def->error ? compiler->def->error : micap_json_print_error;
    report(&error, compiler->def->error_context);
    ++compiler->error_count;
    if (compiler->result == MICA_OK)
        compiler->result = MICA_ERROR_DATA;
    return false;
}

bool micap_json_error_memory(mica_compiler *compiler)
{
    /* Reported once, because everything fails afterwards. */
    if (compiler->result != MICA_ERROR_MEMORY)
        micap_json_error(compiler, (micap_context){.source = compiler->sources}, "out of memory");
    compiler->result = MICA_ERROR_MEMORY;
    return false;
}

bool mica_compile_fail(mica_compiler *compiler, const char *field, const char *text)
{
    if (MICAP_MISSING(NULL, compiler))
        return false;
    micap_context context = compiler->current;
    micap_step_in step = {context.path, field, 0};
    if (field)
        context.path = &step;
    return micap_json_error(compiler, context, "%s", text);
}

/* The rest finds the position of a value in the text. jansson does not keep positions, and they are needed only for errors.
 * The text is valid JSON. */
typedef struct micap_cursor {
    const char *at;
    const char *end;
} cursor;

static void skip_blanks(cursor *cursor)
{
    while (cursor->at < cursor->end && strchr(" \t\r\n", *cursor->at) && *cursor->at)
        ++cursor->at;
}

static void skip_string(cursor *cursor)
{
    for (++cursor->at; cursor->at < cursor->end && *cursor->at != '"'; ++cursor->at)
        if (*cursor->at == '\\')
            ++cursor->at;
    ++cursor->at;
}

static void skip_value(cursor *cursor)
{
    uint32_t depth = 0;
    do {
        skip_blanks(cursor);
        if (cursor->at >= cursor->end)
            return;
        if (*cursor->at == '"') {
            skip_string(cursor);
        } else if (strchr("[{", *cursor->at)) {
            ++depth;
            ++cursor->at;
        } else if (strchr("]}", *cursor->at)) {
            --depth;
            ++cursor->at;
        } else if (strchr(",:", *cursor->at)) {
            ++cursor->at;
        } else {
            while (cursor->at < cursor->end && !strchr(",:]} \t\r\n", *cursor->at))
                ++cursor->at;
        }
    } while (depth && cursor->at < cursor->end);
}

/* Moves into the object or array at the cursor, to the member with that key or index. */
static bool step_in(cursor *cursor, const char *key, size_t key_length, size_t index)
{
    skip_blanks(cursor);
    bool is_object = cursor->at < cursor->end && *cursor->at == '{';
    if (cursor->at >= cursor->end || is_object != (key != NULL))
        return false;
    ++cursor->at;
    for (size_t i = 0;; ++i) {
        skip_blanks(cursor);
        if (cursor->at >= cursor->end || *cursor->at == ']' || *cursor->at == '}')
            return false;
        if (is_object) {
            const char *name = cursor->at + 1;
            skip_string(cursor);
            bool same = (size_t)(cursor->at - 1 - name) == key_length && memcmp(name, key, key_length) == 0;
            skip_blanks(cursor);
            ++cursor->at; /* the colon */
            skip_blanks(cursor);
            if (same)
                return true;
        } else if (i == index) {
            return true;
        }
        skip_value(cursor);
        skip_blanks(cursor);
        if (cursor->at < cursor->end && *cursor->at == ',')
            ++cursor->at;
    }
}

bool micap_json_locate(const char *text, size_t text_bytes, const char *path, int *out_line, int *out_column)
{
    cursor cursor = {text, text + text_bytes};
    skip_blanks(&cursor);
    while (*path) {
        if (*path == '.') {
            ++path;
        } else if (*path == '[') {
            char *after;
            size_t index = strtoul(path + 1, &after, 10);
            if (!step_in(&cursor, NULL, 0, index))
                return false;
            path = after + (*after == ']');
        } else {
            size_t length = strcspn(path, ".[");
            if (!step_in(&cursor, path, length, 0))
                return false;
            path += length;
        }
    }
    skip_blanks(&cursor);
    *out_line = 1;
    *out_column = 1;
    for (const char *at = text; at < cursor.at && at < cursor.end; ++at) {
        *out_column = *at == '\n' ? 1 : *out_column + 1;
        *out_line += *at == '\n';
    }
    return true;
}
