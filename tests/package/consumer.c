/* The smallest program that needs the header, the library and the macros. */
#include <mica/mica.h>

#include <stdio.h>

typedef struct Counter { int value; } Counter;
MICA_COMPONENT(Counter, value)

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity entity = mica_create(world, MICA_WITH(Counter, {41}));
    mica_write(world, entity, Counter)->value += 1;
    printf("%d\n", mica_get(world, entity, Counter)->value);
    mica_world_destroy(world);
}
