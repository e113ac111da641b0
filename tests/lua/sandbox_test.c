/* Mods that are hostile or broken: they end, they use no more than they may, and the world stays as it was. */
#include "lua_programs.h"
#include "reports.h"
#include "test.h"

#include "mica/flow.h"
#include "mica/lua.h"

#include "os/clock.h"

#include <stdio.h>
#include <string.h>

static reports heard;

static void print_nothing(const char *text, void *context)
{
    (void)text, (void)context;
}

/* Texts that must fail, in the file or in a function of it. */
static const char *const hostile[] = {
    /* endless */
    "while true do end",
    "repeat until false",
    "local function f() return f() end f()",
    "local function f() f() end f()",
    "while true do pcall(function() while true do end end) end",
    "while true do pcall(pcall, error) end",
    "xpcall(function() while true do end end, function() while true do end end)",
    "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) return t[1]",
    "setmetatable({}, {__gc = function() while true do end end})",
    "for i = 1, math.huge do end",
    "for i = 1, 1e300 do print(i) end",
    "local s = ('a'):rep(1000) while true do s:find('b') end",
    "('a'):rep(200):find(('a-'):rep(20) .. 'b')",
    "('a'):rep(100000):find('.-.-b')",
    "('x'):rep(5000):gsub('.*%d', '')",
    "for _ in ('x'):rep(60000):gmatch('(.-)(.-)y') do end",
    "('x'):rep(5000):match('%b()%b()')",
    "(''):rep(1e18)",
    "table.insert(setmetatable({}, {__len = function() return 1e15 end}), 1, 1)",
    "table.concat(setmetatable({}, {__len = function() return 1e15 end, __index = function() return 'x' end}))",
    "table.sort(setmetatable({}, {__len = function() return 1e9 end}))",
    "local t = {} for i = 1, 1e9 do table.insert(t, 1, i) end",
    "local t = {} for i = 1, 100000 do t[i] = i end while true do table.sort(t, function(a, b) return a > b end) end",
    "while true do ('x'):rep(9e6) end",
    /* memory */
    "('x'):rep(1e12)",
    "local t = {} while true do t[#t + 1] = {} end",
    "local s = 'x' while true do s = s .. s end",
    "local t = {} for i = 1, 1e9 do t[i] = i end",
    "local t = {} while true do t = {t, ('x'):rep(100)} end",
    "local t = {} while true do pcall(function() t[#t + 1] = ('x'):rep(1e6) .. #t end) end",
    "local f = {} while true do f[#f + 1] = function() return f end end",
    "print(('x'):rep(1e6))",
    "string.format('%99999d', 1)",
    /* ways out */
    "os.exit(1)",
    "io.open('/etc/passwd')",
    "require('ffi')",
    "ffi.cdef''",
    "package.loadlib('libc.so.6', 'abort')",
    "dofile('/etc/passwd')",
    "loadfile('/etc/passwd')",
    "load('x = 1')()",
    "loadstring('x = 1')()",
    "debug.getregistry()",
    "debug.sethook()",
    "string.dump(print)",
    "coroutine.wrap(function() while true do end end)()",
    "collectgarbage('stop') while true do end",
    "getfenv(0)",
    "setfenv(1, {})",
    "newproxy(true)",
    "jit.on()",
    "getmetatable(mica.query('Number')).__index = nil",
    "setmetatable(mica.query('Number'), {})",
    "rawset(mica.query('Number'), 1, 1)",
    "table.move({}, 1, 1e18, 2)",
    /* many declarations */
    "for i = 1, 1000 do mica.component('C' .. i, 'f32 x') end",
    "for i = 1, 1000 do mica.system('s' .. i, 'Number', print) end",
    "mica.component('Big', 'f64 x[60000], f64 y[60000], f64 z[60000]')",
    "error(setmetatable({}, {__tostring = function() while true do end end}))",
};

/* Bodies of functions that must be stopped, in mica.start: `e` is an entity with a Number. */
static const char *const hostile_functions[] = {
    "while true do mica.create{} end",
    "while true do mica.create{Number = {}} end",
    "while true do mica.set(e, 'Number', {value = 1}) end",
    "for i = 1, 1e9 do mica.send(e, 'Ping') end",
    "while true do mica.broadcast('Ping') end",
    "while true do mica.name(e, ('n'):rep(1000)) end",
    "while true do mica.set(e, 'Text', {text = ('x'):rep(9e5)}) end",
    "local t = {} for i = 1, 1e5 do t[i] = i end mica.set(e, 'Text', {list = t})",
    "mica.write(e, 'Number')[1] = 1",
    "mica.write(e, 'Number').value = 1e300",
    "local n = mica.get(e, 'Number') mica.destroy(e) return n.value",
    "local n = mica.write(e, 'Number') for i = 1, 1000 do mica.create{Number = {}} end n.value = 5",
    "mica.get(e, {})",
    "mica.create{[1] = 2}",
    "mica.create(setmetatable({}, {__index = error, __pairs = error}), 5).x = 1",
    "getmetatable(mica.get(e, 'Number')).__index = error",
    "mica.get(2^53, 'Number').x = 1",
    "mica.spawn('../../etc/passwd')",
    "local q = mica.write(e, 'Text') q.list = setmetatable({}, {__len = function() return 1e9 end}) q.text = q q = q.z",
};

static const mica_lua_script_def limits = {
    .sandbox = true, .time_limit_seconds = 0.05, .memory_limit_bytes = 4 << 20, .change_limit = 1000};

static mica_world *open_game(mica_lua **out_lua)
{
    mica_world *world = open_world(&heard);
    *out_lua = mica_lua_create(world, &(mica_lua_def){.print = print_nothing});
    lua_programs_define(world);
    return world;
}

static void run(const char *name, const char *text, bool must_fail)
{
    mica_lua *lua;
    mica_world *world = open_game(&lua);
    uint64_t start = micap_clock_ns();
    mica_result result = mica_lua_load_text(lua, name, text, &limits);
    for (int frame = 0; frame < 3; ++frame)
        mica_step(world, 0.1f);
    double seconds = (double)(micap_clock_ns() - start) * 1e-9;
    ck_assert_msg(!must_fail || result != MICA_OK, "%s", text);
    ck_assert_msg(seconds < 20, "%f seconds: %s", seconds, text);
    ck_assert_uint_le(mica_lua_memory_bytes(lua, name), limits.memory_limit_bytes);
    ck_assert_uint_lt(mica_world_get_stats(world).entity_count, 20000);
    ck_assert_msg(lua_programs_secret_is_kept(world), "%s", text);
    mica_lua_destroy(lua);
    forget_reports(&heard);
    close_world(world, &heard);
}

START_TEST(hostile_texts_are_not_loaded)
{
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; ++i)
        run("hostile", hostile[i], true);
}
END_TEST

START_TEST(hostile_functions_are_stopped)
{
    char text[1024];
    for (size_t i = 0; i < sizeof hostile_functions / sizeof *hostile_functions; ++i) {
        snprintf(text, sizeof text,
                 "mica.message('Ping')\nmica.start(function() local e = mica.create{Number = {}, Text = {}}\n%s\nend)",
                 hostile_functions[i]);
        run("hostile", text, true);
    }
}
END_TEST

/* Endless, though each function returns soon: what they cause calls them again. */
START_TEST(endless_reactions_end)
{
    const char *const texts[] = {
        "mica.observer('set', 'Number', function(e) mica.set(e.entities[1], 'Number', {value = 1}) end)\n"
        "mica.start(function() mica.create{Number = {}} end)",
        "mica.observer('add', 'Number', function(e) mica.create{Number = {}} mica.create{Number = {}} end)\n"
        "mica.start(function() mica.create{Number = {}} end)",
        "mica.message('Ping')\nmica.handler('Number', 'Ping', function(m) mica.broadcast('Ping') end)\n"
        "mica.start(function() mica.create{Number = {}} end)\n"
        "mica.system('s', {}, function() mica.broadcast('Ping') end)",
        "mica.observer('destroy', function(e) mica.destroy(mica.create{Number = {}}) end)\n"
        "mica.system('s', 'Number', function(v) for i = 1, v.count do mica.destroy(v.entities[i]) end end)\n"
        "mica.start(function() mica.create{Number = {}} end)",
        "mica.system('s', 'write Number', function(v) while true do v.Number[1].value = 1 end end)\n"
        "mica.start(function() mica.create{Number = {}} end)",
        "mica.system('s', 'write Number', function(v) pcall(function() while true do end end) end)\n"
        "mica.start(function() mica.create{Number = {}} end)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
        run("endless", texts[i], false);
}
END_TEST

START_TEST(what_a_mod_needs_is_there)
{
    mica_lua *lua;
    mica_world *world = open_game(&lua);
    const char *text =
        "assert(('abc'):upper() == 'ABC' and ('a,b'):match('(%a),(%a)') == 'a' and ('x'):rep(3, '-') == 'x-x-x')\n"
        "local t = {3, 1, 2} table.sort(t) table.insert(t, 4) assert(table.concat(t, ' ') == '1 2 3 4' and "
        "table.remove(t) == 4)\n"
        "assert(select('#', (table.unpack or unpack)(t)) == 3 and math.floor(2.5) == 2 and tostring(nil) == 'nil')\n"
        "local o = setmetatable({}, {__index = {a = 1}, __call = function() return 2 end}) assert(o.a == 1 and o() == "
        "2)\n"
        "assert(pcall(error) == false and next({}) == nil and rawget(o, 'a') == nil and type(o) == 'table')\n"
        "for k, v in pairs({a = 1}) do assert(k == 'a' and v == 1) end for i, v in ipairs({5}) do assert(v == 5) end\n"
        "print(_VERSION, _G == _G, string.format('%5.2f', 1.5), (('x y'):gsub('%s', '')))\n"
        "for w in ('a b'):gmatch('%a') do assert(#w == 1) end\n";
    mica_result result =
        mica_lua_load_text(lua, "mod", text, &(mica_lua_script_def){.sandbox = true, .time_limit_seconds = 60});
    expect_no_report(&heard);
    ck_assert_int_eq(result, MICA_OK);
    mica_lua_destroy(lua);
    close_world(world, &heard);
}
END_TEST

START_TEST(limits_are_renewed_in_every_frame)
{
    mica_lua *lua;
    mica_world *world = open_game(&lua);
    mica_lua_script_def few = {.sandbox = true, .time_limit_seconds = 60, .change_limit = 10};
    ck_assert_int_eq(
        mica_lua_load_text(
            lua, "mod", "mica.system('s', {}, function() for i = 1, 4 do mica.destroy(mica.create()) end end)", &few),
        MICA_OK);
    for (int i = 0; i < 20; ++i)
        mica_step(world, 1);
    expect_no_report(&heard);
    ck_assert(mica_lua_is_running(lua, "mod"));
    few.change_limit = 7;
    mica_lua_unload(lua, "mod");
    mica_lua_load_text(lua, "mod",
                       "mica.system('s', {}, function() for i = 1, 4 do mica.destroy(mica.create()) end end)", &few);
    mica_step(world, 1);
    expect_report(&heard, MICA_ERROR_INVALID, "more than 7 changes");
    ck_assert(!mica_lua_is_running(lua, "mod"));
    few.entity_limit = 1;
    mica_lua_load_text(lua, "more", "mica.start(function() mica.create() mica.create() end)", &few);
    expect_report(&heard, MICA_ERROR_INVALID, "as many entities");
    mica_lua_destroy(lua);
    close_world(world, &heard);
}
END_TEST

/* One after the other in one world, so that what one leaves meets the next. */
START_TEST(random_programs_do_no_harm)
{
    random_source random = {setting_from_environment("MICA_TEST_SEED", 1)};
    uint64_t end = micap_clock_ns() + setting_from_environment("MICA_TEST_SECONDS", 3) * 1000000000u;
    static char text[1 << 16];
    mica_lua *lua;
    mica_world *world = open_game(&lua);
    mica_lua_script_def short_limits = limits;
    short_limits.time_limit_seconds = 0.005;
    for (uint32_t count = 0; count < 200 || micap_clock_ns() < end; ++count) {
        char name[] = {(char)('a' + random_below(&random, 3)), 0};
        lua_programs_write(&random, text, sizeof text);
        mica_lua_load_text(lua, name, text, &short_limits);
        for (uint32_t frame = random_below(&random, 3); frame > 0; --frame)
            mica_step(world, 0.1f);
        if (random_one_in(&random, 8))
            mica_lua_unload(lua, name);
        if (random_one_in(&random, 16))
            mica_world_clear(world), lua_programs_define(world);
        ck_assert_msg(lua_programs_secret_is_kept(world), "%s", text);
        forget_reports(&heard);
        if (count % 16 == 0)
            expect_valid(world);
    }
    mica_lua_destroy(lua);
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(sandbox, hostile_texts_are_not_loaded, hostile_functions_are_stopped, endless_reactions_end,
           what_a_mod_needs_is_there, limits_are_renewed_in_every_frame, random_programs_do_no_harm)
