/* Indexes of text: random histories compared with a search through all entities, texts that come in order, texts that are in no entity any more,
 * partitions, uniqueness and keys of other kinds. */
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/test.h"

#include "mica/disable.h"
#include "mica/index.h"
#include "mica/partition.h"
#include "mica/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Label {
    uint32_t color;
    mica_text words;
} Label;
MICA_COMPONENT(Label, color, words)
typedef Label LabelTracked;
MICA_COMPONENT_WITH(LabelTracked, (.track_changed = true), color, words)
typedef Label LabelPool;
MICA_POOL_WITH(LabelPool, (.toggle = true), color, words)

enum { ENTITIES = 400, KINDS = 3, BYTES = 40 };

static reports heard;

typedef struct fixture {
    mica_world *world;
    mica_component component;
    mica_index *ordered, *hashed;
    mica_entity entities[ENTITIES];
    random_source random;
} fixture;

static mica_component component_of(uint32_t kind)
{
    const mica_component all[KINDS] = {MICA_ID(Label), MICA_ID(LabelTracked), MICA_ID(LabelPool)};
    return all[kind];
}

static mica_index *open_index(mica_world *world, mica_component component, bool hashed, bool unique)
{
    mica_index *index = mica_index_create(
        world, &(mica_index_def){
                   .name = "label", .component = component, .fields = "words", .hashed = hashed, .unique = unique});
    ck_assert(index != NULL);
    return index;
}

static fixture open_fixture(uint32_t kind)
{
    fixture fixture = {.world = open_world(&heard), .component = component_of(kind), .random = {kind + 1}};
    fixture.ordered = open_index(fixture.world, fixture.component, false, false);
    fixture.hashed = open_index(fixture.world, fixture.component, true, false);
    return fixture;
}

static void set_words(fixture *fixture, mica_entity entity, const char *words)
{
    Label label = {7, mica_text_of(words)};
    ck_assert(mica_set_id(fixture->world, entity, (mica_value){fixture->component, sizeof label, &label}));
}

/* Few letters, so that many texts begin alike or are equal; some are longer than what lies in place. */
static void draw_words(random_source *random, char out[BYTES])
{
    uint32_t length = random_one_in(random, 6) ? 14 + random_below(random, 20) : random_below(random, 5);
    for (uint32_t i = 0; i < length; ++i)
        out[i] = random_one_in(random, 20) ? '\xf6' : (char)('a' + random_below(random, 3));
    out[length] = 0;
}

typedef struct known {
    mica_entity entity;
    const char *words;
} known;

static int compare_known(const void *one, const void *two)
{
    const known *a = one, *b = two;
    int order = strcmp(a->words, b->words);
    return order ? order : (a->entity.index > b->entity.index) - (a->entity.index < b->entity.index);
}

/* What the indexes must have, in order. */
static uint32_t look(const fixture *fixture, known *out)
{
    uint32_t count = 0;
    mica_term term = {.component = fixture->component, .access = MICA_ACCESS_HAS};
    mica_query *query = mica_query_create(fixture->world, &(mica_query_def){.terms = &term, .term_count = 1});
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            ck_assert_uint_lt(count, ENTITIES);
            const Label *label = mica_get_id(fixture->world, view.entities[i], fixture->component);
            out[count++] = (known){view.entities[i], mica_text_get(&label->words)};
        }
    mica_query_destroy(query);
    qsort(out, count, sizeof *out, compare_known);
    return count;
}

static void check_range(const mica_index *index, const known *all, uint32_t count, const char *low, const char *high)
{
    uint32_t at = 0, end = count, found = 0;
    while (low && at < count && strcmp(all[at].words, low) < 0)
        ++at;
    while (high && end > at && strcmp(all[end - 1].words, high) > 0)
        --end;
    mica_key from = low ? mica_key_text(low) : (mica_key){0}, to = high ? mica_key_text(high) : (mica_key){0};
    for (mica_match match = mica_index_range(index, from, to); mica_match_next(&match); ++found)
        ck_assert(at + found < end && mica_same(match.entity, all[at + found].entity));
    ck_assert_uint_eq(found, end - at);
    ck_assert_uint_eq(mica_index_count(index, from, to), found);
    bool is_there = low && at < count && strcmp(all[at].words, low) == 0;
    if (low)
        ck_assert(mica_same(mica_find_by(index, from), is_there ? all[at].entity : mica_nil()));
}

static void check_partitions(const mica_index *index, const known *all, uint32_t count)
{
    uint32_t at = 0;
    for (mica_partition part = mica_partitions_by_index(index, (mica_key){0}, (mica_key){0});
         mica_partition_next(&part);) {
        ck_assert_int_eq(part.key.kind, MICA_KIND_TEXT);
        ck_assert_str_eq(part.key.as.text, all[at].words);
        at += part.count;
        ck_assert(at == count || strcmp(part.key.as.text, all[at].words) < 0);
    }
    ck_assert_uint_eq(at, count);
}

static void check(fixture *fixture)
{
    static known all[ENTITIES];
    char low[BYTES], high[BYTES];
    uint32_t count = look(fixture, all);
    mica_index *indexes[] = {fixture->ordered, fixture->hashed};
    for (uint32_t i = 0; i < 2; ++i) {
        if (random_one_in(&fixture->random, 3))
            continue; /* it has more to catch up with next time */
        ck_assert_int_eq(mica_index_update(indexes[i]), MICA_OK);
        ck_assert_uint_eq(mica_index_entity_count(indexes[i]), count);
        draw_words(&fixture->random, low);
        draw_words(&fixture->random, high);
        check_range(indexes[i], all, count, low, high);
        check_range(indexes[i], all, count, low, NULL);
        check_range(indexes[i], all, count, NULL, high);
        if (count)
            check_range(indexes[i], all, count, all[random_below(&fixture->random, count)].words, "c");
        check_partitions(indexes[i], all, count);
    }
    ck_assert_int_eq(mica_world_validate(fixture->world), MICA_OK);
}

static void change(fixture *fixture)
{
    random_source *random = &fixture->random;
    mica_entity *entity = &fixture->entities[random_below(random, ENTITIES)];
    char words[BYTES];
    draw_words(random, words);
    if (!mica_is_alive(fixture->world, *entity)) {
        *entity = mica_create(fixture->world);
        set_words(fixture, *entity, words);
    } else if (random_one_in(random, 4)) {
        mica_destroy(fixture->world, *entity);
    } else if (random_one_in(random, 6)) {
        (random_one_in(random, 2) ? mica_entity_disable : mica_entity_enable)(fixture->world, *entity);
    } else if (random_one_in(random, 6)) {
        mica_add(fixture->world, *entity, Enemy);
    } else if (mica_component_type(fixture->component)->toggle && random_one_in(random, 5)) {
        mica_enable_id(fixture->world, *entity, fixture->component, random_one_in(random, 2));
    } else {
        set_words(fixture, *entity, words);
    }
    if (random_one_in(random, 10)) {
        ck_assert_int_eq(mica_index_refresh(fixture->ordered, *entity), MICA_OK);
        ck_assert_int_eq(mica_index_refresh(fixture->hashed, *entity), MICA_OK);
    }
}

START_TEST(an_index_of_text_finds_what_a_search_finds)
{
    for (uint32_t kind = 0; kind < KINDS; ++kind) {
        fixture fixture = open_fixture(kind);
        mica_snapshot kept = {0};
        mica_entity entities[ENTITIES];
        for (uint32_t round = 0; round < 60; ++round) {
            uint32_t changes = random_one_in(&fixture.random, 3) ? 300 : 1 + random_below(&fixture.random, 20);
            for (uint32_t i = 0; i < changes; ++i)
                change(&fixture);
            if (round % 9 == 3) {
                kept = mica_snapshot_take(fixture.world);
                memcpy(entities, fixture.entities, sizeof entities);
            }
            check(&fixture);
            if (round % 9 == 8) {
                ck_assert_int_eq(mica_snapshot_restore(fixture.world, kept), MICA_OK);
                memcpy(fixture.entities, entities, sizeof entities);
                check(&fixture);
            }
        }
        close_world(fixture.world, &heard);
    }
}
END_TEST

/* Each text is put between the last two, so that the room between words runs out; and entities forget what they had. */
START_TEST(texts_that_come_next_to_each_other_stay_in_order)
{
    static known all[ENTITIES];
    fixture fixture = open_fixture(0);
    char words[8] = "m";
    for (uint32_t i = 0; i < 2; ++i)
        set_words(&fixture, fixture.entities[i] = mica_create(fixture.world), i ? "n" : "a");
    for (uint32_t i = 0; i < 500; ++i) {
        mica_entity entity = fixture.entities[2 + i % 100];
        if (i < 100)
            fixture.entities[2 + i] = entity = mica_create(fixture.world);
        snprintf(words, sizeof words, i % 2 ? "m%03u" : "mz%03u", 999 - i);
        set_words(&fixture, entity, words);
        ck_assert_int_eq(mica_index_update(fixture.ordered), MICA_OK);
        uint32_t count = look(&fixture, all);
        check_range(fixture.ordered, all, count, words, NULL);
        check_range(fixture.ordered, all, count, NULL, words);
    }
    ck_assert_int_eq(mica_world_validate(fixture.world), MICA_OK);
    close_world(fixture.world, &heard);
}
END_TEST

START_TEST(equal_texts_are_reported_by_a_unique_index)
{
    mica_world *world = open_world(&heard);
    mica_index *names = open_index(world, MICA_ID(Label), true, true);
    mica_entity first = mica_create(world, MICA_WITH(Label, {.words = mica_text_of("anna")}));
    mica_entity second = mica_create(world, MICA_WITH(Label, {.words = mica_text_of("anna")}));
    ck_assert_int_eq(mica_index_update(names), MICA_ERROR_EXISTS);
    expect_report(&heard, MICA_ERROR_EXISTS, "have equal values");
    ck_assert(mica_same(mica_find_by(names, mica_key_text("anna")), first));
    mica_text_append(&mica_write(world, second, Label)->words, " karenina, of the provinces");
    ck_assert_int_eq(mica_index_update(names), MICA_OK);
    ck_assert(mica_same(mica_find_by(names, mica_key_text("anna karenina, of the provinces")), second));
    ck_assert(mica_is_nil(mica_find_by(names, mica_key_text("ann"))));
    ck_assert(mica_is_nil(mica_find_by(names, mica_key_text(""))));
    close_world(world, &heard);
}
END_TEST

START_TEST(keys_of_another_kind_are_reported)
{
    mica_world *world = open_world(&heard);
    mica_index *names = open_index(world, MICA_ID(Label), false, false);
    mica_index *numbers = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Number), .fields = "value"});
    ck_assert(mica_is_nil(mica_find_by(names, mica_key_integer(1))));
    expect_report(&heard, MICA_ERROR_INVALID, "must be a text");
    ck_assert(mica_is_nil(mica_find_by(names, mica_key_text(NULL))));
    expect_report(&heard, MICA_ERROR_INVALID, "must be a text");
    ck_assert(mica_is_nil(mica_find_by(numbers, mica_key_text("1"))));
    expect_report(&heard, MICA_ERROR_INVALID, "must be a number");
    ck_assert_uint_eq(mica_index_count(names, mica_key_text("z"), mica_key_text("a")), 0);
    size_t length = (size_t)MICA_TEXT_BYTES_MAX + 1;
    char *too_long = malloc(length + 1);
    memset(too_long, 'a', length);
    too_long[length] = 0;
    ck_assert(mica_is_nil(mica_find_by(names, mica_key_text(too_long))));
    free(too_long);
    ck_assert(!mica_index_create(
        world,
        &(mica_index_def){.component = MICA_ID(Label), .fields = "color, words", .cell_size = 1, .maximum = {1, 1}}));
    expect_report(&heard, MICA_ERROR_INVALID, "is not a number");
    close_world(world, &heard);
}
END_TEST

enum { FEW = 40 };

/* An index and a world whose memory runs out at the given allocation. Returns whether it did. */
static bool fail_at(uint64_t allocation, bool hashed)
{
    static faulty_allocator allocator;
    faulty_allocator_init(&allocator);
    uint32_t reported = heard.count;
    mica_world *world = open_world_with(&heard, (mica_world_def){.allocator = faulty_allocator_interface(&allocator)});
    mica_entity entities[FEW];
    char words[BYTES];
    mica_index *index = open_index(world, MICA_ID(Label), hashed, false);
    bool has_any_failed = false;
    for (uint32_t round = 0; round < 3;
         ++round) { /* the second has fewer texts than the first, so that some are freed */
        for (uint32_t i = 0; i < FEW; ++i) {
            snprintf(words, sizeof words, round % 2 ? "next %u" : "the text of number %u", round % 2 ? i / 10 : i);
            if (!round)
                entities[i] = mica_create(world, MICA_WITH(Label, {.words = mica_text_of(words)}));
            else
                mica_set(world, entities[i], Label, {.words = mica_text_of(words)});
        }
        uint64_t before = allocator.failures;
        faulty_allocator_fail_at(&allocator, allocation, false);
        mica_result result = mica_index_update(index);
        bool has_failed = allocator.failures != before;
        faulty_allocator_fail_at(&allocator, 0, false);
        ck_assert_int_eq(mica_world_validate(world), MICA_OK);
        ck_assert(result == MICA_OK || (has_failed && result == MICA_ERROR_MEMORY));
        ck_assert_uint_eq(mica_index_entity_count(index), result == MICA_OK ? FEW : 0);
        ck_assert_int_eq(mica_index_update(index), MICA_OK);
        ck_assert(mica_same(mica_find_by(index, mica_key_text(words)), entities[round % 2 ? 30 : FEW - 1]));
        has_any_failed |= has_failed;
    }
    for (uint32_t i = 0; i < FEW; ++i) {
        snprintf(words, sizeof words, "a text of one entity, number %u", i);
        mica_set(world, entities[i], Label, {.words = mica_text_of(words)});
        uint64_t before = allocator.failures;
        faulty_allocator_fail_at(&allocator, allocation, false);
        mica_result result = mica_index_refresh(index, entities[i]);
        bool has_failed = allocator.failures != before;
        faulty_allocator_fail_at(&allocator, 0, false);
        ck_assert(result == MICA_OK || (has_failed && result == MICA_ERROR_MEMORY));
        ck_assert(result == MICA_OK || mica_index_entity_count(index) == 0);
        ck_assert_int_eq(mica_index_update(index), MICA_OK);
        ck_assert(mica_same(mica_find_by(index, mica_key_text(words)), entities[i]));
        has_any_failed |= has_failed;
    }
    heard.count = reported;
    close_world(world, &heard);
    ck_assert_uint_eq(allocator.live_bytes, 0);
    faulty_allocator_free(&allocator);
    return has_any_failed;
}

START_TEST(without_memory_an_index_of_text_is_empty_until_it_is_updated_again)
{
    for (uint32_t hashed = 0; hashed < 2; ++hashed)
        for (uint64_t allocation = 1; fail_at(allocation, hashed); ++allocation)
            ck_assert_uint_lt(allocation, 1000);
}
END_TEST

TEST_SUITE(text_index, without_memory_an_index_of_text_is_empty_until_it_is_updated_again,
           an_index_of_text_finds_what_a_search_finds, texts_that_come_next_to_each_other_stay_in_order,
           equal_texts_are_reported_by_a_unique_index, keys_of_another_kind_are_reported)
