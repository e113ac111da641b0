/* Mica, pool: components in a packed table of their own, beside the chunks.
 *
 *     MICA_POOL(Burning, seconds_left)                  instead of MICA_COMPONENT: nothing else in the program changes
 *
 * A pool component never changes an entity's archetype. It is cheap to add and remove, and few or many entities may have
 * it. Get, set, add, remove, queries, references, hooks, toggles and recorded changes work as for any component; in a
 * query, rows that lie one after the other in everything the query reads come as one view, others one by one.
 *
 * This header is for what only pools can do: use the arrays directly, hold on to a row, have many instances.
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
 * Many instances per entity (.many = true): mica_pool_add adds one more, mica_pool_find gives the first and mica_pool_next
 * the next, in the order they were added; mica_get and mica_set are about the first, mica_remove takes all, and mica_disable
 * switches all: one that is added later joins them. Queries show an entity once, with its first instance, unless they are made
 * with MICA_QUERY_INSTANCES.
 *
 * Two things are not as in chunks: mica_query_sort_rows gives way to mica_pool_sort, and rows that die at the flush or lazily are
 * told to remove hooks and lists when they go, not when their entity dies.
 */
#ifndef MICA_POOL_H
#define MICA_POOL_H

#include "mica/query.h"
#include "mica/split.h"

MICA_BEGIN

typedef struct mica_pool mica_pool;

/* A row of a pool, by value. All zero is nil. It is good until rows are added to or removed from this pool, or sorted;
 * checked builds stop the program when it is used after that. */
typedef struct mica_instance {
    uint32_t private_row; /* from 1 on */
    uint32_t private_stamp;
} mica_instance;

/* Returns whether the instance is nil: there was none to be found. Threads: any. */
static inline bool mica_instance_is_nil(mica_instance instance)
{
    return instance.private_row == 0;
}

/* Returns the world's pool of a component, which lives as long as the world; NULL with a report when it is no pool
 * component, or memory is short. Threads: owner on first use, reader later. */
MICA_API mica_pool *mica_pool_of_id(mica_world *world, mica_component component);

/* Returns how many rows the arrays have. With MICA_INDEX_DIRECT some belong to nobody (their owner is nil), and rows of
 * the dead stay for a while when they die at the flush or lazily. Threads: reader. */
MICA_API uint32_t mica_pool_row_count(const mica_pool *pool);

/* Returns how many instances living entities have. Threads: reader. */
MICA_API uint32_t mica_pool_count(const mica_pool *pool);

/* Returns the owner of each row; NULL for a pool tag. The arrays live until rows are added or removed. Threads: reader. */
MICA_API const mica_entity *mica_pool_owners(const mica_pool *pool);

/* Returns the array of values to look at; NULL with a report for a split component or a tag. Threads: reader. */
MICA_API const void *mica_pool_read_id(const mica_pool *pool);

/* As above, to be changed: all rows count as changed. Threads: owner. */
MICA_API void *mica_pool_write_id(mica_pool *pool);

/* Returns the array of one field of a split component, by its offset; NULL with a report when there is none.
 * Threads: reader. */
MICA_API const void *mica_pool_read_field_id(const mica_pool *pool, size_t offset);

/* As above, to be changed: all rows of the field count as changed. Threads: owner. */
MICA_API void *mica_pool_write_field_id(mica_pool *pool, size_t offset);

/* Returns the (first) instance of an entity, or nil. Threads: reader. */
MICA_API mica_instance mica_pool_find(const mica_pool *pool, mica_entity entity);

/* Returns the next instance of the same entity, or nil. Threads: reader. */
MICA_API mica_instance mica_pool_next(const mica_pool *pool, mica_instance instance);

/* Returns whose instance it is. Threads: reader. */
MICA_API mica_entity mica_pool_owner(const mica_pool *pool, mica_instance instance);

/* Adds an instance with the default value, behind those the entity has; nil with a report when it has one already and the
 * pool is not for many, when the entity is dead or memory is short, and while changes are recorded, where
 * mica_command_add_instance does it. Threads: owner. */
MICA_API mica_instance mica_pool_add(mica_pool *pool, mica_entity entity);

/* Removes one instance; the others keep their order. False with a report while changes are recorded.
 * Threads: owner. */
MICA_API bool mica_pool_remove(mica_pool *pool, mica_instance instance);

/* Returns the value of an instance to look at, or of one field of it; NULL for nil, and with a report where there is no
 * such array. Threads: reader. */
MICA_API const void *mica_instance_read_id(const mica_pool *pool, mica_instance instance);
MICA_API const void *mica_instance_read_field_id(const mica_pool *pool, mica_instance instance, size_t offset);

/* As above, to be changed. Threads: owner. */
MICA_API void *mica_instance_write_id(mica_pool *pool, mica_instance instance);
MICA_API void *mica_instance_write_field_id(mica_pool *pool, mica_instance instance, size_t offset);

/* Looks at random rows and removes those of the dead, with the dead among their neighbours, until four random ones in a row
 * live or `budget` rows were looked at: four, when nobody died. Those who died together go in one call; the last of many who
 * died by chance may take long, and mica_pool_sweep finds them all. Returns how many rows it removed; 0 while changes are
 * recorded. The random numbers come from the world's seed, so that runs repeat. Threads: owner. */
MICA_API uint32_t mica_pool_gc(mica_pool *pool, uint32_t budget);

/* Removes all rows of the dead. Returns how many; 0 while changes are recorded. Threads: owner. */
MICA_API uint32_t mica_pool_sweep(mica_pool *pool);

/* Sorts the rows, stable; in a group, the rows that all have, and then the others by themselves. Refused with a direct index
 * (whose order is that of the entities) and while changes are recorded. Threads: owner. */
MICA_API mica_result mica_pool_sort(mica_pool *pool, mica_compare_fn compare, void *context);

enum { MICA_GROUP_POOLS_MAX = 8 };

/* Keeps pools in the same order from now on: the entities that have all of these components come first in each, row by
 * row, so that a query for them walks plain arrays. A pool can be in one group; a direct index or many instances can't.
 * Refused while changes are recorded. Threads: owner. */
MICA_API mica_result mica_group_id(mica_world *world, const mica_component *components, uint32_t count);

typedef struct mica_pool_stats {
    uint32_t row_count;
    uint32_t row_capacity;
    uint32_t group_count;   /* rows at the front that are in step with the other pools of the group */
    uint64_t probe_count;   /* rows that mica_pool_gc looked at so far */
    uint64_t removed_count; /* and those it removed */
    size_t memory_bytes;
} mica_pool_stats;

/* Returns what the pool holds. Threads: reader. */
MICA_API mica_pool_stats mica_pool_get_stats(const mica_pool *pool);

MICA_END

#define mica_pool_of(world, T) mica_pool_of_id((world), MICA_ID(T))
#define mica_pool_read(pool, T) ((const T *)mica_pool_read_id(pool))
#define mica_pool_write(pool, T) ((T *)mica_pool_write_id(pool))
#define mica_pool_read_field(pool, T, field)                                                                           \
    ((const MICA_FIELD_TYPE_(T, field) *)mica_pool_read_field_id((pool), offsetof(T, field)))
#define mica_pool_write_field(pool, T, field)                                                                          \
    ((MICA_FIELD_TYPE_(T, field) *)mica_pool_write_field_id((pool), offsetof(T, field)))
#define mica_instance_read(pool, instance, T) ((const T *)mica_instance_read_id((pool), (instance)))
#define mica_instance_write(pool, instance, T) ((T *)mica_instance_write_id((pool), (instance)))
#define mica_instance_read_field(pool, instance, T, field)                                                             \
    ((const MICA_FIELD_TYPE_(T, field) *)mica_instance_read_field_id((pool), (instance), offsetof(T, field)))
#define mica_instance_write_field(pool, instance, T, field)                                                            \
    ((MICA_FIELD_TYPE_(T, field) *)mica_instance_write_field_id((pool), (instance), offsetof(T, field)))
#define mica_group(world, ...)                                                                                         \
    mica_group_id((world),                                                                                     \
                          (const mica_component[]){MICA_FOR_EACH_(MICA_GROUP_ID_, , __VA_ARGS__)},                     \
                          MICA_COUNT_(__VA_ARGS__))
#define MICA_GROUP_ID_(unused, T) MICA_ID(T),

#endif
