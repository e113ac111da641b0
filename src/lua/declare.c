#include "lua/declare.h"

#include "lua/declare_type.h"
#include "lua/view_table.h"

#include "mica/singleton.h"

#include <string.h>

static const char query_name[] = "mica.query";

/* The script, if it is being loaded and has not declared too much. */
static micap_lua_script *begin(lua_State *state, const char *what)
{
    micap_lua_script *script = micap_lua_script_of(state);
    if (script->call->function)
        luaL_error(state, "%s is for the file itself, not for functions in it", what);
    if (script->declared_count >= MICAP_LUA_DECLARED_MAX)
        luaL_error(state, "a script declares at most %d things", (int)MICAP_LUA_DECLARED_MAX);
    ++script->declared_count;
    return script;
}

static int define(lua_State *state, const char *what, mica_storage storage)
{
    micap_lua_script *script = begin(state, what);
    micap_lua_define_component(state, script, storage);
    lua_pushvalue(state, 1);
    return 1;
}

static int define_component(lua_State *state)
{
    return define(state, "mica.component", MICA_STORAGE_CHUNK);
}

static int define_singleton(lua_State *state)
{
    return define(state, "mica.singleton", MICA_STORAGE_SINGLETON);
}

static int define_message(lua_State *state)
{
    return define(state, "mica.message", MICA_STORAGE_CHUNK);
}

/* Terms */

/* A search with variables may take any time in a sandbox. */
static bool is_search(const mica_term *term)
{
    return term->subject.kind > MICA_NODE_THIS || term->target.kind != MICA_NODE_DEFAULT || term->up || term->down ||
           term->cascade;
}

static mica_query *parse(lua_State *state, const micap_lua_script *script, const char *text, mica_term *out_terms,
                         uint32_t *out_count)
{
    mica_value_error error;
    mica_query *query = mica_query_text(script->lua->world, text, &error);
    if (!query)
        luaL_error(state, "terms \"%s\", at %d: %s", text, (int)error.position, error.text);
    *out_count = mica_query_terms(query, out_terms, MICA_TERMS_MAX);
    for (uint32_t i = 0; i < *out_count; ++i)
        if (script->limits.sandbox && is_search(&out_terms[i])) {
            mica_query_destroy(query);
            luaL_error(state, "terms \"%s\": a sandbox has only terms about one entity", text);
        }
    return query;
}

static void take_terms(lua_State *state, micap_lua_function *function, const char *text)
{
    function->has_terms = true;
    mica_query_destroy(parse(state, function->script, text, function->terms, &function->term_count));
}

/* Functions */

static void copy_name(lua_State *state, char *to, const char *name)
{
    if (name && *name && strlen(name) < MICAP_LUA_NAME_BYTES)
        memcpy(to, name, strlen(name) + 1);
    else
        luaL_error(state, "a name of 1 to %d bytes was expected", (int)MICAP_LUA_NAME_BYTES - 1);
}

/* Makes the declaration of the function at a position of the stack. It is added to the script when it is complete. */
static micap_lua_function *make_function(lua_State *state, micap_lua_script *script, micap_lua_role role, int position)
{
    luaL_checktype(state, position, LUA_TFUNCTION);
    micap_lua_function *function = lua_newuserdata(state, sizeof *function);
    memset(function, 0, sizeof *function);
    luaL_ref(state, LUA_REGISTRYINDEX);
    lua_pushvalue(state, position);
    function->reference = luaL_ref(state, LUA_REGISTRYINDEX);
    function->script = script;
    function->role = role;
    return function;
}

static int add_function(micap_lua_function *function)
{
    micap_lua_function **last = &function->script->functions;
    while (*last)
        last = &(*last)->next;
    *last = function;
    return 0;
}

/* Whether the options, at position 2 of the stack, have a field, which is pushed then. */
static bool take_option(lua_State *state, const char *name)
{
    lua_getfield(state, 2, name);
    bool is_there = !lua_isnil(state, -1);
    if (!is_there)
        lua_pop(state, 1);
    return is_there;
}

/* Calls `take` for the string on top of the stack, or for each of a table; pops it. */
static void take_each(lua_State *state, micap_lua_function *function, int option,
                      void (*take)(lua_State *, micap_lua_function *, int))
{
    if (lua_type(state, -1) == LUA_TSTRING) {
        take(state, function, option);
    } else {
        luaL_checktype(state, -1, LUA_TTABLE);
        for (int i = 1, count = (int)lua_rawlen(state, -1); i <= count; ++i) {
            lua_rawgeti(state, -1, i);
            take(state, function, option);
            lua_pop(state, 1);
        }
    }
    lua_pop(state, 1);
}

static void take_order(lua_State *state, micap_lua_function *function, int after)
{
    uint32_t *count = &function->order_counts[after];
    if (*count >= MICA_SYSTEM_ORDERS_MAX)
        luaL_error(state, "a system has at most %d names in before and in after", (int)MICA_SYSTEM_ORDERS_MAX);
    copy_name(state, function->orders[after][(*count)++], luaL_checkstring(state, -1));
}

static void take_use(lua_State *state, micap_lua_function *function, int write)
{
    if (function->use_count >= MICAP_LUA_USES_MAX - 1) /* one is for the turn */
        luaL_error(state, "a system reads and writes at most %d components of others", (int)MICAP_LUA_USES_MAX - 1);
    mica_component component = micap_lua_check_component(state, function->script, lua_gettop(state));
    if (mica_component_type(component)->storage == MICA_STORAGE_SINGLETON) /* its first use is not for systems */
        mica_singleton_get_id(function->script->lua->world, component);
    function->uses[function->use_count++] = (mica_use){.component = component, .write = write != 0};
}

static void take_options(lua_State *state, micap_lua_function *function)
{
    if (take_option(state, "terms")) {
        take_terms(state, function, luaL_checkstring(state, -1));
        lua_pop(state, 1);
    }
    if (take_option(state, "before"))
        take_each(state, function, 0, take_order);
    if (take_option(state, "after"))
        take_each(state, function, 1, take_order);
    if (take_option(state, "reads"))
        take_each(state, function, 0, take_use);
    if (take_option(state, "writes"))
        take_each(state, function, 1, take_use);
    if (take_option(state, "every")) {
        int64_t every = 0;
        if (!micap_lua_integer(state, -1, &every) || every < 0 || every > UINT32_MAX)
            luaL_error(state, "every must be a number of frames");
        function->every_frames = (uint32_t)every;
        lua_pop(state, 1);
    }
    if (take_option(state, "exclusive")) {
        function->exclusive = lua_toboolean(state, -1);
        lua_pop(state, 1);
    }
    if (take_option(state, "phase")) {
        const char *name = luaL_checkstring(state, -1);
        function->phase = mica_phase_find(function->script->lua->world, name);
        if (function->phase == MICA_PHASE_NONE)
            luaL_error(state, "there is no phase \"%s\"", name);
        lua_pop(state, 1);
    }
}

static int declare_system(lua_State *state)
{
    micap_lua_script *script = begin(state, "mica.system");
    const char *name = luaL_checkstring(state, 1);
    lua_settop(state, 3);
    micap_lua_function *function = make_function(state, script, MICAP_LUA_SYSTEM, 3);
    function->phase = MICA_PHASE_UPDATE;
    copy_name(state, function->name, name);
    if (lua_type(state, 2) == LUA_TTABLE)
        take_options(state, function);
    else
        take_terms(state, function, luaL_checkstring(state, 2));
    return add_function(function);
}

/* mica.observer("add", "Position", fn), mica.observer("match", "Position, !Frozen", fn), mica.observer("destroy", fn) */
static int declare_observer(lua_State *state)
{
    micap_lua_script *script = begin(state, "mica.observer");
    const char *event = luaL_checkstring(state, 1);
    mica_event_kind kind = micap_lua_event_of(event);
    if (kind == MICA_EVENT_USER)
        return luaL_error(state,
                          "\"%s\" is no event; they are add, set, remove, destroy, enable, disable, match and "
                          "unmatch",
                          event);
    bool is_destroy = kind == MICA_EVENT_DESTROY;
    micap_lua_function *function = make_function(state, script, MICAP_LUA_OBSERVER, is_destroy ? 2 : 3);
    copy_name(state, function->name, event);
    function->event = kind;
    if (kind == MICA_EVENT_MATCH || kind == MICA_EVENT_UNMATCH)
        take_terms(state, function, luaL_checkstring(state, 2));
    else if (!is_destroy)
        function->component = micap_lua_check_component(state, script, 2);
    return add_function(function);
}

static int declare_handler(lua_State *state)
{
    micap_lua_script *script = begin(state, "mica.handler");
    micap_lua_function *function = make_function(state, script, MICAP_LUA_HANDLER, 3);
    function->component = micap_lua_check_component(state, script, 1);
    function->message = micap_lua_check_component(state, script, 2);
    copy_name(state, function->name, "handler");
    return add_function(function);
}

static int declare_start(lua_State *state)
{
    micap_lua_script *script = begin(state, "mica.start");
    micap_lua_function *function = make_function(state, script, MICAP_LUA_START, 1);
    copy_name(state, function->name, "start");
    return add_function(function);
}

/* Queries */

static int declare_query(lua_State *state)
{
    micap_lua_script *script = begin(state, "mica.query");
    const char *text = luaL_checkstring(state, 1);
    micap_lua_query *query = lua_newuserdata(state, sizeof *query);
    memset(query, 0, sizeof *query);
    lua_pushvalue(state, -1);
    luaL_ref(state, LUA_REGISTRYINDEX);
    luaL_getmetatable(state, query_name);
    lua_setmetatable(state, -2);
    query->query = parse(state, script, text, query->terms, &query->term_count);
    query->next = script->queries;
    script->queries = query;
    return 1;
}

static const micap_lua_query *check_query(lua_State *state, const micap_lua_script *script)
{
    const micap_lua_query *query = luaL_checkudata(state, 1, query_name);
    if (!query->query)
        luaL_error(state, "this query has wrong terms");
    for (uint32_t i = 0; i < query->term_count; ++i) {
        mica_access access = query->terms[i].access;
        bool writes = access == MICA_ACCESS_WRITE || access == MICA_ACCESS_MAYBE_WRITE;
        micap_lua_check_access(state, script, query->terms[i].component, writes);
    }
    return query;
}

static int loop_views(lua_State *state)
{
    micap_lua_script *script = micap_lua_script_of(state);
    const micap_lua_query *query = check_query(state, script);
    micap_lua_push_view_loop(state, script, query);
    return 1;
}

static int count_entities(lua_State *state)
{
    const micap_lua_query *query = check_query(state, micap_lua_script_of(state));
    micap_lua_push_integer(state, (int64_t)mica_query_count(query->query));
    return 1;
}

void micap_lua_open_declarations(lua_State *state)
{
    static const luaL_Reg functions[] = {
        {"component", define_component}, {"singleton", define_singleton}, {"message", define_message},
        {"system", declare_system},      {"observer", declare_observer},  {"handler", declare_handler},
        {"start", declare_start},        {"query", declare_query},        {NULL, NULL}};
    static const luaL_Reg methods[] = {{"views", loop_views}, {"count", count_entities}, {NULL, NULL}};
    luaL_setfuncs(state, functions, 0);
    luaL_newmetatable(state, query_name);
    lua_newtable(state);
    luaL_setfuncs(state, methods, 0);
    lua_setfield(state, -2, "__index");
    lua_pushboolean(state, false);
    lua_setfield(state, -2, "__metatable");
    lua_pop(state, 1);
    micap_lua_define_views(state);
}
