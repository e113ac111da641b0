/* Mica, query: which entities, and what of them.
 *
 *     mica_query *moving = mica_query_create(world, MICA_QUERY(MICA_WRITE(Position), MICA_READ(Velocity),
 *                                                              MICA_WITHOUT(Frozen)));
 *     for (mica_view view = mica_query_begin(moving); mica_view_next(&view);) {
 *         Position *position = mica_view_write(&view, Position);
 *         const Velocity *velocity = mica_view_read(&view, Velocity);
 *         for (uint32_t i = 0; i < view.count; ++i)
 *             position[i].x += velocity[i].x;
 *     }
 *
 * A query keeps the list of archetypes it matches and is told about new ones; making one is cheap enough to do it ad
 * hoc, and mica_query_destroy gives it back. Archetypes come in the order they were made, rows as they lie.
 * Structure must not change between mica_view_next calls: the loop then ends early with a report. Record the changes
 * instead (mica/command.h).
 */
#ifndef MICA_QUERY_H
#define MICA_QUERY_H

#include "mica/describe.h"
#include "mica/view.h"
#include "mica/world.h"

MICA_BEGIN

typedef struct mica_query mica_query;

typedef enum mica_access {
    MICA_ACCESS_READ = 0,    /* must be there; gives a column to read */
    MICA_ACCESS_WRITE,       /* must be there; gives a column to write */
    MICA_ACCESS_HAS,         /* must be there; no column */
    MICA_ACCESS_WITHOUT,     /* must not be there */
    MICA_ACCESS_MAYBE_READ,  /* gives a column to read, NULL where it is not there */
    MICA_ACCESS_MAYBE_WRITE, /* gives a column to write, NULL where it is not there */
    MICA_ACCESS_EITHER,      /* starts a group of which at least one must be there; gives a column to read or NULL */
    MICA_ACCESS_OR,          /* one more of the group that the terms before it started */
    MICA_ACCESS_CHANGED,  /* must be there and, slice by slice, have been written or moved since the mark; no column */
    MICA_ACCESS_ADDED,    /* must be there and have been added since the mark; .track_added; no column */
    MICA_ACCESS_DISABLED, /* must be there and be switched off: mica_disable; no column */
} mica_access;

/* A component that can be toggled satisfies READ, WRITE, HAS, CHANGED and ADDED only where it is switched on; MAYBE,
 * EITHER and OR show it either way, and WITHOUT means that it is not there at all. A component has one term with a
 * column; CHANGED, ADDED and DISABLED come beside it. */
typedef struct mica_term {
    mica_component component;
    mica_access access;
} mica_term;

#define MICA_READ(T) {MICA_ID(T), MICA_ACCESS_READ}
#define MICA_WRITE(T) {MICA_ID(T), MICA_ACCESS_WRITE}
#define MICA_HAS(T) {MICA_ID(T), MICA_ACCESS_HAS}
#define MICA_WITHOUT(T) {MICA_ID(T), MICA_ACCESS_WITHOUT}
#define MICA_MAYBE_READ(T) {MICA_ID(T), MICA_ACCESS_MAYBE_READ}
#define MICA_MAYBE_WRITE(T) {MICA_ID(T), MICA_ACCESS_MAYBE_WRITE}
#define MICA_EITHER(T) {MICA_ID(T), MICA_ACCESS_EITHER}
#define MICA_OR(T) {MICA_ID(T), MICA_ACCESS_OR}
#define MICA_CHANGED(T) {MICA_ID(T), MICA_ACCESS_CHANGED}
#define MICA_ADDED(T) {MICA_ID(T), MICA_ACCESS_ADDED}
#define MICA_DISABLED(T) {MICA_ID(T), MICA_ACCESS_DISABLED}

/* Returns less than, equal to or more than zero, as a sorts before, with or after b. */
typedef int (*mica_compare_fn)(const void *a, const void *b, void *context);

typedef struct mica_query_def {
    const char *name; /* for messages; NULL is "query" */
    const mica_term *terms;
    uint32_t term_count; /* up to MICA_TERMS_MAX; none means every entity, and is written &(mica_query_def){0} */
    mica_location location;

    /* With a compare function, entities come in the order of this component across all archetypes, equal ones in the
     * order they lie. The order is kept and made anew only after a change. The query must READ or WRITE it. */
    mica_component order_by;
    mica_compare_fn compare;
    void *context;

    /* A pool with many instances per entity that the query asks for: each instance is shown by itself, in the order they
     * lie, instead of each entity once with its first. Not together with an order. */
    mica_component instances_of;
} mica_query_def;

#define MICA_TERMS(...)                                                                                                \
    .terms = (const mica_term[]){__VA_ARGS__},                                                                         \
    .term_count = (uint32_t)(sizeof((const mica_term[]){__VA_ARGS__}) / sizeof(mica_term))
#define MICA_QUERY(...) (&(const mica_query_def){MICA_TERMS(__VA_ARGS__), .location = MICA_HERE})
#define MICA_QUERY_SORTED(T, compare_, context_, ...)                                                                  \
    (&(const mica_query_def){MICA_TERMS(__VA_ARGS__),                                                                  \
                             .location = MICA_HERE,                                                                       \
                             .order_by = MICA_ID(T),                                                                   \
                             .compare = (compare_),                                                                    \
                             .context = (context_)})

#define MICA_QUERY_INSTANCES(T, ...)                                                                                   \
    (&(const mica_query_def){MICA_TERMS(__VA_ARGS__), .location = MICA_HERE, .instances_of = MICA_ID(T)})

/* Makes a query; the def is copied. Returns NULL with a report naming the query, the term and the source line; as a
 * query, NULL matches nothing. Threads: owner. */
MICA_API mica_query *mica_query_create(mica_world *world, const mica_query_def *def);

/* Gives a query back; NULL is fine. Threads: owner. */
MICA_API void mica_query_destroy(mica_query *query);

/* Starts a loop over what matches. CHANGED and ADDED mean: since the last loop over this query began, or ever.
 * Threads: reader, but only one loop at a time over a query with CHANGED, ADDED or an order. */
MICA_API mica_view mica_query_begin(mica_query *query);

/* As mica_query_begin, with CHANGED and ADDED meaning since that mark (mica_world_mark). Threads: as above, reader. */
MICA_API mica_view mica_query_begin_since(mica_query *query, mica_version since);

/* Returns how many entities match, without looking at rows where the terms allow. Here and below, CHANGED and ADDED
 * mean since the last loop began. Threads: reader. */
MICA_API uint64_t mica_query_count(mica_query *query);

/* Returns the first entity that matches, or nil. Threads: reader. */
MICA_API mica_entity mica_query_first(mica_query *query);

/* Returns whether this entity matches; a random access test. CHANGED terms look at its slice. Threads: reader. */
MICA_API bool mica_query_matches(mica_query *query, mica_entity entity);

/* Called for one entity with the columns of the query's terms in declared order, NULL where a term has none. */
typedef void (*mica_each_fn)(mica_entity entity, void *const *columns, void *context);

/* Calls the function for every entity that matches. WRITE terms count as written. Threads: owner. */
MICA_API void mica_query_each(mica_query *query, mica_each_fn fn, void *context);

/* Sorts the rows themselves by a component that the query reads or writes: within each archetype that matches, stable.
 * Later loops run in that order until something is added or removed. Pointers to components are void after it. Refused
 * while recording, and for a component in a pool, which has mica_pool_sort. Threads: owner. */
MICA_API mica_result mica_query_sort_rows(mica_query *query, mica_component component, mica_compare_fn compare,
                                          void *context);

MICA_END
#endif
