/* A world follows a file that changed: what is taken over, what stays as the program left it, and what is refused. */
#include "support/level.h"
#include "support/reports.h"
#include "support/require.h"
#include "support/test.h"

#include "mica/compile.h"
#include "mica/hierarchy.h"
#include "mica/reload.h"

#include <stdio.h>
#include <string.h>

typedef struct Item { uint32_t kind; } Item;
MICA_POOL_WITH(Item, (.many = true), kind)

static reports heard;
static mica_world *world;
static mica_spawned *spawned;
static struct {
    mica_compiled compiled;
    mica_resource *resource;
} files[2];

static mica_resource *compile(uint32_t which, const char *text)
{
    mica_schema *schema = mica_schema_create();
    REQUIRE(mica_schema_add_world(schema, world) == MICA_OK);
    mica_compile_def def = {.schema = schema};
    REQUIRE_SAYING(mica_compile_text("level.json", text, strlen(text), &def, &files[which].compiled) == MICA_OK, "%s",
                   text);
    mica_schema_destroy(schema);
    return files[which].resource = level_open(&files[which].compiled.blob);
}

static void begin(const char *text, const mica_spawn_def *def)
{
    world = open_world(&heard);
    level_define(world);
    mica_define(world, Item);
    spawned = mica_spawn_kept(world, compile(0, text), def);
    REQUIRE(spawned);
}

static mica_result reload(const char *text, mica_reload_stats *out_stats)
{
    return mica_reload(spawned, compile(1, text), out_stats);
}

static void end(void)
{
    mica_spawned_free(spawned);
    for (uint32_t i = 0; i < 2; ++i) {
        mica_resource_free(files[i].resource);
        mica_compiled_free(&files[i].compiled);
        files[i].resource = NULL;
        files[i].compiled = (mica_compiled){0};
    }
    close_world(world, &heard);
}

START_TEST(a_field_is_updated_where_the_program_left_it_alone)
{
    begin("{\"entities\": [{\"name\": \"a\", \"components\": {\"Position\": [1, 2, 3]}}]}", NULL);
    mica_entity a = mica_find(world, "a");
    mica_write(world, a, Position)->y = 50;
    mica_write(world, a, Position)->z = 60;
    mica_reload_stats stats;
    ck_assert_int_eq(reload("{\"entities\": [{\"name\": \"a\", \"components\": {\"Position\": [10, 20, 3]}}]}", &stats),
                     MICA_OK);
    const Position *position = mica_get(world, a, Position);
    ck_assert(position->x == 10 && position->y == 50 && position->z == 60);
    ck_assert_uint_eq(stats.updated_count, 1);
    ck_assert_uint_eq(stats.kept_count, 1);
    end();
}
END_TEST

START_TEST(text_goes_as_a_whole_and_arrays_by_element)
{
    begin("{\"entities\": [{\"name\": \"a\", \"components\": {\"Monster\": {\"title\": \"king\", \"path\": [[1, 1, 1], "
          "[2, 2, 2]]}}},"
          " {\"name\": \"b\", \"components\": {\"Monster\": {\"title\": \"king\"}}}]}",
          NULL);
    mica_entity a = mica_find(world, "a"), b = mica_find(world, "b");
    strcpy(mica_write(world, a, Monster)->title, "kin");
    mica_write(world, a, Monster)->path[1].y = 9;
    memcpy(mica_write(world, b, Monster)->title, "king\0rubbish", 12);
    ck_assert_int_eq(reload("{\"entities\": [{\"name\": \"a\", \"components\": {\"Monster\": {\"title\": \"duke\", "
                            "\"path\": [[5, 1, 1], [5, 5, 5]]}}},"
                            " {\"name\": \"b\", \"components\": {\"Monster\": {\"title\": \"duke\"}}}]}",
                            NULL),
                     MICA_OK);
    const Monster *monster = mica_get(world, a, Monster);
    ck_assert_str_eq(monster->title, "kin");
    ck_assert(monster->path[0].x == 5 && monster->path[1].x == 5 && monster->path[1].y == 9 && monster->path[1].z == 5);
    ck_assert_str_eq(mica_get(world, b, Monster)->title, "duke");
    end();
}
END_TEST

START_TEST(components_come_and_go_unless_the_program_did_it_first)
{
    begin("{\"entities\": [{\"name\": \"a\", \"components\": {\"Position\": [1, 2, 3], \"Frozen\": {}, \"Number\": "
          "[1]}}]}",
          NULL);
    mica_entity a = mica_find(world, "a");
    mica_set(world, a, Velocity, {7, 7, 7});
    mica_remove(world, a, Number);
    mica_reload_stats stats;
    ck_assert_int_eq(
        reload("{\"entities\": [{\"name\": \"a\", \"components\": {\"Position\": [1, 2, 3], \"Velocity\": [1, 1, 1],"
               " \"Number\": [2], \"Health\": {\"current\": 3}}, \"disabled\": [\"Health\"]}]}",
               &stats),
        MICA_OK);
    ck_assert(!mica_has(world, a, Frozen) && !mica_has(world, a, Number));
    ck_assert_float_eq(mica_get(world, a, Velocity)->x, 7);
    ck_assert_int_eq(mica_get(world, a, Health)->current, 3);
    ck_assert(!mica_is_enabled(world, a, Health));
    ck_assert_uint_eq(stats.added_count, 1);
    ck_assert_uint_eq(stats.removed_count, 1);
    end();
}
END_TEST

START_TEST(a_switch_is_thrown_unless_the_program_threw_it)
{
    const char *on = "{\"entities\": [{\"name\": \"a\", \"components\": {\"Health\": [1, 1]}},"
                     " {\"name\": \"b\", \"components\": {\"Health\": [1, 1]}, \"disabled\": [\"Health\"]}]}";
    const char *off =
        "{\"entities\": [{\"name\": \"a\", \"components\": {\"Health\": [1, 1]}, \"disabled\": [\"Health\"]},"
        " {\"name\": \"b\", \"components\": {\"Health\": [1, 1]}}]}";
    begin(on, NULL);
    mica_entity a = mica_find(world, "a"), b = mica_find(world, "b");
    mica_reload_stats stats;
    ck_assert_int_eq(reload(off, &stats), MICA_OK);
    ck_assert(!mica_is_enabled(world, a, Health) && mica_is_enabled(world, b, Health));
    ck_assert_uint_eq(stats.updated_count, 2);
    mica_enable(world, a, Health);
    ck_assert_int_eq(mica_reload(spawned, files[0].resource, &stats), MICA_OK);
    ck_assert(mica_is_enabled(world, a, Health) && !mica_is_enabled(world, b, Health));
    ck_assert_uint_eq(stats.updated_count, 1);
    end();
}
END_TEST

START_TEST(what_died_stays_dead_and_gets_no_children)
{
    begin("{\"entities\": [{\"name\": \"a\"}, {\"name\": \"b\"}]}", NULL);
    mica_entity b = mica_find(world, "b");
    mica_destroy(world, mica_find(world, "a"));
    mica_reload_stats stats;
    ck_assert_int_eq(reload("{\"entities\": [{\"name\": \"a\", \"children\": [{\"name\": \"c\", \"children\": [{}]}]},"
                            " {\"name\": \"b\", \"children\": [{\"name\": \"d\"}]}]}",
                            &stats),
                     MICA_OK);
    ck_assert_uint_eq(stats.created_count, 1);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 2);
    ck_assert(mica_same(mica_parent(world, mica_find(world, "b/d")), b));
    end();
}
END_TEST

static void expect_children(mica_entity parent, const char *expected)
{
    char names[64] = "";
    for (mica_entity child = mica_first_child(world, parent); !mica_is_nil(child);
         child = mica_next_sibling(world, child)) {
        const char *name = mica_name_get(world, child);
        strcat(names, name ? name : "-");
    }
    ck_assert_str_eq(names, expected);
}

START_TEST(siblings_take_the_order_of_the_file)
{
    begin("{\"entities\": [{\"name\": \"p\", \"children\": [{\"name\": \"a\"}, {\"name\": \"b\"}, {\"name\": \"c\"}, "
          "{}]},"
          " {\"name\": \"q\"}]}",
          NULL);
    mica_entity p = mica_find(world, "p"), a = mica_find(world, "p/a"), c = mica_find(world, "p/c");
    ck_assert_int_eq(mica_set_parent(world, mica_find(world, "p/b"), mica_find(world, "q")), MICA_OK);
    ck_assert_int_eq(
        reload("{\"entities\": [{\"name\": \"p\", \"children\": [{\"name\": \"x\"}, {\"name\": \"c\"}, {},"
               " {\"name\": \"y\"}, {\"name\": \"a\"}, {\"name\": \"b\"}, {\"name\": \"z\"}]}, {\"name\": \"q\"}]}",
               NULL),
        MICA_OK);
    expect_children(p, "xc-yaz");
    expect_children(mica_find(world, "q"), "b"); /* the program gave it away */
    ck_assert(mica_same(mica_find(world, "p/a"), a) && mica_same(mica_find(world, "p/c"), c));
    end();
}
END_TEST

START_TEST(many_instances_are_replaced_together_or_kept)
{
    begin("{\"entities\": [{\"name\": \"a\", \"components\": {\"Item\": [{\"kind\": 1}, {\"kind\": 2}]}},"
          " {\"name\": \"b\", \"components\": {\"Item\": [{\"kind\": 1}, {\"kind\": 2}]}}]}",
          NULL);
    mica_pool *pool = mica_pool_of(world, Item);
    mica_entity a = mica_find(world, "a"), b = mica_find(world, "b");
    mica_pool_remove(pool, mica_pool_find(pool, b));
    mica_reload_stats stats;
    ck_assert_int_eq(reload("{\"entities\": [{\"name\": \"a\", \"components\": {\"Item\": [{\"kind\": 3}, {\"kind\": "
                            "2}, {\"kind\": 4}]}},"
                            " {\"name\": \"b\", \"components\": {\"Item\": [{\"kind\": 3}]}}]}",
                            &stats),
                     MICA_OK);
    uint32_t kinds = 0;
    for (mica_instance i = mica_pool_find(pool, a); !mica_instance_is_nil(i); i = mica_pool_next(pool, i))
        kinds = kinds * 10 + ((const Item *)mica_instance_read_id(pool, i))->kind;
    ck_assert_uint_eq(kinds, 324);
    ck_assert_uint_eq(mica_get(world, b, Item)->kind, 2);
    ck_assert_uint_eq(stats.kept_count, 1);
    end();
}
END_TEST

START_TEST(singletons_follow_field_by_field)
{
    begin("{\"singletons\": {\"Clock\": {\"seconds\": 1, \"ticks\": 2}}}", NULL);
    mica_singleton_write(world, Clock)->seconds = 9;
    ck_assert_int_eq(reload("{\"singletons\": {\"Clock\": {\"seconds\": 5, \"ticks\": 6}}}", NULL), MICA_OK);
    ck_assert(mica_singleton_get(world, Clock)->seconds == 9);
    ck_assert_uint_eq(mica_singleton_get(world, Clock)->ticks, 6);
    end();
}
END_TEST

START_TEST(every_copy_follows_by_itself_below_its_parent)
{
    world = open_world(&heard);
    level_define(world);
    mica_entity camp = mica_create(world), out[6];
    mica_spawn_def def = {
        .copies = 3, .names = MICA_SPAWN_NAMES_FREE, .parent = camp, .out_entities = out, .out_capacity = 6};
    spawned = mica_spawn_kept(world,
                              compile(0, "{\"entities\": [{\"name\": \"orc\", \"children\": [{\"name\": \"axe\", "
                                         "\"components\": {\"Number\": [1]}}]}]}"),
                              &def);
    ck_assert_uint_eq(mica_spawned_count(spawned), 6);
    ck_assert(memcmp(out, mica_spawned_entities(spawned), sizeof out) == 0);
    mica_entity axes[3];
    for (uint32_t i = 0, n = 0; i < 6; ++i)
        if (mica_has(world, out[i], Number))
            axes[n++] = out[i];
    mica_write(world, axes[1], Number)->value = 50;
    ck_assert_int_eq(
        reload(
            "{\"entities\": [{\"name\": \"orc\", \"children\": [{\"name\": \"axe\", \"components\": {\"Number\": [2]}},"
            " {\"name\": \"bow\"}]}, {\"name\": \"dog\"}]}",
            NULL),
        MICA_OK);
    ck_assert_uint_eq(mica_spawned_count(spawned), 12);
    ck_assert_uint_eq(mica_get(world, axes[0], Number)->value, 2);
    ck_assert_uint_eq(mica_get(world, axes[1], Number)->value, 50);
    ck_assert_uint_eq(mica_get(world, axes[2], Number)->value, 2);
    for (uint32_t i = 0; i < 3; ++i)
        expect_children(mica_parent(world, axes[i]), "axebow");
    expect_children(camp, "orcdog----"); /* each dog after its orc, and a name is used once */
    end();
}
END_TEST

static uint32_t spawn_calls;
static bool spawn_allowed;

static bool spawn_doubled(const mica_spawn_run *run, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < run->count; ++i)
        ((Number *)run->values)[i].value += 2 * ((const Number *)run->instances)[i].value;
    spawn_calls += run->count;
    return spawn_allowed;
}

START_TEST(a_spawn_function_makes_anew_what_changed_in_the_file_and_may_refuse)
{
    mica_resource_rule rule = {.component = MICA_ID(Number), .spawn = spawn_doubled};
    spawn_allowed = true;
    begin("{\"entities\": [{\"name\": \"a\", \"components\": {\"Number\": [1]}}, {\"name\": \"b\", \"components\": "
          "{\"Number\": [1]}}]}",
          &(mica_spawn_def){.rules = &rule, .rule_count = 1});
    spawn_calls = 0;
    const char *newer =
        "{\"entities\": [{\"name\": \"c\"}, {\"name\": \"a\", \"components\": {\"Number\": [5]}}, {\"name\": \"b\","
        " \"components\": {\"Number\": [1]}}]}";
    uint64_t before = mica_world_hash(world);
    spawn_allowed = false;
    ck_assert_int_eq(reload(newer, NULL), MICA_ERROR_DATA);
    expect_report(&heard, MICA_ERROR_DATA, "the spawn function of component Number refused");
    ck_assert(mica_world_hash(world) == before && mica_is_nil(mica_find(world, "c")));
    spawn_allowed = true;
    ck_assert_int_eq(mica_reload(spawned, files[1].resource, NULL), MICA_OK);
    ck_assert_uint_eq(spawn_calls, 2);
    ck_assert_uint_eq(mica_get(world, mica_find(world, "a"), Number)->value, 10);
    ck_assert_uint_eq(mica_get(world, mica_find(world, "b"), Number)->value, 2);
    end();
}
END_TEST

static bool spawn_clock(const mica_spawn_run *run, void *context)
{
    (void)context;
    ((Clock *)run->values)->ticks += 2 * ((const Clock *)run->instances)->ticks;
    return spawn_allowed;
}

START_TEST(a_singleton_with_a_spawn_function_is_made_anew_or_nothing_changes)
{
    mica_resource_rule rule = {.component = MICA_ID(Clock), .spawn = spawn_clock};
    spawn_allowed = true;
    begin("{\"singletons\": {\"Clock\": {\"ticks\": 1}}}", &(mica_spawn_def){.rules = &rule, .rule_count = 1});
    ck_assert_uint_eq(mica_singleton_get(world, Clock)->ticks, 2);
    uint64_t before = mica_world_hash(world);
    mica_reload_stats stats;
    spawn_allowed = false;
    ck_assert_int_eq(reload("{\"singletons\": {\"Clock\": {\"ticks\": 5}}, \"entities\": [{\"name\": \"a\"}]}", &stats),
                     MICA_ERROR_DATA);
    expect_report(&heard, MICA_ERROR_DATA, "the spawn function of component Clock refused");
    ck_assert(mica_world_hash(world) == before && mica_spawned_resource(spawned) == files[0].resource);
    spawn_allowed = true;
    ck_assert_int_eq(mica_reload(spawned, files[1].resource, &stats), MICA_OK);
    ck_assert_uint_eq(mica_singleton_get(world, Clock)->ticks, 10);
    ck_assert(stats.updated_count == 1 && stats.created_count == 1);
    mica_singleton_write(world, Clock)->ticks = 3;
    ck_assert_int_eq(mica_reload(spawned, files[1].resource, &stats), MICA_OK);
    ck_assert_msg(mica_singleton_get(world, Clock)->ticks == 3 && !stats.updated_count, "the file did not change");
    end();
}
END_TEST

START_TEST(singletons_that_are_skipped_or_new_in_the_file)
{
    begin("{}", &(mica_spawn_def){.skip_singletons = true});
    ck_assert_int_eq(reload("{\"singletons\": {\"Clock\": {\"ticks\": 5}}}", NULL), MICA_OK);
    ck_assert_uint_eq(mica_singleton_get(world, Clock)->ticks, 0);
    end();
    begin("{}", NULL);
    ck_assert_int_eq(reload("{\"singletons\": {\"Clock\": {\"ticks\": 5}}}", NULL), MICA_OK);
    ck_assert_uint_eq(mica_singleton_get(world, Clock)->ticks, 5);
    end();
}
END_TEST

static void begin_with_texts(const char *text)
{
    world = open_world(&heard);
    mica_define(world, Text);
    static mica_resource_rule rule;
    rule = (mica_resource_rule){.component = MICA_ID(Text)}; /* the described fields are enough */
    spawned = mica_spawn_kept(world, compile(0, text), &(mica_spawn_def){.rules = &rule, .rule_count = 1});
    REQUIRE(spawned);
}

START_TEST(what_owns_something_keeps_it_when_its_fields_follow)
{
    begin_with_texts("{\"entities\": [{\"name\": \"a\", \"components\": {\"Text\": {\"length\": 1}}},"
                     " {\"name\": \"b\", \"components\": {\"Text\": {\"length\": 1}}}]}");
    mica_write(world, mica_find(world, "b"), Text)->length = 9;
    mica_reload_stats stats;
    ck_assert_int_eq(reload("{\"entities\": [{\"name\": \"a\", \"components\": {\"Text\": {\"length\": 2}}},"
                            " {\"name\": \"b\", \"components\": {\"Text\": {\"length\": 2}}},"
                            " {\"name\": \"c\", \"components\": {\"Text\": {\"length\": 3}}}]}",
                            &stats),
                     MICA_OK);
    ck_assert_uint_eq(mica_get(world, mica_find(world, "a"), Text)->length, 2);
    ck_assert_uint_eq(mica_get(world, mica_find(world, "b"), Text)->length, 9);
    ck_assert_uint_eq(mica_get(world, mica_find(world, "c"), Text)->length, 3);
    ck_assert(stats.updated_count == 1 && stats.kept_count == 1);
    ck_assert_int_eq(texts_alive, 3);
    end();
    ck_assert_int_eq(texts_alive, 0);
}
END_TEST

static bool spawn_tag(const mica_spawn_run *run, void *context)
{
    (void)context;
    ck_assert(!run->values && !run->instances);
    spawn_calls += run->count;
    return spawn_allowed;
}

START_TEST(a_tag_that_the_file_adds_comes_by_its_spawn_function)
{
    mica_resource_rule rule = {.component = MICA_ID(Frozen), .spawn = spawn_tag};
    begin("{\"entities\": [{\"name\": \"a\"}]}", &(mica_spawn_def){.rules = &rule, .rule_count = 1});
    spawn_calls = 0;
    spawn_allowed = false;
    ck_assert_int_eq(reload("{\"entities\": [{\"name\": \"a\", \"components\": {\"Frozen\": true}}]}", NULL),
                     MICA_ERROR_DATA);
    expect_report(&heard, MICA_ERROR_DATA, "the spawn function of component Frozen refused");
    ck_assert(!mica_has(world, mica_find(world, "a"), Frozen));
    spawn_allowed = true;
    ck_assert_int_eq(mica_reload(spawned, files[1].resource, NULL), MICA_OK);
    ck_assert(mica_has(world, mica_find(world, "a"), Frozen) && spawn_calls == 2);
    end();
}
END_TEST

START_TEST(a_name_that_is_taken_refuses_the_reload)
{
    begin("{\"entities\": [{\"name\": \"a\", \"components\": {\"Number\": [1]}}]}", NULL);
    mica_entity mine = mica_create(world);
    mica_name_set(world, mine, mica_nil(), "b");
    uint64_t before = mica_world_hash(world);
    ck_assert_int_eq(reload("{\"entities\": [{\"name\": \"c\"}, {\"name\": \"a\", \"components\": {\"Number\": [2]}}, "
                            "{\"name\": \"b\"}]}",
                            NULL),
                     MICA_ERROR_EXISTS);
    expect_report(&heard, MICA_ERROR_EXISTS, "b");
    ck_assert(mica_world_hash(world) == before && mica_is_nil(mica_find(world, "c")));
    ck_assert_ptr_eq(mica_spawned_resource(spawned), files[0].resource);
    mica_destroy(world, mine);
    ck_assert_int_eq(mica_reload(spawned, files[1].resource, NULL), MICA_OK);
    ck_assert_uint_eq(mica_get(world, mica_find(world, "a"), Number)->value, 2);
    end();
}
END_TEST

static mica_result link_nothing(mica_world *of, const mica_spawn_links *links, void *context)
{
    (void)of;
    (void)links;
    (void)context;
    return MICA_OK;
}

START_TEST(what_cannot_be_followed_is_refused)
{
    begin("{\"entities\": [{\"name\": \"a\", \"components\": {\"Number\": [1]}}]}", NULL);
    ck_assert_ptr_null(mica_spawn_kept(world, files[0].resource, &(mica_spawn_def){.link = link_nothing}));
    expect_report(&heard, MICA_ERROR_REFUSED, "can't be followed");
    mica_resource *newer = compile(1, "{\"entities\": [{\"name\": \"a\", \"components\": {\"Number\": [2]}}]}");
    mica_defer(world);
    ck_assert_int_eq(mica_reload(spawned, newer, NULL), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(mica_get(world, mica_find(world, "a"), Number)->value, 1);
    end();
}
END_TEST

START_TEST(a_watch_sees_files_that_change_come_and_go)
{
    const char *paths[] = {scratch("a.json"), scratch("b.json")};
    ck_assert_int_eq(mica_write_file(paths[0], "{}", 2, NULL), MICA_OK);
    mica_watch *watch = mica_watch_create(paths, 2, NULL);
    ck_assert(watch && !mica_watch_changed(watch));
    mica_write_file(paths[0], "[]", 2, NULL); /* as long as before, perhaps in the same instant */
    ck_assert(mica_watch_changed(watch) && !mica_watch_changed(watch));
    mica_write_file(paths[1], "", 0, NULL);
    ck_assert(mica_watch_changed(watch) && !mica_watch_changed(watch));
    remove(paths[0]);
    ck_assert(mica_watch_changed(watch) && !mica_watch_changed(watch));
    mica_watch_destroy(watch);
    mica_watch_destroy(NULL);
    mica_spawned_free(NULL);
}
END_TEST

TEST_SUITE(reload, a_field_is_updated_where_the_program_left_it_alone, text_goes_as_a_whole_and_arrays_by_element,
           components_come_and_go_unless_the_program_did_it_first, a_switch_is_thrown_unless_the_program_threw_it,
           what_died_stays_dead_and_gets_no_children, siblings_take_the_order_of_the_file,
           many_instances_are_replaced_together_or_kept, singletons_follow_field_by_field,
           every_copy_follows_by_itself_below_its_parent,
           a_spawn_function_makes_anew_what_changed_in_the_file_and_may_refuse, a_name_that_is_taken_refuses_the_reload,
           what_cannot_be_followed_is_refused, a_watch_sees_files_that_change_come_and_go,
           a_singleton_with_a_spawn_function_is_made_anew_or_nothing_changes,
           singletons_that_are_skipped_or_new_in_the_file, what_owns_something_keeps_it_when_its_fields_follow,
           a_tag_that_the_file_adds_comes_by_its_spawn_function)
