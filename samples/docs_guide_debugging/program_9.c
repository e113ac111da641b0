#line 9 "docs/guide/debugging.md"
#include "mica/mica.h"

#include <stdio.h>

typedef struct Health { int points; } Health;
MICA_COMPONENT(Health, points)

static void show(const mica_report *report, void *context)
{
    (void)context;
    printf("%s: %s\n", mica_result_text(report->result), report->text);
}

int main(void)
{
    mica_world_def def = mica_world_def_default();
    def.report = show; /* set a breakpoint there to stop at every error */
    mica_world *world = mica_world_create(&def);

    mica_entity orc = mica_create(world, MICA_WITH(Health, {5}));
    mica_destroy(world, orc);
    bool is_set = mica_set(world, orc, Health, {9});
    printf("set: %s, error: %s\n", is_set ? "yes" : "no", mica_result_text(mica_world_take_error(world)));

    mica_query_create(world, MICA_QUERY(MICA_READ(Health), MICA_ADDED(Health)));
    mica_world_destroy(world);
}
