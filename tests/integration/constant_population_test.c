/* A world in which the population stays the same needs the same memory for ever: each pair that creates and destroys something
 * runs many times, and neither the highest entity index nor the memory of the world nor that of the process grows. */
#include "../support/components.h"
#include "../support/index_count.h"
#include "../support/random.h"
#include "../support/test.h"
#include "mica/arrow.h"
#include "mica/batch.h"
#include "mica/delta.h"
#include "mica/disable.h"
#include "mica/hierarchy.h"
#include "mica/index.h"
#include "mica/message.h"
#include "mica/observer.h"
#include "mica/pool.h"
#include "mica/prefab.h"
#include "mica/query_text.h"
#include "mica/recording.h"
#include "mica/relation.h"
#include "mica/removal.h"
#include "mica/request.h"
#include "mica/resource.h"
#include "mica/snapshot.h"
#include "mica/sql.h"
#include "mica/state.h"
#include "mica/stream.h"
#include "mica/system.h"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

typedef struct Damage { uint32_t amount; } Damage;
MICA_STRUCT(Damage, amount)
typedef struct Price { uint32_t value; } Price;
MICA_POOL(Price, value)
typedef struct Weight { uint32_t value; } Weight;
MICA_POOL(Weight, value)
typedef struct Note { mica_text text; mica_list numbers; } Note;
MICA_COMPONENT(Note, text, (numbers, uint32_t))
MICA_RELATION(Likes)
typedef struct Owes { float amount; } Owes;
MICA_RELATION_WITH(Owes, (.ordered = true), amount)
MICA_RELATION_WITH(MarriedTo, (.symmetric = true, .exclusive = true))
MICA_RELATION_WITH(PartOf, (.acyclic = true, .exclusive = true, .on_target = MICA_TARGET_DESTROY))

/* What a pair works with. */
typedef struct setting {
    mica_world *world;
    mica_entity entities[8]; /* that live all the time */
    mica_entity created;     /* in the last round */
    mica_commands *commands;
    mica_world *other;
    mica_sender *sender;
    mica_replica *replica;
    uint32_t round;
    mica_index *grid;
    mica_index *index;
} setting;

static void entities(setting *all)
{
    mica_destroy(all->world, mica_create(all->world, MICA_WITH(Position), MICA_WITH(Frozen)));
}

static void entities_with_pools(setting *all)
{
    mica_destroy(all->world, mica_create(all->world, MICA_WITH(Position), MICA_WITH(Price), MICA_WITH(Weight)));
}

static void entities_in_bulk(setting *all)
{
    mica_entity many[100];
    mica_create_many(all->world, 100, (mica_value[]){MICA_WITH(Position)}, 1, many);
    mica_destroy_many(all->world, many, 1 + all->round % 100);
    mica_world_clear(all->world);
}

static void components(setting *all)
{
    mica_set(all->world, all->entities[0], Mass, {1});
    mica_remove(all->world, all->entities[0], Mass);
    mica_set(all->world, all->entities[0], Price, {1});
    mica_remove(all->world, all->entities[0], Price);
}

static void buffers(setting *all)
{
    mica_commands *commands = mica_commands_create(all->world);
    mica_entity created = mica_command_create(commands, MICA_WITH(Position));
    if (all->round % 2) {
        mica_flush(all->world);
        mica_destroy(all->world, created);
    }
    mica_commands_destroy(commands);
}

/* A buffer that takes several blocks of handles, and the world accounts for each before the next is taken. */
static void buffers_beside_bulk_creation(setting *all)
{
    mica_commands *commands = mica_commands_create(all->world);
    mica_entity many[5];
    for (uint32_t i = 0; i < COUNT_OF(many); ++i) {
        for (uint32_t k = 0; k < 64; ++k)
            mica_command_create(commands, MICA_WITH(Position));
        mica_create_many(all->world, 1, NULL, 0, &many[i]);
    }
    mica_commands_destroy(commands);
    mica_destroy_many(all->world, many, COUNT_OF(many));
}

/* Flushes happen with and without the buffer, so that free slots are used in many orders. */
static void buffers_between_flushes(setting *all)
{
    if (all->round > 0)
        mica_destroy(all->world, all->created);
    if (all->round % 53 == 0)
        mica_flush(all->world);
    mica_commands *commands = mica_commands_create(all->world);
    all->created = mica_command_create(commands, MICA_WITH(Position));
    mica_flush(all->world);
    mica_commands_destroy(commands);
}

/* As many creations as a stock holds at first, and now and then many more. */
static void recorded_entities(setting *all)
{
    uint32_t count = all->round % 100 ? all->round % 3 : 500;
    mica_entity created[500];
    for (uint32_t i = 0; i < count; ++i)
        created[i] = mica_command_create(all->commands, MICA_WITH(Position));
    mica_flush(all->world);
    for (uint32_t i = 0; i < count; ++i)
        mica_command_destroy(all->commands, created[i]);
    mica_flush(all->world);
}

/* Indexes that come and go, and one that follows what comes and goes. */
static void indexes(setting *all)
{
    if (all->round % 100 == 0)
        mica_index_destroy(mica_index_create(
            all->world, &(mica_index_def){.component = MICA_ID(Price), .fields = "value", .hashed = true}));
    if (!all->grid)
        all->grid = mica_index_create(
            all->world,
            &(mica_index_def){.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {20, 20}});
    if (!all->index)
        all->index = mica_index_create(
            all->world, &(mica_index_def){.component = MICA_ID(Position), .fields = "x", .hashed = true});
    if (all->round)
        mica_destroy(all->world, all->created);
    all->created = mica_create(all->world, MICA_WITH(Position, {(float)(all->round % 20), (float)(all->round % 7), 0}));
    for (uint32_t i = 0; i < 8; ++i)
        mica_set(all->world, all->entities[i], Position, {(float)(all->round / (i + 1) % 20), (float)i, 0});
    mica_index_update(all->grid);
    mica_index_update(all->index);
}

static void queries(setting *all)
{
    mica_query_destroy(mica_query_create(all->world, MICA_QUERY(MICA_READ(Position), MICA_WITHOUT(Frozen))));
}

static void names(setting *all)
{
    char name[32];
    snprintf(name, sizeof name, "name %u", all->round);
    mica_name_set(all->world, all->entities[0], mica_nil(), name);
    mica_name_set(all->world, all->entities[0], mica_nil(), NULL);
}

static void links(setting *all)
{
    mica_entity child = mica_create(all->world);
    mica_set_parent(all->world, child, all->entities[0]);
    mica_set_parent(all->world, child, all->round % 2 ? mica_nil() : all->entities[1]);
    mica_destroy(all->world, child);
}

/* Edges of relations with each trait, which are removed, or end with their source or target. */
static void relations(setting *all)
{
    mica_entity created = mica_create(all->world), part = mica_create(all->world);
    for (uint32_t i = 0; i < 4; ++i) {
        mica_relate(all->world, all->entities[i], Likes, created);
        mica_relate_with(all->world, created, Owes, all->entities[i], {(float)i});
    }
    mica_relate(all->world, all->entities[all->round % 8], MarriedTo, all->entities[(all->round + 1) % 8]);
    mica_relate(all->world, part, PartOf, created);
    mica_unrelate(all->world, all->entities[0], Likes, created);
    mica_destroy(all->world, created);
}

static void recorded_relations(setting *all)
{
    mica_entity created = mica_create(all->world);
    mica_defer(all->world);
    mica_relate(all->world, all->entities[0], Likes, created);
    mica_relate_with(all->world, created, Owes, all->entities[1], {1});
    mica_flush(all->world);
    mica_defer(all->world);
    if (all->round % 2)
        mica_unrelate(all->world, all->entities[0], Likes, created);
    mica_destroy(all->world, created);
    mica_flush(all->world);
}

static void queries_of_several_entities(setting *all)
{
    mica_relate(all->world, all->entities[0], Likes, all->entities[1]);
    mica_query *query = mica_query_text(all->world, "Position, Likes($this, $b), Position($b)", NULL);
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        ck_assert_uint_eq(view.count, 1);
    mica_query_destroy(query);
    mica_unrelate(all->world, all->entities[0], Likes, all->entities[1]);
}

static void text_and_lists(setting *all)
{
    mica_set(all->world, all->entities[0], Note, {.text = mica_text_of("a text that does not lie in place")});
    Note *note = mica_write(all->world, all->entities[0], Note);
    for (uint32_t i = 0; i < 5 + all->round % 20; ++i) {
        mica_text_append(&note->text, " and more");
        *mica_list_append(&note->numbers, uint32_t) = i;
    }
    mica_remove(all->world, all->entities[0], Note);
}

static void disabled_entities(setting *all)
{
    mica_entity_disable(all->world, all->entities[all->round % 8]);
    mica_entity_enable(all->world, all->entities[all->round % 8]);
}

static void prefabs(setting *all)
{
    mica_entity root = mica_create(all->world, MICA_WITH(Mass, {1}));
    mica_name_child(all->world, mica_create_child(all->world, root, MICA_WITH(Position)), "part");
    mica_prefab_create(all->world, root, NULL);
    mica_entity instance = mica_prefab_spawn(all->world, root, NULL);
    mica_set(all->world, root, Mass, {2});
    mica_prefab_update(all->world, root, NULL, NULL);
    ck_assert(mica_get(all->world, instance, Mass)->value == 2);
    mica_destroy(all->world, all->round % 2 ? instance : root);
    mica_destroy(all->world, all->round % 2 ? root : instance);
}

/* What was spawned is destroyed again. */
static void files(setting *all)
{
    mica_blob blob;
    mica_entity spawned[16];
    ck_assert_int_eq(mica_pack(all->world, &(mica_save_def){.entities = all->entities, .entity_count = 8}, &blob),
                     MICA_OK);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    mica_spawn(all->world, resource, &(mica_spawn_def){.out_entities = spawned, .out_capacity = 16});
    ck_assert_uint_eq(mica_destroy_many(all->world, spawned, 8), 8);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}

static void states(setting *all)
{
    mica_state *state;
    ck_assert_int_eq(mica_state_take(all->world, &state), MICA_OK);
    mica_state_free(state);
}

static bool count_bytes(const void *bytes, size_t byte_count, void *context)
{
    (void)bytes;
    *(size_t *)context += byte_count;
    return true;
}

static void arrow_files(setting *all)
{
    size_t byte_count = 0;
    mica_query *query = mica_query_create(all->world, MICA_QUERY(MICA_READ(Position)));
    ck_assert_int_eq(mica_arrow_write(query, NULL, NULL, count_bytes, &byte_count), MICA_OK);
    ck_assert_uint_gt(byte_count, 0);
    mica_query_destroy(query);
}

static void tables(setting *all)
{
    mica_define(all->world, Mass);
    sqlite3 *database = mica_sql_open(all->world, NULL);
    ck_assert_int_eq(sqlite3_exec(database,
                                  "INSERT INTO Mass (value) VALUES (4); SELECT count(*) FROM Position;"
                                  "DELETE FROM entities WHERE entity IN (SELECT entity FROM Mass)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(database);
}

static void worlds(setting *all)
{
    mica_world *world = mica_world_create(NULL);
    mica_create(world, MICA_WITH(Position));
    mica_world_destroy(world);
    (void)all;
}

static void clones(setting *all)
{
    mica_world_destroy(mica_world_clone(all->world));
}

static void snapshots(setting *all)
{
    mica_snapshot snapshot = mica_snapshot_take(all->world);
    mica_entity created = mica_create(all->world, MICA_WITH(Position));
    mica_set(all->world, all->entities[0], Mass, {1});
    if (all->round % 2)
        mica_snapshot_restore(all->world, snapshot);
    else
        mica_destroy(all->world, created);
    mica_snapshot_drop(all->world, snapshot);
    mica_remove(all->world, all->entities[0], Mass);
}

static void groups(setting *all)
{
    mica_snapshot snapshot = mica_snapshot_take(all->world);
    mica_group(all->world, Price, Weight);
    mica_snapshot_restore(all->world, snapshot);
    mica_snapshot_drop(all->world, snapshot);
}

static void histories(setting *all)
{
    mica_history *history = mica_history_create(all->world, 4);
    for (uint32_t tick = 0; tick < 6; ++tick) {
        mica_history_take(history, tick);
        mica_set(all->world, all->entities[0], Mass, {(float)tick});
    }
    mica_history_restore(history, 3);
    mica_history_destroy(history);
    mica_remove(all->world, all->entities[0], Mass);
}

static void on_event(const mica_event *event)
{
    (void)event;
}

static void hooks(setting *all)
{
    mica_hook_set(all->world, Mass, MICA_EVENT_ADD, on_event, NULL);
    components(all);
    mica_hook_set(all->world, Mass, MICA_EVENT_ADD, NULL, NULL);
}

static void observers(setting *all)
{
    mica_observer_def def = {.event = MICA_EVENT_ADD, .component = MICA_ID(Mass), .fn = on_event};
    mica_observer observer = mica_observer_add(all->world, &def);
    components(all);
    mica_observer_remove(all->world, observer);
}

static void monitors(setting *all)
{
    mica_observer observer = mica_observer_add(all->world, MICA_MONITOR(on_event, MICA_READ(Mass)));
    components(all);
    mica_observer_remove(all->world, observer);
}

static void removals(setting *all)
{
    mica_removals *list = mica_removals_create(all->world, Mass);
    components(all);
    mica_removals_destroy(list);
}

static void on_message(const mica_message *message)
{
    (void)message;
}

static void messages(setting *all)
{
    mica_handler_add(all->world, MICA_HANDLER(Position, Damage, on_message));
    mica_send(all->world, all->entities[0], Damage, {1});
    mica_step(all->world, 0.1f);
    mica_handler_remove(all->world, MICA_ID(Position), MICA_ID(Damage), on_message);
}

static void streams(setting *all)
{
    mica_stream_def def = {.name = "damage", .type = &mica_type_of_Damage};
    mica_stream *stream = mica_stream_create(all->world, &def);
    mica_stream_push(stream, Damage, {1});
    mica_stream_destroy(stream);
}

static void answer(const mica_request_group *group)
{
    (void)group;
}

static void requests(setting *all)
{
    mica_requests_def def = {
        .name = "price", .question = &mica_type_of_Damage, .answer = &mica_type_of_Price, .fn = answer};
    mica_requests *requests = mica_requests_create(all->world, &def);
    mica_request_post(requests, 1, all->entities[0], Damage, {1});
    mica_requests_destroy(requests);
}

static void idle(mica_view *view)
{
    (void)view;
}

static void systems(setting *all)
{
    mica_system system = mica_system_add(all->world, MICA_SYSTEM(idle, MICA_READ(Position)));
    mica_step(all->world, 0.1f);
    mica_system_remove(all->world, system);
}

static void phases(setting *all)
{
    mica_phase phase = mica_phase_add(all->world, &(mica_phase_def){.name = "extra"});
    mica_phase_remove(all->world, phase);
}

static void breed(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; ++i)
        if (view->frame->tick % 50 == 0)
            for (uint32_t k = 0; k < 100; ++k)
                mica_create(view->frame->world, MICA_WITH(Number));
        else
            mica_create(view->frame->world, MICA_WITH(Number));
}

static void die(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; ++i)
        mica_destroy(view->frame->world, view->entities[i]);
}

static void frames(setting *all)
{
    if (all->round == 0) {
        mica_system_add(all->world, MICA_SYSTEM(breed, MICA_READ(Position)));
        mica_system_add(all->world, MICA_SYSTEM(die, MICA_READ(Number)));
    }
    mica_step(all->world, 0.1f);
}

static void recordings(setting *all)
{
    const char *path = "build/constant_population.record";
    mica_recording_begin(all->world, path, NULL);
    mica_step(all->world, 0.1f);
    mica_recording_end(all->world);
    mica_recording_free(mica_recording_load(path, NULL));
    unlink(path);
}

/* Entities come and go in the sender's world, and in the world that follows. */
static void replicated_entities(setting *all)
{
    mica_entity created = mica_create(all->world, MICA_WITH(Position), MICA_WITH(Price));
    mica_delta delta;
    for (uint32_t i = 0; i < 2; ++i) {
        mica_world_mark(all->world);
        ck_assert(mica_delta_encode(all->sender, mica_replica_version(all->replica), &delta) == MICA_OK);
        ck_assert(mica_delta_apply(all->replica, delta.bytes, delta.byte_count) == MICA_OK);
        if (!i)
            mica_destroy(all->world, created);
    }
    mica_flush(all->world);
    mica_flush(all->other);
}

static void replicas(setting *all)
{
    mica_replica_destroy(mica_replica_create(all->other, NULL));
    mica_sender_destroy(mica_sender_create(all->other, NULL));
}

static const struct pair {
    const char *name;
    void (*run)(setting *all);
    uint32_t rounds;
} pairs[] = {
    {"entities", entities, 100000},
    {"entities with pools", entities_with_pools, 100000},
    {"entities in bulk", entities_in_bulk, 5000},
    {"components", components, 100000},
    {"buffers", buffers, 100000},
    {"buffers beside bulk creation", buffers_beside_bulk_creation, 4000},
    {"buffers between flushes", buffers_between_flushes, 100000},
    {"recorded entities", recorded_entities, 50000},
    {"queries", queries, 100000},
    {"indexes", indexes, 20000},
    {"names", names, 100000},
    {"links", links, 100000},
    {"relations", relations, 50000},
    {"recorded relations", recorded_relations, 50000},
    {"queries of several entities", queries_of_several_entities, 20000},
    {"text and lists", text_and_lists, 50000},
    {"disabled entities", disabled_entities, 100000},
    {"prefabs", prefabs, 3000},
    {"files", files, 5000},
    {"states", states, 5000},
    {"Arrow files", arrow_files, 20000},
    {"tables", tables, 1000},
    {"worlds", worlds, 2000},
    {"clones", clones, 1000},
    {"snapshots", snapshots, 50000},
    {"groups", groups, 20000},
    {"histories", histories, 10000},
    {"hooks", hooks, 100000},
    {"observers", observers, 50000},
    {"monitors", monitors, 50000},
    {"removals", removals, 100000},
    {"messages", messages, 20000},
    {"streams", streams, 50000},
    {"requests", requests, 20000},
    {"systems", systems, 20000},
    {"phases", phases, 20000},
    {"frames", frames, 20000},
    {"recordings", recordings, 500},
    {"replicated entities", replicated_entities, 10000},
    {"replicas", replicas, 20000},
};

static void open_setting(setting *all)
{
    *all = (setting){.world = mica_world_create(NULL), .other = mica_world_create(NULL)};
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = 1;
    mica_flow_configure(all->world, &def);
    for (uint32_t i = 0; i < COUNT_OF(all->entities); ++i)
        all->entities[i] = mica_create(all->world, MICA_WITH(Position));
    all->commands = mica_commands_create(all->world);
    all->sender = mica_sender_create(all->world, NULL);
    all->replica = mica_replica_create(all->other, NULL);
    mica_destroy(all->other, mica_create(all->other, MICA_WITH(Position), MICA_WITH(Price)));
}

static void close_setting(setting *all)
{
    ck_assert(mica_world_validate(all->world) == MICA_OK && mica_world_validate(all->other) == MICA_OK);
    mica_sender_destroy(all->sender);
    mica_replica_destroy(all->replica);
    mica_world_destroy(all->world);
    mica_world_destroy(all->other);
}

typedef struct population {
    uint64_t index_count; /* that were ever in use */
    size_t world_bytes;
    size_t process_bytes;
} population;

static population measure(const setting *all)
{
    size_t pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%zu %zu", &pages, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return (population){used_index_count(all->world) + used_index_count(all->other),
                        mica_world_get_stats(all->world).memory_bytes + mica_world_get_stats(all->other).memory_bytes,
                        resident * 4096};
}

START_TEST(what_comes_and_goes_leaves_nothing)
{
    const struct pair *pair = &pairs[_i];
    uint32_t rounds = UNDER_SANITIZER ? pair->rounds / 10 : pair->rounds;
    setting all;
    open_setting(&all);
    for (; all.round < rounds / 4; ++all.round)
        pair->run(&all);
    population before = measure(&all);
    for (; all.round < rounds; ++all.round)
        pair->run(&all);
    population after = measure(&all);
    ck_assert_msg(after.index_count == before.index_count, "%s: the highest entity index went from %llu to %llu",
                  pair->name, (unsigned long long)before.index_count, (unsigned long long)after.index_count);
    ck_assert_msg(after.world_bytes <= before.world_bytes + 4096,
                  "%s: the memory of the world went from %zu to %zu bytes", pair->name, before.world_bytes,
                  after.world_bytes);
    ck_assert_msg(UNDER_SANITIZER || after.process_bytes <= before.process_bytes + (1 << 20),
                  "%s: the memory of the process went from %zu to %zu bytes", pair->name, before.process_bytes,
                  after.process_bytes);
    close_setting(&all);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("constant_population");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, what_comes_and_goes_leaves_nothing, 0, (int)COUNT_OF(pairs));
    return test_run("constant_population", cases);
}
