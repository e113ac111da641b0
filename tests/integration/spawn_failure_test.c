/* Files with relations, and worlds that continue, when memory runs out at every point or when the program does not agree with the file. */
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/draft.h"
#include "mica/hook.h"
#include "mica/relation.h"
#include "mica/resource.h"
#include "mica/state.h"

#include "base/block_heap.h"

MICA_TAG(Marked)

static reports heard;
static faulty_allocator faulty;

/* An edge whose fields need memory: a text by default, and a list with entities of the file. */
typedef struct Invites {
    mica_text words;
    mica_list others;
} Invites;
MICA_RELATION(Invites, (words, mica_text, .initial_json = "\"a text that needs memory of its own\""),
              (others, mica_entity))

static mica_world *open_faulty_world(void)
{
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&faulty);
    mica_world *world = open_world_with(&heard, def);
    mica_define(world, Number);
    mica_define(world, Invites);
    return world;
}

static mica_blob pack_invitations(bool with_state)
{
    enum { GUESTS = 5 };
    mica_world *world = open_world(&heard);
    mica_entity guests[GUESTS];
    for (uint32_t i = 0; i < GUESTS; ++i)
        guests[i] = mica_create(world, MICA_WITH(Number, {i}));
    for (uint32_t i = 1; i < GUESTS; ++i) {
        Invites *edge = mica_relate(world, guests[i], Invites, guests[0]);
        for (uint32_t k = 0; k < GUESTS; ++k)
            mica_list_add(&edge->others, mica_entity, guests[k]);
    }
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){.skip_state = !with_state}, &blob), MICA_OK);
    close_world(world, &heard);
    return blob;
}

/* Checks the world after one attempt, closes it, and returns whether everything was spawned. */
static bool expect_all_or_nothing(mica_world *world, const mica_resource *resource, mica_result result)
{
    expect_valid(world);
    ck_assert(result == MICA_OK || result == MICA_ERROR_MEMORY);
    ck_assert_uint_eq((uint32_t)mica_world_get_stats(world).entity_count, result == MICA_OK ? 5 : 0);
    forget_reports(&heard);
    if (result != MICA_OK)
        ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
    ck_assert_uint_eq(mica_pool_count(mica_pool_of(world, Invites)), 4);
    close_world(world, &heard);
    return result == MICA_OK;
}

START_TEST(spawning_edges_fails_cleanly_without_memory)
{
    for (int with_state = 0; with_state < 2; ++with_state) {
        mica_blob blob = pack_invitations(with_state);
        faulty_allocator_init(&faulty);
        mica_resource_def def = {.allocator = faulty_allocator_interface(&faulty)};
        mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, &def, NULL);
        ck_assert(resource);
        uint64_t k = 1;
        for (bool reached = true; reached; ++k) {
            mica_world *world = open_faulty_world();
            uint64_t failures = faulty.failures;
            faulty_allocator_fail_at(&faulty, k, k % 2);
            mica_result result = mica_spawn(world, resource, NULL);
            reached = faulty.failures > failures;
            faulty_allocator_fail_at(&faulty, 0, false);
            ck_assert(reached || result == MICA_OK);
            expect_all_or_nothing(world, resource, result);
        }
        ck_assert_uint_gt(k, 20);
        int64_t blocks = 0;
        for (bool done = false; !done; ++blocks) {
            mica_world *world = open_faulty_world();
            micap_heap_limit(blocks);
            mica_result result = mica_spawn(world, resource, NULL);
            micap_heap_limit(INT64_MAX);
            done = expect_all_or_nothing(world, resource, result);
        }
        ck_assert_int_gt(blocks, 4);
        mica_resource_free(resource);
        faulty_allocator_free(&faulty);
        mica_blob_free(&blob);
    }
}
END_TEST

static bool spawn_nothing(const mica_spawn_run *run, void *context)
{
    (void)run, (void)context;
    return true;
}

START_TEST(a_relation_can_not_have_a_spawn_function)
{
    if (STOPS_AT_MISTAKES)
        return;
    mica_blob blob = pack_invitations(false);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    mica_world *world = open_world(&heard);
    mica_define(world, Number);
    mica_resource_rule rule = {.component = mica_define(world, Invites), .spawn = spawn_nothing};
    ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.rules = &rule, .rule_count = 1}),
                     MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "relation Invites can't have a spawn function");
    ck_assert_uint_eq((uint32_t)mica_world_get_stats(world).entity_count, 0);
    mica_resource_free(resource);
    mica_blob_free(&blob);
    close_world(world, &heard);
}
END_TEST

/* Moves an entity out of its archetype, and back to the end of it. */
static void mark_first(const mica_event *event)
{
    if (mica_get(event->world, event->entities[0], Number)->value == 0)
        mica_add(event->world, event->entities[0], Marked);
}
static void unmark(const mica_event *event)
{
    mica_remove(event->world, event->entities[0], Marked);
}

static void expect_rearranged(uint32_t count)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < count; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    mica_define(world, Marked);
    uint64_t k = 1;
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_OK);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    for (bool reached = true; reached; ++k) {
        faulty_allocator_init(&faulty);
        mica_world *other = open_faulty_world();
        mica_define(other, Marked);
        mica_hook_set(other, Number, MICA_EVENT_ADD, mark_first, NULL);
        mica_hook_set(other, Marked, MICA_EVENT_ADD, unmark, NULL);
        faulty_allocator_fail_at(&faulty, k, k % 2);
        mica_result result = mica_spawn(other, resource, NULL);
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        expect_valid(other);
        ck_assert(result == MICA_OK || (reached && result == MICA_ERROR_MEMORY));
        ck_assert(reached || mica_world_hash_content(other) == mica_world_hash_content(world));
        forget_reports(&heard);
        close_world(other, &heard);
        faulty_allocator_free(&faulty);
    }
    ck_assert_uint_gt(k, 10);
    mica_resource_free(resource);
    mica_blob_free(&blob);
    close_world(world, &heard);
}

/* A world whose hooks bring rows out of order: they are moved into new chunks, for which, in some sizes, there is no memory yet. */
START_TEST(rows_are_rearranged_or_the_spawn_fails)
{
    for (uint32_t count = 100; count < 20000; count *= 2)
        expect_rearranged(count);
}
END_TEST

START_TEST(a_file_can_have_a_relation_without_edges)
{
    mica_draft *draft = mica_draft_create(NULL);
    mica_draft_component(draft, &(mica_draft_component_def){.type = &mica_type_of_Invites});
    mica_draft_entity(draft, MICA_NO_PARENT, "anna");
    mica_blob blob;
    ck_assert_int_eq(mica_draft_finish(draft, NULL, &blob), MICA_OK);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    mica_world *world = open_world(&heard);
    mica_define(world, Invites);
    ck_assert(resource && mica_spawn(world, resource, NULL) == MICA_OK);
    mica_entity anna = mica_find(world, "anna");
    ck_assert(mica_is_alive(world, anna) && !mica_has(world, anna, Invites));
    mica_resource_free(resource);
    mica_blob_free(&blob);
    mica_draft_destroy(draft);
    close_world(world, &heard);
}
END_TEST

static void name_it(const mica_event *event)
{
    mica_name_set(event->world, event->entities[0], mica_nil(), "mine");
}

/* A name whose scope was destroyed comes back, unless a hook has given the entity another one. */
START_TEST(a_name_of_a_hook_stays)
{
    mica_world *world = open_world(&heard);
    mica_entity scope = mica_create(world), lost = mica_create(world, MICA_WITH(Number, {1}));
    ck_assert_int_eq(mica_name_set(world, lost, scope, "lost"), MICA_OK);
    mica_destroy(world, scope);
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_OK);
    close_world(world, &heard);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    for (int with_hook = 0; with_hook < 2; ++with_hook) {
        world = open_world(&heard);
        mica_define(world, Number);
        if (with_hook)
            mica_hook_set(world, Number, MICA_EVENT_ADD, name_it, NULL);
        ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
        ck_assert_str_eq(mica_name_get(world, lost), with_hook ? "mine" : "lost");
        expect_valid(world);
        close_world(world, &heard);
    }
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

TEST_SUITE(spawn_failure, spawning_edges_fails_cleanly_without_memory, a_relation_can_not_have_a_spawn_function,
           rows_are_rearranged_or_the_spawn_fails, a_file_can_have_a_relation_without_edges, a_name_of_a_hook_stays)
