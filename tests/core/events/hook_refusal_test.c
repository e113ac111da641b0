/* What a hook must not do while the operation that called it holds on to things, and that it is told so. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

static reports heard;

typedef struct Burden { uint32_t value; } Burden;
MICA_POOL(Burden, value)
MICA_POOL_TAG(Marked)

enum { CROWD = 5000 };
static mica_entity crowd[CROWD];

static void trim_inside(const mica_event *event)
{
    size_t *given = event->context;
    *given += mica_world_trim(event->world);
}

START_TEST(a_trim_inside_a_hook_gives_nothing_back)
{
    static const mica_event_kind kinds[] = {MICA_EVENT_ADD, MICA_EVENT_SET, MICA_EVENT_REMOVE};
    for (uint32_t i = 0; i < COUNT_OF(kinds); ++i) {
        mica_world *world = open_world(&heard);
        size_t given = 0;
        mica_entity entity = mica_create(world, MICA_WITH(Position, {1, 2, 3}));
        mica_create_many(world, CROWD, &(const mica_value)MICA_WITH(Matrix), 1, crowd);
        mica_destroy_many(world, crowd, CROWD);
        mica_hook_set(world, Mass, kinds[i], trim_inside, &given);
        mica_set(world, entity, Mass, {1});
        mica_remove(world, entity, Mass);
        ck_assert_msg(given == 0, "event %u: nothing is given back", i);
        ck_assert_msg(mica_get(world, entity, Position)->z == 3, "event %u: the entity is whole", i);
        mica_hook_set(world, Mass, kinds[i], NULL, NULL);
        ck_assert_msg(mica_world_trim(world) > 0, "outside it works");
        forget_reports(&heard);
        close_world(world, &heard);
    }
}
END_TEST

static void destroy_buffer_inside(const mica_event *event)
{
    void *context = event->context;
    (void)event;
    mica_commands **commands = context;
    mica_commands_destroy(*commands);
}

START_TEST(destroying_a_buffer_inside_a_hook_is_refused)
{
    mica_world *world = open_world(&heard);
    mica_commands *commands = mica_commands_create(world);
    mica_hook_set(world, Mass, MICA_EVENT_ADD, destroy_buffer_inside, &commands);
    mica_entity made[10];
    for (uint32_t i = 0; i < 10; ++i)
        made[i] = mica_command_create(commands, MICA_WITH(Mass, {1}), MICA_WITH(Number, {i}));
    ck_assert_msg(mica_flush(world) == MICA_OK, "the flush goes through");
    expect_report(&heard, MICA_ERROR_REFUSED, "hook");
    forget_reports(&heard);
    for (uint32_t i = 0; i < 10; ++i)
        ck_assert_msg(mica_get(world, made[i], Number)->value == i, "number %u is made whole", i);
    mica_hook_set(world, Mass, MICA_EVENT_ADD, NULL, NULL);
    ck_assert_msg(mica_command_set(commands, made[0], Number, {99}), "the buffer is still there");
    ck_assert_msg(mica_flush(world) == MICA_OK && mica_get(world, made[0], Number)->value == 99, "and works");
    mica_commands_destroy(commands);
    close_world(world, &heard);
}
END_TEST

static void flush_inside(const mica_event *event)
{
    mica_result *results = event->context;
    mica_set(event->world, event->entities[0], Number, {5});
    mica_defer(event->world);
    results[0] = mica_flush(event->world); /* ends what was begun inside */
    results[1] = mica_flush(event->world);
}

START_TEST(a_flush_inside_a_hook_is_refused)
{
    mica_world *world = open_world(&heard);
    mica_result results[2] = {MICA_ERROR_INVALID, MICA_ERROR_INVALID};
    mica_hook_set(world, Mass, MICA_EVENT_ADD, flush_inside, results);
    mica_entity entity = mica_create(world, MICA_WITH(Mass, {1}));
    ck_assert_int_eq(results[0], MICA_OK);
    ck_assert_int_eq(results[1], MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "inside a hook");
    ck_assert_msg(mica_get(world, entity, Number)->value == 5, "what it recorded is applied afterwards");
    close_world(world, &heard);
}
END_TEST

static void take_it_away(const mica_event *event)
{
    for (uint32_t i = 0; i < event->count; ++i)
        mica_remove_id(event->world, event->entities[i], event->component);
}

START_TEST(what_a_hook_takes_away_at_once_is_not_given_out)
{
    const mica_component components[] = {MICA_ID(Frozen), MICA_ID(Mass), MICA_ID(Health), MICA_ID(Burden),
                                         MICA_ID(Marked)};
    for (uint32_t i = 0; i < COUNT_OF(components); ++i) {
        mica_world *world = open_world(&heard);
        mica_entity entity = mica_create(world, MICA_WITH(Number, {5}));
        mica_hook_set_id(world, components[i], MICA_EVENT_ADD, take_it_away, NULL);
        ck_assert_msg(!mica_add_id(world, entity, components[i]), "component %u", i);
        ck_assert_msg(!mica_has_id(world, entity, components[i]), "component %u", i);
        ck_assert_uint_eq(mica_get(world, entity, Number)->value, 5);
        close_world(world, &heard);
    }
}
END_TEST

static void count_deaths(const mica_event *event)
{
    void *context = event->context;
    ck_assert_msg(event->kind == MICA_EVENT_DESTROY && event->component == 0 && !event->values, "a death, no value");
    *(uint32_t *)context += event->count;
}

START_TEST(every_death_is_told_to_the_hook_of_no_component)
{
    mica_world *world = open_world(&heard);
    uint32_t deaths = 0;
    ck_assert_msg(mica_hook_set_destroy(world, count_deaths, &deaths) == MICA_OK, "it is set");
    mica_destroy(world, mica_create(world));
    mica_destroy(world, mica_create(world, MICA_WITH(Mass)));
    ck_assert_msg(deaths == 2, "with components and without: %u", deaths);
    ck_assert_msg(mica_hook_set_destroy(world, NULL, NULL) == MICA_OK, "it is taken away");
    mica_destroy(world, mica_create(world));
    ck_assert_msg(deaths == 2, "and called no more");
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(hook_refusal, a_trim_inside_a_hook_gives_nothing_back, destroying_a_buffer_inside_a_hook_is_refused,
           a_flush_inside_a_hook_is_refused, what_a_hook_takes_away_at_once_is_not_given_out,
           every_death_is_told_to_the_hook_of_no_component)
