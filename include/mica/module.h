/* Mica, module: systems in a shared library that a program loads while it runs, as `mica run` does.
 *
 *     #include "mica/flow.h"
 *     #include "mica/module.h"
 *     ...
 *     MICA_MODULE(world)
 *     {
 *         mica_define(world, Position);                    known before levels are spawned
 *         mica_system_add(world, MICA_SYSTEM(fall, MICA_WRITE(Position)));
 *         return MICA_OK;
 *     }
 *
 * A module that has rules for spawning and saving (mica/resource.h), or wants to look up the resources that levels refer to
 * (mica/library.h), has a second entry point, called when all modules are there and before levels are spawned:
 *
 *     MICA_MODULE_RULES(world, library, out_rule_count)
 *     {
 *         shapes = library;
 *         rules[0].component = mica_define(world, Position);
 *         *out_rule_count = 1;
 *         return rules;
 *     }
 *
 * The library is linked with mica::module (CMake), or with nothing: what it calls of Mica is in the program that loads it,
 * and a second Mica would number components by itself.
 *
 *     mica run --module ./libfall.so --frames 600 level.mica
 *
 * Examples: examples/modules.
 */
#ifndef MICA_MODULE_H
#define MICA_MODULE_H

#include "mica/base.h"

MICA_BEGIN

/* What a module was compiled with: who loads it compares before it calls. */
typedef struct mica_module {
    uint32_t version_major;
    uint32_t version_minor;
    uint32_t checked; /* 1 with MICA_CHECKED, else 0 */
} mica_module;

extern MICA_EXPORT const mica_module mica_module_info;

/* Called once, in an empty world. Anything but MICA_OK, and every report, ends the run. */
MICA_EXPORT mica_result mica_module_main(mica_world *world);

struct mica_library;
struct mica_resource_rule;

/* Optional. Returns the rules of the module, which live as long as the program, or NULL; so does the library. */
MICA_EXPORT const struct mica_resource_rule *mica_module_rules(mica_world *world, const struct mica_library *library,
                                                               uint32_t *out_rule_count);

MICA_END

#ifdef MICA_CHECKED
#    define MICA_MODULE_CHECKED_ 1
#else
#    define MICA_MODULE_CHECKED_ 0
#endif

/* Begins the one entry point of a module; its body follows. */
#define MICA_MODULE(world)                                                                                             \
    const mica_module mica_module_info = {MICA_VERSION_MAJOR, MICA_VERSION_MINOR, MICA_MODULE_CHECKED_};               \
    mica_result mica_module_main(mica_world *world)

/* Begins the entry point for rules; its body follows. */
#define MICA_MODULE_RULES(world, library, out_rule_count)                                                              \
    const struct mica_resource_rule *mica_module_rules(mica_world *world, const struct mica_library *library,          \
                                                       uint32_t *out_rule_count)

#endif
