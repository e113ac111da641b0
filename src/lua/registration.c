#include "lua/registration.h"

#include <string.h>

/* Calls from the world */

static void run_system(const mica_frame *frame)
{
    micap_lua_function *function = frame->context;
    if (!function->has_terms) {
        micap_lua_script_call(function->script, &(micap_lua_call){.function = function, .frame = frame});
        return;
    }
    mica_view view = mica_query_begin(frame->query);
    while (!function->script->is_stopped && mica_view_next(&view)) {
        view.dt = frame->dt;
        micap_lua_script_call(function->script, &(micap_lua_call){.function = function, .frame = frame, .view = &view});
    }
}

static void run_observer(const mica_event *event)
{
    micap_lua_function *function = event->context;
    micap_lua_script_call(function->script, &(micap_lua_call){.function = function, .event = event});
}

static void run_handlers(const mica_message *message)
{
    const micap_lua_pair *pair = message->context;
    for (micap_lua_script *script = pair->lua->scripts; script; script = script->next)
        for (micap_lua_function *function = script->functions; function; function = function->next)
            if (function->role == MICAP_LUA_HANDLER && function->component == message->component &&
                function->message == message->kind)
                micap_lua_script_call(
                    script, &(micap_lua_call){.function = function, .frame = message->frame, .message = message});
}

bool micap_lua_start(micap_lua_script *script)
{
    for (micap_lua_function *function = script->functions; function; function = function->next)
        if (function->role == MICAP_LUA_START &&
            !micap_lua_script_call(script, &(micap_lua_call){.function = function}))
            return false;
    return true;
}

/* Systems */

static mica_system_def system_def(micap_lua_function *function)
{
    mica_system_def def = {.name = function->name,
                           .once = run_system,
                           .terms = function->terms,
                           .term_count = function->term_count,
                           .uses = function->uses,
                           .use_count = function->use_count,
                           .context = function,
                           .phase = function->phase,
                           .every_frames = function->every_frames,
                           .exclusive = function->exclusive};
    for (uint32_t i = 0; i < function->order_counts[0]; ++i)
        def.before[i] = function->orders[0][i];
    for (uint32_t i = 0; i < function->order_counts[1]; ++i)
        def.after[i] = function->orders[1][i];
    return def;
}

static micap_lua_function *find_system(const micap_lua_script *script, const char *name)
{
    micap_lua_function *function = script ? script->functions : NULL;
    while (function && (function->role != MICAP_LUA_SYSTEM || strcmp(function->name, name) != 0))
        function = function->next;
    return function;
}

static bool add_system(micap_lua_function *function, const micap_lua_script *old)
{
    mica_world *world = function->script->lua->world;
    micap_lua_function *before = find_system(old, function->name);
    if (!function->exclusive) /* an exclusive system is alone anyway */
        function->uses[function->use_count++] = (mica_use){.component = function->script->lua->turn, .write = true};
    mica_system_def def = system_def(function);
    if (!before)
        function->system = mica_system_add(world, &def);
    else if (mica_system_replace(world, before->system, &def) == MICA_OK)
        function->system = before->system;
    return function->system.id != 0;
}

/* Observers and handlers */

static bool add_observer(micap_lua_function *function)
{
    mica_observer_def def = {.name = function->name,
                             .event = function->event,
                             .component = function->component,
                             .terms = function->terms,
                             .term_count = function->term_count,
                             .fn = run_observer,
                             .context = function};
    function->observer = mica_observer_add(function->script->lua->world, &def);
    return function->observer.id != 0;
}

static bool add_handler(const micap_lua_function *function)
{
    mica_lua *lua = function->script->lua;
    for (const micap_lua_pair *pair = lua->pairs; pair; pair = pair->next)
        if (pair->component == function->component && pair->message == function->message)
            return true;
    micap_lua_pair *pair = micap_allocate_zeroed(&lua->memory, sizeof *pair, MICAP_ARRAY_ALIGNMENT);
    if (!pair) {
        mica_world_report(lua->world, MICA_ERROR_MEMORY, "there is no memory for a handler of a script");
        return false;
    }
    *pair = (micap_lua_pair){.lua = lua, .component = function->component, .message = function->message};
    mica_type component = *mica_component_type(pair->component), message = *mica_component_type(pair->message);
    mica_use turn = {.component = lua->turn, .write = true};
    mica_handler handler = {.component = &component,
                            .message = &message,
                            .fn = run_handlers,
                            .context = pair,
                            .uses = &turn,
                            .use_count = 1};
    if (mica_handler_add(lua->world, &handler) != MICA_OK) {
        micap_release(&lua->memory, pair, sizeof *pair, MICAP_ARRAY_ALIGNMENT);
        return false;
    }
    pair->next = lua->pairs;
    lua->pairs = pair;
    return true;
}

static bool is_wanted(const micap_lua_pair *pair)
{
    for (const micap_lua_script *script = pair->lua->scripts; script; script = script->next)
        for (const micap_lua_function *function = script->functions; function; function = function->next)
            if (function->role == MICAP_LUA_HANDLER && function->component == pair->component &&
                function->message == pair->message)
                return true;
    return false;
}

void micap_lua_drop_pairs(mica_lua *lua)
{
    for (micap_lua_pair **place = &lua->pairs, *pair = *place; pair; pair = *place) {
        if (is_wanted(pair)) {
            place = &pair->next;
            continue;
        }
        *place = pair->next;
        mica_handler_remove(lua->world, pair->component, pair->message, run_handlers);
        micap_release(&lua->memory, pair, sizeof *pair, MICAP_ARRAY_ALIGNMENT);
    }
}

/* All of a script */

/* Gives systems back to the old script, and removes the others. */
static void undo(micap_lua_script *script, micap_lua_script *old)
{
    for (micap_lua_function *function = script->functions; function; function = function->next) {
        micap_lua_function *before = function->system.id ? find_system(old, function->name) : NULL;
        if (before) {
            mica_system_def def = system_def(before);
            mica_system_replace(script->lua->world, before->system, &def);
            function->system = (mica_system){0};
        }
    }
    micap_lua_unregister(script, NULL);
    micap_lua_drop_pairs(script->lua);
}

bool micap_lua_register(micap_lua_script *script, micap_lua_script *old)
{
    for (micap_lua_function *function = script->functions; function; function = function->next) {
        bool is_added = function->role == MICAP_LUA_SYSTEM     ? add_system(function, old)
                        : function->role == MICAP_LUA_OBSERVER ? add_observer(function)
                        : function->role == MICAP_LUA_HANDLER  ? add_handler(function)
                                                               : true;
        if (!is_added) {
            undo(script, old);
            return false;
        }
    }
    if (old)
        micap_lua_unregister(old, script);
    return true;
}

void micap_lua_unregister(micap_lua_script *script, const micap_lua_script *successor)
{
    mica_world *world = script->lua->world;
    for (micap_lua_function *function = script->functions; function; function = function->next) {
        if (function->system.id && !find_system(successor, function->name))
            mica_system_remove(world, function->system);
        if (function->observer.id)
            mica_observer_remove(world, function->observer);
    }
}
