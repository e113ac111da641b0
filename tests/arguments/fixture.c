#define _DEFAULT_SOURCE 1
#include "fixture.h"
#include "observed.h"

#include <stdlib.h>
#include <string.h>

outcome call_outcome;

static mica_world *the_world;
static mica_world *the_other_world;
static mica_entity entities[4]; /* a parent, its two children, and one of a known name */
static mica_entity dead;
static const mica_frame *the_frame; /* of the system that makes the call, or NULL */
static mica_view *the_view;
static uint64_t hash_before;
static bool is_reading, is_plain; /* the call only reads; it is made outside of systems and hooks */
static uint32_t report_count;
static const char *case_file;
static int case_first_line, case_last_line;
static long stderr_before;

static void note_report(const char *text)
{
    if (report_count++ == 0)
        snprintf(call_outcome.text, sizeof call_outcome.text, "%s", text);
}

static void note_location(const char *file, int line)
{
    bool is_known = file && case_file && strcmp(file, case_file) == 0;
    call_outcome.is_elsewhere |= !is_known || line < case_first_line || line > case_last_line;
}

static void on_report(const mica_report *report, void *context)
{
    (void)context;
    note_report(report->text ? report->text : "(a report without a text)");
    note_location(report->location.file, report->location.line);
}

/* A report that was printed: "mica: FILE:LINE: TEXT". */
static void note_printed(const char *text)
{
    char file[1024] = "";
    int line = 0;
    note_report(text);
    bool has_location = sscanf(text, "mica: %1023[^:]:%d:", file, &line) == 2;
    note_location(has_location ? file : NULL, line);
}

/* Reports. Without a world they go to stderr, which the runner made a file. */

void begin_call(const char *file, int first_line, int last_line)
{
    report_count = 0;
    case_file = file;
    case_first_line = first_line;
    case_last_line = last_line;
    call_outcome = (outcome){0};
    is_reading = false;
    forget_errors();
    hash_before = the_world ? mica_world_hash(the_world) : 0;
    fflush(stderr);
    stderr_before = lseek(2, 0, SEEK_END);
}

static observed before_reading;

void begin_reading(const char *file, int first_line, int last_line)
{
    if (the_world)
        before_reading = observe_world(the_world, is_plain ? mica_world_mark(the_world) : 0);
    begin_call(file, first_line, last_line);
    is_reading = true;
}

void end_call(bool is_harmless)
{
    fflush(stderr);
    long printed = lseek(2, 0, SEEK_END) - stderr_before;
    if (error_text())
        note_report(error_text());
    if (printed > 0 && !takes_error()) { /* an error struct that is given must be filled in */
        char text[1024] = "";
        ssize_t count = pread(2, text, sizeof text - 1, stderr_before);
        text[count > 0 ? count : 0] = 0;
        note_printed(text);
    }
    call_outcome.has_reported = report_count > 0;
    call_outcome.is_harmless = is_harmless;
    call_outcome.has_changed = the_world && hash_before && mica_world_hash(the_world) != hash_before;
    call_outcome.is_reader = is_reading;
    call_outcome.has_touched = the_world && is_reading && is_touched(the_world, &before_reading);
    call_outcome.is_done = true;
}

bool is_zero(const void *bytes, size_t byte_count)
{
    for (size_t i = 0; i < byte_count; ++i)
        if (((const unsigned char *)bytes)[i])
            return false;
    return true;
}

bool worlds_are_valid(void)
{
    return (!the_world || mica_world_validate(the_world) == MICA_OK) &&
           (!the_other_world || mica_world_validate(the_other_world) == MICA_OK);
}

/* Functions of the program. */

void on_message(const mica_message *message)
{
    (void)message;
}

void on_request(const mica_request_group *group)
{
    (void)group;
}

void on_view(mica_view *view)
{
    (void)view;
}

void on_each(mica_entity entity, void *const *columns, void *context)
{
    (void)entity, (void)columns, (void)context;
}

void on_event(const mica_event *event)
{
    (void)event;
}

void on_frame(mica_world *world, void *context)
{
    (void)world, (void)context;
}

void on_input(mica_world *world, const void *bytes, size_t byte_count, void *context)
{
    (void)world, (void)bytes, (void)byte_count, (void)context;
}

void on_range(uint32_t begin, uint32_t end, void *context)
{
    (void)begin, (void)end, (void)context;
}

void on_compile_error(const mica_compile_error *error, void *context)
{
    (void)context;
    note_report(error->text);
}

int compare_floats(const void *a, const void *b, void *context)
{
    (void)context;
    float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

void *allocate_some(size_t bytes, size_t alignment, void *context)
{
    (void)alignment, (void)context;
    return malloc(bytes);
}

/* Worlds. */

const mica_world_def *valid_world_def(void)
{
    static mica_world_def def;
    def = mica_world_def_default();
    def.report = on_report;
    return &def;
}

mica_world *make_world(void)
{
    mica_world *world = mica_world_create(valid_world_def());
    REQUIRE(world && mica_flow_configure(world, valid_flow_def()) == MICA_OK);
    mica_define(world, Position);
    mica_define(world, Velocity);
    mica_define(world, Health);
    mica_define(world, Body);
    mica_define(world, Mass);
    mica_define(world, Burning);
    mica_define(world, Buff);
    mica_define(world, Near);
    mica_define(world, Grain);
    mica_define(world, Clock);
    mica_define(world, Frozen);
    mica_define(world, Answer);
    mica_define(world, Shape);
    return world;
}

static mica_entity make_entity(mica_world *world, float x)
{
    mica_entity entity = mica_create(world, MICA_WITH(Position, {x, 2, 3}), MICA_WITH(Velocity, {4, 5, 6}),
                                     MICA_WITH(Health, {7}), MICA_WITH(Body, {8, 9}));
    mica_set(world, entity, Burning, {x});
    mica_set(world, entity, Grain, {x, 1});
    mica_set(world, entity, Buff, {x});
    mica_set(world, entity, Shape, {{0}});
    return entity;
}

mica_world *valid_world(void)
{
    if (the_world)
        return the_world;
    the_world = make_world();
    dead = mica_create(the_world);
    for (uint32_t i = 0; i < 4; ++i)
        entities[i] = make_entity(the_world, (float)i);
    mica_pool_add(mica_pool_of(the_world, Buff), entities[0]);
    mica_pool_add(mica_pool_of(the_world, Buff), entities[1]);
    REQUIRE(mica_destroy(the_world, dead));
    mica_set_parent(the_world, entities[1], entities[0]);
    mica_set_parent(the_world, entities[2], entities[0]);
    mica_relate(the_world, entities[1], Near, entities[0]);
    mica_name_set(the_world, entities[0], mica_nil(), "parent");
    mica_name_set(the_world, entities[3], mica_nil(), "named");
    mica_name_set(the_world, entities[2], entities[0], "named");
    mica_singleton_write(the_world, Clock)->seconds = 1;
    return the_world;
}

/* A world with more entities than the first: the handle of its last entity is not alive there. */
mica_world *other_world(void)
{
    if (the_other_world)
        return the_other_world;
    the_other_world = make_world();
    for (uint32_t i = 0; i < 20; ++i)
        make_entity(the_other_world, (float)i);
    return the_other_world;
}

mica_world *world_with_handler(void)
{
    REQUIRE(mica_handler_add(valid_world(), MICA_HANDLER(Position, Damage, on_message)) == MICA_OK);
    return the_world;
}

mica_world *world_with_system(void)
{
    valid_system();
    return the_world;
}

mica_world *world_with_input(void)
{
    REQUIRE(mica_input_handle(valid_world(), on_input, NULL) == MICA_OK);
    return the_world;
}

mica_world *world_that_records(void)
{
    REQUIRE(mica_recording_begin(valid_world(), scratch("run.micarec"), NULL) == MICA_OK);
    return the_world;
}

mica_world *world_to_replay(void)
{
    valid_recording();
    mica_world *world = the_world; /* with what was recorded in it; a new one is as it was before */
    the_world = NULL;
    mica_world_destroy(world);
    return world_with_input();
}

mica_world *world_that_traces(void)
{
    REQUIRE(mica_trace_start(valid_world()) == MICA_OK);
    return the_world;
}

mica_world *world_with_stats(void)
{
    valid_system();
    REQUIRE(mica_stats_enable(the_world, 4) == MICA_OK && mica_step(the_world, 0.1f) == MICA_OK);
    return the_world;
}

mica_world *world_to_destroy(void)
{
    return make_world();
}

/* Entities and components. */

mica_entity valid_entity(void)
{
    valid_world();
    return entities[0];
}

mica_entity valid_child(void)
{
    valid_world();
    return entities[1];
}

mica_entity valid_sibling(void)
{
    valid_world();
    return entities[2];
}

mica_entity stale_entity(void)
{
    valid_world();
    return dead;
}

mica_entity foreign_entity(void)
{
    return make_entity(other_world(), 1);
}

mica_entity *valid_entities(void)
{
    valid_world();
    return entities;
}

mica_entity *valid_children(void)
{
    valid_world();
    return entities + 1;
}

mica_entity *stale_entities(void)
{
    static mica_entity stale[1];
    stale[0] = stale_entity();
    return stale;
}

mica_component *unknown_components(void)
{
    static mica_component unknown[2] = {UNKNOWN_COMPONENT, UNKNOWN_POOL_COMPONENT};
    return unknown;
}

mica_component *valid_components(void)
{
    static mica_component components[1];
    components[0] = MICA_ID(Position);
    return components;
}

mica_component *valid_pool_components(void)
{
    static mica_component components[2];
    components[0] = MICA_ID(Burning);
    components[1] = MICA_ID(Grain);
    return components;
}

mica_value *valid_values(void)
{
    static const Position position;
    static mica_value values[1];
    values[0] = (mica_value){MICA_ID(Position), sizeof position, &position};
    return values;
}

const char *const *valid_files(void)
{
    static const char *const files[] = {"first.json"};
    return files;
}

mica_type *valid_type(void)
{
    static const mica_field fields[] = {{"value", NULL, 0, 4, 1, MICA_KIND_F32, NULL}};
    static mica_type type = {
        .name = "Fresh", .fields = fields, .field_count = 1, .size_bytes = 4, .alignment = 4, .kind = MICA_KIND_STRUCT};
    return &type;
}

/* What the core makes. */

mica_query *valid_query(void)
{
    static mica_query *query;
    if (!query)
        query = mica_query_create(valid_world(), MICA_QUERY(MICA_WRITE(Position), MICA_READ(Velocity), MICA_WRITE(Body),
                                                            MICA_MAYBE_READ(Health)));
    REQUIRE(query);
    return query;
}

mica_edges *valid_edges(void)
{
    static mica_edges edges;
    edges = mica_targets(valid_world(), valid_child(), Near);
    return &edges;
}

mica_query *valid_join(void)
{
    static mica_query *query;
    return query ? query : (query = mica_query_text(valid_world(), "has Position, has Position($other)", NULL));
}

mica_view *valid_view(void)
{
    static mica_view view;
    if (the_view)
        return the_view;
    view = mica_query_begin(valid_query());
    REQUIRE(mica_view_next(&view));
    return &view;
}

mica_commands *valid_commands(void)
{
    static mica_commands *commands;
    if (!commands)
        commands = mica_commands_create(valid_world());
    REQUIRE(commands);
    return commands;
}

const mica_batch_group *valid_batch_group(void)
{
    static mica_batch_group group;
    group = (mica_batch_group){.count = 1, .column_count = 1, .columns = valid_values()};
    return &group;
}

mica_batch *valid_batch(void)
{
    mica_batch *batch;
    REQUIRE(mica_batch_begin(valid_world(), valid_batch_group(), 1, &batch) == MICA_OK);
    return batch;
}

mica_state *valid_state(void)
{
    mica_state *state;
    REQUIRE(mica_state_take(valid_world(), &state) == MICA_OK);
    return state;
}

/* A world without entities, another one each time. */
mica_world *unused_world(void)
{
    static mica_world *worlds[256];
    static uint32_t count;
    REQUIRE(count < 256);
    return worlds[count++] = mica_world_create(valid_world_def());
}

/* The state of a world that has time and no entities. */
static mica_state *empty_state(void)
{
    static mica_state *state;
    if (!state) {
        mica_world *world = unused_world();
        mica_time_set_scale(world, 1);
        REQUIRE(mica_state_take(world, &state) == MICA_OK);
    }
    return state;
}

const void *valid_state_bytes(void)
{
    size_t byte_count;
    return mica_state_bytes(empty_state(), &byte_count);
}

size_t valid_state_byte_count(void)
{
    size_t byte_count;
    mica_state_bytes(empty_state(), &byte_count);
    return byte_count;
}

mica_resume *valid_resume(void)
{
    mica_resume *resume;
    REQUIRE(mica_resume_begin(unused_world(), valid_state_bytes(), valid_state_byte_count(), NULL, 0, &resume) ==
            MICA_OK);
    return resume;
}

mica_removals *valid_removals(void)
{
    static mica_removals *removals;
    if (!removals)
        removals = mica_removals_create(valid_world(), Position);
    REQUIRE(removals);
    return removals;
}

mica_ref *valid_ref(void)
{
    static mica_ref ref;
    ref = mica_ref_of(valid_entity(), Position);
    return &ref;
}

mica_ref *stale_ref(void)
{
    static mica_ref ref;
    ref = mica_ref_of(stale_entity(), Position);
    return &ref;
}

mica_ref *forged_ref(void)
{
    static mica_ref ref;
    ref = mica_ref_of_id(valid_entity(), UNKNOWN_COMPONENT);
    return &ref;
}

mica_pool *valid_pool(void)
{
    return mica_pool_of(valid_world(), Burning);
}

mica_pool *valid_split_pool(void)
{
    return mica_pool_of(valid_world(), Grain);
}

mica_pool *valid_pool_of_many(void)
{
    return mica_pool_of(valid_world(), Buff);
}

mica_instance valid_instance(void)
{
    return mica_pool_find(valid_pool(), valid_entity());
}

mica_instance valid_split_instance(void)
{
    return mica_pool_find(valid_split_pool(), valid_entity());
}

/* Of the last row, which was removed. */
mica_instance stale_instance(void)
{
    mica_instance instance = mica_pool_find(valid_pool(), entities[3]);
    REQUIRE(mica_remove(the_world, entities[3], Burning));
    return instance;
}

/* What flow makes. */

const mica_flow_def *valid_flow_def(void)
{
    static mica_flow_def def;
    def = mica_flow_def_default();
    def.worker_count = 1;
    return &def;
}

/* A clock that ends the run after one frame, however many frames it should have. */
static double clock_that_stops(void *context)
{
    (void)context;
    mica_stop(valid_world());
    return 0;
}

static void wait_not(double seconds, void *context)
{
    (void)seconds, (void)context;
}

const mica_run_def *valid_run_def(void)
{
    static const mica_clock clock = {.now = clock_that_stops, .wait = wait_not};
    static mica_run_def def;
    def = mica_run_def_default();
    def.frame_count = 1;
    def.clock = &clock;
    return &def;
}

mica_stream *valid_stream(void)
{
    static mica_stream *stream;
    if (!stream)
        stream = mica_stream_create(valid_world(), MICA_STREAM_WITH(Damage, (.application = true)));
    REQUIRE(stream);
    return stream;
}

mica_stream *stream_with_message(void)
{
    REQUIRE(mica_stream_push(valid_stream(), Damage, {1}));
    return valid_stream();
}

mica_requests *valid_requests(void)
{
    static mica_requests *requests;
    if (!requests)
        requests = mica_requests_create(valid_world(), MICA_REQUESTS(Question, Answer, on_request, NULL));
    REQUIRE(requests);
    return requests;
}

mica_requests *requests_with_stream(void)
{
    mica_requests_def def = *MICA_REQUESTS(Question, Answer, on_request, NULL);
    def.as_stream = true;
    return mica_requests_create(valid_world(), &def);
}

static mica_system add_system(mica_world *world, const char *name)
{
    mica_system_def def = *MICA_SYSTEM(on_view, MICA_READ(Position));
    def.name = name;
    mica_system system = mica_system_add(world, &def);
    REQUIRE(system.id);
    return system;
}

mica_system valid_system(void)
{
    static mica_system system;
    if (!system.id)
        system = mica_system_add(valid_world(), MICA_SYSTEM(on_view, MICA_WRITE(Position)));
    REQUIRE(system.id);
    return system;
}

mica_system removed_system(void)
{
    mica_system system = add_system(valid_world(), "gone");
    REQUIRE(mica_system_remove(valid_world(), system));
    return system;
}

/* The fourth of another world; here there are at most two. */
mica_system foreign_system(void)
{
    static const char *const names[] = {"one", "two", "three", "four"};
    mica_system system = {0};
    for (uint32_t i = 0; i < 4; ++i)
        system = add_system(other_world(), names[i]);
    return system;
}

mica_phase valid_phase(void)
{
    static mica_phase phase = MICA_PHASE_NONE;
    if (phase == MICA_PHASE_NONE)
        phase = mica_phase_add(valid_world(), MICA_PHASE_AFTER("added", MICA_PHASE_UPDATE));
    REQUIRE(phase != MICA_PHASE_NONE);
    return phase;
}

mica_observer valid_observer(void)
{
    return mica_observer_add(valid_world(), MICA_OBSERVER(MICA_EVENT_ADD, Position, on_event));
}

static float zero_sum;

static void add_range(uint32_t begin, uint32_t end, void *sum, void *context)
{
    (void)context;
    *(float *)sum += (float)(end - begin);
}

static void add_view(mica_view *view, void *sum, void *context)
{
    (void)context;
    *(float *)sum += (float)view->count;
}

static void combine(void *sum, const void *later, void *context)
{
    (void)context;
    *(float *)sum += *(const float *)later;
}

const mica_reduction *valid_reduction(void)
{
    static const mica_reduction reduction = {&zero_sum, sizeof zero_sum, add_range, add_view, combine, NULL};
    return &reduction;
}

/* Where calls are made from. */

static mica_compiler *the_compiler;
static void (*the_call)(void);

void run_plain(void (*call)(void))
{
    is_plain = true;
    call();
}

static void call_in_system(mica_view *view)
{
    if (call_outcome.is_done)
        return;
    the_view = view;
    the_frame = view->frame;
    the_call();
}

void run_in_system(void (*call)(void))
{
    the_call = call;
    mica_system system = mica_system_add(valid_world(), MICA_SYSTEM(call_in_system, MICA_WRITE(Position)));
    REQUIRE(system.id && mica_step(the_world, 0.1f) == MICA_OK);
}

mica_frame *valid_frame(void)
{
    return (mica_frame *)the_frame;
}

static const mica_event *the_event;

static void call_in_observer(const mica_event *event)
{
    the_event = event;
    the_call();
}

void run_in_observer(void (*call)(void))
{
    the_call = call;
    mica_observer_add(valid_world(), &(mica_observer_def){.event = MICA_EVENT_USER, .fn = call_in_observer});
    REQUIRE(mica_event_emit(the_world, MICA_EVENT_USER, 0, valid_entity(), (mica_value){0}));
}

const mica_event *valid_event(void)
{
    return the_event;
}

static bool call_in_compile(mica_compiler *compiler, const struct json_t *value, void *out_instance, void *context)
{
    (void)value, (void)out_instance, (void)context;
    the_compiler = compiler;
    the_call();
    return true;
}

void run_in_compile(void (*call)(void))
{
    the_call = call;
    const mica_compile_rule rule = {.name = "Position", .compile = call_in_compile};
    mica_compile_def def = *valid_compile_def();
    def.rules = &rule;
    def.rule_count = 1;
    mica_compiled compiled = {0};
    mica_compile_text("case.json", JSON_TEXT, sizeof JSON_TEXT - 1, &def, &compiled);
    mica_compiled_free(&compiled);
}

mica_compiler *valid_compiler(void)
{
    return the_compiler;
}
