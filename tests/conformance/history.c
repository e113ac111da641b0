/* Where two worlds differ. */
#include "conformance.h"
#include "mica/hash.h"
#include "parts.h"

#include <string.h>

static mica_world *make_world(void)
{
    mica_world *world = open_world();
    for (uint32_t i = 0; i < 1200; ++i) {
        mica_entity made = mica_create(world, MICA_WITH(Place, {(float)i, 0}), MICA_WITH(Heat, {1}));
        if (i % 3 == 0)
            mica_set(world, made, Being, {.age = (uint8_t)i, .title = "same"});
    }
    return world;
}

static void check_trees(void)
{
    mica_world *one = make_world(), *other = make_world();
    EXPECT(!mica_hash_diff(one, other, NULL));
    mica_hash_tree *before = mica_hash_tree_take(one, MICA_HASH_SLICES);
    print_hash("tree_root", 0, mica_hash_tree_root(before));
    mica_query *beings = mica_query_create(other, MICA_QUERY(MICA_READ(Being)));
    mica_write(other, mica_query_first(beings), Being)->path[1].y = 1;
    mica_hash_tree *after = mica_hash_tree_take(other, MICA_HASH_SLICES);
    uint32_t count;
    const mica_hash_leaf *leaves = mica_hash_tree_leaves(after, &count);
    mica_hash_tree *copy = mica_hash_tree_of_leaves(leaves, count);
    EXPECT(mica_hash_tree_root(copy) == mica_hash_tree_root(after));
    mica_difference difference;
    EXPECT(mica_hash_tree_diff(before, copy, &difference) && strcmp(difference.component, "Being") == 0);
    EXPECT(mica_hash_diff(one, other, &difference) && difference.field[0] == 'p');
    mica_hash_tree_free(before);
    mica_hash_tree_free(after);
    mica_hash_tree_free(copy);
    mica_world_destroy(other);
    close_world(one, 0);
}

void check_history(void)
{
    check_trees();
}
