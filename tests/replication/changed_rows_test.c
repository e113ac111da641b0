/* What counts as changed in a world that follows another one: of tracked components the entities that differ. */
#include "../support/reports.h"
#include "../support/test.h"

#include "mica/delta.h"
#include "mica/mica.h"
#include "mica/split.h"

typedef struct Vigour {
    int32_t value;
    bool is_weak;
} Vigour; /* with padding */
MICA_COMPONENT_WITH(Vigour, (.track_changed = true), value, is_weak)
typedef struct Body {
    float mass, speed;
} Body;
MICA_COMPONENT_WITH(Body, (.split = true, .track_changed = true), mass, speed)
typedef struct Title {
    mica_text text;
} Title;
MICA_COMPONENT_WITH(Title, (.track_changed = true, .toggle = true), text)
typedef struct Poison {
    int32_t value;
    mica_entity by;
} Poison;
MICA_POOL_WITH(Poison, (.track_changed = true), value, by)
typedef struct Light {
    float red, green;
} Light;
MICA_POOL_WITH(Light, (.split = true, .index = MICA_INDEX_DIRECT, .track_changed = true), red, green)
MICA_TAG(Moved)

static reports heard[2];

enum { UNITS = 1500, WRITTEN = 700, KINDS = 5 };
static mica_entity units[UNITS];

static void apply(mica_sender *sender, mica_replica *replica)
{
    mica_delta delta;
    ck_assert_int_eq(mica_delta_encode(sender, mica_replica_version(replica), &delta), MICA_OK);
    ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
}

static void expect_one(mica_world *world, mica_version since, mica_component component, mica_entity wanted)
{
    mica_term term = {.component = component, .access = MICA_ACCESS_CHANGED};
    mica_query *query = mica_query_create(world, &(mica_query_def){.terms = &term, .term_count = 1});
    uint32_t shown = 0;
    for (mica_view view = mica_query_begin_since(query, since); mica_view_next(&view); shown += view.count)
        ck_assert_msg(view.count == 1 && mica_same(view.entities[0], wanted), "%s: entity %u",
                      mica_component_type(component)->name, view.entities[0].index);
    ck_assert_msg(shown == !mica_is_nil(wanted), "%s: %u", mica_component_type(component)->name, shown);
    mica_query_destroy(query);
}

/* In step, and with rows in other places than those of the sender. */
static void follow(bool has_own_rows)
{
    const mica_component components[KINDS] = {MICA_ID(Vigour), MICA_ID(Body), MICA_ID(Title), MICA_ID(Poison),
                                              MICA_ID(Light)};
    mica_world *world = open_world(&heard[0]), *other = open_world(&heard[1]);
    for (uint32_t i = 0; i < KINDS; ++i)
        mica_component_define(other, mica_component_type(components[i]));
    mica_define(other, Moved);
    for (uint32_t i = 0; i < UNITS; ++i) {
        units[i] = mica_create(world, MICA_WITH(Vigour, {(int32_t)i, false}), MICA_WITH(Body, {1, 2}),
                               MICA_WITH(Poison, {1, units[0]}), MICA_WITH(Light, {3, 4}));
        mica_text_set(&((Title *)mica_add(world, units[i], Title))->text, "a unit among many others");
    }
    mica_sender *sender = mica_sender_create(world, NULL);
    mica_replica *replica = mica_replica_create(other, &(mica_replica_def){.mapped = true});
    apply(sender, replica);
    mica_version mark = mica_world_mark(other);
    if (has_own_rows) /* in an archetype of its own */
        mica_add(other, mica_replica_local(replica, units[WRITTEN]), Moved);
    mica_write(world, units[WRITTEN], Vigour)->value = -1;
    *mica_write_field(world, units[WRITTEN], Body, speed) = 9;
    mica_text_set(&mica_write(world, units[WRITTEN], Title)->text, "the one");
    mica_write(world, units[WRITTEN], Poison)->value = 9;
    *mica_write_field(world, units[WRITTEN], Light, green) = 9;
    apply(sender, replica);
    for (uint32_t i = 0; i < KINDS; ++i)
        expect_one(other, mark, components[i], mica_replica_local(replica, units[WRITTEN]));
    mark = mica_world_mark(other);
    mica_write(world, units[3], Vigour)->value = 3; /* the same value again */
    mica_write(world, units[3], Poison)->value = 1;
    apply(sender, replica);
    for (uint32_t i = 0; i < KINDS; ++i)
        expect_one(other, mark, components[i], mica_nil());
    ck_assert_int_eq(mica_world_validate(other), MICA_OK);
    mica_replica_destroy(replica);
    mica_sender_destroy(sender);
    close_world(world, &heard[0]);
    close_world(other, &heard[1]);
}

START_TEST(a_delta_marks_the_entities_whose_values_differ)
{
    follow(false);
    follow(true);
}
END_TEST

TEST_SUITE(replication_changed_rows, a_delta_marks_the_entities_whose_values_differ)
