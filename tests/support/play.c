#include "play.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Noreturn void play_fail(const play *play, const char *file, int line, const char *condition, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s:%d: not true: %s  %s\n  in step %llu (%s); again with MICA_TEST_SEED=%llu; last report: %s\n",
            file, line, condition, text, (unsigned long long)play->step, play->operation,
            (unsigned long long)play->config.seed, play->last_report);
    ck_abort_msg("%s:%d: %s (seed %llu, step %llu, %s)", file, line, condition, (unsigned long long)play->config.seed,
                 (unsigned long long)play->step, play->operation);
    abort();
}

sample_kind play_draw_sample(play *play)
{
    return play->kinds[random_below(&play->random, play->kind_count)];
}

sample_kind play_draw_sample_that(play *play, bool (*is)(sample_kind kind))
{
    uint32_t first = random_below(&play->random, play->kind_count);
    for (uint32_t i = 0; i < play->kind_count; ++i) {
        sample_kind kind = play->kinds[(first + i) % play->kind_count];
        if (is(kind))
            return kind;
    }
    return SAMPLE_COUNT;
}

sample_kind play_draw_whole_sample(play *play)
{
    return play_draw_sample_that(play, sample_is_whole);
}

uint32_t play_draw_samples(play *play, uint32_t most)
{
    uint32_t drawn = 0;
    for (uint32_t count = random_below(&play->random, most + 1); count > 0; --count)
        drawn |= 1u << play_draw_sample(play);
    return drawn;
}

uint32_t play_draw_number(play *play)
{
    return random_u32(&play->random);
}

mica_entity play_draw_living(play *play)
{
    if (!play->model.living_count)
        return mica_nil();
    return play->model.living[random_below(&play->random, play->model.living_count)];
}

mica_entity play_draw_any(play *play)
{
    if (play->stale_count && random_one_in(&play->random, 8))
        return play->stale[random_below(&play->random, play->stale_count)];
    return play_draw_living(play);
}

bool play_is_full(const play *play)
{
    return play->model.living_count + play->model.pending_count >= play->config.entity_limit;
}

bool play_is_quiet(const play *play)
{
    for (uint32_t b = 0; b < PLAY_BUFFERS; ++b)
        if (play->buffers[b].count)
            return false;
    return true;
}

void play_bury(play *play, mica_entity entity)
{
    uint32_t location = random_below(&play->random, PLAY_STALE);
    if (location >= play->stale_count)
        location = play->stale_count++;
    play->stale[location] = entity;
}

void play_kill(play *play, model_entity *entity)
{
    play_bury(play, entity->handle);
    model_kill(&play->model, entity);
}

void play_end_deaths(play *play, uint32_t refused)
{
    refused += model_cascade(&play->model);
    EXPECT_SAYING(play, (play->other_reports > 0) == (refused > 0), "%u reports, and %u were refused",
                  play->other_reports, refused);
    play->other_reports = 0;
    play_bury_the_fallen(play);
}

void play_bury_the_fallen(play *play)
{
    for (uint32_t i = 0; i < play->model.fallen.count; ++i) {
        EXPECT(play, !mica_is_alive(play->world, play->model.fallen.list[i]));
        play_bury(play, play->model.fallen.list[i]);
    }
    play->model.fallen.count = 0;
}

void play_values_begin(play *play, play_values *values, uint32_t wanted)
{
    values->count = 0;
    /* Walked from a random point on, since the order must not matter. */
    uint32_t first = random_below(&play->random, SAMPLE_COUNT);
    for (uint32_t i = 0; i < SAMPLE_COUNT; ++i) {
        sample_kind kind = (first + i) % SAMPLE_COUNT;
        if (!(wanted >> kind & 1))
            continue;
        uint32_t n = values->count++;
        values->kinds[n] = kind;
        if (!samples[kind].has_data || random_one_in(&play->random, 4)) {
            values->numbers[n] = samples[kind].start;
            values->values[n] = (mica_value){play->ids[kind], 0, NULL};
        } else {
            values->numbers[n] = play_draw_number(play);
            values->values[n] = sample_value_begin(kind, values->numbers[n], &values->rooms[n]);
        }
    }
}

void play_values_end(play_values *values)
{
    for (uint32_t i = 0; i < values->count; ++i)
        if (values->values[i].data)
            sample_value_end(values->kinds[i], &values->rooms[i]);
}

/* Of a split one each field is somewhere else. */
static void compare_split(play *play, const model_entity *entity, sample_kind kind, bool there)
{
    sample_room whole;
    EXPECT(play, mica_get_value_id(play->world, entity->handle, play->ids[kind], whole.bytes) == there);
    EXPECT_SAYING(play, !there || samples[kind].holds(whole.bytes, entity->numbers[kind]), "%s is not %u",
                  samples[kind].name, entity->numbers[kind]);
    const sample_leaf *leaf = &sample_leaves[play->step % SAMPLE_LEAVES];
    const void *field = mica_get_field_id(play->world, entity->handle, play->ids[kind], leaf->offset);
    EXPECT(play, (field != NULL) == there);
    EXPECT(play, !there || memcmp(field, whole.bytes + leaf->offset, leaf->bytes) == 0);
}

static void compare_component(play *play, const model_entity *entity, sample_kind kind)
{
    bool there = entity->components >> kind & 1;
    bool on = there && !(entity->disabled >> kind & 1);
    mica_component id = play->ids[kind];
    mica_type *type = (mica_type *)(uintptr_t)mica_component_type(id);
    EXPECT_SAYING(play, mica_has_id(play->world, entity->handle, id) == there, "%s", samples[kind].name);
    EXPECT_SAYING(play, mica_lookup_has(play->world, entity->handle, type) == there, "%s", samples[kind].name);
    EXPECT_SAYING(play, mica_is_enabled_id(play->world, entity->handle, id) == on, "%s", samples[kind].name);
    if (sample_is_split(kind)) {
        compare_split(play, entity, kind, there);
    } else {
        const void *value = mica_get_id(play->world, entity->handle, id);
        EXPECT_SAYING(play, (value != NULL) == there, "%s", samples[kind].name);
        EXPECT_SAYING(play, mica_lookup_get(play->world, entity->handle, type) == value, "%s", samples[kind].name);
        if (there && samples[kind].has_data)
            EXPECT_SAYING(play, samples[kind].holds(value, entity->numbers[kind]), "%s is not %u", samples[kind].name,
                          entity->numbers[kind]);
    }
    if (sample_is_pooled(kind) && samples[kind].has_data)
        play_compare_instances(play, entity, kind);
}

static void compare_components_of(play *play, const model_entity *entity)
{
    mica_component list[SAMPLE_COUNT + 1 + MODEL_OPAQUES + MODEL_RELATIONS];
    uint32_t count =
        mica_get_components(play->world, entity->handle, list, SAMPLE_COUNT + 1 + MODEL_OPAQUES + MODEL_RELATIONS);
    EXPECT(play, count == (uint32_t)__builtin_popcount(entity->components) + (entity->rival != 0) +
                              (uint32_t)__builtin_popcount(entity->opaques) + play_relations_of(entity));
    for (uint32_t i = 1; i < count; ++i)
        EXPECT_SAYING(play, list[i - 1] < list[i], "not by rising id");
    for (uint32_t k = 0; k < play->kind_count; ++k) {
        bool listed = false;
        for (uint32_t i = 0; i < count; ++i)
            listed |= list[i] == play->ids[play->kinds[k]];
        EXPECT_SAYING(play, listed == (entity->components >> play->kinds[k] & 1), "%s", samples[play->kinds[k]].name);
    }
}

void play_compare_entity(play *play, const model_entity *entity)
{
    EXPECT_SAYING(play, mica_is_alive(play->world, entity->handle), "{%u, %u}", entity->handle.index,
                  entity->handle.generation);
    for (uint32_t i = 0; i < play->kind_count; ++i)
        compare_component(play, entity, play->kinds[i]);
    compare_components_of(play, entity);
    play_compare_rivals(play, entity);
    play_compare_opaque(play, entity);
    play_compare_edges(play, entity);
    const char *name = mica_name_get(play->world, entity->handle);
    EXPECT_SAYING(play, strcmp(name ? name : "", entity->name) == 0, "'%s' should be '%s'", name ? name : "",
                  entity->name);
}

static void compare_dead(play *play, const model_entity *entity)
{
    EXPECT(play, !mica_is_alive(play->world, entity->handle));
    for (uint32_t i = 0; i < play->kind_count; ++i) {
        EXPECT(play, !mica_get_id(play->world, entity->handle, play->ids[play->kinds[i]]));
        EXPECT(play, !mica_has_id(play->world, entity->handle, play->ids[play->kinds[i]]));
        mica_type *type = (mica_type *)(uintptr_t)mica_component_type(play->ids[play->kinds[i]]);
        EXPECT(play, !mica_lookup_get(play->world, entity->handle, type));
        EXPECT(play, !mica_lookup_has(play->world, entity->handle, type));
    }
    EXPECT(play, !mica_name_get(play->world, entity->handle));
}

/* What the dead left in a pool is not removed yet, as far as hooks and destructors go. */
static void compare_totals(play *play)
{
    uint32_t owners = 0;
    for (uint32_t i = 0; i < play->kind_count; ++i) {
        sample_kind kind = play->kinds[i];
        uint32_t rows_of_dead = play->pools[kind] ? play_compare_pool(play, kind) : 0;
        owners += samples[kind].owns ? play->model.instances[kind] + rows_of_dead : 0;
        EXPECT_SAYING(play, play->heard.adds[kind] == play->model.events.adds[kind], "%s", samples[kind].name);
        EXPECT_SAYING(play, play->heard.removes[kind] + rows_of_dead == play->model.events.removes[kind], "%s",
                      samples[kind].name);
    }
    EXPECT(play, play->heard.destroys == play->model.events.destroys);
    mica_world_stats stats = mica_world_get_stats(play->world);
    if (play_is_quiet(play)) {
        /* Snapshots have copies. */
        EXPECT_SAYING(play, play->snapshot_count ? sample_owners_alive() >= owners : sample_owners_alive() == owners,
                      "%lld owners, not %u", (long long)sample_owners_alive(), owners);
        EXPECT(play, stats.entity_count == play->model.living_count);
        play_compare_opaque_total(play);
    }
    play_compare_edge_totals(play);
    EXPECT_SAYING(play, stats.memory_bytes == play->allocator.live_bytes, "%zu bytes, not %zu", stats.memory_bytes,
                  play->allocator.live_bytes);
}

void play_compare_all(play *play)
{
    for (uint32_t i = 0; i < play->model.used_count; ++i) {
        const model_entity *entity = &play->model.slots[play->model.used[i]];
        if (entity->life == MODEL_LIVING) {
            play_compare_entity(play, entity);
            play_compare_all_edges(play, entity);
        } else if (entity->life == MODEL_DEAD) {
            compare_dead(play, entity);
        }
    }
    compare_totals(play);
}

static void hear_report(const mica_report *report, void *context)
{
    play *play = context;
    if (report->result == MICA_ERROR_DEAD)
        ++play->dead_reports;
    else
        ++play->other_reports;
    snprintf(play->last_report, sizeof play->last_report, "%s", report->text);
}

static sample_kind kind_of(const play *play, mica_component id)
{
    sample_kind kind = 0;
    while (kind < SAMPLE_COUNT && play->ids[kind] != id)
        ++kind;
    return kind;
}

static void hear_event(const mica_event *event)
{
    play *play = event->context;
    if (event->kind == MICA_EVENT_DESTROY) {
        play->heard.destroys += event->count;
        return;
    }
    sample_kind kind = kind_of(play, event->component);
    EXPECT(play, kind < SAMPLE_COUNT && event->count > 0);
    EXPECT(play, (event->values != NULL) == sample_is_whole(kind));
    if (event->kind == MICA_EVENT_ADD)
        play->heard.adds[kind] += event->count;
    else
        play->heard.removes[kind] += event->count;
    bool outlives = event->kind == MICA_EVENT_REMOVE && samples[kind].type->dying != MICA_DYING_AT_ONCE;
    for (uint32_t i = 0; i < event->count; ++i)
        EXPECT_SAYING(play,
                      mica_has_id(event->world, event->entities[i], event->component) ||
                          (outlives && !mica_is_alive(event->world, event->entities[i])),
                      "%s: event %d", samples[kind].name, event->kind);
}

static void set_hooks(play *play)
{
    for (uint32_t kind = 0; kind < SAMPLE_COUNT; ++kind) {
        mica_result add = mica_hook_set_id(play->world, play->ids[kind], MICA_EVENT_ADD, hear_event, play);
        mica_result take = mica_hook_set_id(play->world, play->ids[kind], MICA_EVENT_REMOVE, hear_event, play);
        EXPECT(play, add == MICA_OK && take == MICA_OK);
    }
    EXPECT(play, mica_hook_set_id(play->world, 0, MICA_EVENT_DESTROY, hear_event, play) == MICA_OK);
}

/* Of components that take part; which ones depends on the seed alone. */
static void open_monitors(play *play)
{
    random_source random = {play->config.seed + 1};
    for (uint32_t i = 0; i < PLAY_MONITORS; ++i) {
        sample_kind one = play->kinds[random_below(&random, play->kind_count)];
        sample_kind other = play->kinds[random_below(&random, play->kind_count)];
        mica_term terms[] = {{.component = play->ids[one], .access = MICA_ACCESS_HAS},
                             {.component = play->ids[other], .access = MICA_ACCESS_WITHOUT}};
        if (i == 3)
            terms[0].access = MICA_ACCESS_EITHER, terms[1].access = MICA_ACCESS_OR;
        EXPECT(play, match_set_open(&play->monitors[i], play->world, terms, one == other ? 1 : 2));
    }
}

static void compare_monitors(play *play)
{
    for (uint32_t i = 0; i < PLAY_MONITORS; ++i)
        EXPECT_SAYING(play, match_set_is_right(&play->monitors[i]), "monitor %u", i);
}

static void shuffle_in(play *play, const play_operation *operations, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t copy = 0; copy < operations[i].weight; ++copy) {
            EXPECT(play, play->deck_count < PLAY_DECK_MAX);
            play->deck[play->deck_count++] = &operations[i];
        }
}

static void begin(play *play, play_config config)
{
    memset(play, 0, sizeof *play);
    config.samples = sample_complete(config.samples);
    play->config = config;
    play->operation = "begin";
    play->random.state = config.seed;
    faulty_allocator_init(&play->allocator);
    model_init(&play->model);

    mica_world_def def = mica_world_def_default();
    uint32_t first = 8 + random_below(&play->random, 5);
    uint32_t last = first + random_below(&play->random, 17 - first);
    def.chunk_bytes_first = 1u << first;
    def.chunk_bytes_last = 1u << last;
    def.allocator = faulty_allocator_interface(&play->allocator);
    def.report = hear_report;
    def.report_context = play;
    def.seed = config.seed;
    def.check_ranges = config.seed % 4 == 0;
    def.handle_space = (uint32_t)(config.seed % 3);
    def.dead_target = play->dead_target = random_below(&play->random, 3);
    play->world = mica_world_create(&def);
    EXPECT(play, play->world);

    for (uint32_t kind = 0; kind < SAMPLE_COUNT; ++kind) {
        play->ids[kind] = mica_component_define(play->world, samples[kind].type);
        play->pools[kind] = sample_is_pooled(kind) ? mica_pool_of_id(play->world, play->ids[kind]) : NULL;
        if (config.samples >> kind & 1)
            play->kinds[play->kind_count++] = kind;
    }
    play_rivals_begin(play);
    play_opaque_begin(play);
    play_relations_begin(play);
    set_hooks(play);
    open_monitors(play);
    play_buffers_begin(play);
    shuffle_in(play, play_direct_operations, play_direct_count);
    shuffle_in(play, play_recorded_operations, play_recorded_count);
    shuffle_in(play, play_pool_operations, play_pool_count);
    shuffle_in(play, play_query_operations, play_query_count);
    shuffle_in(play, play_crowd_operations, play_crowd_count);
    shuffle_in(play, play_snapshot_operations, play_snapshot_count);
    shuffle_in(play, play_rival_operations, play_rival_count);
    if (play->opaques)
        shuffle_in(play, play_opaque_operations, play_opaque_count);
    if (play->has_relations)
        shuffle_in(play, play_relation_operations, play_relation_count);
    play_snapshots_begin(play);
}

/* Some worlds are destroyed with everything in them, others taken apart first. */
static void end(play *play)
{
    play->operation = "end";
    if (random_one_in(&play->random, 2)) {
        play_buffers_end(play);
        play_queries_end(play);
    }
    mica_world_destroy(play->world);
    for (uint32_t i = 0; i < PLAY_MONITORS; ++i)
        match_set_close(&play->monitors[i], NULL);
    play_snapshots_end(play);
    EXPECT_SAYING(play, sample_owners_alive() == 0, "%lld left", (long long)sample_owners_alive());
    play_opaque_end(play);
    for (uint32_t b = 0; b < PLAY_BUFFERS; ++b)
        model_buffer_free(&play->buffers[b]);
    model_free(&play->model);
    free(play->seen);
    free(play->seen_instances);
    faulty_allocator_free(&play->allocator);
}

static const play_operation *draw_operation(play *play)
{
    for (;;) {
        const play_operation *operation = play->deck[random_below(&play->random, play->deck_count)];
        if (!operation->sweeps || random_one_in(&play->random, 1 + play->model.living_count / 50))
            return operation;
    }
}

static void step(play *play)
{
    const play_operation *operation = draw_operation(play);
    play->operation = operation->name;
    operation->run(play);
    EXPECT_SAYING(play, play->other_reports == 0, "%s", play->last_report);
    EXPECT_SAYING(play, play->dead_reports == 0, "%s", play->last_report);
    if (play->step % play->config.validate_every == 0) {
        mica_result result = mica_world_validate(play->world);
        EXPECT_SAYING(play, result == MICA_OK, "%s: %s", mica_result_text(result), play->last_report);
        play_compare_all(play);
        compare_monitors(play);
    }
}

uint64_t play_run(play_config config)
{
    static play game; /* large, and a test plays one at a time */
    bool trace = getenv("MICA_TEST_TRACE") != NULL;
    begin(&game, config);
    for (game.step = 1; game.step <= config.steps; ++game.step) {
        step(&game);
        if (trace)
            fprintf(stderr, "%llu: %s\n", (unsigned long long)game.step, game.operation);
    }
    uint64_t hash = mica_world_hash(game.world);
    end(&game);
    return hash;
}
