/* A world through SQLite, which the package brings along. */
#include <mica/mica.h>
#include <mica/sql.h>

#include <stdio.h>

typedef struct Answer { int value; } Answer;
MICA_COMPONENT(Answer, value)

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity entity = mica_create(world, MICA_WITH(Answer, {42}));
    struct sqlite3 *database = mica_sql_open(world, NULL);
    printf("%d\n", database && mica_same(mica_sql_to_entity(mica_sql_from_entity(entity)), entity)
                       ? mica_get(world, entity, Answer)->value
                       : 0);
    return 0;
}
