/* Every invariant of a pool is broken once, from the inside: each is named. */
#include "../support/components.h"
#include "../support/damage.h"
#include "../support/test.h"

#include "core/world/world.h"

static reports heard;

typedef struct Heat { uint32_t degrees; } Heat;
typedef struct Place { uint32_t where; } Place;
typedef struct Rare { uint32_t value; } Rare;
typedef struct Buff { uint32_t amount; } Buff;
typedef struct Left { uint32_t value; } Left;
typedef struct Right { uint32_t value; } Right;
MICA_POOL_WITH(Heat, (.toggle = true, .track_added = true, .track_changed = true), degrees)
MICA_POOL_WITH(Place, (.index = MICA_INDEX_DIRECT), where)
MICA_POOL_WITH(Rare, (.index = MICA_INDEX_HASH), value)
MICA_POOL_WITH(Buff, (.many = true, .toggle = true), amount)
MICA_POOL_TAG(Marked)
MICA_POOL(Left, value)
MICA_POOL(Right, value)

START_TEST(damage_to_a_pool_is_named)
{
    mica_world *world = open_world(&heard);
    mica_entity owner = mica_create(world, MICA_WITH(Heat, {1})), other = mica_create(world, MICA_WITH(Heat, {2}));
    mica_entity without = mica_create(world, MICA_WITH(Number, {1}));
    mica_pool *pool = mica_pool_of(world, Heat);
    uint64_t *entries = pool->index.pages[0], *masks = world->pools.masks.pages[0];
    mica_world_mark(world);
    mica_version later = micap_version(world) + 1;
    const damage list[] = {
        DAMAGE(pool->incoming, 1, "nothing is awaited between operations"),
        DAMAGE(pool->row_limit, pool->capacity + 1, "a pool holds no more than it can"),
        DAMAGE(pool->owners[1], 0, "a row in use has an owner"),
        DAMAGE(pool->enabled[1], 2, "a toggle is 0 or 1"),
        DAMAGE(entries[owner.index], 0, "the index finds the row of its owner"),
        DAMAGE(entries[owner.index], micap_map_entry(owner, 1), "the index finds the row of its owner"),
        DAMAGE(entries[other.index], micap_map_entry((mica_entity){other.index, other.generation + 1}, 1),
               "the index finds the row of its owner"),
        DAMAGE(entries[without.index], micap_map_entry(without, 0), "the index has an entry per entity"),
        DAMAGE(pool->index.used, 1, "the index has an entry per entity"),
        DAMAGE(pool->row_limit, 1, "the index has an entry per entity"),
        DAMAGE(pool->count, 3, "a pool counts its rows"),
        DAMAGE(pool->added[1], later, "nothing was added after now"),
        DAMAGE(micap_pool_stamps(pool, 0)[1], later, "a stamp is not newer than the world"),
        DAMAGE(micap_pool_stamps(pool, 0)[1], 0, "stamps say whether the pool is tracked"),
        DAMAGE(pool->changed[1], later, "nothing was written after now"),
        DAMAGE(pool->changed[1], later - 1, "a row that was written lies in a slice that was"),
        DAMAGE(pool->dead_count, 1, "the rows of the dead are counted"),
        DAMAGE(masks[owner.index], 0, "an owner has the bit of the pool"),
        DAMAGE(masks[without.index], (uint64_t)1 << pool->bit, "an entity has the bits of pools it is in"),
    };
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    close_world(world, &heard);
}
END_TEST

START_TEST(damage_to_what_is_found_directly_or_by_hash_is_named)
{
    mica_world *world = open_world(&heard);
    mica_entity hole = mica_create(world);
    mica_entity last = mica_create(world, MICA_WITH(Place, {1}), MICA_WITH(Rare, {2}), MICA_WITH(Marked));
    mica_entity dead = mica_create(world);
    mica_destroy(world, dead);
    mica_pool *direct = mica_pool_of(world, Place), *hash = mica_pool_of(world, Rare);
    mica_pool *tag = mica_pool_of(world, Marked);
    const damage list[] = {
        DAMAGE(direct->owners[hole.index].generation, hole.generation, "a row that is not in use has no owner"),
        DAMAGE(direct->owners[last.index].index, hole.index, "the index finds the row of its owner"),
        DAMAGE(direct->row_limit, direct->row_limit + 1, "the last row is in use"),
        DAMAGE(direct->present[0], direct->present[0] | (uint64_t)1 << dead.index, "there is a bit per row in use"),
        DAMAGE(hash->owners[0].index, hole.index, "the index finds the row of its owner"),
        DAMAGE(hash->owners[0].generation, last.generation + 1, "the rows of the dead are counted"),
        DAMAGE(hash->index.used, 0, "the index has an entry per entity"),
        DAMAGE(hash->row_limit, 0, "the index has an entry per entity"),
        DAMAGE(tag->count, 2, "there is a bit per row in use"),
        DAMAGE(tag->present[0], (uint64_t)1 << dead.index, "a tag is held by the living"),
    };
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    close_world(world, &heard);
}
END_TEST

START_TEST(damage_to_the_chain_of_instances_is_named)
{
    mica_world *world = open_world(&heard);
    mica_entity owner = mica_create(world), other = mica_create(world);
    mica_pool *pool = mica_pool_of(world, Buff);
    mica_pool_add(pool, owner);
    mica_pool_add(pool, other);
    mica_pool_add(pool, owner);
    mica_pool_add(pool, owner);
    ck_assert_msg(pool->next[0] == 2 && pool->next[2] == 3 && pool->previous[0] == 3, "rows 0, 2 and 3 are a chain");
    const damage list[] = {
        DAMAGE(pool->next[0], pool->row_limit, "the instances of an entity are linked"),
        DAMAGE(pool->next[0], 1, "the instances of an entity are linked"),
        DAMAGE(pool->previous[2], 3, "an instance knows the one before"),
        DAMAGE(pool->next[3], 0, "an instance knows the one before"), /* round and round */
        DAMAGE(pool->enabled[2], 0, "all instances of an entity have the same enabled state"),
        DAMAGE(pool->previous[0], 2, "the first instance knows the last"),
        DAMAGE(pool->count, 5, "a pool counts its rows"),
    };
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    /* The chain ends early, and its ends agree: only counting tells. */
    pool->next[2] = MICAP_ROW_NONE;
    pool->previous[0] = 2;
    ck_assert_int_eq(mica_world_validate(world), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "a pool counts its rows");
    pool->next[2] = 3;
    pool->previous[0] = 3;
    close_world(world, &heard);
}
END_TEST

START_TEST(damage_to_a_group_is_named)
{
    mica_world *world = open_world(&heard);
    ck_assert_int_eq(mica_group(world, Left, Right), MICA_OK);
    for (uint32_t i = 0; i < 3; ++i)
        mica_create(world, MICA_WITH(Left, {i}), MICA_WITH(Right, {i}));
    mica_create(world, MICA_WITH(Left, {3}));
    mica_pool *left = mica_pool_of(world, Left), *right = mica_pool_of(world, Right);
    const damage list[] = {
        DAMAGE(left->group->count, 4, "pools of a group are in step"),
        DAMAGE(right->owners[1].index, left->owners[0].index, "pools of a group are in step"),
        DAMAGE(left->group->count, 2, "an entity with all components of a group is in the front part of its pools"),
    };
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(check, damage_to_a_pool_is_named, damage_to_what_is_found_directly_or_by_hash_is_named,
           damage_to_the_chain_of_instances_is_named, damage_to_a_group_is_named)
