/* Two worlds in one program: with a number of its own, each world knows its handles, and a handle of the other one is refused with a
 * report instead of meaning another entity. */
#include "mica/mica.h"

#include <stdio.h>

typedef struct Position { float x, y; } Position;
MICA_COMPONENT(Position, x, y)

static void print_report(const mica_report *report, void *context)
{
    printf("%s: %s\n", (const char *)context, report->text);
}

static mica_world *create_world(char *name, uint32_t handle_space)
{
    mica_world_def def = mica_world_def_default();
    def.report = print_report;
    def.report_context = name;
    def.handle_space = handle_space;
    return mica_world_create(&def);
}

int main(void)
{
    mica_world *game = create_world("game", 1), *editor = create_world("editor", 2);
    mica_entity ship = mica_create(game, MICA_WITH(Position, {1, 2}));
    mica_entity copy = mica_create(editor, MICA_WITH(Position, {3, 4}));
    printf("both are the first entity of their world, but not the same handle: %s\n",
           mica_same(ship, copy) ? "no" : "yes");
    printf("the ship is alive in the game: %s, in the editor: %s\n", mica_is_alive(game, ship) ? "yes" : "no",
           mica_is_alive(editor, ship) ? "yes" : "no");
    mica_destroy(editor, ship); /* a mistake */
    mica_query *moving = mica_query_create(game, MICA_QUERY(MICA_WRITE(Position)));
    printf("the query of the game matches the copy: %s\n", mica_query_matches(moving, copy) ? "yes" : "no");
    mica_world_destroy(editor);
    mica_world_destroy(game);
    return 0;
}
