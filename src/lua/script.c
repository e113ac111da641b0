#include "lua/script.h"

#include "lua/declare.h"
#include "lua/reference.h"
#include "lua/sandbox.h"
#include "lua/view_table.h"
#include "lua/world_access.h"

#include <stdio.h>
#include <string.h>

micap_lua_script *micap_lua_script_of(lua_State *state)
{
    void *context = NULL;
    lua_getallocf(state, &context);
    micap_lua_script *script = context;
    script->running = state;
    return script;
}

void micap_lua_count_changes(lua_State *state, micap_lua_script *script, size_t count)
{
    if (!script->limits.sandbox)
        return;
    script->change_count += count;
    if (script->change_count > script->limits.change_limit)
        luaL_error(state, "the script makes more than %d changes per frame", (int)script->limits.change_limit);
}

static bool is_declared(const micap_lua_function *function, mica_component component, bool write)
{
    for (uint32_t i = 0; i < function->term_count; ++i) {
        mica_access access = function->terms[i].access;
        bool writes = access == MICA_ACCESS_WRITE || access == MICA_ACCESS_MAYBE_WRITE;
        if (function->terms[i].component == component && (writes || !write))
            return true;
    }
    for (uint32_t i = 0; i < function->use_count; ++i)
        if (function->uses[i].component == component && (function->uses[i].write || !write))
            return true;
    return false; /* a handler has the values that it is given */
}

void micap_lua_check_access(lua_State *state, const micap_lua_script *script, mica_component component, bool write)
{
    const micap_lua_function *function = script->call->function;
    if (!function)
        luaL_error(state, "a script only declares while it is loaded: do this in mica.start, a system, an observer or "
                          "a handler");
    else if (function->role != MICAP_LUA_START && function->role != MICAP_LUA_OBSERVER && !function->exclusive &&
             !is_declared(function, component, write))
        luaL_error(state, "%s does not declare that it %s %s", function->name, write ? "writes" : "reads",
                   mica_component_type(component)->name);
}

void micap_lua_check_alone(lua_State *state, const micap_lua_script *script, const char *name)
{
    const micap_lua_function *function = script->call->function;
    if (!function || (function->role != MICAP_LUA_START && !function->exclusive))
        luaL_error(state, "%s works in mica.start and in exclusive systems only", name);
}

mica_component micap_lua_check_component(lua_State *state, const micap_lua_script *script, int position)
{
    const char *name = luaL_checkstring(state, position);
    mica_component component = mica_component_find(script->lua->world, name);
    if (!component)
        luaL_error(state, "there is no component \"%s\"", name);
    return component;
}

/* Calls */

/* Called in protected mode: the only argument is the call. */
static int enter(lua_State *state)
{
    const micap_lua_call *call = lua_touserdata(state, 1);
    micap_lua_script *script = micap_lua_script_of(state);
    lua_rawgeti(state, LUA_REGISTRYINDEX, call->function->reference);
    if (call->view)
        micap_lua_push_view(state, script, call->view, call->function->terms, call->function->term_count);
    else if (call->event)
        micap_lua_push_event(state, script, call->event);
    else if (call->message)
        micap_lua_push_message(state, script, call->message);
    else
        micap_lua_push_frame(state, call->frame);
    lua_call(state, 1, 0);
    return 0;
}

static int describe_error(lua_State *state)
{
    if (!lua_isstring(state, 1)) {
        lua_pushfstring(state, "an error that is a %s", luaL_typename(state, 1));
        lua_replace(state, 1);
    }
    luaL_traceback(state, state, lua_tostring(state, 1), 1);
    return 1;
}

static void stop(micap_lua_script *script, lua_State *state)
{
    char text[2048];
    bool is_text = lua_type(state, -1) == LUA_TSTRING; /* converting a number would need memory */
    const char *reason = is_text ? lua_tostring(state, -1) : "an error that is no text";
    snprintf(text, sizeof text, "the script \"%s\" is stopped: %s", script->name, reason);
    script->is_stopped = true;
    mica_world_report(script->lua->world, MICA_ERROR_INVALID, text);
}

/* Runs the function and its arguments on top of the stack. */
static bool run_protected(micap_lua_script *script, lua_State *state, micap_lua_call *call, int argument_count)
{
    int top = lua_gettop(state) - argument_count;
    lua_rawgeti(state, LUA_REGISTRYINDEX, script->traceback);
    lua_insert(state, top);
    call->outer = script->call;
    call->number = ++script->call_count;
    script->call = call;
    ++script->lua->call_depth;
    if (script->limits.sandbox && !call->outer)
        micap_lua_begin_budget(script);
    bool succeeded = lua_pcall(state, argument_count, 0, top) == 0;
    if (script->limits.sandbox && !call->outer)
        micap_lua_end_budget(script);
    --script->lua->call_depth;
    script->call = call->outer;
    script->running = state;
    if (!succeeded)
        stop(script, state);
    lua_settop(state, top - 1);
    return succeeded;
}

/* Needs four places on the stack, which every C function has left: asking for more could fail. */
bool micap_lua_script_call(micap_lua_script *script, micap_lua_call *call)
{
    lua_State *state = script->call ? script->running : script->state;
    if (script->is_stopped)
        return false;
    lua_rawgeti(state, LUA_REGISTRYINDEX, script->entry);
    lua_pushlightuserdata(state, call);
    return run_protected(script, state, call, 1);
}

bool micap_lua_script_run(micap_lua_script *script, const char *text, size_t byte_count)
{
    micap_lua_call call = {0};
    lua_State *state = script->state;
    char name[4096];
    snprintf(name, sizeof name, "@%s", script->name);
    if (luaL_loadbufferx(state, text, byte_count, name, "t") != 0) {
        stop(script, state);
        lua_settop(state, 0);
        return false;
    }
    return run_protected(script, state, &call, 0);
}

/* Lifetime */

static int open_script(lua_State *state)
{
    micap_lua_script *script = micap_lua_script_of(state);
    micap_lua_open_library(state, script);
    micap_lua_define_references(state);
    lua_newtable(state);
    micap_lua_open_declarations(state);
    micap_lua_open_access(state);
    lua_setglobal(state, "mica");
    if (script->limits.sandbox)
        lua_pushnil(state);
    else
        micap_lua_push_ffi(state);
    script->ffi = luaL_ref(state, LUA_REGISTRYINDEX);
    lua_pushcfunction(state, enter);
    script->entry = luaL_ref(state, LUA_REGISTRYINDEX);
    lua_pushcfunction(state, describe_error);
    script->traceback = luaL_ref(state, LUA_REGISTRYINDEX);
    return 0;
}

static mica_lua_script_def with_defaults(const mica_lua_script_def *def)
{
    mica_lua_script_def limits = def ? *def : (mica_lua_script_def){0};
    if (!(limits.time_limit_seconds > 0))
        limits.time_limit_seconds = 0.1;
    if (!limits.memory_limit_bytes)
        limits.memory_limit_bytes = (size_t)16 << 20;
    if (!limits.change_limit)
        limits.change_limit = 10000;
    if (!limits.entity_limit)
        limits.entity_limit = 1000000;
    return limits;
}

micap_lua_script *micap_lua_script_create(mica_lua *lua, const char *name, const mica_lua_script_def *def)
{
    size_t name_bytes = strlen(name) + 1;
    micap_lua_script *script = micap_allocate_zeroed(&lua->memory, sizeof *script + name_bytes, MICAP_ARRAY_ALIGNMENT);
    if (!script)
        return NULL;
    memcpy(script->name, name, name_bytes);
    script->name_bytes = name_bytes;
    script->lua = lua;
    script->limits = with_defaults(def);
    script->deadline_ns = UINT64_MAX;
    script->frame = UINT64_MAX;
    script->is_opening = true;
    script->state = lua_newstate(micap_lua_allocate, script);
    script->is_opening = false;
    if (script->state && !script->has_used_reserve && micap_lua_protect(script->state, open_script)) {
        script->is_limited = script->limits.sandbox;
        return script;
    }
    micap_lua_script_destroy(script);
    return NULL;
}

void micap_lua_script_destroy(micap_lua_script *script)
{
    script->is_limited = false;
    for (micap_lua_query *query = script->queries; query; query = query->next)
        mica_query_destroy(query->query);
    if (script->state)
        lua_close(script->state);
    micap_lua_free_blocks(script);
    micap_release(&script->lua->memory, script, sizeof *script + script->name_bytes, MICAP_ARRAY_ALIGNMENT);
}
