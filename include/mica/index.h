/* Mica, index: find entities by the value of a field, or by their position.
 *
 *     mica_index *by_owner = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Item), .fields = "owner"});
 *     mica_index_update(by_owner);
 *     mica_entity some = mica_find_by(by_owner, mica_key_entity(anna));
 *     for (mica_match match = mica_index_range(by_owner, mica_key_entity(anna), mica_key_entity(anna)); mica_match_next(&match);)
 *         use(match.entity);
 *
 *     mica_index *grid = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Position), .fields = "x, y",
 *                                                                   .cell_size = 5, .maximum = {100, 100}});
 *     mica_system_add(world, MICA_SYSTEM_WITH(flock, (MICA_USES({.index = grid})), MICA_WRITE(Velocity)));
 *
 * An index of one field finds equal values and ranges in order. A grid is an index of two or three fields with a .cell_size: it finds
 * what is within a radius, and the nearest entities.
 *
 * When an index is current. Writes do not update indexes. An index shows the values of its last update, which compares what was written
 * or moved since the update before it and changes nothing else. A system that has the index in its .uses reads a current one: the update
 * runs right before the system starts, after all systems that write the component. Everywhere else call mica_index_update, or
 * mica_index_refresh for one entity. Since an index has copies of the values, a system may write the component while it reads the index:
 * it sees the values from before it started, on any number of threads.
 *
 * An index contains all entities with its component, except those that queries do not show: disabled entities, and entities whose
 * component is disabled. To find only entities of one kind, index a component that only they have. Order: by value or cell, then by
 * handle; it depends only on values and handles. Snapshots, clear and clone need no calls.
 * Examples: examples/boids.c, examples/index.c.
 */
#ifndef MICA_INDEX_H
#define MICA_INDEX_H

#include "mica/key.h"
#include "mica/query.h"
#include "mica/random.h"

MICA_BEGIN

typedef struct mica_index mica_index;

/* What is indexed. Zero is the default of everything except component and fields. */
typedef struct mica_index_def {
    const char *name;         /* for reports; NULL: the name of the component */
    mica_component component; /* with data, in chunks or in a pool, one per entity */
    /* One field, which is a number, bool, constant, asset, entity or text; or two or three numbers for a grid: "x, y". Each is a path as in
     * mica/value.h: "home.x", "size[2]". */
    const char *fields;
    bool
        hashed; /* a hash table finds equal values faster, at 24 to 64 bytes for each different value; best for fields of up to 32 bits */
    bool unique; /* two entities with equal values are a mistake: see mica_index_update */

    double cell_size; /* not 0: a grid with cells of at least this size; best near the usual radius of a search */
    /* The cells cover these bounds, which must differ for each field. What lies outside is found too, but more slowly. On a torus the
     * bounds are the same place: positions and distances wrap around. */
    double minimum[3];
    double maximum[3];
    bool torus;
    mica_location location;
} mica_index_def;

/* Creates an index, which is empty until its first update. The def is copied. Returns NULL with a report that says what is wrong with
 * the def, or if memory runs out. Rejected inside systems. Threads: owner. */
MICA_API mica_index *mica_index_create(mica_world *world, const mica_index_def *def);

/* Destroys an index. Indexes that remain are destroyed with the world. Refused with a report while a system has it in its .uses,
 * and inside mica_grid_each over it. NULL is a no-op. Threads: owner. */
MICA_API void mica_index_destroy(mica_index *index);

/* Returns an index of the field at this offset of a component, for code that uses an index if there is one. Returns NULL if there is none,
 * and in places where mica_index_update is refused. Threads: owner. */
MICA_API mica_index *mica_index_of_field_id(mica_world *world, mica_component component, size_t field_offset);

/* Makes the index current. Costs a look at the stamps if nothing changed. Ends loops over the index. With .unique, returns
 * MICA_ERROR_EXISTS while there are entities with equal values; each update that finds new ones reports one of them. The values stay as
 * they are, and mica_find_by returns the entity with the lowest handle. Returns MICA_ERROR_MEMORY if memory runs out: the index is then
 * empty until an update succeeds. Refused in hooks, and in systems that are not exclusive: their indexes are current. A pointer from
 * mica_write counts as written when it is returned: get it again after an update. Threads: owner. */
MICA_API mica_result mica_index_update(mica_index *index);

/* Makes the index current for one entity, which may be new, changed, without the component, or dead; for agents that act one after the
 * other and see what those before them did. Returns what mica_index_update returns. Refused in hooks. In a system that is not
 * exclusive it needs MICA_USE_WRITE of the component. Threads: owner; a system that runs once. */
MICA_API mica_result mica_index_refresh(mica_index *index, mica_entity entity);

/* Returns how many entities are in the index. Threads: reader. */
MICA_API uint32_t mica_index_entity_count(const mica_index *index);

/* Returns the entity with this value, the one with the lowest handle if there are several, or nil. Threads: reader. */
MICA_API mica_entity mica_find_by(const mica_index *index, mica_key key);

/* Private: what an index begins with. The hash table of a field of at most 32 bits, open addressing with linear probing. */
typedef struct mica_private_slot {
    uint32_t key;
    uint32_t index;
    uint32_t generation; /* of the entity; 0: the slot is empty */
} mica_private_slot;
typedef struct mica_private_index {
    const mica_private_slot *slots;
    uint32_t mask;
    uint32_t shift;
    int64_t lowest; /* key in the table; others need the call */
    uint64_t span;  /* how many keys there can be from there on; 0: there is no such table */
} mica_private_index;

/* Private: mica_find_by of programs that are not checked. Finds an integer in such a table without a call. Threads: reader. */
static inline mica_entity mica_private_find_by(const mica_index *index, mica_key key)
{
    const mica_private_index *table = (const mica_private_index *)(const void *)index;
    if (MICA_EXPECT_(table && key.kind == MICA_KIND_I64 &&
                         (uint64_t)key.as.integer - (uint64_t)table->lowest < table->span,
                     1)) {
        uint32_t wanted = (uint32_t)key.as.integer;
        uint32_t at = (uint32_t)(wanted * 0x9e3779b97f4a7c15u >> table->shift);
        const mica_private_slot *slot = &table->slots[at];
        while (MICA_EXPECT_(slot->key != wanted, 0) && slot->generation) {
            at = (at + 1) & table->mask;
            slot = &table->slots[at];
        }
        mica_entity entity = {slot->index, slot->generation};
        return entity;
    }
    return mica_find_by(index, key);
}

/* A loop over the entities of a range. Fields of `private_` are not part of the API. */
typedef struct mica_match {
    mica_entity entity;
    struct {
        const mica_index *index;
        uint64_t update; /* of the index, when the loop began */
        uint64_t last;   /* the highest value */
        uint32_t block;
        uint32_t position;
    } private_;
} mica_match;

/* Starts a loop over the entities with values from low to high, both included, in order. Equal keys are one value; a key of zero is an
 * open end. Call mica_match_next for the first entity. Threads: reader. */
MICA_API mica_match mica_index_range(const mica_index *index, mica_key low, mica_key high);

/* Advances to the next entity; false at the end. Ends with a report if the index was updated during the loop. Threads: reader. */
MICA_API bool mica_match_next(mica_match *match);

/* Returns how many entities have values from low to high. Threads: reader. */
MICA_API uint32_t mica_index_count(const mica_index *index, mica_key low, mica_key high);

/* A position; z is not used by grids of two fields. */
typedef struct mica_point {
    double x, y, z;
} mica_point;

/* An entity that a grid found. */
typedef struct mica_neighbour {
    mica_entity entity;
    double distance_squared;
    mica_point offset; /* from the centre to the entity; on a torus the shortest way */
} mica_neighbour;

/* Finds the entities within a radius of a point, at most at that distance, in the order of cells and then handles. Writes the first
 * `capacity` of them to `out` and returns how many there are. Distances are computed as doubles. A radius that is not a number of at
 * least 0 finds nothing. Threads: reader. */
MICA_API uint32_t mica_grid_within(const mica_index *grid, mica_point centre, double radius, mica_neighbour *out,
                                   uint32_t capacity);

/* The same around an entity of the grid, without the entity itself. Finds nothing for one that is not in the grid. Threads: reader. */
MICA_API uint32_t mica_grid_around(const mica_index *grid, mica_entity entity, double radius, mica_neighbour *out,
                                   uint32_t capacity);

/* Finds up to `capacity` entities that are nearest to a point, by rising distance and then by handle. Returns how many it wrote.
 * Threads: reader. */
MICA_API uint32_t mica_grid_nearest(const mica_index *grid, mica_point centre, mica_neighbour *out, uint32_t capacity);

/* Lists the entities in the cell of a point, by handle. Writes the first `capacity` of them and returns how many there are.
 * Threads: reader. */
MICA_API uint32_t mica_grid_cell(const mica_index *grid, mica_point point, mica_entity *out, uint32_t capacity);

/* Called for one entity with all its neighbours. They are valid during the call. */
typedef void (*mica_neighbours_fn)(mica_entity entity, const mica_neighbour *neighbours, uint32_t count, void *context);

/* Options of mica_grid_each. */
typedef struct mica_grid_loop {
    double radius;
    mica_query *query; /* visits only entities that match; their neighbours are of any kind. NULL: all */
    bool pairs; /* each pair once: an entity is shown only the neighbours that come after it in the order of the grid */
    bool one_thread; /* in the order of the grid; else on all workers */
    mica_neighbours_fn fn;
    void *context;
} mica_grid_loop;

/* Visits every entity of the grid with its neighbours within the radius, also those that have none, cell by cell, which is much faster
 * than single searches. On several threads the function is called for different entities at the same time, so it must write only what
 * belongs to its entity. Inside a system, changes can't be recorded in the function, unless .one_thread is set. Returns
 * MICA_ERROR_MEMORY if memory for neighbours ran out, for the entities that were skipped. The function can't update, refresh or destroy the
 * grid, which is refused with a report. Threads: owner; inside a system, the system's own. */
MICA_API mica_result mica_grid_each(const mica_index *grid, const mica_grid_loop *loop);

/* Lists the entities that match a query in random order, for agents that act one after the other. The order depends only on the generator
 * and on the handles. Writes the first `capacity` of them and returns how many match; all must fit to be in random order. Threads: owner;
 * a system that runs once. */
MICA_API uint32_t mica_query_shuffled(mica_query *query, mica_random *random, mica_entity *out, uint32_t capacity);

MICA_END

#if !defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_find_by mica_private_find_by
#endif
#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_index_create(world, ...) mica_index_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_index_destroy(index) mica_index_destroy(MICA_AT_(index))
#    define mica_index_of_field_id(world, ...) mica_index_of_field_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_index_update(index) mica_index_update(MICA_AT_(index))
#    define mica_index_refresh(index, ...) mica_index_refresh(MICA_AT_(index), __VA_ARGS__)
#    define mica_index_entity_count(index) mica_index_entity_count(MICA_AT_(index))
#    define mica_find_by(index, ...) mica_find_by(MICA_AT_(index), __VA_ARGS__)
#    define mica_index_range(index, ...) mica_index_range(MICA_AT_(index), __VA_ARGS__)
#    define mica_match_next(match) mica_match_next(MICA_AT_(match))
#    define mica_index_count(index, ...) mica_index_count(MICA_AT_(index), __VA_ARGS__)
#    define mica_grid_within(grid, ...) mica_grid_within(MICA_AT_(grid), __VA_ARGS__)
#    define mica_grid_around(grid, ...) mica_grid_around(MICA_AT_(grid), __VA_ARGS__)
#    define mica_grid_nearest(grid, ...) mica_grid_nearest(MICA_AT_(grid), __VA_ARGS__)
#    define mica_grid_cell(grid, ...) mica_grid_cell(MICA_AT_(grid), __VA_ARGS__)
#    define mica_grid_each(grid, ...) mica_grid_each(MICA_AT_(grid), __VA_ARGS__)
#    define mica_query_shuffled(query, ...) mica_query_shuffled(MICA_AT_(query), __VA_ARGS__)
#endif
#endif
