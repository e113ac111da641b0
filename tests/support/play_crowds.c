/* Operations on all that a query shows at once: sorting, adding, removing and destroying. */
#include "play.h"

#include <string.h>

/* The components that decide in which chunks an entity lies. */
static uint64_t archetype_of(const model_entity *entity)
{
    uint32_t components = 0;
    for (sample_kind kind = 0; kind < SAMPLE_COUNT; ++kind)
        components |= sample_is_pooled(kind) ? 0 : entity->components & 1u << kind;
    return components | (uint64_t)play_rival_in_chunks(entity) << 32 | (uint64_t)play_opaques_in_chunks(entity) << 40;
}

/* What a walk shows, in its order. */
typedef struct shown_row {
    mica_entity entity;
    uint64_t archetype;
    uint32_t key;
} shown_row;

typedef struct shown_rows {
    shown_row *rows;
    uint32_t count;
} shown_rows;

/* All entities in the order they lie in chunks, and of these the ones that match. */
static shown_rows list_matches(play *play, const model_query *query, sample_kind key)
{
    shown_rows shown = {malloc((play->model.living_count + 1) * sizeof(shown_row)), 0};
    mica_query *everyone = mica_query_create(play->world, &(mica_query_def){.with_hidden = true});
    EXPECT(play, shown.rows && everyone);
    for (mica_view view = mica_query_begin(everyone); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            const model_entity *entity = model_find(&play->model, view.entities[i]);
            EXPECT(play, entity);
            if (model_query_asks(query, entity) == MODEL_YES)
                shown.rows[shown.count++] =
                    (shown_row){view.entities[i], archetype_of(entity), sample_key(entity->numbers[key])};
        }
    mica_query_destroy(everyone);
    return shown;
}

/* Keys are few: gathering them one after the other is a stable sort. */
static void sort_by_key(shown_row *rows, uint32_t count)
{
    shown_row *sorted = malloc((count + 1) * sizeof *sorted);
    uint32_t placed = 0;
    for (uint32_t key = 0; key <= sample_key(UINT32_MAX); ++key)
        for (uint32_t i = 0; i < count; ++i)
            if (rows[i].key == key)
                sorted[placed++] = rows[i];
    memcpy(rows, sorted, count * sizeof *rows);
    free(sorted);
}

static void walk_sorted(play *play)
{
    play_query *slot = play_draw_query_slot(play);
    if (slot->sorted_by == SAMPLE_COUNT)
        return;
    shown_rows expected = list_matches(play, &slot->model, slot->sorted_by);
    sort_by_key(expected.rows, expected.count);
    uint32_t at = 0;
    for (mica_view view = mica_query_begin(slot->query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i, ++at)
            EXPECT_SAYING(play, at < expected.count && mica_same(view.entities[i], expected.rows[at].entity),
                          "place %u", at);
    EXPECT(play, at == expected.count);
    free(expected.rows);
}

/* Rows are sorted within each archetype: a run of the same components. */
static void sort_within_archetypes(shown_rows *shown)
{
    for (uint32_t first = 0, end; first < shown->count; first = end) {
        end = first + 1;
        while (end < shown->count && shown->rows[end].archetype == shown->rows[first].archetype)
            ++end;
        sort_by_key(shown->rows + first, end - first);
    }
}

static bool is_column(sample_kind kind)
{
    return sample_is_whole(kind) && !sample_is_pooled(kind);
}

static void sort_rows(play *play)
{
    sample_kind key = play_draw_sample_that(play, is_column), other = play_draw_sample(play);
    if (key == SAMPLE_COUNT)
        return;
    model_query query = {.term_count = 1, .terms = {{key, MICA_ACCESS_READ}}};
    if (other != key)
        query.terms[query.term_count++] =
            (model_term){other, random_one_in(&play->random, 2) ? MICA_ACCESS_WITHOUT : MICA_ACCESS_HAS};
    mica_query *made = play_make_query(play, &query, SAMPLE_COUNT);
    shown_rows expected = list_matches(play, &query, key);
    sort_within_archetypes(&expected);
    mica_result result = mica_query_sort_rows(made, play->ids[key], sample_compare, (void *)(uintptr_t)&samples[key]);
    EXPECT_SAYING(play, result == MICA_OK, "%s", play->last_report);
    shown_rows sorted = list_matches(play, &query, key);
    EXPECT(play, sorted.count == expected.count);
    for (uint32_t i = 0; i < sorted.count; ++i)
        EXPECT_SAYING(play, mica_same(sorted.rows[i].entity, expected.rows[i].entity), "place %u", i);
    free(expected.rows);
    free(sorted.rows);
    mica_query_destroy(made);
}

/* Those that a query shows: one of its own, or one whose last loop began some time ago. */
typedef struct crowd {
    mica_query *query;
    bool is_own;
    mica_entity *entities;
    uint32_t size;
} crowd;

static bool asks_for_changes(const model_query *query)
{
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (query->terms[i].access == MICA_ACCESS_CHANGED)
            return true;
    return false;
}

/* Without CHANGED: the model must know exactly which entities match. */
static crowd draw_crowd(play *play)
{
    play_query *slot = play_draw_query_slot(play);
    model_query own;
    crowd crowd = {.query = slot->query};
    const model_query *query = &slot->model;
    if (asks_for_changes(query) || random_one_in(&play->random, 2)) {
        do
            play_draw_query(play, &own);
        while (asks_for_changes(&own));
        query = &own;
        crowd.query = play_make_query(play, &own, SAMPLE_COUNT);
        crowd.is_own = true;
    }
    crowd.entities = malloc((play->model.living_count + 1) * sizeof *crowd.entities);
    EXPECT(play, crowd.entities);
    for (uint32_t i = 0; i < play->model.living_count; ++i)
        if (model_query_asks(query, model_find(&play->model, play->model.living[i])) == MODEL_YES)
            crowd.entities[crowd.size++] = play->model.living[i];
    return crowd;
}

/* A bulk change is a loop over the query. */
static void mark_walk(play *play, const crowd *crowd)
{
    for (uint32_t i = 0; i < PLAY_QUERIES; ++i)
        if (play->queries[i].query == crowd->query)
            play->queries[i].model.since = model_mark(&play->model);
}

static void drop_crowd(crowd *crowd)
{
    if (crowd->is_own)
        mica_query_destroy(crowd->query);
    free(crowd->entities);
}

static void add_to_all(play *play)
{
    crowd crowd = draw_crowd(play);
    play_values values;
    play_values_begin(play, &values, 1u << play_draw_sample(play));
    mark_walk(play, &crowd);
    EXPECT(play, mica_add_all_id(crowd.query, values.values[0]) == MICA_OK);
    play_values_end(&values);
    for (uint32_t i = 0; i < crowd.size; ++i) {
        model_entity *entity = model_find(&play->model, crowd.entities[i]);
        if (!(entity->components >> values.kinds[0] & 1))
            model_put(&play->model, entity, values.kinds[0], values.numbers[0]);
        play_compare_entity(play, entity);
    }
    drop_crowd(&crowd);
}

static void remove_from_all(play *play)
{
    crowd crowd = draw_crowd(play);
    sample_kind kind = play_draw_sample(play);
    mark_walk(play, &crowd);
    EXPECT(play, mica_remove_all_id(crowd.query, play->ids[kind]) == MICA_OK);
    for (uint32_t i = 0; i < crowd.size; ++i) {
        model_entity *entity = model_find(&play->model, crowd.entities[i]);
        model_take(&play->model, entity, kind);
        play_compare_entity(play, entity);
    }
    drop_crowd(&crowd);
}

static void destroy_all(play *play)
{
    crowd crowd = draw_crowd(play);
    if (crowd.size <= 2 + play->model.living_count / 4) {
        uint32_t refused = 0;
        mark_walk(play, &crowd);
        play_begin_deaths(play, crowd.entities, crowd.size);
        EXPECT(play, mica_destroy_all(crowd.query) == MICA_OK);
        for (uint32_t i = 0; i < crowd.size; ++i) {
            model_entity *entity = model_find(&play->model, crowd.entities[i]);
            bool stays = model_is_guarded(&play->model, entity);
            EXPECT(play, mica_is_alive(play->world, crowd.entities[i]) == stays);
            refused += stays;
            if (!stays)
                play_kill(play, entity);
        }
        play_end_deaths(play, refused);
    }
    drop_crowd(&crowd);
}

const play_operation play_crowd_operations[] = {
    {"walk sorted", 6, walk_sorted, true},         {"sort rows", 2, sort_rows, true},
    {"add to all", 2, add_to_all, true},           {"remove from all", 2, remove_from_all, true},
    {"destroy all", 2, destroy_all, true},
};
const uint32_t play_crowd_count = sizeof play_crowd_operations / sizeof *play_crowd_operations;
