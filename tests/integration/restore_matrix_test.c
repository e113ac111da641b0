/* Restores against everything that holds a version, a cache or an order. A world lives at random and goes to earlier, later and
 * sibling snapshots. A consumer that lives as long as the world must then answer what a new one answers. What is part of the
 * world must answer what it answered right after the snapshot was taken. */
#include "mica/arrow.h"
#include "mica/flow.h"
#include "mica/hash.h"
#include "mica/hierarchy.h"
#include "mica/index.h"
#include "mica/pool.h"
#include "mica/saver.h"
#include "mica/snapshot.h"
#include "mica/sql.h"
#include "mica/transform.h"
#include "mica/value.h"
#include "support/components.h"
#include "support/edge_consumers.h"
#include "support/follow.h"
#include "support/require.h"
#include "support/sample.h"
#include "support/test.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SNAPSHOTS = 6, BUFFERS = 3, STEPS = UNDER_SANITIZER ? 60 : 220 };

/* Queries. */
static int compare_small(const void *a, const void *b, void *context)
{
    return sample_small_compare(a, b, context);
}

static mica_query *open_query(mica_world *world, mica_access access, sample_kind kind, mica_access other_access,
                              sample_kind other)
{
    mica_term terms[] = {{.component = sample_id(kind), .access = access},
                         {.component = sample_id(other), .access = other_access}};
    return mica_query_create(world, &(mica_query_def){.name = "matrix", .terms = terms, .term_count = 2});
}

static void *open_plain(mica_world *world)
{
    return open_query(world, MICA_ACCESS_READ, SAMPLE_SMALL, MICA_ACCESS_MAYBE_READ, SAMPLE_PADDED);
}

static void *open_filtered(mica_world *world)
{
    return open_query(world, MICA_ACCESS_READ, SAMPLE_SWITCHED, MICA_ACCESS_WITHOUT, SAMPLE_TAG);
}

static void *open_either(mica_world *world)
{
    return open_query(world, MICA_ACCESS_EITHER, SAMPLE_SMALL, MICA_ACCESS_OR, SAMPLE_POOL);
}

static void *open_joined(mica_world *world)
{
    return open_query(world, MICA_ACCESS_READ, SAMPLE_POOL, MICA_ACCESS_READ, SAMPLE_POOL_HASH);
}

static void *open_joined_with_chunks(mica_world *world)
{
    return open_query(world, MICA_ACCESS_READ, SAMPLE_POOL, MICA_ACCESS_READ, SAMPLE_SMALL);
}

static void *open_changed(mica_world *world)
{
    return open_query(world, MICA_ACCESS_READ, SAMPLE_SMALL, MICA_ACCESS_CHANGED, SAMPLE_SMALL);
}

static void *open_changed_in_pool(mica_world *world)
{
    return open_query(world, MICA_ACCESS_READ, SAMPLE_POOL, MICA_ACCESS_CHANGED, SAMPLE_POOL);
}

static void *open_added(mica_world *world)
{
    return open_query(world, MICA_ACCESS_READ, SAMPLE_DATED, MICA_ACCESS_ADDED, SAMPLE_DATED);
}

static void *open_sorted(mica_world *world)
{
    mica_term term = {.component = sample_id(SAMPLE_SMALL), .access = MICA_ACCESS_READ};
    return mica_query_create(world, &(mica_query_def){.name = "sorted",
                                                      .terms = &term,
                                                      .term_count = 1,
                                                      .order_by = sample_id(SAMPLE_SMALL),
                                                      .compare = compare_small});
}

static void *open_sorted_pool(mica_world *world)
{
    mica_term term = {.component = sample_id(SAMPLE_POOL), .access = MICA_ACCESS_READ};
    return mica_query_create(world, &(mica_query_def){.name = "sorted",
                                                      .terms = &term,
                                                      .term_count = 1,
                                                      .order_by = sample_id(SAMPLE_POOL),
                                                      .compare = sample_compare,
                                                      .context = (void *)&samples[SAMPLE_POOL]});
}

static void *open_singleton_query(mica_world *world)
{
    mica_term terms[] = {{.component = sample_id(SAMPLE_SMALL), .access = MICA_ACCESS_READ},
                         {.component = MICA_ID(SampleClock), .access = MICA_ACCESS_READ}};
    return mica_query_create(world, &(mica_query_def){.name = "clock", .terms = terms, .term_count = 2});
}

static digest observe_query(void *state, mica_world *world)
{
    (void)world;
    digest digest = {1};
    add_number(&digest, mica_query_count(state));
    add_entity(&digest, mica_query_first(state));
    for (mica_view view = mica_query_begin_since(state, 0); mica_view_next(&view);)
        add_view(&digest, &view);
    return digest;
}

/* Indexes: of a field in chunks, of a field in a pool, and a grid of a component that can be toggled. */
static void *open_index(mica_world *world)
{
    return mica_index_create(world, &(mica_index_def){.component = sample_id(SAMPLE_SMALL), .fields = "number"});
}

static void *open_pool_index(mica_world *world)
{
    return mica_index_create(
        world, &(mica_index_def){.component = sample_id(SAMPLE_POOL), .fields = "number", .hashed = true});
}

static digest observe_index(void *state, mica_world *world)
{
    (void)world;
    digest digest = {11};
    REQUIRE(mica_index_update(state) == MICA_OK);
    add_number(&digest, mica_index_entity_count(state));
    for (mica_match match = mica_index_range(state, (mica_key){0}, (mica_key){0}); mica_match_next(&match);)
        add_entity(&digest, match.entity);
    return digest;
}

static void *open_grid(mica_world *world)
{
    return mica_index_create(world, &(mica_index_def){.component = sample_id(SAMPLE_SWITCHED),
                                                      .fields = "number, number",
                                                      .cell_size = 1 << 26,
                                                      .maximum = {1u << 31, 1u << 31},
                                                      .torus = true});
}

static digest observe_grid(void *state, mica_world *world)
{
    (void)world;
    digest digest = {12};
    static mica_neighbour near[4096];
    REQUIRE(mica_index_update(state) == MICA_OK);
    uint32_t count = mica_grid_within(state, (mica_point){0}, 1e10, near, 4096);
    add_number(&digest, count);
    for (uint32_t i = 0; i < count && i < 4096; ++i)
        add_entity(&digest, near[i].entity);
    return digest;
}

static void close_index(void *state)
{
    mica_index_destroy(state);
}

static digest observe_clock(void *state, mica_world *world)
{
    digest digest = observe_query(state, world);
    for (mica_view view = mica_query_begin(state); mica_view_next(&view);)
        add_number(&digest, ((const SampleClock *)mica_view_read_id(&view, MICA_ID(SampleClock)))->number);
    return digest;
}

/* What changed since it was last asked. */
static digest observe_marked(void *state, mica_world *world)
{
    (void)world;
    digest digest = {2};
    add_number(&digest, mica_query_count(state));
    for (mica_view view = mica_query_begin(state); mica_view_next(&view);)
        add_view(&digest, &view);
    return digest;
}

static void close_query(void *state)
{
    mica_query_destroy(state);
}

/* Removals. */
static void *open_removals(mica_world *world)
{
    return mica_removals_create_id(world, sample_id(SAMPLE_SMALL));
}

static void *open_pool_removals(mica_world *world)
{
    return mica_removals_create_id(world, sample_id(SAMPLE_POOL_HASH));
}

static digest observe_removals(void *state, mica_world *world)
{
    (void)world;
    digest digest = {3};
    mica_entity removed[7];
    for (uint32_t count; (count = mica_removals_read(state, removed, COUNT_OF(removed)));)
        for (uint32_t i = 0; i < count; ++i)
            add_entity(&digest, removed[i]);
    add_number(&digest, mica_removals_missed(state));
    return digest;
}

static void close_removals(void *state)
{
    mica_removals_destroy(state);
}

/* Streams: one that the application reads, and that is filled by and by. */
static void *open_stream(mica_world *world)
{
    return mica_stream_create(world, MICA_STREAM_WITH(SampleClock, (.application = true)));
}

static digest observe_stream(void *state, mica_world *world)
{
    digest digest = {4};
    uint32_t count;
    for (const SampleClock *clock; (clock = mica_stream_read(state, SampleClock, &count));)
        for (uint32_t i = 0; i < count; ++i)
            add_number(&digest, clock[i].number);
    uint32_t number = (uint32_t)mica_world_get_stats(world).entity_count;
    for (uint32_t i = 0; i < number % 3; ++i)
        mica_stream_push(state, SampleClock, {number + i, 0});
    return digest;
}

static void close_stream(void *state)
{
    mica_stream_destroy(state);
}

/* A buffer: which handles it gives out, and which the world does. */
static void *open_buffer(mica_world *world)
{
    return mica_commands_create(world);
}

static digest observe_handles(void *state, mica_world *world)
{
    digest digest = {5};
    mica_entity first = mica_command_create(state), second = mica_create(world), third = mica_command_create(state);
    add_entity(&digest, first);
    add_entity(&digest, second);
    add_entity(&digest, third);
    REQUIRE(mica_flush(world) == MICA_OK);
    mica_destroy(world, second);
    return digest;
}

static void close_buffer(void *state)
{
    mica_commands_destroy(state);
}

/* The content. */
/* Rows as an Arrow file. */
static bool add_arrow_bytes(const void *bytes, size_t byte_count, void *digest)
{
    add_bytes(digest, bytes, byte_count);
    return true;
}

static digest observe_arrow(void *state, mica_world *world)
{
    (void)world;
    digest digest = {13};
    REQUIRE(mica_arrow_write(state, NULL, NULL, add_arrow_bytes, &digest) == MICA_OK);
    return digest;
}

static void *open_nothing(mica_world *world)
{
    return world;
}

static void close_nothing(void *state)
{
    (void)state;
}

static digest observe_hash(void *state, mica_world *world)
{
    (void)state;
    mica_world *clone = mica_world_clone(world);
    mica_difference difference = {0};
    REQUIRE_SAYING(!mica_hash_diff(clone, world, &difference) || strstr(difference.text, "messages"), "%s",
                   difference.text); /* it has no streams */
    REQUIRE(mica_world_validate(clone) == MICA_OK);
    mica_world_destroy(clone);
    return (digest){mica_world_hash(world)};
}

static digest observe_names(void *state, mica_world *world)
{
    (void)state;
    digest digest = {6};
    for (uint32_t i = 0; i < 40; ++i) {
        char name[16];
        snprintf(name, sizeof name, "n%u", i);
        mica_entity found = mica_find(world, name);
        add_entity(&digest, found);
        add_entity(&digest, mica_name_get_scope(world, found));
    }
    add_number(&digest, mica_world_get_stats(world).name_count);
    return digest;
}

static digest observe_singleton(void *state, mica_world *world)
{
    (void)state;
    digest digest = {7};
    if (mica_singleton_is_used(world, MICA_ID(SampleClock)))
        add_number(&digest, mica_singleton_get(world, SampleClock)->number);
    return digest;
}

/* The index of a pool: every row is found by its owner. */
static digest observe_pools(void *state, mica_world *world)
{
    (void)state;
    static const sample_kind kinds[] = {SAMPLE_POOL, SAMPLE_POOL_HASH, SAMPLE_POOL_DIRECT, SAMPLE_POOL_SPLIT,
                                        SAMPLE_POOL_TAG};
    digest digest = {8};
    for (uint32_t i = 0; i < COUNT_OF(kinds); ++i) {
        mica_query *all = open_query(world, MICA_ACCESS_HAS, kinds[i], MICA_ACCESS_MAYBE_READ, SAMPLE_SMALL);
        for (mica_view view = mica_query_begin(all); mica_view_next(&view); add_view(&digest, &view))
            for (uint32_t row = 0; row < view.count; ++row)
                REQUIRE(mica_has_id(world, view.entities[row], sample_id(kinds[i])));
        mica_query_destroy(all);
        add_number(&digest, mica_pool_get_stats(mica_pool_of_id(world, sample_id(kinds[i]))).row_count);
    }
    add_number(&digest, mica_pool_get_stats(mica_pool_of_id(world, sample_id(SAMPLE_POOL))).group_count);
    return digest;
}

/* Deltas: a sender and a replica that follows. The answer is what the replica is then. */
typedef struct followed {
    mica_sender *sender;
    receiver_side receiver;
} followed;

static void *open_followed(mica_world *world)
{
    followed *state = calloc(1, sizeof *state);
    mica_sender_def sender = {0};
    sender.rules = carried_rules(&sender.rule_count);
    state->sender = mica_sender_create(world, &sender);
    open_receiver(&state->receiver, false);
    define_edges(state->receiver.world);
    mica_replica_destroy(state->receiver.replica); /* buffers take handles from pages of their own */
    mica_replica_def replica = {.rules = sender.rules, .rule_count = sender.rule_count};
    state->receiver.replica = mica_replica_create(state->receiver.world, &replica);
    return state;
}

static digest observe_followed(void *data, mica_world *world)
{
    (void)world;
    followed *state = data;
    mica_delta delta;
    REQUIRE(mica_delta_encode(state->sender, state->receiver.acknowledged, &delta) == MICA_OK);
    mica_result result = mica_delta_apply(state->receiver.replica, delta.bytes, delta.byte_count);
    REQUIRE_SAYING(result == MICA_OK, "%s",
                   state->receiver.heard.count ? state->receiver.heard.list[state->receiver.heard.taken].text : "");
    state->receiver.acknowledged = delta.version;
    expect_valid(state->receiver.world);
    uint64_t hash = mica_world_hash(state->receiver.world);
    REQUIRE(mica_flush(state->receiver.world) == MICA_OK); /* rows of the dead go */
    REQUIRE(mica_world_hash(state->receiver.world) == hash);
    expect_valid(state->receiver.world);
    return (digest){hash};
}

static void close_followed(void *data)
{
    followed *state = data;
    mica_sender_destroy(state->sender);
    close_receiver(&state->receiver);
    free(state);
}

/* Savers: the answer is what the file holds, in any order. */
static void *open_saver(mica_world *world)
{
    mica_save_def def = {0};
    def.rules = carried_rules(&def.rule_count);
    return mica_saver_create(world, &def);
}

/* Text and lists are not in the bytes of a value. */
static void add_value(digest *digest, const mica_type *type, const void *value)
{
    bool is_bytes = true;
    for (uint32_t i = 0; i < type->field_count; ++i)
        is_bytes = is_bytes && type->fields[i].kind != MICA_KIND_TEXT && type->fields[i].kind != MICA_KIND_LIST;
    if (is_bytes) {
        add_bytes(digest, value, type->size_bytes);
        return;
    }
    mica_member member = mica_member_of_type(type, (void *)value);
    size_t length = mica_value_write(member, NULL, 0);
    char *text = malloc(length + 1);
    mica_value_write(member, text, length + 1);
    add_bytes(digest, text, length);
    free(text);
}

static uint64_t digest_of_value(const mica_resource *resource, uint32_t entity, uint32_t component)
{
    const mica_resource_component about = mica_resource_component_at(resource, component);
    const void *value = mica_resource_value(resource, entity, component);
    digest digest = {about.name_hash};
    bool has_entities = strcmp(about.name, "Crowd") == 0; /* in its list: they are indices in the file */
    for (uint32_t i = 0; i < about.type->field_count; ++i)
        has_entities = has_entities || about.type->fields[i].kind == MICA_KIND_ENTITY;
    if (value && about.type->size_bytes && !has_entities)
        add_value(&digest, about.type, value);
    add_number(&digest, mica_resource_is_disabled(resource, entity, component));
    return value ? digest.value : 0;
}

static uint64_t digest_of_entity(const mica_resource *resource, uint32_t entity)
{
    digest digest = {mica_resource_parent(resource, entity) != MICA_NO_PARENT};
    const char *name = mica_resource_name(resource, entity);
    add_bytes(&digest, name, name ? strlen(name) : 0);
    uint64_t sum = digest.value;
    for (uint32_t i = 0; i < mica_resource_component_count(resource); ++i)
        sum += digest_of_value(resource, entity, i);
    return sum;
}

static digest digest_of_file(const char *path)
{
    mica_resource_error error = {0};
    mica_resource *resource = mica_resource_load(path, NULL, &error);
    REQUIRE_SAYING(resource, "%s", error.text);
    digest digest = {mica_resource_entity_count(resource)};
    for (uint32_t i = 0; i < mica_resource_entity_count(resource); ++i) {
        struct digest one = {digest_of_entity(resource, i)};
        uint32_t parent = mica_resource_parent(resource, i);
        add_number(&one, parent == MICA_NO_PARENT ? 0 : digest_of_entity(resource, parent));
        digest.value += one.value;
    }
    uint32_t count;
    const SampleClock *clock = mica_resource_values(resource, SampleClock, &count);
    add_number(&digest, clock ? clock->number : 0);
    mica_resource_free(resource);
    return digest;
}

static digest observe_saver(void *state, mica_world *world)
{
    (void)world;
    char path[64];
    snprintf(path, sizeof path, "/tmp/mica_restore_matrix.%d.tmp", (int)getpid());
    REQUIRE(mica_saver_begin(state, path) == MICA_OK && mica_saver_wait(state) == MICA_OK);
    digest digest = digest_of_file(path);
    remove(path);
    return digest;
}

static void close_saver(void *state)
{
    mica_saver_destroy(state);
}

/* SQL: a prepared statement that is run again, and one that is never finished. */
typedef struct asked {
    sqlite3 *database;
    sqlite3_stmt *complete;
    sqlite3_stmt *half;
} asked;

static void *open_sql(mica_world *world)
{
    asked *state = calloc(1, sizeof *state);
    state->database = mica_sql_open(world, NULL);
    REQUIRE(state->database);
    const char *text = "select entity, name, parent, components from entities order by entity";
    REQUIRE(sqlite3_prepare_v2(state->database, text, -1, &state->complete, NULL) == SQLITE_OK);
    REQUIRE(sqlite3_prepare_v2(state->database, "select * from Bond", -1, &state->half, NULL) == SQLITE_OK);
    return state;
}

static digest observe_sql(void *data, mica_world *world)
{
    (void)world;
    asked *state = data;
    digest digest = {10};
    while (sqlite3_step(state->complete) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(state->complete); ++i) {
            const unsigned char *text = sqlite3_column_text(state->complete, i);
            add_bytes(&digest, text, text ? strlen((const char *)text) : 0);
        }
    REQUIRE(sqlite3_reset(state->complete) == SQLITE_OK);
    int result = sqlite3_step(state->half); /* continues, or ends with an error */
    if (result != SQLITE_ROW)
        sqlite3_reset(state->half);
    return digest;
}

static void close_sql(void *data)
{
    asked *state = data;
    sqlite3_finalize(state->complete);
    sqlite3_finalize(state->half);
    REQUIRE(sqlite3_close(state->database) == SQLITE_OK);
    free(state);
}

typedef struct consumer {
    const char *name;
    void *(*open)(mica_world *world);
    digest (*observe)(void *state, mica_world *world);
    void (*close)(void *state);
    /* Part of the world: it answers what it answered right after the snapshot was taken. Else it answers what a new one does. */
    bool is_restored;
} consumer;

static const consumer consumers[] = {
    {"changed query", open_changed, observe_marked, close_query, true},
    {"changed query of a pool", open_changed_in_pool, observe_marked, close_query, true},
    {"added query", open_added, observe_marked, close_query, true},
    {"removals", open_removals, observe_removals, close_removals, true},
    {"removals of a pool", open_pool_removals, observe_removals, close_removals, true},
    {"hash, clone and groups", open_nothing, observe_hash, close_nothing, true},
    {"names", open_nothing, observe_names, close_nothing, true},
    {"singleton", open_nothing, observe_singleton, close_nothing, true},
    {"pools", open_nothing, observe_pools, close_nothing, true},
    {"edges", open_nothing, observe_edges, close_nothing, true},
    {"partitions by target", open_nothing, observe_partitions, close_nothing, true},
    {"stream", open_stream, observe_stream, close_stream, true},
    {"command buffer and handles", open_buffer, observe_handles, close_buffer, true},
    {"query", open_plain, observe_query, close_query, false},
    {"filtered query", open_filtered, observe_query, close_query, false},
    {"query of groups of terms", open_either, observe_query, close_query, false},
    {"query of two pools", open_joined, observe_query, close_query, false},
    {"query of a pool and chunks", open_joined_with_chunks, observe_query, close_query, false},
    {"sorted query", open_sorted, observe_query, close_query, false},
    {"sorted query of a pool", open_sorted_pool, observe_query, close_query, false},
    {"query of a singleton", open_singleton_query, observe_clock, close_query, false},
    {"query along edges", open_query_along_edges, observe_query, close_query, false},
    {"query of ancestors", open_query_of_ancestors, observe_query, close_query, false},
    {"query with a condition", open_query_with_condition, observe_query, close_query, false},
    {"Arrow file", open_plain, observe_arrow, close_query, false},
    {"index", open_index, observe_index, close_index, false},
    {"index of a pool", open_pool_index, observe_index, close_index, false},
    {"grid", open_grid, observe_grid, close_index, false},
    {"sender and replica", open_followed, observe_followed, close_followed, false},
    {"saver", open_saver, observe_saver, close_saver, false},
    {"SQL", open_sql, observe_sql, close_sql, false},
};

typedef struct moment {
    mica_snapshot snapshot;
    uint64_t hash;
    digest answers[COUNT_OF(consumers)];
    mica_entity living[LIVING_MAX];
    uint32_t living_count;
    bool is_grouped;
    uint32_t destroyed_count;
} moment;

typedef struct matrix {
    sender_side side;
    void *states[COUNT_OF(consumers)];
    moment moments[SNAPSHOTS];
    mica_commands *buffers[BUFFERS]; /* that come and go */
    uint32_t destroyed_count;        /* of them */
    bool is_grouped;
} matrix;

static void expect_valid_world(matrix *matrix, const char *after)
{
    reports *heard = &matrix->side.heard;
    mica_result result = mica_world_validate(matrix->side.world);
    REQUIRE_SAYING(result == MICA_OK, "after %s: %s", after, heard->count ? heard->list[heard->count - 1].text : "");
}

/* Those that are part of the world, in order: some of them change it. */
static void observe_world(matrix *matrix, digest *out)
{
    for (uint32_t i = 0; i < COUNT_OF(consumers); ++i)
        if (consumers[i].is_restored) {
            out[i] = consumers[i].observe(matrix->states[i], matrix->side.world);
            expect_valid_world(matrix, consumers[i].name);
        }
}

static void compare_with_new(matrix *matrix, uint32_t index)
{
    const consumer *one = &consumers[index];
    mica_world *world = matrix->side.world;
    digest old = one->observe(matrix->states[index], world);
    void *other = one->open(world);
    REQUIRE_SAYING(one->observe(other, world).value == old.value, "%s", one->name);
    one->close(other);
    expect_valid_world(matrix, one->name);
}

static void destroy_buffer(matrix *matrix, mica_commands **buffer)
{
    matrix->destroyed_count += *buffer != NULL;
    mica_commands_destroy(*buffer);
    *buffer = NULL;
}

/* Creates, fills and destroys buffers. What a destroyed one has recorded is dropped. */
static void use_buffer(matrix *matrix)
{
    random_source *random = &matrix->side.random;
    mica_commands **buffer = &matrix->buffers[random_below(random, BUFFERS)];
    if (!*buffer) {
        *buffer = mica_commands_create(matrix->side.world);
    } else if (random_one_in(random, 4)) {
        destroy_buffer(matrix, buffer);
        return;
    }
    mica_entity parent = mica_nil();
    for (uint32_t i = random_below(random, 20); i; --i) {
        mica_entity made = mica_command_create(*buffer, MICA_WITH(Bond, {.to = parent}));
        if (random_one_in(random, 3) && !mica_is_nil(parent))
            mica_command_set_parent(*buffer, made, parent);
        char name[16];
        snprintf(name, sizeof name, "n%u", random_below(random, 40));
        if (random_one_in(random, 4) && mica_is_nil(mica_find(matrix->side.world, name)))
            mica_name_set(matrix->side.world, made, mica_nil(), name);
        bool is_destroyed = random_one_in(random, 5);
        if (is_destroyed)
            mica_command_destroy(*buffer, made);
        parent = is_destroyed ? mica_nil() : made;
    }
}

/* Snapshots are refused while changes wait. */
static void settle(matrix *matrix)
{
    for (uint32_t i = 0; i < BUFFERS; ++i)
        if (random_one_in(&matrix->side.random, 4))
            destroy_buffer(matrix, &matrix->buffers[i]);
    expect_valid_world(matrix, "destroying buffers");
    REQUIRE(mica_flush(matrix->side.world) == MICA_OK);
    expect_valid_world(matrix, "a flush");
}

static void take(matrix *matrix, moment *moment)
{
    mica_world *world = matrix->side.world;
    settle(matrix);
    if (moment->snapshot.id)
        REQUIRE(mica_snapshot_drop(world, moment->snapshot));
    moment->snapshot = mica_snapshot_take(world);
    REQUIRE(moment->snapshot.id);
    moment->hash = mica_world_hash(world);
    moment->living_count = matrix->side.living_count;
    memcpy(moment->living, matrix->side.living, sizeof moment->living);
    moment->is_grouped = matrix->is_grouped;
    moment->destroyed_count = matrix->destroyed_count;
    observe_world(matrix, moment->answers);
}

static void restore(matrix *matrix, const moment *moment)
{
    mica_world *world = matrix->side.world;
    if (!moment->snapshot.id)
        return;
    settle(matrix);
    REQUIRE(mica_snapshot_restore(world, moment->snapshot) == MICA_OK);
    expect_valid_world(matrix, "restore");
    REQUIRE(mica_world_hash(world) == moment->hash);
    matrix->side.living_count = moment->living_count;
    memcpy(matrix->side.living, moment->living, sizeof moment->living);
    matrix->is_grouped = moment->is_grouped;
    if (random_one_in(&matrix->side.random, 2)) {
        digest answers[COUNT_OF(consumers)];
        observe_world(matrix, answers);
        for (uint32_t i = 0; i < COUNT_OF(consumers); ++i) {
            /* A destroyed buffer cannot get its handles back: other buffers have them. */
            bool are_handles = consumers[i].observe == observe_handles;
            if (!consumers[i].is_restored || (are_handles && moment->destroyed_count != matrix->destroyed_count))
                continue;
            REQUIRE_SAYING(answers[i].value == moment->answers[i].value, "%s", consumers[i].name);
        }
    }
    for (uint32_t i = 0; i < COUNT_OF(consumers); ++i)
        if (!consumers[i].is_restored && random_one_in(&matrix->side.random, 2))
            compare_with_new(matrix, i);
}

static void group(matrix *matrix)
{
    const mica_component pools[] = {sample_id(SAMPLE_POOL), sample_id(SAMPLE_POOL_HASH)};
    if (!matrix->is_grouped)
        REQUIRE(mica_group_id(matrix->side.world, pools, 2) == MICA_OK);
    matrix->is_grouped = true;
}

/* Creates one of them anew, and lets one answer: versions and caches are of any age then. */
static void use_some(matrix *matrix)
{
    random_source *random = &matrix->side.random;
    uint32_t index = random_below(random, COUNT_OF(consumers));
    const consumer *one = &consumers[index];
    if (random_one_in(random, 6) && !one->is_restored) {
        one->close(matrix->states[index]);
        matrix->states[index] = one->open(matrix->side.world);
    }
    one->observe(matrix->states[index], matrix->side.world);
    expect_valid_world(matrix, one->name);
}

static void step(matrix *matrix)
{
    random_source *random = &matrix->side.random;
    moment *moment = &matrix->moments[random_below(random, SNAPSHOTS)];
    switch (random_below(random, 16)) {
    case 0:
    case 1: take(matrix, moment); break;
    case 2:
    case 3:
    case 4: restore(matrix, moment); break;
    case 5: use_some(matrix); break;
    case 6: REQUIRE(mica_flush(matrix->side.world) == MICA_OK); break;
    case 7: use_buffer(matrix); break;
    case 8:
        if (random_one_in(random, 6))
            group(matrix);
        else if (random_one_in(random, 6))
            REQUIRE(mica_world_clear(matrix->side.world) == MICA_OK);
        break;
    case 9: REQUIRE(mica_step(matrix->side.world, 0.1f) == MICA_OK); break;
    case 10:
    case 11: relate_some(matrix->side.world, random, matrix->side.living, matrix->side.living_count); break;
    default: live_a_tick(&matrix->side); break;
    }
    expect_valid_world(matrix, "a step");
}

START_TEST(everything_that_holds_a_version_a_cache_or_an_order_survives_restores)
{
    static matrix matrix;
    memset(&matrix, 0, sizeof matrix);
    uint64_t seed = setting_from_environment("MICA_TEST_SEED", 0) * 100 + (uint64_t)_i;
    open_sender(&matrix.side, seed);
    define_edges(matrix.side.world);
    for (uint32_t i = 0; i < COUNT_OF(consumers); ++i)
        REQUIRE((matrix.states[i] = consumers[i].open(matrix.side.world)));
    for (uint32_t i = 0; i < STEPS; ++i)
        step(&matrix);
    for (uint32_t i = 0; i < COUNT_OF(consumers); ++i)
        if (!consumers[i].is_restored)
            compare_with_new(&matrix, i);
    for (uint32_t i = 0; i < COUNT_OF(consumers); ++i)
        consumers[i].close(matrix.states[i]);
    close_sender(&matrix.side);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("restore_matrix");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, everything_that_holds_a_version_a_cache_or_an_order_survives_restores, 0,
                        UNDER_SANITIZER ? 4 : 12);
    return test_run("restore_matrix", cases);
}
