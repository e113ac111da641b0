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
 * Three more entry points are optional. mica_module_start creates what a new run starts with; it is called once, after levels were spawned,
 * and not for a run that continues a save. mica_module_measurements lists what `mica sweep` writes into its tables. mica_module_cluster describes
 * the cluster (mica/cluster.h) of `mica run --cluster`:
 *
 *     mica_result mica_module_start(mica_world *world)
 *     {
 *         const Settings *settings = mica_singleton_get(world, Settings);          `mica sweep --vary Settings.rabbits=100:500:100`
 *         for (int i = 0; i < settings->rabbits; ++i)
 *             mica_create(world, ...);
 *         return MICA_OK;
 *     }
 *
 *     const mica_measurement mica_module_measurements[] = {{"rabbits", "count: Rabbit"}, {"energy", "sum: Energy.value, Rabbit"}, {0}};
 *
 *     static mica_cluster *cluster;                            NULL without --cluster
 *
 *     mica_cluster *mica_module_cluster(mica_world *world, uint64_t seed)
 *     {
 *         return cluster = mica_cluster_create(world, &(mica_cluster_def){.seed = seed, .grid = ..., .reach = 2});
 *     }
 *
 * Link the shared library with mica::module (CMake), or with nothing: it uses the Mica of the program that loads it. A second copy
 * of Mica would assign different component ids.
 *
 *     mica run --module ./libfall.so --frames 600 level.mica
 *     mica run --watch --module ./libfall.so --frames 36000 level.mica
 *     mica sweep ./libforest.so --vary Settings.rabbits=100:500:100 --seeds 100 --out results.db
 *
 * Programs load and reload modules with mica/module_load.h. When a library is loaded again (with --watch, when its file changes),
 * MICA_MODULE is called with a new, empty world, which then gets everything that the old one had. So it must define, add and configure, and
 * not create entities. Keep state in components and singletons, not in static variables.
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

/* Optional. Called once per run, after modules were loaded, levels spawned and parameters set, and before the first frame; not when a run
 * continues a save, and not by a reload. Any result except MICA_OK, and any report, ends the run. With a cluster, it is called on each rank. */
MICA_EXPORT mica_result mica_module_start(mica_world *world);

struct mica_cluster;

/* Optional. Called by `mica run --cluster` and `mica sweep`, after all modules were loaded. Returns a cluster of the world, which the tool steps
 * and destroys, or NULL after a report. The seed is that of --seed, or of the run of a sweep. */
MICA_EXPORT struct mica_cluster *mica_module_cluster(mica_world *world, uint64_t seed);

/* Something that `mica sweep` measures: a column of its tables. */
typedef struct mica_measurement {
    const char *name; /* of the column */
    /* "count: QUERY" counts entities; "sum: Energy.value, QUERY", "mean:", "minimum:" and "maximum:" combine the numbers of a field of all entities
     * that have the component and match the query (mica/query_text.h), which may be left out; "value: Settings.speed" is a field of a singleton. */
    const char *text;
} mica_measurement;

/* Optional. The last one has no name. */
extern MICA_EXPORT const mica_measurement mica_module_measurements[];

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
