/* What components and worlds say about each other: exclusion, values that nothing describes, monitors, phases with a fixed step, and handles of
 * another world. */
#include "conformance.h"

#include <stdlib.h>

typedef struct Hour { uint32_t of; } Hour;
MICA_COMPONENT(Hour, of)
MICA_TAG_WITH(Dark, (.excludes = MICA_TYPES(Hour)))

typedef struct Token { uint32_t *memory; } Token;
static int32_t tokens;
static void token_destroy(void *token)
{
    tokens -= ((Token *)token)->memory != NULL;
    free(((Token *)token)->memory);
}
MICA_OPAQUE(Token, (.storage = MICA_STORAGE_POOL, .destroy_one = token_destroy))

static void check_exclusion(void)
{
    mica_world *world = open_world();
    mica_define(world, Dark);
    mica_entity day = mica_create(world, MICA_WITH(Hour, {12})), night = mica_create(world, MICA_WITH(Dark));
    EXPECT(!mica_add(world, day, Dark) && !mica_set(world, night, Hour, {1}));
    EXPECT(mica_is_nil(mica_create(world, MICA_WITH(Hour, {3}), MICA_WITH(Dark))));
    EXPECT(!mica_is_deferred(world));
    mica_defer(world);
    EXPECT(mica_is_deferred(world));
    mica_add(world, day, Dark);
    mica_remove(world, night, Dark);
    mica_set(world, night, Hour, {5});
    mica_flush(world);
    EXPECT(!mica_has(world, day, Dark) && mica_get(world, night, Hour)->of == 5);
    print_hash("exclusion", 0, mica_world_hash(world));
    close_world(world, 4);
}

static void check_opaque(void)
{
    mica_world *world = open_world();
    for (uint32_t i = 0; i < 5; ++i) {
        mica_entity entity = mica_create(world);
        mica_add(world, entity, Token)->memory = calloc(1, sizeof(uint32_t));
        ++tokens;
        if (i == 2)
            EXPECT(mica_destroy(world, entity) && tokens == 2);
    }
    EXPECT(tokens == 4);
    close_world(world, 0);
    EXPECT(tokens == 0);
}

static uint32_t starts, stops, steps;

static void monitor(const mica_event *event)
{
    *(event->kind == MICA_EVENT_MATCH ? &starts : &stops) += event->count;
}

static void count_steps(const mica_frame *frame)
{
    (void)frame;
    ++steps;
}

static void check_monitor(void)
{
    mica_world *world = open_world();
    mica_define(world, Hour);
    mica_entity one = mica_create(world, MICA_WITH(Hour, {1}));
    mica_term terms[] = {MICA_HAS(Hour)};
    static const mica_event_kind both[] = {MICA_EVENT_MATCH, MICA_EVENT_UNMATCH};
    mica_observer_def def = {.events = both,
                             .event_count = 2,
                             .terms = terms,
                             .term_count = 1,
                             .fn = monitor,
                             .existing = true,
                             .location = MICA_HERE};
    starts = stops = 0;
    EXPECT(mica_observer_add(world, &def).id && starts == 1);
    mica_defer(world);
    mica_remove(world, one, Hour);
    mica_set(world, one, Hour, {2});
    mica_entity two = mica_create(world, MICA_WITH(Hour, {3}));
    mica_flush(world);
    EXPECT(starts == 2 && stops == 0);
    mica_destroy(world, two);
    EXPECT(starts == 2 && stops == 1);
    close_world(world, 0);
}

static void check_fixed_phase(void)
{
    mica_world *world = open_world();
    mica_phase fine = mica_phase_add(world, MICA_PHASE_BEFORE("fine", MICA_PHASE_UPDATE, .fixed_seconds = 0.25));
    EXPECT(mica_system_add(world, MICA_SYSTEM_ONCE_WITH(count_steps, (.phase = fine))).id != 0);
    static const uint32_t expected[] = {0, 1, 3, 4};
    steps = 0;
    for (uint32_t i = 0; i < COUNT_OF(expected); ++i) {
        EXPECT(mica_step(world, 0.375f * (float)(i > 0)) == MICA_OK);
        EXPECT(steps == expected[i]);
    }
    print_hash("phase", 0, mica_world_hash(world));
    close_world(world, 0);
}

static void check_spaces(void)
{
    mica_world_def def = mica_world_def_default();
    def.handle_space = 7;
    mica_world *world = open_world(), *other = mica_world_create(&def);
    mica_entity entity = mica_create(world, MICA_WITH(Hour, {1})), foreign = mica_create(other, MICA_WITH(Hour, {2}));
    EXPECT(entity.index == foreign.index && !mica_is_alive(world, foreign) && !mica_is_alive(other, entity));
    EXPECT(!mica_destroy(world, foreign) && mica_is_alive(world, entity));
    mica_world_destroy(other);
    close_world(world, 1);
}

void check_components_of_worlds(void)
{
    check_exclusion();
    check_opaque();
    check_monitor();
    check_fixed_phase();
    check_spaces();
}
