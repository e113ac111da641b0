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
 * A query keeps a list of the archetypes that match, which new ones are added to. Creating a query is cheap enough for one-time use.
 * Entities that are disabled (mica/disable.h) do not match, unless the query asks for them.
 * Archetypes are visited in order of creation, rows in storage order. Do not make structural changes inside the loop: it would
 * end early with a report. Record the changes instead (mica/command.h).
 * Terms can also test other entities: a given one, any, or those that edges of relations (mica/relation.h) lead to:
 *
 *     enum { PLANET = 1, RULER };
 *     mica_query *guests = mica_query_create(world, MICA_QUERY(
 *         MICA_HAS(Ship), MICA_HAS(DockedTo, .target = mica_variable(PLANET)),          of each ship: where it is docked
 *         MICA_READ(Planet, .subject = mica_variable(PLANET)),                          that must be a planet
 *         MICA_HAS(RuledBy, .subject = mica_variable(PLANET), .target = mica_variable(RULER))));
 *     for (mica_view view = mica_query_begin(guests); mica_view_next(&view);) {
 *         const Planet *planet = mica_view_read(&view, Planet);                         one value for all rows of the view
 *         host(view.entities, view.count, planet, mica_view_variable(&view, RULER));
 *     }
 *
 * Such a query visits all matching combinations of the entity and the variables, so it can show an entity several times. Rows that follow
 * each other in storage and belong to the same combination of variables are one view. The loop starts with the smallest set and follows
 * the edges; mica_query_explain (mica/query_text.h) prints how. The order depends only on the content of the world.
 */
#ifndef MICA_QUERY_H
#define MICA_QUERY_H

#include "mica/describe.h"
#include "mica/key.h"
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

typedef enum mica_node_kind {
    MICA_NODE_DEFAULT = 0,
    MICA_NODE_THIS,     /* the entity of the row */
    MICA_NODE_VARIABLE, /* any living entity, the same in all terms with this variable */
    MICA_NODE_ENTITY,   /* a given entity */
    MICA_NODE_EACH,     /* each entity, one result for each: a variable without a name */
    MICA_NODE_ANY,      /* any entity; one result for all */
} mica_node_kind;

/* The entity that a term tests, or that an edge leads to. Zero is the default of the member. */
typedef struct mica_node {
    mica_node_kind kind;
    uint32_t variable; /* from 1 to MICA_VARIABLES_MAX */
    mica_entity entity;
} mica_node;

/* How the value of a field is compared with a key. */
typedef enum mica_comparison {
    MICA_COMPARE_NONE = 0,
    MICA_EQUAL,
    MICA_NOT_EQUAL,
    MICA_LESS,
    MICA_AT_MOST,
    MICA_GREATER,
    MICA_AT_LEAST,
} mica_comparison;

/* If a component can be toggled, READ, WRITE, HAS, CHANGED and ADDED match only while it is enabled. MAYBE, EITHER and OR match it
 * either way, and WITHOUT requires that it is absent. A component has at most one term with a column for each subject. It can also
 * have CHANGED and ADDED terms, and DISABLED together with a MAYBE term.
 *
 * A variable must be in a term that requires something, or in an optional edge: then it is nil if there is no such edge. Optional edges are
 * looked up after everything else, in the order of the terms. A group of EITHER and OR binds no variable. */
typedef struct mica_term {
    mica_component component;
    mica_access access;
    mica_node subject; /* whose component it is; default: this entity */
    mica_node
        target; /* of a relation: where the edge leads; default: any. READ and WRITE provide the fields of the edge */
    /* At most one of these: a relation that is exclusive and acyclic, such as mica_child_of of mica/hierarchy.h. The term then tests: */
    mica_component up;      /* the nearest ancestor of the subject that has the component */
    mica_component down;    /* each descendant that has it */
    mica_component cascade; /* as `up`, and every entity is visited after its ancestors */
    bool or_self;           /* the subject itself counts, before its ancestors and descendants */
    /* With MICA_HAS: a field of the component by name or path, and a condition on its value. A key of text is copied. The component must
     * have one value per entity. NaN is compared as in mica_key_real. If the field has an index (mica/index.h), a loop makes it current
     * and uses it; in a system, the index must be in .uses. Otherwise the loop compares all values. Results and order are the same. */
    const char *field;
    mica_comparison compare;
    mica_key key;
} mica_term;

/* A component, then optionally other members of the term: MICA_HAS(DockedTo, .target = mica_variable(PLANET)), or
 * MICA_HAS(Health, .field = "points", .compare = MICA_LESS, .key = mica_key_integer(10)) */
#define MICA_READ(...) MICA_TERM_(MICA_ACCESS_READ, __VA_ARGS__, )
#define MICA_WRITE(...) MICA_TERM_(MICA_ACCESS_WRITE, __VA_ARGS__, )
#define MICA_HAS(...) MICA_TERM_(MICA_ACCESS_HAS, __VA_ARGS__, )
#define MICA_WITHOUT(...) MICA_TERM_(MICA_ACCESS_WITHOUT, __VA_ARGS__, )
#define MICA_MAYBE_READ(...) MICA_TERM_(MICA_ACCESS_MAYBE_READ, __VA_ARGS__, )
#define MICA_MAYBE_WRITE(...) MICA_TERM_(MICA_ACCESS_MAYBE_WRITE, __VA_ARGS__, )
#define MICA_EITHER(...) MICA_TERM_(MICA_ACCESS_EITHER, __VA_ARGS__, )
#define MICA_OR(...) MICA_TERM_(MICA_ACCESS_OR, __VA_ARGS__, )
#define MICA_CHANGED(...) MICA_TERM_(MICA_ACCESS_CHANGED, __VA_ARGS__, )
#define MICA_ADDED(...) MICA_TERM_(MICA_ACCESS_ADDED, __VA_ARGS__, )
#define MICA_DISABLED(...) MICA_TERM_(MICA_ACCESS_DISABLED, __VA_ARGS__, )
#define MICA_TERM_(access_, T, ...)                                                                                    \
    {                                                                                                                  \
        .component = MICA_ID(T), .access = (access_), __VA_ARGS__                                                      \
    }

/* The functions below return subjects and targets of terms: the entity of the row. Threads: any. */
static inline mica_node mica_this(void)
{
    mica_node node = {MICA_NODE_THIS, 0, {0, 0}};
    return node;
}

/* A variable. Threads: any. */
static inline mica_node mica_variable(uint32_t variable)
{
    mica_node node = {MICA_NODE_VARIABLE, variable, {0, 0}};
    return node;
}

/* A given entity. Threads: any. */
static inline mica_node mica_fixed(mica_entity entity)
{
    mica_node node = {MICA_NODE_ENTITY, 0, entity};
    return node;
}

/* Each entity. Threads: any. */
static inline mica_node mica_each(void)
{
    mica_node node = {MICA_NODE_EACH, 0, {0, 0}};
    return node;
}

/* Any entity. Threads: any. */
static inline mica_node mica_any(void)
{
    mica_node node = {MICA_NODE_ANY, 0, {0, 0}};
    return node;
}

/* Returns a negative number, zero or a positive number if a sorts before, with or after b. It must order any two values,
 * including NaN: with an inconsistent function, the order of the rows is arbitrary. It must not change the world; in
 * mica_query_sort_rows and mica_pool_sort, changes are recorded and applied afterwards. */
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

    /* Optional: names of the variables, from variable 1 on, for reports, text and mica_query_variable. */
    const char *const *variables;
    uint32_t variable_count;
} mica_query_def;

#define MICA_TERMS(...)                                                                                                \
    .terms = (const mica_term[]){__VA_ARGS__},                                                                         \
    .term_count = (uint32_t)(sizeof((const mica_term[]){__VA_ARGS__}) / sizeof(mica_term))
#define MICA_QUERY(...) (&(const mica_query_def){MICA_TERMS(__VA_ARGS__), .location = MICA_HERE})
#define MICA_QUERY_SORTED(T, compare_, context_, ...)                                                                  \
    (&(const mica_query_def){MICA_TERMS(__VA_ARGS__), .location = MICA_HERE, .order_by = MICA_ID(T),                   \
                             .compare = (compare_), .context = (context_)})

#define MICA_QUERY_INSTANCES(T, ...)                                                                                   \
    (&(const mica_query_def){MICA_TERMS(__VA_ARGS__), .location = MICA_HERE, .instances_of = MICA_ID(T)})

/* Creates a query. The def is copied. On error returns NULL with a report that names the query, the term and the source line; a
 * NULL query matches nothing. Threads: owner. */
MICA_API mica_query *mica_query_create(mica_world *world, const mica_query_def *def);

/* Destroys a query. A loop over it that is open continues, unless 64 other queries are destroyed in it. NULL is a no-op. Refused with a report
 * inside a system that is not exclusive, and for a query of a system. Threads: owner. */
MICA_API void mica_query_destroy(mica_query *query);

/* Starts an iteration. CHANGED and ADDED refer to changes since the previous iteration of this query began; in the first one everything
 * counts as changed and added.
 * Threads: reader; of a query with CHANGED, ADDED or order_by only one iteration at a time, of one with terms about other entities 64. */
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

/* Limits a loop to results in which a variable, or the entity of the row for variable 0, is this entity. Call it before the first
 * mica_view_next. Returns false with a report if the query has no such variable or no term about other entities, if the entity is not
 * alive, or if the loop has begun. Threads: as its query. */
MICA_API bool mica_view_bind(mica_view *view, uint32_t variable, mica_entity entity);

/* Returns the entity that a variable stands for in this view; nil if an optional term did not find one. Returns nil with a report if the
 * query has no such variable. Threads: as its query. */
MICA_API mica_entity mica_view_variable(const mica_view *view, uint32_t variable);

/* Returns the number of the variable with this name, or 0. Threads: reader. */
MICA_API uint32_t mica_query_variable(const mica_query *query, const char *name);

/* Returns the name of a variable, valid while the query is; NULL if it has none. Threads: reader. */
MICA_API const char *mica_query_variable_name(const mica_query *query, uint32_t variable);

/* Limits how long a query with terms about other entities may search: an iteration, count or match that has looked at more than `steps`
 * entities and edges ends with a report (MICA_ERROR_LIMIT), and a bulk change then changes nothing. The number is approximate, and the same
 * on every machine. 0 is no limit, as for a new query; one of mica_query_text has MICA_QUERY_TEXT_STEPS. Holds for iterations that begin
 * later. Other queries take time in proportion to the entities and have no limit. Threads: owner. */
MICA_API void mica_query_limit(mica_query *query, uint64_t steps);

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
#    define mica_view_bind(view, ...) mica_view_bind(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_variable(view, ...) mica_view_variable(MICA_AT_(view), __VA_ARGS__)
#    define mica_query_variable(query, ...) mica_query_variable(MICA_AT_(query), __VA_ARGS__)
#    define mica_query_variable_name(query, ...) mica_query_variable_name(MICA_AT_(query), __VA_ARGS__)
#    define mica_query_limit(query, ...) mica_query_limit(MICA_AT_(query), __VA_ARGS__)
#    define mica_query_sort_rows(query, ...) mica_query_sort_rows(MICA_AT_(query), __VA_ARGS__)
#endif
#endif
