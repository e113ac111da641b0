/* Mica, batch: entities of several kinds created as one, in steps. What mica_create_many is for one set of components,
 * a batch is for a whole level: everything that can fail comes first, values can be completed once the handles are
 * known, and hooks see nothing before all is in place. Resources are spawned with it; so can be what you read yourself.
 *
 *     mica_batch_begin(world, groups, group_count, &batch);
 *     mica_batch_entities(batch, entities);
 *     for (mica_batch_run run = {.component = MICA_ID(Target)}; mica_batch_next(batch, &run);)
 *         aim(run.values, run.count, entities);
 *     mica_batch_commit(batch, NULL, 0);                     or mica_batch_cancel(batch): as if nothing had been
 *
 * Between begin and the end the world records, as it does in a hook: changes made meanwhile are applied at the end.
 */
#ifndef MICA_BATCH_H
#define MICA_BATCH_H

#include "mica/entity.h"

MICA_BEGIN

typedef struct mica_batch mica_batch;

/* `count` entities with the same components; columns as for mica_create_many, in chunks or in pools; those in pools whose rows
 * outlive their owner (`dying`) are refused, and added when the batch is over. They must live until the end. */
typedef struct mica_batch_group {
    uint32_t count;
    uint32_t column_count;
    const mica_value *columns;
    uint32_t period; /* columns have so many elements, which repeat; 0: `count` */
} mica_batch_group;

/* Entities of one group whose values lie one after the other. Set component and group to begin; the rest is filled in. */
typedef struct mica_batch_run {
    mica_component component;
    uint32_t group; /* with a NULL `entities`, the group to begin with; mica_batch_next goes on to later groups */
    uint32_t first; /* position of the first entity among those of the batch */
    uint32_t count;
    const mica_entity *entities;
    void *values;          /* NULL for a tag, and for a split component */
    uint32_t private_done; /* rows of the group that were handed out */
    uint32_t private_chunk;
    uint32_t private_row;
} mica_batch_run;

/* Creates the entities of all groups, filled but not yet announced to hooks. When it can't, the world is as it was and
 * the batch NULL. One batch at a time; refused while recording. Threads: owner. */
MICA_API mica_result mica_batch_begin(mica_world *world, const mica_batch_group *groups, uint32_t group_count,
                                      mica_batch **out_batch);

/* Fills `out_entities` with the handles of all groups, one after the other. Threads: owner. */
MICA_API void mica_batch_entities(mica_batch *batch, mica_entity *out_entities);

/* Steps to the next run of rows that have the component, to complete its values; false when there is none. A component
 * that is completed counts as set. Component 0 steps over every row. Threads: owner. */
MICA_API bool mica_batch_next(mica_batch *batch, mica_batch_run *run);

/* Ends the batch and calls the hooks: for the components of `order` one after the other, then for the others by rising
 * id. Then applies what was recorded meanwhile, and returns what became of that. Threads: owner. */
MICA_API mica_result mica_batch_commit(mica_batch *batch, const mica_component *order, uint32_t order_count);

/* Ends the batch and takes everything back; no hook hears of it. Threads: owner. */
MICA_API void mica_batch_cancel(mica_batch *batch);

MICA_END
#endif
