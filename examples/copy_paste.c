/* Copy and paste: an entity as JSON, edited as text, and back; a wrong text changes nothing. */
#include "mica/mica.h"
#include "mica/value.h"

#include <stdio.h>

typedef struct Position { float x, y; } Position;
typedef struct Health { float current; } Health;
typedef struct Buff { uint32_t kind; float seconds; } Buff;
typedef struct Guard { mica_text order; mica_entity post; } Guard;
MICA_COMPONENT(Position, x, y)
MICA_COMPONENT_WITH(Health, (.toggle = true), (current, float, .maximum = 100, .initial = 100))
MICA_POOL_WITH(Buff, (.many = true), kind, seconds)
MICA_COMPONENT(Guard, order, post)
MICA_TAG(Asleep)

static void show(const mica_world *world, mica_entity entity)
{
    char text[500];
    mica_entity_write_json(world, entity, text, sizeof text);
    printf("%s\n", text);
}

static void paste(mica_world *world, mica_entity entity, const char *text)
{
    mica_value_error error;
    if (mica_entity_parse_json(world, entity, text, &error) != MICA_OK)
        printf("%s\n%*s^ %s\n", text, (int)error.position, "", error.text);
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity gate = mica_create(world, MICA_WITH(Position, {8, 0}));
    mica_entity guard = mica_create(world, MICA_WITH(Position, {1, 2}), MICA_WITH(Health), MICA_WITH(Asleep));
    mica_name_set(world, gate, mica_nil(), "gate");
    mica_name_set(world, guard, mica_nil(), "guard");
    Guard *orders = mica_add(world, guard, Guard);
    mica_text_set(&orders->order, "let no one in");
    orders->post = gate;
    mica_define(world, Buff);
    mica_disable(world, guard, Health);
    show(world, guard);

    char text[500];
    mica_entity_write_json(world, guard, text, sizeof text);
    mica_name_set(world, guard, mica_nil(), NULL); /* names are unique */
    mica_entity twin = mica_create(world);
    paste(world, twin, text);
    paste(world, twin,
          "{\"name\": \"twin\", \"components\": {\"Asleep\": null, \"Position\": {\"y\": 5},"
          " \"Buff\": [{\"kind\": 1, \"seconds\": 2.5}, {\"kind\": 7}]}, \"disabled\": []}");
    show(world, twin);

    paste(world, twin, "{\"components\": {\"Position\": {\"x\": 9}, \"Health\": {\"current\": 101}}}");
    paste(world, twin, "{\"components\": {\"Guard\": {\"post\": \"tower\"}}}");
    show(world, twin);
    mica_world_destroy(world);
}
