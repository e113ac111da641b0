/* Modules: what stands on the core and has state in a world of its own. A layer above puts itself into its slot when it is
 * first used; the core calls it through its functions and never includes it. */
#ifndef MICAP_CORE_WORLD_MODULE_H
#define MICAP_CORE_WORLD_MODULE_H

#include "base/hash.h"
#include "mica/handle.h"

/* In the order in which modules are asked; they are freed last first. */
typedef enum micap_module_id {
    MICAP_MODULE_POOL,
    MICAP_MODULE_FLOW,
    MICAP_MODULE_HIERARCHY,
    MICAP_MODULE_REPLICATION,
    MICAP_MODULE_SNAPSHOT,
    MICAP_MODULE_INSPECT,
    MICAP_MODULES,
} micap_module_id;

struct micap_kept;

typedef void (*micap_dependents_fn)(mica_world *world, const mica_entity *entities, uint32_t count, void *context);

/* Any of them may be NULL. */
typedef struct micap_module_ops {
    /* The world ends: its entities are gone, its queries and buffers are still there. */
    void (*free)(mica_world *world, void *state);
    /* These entities, which lie one after the other in one chunk, are about to go, whoever destroys them; the hooks of the
     * user have run. As in a hook, what is changed through the world meanwhile is recorded and applied afterwards. */
    void (*destroying)(mica_world *world, void *state, const mica_entity *entities, uint32_t count);
    /* Adds what a program can observe of the module. Adding nothing leaves the hash of the world as it would be without. */
    void (*hash)(const mica_world *world, const void *state, micap_hasher *hasher);
    /* False with a report when an invariant is broken. */
    bool (*validate)(mica_world *world, void *state);
    /* Gives unused memory back. */
    void (*trim)(mica_world *world, void *state);
    /* Calls the function with all entities that die with this one, some at a time: those that depend on others before those. The
     * function may destroy what it is given. */
    void (*each_dependent)(mica_world *world, void *state, mica_entity entity, micap_dependents_fn fn, void *context);
    /* The creation of this entity was recorded and is given up: it never lived. */
    void (*forgotten)(mica_world *world, void *state, mica_entity entity);
    /* Snapshots: a copy of all that the module does not keep before it changes (base/undo_log.h), never NULL but when memory is short. */
    void *(*save)(mica_world *world, void *state);
    void (*drop)(mica_world *world, void *state, void *saved);
    /* Makes room for what was saved, so that loading it can't fail. */
    bool (*prepare)(mica_world *world, void *state, const void *saved);
    /* Puts back what was kept, and then what was saved; NULL: the module was not there yet. Entities are what they were. */
    void (*load_kept)(mica_world *world, void *state, const struct micap_kept *kept);
    void (*load)(mica_world *world, void *state, const void *saved);
    /* Makes the module of another world, whose entities are the same, what this one is; false when memory is short. */
    bool (*clone)(mica_world *to, const void *state);
    /* Keeps what is there now in a place that is about to be put back. */
    void (*keep_again)(mica_world *world, void *state, const struct micap_kept *kept);
} micap_module_ops;

typedef struct micap_module {
    void *state;
    const micap_module_ops *ops; /* NULL: not in use */
} micap_module;

/* Puts a module into its empty slot. The functions must outlive the world. */
void micap_module_set(mica_world *world, micap_module_id id, const micap_module_ops *ops, void *state);

/* The state of a module, or NULL when this world does not use it. */
void *micap_module_state(const mica_world *world, micap_module_id id);

/* What the core calls: see the functions above. */
bool micap_modules_want_destroying(const mica_world *world);
void micap_modules_destroying(mica_world *world, const mica_entity *entities, uint32_t count);
void micap_modules_each_dependent(mica_world *world, mica_entity entity, micap_dependents_fn fn, void *context);
void micap_modules_forgotten(mica_world *world, mica_entity entity);
uint64_t micap_modules_hash(const mica_world *world);
bool micap_modules_validate(mica_world *world);
void micap_modules_trim(mica_world *world);
void micap_modules_free(mica_world *world);
void micap_modules_load_kept(mica_world *world, const struct micap_kept *kept);
void micap_modules_keep_again(mica_world *world, const struct micap_kept *kept);

#endif
