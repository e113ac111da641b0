/* Scripts that are replaced, and memory that runs out. */
#define _POSIX_C_SOURCE 200809L /* mkstemp, mkdtemp */
#include "faulty_allocator.h"
#include "lua_fixture.h"

#include <unistd.h>

static void write_script(const char *path, const char *text)
{
    char temporary[256];
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(rename(temporary, path), 0);
}

START_TEST(files_are_loaded_again_when_they_change)
{
    char path[] = "/tmp/mica_lua_XXXXXX";
    int file = mkstemp(path);
    close(file);
    mica_lua *lua;
    mica_world *world = open_scripts(&lua);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    write_script(path, "mica.start(function() print('start') end)\n"
                       "mica.system('a', 'write Number', function(v) v.Number[1].value = v.Number[1].value + 1 end)\n"
                       "mica.system('b', 'write Number', function(v) v.Number[1].value = v.Number[1].value * 10 end)\n"
                       "mica.observer('add', 'Frozen', function() print('old observer') end)\n"
                       "mica.handler('Number', 'Odd', function() print('old handler') end)\n");
    ck_assert_int_eq(mica_lua_load(lua, path, NULL), MICA_OK);
    ck_assert_int_eq(mica_lua_reload(lua), MICA_OK);
    mica_step(world, 1);
    ck_assert_int_eq(mica_get(world, entity, Number)->value, 20);

    /* A file that is wrong changes nothing, and is tried once. */
    write_script(path, "mica.system('a', 'write Number', print) nonsense(");
    ck_assert_int_eq(mica_lua_reload(lua), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "unexpected symbol");
    ck_assert_int_eq(mica_lua_reload(lua), MICA_OK);
    /* One whose last system is refused gives the first back. */
    write_script(path, "mica.system('a', 'write Number', print) mica.system('c', {before = 'c'}, print)");
    ck_assert_int_eq(mica_lua_reload(lua), MICA_ERROR_INVALID);
    ck_assert_int_gt(forget_reports(&heard), 0);
    mica_step(world, 1);
    ck_assert_int_eq(mica_get(world, entity, Number)->value, 210);

    /* The new one: `a` is still before `b`, which stays; the observer and the handler were removed. */
    write_script(path, "mica.system('b', 'write Number', function(v) v.Number[1].value = v.Number[1].value * 2 end)\n"
                       "mica.system('a', 'write Number', function(v) v.Number[1].value = v.Number[1].value + 5 end)\n");
    ck_assert_int_eq(mica_lua_reload(lua), MICA_OK);
    mica_set_id(world, entity, (mica_value){MICA_ID(Frozen), 0, NULL});
    mica_send(world, entity, Odd, {0});
    mica_step(world, 1);
    ck_assert_int_eq(mica_get(world, entity, Number)->value, 430);
    ck_assert_str_eq(printed, "start\n");
    write_script(path, "mica.system('b', 'write Number', function(v) v.Number[1].value = 1 end)");
    ck_assert_int_eq(mica_lua_reload(lua), MICA_OK);
    ck_assert(!mica_system_find(world, "a").id && mica_system_find(world, "b").id);
    unlink(path);
    ck_assert_int_eq(mica_lua_reload(lua), MICA_OK);
    ck_assert(mica_lua_is_running(lua, path));
    ck_assert_int_eq(mica_lua_load(lua, path, NULL), MICA_ERROR_FILE);
    expect_report(&heard, MICA_ERROR_FILE, "not loaded");
    write_script(path, "");
    ck_assert_int_eq(mica_lua_reload(lua), MICA_OK);
    ck_assert_uint_gt(mica_lua_memory_bytes(lua, path), 0);
    ck_assert_uint_eq(mica_lua_memory_bytes(lua, "nothing"), 0);
    unlink(path);
    close_scripts(world, lua);
}
END_TEST

START_TEST(a_thousand_reloads_need_no_more_memory)
{
    mica_lua *lua;
    mica_world *world = open_scripts(&lua);
    mica_entity entity = mica_create(world, MICA_WITH(Number));
    size_t bytes = 0;
    for (int i = 0; i < 1000; ++i) {
        load(lua, "local q = mica.query('Number')\n"
                  "mica.system('a', 'write Number', function(v) v.Number[1].value = v.Number[1].value + 1 end)\n"
                  "mica.observer('add', 'Frozen', print)\nmica.handler('Number', 'Odd', print)");
        mica_step(world, 1);
        if (i == 10)
            bytes = mica_world_get_stats(world).memory_bytes;
    }
    ck_assert_int_eq(mica_get(world, entity, Number)->value, 1000);
    ck_assert_uint_le(mica_world_get_stats(world).memory_bytes, bytes + 4096);
    ck_assert_uint_lt(mica_lua_memory_bytes(lua, "test"), 1 << 20);
    close_scripts(world, lua);
}
END_TEST

START_TEST(resources_are_spawned)
{
    FOR_EACH_WAY(way)
    {
        char folder[] = "/tmp/mica_lua_XXXXXX", path[256], script[256];
        ck_assert_ptr_nonnull(mkdtemp(folder));
        mica_lua *lua;
        mica_world *world = open_scripts(&lua);
        mica_create(world, MICA_WITH(Number, {5}));
        snprintf(path, sizeof path, "%s/level.mica", folder);
        ck_assert_int_eq(mica_save(world, path, NULL), MICA_OK);
        snprintf(script, sizeof script, "%s/mod.lua", folder);
        write_script(script, "mica.start(function() assert(mica.spawn('level.mica') == 1) end)");
        ck_assert_int_eq(mica_lua_load(lua, script, ways[way]), MICA_OK);
        ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 2);
        const char *const outside[] = {"/etc/passwd", "../level.mica", "c:level.mica", "a\\\\\\\\b"};
        for (size_t i = 0; ways[way] && i < 4; ++i) {
            char text[256];
            snprintf(text, sizeof text, "mica.start(function() mica.spawn('%s') end)", outside[i]);
            ck_assert_int_eq(mica_lua_load_text(lua, "outside", text, ways[way]), MICA_ERROR_INVALID);
            expect_report(&heard, MICA_ERROR_INVALID, "beside the script");
        }
        if (ways[way]) {
            write_script(script, "mica.start(function() mica.spawn('level.mica') end)");
            mica_lua_unload(lua, script);
            ck_assert_int_ne(mica_lua_load(lua, script, &(mica_lua_script_def){.sandbox = true, .entity_limit = 2}),
                             MICA_OK);
            expect_report(&heard, MICA_ERROR_INVALID, "more entities");
        } else {
            char text[512];
            snprintf(text, sizeof text, "mica.start(function() mica.spawn('%s') end)", path);
            ck_assert_int_eq(mica_lua_load_text(lua, "absolute", text, NULL), MICA_OK);
        }
        unlink(path);
        unlink(script);
        rmdir(folder);
        close_scripts(world, lua);
    }
}
END_TEST

/* Loads a script while a system runs: a native one, called by nothing of Lua, and one of Lua through an observer of C. */
static mica_lua *the_lua;

static void load_meanwhile(const mica_event *event)
{
    (void)event;
    mica_lua_load_text(the_lua, "other", "", NULL);
    mica_lua_unload(the_lua, "test");
}

START_TEST(scripts_are_not_replaced_while_one_runs)
{
    mica_world *world = open_scripts(&the_lua);
    mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Frozen, load_meanwhile));
    load(the_lua, "mica.system('s', {exclusive = true}, function() mica.create{Frozen = true} end)");
    mica_step(world, 1);
    expect_report(&heard, MICA_ERROR_REFUSED, "a script runs");
    expect_report(&heard, MICA_ERROR_REFUSED, "a script runs");
    ck_assert(mica_lua_is_running(the_lua, "test"));
    close_scripts(world, the_lua);
}
END_TEST

START_TEST(observers_are_called_inside_functions)
{
    FOR_EACH_WAY(way)
    {
        mica_lua *lua;
        mica_world *world = open_scripts(&lua);
        ck_assert_int_eq(
            mica_lua_load_text(lua, "test",
                               "mica.observer('add', 'Number', function(e) print('inner', e.values[1].value) end)\n"
                               "mica.start(function()\n"
                               "  print('outer')\n"
                               "  local e = mica.create{Number = {value = 4}}\n"
                               "  print('after', mica.get(e, 'Number').value)\n"
                               "end)",
                               ways[way]),
            MICA_OK);
        ck_assert_str_eq(printed, "outer\ninner\t4\nafter\t4\n");
        close_scripts(world, lua);
    }
}
END_TEST

START_TEST(scripts_do_not_run_side_by_side)
{
    mica_lua *lua;
    mica_world *world = open_scripts(&lua);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 4;
    mica_flow_configure(world, &flow);
    for (int i = 0; i < 5000; ++i)
        mica_create(world, MICA_WITH(Number), MICA_WITH(Odd));
    load(lua, "local order = ''\n"
              "mica.system('a', 'write Number', function(v) if v.count > 0 then order = order .. 'a' end end)\n"
              "mica.system('b', 'write Odd', function(v) if v.count > 0 then order = order .. 'b' end end)\n"
              "mica.system('c', {exclusive = true}, function() print(order) order = '' end)\n");
    for (int i = 0; i < 20; ++i) {
        printed[0] = 0;
        mica_step(world, 1);
        ck_assert_int_eq(printed[0], 'a');
        ck_assert_ptr_null(strstr(printed, "ba"));
    }
    close_scripts(world, lua);
}
END_TEST

START_TEST(memory_that_runs_out_is_reported)
{
    const char *text =
        "mica.component('P', 'f32 x')\nlocal q = mica.query('P')\n"
        "mica.system('a', 'write P', function(v) v.P[1].x = 1 end)\n"
        "mica.observer('add', 'P', function(e) local t = {e.count} end)\nmica.handler('P', 'Number', print)\n"
        "mica.start(function() mica.create{P = {x = 3}} end)\n";
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    mica_lua_def def = {.allocator = faulty_allocator_interface(&faulty), .print = keep_line};
    bool is_loaded = false;
    for (uint64_t k = 1; !is_loaded; k += k < 100 ? 1 : 37) {
        mica_world *world = open_world(&heard);
        mica_define(world, Number);
        faulty_allocator_fail_at(&faulty, k, true);
        mica_lua *lua = mica_lua_create(world, &def);
        is_loaded = lua && mica_lua_load_text(lua, "test", text, NULL) == MICA_OK && mica_lua_is_running(lua, "test");
        faulty_allocator_fail_at(&faulty, 0, false);
        ck_assert(is_loaded == (heard.count == 0));
        forget_reports(&heard);
        mica_lua_destroy(lua);
        ck_assert_uint_eq(faulty.live_blocks, 0);
        close_world(world, &heard);
    }
    mica_world *world = open_world(&heard);
    def.allocator.release = NULL;
    ck_assert_ptr_null(mica_lua_create(world, &def));
    expect_report(&heard, MICA_ERROR_INVALID, "both functions");
    close_world(world, &heard);
    faulty_allocator_free(&faulty);
}
END_TEST

START_TEST(memory_that_runs_out_in_a_function_stops_the_script)
{
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    mica_lua_def def = {.allocator = faulty_allocator_interface(&faulty), .print = keep_line};
    for (uint64_t k = 1; k < 40; ++k) {
        mica_world *world = open_world(&heard);
        mica_define(world, Thing);
        mica_lua *lua = mica_lua_create(world, &def);
        ck_assert_int_eq(
            mica_lua_load_text(lua, "test",
                               "mica.system('a', {exclusive = true}, function()\n"
                               "  local e = mica.create{Thing = {text = ('x'):rep(100), scores = {1, 2, 3}}}\n"
                               "  local c = mica.copy(mica.get(e, 'Thing'))\n"
                               "end)",
                               NULL),
            MICA_OK);
        faulty_allocator_fail_at(&faulty, k, true);
        mica_step(world, 1);
        faulty_allocator_fail_at(&faulty, 0, false);
        ck_assert(mica_lua_is_running(lua, "test") == (heard.count == 0));
        forget_reports(&heard);
        mica_lua_destroy(lua);
        ck_assert_uint_eq(faulty.live_blocks, 0);
        close_world(world, &heard);
    }
    faulty_allocator_free(&faulty);
}
END_TEST

START_TEST(the_engine_has_a_name)
{
    ck_assert(strstr(mica_lua_engine(), "Lua"));
    mica_lua_destroy(NULL);
}
END_TEST

TEST_SUITE(reload, files_are_loaded_again_when_they_change, a_thousand_reloads_need_no_more_memory,
           resources_are_spawned, scripts_are_not_replaced_while_one_runs, observers_are_called_inside_functions,
           scripts_do_not_run_side_by_side, memory_that_runs_out_is_reported,
           memory_that_runs_out_in_a_function_stops_the_script, the_engine_has_a_name)
