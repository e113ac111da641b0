/* Mica, rule: how the values of a component are written to files and deltas, and made from them again.
 *
 *     mica_resource_rule rule = {.component = MICA_ID(Mesh), .recipe = &mica_type_of_MeshRecipe, .spawn = spawn_mesh, .save = save_mesh};
 *     mica_save(world, "quick.mica", &(mica_save_def){.rules = &rule, .rule_count = 1});
 *     mica_sender_create(world, &(mica_sender_def){.rules = &rule, .rule_count = 1});
 *
 * A recipe is a struct with described fields (MICA_STRUCT), which the save function fills from a value of the component, and from which the
 * spawn function makes one. Used by mica/resource.h, mica/saver.h and mica/delta.h.
 */
#ifndef MICA_RULE_H
#define MICA_RULE_H

#include "mica/describe.h"
#include "mica/handle.h"
#include "mica/world.h"

MICA_BEGIN

/* Of values in files and deltas. Readers convert them. */
typedef enum mica_byte_order {
    MICA_BYTE_ORDER_NATIVE = 0,
    MICA_BYTE_ORDER_LITTLE,
    MICA_BYTE_ORDER_BIG,
} mica_byte_order;

/* Instances that are being spawned: contiguous rows. */
typedef struct mica_spawn_run {
    mica_world *world;
    mica_component component;
    uint32_t count;
    const mica_entity *entities; /* the owners */
    const void *instances;       /* from the file, in the layout of the recipe; entity fields are already handles */
    void *values;                /* of the component, initially default values, to be filled in; NULL for a tag */
} mica_spawn_run;

/* Fills in values; structural changes are recorded. If it returns false, the whole spawn is undone. For a delta, the
 * entities may not exist yet, and the function must not change the world. */
typedef bool (*mica_spawn_fn)(const mica_spawn_run *run, void *context);

/* Fills `out_instance`, initially zero, from a value. If it returns false, saving fails. */
typedef bool (*mica_save_fn)(const mica_world *world, mica_entity entity, const void *value, void *out_instance,
                             void *context);

/* How a component is spawned and saved if the description of its fields is not enough, for example because it owns something.
 * Needed for each component with destruct, copy or move functions, or without described fields, by files and deltas; by deltas also with a
 * construct function. A rule without functions saves and sends only the described fields. Components with text and lists need none. */
typedef struct mica_resource_rule {
    mica_component component;
    int32_t spawn_order;     /* components with lower values are spawned first; saved in the file */
    const mica_type *recipe; /* layout of the instances in the file; NULL: the described fields */
    mica_spawn_fn spawn;     /* NULL: copies the described fields over a default value */
    mica_save_fn save;       /* NULL: the described fields */
    void *context;
} mica_resource_rule;

MICA_END
#endif
