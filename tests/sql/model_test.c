/* Random writing through SQL against what is known to be right: calls of the C API, and tables of SQLite's own. */
#include "ask.h"

#include "../support/random.h"
#include "../support/variants.h"

#include "mica/hash.h"

static reports heard;

/* One component in a world that SQL writes and in a world that C writes: the same, down to handles and the order of rows. */
typedef struct twins {
    mica_world *by_sql, *by_c;
    sqlite3 *database;
    mica_component component;
    const mica_type *type;
    random_source random;
    mica_entity entities[64];
    uint32_t count;
} twins;

enum { STEPS = 250 };

static uint32_t instances_of(const twins *twins, mica_entity entity)
{
    if (!twins->type->many)
        return 0;
    mica_pool *pool = mica_pool_of_id(twins->by_c, twins->component);
    uint32_t count = 0;
    for (mica_instance at = mica_pool_find(pool, entity); !mica_instance_is_nil(at); at = mica_pool_next(pool, at))
        ++count;
    return count;
}

static mica_instance instance_number(mica_pool *pool, mica_entity entity, uint32_t number)
{
    mica_instance instance = mica_pool_find(pool, entity);
    while (number--)
        instance = mica_pool_next(pool, instance);
    return instance;
}

static void write_instance(const twins *twins, mica_pool *pool, mica_instance instance, const Item *item)
{
    static const size_t offsets[] = {offsetof(Item, number), offsetof(Item, low),  offsetof(Item, square),
                                     offsetof(Item, at.x),   offsetof(Item, at.y), offsetof(Item, at.z)};
    static const size_t bytes[] = {4, 1, 8, 4, 4, 4};
    char *whole = twins->type->split ? NULL : mica_instance_write_id(pool, instance);
    for (uint32_t i = 0; i < COUNT_OF(offsets); ++i)
        memcpy(whole ? whole + offsets[i] : mica_instance_write_field_id(pool, instance, offsets[i]),
               (const char *)item + offsets[i], bytes[i]);
}

static void insert_item(twins *twins, mica_entity entity, const Item *item)
{
    const char *handle =
        mica_is_nil(entity) ? "NULL" : sqlite3_mprintf("%lld", (long long)mica_sql_from_entity(entity));
    ask_with(twins->database,
             "insert into \"%w\"(entity, number, low, square, \"at.x\", \"at.y\", \"at.z\") values (%s, %u, %u, %f, "
             "%f, %f, %f)",
             twins->type->name, handle, item->number, item->low, item->square, (double)item->at.x, (double)item->at.y,
             (double)item->at.z);
    if (!mica_is_nil(entity))
        sqlite3_free((char *)handle);
    mica_value value = item_value(twins->component, item);
    if (mica_is_nil(entity)) {
        entity = mica_create_id(twins->by_c, &value, 1);
        REQUIRE(sqlite3_last_insert_rowid(twins->database) == mica_sql_from_entity(entity));
        if (twins->count < COUNT_OF(twins->entities))
            twins->entities[twins->count++] = entity;
    } else if (twins->type->many) {
        mica_pool *pool = mica_pool_of_id(twins->by_c, twins->component);
        write_instance(twins, pool, mica_pool_add(pool, entity), item);
    } else if (!mica_has_id(twins->by_c, entity, twins->component)) {
        mica_set_id(twins->by_c, entity, value);
    } else {
        REQUIRE(strncmp(answer, "error: ", 7) == 0);
        *answer = 0;
    }
}

static void update_item(twins *twins, mica_entity entity, const Item *item)
{
    uint32_t instances = instances_of(twins, entity), number = random_below(&twins->random, instances);
    const char *which = instances ? sqlite3_mprintf(" and instance = %u", number) : "";
    ask_with(twins->database,
             "update \"%w\" set number = %u, low = %u, square = %f, \"at.x\" = %f, \"at.y\" = %f, \"at.z\" = %f "
             "where entity = %lld%s",
             twins->type->name, item->number, item->low, item->square, (double)item->at.x, (double)item->at.y,
             (double)item->at.z, (long long)mica_sql_from_entity(entity), which);
    mica_pool *pool = instances ? mica_pool_of_id(twins->by_c, twins->component) : NULL;
    if (instances) {
        sqlite3_free((char *)which);
        write_instance(twins, pool, instance_number(pool, entity, number), item);
    } else if (mica_has_id(twins->by_c, entity, twins->component)) {
        mica_set_id(twins->by_c, entity, item_value(twins->component, item));
    }
}

static void delete_item(twins *twins, mica_entity entity)
{
    uint32_t instances = instances_of(twins, entity), number = random_below(&twins->random, instances);
    const char *which = instances ? sqlite3_mprintf(" and instance = %u", number) : "";
    ask_with(twins->database, "delete from \"%w\" where entity = %lld%s", twins->type->name,
             (long long)mica_sql_from_entity(entity), which);
    if (instances) {
        mica_pool *pool = mica_pool_of_id(twins->by_c, twins->component);
        sqlite3_free((char *)which);
        mica_pool_remove(pool, instance_number(pool, entity, number));
    } else if (mica_has_id(twins->by_c, entity, twins->component)) {
        mica_remove_id(twins->by_c, entity, twins->component);
    }
}

static void step(twins *twins)
{
    Item item = item_of(1 + random_below(&twins->random, 4000));
    item.at.z += 0.0f; /* SQL has no -0.0 */
    mica_entity entity = twins->count ? twins->entities[random_below(&twins->random, twins->count)] : mica_nil();
    bool alive = mica_is_alive(twins->by_c, entity), on = random_one_in(&twins->random, 2);
    *answer = 0;
    switch (random_below(&twins->random, 8)) {
    case 0:
    case 1: insert_item(twins, mica_nil(), &item); break;
    case 2:
    case 3:
        if (alive)
            insert_item(twins, entity, &item);
        break;
    case 4:
        if (alive)
            update_item(twins, entity, &item);
        break;
    case 5: delete_item(twins, entity); break;
    case 6:
        if (alive && twins->type->toggle && mica_has_id(twins->by_c, entity, twins->component)) {
            ask_with(twins->database, "update \"%w\" set enabled = %d where entity = %lld", twins->type->name, on,
                     (long long)mica_sql_from_entity(entity));
            mica_enable_id(twins->by_c, entity, twins->component, on);
        }
        break;
    default:
        ask_with(twins->database, "delete from entities where entity = %lld", (long long)mica_sql_from_entity(entity));
        if (alive)
            mica_destroy(twins->by_c, entity);
    }
    REQUIRE_SAYING(!*answer, "%s: %s", twins->type->name, answer);
}

START_TEST(a_world_that_sql_writes_is_the_one_that_c_writes)
{
    reports heard_by_c;
    for (uint32_t i = 0; i < variant_count; ++i) {
        twins twins = {.random = {i + 1}, .component = variant_component(&variants[i], 'w')};
        twins.type = mica_component_type(twins.component);
        twins.by_sql = open_world_of_small_chunks(&heard);
        twins.by_c = open_world_of_small_chunks(&heard_by_c);
        mica_component_define(twins.by_sql, twins.type);
        mica_component_define(twins.by_c, twins.type);
        twins.database = mica_sql_open(twins.by_sql, NULL);
        for (uint32_t at = 0; at < STEPS; ++at) {
            step(&twins);
            if (mica_world_hash(twins.by_sql) != mica_world_hash(twins.by_c)) {
                mica_difference difference;
                mica_hash_diff(twins.by_sql, twins.by_c, &difference);
                ck_abort_msg("%s, step %u: %s", twins.type->name, at, difference.text);
            }
        }
        sqlite3_close(twins.database);
        close_world(twins.by_sql, &heard);
        close_world(twins.by_c, &heard_by_c);
    }
}
END_TEST

/* Two tables of the world and two of SQLite's own go through the same transactions: SQLite knows what is right. */
static void random_change(sqlite3 *database, random_source *random)
{
    static const char *const tables[] = {"Number", "Health"}, *const columns[] = {"value", "current"};
    uint32_t which = random_below(random, 2), value = random_below(random, 1000), key = random_below(random, 12);
    const char *table = tables[which], *column = columns[which];
    if (random_one_in(random, 4)) { /* the last row fails, and the others were written */
        ask_with(database, "update %s set %s = case when entity = 4294967308 then 'no' else %u end", table, column,
                 value);
        REQUIRE_SAYING(strncmp(answer, "error: ", 7) == 0 && strstr(answer, "expected an integer"), "%s", answer);
        return;
    }
    ask_with(database, "update %s set %s = %u where entity in (select entity from entities where slot > %u)", table,
             column, value, key);
    REQUIRE(!*answer);
    ask_with(database, "update real%s set %s = %u where slot > %u", table, column, value, key);
    REQUIRE(!*answer);
}

static void random_transaction(sqlite3 *database, random_source *random, uint32_t *depth, bool *explicit)
{
    switch (random_below(random, 6)) {
    case 0:
        if (!*depth && !*explicit) {
            ask(database, "begin");
            *explicit = true;
        }
        break;
    case 1:
        if (*depth < 6)
            ask_with(database, "savepoint s%u", (*depth)++);
        break;
    case 2:
        if (*depth)
            ask_with(database, "release s%u", *depth = random_below(random, *depth));
        break;
    case 3:
        if (*depth) {
            uint32_t to = random_below(random, *depth);
            ask_with(database, "rollback to s%u", to);
            *depth = to + 1;
        }
        break;
    default:
        if (!random_one_in(random, 4) || sqlite3_get_autocommit(database))
            break;
        ask(database, random_one_in(random, 2) ? "commit" : "rollback");
        *depth = 0;
        *explicit = false;
    }
    REQUIRE_SAYING(!*answer, "%s", answer);
}

START_TEST(transactions_are_those_of_tables_of_sqlite)
{
    mica_world *world = open_world(&heard);
    for (int32_t i = 0; i < 12; ++i)
        mica_create(world, MICA_WITH(Number, {(uint32_t)i}), MICA_WITH(Health, {i, 0}));
    sqlite3 *database = mica_sql_open(world, NULL);
    ask(database, "create table realNumber as select slot, value from Number join entities using (entity)");
    ask(database, "create table realHealth as select slot, current from Health join entities using (entity)");
    random_source random = {3};
    uint32_t depth = 0;
    bool explicit = false;
    for (uint32_t i = 0; i < 2000; ++i) {
        *answer = 0;
        if (random_one_in(&random, 2))
            random_change(database, &random);
        else
            random_transaction(database, &random, &depth, &explicit);
        ask(database,
            "select (select count(*) from Number join entities using (entity) join realNumber r using (slot) where "
            "Number.value = r.value), (select count(*) from Health join entities using (entity) join realHealth r "
            "using (slot) where Health.current = r.current)");
        ck_assert_msg(strcmp(answer, "12|12\n") == 0, "step %u: %s", i, answer);
    }
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(model, a_world_that_sql_writes_is_the_one_that_c_writes, transactions_are_those_of_tables_of_sqlite)
