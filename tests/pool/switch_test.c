/* One word in a description moves a component from chunks into a pool, and nothing else in a program changes. The same
 * random play runs in two worlds side by side, one with the component in chunks and one with it in a pool of some kind,
 * and after every step both must look the same through every door. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/require.h"
#include "../support/test.h"
#include "../support/variants.h"

#include <stdio.h>
#include <string.h>

enum {
    ENTITIES_MAX = 4000,
    EVENTS_MAX = 40000,
    TABLE_SIZE = 16384,
    QUERIES = 16,
    STEPS = UNDER_SANITIZER ? 150 : 350,
};

/* Which handle an entity gets depends on the order in which others died, and that on where rows lie. So an entity is known
 * by the number of its creation, and each world has its own handles. */
typedef struct noted {
    uint32_t kind, which;
    uint32_t creation; /* when compared; before that the handle counts */
    uint32_t number;
    mica_entity entity;
} noted;

typedef struct side {
    mica_world *world;
    mica_component a, b; /* both kept the way that is tested */
    mica_query *queries[QUERIES];
    mica_query *sorted;
    mica_removals *removals;
    mica_commands *buffers[2];
    noted events[EVENTS_MAX];
    uint32_t event_count;
    mica_entity all[ENTITIES_MAX]; /* every handle there ever was */
    uint32_t all_count;
    uint32_t table[TABLE_SIZE]; /* by handle: 1 + creation */
    uint32_t report_count;
    bool hooks_record;
    bool split;
} side;

static side sides[2];
static char now[160];

#define REQUIRE_NOW(condition) REQUIRE_SAYING(condition, "in %s", now)

static uint32_t *slot_of(side *side, mica_entity entity)
{
    uint32_t at = entity.index * 31 + entity.generation * 7919;
    while (side->table[at % TABLE_SIZE] && !mica_same(side->all[side->table[at % TABLE_SIZE] - 1], entity))
        ++at;
    return &side->table[at % TABLE_SIZE];
}

static void learn(side *side, mica_entity entity)
{
    REQUIRE_NOW(!mica_is_nil(entity) && side->all_count < ENTITIES_MAX);
    *slot_of(side, entity) = side->all_count + 1;
    side->all[side->all_count++] = entity;
}

static uint32_t creation_of(side *side, mica_entity entity)
{
    uint32_t found = *slot_of(side, entity);
    REQUIRE_NOW(found);
    return found - 1;
}

static void note(const mica_event *event)
{
    side *side = event->context;
    for (uint32_t i = 0; i < event->count; ++i) {
        noted *seen = &side->events[side->event_count++];
        REQUIRE(side->event_count < EVENTS_MAX);
        *seen = (noted){.kind = event->kind, .which = event->component == side->b, .entity = event->entities[i]};
        if (event->kind == MICA_EVENT_REMOVE) /* when the row of a dead one goes is a matter of policy */
            continue;
        seen->number = item_number(event->world, event->entities[i], event->component);
        if (side->hooks_record && seen->number % 5 == 0) {
            mica_set(event->world, event->entities[i], Number, {seen->number});
            if (event->kind == MICA_EVENT_SET && event->component == side->a)
                mica_remove_id(event->world, event->entities[i], side->b);
        }
    }
}

static void count_report(const mica_report *report, void *context)
{
    ++((side *)context)->report_count;
    REQUIRE_SAYING(report->result == MICA_ERROR_DEAD, "%s in %s", report->text, now);
}

static int compare_items(const void *a, const void *b, void *context)
{
    (void)context;
    uint32_t left = ((const Item *)a)->number, right = ((const Item *)b)->number;
    return (left > right) - (left < right);
}

/* DISABLED and ADDED need the traits; READ stands in for them otherwise. */
static void make_queries(side *side, bool traits)
{
    mica_component a = side->a, b = side->b, n = MICA_ID(Number), f = MICA_ID(Frozen);
    mica_access added = traits ? MICA_ACCESS_ADDED : MICA_ACCESS_HAS;
    mica_access disabled = traits ? MICA_ACCESS_DISABLED : MICA_ACCESS_HAS;
    const mica_term terms[QUERIES][3] = {
        {{.component = a, .access = MICA_ACCESS_READ}},
        {{.component = a, .access = MICA_ACCESS_WRITE}, {.component = b, .access = MICA_ACCESS_READ}},
        {{.component = n, .access = MICA_ACCESS_READ}, {.component = a, .access = MICA_ACCESS_READ}},
        {{.component = a, .access = MICA_ACCESS_HAS}, {.component = b, .access = MICA_ACCESS_WITHOUT}},
        {{.component = a, .access = MICA_ACCESS_MAYBE_READ}, {.component = n, .access = MICA_ACCESS_READ}},
        {{.component = a, .access = MICA_ACCESS_EITHER}, {.component = b, .access = MICA_ACCESS_OR}},
        {{.component = a, .access = MICA_ACCESS_EITHER}, {.component = n, .access = MICA_ACCESS_OR}, {.component = b, .access = MICA_ACCESS_READ}},
        {{.component = n, .access = MICA_ACCESS_EITHER}, {.component = f, .access = MICA_ACCESS_OR}, {.component = a, .access = MICA_ACCESS_READ}},
        {{.component = a, .access = MICA_ACCESS_WITHOUT}},
        {{.component = a, .access = disabled}},
        {{.component = a, .access = added}, {.component = n, .access = MICA_ACCESS_MAYBE_READ}},
        {{.component = b, .access = MICA_ACCESS_READ}, {.component = b, .access = added}, {.component = f, .access = MICA_ACCESS_WITHOUT}},
        {{.component = f, .access = MICA_ACCESS_HAS}, {.component = a, .access = MICA_ACCESS_WRITE}},
        {{.component = a, .access = MICA_ACCESS_MAYBE_WRITE}, {.component = b, .access = MICA_ACCESS_HAS}},
        {{.component = f, .access = MICA_ACCESS_EITHER}, {.component = b, .access = MICA_ACCESS_OR}, {.component = a, .access = MICA_ACCESS_OR}},
        {{.component = b, .access = disabled}, {.component = a, .access = MICA_ACCESS_EITHER}, {.component = n, .access = MICA_ACCESS_OR}},
    };
    for (uint32_t i = 0; i < QUERIES; ++i) {
        uint32_t count = terms[i][2].component ? 3 : terms[i][1].component ? 2 : 1;
        side->queries[i] = mica_query_create(side->world, &(mica_query_def){.terms = terms[i], .term_count = count});
        REQUIRE(side->queries[i]);
    }
    mica_query_def sorted = {.terms = terms[2], .term_count = 2, .order_by = a, .compare = compare_items};
    side->sorted = side->split ? NULL : mica_query_create(side->world, &sorted);
    REQUIRE(side->split || side->sorted);
}

static void open_side(side *side, const variant *how, bool hooks_record)
{
    mica_world_def def = mica_world_def_default();
    def.chunk_bytes_first = def.chunk_bytes_last = 1024;
    def.dead_target = MICA_DEAD_TARGET_IGNORE;
    def.report = count_report;
    def.report_context = side;
    memset(side, 0, sizeof *side);
    side->world = mica_world_create(&def);
    side->a = variant_component(how, 'a');
    side->b = variant_component(how, 'b');
    side->split = how->split;
    side->hooks_record = hooks_record;
    make_queries(side, how->traits);
    for (uint32_t kind = MICA_EVENT_ADD; kind <= MICA_EVENT_REMOVE; ++kind) {
        REQUIRE(mica_hook_set_id(side->world, side->a, kind, note, side) == MICA_OK);
        REQUIRE(mica_hook_set_id(side->world, side->b, kind, note, side) == MICA_OK);
    }
    side->removals = mica_removals_create_id(side->world, side->a);
    for (uint32_t i = 0; i < 2; ++i)
        side->buffers[i] = mica_commands_create(side->world);
}

/* What a step does to one side; everything random is decided before. */
typedef struct step {
    uint32_t action;
    uint32_t creation;
    uint32_t number, count, query;
    bool which, flag;
} step;

static uint64_t create(side *side, const step *step)
{
    Item item = item_of(step->number);
    mica_value values[] = {item_value(side->a, &item), {side->b, 0, NULL}, {MICA_ID(Frozen), 0, NULL}};
    mica_entity made = mica_create_id(side->world, values + step->number % 2, step->count % 3);
    learn(side, made);
    return true;
}

static uint64_t create_many(side *side, const step *step)
{
    Item items[40];
    mica_entity made[40];
    uint32_t count = 1 + step->count % 40;
    for (uint32_t i = 0; i < count; ++i)
        items[i] = item_of(step->number + i);
    mica_value values[] = {{MICA_ID(Frozen), 0, NULL}, {step->which ? side->a : side->b, sizeof(Item), items}};
    mica_result result = mica_create_many(side->world, count, values + step->flag, 2 - step->flag, made);
    for (uint32_t i = 0; i < count; ++i)
        learn(side, made[i]);
    return result;
}

static void fill_fields(mica_world *world, mica_entity entity, mica_component component, Item item)
{
    uint32_t *number = mica_write_field_id(world, entity, component, offsetof(Item, number));
    uint8_t *low = mica_write_field_id(world, entity, component, offsetof(Item, low));
    double *square = mica_write_field_id(world, entity, component, offsetof(Item, square));
    float *x = mica_write_field_id(world, entity, component, offsetof(Item, at.x));
    float *y = mica_write_field_id(world, entity, component, offsetof(Item, at.y));
    float *z = mica_write_field_id(world, entity, component, offsetof(Item, at.z));
    if (!number) /* a hook has taken it away */
        return;
    REQUIRE_NOW(low && square && x && y && z);
    *number = item.number, *low = item.low, *square = item.square;
    *x = item.at.x, *y = item.at.y, *z = item.at.z;
}

static uint64_t fill_added(side *side, const step *step, mica_component component)
{
    Item *added = mica_add_id(side->world, side->all[step->creation], component);
    if (added && !side->split)
        *added = item_of(step->number);
    else if (added)
        fill_fields(side->world, side->all[step->creation], component, item_of(step->number));
    return added != NULL;
}

/* A few changes recorded by the world and by two buffers, and flushed. */
static uint64_t record(side *side, const step *step)
{
    random_source random = {step->number};
    uint64_t outcome = 0;
    uint32_t known = side->all_count;
    mica_defer(side->world);
    for (uint32_t i = 0; i < 12; ++i) {
        mica_entity entity = side->all[random_below(&random, known)];
        mica_component component = random_one_in(&random, 2) ? side->a : side->b;
        mica_commands *buffer = side->buffers[random_below(&random, 2)];
        uint32_t action = random_below(&random, 8), number = random_below(&random, 1000);
        Item item = item_of(number);
        if (action == 7) {
            mica_value values[] = {item_value(component, &item), {MICA_ID(Number), 0, NULL}};
            mica_entity made = mica_command_create_id(buffer, values, 2, MICA_HERE);
            learn(side, made);
            continue;
        }
        if (!mica_is_alive(side->world, entity))
            continue;
        outcome *= 31;
        if (action < 2)
            outcome += mica_command_set_id(buffer, entity, item_value(component, &item), MICA_HERE);
        else if (action == 2)
            outcome += mica_command_remove_id(buffer, entity, component, MICA_HERE);
        else if (action == 3)
            outcome += mica_set_id(side->world, entity, item_value(component, &item));
        else if (action == 4)
            outcome += mica_remove_id(side->world, entity, component);
        else if (action == 5 && mica_component_type(component)->toggle)
            outcome += mica_command_enable_id(buffer, entity, component, number % 2, MICA_HERE);
        else if (action == 6 && number % 3 == 0)
            outcome += mica_command_destroy(buffer, entity);
    }
    outcome = outcome * 31 + (uint64_t)mica_flush(side->world);
    return outcome;
}

/* Adds one to everything a writing query shows, through its columns. */
static uint64_t sweep(side *side, const step *step)
{
    uint64_t count = 0;
    for (mica_view view = mica_query_begin(side->queries[1]); mica_view_next(&view); count += view.count) {
        if (side->split) {
            float *x = mica_view_write_field_id(&view, side->a, offsetof(Item, at.x));
            for (uint32_t i = 0; i < view.count; ++i)
                x[i] += 0;
            continue;
        }
        Item *items = mica_view_write_id(&view, side->a);
        const Item *others = mica_view_read_id(&view, side->b);
        for (uint32_t i = 0; i < view.count; ++i)
            items[i] = item_of(items[i].number + others[i].number % 3 + step->number % 2);
    }
    return count;
}

static uint64_t act(side *side, const step *step)
{
    mica_world *world = side->world;
    mica_component component = step->which ? side->a : side->b;
    Item item = item_of(step->number);
    switch (step->action) {
    case 0: return create(side, step);
    case 2: return create_many(side, step);
    case 3: return mica_destroy(world, side->all[step->creation]);
    case 5: return mica_set_id(world, side->all[step->creation], item_value(component, &item));
    case 8: return fill_added(side, step, component);
    case 9: return mica_remove_id(world, side->all[step->creation], component);
    case 11: learn(side, mica_clone(world, side->all[step->creation])); return true;
    case 12: return (uint64_t)mica_add_all_id(side->queries[step->query], item_value(component, &item));
    case 13: return (uint64_t)mica_remove_all_id(side->queries[step->query], component);
    case 14: return step->flag ? (uint64_t)mica_destroy_all(side->queries[step->query % 2 ? 9 : 11]) : 0;
    case 15: return (uint64_t)mica_set(world, side->all[step->creation], Number, {step->number});
    case 16:
        return mica_component_type(component)->toggle
                   ? mica_enable_id(world, side->all[step->creation], component, step->flag)
                   : 0;
    case 17: return record(side, step);
    case 19: return sweep(side, step);
    case 20: return (uint64_t)mica_flush(world);
    default: return mica_remove(world, side->all[step->creation], Number);
    }
}

static int compare_creations(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* The entities that match a query, sorted. Checks that every column belongs to its entity. */
static uint32_t shown(side *side, mica_query *query, uint32_t *out)
{
    uint32_t count = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        for (uint32_t i = 0; i < view.count; ++i) {
            REQUIRE_NOW(mica_is_alive(side->world, view.entities[i]) && count < ENTITIES_MAX);
            REQUIRE_NOW(mica_query_matches(query, view.entities[i]) || query == side->queries[10] ||
                        query == side->queries[11]);
            if (query == side->queries[0] && !side->split) {
                const Item *items = mica_view_read_id(&view, side->a);
                REQUIRE_NOW(items[i].number == item_number(side->world, view.entities[i], side->a));
            } else if (query == side->queries[0]) {
                const uint32_t *numbers = mica_view_read_field_id(&view, side->a, 0);
                REQUIRE_NOW(numbers[i] == item_number(side->world, view.entities[i], side->a));
            }
            out[count++] = creation_of(side, view.entities[i]);
        }
    }
    qsort(out, count, sizeof *out, compare_creations);
    return count;
}

static void compare_queries(void)
{
    static uint32_t left[ENTITIES_MAX], right[ENTITIES_MAX];
    for (uint32_t i = 0; i < QUERIES; ++i) {
        uint64_t counts[2] = {mica_query_count(sides[0].queries[i]), mica_query_count(sides[1].queries[i])};
        mica_entity first = mica_query_first(sides[1].queries[i]);
        uint32_t count = shown(&sides[0], sides[0].queries[i], left);
        REQUIRE_SAYING(count == shown(&sides[1], sides[1].queries[i], right), "query %u in %s", i, now);
        REQUIRE_NOW(count == 0 || memcmp(left, right, count * sizeof *left) == 0);
        REQUIRE_SAYING(counts[0] == count && counts[1] == count, "query %u: %u and %u of %u in %s", i,
                       (uint32_t)counts[0], (uint32_t)counts[1], count, now);
        REQUIRE_NOW(mica_is_nil(first) == (count == 0));
    }
    if (!sides[0].sorted || !sides[1].sorted)
        return;
    uint32_t before = 0, counts[2] = {0, 0};
    for (uint32_t s = 0; s < 2; ++s, before = 0)
        for (mica_view view = mica_query_begin(sides[s].sorted); mica_view_next(&view); counts[s] += view.count)
            for (uint32_t i = 0; i < view.count; ++i) {
                const Item *items = mica_view_read_at(&view, 1);
                REQUIRE_NOW(items[i].number >= before);
                REQUIRE_NOW(mica_view_read_at(&view, 0) &&
                            items[i].number == item_number(sides[s].world, view.entities[i], sides[s].a));
                before = items[i].number;
            }
    REQUIRE_NOW(counts[0] == counts[1]);
}

static void compare_entity(uint32_t creation)
{
    mica_component components[8];
    uint32_t counts[2], numbers[2][2], flags[2];
    for (uint32_t s = 0; s < 2; ++s) {
        mica_world *world = sides[s].world;
        mica_entity entity = sides[s].all[creation];
        mica_ref ref = mica_ref_of_id(entity, sides[s].a);
        counts[s] = mica_get_components(world, entity, components, 8);
        numbers[s][0] = item_number(world, entity, sides[s].a);
        numbers[s][1] = item_number(world, entity, sides[s].b);
        flags[s] = mica_is_alive(world, entity) | mica_has(world, entity, Number) * 2u |
                   mica_is_enabled_id(world, entity, sides[s].a) * 4u |
                   mica_is_enabled_id(world, entity, sides[s].b) * 8u;
        const Item *item = sides[s].split ? NULL : mica_ref_read_id(world, &ref);
        REQUIRE_NOW(sides[s].split || (item ? item->number : UINT32_MAX) == numbers[s][0]);
    }
    REQUIRE_NOW(counts[0] == counts[1] && flags[0] == flags[1]);
    REQUIRE_NOW(memcmp(numbers[0], numbers[1], sizeof numbers[0]) == 0);
}

static int compare_events(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(noted));
}

static noted named(side *side, noted event)
{
    event.creation = creation_of(side, event.entity);
    event.entity = mica_nil();
    return event;
}

/* The same events, whatever their order within a step; of removals only those that come at the same time. */
static void compare_notes(bool removals)
{
    static noted lists[2][EVENTS_MAX];
    uint32_t counts[2] = {0, 0};
    for (uint32_t s = 0; s < 2; ++s) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < sides[s].event_count; ++i)
            if ((sides[s].events[i].kind == MICA_EVENT_REMOVE) == removals)
                lists[s][counts[s]++] = named(&sides[s], sides[s].events[i]);
            else
                sides[s].events[kept++] = sides[s].events[i];
        sides[s].event_count = kept;
        qsort(lists[s], counts[s], sizeof **lists, compare_events);
    }
    REQUIRE_SAYING(counts[0] == counts[1], "%u and %u in %s", counts[0], counts[1], now);
    REQUIRE_NOW(memcmp(lists[0], lists[1], counts[0] * sizeof **lists) == 0);
}

static step decide(random_source *random, uint32_t all_count)
{
    static const uint8_t actions[] = {0, 0, 2, 3, 3, 5, 5, 5, 8, 9, 9, 11, 12, 13, 14, 15, 16, 17, 17, 19, 20, 21};
    return (step){.action = actions[random_below(random, COUNT_OF(actions))],
                  .creation = random_below(random, all_count),
                  .number = random_below(random, 100000),
                  .count = random_below(random, 1000),
                  .query = random_below(random, 9),
                  .which = random_one_in(random, 2),
                  .flag = random_one_in(random, 2)};
}

static bool needs_a_living_one(uint32_t action)
{
    return (action >= 3 && action <= 11) || action == 15 || action == 16 || action == 21;
}

static void compare_removals(void)
{
    static mica_entity removed[EVENTS_MAX];
    static uint32_t lists[2][EVENTS_MAX];
    uint32_t counts[2];
    for (uint32_t s = 0; s < 2; ++s) {
        counts[s] = mica_removals_read(sides[s].removals, removed, EVENTS_MAX);
        for (uint32_t i = 0; i < counts[s]; ++i)
            lists[s][i] = creation_of(&sides[s], removed[i]);
        qsort(lists[s], counts[s], sizeof **lists, compare_creations);
    }
    REQUIRE_NOW(counts[0] == counts[1] && counts[0] > 0);
    REQUIRE_NOW(memcmp(lists[0], lists[1], counts[0] * sizeof **lists) == 0);
}

static void play(const variant *how, bool hooks_record, uint64_t seed)
{
    variant chunk = {.storage = MICA_STORAGE_CHUNK, .split = how->split, .traits = how->traits};
    open_side(&sides[0], &chunk, hooks_record);
    open_side(&sides[1], how, hooks_record);
    random_source random = {seed};
    for (uint32_t s = 0; s < 2; ++s)
        learn(&sides[s], mica_create(sides[s].world));
    for (uint32_t i = 0; i < STEPS && sides[0].all_count + 100 < ENTITIES_MAX; ++i) {
        step step = decide(&random, sides[0].all_count);
        bool in_vain = needs_a_living_one(step.action) && !mica_is_alive(sides[0].world, sides[0].all[step.creation]);
        if (in_vain || (how->many && step.action == 17)) /* what is recorded for many is done one by one */
            continue;
        snprintf(now, sizeof now, "%s, seed %u, step %u (action %u)", variant_name(how), (uint32_t)seed, i,
                 step.action);
        uint64_t left = act(&sides[0], &step), right = act(&sides[1], &step);
        REQUIRE_NOW(left == right && sides[0].report_count == sides[1].report_count);
        compare_notes(false);
        for (uint32_t k = 0; k < 20; ++k)
            compare_entity(random_below(&random, sides[0].all_count));
        if (i % 8 == 0 || step.action >= 12)
            compare_queries();
        if (i % 64 == 0)
            REQUIRE_NOW(mica_world_validate(sides[1].world) == MICA_OK);
    }
    for (uint32_t s = 0; s < 2; ++s) {
        REQUIRE_NOW(mica_world_clear(sides[s].world) == MICA_OK);
        REQUIRE_NOW(mica_world_validate(sides[s].world) == MICA_OK);
    }
    compare_notes(true);
    compare_removals();
    mica_world_destroy(sides[0].world);
    mica_world_destroy(sides[1].world);
}

START_TEST(switching_from_chunks_to_a_pool_changes_nothing)
{
    play(&variants[_i], false, 10 * (uint64_t)_i);
}
END_TEST

START_TEST(hooks_that_record_change_nothing_about_it)
{
    if (!variants[_i].many)
        play(&variants[_i], true, 1000 + (uint64_t)_i);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("switch");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, switching_from_chunks_to_a_pool_changes_nothing, 0, (int)variant_count);
    tcase_add_loop_test(cases, hooks_that_record_change_nothing_about_it, 0, (int)variant_count);
    return test_run("switch", cases);
}
