/* SQL queries and changes on a running world, as in an in-game console. */
#include "mica/mica.h"
#include "mica/sql.h"

#include <sqlite3.h>
#include <stdio.h>

typedef enum Mood { CALM, WARY, ANGRY } Mood;
MICA_ENUM(Mood, CALM, WARY, ANGRY)

typedef struct Position { float x, y; } Position;
MICA_COMPONENT(Position, x, y)

typedef struct Monster { Mood mood; int health; mica_entity target; } Monster;
MICA_COMPONENT(Monster, (mood, Mood), health, target)

MICA_TAG(Asleep)

typedef struct Item { mica_text name; unsigned count; } Item;
MICA_STRUCT(Item, name, count)

typedef struct Pack { mica_list items; } Pack;
MICA_COMPONENT(Pack, (items, Item))

/* Runs a statement and prints its rows. */
static void ask(sqlite3 *database, const char *text)
{
    sqlite3_stmt *statement = NULL;
    printf("> %s\n", text);
    int result = sqlite3_prepare_v2(database, text, -1, &statement, NULL);
    while (result == SQLITE_OK && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(statement); ++i) {
            const char *value = (const char *)sqlite3_column_text(statement, i);
            printf("%s%s", i ? ", " : "  ", value ? value : "none");
        }
        printf("\n");
        result = SQLITE_OK;
    }
    if (result != SQLITE_DONE)
        printf("  error: %s\n", sqlite3_errmsg(database));
    sqlite3_finalize(statement);
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity hero = mica_create(world, MICA_WITH(Position, {0, 0}));
    mica_entity orc = mica_create(world, MICA_WITH(Position, {3, 4}), MICA_WITH(Monster, {ANGRY, 30, hero}));
    mica_entity bat = mica_create(world, MICA_WITH(Position, {30, 0}), MICA_WITH(Monster, {.mood = CALM, .health = 5}),
                                  MICA_WITH(Asleep));
    mica_name_set(world, hero, mica_nil(), "hero");
    mica_name_set(world, orc, mica_nil(), "orc");
    mica_name_set(world, bat, mica_nil(), "bat");
    mica_add(world, hero, Pack);

    sqlite3 *database = mica_sql_open(world, NULL);

    ask(database, "select name, components from entities order by name");

    /* A join on entity is a look-up in components and names. */
    ask(database, "select e.name, mood, health, t.name from Monster m join entities e using (entity) "
                  "left join entities t on t.entity = m.target order by health");

    /* Writes call mica_set, mica_add, mica_remove and mica_destroy. */
    ask(database, "update Monster set mood = 'WARY', health = health - 10 where entity in "
                  "(select entity from Position where x * x + y * y < 100)");
    ask(database, "delete from Asleep");
    printf("the orc has %d left, and the bat is %s\n", mica_get(world, orc, Monster)->health,
           mica_has(world, bat, Asleep) ? "asleep" : "awake");

    /* A statement that fails changes nothing. */
    ask(database, "update Monster set mood = case health when 5 then 'FURIOUS' else 'ANGRY' end");
    ask(database, "select mood, count(*) from Monster group by mood");

    /* A list is a table of its own, and a column of JSON. */
    ask(database, "insert into Pack_items(entity, name, count) select entity, 'rope', 2 from Pack");
    ask(database, "insert into Pack_items(entity, position, name, count) select entity, 0, 'lamp', 1 from Pack");
    ask(database, "update Pack_items set count = count + 1 where name = 'rope'");
    ask(database, "select e.name, position, i.name, count from Pack_items i join entities e using (entity)");
    ask(database, "select items from Pack");

    /* A transaction that is rolled back changes nothing either. */
    ask(database, "begin");
    ask(database, "delete from entities where name <> 'hero'");
    printf("%u left\n", (unsigned)mica_world_get_stats(world).entity_count);
    ask(database, "rollback");
    printf("%u left\n", (unsigned)mica_world_get_stats(world).entity_count);

    sqlite3_close(database);
    mica_world_destroy(world);
}
