/* Memory that runs out at every point, SQLite's and the world's: an error, and the world is as it was. */
#include "ask.h"

#include "mica/index.h"
#include "mica/relation.h"

#include "../support/faulty_allocator.h"
#include "../support/people.h"

MICA_RELATION(Near)

/* Many instances, none of which exists. */
typedef struct Parcels { mica_list weights; } Parcels;
MICA_POOL_WITH(Parcels, (.many = true), (weights, float))

static reports heard;
static faulty_allocator faulty;

static sqlite3_mem_methods plain;
static uint64_t countdown;
static uint64_t failures;

static bool fails(void)
{
    bool now = countdown && --countdown == 0;
    failures += now;
    return now;
}

static void *malloc_or_fail(int bytes)
{
    return fails() ? NULL : plain.xMalloc(bytes);
}

static void *realloc_or_fail(void *memory, int bytes)
{
    return fails() ? NULL : plain.xRealloc(memory, bytes);
}

static void use_failing_malloc(void)
{
    sqlite3_shutdown();
    REQUIRE(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) == SQLITE_OK);
    REQUIRE(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain) == SQLITE_OK);
    sqlite3_mem_methods methods = plain;
    methods.xMalloc = malloc_or_fail;
    methods.xRealloc = realloc_or_fail;
    REQUIRE(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK);
}

static mica_world *make_world(void)
{
    mica_world_def def = mica_world_def_default();
    faulty_allocator_init(&faulty);
    def.allocator = faulty_allocator_interface(&faulty);
    mica_world *world = open_world_with(&heard, def);
    for (uint32_t i = 0; i < 40; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Kinds, {.u8 = 5, .mood = MOOD_ANGRY, .skills = SKILL_SWIM}));
        mica_set(world, entity, Buff, {(int32_t)i, 1});
        mica_set(world, entity, Body, {.mass = i});
        mica_set(world, entity, Health, {5, 5});
    }
    for (uint32_t i = 0; i < 3; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Person), MICA_WITH(Letters));
        mica_list_add(&mica_write(world, entity, Person)->scores, float, 1, 2, 3);
        mica_list_append(&mica_write(world, entity, Person)->inventory, Thing);
    }
    mica_name_set(world, mica_sql_to_entity(4294967297), mica_nil(), "first");
    mica_set_parent(world, mica_sql_to_entity(4294967298), mica_sql_to_entity(4294967297));
    mica_relate(world, mica_sql_to_entity(4294967298), Near, mica_sql_to_entity(4294967297));
    mica_index_create(world, &(mica_index_def){.component = MICA_ID(Kinds), .fields = "i32"});
    mica_index_create(world, &(mica_index_def){.component = MICA_ID(Kinds), .fields = "u8"});
    mica_singleton_write(world, Clock)->ticks = 1;
    return world;
}

static const char *const statements[] = {
    "select entity from Kinds where i32 between -5 and 5",
    "select b.entity from Buff as b join Near as n on n.target = b.entity join Kinds as k on k.u8 = b.kind",
    "select entity, mood, skills, text, many, there from Kinds",
    "select path, components from entities",
    "select * from fields",
    "select * from components",
    "select * from entities where parent = 4294967297 or path = 'first'",
    "select * from Body b join Buff using (entity)",
    "select rowid from Buff where kind > 0 and rowid > 7",
    "update Kinds set u8 = 7, text = 'abc', skills = 'SKILL_SING', mood = 'MOOD_CALM'",
    "update Kinds set u8 = 'wrong'",
    "update Buff set amount = 3 where kind > 3",
    "update Clock set ticks = 3",
    "update Health set enabled = 0",
    "insert into Position(entity, x) select entity, mass from Body",
    "insert into Buff(entity, kind) select entity, 5 from Health",
    "insert into Position(x) values (1)",
    "insert into entities(name, parent) values ('second', 4294967297)",
    "delete from Buff where kind % 2 = 0",
    "select * from Person_inventory, Person_scores using (entity) where Person_scores.position = 1",
    "select * from Parcels",
    "select * from Parcels_weights where entity = 4294967297",
    "select row_key from Letters_numbers where entity = 4294967338",
    "insert into Person_inventory(entity, position, name) select entity, 0, 'a name of some length' from Person",
    "insert into Letters_numbers(entity, value) select entity, 5 from Letters",
    "update Person_scores set value = value + 1",
    "update Person_scores set value = 'wrong' where position = 2",
    "delete from Person_scores where value > 1",
    "delete from entities where slot > 5",
};

/* Whose memory fails: SQLite's, from the beginning or when the statement is compiled already, or the world's. */
typedef enum failing { OF_SQLITE, OF_SQLITE_RUNNING, OF_WORLD } failing;

/* Runs a statement with the k-th allocation failing. Returns whether one failed. */
static bool run_failing(const char *statement, uint64_t k, failing which)
{
    mica_world *world = make_world();
    mica_define(world, Position);
    mica_define(world, Parcels);
    sqlite3 *database = mica_sql_open(world, NULL);
    uint64_t before = mica_world_hash(world);
    failures = 0;
    sqlite3_stmt *compiled = NULL;
    if (which == OF_SQLITE_RUNNING)
        REQUIRE(sqlite3_prepare_v2(database, statement, -1, &compiled, NULL) == SQLITE_OK);
    if (which == OF_WORLD)
        faulty_allocator_fail_at(&faulty, k, false);
    else
        countdown = k;
    if (compiled) {
        while (sqlite3_step(compiled) == SQLITE_ROW)
            ;
        snprintf(answer, sizeof answer, "%s", sqlite3_finalize(compiled) == SQLITE_OK ? "" : "error: ");
    } else {
        ask(database, statement);
    }
    bool failed = faulty.failures + failures != 0;
    countdown = 0;
    faulty_allocator_fail_at(&faulty, 0, false);
    if (strncmp(answer, "error: ", 7) == 0)
        ck_assert_msg(mica_world_hash(world) == before, "%s: changed, though allocation %llu failed: %s", statement,
                      (unsigned long long)k, answer);
    sqlite3_close(database);
    forget_reports(&heard);
    close_world(world, &heard);
    ck_assert_msg(faulty.live_blocks == 0, "%s: the world's memory is given back", statement);
    ck_assert_msg(sqlite3_memory_used() == 0, "%s: SQLite's memory is given back: %lld bytes", statement,
                  (long long)sqlite3_memory_used());
    faulty_allocator_free(&faulty);
    return failed;
}

START_TEST(statements_fail_cleanly_at_every_allocation)
{
    use_failing_malloc();
    for (failing which = OF_SQLITE; which <= OF_WORLD; ++which)
        for (uint32_t i = 0; i < COUNT_OF(statements); ++i)
            for (uint64_t k = 1, step = 1; run_failing(statements[i], k, which); k += step)
                step = k < 60 ? 1 : k / 20; /* what comes late is many times the same */
}
END_TEST

START_TEST(attaching_fails_cleanly_at_every_allocation)
{
    use_failing_malloc();
    bool done = false;
    for (uint64_t k = 1; !done; ++k) {
        mica_world *world = make_world();
        sqlite3 *database = NULL;
        REQUIRE(sqlite3_open(":memory:", &database) == SQLITE_OK);
        failures = 0;
        countdown = k;
        mica_result result = mica_sql_attach(database, world, &(mica_sql_def){.prefix = "w_"});
        countdown = 0;
        done = failures == 0;
        ck_assert_msg(done ? result == MICA_OK : result == MICA_ERROR_MEMORY || result == MICA_OK,
                      "allocation %llu: %s", (unsigned long long)k, mica_result_text(result));
        ask(database, "select count(*) from w_Kinds");
        ck_assert_str_eq(answer, result == MICA_OK ? "40\n" : "error: no such table: w_Kinds");
        sqlite3_close(database);
        ck_assert_msg(forget_reports(&heard) == (result != MICA_OK), "it is reported");
        close_world(world, &heard);
        ck_assert_msg(sqlite3_memory_used() == 0, "%lld bytes", (long long)sqlite3_memory_used());
        faulty_allocator_free(&faulty);
    }
}
END_TEST

START_TEST(opening_fails_cleanly_at_every_allocation)
{
    use_failing_malloc();
    bool done = false;
    for (uint64_t k = 1; !done; ++k) {
        mica_world *world = make_world();
        failures = 0;
        countdown = k;
        sqlite3 *database = mica_sql_open(world, NULL);
        countdown = 0;
        done = failures == 0;
        ck_assert_msg(database ? forget_reports(&heard) == 0 : !done && forget_reports(&heard) == 1, "it is reported");
        sqlite3_close(database);
        close_world(world, &heard);
        faulty_allocator_free(&faulty);
        sqlite3_shutdown();
    }
}
END_TEST

TEST_SUITE(memory_failure, statements_fail_cleanly_at_every_allocation, attaching_fails_cleanly_at_every_allocation,
           opening_fails_cleanly_at_every_allocation)
