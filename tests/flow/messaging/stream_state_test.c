/* Streams as a part of the world: its hash, its snapshots, its invariants. */
#include "support/damage.h"
#include "flow/messaging/stream.h"
#include "mica/snapshot.h"
#include "flow/notes.h"

/* That of a world without messages after as many frames. */
static uint64_t hash_without_messages(uint32_t frames)
{
    reports heard;
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < frames; ++i)
        mica_step(world, 1);
    uint64_t hash = mica_world_hash(world);
    close_world(world, &heard);
    return hash;
}

START_TEST(messages_that_are_kept_are_part_of_the_hash_of_the_world)
{
    reports heard;
    mica_world *world = open_world(&heard);
    uint64_t hashes[2];
    notes = mica_stream_create(world, MICA_STREAM_WITH(Note, (.application = true)));
    ck_assert(mica_world_hash(world) == hash_without_messages(0));
    for (uint32_t i = 0; i < 2; ++i) {
        mica_stream_push(notes, Note, {.call = i});
        hashes[i] = mica_world_hash(world);
        uint32_t count;
        ck_assert_ptr_nonnull(mica_stream_read(notes, Note, &count));
        ck_assert(mica_world_hash(world) != hashes[i]); /* what is left to read has changed */
        mica_step(world, 1);
        ck_assert(mica_world_hash(world) == hash_without_messages(i + 1)); /* all have read it: it is dropped */
    }
    ck_assert(hashes[0] != hashes[1] && hashes[0] != hash_without_messages(0));
    mica_stream *unread = mica_stream_create(world, &(mica_stream_def){.type = &mica_type_of_Note});
    mica_stream_push(unread, Note, {.call = 7});
    uint64_t fresh = mica_world_hash(world), old;
    mica_step(world, 1);
    ck_assert((old = mica_world_hash(world)) != fresh &&
              old != hash_without_messages(3)); /* without readers, age counts */
    mica_step(world, 1);
    ck_assert(mica_world_hash(world) == hash_without_messages(4));
    ck_assert(!mica_stream_push(unread, Number, {1}));
    expect_report(&heard, MICA_ERROR_LAYOUT, "stream Note: a message of 4 bytes");
    close_world(world, &heard);
}
END_TEST

/* Runs that were dropped from a bounded stream, all of them or the first part, are no longer part of anything. */
START_TEST(what_was_dropped_for_room_is_not_part_of_the_hash)
{
    uint64_t hashes[2];
    for (uint32_t i = 0; i < 2; ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        notes = mica_stream_create(world, MICA_STREAM_WITH(Note, (.capacity = 2, .keep_frames = 9)));
        mica_stream_push(notes, Note, {.call = 7});
        mica_step(world, 1);
        for (uint32_t call = i; call < 4; ++call)
            mica_stream_push(notes, Note, {.call = call < 2 ? 7 : call});
        hashes[i] = mica_world_hash(world);
        ck_assert_uint_eq(mica_stream_dropped(notes), 3 - i);
        ck_assert_uint_eq(mica_stream_count(notes), 0); /* the application has no place in it */
        close_world(world, &heard);
    }
    ck_assert(hashes[0] == hashes[1]);
}
END_TEST

/* An allocator that gives the block back that was released last, if it has the size: addresses come again. */
typedef struct recycler {
    void *blocks[256];
    size_t bytes[256];
    uint32_t count;
} recycler;

static void *allocate(size_t bytes, size_t alignment, void *context)
{
    recycler *recycler = context;
    for (uint32_t i = recycler->count; i-- > 0;)
        if (recycler->bytes[i] == bytes && (uintptr_t)recycler->blocks[i] % alignment == 0) {
            void *block = recycler->blocks[i];
            recycler->bytes[i] = recycler->bytes[--recycler->count];
            recycler->blocks[i] = recycler->blocks[recycler->count];
            return block;
        }
    alignment = alignment < 16 ? 16 : alignment;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release(void *pointer, size_t bytes, size_t alignment, void *context)
{
    (void)alignment;
    recycler *recycler = context;
    ck_assert_uint_lt(recycler->count, 256);
    recycler->bytes[recycler->count] = bytes;
    recycler->blocks[recycler->count++] = pointer;
}

START_TEST(a_snapshot_knows_a_stream_by_what_it_is_and_not_where_it_lies)
{
    reports heard;
    recycler recycler = {0};
    mica_world_def def = mica_world_def_default();
    def.allocator = (mica_allocator){allocate, release, &recycler};
    mica_world *world = open_world_with(&heard, def);
    use_workers(world, 1);
    mica_snapshot none = mica_snapshot_take(world); /* before there were streams */
    notes = mica_stream_create(world, MICA_STREAM_WITH(Note, (.application = true)));
    mica_stream *stays = mica_stream_create(world, MICA_STREAM_WITH(Number, (.application = true)));
    mica_stream_push(notes, Note, {1, 2, 3});
    mica_stream_push(stays, Number, {5});
    mica_snapshot some = mica_snapshot_take(world);
    mica_stream_destroy(notes);
    mica_stream *other = mica_stream_create(world, MICA_STREAM_WITH(Number, (.application = true)));
    ck_assert_ptr_eq(other, notes);
    mica_stream_push(other, Number, {1});
    mica_stream_push(stays, Number, {6});
    ck_assert_int_eq(mica_snapshot_restore(world, some), MICA_OK);
    ck_assert_uint_eq(mica_stream_count(other), 0); /* it was not there, whatever lay at its address */
    ck_assert_uint_eq(mica_stream_count(stays), 1);
    mica_stream_push(other, Number, {2});
    uint32_t count;
    ck_assert_uint_eq(mica_stream_read(other, Number, &count)->value, 2);
    ck_assert_uint_eq(mica_stream_read(stays, Number, &count)->value, 5);
    mica_stream_push(stays, Number, {7});
    ck_assert_int_eq(mica_snapshot_restore(world, none), MICA_OK);
    ck_assert_uint_eq(mica_stream_count(stays), 0);
    mica_stream_push(stays, Number, {8});
    ck_assert_uint_eq(mica_stream_read(stays, Number, &count)->value, 8);
    close_world(world, &heard);
    while (recycler.count)
        free(recycler.blocks[--recycler.count]);
}
END_TEST

START_TEST(a_broken_stream_is_found_by_validation)
{
    reports heard;
    mica_world *world = open_world(&heard);
    notes = mica_stream_create(world, MICA_STREAM_WITH(Note, (.application = true)));
    for (uint32_t frame = 0; frame < 2; ++frame) {
        mica_stream_push(notes, Note, {1, 2, 3});
        mica_step(world, 1);
    }
    micap_queue *queue = &notes->queue;
    const char *named = "stream Note: broken invariant";
    const damage list[] = {
        DAMAGE(queue->end, queue->end + sizeof(Note), named),
        DAMAGE(queue->begin, queue->end + 1, named),
        DAMAGE(queue->last, 0, named),
        DAMAGE(queue->first->position, 1, named),
        DAMAGE(queue->first->end, (uintptr_t)queue->first->begin - 1, named),
        DAMAGE(queue->first->block->span_count, 0, named),
        DAMAGE(queue->first->next->position, 0, named),
        DAMAGE(notes->readers[0].position, queue->end + 1, named),
    };
    expect_damage_named(world, &heard, list, sizeof list / sizeof *list);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(stream_state, messages_that_are_kept_are_part_of_the_hash_of_the_world,
           what_was_dropped_for_room_is_not_part_of_the_hash,
           a_snapshot_knows_a_stream_by_what_it_is_and_not_where_it_lies, a_broken_stream_is_found_by_validation)
