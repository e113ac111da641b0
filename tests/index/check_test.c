/* Validation names every broken invariant of an index. */
#include "../support/components.h"
#include "../support/damage.h"
#include "../support/test.h"

#include "index/world_index.h"

/* The slot of a value that is there. */
static mica_private_slot *slot_of(const micap_key_table *table, uint32_t value)
{
    for (uint32_t i = 0; i <= table->mask; ++i)
        if (table->narrow[i].generation && table->narrow[i].key == value)
            return &table->narrow[i];
    return NULL;
}

START_TEST(damaged_entries_of_a_field_are_named)
{
    reports heard;
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < 300; ++i)
        mica_create(world, MICA_WITH(Number, {i / 2}));
    mica_index *index =
        mica_index_create(world, &(mica_index_def){.component = MICA_ID(Number), .fields = "value", .hashed = true});
    ck_assert(mica_index_update(index) == MICA_OK);
    micap_sorted_keys *keys = &index->keys;
    micap_key_entry *entries = keys->blocks[1]->entries;
    const damage list[] = {
        DAMAGE(keys->blocks[0]->count, 0, "a block of an index is empty"),
        DAMAGE(keys->blocks[0]->count, MICAP_KEY_BLOCK + 1, "a block of an index is empty, too full"),
        DAMAGE(keys->firsts[1].id, 1, "not the one in the directory"),
        DAMAGE(entries[3].key, 0, "are not sorted"),
        DAMAGE(slot_of(&keys->table, (uint32_t)entries[2].key)->index, 77, "another entity for a value"),
        DAMAGE(keys->count, keys->count + 1, "counts of an index are wrong"),
        DAMAGE(keys->equal_count, 0, "counts of an index are wrong"),
        DAMAGE(keys->table.count, 0, "counts of an index are wrong"),
    };
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    close_world(world, &heard);
}
END_TEST

START_TEST(damaged_entries_of_a_grid_are_named)
{
    reports heard;
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < 300; ++i)
        mica_create(world, MICA_WITH(Position, {(float)(i % 10), (float)(i / 30), 0}));
    mica_index *index = mica_index_create(
        world,
        &(mica_index_def){.component = MICA_ID(Position), .fields = "x, y", .cell_size = 2, .maximum = {10, 10}});
    ck_assert(mica_index_update(index) == MICA_OK);
    micap_grid *grid = &index->grid;
    micap_grid_entry *entries = grid->entries + grid->cells[3].start;
    const damage list[] = {
        DAMAGE(grid->cells[3].capacity, 0, "more entries than room"),
        DAMAGE(grid->cells[3].capacity, 100000, "more entries than room"),
        DAMAGE(grid->cells[4].start, 1, "does not follow the one before"),
        DAMAGE(entries[1].entity.index, 0, "are not sorted"),
        DAMAGE(entries[1].at[0], 0, "in the wrong cell"),
        DAMAGE(grid->count, 1, "count of a grid is wrong"),
    };
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    close_world(world, &heard);
}
END_TEST

typedef struct Note {
    mica_text words;
} Note;
MICA_COMPONENT(Note, words)

START_TEST(damaged_texts_of_an_index_are_named)
{
    reports heard;
    mica_world *world = open_world(&heard);
    const char *const words[] = {"anna", "berta", "clara"};
    for (uint32_t i = 0; i < COUNT_OF(words); ++i)
        mica_create(world, MICA_WITH(Note, {mica_text_of(words[i])}));
    mica_index *index = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Note), .fields = "words"});
    ck_assert(mica_index_update(index) == MICA_OK);
    micap_text_entry **sorted = index->texts.sorted;
    const damage list[] = {
        DAMAGE(sorted[1]->text[0], 'A', "texts are not in order"),
        DAMAGE(sorted[1]->word, 1, "texts are not in order"),
        DAMAGE(sorted[2]->hash, 1, "a text is not found"),
    };
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(index_check, damaged_texts_of_an_index_are_named, damaged_entries_of_a_field_are_named,
           damaged_entries_of_a_grid_are_named)
