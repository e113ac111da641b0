#include "lua/world_access.h"

#include "lua/lua_value.h"
#include "lua/reference.h"

#include "mica/name.h"
#include "mica/resource.h"
#include "mica/singleton.h"
#include "mica/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CREATE_MAX = 64, PATH_BYTES = 4096 };

/* The script, if a function of it runs, and one more change. */
static micap_lua_script *begin_change(lua_State *state)
{
    micap_lua_script *script = micap_lua_script_of(state);
    if (!script->call->function)
        luaL_error(state, "a script only declares while it is loaded: do this in mica.start, a system, an observer or "
                          "a handler");
    micap_lua_count_changes(state, script, 1);
    return script;
}

static int push_result(lua_State *state, bool succeeded)
{
    lua_pushboolean(state, succeeded);
    return 1;
}

/* Makes a value from the one at a position of the stack, and leaves its memory on the stack. A tag takes true, or nothing. */
static mica_value make_value(lua_State *state, micap_lua_script *script, mica_component component, int position)
{
    mica_value value = {.component = component, .size_bytes = mica_component_type(component)->size_bytes};
    void *data = micap_lua_push_scratch(state, component);
    lua_pushvalue(state, position);
    if (data && lua_type(state, -1) != LUA_TBOOLEAN && !lua_isnil(state, -1))
        micap_lua_assign(state, script, mica_member_of(component, data));
    lua_pop(state, 1);
    value.data = data;
    return value;
}

static void check_singleton(lua_State *state, mica_component component, bool is_wanted)
{
    const mica_type *type = mica_component_type(component);
    if ((type->storage == MICA_STORAGE_SINGLETON) != is_wanted)
        luaL_error(state, "%s is %s singleton", type->name, is_wanted ? "no" : "a");
}

static int compare_values(const void *a, const void *b)
{
    const mica_value *first = a, *second = b;
    return first->component < second->component ? -1 : first->component > second->component;
}

/* mica.create { Position = { x = 1 }, Frozen = true } */
static int create(lua_State *state)
{
    micap_lua_script *script = begin_change(state);
    mica_world *world = script->lua->world;
    mica_value values[CREATE_MAX];
    uint32_t count = 0;
    if (lua_isnoneornil(state, 1))
        lua_newtable(state);
    luaL_checktype(state, 1, LUA_TTABLE);
    lua_settop(state, 1);
    if (script->limits.sandbox && mica_world_get_stats(world).entity_count >= script->limits.entity_limit)
        return luaL_error(state, "the world has as many entities as scripts may create");
    luaL_checkstack(state, CREATE_MAX + 8, "mica.create");
    lua_newtable(state); /* keeps the values */
    lua_pushnil(state);
    while (lua_next(state, 1)) {
        if (lua_type(state, -2) != LUA_TSTRING || count == CREATE_MAX)
            return luaL_error(state, "mica.create takes a table of up to %d components by name", (int)CREATE_MAX);
        mica_component component = micap_lua_check_component(state, script, lua_gettop(state) - 1);
        check_singleton(state, component, false);
        values[count] = make_value(state, script, component, lua_gettop(state));
        lua_rawseti(state, 2, (int)++count);
        lua_pop(state, 1);
    }
    micap_lua_count_changes(state, script, count);
    qsort(values, count, sizeof *values, compare_values); /* the order of a table is arbitrary */
    micap_lua_push_entity(state, mica_create_id(world, values, count));
    return 1;
}

static int destroy(lua_State *state)
{
    micap_lua_script *script = begin_change(state);
    return push_result(state, mica_destroy(script->lua->world, micap_lua_check_entity(state, 1)));
}

static int is_alive(lua_State *state)
{
    micap_lua_script *script = micap_lua_script_of(state);
    return push_result(state, mica_is_alive(script->lua->world, micap_lua_check_entity(state, 1)));
}

static int has(lua_State *state)
{
    micap_lua_script *script = micap_lua_script_of(state);
    mica_entity entity = micap_lua_check_entity(state, 1);
    mica_component component = micap_lua_check_component(state, script, 2);
    micap_lua_check_access(state, script, component, false);
    return push_result(state, mica_has_id(script->lua->world, entity, component));
}

/* Pushes a reference to the component of an entity, nil if it has none, true for a tag, and a copy of a split one. */
static int push_component(lua_State *state, bool write)
{
    micap_lua_script *script = micap_lua_script_of(state);
    mica_world *world = script->lua->world;
    mica_entity entity = micap_lua_check_entity(state, 1);
    mica_component component = micap_lua_check_component(state, script, 2);
    const mica_type *type = mica_component_type(component);
    micap_lua_check_access(state, script, component, write);
    check_singleton(state, component, false);
    if (type->relation || (write && type->split))
        return luaL_error(state, "%s is a relation or a split component: use a query, or mica.set", type->name);
    if (!mica_has_id(world, entity, component)) {
        lua_pushnil(state);
    } else if (!type->size_bytes) {
        lua_pushboolean(state, true);
    } else if (type->split) {
        void *copy = micap_lua_push_scratch(state, component);
        mica_get_value_id(world, entity, component, copy);
        micap_lua_push_value(state, mica_member_of(component, copy));
    } else {
        void *value =
            write ? mica_write_id(world, entity, component) : (void *)(uintptr_t)mica_get_id(world, entity, component);
        micap_lua_push_reference(state, script, mica_member_of(component, value), write);
    }
    return 1;
}

static int get(lua_State *state)
{
    return push_component(state, false);
}

static int write(lua_State *state)
{
    return push_component(state, true);
}

static int set(lua_State *state)
{
    micap_lua_script *script = begin_change(state);
    lua_settop(state, 3);
    mica_entity entity = micap_lua_check_entity(state, 1);
    mica_component component = micap_lua_check_component(state, script, 2);
    check_singleton(state, component, false);
    mica_value value = make_value(state, script, component, 3);
    return push_result(state, value.data ? mica_set_id(script->lua->world, entity, value)
                                         : mica_add_id(script->lua->world, entity, component) != NULL);
}

static int remove_component(lua_State *state)
{
    micap_lua_script *script = begin_change(state);
    mica_entity entity = micap_lua_check_entity(state, 1);
    return push_result(state, mica_remove_id(script->lua->world, entity, micap_lua_check_component(state, script, 2)));
}

static int push_singleton(lua_State *state, bool write)
{
    micap_lua_script *script = micap_lua_script_of(state);
    mica_component component = micap_lua_check_component(state, script, 1);
    micap_lua_check_access(state, script, component, write);
    check_singleton(state, component, true);
    void *value = write ? mica_singleton_write_id(script->lua->world, component)
                        : (void *)(uintptr_t)mica_singleton_get_id(script->lua->world, component);
    if (!value)
        return luaL_error(state, "there is no memory for a %s", mica_component_type(component)->name);
    micap_lua_push_reference(state, script, mica_member_of(component, value), write);
    return 1;
}

static int singleton_get(lua_State *state)
{
    return push_singleton(state, false);
}

static int singleton_write(lua_State *state)
{
    return push_singleton(state, true);
}

/* A copy of a value as a table. */
static int copy(lua_State *state)
{
    micap_lua_script *script = micap_lua_script_of(state);
    const micap_lua_reference *reference = micap_lua_test_reference(state, script, 1);
    if (!reference || reference->is_column)
        return luaL_argerror(state, 1, "a value was expected");
    micap_lua_push_value(state, reference->member);
    return 1;
}

/* A message without fields has no value, but must have an address. */
static mica_value make_message(lua_State *state, micap_lua_script *script, mica_component message, int position)
{
    mica_value value = make_value(state, script, message, position);
    if (!value.data)
        value.data = "";
    return value;
}

static int send(lua_State *state)
{
    micap_lua_script *script = begin_change(state);
    lua_settop(state, 3);
    mica_entity entity = micap_lua_check_entity(state, 1);
    mica_component message = micap_lua_check_component(state, script, 2);
    mica_value value = make_message(state, script, message, 3);
    return push_result(state, mica_send_id(script->lua->world, entity, value, MICA_HERE));
}

static int broadcast(lua_State *state)
{
    micap_lua_script *script = begin_change(state);
    lua_settop(state, 2);
    mica_component message = micap_lua_check_component(state, script, 1);
    mica_value value = make_message(state, script, message, 2);
    return push_result(state, mica_broadcast_id(script->lua->world, value, MICA_HERE));
}

static int find(lua_State *state)
{
    micap_lua_script *script = micap_lua_script_of(state);
    const char *path = luaL_checkstring(state, 1);
    micap_lua_push_entity(state, mica_find_from(script->lua->world, mica_nil(), path));
    return 1;
}

/* mica.name(entity), or mica.name(entity, "new name") */
static int name(lua_State *state)
{
    micap_lua_script *script = micap_lua_script_of(state);
    mica_world *world = script->lua->world;
    mica_entity entity = micap_lua_check_entity(state, 1);
    if (lua_isnoneornil(state, 2)) {
        lua_pushstring(state, mica_name_get(world, entity));
        return 1;
    }
    const char *text = luaL_checkstring(state, 2);
    begin_change(state);
    micap_lua_count_changes(state, script, strlen(text) / 64);
    return push_result(state, mica_name_set(world, entity, mica_nil(), text) == MICA_OK);
}

/* A number from 0 to 1, the same in every run of the same world, on every machine. */
static int random_number(lua_State *state)
{
    micap_lua_script *script = micap_lua_script_of(state);
    micap_lua_call *call = script->call;
    if (!call->has_random)
        call->random = call->frame ? mica_random_of_frame(call->frame) : mica_random_of_world(script->lua->world);
    call->has_random = true;
    lua_pushnumber(state, (double)mica_random_next(&call->random) / 4294967296.0);
    return 1;
}

/* The file is looked for beside the script. A sandbox has no other folders. */
static void check_path(lua_State *state, const micap_lua_script *script, const char *file, char *path)
{
    const char *slash = strrchr(script->name, '/');
    int folder = slash ? (int)(slash - script->name) + 1 : 0;
    if (script->limits.sandbox && (strchr(file, '\\') || strchr(file, ':') || strstr(file, "..") || file[0] == '/'))
        luaL_error(state, "a sandbox has only files beside the script");
    folder = file[0] == '/' ? 0 : folder;
    if (snprintf(path, PATH_BYTES, "%.*s%s", folder, script->name, file) >= PATH_BYTES)
        luaL_error(state, "the path is too long");
}

/* Creates everything in a compiled resource. Returns how many entities. */
static int spawn(lua_State *state)
{
    micap_lua_script *script = begin_change(state);
    micap_lua_check_alone(state, script, "mica.spawn");
    char path[PATH_BYTES];
    check_path(state, script, luaL_checkstring(state, 1), path);
    mica_resource_error error;
    mica_resource *resource =
        mica_resource_load(path, &(mica_resource_def){.memory_bytes_max = (uint64_t)64 << 20}, &error);
    if (!resource)
        return luaL_error(state, "%s: %s", path, error.text);
    uint64_t count = mica_resource_entity_count(resource);
    uint64_t present = mica_world_get_stats(script->lua->world).entity_count;
    bool is_allowed = !script->limits.sandbox || present + count <= script->limits.entity_limit;
    mica_spawn_def def = {.names = MICA_SPAWN_NAMES_FREE, .skip_state = true};
    bool is_done = is_allowed && mica_spawn(script->lua->world, resource, &def) == MICA_OK;
    mica_resource_free(resource);
    if (!is_done)
        return luaL_error(state,
                          is_allowed ? "%s can't be spawned: see the report before this one"
                                     : "%s has more entities than scripts may create",
                          path);
    micap_lua_push_integer(state, (int64_t)count);
    return 1;
}

void micap_lua_open_access(lua_State *state)
{
    static const luaL_Reg functions[] = {{"create", create},
                                         {"destroy", destroy},
                                         {"alive", is_alive},
                                         {"has", has},
                                         {"get", get},
                                         {"write", write},
                                         {"set", set},
                                         {"remove", remove_component},
                                         {"copy", copy},
                                         {"singleton_get", singleton_get},
                                         {"send", send},
                                         {"singleton_write", singleton_write},
                                         {"broadcast", broadcast},
                                         {"find", find},
                                         {"name", name},
                                         {"random", random_number},
                                         {"spawn", spawn},
                                         {NULL, NULL}};
    luaL_setfuncs(state, functions, 0);
}
