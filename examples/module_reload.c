/* Reload of native code: a program loads a module, which is built again while the program runs. The world keeps its state.
 *
 *     module_reload FIRST_BUILD SECOND_BUILD
 *
 * The two builds of examples/modules/garden.c stand for changes of its source while the program runs. */
#include "mica/flow.h"
#include "mica/module_load.h"
#include "mica/value.h"

#include <stdio.h>

static const char path[] = "module_reload_garden.so";

/* What a compiler does: the file is replaced; or only its beginning is written. */
static bool build(const char *from, bool completely)
{
    char bytes[4096];
    FILE *input = fopen(from, "rb"), *output = fopen(path, "wb");
    if (!input || !output)
        return false;
    for (size_t count; (count = fread(bytes, 1, sizeof bytes, input)) > 0;) {
        fwrite(bytes, 1, count, output);
        if (!completely)
            break;
    }
    fclose(input);
    return fclose(output) == 0;
}

static void print_report(const mica_report *report, void *context)
{
    (void)context;
    printf("report: %s\n", report->text);
}

/* The program knows the module's components only by name: their layout changes. */
static void run(mica_modules *garden)
{
    char text[256];
    mica_world *world = mica_module_world(garden);
    for (int day = 0; day < 3; ++day)
        mica_step(world, 1);
    mica_entity_write_json(world, mica_find(world, "rose"), text, sizeof text);
    printf("%s\n", text);
}

static void update(mica_modules *garden)
{
    printf("%s\n", mica_module_update(garden) ? "reloaded" : "not reloaded");
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 3 || !build(arguments[1], true))
        return fprintf(stderr, "module_reload FIRST_BUILD SECOND_BUILD\n"), 2;

    mica_world_def world_def = {.report = print_report};
    mica_modules *garden = mica_module_load((const char *[]){path}, 1, &(mica_module_def){.world = &world_def});
    if (!garden)
        return 1;
    mica_world *world = mica_module_world(garden);
    mica_entity rose = mica_create(world);
    mica_add_id(world, rose, mica_component_find(world, "Plant"));
    mica_name_set(world, rose, mica_nil(), "rose");
    run(garden);
    update(garden); /* no change */

    build(arguments[2], true);
    update(garden);
    run(garden);

    build(arguments[1], false);
    update(garden);
    run(garden);
    printf("still the same entity: %s\n", mica_is_alive(mica_module_world(garden), rose) ? "yes" : "no");

    mica_module_unload(garden);
    remove(path);
}
