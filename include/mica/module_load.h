/* Mica, module_load: load modules (mica/module.h) into a program, and replace them while it runs, as `mica run --watch` does.
 *
 *     mica_modules *game = mica_module_load((const char *[]){"./game.so"}, 1, NULL);
 *     mica_world *world = mica_module_world(game);
 *     ...
 *     while (is_running()) {
 *         mica_step(world, dt);
 *         if (mica_module_update(game))                    a file changed, and was loaded
 *             world = mica_module_world(game);
 *     }
 *     mica_module_unload(game);
 *
 * A reload creates a new world, calls the entry points of the new code with it, and moves everything there: entities with their handles,
 * singletons, names, time, clocks and messages. Fields of components are kept by name (mica_spawn). If anything fails or reports, the
 * new world is destroyed and the old one continues unchanged. Queries, senders, snapshots and a recording of the old world are destroyed
 * with it: create them again, or in `setup`. Stop an inspector before a reload.
 *
 * The program has Mica in it, and exports it to modules. In CMake:
 *
 *     target_link_libraries(program PRIVATE mica::resource mica::mica)
 *     mica_export_to_modules(program)
 *
 * Windows and WebAssembly can't load modules yet. Example: examples/module_reload.c.
 */
#ifndef MICA_MODULE_LOAD_H
#define MICA_MODULE_LOAD_H

#include "mica/library.h"
#include "mica/resource.h"

MICA_BEGIN

/* The modules of one world, and the world. */
typedef struct mica_modules mica_modules;

/* The part of the program in a world: components, systems, mica_flow_configure. Called with each new, empty world, before the modules. Any
 * result except MICA_OK, and any report, fails the load or the reload. The world may be destroyed afterwards: don't keep it. */
typedef mica_result (*mica_module_setup_fn)(mica_world *world, void *context);

/* How to load modules. Zero is the default. */
typedef struct mica_module_def {
    const mica_world_def
        *world; /* how to create worlds; copied. NULL: the defaults. Errors are reported to its handler */
    mica_module_setup_fn setup;  /* NULL: the program adds nothing */
    void *context;               /* of setup */
    const mica_library *library; /* for MICA_MODULE_RULES, and to save references to resources. NULL: none */
    bool skip_unknown;           /* drop components that the new modules don't define; otherwise they fail the reload */
    bool
        in_place; /* load the files, not copies of them, as debuggers and $ORIGIN need it; then they can't be reloaded */
} mica_module_def;

/* Creates a world and loads modules into it, in this order. The paths are copied; a NULL def means the defaults. Returns NULL with a
 * report if a file is missing, is no module, or was built for another version or with another setting of MICA_CHECKED, or if an entry
 * point fails or reports. Threads: owner. */
MICA_API mica_modules *mica_module_load(const char *const *paths, uint32_t path_count, const mica_module_def *def);

/* Destroys the world and unloads the modules. NULL is a no-op. Rejected inside systems and hooks. Threads: owner. */
MICA_API void mica_module_unload(mica_modules *modules);

/* Returns the world, valid until the next reload. Threads: any, one at a time. */
MICA_API mica_world *mica_module_world(const mica_modules *modules);

/* Returns the rules of all modules, for mica_spawn and mica_save, or NULL. Valid until the next reload. Threads: any, one at a time. */
MICA_API const mica_resource_rule *mica_module_get_rules(const mica_modules *modules, uint32_t *out_rule_count);

/* Calls mica_module_start of all modules that have it, in order, to create what a new run starts with. Call it once, after levels were
 * spawned, and not if they continue a save. Returns the first error, with a report. Rejected inside systems and hooks. Threads: owner. */
MICA_API mica_result mica_module_start_run(mica_modules *modules);

/* Returns the address of a function or variable that a module exports, such as an entry point of the program's own; NULL if the module with this
 * position in the list of paths has none of this name. Valid until the next reload. Threads: any, one at a time. */
MICA_API const void *mica_module_find(const mica_modules *modules, uint32_t position, const char *name);

/* Loads all files again and moves the world into a new one. Takes time in proportion to the world. On error, with a report, the old
 * modules and their world are unchanged. MICA_ERROR_REFUSED inside a frame or a hook, with recorded changes that wait for a flush, for
 * modules in place, and if an entry point creates entities. Threads: owner. */
MICA_API mica_result mica_module_reload(mica_modules *modules);

/* Reloads if a file changed since it was looked at last. Returns true if the world was replaced; false if no file changed, or with a
 * report. Costs one system call per file. Threads: owner. */
MICA_API bool mica_module_update(mica_modules *modules);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_module_load(...) MICA_AT_(mica_module_load(__VA_ARGS__))
#    define mica_module_unload(modules) mica_module_unload(MICA_AT_(modules))
#    define mica_module_world(modules) mica_module_world(MICA_AT_(modules))
#    define mica_module_get_rules(modules, ...) mica_module_get_rules(MICA_AT_(modules), __VA_ARGS__)
#    define mica_module_start_run(modules) mica_module_start_run(MICA_AT_(modules))
#    define mica_module_find(modules, ...) mica_module_find(MICA_AT_(modules), __VA_ARGS__)
#    define mica_module_reload(modules) mica_module_reload(MICA_AT_(modules))
#    define mica_module_update(modules) mica_module_update(MICA_AT_(modules))
#endif
#endif
