/* Mica, relation: typed edges from entity to entity.
 *
 *     MICA_RELATION(Likes)                                        no data
 *     typedef struct Distance { float meters; } Distance;
 *     MICA_RELATION(Distance, meters)                             fields on the edge
 *     MICA_RELATION_WITH(DockedTo, (.exclusive = true, .on_target = MICA_TARGET_REMOVE), since)
 *
 *     mica_relate(world, alice, Likes, bob);
 *     mica_relate(world, paris, Distance, rome)->meters = 1.1e6f;
 *     if (mica_is_related(world, alice, Likes, bob)) ...
 *     for (mica_edges at = mica_targets(world, alice, Likes); mica_edge_next(&at);)
 *         greet(at.entity);                                       in the order in which they were related
 *     for (mica_edges at = mica_sources(world, rome, Distance); mica_edge_next(&at);)
 *         printf("%g\n", ((const Distance *)at.fields)->meters);
 *     mica_unrelate(world, alice, Likes, bob);
 *
 * All edges of a relation are rows of one table, a pool: relating creates no archetype, moves no row of a component and invalidates no
 * pointer to one. Finding an edge, and each step of an iteration over targets or sources, takes constant time.
 *
 * Traits, given to MICA_RELATION_WITH:
 *     .exclusive    a source has at most one target; relating it to another one replaces the edge
 *     .symmetric    an edge counts in both directions and is stored once; targets and sources are the same entities
 *     .acyclic      an edge that would close a circle is refused
 *     .transitive   mica_is_related follows edges to edges; what follows from others is computed, not stored
 *     .ordered      mica_place_source changes the order of the sources of a target
 *     .on_target    what happens to an edge when its target is destroyed: see mica_target_policy
 * When a source is destroyed its edges are removed.
 *
 * Edges are values of a component that the source has: hooks and observers of the relation see ADD, SET and REMOVE, with the target in
 * event->target; queries can ask for entities with MICA_HAS(Likes) and MICA_WITHOUT(Likes); mica_has and mica_remove work.
 * Functions that would add a value without a target, such as mica_add, are refused.
 *
 * While the world records (mica/command.h), edges are recorded too, and functions that read see the edges without them. A flush applies
 * recorded edges in call order after all other changes. Edges of entities that the same flush destroys are dropped.
 */
#ifndef MICA_RELATION_H
#define MICA_RELATION_H

#include "mica/command.h"
#include "mica/pool.h"

MICA_BEGIN

/* Relates two entities and returns the fields of the edge, with their default values; those of the edge if there is one already. While
 * recording, returns staged fields, which can be written until the flush. The pointer of a relation without fields must not be
 * dereferenced. Valid until edges of this relation are added or removed. Returns NULL with a report if one of them is not alive, if they
 * are the same, if the edge would close a circle of an acyclic relation, or if memory runs out. Threads: owner. */
MICA_API void *mica_relate_id(mica_world *world, mica_entity source, mica_component relation, mica_entity target);

/* The same with values for the fields, also of an edge that exists. Calls SET hooks. Returns false on error. Threads: owner. */
MICA_API bool mica_relate_with_id(mica_world *world, mica_entity source, mica_value fields, mica_entity target);

/* Relates `count` pairs in order. Returns how many: fewer than `count` if one is refused, which is reported. Threads: owner. */
MICA_API uint32_t mica_relate_many_id(mica_world *world, mica_component relation, const mica_entity *sources,
                                      const mica_entity *targets, uint32_t count);

/* Removes an edge. Returns false if there is none; while recording, true. Threads: owner. */
MICA_API bool mica_unrelate_id(mica_world *world, mica_entity source, mica_component relation, mica_entity target);

/* Removes the edges from an entity to all its targets, or to an entity from all its sources. Returns how many; while recording, how many
 * there are now. Threads: owner. */
MICA_API uint32_t mica_unrelate_targets_id(mica_world *world, mica_entity source, mica_component relation);
MICA_API uint32_t mica_unrelate_sources_id(mica_world *world, mica_entity target, mica_component relation);

/* Returns whether there is an edge; of a transitive relation, whether edges lead from the source to the target. Threads: reader. */
MICA_API bool mica_is_related_id(const mica_world *world, mica_entity source, mica_component relation,
                                 mica_entity target);

/* Returns the fields of an edge, to read, or NULL if there is none. Valid until edges of this relation are added or removed.
 * Threads: reader. */
MICA_API const void *mica_edge_get_id(const mica_world *world, mica_entity source, mica_component relation,
                                      mica_entity target);

/* The same, to write. Threads: owner. */
MICA_API void *mica_edge_write_id(mica_world *world, mica_entity source, mica_component relation, mica_entity target);

/* Returns the target of an exclusive relation, of others the first one; nil if there is none. With MICA_TARGET_KEEP it may be destroyed.
 * Threads: reader. */
MICA_API mica_entity mica_target_id(const mica_world *world, mica_entity source, mica_component relation);

/* Return the number of edges. Threads: reader. */
MICA_API uint32_t mica_target_count_id(const mica_world *world, mica_entity source, mica_component relation);
MICA_API uint32_t mica_source_count_id(const mica_world *world, mica_entity target, mica_component relation);

/* An iteration over edges. Ends, with a report, if edges of the relation are added or removed meanwhile.
 *
 * The private part is what the inline function below reads: the columns of the table that hold the other ends of the edges and the row of
 * the next edge. Rows count from 1, and addresses are those of row 0, which does not exist, so that 0 is the end of a list. */
typedef struct mica_edges {
    mica_entity entity; /* the target, or the source */
    const void *fields; /* of the edge, to read */
    struct {
        const mica_pool *pool;
        const uint32_t *now; /* the count of changes of the table, */
        uint32_t stamp;      /* and what it was when the iteration began */
        uint32_t row;        /* of the edge that is shown next */
        uintptr_t entities;
        uintptr_t next; /* rows that count from 0, shifted by: */
        uint32_t next_shift;
        uint32_t entity_bytes;
        uintptr_t values;
        uint32_t value_bytes;
        bool has_second; /* of a symmetric relation: the edges that are stored with this entity as the target follow */
        mica_entity center;
    } private_;
} mica_edges;

/* Begin to iterate over the edges of an entity in the order in which they were added. Of a symmetric relation both show all edges, first
 * those that were related from this entity. Threads: reader. */
MICA_API mica_edges mica_targets_id(const mica_world *world, mica_entity source, mica_component relation);
MICA_API mica_edges mica_sources_id(const mica_world *world, mica_entity target, mica_component relation);

/* Continues where a list of edges ends, for mica_edge_next: with the second list of a symmetric relation, or not at all, with a report, if
 * edges were added or removed since the stamp. Threads: reader. */
MICA_API mica_edges mica_edges_turn(const mica_pool *pool, mica_entity center, uint32_t stamp);

/* Shows the next edge. Returns false at the end. Threads: reader. */
static inline bool mica_edge_next(mica_edges *edges)
{
    if (MICA_EXPECT_(!edges, 0))
        return mica_edges_turn(NULL, mica_nil(), 0).private_.row != 0;
    bool is_end = !edges->private_.row;
    if (is_end || MICA_EXPECT_(*edges->private_.now != edges->private_.stamp, 0)) {
        edges->entity = mica_nil();
        edges->fields = NULL;
        if (is_end && !edges->private_.has_second)
            return false;
        *edges = mica_edges_turn(edges->private_.pool, edges->private_.center, edges->private_.stamp);
        if (!edges->private_.row)
            return false;
    }
    uintptr_t row = edges->private_.row;
    edges->entity = *(const mica_entity *)(edges->private_.entities + row * edges->private_.entity_bytes);
    edges->fields = (const void *)(edges->private_.values + row * edges->private_.value_bytes);
    edges->private_.row = *(const uint32_t *)(edges->private_.next + (row << edges->private_.next_shift)) + 1;
    return true;
}

/* Moves a source of a target before another source of it; before nil: to the end. Only for .ordered relations. Returns
 * MICA_ERROR_INVALID if they are not related to the target. While recording, the flush finds that out; MICA_ERROR_DEAD if one of them is
 * not alive or recorded to be destroyed. Threads: owner. */
MICA_API mica_result mica_place_source_id(mica_world *world, mica_entity source, mica_component relation,
                                          mica_entity target, mica_entity before);

/* For loaders: adds edges from whole values, as the description of the relation says: fields, target and rank. The edges of a source
 * come in the order of the list, after those it has; the sources of a target in the order of the ranks, those with rank 0 last. Edges
 * whose source or target is not alive, or that exist, are left out, except those to nil of a relation with MICA_TARGET_KEEP or between
 * mica_resume_begin and mica_resume_end. Rejected while recording. On error the edges before the one that is refused are added.
 * Threads: owner. */
MICA_API mica_result mica_load_edges_id(mica_world *world, mica_component relation, const mica_entity *sources,
                                        const void *values, uint32_t count);

/* Record an edge, with staged fields that can be written until the flush, or its removal. Return NULL or false if the arguments are
 * invalid at record time. Threads: one per buffer, any. */
MICA_API void *mica_command_relate_id(mica_commands *commands, mica_entity source, mica_component relation,
                                      mica_entity target, mica_location location);
MICA_API bool mica_command_unrelate_id(mica_commands *commands, mica_entity source, mica_component relation,
                                       mica_entity target, mica_location location);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_relate_id(world, ...) mica_relate_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_relate_with_id(world, ...) mica_relate_with_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_relate_many_id(world, ...) mica_relate_many_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_unrelate_id(world, ...) mica_unrelate_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_unrelate_targets_id(world, ...) mica_unrelate_targets_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_unrelate_sources_id(world, ...) mica_unrelate_sources_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_is_related_id(world, ...) mica_is_related_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_edge_get_id(world, ...) mica_edge_get_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_edge_write_id(world, ...) mica_edge_write_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_target_id(world, ...) mica_target_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_target_count_id(world, ...) mica_target_count_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_source_count_id(world, ...) mica_source_count_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_targets_id(world, ...) mica_targets_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_sources_id(world, ...) mica_sources_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_edges_turn(pool, ...) mica_edges_turn(MICA_AT_(pool), __VA_ARGS__)
#    define mica_edge_next(edges) mica_edge_next(MICA_AT_(edges))
#    define mica_load_edges_id(world, ...) mica_load_edges_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_place_source_id(world, ...) mica_place_source_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_command_relate_id(commands, ...) mica_command_relate_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_unrelate_id(commands, ...) mica_command_unrelate_id(MICA_AT_(commands), __VA_ARGS__)
#endif

/* MICA_RELATION(T) or MICA_RELATION(T, fields...), as for MICA_COMPONENT. Without fields, T is an incomplete type. No semicolon. */
#define MICA_RELATION(...) MICA_JOIN_(MICA_RELATION_, MICA_ONE_OR_MORE_(__VA_ARGS__))(__VA_ARGS__)
#define MICA_RELATION_1(T) MICA_EDGE_TYPE_1(T, ())
#define MICA_RELATION_2(T, ...) MICA_EDGE_TYPE_2(T, (), __VA_ARGS__)
/* MICA_RELATION_WITH(T, (traits)) or MICA_RELATION_WITH(T, (traits), fields...) */
#define MICA_RELATION_WITH(T, ...) MICA_JOIN_(MICA_EDGE_TYPE_, MICA_ONE_OR_MORE_(__VA_ARGS__))(T, __VA_ARGS__)

/* A row of the table: what the program sees of it, then the target and its place among the sources of the target. */
#define MICA_EDGE_TYPE_1(T, traits)                                                                                    \
    typedef struct T T;                                                                                                \
    struct mica_edge_of_##T {                                                                                          \
        mica_entity target;                                                                                            \
        uint32_t rank;                                                                                                 \
    };                                                                                                                 \
    MICA_EDGE_DESCRIPTION_(T, traits, )
#define MICA_EDGE_TYPE_2(T, traits, ...)                                                                               \
    struct mica_edge_of_##T {                                                                                          \
        T fields;                                                                                                      \
        mica_entity target;                                                                                            \
        uint32_t rank;                                                                                                 \
    };                                                                                                                 \
    MICA_FOR_EACH_(MICA_KIND_, T, __VA_ARGS__)                                                                         \
    MICA_EDGE_DESCRIPTION_(T, traits, MICA_FOR_EACH_(MICA_FIELD_, T, __VA_ARGS__))
#define MICA_EDGE_DESCRIPTION_(T, traits, ...)                                                                         \
    MICA_UNUSED_ static const mica_field mica_fields_of_##T[] = {                                                      \
        {.name = "target",                                                                                             \
         .offset = offsetof(struct mica_edge_of_##T, target),                                                          \
         .element_bytes = sizeof(mica_entity),                                                                         \
         .count = 1,                                                                                                   \
         .kind = MICA_KIND_ENTITY},                                                                                    \
        {.name = "rank",                                                                                               \
         .offset = offsetof(struct mica_edge_of_##T, rank),                                                            \
         .element_bytes = sizeof(uint32_t),                                                                            \
         .count = 1,                                                                                                   \
         .kind = MICA_KIND_U32},                                                                                       \
        __VA_ARGS__};                                                                                                  \
    MICA_UNUSED_ static mica_type mica_type_of_##T = {.name = #T,                                                      \
                                                      .fields = mica_fields_of_##T,                                    \
                                                      .field_count = sizeof(mica_fields_of_##T) / sizeof(mica_field),  \
                                                      .size_bytes = sizeof(struct mica_edge_of_##T),                   \
                                                      .alignment = _Alignof(struct mica_edge_of_##T),                  \
                                                      .kind = MICA_KIND_STRUCT,                                        \
                                                      .storage = MICA_STORAGE_POOL,                                    \
                                                      .many = true,                                                    \
                                                      .relation = true,                                                \
                                                      MICA_UNWRAP_ traits};

#define mica_relate(world, source, T, target) ((T *)mica_relate_id((world), (source), MICA_ID(T), (target)))
/* mica_relate_with(world, paris, Distance, rome, {.meters = 1.1e6f}) */
#define mica_relate_with(world, source, T, target, ...)                                                                \
    mica_relate_with_id((world), (source), MICA_VALUE_(T, __VA_ARGS__), (target))
#define mica_relate_many(world, T, sources, targets, count)                                                            \
    mica_relate_many_id((world), MICA_ID(T), (sources), (targets), (count))
#define mica_unrelate(world, source, T, target) mica_unrelate_id((world), (source), MICA_ID(T), (target))
#define mica_unrelate_targets(world, source, T) mica_unrelate_targets_id((world), (source), MICA_ID(T))
#define mica_unrelate_sources(world, target, T) mica_unrelate_sources_id((world), (target), MICA_ID(T))
#define mica_is_related(world, source, T, target) mica_is_related_id((world), (source), MICA_ID(T), (target))
#define mica_edge_get(world, source, T, target)                                                                        \
    ((const T *)mica_edge_get_id((world), (source), MICA_ID(T), (target)))
#define mica_edge_write(world, source, T, target) ((T *)mica_edge_write_id((world), (source), MICA_ID(T), (target)))
#define mica_target(world, source, T) mica_target_id((world), (source), MICA_ID(T))
#define mica_target_count(world, source, T) mica_target_count_id((world), (source), MICA_ID(T))
#define mica_source_count(world, target, T) mica_source_count_id((world), (target), MICA_ID(T))
#define mica_targets(world, source, T) mica_targets_id((world), (source), MICA_ID(T))
#define mica_sources(world, target, T) mica_sources_id((world), (target), MICA_ID(T))
#define mica_place_source(world, source, T, target, before)                                                            \
    mica_place_source_id((world), (source), MICA_ID(T), (target), (before))

#endif
