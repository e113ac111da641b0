/* Mica, query: find entities by their components.
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
 * A query caches the archetypes it matches and is notified of new ones. Creating a query is cheap enough for one-time use.
 * Entities that are disabled (mica/disable.h) do not match, unless the query asks for them.
 * Archetypes are visited in order of creation, rows in storage order. Do not make structural changes inside the loop: it would
 * end early with a report. Record the changes instead (mica/command.h).
 */
#ifndef MICA_QUERY_H
#define MICA_QUERY_H

#include "mica/describe.h"
#include "mica/view.h"
#include "mica/world.h"

MICA_BEGIN

typedef struct mica_query mica_query;

typedef enum mica_access {
    MICA_ACCESS_READ = 0,    /* must be present; provides a column for reading */
    MICA_ACCESS_WRITE,       /* must be present; provides a column for writing */
    MICA_ACCESS_HAS,         /* must be present; no column */
    MICA_ACCESS_WITHOUT,     /* must be absent */
    MICA_ACCESS_MAYBE_READ,  /* optional; provides a column for reading, NULL if absent; for a tag see mica_view_has */
    MICA_ACCESS_MAYBE_WRITE, /* optional; provides a column for writing, NULL if absent */
    MICA_ACCESS_EITHER, /* starts a group of which at least one must be present; provides a column for reading or NULL */
    MICA_ACCESS_OR,     /* continues the group started by the terms before it */
    MICA_ACCESS_CHANGED, /* must be present and changed since the mark, per slice, or per entity with .track_changed; no column */
    MICA_ACCESS_ADDED,    /* must be present and added since the mark; needs .track_added; no column */
    MICA_ACCESS_DISABLED, /* must be present and disabled (mica_disable); no column */
} mica_access;

/* If a component can be toggled, READ, WRITE, HAS, CHANGED and ADDED match only while it is enabled. MAYBE, EITHER and OR match it
 * either way, and WITHOUT requires that it is absent. A component has at most one term with a column. It can also
 * have CHANGED and ADDED terms, and DISABLED together with a MAYBE term. */
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

/* Returns a negative number, zero or a positive number if a sorts before, with or after b. */
typedef int (*mica_compare_fn)(const void *a, const void *b, void *context);

typedef struct mica_query_def {
    const char *name; /* for reports; NULL means "query" */
    const mica_term *terms;
    uint32_t term_count; /* up to MICA_TERMS_MAX; a query without terms, &(mica_query_def){0}, matches every entity */
    mica_location location;

    /* With a compare function, entities are visited in the order of this component across all archetypes; equal values keep
     * their storage order. The order is cached and updated only after a change. The query must READ or WRITE the component. */
    mica_component order_by;
    mica_compare_fn compare;
    void *context;

    /* A pool component with .many that the query asks for: every instance is visited in storage order, instead of each entity
     * once with its first instance. Cannot be combined with order_by. */
    mica_component instances_of;

    /* Also matches entities that are hidden: see mica/disable.h. */
    bool with_hidden;
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

/* Creates a query. The def is copied. On error returns NULL with a report that names the query, the term and the source line; a
 * NULL query matches nothing. Threads: owner. */
MICA_API mica_query *mica_query_create(mica_world *world, const mica_query_def *def);

/* Destroys a query. NULL is a no-op. Threads: owner. */
MICA_API void mica_query_destroy(mica_query *query);

/* Starts an iteration. CHANGED and ADDED refer to changes since the previous iteration of this query began; in the first one everything
 * counts as changed and added.
 * Threads: reader; for a query with CHANGED, ADDED or order_by, only one iteration at a time. */
MICA_API mica_view mica_query_begin(mica_query *query);

/* Like mica_query_begin, but CHANGED and ADDED mean since the given mark (mica_world_mark). Threads: as above, reader. */
MICA_API mica_view mica_query_begin_since(mica_query *query, mica_version since);

/* Returns how many entities match, without visiting rows if the terms allow it. In this function and the next two, CHANGED and
 * ADDED mean since the previous iteration began. Threads: reader. */
MICA_API uint64_t mica_query_count(mica_query *query);

/* Returns the first matching entity, or nil. Threads: reader. */
MICA_API mica_entity mica_query_first(mica_query *query);

/* Returns whether an entity matches. CHANGED terms test the slice of the entity, unless it is tracked. Threads: reader. */
MICA_API bool mica_query_matches(mica_query *query, mica_entity entity);

/* Copies the terms of a query, as many as `capacity` allows. Returns how many it has; 0 for NULL. Threads: reader. */
MICA_API uint32_t mica_query_terms(const mica_query *query, mica_term *out_terms, uint32_t capacity);

/* Called for one entity with pointers to its components in the order of the terms; NULL if a term has none. For an optional tag, or
 * one in a group, the pointer is not NULL if the entity has it; there is nothing to read. */
typedef void (*mica_each_fn)(mica_entity entity, void *const *columns, void *context);

/* Calls the function for every matching entity. WRITE terms count as written. Threads: owner. */
MICA_API void mica_query_each(mica_query *query, mica_each_fn fn, void *context);

/* Sorts the rows of each matching archetype by a component that the query reads or writes. The sort is stable. Later iterations
 * use this order until rows are added or removed. Invalidates pointers to components. Rejected while recording, and for pool
 * components (use mica_pool_sort). Threads: owner. */
MICA_API mica_result mica_query_sort_rows(mica_query *query, mica_component component, mica_compare_fn compare,
                                          void *context);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_query_create(world, ...) mica_query_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_query_destroy(query) mica_query_destroy(MICA_AT_(query))
#    define mica_query_begin(query) mica_query_begin(MICA_AT_(query))
#    define mica_query_begin_since(query, ...) mica_query_begin_since(MICA_AT_(query), __VA_ARGS__)
#    define mica_query_count(query) mica_query_count(MICA_AT_(query))
#    define mica_query_first(query) mica_query_first(MICA_AT_(query))
#    define mica_query_matches(query, ...) mica_query_matches(MICA_AT_(query), __VA_ARGS__)
#    define mica_query_terms(...) MICA_AT_(mica_query_terms(__VA_ARGS__))
#    define mica_query_each(query, ...) mica_query_each(MICA_AT_(query), __VA_ARGS__)
#    define mica_query_sort_rows(query, ...) mica_query_sort_rows(MICA_AT_(query), __VA_ARGS__)
#endif
#endif
