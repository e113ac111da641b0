/* Mica, system: a function that runs every frame over the entities that match.
 *
 *     static void move(mica_view *view)
 *     {
 *         Position *position = mica_view_write(view, Position);
 *         const Velocity *velocity = mica_view_read(view, Velocity);
 *         for (uint32_t i = 0; i < view->count; ++i)
 *             position[i].x += velocity[i].x * view->dt;
 *     }
 *     mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Position), MICA_READ(Velocity)));
 *     mica_system_add(world, MICA_SYSTEM_WITH(collide, (.phase = MICA_PHASE_FIXED, .after = {"move"}), MICA_READ(Position)));
 *
 * Four kinds of function, each with a macro:
 *   MICA_SYSTEM          (mica_view *view)                  a run of rows, up to MICA_VIEW_ROWS of them
 *   MICA_SYSTEM_EACH     (entity, columns, context)         one entity
 *   MICA_SYSTEM_COLUMNS  (count, columns)                   nothing but the columns, in the order of the terms
 *   MICA_SYSTEM_ONCE     (const mica_frame *frame)          once per run; it walks frame->query itself, if it likes
 *
 * Terms say what a system reads and writes. Two systems of a phase conflict when one writes what the other reads or writes;
 * conflicting systems run in the order they were added, unless .before and .after say otherwise, and all others at the same time.
 * One system runs in several threads at once, on different rows.
 *
 * The rows rule. A system by view, entity or columns touches no rows but those it is given. When two such systems follow
 * each other, the second may run on a slice while the first is still busy with others, and the scheduler runs a chain of
 * systems over a slice while it is in the cache. A system that looks up other entities (mica_get) says what it looks for:
 *   .uses = MICA_USES(MICA_USE_READ(Position))              any entity's Position, also where the term is its own
 * What is in .uses holds for the whole system: nobody writes it meanwhile. A system that writes other rows says
 * MICA_USE_WRITE, and runs in one thread.
 *
 * Inside a system the structure of the world stays as it is. mica_create, mica_destroy, mica_add, mica_set and mica_remove are
 * recorded for the piece of work that calls them and applied by the flush after the phase, ordered by (system, slice, call);
 * mica_view_commands gives the buffer, whose calls note their place in the source for reports. An exclusive system runs
 * alone, with the changes of those before it applied, and may change everything at once.
 */
#ifndef MICA_SYSTEM_H
#define MICA_SYSTEM_H

#include "mica/command.h"
#include "mica/frame.h"

MICA_BEGIN

enum {
    MICA_VIEW_ROWS = 2048, /* the most rows a view of a system shows: whole slices */
    MICA_SYSTEM_ORDERS_MAX = 8,
};

struct mica_stream;

/* What a system touches besides the columns of its rows. */
typedef struct mica_use {
    mica_component component;   /* of any entity, or a singleton; or 0 and */
    struct mica_stream *stream; /* a stream: see mica/stream.h */
    bool write;
} mica_use;

typedef enum mica_parallel {
    MICA_PARALLEL_AUTO = 0,  /* in even pieces over all workers, when it is worth it */
    MICA_PARALLEL_NONE,      /* all in one thread, in order */
    MICA_PARALLEL_EVEN,      /* in even pieces, always */
    MICA_PARALLEL_EVERY,     /* a piece for every parallel_rows entities: for few that are much work */
    MICA_PARALLEL_THRESHOLD, /* in even pieces from parallel_rows entities on, else in one thread */
} mica_parallel;

/* A run of rows of the system's query. view->frame has the rest. */
typedef void (*mica_view_fn)(mica_view *view);
/* Columns of `count` values in the order of the terms, NULL where a term has none. */
typedef void (*mica_columns_fn)(uint32_t count, void *const *columns);
typedef void (*mica_once_fn)(const mica_frame *frame);
/* Whether the system runs this time; asked by the owner's thread before its phase begins. */
typedef bool (*mica_condition_fn)(const mica_frame *frame);

/* All of a system. Zero is the default of everything but the name, one function, and the terms. */
typedef struct mica_system_def {
    const char *name;
    mica_view_fn view; /* exactly one of these four */
    mica_each_fn each;
    mica_columns_fn columns;
    mica_once_fn once;
    const mica_term *terms;
    uint32_t term_count;
    uint32_t use_count;
    const mica_use *uses;
    void *context;
    mica_phase phase;
    const char *before[MICA_SYSTEM_ORDERS_MAX]; /* names of systems in the phase; they may be added later */
    const char *after[MICA_SYSTEM_ORDERS_MAX];
    mica_parallel parallel;
    uint32_t parallel_rows;
    int32_t priority;      /* of those that may start, the higher one starts first; changes nothing but time */
    uint32_t every_frames; /* runs every n-th time its phase does; 0 is every time */
    double every_seconds;  /* runs when that time has passed since it ran last */
    mica_condition_fn condition;
    mica_component order_by; /* as in mica_query_def: rows come sorted, in one thread */
    mica_compare_fn compare;
    void *compare_context;
    bool exclusive;    /* runs alone, and what it changes is changed at once; needs .once */
    bool while_paused; /* runs although the world is paused, with the time that really passed */
    bool disabled;     /* added, but switched off */
    mica_location location;
} mica_system_def;

/* Adds a system; the def is copied. Returns zero with a report that names the system, the term and the source line: unknown
 * component, a name that is taken, a loop of before and after (with the names along it). Inside a frame only an exclusive
 * system may add one, which takes part from the next frame on. Threads: owner. */
MICA_API mica_system mica_system_add(mica_world *world, const mica_system_def *def);

/* Puts another def into the place of a system: same id, same place in the order. Returns an error and leaves the old one when
 * it can't. For code that is loaded anew. Threads: owner. */
MICA_API mica_result mica_system_replace(mica_world *world, mica_system system, const mica_system_def *def);

/* Removes a system. False when there is none, and with a report for one that runs handlers of messages, which bring it and take
 * it away themselves. Inside a frame only an exclusive system may, also itself; it goes when the frame ends. Threads: owner. */
MICA_API bool mica_system_remove(mica_world *world, mica_system system);

/* Switches a system off or on. False when there is none. Threads: owner. */
MICA_API bool mica_system_enable(mica_world *world, mica_system system, bool enabled);

/* Returns the system of that name, or zero. Threads: reader. */
MICA_API mica_system mica_system_find(const mica_world *world, const char *name);

/* Returns the name, or NULL; it lives as long as the system. Threads: reader. */
MICA_API const char *mica_system_name(const mica_world *world, mica_system system);

/* Returns the buffer that records for this view's piece of work, or NULL outside of systems. Lives while the system's
 * function runs. Threads: any, the view's own. */
MICA_API mica_commands *mica_view_commands(const mica_view *view);

/* As above for a system that runs once. Threads: any, the system's own. */
MICA_API mica_commands *mica_frame_commands(const mica_frame *frame);

typedef enum mica_graph_format { MICA_GRAPH_TEXT = 0, MICA_GRAPH_DOT } mica_graph_format;

/* Writes the order of systems with what each waits for and why, as text or for Graphviz, and returns the length of all of
 * it; `out` gets what fits into `capacity` bytes, ended by a zero. Returns 0 with a report when memory is short.
 * Threads: owner. */
MICA_API size_t mica_graph_write(mica_world *world, mica_graph_format format, char *out, size_t capacity);

MICA_END

/* MICA_SYSTEM(function, terms...); the function's name is the system's. */
#define MICA_SYSTEM(fn, ...) MICA_SYSTEM_DEF_(view, fn, (.disabled = false), __VA_ARGS__)
#define MICA_SYSTEM_EACH(fn, ...) MICA_SYSTEM_DEF_(each, fn, (.disabled = false), __VA_ARGS__)
#define MICA_SYSTEM_COLUMNS(fn, ...) MICA_SYSTEM_DEF_(columns, fn, (.disabled = false), __VA_ARGS__)
/* The same with more of the def: MICA_SYSTEM_WITH(function, (.phase = MICA_PHASE_END, .context = &log), terms...) */
#define MICA_SYSTEM_WITH(fn, options, ...) MICA_SYSTEM_DEF_(view, fn, options, __VA_ARGS__)
#define MICA_SYSTEM_EACH_WITH(fn, options, ...) MICA_SYSTEM_DEF_(each, fn, options, __VA_ARGS__)
#define MICA_SYSTEM_COLUMNS_WITH(fn, options, ...) MICA_SYSTEM_DEF_(columns, fn, options, __VA_ARGS__)
/* MICA_SYSTEM_ONCE(function), MICA_SYSTEM_ONCE_WITH(function, options): terms, where wanted, are MICA_TERMS(...) in the
 * options. */
#define MICA_SYSTEM_ONCE(fn) MICA_SYSTEM_ONCE_WITH(fn, (.disabled = false))
#define MICA_SYSTEM_ONCE_WITH(fn, options)                                                                             \
    (&(const mica_system_def){.name = #fn, .once = (fn), .location = MICA_HERE, MICA_UNWRAP_ options})
#define MICA_SYSTEM_DEF_(kind, fn, options, ...)                                                                       \
    (&(const mica_system_def){                                                                                         \
        .name = #fn, .kind = (fn), MICA_TERMS(__VA_ARGS__), .location = MICA_HERE, MICA_UNWRAP_ options})

/* .uses: MICA_USES(MICA_USE_READ(Position), MICA_USE_STREAM_WRITE(hits)) */
#define MICA_USES(...)                                                                                                 \
    .uses = (const mica_use[]){__VA_ARGS__},                                                                           \
    .use_count = (uint32_t)(sizeof((const mica_use[]){__VA_ARGS__}) / sizeof(mica_use))
#define MICA_USE_READ(T) {MICA_ID(T), 0, false}
#define MICA_USE_WRITE(T) {MICA_ID(T), 0, true}
#define MICA_USE_STREAM_READ(stream) {0, (stream), false}
#define MICA_USE_STREAM_WRITE(stream) {0, (stream), true}

#endif
