/* Where two worlds differ; runs in files; going back; following another world. */
#include "conformance.h"
#include "mica/delta.h"
#include "mica/hash.h"
#include "mica/recording.h"
#include "mica/snapshot.h"
#include "parts.h"

#include <stdio.h>
#include <string.h>

static mica_world *make_world(void)
{
    mica_world *world = open_world();
    for (uint32_t i = 0; i < 1200; ++i) {
        mica_entity made = mica_create(world, MICA_WITH(Place, {(float)i, 0}), MICA_WITH(Heat, {1}));
        if (i % 3 == 0)
            mica_set(world, made, Being, {.age = (uint8_t)i, .title = "same"});
    }
    return world;
}

static void check_trees(void)
{
    mica_world *one = make_world(), *other = make_world();
    EXPECT(!mica_hash_diff(one, other, NULL));
    mica_hash_tree *before = mica_hash_tree_take(one, MICA_HASH_SLICES);
    print_hash("tree_root", 0, mica_hash_tree_root(before));
    mica_query *beings = mica_query_create(other, MICA_QUERY(MICA_READ(Being)));
    mica_write(other, mica_query_first(beings), Being)->path[1].y = 1;
    mica_hash_tree *after = mica_hash_tree_take(other, MICA_HASH_SLICES);
    uint32_t count;
    const mica_hash_leaf *leaves = mica_hash_tree_leaves(after, &count);
    mica_hash_tree *copy = mica_hash_tree_from_leaves(leaves, count);
    EXPECT(mica_hash_tree_root(copy) == mica_hash_tree_root(after));
    mica_difference difference;
    EXPECT(mica_hash_tree_diff(before, copy, &difference) && strcmp(difference.component, "Being") == 0);
    EXPECT(mica_hash_diff(one, other, &difference) && difference.field[0] == 'p');
    mica_hash_tree_free(before);
    mica_hash_tree_free(after);
    mica_hash_tree_free(copy);
    mica_world_destroy(other);
    close_world(one, 0);
}

static void take_input(mica_world *world, const void *bytes, size_t byte_count, void *context)
{
    (void)context;
    mica_singleton_write(world, Total)->seen += *(const uint8_t *)bytes * byte_count;
}

static void fall(mica_view *view)
{
    Place *location = mica_view_write(view, Place);
    for (uint32_t i = 0; i < view->count; ++i)
        location[i].y -= view->dt;
}

static mica_world *make_run(void)
{
    mica_world *world = make_world();
    EXPECT(mica_input_handle(world, take_input, NULL) == MICA_OK);
    mica_system_add(world, MICA_SYSTEM(fall, MICA_WRITE(Place)));
    mica_singleton_write(world, Total)->seen = 0;
    return world;
}

static void check_recordings(void)
{
    static const char file[] = "conformance.micarec";
    mica_world *world = make_run(), *other = make_run();
    mica_recording_def def = {.detail = MICA_RECORDING_SLICES, .systems = true};
    EXPECT(mica_recording_begin(world, file, &def) == MICA_OK);
    for (uint8_t tick = 1; tick <= 5; ++tick) {
        EXPECT(mica_input(world, &tick, 1) == MICA_OK);
        EXPECT(mica_step(world, 0.25f) == MICA_OK);
    }
    EXPECT(mica_recording_end(world) == MICA_OK);
    mica_recording *recording = mica_recording_load(file, NULL);
    remove(file);
    EXPECT(mica_recording_get_info(recording).tick_count == 5);
    for (uint32_t tick = 1; tick <= 5; ++tick)
        print_hash("recorded", tick, mica_recording_tick(recording, tick).hash);
    size_t byte_count = 0;
    const uint8_t *input = mica_recording_input(recording, 2, 0, &byte_count);
    EXPECT(byte_count == 1 && input && *input == 2);
    EXPECT(mica_replay(other, recording, NULL) && mica_world_hash(other) == mica_world_hash(world));
    EXPECT(!mica_recording_diff(recording, recording, NULL));
    mica_recording_error error;
    EXPECT(!mica_recording_detect("nothing", 7));
    EXPECT(!mica_recording_open("nothing", 7, &error) && error.result != MICA_OK);
    mica_recording_free(recording);
    mica_world_destroy(other);
    close_world(world, 0);
}

static void check_snapshots(void)
{
    mica_world *world = make_world();
    mica_snapshot before = mica_snapshot_take(world);
    uint64_t hash = mica_world_hash(world);
    EXPECT(before.id != 0 && mica_snapshot_bytes(world, before) == 0);
    mica_entity gone = mica_query_first(mica_query_create(world, MICA_QUERY(MICA_READ(Being))));
    mica_destroy(world, gone);
    mica_create(world, MICA_WITH(Owner));
    EXPECT(mica_snapshot_restore(world, before) == MICA_OK && mica_world_hash(world) == hash);
    EXPECT(mica_is_alive(world, gone) && owners_alive == 0 && mica_snapshot_drop(world, before));

    mica_world *twin = mica_world_clone(world);
    EXPECT(twin && mica_world_hash(twin) == hash);
    mica_world_destroy(twin);
    mica_history *history = mica_history_create(world, 3);
    for (uint32_t tick = 1; tick <= 5; ++tick) {
        EXPECT(mica_history_take(history, tick) == MICA_OK);
        mica_write(world, gone, Being)->wealth += tick;
    }
    EXPECT(mica_history_count(history) == 3 && mica_history_first(history) == 3 && mica_history_last(history) == 5);
    EXPECT(mica_history_has(history, 4) && !mica_history_has(history, 2) && mica_history_bytes(history) > 0);
    EXPECT(mica_history_restore(history, 4) == MICA_OK && mica_get(world, gone, Being)->wealth == 6);
    mica_history_destroy(history);
    close_world(world, 0);
}

typedef struct Diary { mica_text title; mica_list pages; } Diary;
MICA_COMPONENT(Diary, title, (pages, mica_text))

/* A delta in one byte order has the same bytes on every machine, and machines with any order apply it. */
static void check_byte_orders(mica_world *world)
{
    for (uint32_t big = 0; big < 2; ++big) {
        mica_world *other = open_world();
        mica_define(other, Place);
        mica_define(other, Heat);
        mica_define(other, Being);
        mica_define(other, Diary);
        mica_sender *sender = mica_sender_create(
            world, &(mica_sender_def){.byte_order = big ? MICA_BYTE_ORDER_BIG : MICA_BYTE_ORDER_LITTLE});
        mica_replica *replica = mica_replica_create(other, NULL);
        mica_delta delta;
        EXPECT(mica_delta_encode(sender, 0, &delta) == MICA_OK);
        EXPECT(mica_delta_apply(replica, delta.bytes, delta.byte_count) == MICA_OK);
        EXPECT(mica_world_hash(other) == mica_world_hash(world));
        mica_sender_destroy(sender);
        mica_component diary = MICA_ID(Diary); /* text and lists have other sizes where pointers have */
        sender = mica_sender_create(
            world, &(mica_sender_def){.excluded = &diary,
                                      .excluded_count = 1,
                                      .byte_order = big ? MICA_BYTE_ORDER_BIG : MICA_BYTE_ORDER_LITTLE});
        EXPECT(mica_delta_encode(sender, 0, &delta) == MICA_OK);
        uint64_t sum = delta.byte_count;
        for (size_t i = 0; i < delta.byte_count; ++i)
            sum = (sum ^ ((const unsigned char *)delta.bytes)[i]) * 0x9e3779b97f4a7c15u;
        print_hash("delta bytes", big, sum);
        mica_replica_destroy(replica);
        mica_sender_destroy(sender);
        mica_world_destroy(other);
    }
}

static void check_deltas(void)
{
    mica_world *world = make_world(), *other = open_world();
    mica_define(other, Place);
    mica_define(other, Heat);
    mica_define(other, Being);
    mica_define(other, Diary);
    mica_sender *sender = mica_sender_create(world, &(mica_sender_def){.with_state = true});
    mica_replica *replica = mica_replica_create(other, NULL);
    mica_entity first = mica_query_first(mica_query_create(world, MICA_QUERY(MICA_READ(Being))));
    mica_set(world, first, Diary, {.title = mica_text_of("a title that does not lie in place")});
    for (uint32_t round = 0; round < 3; ++round) {
        mica_delta delta;
        EXPECT(mica_delta_encode(sender, mica_replica_version(replica), &delta) == MICA_OK);
        EXPECT(mica_delta_apply(replica, delta.bytes, delta.byte_count) == MICA_OK);
        EXPECT(mica_world_hash(other) == mica_world_hash(world));
        size_t state_bytes;
        const void *state = mica_replica_state(replica, &state_bytes);
        EXPECT(state && mica_state_check(state, state_bytes));
        print_hash("delta", round, mica_world_hash(other));
        mica_write(world, first, Being)->age += 1;
        mica_list_add(&mica_write(world, first, Diary)->pages, mica_text, mica_text_of("page"));
        mica_destroy(world, mica_create(world, MICA_WITH(Place, {1, 1})));
    }
    check_byte_orders(world);
    EXPECT(mica_same(mica_replica_local(replica, first), first) &&
           mica_same(mica_replica_remote(replica, first), first));
    mica_replica_destroy(replica);
    mica_sender_destroy(sender);
    mica_world_destroy(other);
    close_world(world, 0);
}

void check_history(void)
{
    check_deltas();
    check_snapshots();
    check_trees();
    check_recordings();
}
