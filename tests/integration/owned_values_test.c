/* Text and lists go through everything that numbers go through: differences, history, recordings and reloads. Files, levels, deltas and
 * SQL have tests of their own. */
#include "base/block_heap.h"
#include "mica/bulk.h"
#include "mica/compile.h"
#include "mica/flow.h"
#include "mica/hash.h"
#include "mica/recording.h"
#include "mica/reload.h"
#include "mica/snapshot.h"
#include "mica/value.h"
#include "support/people.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/require.h"
#include "support/test.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static reports heard;

enum { PEOPLE = 600, TICKS = 12 };

static mica_entity person(uint32_t number)
{
    return (mica_entity){number + 1, 1};
}

static void name_thing(Thing *thing, const char *name)
{
    REQUIRE(mica_text_set(&thing->name, name) == MICA_OK);
    mica_text *tag = mica_list_append(&thing->tags, mica_text);
    REQUIRE(tag && mica_text_set(tag, "a tag that does not lie in place") == MICA_OK);
}

static mica_world *open_people(void)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < PEOPLE; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Person), MICA_WITH(Diary));
        Person *of = mica_write(world, entity, Person);
        REQUIRE(mica_text_set(&of->name, "a name that does not lie in place") == MICA_OK);
        mica_list_add(&of->scores, float, 1, 2, 3, 4);
        for (uint32_t j = 0; j < 3; ++j)
            name_thing(mica_list_append(&of->inventory, Thing), "a thing with a longer name");
        mica_text *page = mica_list_append(&mica_write(world, entity, Diary)->pages, mica_text);
        REQUIRE(mica_text_set(page, "once upon a time there was a page") == MICA_OK);
        mica_pool_add(mica_pool_of(world, Letters), entity);
    }
    name_thing(mica_list_append(&mica_singleton_write(world, Archive)->things, Thing), "in the archive");
    return world;
}

/* Changes one value to what a text says, by its path. */
static void change(mica_world *world, mica_component component, mica_entity entity, const char *path, const char *text)
{
    void *value =
        mica_is_nil(entity) ? mica_singleton_write_id(world, component) : mica_write_id(world, entity, component);
    mica_value_error error = {0};
    mica_member member = mica_member_write(mica_member_of(component, value), path, &error);
    REQUIRE_SAYING(mica_value_parse(member, text, &error) == MICA_OK, "%s: %s", path, error.text);
}

START_TEST(a_difference_names_the_element)
{
    const struct {
        mica_component component;
        const char *path, *text, *field;
    } rows[] = {
        {MICA_ID(Person), "name", "\"other\"", "name"},
        {MICA_ID(Person), "scores[3]", "9", "scores[3]"},
        {MICA_ID(Person), "scores", "[1, 2, 3, 4, 5]", "scores[4]"},
        {MICA_ID(Person), "scores", "[1, 2]", "scores[2]"},
        {MICA_ID(Person), "inventory[2].count", "7", "inventory[2].count"},
        {MICA_ID(Person), "inventory[1].tags[0]", "\"x\"", "inventory[1].tags[0]"},
        {MICA_ID(Person), "titles[1]", "\"Dr\"", "titles[1]"},
        {MICA_ID(Person), "moods[0]", "[\"MOOD_ANGRY\"]", "moods[0][0]"},
        {MICA_ID(Diary), "pages[0]", "\"the end\"", "pages[0]"},
        {MICA_ID(Archive), "things[0].name", "\"nothing\"", "things[0].name"},
    };
    mica_world *world = open_people();
    for (uint32_t i = 0; i < COUNT_OF(rows); ++i) {
        mica_difference difference;
        mica_world *other = mica_world_clone(world);
        ck_assert(!mica_hash_diff(world, other, &difference));
        bool is_one = rows[i].component == MICA_ID(Archive);
        change(other, rows[i].component, is_one ? mica_nil() : person(321), rows[i].path, rows[i].text);
        ck_assert(mica_hash_diff(world, other, &difference));
        ck_assert_msg(strcmp(difference.field, rows[i].field) == 0, "row %u: %s", i, difference.text);
        ck_assert(is_one || mica_same(difference.entity, person(321)));
        mica_world_destroy(other);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(history_costs_what_changed)
{
    mica_world *world = open_people();
    mica_history *history = mica_history_create(world, TICKS);
    uint64_t hashes[TICKS];
    for (uint32_t tick = 0; tick < TICKS; ++tick) {
        ck_assert_int_eq(mica_history_take(history, tick), MICA_OK);
        hashes[tick] = mica_world_hash(world);
        change(world, MICA_ID(Person), person(tick), "name", "\"another name that does not lie in place\"");
        change(world, MICA_ID(Person), person(tick), "scores", "[5, 6, 7, 8, 9, 10, 11, 12, 13, 14]");
        change(world, MICA_ID(Diary), person(tick), "pages", "[]");
    }
    /* A slice of 64 people and of 64 diaries per tick, whose text and lists are shared. */
    size_t slices = TICKS * MICA_SLICE_ROWS * (sizeof(Person) + sizeof(Diary) + 3 * sizeof(mica_entity));
    ck_assert_uint_lt(mica_history_bytes(history), 3 * slices);
    for (uint32_t tick = TICKS; tick-- > 0;) {
        ck_assert_int_eq(mica_history_restore(history, tick), MICA_OK);
        ck_assert_uint_eq(mica_world_hash(world), hashes[tick]);
    }
    mica_history_destroy(history);
    close_world(world, &heard);
}
END_TEST

static void grow(mica_view *view)
{
    Person *people = mica_view_write(view, Person);
    for (uint32_t i = 0; i < view->count; ++i)
        if (mica_list_count(&people[i].scores) < 10)
            mica_list_add(&people[i].scores, float, (float)view->frame->tick);
}

/* A number, and text: what a person is called from now on. */
static void rename_person(mica_world *world, const void *bytes, size_t byte_count, void *context)
{
    uint32_t number;
    (void)context;
    memcpy(&number, bytes, sizeof number);
    REQUIRE(mica_text_set_bytes(&mica_write(world, person(number), Person)->name, (const char *)bytes + sizeof number,
                                byte_count - sizeof number) == MICA_OK);
}

static mica_world *open_growing(void)
{
    mica_world *world = open_people();
    mica_system_add(world, MICA_SYSTEM(grow, MICA_WRITE(Person)));
    mica_input_handle(world, rename_person, NULL);
    return world;
}

START_TEST(recordings_replay_text_and_lists_and_find_a_difference)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/mica_owned_values.%d.rec", (int)getpid());
    mica_world *world = open_growing();
    mica_recording_def def = {.detail = MICA_RECORDING_ENTITIES};
    ck_assert_int_eq(mica_recording_begin(world, path, &def), MICA_OK);
    for (uint32_t tick = 0; tick < TICKS; ++tick) {
        char input[64];
        memcpy(input, &tick, sizeof tick);
        int bytes =
            snprintf(input + sizeof tick, sizeof input - sizeof tick, "the name of tick %u, which is long", tick);
        mica_input(world, input, sizeof tick + (size_t)bytes);
        mica_step(world, 0.1f);
    }
    mica_recording_end(world);
    mica_recording *recording = mica_recording_load(path, NULL);
    mica_difference difference;
    mica_world *same = open_growing();
    ck_assert_msg(mica_replay(same, recording, &difference), "%s", difference.text);
    ck_assert_uint_eq(mica_world_hash(same), mica_world_hash(world));
    mica_world *other = open_growing();
    mica_list_add(&mica_write(other, person(77), Person)->scores, float, 1);
    ck_assert(!mica_replay(other, recording, &difference));
    mica_recording_free(recording);
    remove(path);
    close_world(other, &heard);
    close_world(same, &heard);
    close_world(world, &heard);
}
END_TEST

static mica_resource *compile(mica_world *world, const char *text, mica_compiled *out_compiled)
{
    mica_schema *schema = mica_schema_create();
    REQUIRE(mica_schema_add_world(schema, world) == MICA_OK);
    mica_compile_def def = {.schema = schema};
    REQUIRE(mica_compile_text("level.json", text, strlen(text), &def, out_compiled) == MICA_OK);
    mica_schema_destroy(schema);
    mica_resource *resource = mica_resource_open(out_compiled->blob.bytes, out_compiled->blob.byte_count, NULL, NULL);
    REQUIRE(resource);
    return resource;
}

#define LEVEL(name, scores, pages)                                                                                     \
    "{\"entities\": [{\"name\": \"anna\", \"components\": {\"Person\": {\"name\": \"" name "\", \"scores\": " scores    \
    ", \"inventory\": [{\"name\": \"a lamp that is not in place\", \"tags\": [\"old\"]}]}, \"Diary\": {\"pages\": " pages     \
    "}}}]}"

START_TEST(a_reload_takes_over_what_the_file_changed_and_keeps_what_the_program_did)
{
    mica_compiled compiled[2];
    mica_world *world = open_world(&heard);
    mica_define(world, Person);
    mica_define(world, Diary);
    mica_resource *first = compile(world, LEVEL("Anna of the long name", "[1, 2]", "[\"one\"]"), &compiled[0]);
    mica_spawned *spawned = mica_spawn_kept(world, first, NULL);
    REQUIRE(spawned);
    mica_entity anna = mica_find(world, "anna");
    change(world, MICA_ID(Diary), anna, "pages", "[\"written by the program, and not short\"]");
    mica_resource *second = compile(world, LEVEL("Anna of another name", "[1, 2, 3]", "[\"one\"]"), &compiled[1]);
    mica_reload_stats stats;
    ck_assert_int_eq(mica_reload(spawned, second, &stats), MICA_OK);
    const Person *person = mica_get(world, anna, Person);
    ck_assert(mica_text_is(&person->name, "Anna of another name") && mica_list_count(&person->scores) == 3);
    const mica_text *pages = mica_list_items(&mica_get(world, anna, Diary)->pages, mica_text);
    ck_assert(mica_text_is(&pages[0], "written by the program, and not short"));
    mica_spawned_free(spawned);
    mica_resource_free(first);
    mica_resource_free(second);
    mica_compiled_free(&compiled[0]);
    mica_compiled_free(&compiled[1]);
    close_world(world, &heard);
}
END_TEST

enum { SHARED_PEOPLE = 20000, SHARED_FRAMES = UNDER_SANITIZER ? 10 : 40, TRIMS_MAX = 10000 };

/* Sets and frees text and elements in an order that mixes up where they lie. */
static void change_people(mica_view *view)
{
    static const char *const names[] = {"short", "a name that does not lie in place",
                                        "a name that is much longer than that, and needs another block"};
    Person *person = mica_view_write(view, Person);
    for (uint32_t i = 0; i < view->count; ++i) {
        uint32_t chance = (uint32_t)(view->entities[i].index * 2654435761u + view->frame->tick * 40503u) >> 20;
        REQUIRE(mica_text_set(&person[i].name, names[chance % 3]) == MICA_OK);
        if (mica_list_count(&person[i].scores) > chance % 30)
            mica_list_clear(&person[i].scores, float);
        else
            REQUIRE(mica_list_append(&person[i].scores, float));
    }
}

START_TEST(a_trim_returns_what_workers_freed)
{
    micap_heap_trim();
    size_t before = micap_heap_bytes();
    mica_world *world = open_world(&heard);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 4;
    ck_assert_int_eq(mica_flow_configure(world, &flow), MICA_OK);
    ck_assert(mica_system_add(world, MICA_SYSTEM(change_people, MICA_WRITE(Person))).id);
    ck_assert_int_eq(mica_create_many(world, SHARED_PEOPLE, (mica_value[]){MICA_WITH(Person)}, 1, NULL), MICA_OK);
    for (uint32_t frame = 0; frame < SHARED_FRAMES; ++frame)
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    mica_query *all = mica_query_create(world, MICA_QUERY(MICA_HAS(Person)));
    ck_assert_int_eq(mica_destroy_all(all), MICA_OK);
    /* A worker is idle a moment after the frame. */
    for (uint32_t i = 0; i < TRIMS_MAX && micap_heap_bytes() > before; ++i) {
        mica_world_trim(world);
        sched_yield();
    }
    ck_assert_uint_le(micap_heap_bytes(), before);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(owned_values, a_difference_names_the_element, history_costs_what_changed,
           recordings_replay_text_and_lists_and_find_a_difference,
           a_reload_takes_over_what_the_file_changed_and_keeps_what_the_program_did, a_trim_returns_what_workers_freed)
