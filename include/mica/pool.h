/* Mica, pool: components in a packed table of their own, next to the chunks.
 *
 *     MICA_POOL(Burning, seconds_left)                  instead of MICA_COMPONENT; nothing else in the program changes
 *
 * A pool component does not affect the archetype of an entity, so adding and removing it is cheap. Get, set, add, remove,
 * queries, references, hooks, toggles and recorded changes work as for any component. In a query, rows that are contiguous in
 * everything the query reads form one view; other rows form views of one row.
 *
 * This header contains what only pools can do: direct access to the arrays, instance handles, many instances per entity.
 *
 *     mica_pool *pool = mica_pool_of(world, PointMass);
 *     float *x = mica_pool_write_field(pool, PointMass, position.x);
 *     const float *vx = mica_pool_read_field(pool, PointMass, velocity.x);
 *     for (uint32_t i = 0; i < mica_pool_row_count(pool); ++i)
 *         x[i] += vx[i] * dt;
 *
 *     mica_instance mass = mica_pool_find(pool, ship);             look up once,
 *     if (!mica_instance_is_nil(mass))
 *         mica_instance_write(pool, mass, PointMass)->mass = 2;    read and write many fields
 *
 * With .many = true an entity can have several instances: mica_pool_add adds one, mica_pool_find returns the first and
 * mica_pool_next the next, in the order they were added. mica_get and mica_set access the first, mica_remove removes all, and
 * mica_disable disables all, including those added later. Queries show each entity once, with its first instance; a query made
 * with MICA_QUERY_INSTANCES shows every instance.
 *
 * Two differences from chunks: use mica_pool_sort instead of mica_query_sort_rows; and if rows are removed at the flush or lazily
 * (.dying), remove hooks run then, not when the entity is destroyed.
 */
#ifndef MICA_POOL_H
#define MICA_POOL_H

#include "mica/query.h"
#include "mica/split.h"

MICA_BEGIN

typedef struct mica_pool mica_pool;

/* A row of a pool, by value. All zero is nil. Valid until rows are added to, removed from or sorted in this pool; checked builds
 * stop the program if it is used later. */
typedef struct mica_instance {
    uint32_t private_row; /* starts at 1 */
    uint32_t private_stamp;
} mica_instance;

/* Returns whether the instance is nil. Threads: any. */
static inline bool mica_instance_is_nil(mica_instance instance)
{
    return instance.private_row == 0;
}

/* Returns the world's pool of a component. Valid as long as the world. Returns NULL with a report if it is not a pool component,
 * or memory runs out. Threads: owner for the first use, then reader. */
MICA_API mica_pool *mica_pool_of_id(mica_world *world, mica_component component);

/* Returns the length of the arrays. With MICA_INDEX_DIRECT some rows have no owner (nil). Rows of destroyed entities can remain
 * for a while if they are removed at the flush or lazily. Threads: reader. */
MICA_API uint32_t mica_pool_row_count(const mica_pool *pool);

/* Returns the number of instances of living entities. Threads: reader. */
MICA_API uint32_t mica_pool_count(const mica_pool *pool);

/* Returns the owner of each row; NULL for a pool tag. Arrays are valid until rows are added or removed. Threads: reader. */
MICA_API const mica_entity *mica_pool_owners(const mica_pool *pool);

/* Returns the array of values for reading; NULL with a report for a split component or a tag. Threads: reader. */
MICA_API const void *mica_pool_read_id(const mica_pool *pool);

/* Like above, for writing: marks all rows as changed. Threads: owner. */
MICA_API void *mica_pool_write_id(mica_pool *pool);

/* Returns the array of one field of a split component, by its offset; NULL with a report if there is none.
 * Threads: reader. */
MICA_API const void *mica_pool_read_field_id(const mica_pool *pool, size_t offset);

/* Like above, for writing: marks the field as changed in all rows. Threads: owner. */
MICA_API void *mica_pool_write_field_id(mica_pool *pool, size_t offset);

/* Finds the (first) instance of an entity, or returns nil. Threads: reader. */
MICA_API mica_instance mica_pool_find(const mica_pool *pool, mica_entity entity);

/* Returns the next instance of the same entity, or nil. Threads: reader. */
MICA_API mica_instance mica_pool_next(const mica_pool *pool, mica_instance instance);

/* Returns the owner of an instance. Threads: reader. */
MICA_API mica_entity mica_pool_owner(const mica_pool *pool, mica_instance instance);

/* Adds an instance with the default value, after those that the entity has. Returns nil with a report if the entity has one and
 * the pool is not .many, if the entity is not alive, if memory runs out, and while recording (use mica_add_instance).
 * Threads: owner. */
MICA_API mica_instance mica_pool_add(mica_pool *pool, mica_entity entity);

/* Adds an instance with the default value, after those that the entity has, and returns its value. While recording, records it and
 * returns the staged value, which can be written until the flush. The component must be a pool with .many. The pointer of a
 * split component must not be dereferenced. Returns NULL with a report on error. Threads: owner. */
MICA_API void *mica_add_instance_id(mica_world *world, mica_entity entity, mica_component component);

/* Removes one instance; the others keep their order. While recording, records the position of the instance among those of its entity
 * (so a hook that a flush runs must not do this for an entity of which the same flush removes instances later), and the flush removes
 * it. Returns false for nil, or if it is recorded already. Threads: owner. */
MICA_API bool mica_pool_remove(mica_pool *pool, mica_instance instance);

/* Returns the value of an instance, or one field of it, for reading. Returns NULL for nil, and NULL with a report if there is no
 * such array. Threads: reader. */
MICA_API const void *mica_instance_read_id(const mica_pool *pool, mica_instance instance);
MICA_API const void *mica_instance_read_field_id(const mica_pool *pool, mica_instance instance, size_t offset);

/* Like above, for writing. Threads: owner. */
MICA_API void *mica_instance_write_id(mica_pool *pool, mica_instance instance);
MICA_API void *mica_instance_write_field_id(mica_pool *pool, mica_instance instance, size_t offset);

/* Samples random rows and removes those of destroyed entities, including dead neighbours. Stops after four consecutive samples of living
 * rows, or when `budget` rows were sampled. Costs four probes if there is nothing to remove. A block of dead rows is removed in one call;
 * scattered ones can take many calls (mica_pool_sweep finds all). Returns how many rows were removed; 0 while recording. The random
 * numbers depend on the world's seed. Threads: owner. */
MICA_API uint32_t mica_pool_gc(mica_pool *pool, uint32_t budget);

/* Removes all rows of destroyed entities. Returns how many; 0 while recording. Threads: owner. */
MICA_API uint32_t mica_pool_sweep(mica_pool *pool);

/* Sorts the rows. The sort is stable. In a group, the shared rows are sorted first, then the others. Rejected for a direct index
 * (rows are in entity order) and while recording. Threads: owner. */
MICA_API mica_result mica_pool_sort(mica_pool *pool, mica_compare_fn compare, void *context);

enum { MICA_GROUP_POOLS_MAX = 8 };

/* Keeps pools in the same order from now on: in each, the entities that have all of these components come first, row by row,
 * so that a query for them iterates plain arrays. A pool can be in one group; pools with a direct index or .many cannot.
 * Rejected while recording. Threads: owner. */
MICA_API mica_result mica_group_id(mica_world *world, const mica_component *components, uint32_t count);

typedef struct mica_pool_stats {
    uint32_t row_count;
    uint32_t row_capacity;
    uint32_t group_count;   /* rows at the front that are shared with the other pools of the group */
    uint64_t probe_count;   /* rows sampled by mica_pool_gc so far */
    uint64_t removed_count; /* rows removed by mica_pool_gc so far */
    size_t memory_bytes;
} mica_pool_stats;

/* Returns statistics about the pool. Threads: reader. */
MICA_API mica_pool_stats mica_pool_get_stats(const mica_pool *pool);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_add_instance_id(...) MICA_AT_(mica_add_instance_id(__VA_ARGS__))
#    define mica_pool_of_id(world, ...) mica_pool_of_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_pool_row_count(pool) mica_pool_row_count(MICA_AT_(pool))
#    define mica_pool_count(pool) mica_pool_count(MICA_AT_(pool))
#    define mica_pool_owners(pool) mica_pool_owners(MICA_AT_(pool))
#    define mica_pool_read_id(pool) mica_pool_read_id(MICA_AT_(pool))
#    define mica_pool_write_id(pool) mica_pool_write_id(MICA_AT_(pool))
#    define mica_pool_read_field_id(pool, ...) mica_pool_read_field_id(MICA_AT_(pool), __VA_ARGS__)
#    define mica_pool_write_field_id(pool, ...) mica_pool_write_field_id(MICA_AT_(pool), __VA_ARGS__)
#    define mica_pool_find(pool, ...) mica_pool_find(MICA_AT_(pool), __VA_ARGS__)
#    define mica_pool_next(pool, ...) mica_pool_next(MICA_AT_(pool), __VA_ARGS__)
#    define mica_pool_owner(pool, ...) mica_pool_owner(MICA_AT_(pool), __VA_ARGS__)
#    define mica_pool_add(pool, ...) mica_pool_add(MICA_AT_(pool), __VA_ARGS__)
#    define mica_pool_remove(pool, ...) mica_pool_remove(MICA_AT_(pool), __VA_ARGS__)
#    define mica_instance_read_id(pool, ...) mica_instance_read_id(MICA_AT_(pool), __VA_ARGS__)
#    define mica_instance_read_field_id(pool, ...) mica_instance_read_field_id(MICA_AT_(pool), __VA_ARGS__)
#    define mica_instance_write_id(pool, ...) mica_instance_write_id(MICA_AT_(pool), __VA_ARGS__)
#    define mica_instance_write_field_id(pool, ...) mica_instance_write_field_id(MICA_AT_(pool), __VA_ARGS__)
#    define mica_pool_gc(pool, ...) mica_pool_gc(MICA_AT_(pool), __VA_ARGS__)
#    define mica_pool_sweep(pool) mica_pool_sweep(MICA_AT_(pool))
#    define mica_pool_sort(pool, ...) mica_pool_sort(MICA_AT_(pool), __VA_ARGS__)
#    define mica_group_id(world, ...) mica_group_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_pool_get_stats(pool) mica_pool_get_stats(MICA_AT_(pool))
#endif

#define mica_pool_of(world, T) mica_pool_of_id((world), MICA_ID(T))
#define mica_add_instance(world, entity, T) ((T *)mica_add_instance_id((world), (entity), MICA_ID(T)))
#define mica_pool_read(pool, T) ((const T *)mica_pool_read_id(pool))
#define mica_pool_write(pool, T) ((T *)mica_pool_write_id(pool))
#define mica_pool_read_field(pool, T, field)                                                                           \
    ((const MICA_TYPEOF_(((T *)0)->field) *)mica_pool_read_field_id((pool), offsetof(T, field)))
#define mica_pool_write_field(pool, T, field)                                                                          \
    ((MICA_TYPEOF_(((T *)0)->field) *)mica_pool_write_field_id((pool), offsetof(T, field)))
#define mica_instance_read(pool, instance, T) ((const T *)mica_instance_read_id((pool), (instance)))
#define mica_instance_write(pool, instance, T) ((T *)mica_instance_write_id((pool), (instance)))
#define mica_instance_read_field(pool, instance, T, field)                                                             \
    ((const MICA_TYPEOF_(((T *)0)->field) *)mica_instance_read_field_id((pool), (instance), offsetof(T, field)))
#define mica_instance_write_field(pool, instance, T, field)                                                            \
    ((MICA_TYPEOF_(((T *)0)->field) *)mica_instance_write_field_id((pool), (instance), offsetof(T, field)))
#define mica_group(world, ...)                                                                                         \
    mica_group_id((world), (const mica_component[]){MICA_FOR_EACH_(MICA_GROUP_ID_, , __VA_ARGS__)},                    \
                  (uint32_t)(sizeof((const mica_component[]){MICA_FOR_EACH_(MICA_GROUP_ID_, , __VA_ARGS__)}) /         \
                             sizeof(mica_component)))
#define MICA_GROUP_ID_(unused, T) MICA_ID(T),

#endif
