/* Mica, module: systems in a shared library that a program loads at run time, as `mica run` does.
 *
 *     #include "mica/flow.h"
 *     #include "mica/module.h"
 *     ...
 *     MICA_MODULE(world)
 *     {
 *         mica_define(world, Position);                    register it before levels are spawned
 *         mica_system_add(world, MICA_SYSTEM(fall, MICA_WRITE(Position)));
 *         return MICA_OK;
 *     }
 *
 * A module that has rules for spawning and saving (mica/resource.h), or needs the resource library (mica/library.h), has a second
 * entry point, which is called after all modules are loaded and before levels are spawned:
 *
 *     MICA_MODULE_RULES(world, library, out_rule_count)
 *     {
 *         shapes = library;
 *         rules[0].component = mica_define(world, Position);
 *         *out_rule_count = 1;
 *         return rules;
 *     }
 *
 * Link the shared library with mica::module (CMake), or with nothing: it uses the Mica of the program that loads it. A second copy
 * of Mica would assign different component ids.
 *
 *     mica run --module ./libfall.so --frames 600 level.mica
 *     mica run --watch --module ./libfall.so --frames 36000 level.mica
 *
 * Programs load and reload modules with mica/module_load.h. A library that is loaded again, with --watch when its file changes, gets
 * a new, empty world, which then gets everything that the old one had. So an entry point defines, adds and configures, and creates no entities; what the module
 * needs from frame to frame is in components and singletons, not in static variables.
 *
 * Examples: examples/modules.
 */
#ifndef MICA_MODULE_H
#define MICA_MODULE_H

#include "mica/base.h"

MICA_BEGIN

/* How a module was compiled. The program compares this before it calls the module. */
typedef struct mica_module {
    uint32_t version_major;
    uint32_t version_minor;
    uint32_t checked; /* 1 with MICA_CHECKED, else 0 */
} mica_module;

extern MICA_EXPORT const mica_module mica_module_info;

/* Called once for each world, which has no entities. Any result except MICA_OK, and any report, ends the run, or the reload. */
MICA_EXPORT mica_result mica_module_main(mica_world *world);

struct mica_library;
struct mica_resource_rule;

/* Optional. Returns the rules of the module, or NULL. Rules and library stay valid while the module is loaded. A program that loads modules
 * without a library passes NULL. */
MICA_EXPORT const struct mica_resource_rule *mica_module_rules(mica_world *world, const struct mica_library *library,
                                                               uint32_t *out_rule_count);

MICA_END

#ifdef MICA_CHECKED
#    define MICA_MODULE_CHECKED_ 1
#else
#    define MICA_MODULE_CHECKED_ 0
#endif

/* Defines the entry point of a module; the body follows. */
#define MICA_MODULE(world)                                                                                             \
    const mica_module mica_module_info = {MICA_VERSION_MAJOR, MICA_VERSION_MINOR, MICA_MODULE_CHECKED_};               \
    mica_result mica_module_main(mica_world *world)

/* Defines the entry point for rules; the body follows. */
#define MICA_MODULE_RULES(world, library, out_rule_count)                                                              \
    const struct mica_resource_rule *mica_module_rules(mica_world *world, const struct mica_library *library,          \
                                                       uint32_t *out_rule_count)

#endif
