/* Terms that compare a field with a key: with and without an index they find the same, in the same order. */
#include "support/faulty_allocator.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/disable.h"
#include "mica/flow.h"
#include "mica/hook.h"
#include "mica/index.h"
#include "mica/query_text.h"
#include "mica/relation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Health {
    int32_t points;
    uint8_t shield;
} Health;
MICA_COMPONENT(Health, points, shield)
typedef struct Weight {
    float kilos;
    double exact;
} Weight;
MICA_COMPONENT_WITH(Weight, (.split = true), kilos, exact)
typedef struct Fuel {
    uint64_t units;
    mica_entity station;
} Fuel;
MICA_POOL(Fuel, units, station)
typedef struct Shots {
    uint32_t count;
} Shots;
MICA_POOL_WITH(Shots, (.many = true), count)
typedef struct Clock {
    uint32_t time;
} Clock;
MICA_SINGLETON(Clock, time)
typedef struct Armed {
    uint32_t power;
} Armed;
MICA_COMPONENT_WITH(Armed, (.toggle = true), power)
typedef struct Title {
    mica_text words;
} Title;
MICA_COMPONENT(Title, words)
typedef struct Motto {
    uint32_t year;
    mica_text words;
} Motto;
MICA_POOL(Motto, year, words)
MICA_TAG(Ship)
MICA_RELATION_WITH(PartOf, (.exclusive = true, .acyclic = true))

#define WHERE(T, field_, compare_, ...) MICA_HAS(T, .field = (field_), .compare = (compare_), .key = __VA_ARGS__)

enum { ENTITIES = 400, FOUND_MAX = 1000, TEXT = 200 };

static reports heard;

static mica_entity entities[ENTITIES];

static void populate(mica_world *world, random_source *random)
{
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        entities[i] = mica_create(world);
        int32_t points = (int32_t)random_below(random, 40) - 20;
        if (random_below(random, 4))
            mica_set(world, entities[i], Health, {points, (uint8_t)random_below(random, 256)});
        if (random_below(random, 2))
            mica_set(world, entities[i], Weight, {(float)points / 4, random_below(random, 9) ? points : NAN});
        if (random_below(random, 2))
            mica_set(world, entities[i], Fuel,
                     {random_below(random, 3) ? (uint64_t)i : UINT64_MAX - i, entities[i / 2]});
        if (random_below(random, 2))
            mica_set(world, entities[i], Armed, {random_below(random, 5)});
        if (!random_below(random, 3))
            mica_add(world, entities[i], Ship);
        char words[40];
        snprintf(words, sizeof words, random_below(random, 3) ? "ab %u" : "the longer text of number %u",
                 random_below(random, 12));
        if (random_below(random, 2))
            mica_set(world, entities[i], Title, {mica_text_of(words)});
        if (random_below(random, 2))
            mica_set(world, entities[i], Motto, {i, mica_text_of(words)});
        if (i && random_below(random, 2))
            mica_relate(world, entities[i], PartOf, entities[i / 3]);
    }
}

typedef struct found {
    uint32_t count;
    mica_entity entities[FOUND_MAX];
} found;

static void find(mica_query *query, found *out)
{
    out->count = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            out->entities[out->count++] = view.entities[i];
    ck_assert_uint_eq(mica_query_count(query), out->count);
    if (out->count)
        ck_assert(mica_same(mica_query_first(query), out->entities[0]));
}

static void check_same(const found *a, const found *b, const char *text)
{
    ck_assert_msg(a->count == b->count, "%s: %u and %u", text, a->count, b->count);
    for (uint32_t i = 0; i < a->count; ++i)
        ck_assert_msg(mica_same(a->entities[i], b->entities[i]), "%s: %u", text, i);
}

/* What a value is next to a number, as C compares them. */
static bool compares(double value, const char *sign, double key)
{
    switch (sign[0]) {
    case '<': return sign[1] ? value <= key : value < key;
    case '>': return sign[1] ? value >= key : value > key;
    case '!': return value != key;
    default: return value == key;
    }
}

static const char *const signs[] = {"<", "<=", ">", ">=", "=", "!="};
static const char *const keys[] = {"0",
                                   "-3",
                                   "7",
                                   "2.5",
                                   "-2.5",
                                   "300",
                                   "-1e30",
                                   "1e30",
                                   "-9223372036854775808",
                                   "-1.0",
                                   "255.0",
                                   "1e19",
                                   "20",
                                   "18446744073709551615"};
enum { SIGNS = sizeof signs / sizeof *signs, KEYS = sizeof keys / sizeof *keys };

START_TEST(every_comparison_finds_what_c_finds)
{
    random_source random = {3};
    mica_world *world = open_world(&heard);
    populate(world, &random);
    mica_index_create(world, &(mica_index_def){.component = MICA_ID(Health), .fields = "points"});
    for (uint32_t i = 0; i < SIGNS * KEYS; ++i) {
        char text[TEXT];
        uint32_t expected = 0, expected_small = 0;
        double key = strtod(keys[i % KEYS], NULL);
        for (uint32_t k = 0; k < ENTITIES; ++k) {
            const Health *health = mica_get(world, entities[k], Health);
            expected += health && compares(health->points, signs[i / KEYS], key);
            expected_small += health && compares(health->shield, signs[i / KEYS], key);
        }
        snprintf(text, sizeof text, "Health.points %s %s", signs[i / KEYS], keys[i % KEYS]);
        mica_query *query = mica_query_text(world, text, NULL);
        ck_assert_msg(mica_query_count(query) == expected, "%s", text);
        snprintf(text, sizeof text, "Health.shield %s %s", signs[i / KEYS], keys[i % KEYS]);
        query = mica_query_text(world, text, NULL);
        ck_assert_msg(mica_query_count(query) == expected_small, "%s", text);
    }
    close_world(world, &heard);
}
END_TEST

static const char *const texts[] = {
    "Health.points = 3",
    "Health.points < -5, Ship",
    "Health.points >= -5, Health.points < 5, Health",
    "Health.points > 3, Health.points < 2",
    "Health.points != 3, Health.points <= 4",
    "Health.shield <= 100, Health.points = 3, !Ship",
    "Weight.kilos < 1.5",
    "Weight.exact >= 2, Weight.exact <= inf",
    "Weight.exact = nan",
    "Fuel.units < 100",
    "Fuel.units > 18446744073709551000, Ship",
    "Armed.power = 2",
    "PartOf($this, $hull), Health.points($hull) > 10",
    "PartOf($this, $hull), Health.points($hull) > 10, Health.points < 0, Health($hull)",
    "Health.points = 3, Weight.kilos($other) = 0.5",
    "Health.points > 0, Health(cascade PartOf)",
    "Health.points > 0, ?PartOf($this, $hull)",
    "Health.points > 0, Armed | Ship",
    "Title.words = \"ab 3\"",
    "Title.words != \"ab 3\", Ship",
    "Title.words < \"ab 4\"",
    "Title.words <= \"ab 4\", Title.words > \"ab 10\"",
    "Title.words >= \"the longer text of number 5\"",
    "Title.words = \"a \\\"quoted\\\" \\\\ text\"",
    "Motto.words = \"the longer text of number 7\", PartOf($this, $hull), Title.words($hull) >= \"\"",
};
enum { TEXTS = sizeof texts / sizeof *texts };

static void change(mica_world *world, random_source *random)
{
    for (uint32_t i = 0; i < ENTITIES / 10; ++i) {
        mica_entity entity = entities[random_below(random, ENTITIES)];
        Health *health = mica_write(world, entity, Health);
        Weight weight = {(float)random_below(random, 5) / 2, random_below(random, 8)};
        if (health)
            health->points = (int32_t)random_below(random, 40) - 20;
        if (mica_has(world, entity, Weight))
            mica_set_from(world, entity, Weight, &weight);
        if (mica_has(world, entity, Title)) {
            const char *words = random_below(random, 2) ? "ab 3" : "a \"quoted\" \\ text";
            mica_text_set(&mica_write(world, entity, Title)->words, words);
        }
        if (mica_has(world, entity, Armed))
            mica_enable_id(world, entity, MICA_ID(Armed), random_below(random, 2));
        if (random_below(random, 2))
            mica_remove(world, entity, Health);
        else
            mica_set(world, entity, Health, {(int32_t)random_below(random, 9), 1});
    }
}

START_TEST(an_index_changes_neither_results_nor_their_order)
{
    static found plain[TEXTS], indexed;
    random_source random = {5};
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_query *queries[TEXTS];
    static const struct { const char *component, *field; } fields[] = {
        {"Health", "points"}, {"Weight", "exact"}, {"Weight", "kilos"}, {"Fuel", "units"}, {"Armed", "power"},
        {"Title", "words"},  {"Motto", "words"}};
    mica_define(world, Health);
    mica_define(world, Weight);
    mica_define(world, Fuel);
    mica_define(world, Armed);
    mica_define(world, Title);
    mica_define(world, Motto);
    mica_define(world, Ship);
    mica_define(world, PartOf);
    populate(world, &random);
    for (uint32_t i = 0; i < TEXTS; ++i) {
        mica_value_error error;
        queries[i] = mica_query_text(world, texts[i], &error);
        ck_assert_msg(queries[i] != NULL, "%s: %u: %s", texts[i], error.position, error.text);
        char written[300];
        mica_query_write_text(queries[i], written, sizeof written);
        mica_query *again = mica_query_text(world, written, &error);
        ck_assert_msg(again != NULL, "%s: %u: %s", written, error.position, error.text);
        found first, second;
        find(queries[i], &first);
        find(again, &second);
        check_same(&first, &second, written);
        mica_query_destroy(again);
    }
    for (uint32_t round = 0; round < 12; ++round) {
        mica_index *indexes[7];
        for (uint32_t i = 0; i < TEXTS; ++i)
            find(queries[i], &plain[i]);
        for (uint32_t i = 0; i < 7; ++i)
            indexes[i] =
                mica_index_create(world, &(mica_index_def){.component = mica_component_find(world, fields[i].component),
                                                           .fields = fields[i].field,
                                                           .hashed = round % 2});
        for (uint32_t i = 0; i < TEXTS; ++i) {
            find(queries[i], &indexed);
            check_same(&plain[i], &indexed, texts[i]);
        }
        change(world, &random);
        static found after[TEXTS];
        for (uint32_t i = 0; i < TEXTS; ++i)
            find(queries[i], &after[i]);
        for (uint32_t i = 0; i < 7; ++i)
            mica_index_destroy(indexes[i]);
        for (uint32_t i = 0; i < TEXTS; ++i) {
            find(queries[i], &plain[i]);
            check_same(&after[i], &plain[i], texts[i]);
        }
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(columns_are_those_of_the_entities_that_an_index_finds)
{
    random_source random = {7};
    mica_world *world = open_world(&heard);
    populate(world, &random);
    mica_index_create(world, &(mica_index_def){.component = MICA_ID(Health), .fields = "points"});
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_WRITE(Health),
                                                            WHERE(Health, "points", MICA_AT_LEAST, mica_key_integer(4)),
                                                            WHERE(Health, "points", MICA_LESS, mica_key_real(6.5))));
    uint32_t rows = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        Health *health = mica_view_write(&view, Health);
        for (uint32_t i = 0; i < view.count; ++i, ++rows) {
            ck_assert(health[i].points >= 4 && health[i].points <= 6);
            ck_assert_ptr_eq(mica_get(world, view.entities[i], Health), &health[i]);
            ck_assert(mica_query_matches(query, view.entities[i]));
            health[i].points = 100;
        }
    }
    ck_assert_uint_gt(rows, 0);
    ck_assert_uint_eq(mica_query_count(query), 0);
    ck_assert(!mica_query_matches(query, entities[0]) || !mica_has(world, entities[0], Health));
    mica_term terms[4];
    ck_assert_uint_eq(mica_query_terms(query, terms, 4), 3);
    ck_assert_str_eq(terms[1].field, "points");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_comparison_is_written_as_it_is_read)
{
    mica_world *world = open_world(&heard);
    mica_entity base = mica_create(world, MICA_WITH(Health));
    mica_define(world, Fuel);
    mica_define(world, Weight);
    mica_name_set(world, base, mica_nil(), "base");
    char text[TEXT], expected[TEXT];
    static const char *const same[] = {"Health.points < 10",
                                       "Health.points($planet) >= -4, $planet",
                                       "Health.points != 18446744073709551615",
                                       "Weight.exact > 2.5",
                                       "Weight.exact > 2.0",
                                       "Weight.exact <= 1e+300",
                                       "Weight.exact = -inf",
                                       "Weight.exact = inf",
                                       "Weight.exact = nan",
                                       "Fuel.station = \"base\""};
    for (uint32_t i = 0; i < sizeof same / sizeof *same; ++i) {
        if (i == 1)
            continue;
        mica_query *query = mica_query_text(world, same[i], NULL);
        mica_query_write_text(query, text, sizeof text);
        mica_query *again = mica_query_text(world, text, NULL);
        mica_term one[2], other[2];
        ck_assert_uint_eq(mica_query_terms(query, one, 2), mica_query_terms(again, other, 2));
        ck_assert(one[0].compare == other[0].compare && one[0].key.kind == other[0].key.kind &&
                  memcmp(&one[0].key.as, &other[0].key.as, sizeof one[0].key.as) == 0);
        if (i != 5)
            ck_assert_str_eq(text, same[i]);
    }
    mica_entity dead = mica_create(world);
    mica_query *query =
        mica_query_create(world, MICA_QUERY(WHERE(Fuel, "station", MICA_NOT_EQUAL, mica_key_entity(dead))));
    mica_destroy(world, dead);
    mica_query_write_text(query, text, sizeof text);
    snprintf(expected, sizeof expected, "Fuel.station != #%u:%u", dead.index, dead.generation);
    ck_assert_str_eq(text, expected);
    query = mica_query_text(world, "Health.shield = true, Health.points = false, Health.points=+0", NULL);
    expect_report(&heard, MICA_ERROR_INVALID, "expected a number, true, false or an entity");
    query = mica_query_text(world, "Ship | Health, Health.points = .5e-1, Health.points($other)<=9", NULL);
    ck_assert_ptr_null(query);
    expect_report(&heard, MICA_ERROR_INVALID, "there is no component \"Ship\"");
    query = mica_query_text(world, "Health.points = .5e-1, Health.points($other)<=9", NULL);
    mica_query_explain(query, text, sizeof text);
    ck_assert_msg(strstr(text, " by points") != NULL, "%s", text);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_wrong_comparison_is_refused_with_a_reason)
{
    mica_world *world = open_world(&heard);
    mica_entity base = mica_create(world, MICA_WITH(Health), MICA_WITH(Ship));
    mica_key seven = mica_key_integer(7);
    mica_define(world, Weight);
    const struct {
        mica_term term;
        const char *reason;
    } cases[] = {
        {{.component = MICA_ID(Health), .access = MICA_ACCESS_HAS, .field = "points"}, "no .compare"},
        {{.component = MICA_ID(Health), .access = MICA_ACCESS_HAS, .field = "points", .compare = (mica_comparison)9},
         "no .compare"},
        {{.component = MICA_ID(Health), .access = MICA_ACCESS_WITHOUT, .field = "points", .compare = MICA_LESS},
         "use MICA_HAS"},
        {WHERE(Health, "point", MICA_LESS, seven), "has no field"},
        {WHERE(Health, "points,shield", MICA_LESS, seven), "one field"},
        {WHERE(Health, "points", MICA_LESS, mica_key_entity(base)), "must be a number"},
        {WHERE(Health, "points", MICA_EQUAL, mica_key_text("3")), "must be a number"},
        {WHERE(Title, "words", MICA_EQUAL, mica_key_integer(3)), "must be a text"},
        {WHERE(Title, "words", MICA_EQUAL, mica_key_text(NULL)), "must be a text"},
        {WHERE(Health, "points", MICA_LESS, mica_key_real(NAN)), "not a number"},
        {WHERE(Fuel, "station", MICA_EQUAL, seven), "must be an entity"},
        {WHERE(Fuel, "station", MICA_LESS, mica_key_entity(base)), "only equal or not"},
        {WHERE(Shots, "count", MICA_LESS, seven), "one value per entity"},
        {WHERE(Ship, "count", MICA_LESS, seven), "one value per entity"},
        {{.component = MICA_ID(Health),
          .access = MICA_ACCESS_HAS,
          .field = "points",
          .compare = MICA_LESS,
          .key = seven,
          .up = MICA_ID(PartOf)},
         "with a variable for that entity"},
        {WHERE(PartOf, "target", MICA_EQUAL, mica_key_entity(base)), "fields of edges can't be compared"},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        mica_query *query = mica_query_create(world, &(mica_query_def){.terms = &cases[i].term, .term_count = 1});
        ck_assert_ptr_null(query);
        expect_report(&heard, MICA_ERROR_INVALID, cases[i].reason);
    }
    static char long_text[5000];
    static const struct { const char *text, *reason; uint32_t position; } wrong[] = {
        {"Health.points", "expected =, !=, <, <=, > or >=", 13},
        {"Health.points ~ 3", "expected =, !=", 14},
        {"Health.points < ", "expected a number, true, false or an entity, found the end", 16},
        {"Health.points < stranger", "there is no entity", 16},
        {"Health.points < -x", "expected a number", 16},
        {"Health.points < -.", "expected a number", 16},
        {"Healt.points < 3", "there is no component \"Healt.points\"", 0},
        {"Health.point < 3", "has no field", 0},
        {"!Health.points < 3", "MICA_HAS", 0},
        {"Title.words = 3", "expected a text in quotation marks, found '3'", 14},
        {"Title.words = ", "expected a text in quotation marks, found the end", 14},
        {"Title.words = \"ab", "expected the quotation mark at the end of a text, found the end", 17},
        {"Title.words = \"ab\\", "expected the quotation mark at the end of a text, found the end", 18},
        {long_text, "the texts are longer than", 14},
    };
    memset(long_text, 'a', sizeof long_text - 1);
    memcpy(long_text, "Title.words = \"", strlen("Title.words = \""));
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        mica_value_error error;
        ck_assert_ptr_null(mica_query_text(world, wrong[i].text, &error));
        ck_assert_msg(strstr(error.text, wrong[i].reason) != NULL && error.position == wrong[i].position, "%s: %u: %s",
                      wrong[i].text, error.position, error.text);
    }
    close_world(world, &heard);
}
END_TEST

static mica_index *points;
static uint32_t seen;

static void count_weak(mica_view *view)
{
    seen += view->count;
}

static void count_declared(mica_view *view)
{
    seen += view->count;
}

static void heal(mica_view *view)
{
    Health *health = mica_view_write(view, Health);
    for (uint32_t i = 0; i < view->count; ++i, ++seen)
        health[i].points = 50;
}

static void count_in_hook(const mica_event *event)
{
    mica_query *query = event->context;
    seen += (uint32_t)mica_query_count(query);
}

START_TEST(systems_and_hooks_find_the_same)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < 100; ++i)
        entities[i] = mica_create(world, MICA_WITH(Health, {(int32_t)i, 0}));
    points = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Health), .fields = "points"});
    mica_system_add(world, MICA_SYSTEM(count_weak, WHERE(Health, "points", MICA_LESS, mica_key_integer(10))));
    ck_assert(mica_step(world, 0.1f) == MICA_OK);
    ck_assert_uint_eq(seen, 10);
    mica_system_add(world, MICA_SYSTEM_WITH(count_declared, (MICA_USES({.index = points})),
                                            WHERE(Health, "points", MICA_LESS, mica_key_integer(10))));
    mica_write(world, entities[50], Health)->points = 5;
    seen = 0;
    ck_assert(mica_step(world, 0.1f) == MICA_OK);
    ck_assert_uint_eq(seen, 22);
    mica_system_add(world, MICA_SYSTEM_WITH(heal, (MICA_USES({.index = points})), MICA_WRITE(Health),
                                            WHERE(Health, "points", MICA_LESS, mica_key_integer(10))));
    seen = 0;
    ck_assert(mica_step(world, 0.1f) == MICA_OK);
    ck_assert_uint_eq(seen, 33);
    seen = 0;
    ck_assert(mica_step(world, 0.1f) == MICA_OK);
    ck_assert_uint_eq(seen, 0);
    mica_query *query = mica_query_create(world, MICA_QUERY(WHERE(Health, "points", MICA_EQUAL, mica_key_integer(50))));
    uint32_t strong = (uint32_t)mica_query_count(query);
    mica_hook_set(world, Ship, MICA_EVENT_ADD, count_in_hook, query);
    mica_add(world, entities[1], Ship);
    ck_assert_uint_eq(seen, strong);
    close_world(world, &heard);
}
END_TEST

START_TEST(without_memory_for_a_list_rows_are_visited)
{
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&faulty);
    mica_world *world = open_world_with(&heard, def);
    for (uint32_t i = 0; i < 100; ++i)
        mica_create(world, MICA_WITH(Health, {(int32_t)i, 0}));
    mica_index_create(world, &(mica_index_def){.component = MICA_ID(Health), .fields = "points"});
    bool was_short = true;
    for (uint64_t k = 1; was_short; ++k) {
        mica_value_error error;
        faulty_allocator_fail_at(&faulty, k, false);
        mica_query *query = mica_query_text(world, "Health.points < 30, Health.points($other) = 3", &error);
        uint64_t found = query ? mica_query_count(query) : 0;
        was_short = faulty.failures != 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        ck_assert_msg(found == 30 || (!query && error.result == MICA_ERROR_MEMORY) || heard.count, "%u", (unsigned)k);
        forget_reports(&heard);
        if (query)
            ck_assert_uint_eq(mica_query_count(query), 30);
        mica_query_destroy(query);
    }
    close_world(world, &heard);
    faulty_allocator_free(&faulty);
}
END_TEST

TEST_SUITE(condition, every_comparison_finds_what_c_finds, an_index_changes_neither_results_nor_their_order,
           columns_are_those_of_the_entities_that_an_index_finds, a_comparison_is_written_as_it_is_read,
           a_wrong_comparison_is_refused_with_a_reason, systems_and_hooks_find_the_same,
           without_memory_for_a_list_rows_are_visited)
