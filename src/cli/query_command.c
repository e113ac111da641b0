/* mica query: the entities of a resource that match a text. */
#include "cli/cli.h"
#include "cli/file_world.h"
#include "mica/mica.h"
#ifdef MICA_WITH_ARROW
#    include "mica/arrow.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text of any length, which is written by a function that returns how long it is. */
typedef struct line {
    char *text;
    size_t capacity;
} line;

/* Makes room for a text of so many bytes; true if it must be written again. */
static bool grow(line *line, size_t length)
{
    if (length < line->capacity)
        return false;
    char *larger = realloc(line->text, length + 1);
    if (!larger)
        return false; /* the text is cut */
    line->text = larger;
    line->capacity = length + 1;
    return true;
}

static void print_path(const mica_world *world, mica_entity entity)
{
    const char *name = mica_name_get(world, entity);
    if (!name) {
        printf("#%u:%u", entity.index, entity.generation);
        return;
    }
    mica_entity scope = mica_name_get_scope(world, entity);
    if (!mica_is_nil(scope)) {
        print_path(world, scope);
        putchar('/');
    }
    printf("%s", name);
}

static bool is_about_row(const mica_term *term)
{
    return term->subject.kind <= MICA_NODE_THIS && term->target.kind == MICA_NODE_DEFAULT && !term->up && !term->down &&
           !term->cascade;
}

/* What the variables stand for. */
static void print_variables(const mica_world *world, const mica_query *query, const mica_view *view)
{
    const char *name;
    for (uint32_t i = 1; (name = mica_query_variable_name(query, i)); ++i) {
        mica_entity entity = mica_view_variable(view, i);
        printf("  $%s ", name);
        if (mica_is_nil(entity))
            putchar('-');
        else
            print_path(world, entity);
    }
}

/* The entity, then its components that the query reads. */
static void print_match(const mica_world *world, mica_entity entity, const mica_term *terms, uint32_t count, line *line)
{
    print_path(world, entity);
    for (uint32_t i = 0; i < count; ++i) {
        if (!is_about_row(&terms[i]))
            continue;
        const void *value = mica_get_id(world, entity, terms[i].component);
        mica_member member = mica_member_of(terms[i].component, (void *)value);
        if (!value || !mica_component_type(terms[i].component)->size_bytes)
            continue;
        if (grow(line, mica_value_write(member, line->text, line->capacity)))
            mica_value_write(member, line->text, line->capacity);
        printf("  %s %s", mica_component_type(terms[i].component)->name, line->text);
    }
}

static void print_json(const mica_world *world, mica_entity entity, line *line)
{
    if (grow(line, mica_entity_write_json(world, entity, line->text, line->capacity)))
        mica_entity_write_json(world, entity, line->text, line->capacity);
    puts(line->text);
}

static int print_matches(const options *options, const file_world *file, mica_query *query)
{
    line line = {calloc(1, 256), 256};
    if (!line.text)
        return complain("out of memory");
    mica_term terms[MICA_TERMS_MAX];
    uint32_t count = mica_query_terms(query, terms, MICA_TERMS_MAX);
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            if (options->json) {
                print_json(file->world, view.entities[i], &line);
                continue;
            }
            print_match(file->world, view.entities[i], terms, count, &line);
            print_variables(file->world, query, &view);
            putchar('\n');
        }
    free(line.text);
    return EXIT_FINE;
}

static int print_plan(const mica_query *query)
{
    size_t length = mica_query_explain(query, NULL, 0);
    char *text = malloc(length + 1);
    if (!text)
        return complain("out of memory");
    mica_query_explain(query, text, length + 1);
    puts(text);
    free(text);
    return EXIT_FINE;
}

#ifdef MICA_WITH_ARROW
static bool write_out(const void *bytes, size_t byte_count, void *context)
{
    return fwrite(bytes, 1, byte_count, context) == byte_count;
}

/* Batches as large as readers like them. What went wrong was reported, except for standard output, which the caller checks. */
static int save_arrow(const options *options, mica_query *query)
{
    const mica_arrow_def def = {.batch_rows = 1 << 16};
    bool is_output = strcmp(options->arrow, "-") == 0;
    mica_result result = is_output ? mica_arrow_write(query, &def, NULL, write_out, stdout)
                                   : mica_arrow_save(query, &def, options->arrow, NULL);
    return result == MICA_OK ? EXIT_FINE : EXIT_BAD;
}
#else
static int save_arrow(const options *options, mica_query *query)
{
    (void)options;
    (void)query;
    return complain("query: the tool was built without Arrow");
}
#endif

/* The text, and a mark below the place of the error. */
static int complain_about_text(const char *text, const mica_value_error *error)
{
    complain("query: %s", error->text);
    if (!strpbrk(text, "\r\n\t"))
        fprintf(stderr, "  %s\n  %*s^\n", text, (int)error->position, "");
    return EXIT_BAD;
}

int run_query(const options *options)
{
    file_world file = {0};
    mica_value_error error;
    int status = EXIT_BAD;
    if (file_world_open(&file, options)) {
        mica_query *query = mica_query_text(file.world, options->inputs[1], &error);
        status = !query           ? complain_about_text(options->inputs[1], &error)
                 : options->plan  ? print_plan(query)
                 : options->arrow ? save_arrow(options, query)
                                  : print_matches(options, &file, query);
    }
    file_world_close(&file);
    return fflush(stdout) == 0 ? status : complain("standard output can't be written");
}
