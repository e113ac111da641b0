/* The undo, against a list of all that each snapshot had: it gives that back, or says that it is lost. */
#include "../support/faulty_allocator.h"
#include "../support/random.h"
#include "../support/require.h"
#include "../support/test.h"

#include "base/undo_log.h"

#include <string.h>

enum { PLACES = 60, SNAPSHOTS_MAX = 5 };

static int64_t owned_alive;

static bool copy_owned(micap_undo_entry *to, const micap_undo_entry *from)
{
    memcpy(to->data, from->data, from->bytes);
    ++owned_alive;
    return true;
}

static void move_owned(micap_undo_entry *to, micap_undo_entry *from)
{
    memcpy(to->data, from->data, from->bytes);
}

static void release_owned(micap_undo_entry *kept)
{
    (void)kept;
    --owned_alive;
}

static const micap_undo_value_ops ops = {copy_owned, move_owned, release_owned};

typedef struct snapshot {
    micap_undo_log *log;
    uint64_t values[PLACES];
} snapshot;

typedef struct play {
    faulty_allocator allocator;
    micap_memory memory;
    micap_undo_logs undo;
    random_source random;
    uint64_t values[PLACES];
    snapshot snapshots[SNAPSHOTS_MAX]; /* oldest first */
    uint32_t count;
    uint32_t lost_count;
} play;

/* Places of all sorts: every third owns something, and some have one number and several parts. */
static void keep(play *play, uint32_t location)
{
    if (location % 3) {
        micap_undo_save_bytes(&play->undo, MICAP_UNDO_RECORDS, location / 2, location % 2, &play->values[location], 8);
        return;
    }
    micap_undo_entry *kept = micap_undo_open(&play->undo, MICAP_UNDO_COLUMN, location / 2, location % 2, 8, 64);
    if (!kept)
        return;
    if (random_one_in(&play->random, 200)) { /* no copy can be made */
        micap_undo_give_up(&play->undo, kept);
        return;
    }
    memcpy(kept->data, &play->values[location], 8);
    kept->is_owned = true;
    ++owned_alive;
    micap_undo_close(&play->undo, kept);
}

static void write_some(play *play)
{
    for (uint32_t i = random_below(&play->random, 20); i-- > 0;) {
        uint32_t location = random_below(&play->random, PLACES);
        if (play->count)
            keep(play, location);
        play->values[location] = random_u64(&play->random);
    }
}

static void take(play *play)
{
    if (play->count == SNAPSHOTS_MAX)
        return;
    snapshot *fresh = &play->snapshots[play->count];
    fresh->log = micap_undo_log_add(&play->undo, play->count + 1);
    if (!fresh->log)
        return;
    memcpy(fresh->values, play->values, sizeof fresh->values);
    ++play->count;
}

static void drop(play *play)
{
    if (!play->count)
        return;
    uint32_t at = random_below(&play->random, play->count);
    micap_undo_log_drop(&play->undo, play->snapshots[at].log);
    memmove(&play->snapshots[at], &play->snapshots[at + 1], (--play->count - at) * sizeof *play->snapshots);
}

static void expect_what_was(play *play, const snapshot *snapshot)
{
    uint64_t values[PLACES];
    micap_undo_entries list;
    if (micap_undo_log_is_lost(snapshot->log)) {
        ++play->lost_count;
        return;
    }
    if (!micap_undo_log_gather(&play->undo, snapshot->log, &list)) {
        REQUIRE(!list.all && play->allocator.failures);
        return;
    }
    memcpy(values, play->values, sizeof values);
    for (uint32_t i = 0; i < list.count; ++i) {
        uint32_t location = (uint32_t)list.all[i]->key * 2 + list.all[i]->part;
        REQUIRE(list.all[i]->is_owned == (location % 3 == 0));
        memcpy(&values[location], list.all[i]->data, 8);
    }
    REQUIRE(memcmp(values, snapshot->values, sizeof values) == 0);
    MICAP_RELEASE_ARRAY(&play->memory, list.all, list.capacity);
}

/* Returns how often a snapshot was lost. */
static uint32_t run(uint64_t seed, bool is_short_of_memory)
{
    static void (*const steps[])(play *) = {write_some, write_some, take, drop};
    static play play;
    memset(&play, 0, sizeof play);
    play.random.state = seed;
    faulty_allocator_init(&play.allocator);
    REQUIRE(micap_memory_init(&play.memory, faulty_allocator_interface(&play.allocator)));
    micap_undo_logs_init(&play.undo, &play.memory, &ops);
    for (uint32_t step = 0; step < 300; ++step) {
        if (is_short_of_memory && random_one_in(&play.random, 4))
            faulty_allocator_fail_at(&play.allocator, 1 + random_below(&play.random, 6),
                                     random_one_in(&play.random, 2));
        steps[random_below(&play.random, 4)](&play);
        REQUIRE(play.undo.count == play.count);
        for (uint32_t i = 0; i < play.count; ++i)
            expect_what_was(&play, &play.snapshots[i]);
        faulty_allocator_fail_at(&play.allocator, 0, false);
    }
    micap_undo_logs_free(&play.undo);
    REQUIRE_SAYING(owned_alive == 0, "%lld are left", (long long)owned_alive);
    faulty_allocator_free(&play.allocator);
    return play.lost_count;
}

START_TEST(a_snapshot_gives_back_what_was_or_says_that_it_is_lost)
{
    uint32_t lost = 0;
    for (uint64_t seed = 1; seed <= 60; ++seed)
        lost += run(seed, seed % 2);
    ck_assert_uint_gt(lost, 0);
}
END_TEST

/* There is no machine that could really keep that many: a log is made to say so. */
START_TEST(more_places_than_a_list_can_count_are_refused)
{
    static micap_memory memory;
    static micap_undo_logs undo;
    micap_memory_init(&memory, (mica_allocator){0});
    micap_undo_logs_init(&undo, &memory, &ops);
    micap_undo_log *log = micap_undo_log_add(&undo, 1);
    micap_undo_entries list;
    log->stripes[0].count = log->stripes[1].count = UINT32_MAX;
    ck_assert(!micap_undo_log_gather(&undo, log, &list) && !list.all);
    log->stripes[0].count = log->stripes[1].count = 0;
    ck_assert(micap_undo_log_gather(&undo, log, &list) && !list.count);
    MICAP_RELEASE_ARRAY(&memory, list.all, list.capacity);
    micap_undo_logs_free(&undo);
    ck_assert_uint_eq(memory.bytes, 0);
}
END_TEST

TEST_SUITE(undo_log, a_snapshot_gives_back_what_was_or_says_that_it_is_lost,
           more_places_than_a_list_can_count_are_refused)
