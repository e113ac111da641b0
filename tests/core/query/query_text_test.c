/* Queries as text: what a text means, what is wrong with one, and that any query is the text it is written as. */
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/query_text.h"

#include <stdio.h>
#include <string.h>

static reports heard;

typedef struct Wing { float span; } Wing;
MICA_POOL(Wing, span)
typedef struct Fin { float length; } Fin;
MICA_POOL(Fin, length)

/* A component whose name needs quotes. */
static mica_component define_number(mica_world *world, const char *name)
{
    const mica_field field = {.name = "value", .element_bytes = 4, .count = 1, .kind = MICA_KIND_I32};
    const mica_type type = {
        .name = name, .fields = &field, .field_count = 1, .size_bytes = 4, .alignment = 4, .kind = MICA_KIND_STRUCT};
    return mica_component_define(world, &type);
}

enum { COMPONENTS = 9, ENTITIES = 200 };

static mica_world *open_zoo(mica_component components[COMPONENTS])
{
    mica_world *world = open_world(&heard);
    const mica_component all[COMPONENTS] = {
        mica_define(world, Position), mica_define(world, Velocity),      mica_define(world, Frozen),
        mica_define(world, Health),   mica_define(world, Age),           mica_define(world, Wing),
        mica_define(world, Fin),      define_number(world, "two words"), define_number(world, "write")};
    memcpy(components, all, sizeof all);
    random_source random = {1};
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        mica_value values[COMPONENTS];
        uint32_t count = 0;
        for (uint32_t k = 0; k < COMPONENTS; ++k)
            if (random_one_in(&random, 2))
                values[count++] = (mica_value){components[k], 0, NULL};
        mica_create_id(world, values, count);
    }
    return world;
}

/* The text, and how it is written again. */
static const struct {
    const char *text;
    const char *written;
} texts[] = {
    {"", ""},
    {" \t\n", ""},
    {"Position", "Position"},
    {"  Position ,Velocity  ", "Position, Velocity"},
    {"write Position, !Frozen", "write Position, !Frozen"},
    {"Frozen", "Frozen"},
    {"has Frozen", "Frozen"},
    {"has Position", "has Position"},
    {"?Position, ?write Velocity, ? Frozen", "?Position, ?write Velocity, ?Frozen"},
    {"Position|Velocity | Frozen,Age", "Position | Velocity | Frozen, Age"},
    {"Position | Velocity, Wing | Fin", "Position | Velocity, Wing | Fin"},
    {"changed Position, added Age, disabled Health", "changed Position, added Age, disabled Health"},
    {"\"two words\", write \"two words two\"", NULL},
    {"write \"two words\"", "write \"two words\""},
    {"\"write\"", "\"write\""},
    {"write", "\"write\""}, /* no name follows */
    {"write write", "write \"write\""},
    {"!write, Position", "!\"write\", Position"},
    {"Wing, Fin, !Position", "Wing, Fin, !Position"},
};

START_TEST(a_text_is_a_list_of_terms)
{
    mica_component components[COMPONENTS];
    mica_world *world = open_zoo(components);
    for (uint32_t i = 0; i < COUNT_OF(texts); ++i) {
        mica_value_error error;
        char written[200];
        mica_query *query = mica_query_text(world, texts[i].text, &error);
        ck_assert_msg((query != NULL) == (texts[i].written != NULL), "%s: %s", texts[i].text, error.text);
        ck_assert_int_eq(error.result, query ? MICA_OK : MICA_ERROR_INVALID);
        if (!query)
            continue;
        ck_assert_uint_eq(mica_query_write_text(query, written, sizeof written), strlen(texts[i].written));
        ck_assert_str_eq(written, texts[i].written);
        ck_assert_uint_eq(mica_query_write_text(query, written, 4), strlen(texts[i].written));
        ck_assert_int_eq(strncmp(written, texts[i].written, 3), 0);
        mica_query_destroy(query);
    }
    close_world(world, &heard);
}
END_TEST

static const struct {
    const char *text;
    uint32_t position;
    const char *problem;
} mistakes[] = {
    {"Positon", 0, "there is no component \"Positon\" (did you mean \"Position\"?)"},
    {"Velocity, !Frosen", 11, "there is no component \"Frosen\" (did you mean \"Frozen\"?)"},
    {"nothing like it", 0, "there is no component \"nothing\""},
    {"Position,", 9, "expected the name of a component, found the end"},
    {",", 0, "expected the name of a component, found ','"},
    {"Position Velocity", 9, "expected a comma or the end, found 'V'"},
    {"Position(", 9, "expected an entity"},
    {"Position, \xC3\xA9", 10, "expected the name of a component, found '\xC3\xA9'"},
    {"!", 1, "expected the name of a component, found the end"},
    {"! !Frozen", 2, "expected the name of a component, found '!'"},
    {"?has Position", 0, "an optional component is read or written, not \"has\""},
    {"Position |", 10, "expected the name of a component, found the end"},
    {"Position | !Frozen", 11, "expected the name of a component, found '!'"},
    {"\"Position", 9, "expected the quotation mark at the end of a name, found the end"},
    {"\"\"", 1, "expected the name of a component, found '\"'"},
    {"Position, Velocity, Position", 20, "Position: it is given twice"},
    {"Position, !Position", 10, "Position: it is both asked for and excluded"},
    {"write Frozen", 0, "Frozen: a tag has no data"},
    {"added Position", 0, "Position: it is not tracked"},
    {"Age | Age", 6, "Age: it is given twice"},
    {"has Position, Wing | Wing", 21, "Wing: it is given twice"},
    {"Position, Clock | Age", 10, "Clock: a singleton can only be read or written"},
};

START_TEST(a_mistake_is_said_with_its_place)
{
    mica_component components[COMPONENTS];
    mica_world *world = open_zoo(components);
    mica_define(world, Clock);
    for (uint32_t i = 0; i < COUNT_OF(mistakes); ++i) {
        mica_value_error error = {0};
        ck_assert_ptr_null(mica_query_text(world, mistakes[i].text, &error));
        ck_assert_int_eq(error.result, MICA_ERROR_INVALID);
        ck_assert_msg(strstr(error.text, mistakes[i].problem) != NULL, "%s: %s", mistakes[i].text, error.text);
        ck_assert_msg(error.position == mistakes[i].position, "%s: at %u", mistakes[i].text, error.position);
    }
    char longest[300];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    mica_value_error error;
    ck_assert_ptr_null(mica_query_text(world, longest, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "longer than 255"));
    ck_assert_ptr_null(mica_query_text(world, "Position, Velocity2", NULL));
    expect_report(&heard, MICA_ERROR_INVALID, "query_text: at 10: there is no component \"Velocity2\"");
    close_world(world, &heard);
}
END_TEST

START_TEST(more_terms_than_there_can_be_are_refused)
{
    mica_world *world = open_world(&heard);
    char text[2000] = "", name[16];
    for (uint32_t i = 0; i <= MICA_TERMS_MAX; ++i) {
        snprintf(name, sizeof name, "T%u", i);
        ck_assert(define_number(world, name) != 0);
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%s", i ? "," : "", name);
    }
    mica_value_error error;
    ck_assert_ptr_null(mica_query_text(world, text, &error));
    ck_assert_msg(strstr(error.text, "there are more than 32 terms") != NULL, "%s", error.text);
    ck_assert_uint_eq(error.position, strlen(text) - strlen(name));
    close_world(world, &heard);
}
END_TEST

/* Terms as programs write them, drawn at random; a query that is refused is none. */
START_TEST(any_query_is_the_text_it_is_written_as)
{
    mica_component components[COMPONENTS];
    mica_world *world = open_zoo(components);
    random_source random = {7};
    uint32_t created = 0;
    for (uint32_t round = 0; round < 2000; ++round) {
        mica_term terms[5];
        uint32_t count = random_below(&random, COUNT_OF(terms) + 1);
        for (uint32_t i = 0; i < count; ++i)
            terms[i] = (mica_term){.component = components[random_below(&random, COMPONENTS)],
                                   .access = (mica_access)random_below(&random, MICA_ACCESS_DISABLED + 1)};
        mica_query *query = mica_query_create(world, &(mica_query_def){.terms = terms, .term_count = count});
        forget_reports(&heard);
        if (!query)
            continue;
        ++created;
        char written[300], again[300];
        mica_query_write_text(query, written, sizeof written);
        mica_value_error error;
        mica_query *read = mica_query_text(world, written, &error);
        bool is_lonely = false; /* a group of one is the component itself, read */
        for (uint32_t i = 0; i < count; ++i)
            is_lonely |=
                terms[i].access == MICA_ACCESS_EITHER && (i + 1 == count || terms[i + 1].access != MICA_ACCESS_OR);
        ck_assert_msg(read != NULL || is_lonely, "%s: %s", written, error.text);
        if (read && !is_lonely) {
            mica_query_write_text(read, again, sizeof again);
            ck_assert_str_eq(written, again);
            ck_assert_uint_eq(mica_query_count(query), mica_query_count(read));
        }
        mica_query_destroy(read);
        mica_query_destroy(query);
    }
    ck_assert_uint_gt(created, 300);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_query_explains_what_it_visits)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < 10; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Position), MICA_WITH(Health));
        if (i == 0)
            mica_add(world, entity, Velocity);
        if (i < 3)
            mica_add(world, entity, Wing);
        mica_add(world, entity, Fin);
    }
    static const struct {
        const char *text;
        const char *plan;
    } plans[] = {
        {"Velocity, Position", "visits 1 row of 1 archetype\n  1 row: Position, Health, Velocity"},
        {"!Position", "visits 0 rows of 1 archetype\n  0 rows"},
        {"Position, ?Wing",
         "visits 10 rows of 2 archetypes\n  9 rows: Position, Health\n  1 row: Position, Health, Velocity\n"
         "looks up each in 3 rows of pool Wing"},
        {"Wing, Fin", "visits 3 rows of pool Wing\nlooks up each in 10 rows of pool Fin"},
        {"Fin, Wing, changed Fin", "visits 3 rows of pool Wing\nlooks up each in 10 rows of pool Fin"},
        {"Wing, changed Wing, Position", "visits 3 rows of pool Wing\nlooks up each in the archetypes"},
    };
    for (uint32_t i = 0; i < COUNT_OF(plans); ++i) {
        char text[400];
        mica_query *query = mica_query_text(world, plans[i].text, NULL);
        ck_assert_uint_eq(mica_query_explain(query, text, sizeof text), strlen(text));
        ck_assert_str_eq(text, plans[i].plan);
        mica_query_destroy(query);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(a_query_that_finds_no_memory_says_so)
{
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&faulty);
    mica_world *world = open_world_with(&heard, def);
    mica_create(world, MICA_WITH(Position));
    mica_query *query = NULL;
    uint64_t k = 0;
    while (!query) {
        mica_value_error error;
        faulty_allocator_fail_at(&faulty, ++k, false);
        query = mica_query_text(world, "Position, Clock", &error);
        ck_assert(query || error.result == MICA_ERROR_MEMORY || error.result == MICA_ERROR_INVALID);
        faulty_allocator_fail_at(&faulty, 0, false);
        if (error.result ==
            MICA_ERROR_INVALID) /* the singleton is defined late, so that making room for it fails as well */
            mica_define(world, Clock);
        forget_reports(&heard);
    }
    ck_assert_uint_gt(k, 2);
    close_world(world, &heard);
    faulty_allocator_free(&faulty);
}
END_TEST

TEST_SUITE(query_text, a_text_is_a_list_of_terms, a_mistake_is_said_with_its_place,
           more_terms_than_there_can_be_are_refused, any_query_is_the_text_it_is_written_as,
           a_query_explains_what_it_visits, a_query_that_finds_no_memory_says_so)
