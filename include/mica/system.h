/* Mica, system: a function that runs every frame over matching entities.
 *
 *     static void move(mica_view *view)
 *     {
 *         Position *position = mica_view_write(view, Position);
 *         const Velocity *velocity = mica_view_read(view, Velocity);
 *         for (uint32_t i = 0; i < view->count; ++i)
 *             position[i].x += velocity[i].x * view->dt;
 *     }
 *     mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Position), MICA_READ(Velocity)));
 *     mica_system_add(world, MICA_SYSTEM_WITH(collide, (.after = {"move"}), MICA_READ(Position)));
 *
 * There are four kinds of function. MICA_SYSTEM tells them apart by their parameters:
 *   mica_view_fn      (mica_view *view)                  gets a range of rows, up to MICA_VIEW_ROWS
 *   mica_each_fn      (entity, columns, context)         gets one entity
 *   mica_columns_fn   (count, columns)                   gets only the columns, in the order of the terms
 *   mica_once_fn      (const mica_frame *frame)          is called once per run, and can iterate frame->query itself;
 *                                                        without terms it is added with MICA_SYSTEM_ONCE
 *
 * Terms declare what a system reads and writes. Two systems of a phase conflict if one writes what the other reads or writes.
 * Conflicting systems run in the order they were added, unless .before and .after say otherwise; all others can run at the
 * same time. One system can run on several threads, on different rows.
 *
 * Own rows only. A system that gets views, entities or columns must access only the rows it is given. The scheduler relies on
 * this: the second of two systems may process a slice while the first still processes others, and a chain of systems can run
 * over a slice while it is in the cache. A system that accesses other entities (mica_get) declares it:
 *   MICA_USES(MICA_USE_READ(Position))              the Position of any entity
 * During the whole run of the system no other system writes what is in .uses. A system that writes other rows declares
 * MICA_USE_WRITE and runs on one thread.
 *
 * Inside a system the structure of the world does not change. mica_create, mica_destroy, mica_add, mica_set and mica_remove are
 * recorded and applied by the flush after the phase, ordered by (system, slice, call). mica_view_commands returns the buffer;
 * its functions also store the source location for reports. A system with .flush_first sees what earlier systems of its phase
 * recorded: it and the systems after it run after all of them and a flush, which delivers messages like the one after a phase.
 * An exclusive system runs alone, after the changes of earlier systems are applied, and its changes are immediate.
 */
#ifndef MICA_SYSTEM_H
#define MICA_SYSTEM_H

#include "mica/command.h"
#include "mica/frame.h"

MICA_BEGIN

enum {
    MICA_VIEW_ROWS = 2048, /* the maximum number of rows in a view of a system: whole slices */
    MICA_SYSTEM_ORDERS_MAX = 8,
};

struct mica_index;
struct mica_stream;

/* What a system accesses besides its own rows: one component, stream or index. */
typedef struct mica_use {
    mica_component component;   /* of any entity, or a singleton */
    struct mica_stream *stream; /* see mica/stream.h */
    bool write;                 /* the system also writes the component, or writes the stream */
    struct mica_index *index;   /* is made current before the system starts: see mica/index.h */
} mica_use;

/* How the rows of a system are divided into jobs for the workers. The result is the same for all. */
typedef enum mica_parallel {
    MICA_PARALLEL_AUTO = 0,  /* equal parts for all workers, if it is worth it */
    MICA_PARALLEL_NONE,      /* one thread, in order */
    MICA_PARALLEL_EVEN,      /* equal parts, always */
    MICA_PARALLEL_EVERY,     /* one job per parallel_rows entities: for few entities with much work each */
    MICA_PARALLEL_THRESHOLD, /* equal parts from parallel_rows entities on, else one thread */
} mica_parallel;

/* Called with a range of rows of the system's query. view->frame has the rest. */
typedef void (*mica_view_fn)(mica_view *view);
/* Called with columns of `count` values in the order of the terms; NULL if a term has none. */
typedef void (*mica_columns_fn)(uint32_t count, void *const *columns);
typedef void (*mica_once_fn)(const mica_frame *frame);
/* Returns whether the system runs this time. Called on the owner's thread before the phase begins. */
typedef bool (*mica_condition_fn)(const mica_frame *frame);

/* The definition of a system. Zero is the default of everything except the name, one function and the terms. */
typedef struct mica_system_def {
    const char *name;          /* unique in its world; NULL: as .function_name */
    const char *function_name; /* set by MICA_SYSTEM */
    mica_view_fn view;         /* exactly one of these four functions */
    mica_each_fn each;
    mica_columns_fn columns;
    mica_once_fn once;
    const mica_term *terms;
    uint32_t term_count;
    uint32_t use_count;
    const mica_use *uses;
    void *context;
    mica_phase phase;
    const char *before[MICA_SYSTEM_ORDERS_MAX]; /* names of systems in the same phase; they can be added later */
    const char *after[MICA_SYSTEM_ORDERS_MAX];
    mica_parallel parallel;
    uint32_t parallel_rows;
    int32_t
        priority; /* of systems that are ready, the one with the highest priority starts first; affects only timing */
    uint32_t every_frames; /* runs every n-th run of its phase; 0 means every run */
    double every_seconds;  /* runs when this much time has passed since its last run */
    mica_condition_fn condition;
    mica_component order_by; /* as in mica_query_def: rows are sorted, on one thread */
    mica_compare_fn compare;
    void *compare_context;
    bool with_hidden;  /* as in mica_query_def: also runs over entities that are hidden */
    bool flush_first;  /* runs after all systems before it in the order of the phase, and a flush: see above */
    bool exclusive;    /* runs alone, and its changes are immediate; needs .once */
    bool while_paused; /* also runs while the world is paused, with real time */
    bool disabled;     /* starts disabled */
    mica_location location;
} mica_system_def;

/* Adds a system. The def is copied. On error returns zero with a report that names the system, the term and the source line:
 * unknown component, duplicate name, a cycle of before and after (with the names in it). During a frame only an exclusive system
 * can add one; it runs from the next frame on. Threads: owner. */
MICA_API mica_system mica_system_add(mica_world *world, const mica_system_def *def);

/* Replaces the def of a system, keeping its id and its position in the order. On error the old def stays. For code that is
 * reloaded. Threads: owner. */
MICA_API mica_result mica_system_replace(mica_world *world, mica_system system, const mica_system_def *def);

/* Removes a system. Returns false if there is none, and false with a report for a system that runs message handlers. During a
 * frame only an exclusive system can do this; the system is removed at the end of the frame. Threads: owner. */
MICA_API bool mica_system_remove(mica_world *world, mica_system system);

/* Enables or disables a system. Returns false if there is none. Threads: owner. */
MICA_API bool mica_system_enable(mica_world *world, mica_system system, bool enabled);

/* Finds a system by name, or returns zero. Threads: reader. */
MICA_API mica_system mica_system_find(const mica_world *world, const char *name);

/* Returns the name, or NULL. Valid as long as the system. Threads: reader. */
MICA_API const char *mica_system_name(const mica_world *world, mica_system system);

/* Returns the system that runs in this thread, or zero outside of systems of this world. Threads: any. */
MICA_API mica_system mica_system_running(const mica_world *world);

/* Returns the command buffer of this view's job, or NULL outside systems. Valid while the function of the system runs.
 * Threads: any, the view's own. */
MICA_API mica_commands *mica_view_commands(const mica_view *view);

/* Like above, for a system that runs once. Threads: any, the system's own. */
MICA_API mica_commands *mica_frame_commands(const mica_frame *frame);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_system_add(world, ...) mica_system_add(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_replace(world, ...) mica_system_replace(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_remove(world, ...) mica_system_remove(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_enable(world, ...) mica_system_enable(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_find(world, ...) mica_system_find(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_name(world, ...) mica_system_name(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_running(world) mica_system_running(MICA_AT_(world))
#    define mica_view_commands(view) mica_view_commands(MICA_AT_(view))
#    define mica_frame_commands(frame) mica_frame_commands(MICA_AT_(frame))
#endif

/* MICA_SYSTEM(function, terms...). The name of the function is the name of the system, unless there is a .name; its parameters decide the
 * kind. The compiler reports a function of no kind as one that does not match any association of _Generic. */
#define MICA_SYSTEM(fn, ...) MICA_SYSTEM_WITH(fn, (.disabled = false), __VA_ARGS__)
/* The same with more fields of the def: MICA_SYSTEM_WITH(function, (.phase = MICA_PHASE_END, .context = &log), terms...) */
#define MICA_SYSTEM_WITH(fn, options, ...)                                                                             \
    (&(const mica_system_def){.function_name = #fn,                                                                    \
                              .view = _Generic((fn), mica_view_fn: (fn), mica_each_fn: NULL, mica_columns_fn: NULL, mica_once_fn: NULL), \
                              .each = _Generic((fn), mica_each_fn: (fn), default: NULL),                               \
                              .columns = _Generic((fn), mica_columns_fn: (fn), default: NULL),                         \
                              .once = _Generic((fn), mica_once_fn: (fn), default: NULL),                               \
                              MICA_TERMS(__VA_ARGS__),                                                                 \
                              .location = MICA_HERE,                                                                   \
                              MICA_UNWRAP_ options})
/* MICA_SYSTEM_ONCE(function), MICA_SYSTEM_ONCE_WITH(function, options): a system that runs once, without terms, or with MICA_TERMS(...) in
 * the options. */
#define MICA_SYSTEM_ONCE(fn) MICA_SYSTEM_ONCE_WITH(fn, (.disabled = false))
#define MICA_SYSTEM_ONCE_WITH(fn, options)                                                                             \
    (&(const mica_system_def){.function_name = #fn, .once = (fn), .location = MICA_HERE, MICA_UNWRAP_ options})

/* .uses: MICA_USES(MICA_USE_READ(Position), MICA_USE_STREAM_WRITE(hits), {.index = grid}) */
#define MICA_USES(...)                                                                                                 \
    .uses = (const mica_use[]){__VA_ARGS__},                                                                           \
    .use_count = (uint32_t)(sizeof((const mica_use[]){__VA_ARGS__}) / sizeof(mica_use))
#define MICA_USE_READ(T) {MICA_ID(T), 0, false, 0}
#define MICA_USE_WRITE(T) {MICA_ID(T), 0, true, 0}
#define MICA_USE_STREAM_READ(stream) {0, (stream), false, 0}
#define MICA_USE_STREAM_WRITE(stream) {0, (stream), true, 0}

#endif
