/* A saved world that is loaded into a new one continues exactly like the one it was saved from. Random worlds with everything that
 * changes over time, saved at a random tick, loaded, and compared tick by tick. */
#define _POSIX_C_SOURCE 200809L
#include "support/faulty_allocator.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/require.h"
#include "support/test.h"

#include "mica/delta.h"
#include "mica/flow.h"
#include "mica/hash.h"
#include "mica/hierarchy.h"
#include "mica/random.h"
#include "mica/resource.h"
#include "mica/saver.h"
#include "mica/state.h"
#include "mica/transform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Position { float x, y; } Position;
MICA_COMPONENT_WITH(Position, (.track_added = true, .track_changed = true), x, y)
typedef struct Velocity { float x, y; } Velocity;
MICA_COMPONENT_WITH(Velocity, (.toggle = true), x, y)
typedef struct Target { mica_entity entity; uint32_t age; } Target;
MICA_COMPONENT(Target, entity, age)
typedef struct Hunter { mica_entity prey; float speed; } Hunter;
MICA_COMPONENT_WITH(Hunter, (.split = true), prey, speed)
typedef struct Burning { float seconds; mica_entity by; } Burning;
MICA_POOL_WITH(Burning, (.track_added = true, .track_changed = true), seconds, by)
typedef struct Item { uint32_t kind; } Item;
MICA_POOL_WITH(Item, (.many = true), kind)
typedef struct Ghost { uint32_t number; } Ghost;
MICA_POOL_WITH(Ghost, (.dying = MICA_DYING_LAZILY), number)
typedef struct Smoke { uint32_t number; } Smoke;
MICA_POOL_WITH(Smoke, (.dying = MICA_DYING_AT_FLUSH), number)
typedef struct Frozen { char unused; } Frozen;
MICA_TAG(Frozen)
typedef struct Score { uint64_t changed, added, read, answered, told, removed; mica_entity last; } Score;
MICA_SINGLETON(Score, changed, added, read, answered, told, removed, last)
typedef struct Hit { uint32_t strength; mica_entity by; } Hit;
MICA_STRUCT(Hit, strength, by)
typedef struct Ask { uint32_t number; } Ask;
MICA_STRUCT(Ask, number)

typedef struct game {
    mica_world *world;
    mica_stream *hits;
    mica_stream *log;
    mica_requests *asks;
    mica_removals *removals;
    mica_query *changed;
    mica_commands *commands;
} game;

static uint32_t pick(mica_random *random, uint32_t limit)
{
    return (uint32_t)((uint64_t)mica_random_next(random) * limit >> 32);
}

static void scatter(mica_view *view)
{
    mica_random random = mica_random_of(view);
    Position *position = mica_view_write(view, Position);
    for (uint32_t i = 0; i < view->count; ++i)
        if (pick(&random, 3))
            position[i].x += mica_random_range(&random, -1, 1) * view->dt;
}

/* Creates, changes and destroys entities; what it does depends on random numbers and on handles. */
static void live(mica_view *view)
{
    mica_random random = mica_random_of(view);
    mica_world *world = view->world;
    Target *target = mica_view_write(view, Target);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity self = view->entities[i];
        switch (pick(&random, 40)) {
        case 0: target[i].entity = mica_create(world, MICA_WITH(Target, {self, 1}), MICA_WITH(Position, {1, 2})); break;
        case 1:
            mica_create(world, MICA_WITH(Target, {self, 2}), MICA_WITH(Hunter, {self, 2}), MICA_WITH(Smoke, {3}));
            break;
        case 2:
        case 12:
        case 13:
        case 14:
        case 15: mica_destroy(world, self); break;
        case 3: mica_destroy(world, target[i].entity); break;
        case 4: mica_add(world, self, Frozen); break;
        case 5: mica_remove(world, self, Frozen); break;
        case 6: mica_set(world, self, Burning, {view->dt, target[i].entity}); break;
        case 7: mica_remove(world, self, Burning); break;
        case 8: mica_set(world, self, Velocity, {1, 2}); break;
        case 9: mica_remove(world, self, Position); break;
        case 10: mica_set(world, self, Ghost, {self.index}); break;
        case 11: mica_set(world, self, Position, {self.index, 0}); break;
        default: target[i].age += 1; break;
        }
    }
}

static void hit(mica_view *view)
{
    mica_random random = mica_random_of(view);
    game *game = view->frame->context;
    for (uint32_t i = 0; i < view->count; ++i) {
        if (pick(&random, 4) == 0)
            mica_stream_push(game->hits, Hit, {pick(&random, 100), view->entities[i]});
        if (pick(&random, 9) == 0)
            mica_stream_push(game->log, Hit, {pick(&random, 100), view->entities[i]});
        if (pick(&random, 9) == 0)
            mica_request_post(game->asks, pick(&random, 5), view->entities[i], Ask, {pick(&random, 9)});
        if (pick(&random, 9) == 0)
            mica_send(view->world, view->entities[i], Hit, {pick(&random, 9), view->entities[i]});
    }
}

static void count_changes(mica_view *view)
{
    mica_singleton_write(view->world, Score)->changed += view->count;
}

static void count_added(mica_view *view)
{
    mica_singleton_write(view->world, Score)->added += view->count;
}

static void read_hits(const mica_frame *frame)
{
    game *game = frame->context;
    uint32_t count;
    for (const Hit *hits; (hits = mica_stream_read(game->hits, Hit, &count));)
        for (uint32_t i = 0; i < count; ++i) {
            Score *score = mica_singleton_write(frame->world, Score);
            score->read = score->read * 31 + hits[i].strength + hits[i].by.index;
            score->last = hits[i].by;
        }
}

static void seldom(const mica_frame *frame)
{
    mica_singleton_write(frame->world, Score)->told += (uint64_t)(frame->dt * 1000) + frame->tick;
}

static void answer(const mica_request_group *group)
{
    const Ask *asks = group->questions;
    Velocity *answers = group->answers;
    for (uint32_t i = 0; i < group->count; ++i)
        answers[i] = (Velocity){(float)asks[i].number, (float)group->key};
}

static void target_is_hit(const mica_message *message)
{
    Target *target = message->values;
    const Hit *hit = message->data;
    for (uint32_t i = 0; i < message->count; ++i)
        if ((target[i].age += hit->strength) % 7 == 0)
            mica_create(message->world, MICA_WITH(Target, {mica_nil(), 1}));
}

static void ignore(const mica_report *report, void *context)
{
    (void)context;
    if (getenv("MICA_TEST_REPORTS"))
        fprintf(stderr, "%s\n", report->text);
}

static mica_allocator allocator; /* of worlds; zero: malloc */

static game make(uint32_t workers)
{
    mica_world_def def = mica_world_def_default();
    def.allocator = allocator;
    def.dead_target = MICA_DEAD_TARGET_IGNORE;
    def.report = ignore;
    game game = {.world = mica_world_create(&def)};
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    flow.seed = 5;
    mica_flow_configure(game.world, &flow);
    return game;
}

/* A world that continues has what its start created, and does not start again. */
static void start(const mica_frame *frame)
{
    mica_singleton_write(frame->world, Score)->answered += 1000003;
    mica_create(frame->world, MICA_WITH(Target, {mica_nil(), 1}), MICA_WITH(Position, {2, 2}));
}

/* Sees the targets that this phase created. */
static void count_targets(const mica_frame *frame)
{
    Score *score = mica_singleton_write(frame->world, Score);
    score->answered = score->answered * 7 + mica_query_count(frame->query);
}

/* What a program sets up before it creates or loads anything. */
static void set_up(game *game)
{
    mica_world *world = game->world;
    mica_define(world, Position);
    mica_define(world, Velocity);
    mica_define(world, Target);
    mica_define(world, Hunter);
    mica_define(world, Burning);
    mica_define(world, Item);
    mica_define(world, Ghost);
    mica_define(world, Smoke);
    mica_define(world, Frozen);
    mica_define(world, Score);
    game->hits = mica_stream_create(world, MICA_STREAM(Hit));
    game->log = mica_stream_create(world, MICA_STREAM_WITH(Hit, (.keep_frames = 3, .application = true)));
    game->asks = mica_requests_create(world, MICA_REQUESTS(Ask, Velocity, answer, NULL));
    game->removals = mica_removals_create(world, Burning);
    game->changed = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Target)));
    game->commands = mica_commands_create(world);
    mica_handler_add(world, MICA_HANDLER(Target, Hit, target_is_hit));
    mica_system_add(world, MICA_SYSTEM_WITH(scatter, (.phase = MICA_PHASE_FIXED), MICA_WRITE(Position)));
    mica_system_add(world,
                    MICA_SYSTEM_WITH(live, (.parallel = MICA_PARALLEL_EVERY, .parallel_rows = 64), MICA_WRITE(Target)));
    mica_system_add(world,
                    MICA_SYSTEM_WITH(
                        hit,
                        (.context = game, MICA_USES(MICA_USE_STREAM_WRITE(game->hits), MICA_USE_STREAM_WRITE(game->log),
                                                    MICA_USE_STREAM_WRITE(mica_requests_stream(game->asks)))),
                        MICA_READ(Target)));
    mica_system_add(world, MICA_SYSTEM_WITH(count_changes, (.phase = MICA_PHASE_END, MICA_USES(MICA_USE_WRITE(Score))),
                                            MICA_CHANGED(Position)));
    mica_system_add(world, MICA_SYSTEM_WITH(count_added, (.phase = MICA_PHASE_END, MICA_USES(MICA_USE_WRITE(Score))),
                                            MICA_ADDED(Position)));
    mica_system_add(
        world, MICA_SYSTEM_ONCE_WITH(read_hits, (.context = game, .phase = MICA_PHASE_BEGIN,
                                                 MICA_USES(MICA_USE_STREAM_READ(game->hits), MICA_USE_WRITE(Score)))));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(start, (.phase = MICA_PHASE_START, MICA_USES(MICA_USE_WRITE(Score)))));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(count_targets, (.flush_first = true, MICA_TERMS(MICA_READ(Target)),
                                                                 MICA_USES(MICA_USE_WRITE(Score)))));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(seldom, (.every_seconds = 0.3, MICA_USES(MICA_USE_WRITE(Score)))));
}

static void add_item(mica_world *world, mica_entity entity, uint32_t kind)
{
    mica_pool *pool = mica_pool_of(world, Item);
    mica_instance_write(pool, mica_pool_add(pool, entity), Item)->kind = kind;
}

/* In scopes that are not the parent: the top level, another entity, and one that is named in this one. */
static void name_anywhere(mica_world *world, mica_entity entity, mica_entity other, random_source *random)
{
    const char name[] = {(char)('a' + random_below(random, 3)), 0};
    bool is_other = !mica_is_nil(other) && mica_is_alive(world, other) && !mica_same(entity, other);
    if (random_one_in(random, 8))
        mica_name_set(world, entity, mica_nil(), name);
    if (is_other && random_one_in(random, 6))
        mica_name_set(world, entity, other, name);
    if (is_other && random_one_in(random, 20))
        mica_name_set(world, other, entity, name);
}

/* What a program does between frames. The random numbers are the same in both worlds. */
static void play(game *game, random_source *random)
{
    mica_world *world = game->world;
    mica_entity some[16];
    uint32_t count = mica_removals_read(game->removals, some, random_below(random, 5));
    Score *score = mica_singleton_write(world, Score);
    for (uint32_t i = 0; i < count; ++i)
        score->removed = score->removed * 31 + some[i].index;
    if (random_one_in(random, 3))
        for (mica_view view = mica_query_begin(game->changed); mica_view_next(&view);)
            score->answered = score->answered * 3 + view.count;
    uint32_t messages;
    if (random_one_in(random, 4))
        for (const Hit *log; (log = mica_stream_read(game->log, Hit, &messages));)
            for (; messages; --messages) /* how many are contiguous depends on threads */
                score->answered = score->answered * 3 + log++->strength;
    if (random_one_in(random, 5))
        mica_request_post(game->asks, 1, mica_nil(), Ask, {random_below(random, 7)});
    if (random_one_in(random, 5))
        mica_pool_gc(mica_pool_of(world, Ghost), 4);
    for (uint32_t i = random_below(random, 4); i; --i) {
        mica_entity entity = mica_create(world, MICA_WITH(Target, {mica_nil(), i}), MICA_WITH(Position, {1, 1}));
        if (random_one_in(random, 2))
            for (uint32_t k = random_below(random, 4); k; --k)
                add_item(world, entity, k);
        if (random_one_in(random, 4))
            mica_name_set(world, entity, mica_nil(), (char[]){(char)('a' + random_below(random, 26)), 0});
        if (random_one_in(random, 12)) { /* it keeps its name, which is not found any more */
            mica_entity scope = mica_create(world);
            mica_name_set(world, entity, scope, random_one_in(random, 2) ? "lost" : "a");
            mica_destroy(world, scope);
        }
        if (random_one_in(random, 3) && !mica_is_nil(score->last) && mica_is_alive(world, score->last))
            mica_set_parent(world, entity, score->last);
        name_anywhere(world, entity, score->last, random);
    }
    if (random_one_in(random, 4))
        mica_command_create(game->commands, MICA_WITH(Target, {score->last, 3}));
    mica_step(world, (float)random_below(random, 40) / 1000);
}

static void load(game *game, const mica_blob *blob)
{
    mica_resource *file = mica_resource_open(blob->bytes, blob->byte_count, NULL, NULL);
    REQUIRE(file);
    REQUIRE(mica_spawn(game->world, file, NULL) == MICA_OK);
    mica_resource_free(file);
    REQUIRE(mica_world_validate(game->world) == MICA_OK);
}

static void run(uint64_t seed, uint32_t ticks_after)
{
    random_source random = {seed};
    static game first, second;
    first = make(1);
    set_up(&first);
    for (uint32_t i = 10 + random_below(&random, 60); i; --i)
        play(&first, &random);
    mica_blob blob;
    uint64_t before = mica_world_hash(first.world);
    REQUIRE(mica_pack(first.world, NULL, &blob) == MICA_OK);
    REQUIRE(mica_world_hash(first.world) == before);
    second = make(2);
    set_up(&second);
    load(&second, &blob);
    mica_blob_free(&blob);
    REQUIRE_SAYING(mica_world_hash(second.world) == before, "seed %llu", (unsigned long long)seed);
    for (uint32_t i = 0; i < ticks_after; ++i) {
        random_source same = random;
        play(&first, &random);
        play(&second, &same);
        if (mica_world_hash(first.world) == mica_world_hash(second.world))
            continue;
        mica_difference difference;
        mica_hash_diff(first.world, second.world, &difference);
        ck_abort_msg("seed %llu, tick %u: %s", (unsigned long long)seed, i, difference.text);
    }
    mica_world_destroy(second.world);
    mica_world_destroy(first.world);
}

START_TEST(random_worlds_continue_exactly)
{
    uint64_t seed = setting_from_environment("MICA_TEST_SEED", 1);
    uint64_t rounds = setting_from_environment("MICA_TEST_ROUNDS", UNDER_SANITIZER ? 5 : 20);
    for (uint64_t i = 0; i < rounds; ++i)
        run(seed + i, 60);
}
END_TEST

static void expect_same_future(game *first, game *second, random_source *random, uint32_t ticks, uint64_t seed)
{
    for (uint32_t i = 0; i < ticks; ++i) {
        REQUIRE_SAYING(mica_world_hash(first->world) == mica_world_hash(second->world), "seed %llu, tick %u",
                       (unsigned long long)seed, i);
        random_source same = *random;
        play(first, random);
        play(second, &same);
    }
}

/* A world that another one follows. Deltas are lost now and then; the last one is not. */
static void run_followed(uint64_t seed)
{
    random_source random = {seed}, losses = {seed + 1000};
    static game first, mirror, second;
    first = make(1);
    set_up(&first);
    mirror = make(1);
    set_up(&mirror);
    mica_sender *sender = mica_sender_create(first.world, &(mica_sender_def){.with_state = true});
    mica_replica *replica = mica_replica_create(mirror.world, NULL);
    mica_delta delta;
    mica_version other = 0; /* of a receiver that gets other deltas */
    size_t byte_count;
    for (uint32_t i = 10 + random_below(&random, 40); i; --i) {
        play(&first, &random);
        if (random_one_in(&losses, 3)) {
            REQUIRE(mica_delta_encode(sender, other, &delta) == MICA_OK);
            other = delta.version;
        }
        if (i > 1 && random_one_in(&losses, 4)) /* then it is not at rest */
            mica_command_create(first.commands, MICA_WITH(Target, {mica_nil(), 4}));
        REQUIRE(mica_delta_encode(sender, mica_replica_version(replica), &delta) == MICA_OK);
        if (i == 1 || random_one_in(&losses, 2))
            REQUIRE(mica_delta_apply(replica, delta.bytes, delta.byte_count) == MICA_OK);
    }
    mica_save_def def = {.state = mica_replica_state(replica, &byte_count)};
    def.state_bytes = byte_count;
    mica_blob blob;
    REQUIRE(def.state && mica_pack(mirror.world, &def, &blob) == MICA_OK);
    second = make(2);
    set_up(&second);
    load(&second, &blob);
    mica_blob_free(&blob);
    expect_same_future(&first, &second, &random, 100, seed);
    mica_world_destroy(second.world);
    mica_replica_destroy(replica);
    mica_sender_destroy(sender);
    mica_world_destroy(mirror.world);
    mica_world_destroy(first.world);
}

START_TEST(a_replica_continues_like_the_world_it_followed)
{
    for (uint64_t seed = 1; seed <= (UNDER_SANITIZER ? 2 : 10); ++seed)
        run_followed(seed);
}
END_TEST

START_TEST(a_world_that_was_saved_in_the_background_continues_exactly)
{
    random_source random = {77};
    static game first, second;
    char path[] = "/tmp/mica_resume_XXXXXX";
    int file = mkstemp(path);
    REQUIRE(file >= 0);
    close(file);
    first = make(1);
    set_up(&first);
    mica_saver *saver = mica_saver_create(first.world, NULL);
    for (uint32_t i = 0; i < 30; ++i) {
        play(&first, &random);
        if (i % 10 == 9)
            REQUIRE(mica_saver_begin(saver, path) == MICA_OK && mica_saver_wait(saver) == MICA_OK);
    }
    second = make(2);
    set_up(&second);
    mica_resource *saved = mica_resource_load(path, NULL, NULL);
    REQUIRE(saved && mica_spawn(second.world, saved, NULL) == MICA_OK);
    mica_resource_free(saved);
    expect_same_future(&first, &second, &random, 100, 77);
    mica_world_destroy(second.world);
    mica_saver_destroy(saver);
    mica_world_destroy(first.world);
    unlink(path);
}
END_TEST

START_TEST(states_are_only_handed_out_where_they_are_valid)
{
    static game first;
    first = make(1);
    set_up(&first);
    mica_create(first.world, MICA_WITH(Position, {1, 2}));
    mica_sender *sender = mica_sender_create(first.world, &(mica_sender_def){.with_state = true});
    mica_commands *commands = mica_commands_create(first.world);
    for (uint32_t way = 0; way < 4;
         ++way) { /* a mapped replica; a sender without states; a world that is not at rest; all is well */
        static game mirror;
        mirror = make(1);
        set_up(&mirror);
        mica_sender *without = mica_sender_create(first.world, NULL);
        mica_replica *replica = mica_replica_create(mirror.world, &(mica_replica_def){.mapped = way == 0});
        mica_delta delta;
        size_t byte_count = 1;
        ck_assert_ptr_null(mica_replica_state(replica, &byte_count));
        ck_assert_uint_eq(byte_count, 0);
        if (way == 2)
            mica_command_create(commands, MICA_WITH(Position, {3, 4}));
        ck_assert_int_eq(mica_delta_encode(way == 1 ? without : sender, 0, &delta), MICA_OK);
        ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
        const void *state = mica_replica_state(replica, &byte_count);
        ck_assert((state != NULL) == (way == 3) && (byte_count != 0) == (way == 3));
        if (way == 3) {
            ck_assert(mica_state_check(state, byte_count));
            size_t all_bytes = delta.byte_count;
            ck_assert_int_eq(mica_delta_encode(sender, delta.version, &delta), MICA_OK); /* nothing happened */
            ck_assert_uint_lt(delta.byte_count, all_bytes);
            ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
            ck_assert_ptr_nonnull(mica_replica_state(replica, &byte_count));
            mica_blob blob;
            mica_save_def invalid = {.state = "no state", .state_bytes = 8};
            ck_assert_int_eq(mica_pack(mirror.world, &invalid, &blob), MICA_ERROR_INVALID);
        }
        mica_flush(first.world);
        mica_replica_destroy(replica);
        mica_sender_destroy(without);
        mica_world_destroy(mirror.world);
    }
    mica_commands_destroy(commands);
    mica_sender_destroy(sender);
    mica_world_destroy(first.world);
}
END_TEST

START_TEST(a_loaded_world_is_the_same_after_1000_ticks)
{
    run(1000, UNDER_SANITIZER ? 100 : 1000);
}
END_TEST

/* Chunks of a large archetype were created one by one as it grew, and hold other rows than those of an archetype of that size. */
START_TEST(large_archetypes_continue_exactly)
{
    static game first, second;
    first = make(1);
    set_up(&first);
    for (uint32_t i = 0; i < 40000; ++i) {
        mica_entity entity = mica_create(first.world, MICA_WITH(Position, {(float)i, 0}));
        if (i % 3 == 0)
            mica_set(first.world, entity, Burning, {1, entity});
        if (i % 7 == 0)
            mica_destroy(first.world, entity);
    }
    mica_step(first.world, 0.02f);
    mica_blob blob;
    REQUIRE(mica_pack(first.world, NULL, &blob) == MICA_OK);
    second = make(1);
    set_up(&second);
    load(&second, &blob);
    mica_blob_free(&blob);
    for (uint32_t i = 0; i < 10; ++i) {
        ck_assert(mica_world_hash(first.world) == mica_world_hash(second.world));
        mica_step(first.world, 0.02f);
        mica_step(second.world, 0.02f);
    }
    mica_world_destroy(second.world);
    mica_world_destroy(first.world);
}
END_TEST

/* The world says what it was given: an unused one continues, all others get new entities. */
START_TEST(only_an_unused_world_continues)
{
    static game first, second;
    first = make(1);
    set_up(&first);
    mica_entity entity = mica_create(first.world, MICA_WITH(Position, {1, 2}));
    for (uint32_t i = 0; i < 3; ++i)
        mica_step(first.world, 0.1f);
    mica_blob blob;
    REQUIRE(mica_pack(first.world, NULL, &blob) == MICA_OK);
    mica_resource *file = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    ck_assert_uint_eq(mica_resource_get_info(file).version_minor, 2);
    for (uint32_t way = 0; way < 4; ++way) {
        second = make(1);
        set_up(&second);
        ck_assert(mica_world_is_unused(second.world));
        if (way == 1)
            mica_create(second.world);
        if (way == 2)
            mica_step(second.world, 0.1f);
        const mica_spawn_def skipping = {.skip_state = true};
        ck_assert_int_eq(mica_spawn(second.world, file, way == 3 ? &skipping : NULL), MICA_OK);
        ck_assert_uint_eq(mica_time_get(second.world).frame, way == 0 ? 3 : way == 2 ? 1 : 0);
        ck_assert(way || mica_is_alive(second.world, entity));
        ck_assert(!mica_world_is_unused(second.world));
        ck_assert_int_eq(mica_world_validate(second.world), MICA_OK);
        mica_world_destroy(second.world);
    }
    mica_resource_free(file);
    mica_blob_free(&blob);
    const mica_save_def skipping = {.skip_state = true};
    REQUIRE(mica_pack(first.world, &skipping, &blob) == MICA_OK);
    file = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    ck_assert_uint_eq(mica_resource_get_info(file).version_minor, 0);
    mica_resource_free(file);
    mica_blob_free(&blob);
    mica_defer(first.world);
    mica_create(first.world);
    REQUIRE(mica_pack(first.world, NULL, &blob) == MICA_OK); /* without a state: a change waits */
    mica_flush(first.world);
    file = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    ck_assert_uint_eq(mica_resource_get_info(file).version_minor, 0);
    mica_resource_free(file);
    mica_blob_free(&blob);
    mica_world_destroy(first.world);
}
END_TEST

START_TEST(loading_fails_cleanly_at_every_allocation)
{
    static faulty_allocator faulty;
    random_source random = {3};
    static game first, second;
    first = make(1);
    set_up(&first);
    for (uint32_t i = 0; i < 12; ++i)
        play(&first, &random);
    mica_entity scope = mica_create(first.world), lost = mica_create(first.world);
    mica_name_set(first.world, lost, scope, "a name that is not found any more");
    mica_destroy(first.world, scope);
    mica_blob blob;
    REQUIRE(mica_pack(first.world, NULL, &blob) == MICA_OK);
    faulty_allocator_init(&faulty);
    allocator = faulty_allocator_interface(&faulty);
    mica_resource *file =
        mica_resource_open(blob.bytes, blob.byte_count, &(mica_resource_def){.allocator = allocator}, NULL);
    uint64_t k = 1;
    for (bool reached = true; reached; k += UNDER_SANITIZER ? 7 : 1) {
        second = make(1);
        set_up(&second);
        faulty_allocator_fail_at(&faulty, k, k % 2);
        mica_result result = mica_spawn(second.world, file, NULL);
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        REQUIRE_SAYING(mica_world_validate(second.world) == MICA_OK, "allocation %llu", (unsigned long long)k);
        REQUIRE(result == MICA_OK ||
                (reached && result == MICA_ERROR_MEMORY && mica_world_get_stats(second.world).entity_count == 0));
        bool is_exact = result == MICA_OK || mica_world_is_unused(second.world);
        if (result != MICA_OK)
            REQUIRE(mica_spawn(second.world, file, NULL) == MICA_OK);
        REQUIRE_SAYING(!is_exact || mica_world_hash(first.world) == mica_world_hash(second.world), "allocation %llu",
                       (unsigned long long)k);
        mica_world_destroy(second.world);
    }
    ck_assert_uint_gt(k, 60);
    mica_resource_free(file);
    allocator = (mica_allocator){0};
    faulty_allocator_free(&faulty);
    mica_blob_free(&blob);
    mica_world_destroy(first.world);
}
END_TEST

typedef struct Sound { int32_t volume; } Sound;
static void stop_sound(void *sound)
{
    (void)sound;
}
static bool copy_sound(void *to, const void *from)
{
    memcpy(to, from, sizeof(Sound));
    return true;
}
MICA_COMPONENT_WITH(Sound, (.destroy_one = stop_sound, .copy_one = copy_sound), volume)

/* Entities without a component that is skipped are in an archetype that the state does not know, and the new world counted further than
 * the saved one. */
START_TEST(nothing_is_newer_than_a_world_that_continues)
{
    reports heard;
    mica_world *saved = open_world(&heard), *world = open_world(&heard);
    mica_create(saved, MICA_WITH(Sound, {1}), MICA_WITH(Position, {1, 2}),
                MICA_WITH(Burning, {.seconds = 1, .by = mica_nil()}));
    const mica_resource_rule rule = {.component = MICA_ID(Sound)};
    mica_blob blob = {0};
    ck_assert_int_eq(mica_pack(saved, &(mica_save_def){.rules = &rule, .rule_count = 1}, &blob), MICA_OK);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    mica_define(world, Sound);
    mica_define(world, Position);
    mica_define(world, Burning);
    for (uint32_t i = 0; i < 50; ++i)
        mica_world_mark(world);
    ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.skip_without_rule = true}), MICA_OK);
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    mica_resource_free(resource);
    mica_blob_free(&blob);
    close_world(world, &heard);
    close_world(saved, &heard);
}
END_TEST

typedef struct Echo { uint32_t number; } Echo;
MICA_POOL_WITH(Echo, (.many = true, .dying = MICA_DYING_LAZILY), number)

static void add_echoes(mica_world *world, mica_entity entity, uint32_t count)
{
    mica_pool *pool = mica_pool_of(world, Echo);
    for (uint32_t i = 0; i < count; ++i)
        mica_instance_write(pool, mica_pool_add(pool, entity), Echo)->number = i;
}

/* The dead entity still has three rows. Those that died before have a row of another entity in the place of theirs. */
START_TEST(several_rows_of_a_dead_entity_come_back)
{
    reports heard;
    mica_world *saved = open_world(&heard), *world = open_world(&heard);
    mica_define(saved, Echo);
    mica_define(world, Echo);
    mica_entity dying[4], living[4];
    for (uint32_t i = 0; i < 4; ++i) {
        dying[i] = mica_create(saved);
        living[i] = mica_create(saved);
        add_echoes(saved, living[i], 1);
        add_echoes(saved, dying[i], i);
        add_echoes(saved, living[i], 2);
    }
    ck_assert_uint_eq(mica_destroy_many(saved, dying, 4), 4);
    add_echoes(saved, mica_create(saved), 2); /* takes the index of one that died */
    ck_assert_int_eq(mica_world_validate(saved), MICA_OK);
    uint32_t dead_rows = mica_pool_row_count(mica_pool_of(saved, Echo)) - mica_pool_count(mica_pool_of(saved, Echo));
    ck_assert_uint_ge(dead_rows, 3);
    mica_blob blob = {0};
    ck_assert_int_eq(mica_pack(saved, NULL, &blob), MICA_OK);
    load(&(game){.world = world}, &blob);
    ck_assert_uint_eq(mica_pool_row_count(mica_pool_of(world, Echo)), mica_pool_row_count(mica_pool_of(saved, Echo)));
    ck_assert_uint_eq(mica_world_hash_content(world), mica_world_hash_content(saved));
    mica_flush(world);
    mica_flush(saved);
    ck_assert_uint_eq(mica_world_hash_content(world), mica_world_hash_content(saved));
    mica_blob_free(&blob);
    close_world(world, &heard);
    close_world(saved, &heard);
}
END_TEST

TEST_SUITE(resource_resume, several_rows_of_a_dead_entity_come_back, a_replica_continues_like_the_world_it_followed,
           a_world_that_was_saved_in_the_background_continues_exactly, states_are_only_handed_out_where_they_are_valid,
           random_worlds_continue_exactly, nothing_is_newer_than_a_world_that_continues,
           a_loaded_world_is_the_same_after_1000_ticks, large_archetypes_continue_exactly,
           only_an_unused_world_continues, loading_fails_cleanly_at_every_allocation)
