/* Indexes for the calls of the argument test. */
#include "fixture.h"

mica_index_def *valid_index_def(void)
{
    static mica_index_def def;
    def = (mica_index_def){.component = MICA_ID(Position), .fields = "x"};
    return &def;
}

mica_index *valid_index(void)
{
    static mica_index *index;
    if (!index)
        index = mica_index_create(valid_world(), valid_index_def());
    REQUIRE(index && mica_index_update(index) == MICA_OK);
    return index;
}

mica_index *valid_grid(void)
{
    static mica_index *grid;
    if (!grid)
        grid = mica_index_create(
            valid_world(),
            &(mica_index_def){.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {10, 10}});
    REQUIRE(grid && mica_index_update(grid) == MICA_OK);
    return grid;
}

mica_match *valid_match(void)
{
    static mica_match match;
    match = mica_index_range(valid_index(), (mica_key){0}, (mica_key){0});
    return &match;
}

mica_partition *valid_partition(void)
{
    static mica_partition partition;
    partition = mica_partitions_by_index(valid_index(), (mica_key){0}, (mica_key){0});
    REQUIRE(mica_partition_next(&partition));
    return &partition;
}

void on_neighbours(mica_entity entity, const mica_neighbour *neighbours, uint32_t count, void *context)
{
    (void)entity, (void)neighbours, (void)count, (void)context;
}
