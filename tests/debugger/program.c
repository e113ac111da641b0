/* What the test of the printers looks at. The private headers are here for the debug information of worlds and queries: the library may
 * be compiled without. */
#include "core/query/query.h"
#include "core/world/world.h"
#include "mica/list.h"
#include "mica/mica.h"
#include "mica/pool.h"

#include <stdio.h>

typedef struct Position {
    float x, y;
} Position;
MICA_COMPONENT(Position, x, y)

typedef struct Item {
    mica_text name;
    uint32_t count;
} Item;
MICA_STRUCT(Item, name, count)

typedef struct Person {
    mica_text name;
    mica_list inventory;
    mica_entity friend;
} Person;
MICA_COMPONENT(Person, name, (inventory, Item), friend)

typedef struct Burning {
    int seconds;
} Burning;
MICA_POOL(Burning, seconds)

MICA_TAG(Enemy)

/* As in memory that nothing was written to yet. */
static mica_text broken_text;
static mica_list broken_list;

static void stop_here(mica_world *world, mica_view *view, const Person *person, const Person *other, mica_entity dead)
{
    (void)world;
    (void)view;
    (void)person;
    (void)other;
    (void)dead;
    puts("stopped");
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity dead = mica_create(world);
    mica_destroy(world, dead);
    mica_entity bert =
        mica_create(world, MICA_WITH(Person, {.name = mica_text_of("Bert, whose name is longer than a value")}));
    mica_entity anna = mica_create(world, MICA_WITH(Person, {.name = mica_text_of("Anna"), .friend = bert}));
    Person *person = mica_write(world, anna, Person);
    mica_text_set(&mica_list_append(&person->inventory, Item)->name, "rope");
    mica_list_append(&person->inventory, Item)->count = 7;
    Burning burning = {0}; /* compilers describe types that have variables */
    for (int i = 0; i < 3; ++i, burning.seconds += 10) {
        Position position = {(float)i, 0.5f};
        mica_entity thing = mica_create(world, MICA_FROM(Position, &position), MICA_WITH(Enemy));
        if (i)
            mica_set_from(world, thing, Burning, &burning);
    }
    mica_name_set(world, anna, mica_nil(), "anna");
    memset(&broken_text, 0x7F, sizeof broken_text);
    memset(&broken_list, 0x7F, sizeof broken_list);

    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_WRITE(Position), MICA_WITHOUT(Person)));
    mica_view view = mica_query_begin(query);
    if (mica_view_next(&view))
        stop_here(world, &view, mica_get(world, anna, Person), mica_get(world, bert, Person), dead);
    while (mica_view_next(&view)) {
    }
    mica_world_destroy(world);
    return 0;
}
