/* Mica, lua: systems, observers and message handlers in Lua, and mods in a sandbox.
 *
 *     mica_lua *lua = mica_lua_create(world, NULL);
 *     mica_lua_load(lua, "scripts/meteors.lua", NULL);                              may do what the program may do
 *     mica_lua_load(lua, "mods/wind.lua", &(mica_lua_script_def){.sandbox = true});
 *     while (running) {
 *         mica_step(world, dt);                                                     runs the systems of scripts too
 *         mica_lua_reload(lua);                                                     loads files again that changed
 *     }
 *     mica_lua_destroy(lua);                                                        before the world
 *
 * A script declares components, systems, observers and handlers while it is loaded:
 *
 *     mica.component("Position", "f32 x, f32 y")
 *     mica.system("move", "write Position, Velocity", function(view)
 *         local position, velocity = view.Position, view.Velocity
 *         for i = 1, view.count do
 *             position[i].x = position[i].x + velocity[i].x * view.dt
 *         end
 *     end)
 *
 * Terms are text (mica/query_text.h) and declare what a system reads and writes. A script can't access anything else: it gets an error.
 * Systems of scripts run in the same schedule as native ones, on one thread and never two at a time. With LuaJIT, columns of numbers are
 * pointers of its FFI, and loops over them are compiled. With Lua 5.4, and in a sandbox, every access is checked.
 *
 * An error in a script is reported by the world with the file, the line and a traceback. It stops the script: its functions are not called
 * until it is loaded again.
 *
 * A sandbox has no files, no modules and no other ways out. A script that exceeds its limits of time, memory or changes is stopped. It
 * can't read or write memory that it was not given.
 *
 * Built with LuaJIT or with Lua 5.4 (CMake: MICA_LUA_ENGINE). Guide: docs/guide/lua.md. Example: examples/lua.c.
 */
#ifndef MICA_LUA_H
#define MICA_LUA_H

#include "mica/world.h"

MICA_BEGIN

/* The scripts of a world. One per world. */
typedef struct mica_lua mica_lua;

/* Receives what scripts print: a line without its end. */
typedef void (*mica_lua_print_fn)(const char *text, void *context);

typedef struct mica_lua_def {
    mica_allocator allocator; /* also for the memory of scripts */
    mica_lua_print_fn print;  /* NULL prints to stdout */
    void *print_context;
} mica_lua_def;

/* What a script may do. Limits hold in a sandbox; zero means the default. */
typedef struct mica_lua_script_def {
    bool sandbox;
    double time_limit_seconds; /* for all its functions in one frame, and for loading it; default 0.1 */
    size_t memory_limit_bytes; /* of the script, without what the world holds; default 16 MiB */
    uint32_t change_limit;     /* entities, components and messages in one frame, and 64 bytes of text; default 10000 */
    uint64_t entity_limit;     /* no more are created if the world has this many entities; default 1000000 */
} mica_lua_script_def;

/* Prepares a world for scripts. NULL means the defaults. Returns NULL with a report on error. Threads: owner. */
MICA_API mica_lua *mica_lua_create(mica_world *world, const mica_lua_def *def);

/* Removes all scripts and what they declared, except components. Call this before destroying the world. NULL is a no-op. Threads: owner. */
MICA_API void mica_lua_destroy(mica_lua *lua);

/* Loads a file and adds what it declares. If a script of this path is loaded, the new one replaces it: systems of the same name keep their
 * place. On error the old one stays as it was, and the world reports why. NULL means: no sandbox. Rejected inside systems, observers and
 * handlers. Threads: owner. */
MICA_API mica_result mica_lua_load(mica_lua *lua, const char *path, const mica_lua_script_def *def);

/* Like mica_lua_load, for a script in memory, which is known by a name instead of a path. Threads: owner. */
MICA_API mica_result mica_lua_load_text(mica_lua *lua, const char *name, const char *text,
                                        const mica_lua_script_def *def);

/* Loads files again that changed since they were loaded. Returns MICA_OK, or the first error, after trying all; a file that failed is not
 * tried again before it changes. Costs one system call per file. Threads: owner. */
MICA_API mica_result mica_lua_reload(mica_lua *lua);

/* Removes a script and what it declared, except components. Returns false if there is none, and false with a report inside systems,
 * observers and handlers. Threads: owner. */
MICA_API bool mica_lua_unload(mica_lua *lua, const char *name);

/* Returns whether there is a script of this path or name, and it was not stopped by an error or a limit. Threads: reader. */
MICA_API bool mica_lua_is_running(const mica_lua *lua, const char *name);

/* Returns the memory that a script uses at the moment, or 0 if there is none. Threads: reader. */
MICA_API size_t mica_lua_memory_bytes(const mica_lua *lua, const char *name);

/* Returns the version of Lua that this library was built with, such as "LuaJIT 2.1.0" or "Lua 5.4". Threads: any. */
MICA_API const char *mica_lua_engine(void);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_lua_create(world, ...) mica_lua_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_lua_destroy(lua) mica_lua_destroy(MICA_AT_(lua))
#    define mica_lua_load(lua, ...) mica_lua_load(MICA_AT_(lua), __VA_ARGS__)
#    define mica_lua_load_text(lua, ...) mica_lua_load_text(MICA_AT_(lua), __VA_ARGS__)
#    define mica_lua_reload(lua) mica_lua_reload(MICA_AT_(lua))
#    define mica_lua_unload(lua, ...) mica_lua_unload(MICA_AT_(lua), __VA_ARGS__)
#    define mica_lua_is_running(lua, ...) mica_lua_is_running(MICA_AT_(lua), __VA_ARGS__)
#    define mica_lua_memory_bytes(lua, ...) mica_lua_memory_bytes(MICA_AT_(lua), __VA_ARGS__)
#endif
#endif
