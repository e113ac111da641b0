/* Random worlds with components of every kind that a cluster can have. The same changes are made in a plain world and in one with a cluster,
 * whose entities also go to bytes and back, as if they went to another rank and came back. After every step both must have the same
 * entities, and a search must find what comparing all with all finds.
 *
 * MICA_TEST_SEED is the seed of the first world, MICA_TEST_WORLDS is how many there are. */
#include "cluster/cluster_state.h"
#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "mica/name.h"
#include "mica/pool.h"
#include "random.h"
#include "reports.h"
#include "sample.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

typedef struct Spot { float x, y; } Spot;
typedef struct Recipe { uint32_t number; mica_text label; } Recipe;
MICA_STRUCT(Recipe, number, label)
MICA_COMPONENT(Spot, x, y)

enum { SIZE = 20, STEPS = 20, CHANGES_MAX = 40, THINGS_MAX = 300, REACH = 3, RULES_MAX = 16 };

/* A world, and the same world with a cluster. */
enum { PLAIN, CLUSTERED, WORLDS };

typedef struct thing {
    mica_entity of[WORLDS];
    uint64_t identity; /* 0: it is new */
} thing;

typedef struct fixture {
    uint64_t seed;
    random_source random;
    reports heard[WORLDS];
    mica_world *worlds[WORLDS];
    mica_cluster *cluster;
    micap_memory memory;
    micap_codec codec; /* of the plain world */
    mica_resource_rule rules[RULES_MAX];
    uint32_t rule_count;
    sample_kind kinds[SAMPLE_COUNT];
    uint32_t kind_count;
    thing things[THINGS_MAX];
    uint32_t count;
} fixture;

static void drift(mica_view *view)
{
    Spot *spot = mica_view_write(view, Spot);
    for (uint32_t i = 0; i < view->count; ++i) {
        spot[i].x = spot[i].x + 0.7f < SIZE ? spot[i].x + 0.7f : spot[i].x + 0.7f - SIZE;
        spot[i].y = spot[i].y > 0.2f ? spot[i].y - 0.2f : spot[i].y;
    }
}

static bool save_recipe(const mica_world *world, mica_entity entity, const void *value, void *out_instance,
                        void *context)
{
    Recipe *recipe = out_instance;
    (void)world, (void)context, (void)entity;
    memcpy(&recipe->number, value, sizeof recipe->number); /* the first field of all that own something */
    return mica_text_set(&recipe->label, recipe->number % 2 ? "a label that does not fit in its place" : "label") ==
           MICA_OK;
}

static bool spawn_recipe(const mica_spawn_run *run, void *context)
{
    const Recipe *recipe = run->instances;
    const sample *sample = context;
    ck_assert_uint_eq(mica_text_length(&recipe->label), recipe->number % 2 ? 38 : 5);
    sample->assign(run->values, recipe->number);
    return run->count == 1;
}

/* Of components with functions: those that own something have recipes, of one that only starts with another value the fields are enough. */
static void list_rules(fixture *test)
{
    static const sample_kind plain[] = {SAMPLE_SEEDED, SAMPLE_POOL_MANY, SAMPLE_WIDE};
    static const sample_kind owners[] = {SAMPLE_OWNER, SAMPLE_SWITCHED_OWNER, SAMPLE_POOL_OWNER,
                                         SAMPLE_POOL_DIRECT_OWNER, SAMPLE_POOL_MANY_OWNER};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; ++i)
        test->rules[test->rule_count++] = (mica_resource_rule){.component = sample_id(plain[i])};
    for (size_t i = 0; i < sizeof owners / sizeof *owners; ++i)
        test->rules[test->rule_count++] = (mica_resource_rule){.component = sample_id(owners[i]),
                                                               .recipe = &mica_type_of_Recipe,
                                                               .save = save_recipe,
                                                               .spawn = spawn_recipe,
                                                               .context = (void *)&samples[owners[i]]};
}

static bool has_rule(const fixture *test, sample_kind kind)
{
    for (uint32_t i = 0; i < test->rule_count; ++i)
        if (test->rules[i].component == sample_id(kind))
            return true;
    return false;
}

static void open(fixture *test, uint64_t seed)
{
    *test = (fixture){.seed = seed, .random = {seed}};
    micap_memory_init(&test->memory, (mica_allocator){0});
    list_rules(test);
    for (sample_kind kind = 0; kind < SAMPLE_REQUIRING; ++kind)
        if ((has_rule(test, kind) || !micap_codec_problem(sample_id(kind))) && random_below(&test->random, 3))
            test->kinds[test->kind_count++] = kind;
    for (int which = 0; which < WORLDS; ++which) {
        mica_world *world = test->worlds[which] = open_world(&test->heard[which]);
        for (uint32_t i = 0; i < test->kind_count; ++i)
            mica_component_define(world, samples[test->kinds[i]].type);
        mica_define(world, mica_identity);
        mica_system_add(world, MICA_SYSTEM(drift, MICA_WRITE(Spot)));
    }
    test->cluster = mica_cluster_create(
        test->worlds[CLUSTERED],
        &(mica_cluster_def){
            .grid = {.component = MICA_ID(Spot), .fields = "x, y", .cell_size = 1.5, .maximum = {SIZE, SIZE}},
            .reach = REACH,
            .links = true,
            .rules = test->rules,
            .rule_count = test->rule_count,
            .seed = seed});
    ck_assert_ptr_nonnull(test->cluster);
    test->codec = (micap_codec){.memory = &test->memory,
                                .world = test->worlds[PLAIN],
                                .has_references = true,
                                .rules = test->rules,
                                .rule_count = test->rule_count,
                                .scratch = {.memory = &test->memory}};
    ck_assert(micap_codec_update(&test->codec));
}

static void close(fixture *test)
{
    micap_codec_free(&test->codec);
    mica_cluster_destroy(test->cluster);
    for (int which = 0; which < WORLDS; ++which)
        close_world(test->worlds[which], &test->heard[which]);
}

/* ---- changes */

static void create_thing(fixture *test)
{
    if (test->count == THINGS_MAX)
        return;
    Spot spot = {(float)random_below(&test->random, 16 * SIZE) / 16,
                 (float)random_below(&test->random, 16 * SIZE) / 16};
    thing *thing = &test->things[test->count++];
    *thing = (struct thing){0};
    for (int which = 0; which < WORLDS; ++which)
        thing->of[which] = mica_create(test->worlds[which], MICA_FROM(Spot, &spot));
}

/* With its descendants. */
static void destroy_thing(fixture *test, uint32_t number)
{
    for (int which = 0; which < WORLDS; ++which)
        ck_assert(mica_destroy(test->worlds[which], test->things[number].of[which]));
    for (uint32_t i = test->count; i-- > 0;) {
        const thing *thing = &test->things[i];
        bool is_alive = mica_is_alive(test->worlds[PLAIN], thing->of[PLAIN]);
        ck_assert_int_eq(is_alive, mica_is_alive(test->worlds[CLUSTERED], thing->of[CLUSTERED]));
        if (!is_alive)
            test->things[i] = test->things[--test->count];
    }
}

/* To a parent, or to none. Both may be new. */
static void link_thing(fixture *test, const thing *thing)
{
    const struct thing *parent = &test->things[random_below(&test->random, test->count)];
    bool has_parent = random_below(&test->random, 4);
    mica_result results[WORLDS];
    for (int which = 0; which < WORLDS; ++which)
        results[which] =
            mica_set_parent(test->worlds[which], thing->of[which], has_parent ? parent->of[which] : mica_nil());
    ck_assert_int_eq(results[PLAIN], results[CLUSTERED]);
}

static void change_component(fixture *test, const thing *thing)
{
    sample_kind kind = test->kinds[random_below(&test->random, test->kind_count)];
    mica_component component = sample_id(kind);
    uint32_t choice = random_below(&test->random, 8), number = random_u32(&test->random);
    for (int which = 0; which < WORLDS; ++which) {
        mica_world *world = test->worlds[which];
        mica_entity entity = thing->of[which];
        bool has = mica_has_id(world, entity, component);
        sample_room room;
        if (choice == 0 && has) {
            mica_remove_id(world, entity, component);
        } else if (choice == 1 && has && samples[kind].type->toggle) {
            mica_enable_id(world, entity, component, number & 1);
        } else if (sample_is_many(kind)) {
            void *value = sample_is_split(kind) ? NULL : mica_add_instance_id(world, entity, component);
            if (value)
                samples[kind].assign(value, number);
        } else {
            mica_value value = sample_value_begin(kind, number, &room);
            ck_assert(mica_set_id(world, entity, value));
            sample_value_end(kind, &room);
        }
    }
}

static void name_thing(fixture *test, const thing *thing)
{
    char name[40];
    snprintf(name, sizeof name, "thing %u", random_below(&test->random, 30));
    const struct thing *scope = &test->things[random_below(&test->random, test->count)];
    bool has_scope = random_one_in(&test->random, 2);
    mica_result results[WORLDS];
    for (int which = 0; which < WORLDS; ++which)
        results[which] =
            mica_name_set(test->worlds[which], thing->of[which], has_scope ? scope->of[which] : mica_nil(), name);
    ck_assert_int_eq(results[PLAIN], results[CLUSTERED]);
}

static void put(fixture *test, int which, mica_entity entity, micap_bytes *bytes)
{
    micap_codec_put_entity(which == PLAIN ? &test->codec : &test->cluster->codec, bytes, entity);
    ck_assert(!bytes->failed);
}

/* Whether an entity has an identity, and everything that it is linked with: others do not move before the end of the step. */
static bool can_migrate(const fixture *test, const thing *thing)
{
    const mica_world *world = test->worlds[CLUSTERED];
    mica_entity entity = thing->of[CLUSTERED];
    mica_entity links[] = {entity, mica_parent(world, entity), mica_name_get_scope(world, entity)};
    for (size_t i = 0; i < sizeof links / sizeof *links; ++i)
        if (mica_is_alive(world, links[i]) && !mica_has(world, links[i], mica_identity))
            return false;
    return true;
}

/* The entity goes to another rank, which sends it back: meanwhile it is a stand-in. */
static void migrate(fixture *test, thing *thing)
{
    micap_bytes bytes = {.memory = &test->memory};
    micap_identity_map_forget(&test->cluster->identities);
    put(test, CLUSTERED, thing->of[CLUSTERED], &bytes);
    ck_assert(micap_codec_strip_entity(&test->cluster->codec, thing->of[CLUSTERED]));
    micap_reader reader = {.begin = bytes.data, .at = bytes.data, .end = bytes.data + bytes.count};
    micap_reader check = reader;
    const char *problem = micap_codec_check_entity(&test->cluster->codec, &check);
    ck_assert_msg(!problem && !micap_reader_left(&check), "seed %llu: %s", (unsigned long long)test->seed,
                  problem ? problem : "there is more");
    thing->of[CLUSTERED] = micap_codec_create_entity(&test->cluster->codec, &reader, thing->identity);
    ck_assert(!mica_is_nil(thing->of[CLUSTERED]));
    micap_bytes_free(&bytes);
}

static void change(fixture *test)
{
    uint32_t number = random_below(&test->random, test->count);
    thing *thing = &test->things[number];
    switch (test->count ? random_below(&test->random, 16) : 0) {
    case 0:
    case 1: create_thing(test); break;
    case 2: destroy_thing(test, number); break;
    case 3: name_thing(test, thing); break;
    case 7: link_thing(test, thing); break;
    case 4:
    case 5:
    case 6:
        if (can_migrate(test, thing))
            migrate(test, thing);
        break;
    default: change_component(test, thing); break;
    }
}

/* ---- comparisons */

/* Links are written as identities, which the plain world has too for that. */
static void copy_identities(fixture *test)
{
    for (uint32_t i = 0; i < test->count; ++i) {
        thing *thing = &test->things[i];
        const mica_identity *identity = mica_get(test->worlds[CLUSTERED], thing->of[CLUSTERED], mica_identity);
        ck_assert(identity && identity->value && (!thing->identity || thing->identity == identity->value));
        thing->identity = identity->value;
        mica_set_id(test->worlds[PLAIN], thing->of[PLAIN], (mica_value)MICA_FROM(mica_identity, identity));
    }
}

static void compare_things(fixture *test)
{
    copy_identities(test);
    micap_bytes bytes[WORLDS] = {{.memory = &test->memory}, {.memory = &test->memory}};
    for (uint32_t i = 0; i < test->count; ++i) {
        const thing *thing = &test->things[i];
        for (int which = 0; which < WORLDS; ++which) {
            bytes[which].count = 0;
            put(test, which, thing->of[which], &bytes[which]);
        }
        bool is_equal = bytes[0].count == bytes[1].count && !memcmp(bytes[0].data, bytes[1].data, bytes[0].count);
        ck_assert_msg(is_equal, "seed %llu, step %llu: thing %u differs", (unsigned long long)test->seed,
                      (unsigned long long)test->cluster->tick, i);
    }
    for (int which = 0; which < WORLDS; ++which)
        micap_bytes_free(&bytes[which]);
}

static bool is_shown(const fixture *test, uint32_t number)
{
    return !mica_has_id(test->worlds[CLUSTERED], test->things[number].of[CLUSTERED], sample_id(SAMPLE_HIDING_TAG));
}

static void compare_neighbours(fixture *test)
{
    mica_cluster_neighbour near[THINGS_MAX];
    double radius = random_one_in(&test->random, 2) ? REACH : random_below(&test->random, 16 * REACH) / 16.0;
    for (uint32_t i = 0; i < test->count; ++i) {
        if (!is_shown(test, i))
            continue;
        const Spot *own = mica_get(test->worlds[PLAIN], test->things[i].of[PLAIN], Spot);
        uint32_t expected = 0, sum_of_found = 0;
        uint64_t sum = 0, found = 0;
        for (uint32_t k = 0; k < test->count; ++k) {
            const Spot *other = mica_get(test->worlds[PLAIN], test->things[k].of[PLAIN], Spot);
            double x = (double)other->x - own->x, y = (double)other->y - own->y;
            if (k == i || !is_shown(test, k) || x * x + y * y > radius * radius)
                continue;
            sum += test->things[k].identity;
            ++expected;
        }
        sum_of_found = mica_cluster_around(test->cluster, test->things[i].of[CLUSTERED], radius, near, THINGS_MAX);
        for (uint32_t k = 0; k < sum_of_found; ++k)
            found += near[k].identity;
        ck_assert_msg(expected == sum_of_found && sum == found, "seed %llu: thing %u has %u neighbours instead of %u",
                      (unsigned long long)test->seed, i, sum_of_found, expected);
    }
}

START_TEST(a_cluster_is_the_same_world_as_without_it)
{
    uint64_t seed = setting_from_environment("MICA_TEST_SEED", 1);
    uint64_t count = setting_from_environment("MICA_TEST_WORLDS", 40);
    for (uint64_t end = seed + count; seed < end; ++seed) {
        static fixture test;
        open(&test, seed);
        for (int step = 0; step < STEPS; ++step) {
            for (uint32_t changes = random_below(&test.random, CHANGES_MAX); changes; --changes)
                change(&test);
            ck_assert_int_eq(mica_step(test.worlds[PLAIN], 0.1f), MICA_OK);
            ck_assert(mica_cluster_step(test.cluster, 0.1f));
            compare_things(&test);
            compare_neighbours(&test);
            uint64_t hash = mica_cluster_hash(test.cluster);
            for (uint32_t i = 0; i < test.count; i += 3)
                migrate(&test, &test.things[i]);
            ck_assert_uint_eq(mica_cluster_hash(test.cluster), hash);
            ck_assert_int_eq(mica_world_validate(test.worlds[CLUSTERED]), MICA_OK);
            for (int which = 0; which < WORLDS; ++which)
                forget_reports(&test.heard[which]); /* of names that exist, the same in both */
        }
        close(&test);
    }
}
END_TEST

TEST_SUITE(random_world, a_cluster_is_the_same_world_as_without_it)
