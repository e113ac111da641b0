/* Text and lists in deltas: each lie about them is refused, and memory that runs out changes nothing. */
#include "../support/faulty_allocator.h"
#include "../support/follow.h"
#include "../support/require.h"
#include "../support/test.h"

#include "base/block_heap.h"
#include "mica/hash.h"
#include "mica/snapshot.h"
#include "replication/delta_checksum.h"
#include "replication/delta_format.h"

#include <string.h>

static const char long_one[] = "a text that is longer than what lies in place";

/* A delta that a test may change: of a world with one component in a chunk, in a pool, or with a singleton. */
typedef struct parcel {
    char bytes[4096];
    size_t count;
} parcel;

typedef enum place { IN_CHUNK, IN_POOL, IN_SINGLETON, PLACES } place;

static void define_place(mica_world *world)
{
    mica_define(world, Crowd);
    mica_define(world, Cards);
    mica_define(world, Motto);
}

static mica_world *open_place(reports *heard)
{
    mica_world *world = open_world(heard);
    define_place(world);
    return world;
}

static parcel make_parcel(place place)
{
    reports heard;
    parcel parcel = {.count = 0};
    mica_world *world = open_place(&heard);
    mica_entity entity = mica_create(world);
    if (place == IN_CHUNK) {
        mica_set(world, entity, Crowd, {.name = mica_text_of(long_one)});
        mica_list_add(&mica_write(world, entity, Crowd)->members, Member, {mica_text_of(long_one), entity});
    } else if (place == IN_POOL) {
        mica_set(world, entity, Cards, {.suit = mica_text_of(long_one)});
        mica_list_add(&mica_write(world, entity, Cards)->numbers, uint16_t, 1, 2);
    } else {
        Motto *motto = mica_singleton_write(world, Motto);
        mica_text_set(&motto->text, long_one);
        mica_list_add(&motto->friends, mica_entity, entity);
    }
    mica_sender *sender = mica_sender_create(world, NULL);
    mica_delta delta;
    REQUIRE(mica_delta_encode(sender, 0, &delta) == MICA_OK && delta.byte_count <= sizeof parcel.bytes);
    memcpy(parcel.bytes, delta.bytes, delta.byte_count);
    parcel.count = delta.byte_count;
    mica_sender_destroy(sender);
    close_world(world, &heard);
    return parcel;
}

/* Where the text begins: its length is the byte before. */
static char *find_text(parcel *parcel)
{
    for (size_t i = 0; i + sizeof long_one <= parcel->count; ++i)
        if (memcmp(parcel->bytes + i, long_one, sizeof long_one - 1) == 0)
            return parcel->bytes + i;
    ck_abort_msg("the text is not in the delta");
    return NULL;
}

static void expect_refused(parcel *parcel, const char *words)
{
    reports heard;
    mica_world *world = open_place(&heard);
    mica_replica *replica = mica_replica_create(world, NULL);
    uint64_t sum = micap_little64(micap_delta_checksum(parcel->bytes, parcel->count));
    memcpy(parcel->bytes + MICAP_DELTA_CHECKSUM_AT, &sum, sizeof sum);
    uint64_t hash = mica_world_hash(world);
    ck_assert_int_eq(mica_delta_apply(replica, parcel->bytes, parcel->count), MICA_ERROR_DATA);
    expect_report(&heard, MICA_ERROR_DATA, words);
    ck_assert_uint_eq(mica_world_hash(world), hash);
    mica_replica_destroy(replica);
    close_world(world, &heard);
}

START_TEST(each_lie_about_text_and_lists_is_refused)
{
    parcel good = make_parcel((place)_i), bad = good;
    char *text = find_text(&bad);
    text[-1] = (char)(sizeof long_one + 100);
    expect_refused(&bad, "text and lists are cut off, too long, or can't be");
    bad = good;
    text[-1] = 1; /* the rest is taken for a list, or is left over */
    expect_refused(&bad, "text and lists are cut off, too long, or can't be");
    bad = good;
    /* The number of bytes is before the first content: this text, or in the pool a row without owner and a list. */
    char *count = text - 1 - (_i == IN_POOL ? 7 : 0) - 4;
    memset(count, 0x7F, 4);
    expect_refused(&bad, "text and lists are cut off");
    bad = good;
    count[-1] = 1;
    expect_refused(&bad, "text and lists are not zero");
}
END_TEST

START_TEST(without_blocks_a_delta_changes_nothing)
{
    parcel good = make_parcel((place)_i);
    reports heard;
    mica_world *world = open_place(&heard);
    mica_replica *replica = mica_replica_create(world, NULL);
    uint64_t hash = mica_world_hash(world);
    int64_t limit = 0;
    for (mica_result result = MICA_ERROR_MEMORY; result != MICA_OK; ++limit) {
        ck_assert_uint_eq(mica_world_hash(world), hash);
        micap_heap_limit(limit);
        result = mica_delta_apply(replica, good.bytes, good.count);
        micap_heap_limit(INT64_MAX);
        ck_assert(result == MICA_OK || result == MICA_ERROR_MEMORY);
    }
    ck_assert_int_gt(limit, 2);
    forget_reports(&heard);
    mica_replica_destroy(replica);
    close_world(world, &heard);
}
END_TEST

START_TEST(without_memory_a_delta_changes_nothing)
{
    static faulty_allocator faulty;
    parcel good = make_parcel((place)_i);
    for (uint64_t k = 1, done = 0; !done; ++k) {
        faulty_allocator_init(&faulty);
        reports heard;
        mica_world_def def = mica_world_def_default();
        def.allocator = faulty_allocator_interface(&faulty);
        mica_world *world = open_world_with(&heard, def);
        define_place(world);
        mica_replica *replica = mica_replica_create(world, NULL);
        uint64_t hash = mica_world_hash(world);
        faulty_allocator_fail_at(&faulty, k, false);
        mica_result result = mica_delta_apply(replica, good.bytes, good.count);
        done = !faulty.failures;
        faulty_allocator_fail_at(&faulty, 0, false);
        ck_assert_msg(result == MICA_OK || (result == MICA_ERROR_MEMORY && !done), "%d %s", result, heard.list[0].text);
        ck_assert(result == MICA_OK || mica_world_hash(world) == hash);
        ck_assert(k < 1000);
        forget_reports(&heard);
        mica_replica_destroy(replica);
        close_world(world, &heard);
        faulty_allocator_free(&faulty);
    }
}
END_TEST

START_TEST(a_restored_replica_has_the_text_of_then)
{
    static sender_side from;
    receiver_side to;
    open_sender(&from, 5);
    open_receiver(&to, false);
    mica_entity entity = mica_create(from.world, MICA_WITH(Crowd, {.name = mica_text_of(long_one)}));
    follow(&from, &to, true);
    mica_snapshot snapshot = mica_snapshot_take(to.world);
    mica_text_set(&mica_write(from.world, entity, Crowd)->name, "another text, which is long as well");
    mica_list_append(&mica_write(from.world, entity, Crowd)->members, Member);
    follow(&from, &to, true);
    ck_assert(mica_text_is(&mica_get(to.world, entity, Crowd)->name, "another text, which is long as well"));
    ck_assert_uint_eq(mica_list_count(&mica_get(to.world, entity, Crowd)->members), 1);
    ck_assert_int_eq(mica_snapshot_restore(to.world, snapshot), MICA_OK);
    ck_assert(mica_text_is(&mica_get(to.world, entity, Crowd)->name, long_one));
    ck_assert_uint_eq(mica_list_count(&mica_get(to.world, entity, Crowd)->members), 0);
    mica_snapshot_drop(to.world, snapshot);
    close_receiver(&to);
    close_sender(&from);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("delta_contents");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, each_lie_about_text_and_lists_is_refused, 0, PLACES);
    tcase_add_loop_test(cases, without_blocks_a_delta_changes_nothing, 0, PLACES);
    tcase_add_loop_test(cases, without_memory_a_delta_changes_nothing, 0, PLACES);
    tcase_add_test(cases, a_restored_replica_has_the_text_of_then);
    return test_run("delta_contents", cases);
}
