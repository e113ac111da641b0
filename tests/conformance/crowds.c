/* Many entities in one call. */
#include "conformance.h"
#include "parts.h"

void check_crowds(void)
{
    enum { COUNT = 2000 };
    static Place places[COUNT];
    static mica_entity crowd[COUNT];
    static const Place *found[COUNT];
    mica_world *world = open_world();
    for (uint32_t i = 0; i < COUNT; ++i)
        places[i] = (Place){(float)i, -(float)i};
    mica_value columns[] = {MICA_COLUMN(Place, places), MICA_WITH(Asleep)};
    EXPECT(mica_create_many(world, COUNT, columns, 2, crowd) == MICA_OK);
    EXPECT(mica_get_many(world, crowd, COUNT, Place, found) == COUNT && found[7]->x == 7);
    EXPECT(mica_destroy_many(world, crowd, COUNT / 2) == COUNT / 2);
    print_hash("crowd", 0, mica_world_hash(world));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Place)));
    EXPECT(mica_add_all(query, Speed, {1, 2}) == MICA_OK);
    EXPECT(mica_remove_all(query, Asleep) == MICA_OK);
    print_hash("crowd", 1, mica_world_hash(world));
    EXPECT(mica_destroy_all(query) == MICA_OK && mica_query_count(query) == 0);
    close_world(world, 0);
}
