/* Parents, children and transforms. */
#include "mica/hierarchy.h"

#include "conformance.h"
#include "mica/disable.h"
#include "mica/math.h"
#include "mica/query_text.h"
#include "parts.h"
#include "mica/transform.h"

#include <string.h>

static void check_links(void)
{
    mica_world *world = open_world();
    mica_entity car = mica_create(world), wheels[4];
    for (uint32_t i = 0; i < 4; ++i)
        wheels[i] = mica_create_child(world, car);
    EXPECT(mica_linked_count(world) == 5 && mica_world_get_stats(world).name_count == 0);
    EXPECT(mica_child_count(world, car) == 4 && mica_same(mica_last_child(world, car), wheels[3]));
    EXPECT(mica_place_before(world, wheels[3], wheels[0]) == MICA_OK);
    EXPECT(mica_place_after(world, wheels[0], wheels[2]) == MICA_OK);
    EXPECT(mica_same(mica_previous_sibling(world, wheels[1]), wheels[3]));
    EXPECT(mica_same(mica_next_sibling(world, wheels[2]), wheels[0]));
    EXPECT(mica_set_parent(world, car, wheels[0]) == MICA_ERROR_INVALID); /* a circle: reported */
    EXPECT(mica_name_child(world, car, "car") == MICA_OK && mica_name_child(world, wheels[1], "left") == MICA_OK);
    char path[32];
    EXPECT(mica_path_get(world, wheels[1], path, sizeof path) == 8 && strcmp(path, "car/left") == 0);
    EXPECT(mica_depth(world, wheels[1]) == 1 && mica_same(mica_root(world, wheels[1]), car));
    EXPECT(mica_is_ancestor(world, car, wheels[2]) && mica_same(mica_parent(world, wheels[2]), car));
    mica_entity nut = mica_create_child(world, wheels[3]);
    EXPECT(mica_same(mica_tree_next(world, car, wheels[3]), nut));
    EXPECT(mica_same(mica_tree_skip(world, car, wheels[3]), wheels[1]));
    EXPECT(mica_set_parents(world, &nut, &wheels[1], 1) == MICA_OK);
    mica_query *below = mica_query_text(world, "mica_child_of($this, $wheel), mica_child_of($wheel, car)", NULL);
    EXPECT(mica_query_count(below) == 1 && mica_same(mica_query_first(below), nut));
    EXPECT(mica_same(mica_target(world, nut, mica_child_of), wheels[1]) && mica_has(world, nut, mica_child_of));
    print_hash("tree", 0, mica_world_hash(world));
    EXPECT(mica_detach_children(world, wheels[1]) == MICA_OK && mica_is_nil(mica_parent(world, nut)));
    EXPECT(mica_destroy_with(world, wheels[1], MICA_ORPHANS_STAY) && mica_destroy_children(world, car) == 3);
    EXPECT(mica_set_orphans(world, MICA_ORPHANS_STAY) == MICA_OK);
    close_world(world, 1);
}

/* Trees that are hidden from queries, in two ways. */
static void check_disabled(void)
{
    mica_world *world = open_world();
    mica_entity root = mica_create(world, MICA_WITH(Place, {1, 2}));
    mica_entity leaf = mica_create_child(world, root, MICA_WITH(Place, {3, 4}), MICA_WITH(Speed, {0, 0}));
    mica_query *places = mica_query_create(world, MICA_QUERY(MICA_READ(Place)));
    EXPECT(mica_tree_disable(world, root) == 2 && mica_query_count(places) == 0);
    print_hash("disabled", 0, mica_world_hash(world));
    EXPECT(mica_entity_enable(world, leaf) && !mica_entity_is_disabled(world, leaf) && mica_query_count(places) == 1);
    EXPECT(mica_has_id(world, root, mica_disabled_id()) && mica_tree_enable(world, root) == 1);
    mica_entity copy = mica_clone_tree(world, root);
    EXPECT(mica_child_count(world, copy) == 1 && mica_get(world, mica_first_child(world, copy), Place)->y == 4);
    EXPECT(mica_tree_disable(world, copy) == 2);
    EXPECT(mica_entity_disable(world, leaf) && mica_same(mica_query_first(places), root));
    print_hash("disabled", 1, mica_world_hash(world));
    close_world(world, 0);
}

/* Digits of what an observer was told, in order. */
static void arrive(const mica_event *event)
{
    uint32_t *digits = event->context;
    for (uint32_t i = 0; i < event->count; ++i)
        *digits = *digits * 10 + (uint32_t)mica_get(event->world, event->entities[i], Place)->x;
    if (event->kind >= MICA_EVENT_USER && mica_get(event->world, event->entities[0], Place)->y > 0)
        EXPECT(mica_event_stop(event));
}

/* Events on their way to the root, at once and recorded, and an observer that is told what is there. */
static void check_propagation(void)
{
    mica_world *world = open_world();
    uint32_t digits = 0;
    mica_entity last = mica_nil();
    for (uint32_t i = 1; i < 6; ++i) {
        mica_entity made = mica_create(world, MICA_WITH(Place, {(float)i, i == 2}));
        mica_set_parent(world, made, last);
        last = made;
    }
    mica_observer_def def = {.event = MICA_EVENT_USER, .fn = arrive, .context = &digits};
    EXPECT(mica_observer_add(world, &def).id);
    EXPECT(mica_event_propagate(world, MICA_EVENT_USER, 0, last, (mica_value){0}) && digits == 5432);
    digits = 0;
    mica_defer(world);
    EXPECT(mica_event_propagate(world, MICA_EVENT_USER, 0, mica_parent(world, last), (mica_value){0}));
    EXPECT(mica_event_emit(world, MICA_EVENT_USER, 0, last, (mica_value){0}) && digits == 0);
    EXPECT(mica_flush(world) == MICA_OK && digits == 4325);
    digits = 0;
    mica_commands *commands = mica_commands_create(world);
    EXPECT(mica_command_propagate(commands, MICA_EVENT_USER, 0, mica_parent(world, last), (mica_value){0}));
    EXPECT(mica_command_emit(commands, MICA_EVENT_USER, 0, last, (mica_value){0}) && digits == 0);
    EXPECT(mica_flush(world) == MICA_OK && digits == 4325);
    digits = 0;
    def = (mica_observer_def){.event = MICA_EVENT_ADD, .component = MICA_ID(Place), .fn = arrive, .context = &digits};
    def.existing = true;
    EXPECT(!mica_is_observed_id(world, MICA_ID(Place)));
    EXPECT(mica_observer_add(world, &def).id && digits == 12345);
    EXPECT(mica_is_observed_id(world, MICA_ID(Place)));
    close_world(world, 0);
}

static void check_transforms(void)
{
    mica_world *world = open_world();
    EXPECT(mica_local_id() == MICA_ID(mica_local) && mica_global_matrix_id() == MICA_ID(mica_global_matrix));
    mica_entity last = mica_nil();
    for (uint32_t i = 0; i < 600; ++i) {
        float half = (float)i * 0.01f;
        mica_local local = {{(float)i, 1, 2}, {0, mica_sinf(half), 0, mica_cosf(half)}, {1, 1.01f, 1}};
        mica_entity made = mica_create(world, MICA_FROM(mica_local, &local), MICA_WITH(mica_global_matrix));
        mica_set_parent(world, made, i % 7 ? last : mica_nil());
        if (i % 3 == 0)
            last = made;
    }
    EXPECT(mica_transform_update(world) == MICA_OK);
    print_hash("transform", 0, mica_world_hash(world));
    mica_write(world, last, mica_local)->position[0] = -1;
    EXPECT(mica_transform_update(world) == MICA_OK);
    print_hash("transform", 1, mica_world_hash(world));

    mica_global_matrix matrix, moved;
    mica_local local;
    EXPECT(mica_local_construct(&local, 1, NULL) && mica_global_matrix_construct(&matrix, 1, NULL));
    local.position[1] = 4;
    mica_matrix_from_local(&local, &matrix, &moved);
    float point[3] = {1, 2, 3};
    mica_matrix_point(&moved, point, point);
    EXPECT(point[0] == 1 && point[1] == 6 && point[2] == 3);
    close_world(world, 0);
}

void check_hierarchy(void)
{
    check_links();
    check_disabled();
    check_propagation();
    check_transforms();
}
