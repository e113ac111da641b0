/* Several command buffers with creations pending are flushed, destroyed, refused, snapshot and restored in any order, outside
 * and inside of frames, with hooks that record more. Every handle that is given out has exactly one owner: a row, a
 * recorded creation or the stock of a buffer. mica_world_validate counts them after every step. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/test.h"
#include "mica/hierarchy.h"
#include "mica/snapshot.h"
#include "mica/system.h"

#include <stdio.h>

enum { BUFFERS_MAX = 5, SNAPSHOTS_MAX = 3, ENTITIES_MAX = 64, STEPS = 150, SYSTEMS = 3 };

typedef struct saved_world {
    mica_snapshot snapshot;
    uint64_t hash;
} saved_world;

typedef struct game {
    random_source random;
    mica_world *world;
    mica_commands *buffers[BUFFERS_MAX];
    saved_world snapshots[SNAPSHOTS_MAX];
    mica_entity entities[ENTITIES_MAX]; /* some that were seen, alive or not */
    mica_system systems[SYSTEMS];
    bool is_inside; /* an exclusive system */
    uint32_t hook_budget;
} game;

static char last_report[256];

static void note_report(const mica_report *report, void *context)
{
    (void)context;
    snprintf(last_report, sizeof last_report, "%s", report->text);
}

/* Every step is checked with the last report at hand. */
static void check(mica_world *world)
{
    ck_assert_msg(mica_world_validate(world) == MICA_OK, "%s", last_report);
}

static void remember(game *game, mica_entity entity)
{
    if (!mica_is_nil(entity))
        game->entities[random_below(&game->random, ENTITIES_MAX)] = entity;
}

static mica_entity any_entity(game *game)
{
    return game->entities[random_below(&game->random, ENTITIES_MAX)];
}

static mica_commands **any_buffer(game *game)
{
    return &game->buffers[random_below(&game->random, BUFFERS_MAX)];
}

static mica_entity record_creation(game *game, mica_commands *commands)
{
    switch (random_below(&game->random, 4)) {
    case 0: return mica_command_create(commands);
    case 1: return mica_command_create(commands, MICA_WITH(Number, {1}));
    case 2: return mica_command_create(commands, MICA_WITH(Number, {2}), MICA_WITH(Mass, {2}));
    default: return mica_command_create(commands, MICA_WITH(Position), MICA_WITH(Enemy));
    }
}

static void record_change(game *game, mica_commands *commands)
{
    mica_entity entity = any_entity(game);
    switch (random_below(&game->random, 6)) {
    case 0: mica_command_destroy(commands, entity); break;
    case 1: mica_command_set(commands, entity, Mass, {3}); break;
    case 2: mica_command_remove(commands, entity, Number); break;
    case 3: mica_command_add(commands, entity, Velocity); break;
    default: remember(game, record_creation(game, commands)); break;
    }
}

/* A run of one change: what the flush applies column by column. */
static void record_run(game *game, mica_commands *commands)
{
    mica_query *query = mica_query_create(game->world, MICA_QUERY(MICA_READ(Number)));
    bool is_removal = random_one_in(&game->random, 2);
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            if (is_removal)
                mica_command_remove(commands, view.entities[i], Mass);
            else
                mica_command_set(commands, view.entities[i], Mass, {4});
        }
    mica_query_destroy(query);
}

static void use_buffer(game *game)
{
    mica_commands **buffer = any_buffer(game);
    if (!*buffer)
        *buffer = mica_commands_create(game->world);
    if (random_one_in(&game->random, 4))
        record_run(game, *buffer);
    uint32_t count = random_one_in(&game->random, 8) ? 150 : 3;
    for (uint32_t i = random_below(&game->random, count + 1); i > 0; --i)
        record_change(game, *buffer);
}

static void destroy_buffer(game *game)
{
    mica_commands **buffer = any_buffer(game);
    mica_commands_destroy(*buffer);
    *buffer = NULL;
}

static void flush(game *game)
{
    mica_flush(game->world);
}

static void defer(game *game)
{
    mica_defer(game->world);
}

static void seal(game *game)
{
    mica_world_seal(game->world, random_one_in(&game->random, 2));
}

static void link_entities(game *game)
{
    mica_set_parent(game->world, any_entity(game), random_one_in(&game->random, 3) ? mica_nil() : any_entity(game));
}

static void change_directly(game *game)
{
    mica_entity entity = any_entity(game);
    switch (random_below(&game->random, 6)) {
    case 0: mica_destroy(game->world, entity); break;
    case 1: mica_set(game->world, entity, Mass, {5}); break;
    case 2: mica_remove(game->world, entity, Number); break;
    case 3: remember(game, mica_create(game->world, MICA_WITH(Number, {6}), MICA_WITH(Mass))); break;
    case 4: remember(game, mica_clone(game->world, entity)); break;
    default: remember(game, mica_create(game->world)); break;
    }
}

static void take_snapshot(game *game)
{
    saved_world *saved = &game->snapshots[random_below(&game->random, SNAPSHOTS_MAX)];
    mica_snapshot_drop(game->world, saved->snapshot);
    saved->snapshot = mica_snapshot_take(game->world);
    saved->hash = mica_world_hash(game->world);
}

static void restore_snapshot(game *game)
{
    const saved_world *saved = &game->snapshots[random_below(&game->random, SNAPSHOTS_MAX)];
    if (mica_snapshot_restore(game->world, saved->snapshot) == MICA_OK)
        ck_assert_msg(mica_world_hash(game->world) == saved->hash, "the world is what it was");
}

static void clone_world(game *game)
{
    mica_world *clone = mica_world_clone(game->world);
    if (clone)
        check(clone);
    mica_world_destroy(clone);
}

static void clear_world(game *game)
{
    if (random_one_in(&game->random, 8))
        mica_world_clear(game->world);
}

static void trim_world(game *game)
{
    mica_world_trim(game->world);
}

static void step_world(game *game)
{
    mica_step(game->world, 0.1f);
}

static const struct operation {
    void (*fn)(game *game);
    uint32_t weight;
    bool only_outside; /* of frames */
} operations[] = {
    {use_buffer, 10, false},     {destroy_buffer, 4, false}, {flush, 6, false},
    {defer, 2, false},           {seal, 2, false},           {link_entities, 4, false},
    {change_directly, 8, false}, {take_snapshot, 2, false},  {restore_snapshot, 2, false},
    {clone_world, 1, false},     {clear_world, 1, false},    {trim_world, 1, false},
    {step_world, 6, true},
};

static void operate(game *game)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < COUNT_OF(operations); ++i)
        total += operations[i].weight;
    uint32_t at = random_below(&game->random, total), i = 0;
    while (at >= operations[i].weight)
        at -= operations[i++].weight;
    if (!(game->is_inside && operations[i].only_outside))
        operations[i].fn(game);
}

static void on_event(const mica_event *event)
{
    game *game = event->context;
    if (!game->hook_budget || !random_one_in(&game->random, 3))
        return;
    --game->hook_budget;
    switch (random_below(&game->random, 6)) {
    case 0: mica_defer(event->world); break;
    case 1: mica_flush(event->world); break;
    case 2: mica_destroy(event->world, any_entity(game)); break;
    case 3: {
        mica_commands *commands = *any_buffer(game);
        if (commands)
            record_change(game, commands);
        break;
    }
    case 4: link_entities(game); break;
    default: remember(game, mica_create(event->world, MICA_WITH(Mass, {7}))); break;
    }
}

/* Creates and destroys a few, by each row's number, so that the outcome is the same with any number of workers. */
static void breed(mica_view *view)
{
    const Number *numbers = mica_view_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i) {
        uint32_t choice = (view->entities[i].index + numbers[i].value + (uint32_t)view->frame->tick) % 8;
        if (choice == 0)
            mica_create(view->frame->world, MICA_WITH(Number, {numbers[i].value + 1}));
        else if (choice == 1)
            mica_destroy(view->frame->world, view->entities[i]);
        else if (choice == 2)
            mica_create(view->frame->world, MICA_WITH(Enemy), MICA_WITH(Velocity));
    }
}

static void weigh(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; ++i)
        if (view->entities[i].index % 2)
            mica_set(view->frame->world, view->entities[i], Mass, {9});
}

static void play_inside(const mica_frame *frame)
{
    game *game = frame->context;
    game->is_inside = true;
    for (uint32_t i = random_below(&game->random, 6); i > 0; --i) {
        operate(game);
        check(game->world);
    }
    game->is_inside = false;
}

static void open_game(game *game, uint64_t seed, uint32_t worker_count)
{
    *game = (struct game){
        .random = {seed},
    };
    mica_world_def world_def = mica_world_def_default();
    world_def.report = note_report;
    game->world = mica_world_create(&world_def);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = worker_count;
    mica_flow_configure(game->world, &def);
    for (uint32_t i = 0; i < ENTITIES_MAX; ++i)
        game->entities[i] = mica_create(game->world, MICA_WITH(Number, {i}));
    game->systems[0] =
        mica_system_add(game->world, MICA_SYSTEM_WITH(breed, (.parallel = MICA_PARALLEL_EVERY, .parallel_rows = 16),
                                                      MICA_READ(Number)));
    game->systems[1] =
        mica_system_add(game->world, MICA_SYSTEM_ONCE_WITH(play_inside, (.exclusive = true, .context = game)));
    game->systems[2] = mica_system_add(game->world, MICA_SYSTEM(weigh, MICA_READ(Number)));
    mica_hook_set(game->world, Mass, MICA_EVENT_ADD, on_event, game);
    mica_hook_set(game->world, Number, MICA_EVENT_REMOVE, on_event, game);
    mica_hook_set_destroy(game->world, on_event, game);
}

static void play(uint64_t seed, uint32_t worker_count)
{
    game game;
    open_game(&game, seed, worker_count);
    for (uint32_t step = 0; step < STEPS; ++step) {
        game.hook_budget = 20;
        operate(&game);
        check(game.world);
    }
    mica_world_destroy(game.world);
}

START_TEST(every_handle_has_one_owner_after_every_step)
{
    uint64_t first = setting_from_environment("MICA_TEST_SEED", 1);
    uint64_t count = setting_from_environment("MICA_TEST_RUNS", UNDER_SANITIZER ? 20 : 200);
    for (uint64_t seed = first; seed < first + count; ++seed)
        play(seed, 1 + seed % 3);
}
END_TEST

TEST_SUITE(buffer_handles, every_handle_has_one_owner_after_every_step)
