/* The public functions: scripts are loaded, replaced by newer ones, and removed. */
#include "lua/registration.h"
#include "lua/script.h"

#include "base/argument.h"

#include <stdio.h>
#include <string.h>

static mica_result fail(const mica_lua *lua, mica_result result, const char *name, const char *reason)
{
    char text[1024];
    snprintf(text, sizeof text, "the script \"%s\" is not loaded: %s", name, reason);
    return mica_world_report(lua->world, result, text);
}

mica_lua *mica_lua_create(mica_world *world, const mica_lua_def *def)
{
    mica_lua_def options = def ? *def : (mica_lua_def){0};
    micap_memory memory = {0};
    if (!world || !micap_memory_init(&memory, options.allocator)) {
        mica_world_report(world, MICA_ERROR_INVALID,
                          world ? "mica_lua_create: an allocator needs both functions"
                                : "mica_lua_create: world must not be NULL");
        return NULL;
    }
    mica_type turn = {.name = "mica.lua", .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
    mica_component component = mica_component_define(world, &turn);
    mica_lua *lua = component ? micap_allocate_zeroed(&memory, sizeof *lua, MICAP_ARRAY_ALIGNMENT) : NULL;
    if (!lua) {
        mica_world_report(world, MICA_ERROR_MEMORY, "mica_lua_create: there is no memory");
        return NULL;
    }
    micap_memory_init(&lua->memory, options.allocator);
    lua->world = world;
    lua->def = options;
    lua->turn = component;
    return lua;
}

void mica_lua_destroy(mica_lua *lua)
{
    if (!lua)
        return;
    while (lua->scripts) {
        micap_lua_script *script = lua->scripts;
        lua->scripts = script->next;
        micap_lua_unregister(script, NULL);
        micap_lua_script_destroy(script);
    }
    micap_lua_drop_pairs(lua);
    micap_memory memory; /* the one that counted this block, see mica_lua_create */
    micap_memory_init(&memory, lua->def.allocator);
    atomic_store(&memory.bytes, sizeof *lua);
    micap_release(&memory, lua, sizeof *lua, MICAP_ARRAY_ALIGNMENT);
}

static micap_lua_script **find(const mica_lua *lua, const char *name)
{
    micap_lua_script **place = (micap_lua_script **)(uintptr_t)&lua->scripts;
    while (*place && strcmp((*place)->name, name) != 0)
        place = &(*place)->next;
    return place;
}

/* Replaces the script of this name by a new one, or adds it at the end. */
static mica_result load(mica_lua *lua, const char *name, const char *text, size_t byte_count,
                        const mica_lua_script_def *def)
{
    if (lua->call_depth)
        return fail(lua, MICA_ERROR_REFUSED, name, "a script runs");
    micap_lua_script **place = find(lua, name), *old = *place;
    micap_lua_script *script = micap_lua_script_create(lua, name, def);
    if (!script)
        return fail(lua, MICA_ERROR_MEMORY, name, mica_result_text(MICA_ERROR_MEMORY));
    if (!micap_lua_script_run(script, text, byte_count) || !micap_lua_register(script, old)) {
        micap_lua_script_destroy(script);
        return MICA_ERROR_INVALID;
    }
    script->next = old ? old->next : NULL;
    *place = script;
    if (old)
        micap_lua_script_destroy(old);
    micap_lua_drop_pairs(lua);
    if (old || micap_lua_start(script))
        return MICA_OK;
    mica_lua_unload(lua, script->name);
    return MICA_ERROR_INVALID;
}

mica_result mica_lua_load_text(mica_lua *lua, const char *name, const char *text, const mica_lua_script_def *def)
{
    if (!lua || !name || !text)
        return mica_world_report(lua ? lua->world : NULL, MICA_ERROR_INVALID,
                                 "mica_lua_load_text: lua, name and text must not be NULL");
    return load(lua, name, text, strlen(text), def);
}

/* The stamp is taken before the file is read, so that a later change is seen. */
static mica_result load_file(mica_lua *lua, const char *path, const mica_lua_script_def *def)
{
    micap_file_stamp stamp = micap_file_look(path);
    micap_mapping mapping = {0};
    int problem = micap_file_map(path, &mapping);
    if (problem)
        return fail(lua, MICA_ERROR_FILE, path, strerror(problem));
    mica_result result = load(lua, path, mapping.bytes ? mapping.bytes : "", mapping.byte_count, def);
    micap_file_unmap(&mapping);
    micap_lua_script *script = *find(lua, path);
    if (script) {
        script->is_file = true;
        script->stamp = stamp;
    }
    return result;
}

mica_result mica_lua_load(mica_lua *lua, const char *path, const mica_lua_script_def *def)
{
    if (!lua || !path)
        return mica_world_report(lua ? lua->world : NULL, MICA_ERROR_INVALID,
                                 "mica_lua_load: lua and path must not be NULL");
    return load_file(lua, path, def);
}

mica_result mica_lua_reload(mica_lua *lua)
{
    if (!lua)
        return mica_world_report(NULL, MICA_ERROR_INVALID, "mica_lua_reload: lua must not be NULL");
    mica_result first = MICA_OK;
    for (micap_lua_script *script = lua->scripts, *next; script; script = next) {
        next = script->next;
        micap_file_stamp now = script->is_file ? micap_file_look(script->name) : script->stamp;
        /* A file that is being replaced is not there for a moment. */
        if (memcmp(&now, &script->stamp, sizeof now) == 0 || (!now.seconds && !now.byte_count))
            continue;
        script->stamp = now;
        mica_lua_script_def limits = script->limits;
        char path[4096];
        snprintf(path, sizeof path, "%s", script->name);
        mica_result result = load_file(lua, path, &limits);
        first = first == MICA_OK ? result : first;
    }
    return first;
}

bool mica_lua_unload(mica_lua *lua, const char *name)
{
    if (!lua || !name) {
        mica_world_report(lua ? lua->world : NULL, MICA_ERROR_INVALID,
                          "mica_lua_unload: lua and name must not be NULL");
        return false;
    }
    micap_lua_script **place = find(lua, name), *script = *place;
    if (script && lua->call_depth) {
        mica_world_report(lua->world, MICA_ERROR_REFUSED, "mica_lua_unload: a script runs");
        return false;
    }
    if (!script)
        return false;
    *place = script->next;
    micap_lua_unregister(script, NULL);
    micap_lua_script_destroy(script);
    micap_lua_drop_pairs(lua);
    return true;
}

bool mica_lua_is_running(const mica_lua *lua, const char *name)
{
    if (!lua || !name) {
        mica_world_report(lua ? lua->world : NULL, MICA_ERROR_INVALID,
                          "mica_lua_is_running: lua and name must not be NULL");
        return false;
    }
    const micap_lua_script *script = *find(lua, name);
    return script && !script->is_stopped;
}

size_t mica_lua_memory_bytes(const mica_lua *lua, const char *name)
{
    if (!lua || !name) {
        mica_world_report(lua ? lua->world : NULL, MICA_ERROR_INVALID,
                          "mica_lua_memory_bytes: lua and name must not be NULL");
        return 0;
    }
    const micap_lua_script *script = *find(lua, name);
    return script ? script->memory_bytes : 0;
}
