/* Chunks, as far as a program can tell: holes are filled, emptied chunks are passed over, memory comes back. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static reports heard;

enum { CROWD = 400 };

typedef struct crowd {
    mica_entity entities[CROWD];
    bool alive[CROWD];
    uint32_t count;
} crowd;

static void crowd_create(mica_world *world, crowd *made, uint32_t count)
{
    made->count = count;
    for (uint32_t i = 0; i < count; ++i) {
        made->entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Position, {(float)i, 0, 0}));
        made->alive[i] = true;
    }
}

/* Look-ups of the living are right, those of the dead are empty, and a loop meets each of the living once. */
static void crowd_check(mica_world *world, const crowd *made)
{
    uint32_t living = 0, met = 0;
    bool seen[CROWD] = {false};
    for (uint32_t i = 0; i < made->count; ++i) {
        const Number *number = mica_get(world, made->entities[i], Number);
        ck_assert_msg((number != NULL) == made->alive[i], "look-up of %u", i);
        ck_assert_msg(!number || number->value == i, "look-up of %u gives %u", i, number ? number->value : 0);
        living += made->alive[i];
    }
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        const Number *number = mica_view_read(&view, Number);
        ck_assert_msg(view.count > 0, "a view is never empty");
        for (uint32_t i = 0; i < view.count; ++i, ++met) {
            uint32_t value = number[i].value;
            ck_assert_msg(value < made->count && made->alive[value] && !seen[value], "the loop meets %u wrongly",
                          value);
            ck_assert_msg(mica_same(view.entities[i], made->entities[value]), "the entity column is right for %u",
                          value);
            seen[value] = true;
        }
    }
    ck_assert_msg(met == living, "the loop meets %u of %u", met, living);
    ck_assert_msg(mica_query_count(query) == living, "the count is right");
    mica_query_destroy(query);
    expect_valid(world);
}

START_TEST(destroying_any_row_of_three_keeps_the_others)
{
    for (uint32_t victim = 0; victim < 3; ++victim) {
        mica_world *world = open_world(&heard);
        crowd made;
        crowd_create(world, &made, 3);
        ck_assert_msg(mica_destroy(world, made.entities[victim]), "row %u dies", victim);
        made.alive[victim] = false;
        crowd_check(world, &made);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(destroying_the_last_row_keeps_the_others)
{
    mica_world *world = open_world(&heard);
    crowd made;
    crowd_create(world, &made, 3);
    for (uint32_t victim = 3; victim-- > 0;) {
        ck_assert_msg(mica_destroy(world, made.entities[victim]), "the last row dies");
        made.alive[victim] = false;
        crowd_check(world, &made);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(removing_a_component_from_any_row_keeps_every_look_up_right)
{
    for (uint32_t victim = 0; victim < 3; ++victim) {
        mica_world *world = open_world(&heard);
        crowd made;
        crowd_create(world, &made, 3);
        ck_assert_msg(mica_remove(world, made.entities[victim], Position), "row %u moves out", victim);
        crowd_check(world, &made);
        ck_assert_msg(!mica_has(world, made.entities[victim], Position), "it lost its Position");
        for (uint32_t i = 0; i < 3; ++i)
            if (i != victim)
                ck_assert_msg(mica_get(world, made.entities[i], Position)->x == (float)i, "row %u kept its own", i);
        close_world(world, &heard);
    }
}
END_TEST

/* Orders in which a crowd over many chunks dies: from the front, from the back, odd before even, in a jumbled order. */
static uint32_t victim_at(uint32_t order, uint32_t step, uint32_t count)
{
    switch (order) {
    case 0: return step;
    case 1: return count - 1 - step;
    case 2: return step < count / 2 ? step * 2 + 1 : (step - count / 2) * 2;
    default: return (step * 149 + 7) % count; /* 149 and 400 have no common factor */
    }
}

START_TEST(every_look_up_stays_right_in_whatever_order_rows_go)
{
    for (uint32_t order = 0; order < 4; ++order) {
        mica_world *world = open_world_of_small_chunks(&heard);
        crowd made;
        crowd_create(world, &made, CROWD);
        for (uint32_t step = 0; step < CROWD; ++step) {
            uint32_t victim = victim_at(order, step, CROWD);
            ck_assert_msg(mica_destroy(world, made.entities[victim]), "%u dies in order %u", victim, order);
            made.alive[victim] = false;
            if (step % 16 == 0)
                crowd_check(world, &made);
        }
        crowd_check(world, &made);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(an_emptied_first_chunk_does_not_stop_iteration)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    crowd made;
    crowd_create(world, &made, CROWD);
    ck_assert_msg(mica_world_get_stats(world).chunk_count > 4, "the crowd fills several chunks");
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    mica_view view = mica_query_begin(query);
    ck_assert_msg(mica_view_next(&view), "there is a first chunk");
    mica_entity first_chunk[CROWD];
    uint32_t count = view.count;
    memcpy(first_chunk, view.entities, count * sizeof *first_chunk);
    for (uint32_t i = 0; i < count; ++i) {
        made.alive[mica_get(world, first_chunk[i], Number)->value] = false;
        mica_destroy(world, first_chunk[i]);
    }
    crowd_check(world, &made);
    close_world(world, &heard);
}
END_TEST

START_TEST(an_emptied_archetype_does_not_stop_iteration)
{
    mica_world *world = open_world(&heard);
    mica_entity lone = mica_create(world, MICA_WITH(Number, {1}), MICA_WITH(Frozen));
    mica_create(world, MICA_WITH(Number, {2}), MICA_WITH(Enemy));
    mica_destroy(world, lone);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    mica_view view = mica_query_begin(query);
    ck_assert_msg(mica_view_next(&view) && mica_view_read(&view, Number)->value == 2, "the second archetype is met");
    ck_assert_msg(!mica_view_next(&view), "and nothing else");
    close_world(world, &heard);
}
END_TEST

START_TEST(columns_start_on_a_cache_line_at_the_start_of_a_chunk)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    for (int i = 0; i < 100; ++i)
        mica_create(world, MICA_WITH(Letter, {'a'}), MICA_WITH(Color, {1, 2, 3}), MICA_WITH(Position),
                    MICA_WITH(Matrix), MICA_WITH(Monster));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Letter), MICA_READ(Color), MICA_READ(Position),
                                                            MICA_READ(Matrix), MICA_WRITE(Monster)));
    uint32_t rows = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); rows += view.count) {
        if (view.private_.row != 0)
            continue;
        ck_assert_msg((uintptr_t)view.entities % 64 == 0, "the entity column starts on a cache line");
        for (uint32_t term = 0; term < 5; ++term)
            ck_assert_msg((uintptr_t)mica_view_read_at(&view, term) % 64 == 0, "column %u starts on a cache line",
                          term);
    }
    ck_assert_msg(rows == 100, "every row was met: %u", rows);
    close_world(world, &heard);
}
END_TEST

START_TEST(an_over_aligned_component_is_aligned_in_every_row)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_entity entities[50];
    for (int i = 0; i < 50; ++i)
        entities[i] = mica_create(world, MICA_WITH(Letter, {'a'}), MICA_WITH(Matrix, {{(float)i}}));
    for (int i = 0; i < 50; i += 2)
        mica_set(world, entities[i], Color, {1, 2, 3});
    for (int i = 0; i < 50; ++i) {
        const Matrix *matrix = mica_get(world, entities[i], Matrix);
        ck_assert_msg((uintptr_t)matrix % 64 == 0, "the matrix of %d is on a cache line", i);
        ck_assert_msg(matrix->cells[0] == (float)i, "the matrix of %d is its own", i);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(any_alignment_up_to_a_page_is_kept)
{
    static const mica_field field = {.name = "value", .element_bytes = 4, .count = 1, .kind = MICA_KIND_U32};
    mica_world *world = open_world(&heard);
    for (uint32_t alignment = 1; alignment <= MICA_COMPONENT_ALIGNMENT_MAX; alignment *= 2) {
        char name[16];
        snprintf(name, sizeof name, "Aligned%u", alignment);
        const mica_type type = {.name = name,
                                .fields = &field,
                                .field_count = 1,
                                .size_bytes = alignment < 4 ? 4 : alignment,
                                .alignment = alignment,
                                .kind = MICA_KIND_STRUCT};
        mica_component component = mica_component_define(world, &type);
        ck_assert_msg(component != 0, "an alignment of %u is fine", alignment);
        mica_entity entity = mica_nil();
        for (uint32_t i = 0; i < 40; ++i) {
            entity = mica_create(world, MICA_WITH(Letter), {component, 0, NULL});
            const void *value = mica_get_id(world, entity, component);
            ck_assert_msg(value && (uintptr_t)value % alignment == 0, "row %u is aligned to %u", i, alignment);
        }
        mica_defer(world);
        mica_add(world, entity, Color);
        void *staged = mica_add_id(world, entity, component);
        ck_assert_msg(staged && (uintptr_t)staged % alignment == 0, "a staged value is aligned to %u", alignment);
        mica_flush(world);
        ck_assert_msg((uintptr_t)mica_get_id(world, entity, component) % alignment == 0, "also after a move");
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(a_component_of_a_mebibyte_works)
{
    enum { LARGE = 1 << 20 };
    static const mica_field field = {.name = "bytes", .element_bytes = 1, .count = LARGE, .kind = MICA_KIND_U8};
    static uint8_t pattern[LARGE];
    const mica_type type = {.name = "Mebibyte",
                            .fields = &field,
                            .field_count = 1,
                            .size_bytes = LARGE,
                            .alignment = 1,
                            .kind = MICA_KIND_STRUCT};
    mica_world *world = open_world(&heard);
    mica_component large = mica_component_define(world, &type);
    ck_assert_msg(large != 0, "it is defined");
    mica_entity entities[3];
    for (uint32_t i = 0; i < 3; ++i) {
        memset(pattern, (int)i + 1, sizeof pattern);
        entities[i] = mica_create(world, {large, LARGE, pattern}, MICA_WITH(Number, {i}));
        ck_assert_msg(!mica_is_nil(entities[i]), "number %u is created", i);
    }
    mica_destroy(world, entities[0]);
    mica_set(world, entities[1], Mass, {1});
    for (uint32_t i = 1; i < 3; ++i) {
        const uint8_t *bytes = mica_get_id(world, entities[i], large);
        ck_assert_msg(bytes[0] == i + 1 && bytes[LARGE - 1] == i + 1, "number %u is whole", i);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(trim_gives_memory_back)
{
    enum { MANY = 100000 };
    static mica_entity entities[MANY];
    mica_world *world = open_world(&heard);
    const mica_value columns[] = {MICA_WITH(Position), MICA_WITH(Velocity), MICA_WITH(Matrix)};
    ck_assert_msg(mica_create_many(world, MANY, columns, 3, entities) == MICA_OK, "many are made");
    size_t full = mica_world_get_stats(world).memory_bytes;
    ck_assert_msg(full > (size_t)MANY * sizeof(Matrix), "they take memory");
    ck_assert_msg(mica_destroy_many(world, entities, MANY) == MANY, "all die");
    size_t before = mica_world_get_stats(world).memory_bytes;
    size_t given = mica_world_trim(world);
    size_t after = mica_world_get_stats(world).memory_bytes;
    ck_assert_msg(before - after == given, "trim says how much it gave: %zu of %zu to %zu", given, before, after);
    ck_assert_msg(after < full / 4, "most of it went back: %zu of %zu is left", after, full);
    ck_assert_msg(mica_world_get_stats(world).chunk_bytes == 0, "no chunk holds a row");
    expect_valid(world);
    mica_entity again = mica_create(world, MICA_WITH(Matrix, {{5}}));
    ck_assert_msg(mica_get(world, again, Matrix)->cells[0] == 5, "and the world works on");
    for (uint32_t i = 0; i < MANY; i += 997)
        ck_assert_msg(!mica_is_alive(world, entities[i]), "the dead stay dead after a trim");
    close_world(world, &heard);
}
END_TEST

START_TEST(trim_keeps_what_lives)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    crowd made;
    crowd_create(world, &made, CROWD);
    for (uint32_t i = 0; i < CROWD; ++i)
        if (i % 10 != 3) {
            mica_destroy(world, made.entities[i]);
            made.alive[i] = false;
        }
    uint64_t before = mica_world_hash(world);
    mica_world_trim(world);
    ck_assert_msg(mica_world_hash(world) == before, "a trim can't be observed");
    crowd_check(world, &made);
    close_world(world, &heard);
}
END_TEST

START_TEST(chunks_grow_with_their_archetype)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < 50000; ++i)
        mica_create(world, MICA_WITH(Position), MICA_WITH(Velocity));
    uint32_t chunks = mica_world_get_stats(world).chunk_count;
    ck_assert_msg(chunks >= 2 && chunks < 16, "1.6 MB lie in few chunks that double: %u", chunks);
    close_world(world, &heard);
}
END_TEST

START_TEST(thousands_of_small_archetypes_stay_cheap)
{
    enum { TAGS = 12, SETS = 1 << TAGS };
    mica_component tags[TAGS];
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < TAGS; ++i) {
        char name[16];
        snprintf(name, sizeof name, "Mark%u", i);
        const mica_type type = {.name = name, .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
        tags[i] = mica_component_define(world, &type);
    }
    size_t empty = mica_world_get_stats(world).memory_bytes;
    for (uint32_t set = 0; set < SETS; ++set) {
        mica_value values[TAGS + 1] = {MICA_WITH(Position)};
        uint32_t count = 1;
        for (uint32_t i = 0; i < TAGS; ++i)
            if (set >> i & 1)
                values[count++] = (mica_value){tags[i], 0, NULL};
        mica_create_id(world, values, count);
    }
    ck_assert_msg(mica_world_get_stats(world).archetype_count >= SETS, "each set is an archetype");
    size_t each = (mica_world_get_stats(world).memory_bytes - empty) / SETS;
    ck_assert_msg(each < 5120, "an archetype with one entity takes %zu bytes", each);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Position)));
    ck_assert_msg(mica_query_count(query) == SETS, "one query meets them all");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_sealed_world_refuses_new_archetypes)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position, {1, 2, 3}));
    mica_destroy(world, mica_create(world, MICA_WITH(Position), MICA_WITH(Velocity)));
    mica_world_seal(world, true);
    uint64_t before = mica_world_hash(world);
    ck_assert_msg(mica_add(world, entity, Mass) == NULL, "a new set is refused");
    expect_report(&heard, MICA_ERROR_REFUSED, "seal");
    ck_assert_msg(mica_is_nil(mica_create(world, MICA_WITH(Velocity))), "at creation too");
    expect_report(&heard, MICA_ERROR_REFUSED, "seal");
    ck_assert_msg(mica_world_hash(world) == before, "nothing has changed");
    ck_assert_msg(mica_add(world, entity, Velocity) != NULL, "a set that exists is fine");
    ck_assert_msg(mica_get(world, entity, Position)->y == 2, "and keeps the values");
    mica_world_seal(world, false);
    ck_assert_msg(mica_add(world, entity, Mass) != NULL, "an opened world makes archetypes again");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_sealed_world_knows_a_set_in_any_order)
{
    mica_world *world = open_world(&heard);
    mica_destroy(world, mica_create(world, MICA_WITH(Position), MICA_WITH(Velocity), MICA_WITH(Frozen)));
    mica_world_seal(world, true);
    mica_entity entity = mica_create(world, MICA_WITH(Frozen), MICA_WITH(Velocity, {1, 2, 3}), MICA_WITH(Position));
    ck_assert_msg(mica_is_alive(world, entity), "the set exists, whatever the order and the sets on the way to it");
    ck_assert_msg(mica_get(world, entity, Velocity)->z == 3, "and the values are right");
    mica_entity twin = mica_clone(world, entity);
    ck_assert_msg(mica_has(world, twin, Frozen), "a clone needs no new set either");
    close_world(world, &heard);
}
END_TEST

START_TEST(entities_without_data_fill_their_chunks)
{
    enum { MANY = 400000 };
    for (int in_bulk = 0; in_bulk < 2; ++in_bulk) {
        mica_world *world = open_world(&heard);
        if (in_bulk)
            mica_create_many(world, MANY, &(const mica_value)MICA_WITH(Frozen), 1, NULL);
        for (uint32_t i = 0; !in_bulk && i < MANY; ++i)
            mica_create(world, MICA_WITH(Frozen));
        size_t each = mica_world_get_stats(world).chunk_bytes / MANY;
        ck_assert_msg(each < 2 * sizeof(mica_entity), "a row of a handle takes %zu bytes", each);
        close_world(world, &heard);
    }
}
END_TEST

TEST_SUITE(chunk, destroying_any_row_of_three_keeps_the_others, destroying_the_last_row_keeps_the_others,
           removing_a_component_from_any_row_keeps_every_look_up_right,
           every_look_up_stays_right_in_whatever_order_rows_go, an_emptied_first_chunk_does_not_stop_iteration,
           an_emptied_archetype_does_not_stop_iteration, columns_start_on_a_cache_line_at_the_start_of_a_chunk,
           an_over_aligned_component_is_aligned_in_every_row, any_alignment_up_to_a_page_is_kept,
           a_component_of_a_mebibyte_works, trim_gives_memory_back, trim_keeps_what_lives,
           chunks_grow_with_their_archetype, thousands_of_small_archetypes_stay_cheap,
           a_sealed_world_refuses_new_archetypes, a_sealed_world_knows_a_set_in_any_order,
           entities_without_data_fill_their_chunks)
