/* What the calls of the argument test are made with. Each case runs in a process of its own, in which everything here is
 * made when it is first asked for. */
#ifndef ARGUMENTS_FIXTURE_H
#define ARGUMENTS_FIXTURE_H

#include "mica/cluster.h"
#include "mica/lua.h"
#include "mica/compile.h"
#include "mica/delta.h"
#include "mica/draft.h"
#include "mica/flow.h"
#include "mica/index.h"
#include "mica/inspect.h"
#include "mica/library.h"
#include "mica/module_load.h"
#include "mica/partition.h"
#include "mica/ranks.h"
#include "mica/recording.h"
#include "mica/relation.h"
#include "mica/prefab.h"
#include "mica/reload.h"
#include "mica/saver.h"
#include "mica/snapshot.h"
#include "mica/sql.h"
#include "mica/arrow.h"
#include "mica/transform.h"
#include "mica/value.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

typedef struct Position {
    float x, y, z;
} Position;
typedef struct Velocity {
    float x, y, z;
} Velocity;
typedef struct Health {
    float points;
} Health;
typedef struct Body {
    float mass, charge;
} Body;
typedef struct Mass {
    float value;
} Mass;
typedef struct Burning {
    float seconds;
} Burning;
typedef struct Buff {
    float amount;
} Buff;
typedef struct Grain {
    float mass, charge;
} Grain;
typedef struct Near {
    float meters;
} Near;
typedef struct Clock {
    float seconds;
} Clock;
typedef struct Damage {
    float points;
} Damage;
typedef struct Question {
    float value;
} Question;
typedef struct Answer {
    float value;
} Answer;
typedef struct Shape {
    mica_asset mesh;
} Shape;
MICA_COMPONENT(Position, x, y, z)
MICA_COMPONENT(Velocity, x, y, z)
MICA_COMPONENT_WITH(Health, (.toggle = true), points)
MICA_COMPONENT_WITH(Body, (.split = true, .track_changed = true), mass, charge)
MICA_COMPONENT(Mass, value)
MICA_POOL(Burning, seconds)
MICA_POOL_WITH(Buff, (.many = true), amount)
MICA_RELATION_WITH(Near, (.ordered = true), meters)
MICA_POOL_WITH(Grain, (.split = true), mass, charge)
MICA_SINGLETON(Clock, seconds)
MICA_STRUCT(Damage, points)
MICA_STRUCT(Question, value)
MICA_COMPONENT(Answer, value)
MICA_COMPONENT(Shape, mesh)
MICA_TAG(Frozen)

/* Ends the case when something valid can't be made. */
#define REQUIRE(condition)                                                                                             \
    ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition), _exit(3)))

enum { UNKNOWN_COMPONENT = 32000, UNKNOWN_POOL_COMPONENT = 65000 };

#define VALUE(T) ((mica_value){MICA_ID(T), sizeof(T), &(T){0}})
#define JSON_TEXT "{\"entities\": [{\"name\": \"rock\", \"components\": {\"Position\": {\"x\": 1}}}]}"

/* The public function that the case calls. */
extern const char *called_function;

typedef enum expectation {
    EXPECT_SUCCESS,   /* a result, and no report */
    EXPECT_NO_REPORT, /* the result says nothing */
    EXPECT_REPORT,    /* no result, no change, and a report */
    EXPECT_QUIET,     /* no result and no change */
    EXPECT_LOUD,      /* a result, or a report */
    EXPECT_ANY,       /* neither crash nor damage */
} expectation;

typedef struct argument_case {
    const char *function;
    const char *label; /* of the argument that is bad, and how */
    expectation expected;
    void (*run)(void (*call)(void));
    void (*call)(void);
} argument_case;

extern const argument_case argument_cases[];
extern const unsigned argument_case_count;

/* What became of the call: filled in by begin_call and end_call, which each case calls right before and after it. */
typedef struct outcome {
    bool is_done;
    bool is_harmless; /* the result is what a call returns that did nothing */
    bool has_reported;
    bool has_changed;  /* the hash of the world is another one */
    bool is_reader;    /* the call only reads */
    bool has_touched;  /* something else of the world is, after a call that only reads */
    bool is_elsewhere; /* a report does not name a line of the case */
    char text[512];    /* of the first report */
} outcome;

extern outcome call_outcome;
/* The call, and what it is given, is on the lines from `first_line` to `last_line` of a file. */
void begin_call(const char *file, int first_line, int last_line);
/* The same for a call that only reads: what a program sees of the world is compared. */
void begin_reading(const char *file, int first_line, int last_line);
void end_call(bool is_harmless);
bool is_zero(const void *bytes, size_t byte_count);
/* Whether the worlds that were made are sound. */
bool worlds_are_valid(void);

/* Where calls are made from. */
void run_plain(void (*call)(void));
void run_in_system(void (*call)(void));
void run_in_observer(void (*call)(void));
void run_in_compile(void (*call)(void));

/* Error structs that the call was given, and what they say; NULL when they say nothing. */
void forget_errors(void);
bool takes_error(void);
const char *error_text(void);

/* The path of a file in a folder for all cases. */
const char *scratch(const char *name);
const char *scratch_folder(void);
const char *text_file(const char *name, const char *text);
const char *long_text(void);

/* Functions of the program. */
void on_message(const mica_message *message);
void on_request(const mica_request_group *group);
void on_view(mica_view *view);
void on_each(mica_entity entity, void *const *columns, void *context);
void on_event(const mica_event *event);
void on_frame(mica_world *world, void *context);
static inline void on_traffic(const mica_traffic *traffic, void *context)
{
    (void)traffic, (void)context;
}
bool on_arrow_bytes(const void *bytes, size_t byte_count, void *context);
static inline void on_system(mica_world *world, mica_system system, void *context)
{
    (void)world, (void)system, (void)context;
}
void on_input(mica_world *world, const void *bytes, size_t byte_count, void *context);
void on_range(uint32_t begin, uint32_t end, void *context);
void on_compile_error(const mica_compile_error *error, void *context);
int compare_floats(const void *a, const void *b, void *context);
void *allocate_some(size_t bytes, size_t alignment, void *context);

/* A world with components and nothing else; the one that most calls are about; and another one. */
mica_world *make_world(void);
mica_world *valid_world(void);
mica_world *other_world(void);
mica_world *world_with_handler(void);
mica_world *world_with_system(void);
mica_world *world_with_input(void);
mica_world *world_that_records(void);
mica_world *world_to_replay(void);
mica_world *world_that_traces(void);
mica_world *world_with_stats(void);
mica_world *world_to_destroy(void);

mica_entity valid_entity(void);
mica_entity valid_child(void);
mica_entity valid_sibling(void);
mica_entity stale_entity(void);
mica_entity foreign_entity(void);
mica_entity *valid_entities(void);
mica_entity *valid_children(void);
mica_entity *stale_entities(void);
mica_component *unknown_components(void);
mica_component *valid_components(void);
mica_component *valid_pool_components(void);
mica_value *valid_values(void);
const char *const *valid_files(void);
mica_type *valid_type(void);

mica_query *valid_query(void);
mica_view *valid_view(void);
mica_query *valid_join(void); /* it has a variable with a name */
mica_edges *valid_edges(void);
mica_frame *valid_frame(void);
const mica_event *valid_event(void);
mica_commands *valid_commands(void);
mica_batch *valid_batch(void);
mica_state *valid_state(void);
mica_resume *valid_resume(void);
mica_world *unused_world(void);
const void *valid_state_bytes(void);
size_t valid_state_byte_count(void);
mica_removals *valid_removals(void);
mica_index *valid_index(void);
mica_index *valid_grid(void);
mica_index_def *valid_index_def(void);
mica_cluster_def *valid_cluster_def(void);
mica_cluster *valid_cluster(void);
mica_lua *valid_lua(void);
const char *valid_script_path(void);
const char *loaded_script(void);
mica_cluster *unused_cluster(void);
const char *cluster_save_path(void);
mica_entity valid_clustered(void);
mica_stream *shared_stream(void);
mica_cluster *cluster_that_traces(void);
const char *on_guard(const mica_world *world, mica_entity entity, void *context);
uint64_t valid_identity(void);
mica_cluster_neighbour *valid_cluster_neighbour(void);
mica_cluster_reduction *valid_cluster_reduction(void);
void on_combine(void *to, const void *from, void *context);
mica_match *valid_match(void);
mica_partition *valid_partition(void);
void on_neighbours(mica_entity entity, const mica_neighbour *neighbours, uint32_t count, void *context);
mica_ref *valid_ref(void);
mica_ref *stale_ref(void);
mica_ref *forged_ref(void);
mica_pool *valid_pool(void);
mica_pool *valid_split_pool(void);
mica_pool *valid_pool_of_many(void);
mica_instance valid_instance(void);
mica_instance valid_split_instance(void);
mica_instance stale_instance(void);
mica_stream *valid_stream(void);
mica_stream *stream_with_message(void);
mica_requests *valid_requests(void);
mica_requests *requests_with_stream(void);
mica_system valid_system(void);
mica_system removed_system(void);
mica_system foreign_system(void);
mica_phase valid_phase(void);
mica_observer valid_observer(void);
mica_hash_tree *valid_hash_tree(void);
mica_hash_tree *other_hash_tree(void);
mica_snapshot valid_snapshot(void);
mica_snapshot dropped_snapshot(void);
mica_snapshot foreign_snapshot(void);
mica_history *valid_history(void);
mica_sender *valid_sender(void);
mica_inspector *valid_inspector(void);
mica_replica *valid_replica(void);
const void *delta_bytes(void);
size_t delta_byte_count(void);
mica_recording *valid_recording(void);
const char *recording_path(void);
const void *recording_bytes(void);
size_t recording_byte_count(void);
mica_recording_error *error_of_recording(void);

mica_resource *valid_resource(void);
const char *resource_path(void);
const void *resource_bytes(void);
size_t resource_byte_count(void);
mica_asset resource_asset(void);
mica_resource *resource_with_assets(void);
mica_resource_error *error_of_resource(void);
mica_value_error *error_of_value(void);
mica_text *valid_dynamic_text(void);
mica_list *valid_list(void);
mica_member valid_member(void);
mica_blob *valid_blob(void);
mica_spawned *valid_spawned(void);
mica_watch *valid_watch(void);
mica_modules *valid_modules(void);
mica_ranks *valid_ranks(void);
const mica_module_def *valid_module_def(void);
mica_library *valid_library(void);
mica_asset library_asset(void);
mica_asset valid_asset(void);
const mica_resource *library_resource(void);
mica_draft *valid_draft(void);
mica_saver *valid_saver(void);
mica_schema *valid_schema(void);
const char *schema_path(void);
const char *json_path(void);
mica_compiler *valid_compiler(void);
struct sqlite3 *valid_database(void);
struct ArrowSchema *valid_arrow_schema(void);
struct ArrowArrayStream *valid_arrow_stream(void);
FILE *valid_stdio(void);

const mica_batch_group *valid_batch_group(void);
const mica_compile_def *valid_compile_def(void);
const mica_flow_def *valid_flow_def(void);
const mica_run_def *valid_run_def(void);
const mica_library_def *valid_library_def(void);
const mica_reduction *valid_reduction(void);
const mica_save_def *valid_save_def(void);
const mica_sender_def *valid_sender_def(void);
const mica_spawn_def *valid_spawn_def(void);
mica_entity valid_prefab_root(void);
mica_entity valid_prefab(void);
const mica_world_def *valid_world_def(void);

#endif
