/* Disabled entities where features meet: systems, messages, trees, transforms, files, levels, deltas and SQL. */
#include "mica/compile.h"
#include "mica/delta.h"
#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "mica/resource.h"
#include "mica/sql.h"
#include "mica/transform.h"
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/reports.h"
#include "support/test.h"

#include <sqlite3.h>

typedef struct Glow { uint32_t value; } Glow;
MICA_POOL(Glow, value)
typedef struct Ping { uint32_t strength; } Ping;
MICA_STRUCT(Ping, strength)

static void add_one(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        ++number[i].value;
}

static void add_thousand(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        number[i].value += 1000;
}

static void glow(mica_view *view)
{
    Glow *values = mica_view_write(view, Glow);
    for (uint32_t i = 0; i < view->count; ++i)
        ++values[i].value;
}

static void disable_large(mica_view *view)
{
    const Number *number = mica_view_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        if (number[i].value % 1000 >= 50)
            mica_entity_disable(view->world, view->entities[i]);
}

START_TEST(systems_skip_disabled_entities_unless_they_ask_for_them)
{
    for (uint32_t workers = 1; workers < 4; ++workers) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_flow_def flow = mica_flow_def_default();
        flow.worker_count = workers;
        mica_flow_configure(world, &flow);
        mica_system_add(world, MICA_SYSTEM(add_one, MICA_WRITE(Number)));
        mica_system_add(world, MICA_SYSTEM_WITH(add_thousand, (.with_hidden = true), MICA_WRITE(Number)));
        mica_system_add(world, MICA_SYSTEM(glow, MICA_WRITE(Glow)));
        mica_system_add(world, MICA_SYSTEM(disable_large, MICA_READ(Number)));
        mica_entity entities[100];
        for (uint32_t i = 0; i < 100; ++i)
            entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Glow, {0}));
        for (uint32_t i = 0; i < 3; ++i)
            ck_assert_int_eq(mica_step(world, 0), MICA_OK);
        for (uint32_t i = 0; i < 100; ++i) {
            uint32_t active = i >= 49 ? 1 : i == 48 ? 2 : 3;
            ck_assert_uint_eq(mica_get(world, entities[i], Number)->value, i + 3000 + active);
            ck_assert_uint_eq(mica_get(world, entities[i], Glow)->value, active);
            ck_assert(mica_entity_is_disabled(world, entities[i]) == (i >= 47));
        }
        close_world(world, &heard);
    }
}
END_TEST

static void be_pinged(const mica_message *message)
{
    const Ping *ping = message->data;
    for (uint32_t i = 0; i < message->count; ++i)
        ((Number *)message->values)[i].value += ping->strength;
}

static mica_entity pinged, hidden;

static void ping_both(const mica_frame *frame)
{
    mica_send(frame->world, pinged, Ping, {100});
    mica_send(frame->world, hidden, Ping, {100});
    mica_broadcast(frame->world, Ping, {1000});
}

START_TEST(messages_do_not_reach_disabled_entities)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_handler_add(world, MICA_HANDLER(Number, Ping, be_pinged));
    pinged = mica_create(world, MICA_WITH(Number, {0}));
    hidden = mica_create(world, MICA_WITH(Number, {0}));
    mica_entity_disable(world, hidden);
    mica_send(world, pinged, Ping, {1});
    mica_send(world, hidden, Ping, {1});
    mica_broadcast(world, Ping, {10});
    ck_assert_uint_eq(mica_get(world, pinged, Number)->value, 11);
    mica_system sending = mica_system_add(world, MICA_SYSTEM_ONCE(ping_both));
    mica_step(world, 0);
    ck_assert_uint_eq(mica_get(world, pinged, Number)->value, 1111);
    ck_assert_uint_eq(mica_get(world, hidden, Number)->value, 0);
    mica_entity_enable(world, hidden);
    mica_step(world, 0);
    ck_assert_uint_eq(mica_get(world, hidden, Number)->value, 1100);
    mica_system_remove(world, sending);
    close_world(world, &heard);
}
END_TEST

static uint32_t visible(mica_world *world)
{
    mica_query *all = mica_query_create(world, &(mica_query_def){0});
    uint32_t count = (uint32_t)mica_query_count(all);
    mica_query_destroy(all);
    return count;
}

START_TEST(a_tree_is_disabled_and_enabled_as_a_whole)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity root = mica_create(world, MICA_WITH(Number, {0}));
    mica_entity child = mica_create_child(world, root, MICA_WITH(Number, {1}));
    mica_create_child(world, child, MICA_WITH(Number, {2}));
    mica_create_child(world, root, MICA_WITH(Number, {3}));
    mica_create(world, MICA_WITH(Number, {4}));
    mica_entity_disable(world, child);
    ck_assert_uint_eq(visible(world), 4); /* its child stays */
    ck_assert_uint_eq(mica_tree_disable(world, root), 3);
    ck_assert_uint_eq(visible(world), 1);
    ck_assert_uint_eq(mica_child_count(world, root), 2);
    ck_assert_uint_eq(mica_tree_enable(world, child), 2);
    ck_assert_uint_eq(visible(world), 3);
    mica_defer(world);
    ck_assert_uint_eq(mica_tree_enable(world, root), 2);
    ck_assert_uint_eq(visible(world), 3);
    mica_flush(world);
    ck_assert_uint_eq(visible(world), 5);
    mica_destroy(world, root);
    ck_assert_uint_eq(mica_tree_disable(world, root), 0);
    expect_report(&heard, MICA_ERROR_DEAD, "mica_tree_disable");
    ck_assert_uint_eq(mica_tree_enable(world, root), 0);
    expect_report(&heard, MICA_ERROR_DEAD, "mica_tree_enable");
    close_world(world, &heard);
}
END_TEST

START_TEST(transforms_of_disabled_parents_are_current)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity root = mica_create(world, MICA_WITH(mica_local, MICA_LOCAL_AT(1, 0, 0)), MICA_WITH(mica_global_matrix));
    mica_entity child =
        mica_create_child(world, root, MICA_WITH(mica_local, MICA_LOCAL_AT(10, 0, 0)), MICA_WITH(mica_global_matrix));
    mica_transform_update(world);
    mica_entity_disable(world, root);
    mica_write(world, root, mica_local)->position[0] = 2;
    mica_transform_update(world);
    ck_assert(mica_get(world, child, mica_global_matrix)->x[3] == 12);
    close_world(world, &heard);
}
END_TEST

/* The tag need not be defined where a file is loaded or a delta arrives. */
START_TEST(files_and_deltas_carry_disabled_entities)
{
    reports heard, heard_there;
    mica_world *world = open_world(&heard), *loaded = open_world(&heard_there);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    mica_create(world, MICA_WITH(Number, {2}));
    mica_entity_disable(world, entity);
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_OK);
    mica_resource *file = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    mica_define(loaded, Number);
    ck_assert_int_eq(mica_spawn(loaded, file, NULL), MICA_OK);
    ck_assert(mica_world_hash(loaded) == mica_world_hash(world));
    ck_assert(mica_entity_is_disabled(loaded, entity) && visible(loaded) == 1);
    mica_resource_free(file);
    mica_blob_free(&blob);
    close_world(loaded, &heard_there);

    mica_world *there = open_world(&heard_there);
    mica_define(there, Number);
    mica_sender *sender = mica_sender_create(world, NULL);
    mica_replica *replica = mica_replica_create(there, NULL);
    mica_delta delta;
    ck_assert_int_eq(mica_delta_encode(sender, 0, &delta), MICA_OK);
    ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
    ck_assert(mica_entity_is_disabled(there, mica_replica_local(replica, entity)) && visible(there) == 1);
    mica_version base = delta.version;
    mica_entity_enable(world, entity);
    ck_assert_int_eq(mica_delta_encode(sender, base, &delta), MICA_OK);
    ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
    ck_assert_uint_eq(visible(there), 2);
    mica_replica_destroy(replica);
    mica_sender_destroy(sender);
    close_world(there, &heard_there);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_level_has_disabled_entities)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_schema *schema = mica_schema_create();
    mica_schema_add(schema, &mica_type_of_Number, 0);
    mica_schema_add(schema, &mica_type_of_mica_disabled, 0);
    static const char text[] = "{\"entities\": [{\"components\": {\"Number\": {\"value\": 1}, \"mica_disabled\": {}}},"
                               " {\"components\": {\"Number\": {\"value\": 2}}}]}";
    mica_compiled compiled;
    mica_compile_def def = {.schema = schema};
    ck_assert_int_eq(mica_compile_text("level.json", text, sizeof text - 1, &def, &compiled), MICA_OK);
    mica_resource *level = mica_resource_open(compiled.blob.bytes, compiled.blob.byte_count, NULL, NULL);
    mica_define(world, Number);
    ck_assert_int_eq(mica_spawn(world, level, NULL), MICA_OK);
    ck_assert_uint_eq(visible(world), 1);
    mica_query *all = mica_query_create(world, &(mica_query_def){.with_hidden = true});
    ck_assert_uint_eq(mica_query_count(all), 2);
    mica_resource_free(level);
    mica_compiled_free(&compiled);
    mica_schema_destroy(schema);
    close_world(world, &heard);
}
END_TEST

static int take_number(void *context, int count, char **texts, char **names)
{
    (void)count, (void)names;
    *(int *)context = atoi(texts[0]);
    return 0;
}

START_TEST(sql_sees_disabled_entities)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity_disable(world, mica_create(world, MICA_WITH(Number, {7})));
    sqlite3 *database = mica_sql_open(world, NULL);
    int sum = 0;
    ck_assert_int_eq(sqlite3_exec(database, "select sum(value) from Number", take_number, &sum, NULL), SQLITE_OK);
    ck_assert_int_eq(sum, 7);
    ck_assert_int_eq(sqlite3_exec(database, "select count(*) from mica_disabled", take_number, &sum, NULL), SQLITE_OK);
    ck_assert_int_eq(sum, 1);
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(what_memory_runs_out_for_is_complete_after_the_next_try)
{
    bool done = false;
    uint32_t interrupted = 0;
    for (uint64_t k = 1; !done; ++k) {
        faulty_allocator faulty;
        faulty_allocator_init(&faulty);
        mica_world_def def = mica_world_def_default();
        def.allocator = faulty_allocator_interface(&faulty);
        reports heard;
        mica_world *world = open_world_with(&heard, def);
        mica_entity root = mica_create(world, MICA_WITH(Number, {0}));
        mica_create_child(world, root, MICA_WITH(Mass, {1}));
        faulty_allocator_fail_at(&faulty, k, false);
        uint32_t count = mica_tree_disable(world, root);
        done = faulty.failures == 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        ck_assert_uint_eq(visible(world), 2 - count);
        interrupted += count < 2;
        ck_assert_uint_eq(mica_tree_disable(world, root), 2 - count);
        ck_assert_uint_eq(visible(world), 0);
        forget_reports(&heard);
        close_world(world, &heard);
        faulty_allocator_free(&faulty);
    }
    ck_assert_uint_gt(interrupted, 0);
}
END_TEST

TEST_SUITE(integration_disable, systems_skip_disabled_entities_unless_they_ask_for_them,
           messages_do_not_reach_disabled_entities, a_tree_is_disabled_and_enabled_as_a_whole,
           transforms_of_disabled_parents_are_current, files_and_deltas_carry_disabled_entities,
           a_level_has_disabled_entities, sql_sees_disabled_entities,
           what_memory_runs_out_for_is_complete_after_the_next_try)
