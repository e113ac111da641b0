/* Random play: a world and its reference model, to which the same things are done. Every operation is one function
 * that draws its arguments, does it to both, and compares what came back. Everything follows from the seed.
 *
 * The operations live in play_direct.c (at once), play_recorded.c and play_recorded_crowds.c (by flush), play_text.c (as text), play_pools.c (what only pools can do),
 * play_queries.c (walking), play_snapshots.c (going back), play_rivals.c (components that exclude each other), play_opaque.c (components
 * without described fields), play_relations.c (edges) and play_crowds.c (sorting, and changing all that a query shows). */
#ifndef MICA_TESTS_SUPPORT_PLAY_H
#define MICA_TESTS_SUPPORT_PLAY_H

#include "faulty_allocator.h"
#include "match_set.h"
#include "model.h"
#include "random.h"

#include "mica/snapshot.h"

enum {
    PLAY_BUFFERS = 5, /* 0 is the world's own */
    PLAY_QUERIES = 6,
    PLAY_MARKS = 4,
    PLAY_REFS = 8,
    PLAY_STALE = 16,
    PLAY_BULK_MAX = 300,
    PLAY_DECK_MAX = 1024,
    PLAY_SNAPSHOTS = 4,
    PLAY_MONITORS = 4,
};

typedef struct play_config {
    uint64_t seed;
    uint64_t steps;
    uint32_t entity_limit;   /* above it, creation gives way to destruction */
    uint32_t samples;        /* one bit per sample that takes part: few of them make few archetypes */
    uint32_t validate_every; /* steps */
} play_config;

typedef struct play_query {
    mica_query *query; /* NULL until it is needed */
    model_query model;
    sample_kind sorted_by; /* SAMPLE_COUNT when it is not */
    uint32_t serial;       /* of no other query */
} play_query;

typedef struct play_mark {
    mica_version version;
    uint32_t epoch;
} play_mark;

typedef struct play_ref {
    mica_ref ref;
    sample_kind kind;
} play_ref;

typedef struct play play;
typedef struct play_snapshot play_snapshot;

typedef struct play_operation {
    const char *name;
    uint32_t weight;
    void (*run)(play *play);
    bool sweeps; /* costs as much as there are entities: done less often in large worlds */
} play_operation;

struct play {
    play_config config;
    random_source random;
    faulty_allocator allocator;
    mica_world *world;
    mica_dead_target dead_target;
    model model;
    mica_component ids[SAMPLE_COUNT];
    mica_pool *pools[SAMPLE_COUNT];  /* NULL for what is not in a pool */
    sample_kind kinds[SAMPLE_COUNT]; /* that take part */
    uint32_t kind_count;
    uint32_t opaques; /* components without described fields that take part, as bits */
    bool has_relations;
    bool grouped;
    uint32_t defer_depth;
    model_buffer buffers[PLAY_BUFFERS];
    mica_commands *commands[PLAY_BUFFERS]; /* in the order they were made; [0] is unused */
    play_query queries[PLAY_QUERIES];
    play_mark marks[PLAY_MARKS];
    play_ref refs[PLAY_REFS];
    mica_entity stale[PLAY_STALE]; /* handles that have died */
    uint32_t stale_count;
    uint32_t *seen;           /* by slot: the number of the last walk that showed it, */
    uint32_t *seen_instances; /* and which instances of it, as bits */
    uint32_t seen_count;
    uint32_t walk;
    model_events heard; /* by hooks */
    match_set monitors[PLAY_MONITORS];
    uint32_t dead_reports;
    uint32_t other_reports;
    char last_report[256];
    play_snapshot *snapshots;
    uint32_t snapshot_count; /* that live */
    uint32_t query_serial;
    uint64_t step;
    const char *operation;
    const play_operation *deck[PLAY_DECK_MAX]; /* every operation as often as it weighs */
    uint32_t deck_count;
};

extern const play_operation play_direct_operations[], play_recorded_operations[], play_pool_operations[],
    play_query_operations[], play_crowd_operations[], play_snapshot_operations[], play_rival_operations[],
    play_opaque_operations[], play_relation_operations[];
extern const uint32_t play_direct_count, play_recorded_count, play_pool_count, play_query_count, play_crowd_count,
    play_snapshot_count, play_rival_count, play_opaque_count, play_relation_count;

/* Components that exclude each other, which are no samples: an entity has one of them, or none. */
void play_rivals_begin(play *play);
uint32_t play_rival_in_chunks(const model_entity *entity); /* 0: none */
void play_compare_rivals(play *play, const model_entity *entity);
void play_note_rival(play *play, uint32_t buffer, model_command command); /* for the model */
void play_record_rival(play *play, uint32_t buffer, mica_entity entity);

/* Components without described fields, which are no samples. Some worlds have two of them: one in chunks and one in a pool. */
void play_opaque_begin(play *play);
void play_opaque_end(play *play);
uint32_t play_opaques_in_chunks(const model_entity *entity); /* as bits */
void play_compare_opaque(play *play, const model_entity *entity);
void play_compare_opaque_total(play *play); /* while nothing is recorded */
void play_record_opaque(play *play, uint32_t buffer, mica_entity entity);

/* Relations, in some worlds: the others take the paths of worlds without them. */
void play_relations_begin(play *play);
uint32_t play_relations_of(const model_entity *entity);          /* how many it is a source of */
void play_compare_edges(play *play, const model_entity *entity); /* of one relation, in turn */
void play_compare_all_edges(play *play, const model_entity *entity);
void play_compare_edge_totals(play *play);
void play_record_edge(play *play, uint32_t buffer, mica_entity source, mica_entity target);
/* For the model: the edges of an entity are copied to a clone at once, or by buffer 0. */
void play_clone_edges(play *play, mica_entity from, mica_entity to);
void play_record_cloned_edges(play *play, mica_entity from, mica_entity to);
bool play_has_guard_edges(const play *play, mica_entity source);

/* Before an operation destroys entities, or a flush does: removes edges, from the world and the model, if the outcome would depend on
 * the order of destruction. */
void play_begin_deaths(play *play, const mica_entity *entities, uint32_t count);
void play_begin_deaths_of_flush(play *play);
/* While the world records, edges can't be removed at once: then it records no destruction, if there are edges that refuse. */
bool play_may_record_deaths(const play *play, uint32_t buffer);
/* After an operation in which so many destructions were refused: what is destroyed as a consequence. */
void play_end_deaths(play *play, uint32_t refused);
void play_bury_the_fallen(play *play);

/* A bulk change while the world records. */
void play_record_crowd(play *play);

void play_flush(play *play);
void play_put_as_text(play *play);

/* Ends the test with the seed and the step that lead here, when the condition does not hold. */
#define EXPECT(play, condition) EXPECT_SAYING(play, condition, "%s", "")
#define EXPECT_SAYING(play, condition, ...)                                                                            \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            play_fail((play), __FILE__, __LINE__, #condition, __VA_ARGS__);                                            \
    } while (0)

_Noreturn void play_fail(const play *play, const char *file, int line, const char *condition, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Plays a whole world from its creation to its end. Returns its last hash: the same for the same config. */
uint64_t play_run(play_config config);

/* What operations share. */
sample_kind play_draw_sample(play *play);
sample_kind play_draw_whole_sample(play *play);
/* One that satisfies the condition; SAMPLE_COUNT when none that takes part does. */
sample_kind play_draw_sample_that(play *play, bool (*is)(sample_kind kind));
uint32_t play_draw_samples(play *play, uint32_t most); /* a set, as bits */
uint32_t play_draw_number(play *play);
mica_entity play_draw_living(play *play); /* nil when there is none */
mica_entity play_draw_any(play *play);    /* living for the most part, sometimes stale or nil */
bool play_is_full(const play *play);
void play_bury(play *play, mica_entity entity);   /* remembers a dead handle */
void play_kill(play *play, model_entity *entity); /* in the model, and buries it */
bool play_is_quiet(const play *play);             /* nothing is recorded anywhere */

/* The instance of an entity by its place in the order of addition; nil when there are not as many. */
mica_instance play_find_instance(const play *play, const model_entity *entity, sample_kind kind, uint32_t which);
void play_compare_instances(play *play, const model_entity *entity, sample_kind kind);
/* Compares the arrays of a pool with the model. Returns how many rows belong to the dead. */
uint32_t play_compare_pool(play *play, sample_kind kind);

/* Compares one entity, and the whole world, with the model. */
void play_compare_entity(play *play, const model_entity *entity);
void play_compare_all(play *play);

/* A values array for creation, made from a set of samples. Some ask for the default value. */
typedef struct play_values {
    sample_kind kinds[SAMPLE_COUNT];
    uint32_t numbers[SAMPLE_COUNT];
    mica_value values[SAMPLE_COUNT];
    sample_room rooms[SAMPLE_COUNT];
    uint32_t count;
} play_values;

void play_values_begin(play *play, play_values *values, uint32_t samples);
void play_values_end(play_values *values);

/* A query as drawn, and whether its terms depend on marks. */
void play_draw_query(play *play, model_query *query);
mica_query *play_make_query(play *play, const model_query *query, sample_kind sorted_by);
bool play_asks_for_time(const model_query *query);
play_query *play_draw_query_slot(play *play);

/* Forgets and remakes what hangs on the world: queries and command buffers. */
void play_queries_end(play *play);
void play_buffers_begin(play *play);
void play_buffers_end(play *play);
void play_snapshots_begin(play *play);
void play_snapshots_end(play *play);

#endif
