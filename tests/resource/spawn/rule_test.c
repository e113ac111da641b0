/* Rules: components that need more than their described fields, in the order they ask for. */
#include "support/components.h"
#include "support/level.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/delta.h"
#include "mica/draft.h"
#include "mica/saver.h"

#include <stdio.h>
#include <string.h>

static reports heard;

/* What lies in the file for a Text. */
typedef struct TextRecipe { char characters[12]; mica_entity friend; } TextRecipe;
MICA_STRUCT(TextRecipe, characters, friend)

static mica_entity last_friend;
static int texts_refused_after;

static bool spawn_text(const mica_spawn_run *run, void *context)
{
    const TextRecipe *recipes = run->instances;
    Text *texts = run->values;
    for (uint32_t i = 0; i < run->count; ++i) {
        if (texts_refused_after-- == 0)
            return false;
        Text made = text_make(recipes[i].characters);
        text_destruct(&texts[i], 1, NULL);
        text_move(&texts[i], &made, 1, NULL);
        ck_assert(mica_is_nil(recipes[i].friend) || mica_is_alive(run->world, recipes[i].friend));
        last_friend = recipes[i].friend;
    }
    (void)context;
    return true;
}

static bool save_text(const mica_world *world, mica_entity entity, const void *value, void *out_instance, void *context)
{
    const Text *text = value;
    TextRecipe *recipe = out_instance;
    if (text->length >= sizeof recipe->characters)
        return false;
    memcpy(recipe->characters, text->characters, text->length);
    recipe->friend = entity;
    (void)world;
    (void)context;
    return true;
}

static mica_resource_rule text_rule(void)
{
    texts_refused_after = 1 << 30;
    return (mica_resource_rule){.component = MICA_ID(Text),
                                .spawn_order = 5,
                                .recipe = &mica_type_of_TextRecipe,
                                .spawn = spawn_text,
                                .save = save_text};
}

static mica_blob blob_of_texts(uint32_t count, const mica_resource_rule *rule)
{
    mica_world *world = mica_world_create(NULL);
    for (uint32_t i = 0; i < count; ++i) {
        char characters[12];
        snprintf(characters, sizeof characters, "text %u", i);
        Text text = text_make(characters);
        mica_create(world, MICA_WITH(Number, {i}), MICA_FROM(Text, &text));
        text_drop(&text);
    }
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){.rules = rule, .rule_count = 1}, &blob), MICA_OK);
    mica_world_destroy(world);
    return blob;
}

enum { TEXTS = 1000 };

START_TEST(a_component_that_owns_something_is_saved_and_spawned_by_its_rule)
{
    mica_resource_rule rule = text_rule();
    mica_blob blob = blob_of_texts(TEXTS, &rule);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    ck_assert_str_eq(mica_resource_component_at(resource, 1).name, "Text");
    ck_assert_str_eq(mica_resource_component_at(resource, 1).type->name, "TextRecipe");
    ck_assert_int_eq(mica_resource_component_at(resource, 1).spawn_order, 5);
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_define(world, Number);
    mica_define(world, Text);
    static mica_entity entities[TEXTS];
    mica_spawn_def def = {.rules = &rule, .rule_count = 1, .out_entities = entities, .out_capacity = TEXTS};
    ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_OK);
    for (uint32_t i = 0; i < TEXTS; ++i) {
        char characters[12];
        snprintf(characters, sizeof characters, "text %u", mica_get(world, entities[i], Number)->value);
        const Text *text = mica_get(world, entities[i], Text);
        ck_assert_uint_eq(text->length, strlen(characters));
        ck_assert_mem_eq(text->characters, characters, text->length);
    }
    ck_assert_msg(mica_same(last_friend, entities[TEXTS - 1]), "references in recipes are handles");
    close_world(world, &heard);
    ck_assert_int_eq(texts_alive, 0);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(a_spawn_function_that_refuses_takes_everything_back)
{
    mica_resource_rule rule = text_rule();
    mica_blob blob = blob_of_texts(TEXTS, &rule);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_define(world, Number);
    mica_define(world, Text);
    uint64_t before = mica_world_hash(world);
    texts_refused_after = TEXTS / 2;
    ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.rules = &rule, .rule_count = 1}), MICA_ERROR_DATA);
    expect_report(&heard, MICA_ERROR_DATA, "the spawn function of component Text refused");
    ck_assert_uint_eq(mica_world_hash(world), before);
    ck_assert_int_eq(texts_alive, 0);
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(a_save_function_that_refuses_is_an_error)
{
    mica_resource_rule rule = text_rule();
    mica_world *world = open_world(&heard);
    Text text = text_make("much longer than a recipe can hold");
    mica_create(world, MICA_FROM(Text, &text));
    text_drop(&text);
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){.rules = &rule, .rule_count = 1}, &blob), MICA_ERROR_DATA);
    expect_report(&heard, MICA_ERROR_DATA, "the save function of component Text refused");
    ck_assert_ptr_null(blob.bytes);
    close_world(world, &heard);
}
END_TEST

START_TEST(by_a_rule_without_functions_described_fields_are_set_over_a_default_value)
{
    mica_resource_rule rule = {.component = MICA_ID(Text)};
    mica_world *world = mica_world_create(NULL);
    mica_create(world, MICA_WITH(Text));
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){.rules = &rule, .rule_count = 1}, &blob), MICA_OK);
    mica_world_destroy(world);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    world = open_world(&heard);
    mica_define(world, Text);
    ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.rules = &rule, .rule_count = 1}), MICA_OK);
    ck_assert_int_eq(texts_alive, 1);
    close_world(world, &heard);
    ck_assert_int_eq(texts_alive, 0);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

/* What owns something, in every storage, and what has no described fields. */
typedef Text Caption;
MICA_POOL_WITH(Caption, (.construct = text_construct, .destruct = text_destruct, .copy = text_copy, .move = text_move),
               length)
typedef Text Credits;
MICA_COMPONENT_WITH(Credits,
                    (.storage = MICA_STORAGE_SINGLETON, .construct = text_construct, .destruct = text_destruct,
                     .copy = text_copy, .move = text_move),
                    length)
typedef struct Handle { void *resource; } Handle;
MICA_OPAQUE(Handle, (.storage = MICA_STORAGE_CHUNK))

static mica_component without_rule(uint32_t i)
{
    mica_type *const types[] = {&mica_type_of_Text, &mica_type_of_Caption, &mica_type_of_Credits, &mica_type_of_Handle};
    return mica_type_id(types[i]);
}

static void give(mica_world *world, mica_component component)
{
    mica_entity entity = mica_create(world, MICA_WITH(Position, {1, 2, 3}));
    if (component == MICA_ID(Credits))
        mica_singleton_write(world, Credits);
    else
        ck_assert_ptr_nonnull(mica_add_id(world, entity, component));
}

START_TEST(what_owns_something_is_saved_and_spawned_by_a_rule_or_skipped_on_purpose)
{
    for (uint32_t i = 0; i < 4; ++i) {
        mica_world *world = open_world(&heard), *other = open_world(&heard);
        mica_component component = without_rule(i);
        const char *name = mica_component_type(component)->name;
        mica_resource_rule rule = {.component = component};
        mica_blob none, some, all;
        give(world, component);
        mica_component_define(other, mica_component_type(component));
        mica_define(other, Position);
        ck_assert_int_eq(mica_pack(world, NULL, &none), MICA_ERROR_REFUSED);
        ck_assert_ptr_nonnull(strstr(expect_report(&heard, MICA_ERROR_REFUSED, "no rule")->text, name));
        ck_assert_ptr_null(none.bytes);
        ck_assert_int_eq(mica_pack(world, &(mica_save_def){.skip_without_rule = true}, &some), MICA_OK);
        ck_assert_int_eq(mica_pack(world, &(mica_save_def){.rules = &rule, .rule_count = 1}, &all), MICA_OK);
        mica_resource *without = mica_resource_open(some.bytes, some.byte_count, NULL, NULL);
        mica_resource *with = mica_resource_open(all.bytes, all.byte_count, NULL, NULL);
        ck_assert_uint_eq(mica_resource_component_count(without), 1);
        ck_assert_uint_eq(mica_resource_component_count(with), 2);
        ck_assert_int_eq(mica_spawn(other, without, NULL), MICA_OK);
        uint64_t hash = mica_world_hash(other);
        ck_assert_int_eq(mica_spawn(other, with, NULL), MICA_ERROR_REFUSED);
        ck_assert_ptr_nonnull(strstr(expect_report(&heard, MICA_ERROR_REFUSED, "no rule")->text, name));
        ck_assert_uint_eq(mica_world_hash(other), hash);
        ck_assert_int_eq(mica_spawn(other, with, &(mica_spawn_def){.skip_without_rule = true}), MICA_OK);
        ck_assert_uint_eq(mica_world_get_stats(other).entity_count, 2);
        ck_assert_int_eq(mica_spawn(other, with, &(mica_spawn_def){.rules = &rule, .rule_count = 1}), MICA_OK);
        mica_resource_free(without);
        mica_resource_free(with);
        mica_blob_free(&some);
        mica_blob_free(&all);
        close_world(world, &heard);
        close_world(other, &heard);
        ck_assert_int_eq(texts_alive, 0);
    }
}
END_TEST

START_TEST(deltas_and_savers_name_what_has_no_described_fields)
{
    mica_world *world = open_world(&heard), *other = open_world(&heard);
    give(world, MICA_ID(Handle));
    mica_define(other, Handle);
    mica_define(other, Position);
    mica_resource_rule rule = {.component = MICA_ID(Handle)};
    mica_delta delta;
    mica_sender *sender = mica_sender_create(world, NULL);
    ck_assert_int_eq(mica_delta_encode(sender, 0, &delta), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "component Handle has functions or no described fields");
    mica_sender_destroy(sender);
    for (uint32_t has_rule = 0; has_rule < 2; ++has_rule) {
        sender = mica_sender_create(
            world, &(mica_sender_def){.rules = &rule, .rule_count = has_rule, .skip_without_rule = true});
        mica_replica *replica =
            mica_replica_create(other, &(mica_replica_def){.mapped = true, .rules = &rule, .rule_count = has_rule});
        ck_assert_int_eq(mica_delta_encode(sender, 0, &delta), MICA_OK);
        ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
        mica_query *query = mica_query_create(other, MICA_QUERY(MICA_HAS(Handle)));
        ck_assert_uint_eq(mica_query_count(query), has_rule);
        mica_query_destroy(query);
        mica_replica_destroy(replica);
        mica_sender_destroy(sender);
        mica_saver *saver = mica_saver_create(
            world, &(mica_save_def){.rules = &rule, .rule_count = has_rule, .skip_without_rule = !has_rule});
        ck_assert_int_eq(mica_saver_begin(saver, scratch("rules.mica")), MICA_OK);
        ck_assert_int_eq(mica_saver_wait(saver), MICA_OK);
        mica_saver_destroy(saver);
        mica_resource *resource = mica_resource_load(scratch("rules.mica"), NULL, NULL);
        ck_assert_uint_eq(mica_resource_component_count(resource), 1 + has_rule);
        mica_resource_free(resource);
    }
    close_world(world, &heard);
    close_world(other, &heard);
}
END_TEST

static char calls[128];

static bool note_spawn(const mica_spawn_run *run, void *context)
{
    sprintf(calls + strlen(calls), "%s%u ", (const char *)context, run->count);
    ck_assert(run->count == 0 || mica_is_alive(run->world, run->entities[run->count - 1]));
    return true;
}

static void note_hook(const mica_event *event)
{
    void *context = event->context;
    sprintf(calls + strlen(calls), "%s%u ", (const char *)context, event->count);
}

START_TEST(components_are_spawned_in_their_order_and_hooks_run_after_all_of_them)
{
    mica_resource_rule rules[] = {
        {.component = MICA_ID(Position), .spawn_order = 3, .spawn = note_spawn, .context = "position"},
        {.component = MICA_ID(Velocity), .spawn_order = -3, .spawn = note_spawn, .context = "velocity"},
        {.component = MICA_ID(Frozen), .spawn_order = 0, .spawn = note_spawn, .context = "frozen"},
    };
    mica_world *world = mica_world_create(NULL);
    for (int i = 0; i < 3; ++i)
        mica_create(world, MICA_WITH(Position), MICA_WITH(Velocity));
    mica_create(world, MICA_WITH(Position), MICA_WITH(Frozen));
    mica_blob blob;
    mica_pack(world, &(mica_save_def){.rules = rules, .rule_count = 3}, &blob);
    mica_world_destroy(world);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    world = open_world(&heard);
    mica_hook_set(world, Position, MICA_EVENT_ADD, note_hook, "P");
    mica_hook_set(world, Velocity, MICA_EVENT_SET, note_hook, "V");
    mica_hook_set(world, Frozen, MICA_EVENT_ADD, note_hook, "F");
    calls[0] = 0;
    ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.rules = rules, .rule_count = 3}), MICA_OK);
    ck_assert_str_eq(calls, "velocity3 frozen1 position3 position1 V3 F1 P3 P1 ");
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

typedef struct Pair { mica_entity other; } Pair;
MICA_COMPONENT(Pair, other)

static void expect_pair_alive(const mica_event *event)
{
    void *context = event->context;
    const Pair *pairs = event->values;
    for (uint32_t i = 0; i < event->count; ++i)
        ck_assert(mica_is_alive(event->world, pairs[i].other));
    *(uint32_t *)context += event->count;
}

START_TEST(hooks_see_references_as_handles)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity entities[100];
    mica_create_many(world, 100, NULL, 0, entities);
    for (uint32_t i = 0; i < 100; ++i)
        mica_set(world, entities[i], Pair, {entities[99 - i]});
    mica_blob blob;
    mica_pack(world, NULL, &blob);
    mica_world_destroy(world);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    world = open_world(&heard);
    mica_create_many(world, 12345, NULL, 0, NULL);
    uint32_t seen = 0;
    mica_hook_set(world, Pair, MICA_EVENT_SET, expect_pair_alive, &seen);
    ck_assert_int_eq(
        mica_spawn(world, resource, &(mica_spawn_def){.out_entities = entities, .out_capacity = COUNT_OF(entities)}),
        MICA_OK);
    ck_assert_uint_eq(seen, 100);
    for (uint32_t i = 0; i < 100; ++i)
        ck_assert(mica_same(mica_get(world, mica_get(world, entities[i], Pair)->other, Pair)->other, entities[i]));
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

/* A recipe that is larger than its component, of which one field has the same name. */
typedef struct NumberRecipe { uint64_t before[8]; uint32_t value; uint64_t after[8]; } NumberRecipe;
MICA_STRUCT(NumberRecipe, before, value, after)

static bool spawn_number(const mica_spawn_run *run, void *context)
{
    for (uint32_t i = 0; i < run->count; ++i)
        ((Number *)run->values)[i].value = ((const NumberRecipe *)run->instances)[i].value + 1;
    return context == NULL;
}

START_TEST(a_recipe_needs_a_spawn_function)
{
    mica_resource_rule rule = {.component = MICA_ID(Number), .recipe = &mica_type_of_NumberRecipe};
    mica_world *world = mica_world_create(NULL);
    mica_create(world, MICA_WITH(Number, {7}));
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){.rules = &rule, .rule_count = 1}, &blob), MICA_OK);
    mica_world_destroy(world);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    ck_assert_uint_eq(mica_resource_component_at(resource, 0).layout_hash, mica_type_layout_hash(&mica_type_of_Number));
    for (uint32_t with_function = 0; with_function < 2; ++with_function) {
        world = open_world(&heard);
        mica_define(world, Number);
        rule.spawn = with_function ? spawn_number : NULL;
        mica_entity entity;
        mica_spawn_def def = {.rules = &rule, .rule_count = 1, .out_entities = &entity, .out_capacity = 1};
        ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_OK);
        ck_assert_uint_eq(mica_get(world, entity, Number)->value, 7 + with_function);
        close_world(world, &heard);
    }
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

/* One value per world that owns something. */
typedef Text Motto;
static mica_type mica_type_of_Motto = {.name = "Motto",
                                       .kind = MICA_KIND_STRUCT,
                                       .storage = MICA_STORAGE_SINGLETON,
                                       .size_bytes = sizeof(Text),
                                       .alignment = _Alignof(Text),
                                       .construct = text_construct,
                                       .destruct = text_destruct,
                                       .copy = text_copy,
                                       .move = text_move};

static bool spawn_clock(const mica_spawn_run *run, void *context)
{
    ck_assert_msg(((Clock *)run->values)->ticks == 0 && !run->entities, "a default value to be filled in");
    ((Clock *)run->values)->ticks = ((const Clock *)run->instances)->ticks * 2;
    return context == NULL;
}

START_TEST(a_singleton_comes_by_its_spawn_function_or_everything_is_taken_back)
{
    mica_resource_rule rules[] = {text_rule(), {.component = MICA_ID(Clock), .spawn_order = 9, .spawn = spawn_clock}};
    rules[0].component = MICA_ID(Motto);
    mica_world *world = mica_world_create(NULL);
    mica_create(world, MICA_WITH(Number, {1}));
    mica_singleton_write(world, Clock)->ticks = 21;
    text_drop(mica_singleton_write(world, Motto));
    *mica_singleton_write(world, Motto) = text_make("onward");
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){.rules = rules, .rule_count = 2}, &blob), MICA_OK);
    mica_world_destroy(world);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    world = open_world(&heard);
    mica_define(world, Number);
    mica_define(world, Clock);
    mica_define(world, Motto);
    mica_singleton_write(world, Clock)->ticks = 5;
    mica_singleton_get(world, Motto);
    uint64_t before = mica_world_hash(world);
    const mica_spawn_def def = {.rules = rules, .rule_count = 2};
    rules[1].context = rules; /* the second of them refuses */
    ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_ERROR_DATA);
    expect_report(&heard, MICA_ERROR_DATA, "the spawn function of component Clock refused");
    ck_assert_uint_eq(mica_world_hash(world), before);
    ck_assert_int_eq(texts_alive, 1);
    rules[1].context = NULL;
    texts_allowed = 0; /* no default value can be made */
    ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_ERROR_MEMORY);
    expect_report(&heard, MICA_ERROR_MEMORY, "spawn");
    ck_assert_uint_eq(mica_world_hash(world), before);
    texts_allowed = 1000;
    ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_OK);
    ck_assert_uint_eq(mica_singleton_get(world, Clock)->ticks, 42);
    ck_assert_str_eq(mica_singleton_get(world, Motto)->characters, "onward");
    ck_assert_int_eq(texts_alive, 1);
    const mica_spawn_def skipping = {.rules = rules, .rule_count = 2, .skip_singletons = true};
    mica_singleton_write(world, Clock)->ticks = 6;
    ck_assert_int_eq(mica_spawn(world, resource, &skipping), MICA_OK);
    ck_assert_uint_eq(mica_singleton_get(world, Clock)->ticks, 6);
    close_world(world, &heard);
    ck_assert_int_eq(texts_alive, 0);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

/* What does not come with the others: pools for many, and pools whose rows outlive their owners. */
typedef Text Note;
typedef Text Trace;
typedef struct Echo { uint32_t value; } Echo;
#define OWNS .construct = text_construct, .destruct = text_destruct, .copy = text_copy, .move = text_move
MICA_POOL_WITH(Note, (.many = true, OWNS), length)
MICA_POOL_WITH(Trace, (.dying = MICA_DYING_LAZILY, OWNS), length)
MICA_POOL_WITH(Echo, (.dying = MICA_DYING_AT_FLUSH), value)

static bool refuse_the_tag(const mica_spawn_run *run, void *context)
{
    ck_assert(!run->instances && !run->values && run->count == 3);
    return context == NULL;
}

START_TEST(what_comes_one_by_one_is_spawned_by_its_rule_too_or_taken_back)
{
    mica_resource_rule rules[] = {text_rule(), text_rule(), {.component = MICA_ID(Frozen), .spawn = refuse_the_tag}};
    rules[0].component = MICA_ID(Note);
    rules[1].component = MICA_ID(Trace);
    mica_world *world = open_world(&heard);
    mica_entity entities[3];
    for (uint32_t i = 0; i < 3; ++i) {
        entities[i] = mica_create(world, MICA_WITH(Echo, {i}), MICA_WITH(Trace), MICA_WITH(Frozen));
        for (uint32_t k = 0; k < i; ++k)
            mica_pool_add(mica_pool_of(world, Note), entities[i]);
    }
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){.rules = rules, .rule_count = 3}, &blob), MICA_OK);
    mica_world_clear(world);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    mica_resource_rule fields[] = {{.component = MICA_ID(Note)}, {.component = MICA_ID(Trace)}};
    for (uint32_t has_functions = 0; has_functions < 2; ++has_functions) {
        const mica_spawn_def def = {.rules = has_functions ? rules : fields,
                                    .rule_count = has_functions ? 3 : 2,
                                    .out_entities = entities,
                                    .out_capacity = 3};
        const int texts = 6;
        for (int refused_after = 0; has_functions && refused_after < texts; ++refused_after) {
            texts_refused_after = refused_after;
            ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_ERROR_DATA);
            expect_report(&heard, MICA_ERROR_DATA, "refused");
            ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
        }
        texts_refused_after = texts;
        ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_OK); /* without functions there are default values */
        for (uint32_t i = 0; i < 3; ++i)
            ck_assert(mica_get(world, entities[i], Echo)->value == i && mica_has(world, entities[i], Trace));
        ck_assert_uint_eq(mica_pool_count(mica_pool_of(world, Note)), 3);
        mica_world_clear(world);
    }
    rules[2].context = rules;
    texts_refused_after = 100;
    ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.rules = rules, .rule_count = 3}), MICA_ERROR_DATA);
    expect_report(&heard, MICA_ERROR_DATA, "the spawn function of component Frozen refused");
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
    close_world(world, &heard);
    ck_assert_int_eq(texts_alive, 0);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

TEST_SUITE(rule, a_component_that_owns_something_is_saved_and_spawned_by_its_rule,
           a_spawn_function_that_refuses_takes_everything_back, a_save_function_that_refuses_is_an_error,
           by_a_rule_without_functions_described_fields_are_set_over_a_default_value,
           what_owns_something_is_saved_and_spawned_by_a_rule_or_skipped_on_purpose,
           deltas_and_savers_name_what_has_no_described_fields,
           components_are_spawned_in_their_order_and_hooks_run_after_all_of_them, hooks_see_references_as_handles,
           a_recipe_needs_a_spawn_function, a_singleton_comes_by_its_spawn_function_or_everything_is_taken_back,
           what_comes_one_by_one_is_spawned_by_its_rule_too_or_taken_back)
