/* Breaks every invariant of a world once, from the inside, and expects that the validator finds it. */
#include "support/components.h"
#include "support/damage.h"
#include "support/test.h"

#include "core/storage/rows.h"
#include "core/query/query.h"
#include "core/world/world.h"
#include "mica/snapshot.h"

static reports heard;

/* Full chunks, followed by an empty one. */
static micap_archetype *fill_chunks(mica_world *world)
{
    mica_entity first = mica_create(world, MICA_WITH(Number, {0}), MICA_WITH(Health, {1, 1}), MICA_WITH(Frozen));
    micap_archetype *archetype = micap_locate(world, first).chunk->archetype;
    mica_entity last;
    do
        last = mica_create(world, MICA_WITH(Number, {0}), MICA_WITH(Health, {1, 1}), MICA_WITH(Frozen));
    while (archetype->chunk_count < 4);
    ck_assert(mica_destroy(world, last));
    ck_assert_uint_eq(archetype->tail, 2);
    ck_assert_uint_eq(archetype->chunks[3]->count, 0);
    return archetype;
}

START_TEST(damage_to_chunks_is_named)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    micap_archetype *archetype = fill_chunks(world);
    micap_chunk *first = archetype->chunks[0], *tail = archetype->chunks[2], *spare = archetype->chunks[3];
    mica_entity *entities = micap_chunk_entities(first);
    uint32_t toggles = 0;
    while (archetype->columns[toggles].companion != MICAP_COMPANION_ENABLED)
        ++toggles;
    static uint64_t other_page[MICAP_PAGE_RECORDS];
    const damage list[] = {
        DAMAGE(first->archetype, (uintptr_t)world->archetypes.by_id[0], "a chunk is in its archetype and in the table"),
        DAMAGE(first->number, tail->number, "a chunk is in its archetype and in the table"),
        DAMAGE(tail->count, tail->capacity + 1, "a chunk holds no more than it can"),
        DAMAGE(tail->capacity, MICAP_CHUNK_ROWS_MAX + 1, "a chunk holds no more than it can"),
        DAMAGE(tail->capacity, MICAP_CHUNK_ROWS_MAX, "the last column ends within the block"),
        DAMAGE(tail->order, tail->order - 1, "the last column ends within the block"),
        DAMAGE(first->count, first->count - 1, "chunks before the tail are full"),
        DAMAGE(spare->count, 1, "chunks after the tail are empty"),
        DAMAGE(world->lookup.record_count, 0, "inline look-ups read the records"),
        DAMAGE(world->chunks.list_count, world->chunks.list_count + 1, "the lists of the column table are counted"),
        DAMAGE(world->entities.pages[0].records, (uintptr_t)other_page, "inline look-ups read the records"),
        DAMAGE(world->lookup.columns[archetype->columns[0].component][tail->number], 0,
               "the column table has the columns of a chunk"),
        DAMAGE(micap_chunk_stamps(first, 0)[0], micap_version(world) + 1, "a stamp is not newer than the world"),
        DAMAGE(micap_chunk_stamps(tail, 0)[1], micap_version(world) + 1, "a stamp is not newer than the world"),
        DAMAGE(entities[0].index, entities[1].index, "a row's entity has a record that names the row"),
        DAMAGE(entities[0].index, micap_chunk_entities(tail)[0].index,
               "a row's entity has a record that names the row"),
        DAMAGE(entities[0].generation, 2, "a row's entity has a record that names the row"),
        DAMAGE(*(uint8_t *)micap_chunk_value(tail, toggles, 1), 2, "a toggle is 0 or 1"),
        DAMAGE(archetype->row_count, archetype->row_count + 1, "an archetype counts its rows"),
        DAMAGE(archetype->tail, 3, "the tail is the last chunk with rows"),
        DAMAGE(world->archetypes.by_id[0]->tail, 1, "the tail is the last chunk with rows"),
        DAMAGE(archetype->incoming, 1, "nothing is awaited between operations"),
    };
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    close_world(world, &heard);
}
END_TEST

typedef struct Vigour {
    uint32_t value;
} Vigour;
MICA_COMPONENT_WITH(Vigour, (.track_changed = true), value)

START_TEST(damage_to_the_versions_of_rows_is_named)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Vigour, {1}));
    mica_world_mark(world);
    micap_chunk *chunk = micap_locate(world, entity).chunk;
    uint32_t column = micap_archetype_column(chunk->archetype, MICA_ID(Vigour));
    uint32_t changed = chunk->archetype->columns[column].changed;
    mica_version *versions = micap_chunk_column(chunk, changed), *stamps = micap_chunk_stamps(chunk, 0);
    const damage list[] = {
        DAMAGE(versions[0], micap_version(world) + 1, "no component was added or written after now"),
        DAMAGE(versions[0], micap_version(world), "a row that was written lies in a slice that was"),
        DAMAGE(stamps[1 + column], 0, "stamps say which columns are tracked"),
        DAMAGE(stamps[1 + changed], MICAP_STAMP_TRACKED, "stamps say which columns are tracked"),
    };
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    close_world(world, &heard);
}
END_TEST

static uint32_t *slot_of(micap_archetype *archetype, mica_component component)
{
    for (uint32_t at = component;; ++at)
        if (archetype->slots[at & archetype->slot_mask] >> 16 == component)
            return &archetype->slots[at & archetype->slot_mask];
}

START_TEST(damage_to_the_sets_of_archetypes_is_named)
{
    mica_world *world = open_world(&heard);
    micap_archetype *archetype = fill_chunks(world);
    mica_create(world, MICA_WITH(Number, {1}));
    mica_component unknown = world->components.limit, number = MICA_ID(Number), tag = MICA_ID(Frozen);
    micap_component *listing = micap_component_of(&world->components, number);
    ck_assert_uint_eq(listing->archetype_count, 2);
    const damage list[] = {
        DAMAGE(archetype->components[1], archetype->components[0], "the components of an archetype rise"),
        DAMAGE(archetype->components[archetype->component_count - 1], unknown, "a component is found at its column"),
        DAMAGE(*slot_of(archetype, number), number << 16 | (archetype->column_count + 1),
               "a component is found at its column"),
        DAMAGE(*slot_of(archetype, tag), tag << 16, "a component is found at its column"),
        DAMAGE(listing->archetype_count, 0, "a component lists its archetypes"),
        DAMAGE(listing->archetypes[0], (uintptr_t)listing->archetypes[1], "a component lists its archetypes"),
        DAMAGE(archetype->column_count, archetype->column_count - 1, "an archetype counts its columns"),
    };
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    close_world(world, &heard);
}
END_TEST

START_TEST(damage_to_queries_is_named)
{
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(Number, {1}));
    mica_create(world, MICA_WITH(Number, {2}), MICA_WITH(Frozen));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    ck_assert_uint_eq(query->match_count, 2);
    for (uint32_t loop = 0; loop < 2; ++loop) {
        mica_view view = mica_query_begin(query);
        ck_assert(mica_view_next(&view));
    }
    micap_listed_chunk *first = (void *)query->chunk_list.entries;
    const char *listed = "the list of a query has its chunks";
    const char *in_order = "a query knows its archetypes, in order";
    const damage list[] = {
        DAMAGE(query->match_count, 1, in_order),
        DAMAGE(query->archetypes[0], (uintptr_t)query->archetypes[1], in_order),
        DAMAGE(query->match_count, 3, "a query knows no other archetypes"),
        DAMAGE(query->index, 1, "a query knows no other archetypes"),
        DAMAGE(query->chunk_list.count, 1, listed),
        DAMAGE(query->chunk_list.count, 3, listed),
        DAMAGE(first->match, 1, listed),
        DAMAGE(first->chunk, (uintptr_t)world->chunks.by_number[0], listed),
    };
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    close_world(world, &heard);
}
END_TEST

START_TEST(damage_to_handles_is_named)
{
    mica_world *world = open_world(&heard);
    mica_entity alive = mica_create(world), dead = mica_create(world);
    mica_destroy(world, dead);
    mica_commands *commands = mica_commands_create(world);
    mica_entity pending = mica_command_create_id(commands, NULL, 0, MICA_HERE);
    micap_entities *entities = &world->entities;
    ck_assert_uint_eq(entities->first_page, 1);
    uint64_t *free_record = micap_record_at(entities, dead.index);
    const damage list[] = {
        DAMAGE(*free_record, micap_record_pack(dead.generation, 2, 0), "every living entity has a row"),
        DAMAGE(*free_record, micap_record_pack(dead.generation, MICAP_CHUNK_PENDING, 0),
               "a pending handle is of one recorded creation"),
        DAMAGE(*micap_record_at(entities, pending.index), 0, "a pending handle is of one recorded creation"),
        DAMAGE(commands->stock_count, commands->stock_count - 1, "a dead slot is free, or reserved by one buffer"),
        DAMAGE(*micap_record_at(entities, (uint32_t)entities->fresh_next), 1,
               "an index that was never used has an empty record"),
        DAMAGE(entities->fresh_next, entities->fresh_end + 1, "fresh indices begin where they were given out"),
        DAMAGE(entities->fresh_next, 0, "fresh indices begin where they were given out"),
        DAMAGE(entities->pages[0].first_free, alive.index, "a slot on a free list is free"),
        DAMAGE(entities->pages[0].first_free, MICAP_SLOT_END, "a page on the list has free slots"),
        DAMAGE(entities->free_count, entities->free_count + 1, "free slots are counted"),
        DAMAGE(world->def.handle_space, 5, "a slot has the handle space of its world"),
        /* a list that bites its tail must not be walked for ever */
        DAMAGE(*free_record, micap_record_pack(dead.generation, MICAP_CHUNK_NONE, dead.index),
               "free slots are counted"),
    };
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    mica_commands_destroy(commands);
    close_world(world, &heard);
}
END_TEST

START_TEST(damage_to_names_is_named)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world);
    mica_name_set(world, entity, mica_nil(), "one");
    micap_names *names = &world->names;
    uint32_t text = 0, owner = 0;
    while (!names->by_text[text])
        ++text;
    while (!names->by_entity[owner])
        ++owner;
    const char *both_ways = "names are found both ways";
    const damage list[] = {
        DAMAGE(names->by_text[text], 0, both_ways),
        DAMAGE(names->by_entity[owner], 0, both_ways),
        DAMAGE(names->entries[0].entity.generation, entity.generation + 1, both_ways),
        DAMAGE(names->count, 2, both_ways),
    };
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    close_world(world, &heard);
}
END_TEST

typedef struct Cold {
    uint32_t degrees;
} Cold;
MICA_POOL(Cold, degrees)

START_TEST(what_a_snapshot_should_have_kept_is_named)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}), MICA_WITH(Cold, {2}));
    mica_snapshot before = mica_snapshot_take(world);
    const micap_chunk *chunk = micap_locate(world, entity).chunk;
    const mica_pool *pool = mica_pool_of(world, Cold);
    const damage list[] = {
        DAMAGE(micap_chunk_stamps(chunk, 0)[0], micap_version(world), "rows that moved since a snapshot are kept"),
        DAMAGE(micap_chunk_stamps(chunk, 0)[1], micap_version(world),
               "values that were written since a snapshot are kept"),
        DAMAGE(micap_pool_stamps(pool, 0)[1], micap_version(world),
               "rows of a pool that changed since a snapshot are kept"),
    };
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    mica_snapshot_drop(world, before);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(validate, damage_to_chunks_is_named, damage_to_the_versions_of_rows_is_named,
           damage_to_the_sets_of_archetypes_is_named, damage_to_queries_is_named, damage_to_handles_is_named,
           damage_to_names_is_named, what_a_snapshot_should_have_kept_is_named)
