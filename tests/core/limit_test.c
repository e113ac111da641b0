/* The bounds on how many components there are: in a process and on one entity. */
#include "../support/components.h"
#include "../support/reports.h"
#include "../support/test.h"

#include "type/type.h"

#include <stdio.h>

static reports heard;

static mica_component intern_numbered(uint32_t number, mica_storage storage)
{
    char name[16];
    snprintf(name, sizeof name, "Kind%u", number);
    mica_type type = {.name = name, .storage = storage, .kind = MICA_KIND_STRUCT, .size_bytes = 4, .alignment = 4};
    return mica_type_intern(&type);
}

START_TEST(one_component_type_too_many_is_refused_with_the_reason)
{
    static const struct {
        mica_storage storage;
        uint32_t limit;
    } cases[] = {{MICA_STORAGE_CHUNK, MICA_COMPONENTS_MAX}, {MICA_STORAGE_POOL, MICA_COMPONENTS_MAX + 1}};
    for (uint32_t kind = 0; kind < 2; ++kind) {
        mica_world *world = open_world(&heard);
        mica_component last = 0;
        for (uint32_t i = 0; i < cases[kind].limit; ++i) {
            last = intern_numbered(i, cases[kind].storage);
            if (!last)
                ck_abort_msg("type %u gets no id", i);
        }
        mica_type more = {.name = "More", .kind = MICA_KIND_STRUCT, .size_bytes = 4, .alignment = 4};
        more.storage = cases[kind].storage;
        ck_assert_msg(mica_component_define(world, &more) == 0, "one more is refused");
        expect_report(&heard, MICA_ERROR_LIMIT, "More");
        mica_entity entity = mica_create(world, {last, 0, NULL});
        ck_assert_msg(mica_get_id(world, entity, last) != NULL, "and the last one works");
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(an_entity_with_far_too_many_components_is_refused)
{
    mica_world *world = open_world(&heard);
    enum { TOO_MANY = MICA_ENTITY_COMPONENTS_MAX + 100 };
    static mica_value values[TOO_MANY];
    for (uint32_t i = 0; i < TOO_MANY; ++i)
        values[i] = (mica_value){intern_numbered(i, MICA_STORAGE_CHUNK), 0, NULL};
    ck_assert_msg(mica_is_nil(mica_create_id(world, values, TOO_MANY)), "it is not created");
    expect_report(&heard, MICA_ERROR_LIMIT, "components");
    mica_entity entity = mica_create_id(world, values, 300);
    ck_assert_msg(mica_get_components(world, entity, NULL, 0) == 300, "the world works on");
    close_world(world, &heard);
}
END_TEST

/* A query looks at 64 bits of an archetype first: with more components, several share one. */
START_TEST(components_that_share_a_bit_are_told_apart)
{
    enum { MANY = 200 };
    mica_world *world = open_world(&heard);
    mica_component components[MANY];
    for (uint32_t i = 0; i < MANY; ++i) {
        components[i] = intern_numbered(i, MICA_STORAGE_CHUNK);
        mica_create(world, {components[i], 0, NULL});
    }
    for (uint32_t i = 0; i < MANY; ++i) {
        const mica_term with = {.component = components[i], .access = MICA_ACCESS_READ},
                        without = {.component = components[i], .access = MICA_ACCESS_WITHOUT};
        mica_query *has = mica_query_create(world, &(mica_query_def){.terms = &with, .term_count = 1});
        mica_query *lacks = mica_query_create(world, &(mica_query_def){.terms = &without, .term_count = 1});
        ck_assert_uint_eq(mica_query_count(has), 1);
        ck_assert_uint_eq(mica_query_count(lacks), MANY - 1);
    }
    expect_valid(world); /* which asks every query about every archetype */
    mica_component private = micap_type_of(MICA_ID(Health))->enabled;
    const mica_term hidden = {.component = private, .access = MICA_ACCESS_READ};
    ck_assert_ptr_null(mica_query_create(world, &(mica_query_def){.terms = &hidden, .term_count = 1}));
    expect_report(&heard, MICA_ERROR_INVALID, "private");
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(limit, components_that_share_a_bit_are_told_apart, one_component_type_too_many_is_refused_with_the_reason,
           an_entity_with_far_too_many_components_is_refused)
