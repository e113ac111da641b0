/* Scripts: what they declare, and what they may access. */
#include "lua_fixture.h"

START_TEST(systems_read_and_write_columns)
{
    FOR_EACH_WAY(way)
    {
        mica_lua *lua;
        mica_world *world = open_scripts(&lua);
        ck_assert_int_eq(
            mica_lua_load_text(lua, "test",
                               "mica.component('Position', 'f32 x, f32 y')\n"
                               "mica.component('Velocity', 'f32 x, f64 y')\n"
                               "mica.start(function()\n"
                               "  for i = 1, 3000 do mica.create{Position = {x = i}, Velocity = {x = 1, y = 2}} end\n"
                               "  mica.create{Position = {y = -1}}\n"
                               "end)\n"
                               "mica.system('move', 'write Position, Velocity', function(view)\n"
                               "  local p, v = view.Position, view.Velocity\n"
                               "  for i = 1, view.count do\n"
                               "    p[i].x = p[i].x + v[i].x * view.dt\n"
                               "    p[i].y = p[i].y + v[i].y * view.dt\n"
                               "  end\n"
                               "end)\n"
                               "mica.system('sum', {terms = 'Position, ?Velocity', after = 'move', writes = "
                               "{'Clock'}}, function(view)\n"
                               "  local clock = mica.singleton_write('Clock')\n"
                               "  local sum = 0\n"
                               "  for i = 1, view.count do sum = sum + view.Position[i].x + view.Position[i].y end\n"
                               "  clock.value = clock.value + math.floor(sum)\n"
                               "  if not view.Velocity then clock.value = clock.value + 7 end\n"
                               "end)\n",
                               ways[way]),
            MICA_OK);
        ck_assert_int_eq(mica_step(world, 0.5f), MICA_OK);
        expect_no_report(&heard);
        ck_assert_int_eq(mica_singleton_get(world, Clock)->value, 3000 * 3001 / 2 + 1500 + 3000 - 1 + 7);
        close_scripts(world, lua);
    }
}
END_TEST

static const char all_kinds[] =
    "mica.start(function()\n"
    "  local other = mica.create()\n"
    "  assert(mica.name(other) == nil and mica.name(other, 'other') and mica.name(other) == 'other')\n"
    "  assert(mica.find('other') == other and mica.find('nothing') == 0)\n"
    "  local e = mica.create{Thing = {home = {x = 1, y = 2}, mood = 'ANGRY', target = other, title = 'old',\n"
    "    small = -3, byte = 200, narrow = -300, word = 60000, whole = -70000, natural = 4000000000, wide = "
    "-5e9,\n"
    "    huge = 5e9, real = 0.5, precise = 0.25, flag = true, slots = {7, 8, 9}, text = 'a long text, longer "
    "than some',\n"
    "    scores = {1, 2.5}}}\n"
    "  local t = mica.get(e, 'Thing')\n"
    "  assert(t.home.x == 1 and t.home.y == 2 and t.mood == 'ANGRY' and t.target == other and t.title == "
    "'old')\n"
    "  assert(t.small == -3 and t.byte == 200 and t.narrow == -300 and t.word == 60000 and t.whole == -70000)\n"
    "  assert(t.natural == 4000000000 and t.wide == -5e9 and t.huge == 5e9 and t.real == 0.5 and t.precise == "
    "0.25)\n"
    "  assert(t.flag == true and t.slots[3] == 9 and #t.slots == 3 and t.text == 'a long text, longer than "
    "some')\n"
    "  assert(#t.scores == 2 and t.scores[2] == 2.5 and t.asset == '')\n"
    "  local w = mica.write(e, 'Thing')\n"
    "  w.scores = {5, 6, 7}\n"
    "  w.slots[2] = 80\n"
    "  w.home = {y = 20}\n"
    "  w.mood = 'CALM'\n"
    "  w.title = 'seven77'\n"
    "  w.text = ''\n"
    "  w.flag = false\n"
    "  w.target = 0\n"
    "  local c = mica.copy(w)\n"
    "  assert(#c.scores == 3 and c.slots[2] == 80 and c.home.x == 1 and c.home.y == 20 and c.mood == 'CALM')\n"
    "  assert(c.title == 'seven77' and c.text == '' and c.flag == false and c.target == 0)\n"
    "  local twin = mica.create{Thing = w}\n"
    "  assert(mica.get(twin, 'Thing').scores[3] == 7)\n"
    "  assert(mica.set(twin, 'Thing', {whole = 5}) and mica.get(twin, 'Thing').whole == 5 and mica.get(twin, "
    "'Thing').byte == 0)\n"
    "  assert(mica.set(twin, 'Frozen') and mica.get(twin, 'Frozen') == true and mica.has(twin, 'Frozen'))\n"
    "  assert(mica.remove(twin, 'Frozen') and mica.get(twin, 'Frozen') == nil and not mica.has(twin, "
    "'Frozen'))\n"
    "  assert(mica.alive(twin) and mica.destroy(twin) and not mica.alive(twin))\n"
    "  local body = mica.create{Body = {place = {x = 1}, mass = 2, pair = {3, 4}, label = 'b'}}\n"
    "  local b = mica.get(body, 'Body')\n"
    "  assert(b.place.x == 1 and b.mass == 2 and b.pair[2] == 4 and b.label == 'b')\n"
    "  mica.singleton_write('Clock').value = 3\n"
    "  assert(mica.singleton_get('Clock').value == 3)\n"
    "  local r = mica.random()\n"
    "  assert(r >= 0 and r < 1 and r ~= mica.random())\n"
    "end)\n"
    "mica.system('split', 'write Body', function(view)\n"
    "  view.Body.place.x[1] = view.Body.place.x[1] + view.Body.mass[1]\n"
    "  view.Body.pair[1][1] = 9\n"
    "  assert(view.Body.label[1] == 'b' and #view.Body.mass == view.count)\n"
    "end)\n"
    "mica.system('maybe', 'Thing, ?Body, ?Frozen, ?Number', function(view)\n"
    "  assert(view.Body == nil and view.Frozen == false and view.Number == nil)\n"
    "  assert(mica.alive(view.entities[1]))\n"
    "end)\n";

START_TEST(fields_of_all_kinds_are_read_and_written)
{
    FOR_EACH_WAY(way)
    {
        mica_lua *lua;
        mica_world *world = open_scripts(&lua);
        mica_result result = mica_lua_load_text(lua, "test", all_kinds, ways[way]);
        expect_no_report(&heard);
        ck_assert_int_eq(result, MICA_OK);
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
        expect_no_report(&heard);
        ck_assert(mica_lua_is_running(lua, "test"));
        mica_query *query = mica_query_text(world, "has Body", NULL);
        Body body;
        ck_assert(mica_get_value(world, mica_query_first(query), Body, &body));
        ck_assert(body.place.x == 3 && body.pair[0] == 9);
        close_scripts(world, lua);
    }
}
END_TEST

START_TEST(columns_match_fields_that_are_not_described)
{
    FOR_EACH_WAY(way)
    {
        mica_lua *lua;
        mica_world *world = open_scripts(&lua);
        mica_entity odd = mica_create(world, MICA_WITH(Odd, {1, 2, 3}));
        ck_assert_int_eq(mica_lua_load_text(lua, "test",
                                            "mica.system('odd', 'write Odd', function(view)\n"
                                            "  view.Odd[1].second = view.Odd[1].second + 10 * view.Odd[1].first\n"
                                            "end)",
                                            ways[way]),
                         MICA_OK);
        mica_step(world, 1);
        ck_assert(mica_get(world, odd, Odd)->first == 1 && mica_get(world, odd, Odd)->hidden == 2);
        ck_assert(mica_get(world, odd, Odd)->second == 13);
        close_scripts(world, lua);
    }
}
END_TEST

START_TEST(observers_are_told_events)
{
    FOR_EACH_WAY(way)
    {
        mica_lua *lua;
        mica_world *world = open_scripts(&lua);
        const char *text =
            "for _, event in ipairs{'add', 'set', 'remove', 'enable', 'disable'} do\n"
            "  mica.observer(event, 'Number', function(e)\n"
            "    local value = e.values and e.values[1].value or '-'\n"
            "    print(e.kind, e.component, e.count, value, e.target)\n"
            "    if e.kind == 'add' then e.values[1].value = 50 end\n"
            "  end)\n"
            "end\n"
            "mica.observer('add', 'Frozen', function(e) mica.remove(e.entities[1], 'Frozen') print(e.values) end)\n"
            "mica.observer('destroy', function(e) print(e.kind, e.component, e.count) end)\n"
            "mica.observer('match', 'Number, Odd', function(e) print(e.kind, #e.entities) end)\n"
            "mica.observer('unmatch', 'Number, Odd', function(e) print(e.kind, #e.entities) end)\n";
        ck_assert_int_eq(mica_lua_load_text(lua, "test", text, ways[way]), MICA_OK);
        mica_entity entity = mica_create(world, MICA_WITH(Number, {3}), MICA_WITH(Odd));
        ck_assert_int_eq(mica_get(world, entity, Number)->value, 50);
        mica_disable(world, entity, Number);
        mica_enable(world, entity, Number);
        mica_set_id(world, entity, (mica_value){MICA_ID(Frozen), 0, NULL});
        ck_assert(!mica_has(world, entity, Frozen));
        mica_destroy(world, entity);
        expect_no_report(&heard);
        ck_assert_str_eq(
            printed,
            "add\tNumber\t1\t3\t0\nset\tNumber\t1\t50\t0\nmatch\t1\ndisable\tNumber\t1\t50\t0\nunmatch\t1\n"
            "enable\tNumber\t1\t50\t0\nmatch\t1\nnil\ndestroy\tnil\t1\nremove\tNumber\t1\t50\t0\nunmatch\t1\n");
        close_scripts(world, lua);
    }
}
END_TEST

START_TEST(messages_reach_handlers_of_all_scripts)
{
    FOR_EACH_WAY(way)
    {
        mica_lua *lua;
        mica_world *world = open_scripts(&lua);
        const char *first = "mica.message('Damage', 'i32 points')\n"
                            "mica.message('Ping')\n"
                            "mica.handler('Number', 'Damage', function(m)\n"
                            "  for i = 1, m.count do m.values[i].value = m.values[i].value - m.data.points end\n"
                            "  print(m.component, m.kind, m.count, #m.entities)\n"
                            "end)\n"
                            "mica.handler('Number', 'Ping', function(m) print('ping', m.data) end)\n"
                            "mica.system('send', {terms = 'Number', every = 2}, function(view)\n"
                            "  mica.send(view.entities[1], 'Damage', {points = 5})\n"
                            "  mica.broadcast('Ping')\n"
                            "end)\n";
        const char *second = "mica.handler('Number', 'Damage', function(m) print('too') end)\n"
                             "mica.handler('Frozen', 'Damage', function(m) print(m.values) end)\n";
        mica_entity entity = mica_create(world, MICA_WITH(Number, {30}), MICA_WITH(Frozen));
        ck_assert_int_eq(mica_lua_load_text(lua, "first", first, ways[way]), MICA_OK);
        ck_assert_int_eq(mica_lua_load_text(lua, "second", second, ways[way]), MICA_OK);
        mica_step(world, 1);
        ck_assert_int_eq(mica_get(world, entity, Number)->value, 25);
        ck_assert_str_eq(printed, "Number\tDamage\t1\t1\ntoo\nping\tnil\nnil\n");
        ck_assert(mica_lua_unload(lua, "second"));
        ck_assert(!mica_lua_unload(lua, "second"));
        printed[0] = 0;
        mica_step(world, 1);
        mica_step(world, 1);
        ck_assert_str_eq(printed, "Number\tDamage\t1\t1\nping\tnil\n");
        expect_no_report(&heard);
        close_scripts(world, lua);
    }
}
END_TEST

START_TEST(queries_are_iterated_inside_systems)
{
    FOR_EACH_WAY(way)
    {
        mica_lua *lua;
        mica_world *world = open_scripts(&lua);
        mica_create(world, MICA_WITH(Number, {4}));
        mica_create(world, MICA_WITH(Number, {5}), MICA_WITH(Odd));
        mica_create(world, MICA_WITH(Frozen));
        const char *text =
            "local numbers = mica.query('write Number, ?Odd')\n"
            "mica.system('once', {writes = 'Number', reads = {'Odd'}, phase = 'begin'}, function(frame)\n"
            "  print(frame.dt, frame.tick, numbers:count())\n"
            "  local sum = 0\n"
            "  local next_view = numbers:views()\n"
            "  for view in next_view do\n"
            "    sum = sum + view.Number[1].value + (view.Odd and 100 or 0)\n"
            "    view.Number[1].value = 0\n"
            "  end\n"
            "  print(sum, next_view())\n"
            "end)\n"
            "mica.system('y', {}, function() end) mica.system('z', {}, function() end)\n"
            "mica.system('alone', {exclusive = true, before = 'z', after = {'y'}}, function()\n"
            "  local e = mica.create{Number = {value = 1}}\n"
            "  assert(mica.get(e, 'Number').value == 1)\n"
            "end)\n";
        ck_assert_int_eq(mica_lua_load_text(lua, "test", text, ways[way]), MICA_OK);
        mica_step(world, 1);
        expect_no_report(&heard);
        ck_assert(strstr(printed, "109\tnil\n"));
        close_scripts(world, lua);
    }
}
END_TEST

START_TEST(terms_about_other_entities_have_one_value)
{
    mica_lua *lua;
    mica_world *world = open_scripts(&lua);
    mica_entity star = mica_create(world, MICA_WITH(Number, {9}));
    for (int i = 0; i < 3; ++i)
        mica_relate(world, mica_create(world, MICA_WITH(Odd)), Likes, star);
    load(lua, "mica.system('fans', 'Odd, Likes($this, $star), Number($star)', function(view)\n"
              "  print(view.Number[1].value, view.Likes)\n"
              "end)");
    mica_step(world, 1);
    ck_assert(strstr(printed, "9\ttrue\n"));
    close_scripts(world, lua);
    world = open_scripts(&lua);
    mica_lua_load_text(lua, "test", "mica.system('fans', 'Odd, Likes($this, $star)', print)",
                       &(mica_lua_script_def){.sandbox = true});
    expect_report(&heard, MICA_ERROR_INVALID, "only terms about one entity");
    close_scripts(world, lua);
}
END_TEST

/* The body of a function that fails, in a system that writes Number and reads Odd, and what is reported. */
static const struct {
    const char *text;
    const char *report;
} failures[] = {
    {"mica.get(e, 'Thing')", "reads Thing"},
    {"mica.write(e, 'Odd')", "writes Odd"},
    {"mica.has(e, 'Frozen')", "reads Frozen"},
    {"mica.singleton_get('Clock')", "reads Clock"},
    {"mica.singleton_get('Number')", "no singleton"},
    {"mica.get(e, 'Nothing')", "no component \"Nothing\""},
    {"mica.get('x', 'Number')", "number expected"},
    {"mica.get(-1, 'Number')", "an entity was expected"},
    {"mica.get(0/0, 'Number')", "an entity was expected"},
    {"view.Thing = view.Thing", "do not name \"Thing\""},
    {"mica.write(e, 'Number').value = 'many'", "value"},
    {"mica.write(e, 'Number').value = nil", "can't be nil"},
    {"mica.write(e, 'Number').value = {}", "value"},
    {"mica.write(e, 'Number').value = print", "value"},
    {"mica.write(e, 'Number').other = 1", "no field \"other\""},
    {"mica.get(e, 'Number').value = 1", "not declared as written"},
    {"mica.set(e, 'Number', {other = 1})", "no field \"other\""},
    {"mica.set(e, 'Number', {1})", "no element of this key"},
    {"mica.set(e, 'Thing', {slots = {1, 2, 3, 4}})", "no element of this key"},
    {"mica.set(e, 'Thing', {slots = {x = 1}})", "no element of this key"},
    {"mica.set(e, 'Number', view.entities)", ""},
    {"mica.set(e, 'Clock', {value = 1})", "is a singleton"},
    {"mica.create{Clock = {}}", "is a singleton"},
    {"mica.create{1}", "components by name"},
    {"mica.create(7)", "table expected"},
    {"mica.copy(7)", "a value was expected"},
    {"mica.component('Late', 'f32 x')", "for the file itself"},
    {"mica.query('Number')", "for the file itself"},
    {"mica.spawn('level.mica')", "in mica.start"},
    {"for v in things:views() do end", "reads Thing"},
    {"error({})", "an error that is a table"},
    {"error('my reason')", "my reason"},
    {"kept = view kept2 = mica.get(e, 'Number') things.x = 1", ""},
};

START_TEST(functions_are_held_to_what_they_declare)
{
    FOR_EACH_WAY(way)
    for (size_t i = 0; i < sizeof failures / sizeof *failures; ++i) {
        mica_lua *lua;
        char text[512];
        mica_world *world = open_scripts(&lua);
        mica_create(world, MICA_WITH(Number, {3}), MICA_WITH(Odd));
        snprintf(text, sizeof text,
                 "local things = mica.query('Thing')\n"
                 "mica.system('s', 'write Number, Odd', function(view) local e = mica.random() and "
                 "view.entities[1]\n%s\nend)",
                 failures[i].text);
        ck_assert_int_eq(mica_lua_load_text(lua, "test", text, ways[way]), MICA_OK);
        mica_step(world, 1);
        expect_report(&heard, MICA_ERROR_INVALID, failures[i].report);
        ck_assert(!mica_lua_is_running(lua, "test"));
        mica_step(world, 1);
        ck_assert_int_eq(mica_get(world, mica_query_first(mica_query_text(world, "Number", NULL)), Number)->value, 3);
        close_scripts(world, lua);
    }
}
END_TEST

/* Texts that can't be loaded. */
static const struct {
    const char *text;
    const char *report;
} wrong_texts[] = {
    {"x = = 1", "unexpected symbol"},
    {"\033Lua", ""},
    {"error('at once')", "at once"},
    {"mica.create{}", "only declares"},
    {"mica.get(1, 'Number')", "only declares"},
    {"mica.component('A', 'f32')", "a word was expected"},
    {"mica.component('A', 'f32 1x')", "a word was expected"},
    {"mica.component('A', 'f33 x')", "no type \"f33\""},
    {"mica.component('A', 'Frozen x')", "no type \"Frozen\""},
    {"mica.component('A', 'f32 x y')", "',' was expected"},
    {"mica.component('A', 'f32 x[0]')", "a number from 1"},
    {"mica.component('A', 'f32 x[3')", "a number from 1"},
    {"mica.component('A', 'f64 x[65536], f64 y[65536], f64 z[65536]')", "at most"},
    {"mica.component('A', ('f32 x,'):rep(41))", "at most 40"},
    {"mica.component('A', 'f32 x, f32 x')", "component \"A\""},
    {"mica.component('A', 'f32 x', 3)", "table expected"},
    {"mica.component('Number', 'f32 x')", "Number"},
    {"mica.system('a', 'Number')", "function expected"},
    {"mica.system('a', 'Nothing', print)", "Nothing"},
    {"mica.system('', 'Number', print)", "a name"},
    {"mica.system(('a'):rep(64), 'Number', print)", "a name"},
    {"mica.system('a', {phase = 'never'}, print)", "no phase \"never\""},
    {"mica.system('a', {every = -1}, print)", "number of frames"},
    {"mica.system('a', {before = {'1', '2', '3', '4', '5', '6', '7', '8', '9'}}, print)", "at most 8"},
    {"mica.system('a', {before = 3}, print)", ""},
    {"local t = {} for i = 1, 40 do t[i] = 'Number' end mica.system('a', {reads = t}, print)", "at most 31"},
    {"mica.system('a', {before = 'a'}, print)", "a"},
    {"mica.system('native', 'Number', print)", "native"},
    {"mica.observer('never', 'Number', print)", "no event"},
    {"mica.observer('match', '!Number', print)", ""},
    {"mica.handler('Number', 'Nothing', print)", "no component"},
    {"mica.handler('Clock', 'Number', print)", ""},
    {"for i = 1, 129 do mica.query('Number') end", "at most 128"},
    {"mica.start(function() error('no start') end)", "no start"},
    {"mica.start(function() mica.spawn('nowhere.mica') end)", "nowhere.mica"},
    {"mica.start(function() mica.spawn(('x'):rep(5000)) end)", "too long"},
    {"mica.start(function() local r = mica.get(mica.create{Number = {}}, 'Number') mica.create() print(r.value) end)",
     "no longer valid"},
    {"mica.start(function() mica.write(mica.create{Body = {}}, 'Body') end)", "split component"},
    {"print(setmetatable({}, {__tostring = function() return nil end}))", ""},
    {"mica.start(function() local q = mica.get(mica.create{Thing = {}}, 'Thing') print(q.slots[4]) end)",
     "rows 1 to 3"},
    {"local ok, q = pcall(mica.query, 'Nothing') mica.start(function() mica.query() end)", ""},
};

static void native(mica_view *view)
{
    (void)view;
}

START_TEST(texts_that_fail_change_nothing)
{
    FOR_EACH_WAY(way)
    for (size_t i = 0; i < sizeof wrong_texts / sizeof *wrong_texts; ++i) {
        mica_lua *lua;
        mica_world *world = open_scripts(&lua);
        mica_system_add(world, MICA_SYSTEM(native, MICA_READ(Number)));
        load(lua, "mica.system('old', 'Number', function() print('old') end)");
        mica_create(world, MICA_WITH(Number));
        ck_assert_int_ne(mica_lua_load_text(lua, "wrong", wrong_texts[i].text, ways[way]), MICA_OK);
        bool is_found = false;
        for (uint32_t k = 0; k < heard.count && k < REPORTS_MAX; ++k)
            is_found = is_found || strstr(heard.list[k].text, wrong_texts[i].report);
        ck_assert_msg(is_found, "%s: %s", wrong_texts[i].text, heard.list[0].text);
        forget_reports(&heard);
        ck_assert(!mica_lua_is_running(lua, "wrong"));
        mica_step(world, 1);
        ck_assert_str_eq(strstr(printed, "old"), "old\n");
        forget_reports(&heard);
        close_scripts(world, lua);
    }
}
END_TEST

START_TEST(references_expire)
{
    FOR_EACH_WAY(way)
    {
        const char *const uses[] = {"return kept.value", "return column[1].value", "kept.value = 1",
                                    "return #column",    "return view.Odd",        "return next_view()"};
        for (size_t i = 0; i < sizeof uses / sizeof *uses; ++i) {
            mica_lua *lua;
            char text[1024];
            mica_world *world = open_scripts(&lua);
            mica_create(world, MICA_WITH(Number), MICA_WITH(Odd), MICA_WITH(Thing));
            snprintf(text, sizeof text,
                     "local kept, column, view, next_view, turn\nlocal q = mica.query('Number')\n"
                     "mica.system('s', {terms = 'write Thing, Odd', writes = 'Number'}, function(v)\n"
                     "  if turn then %s end\n"
                     "  kept, view, turn = mica.write(v.entities[1], 'Number'), v, true\n"
                     "  next_view = q:views() column = v.Thing\n"
                     "end)",
                     uses[i]);
            ck_assert_int_eq(mica_lua_load_text(lua, "test", text, ways[way]), MICA_OK);
            mica_step(world, 1);
            expect_no_report(&heard);
            mica_step(world, 1);
            expect_report(&heard, MICA_ERROR_INVALID, "no longer valid");
            close_scripts(world, lua);
        }
    }
}
END_TEST

TEST_SUITE(script, systems_read_and_write_columns, fields_of_all_kinds_are_read_and_written,
           columns_match_fields_that_are_not_described, observers_are_told_events,
           messages_reach_handlers_of_all_scripts, queries_are_iterated_inside_systems,
           terms_about_other_entities_have_one_value, functions_are_held_to_what_they_declare,
           texts_that_fail_change_nothing, references_expire)
