/* Operations that only pools offer: instances, the arrays themselves, clearing the dead, sorting and groups. */
#include "play.h"

#include <string.h>

static bool has_rows(sample_kind kind)
{
    return sample_is_pooled(kind) && samples[kind].has_data;
}

mica_instance play_find_instance(const play *play, const model_entity *entity, sample_kind kind, uint32_t which)
{
    mica_instance instance = mica_pool_find(play->pools[kind], entity->handle);
    for (; which > 0; --which)
        instance = mica_pool_next(play->pools[kind], instance);
    return instance;
}

static bool instance_holds(const play *play, sample_kind kind, mica_instance instance, uint32_t number)
{
    if (!sample_is_split(kind))
        return samples[kind].holds(mica_instance_read_id(play->pools[kind], instance), number);
    sample_room whole;
    for (uint32_t i = 0; i < SAMPLE_LEAVES; ++i) {
        const sample_leaf *leaf = &sample_leaves[i];
        memcpy(whole.bytes + leaf->offset, mica_instance_read_field_id(play->pools[kind], instance, leaf->offset),
               leaf->bytes);
    }
    return samples[kind].holds(whole.bytes, number);
}

static void instance_assign(const play *play, sample_kind kind, mica_instance instance, uint32_t number)
{
    if (!sample_is_split(kind)) {
        samples[kind].assign(mica_instance_write_id(play->pools[kind], instance), number);
        return;
    }
    sample_room whole;
    samples[kind].assign(whole.bytes, number);
    for (uint32_t i = 0; i < SAMPLE_LEAVES; ++i) {
        const sample_leaf *leaf = &sample_leaves[i];
        memcpy(mica_instance_write_field_id(play->pools[kind], instance, leaf->offset), whole.bytes + leaf->offset,
               leaf->bytes);
    }
}

void play_compare_instances(play *play, const model_entity *entity, sample_kind kind)
{
    const mica_pool *pool = play->pools[kind];
    mica_instance instance = mica_pool_find(pool, entity->handle);
    for (uint32_t which = 0; which < model_instance_count(entity, kind); ++which) {
        EXPECT_SAYING(play, !mica_instance_is_nil(instance), "%s: there is no instance %u", samples[kind].name, which);
        EXPECT(play, mica_same(mica_pool_owner(pool, instance), entity->handle));
        EXPECT_SAYING(play, instance_holds(play, kind, instance, model_instance_at(entity, kind, which).number),
                      "instance %u of %s", which, samples[kind].name);
        instance = mica_pool_next(pool, instance);
    }
    EXPECT_SAYING(play, mica_instance_is_nil(instance), "%s: too many instances", samples[kind].name);
}

uint32_t play_compare_pool(play *play, sample_kind kind)
{
    const mica_pool *pool = play->pools[kind];
    EXPECT_SAYING(play, mica_pool_count(pool) == play->model.instances[kind], "%s: %u, not %u", samples[kind].name,
                  mica_pool_count(pool), play->model.instances[kind]);
    const mica_entity *owners = mica_pool_owners(pool);
    uint32_t rows = has_rows(kind) ? mica_pool_row_count(pool) : 0, living = 0, dead = 0;
    for (uint32_t row = 0; row < rows; ++row) {
        if (mica_is_nil(owners[row]) && samples[kind].type->index == MICA_INDEX_DIRECT)
            continue;
        const model_entity *owner = model_find(&play->model, owners[row]);
        EXPECT(play, !mica_is_nil(owners[row]));
        EXPECT_SAYING(play, !owner || (owner->components >> kind & 1), "%s: row %u", samples[kind].name, row);
        living += owner != NULL;
        dead += !owner;
    }
    EXPECT_SAYING(play, !has_rows(kind) || living == play->model.instances[kind], "%s", samples[kind].name);
    EXPECT(play, dead == 0 || samples[kind].type->dying != MICA_DYING_AT_ONCE);
    return dead;
}

/* How many rows the dead have left, without a look at the living. */
static uint32_t count_dead_rows(const play *play, sample_kind kind)
{
    const mica_entity *owners = mica_pool_owners(play->pools[kind]);
    uint32_t dead = 0;
    for (uint32_t row = 0; row < mica_pool_row_count(play->pools[kind]); ++row)
        dead += !mica_is_nil(owners[row]) && !model_find(&play->model, owners[row]);
    return dead;
}

static void add_instance(play *play)
{
    sample_kind kind = play_draw_sample_that(play, random_one_in(&play->random, 4) ? has_rows : sample_is_many);
    model_entity *entity = model_find(&play->model, play_draw_living(play));
    if (kind == SAMPLE_COUNT || !entity)
        return;
    mica_instance instance = mica_pool_add(play->pools[kind], entity->handle);
    if (entity->components >> kind & 1 && !sample_is_many(kind)) {
        EXPECT(play, mica_instance_is_nil(instance) && play->other_reports == 1);
        play->other_reports = 0;
        return;
    }
    EXPECT(play, !mica_instance_is_nil(instance) && instance_holds(play, kind, instance, samples[kind].start));
    uint32_t number = play_draw_number(play);
    instance_assign(play, kind, instance, number);
    model_instance_add(&play->model, entity, kind, number);
    play_compare_entity(play, entity);
}

/* An entity drawn at random, one of its samples in pools, and one of the instances it has of it. */
typedef struct drawn_instance {
    model_entity *entity; /* NULL when there is none */
    sample_kind kind;
    uint32_t which;
    mica_instance instance;
} drawn_instance;

static drawn_instance draw_instance(play *play)
{
    drawn_instance drawn = {.kind = play_draw_sample_that(play, has_rows)};
    model_entity *entity = model_find(&play->model, play_draw_living(play));
    uint32_t count = entity && drawn.kind != SAMPLE_COUNT ? model_instance_count(entity, drawn.kind) : 0;
    if (!count)
        return drawn;
    drawn.entity = entity;
    drawn.which = random_below(&play->random, count);
    drawn.instance = play_find_instance(play, entity, drawn.kind, drawn.which);
    return drawn;
}

static void remove_instance(play *play)
{
    drawn_instance drawn = draw_instance(play);
    if (!drawn.entity)
        return;
    EXPECT(play, mica_pool_remove(play->pools[drawn.kind], drawn.instance));
    model_instance_remove(&play->model, drawn.entity, drawn.kind, drawn.which);
    play_compare_entity(play, drawn.entity);
}

static void write_instance(play *play)
{
    drawn_instance drawn = draw_instance(play);
    if (!drawn.entity)
        return;
    uint32_t number = play_draw_number(play);
    instance_assign(play, drawn.kind, drawn.instance, number);
    model_instance_touch(&play->model, drawn.entity, drawn.kind, drawn.which, number);
    play_compare_entity(play, drawn.entity);
}

/* Stale handles have nothing in pools, whether or not a row is left of them. */
static void use_stale_in_pool(play *play)
{
    sample_kind kind = play_draw_sample_that(play, has_rows);
    if (!play->stale_count || kind == SAMPLE_COUNT)
        return;
    mica_entity stale = play->stale[random_below(&play->random, play->stale_count)];
    EXPECT(play, mica_instance_is_nil(mica_pool_find(play->pools[kind], stale)));
    EXPECT(play, play->dead_reports == 0);
    EXPECT(play, mica_instance_is_nil(mica_pool_add(play->pools[kind], stale)));
    EXPECT(play, play->dead_reports == 1);
    play->dead_reports = 0;
}

/* The arrays of a pool, as a program would use them: one, or one per field. */
typedef struct arrays {
    char *columns[SAMPLE_LEAVES];
    sample_leaf leaves[SAMPLE_LEAVES];
    uint32_t count;
} arrays;

static arrays arrays_of(const play *play, sample_kind kind, bool write)
{
    mica_pool *pool = play->pools[kind];
    arrays arrays = {.count = 1, .leaves = {{0, samples[kind].type->size_bytes}}};
    if (!sample_is_split(kind)) {
        arrays.columns[0] = write ? mica_pool_write_id(pool) : (void *)(uintptr_t)mica_pool_read_id(pool);
        return arrays;
    }
    arrays.count = SAMPLE_LEAVES;
    for (uint32_t i = 0; i < SAMPLE_LEAVES; ++i) {
        size_t offset = sample_leaves[i].offset;
        arrays.leaves[i] = sample_leaves[i];
        arrays.columns[i] =
            write ? mica_pool_write_field_id(pool, offset) : (void *)(uintptr_t)mica_pool_read_field_id(pool, offset);
    }
    return arrays;
}

/* The value of a row: where it lies, or put together in the room. */
static const void *row_value(const arrays *arrays, uint32_t row, sample_room *room)
{
    if (arrays->count == 1)
        return arrays->columns[0] + (size_t)row * arrays->leaves[0].bytes;
    for (uint32_t i = 0; i < arrays->count; ++i)
        memcpy(room->bytes + arrays->leaves[i].offset, arrays->columns[i] + (size_t)row * arrays->leaves[i].bytes,
               arrays->leaves[i].bytes);
    return room->bytes;
}

static void row_assign(const arrays *arrays, sample_kind kind, uint32_t row, uint32_t number)
{
    if (arrays->count == 1) {
        samples[kind].assign(arrays->columns[0] + (size_t)row * arrays->leaves[0].bytes, number);
        return;
    }
    sample_room whole;
    samples[kind].assign(whole.bytes, number);
    for (uint32_t i = 0; i < arrays->count; ++i)
        memcpy(arrays->columns[i] + (size_t)row * arrays->leaves[i].bytes, whole.bytes + arrays->leaves[i].offset,
               arrays->leaves[i].bytes);
}

/* Which instance of its owner a row is: where its first column lies tells. */
static uint32_t instance_of_row(play *play, const model_entity *owner, sample_kind kind, const void *value)
{
    const mica_pool *pool = play->pools[kind];
    mica_instance instance = mica_pool_find(pool, owner->handle);
    for (uint32_t which = 0;; ++which, instance = mica_pool_next(pool, instance)) {
        EXPECT(play, !mica_instance_is_nil(instance));
        if (value == (sample_is_split(kind) ? mica_instance_read_field_id(pool, instance, 0)
                                            : mica_instance_read_id(pool, instance)))
            return which;
    }
}

static void walk_arrays(play *play)
{
    sample_kind kind = play_draw_sample_that(play, has_rows);
    if (kind == SAMPLE_COUNT)
        return;
    bool write = random_one_in(&play->random, 2);
    arrays arrays = arrays_of(play, kind, write);
    const mica_entity *owners = mica_pool_owners(play->pools[kind]);
    for (uint32_t row = 0; row < mica_pool_row_count(play->pools[kind]); ++row) {
        model_entity *owner = model_find(&play->model, owners[row]);
        if (!owner)
            continue;
        sample_room room;
        const void *first = arrays.columns[0] + (size_t)row * arrays.leaves[0].bytes;
        uint32_t which = sample_is_many(kind) ? instance_of_row(play, owner, kind, first) : 0;
        EXPECT_SAYING(play,
                      samples[kind].holds(row_value(&arrays, row, &room), model_instance_at(owner, kind, which).number),
                      "%s: row %u", samples[kind].name, row);
        if (write) {
            uint32_t number = play_draw_number(play);
            row_assign(&arrays, kind, row, number);
            model_instance_touch(&play->model, owner, kind, which, number);
        }
    }
}

/* Four probes if no entity was destroyed; otherwise as many as needed within the budget. */
static void collect_garbage(play *play)
{
    sample_kind kind = play_draw_sample_that(play, has_rows);
    if (kind == SAMPLE_COUNT)
        return;
    mica_pool *pool = play->pools[kind];
    uint32_t dead = count_dead_rows(play, kind), budget = random_below(&play->random, 200);
    mica_pool_stats before = mica_pool_get_stats(pool);
    uint32_t removed = mica_pool_gc(pool, budget);
    mica_pool_stats after = mica_pool_get_stats(pool);
    uint64_t probes = after.probe_count - before.probe_count;
    EXPECT(play, removed <= dead && count_dead_rows(play, kind) == dead - removed);
    EXPECT(play, after.removed_count - before.removed_count == removed);
    EXPECT(play, probes <= budget && probes >= removed);
    if (!dead)
        EXPECT(play, probes == (!play->model.instances[kind] ? 0 : budget < 4 ? budget : 4));
}

static void sweep(play *play)
{
    sample_kind kind = play_draw_sample_that(play, has_rows);
    if (kind == SAMPLE_COUNT)
        return;
    uint32_t dead = count_dead_rows(play, kind);
    EXPECT(play, mica_pool_sweep(play->pools[kind]) == dead);
    EXPECT(play, play_compare_pool(play, kind) == 0);
    if (samples[kind].type->index != MICA_INDEX_DIRECT)
        EXPECT(play, mica_pool_row_count(play->pools[kind]) == play->model.instances[kind]);
}

/* What a row is known by, before and after sorting. */
typedef struct row {
    mica_entity owner;
    uint32_t key;
} row;

static row *list_rows(play *play, sample_kind kind)
{
    uint32_t count = mica_pool_row_count(play->pools[kind]);
    const mica_entity *owners = mica_pool_owners(play->pools[kind]);
    arrays arrays = arrays_of(play, kind, false);
    row *rows = malloc((count + 1) * sizeof *rows);
    EXPECT(play, rows);
    for (uint32_t i = 0; i < count; ++i) {
        sample_room room;
        rows[i] = (row){owners[i], samples[kind].key(row_value(&arrays, i, &room))};
    }
    return rows;
}

/* Keys are few: gathering them one after the other is a stable sort. */
static void sort_rows(row *rows, uint32_t count)
{
    row *sorted = malloc((count + 1) * sizeof *sorted);
    uint32_t placed = 0;
    for (uint32_t key = 0; key <= sample_key(UINT32_MAX); ++key)
        for (uint32_t i = 0; i < count; ++i)
            if (rows[i].key == key)
                sorted[placed++] = rows[i];
    memcpy(rows, sorted, count * sizeof *rows);
    free(sorted);
}

static bool is_sortable(sample_kind kind)
{
    return has_rows(kind) && samples[kind].type->index != MICA_INDEX_DIRECT;
}

static void sort_pool(play *play)
{
    sample_kind kind = play_draw_sample_that(play, is_sortable);
    if (kind == SAMPLE_COUNT)
        return;
    mica_pool *pool = play->pools[kind];
    uint32_t count = mica_pool_row_count(pool), shared = mica_pool_get_stats(pool).group_count;
    row *expected = list_rows(play, kind);
    sort_rows(expected, shared);
    sort_rows(expected + shared, count - shared);
    EXPECT(play, mica_pool_sort(pool, sample_compare, (void *)(uintptr_t)&samples[kind]) == MICA_OK);
    row *sorted = list_rows(play, kind);
    for (uint32_t i = 0; i < count; ++i)
        EXPECT_SAYING(play, mica_same(sorted[i].owner, expected[i].owner) && sorted[i].key == expected[i].key,
                      "%s: row %u", samples[kind].name, i);
    free(expected);
    free(sorted);
}

static const sample_kind group_kinds[] = {SAMPLE_POOL, SAMPLE_POOL_HASH, SAMPLE_POOL_SPLIT};

/* The pools of a group that take part; a world has one group, of two or three. */
static uint32_t list_group(const play *play, mica_component *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < 3; ++i)
        if (play->config.samples >> group_kinds[i] & 1)
            out[count++] = play->ids[group_kinds[i]];
    return count;
}

static void make_group(play *play)
{
    mica_component members[3];
    uint32_t count = list_group(play, members);
    if (count < 2)
        return;
    bool refused = play->grouped;
    mica_result result = mica_group_id(play->world, members, count);
    EXPECT(play, result == (refused ? MICA_ERROR_INVALID : MICA_OK));
    play->other_reports = 0;
    play->grouped = true;
}

/* The entities with all components of a group are in the front part of each pool, in the same order. Without holes, one view shows them
 * all. */
static void walk_group(play *play)
{
    mica_component members[3];
    uint32_t count = list_group(play, members), views = 0, shown = 0, expected = 0;
    if (!play->grouped || count < 2)
        return;
    mica_term terms[3];
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < 3; ++i)
        wanted |= play->config.samples & 1u << group_kinds[i];
    for (uint32_t i = 0; i < count; ++i) {
        mica_pool *pool = mica_pool_of_id(play->world, members[i]);
        mica_pool_sweep(pool);
        terms[i] = (mica_term){.component = members[i], .access = MICA_ACCESS_READ};
    }
    for (uint32_t i = 0; i < play->model.living_count; ++i)
        expected += (model_find(&play->model, play->model.living[i])->components & wanted) == wanted;
    for (uint32_t i = 0; i < count; ++i)
        EXPECT(play, mica_pool_get_stats(mica_pool_of_id(play->world, members[i])).group_count == expected);
    mica_query *query =
        mica_query_create(play->world, &(mica_query_def){.terms = terms, .term_count = count, .with_hidden = true});
    EXPECT(play, query);
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); ++views)
        shown += view.count;
    EXPECT_SAYING(play, shown == expected && views == (expected != 0), "%u of %u in %u views", shown, expected, views);
    mica_query_destroy(query);
}

const play_operation play_pool_operations[] = {
    {"add instance", 30, add_instance, false},
    {"remove instance", 20, remove_instance, false},
    {"write instance", 10, write_instance, false},
    {"use stale in pool", 3, use_stale_in_pool, false},
    {"walk arrays", 4, walk_arrays, true},
    {"collect garbage", 4, collect_garbage, true},
    {"sweep", 1, sweep, true},
    {"sort pool", 3, sort_pool, true},
    {"make group", 1, make_group, false},
    {"walk group", 3, walk_group, true},
};
const uint32_t play_pool_count = sizeof play_pool_operations / sizeof *play_pool_operations;
