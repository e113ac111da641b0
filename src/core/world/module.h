/* Modules: layers above the core with state of their own in a world. A layer registers in its slot on first use; the core calls it
 * through these functions and never includes its headers. */
#ifndef MICAP_CORE_WORLD_MODULE_H
#define MICAP_CORE_WORLD_MODULE_H

#include "mica/describe.h"
#include "mica/handle.h"
#include "mica/query.h"

/* In the order in which modules are called; they are freed in reverse order. */
typedef enum micap_module_id {
    MICAP_MODULE_POOL,
    MICAP_MODULE_FLOW,
    MICAP_MODULE_HIERARCHY,
    MICAP_MODULE_REPLICATION,
    MICAP_MODULE_SNAPSHOT,
    MICAP_MODULE_INDEX,
    MICAP_MODULE_INSPECT,
    MICAP_MODULE_RELATION,
    MICAP_MODULES,
} micap_module_id;

struct micap_bytes;
struct micap_hasher;
struct micap_reader;
struct micap_undo_entry;

typedef void (*micap_dependents_fn)(mica_world *world, const mica_entity *entities, uint32_t count, void *context);

/* A field of a component by its offset, and the lowest and highest word of its values; or for text what it is compared with, and how. */
typedef struct micap_field_range {
    mica_component component;
    uint32_t field_offset;
    uint64_t low, high;
    const char *text; /* or NULL */
    mica_comparison compare;
} micap_field_range;
typedef void (*micap_found_fn)(mica_entity entity, void *context);

/* Any of them may be NULL. */
typedef struct micap_module_ops {
    /* The world is destroyed: it has no entities any more; queries and command buffers still exist. */
    void (*free)(mica_world *world, void *state);
    /* Before these entities, in consecutive rows of one chunk, are destroyed; the hooks of the program have run. As in a hook,
     * changes to the world are recorded and applied later. Called at least for entities that the module attached something to
     * (micap_attach), or for all of them: see micap_modules_see_every_death. */
    void (*destroying)(mica_world *world, void *state, const mica_entity *entities, uint32_t count);
    /* Hashes what a program can observe of the module. A module that hashes nothing does not change the hash of the world. */
    void (*hash)(const mica_world *world, const void *state, struct micap_hasher *hasher);
    /* False with a report if an invariant is broken. */
    bool (*validate)(mica_world *world, void *state);
    /* Releases unused memory. */
    void (*trim)(mica_world *world, void *state);
    /* Calls the function with all entities that are destroyed together with this one, several at a time, dependents first. The
     * function may destroy them. */
    void (*each_dependent)(mica_world *world, void *state, mica_entity entity, micap_dependents_fn fn, void *context);
    /* What refuses to have the entity destroyed now, by name, or NULL. Not asked when it is destroyed with others or with the world. */
    const char *(*refuses)(mica_world *world, void *state, mica_entity entity);
    /* Entities were copied, or the copies are recorded: adds what the module has for the originals. False with a report on error. */
    bool (*copied)(mica_world *world, void *state, const mica_entity *from, const mica_entity *to, uint32_t count);
    /* The entity above this one, to which its events propagate; nil: none. */
    mica_entity (*parent)(const mica_world *world, const void *state, mica_entity entity);
    /* Makes an entity that has no name a root. Needs no memory. */
    void (*detach)(mica_world *world, void *state, mica_entity entity);
    /* The recorded creation of this entity is dropped: it was never alive. */
    void (*forgotten)(mica_world *world, void *state, mica_entity entity);
    /* Snapshots: copies the state that the module does not save in undo logs; NULL if memory is short. */
    void *(*save)(mica_world *world, void *state);
    void (*drop)(mica_world *world, void *state, void *saved);
    /* Allocates what loading needs, so that it can't fail. */
    bool (*prepare)(mica_world *world, void *state, const void *saved);
    /* Restores an entry of an undo log, then the copied state; NULL: the module was not in use. Entities are restored already. */
    void (*load_kept)(mica_world *world, void *state, const struct micap_undo_entry *kept);
    void (*load)(mica_world *world, void *state, const void *saved);
    /* Copies the module to another world, which has the same entities; false if memory is short. */
    bool (*clone)(mica_world *to, const void *state);
    /* Saves the current bytes of an entry that is about to be restored. */
    void (*keep_again)(mica_world *world, void *state, const struct micap_undo_entry *kept);
    /* Files: appends the state, which refers to things by name, to bytes; and makes of them what `save` returns, for `prepare`,
     * `load` and `drop`. NULL if the bytes are invalid or memory is short. */
    void (*write)(const mica_world *world, const void *state, struct micap_bytes *bytes);
    void *(*read)(mica_world *world, void *state, struct micap_reader *reader);
    /* Calls the function with the entities whose field has a value in a range (words: core/query/field_source.h), if the module can
     * find them: false if not. Nothing is left out, unless a pointer was written through that was lent before. */
    bool (*each_between)(mica_world *world, void *state, const micap_field_range *range, micap_found_fn fn,
                         void *context);
    /* Whether nothing has happened that a state from a file would overwrite. */
    bool (*is_unused)(const mica_world *world, const void *state);
} micap_module_ops;

typedef struct micap_module {
    void *state;
    const micap_module_ops *ops; /* NULL: not in use */
} micap_module;

/* Registers a module in its empty slot. The functions must outlive the world. */
void micap_module_set(mica_world *world, micap_module_id id, const micap_module_ops *ops, void *state);

/* Of the layer relation, which has no state: they are registered with the first relation that a world uses. */
extern const micap_module_ops micap_relation_ops;

/* Of the layer hierarchy: the edges of mica_child_of. */
extern const struct micap_edges_elsewhere micap_parent_edges;

/* The state of a module; NULL if this world does not use it. */
void *micap_module_state(const mica_world *world, micap_module_id id);

/* Called by a module: from now on `destroying` is called for every entity. */
void micap_modules_see_every_death(mica_world *world);

/* Called by the core: see the functions above. */
void micap_modules_destroying(mica_world *world, const mica_entity *entities, uint32_t count);
void micap_modules_each_dependent(mica_world *world, mica_entity entity, micap_dependents_fn fn, void *context);
const char *micap_modules_refuse(mica_world *world, mica_entity entity);
bool micap_modules_copied(mica_world *world, const mica_entity *from, const mica_entity *to, uint32_t count);
mica_entity micap_modules_parent(const mica_world *world, mica_entity entity);
bool micap_modules_each_between(mica_world *world, const micap_field_range *range, micap_found_fn fn, void *context);
void micap_modules_detach(mica_world *world, mica_entity entity);
void micap_modules_forgotten(mica_world *world, mica_entity entity);
uint64_t micap_modules_hash(const mica_world *world, bool with_flow);
bool micap_modules_validate(mica_world *world);
void micap_modules_trim(mica_world *world);
void micap_modules_free(mica_world *world);
void micap_modules_restore_entry(mica_world *world, const struct micap_undo_entry *kept);
void micap_modules_save_again(mica_world *world, const struct micap_undo_entry *kept);

#endif
