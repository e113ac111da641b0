/* Operations that take effect at once. */
#include "play.h"

#include <stdio.h>
#include <string.h>

static model_entity *expect_spawned(play *play, mica_entity handle)
{
    model_entity *entity = model_spawn(&play->model, handle, MODEL_LIVING);
    EXPECT_SAYING(play, entity, "{%u, %u} is not a new handle", handle.index, handle.generation);
    return entity;
}

static void destroy_one(play *play)
{
    model_entity *entity = model_find(&play->model, play_draw_living(play));
    if (!entity)
        return;
    mica_entity handle = entity->handle;
    play_begin_deaths(play, &handle, 1);
    bool refused = model_is_guarded(&play->model, entity);
    EXPECT(play, mica_destroy(play->world, handle) == !refused);
    if (!refused)
        play_kill(play, entity);
    EXPECT(play, mica_is_alive(play->world, handle) == refused);
    play_end_deaths(play, refused);
}

static void create_one(play *play)
{
    if (play_is_full(play)) {
        destroy_one(play);
        return;
    }
    play_values values;
    play_values_begin(play, &values, play_draw_samples(play, 6));
    mica_entity handle = mica_create_id(play->world, values.values, values.count);
    play_values_end(&values);
    model_entity *entity = expect_spawned(play, handle);
    for (uint32_t i = 0; i < values.count; ++i)
        model_put(&play->model, entity, values.kinds[i], values.numbers[i]);
    play_compare_entity(play, entity);
}

/* A column of `count` values from consecutive numbers. */
static mica_value make_column(play *play, sample_kind kind, uint32_t first, uint32_t count)
{
    uint32_t bytes = samples[kind].type->size_bytes;
    char *column = aligned_alloc(64, ((size_t)count * bytes + 63) / 64 * 64);
    EXPECT(play, column);
    for (uint32_t i = 0; i < count; ++i)
        samples[kind].make(column + (size_t)i * bytes, first + i);
    return (mica_value){play->ids[kind], bytes, column};
}

static void drop_column(sample_kind kind, mica_value column, uint32_t count)
{
    if (column.data)
        sample_drop(kind, (void *)(uintptr_t)column.data, count);
    free((void *)(uintptr_t)column.data);
}

static void create_many(play *play)
{
    uint32_t count = random_below(&play->random, PLAY_BULK_MAX);
    if (play_is_full(play) || play->model.living_count + count > play->config.entity_limit)
        return;
    sample_kind kinds[SAMPLE_COUNT];
    mica_value columns[SAMPLE_COUNT];
    uint32_t first[SAMPLE_COUNT], lengths[SAMPLE_COUNT];
    uint32_t column_count = 0;
    uint32_t wanted = play_draw_samples(play, 6);
    for (uint32_t kind = 0; kind < SAMPLE_COUNT; ++kind) {
        if (!(wanted >> kind & 1))
            continue;
        bool defaults = !samples[kind].has_data || count == 0 || random_one_in(&play->random, 4);
        kinds[column_count] = kind;
        first[column_count] = play_draw_number(play);
        lengths[column_count] = random_one_in(&play->random, 4) ? 1 : count;
        columns[column_count] = defaults ? (mica_value){play->ids[kind], 0, NULL}
                                         : make_column(play, kind, first[column_count], lengths[column_count]);
        if (lengths[column_count] == 1)
            columns[column_count].size_bytes |= MICA_VALUE_FOR_ALL;
        ++column_count;
    }
    mica_entity handles[PLAY_BULK_MAX];
    EXPECT(play, mica_create_many(play->world, count, columns, column_count, handles) == MICA_OK);
    for (uint32_t i = 0; i < count; ++i) {
        model_entity *entity = expect_spawned(play, handles[i]);
        for (uint32_t c = 0; c < column_count; ++c)
            model_put(&play->model, entity, kinds[c],
                      columns[c].data ? first[c] + i % lengths[c] : samples[kinds[c]].start);
    }
    for (uint32_t c = 0; c < column_count; ++c)
        drop_column(kinds[c], columns[c], lengths[c]);
    for (uint32_t i = 0; i < count; i += 1 + count / 4)
        play_compare_entity(play, model_find(&play->model, handles[i]));
}

static void destroy_many(play *play)
{
    mica_entity handles[PLAY_BULK_MAX] = {{0, 0}};
    uint32_t most = play->model.living_count / 2;
    uint32_t count = random_below(&play->random, most < PLAY_BULK_MAX ? most : PLAY_BULK_MAX);
    uint32_t living = 0;
    for (uint32_t i = 0; i < count; ++i) /* the same one may be drawn twice, and some are stale */
        handles[i] = play_draw_any(play);
    play_begin_deaths(play, handles, count);
    uint32_t died = mica_destroy_many(play->world, handles, count), refused = 0;
    for (uint32_t i = 0; i < count; ++i) {
        model_entity *entity = model_find(&play->model, handles[i]);
        if (entity && model_is_guarded(&play->model, entity)) {
            ++refused;
        } else if (entity) {
            play_kill(play, entity);
            ++living;
        }
    }
    EXPECT_SAYING(play, died == living, "%u died, not %u", died, living);
    play_end_deaths(play, refused);
}

static void clone_one(play *play)
{
    model_entity *original = model_find(&play->model, play_draw_living(play));
    if (!original || play_is_full(play))
        return;
    mica_entity source = original->handle;
    model_entity *copy = expect_spawned(play, mica_clone(play->world, source));
    original = model_find(&play->model, source); /* the slots may have moved */
    play->model.copies = true;
    for (uint32_t kind = 0; kind < SAMPLE_COUNT; ++kind)
        for (uint32_t which = 0; which < model_instance_count(original, kind); ++which)
            model_instance_add(&play->model, copy, kind, model_instance_at(original, kind, which).number);
    play->model.copies = false;
    copy->disabled = original->disabled;
    copy->rival = original->rival;
    copy->rival_number = original->rival_number;
    copy->opaques = original->opaques;
    memcpy(copy->opaque_numbers, original->opaque_numbers, sizeof copy->opaque_numbers);
    play_clone_edges(play, source, copy->handle);
    play_compare_entity(play, copy);
    play_compare_entity(play, original);
}

static void clear(play *play)
{
    if (!play_is_quiet(play) || !random_one_in(&play->random, 50))
        return;
    mica_entity survivor_of_nothing = play_draw_living(play);
    EXPECT(play, mica_world_clear(play->world) == MICA_OK);
    model_clear(&play->model);
    EXPECT(play, !mica_is_alive(play->world, survivor_of_nothing));
    play_compare_all(play);
}

static void add(play *play)
{
    model_entity *entity = model_find(&play->model, play_draw_living(play));
    if (!entity)
        return;
    sample_kind kind = play_draw_sample(play);
    bool had = entity->components >> kind & 1;
    uint32_t number = had ? entity->numbers[kind] : samples[kind].start;
    void *value = mica_add_id(play->world, entity->handle, play->ids[kind]);
    EXPECT(play, value);
    if (!had)
        model_put(&play->model, entity, kind, number);
    if (sample_is_whole(kind)) {
        EXPECT_SAYING(play, samples[kind].holds(value, number), "%s is not %u", samples[kind].name, number);
        uint32_t other = play_draw_number(play);
        samples[kind].assign(value, other);
        model_touch_value(&play->model, entity, kind, other);
    }
    play_compare_entity(play, entity);
}

static void set(play *play)
{
    model_entity *entity = model_find(&play->model, play_draw_living(play));
    if (!entity)
        return;
    play_values values;
    play_values_begin(play, &values, 1u << play_draw_sample(play));
    EXPECT(play, mica_set_id(play->world, entity->handle, values.values[0]));
    play_values_end(&values);
    model_put(&play->model, entity, values.kinds[0], values.numbers[0]);
    play_compare_entity(play, entity);
}

static void take(play *play)
{
    model_entity *entity = model_find(&play->model, play_draw_living(play));
    if (!entity)
        return;
    sample_kind kind = play_draw_sample(play);
    bool had = entity->components >> kind & 1;
    EXPECT(play, mica_remove_id(play->world, entity->handle, play->ids[kind]) == had);
    model_take(&play->model, entity, kind);
    play_compare_entity(play, entity);
}

/* Every byte of a component, which is there or not. */
static void write_whole(play *play, const model_entity *entity, sample_kind kind, uint32_t number)
{
    void *value = mica_write_id(play->world, entity->handle, play->ids[kind]);
    EXPECT(play, (value != NULL) == (entity->components >> kind & 1));
    if (value)
        samples[kind].assign(value, number);
}

static void write_split(play *play, const model_entity *entity, sample_kind kind, uint32_t number)
{
    sample_room whole;
    samples[kind].assign(whole.bytes, number);
    for (uint32_t i = 0; i < SAMPLE_LEAVES; ++i) {
        const sample_leaf *leaf = &sample_leaves[i];
        void *field = mica_write_field_id(play->world, entity->handle, play->ids[kind], leaf->offset);
        EXPECT(play, (field != NULL) == (entity->components >> kind & 1));
        if (field)
            memcpy(field, whole.bytes + leaf->offset, leaf->bytes);
    }
}

static void write_one(play *play)
{
    model_entity *entity = model_find(&play->model, play_draw_living(play));
    sample_kind kind = play_draw_sample(play);
    if (!entity || !samples[kind].has_data)
        return;
    uint32_t number = play_draw_number(play);
    if (sample_is_split(kind))
        write_split(play, entity, kind, number);
    else
        write_whole(play, entity, kind, number);
    if (entity->components >> kind & 1)
        model_touch_value(&play->model, entity, kind, number);
}

static void enable(play *play)
{
    model_entity *entity = model_find(&play->model, play_draw_living(play));
    if (!entity)
        return;
    sample_kind kind = play_draw_sample(play);
    if (!samples[kind].type->toggle)
        return;
    bool there = entity->components >> kind & 1;
    bool enabled = random_one_in(&play->random, 2);
    EXPECT(play, mica_enable_id(play->world, entity->handle, play->ids[kind], enabled) == there);
    if (there) {
        entity->disabled &= ~(1u << kind);
        entity->disabled |= (uint32_t)!enabled << kind;
    }
    play_compare_entity(play, entity);
}

/* Every call with a handle that is not alive: nothing happens, and each change is reported. */
static void use_stale(play *play)
{
    if (!play->stale_count)
        return;
    mica_entity stale = play->stale[random_below(&play->random, play->stale_count)];
    sample_kind kind = play_draw_whole_sample(play);
    mica_component id = play->ids[kind];
    sample_room room;
    mica_value value = sample_value_begin(kind, 0, &room);
    mica_component none;
    EXPECT(play, !mica_is_alive(play->world, stale));
    EXPECT(play, !mica_has_id(play->world, stale, id));
    EXPECT(play, !mica_get_id(play->world, stale, id));
    EXPECT(play, mica_get_components(play->world, stale, &none, 1) == 0);
    EXPECT(play, play->dead_reports == 0);
    EXPECT(play, !mica_destroy(play->world, stale));
    EXPECT(play, !mica_add_id(play->world, stale, id));
    EXPECT(play, !mica_set_id(play->world, stale, value));
    sample_value_end(kind, &room);
    EXPECT(play, !mica_remove_id(play->world, stale, id));
    EXPECT(play, mica_is_nil(mica_clone(play->world, stale)));
    EXPECT(play, mica_name_set(play->world, stale, mica_nil(), "x") == MICA_ERROR_DEAD);
    EXPECT(play, mica_world_take_error(play->world) == MICA_ERROR_DEAD);
    EXPECT_SAYING(play, play->dead_reports == 6, "%u reports", play->dead_reports);
    play->dead_reports = 0;
}

static void look(play *play)
{
    model_entity *entity = model_find(&play->model, play_draw_living(play));
    if (entity)
        play_compare_entity(play, entity);
}

static void look_at_many(play *play)
{
    mica_entity handles[64];
    const void *values[64];
    uint32_t count = random_below(&play->random, 65);
    sample_kind kind = play_draw_whole_sample(play);
    for (uint32_t i = 0; i < count; ++i)
        handles[i] = play_draw_any(play);
    uint32_t found = mica_get_many_id(play->world, handles, count, play->ids[kind], values);
    for (uint32_t i = 0; i < count; ++i) {
        EXPECT(play, values[i] == mica_get_id(play->world, handles[i], play->ids[kind]));
        found -= values[i] != NULL;
    }
    EXPECT(play, found == 0);
}

static void aim_ref(play *play)
{
    play_ref *ref = &play->refs[random_below(&play->random, PLAY_REFS)];
    ref->kind = play_draw_whole_sample(play);
    ref->ref = mica_ref_of_id(play_draw_any(play), play->ids[ref->kind]);
}

static void follow_ref(play *play)
{
    play_ref *ref = &play->refs[random_below(&play->random, PLAY_REFS)];
    model_entity *entity = model_find(&play->model, ref->ref.entity);
    bool there = entity && (entity->components >> ref->kind & 1);
    const void *value = mica_lookup_ref_read(play->world, &ref->ref);
    EXPECT(play, (value != NULL) == there);
    if (!there)
        return;
    EXPECT(play, samples[ref->kind].holds(value, entity->numbers[ref->kind]));
    EXPECT(play, mica_ref_read_id(play->world, &ref->ref) == value);
    void *writable = mica_ref_write_id(play->world, &ref->ref);
    EXPECT(play, writable == value);
    uint32_t number = play_draw_number(play);
    samples[ref->kind].assign(writable, number);
    model_touch_value(&play->model, entity, ref->kind, number);
}

static void use_singleton(play *play)
{
    EXPECT(play, mica_singleton_get(play->world, SampleClock)->number == play->model.clock);
    play->model.clock = play_draw_number(play);
    *mica_singleton_write(play->world, SampleClock) = (SampleClock){play->model.clock, 2 * play->model.clock};
    EXPECT(play, mica_singleton_get(play->world, SampleClock)->twice == 2 * play->model.clock);
}

static void draw_name(play *play, char *out)
{
    snprintf(out, MODEL_NAME_BYTES, "n%u", random_below(&play->random, 20));
}

static mica_entity draw_scope(play *play)
{
    return random_one_in(&play->random, 2) ? mica_nil() : play_draw_living(play);
}

static void set_name(play *play)
{
    model_entity *entity = model_find(&play->model, play_draw_living(play));
    if (!entity)
        return;
    char name[MODEL_NAME_BYTES] = "";
    mica_entity scope = draw_scope(play);
    if (mica_same(scope, entity->handle))
        return;
    if (!random_one_in(&play->random, 4))
        draw_name(play, name);
    model_entity *holder = name[0] ? model_find_name(&play->model, scope, name) : NULL;
    mica_result expected = holder && holder != entity ? MICA_ERROR_EXISTS : MICA_OK;
    mica_result result = mica_name_set(play->world, entity->handle, scope, name);
    EXPECT_SAYING(play, result == expected, "%s", mica_result_text(result));
    if (result == MICA_OK) {
        entity->scope = scope;
        memcpy(entity->name, name, sizeof name);
    }
    play->other_reports = 0; /* a name that is taken is reported */
    play_compare_entity(play, entity);
}

static void find_name(play *play)
{
    char name[MODEL_NAME_BYTES], child[MODEL_NAME_BYTES], path[2 * MODEL_NAME_BYTES];
    draw_name(play, name);
    draw_name(play, child);
    mica_entity scope = draw_scope(play);
    model_entity *entity = model_find_name(&play->model, scope, name);
    EXPECT(play, mica_same(mica_find_from(play->world, scope, name), entity ? entity->handle : mica_nil()));
    if (entity)
        entity = model_find_name(&play->model, entity->handle, child);
    snprintf(path, sizeof path, "%s/%s", name, child);
    EXPECT(play, mica_same(mica_find_from(play->world, scope, path), entity ? entity->handle : mica_nil()));
}

static void trim(play *play)
{
    size_t before = play->allocator.live_bytes;
    size_t given = mica_world_trim(play->world);
    EXPECT_SAYING(play, before - play->allocator.live_bytes == given, "gave %zu, said %zu",
                  before - play->allocator.live_bytes, given);
    for (uint32_t i = 0; i < play->kind_count; ++i)
        if (play->pools[play->kinds[i]])
            EXPECT_SAYING(play, play_compare_pool(play, play->kinds[i]) == 0, "%s", samples[play->kinds[i]].name);
}

const play_operation play_direct_operations[] = {
    {"create", 60, create_one, false},     {"destroy", 30, destroy_one, false},
    {"create many", 1, create_many, true}, {"destroy many", 1, destroy_many, true},
    {"clone", 10, clone_one, false},           {"add", 50, add, false},
    {"set", 40, set, false},               {"remove", 50, take, false},
    {"write", 30, write_one, false},           {"enable", 30, enable, false},
    {"use stale", 4, use_stale, false},    {"look", 20, look, false},
    {"look at many", 3, look_at_many, false}, {"aim ref", 10, aim_ref, false},
    {"follow ref", 20, follow_ref, false}, {"use singleton", 3, use_singleton, false},
    {"set name", 10, set_name, true},      {"find name", 10, find_name, true},
    {"trim", 1, trim, true},               {"clear", 1, clear, true},
};
const uint32_t play_direct_count = sizeof play_direct_operations / sizeof *play_direct_operations;
