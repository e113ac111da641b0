/* Mica, batch: create entities of several archetypes in one transaction. mica_create_many handles one set of components; a
 * batch handles a whole level. All errors are found first, values can be completed once the handles are known, and hooks run
 * only when everything is in place. Resources are spawned with it.
 *
 *     mica_batch_begin(world, groups, group_count, &batch);
 *     mica_batch_entities(batch, entities);
 *     for (mica_batch_run run = {.component = MICA_ID(Target)}; mica_batch_next(batch, &run);)
 *         aim(run.values, run.count, entities);
 *     mica_batch_commit(batch, NULL, 0);                     or mica_batch_cancel(batch), which undoes it
 *
 * Between begin and commit the world records, as inside a hook: changes made meanwhile are applied at the end.
 */
#ifndef MICA_BATCH_H
#define MICA_BATCH_H

#include "mica/entity.h"

MICA_BEGIN

typedef struct mica_batch mica_batch;

/* `count` entities with the same components. Columns as for mica_create_many. Pool components whose rows outlive their owner
 * (`dying`) are rejected: add them after the commit. The arrays must stay valid until the end of the batch. */
typedef struct mica_batch_group {
    uint32_t count;
    uint32_t column_count;
    const mica_value *columns;
    uint32_t period; /* length of the columns, which repeat; 0: `count` */
} mica_batch_group;

/* Rows of one group with contiguous values. Set component and group to start; the rest is filled in. */
typedef struct mica_batch_run {
    mica_component component;
    uint32_t group; /* the group to start with while `entities` is NULL; mica_batch_next continues with later groups */
    uint32_t first; /* position of the first entity within the batch */
    uint32_t count;
    const mica_entity *entities;
    void *values;          /* NULL for a tag, and for a split component */
    uint32_t private_done; /* rows of the group visited so far */
    uint32_t private_chunk;
    uint32_t private_row;
} mica_batch_run;

/* Returns whether changes of the world are recorded now: in systems, in hooks and observers, and after mica_defer. What can't be recorded,
 * such as a batch, is rejected then. Threads: reader. */
MICA_API bool mica_is_deferred(const mica_world *world);

/* Creates the entities of all groups; hooks do not run yet. On error the world is unchanged and the batch is NULL. Only one
 * batch at a time; rejected while recording. Threads: owner. */
MICA_API mica_result mica_batch_begin(mica_world *world, const mica_batch_group *groups, uint32_t group_count,
                                      mica_batch **out_batch);

/* Writes the handles of all groups to `out_entities`, group after group. Threads: owner. */
MICA_API void mica_batch_entities(mica_batch *batch, mica_entity *out_entities);

/* Advances to the next run of rows that have the component, so that their values can be completed; false at the end. The
 * component then counts as set. Component 0 visits every row. Threads: owner. */
MICA_API bool mica_batch_next(mica_batch *batch, mica_batch_run *run);

/* Ends the batch and runs the hooks: first for the components in `order`, in that order, then for the others by ascending id.
 * Then applies what was recorded meanwhile and returns the result of that. Threads: owner. */
MICA_API mica_result mica_batch_commit(mica_batch *batch, const mica_component *order, uint32_t order_count);

/* Ends the batch and removes everything it created. Hooks do not run. This and the function above are refused with a report inside a hook
 * of the batch. Threads: owner. */
MICA_API void mica_batch_cancel(mica_batch *batch);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_is_deferred(world) mica_is_deferred(MICA_AT_(world))
#    define mica_batch_begin(world, ...) mica_batch_begin(MICA_AT_(world), __VA_ARGS__)
#    define mica_batch_entities(batch, ...) mica_batch_entities(MICA_AT_(batch), __VA_ARGS__)
#    define mica_batch_next(batch, ...) mica_batch_next(MICA_AT_(batch), __VA_ARGS__)
#    define mica_batch_commit(batch, ...) mica_batch_commit(MICA_AT_(batch), __VA_ARGS__)
#    define mica_batch_cancel(batch) mica_batch_cancel(MICA_AT_(batch))
#endif
#endif
