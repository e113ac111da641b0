/* Mica, bulk: operations on many entities in one call, column by column. Each call succeeds completely or changes nothing. While the
 * world records, as in systems, they record one change for each entity that matches at the call. If memory runs out meanwhile, the
 * changes recorded so far are kept.
 *
 *     Position where[1000];
 *     mica_entity crowd[1000];
 *     mica_create_many(world, 1000, (mica_value[]){MICA_COLUMN(Position, where), MICA_WITH(Speed, {1.5f}), MICA_WITH(Walking)}, 3, crowd);
 *     mica_add_all_tag(wounded, Fleeing);                    to every entity that the query `wounded` matches
 *     mica_destroy_many(world, crowd, 1000);
 */
#ifndef MICA_BULK_H
#define MICA_BULK_H

#include "mica/entity.h"
#include "mica/query.h"

MICA_BEGIN

/* Creates `count` entities with these components. The data of MICA_COLUMN is an array of `count` elements that becomes a column. All
 * entities get copies of the one value of MICA_WITH; NULL means the default value for all. `out_entities` may be NULL.
 * Threads: owner, or a system. */
MICA_API mica_result mica_create_many(mica_world *world, uint32_t count, const mica_value *columns,
                                      uint32_t column_count, mica_entity *out_entities);

/* Destroys entities. Skips stale handles and duplicates. Returns how many were destroyed. Threads: owner, or a system. */
MICA_API uint32_t mica_destroy_many(mica_world *world, const mica_entity *entities, uint32_t count);

/* Looks up one component of many entities, with prefetching. Writes NULL for entities that are not alive or do not have it.
 * Returns how many were found. Threads: reader. */
MICA_API uint32_t mica_get_many_id(const mica_world *world, const mica_entity *entities, uint32_t count,
                                   mica_component component, const void **out_pointers);

/* Adds a component to every entity that the query matches and that does not have it. All get the same value; NULL data means
 * the default. Threads: owner, or a system that may iterate the query. */
MICA_API mica_result mica_add_all_id(mica_query *query, mica_value value);

/* Removes a component from every entity that the query matches. Threads: as above. */
MICA_API mica_result mica_remove_all_id(mica_query *query, mica_component component);

/* Destroys every entity that the query matches. Threads: as above. */
MICA_API mica_result mica_destroy_all(mica_query *query);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_create_many(world, ...) mica_create_many(MICA_AT_(world), __VA_ARGS__)
#    define mica_destroy_many(world, ...) mica_destroy_many(MICA_AT_(world), __VA_ARGS__)
#    define mica_get_many_id(world, ...) mica_get_many_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_add_all_id(query, ...) mica_add_all_id(MICA_AT_(query), __VA_ARGS__)
#    define mica_remove_all_id(query, ...) mica_remove_all_id(MICA_AT_(query), __VA_ARGS__)
#    define mica_destroy_all(query) mica_destroy_all(MICA_AT_(query))
#endif

/* A column of values for mica_create_many: an array of `count` T. */
#define MICA_COLUMN MICA_FROM

#define mica_get_many(world, entities, count, T, out_pointers)                                                         \
    mica_get_many_id((world), (entities), (count), MICA_ID(T), (const void **)(out_pointers))
#define mica_add_all(query, T, ...) mica_add_all_id((query), MICA_VALUE_(T, __VA_ARGS__))
#define mica_add_all_from(query, T, pointer) mica_add_all_id((query), (mica_value)MICA_FROM(T, pointer))
#define mica_add_all_tag(query, T) mica_add_all_id((query), (mica_value)MICA_WITH_1(T))
#define mica_remove_all(query, T) mica_remove_all_id((query), MICA_ID(T))

#endif
