/* A clone is the same world, and goes its own way. */
#include "mica/flow.h"
#include "mica/hash.h"
#include "mica/hierarchy.h"
#include "mica/snapshot.h"
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

/* Can be moved, and not be copied. */
typedef struct Handle { int32_t number; } Handle;
static void handle_close(void *values, uint32_t count, void *context)
{
    (void)values, (void)count, (void)context;
}
MICA_COMPONENT_WITH(Handle, (.destruct = handle_close), number)

static mica_entity make_numbers(mica_world *world, uint32_t count)
{
    mica_entity first = mica_nil();
    for (uint32_t i = 0; i < count; ++i) {
        mica_entity made = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Position, {(float)i, 0, 0}));
        first = i ? first : made;
    }
    return first;
}

START_TEST(a_clone_goes_its_own_way)
{
    reports heard;
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_entity first = make_numbers(world, 700), child = make_numbers(world, 1);
    mica_destroy(world, make_numbers(world, 1));
    ck_assert_int_eq(mica_set_parent(world, child, first), MICA_OK);
    ck_assert_int_eq(mica_name_set(world, first, mica_nil(), "first"), MICA_OK);
    *mica_singleton_write(world, Clock) = (Clock){1.5, 3};
    mica_world *clone = mica_world_clone(world);
    uint64_t hash = mica_world_hash(world);
    ck_assert_uint_eq(mica_world_hash(clone), hash);
    ck_assert(mica_same(mica_parent(clone, child), first) && mica_same(mica_find(clone, "first"), first));
    ck_assert(mica_same(make_numbers(clone, 1), make_numbers(world, 1))); /* the next handle, too */
    ck_assert_uint_eq(mica_world_hash(clone), mica_world_hash(world));
    mica_write(clone, first, Number)->value = 77;
    ck_assert_uint_eq(mica_get(world, first, Number)->value, 0);
    expect_valid(clone);
    mica_world_destroy(clone);
    close_world(world, &heard);
}
END_TEST

START_TEST(what_can_not_be_cloned_is_refused)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_defer(world);
    ck_assert_ptr_null(mica_world_clone(world));
    expect_report(&heard, MICA_ERROR_REFUSED, "world_clone");
    mica_flush(world);
    ck_assert_ptr_nonnull(mica_add(world, mica_create(world), Handle));
    ck_assert_ptr_null(mica_world_clone(world));
    expect_report(&heard, MICA_ERROR_REFUSED, "world_clone: component Handle has a destruct function");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_clone_has_no_names_of_pending_entities)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_commands *commands = mica_commands_create(world);
    uint64_t hash = mica_world_hash(world);
    mica_entity pending = mica_command_create(commands, MICA_WITH(Number, {1}));
    ck_assert_int_eq(mica_name_set(world, pending, mica_nil(), "pending"), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), hash); /* as with its components, the name counts after the flush */
    mica_world *clone = mica_world_clone(world);
    ck_assert(mica_is_nil(mica_find(clone, "pending")));
    ck_assert_uint_eq(mica_world_hash(clone), hash);
    expect_valid(clone);
    mica_world_destroy(clone);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    clone = mica_world_clone(world);
    ck_assert(mica_same(mica_find(clone, "pending"), pending));
    ck_assert_uint_eq(mica_world_hash(clone), mica_world_hash(world));
    mica_world_destroy(clone);
    close_world(world, &heard);
}
END_TEST

START_TEST(streams_are_not_part_of_a_clone)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_stream *stream = mica_stream_create(world, MICA_STREAM_WITH(Number, (.application = true)));
    mica_stream_push(stream, Number, {7});
    mica_world *clone = mica_world_clone(world);
    ck_assert_uint_ne(mica_world_hash(clone), mica_world_hash(world)); /* a message waits */
    uint32_t count;
    ck_assert_uint_eq(mica_stream_read(stream, Number, &count)->value, 7);
    ck_assert_int_eq(mica_step(world, 0.1f), MICA_OK); /* it was read, and is dropped */
    ck_assert_uint_eq(mica_world_hash_content(clone), mica_world_hash_content(world));
    mica_world_destroy(clone);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(world_clone, a_clone_goes_its_own_way, what_can_not_be_cloned_is_refused,
           a_clone_has_no_names_of_pending_entities, streams_are_not_part_of_a_clone)
