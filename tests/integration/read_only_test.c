/* Read-only calls change nothing: before and after each, the world has the same hash, the same structure, the same statistics, the
 * same rows that count as changed and the same singletons in use. A world that is read in every tick goes the same way as one that
 * is not. */
#include "mica/compile.h"
#include "mica/delta.h"
#include "mica/hash.h"
#include "mica/recording.h"
#include "mica/ref.h"
#include "mica/resource.h"
#include "mica/saver.h"
#include "mica/sql.h"
#include "mica/stats.h"
#include "support/follow.h"
#include "support/require.h"
#include "support/sample.h"
#include "support/scene.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TICKS = 12 };
static const char *file_path = "/tmp/mica_read_only_test.mica";

/* A singleton that the world knows and does not use. */
typedef struct Season { uint32_t number; } Season;
MICA_SINGLETON(Season, number)

typedef struct reading {
    mica_world *world;
    reports *heard;
    mica_sender *sender;
    mica_version encoded; /* of the last delta */
    mica_query *all;
    bool is_waiting; /* recorded changes wait for a flush */
} reading;

static void read_hash(reading *reading)
{
    mica_world_hash(reading->world);
}

static void read_hash_trees(reading *reading)
{
    mica_hash_tree *slices = mica_hash_tree_take(reading->world, MICA_HASH_SLICES);
    mica_hash_tree *rows = mica_hash_tree_take(reading->world, MICA_HASH_ROWS);
    REQUIRE(slices && rows && mica_hash_tree_root(slices) && mica_hash_tree_root(rows));
    mica_hash_tree_free(slices);
    mica_hash_tree_free(rows);
}

static void read_validate(reading *reading)
{
    REQUIRE(mica_world_validate(reading->world) == MICA_OK);
}

static void read_stats(reading *reading)
{
    mica_world_get_stats(reading->world);
    mica_frame_stats frame;
    mica_stats_get_frame(reading->world, 0, &frame);
    FILE *nowhere = fopen("/dev/null", "w");
    mica_stats_print(reading->world, nowhere);
    fclose(nowhere);
    mica_time_get(reading->world);
}

static mica_save_def with_rules(mica_save_def def)
{
    def.skip_without_rule = true;
    def.rules = carried_rules(&def.rule_count);
    return def;
}

static void read_pack(reading *reading)
{
    mica_blob blob = {0};
    const mica_save_def def = with_rules((mica_save_def){0});
    REQUIRE(mica_pack(reading->world, &def, &blob) == MICA_OK);
    mica_blob_free(&blob);
}

static void read_pack_some(reading *reading)
{
    mica_entity some[3] = {mica_query_first(reading->all)};
    mica_blob blob = {0};
    const mica_save_def def =
        with_rules((mica_save_def){.entities = some, .entity_count = 3, .compression = 1, .skip_singletons = true});
    REQUIRE(mica_pack(reading->world, &def, &blob) == MICA_OK);
    mica_blob_free(&blob);
}

static void read_save(reading *reading)
{
    const mica_save_def def = with_rules((mica_save_def){0});
    REQUIRE(mica_save(reading->world, file_path, &def) == MICA_OK);
}

static void read_dump(reading *reading)
{
    mica_blob blob = {0}, text = {0};
    const mica_save_def def = with_rules((mica_save_def){0});
    REQUIRE(mica_pack(reading->world, &def, &blob) == MICA_OK);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    REQUIRE(resource && mica_dump(resource, &text) == MICA_OK);
    mica_resource_free(resource);
    mica_blob_free(&text);
    mica_blob_free(&blob);
}

static void read_schema(reading *reading)
{
    mica_schema *schema = mica_schema_create();
    REQUIRE(mica_schema_add_world(schema, reading->world) == MICA_OK);
    mica_schema_destroy(schema);
}

static void read_clone(reading *reading)
{
    mica_world *clone = mica_world_clone(reading->world);
    REQUIRE(clone);
    mica_difference difference;
    mica_hash_diff(reading->world, clone, &difference);
    mica_world_destroy(clone);
}

static void read_delta(reading *reading)
{
    mica_delta delta;
    REQUIRE(mica_delta_encode(reading->sender, 0, &delta) == MICA_OK);
    REQUIRE(mica_delta_encode(reading->sender, reading->encoded, &delta) == MICA_OK);
    reading->encoded = delta.version;
}

static void read_new_sender(reading *reading)
{
    mica_sender *sender = mica_sender_create(reading->world, &(mica_sender_def){.skip_without_rule = true});
    mica_delta delta;
    REQUIRE(mica_delta_encode(sender, 0, &delta) == MICA_OK);
    mica_sender_destroy(sender);
}

static void read_saver(reading *reading)
{
    mica_saver *saver = mica_saver_create(reading->world, NULL);
    mica_saver_begin(saver, file_path); /* refused for components that deltas do not carry */
    mica_saver_wait(saver);
    mica_saver_destroy(saver);
    forget_reports(reading->heard);
}

/* Every column of every table. */
static void read_tables(reading *reading, bool read_only)
{
    sqlite3 *database = mica_sql_open(reading->world, &(mica_sql_def){.read_only = read_only});
    sqlite3_stmt *names, *rows;
    REQUIRE(sqlite3_prepare_v2(database, "select name from components union all select 'entities'", -1, &names, NULL) ==
            SQLITE_OK);
    while (sqlite3_step(names) == SQLITE_ROW) {
        char text[200];
        snprintf(text, sizeof text, "select * from \"%s\"", (const char *)sqlite3_column_text(names, 0));
        REQUIRE_SAYING(sqlite3_prepare_v2(database, text, -1, &rows, NULL) == SQLITE_OK, "%s", text);
        while (sqlite3_step(rows) == SQLITE_ROW)
            for (int i = 0; i < sqlite3_column_count(rows); ++i)
                sqlite3_column_value(rows, i);
        sqlite3_finalize(rows);
    }
    sqlite3_finalize(names);
    sqlite3_close(database);
}

static void read_sql(reading *reading)
{
    read_tables(reading, false);
}

static void read_sql_read_only(reading *reading)
{
    read_tables(reading, true);
}

static void read_transaction(reading *reading)
{
    sqlite3 *database = mica_sql_open(reading->world, NULL);
    REQUIRE(sqlite3_exec(database, "begin; select count(*) from entities; rollback", NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(database);
}

static void read_graph(reading *reading)
{
    char text[4096];
    mica_graph_write(reading->world, MICA_GRAPH_TEXT, text, sizeof text);
    mica_graph_write(reading->world, MICA_GRAPH_DOT, text, 10);
    for (mica_system system = {0}; (system = mica_system_next(reading->world, system)).id;) {
        mica_system_dependency dependency;
        mica_system_get_dependencies(reading->world, system, &dependency, 1);
    }
}

/* A query of each component that the world knows, and one loop over what it shows. */
static void read_queries(reading *reading)
{
    for (mica_component id = 0; (id = mica_component_next(reading->world, id)) != 0;) {
        bool is_singleton = mica_component_type(id)->storage == MICA_STORAGE_SINGLETON;
        if (is_singleton && !mica_singleton_is_used(reading->world, id))
            continue; /* showing its value would use it */
        mica_term term = {.component = id, .access = is_singleton ? MICA_ACCESS_READ : MICA_ACCESS_HAS};
        mica_query *query = mica_query_create(reading->world, &(mica_query_def){.terms = &term, .term_count = 1});
        mica_query_count(query);
        mica_query_matches(query, mica_query_first(query));
        for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
            if (is_singleton)
                mica_view_read_at(&view, 0);
        mica_query_destroy(query);
    }
}

static void read_entity(reading *reading, mica_entity entity)
{
    const mica_world *world = reading->world;
    mica_component components[64];
    char path[256];
    uint32_t count = mica_get_components(world, entity, components, 64);
    for (uint32_t i = 0; i < count; ++i) {
        REQUIRE(mica_has_id(world, entity, components[i]));
        if (mica_component_type(components[i])->split)
            continue;
        mica_get_id(world, entity, components[i]);
        if (mica_component_type(components[i])->toggle)
            mica_is_enabled_id(world, entity, components[i]);
        mica_ref ref = mica_ref_of_id(entity, components[i]);
        mica_ref_read_id(world, &ref);
        mica_ref_read_id(world, &ref);
    }
    if (mica_name_get(world, entity) && mica_path_get(world, entity, path, sizeof path))
        mica_find(world, path);
    mica_name_get_scope(world, entity);
    mica_depth(world, entity);
    for (mica_entity child = mica_first_child(world, entity); !mica_is_nil(child);
         child = mica_next_sibling(world, child))
        mica_is_ancestor(world, entity, child);
}

static void read_entities(reading *reading)
{
    for (mica_view view = mica_query_begin(reading->all); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            read_entity(reading, view.entities[i]);
    mica_is_alive(reading->world, (mica_entity){1, 77});
    mica_find(reading->world, "nothing/of/this/name");
}

static void read_pools(reading *reading)
{
    for (mica_component id = 0; (id = mica_component_next(reading->world, id)) != 0;) {
        if (mica_component_type(id)->storage != MICA_STORAGE_POOL)
            continue;
        const mica_pool *pool = mica_pool_of_id(reading->world, id);
        mica_pool_get_stats(pool);
        mica_pool_count(pool);
        mica_entity first = mica_query_first(reading->all);
        for (mica_instance at = mica_pool_find(pool, first); !mica_instance_is_nil(at); at = mica_pool_next(pool, at))
            mica_pool_owner(pool, at);
    }
}

static void read_snapshot(reading *reading)
{
    mica_snapshot snapshot = mica_snapshot_take(reading->world);
    if (reading->is_waiting) {
        REQUIRE(!snapshot.id && forget_reports(reading->heard)); /* which must not change anything either */
        return;
    }
    REQUIRE(snapshot.id && mica_snapshot_bytes(reading->world, snapshot) == 0);
    REQUIRE(mica_snapshot_drop(reading->world, snapshot));
    mica_history *history = mica_history_create(reading->world, 2);
    REQUIRE(mica_history_take(history, 1) == MICA_OK && mica_history_has(history, 1));
    mica_history_destroy(history);
}

static void read_record(reading *reading)
{
    REQUIRE(mica_recording_begin(reading->world, file_path, NULL) == MICA_OK);
    REQUIRE(mica_recording_end(reading->world) == MICA_OK);
}

static const struct {
    const char *name;
    void (*read)(reading *reading);
} calls[] = {
    {"hash", read_hash},
    {"hash trees", read_hash_trees},
    {"validate", read_validate},
    {"statistics", read_stats},
    {"pack", read_pack},
    {"pack of some entities", read_pack_some},
    {"save", read_save},
    {"dump", read_dump},
    {"schema", read_schema},
    {"clone and difference", read_clone},
    {"delta", read_delta},
    {"delta of a new sender", read_new_sender},
    {"saver", read_saver},
    {"SQL", read_sql},
    {"SQL, read-only", read_sql_read_only},
    {"SQL transaction that only reads", read_transaction},
    {"graph of systems", read_graph},
    {"queries", read_queries},
    {"entities", read_entities},
    {"pools", read_pools},
    {"snapshot and history", read_snapshot},
    {"recording without a frame", read_record},
};

/* All that a program can see of a world without its numbers of memory. */
typedef struct observed {
    uint64_t hash;
    uint64_t structure;
    uint64_t changed; /* rows and entities of them */
    mica_world_stats stats;
} observed;

static observed observe(reading *reading, mica_version since)
{
    observed observed = {mica_world_hash(reading->world), mica_world_structure(reading->world), 0,
                         mica_world_get_stats(reading->world)};
    for (mica_component id = 0; (id = mica_component_next(reading->world, id)) != 0;) {
        if (mica_component_type(id)->storage == MICA_STORAGE_SINGLETON || !mica_component_type(id)->size_bytes)
            continue;
        mica_term terms[] = {{.component = id, .access = MICA_ACCESS_CHANGED}};
        mica_query *query = mica_query_create(reading->world, &(mica_query_def){.terms = terms, .term_count = 1});
        for (mica_view view = mica_query_begin_since(query, since); mica_view_next(&view);)
            for (uint32_t i = 0; i < view.count; ++i)
                observed.changed = (observed.changed + view.entities[i].index + id) * 0x9e3779b97f4a7c15u;
        mica_query_destroy(query);
    }
    return observed;
}

/* Chunks and memory may be given back. */
static bool has_same_counts(const mica_world_stats *a, const mica_world_stats *b)
{
    return a->entity_count == b->entity_count && a->component_count == b->component_count &&
           a->archetype_count == b->archetype_count && a->query_count == b->query_count &&
           a->name_count == b->name_count;
}

static void expect_unchanged(reading *reading, mica_version since, const char *what)
{
    for (uint32_t i = 0; i < COUNT_OF(calls); ++i) {
        observed before = observe(reading, since);
        calls[i].read(reading);
        observed after = observe(reading, since);
        REQUIRE_SAYING(after.hash == before.hash, "%s, %s: the hash", what, calls[i].name);
        REQUIRE_SAYING(after.structure == before.structure, "%s, %s: the structure", what, calls[i].name);
        REQUIRE_SAYING(after.changed == before.changed, "%s, %s: what counts as changed", what, calls[i].name);
        REQUIRE_SAYING(has_same_counts(&after.stats, &before.stats), "%s, %s: the statistics", what, calls[i].name);
        REQUIRE_SAYING(!mica_singleton_is_used(reading->world, MICA_ID(Season)), "%s, %s: a singleton is used", what,
                       calls[i].name);
    }
}

static void open_reading(reading *reading, mica_world *world, reports *heard)
{
    *reading = (struct reading){.world = world, .heard = heard};
    mica_define(world, Season);
    mica_sender_def def = {.skip_without_rule = true};
    def.rules = carried_rules(&def.rule_count);
    reading->sender = mica_sender_create(world, &def);
    mica_delta delta;
    REQUIRE(mica_delta_encode(reading->sender, 0, &delta) == MICA_OK);
    reading->encoded = delta.version;
    reading->all = mica_query_create(world, &(mica_query_def){.name = "all"});
}

static void close_reading(reading *reading)
{
    mica_sender_destroy(reading->sender);
    mica_query_destroy(reading->all);
    unlink(file_path);
}

/* Frames, streams, messages, requests, transforms, hierarchy, names and pools of every kind. */
static uint64_t play_scene(uint64_t seed, bool is_read)
{
    static scene scene;
    reading reading;
    scene_open(&scene, 2);
    open_reading(&reading, scene.world, &scene.heard);
    mica_snapshot kept = {0};
    for (uint32_t tick = 0; tick < TICKS; ++tick) {
        scene_input(&scene, seed * 100 + tick);
        mica_version since = mica_world_mark(scene.world);
        scene_step(&scene);
        if (tick == TICKS / 2)
            kept = mica_snapshot_take(scene.world);
        if (is_read && tick % 3 == 2)
            expect_unchanged(&reading, since, "scene");
    }
    mica_snapshot_drop(scene.world, kept);
    uint64_t hash = mica_world_hash(scene.world);
    close_reading(&reading);
    scene_close(&scene);
    return hash;
}

/* Components with functions, which follow.h leaves out. */
static void add_owners(sender_side *side, uint32_t number)
{
    static const sample_kind kinds[] = {SAMPLE_OWNER, SAMPLE_SWITCHED_OWNER, SAMPLE_POOL_MANY, SAMPLE_POOL_MANY_OWNER,
                                        SAMPLE_POOL_OWNER};
    for (uint32_t i = 0; i < COUNT_OF(kinds); ++i) {
        sample_room room;
        mica_value value = sample_value_begin(kinds[i], number + i, &room);
        mica_create_id(side->world, &value, 1);
        sample_value_end(kinds[i], &room);
    }
}

/* Every storage, index, trait and way to die, sorted and cleared now and then; some with recorded changes that wait. */
static uint64_t play_samples(uint64_t seed, bool is_read)
{
    static sender_side side;
    reading reading;
    open_sender(&side, seed);
    open_reading(&reading, side.world, &side.heard);
    mica_commands *waiting = mica_commands_create(side.world);
    for (uint32_t tick = 0; tick < TICKS; ++tick) {
        mica_version since = mica_world_mark(side.world);
        live_a_tick(&side);
        if (seed % 2)
            add_owners(&side, tick);
        reading.is_waiting = seed % 3 == 0;
        if (reading.is_waiting) {
            mica_entity made = mica_command_create(waiting, MICA_WITH(Bond, {.strong = true}));
            mica_command_set(waiting, made, Debt, {made, tick});
        }
        if (is_read && tick % 3 == 2)
            expect_unchanged(&reading, since, reading.is_waiting ? "samples, with recorded changes" : "samples");
        if (tick % 4 == 3)
            REQUIRE(mica_flush(side.world) == MICA_OK);
    }
    mica_commands_destroy(waiting);
    uint64_t hash = mica_world_hash(side.world);
    close_reading(&reading);
    close_sender(&side);
    return hash;
}

START_TEST(calls_that_read_change_nothing)
{
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        REQUIRE(play_scene(seed, true) == play_scene(seed, false));
        REQUIRE(play_samples(seed, true) == play_samples(seed, false));
    }
    ck_assert_int_eq(sample_owners_alive(), 0);
}
END_TEST

TEST_SUITE(read_only, calls_that_read_change_nothing)
