/* Rows of pools in a world that is restored. */
#include "core/state/resume_pools.h"

#include "core/state/state_records.h"
#include "core/storage/pool_lookup.h"
#include "pool/pool_group.h"
#include "pool/pool_rows.h"

/* What bytes say about one pool. */
typedef struct saved_pool {
    mica_pool *pool; /* NULL: not known here */
    uint64_t probe_count;
    uint64_t removed_count;
    uint64_t row_count;   /* of a pool whose rows have an order */
    micap_reader owners;  /* by row */
    micap_reader numbers; /* of instances, by row; of a pool for many */
    uint64_t row_limit;
    uint64_t column_count;
    micap_reader stamps;
} saved_pool;

static void skip_handles(micap_reader *reader, uint64_t count)
{
    while (count && !reader->failed) {
        uint64_t run = micap_reader_take_up_to(reader, count);
        micap_reader_take_number(reader);
        micap_reader_take_number(reader);
        reader->failed |= !run;
        count -= run;
    }
}

static void skip_numbers(micap_reader *reader, uint64_t count)
{
    while (count && !reader->failed) {
        uint64_t run = micap_reader_take_up_to(reader, count);
        micap_reader_take_number(reader);
        reader->failed |= !run;
        count -= run;
    }
}

/* False if the bytes are invalid. */
static bool take_pool(const mica_world *world, micap_reader *reader, saved_pool *out)
{
    const micap_type *type = micap_state_find_type(world, micap_reader_take64(reader));
    uint32_t count = micap_reader_take32(reader);
    const char *begin = micap_reader_take(reader, count);
    if (!begin)
        return false;
    micap_reader at = {begin, begin, begin + count, false};
    out->pool = type && micap_is_pooled(type->id) ? micap_pool_of(world, type->id) : NULL;
    out->probe_count = micap_reader_take_number(&at);
    out->removed_count = micap_reader_take_number(&at);
    out->row_count = micap_reader_take_up_to(&at, UINT32_MAX);
    out->owners = at;
    skip_handles(&at, out->row_count);
    out->numbers = at;
    if (out->pool && out->pool->next)
        skip_numbers(&at, out->row_count);
    out->row_limit = micap_reader_take_up_to(&at, UINT32_MAX);
    out->column_count = micap_reader_take_number(&at);
    out->stamps = at;
    return !at.failed;
}

static bool has_order(const mica_pool *pool)
{
    return pool->kind == MICAP_POOL_MAP || pool->kind == MICAP_POOL_HASH;
}

/* Whether the pool has no room for a row of this dead entity: the row of its index is of a later entity, or it has its only one. */
static bool is_taken(const mica_pool *pool, mica_entity dead)
{
    uint32_t row = micap_pool_row_at(pool, dead.index);
    return row != MICAP_ROW_NONE && !(pool->next && mica_same(pool->owners[row], dead));
}

/* Adds the rows of dead entities that the saved pool still had, in a pool for many all of them. Their values are not visible. */
static bool add_dead_rows(mica_world *world, const saved_pool *saved)
{
    mica_pool *pool = saved->pool;
    micap_handle_runs runs = {0};
    micap_reader owners = saved->owners;
    bool may_have = pool->may_hold_dead && has_order(pool) && !pool->group, fine = true;
    for (uint64_t i = 0; may_have && fine && i < saved->row_count; ++i) {
        mica_entity owner = micap_handle_runs_take(&runs, &owners);
        if (mica_is_nil(owner) || mica_is_alive(world, owner) || is_taken(pool, owner))
            continue;
        fine = micap_pool_reserve_rows(pool, 1) && micap_pool_reserve_entity(pool, owner.index) &&
               micap_pool_make_value(pool, micap_pool_next_row(pool, owner), NULL);
        if (fine) {
            micap_pool_append(pool, owner, micap_version(world));
            ++pool->dead_count;
        }
    }
    return fine;
}

bool micap_resume_prepare_pools(mica_world *world, micap_reader reader)
{
    micap_pools *pools = &world->pools;
    if (!reader.begin)
        return true;
    uint64_t random_state = micap_reader_take64(&reader);
    mica_entity *dead;
    uint32_t dead_count;
    if (!micap_state_take_handles(world, &reader, &dead, &dead_count))
        return false;
    bool fine =
        MICAP_RESERVE(&world->memory, pools->dead, &pools->dead_capacity, (uint64_t)pools->dead_count + dead_count);
    for (uint32_t i = 0; fine && i < dead_count; ++i)
        if (!mica_is_alive(world, dead[i]))
            pools->dead[pools->dead_count++] = dead[i];
    MICAP_RELEASE_ARRAY(&world->memory, dead, dead_count);
    uint64_t count = micap_reader_take_number(&reader);
    for (uint64_t i = 0; fine && i < count; ++i) {
        saved_pool saved;
        fine = take_pool(world, &reader, &saved) && (!saved.pool || add_dead_rows(world, &saved));
    }
    pools->random_state = random_state;
    return fine;
}

/* The instances of all entities of a pool for many, so that finding one of many takes no walk. Rows are those that the pool had when the
 * list was made; the last two arrays follow them when rows are swapped. */
typedef struct instance_list {
    uint32_t *rows;   /* entity by entity, in their order; NULL: not for many, or there is no memory */
    uint32_t *begins; /* by the row of a first instance: where its entity begins in `rows` */
    uint32_t *now;    /* by row: where it is */
    uint32_t *was;    /* by row: which one is there */
} instance_list;

static size_t list_bytes(const mica_pool *pool)
{
    return 4 * sizeof(uint32_t) * (size_t)pool->row_limit;
}

static instance_list list_instances(const mica_pool *pool)
{
    instance_list list = {0};
    uint32_t count = pool->row_limit, position = 0;
    if (!pool->next || !count)
        return list;
    list.rows = micap_allocate(pool->memory, list_bytes(pool), MICAP_ARRAY_ALIGNMENT);
    if (!list.rows)
        return list;
    list.begins = list.rows + count;
    list.now = list.begins + count;
    list.was = list.now + count;
    for (uint32_t row = 0; row < count; ++row) {
        list.now[row] = list.was[row] = row;
        if (!micap_pool_is_first(pool, row))
            continue;
        list.begins[row] = position;
        for (uint32_t at = row; at != MICAP_ROW_NONE; at = pool->next[at])
            list.rows[position++] = at;
    }
    return list;
}

/* The row of an instance of an entity, or MICAP_ROW_NONE. */
static uint32_t find_row(const mica_pool *pool, const instance_list *list, mica_entity owner, uint64_t number)
{
    uint32_t row = micap_pool_row(pool, owner);
    if (row != MICAP_ROW_NONE && list->rows) {
        uint32_t begin = list->begins[list->was[row]];
        if (number >= pool->row_limit - begin)
            return MICAP_ROW_NONE;
        row = list->now[list->rows[begin + number]];
        return mica_same(pool->owners[row], owner) ? row : MICAP_ROW_NONE;
    }
    for (; number && row != MICAP_ROW_NONE; --number)
        row = pool->next[row];
    return row;
}

/* Whether the pool has the rows that bytes say. */
static bool fits(const saved_pool *saved, const instance_list *list)
{
    const mica_pool *pool = saved->pool;
    micap_reader owners = saved->owners, numbers = saved->numbers;
    micap_handle_runs handle_runs = {0};
    micap_number_runs number_runs = {0};
    for (uint64_t i = 0; i < saved->row_count; ++i) {
        mica_entity owner = micap_handle_runs_take(&handle_runs, &owners);
        uint64_t number = pool->next ? micap_number_runs_take(&number_runs, &numbers) : 0;
        if (find_row(pool, list, owner, number) == MICAP_ROW_NONE)
            return false;
    }
    return true;
}

static void swap_rows(mica_pool *pool, const instance_list *list, uint32_t a, uint32_t b, mica_version version)
{
    micap_pool_swap_rows(pool, a, b, version);
    if (!list->rows)
        return;
    uint32_t was = list->was[a];
    list->was[a] = list->was[b];
    list->was[b] = was;
    list->now[list->was[a]] = a;
    list->now[was] = b;
}

static void arrange(const saved_pool *saved, const instance_list *list, mica_version version)
{
    mica_pool *pool = saved->pool;
    micap_reader owners = saved->owners, numbers = saved->numbers;
    micap_handle_runs handle_runs = {0};
    micap_number_runs number_runs = {0};
    for (uint32_t row = 0; row < saved->row_count; ++row) {
        mica_entity owner = micap_handle_runs_take(&handle_runs, &owners);
        uint32_t from = find_row(pool, list, owner, pool->next ? micap_number_runs_take(&number_runs, &numbers) : 0);
        if (from > row) /* an entity that invalid bytes name twice is there already */
            swap_rows(pool, list, row, from, version);
    }
    ++pool->stamp;
}

/* Puts rows into the order that bytes say, if the pool has such rows. */
static void arrange_fitting(const saved_pool *saved, mica_version version)
{
    const mica_pool *pool = saved->pool;
    if (!has_order(pool) || pool->row_limit != saved->row_count)
        return;
    instance_list list = list_instances(pool);
    if (fits(saved, &list))
        arrange(saved, &list, version);
    micap_release(pool->memory, list.rows, list_bytes(pool), MICAP_ARRAY_ALIGNMENT);
}

/* Pools of a group have the same rows first. Those of a saved world do, so that nothing moves; bytes could say anything. */
static void fill_groups(const mica_world *world, mica_version version)
{
    for (uint32_t i = 0; i < world->pools.count; ++i) {
        micap_pool_group *group = world->pools.all[i]->group;
        if (!group || group->pools[0] != world->pools.all[i])
            continue;
        group->count = 0;
        micap_group_fill(group, version);
    }
}

static void load_stamps(const saved_pool *saved, mica_version version)
{
    mica_pool *pool = saved->pool;
    micap_reader reader = saved->stamps;
    micap_number_runs runs = {0};
    if (pool->kind == MICAP_POOL_TAG || pool->row_limit != saved->row_limit ||
        pool->data_lane_count != saved->column_count)
        return;
    for (uint32_t row = 0; row < pool->row_limit; row += MICA_SLICE_ROWS)
        for (uint32_t i = 0; i <= pool->data_lane_count; ++i) {
            mica_version *to = &micap_pool_stamps(pool, row)[i];
            *to = micap_stamp_of(*to, micap_number_runs_take_version(&runs, &reader, version));
        }
    for (uint32_t row = 0; pool->added && row < pool->row_limit; ++row)
        pool->added[row] = micap_number_runs_take_version(&runs, &reader, version);
    for (uint32_t row = 0; pool->changed && row < pool->row_limit; row += MICA_SLICE_ROWS)
        *micap_pool_marked(pool, row) = micap_number_runs_take_version(&runs, &reader, version);
    for (uint32_t row = 0; pool->changed && row < pool->row_limit; ++row) {
        pool->changed[row] = micap_number_runs_take_version(&runs, &reader, version);
        if (pool->changed[row] > micap_pool_stamps(pool, row)[0]) /* or bytes could hide it from queries */
            micap_stamp_newest(micap_pool_marked(pool, row), pool->changed[row]);
    }
}

/* As for chunks: see resume_rows.c. */
static void bound_stamps(mica_pool *pool, mica_version version)
{
    if (pool->kind == MICAP_POOL_TAG)
        return;
    for (uint32_t row = 0; row < pool->row_limit; row += MICA_SLICE_ROWS) {
        for (uint32_t i = 0; i <= pool->data_lane_count; ++i)
            micap_stamp_bound(&micap_pool_stamps(pool, row)[i], version);
        if (pool->changed)
            micap_stamp_bound(micap_pool_marked(pool, row), version);
    }
    for (uint32_t row = 0; row < pool->row_limit; ++row) {
        if (pool->added)
            micap_stamp_bound(&pool->added[row], version);
        if (pool->changed)
            micap_stamp_bound(&pool->changed[row], version);
    }
}

void micap_resume_arrange_pools(mica_world *world, micap_reader reader, mica_version version)
{
    for (uint32_t i = 0; i < world->pools.count; ++i)
        bound_stamps(world->pools.all[i], version);
    if (!reader.begin)
        return;
    micap_reader_take64(&reader);
    skip_handles(&reader, micap_reader_take_number(&reader));
    uint64_t count = micap_reader_take_number(&reader);
    micap_reader stamps = reader;
    saved_pool saved;
    for (uint64_t i = 0; i < count && take_pool(world, &reader, &saved); ++i) {
        if (!saved.pool)
            continue;
        saved.pool->probe_count = saved.probe_count;
        saved.pool->removed_count = saved.removed_count;
        arrange_fitting(&saved, version);
    }
    fill_groups(world, version);
    for (uint64_t i = 0; i < count && take_pool(world, &stamps, &saved); ++i)
        if (saved.pool)
            load_stamps(&saved, version);
}
