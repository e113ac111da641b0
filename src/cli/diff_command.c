/* mica diff: compares entities by path and values by their text. */
#include "cli/cli.h"
#include "cli/recorded_run.h"
#include "json/dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of the two files, its entities sorted by path. */
typedef struct side {
    mica_resource *resource;
    micap_dump dump;
    struct item {
        char *path;
        uint32_t entity;
    } * items;
    uint32_t count;
} side;

typedef struct comparison {
    side sides[2];
    micap_json_writer json;
    bool as_json;
    bool quiet;
    uint32_t differences;
} comparison;

static int compare_items(const void *a, const void *b)
{
    return strcmp(((const struct item *)a)->path, ((const struct item *)b)->path);
}

/* Returns a copy of the text, ended by zero, and empties the writer. */
static char *take_text(micap_json_writer *writer)
{
    char *text = malloc((size_t)writer->count + 1);
    if (text && !writer->failed) {
        if (writer->count)
            memcpy(text, writer->text, writer->count);
        text[writer->count] = 0;
    }
    bool failed = writer->failed;
    writer->count = 0;
    if (failed || !text) {
        free(text);
        complain("out of memory");
        exit(EXIT_BAD);
    }
    return text;
}

static bool open_side(side *side, const char *path)
{
    side->resource = load_or_complain(path);
    if (!side->resource || micap_dump_begin(&side->dump, side->resource) != MICA_OK)
        return false;
    side->count = mica_resource_entity_count(side->resource);
    side->items = calloc(side->count + 1, sizeof *side->items);
    for (uint32_t i = 0; side->items && i < side->count; ++i) {
        micap_dump_path(&side->dump, i);
        side->items[i] = (struct item){take_text(&side->dump.writer), i};
    }
    if (side->items)
        qsort(side->items, side->count, sizeof *side->items, compare_items);
    return side->items != NULL;
}

static void close_side(side *side)
{
    for (uint32_t i = 0; side->items && i < side->count; ++i)
        free(side->items[i].path);
    free(side->items);
    if (side->resource)
        micap_dump_end(&side->dump);
    mica_resource_free(side->resource);
}

/* Prints one difference; NULL means absent. */
static void tell(comparison *work, const char *path, const char *component, const char *before, const char *after)
{
    ++work->differences;
    if (work->quiet)
        return;
    if (!work->as_json) {
        printf("%c %s", !after ? '-' : !before ? '+' : '~', path);
        if (component)
            printf(" %s", component);
        if (component && before && after)
            printf(": %s -> %s", before, after);
        else if (component)
            printf(": %s", before ? before : after);
        printf("\n");
        return;
    }
    micap_write_member(&work->json, NULL);
    micap_write(&work->json, "{\"change\": \"%s\", \"path\": ", !after ? "removed" : !before ? "added" : "changed");
    micap_write_string(&work->json, path);
    if (component) {
        micap_write(&work->json, ", \"component\": ");
        micap_write_string(&work->json, component);
        micap_write(&work->json, ", \"before\": ");
        micap_write_string(&work->json, before ? before : "");
        micap_write(&work->json, ", \"after\": ");
        micap_write_string(&work->json, after ? after : "");
    }
    micap_write(&work->json, "}");
}

static uint32_t find_component(const side *side, const char *name)
{
    uint32_t count = mica_resource_component_count(side->resource), i = 0;
    while (i < count && strcmp(mica_resource_component_at(side->resource, i).name, name) != 0)
        ++i;
    return i;
}

/* Returns the value of a component as text, marked if it is disabled; NULL if the entity has none. */
static char *value_text(side *side, uint32_t entity, uint32_t component)
{
    if (!mica_resource_value(side->resource, entity, component))
        return NULL;
    micap_dump_value(&side->dump, entity, component);
    if (mica_resource_is_disabled(side->resource, entity, component))
        micap_write(&side->dump.writer, " disabled");
    return take_text(&side->dump.writer);
}

static void compare_component(comparison *work, const char *path, const char *name, const uint32_t *entities)
{
    char *texts[2];
    for (uint32_t i = 0; i < 2; ++i)
        texts[i] = value_text(&work->sides[i], entities[i], find_component(&work->sides[i], name));
    if (texts[0] && texts[1] ? strcmp(texts[0], texts[1]) != 0 : texts[0] != texts[1])
        tell(work, path, name, texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
}

static void compare_entities(comparison *work, const char *path, uint32_t before, uint32_t after)
{
    const uint32_t entities[] = {before, after};
    const mica_resource *first = work->sides[0].resource, *second = work->sides[1].resource;
    for (uint32_t i = 0; i < mica_resource_component_count(first); ++i)
        compare_component(work, path, mica_resource_component_at(first, i).name, entities);
    for (uint32_t i = 0; i < mica_resource_component_count(second); ++i) {
        const char *name = mica_resource_component_at(second, i).name;
        if (find_component(&work->sides[0], name) == mica_resource_component_count(first))
            compare_component(work, path, name, entities);
    }
}

static void compare_singletons(comparison *work)
{
    for (uint32_t which = 0; which < 2; ++which) {
        side *here = &work->sides[which], *there = &work->sides[!which];
        for (uint32_t i = 0; i < mica_resource_component_count(here->resource); ++i) {
            mica_resource_component mine = mica_resource_component_at(here->resource, i);
            uint32_t other = find_component(there, mine.name);
            mica_resource_component its = mica_resource_component_at(there->resource, other);
            if (mine.storage != MICA_STORAGE_SINGLETON || (which && its.name))
                continue;
            micap_dump_singleton(&here->dump, i);
            char *my_text = take_text(&here->dump.writer), *its_text = NULL;
            if (its.name && its.storage == MICA_STORAGE_SINGLETON) {
                micap_dump_singleton(&there->dump, other);
                its_text = take_text(&there->dump.writer);
            }
            if (!its_text || strcmp(my_text, its_text) != 0)
                tell(work, "singletons", mine.name, which ? its_text : my_text, which ? my_text : its_text);
            free(my_text);
            free(its_text);
        }
    }
}

static void compare(comparison *work)
{
    const side *first = &work->sides[0], *second = &work->sides[1];
    for (uint32_t i = 0, j = 0; i < first->count || j < second->count;) {
        int order = i == first->count    ? 1
                    : j == second->count ? -1
                                         : strcmp(first->items[i].path, second->items[j].path);
        if (order < 0) {
            tell(work, first->items[i++].path, NULL, "", NULL);
        } else if (order > 0) {
            tell(work, second->items[j++].path, NULL, NULL, "");
        } else {
            compare_entities(work, first->items[i].path, first->items[i].entity, second->items[j].entity);
            ++i;
            ++j;
        }
    }
    compare_singletons(work);
}

int run_diff(const options *options)
{
    if (is_recording_file(options->inputs[0]) && is_recording_file(options->inputs[1]))
        return diff_recordings(options);
    comparison work = {.as_json = options->json, .quiet = options->quiet};
    mica_blob text;
    micap_writer_init(&work.json);
    micap_write_open(&work.json, '[');
    int status = EXIT_BAD;
    if (open_side(&work.sides[0], options->inputs[0]) && open_side(&work.sides[1], options->inputs[1])) {
        compare(&work);
        status = work.differences ? EXIT_DIFFERENT : EXIT_FINE;
    }
    micap_write_close(&work.json, ']');
    if (micap_writer_finish(&work.json, &text) != MICA_OK)
        status = complain("out of memory");
    else if (options->json && status != EXIT_BAD && write_output(NULL, text.bytes, text.byte_count) != EXIT_FINE)
        status = EXIT_BAD;
    mica_blob_free(&text);
    close_side(&work.sides[0]);
    close_side(&work.sides[1]);
    return status;
}
