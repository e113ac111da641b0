/* Text and lists in files: saved, loaded, spawned many times, reloaded, with references, and damaged. */
#include "support/faulty_allocator.h"
#include "support/level.h"
#include "support/people.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/require.h"
#include "support/find_section.h"
#include "support/reseal.h"
#include "support/test.h"
#include "support/test_length.h"

#include "base/block_heap.h"
#include "mica/draft.h"
#include "mica/hash.h"
#include "mica/library.h"
#include "mica/reload.h"

#include <stdio.h>
#include <string.h>

static const char long_one[] = "a text that is longer than what lies in place";

static reports heard;

typedef struct Frame { mica_text name; mica_asset image; mica_entity of; } Frame;
MICA_STRUCT(Frame, name, image, of)
typedef struct Picture { mica_list images; mica_text path; mica_list frames; } Picture;
MICA_COMPONENT(Picture, (images, mica_asset), path, (frames, Frame))

static void define_people(mica_world *world)
{
    mica_define(world, Person);
    mica_define(world, Diary);
    mica_define(world, Letters);
    mica_define(world, Archive);
    mica_define(world, Picture);
}

static void give_thing(mica_list *things, uint32_t number)
{
    Thing *thing = mica_list_append(things, Thing);
    thing->count = number;
    mica_text_set(&thing->name, number % 2 ? long_one : "short");
    mica_list_add(&thing->tags, mica_text, mica_text_of(long_one), mica_text_of("red"), mica_text_of(""));
}

/* People that know each other, and an entity that is not alive any more. */
static void create_people(mica_world *world, uint32_t count)
{
    mica_entity dead = mica_create(world), friend = mica_nil();
    mica_destroy(world, dead);
    for (uint32_t i = 0; i < count; ++i) {
        mica_entity entity =
            mica_create(world, MICA_WITH(Person, {.name = mica_text_of(i % 3 ? "short" : long_one), .age = (float)i}));
        Person *person = mica_write(world, entity, Person);
        for (uint32_t k = 0; k < i % 4; ++k)
            give_thing(&person->inventory, i + k);
        mica_list_add(&person->scores, float, (float)i, -1.5f);
        mica_list_add(&person->friends, mica_entity, friend, dead, entity);
        mica_text_set(&person->titles[1], long_one);
        mica_list_add(&person->moods[i % 2], Mood, MOOD_ANGRY, MOOD_CALM);
        friend = entity;
        if (i % 2) {
            mica_set(world, entity, Diary, {.title = mica_text_of(long_one)});
            mica_list_add(&mica_write(world, entity, Diary)->pages, mica_text, mica_text_of("one"),
                          mica_text_of(long_one));
        }
        mica_pool *pool = mica_pool_of(world, Letters);
        for (uint32_t k = 0; k < i % 3; ++k) {
            Letters *letters = mica_instance_write(pool, mica_pool_add(pool, entity), Letters);
            mica_text_set(&letters->to, k ? long_one : "you");
            mica_list_add(&letters->numbers, uint16_t, (uint16_t)i, 0xFFFE);
        }
    }
    Archive *archive = mica_singleton_write(world, Archive);
    mica_text_set(&archive->path, long_one);
    give_thing(&archive->things, 3);
}

static mica_world *people(uint32_t count)
{
    mica_world *world = open_world(&heard);
    define_people(world);
    create_people(world, count);
    return world;
}

static mica_resource *open_blob(const mica_blob *blob)
{
    mica_resource_error error;
    mica_resource *resource =
        mica_resource_open(blob->bytes, blob->byte_count, &(mica_resource_def){.any_byte_order = true}, &error);
    REQUIRE_SAYING(resource, "%s", error.text);
    return resource;
}

static const mica_save_def forms[] = {
    {.compression = 0},
    {.byte_order = MICA_BYTE_ORDER_BIG},
    {.byte_order = MICA_BYTE_ORDER_LITTLE, .compression = 3},
};

START_TEST(a_loaded_world_has_the_same_text_and_lists)
{
    for (uint32_t form = 0; form < COUNT_OF(forms); ++form) {
        mica_world *world = people(50);
        uint64_t hash = mica_world_hash(world);
        mica_blob blob;
        REQUIRE(mica_pack(world, &forms[form], &blob) == MICA_OK);
        close_world(world, &heard);
        mica_resource *resource = open_blob(&blob);
        ck_assert_int_eq(mica_resource_get_info(resource).version_minor, 2);
        mica_world *other = open_world(&heard);
        define_people(other);
        ck_assert_int_eq(mica_spawn(other, resource, NULL), MICA_OK);
        ck_assert_uint_eq(mica_world_hash(other), hash);
        mica_blob again;
        REQUIRE(mica_pack(other, &forms[form], &again) == MICA_OK);
        ck_assert(again.byte_count == blob.byte_count && memcmp(again.bytes, blob.bytes, blob.byte_count) == 0);
        mica_resource_free(resource);
        close_world(other, &heard);
        mica_blob_free(&blob);
        mica_blob_free(&again);
    }
}
END_TEST

START_TEST(a_file_on_disk_has_them_too)
{
    mica_world *world = people(7);
    REQUIRE(mica_save(world, scratch("people.mica"), NULL) == MICA_OK);
    mica_resource *resource = mica_resource_load(scratch("people.mica"), NULL, NULL);
    REQUIRE(resource);
    uint32_t count;
    const Diary *diaries = mica_resource_values(resource, Diary, &count);
    ck_assert_uint_eq(count, 3);
    ck_assert(mica_text_is(&diaries[2].title, long_one) && mica_list_count(&diaries[2].pages) == 2);
    mica_resource_free(resource);
    close_world(world, &heard);
}
END_TEST

START_TEST(each_copy_refers_to_its_own_entities)
{
    enum { COPIES = 40, PEOPLE = 5 };
    mica_world *world = people(PEOPLE);
    mica_blob blob;
    REQUIRE(mica_pack(world, &(mica_save_def){.skip_state = true}, &blob) == MICA_OK);
    mica_resource *resource = open_blob(&blob);
    mica_entity entities[COPIES * PEOPLE];
    mica_spawn_def def = {.copies = COPIES, .out_entities = entities, .out_capacity = COUNT_OF(entities)};
    ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_OK);
    for (uint32_t copy = 0; copy < COPIES; ++copy)
        for (uint32_t i = 0; i < PEOPLE; ++i) {
            const Person *person = mica_get(world, entities[copy * PEOPLE + i], Person);
            const mica_entity *friends = mica_list_items(&person->friends, mica_entity);
            ck_assert(mica_same(friends[2], entities[copy * PEOPLE + i]) && mica_is_nil(friends[1]));
            if (!mica_is_nil(friends[0]))
                ck_assert_float_eq(mica_get(world, friends[0], Person)->age, person->age - 1);
        }
    mica_write(world, entities[0], Person)->age = 99;
    mica_text_append(&mica_write(world, entities[0], Person)->titles[1], "!");
    ck_assert(mica_text_is(&mica_get(world, entities[PEOPLE], Person)->titles[1], long_one));
    mica_resource_free(resource);
    mica_blob_free(&blob);
    close_world(world, &heard);
}
END_TEST

/* A rule whose recipe has text, for a component that has none. */
typedef struct Named { mica_text name; } Named;
MICA_STRUCT(Named, name)

static bool save_named(const mica_world *world, mica_entity entity, const void *value, void *out, void *context)
{
    (void)world, (void)entity, (void)context;
    char text[64];
    snprintf(text, sizeof text, "a number that is called %u", ((const Number *)value)->value);
    return mica_text_set(&((Named *)out)->name, text) == MICA_OK;
}

static bool spawn_named(const mica_spawn_run *run, void *context)
{
    (void)context;
    const Named *names = run->instances;
    for (uint32_t i = 0; i < run->count; ++i)
        ((Number *)run->values)[i].value = (uint32_t)atoi(mica_text_get(&names[i].name) + 24);
    return true;
}

START_TEST(a_rule_writes_text_in_its_recipe)
{
    mica_world *world = open_world(&heard);
    mica_resource_rule rule = {.component = mica_define(world, Number),
                               .recipe = &mica_type_of_Named,
                               .save = save_named,
                               .spawn = spawn_named};
    for (uint32_t i = 0; i < 20; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    mica_blob blob;
    REQUIRE(mica_pack(world, &(mica_save_def){.rules = &rule, .rule_count = 1}, &blob) == MICA_OK);
    uint64_t hash = mica_world_hash(world);
    close_world(world, &heard);
    world = open_world(&heard);
    mica_define(world, Number);
    mica_resource *resource = open_blob(&blob);
    ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.rules = &rule, .rule_count = 1}), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), hash);
    mica_resource_free(resource);
    mica_blob_free(&blob);
    close_world(world, &heard);
}
END_TEST

/* A draft that a program fills in, with assets in a list. */
static mica_blob picture_draft(const char *path, const char *text)
{
    mica_draft *draft = mica_draft_create(NULL);
    uint32_t part = mica_draft_component(draft, &(mica_draft_component_def){.type = &mica_type_of_Picture});
    Picture *picture = mica_draft_add(draft, mica_draft_entity(draft, MICA_NO_PARENT, "picture"), part);
    picture->path = mica_text_of(text);
    mica_list_add(&picture->images, mica_asset, mica_draft_asset(draft, path), {0});
    mica_list_add(&picture->frames, Frame, {mica_text_of(text), mica_draft_asset(draft, path), {0, 1}});
    mica_blob blob;
    REQUIRE(mica_draft_finish(draft, NULL, &blob) == MICA_OK);
    mica_draft_destroy(draft);
    return blob;
}

START_TEST(a_list_refers_to_resources)
{
    mica_blob blob = picture_draft("images/a.mica", long_one);
    mica_resource *resource = open_blob(&blob);
    ck_assert_uint_eq(mica_resource_asset_count(resource), 1);
    mica_world *world = open_world(&heard);
    define_people(world);
    ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
    const Picture *picture = mica_get(world, mica_find(world, "picture"), Picture);
    ck_assert(mica_text_is(&picture->path, long_one) && mica_list_count(&picture->images) == 2);
    const Frame *frame = mica_list_items(&picture->frames, Frame);
    ck_assert(mica_text_is(&frame->name, long_one) && mica_same(frame->of, mica_find(world, "picture")));
    ck_assert_uint_eq(frame->image.path_hash, mica_list_items(&picture->images, mica_asset)[0].path_hash);
    mica_blob other;
    ck_assert_int_eq(mica_pack(world, NULL, &other), MICA_ERROR_UNKNOWN);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "whose path is not known");
    mica_resource_free(resource);
    mica_blob_free(&blob);
    close_world(world, &heard);

    mica_draft *draft = mica_draft_create(NULL);
    uint32_t part = mica_draft_component(draft, &(mica_draft_component_def){.type = &mica_type_of_Picture});
    Picture *wrong = mica_draft_add(draft, mica_draft_entity(draft, MICA_NO_PARENT, NULL), part);
    mica_list_add(&wrong->images, mica_asset, {77});
    ck_assert_int_eq(mica_draft_finish(draft, NULL, &blob), MICA_ERROR_INVALID);
    mica_draft_destroy(draft);
}
END_TEST

START_TEST(a_list_in_a_draft_refers_to_its_entities)
{
    mica_draft *draft = mica_draft_create(NULL);
    uint32_t part = mica_draft_component(draft, &(mica_draft_component_def){.type = &mica_type_of_Person});
    Person *person = mica_draft_add(draft, mica_draft_entity(draft, MICA_NO_PARENT, NULL), part);
    mica_list_add(&person->friends, mica_entity, {7, 1});
    mica_blob blob;
    ck_assert_int_eq(mica_draft_finish(draft, NULL, &blob), MICA_ERROR_INVALID);
    ck_assert_ptr_nonnull(strstr(mica_draft_error(draft)->text, "refers to entity 7"));
    mica_draft_destroy(draft);
    draft = mica_draft_create(NULL);
    part = mica_draft_component(draft, &(mica_draft_component_def){.type = &mica_type_of_Picture});
    Picture *picture = mica_draft_add(draft, mica_draft_entity(draft, MICA_NO_PARENT, NULL), part);
    mica_list_add(&picture->frames, Frame, {.of = {8, 1}});
    ck_assert_int_eq(mica_draft_finish(draft, NULL, &blob), MICA_ERROR_INVALID);
    ck_assert_ptr_nonnull(strstr(mica_draft_error(draft)->text, "refers to entity 8"));
    mica_draft_destroy(draft);
}
END_TEST

/* Two files of one level; the world follows from the first to the second. */
typedef struct two_files {
    mica_blob blobs[2];
    mica_resource *resources[2];
} two_files;

static two_files make_files(void)
{
    two_files files;
    for (uint32_t i = 0; i < 2; ++i) {
        mica_world *world = open_world(&heard);
        define_people(world);
        mica_entity anna = mica_create(world, MICA_WITH(Person, {.name = mica_text_of(i ? "Anna" : long_one)}));
        mica_entity bert = mica_create(world, MICA_WITH(Person, {.name = mica_text_of("Bert")}));
        mica_name_set(world, anna, mica_nil(), "anna");
        mica_name_set(world, bert, mica_nil(), "bert");
        Person *person = mica_write(world, anna, Person);
        for (uint32_t k = 0; k <= i; ++k)
            give_thing(&person->inventory, 5 + k);
        mica_list_add(&person->scores, float, 1, 2);
        mica_list_add(&person->friends, mica_entity, bert, i ? anna : bert);
        person = mica_write(world, bert, Person);
        mica_list_add(&person->scores, float, (float)i);
        give_thing(&person->inventory, 4); /* as in the other file */
        mica_list_add(&person->friends, mica_entity, anna);
        mica_text_set(&person->titles[0], long_one);
        if (i)
            mica_set(world, bert, Diary, {.title = mica_text_of(long_one)});
        mica_pool *pool = mica_pool_of(world, Letters);
        mica_text_set(&mica_instance_write(pool, mica_pool_add(pool, bert), Letters)->to, i ? long_one : "b");
        mica_text_set(&mica_singleton_write(world, Archive)->path, i ? long_one : "before");
        REQUIRE(mica_pack(world, &(mica_save_def){.skip_state = true}, &files.blobs[i]) == MICA_OK);
        close_world(world, &heard);
        files.resources[i] = open_blob(&files.blobs[i]);
    }
    return files;
}

static void free_files(two_files *files)
{
    for (uint32_t i = 0; i < 2; ++i) {
        mica_resource_free(files->resources[i]);
        mica_blob_free(&files->blobs[i]);
    }
}

static void expect_second_file(const mica_world *world, mica_entity anna, mica_entity bert)
{
    const Person *person = mica_get(world, anna, Person);
    ck_assert(mica_text_is(&person->name, "Anna") && mica_list_count(&person->inventory) == 2);
    ck_assert_uint_eq(mica_list_items(&person->inventory, Thing)[1].count, 6);
    ck_assert_uint_eq(mica_list_count(&person->scores), 3); /* as the program left it: the file has not changed it */
    person = mica_get(world, bert, Person);
    ck_assert(mica_text_is(&person->name, "Robert")); /* likewise */
    ck_assert_float_eq(mica_list_items(&person->scores, float)[0], 1);
    ck_assert(mica_text_is(&mica_get(world, bert, Diary)->title, long_one));
}

START_TEST(a_reload_brings_text_and_lists_that_changed)
{
    two_files files = make_files();
    mica_world *world = open_world(&heard);
    define_people(world);
    mica_spawned *spawned = mica_spawn_kept(world, files.resources[0], NULL);
    REQUIRE(spawned);
    mica_entity anna = mica_find(world, "anna"), bert = mica_find(world, "bert");
    mica_list_add(&mica_write(world, anna, Person)->scores, float, 3);
    mica_text_set(&mica_write(world, bert, Person)->name, "Robert");
    mica_reload_stats stats;
    ck_assert_int_eq(mica_reload(spawned, files.resources[1], &stats), MICA_OK);
    expect_second_file(world, anna, bert);
    ck_assert(mica_text_is(&mica_singleton_get(world, Archive)->path, long_one));
    const mica_pool *pool = mica_pool_of(world, Letters);
    ck_assert(mica_text_is(&mica_instance_read(pool, mica_pool_find(pool, bert), Letters)->to, long_one));
    ck_assert_int_eq(mica_reload(spawned, files.resources[0], &stats), MICA_OK);
    ck_assert(mica_text_is(&mica_get(world, anna, Person)->name, long_one));
    ck_assert(!mica_has(world, bert, Diary));
    mica_spawned_free(spawned);
    free_files(&files);
    close_world(world, &heard);
}
END_TEST

/* Blocks for text and lists that run out at every point: an error, and nothing half-done. */
START_TEST(saving_and_loading_fail_cleanly_without_blocks)
{
    mica_world *world = people(6);
    mica_blob blob;
    int64_t k = 0;
    for (mica_result result = MICA_ERROR_MEMORY; result != MICA_OK; ++k) {
        micap_heap_limit(k);
        result = mica_pack(world, NULL, &blob);
        micap_heap_limit(INT64_MAX);
        ck_assert(result == MICA_OK || result == MICA_ERROR_MEMORY);
    }
    forget_reports(&heard);
    uint64_t hash = mica_world_hash(world);
    mica_resource *resource = NULL;
    for (k = 0; !resource; ++k) {
        mica_resource_error error = {0};
        micap_heap_limit(k);
        resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, &error);
        micap_heap_limit(INT64_MAX);
        ck_assert(resource || error.result == MICA_ERROR_MEMORY);
    }
    ck_assert_int_gt(k, 20);
    close_world(world, &heard);
    k = 0;
    for (mica_result result = MICA_ERROR_MEMORY; result != MICA_OK; ++k) {
        world = open_world(&heard);
        define_people(world);
        micap_heap_limit(k);
        result = mica_spawn(world, resource, NULL);
        micap_heap_limit(INT64_MAX);
        ck_assert(result == MICA_OK || result == MICA_ERROR_MEMORY);
        ck_assert_uint_eq((uint32_t)mica_world_get_stats(world).entity_count, result == MICA_OK ? 6 : 0);
        ck_assert(result != MICA_OK || mica_world_hash(world) == hash);
        forget_reports(&heard);
        close_world(world, &heard);
    }
    ck_assert_int_gt(k, 3); /* lists with references are not shared */
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

/* Makes every list of the files unshareable for the world: what a reload copies takes blocks. */
START_TEST(a_reload_fails_cleanly_without_blocks)
{
    two_files files = make_files();
    for (int64_t k = 0, done = 0; !done; ++k) {
        mica_world *world = open_world(&heard);
        define_people(world);
        mica_spawned *spawned = mica_spawn_kept(world, files.resources[0], NULL);
        mica_entity anna = mica_find(world, "anna"), bert = mica_find(world, "bert");
        mica_list_add(&mica_write(world, anna, Person)->scores, float, 3);
        mica_text_set(&mica_write(world, bert, Person)->name, "Robert");
        uint64_t hash = mica_world_hash(world);
        micap_heap_limit(k);
        mica_result result = mica_reload(spawned, files.resources[1], NULL);
        micap_heap_limit(INT64_MAX);
        done = result == MICA_OK;
        ck_assert(done || (result == MICA_ERROR_MEMORY && mica_world_hash(world) == hash));
        if (done)
            expect_second_file(world, anna, bert);
        mica_spawned_free(spawned);
        forget_reports(&heard);
        close_world(world, &heard);
    }
    free_files(&files);
}
END_TEST

static faulty_allocator faulty;

static mica_save_def faulty_save(uint64_t k)
{
    faulty_allocator_init(&faulty);
    faulty_allocator_fail_at(&faulty, k, false);
    return (mica_save_def){.allocator = faulty_allocator_interface(&faulty)};
}

/* The same for all other memory. */
START_TEST(saving_and_loading_fail_cleanly_at_every_allocation)
{
    mica_world *world = people(4);
    mica_blob blob = {0};
    for (uint64_t k = 1, done = 0; !done; ++k) {
        mica_save_def def = faulty_save(k);
        mica_result result = mica_pack(world, &def, &blob);
        done = !faulty.failures;
        ck_assert_int_eq(result, done ? MICA_OK : MICA_ERROR_MEMORY);
        mica_blob_free(&blob);
        faulty_allocator_free(&faulty);
    }
    forget_reports(&heard);
    REQUIRE(mica_pack(world, NULL, &blob) == MICA_OK);
    close_world(world, &heard);
    for (uint64_t k = 1, done = 0; !done; ++k) {
        mica_save_def save = faulty_save(k);
        mica_resource_def def = {.allocator = save.allocator};
        mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, &def, NULL);
        world = open_world(&heard);
        define_people(world);
        mica_result result = resource ? mica_spawn(world, resource, NULL) : MICA_ERROR_MEMORY;
        done = !faulty.failures;
        ck_assert_int_eq(result, done ? MICA_OK : MICA_ERROR_MEMORY);
        ck_assert_uint_eq((uint32_t)mica_world_get_stats(world).entity_count, done ? 4 : 0);
        forget_reports(&heard);
        close_world(world, &heard);
        mica_resource_free(resource);
        faulty_allocator_free(&faulty);
    }
    mica_blob_free(&blob);
}
END_TEST

/* The bytes of a small file, to be damaged. */
static char *damage_begin(mica_blob *blob)
{
    mica_world *world = people(3);
    REQUIRE(mica_pack(world, &(mica_save_def){.skip_state = true}, blob) == MICA_OK);
    close_world(world, &heard);
    return aligned_alloc(64, (blob->byte_count + 63) / 64 * 64 + 64);
}

static bool survives(char *bytes, size_t byte_count)
{
    reseal(bytes, byte_count);
    mica_resource_error error = {0};
    mica_resource *resource =
        mica_resource_open(bytes, byte_count, &(mica_resource_def){.memory_bytes_max = 1 << 20}, &error);
    if (!resource) {
        REQUIRE(error.result == MICA_ERROR_DATA && error.text[0] && error.offset <= byte_count);
        return false;
    }
    mica_world *world = open_world(&heard);
    define_people(world);
    mica_spawn(world, resource, &(mica_spawn_def){.skip_unknown = true});
    forget_reports(&heard);
    close_world(world, &heard);
    mica_resource_free(resource);
    return true;
}

START_TEST(damage_with_right_checksums_is_refused_or_harmless)
{
    mica_blob blob;
    char *bytes = damage_begin(&blob);
    random_source random = {setting_from_environment("MICA_TEST_SEED", 1)};
    uint32_t refused = 0;
    for (size_t at = 0; at < blob.byte_count; at += UNDER_SANITIZER ? 3 : 1) {
        memcpy(bytes, blob.bytes, blob.byte_count);
        bytes[at] = (char)(random_one_in(&random, 2) ? 0xFF : random_u32(&random));
        refused += !survives(bytes, blob.byte_count);
    }
    ck_assert_uint_gt(refused, 300);
    free(bytes);
    mica_blob_free(&blob);
}
END_TEST

static void expect_refused(char *bytes, size_t byte_count, uint64_t memory, const char *fragment)
{
    mica_resource_error error = {0};
    reseal(bytes, byte_count);
    ck_assert_ptr_null(mica_resource_open(bytes, byte_count, &(mica_resource_def){.memory_bytes_max = memory}, &error));
    ck_assert_msg(strstr(error.text, fragment), "%s", error.text);
}

START_TEST(each_lie_about_text_and_lists_is_noticed)
{
    mica_blob blob;
    char *bytes = damage_begin(&blob);
    memcpy(bytes, blob.bytes, blob.byte_count);
    expect_refused(bytes, blob.byte_count, 8, "more than the 8 bytes allowed");
    expect_refused(bytes, blob.byte_count, 40, "more than the 40 bytes allowed");
    expect_refused(bytes, blob.byte_count, 1000, "more than the 1000 bytes allowed");
    find_section(bytes, MICAP_SECTION_CONTENTS)->kind = 99;
    expect_refused(bytes, blob.byte_count, 1 << 20, "damaged, or end too early");
    memcpy(bytes, blob.bytes, blob.byte_count);
    bytes[find_section(bytes, MICAP_SECTION_INSTANCES)->offset] = 1;
    expect_refused(bytes, blob.byte_count, 1 << 20, "are not zero");
    memcpy(bytes, blob.bytes, blob.byte_count);
    memset(bytes + find_section(bytes, MICAP_SECTION_CONTENTS)->offset, 0xFF, 8);
    expect_refused(bytes, blob.byte_count, 1 << 20, "damaged, or end too early");

    micap_section *contents = find_section(memcpy(bytes, blob.bytes, blob.byte_count), MICAP_SECTION_CONTENTS);
    ck_assert_uint_gt(contents->bytes, 3);
    memset(bytes + contents->offset, 0, contents->bytes); /* everything is empty, and most of the bytes are left over */
    expect_refused(bytes, blob.byte_count, 1 << 20, "text or lists of no component");

    memcpy(bytes, blob.bytes, blob.byte_count);
    micap_section *types = find_section(bytes, MICAP_SECTION_TYPES);
    micap_type_record *type = (micap_type_record *)(void *)(bytes + types->offset);
    while (type->kind != MICA_KIND_F32)
        ++type;
    type->kind = MICA_KIND_LIST;
    expect_refused(bytes, blob.byte_count, 1 << 20, "its kind is neither struct, enum nor flags");
    type->kind = MICA_KIND_F32;
    type->constant_count = 1;
    expect_refused(bytes, blob.byte_count, 1 << 20, "type");
    free(bytes);
    mica_blob_free(&blob);
}
END_TEST

TEST_SUITE(contents, a_loaded_world_has_the_same_text_and_lists, a_file_on_disk_has_them_too,
           each_copy_refers_to_its_own_entities, a_rule_writes_text_in_its_recipe, a_list_refers_to_resources,
           a_list_in_a_draft_refers_to_its_entities, a_reload_brings_text_and_lists_that_changed,
           saving_and_loading_fail_cleanly_at_every_allocation, saving_and_loading_fail_cleanly_without_blocks,
           a_reload_fails_cleanly_without_blocks, damage_with_right_checksums_is_refused_or_harmless,
           each_lie_about_text_and_lists_is_noticed)
