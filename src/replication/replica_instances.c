#include "replication/replica_instances.h"

#include "core/storage/pool_lookup.h"
#include "core/storage/rows.h"
#include "core/world/report.h"
#include "mica/entity.h"
#include "pool/pool_edge_table.h"
#include "pool/pool_rows.h"
#include "replication/replica_rules.h"

/* Rows of the sender's, and which follows which. */
typedef struct micap_delta_chains {
    const mica_entity *rows;
    const uint32_t *next;
    uint32_t count;
} chains;

/* What is known while a pool is arranged, in the memory of table->places. */
typedef struct micap_delta_arrangement {
    micap_delta_work *work;
    mica_replica *replica;
    mica_pool *pool;
    chains after;
    chains before;
    uint32_t *places; /* the rows here of the sender's rows: of those after, then of those before */
    uint32_t *firsts; /* of those after: 1 where no other is before it; then which instance is looked at next */
    uint32_t *slots;  /* by row here: its number in `places`, or MICAP_ROW_NONE */
    uint32_t *list;   /* as many as there are rows here */
} arrangement;

static mica_result refuse(const micap_delta_work *work, const char *why, mica_entity entity)
{
    return micap_fail(work->world, MICA_ERROR_DATA, (mica_location){0},
                      "delta: %s (the sender's entity %u, generation %u)", why, entity.index, entity.generation);
}

/* Those of the replica, and over them what was sent. */
static bool lay_next(micap_delta_work *work, micap_delta_table *table)
{
    const micap_replica_table *before = &work->replica->pools[table->location];
    if (!MICAP_RESERVE(&work->world->memory, table->next, &table->next_capacity, table->row_count))
        return false;
    uint32_t kept = before->row_count < table->row_count ? before->row_count : table->row_count;
    if (kept)
        memcpy(table->next, before->next, kept * sizeof *table->next);
    for (uint32_t i = 0; i < table->slice_count; ++i) {
        const micap_delta_slice *slice = &work->slices[table->slice + i];
        for (uint32_t at = 0; slice->next && at < slice->row_count; ++at) {
            uint32_t next;
            memcpy(&next, slice->next + (size_t)at * 4, sizeof next);
            table->next[slice->row + at] = micap_little32(next);
        }
    }
    return true;
}

/* 1 for rows that no other row has as its next one, else 0. */
static void find_firsts(const chains *chains, uint32_t *firsts)
{
    for (uint32_t row = 0; row < chains->count; ++row)
        firsts[row] = 1;
    for (uint32_t row = 0; row < chains->count; ++row)
        if (chains->next[row] != MICAP_ROW_NONE)
            firsts[chains->next[row]] = 0;
}

/* Each entity has one chain, and each row is in one. */
static mica_result check_chains(micap_delta_work *work, const micap_delta_table *table, uint32_t *met)
{
    mica_replica *replica = work->replica;
    const mica_entity *rows = table->rows;
    uint32_t visited = 0;
    for (uint32_t row = 0; row < table->row_count; ++row)
        met[row] = 0;
    for (uint32_t row = 0; row < table->row_count; ++row) {
        uint32_t next = table->next[row];
        if (next != MICAP_ROW_NONE && (next >= table->row_count || !mica_same(rows[next], rows[row]) || met[next]++))
            return refuse(work, "the instances of an entity are linked wrong", rows[row]);
    }
    ++replica->mark;
    for (uint32_t row = 0; row < table->row_count; ++row) {
        if (met[row])
            continue;
        micap_twin *twin = micap_entity_map_find(&replica->twins, rows[row]);
        if (twin && twin->mark == replica->mark)
            return refuse(work, "the instances of an entity are not all linked", rows[row]);
        if (twin)
            twin->mark = replica->mark;
        for (uint32_t at = row; at != MICAP_ROW_NONE; at = table->next[at])
            ++visited;
    }
    return visited == table->row_count ? MICA_OK : refuse(work, "instances are linked in a circle", mica_nil());
}

static uint32_t instances_here(const micap_delta_work *work, const mica_pool *pool, mica_entity local)
{
    uint32_t count = 0;
    if (!micap_is_row(micap_locate(work->world, local)))
        return 0; /* rows of a dead entity go first */
    for (uint32_t row = micap_pool_row(pool, local); row != MICAP_ROW_NONE; row = pool->next[row])
        ++count;
    return count;
}

/* How many instances are added. */
static uint64_t count_new(micap_delta_work *work, const micap_delta_table *table, const mica_pool *pool)
{
    mica_replica *replica = work->replica;
    uint64_t count = 0;
    ++replica->mark;
    for (uint32_t row = 0; row < table->row_count; ++row) {
        micap_twin *twin = micap_entity_map_find(&replica->twins, table->rows[row]);
        if (!twin)
            continue;
        if (twin->mark != replica->mark) {
            twin->mark = replica->mark;
            twin->instance = instances_here(work, pool, twin->other);
        }
        count += !twin->instance;
        twin->instance -= twin->instance != 0;
    }
    return count;
}

/* Room for the lists of the arrangement. */
static bool make_lists(micap_delta_work *work, micap_delta_table *table, const mica_pool *pool, uint64_t added)
{
    uint64_t count = table->row_count;
    if (table->is_moved)
        count = count * 2 + work->replica->pools[table->location].row_count + (pool->row_limit + added) * 2;
    return MICAP_RESERVE(&work->world->memory, table->places, &table->place_capacity, count);
}

/* Any entity that the sender has may be a target. */
static bool make_room_for_targets(micap_delta_work *work, mica_pool *pool)
{
    const micap_entity_map *twins = &work->replica->twins;
    bool fine = micap_edge_table_reserve(pool, 0);
    for (uint32_t i = 0; fine && i < twins->capacity; ++i)
        if (!mica_is_nil(twins->entries[i].key))
            fine = micap_pools_make_room_for_target(work->world, pool, twins->entries[i].other);
    return fine;
}

mica_result micap_instances_plan(micap_delta_work *work, micap_delta_table *table)
{
    mica_pool *pool = micap_pool_of(work->world, table->type->id);
    uint64_t added = table->is_moved ? count_new(work, table, pool) : 0;
    if ((pool->edges && !make_room_for_targets(work, pool)) || !make_lists(work, table, pool, added) ||
        !micap_rules_want(work, pool->type, added) || (table->is_moved && !lay_next(work, table)))
        return micap_fail_memory(work->world, "delta");
    if (!table->is_moved)
        return MICA_OK;
    mica_result result = check_chains(work, table, table->places);
    for (uint32_t row = 0; result == MICA_OK && row < table->row_count; ++row) {
        const micap_twin *twin = micap_entity_map_find(&work->replica->twins, table->rows[row]);
        if (twin && !micap_pools_make_room(work->world, pool, twin->other, added))
            result = micap_fail_memory(work->world, "delta");
    }
    return result;
}

uint32_t micap_instances_add(micap_delta_work *work, mica_pool *pool, mica_entity entity)
{
    mica_world *world = work->world;
    uint32_t next = micap_pool_next_row(pool, entity);
    if (micap_delta_has_functions(pool->type))
        micap_pool_move_value_in(pool, next, micap_rules_default(work, pool->type));
    else
        micap_pool_make_value(pool, next, NULL);
    uint32_t row = micap_pools_commit(world, pool, entity);
    if (pool->edges)
        pool->links[row].target_count = MICAP_EDGE_UNSEEN; /* its hook runs when its target is there */
    else if (pool->hook_mask & 1 << MICA_EVENT_ADD)
        micap_pools_run_hook(world, MICA_EVENT_ADD, pool, row, 1);
    return row;
}

/* The rows here of the sender's: the first instance of an entity is the first one there, and so on. */
static void find_places(const mica_replica *replica, const mica_pool *pool, const chains *chains, uint32_t *places)
{
    find_firsts(chains, places);
    for (uint32_t row = 0; row < chains->count; ++row)
        places[row] = places[row] ? MICAP_ROW_NONE - 1 : MICAP_ROW_NONE;
    for (uint32_t row = 0; row < chains->count; ++row) {
        if (places[row] != MICAP_ROW_NONE - 1)
            continue;
        mica_entity local = micap_replica_living(replica, chains->rows[row]);
        uint32_t here = mica_is_nil(local) ? MICAP_ROW_NONE : micap_pool_row(pool, local);
        for (uint32_t at = row; at != MICAP_ROW_NONE; at = chains->next[at]) {
            places[at] = here;
            here = here == MICAP_ROW_NONE ? MICAP_ROW_NONE : pool->next[here];
        }
    }
}

static void put(arrangement *a, uint32_t slot, uint32_t row)
{
    a->places[slot] = row;
    a->slots[row] = slot;
}

/* Instances that stay in their rows. Marks the entities that have instances, and sets the first of each. */
static void keep_instances(arrangement *a)
{
    uint32_t count = a->after.count;
    for (uint32_t row = 0; row < a->pool->row_limit; ++row)
        a->slots[row] = MICAP_ROW_NONE;
    for (uint32_t row = 0; row < a->before.count; ++row)
        if (a->places[count + row] != MICAP_ROW_NONE)
            a->slots[a->places[count + row]] = count + row;
    find_firsts(&a->after, a->firsts);
    ++a->replica->mark;
    for (uint32_t row = 0; row < count; ++row) {
        micap_twin *twin = micap_entity_map_find(&a->replica->twins, a->after.rows[row]);
        bool is_same = row < a->before.count && mica_same(a->before.rows[row], a->after.rows[row]);
        a->places[row] = MICAP_ROW_NONE;
        if (is_same && a->places[count + row] != MICAP_ROW_NONE) {
            put(a, row, a->places[count + row]);
            a->places[count + row] = MICAP_ROW_NONE;
        }
        if (twin && a->firsts[row]) {
            twin->mark = a->replica->mark;
            twin->instance = row;
            a->firsts[row] = row;
        } else {
            a->firsts[row] = MICAP_ROW_NONE;
        }
    }
}

/* The next instance of an entity that has no row here yet, or MICAP_ROW_NONE. */
static uint32_t next_without_row(const arrangement *a, const micap_twin *twin)
{
    if (twin->mark != a->replica->mark)
        return MICAP_ROW_NONE;
    uint32_t at = a->firsts[twin->instance];
    while (at != MICAP_ROW_NONE && a->places[at] != MICAP_ROW_NONE)
        at = a->after.next[at];
    a->firsts[twin->instance] = at;
    return at;
}

/* Instances that left their rows become others of the same entity, or go. */
static void use_others(arrangement *a)
{
    for (uint32_t i = 0; i < a->before.count; ++i) {
        uint32_t row = a->places[a->after.count + i];
        if (row == MICAP_ROW_NONE)
            continue;
        uint32_t slot = next_without_row(a, micap_entity_map_find(&a->replica->twins, a->before.rows[i]));
        if (slot != MICAP_ROW_NONE) {
            put(a, slot, row);
            continue;
        }
        uint32_t last = a->pool->row_limit - 1;
        micap_pools_remove_instance(a->work->world, a->pool, row);
        a->slots[row] = a->slots[last]; /* the last one takes its row */
        if (row != last && a->slots[row] != MICAP_ROW_NONE)
            a->places[a->slots[row]] = row;
    }
}

static void add_missing(arrangement *a)
{
    for (uint32_t row = 0; row < a->after.count; ++row) {
        mica_entity local = micap_replica_living(a->replica, a->after.rows[row]);
        if (a->places[row] == MICAP_ROW_NONE && !mica_is_nil(local))
            put(a, row, micap_instances_add(a->work, a->pool, local));
    }
}

/* Puts the instances of an entity into order: the sender's, then those that the receiver added. */
static void order_chain(arrangement *a, mica_entity local, uint32_t first)
{
    uint32_t count = 0, at = 0;
    mica_pool *pool = a->pool;
    for (uint32_t row = first; row != MICAP_ROW_NONE; row = a->after.next[row])
        a->list[count++] = a->places[row];
    for (uint32_t row = micap_pool_row(pool, local); row != MICAP_ROW_NONE; row = pool->next[row])
        if (a->slots[row] == MICAP_ROW_NONE)
            a->list[count++] = row;
    for (uint32_t row = micap_pool_row(pool, local); row != MICAP_ROW_NONE && row == a->list[at]; row = pool->next[row])
        ++at;
    if (at < count)
        micap_pool_order_instances(pool, a->list, count);
}

static void order_chains(arrangement *a)
{
    for (uint32_t row = 0; row < a->after.count; ++row) {
        const micap_twin *twin = micap_entity_map_find(&a->replica->twins, a->after.rows[row]);
        if (twin && twin->mark == a->replica->mark && twin->instance == row && a->places[row] != MICAP_ROW_NONE)
            order_chain(a, twin->other, row);
    }
}

/* Puts rows into the sender's order, if there are no others. */
static void order_rows(arrangement *a)
{
    uint32_t living = 0, to = 0;
    for (uint32_t row = 0; row < a->after.count; ++row)
        living += a->places[row] != MICAP_ROW_NONE;
    for (uint32_t row = 0; living == a->pool->row_limit && row < a->after.count; ++row) {
        uint32_t from = a->places[row];
        if (from == MICAP_ROW_NONE)
            continue;
        micap_pool_swap_rows(a->pool, to, from, micap_version(a->work->world));
        put(a, a->slots[to], from);
        put(a, row, to++);
    }
}

void micap_instances_arrange(micap_delta_work *work, const micap_delta_table *table)
{
    const micap_replica_table *known = &work->replica->pools[table->location];
    mica_pool *pool = micap_pool_of(work->world, table->type->id);
    MICAP_ASSERT(pool, "a delta names components that the world uses");
    chains before = {known->rows, known->next, known->row_count};
    if (!table->is_moved) {
        find_places(work->replica, pool, &before, table->places);
        return;
    }
    uint32_t *places = table->places, count = table->row_count;
    size_t listed = 2 * (size_t)count + before.count;
    arrangement a = {.work = work,
                     .replica = work->replica,
                     .pool = pool,
                     .after = {table->rows, table->next, count},
                     .before = before,
                     .places = places,
                     .firsts = places + count + before.count,
                     .slots = places + listed,
                     .list = places + listed + (table->place_capacity - listed) / 2};
    micap_pools_sweep(work->world, pool);
    find_places(work->replica, pool, &before, places + count);
    keep_instances(&a);
    use_others(&a);
    add_missing(&a);
    order_chains(&a);
    order_rows(&a);
}
