/* Mica, view: a range of rows with the same components, as plain arrays. Queries and systems produce views. */
#ifndef MICA_VIEW_H
#define MICA_VIEW_H

#include "mica/lookup.h"

MICA_BEGIN

enum {
    MICA_TERMS_MAX = 32,
    MICA_VARIABLES_MAX = 15, /* of a query */
    MICA_SLICE_ROWS = 512,   /* the unit of change stamps and of parallel work */
    MICA_PRIVATE_READY = 4,
    MICA_PRIVATE_AHEAD = 64,
};

struct mica_frame;

/* A range of rows. Valid until the next mica_view_next. Fields of `private_` are not part of the API. */
typedef struct mica_view {
    uint32_t count;
    float dt;                       /* seconds since the system last ran; 0 outside systems */
    const struct mica_frame *frame; /* NULL outside systems: see mica/frame.h */
    uint64_t slice;                 /* identifies this job, independent of the number of workers */
    const mica_entity *entities;
    mica_world *world;
    struct {
        uint64_t version;    /* stamped on what is written; 0: the current version of the world */
        uint32_t row;        /* of the chunk, where this view begins */
        uint8_t walk;        /* how the next view is found */
        uint8_t term_count;  /* terms that have a column if it is not NULL */
        uint8_t ready_count; /* terms that are listed below; 0 if there are several slices, or several rows of pools */
        uint8_t
            ready_writes; /* a bit for each of them that is written; 255 unless all terms are listed and have columns */
        struct mica_query *query;
        uint64_t *stamps[MICA_PRIVATE_READY];          /* by term: of the only slice, if it may be written; else NULL */
        mica_component components[MICA_PRIVATE_READY]; /* by term; 0 if its column may not be read */
        void *columns[MICA_TERMS_MAX];                 /* by term, NULL if a term has none */
        struct micap_chunk *chunk;
        uint64_t structure; /* the world's when the loop began */
        uint64_t since;
        uint32_t match;           /* index into the matching archetypes */
        uint32_t chunk_index;     /* of the next chunk in that archetype */
        struct mica_pool *driver; /* the pool whose rows the loop walks, or NULL: see mica/pool.h */
        uint32_t cursor;          /* the next row of a loop over pools */
        uint32_t end;             /* the end of the driver's rows */
        const void *fitting;      /* an archetype that is known to match */
        const void *listed;       /* the next entry of a loop over listed chunks */
        /* Entities that a loop over pools looked up ahead: those that are not shown yet, and those whose rows the next one's follow. */
        uint64_t ahead, ahead_follows;
        uint32_t ahead_at, ahead_end; /* the first of them, and the end */
        uint32_t ahead_size;          /* how many to look up next */
        uint32_t ahead_rows[MICA_PRIVATE_AHEAD];
    } private_;
} mica_view;

/* Advances to the next range of rows; false at the end. A view is never empty. Threads: as its query. */
MICA_API bool mica_view_next(mica_view *view);

/* Returns the column of a component that the query reads or writes. Returns NULL for an optional component that is absent, and
 * NULL with a report for a component that is not in the query. The column of a tag that is present is not NULL, but has nothing to
 * read. Threads: as its query. */
MICA_API const void *mica_view_read_id(const mica_view *view, mica_component component);

/* Like mica_view_read_id, for a component that the query writes. Marks all rows of the view as changed.
 * Threads: as its query; several threads may write disjoint views. */
MICA_API void *mica_view_write_id(mica_view *view, mica_component component);

/* Like mica_view_write_id, but of a component with .track_changed only the rows passed to mica_view_mark_id count as changed. Of other
 * components all rows do. Threads: as above. */
MICA_API void *mica_view_write_unmarked_id(mica_view *view, mica_component component);

/* Marks one row of the view, counted from 0, as changed, for a component with .track_changed that the query writes. Reports a row
 * that the view does not have, and a component that the query does not write or that is not tracked. Threads: as above. */
MICA_API void mica_view_mark_id(mica_view *view, mica_component component, uint32_t row);

/* Like mica_view_read_id and mica_view_write_id, by the position of the term, starting at 0. This is the fastest way. Threads: as above. */
MICA_API const void *mica_view_read_at(const mica_view *view, uint32_t term);
MICA_API void *mica_view_write_at(mica_view *view, uint32_t term);

/* Returns whether the entities of the view have the component, which the query has a term for: for optional terms, and to see which
 * terms of a group of EITHER and OR matched. All entities of a view have it, or none of them has it. Whether it is enabled
 * does not matter. Returns false with a report for a component that is not in the query. The second function takes
 * the position of the term, starting at 0. Threads: as its query. */
MICA_API bool mica_view_has_id(const mica_view *view, mica_component component);
MICA_API bool mica_view_has_at(const mica_view *view, uint32_t term);

/* Returns one byte per entity of the view, 1 where the component is enabled and 0 where it is disabled, for a component with .toggle
 * that a READ, WRITE, MAYBE, EITHER or OR term of the query names. Returns NULL if the entities do not have it, and NULL with
 * a report for other components. Threads: as its query. */
MICA_API const uint8_t *mica_view_enabled_id(const mica_view *view, mica_component component);

/* Private: mica_view_read_at of programs that are not checked. Returns a known column without a call. Threads: as above. */
static inline const void *mica_private_view_read_at(const mica_view *view, uint32_t term)
{
    if (view && term < view->private_.term_count && view->private_.columns[term])
        return view->private_.columns[term];
    return mica_view_read_at(view, term);
}

/* Private: mica_view_write_at of programs that are not checked. Stamps the slice and returns its column without a call, if the stamp is
 * known and no snapshot needs a copy. Threads: as above. */
static inline void *mica_private_view_write_at(mica_view *view, uint32_t term)
{
    if (view && term < MICA_PRIVATE_READY && term < view->private_.ready_count) {
        const mica_private_lookup *lookup = mica_private_of(view->world);
        uint64_t *stamp = view->private_.stamps[term], version = view->private_.version;
        /* Signed: the stamp of a tracked component is older than every snapshot, so that its rows are marked by the call. */
        if (stamp && MICA_EXPECT_((int64_t)MICA_LOAD_(stamp, MICA_ACQUIRE_) >= (int64_t)lookup->undo_before, 1)) {
            version = version ? version : MICA_LOAD_(&lookup->version, MICA_RELAXED_);
            MICA_STORE_(stamp, version, MICA_RELEASE_);
            return view->private_.columns[term];
        }
    }
    return mica_view_write_at(view, term);
}

MICA_END

#if !defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_view_read_at mica_private_view_read_at
#    define mica_view_write_at mica_private_view_write_at
#endif
#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_view_next(view) mica_view_next(MICA_AT_(view))
#    define mica_view_read_id(view, ...) mica_view_read_id(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_write_id(view, ...) mica_view_write_id(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_write_unmarked_id(view, ...) mica_view_write_unmarked_id(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_mark_id(view, ...) mica_view_mark_id(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_read_at(view, ...) mica_view_read_at(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_write_at(view, ...) mica_view_write_at(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_has_id(view, ...) mica_view_has_id(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_has_at(view, ...) mica_view_has_at(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_enabled_id(view, ...) mica_view_enabled_id(MICA_AT_(view), __VA_ARGS__)
#endif

#define mica_view_read(view, T) ((const T *)mica_view_read_id((view), MICA_ID(T)))
#define mica_view_has(view, T) mica_view_has_id((view), MICA_ID(T))
#define mica_view_enabled(view, T) mica_view_enabled_id((view), MICA_ID(T))
#define mica_view_write(view, T) ((T *)mica_view_write_id((view), MICA_ID(T)))
#define mica_view_write_unmarked(view, T) ((T *)mica_view_write_unmarked_id((view), MICA_ID(T)))
#define mica_view_mark(view, T, row) mica_view_mark_id((view), MICA_ID(T), (row))

#endif
