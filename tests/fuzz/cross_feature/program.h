/* A fuzz program: a list of operations over all public functions, on one to three worlds.
 *
 * Every byte string is a program. It begins with a header (how many worlds, and what each is like); then each eight bytes
 * are one step: the operation, the world, and six arguments. An operation draws its arguments with take_... as it needs
 * them; when the six are used up, more are derived from them. So no byte is meaningless and nothing has to be rejected, and
 * steps can be inserted and removed without changing the meaning of the others.
 *
 * Some operations have a body: the steps that follow, up to three, which run later, in a hook, an observer, an exclusive
 * system or a batch, instead of where they stand.
 *
 * After each step every world that it may have changed is validated. program_run ends with comparisons: what is saved and
 * loaded, a clone, a second run with another number of workers, and a replay of the recording that was made.
 *
 * To add a feature: write one function per operation in the operations_*.c file of its area, and one row in the table there. */
#ifndef MICA_TESTS_FUZZ_PROGRAM_H
#define MICA_TESTS_FUZZ_PROGRAM_H

#include "../../support/faulty_allocator.h"
#include "../../support/match_set.h"
#include "../../support/random.h"
#include "../../support/sample.h"

#include "mica/delta.h"
#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "mica/partition.h"
#include "mica/mica.h"
#include "mica/recording.h"
#include "mica/relation.h"
#include "mica/reload.h"
#include "mica/saver.h"
#include "mica/snapshot.h"

#include <stdio.h>

enum {
    HEADER_BYTES = 4,
    STEP_BYTES = 8,
    STEP_ARGUMENTS = STEP_BYTES - 2,
    STEPS_MAX = 240,
    PROGRAM_BYTES_MAX = HEADER_BYTES + STEPS_MAX * STEP_BYTES,
    WORLDS_MAX = 3,
    ENTITIES_KEPT = 24,    /* handles that a world remembers, dead ones among them */
    ENTITIES_LIMIT = 1500, /* nothing is created beyond it */
    BODY_STEPS_MAX = 3,
    BODY_BUDGET = 300, /* steps that bodies may run in one program */
    QUERIES = 4,
    LOOPS = 2,
    BUFFERS = 4,
    SNAPSHOTS = 5,
    HISTORY_TICKS = 8,
    REACTIONS = 24,
    SYSTEMS = 6,
    OBSERVERS = 6,
    MONITORS = 3,
    REFERENCES = 4,
    STREAMS = 2,
    INDEXES = 3,
    JOINS = 3,
};

/* Whether this build stops the program at a mistake, where others report it and continue. */
#ifdef MICA_CHECKED
enum { STOPS_AT_MISTAKES_HERE = 1 };
#else
enum { STOPS_AT_MISTAKES_HERE = 0 };
#endif

typedef struct step {
    uint8_t operation;
    uint8_t world;
    uint8_t arguments[STEP_ARGUMENTS];
} step;

typedef struct program program;
typedef struct scene scene;

/* A message, a question, and what goes through streams. Those that are answered with messages end: each has less energy. */
typedef struct FuzzPing {
    uint32_t energy;
    mica_entity about;
    mica_text words; /* of its energy: see fuzz_words */
    mica_list numbers;
} FuzzPing;
MICA_STRUCT(FuzzPing, energy, about, words, (numbers, uint16_t))

/* The words of a message with this energy: none, in place and in a block. */
static inline const char *fuzz_words(uint32_t energy)
{
    static const char *const words[4] = {"", "ping", "a ping that is longer than its place", "pong"};
    return words[energy % 4];
}
#define FUZZ_PING(energy_, about_) {.energy = (energy_), .about = (about_), .words = mica_text_of(fuzz_words(energy_))}
static inline bool fuzz_ping_is_whole(const FuzzPing *ping)
{
    uint32_t count = mica_list_count(&ping->numbers);
    const uint16_t *numbers = mica_list_items(&ping->numbers, uint16_t);
    return mica_text_is(&ping->words, fuzz_words(ping->energy)) && (!count || numbers[count - 1] == count);
}

/* Components that exclude each other, in every storage. */
typedef struct FuzzDay {
    uint32_t hour;
} FuzzDay;
MICA_COMPONENT(FuzzDay, hour)
MICA_TAG_WITH(FuzzNight, (.excludes = MICA_TYPES(FuzzDay)))
typedef FuzzDay FuzzDusk;
typedef struct FuzzLikes {
    uint32_t amount;
} FuzzLikes;
MICA_RELATION(FuzzLikes, amount)
MICA_RELATION_WITH(FuzzDocked, (.exclusive = true, .ordered = true, .on_target = MICA_TARGET_DESTROY))
MICA_RELATION_WITH(FuzzBorders, (.symmetric = true))
MICA_RELATION_WITH(FuzzBelow, (.acyclic = true, .transitive = true))
MICA_RELATION_WITH(FuzzRemembers, (.on_target = MICA_TARGET_KEEP))
MICA_RELATION_WITH(FuzzUnder, (.exclusive = true, .acyclic = true))
MICA_RELATION_WITH(FuzzGuards, (.on_target = MICA_TARGET_REFUSE))
MICA_POOL_WITH(FuzzDusk, (.excludes = MICA_TYPES(FuzzDay, FuzzNight)), hour)
typedef FuzzDay FuzzDawn;
MICA_COMPONENT_WITH(FuzzDawn, (.required = MICA_TYPES(FuzzNight)), hour)

/* Where a body runs. */
typedef enum body_kind {
    BODY_NONE,
    BODY_HOOK, /* or an observer */
    BODY_EXCLUSIVE,
    BODY_EACH,
    BODY_BATCH,
} body_kind;

/* What a hook, an observer or a system does: a body, or one of a few things that any thread may do. */
typedef struct reaction {
    program *program;
    scene *scene;
    uint32_t body_first;
    uint32_t body_count;
    uint8_t choice;
    sample_kind reads;
    sample_kind changes;
} reaction;

typedef struct kept_snapshot {
    mica_snapshot snapshot;
    uint64_t hash;
    uint32_t delta_count; /* applied before it was taken */
    uint32_t
        stream_age; /* messages of destroyed streams do not come back, nor do ticks of removed phases, nor does the time that
                              a system with a rate has waited which was removed or has another name */
} kept_snapshot;

typedef struct kept_tick {
    uint64_t tick;
    uint64_t hash;
    uint32_t delta_count;
    uint32_t stream_age;
} kept_tick;

typedef struct kept_query {
    mica_query *query;
    sample_kind reads; /* the component of its first term; SAMPLE_COUNT when there is none */
    bool writes;       /* and whether that is a WRITE */
    sample_kind kinds[3];
    bool shows_switches[3]; /* the term gives a column, and its component can be toggled */
    uint32_t term_count;
} kept_query;

/* A query about several entities. */
typedef struct kept_join {
    mica_query *query;
    mica_component first;  /* the relation from this entity to the first variable */
    mica_component second; /* from there to the second one; 0: there is none */
    bool is_second_optional;
    bool is_pair; /* it asks for nothing but the first edge */
    bool with_hidden;
} kept_join;

typedef struct open_loop {
    mica_view view;
    kept_query *query; /* NULL when no loop is open */
    mica_version structure;
    bool has_rows;
} open_loop;

/* A world with everything that was made for it. */
struct scene {
    mica_world *world;
    program *program;
    uint32_t number;
    uint8_t config;
    bool has_allocator; /* of its own, which can fail */
    faulty_allocator allocator;
    uint64_t failures_seen;
    const sample_kind *kinds; /* the components that take part */
    uint32_t kind_count;

    mica_entity entities[ENTITIES_KEPT];
    uint32_t entity_next;
    uint32_t highest_index;

    kept_query queries[QUERIES];
    open_loop loops[LOOPS];
    kept_join joins[JOINS];
    mica_commands *buffers[BUFFERS];
    uint32_t recorded_count; /* changes recorded since the last flush */
    uint32_t defer_depth;
    mica_ref references[REFERENCES];
    mica_removals *removals;
    mica_index *indexes[INDEXES];
    mica_query *indexed[INDEXES]; /* what each of them must have */
    mica_version mark;

    reaction reactions[REACTIONS];
    uint32_t reaction_next;
    mica_observer observers[OBSERVERS];
    match_set monitors[MONITORS];
    bool went_back; /* in this step, which tells monitors nothing */
    mica_system systems[SYSTEMS];
    bool has_rate[SYSTEMS];
    uint32_t system_serial;
    mica_phase phase;
    mica_stream *streams[STREAMS];
    uint32_t stream_age;
    mica_requests *requests;
    bool is_traced;

    kept_snapshot snapshots[SNAPSHOTS];
    mica_history *history;
    kept_tick ticks[HISTORY_TICKS];
    uint64_t tick;

    mica_sender *sender;
    mica_replica *replica;
    scene *followed;   /* the world that the replica follows */
    bool only_follows; /* nothing but deltas has changed this world */
    bool is_mapped;
    uint32_t delta_count; /* that were applied */
    bool has_uncarried;   /* components that deltas do not carry */
    uint32_t sender_serial;
    uint32_t followed_serial;

    bool is_sealed;
    bool is_recording;
    bool is_closing;
    mica_saver *saver;
    mica_blob blob;
    mica_resource *resource;
    mica_blob blob_of_spawned;
    mica_resource *resource_of_spawned;
    mica_spawned *spawned;
    struct sqlite3 *database;
    struct sqlite3_stmt *statement;
};

/* What a world is like: bits of its byte in the header. */
enum {
    CONFIG_KINDS = 3, /* which components */
    CONFIG_ALLOCATOR = 4,
    CONFIG_SMALL_CHUNKS = 8,
    CONFIG_WORKERS = 16,
    CONFIG_DEAD_TARGET_SHIFT = 5,
    CONFIG_EMPTY = 128, /* the others begin with a few entities */
};

/* What is compared between two runs of the same program. */
typedef struct history_of_hashes {
    uint32_t count;
    uint64_t hashes[STEPS_MAX];
} history_of_hashes;

struct program {
    const step *steps;
    uint32_t step_count;
    uint32_t next;
    scene scenes[WORLDS_MAX];
    uint32_t scene_count;
    const step *current;
    uint32_t taken;
    uint32_t depth; /* of bodies */
    body_kind body; /* the innermost */
    uint32_t body_budget;
    const mica_entity *event_entities; /* of the event that the body runs for */
    uint32_t event_count;
    bool is_repeating;
    bool
        repeated_longer; /* because memory grew late, which may depend on time: another run need not have the same steps */
    bool defers_in_bodies;
    bool used_faults;
    bool used_workers;
    bool swaps_workers;      /* 1 for 3 and the other way round: the second run */
    bool replays;            /* stops at the recording, and replays the one of the first run */
    uint32_t recording_step; /* where the recording began; 0: there is none */
    bool has_recording;      /* a recording is complete and can be replayed */
    bool is_over;
    FILE *out; /* where steps are printed; NULL: nowhere */
    history_of_hashes *hashes;
};

/* What an operation may be used for. */
enum {
    IN_BODY = 1,  /* also in hooks, observers, exclusive systems and batches */
    READS = 2,    /* the world hash stays the same */
    AS_INPUT = 4, /* depends on nothing but the world and the handles it remembers: it can be input of a recording */
    WHILE_RECORDING = 8,  /* changes nothing that a recording must know */
    KEEPS_FOLLOWING = 16, /* a replica is still the world that it follows */
    SLOW = 32,            /* is not repeated */
    SWITCHED_OFF = 64,    /* meets a bug that is known and not fixed */
};

typedef struct operation {
    const char *name;
    void (*run)(program *program, scene *scene);
    uint32_t flags;
} operation;

extern const operation entity_operations[], pool_operations[], query_operations[], command_operations[],
    hierarchy_operations[], index_operations[], relation_operations[], join_operations[], event_operations[],
    system_operations[], message_operations[], snapshot_operations[], replication_operations[], resource_operations[],
    sql_operations[], world_operations[];
extern const uint32_t entity_operation_count, pool_operation_count, query_operation_count, command_operation_count,
    hierarchy_operation_count, index_operation_count, relation_operation_count, join_operation_count,
    event_operation_count, system_operation_count, message_operation_count, snapshot_operation_count,
    replication_operation_count, resource_operation_count, sql_operation_count, world_operation_count;

#define OPERATIONS(area) const uint32_t area##_operation_count = sizeof area##_operations / sizeof *area##_operations;

/* The operation that a byte stands for, and how many there are. */
const operation *operation_of(uint8_t byte);
uint32_t operation_count(void);

/* Runs a program with all comparisons; prints its steps when `out` is not NULL. Aborts when something is wrong. */
void program_run(const uint8_t *bytes, size_t byte_count, FILE *out);

/* Writes a program as text, one step per line, and reads it again. Both return how many bytes they wrote. */
size_t program_print(const uint8_t *bytes, size_t byte_count, FILE *out);
size_t program_parse(const char *text, uint8_t *out_bytes, size_t capacity);

/* Fills in a random program. Each uses a few of the operations only: features meet more often then (swarm testing; Groce et
 * al., 2012). Returns its length in bytes. */
size_t program_draw(random_source *random, uint8_t *out_bytes);

/* The failure, in shared memory where the process that watches has set one: what is the same for the same mistake. */
enum { FAILURE_BYTES = 256 };
extern char *program_failure;

#define EXPECT(program, condition, what)                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            program_fail((program), (what), __FILE__, __LINE__);                                                       \
    } while (0)
_Noreturn void program_fail(const program *program, const char *what, const char *file, int line);

/* Arguments of the current step. */
uint8_t take(program *program);
uint32_t take_below(program *program, uint32_t limit);
bool take_one_in(program *program, uint32_t odds);
sample_kind take_kind(program *program, scene *scene);
sample_kind take_kind_that(program *program, scene *scene, bool (*is)(sample_kind kind)); /* or SAMPLE_COUNT */
mica_entity take_entity(program *program, scene *scene);
scene *take_other_scene(program *program, scene *scene); /* NULL when there is one world only */

bool scene_is_in_transaction(const scene *scene); /* of SQL */

/* Values for a creation: up to four components. */
typedef struct drawn_values {
    uint32_t count;
    mica_value values[4];
    sample_kind kinds[4];
    sample_room rooms[4];
} drawn_values;
void take_values(program *program, scene *scene, drawn_values *out);
void give_values_back(drawn_values *values);

/* The steps that follow become the body of a reaction. Returns NULL when there is no room for one. */
reaction *take_reaction(program *program, scene *scene);
void run_body(reaction *reaction, body_kind kind, const mica_entity *entities, uint32_t count);

void remember(scene *scene, mica_entity entity);
bool is_full(const scene *scene);
bool is_many(sample_kind kind);
bool is_pool_with_rows(sample_kind kind);

/* Whether changes may be waiting for a flush. */
bool is_recorded(const scene *scene);

/* The handle space of all worlds of a program: replicas have that of their senders. */
static inline uint32_t program_handle_space(const program *program)
{
    return program->scene_count % 3;
}

/* Makes a world in a scene, and gives back all that is in one. */
void scene_open(program *program, scene *scene, uint8_t config);
void scene_open_with(program *program, scene *scene, mica_world *world);
void scene_close(program *program, scene *scene);
void scene_close_loops(scene *scene, const kept_query *query);
/* Rules for components with functions that deltas carry: their described fields are enough. */
const mica_resource_rule *scene_rules(uint32_t *out_count);
/* Rules for files: of every component the described fields are enough. */
const mica_resource_rule *file_rules(uint32_t *out_count);
void scene_define(scene *scene);

/* Lets input of a recording be a step of the program. */
void scene_take_input(scene *scene);

void program_note_report(const mica_report *report, void *context);

/* Runs one step of the outermost level, with its checks. */
void program_step(program *program, const step *step);

/* A path for a file of this process. */
const char *scratch_path(const char *name);

/* What a system or a handler does to some entities, in any thread: it depends on nothing but them. */
enum { REACTION_CHOICES = 16 };
void react(const reaction *reaction, const mica_entity *entities, uint32_t count, uint32_t energy);
bool reaction_writes_stream(const reaction *reaction);

/* The comparisons at the end. */
void compare_clone(program *program, scene *scene);
void compare_save(program *program, scene *scene);

#endif
