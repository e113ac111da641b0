/* Components that exclude each other: whatever moves walks, flies or swims, and no operation leaves it with two of them. */
#include "mica/mica.h"

#include <stdio.h>

typedef struct Walking { float speed; } Walking;
typedef struct Flying { float height; } Flying;
MICA_COMPONENT(Walking, speed)
MICA_COMPONENT_WITH(Flying, (.excludes = MICA_TYPES(Walking)), height) /* and so Walking excludes Flying */
typedef struct Swimming { float depth; } Swimming;
MICA_POOL_WITH(Swimming, (.excludes = MICA_TYPES(Walking, Flying)), depth) /* in any storage */
MICA_TAG_WITH(Winged, (.required = MICA_TYPES(Flying)))

static void print_report(const mica_report *report, void *context)
{
    (void)context;
    printf("refused: %s\n", report->text);
}

static void show(mica_world *world, const char *what, mica_entity entity)
{
    printf("%s:%s%s%s%s\n", what, mica_has(world, entity, Walking) ? " walks" : "",
           mica_has(world, entity, Flying) ? " flies" : "", mica_has(world, entity, Swimming) ? " swims" : "",
           mica_has(world, entity, Winged) ? " has wings" : "");
}

int main(void)
{
    mica_world_def def = mica_world_def_default();
    def.report = print_report;
    mica_world *world = mica_world_create(&def);

    mica_entity duck = mica_create(world, MICA_WITH(Walking, {1}));
    mica_set(world, duck, Flying, {10});
    mica_set(world, duck, Swimming, {1});
    mica_add(world, duck, Winged); /* which would bring Flying along */
    show(world, "duck", duck);

    mica_remove(world, duck, Walking);
    mica_add(world, duck, Winged);
    show(world, "duck", duck);

    mica_defer(world); /* recorded changes count by their net result, in any order */
    mica_set(world, duck, Swimming, {2});
    mica_remove(world, duck, Flying);
    mica_flush(world);
    show(world, "duck", duck);

    mica_entity goose = mica_create(world);
    mica_defer(world); /* one that is refused drops the changes of its entity, and no others */
    mica_set(world, duck, Walking, {1});
    mica_set(world, goose, Walking, {1});
    printf("flush: %s\n", mica_result_text(mica_flush(world)));
    show(world, "duck", duck);
    show(world, "goose", goose);
    mica_world_destroy(world);
}
