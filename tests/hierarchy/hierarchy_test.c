/* Links between parents and children, outside of recording. */
#include "../support/components.h"
#include "../support/damage.h"
#include "../support/test.h"
#include "mica/hierarchy.h"

#include "hierarchy/links.h"

#include <string.h>

static reports heard;

enum { CHILDREN = 5 };

/* A parent with its children, each with its number. */
typedef struct family {
    mica_world *world;
    mica_entity parent;
    mica_entity children[CHILDREN];
} family;

static family open_family(void)
{
    family family = {.world = open_world(&heard)};
    family.parent = mica_create(family.world);
    for (uint32_t i = 0; i < CHILDREN; ++i)
        family.children[i] = mica_create_child(family.world, family.parent, MICA_WITH(Number, {i}));
    return family;
}

/* The numbers of the children, in order, both ways. */
static void expect_order(const family *family, const char *order)
{
    char forward[16] = "", backward[16] = "";
    uint32_t count = 0;
    for (mica_entity child = mica_first_child(family->world, family->parent); !mica_is_nil(child);
         child = mica_next_sibling(family->world, child))
        forward[count++] = (char)('0' + mica_get(family->world, child, Number)->value);
    ck_assert_uint_eq(mica_child_count(family->world, family->parent), count);
    for (mica_entity child = mica_last_child(family->world, family->parent); !mica_is_nil(child);
         child = mica_previous_sibling(family->world, child))
        backward[--count] = (char)('0' + mica_get(family->world, child, Number)->value);
    ck_assert_str_eq(forward, order);
    ck_assert_str_eq(backward, order);
    expect_valid(family->world);
}

START_TEST(children_are_walked_in_the_order_they_came)
{
    family family = open_family();
    expect_order(&family, "01234");
    for (uint32_t i = 0; i < CHILDREN; ++i)
        ck_assert(mica_same(mica_parent(family.world, family.children[i]), family.parent));
    ck_assert(mica_is_nil(mica_parent(family.world, family.parent)));
    close_world(family.world, &heard);
}
END_TEST

START_TEST(a_child_is_placed_before_or_after_a_sibling)
{
    static const struct {
        uint32_t child, sibling;
        bool after;
        const char *order;
    } cases[] = {
        {4, 0, false, "40123"}, {0, 4, true, "12340"}, {2, 1, false, "02134"}, {2, 3, true, "01324"},
        {1, 2, false, "01234"}, {3, 2, true, "01234"}, {0, 0, false, NULL},    {0, 1, false, "01234"},
        {0, 4, false, "12304"}, {4, 0, true, "04123"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        family family = open_family();
        mica_result (*location)(mica_world *, mica_entity, mica_entity) =
            cases[i].after ? mica_place_after : mica_place_before;
        mica_result result = location(family.world, family.children[cases[i].child], family.children[cases[i].sibling]);
        if (cases[i].order) {
            ck_assert_int_eq(result, MICA_OK);
            expect_order(&family, cases[i].order);
        } else {
            ck_assert_int_eq(result, MICA_ERROR_INVALID);
            expect_report(&heard, MICA_ERROR_INVALID, "itself");
            expect_order(&family, "01234");
        }
        close_world(family.world, &heard);
    }
}
END_TEST

START_TEST(a_child_moves_from_parent_to_parent)
{
    family family = open_family();
    mica_entity other = mica_create(family.world),
                late = mica_create_child(family.world, other, MICA_WITH(Number, {9}));
    ck_assert_int_eq(mica_set_parent(family.world, family.children[2], other), MICA_OK);
    expect_order(&family, "0134");
    ck_assert(mica_same(mica_last_child(family.world, other), family.children[2]));
    ck_assert_int_eq(mica_place_before(family.world, late, family.children[0]), MICA_OK);
    expect_order(&family, "90134");
    ck_assert_int_eq(mica_set_parent(family.world, family.children[0], family.parent), MICA_OK);
    expect_order(&family, "90134"); /* it is there already: its place stays */
    ck_assert_int_eq(mica_set_parent(family.world, family.children[0], mica_nil()), MICA_OK);
    ck_assert_int_eq(mica_set_parent(family.world, family.children[0], mica_nil()), MICA_OK);
    expect_order(&family, "9134");
    close_world(family.world, &heard);
}
END_TEST

START_TEST(cycles_are_refused)
{
    mica_world *world = open_world(&heard);
    mica_entity chain[6];
    chain[0] = mica_create(world);
    for (uint32_t i = 1; i < 6; ++i)
        chain[i] = mica_create_child(world, chain[i - 1]);
    uint64_t hash = mica_world_hash(world);
    for (uint32_t above = 0; above < 6; ++above)
        for (uint32_t below = above; below < 6; ++below) {
            ck_assert_int_eq(mica_set_parent(world, chain[above], chain[below]), MICA_ERROR_INVALID);
            expect_report(&heard, MICA_ERROR_INVALID, above == below ? "itself" : "its own ancestor");
        }
    ck_assert_int_eq(mica_place_after(world, chain[1], chain[3]), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "its own ancestor");
    ck_assert_msg(mica_world_hash(world) == hash, "nothing has changed");
    ck_assert_int_eq(mica_set_parent(world, chain[3], chain[0]), MICA_OK);
    ck_assert_int_eq(mica_set_parent(world, chain[1], chain[5]), MICA_OK);
    ck_assert_uint_eq(mica_depth(world, chain[2]), 5);
    close_world(world, &heard);
}
END_TEST

START_TEST(dead_and_nil_handles_are_harmless_at_every_door)
{
    family family = open_family();
    mica_world *world = family.world;
    mica_entity stale = mica_create_child(world, family.parent, MICA_WITH(Number, {7}));
    mica_destroy(world, stale);
    mica_entity heir = mica_create(world); /* the same slot */
    ck_assert_uint_eq(heir.index, stale.index);
    mica_create_child(world, heir);
    const mica_entity bad[] = {mica_nil(), stale, {stale.index, 77}, {1u << 31, 1}, {0, 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        ck_assert(mica_is_nil(mica_parent(world, bad[i])) && mica_is_nil(mica_first_child(world, bad[i])));
        ck_assert(mica_is_nil(mica_last_child(world, bad[i])) && mica_is_nil(mica_next_sibling(world, bad[i])));
        ck_assert(mica_is_nil(mica_previous_sibling(world, bad[i])) && mica_is_nil(mica_root(world, bad[i])));
        ck_assert(mica_is_nil(mica_tree_next(world, family.parent, bad[i])));
        ck_assert_uint_eq(mica_child_count(world, bad[i]) + mica_depth(world, bad[i]), 0);
        ck_assert(!mica_is_ancestor(world, bad[i], heir) && !mica_is_ancestor(world, heir, bad[i]));
        ck_assert_uint_eq(mica_destroy_children(world, bad[i]), 0);
        ck_assert_int_eq(mica_detach_children(world, bad[i]), MICA_ERROR_DEAD);
        ck_assert_int_eq(mica_set_parent(world, bad[i], family.parent), MICA_ERROR_DEAD);
        ck_assert_int_eq(mica_place_before(world, family.children[0], bad[i]), MICA_ERROR_DEAD);
        ck_assert(!mica_destroy_with(world, bad[i], MICA_ORPHANS_STAY));
        ck_assert(mica_is_nil(mica_create_child(world, bad[i])));
        ck_assert_uint_eq(forget_reports(&heard), 6);
        if (mica_is_nil(bad[i]))
            continue;
        ck_assert_int_eq(mica_set_parent(world, family.children[0], bad[i]), MICA_ERROR_DEAD);
        expect_report(&heard, MICA_ERROR_DEAD, "set_parent");
    }
    expect_order(&family, "01234");
    close_world(world, &heard);
}
END_TEST

START_TEST(trees_are_walked_up_and_down)
{
    mica_world *world = open_world(&heard);
    /*  0 -> 1 -> 2, 3;  0 -> 4 -> 5 -> 6  */
    static const uint32_t parents[] = {0, 0, 1, 1, 0, 4, 5};
    mica_entity all[7] = {mica_create(world)};
    for (uint32_t i = 1; i < 7; ++i)
        all[i] = mica_create_child(world, all[parents[i]]);
    uint32_t count = 0;
    for (mica_entity at = all[0]; !mica_is_nil(at); at = mica_tree_next(world, all[0], at))
        ck_assert(mica_same(at, all[count++]));
    ck_assert_uint_eq(count, 7);
    ck_assert(mica_same(mica_tree_next(world, all[1], all[2]), all[3]));
    ck_assert_msg(mica_is_nil(mica_tree_next(world, all[1], all[3])), "the walk stays below its root");
    ck_assert(mica_same(mica_tree_skip(world, all[0], all[1]), all[4]));
    ck_assert(mica_is_nil(mica_tree_skip(world, all[0], all[4])));
    ck_assert_msg(mica_is_nil(mica_tree_skip(world, all[0], all[0])), "nothing is beside the root");
    ck_assert_uint_eq(mica_depth(world, all[6]), 3);
    ck_assert(mica_same(mica_root(world, all[6]), all[0]) && mica_same(mica_root(world, all[0]), all[0]));
    ck_assert(mica_is_ancestor(world, all[4], all[6]) && mica_is_ancestor(world, all[0], all[3]));
    ck_assert(!mica_is_ancestor(world, all[1], all[6]) && !mica_is_ancestor(world, all[6], all[6]));
    mica_entity lonely = mica_create(world);
    ck_assert(mica_same(mica_root(world, lonely), lonely) && mica_is_nil(mica_tree_next(world, lonely, lonely)));
    close_world(world, &heard);
}
END_TEST

START_TEST(many_are_linked_together_or_not_at_all)
{
    family family = open_family();
    mica_world *world = family.world;
    mica_entity other = mica_create(world), below = mica_create_child(world, other, MICA_WITH(Number, {8}));
    const mica_entity children[] = {family.children[1], family.children[3], below, family.children[0], other};
    const mica_entity parents[] = {other, family.children[1], family.parent, mica_nil(), below};
    uint64_t hash = mica_world_hash(world);
    const mica_entity cyclic[] = {other, family.children[1], family.parent, mica_nil(), family.children[3]};
    ck_assert_int_eq(mica_set_parents(world, children, cyclic, 5), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "its own ancestor");
    ck_assert_msg(mica_world_hash(world) == hash, "all links are as before, in their order");
    expect_order(&family, "01234");
    ck_assert_int_eq(mica_set_parents(world, children, parents, 5), MICA_OK);
    expect_order(&family, "248");
    ck_assert_uint_eq(mica_depth(world, family.children[3]), 4);
    ck_assert_int_eq(mica_set_parents(world, NULL, NULL, 0), MICA_OK);
    close_world(world, &heard);
}
END_TEST

START_TEST(children_are_detached_at_once)
{
    family family = open_family();
    ck_assert_int_eq(mica_detach_children(family.world, family.parent), MICA_OK);
    ck_assert_int_eq(mica_detach_children(family.world, family.parent), MICA_OK); /* it has none any more */
    expect_order(&family, "");
    for (uint32_t i = 0; i < CHILDREN; ++i)
        ck_assert(mica_is_nil(mica_parent(family.world, family.children[i])));
    close_world(family.world, &heard);
}
END_TEST

START_TEST(links_are_part_of_the_hash_and_so_is_their_order)
{
    family family = open_family();
    uint64_t before = mica_world_hash(family.world);
    ck_assert_int_eq(mica_place_before(family.world, family.children[3], family.children[1]), MICA_OK);
    uint64_t moved = mica_world_hash(family.world);
    ck_assert(moved != before);
    ck_assert_int_eq(mica_place_after(family.world, family.children[3], family.children[2]), MICA_OK);
    ck_assert(mica_world_hash(family.world) == before);
    mica_detach_children(family.world, family.parent);
    uint64_t without = mica_world_hash(family.world);
    ck_assert(without != before);
    mica_world *world = open_world(&heard);
    mica_create(world);
    for (uint32_t i = 0; i < CHILDREN; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    ck_assert_msg(mica_world_hash(world) == without, "a world that never had links looks the same");
    close_world(world, &heard);
    close_world(family.world, &heard);
}
END_TEST

START_TEST(links_neither_move_rows_nor_make_archetypes)
{
    mica_world *world = open_world(&heard);
    mica_entity parent = mica_create(world, MICA_WITH(Number, {1})), child = mica_create(world, MICA_WITH(Number, {2}));
    const Number *number = mica_get(world, child, Number);
    uint32_t archetypes = mica_world_get_stats(world).archetype_count;
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        mica_set_parent(world, child, parent); /* a loop continues: nothing moved */
    ck_assert_ptr_eq(mica_get(world, child, Number), number);
    ck_assert_uint_eq(mica_world_get_stats(world).archetype_count, archetypes);
    close_world(world, &heard);
}
END_TEST

START_TEST(names_go_with_their_entity_from_parent_to_parent)
{
    family family = open_family();
    mica_world *world = family.world;
    mica_entity child = family.children[0], other = mica_create(world);
    ck_assert_int_eq(mica_name_child(world, family.parent, "car"), MICA_OK);
    ck_assert_int_eq(mica_name_child(world, other, "truck"), MICA_OK);
    ck_assert_int_eq(mica_name_child(world, child, "wheel"), MICA_OK);
    ck_assert(mica_same(mica_find(world, "car/wheel"), child));
    ck_assert_int_eq(mica_set_parent(world, child, other), MICA_OK);
    ck_assert(mica_same(mica_find(world, "truck/wheel"), child) && mica_is_nil(mica_find(world, "car/wheel")));
    ck_assert_int_eq(mica_name_child(world, family.children[1], "wheel"), MICA_OK);
    uint64_t hash = mica_world_hash(world);
    ck_assert_int_eq(mica_set_parent(world, family.children[1], other), MICA_ERROR_EXISTS);
    expect_report(&heard, MICA_ERROR_EXISTS, "wheel");
    ck_assert(mica_world_hash(world) == hash);
    ck_assert_int_eq(mica_set_parent(world, other, family.parent), MICA_OK);
    ck_assert(mica_same(mica_find(world, "car/truck/wheel"), child));
    ck_assert_int_eq(mica_set_parent(world, child, mica_nil()), MICA_OK);
    ck_assert(mica_same(mica_find(world, "wheel"), child));
    ck_assert_int_eq(mica_name_set(world, family.children[2], mica_nil(), "spare"), MICA_OK);
    ck_assert_int_eq(mica_set_parent(world, family.children[2], other), MICA_OK);
    ck_assert_msg(mica_same(mica_find(world, "spare"), family.children[2]), "a scope of one's own choice stays");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_name_stays_where_its_scope_is_not_the_parent)
{
    family family = open_family();
    mica_world *world = family.world;
    mica_entity scope = mica_create(world), child = family.children[3], other = mica_create(world);
    ck_assert_int_eq(mica_name_set(world, child, scope, "elsewhere"), MICA_OK);
    ck_assert_int_eq(mica_set_parent(world, child, other), MICA_OK);
    ck_assert(mica_same(mica_find_from(world, scope, "elsewhere"), child));
    ck_assert_int_eq(mica_name_child(world, family.children[1], "one"), MICA_OK);
    ck_assert_int_eq(mica_place_before(world, family.children[1], family.children[0]), MICA_OK); /* and in its place */
    ck_assert(mica_same(mica_find_from(world, family.parent, "one"), family.children[1]));
    expect_order(&family, "1024");
    close_world(world, &heard);
}
END_TEST

typedef struct meddling {
    mica_entity above; /* for the newborn, */
    bool gives_child;  /* or it gets a child of its own, */
    mica_entity dies;  /* or this one dies */
    bool kills_newborn;
} meddling;

static void meddle(const mica_event *event)
{
    const meddling *what = event->context;
    if (!mica_is_nil(what->above))
        mica_set_parent(event->world, event->entities[0], what->above);
    if (what->gives_child)
        mica_set_parent(event->world, mica_create(event->world), event->entities[0]);
    if (!mica_is_nil(what->dies))
        mica_destroy(event->world, what->dies);
    if (what->kills_newborn)
        mica_destroy(event->world, event->entities[0]);
}

START_TEST(a_hook_may_be_before_the_link_of_a_newborn_child)
{
    for (uint32_t i = 0; i < 4; ++i) {
        family family = open_family();
        mica_world *world = family.world;
        mica_entity other = mica_create(world);
        meddling what = {.above = i == 0 ? other : mica_nil(),
                         .gives_child = i == 1,
                         .dies = i == 2 ? family.parent : mica_nil(),
                         .kills_newborn = i == 3};
        mica_hook_set(world, Frozen, MICA_EVENT_ADD, meddle, &what);
        mica_entity child = mica_create_child(world, family.parent, MICA_WITH(Frozen));
        ck_assert(mica_is_alive(world, child) == (i != 3));
        mica_entity expected = i == 0 ? other : i == 1 ? family.parent : mica_nil();
        ck_assert_msg(mica_same(mica_parent(world, child), expected), "case %u", i);
        ck_assert_uint_eq(mica_child_count(world, child), i == 1);
        close_world(world, &heard);
    }
}
END_TEST

static void kill_sibling(const mica_event *event)
{
    const mica_entity *sibling = event->context;
    if (mica_is_alive(event->world, *sibling) && !mica_same(event->entities[0], *sibling))
        mica_destroy(event->world, *sibling);
}

START_TEST(a_hook_may_destroy_children_before_it_is_their_turn)
{
    family family = open_family();
    mica_hook_set(family.world, Number, MICA_EVENT_REMOVE, kill_sibling, &family.children[CHILDREN - 1]);
    uint32_t died = mica_destroy_children(family.world, family.parent);
    ck_assert_uint_eq(died, CHILDREN - 1); /* by this call */
    ck_assert_uint_eq(mica_child_count(family.world, family.parent), 0);
    ck_assert(!mica_is_alive(family.world, family.children[CHILDREN - 1]));
    close_world(family.world, &heard);
}
END_TEST

START_TEST(a_path_leads_back_to_its_entity)
{
    mica_world *world = open_world(&heard);
    mica_entity city = mica_create(world), street = mica_create_child(world, city),
                door = mica_create_child(world, street);
    char path[32];
    ck_assert_uint_eq(mica_path_get(world, door, path, sizeof path), 0);
    mica_name_child(world, door, "door");
    ck_assert_msg(mica_path_get(world, door, path, sizeof path) == 0 && !*path, "the street has no name");
    mica_name_child(world, street, "street");
    mica_name_child(world, city, "city");
    ck_assert_uint_eq(mica_path_get(world, door, path, sizeof path), strlen("city/street/door"));
    ck_assert_str_eq(path, "city/street/door");
    ck_assert(mica_same(mica_find(world, path), door));
    for (size_t capacity = 1; capacity < 17; ++capacity) {
        memset(path, '#', sizeof path);
        ck_assert_uint_eq(mica_path_get(world, door, path, capacity), 16);
        ck_assert(strncmp(path, "city/street/door", capacity - 1) == 0 && !path[capacity - 1] && path[capacity] == '#');
    }
    ck_assert_uint_eq(mica_path_get(world, door, NULL, 0), 16);
    ck_assert_uint_eq(mica_path_get(world, mica_nil(), path, sizeof path), 0);
    mica_entity a = mica_create(world), b = mica_create(world);
    mica_name_set(world, a, b, "a");
    mica_name_set(world, b, a, "b");
    ck_assert_msg(mica_path_get(world, a, path, sizeof path) == 0, "scopes that lie in each other lead nowhere");
    close_world(world, &heard);
}
END_TEST

START_TEST(memory_of_links_is_given_back)
{
    mica_world *world = open_world(&heard);
    mica_entity parent = mica_create(world);
    size_t before = 0;
    for (int round = 0; round < 3; ++round) {
        mica_entity first = mica_create_child(world, parent);
        for (uint32_t i = 0; i < 20000; ++i)
            mica_create_child(world, parent);
        ck_assert_uint_eq(mica_destroy_children(world, parent), 20001);
        ck_assert(!mica_is_alive(world, first));
        mica_world_trim(world);
        size_t bytes = mica_world_get_stats(world).memory_bytes;
        ck_assert_msg(!before || bytes == before, "%zu bytes, and %zu the time before", bytes, before);
        before = bytes;
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(a_million_links_stay_cheap)
{
    mica_world *world = open_world(&heard);
    enum { PARENTS = 1000, EACH = 1000 };
    static mica_entity parents[PARENTS];
    for (uint32_t p = 0; p < PARENTS; ++p)
        parents[p] = mica_create(world);
    for (uint32_t i = 0; i < EACH; ++i)
        for (uint32_t p = 0; p < PARENTS; ++p)
            mica_create_child(world, parents[p]);
    for (uint32_t p = 0; p < PARENTS; ++p)
        ck_assert_uint_eq(mica_child_count(world, parents[p]), EACH);
    ck_assert_uint_eq(mica_linked_count(world), PARENTS + PARENTS * EACH);
    for (uint32_t p = 1; p < PARENTS; ++p)
        ck_assert_int_eq(mica_set_parent(world, parents[p], parents[p - 1]), MICA_OK);
    ck_assert_uint_eq(mica_depth(world, mica_first_child(world, parents[PARENTS - 1])), PARENTS);
    expect_valid(world);
    ck_assert(mica_destroy(world, parents[0]));
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(worlds_have_trees_of_their_own)
{
    family family = open_family();
    reports others;
    mica_world *world = open_world(&others);
    mica_entity parent = mica_create(world);
    ck_assert_uint_eq(mica_child_count(world, parent) + mica_linked_count(world), 0);
    mica_create_child(world, parent);
    ck_assert_uint_eq(mica_child_count(world, parent), 1);
    ck_assert_int_eq(mica_world_clear(family.world), MICA_OK);
    ck_assert_uint_eq(mica_child_count(family.world, family.parent) + mica_linked_count(family.world), 0);
    ck_assert_uint_eq(mica_linked_count(world), 2);
    expect_valid(family.world);
    close_world(world, &others);
    close_world(family.world, &heard);
}
END_TEST

START_TEST(damage_to_links_is_named)
{
    family family = open_family();
    mica_entity alone = mica_create(family.world), dead = mica_create(family.world);
    mica_destroy(family.world, dead);
    micap_hierarchy *hierarchy = micap_hierarchy_of(family.world);
    micap_link *parent = micap_link_at(hierarchy, family.parent.index);
    micap_link *first = micap_link_at(hierarchy, family.children[0].index);
    micap_link *second = micap_link_at(hierarchy, family.children[1].index);
    const char *each_other = "children name their parent and each other", *counts = "a parent counts its children";
    const damage list[] = {
        DAMAGE(second->parent, family.children[0].index, each_other),
        DAMAGE(second->previous, 0, each_other),
        DAMAGE(second->next, family.children[1].index, each_other),
        DAMAGE(parent->child_count, CHILDREN - 1, each_other),
        DAMAGE(parent->child_count, CHILDREN + 1, counts),
        DAMAGE(parent->last_child, family.children[0].index, counts),
        DAMAGE(micap_link_at(hierarchy, alone.index)->flags, 1, "an unused link is empty"),
        DAMAGE(first->generation, 2, "an entity with a link is alive"),
        DAMAGE(micap_link_at(hierarchy, dead.index)->generation, 1, "an entity with a link is alive"),
        DAMAGE(parent->next, alone.index, "siblings have a parent"),
        DAMAGE(parent->previous, alone.index, "siblings have a parent"),
        DAMAGE(hierarchy->pages[0].used_count, CHILDREN, "a page counts its links"),
        DAMAGE(parent->parent, family.children[0].index, "every link is below a root"),
        DAMAGE(hierarchy->child_count, CHILDREN + 1, "children and parents are counted"),
        DAMAGE(hierarchy->parent_count, 0, "children and parents are counted"),
    };
    expect_damage_named(family.world, &heard, list, COUNT_OF(list));
    close_world(family.world, &heard);
}
END_TEST

TEST_SUITE(hierarchy, children_are_walked_in_the_order_they_came, a_child_is_placed_before_or_after_a_sibling,
           a_child_moves_from_parent_to_parent, cycles_are_refused, dead_and_nil_handles_are_harmless_at_every_door,
           trees_are_walked_up_and_down, many_are_linked_together_or_not_at_all, children_are_detached_at_once,
           links_are_part_of_the_hash_and_so_is_their_order, links_neither_move_rows_nor_make_archetypes,
           names_go_with_their_entity_from_parent_to_parent, a_name_stays_where_its_scope_is_not_the_parent,
           a_hook_may_be_before_the_link_of_a_newborn_child, a_hook_may_destroy_children_before_it_is_their_turn,
           a_path_leads_back_to_its_entity, memory_of_links_is_given_back, a_million_links_stay_cheap,
           worlds_have_trees_of_their_own, damage_to_links_is_named)
