/* Operations that go through queries: walking, counting, testing, sorting, and changing everything they show. */
#include "play.h"

#include <string.h>

static void push_term(model_query *query, sample_kind kind, mica_access access)
{
    query->terms[query->term_count++] = (model_term){kind, access};
}

static bool draw_access(play *play, sample_kind kind, mica_access *out_access)
{
    static const mica_access choices[] = {MICA_ACCESS_READ,       MICA_ACCESS_READ,        MICA_ACCESS_WRITE,
                                          MICA_ACCESS_HAS,        MICA_ACCESS_HAS,         MICA_ACCESS_WITHOUT,
                                          MICA_ACCESS_MAYBE_READ, MICA_ACCESS_MAYBE_WRITE, MICA_ACCESS_EITHER,
                                          MICA_ACCESS_CHANGED,    MICA_ACCESS_ADDED,       MICA_ACCESS_DISABLED};
    mica_access access = choices[random_below(&play->random, sizeof choices / sizeof *choices)];
    *out_access = access;
    switch (access) {
    case MICA_ACCESS_HAS:
    case MICA_ACCESS_WITHOUT:
    case MICA_ACCESS_EITHER: return true;
    case MICA_ACCESS_ADDED: return samples[kind].type->track_added;
    case MICA_ACCESS_DISABLED: return samples[kind].type->toggle;
    default: return samples[kind].has_data;
    }
}

static void draw_query(play *play, model_query *query)
{
    uint32_t used = 0;
    uint32_t wanted = random_below(&play->random, 5);
    *query = (model_query){.term_count = 0};
    while (query->term_count < wanted) {
        sample_kind kind = play_draw_sample(play);
        mica_access access;
        if (used >> kind & 1 || !draw_access(play, kind, &access)) {
            if (random_one_in(&play->random, 8))
                break; /* few samples take part, and all are used */
            continue;
        }
        used |= 1u << kind;
        push_term(query, kind, access);
        if (access == MICA_ACCESS_CHANGED && random_one_in(&play->random, 2))
            push_term(query, kind, MICA_ACCESS_READ);
        sample_kind other = play_draw_sample(play);
        if (access == MICA_ACCESS_EITHER && !(used >> other & 1)) {
            used |= 1u << other;
            push_term(query, other, MICA_ACCESS_OR);
        }
    }
}

static bool reads_small(const model_query *query)
{
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (query->terms[i].kind == SAMPLE_SMALL &&
            (query->terms[i].access == MICA_ACCESS_READ || query->terms[i].access == MICA_ACCESS_WRITE))
            return true;
    return false;
}

static bool asks_for_time(const model_query *query)
{
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (query->terms[i].access == MICA_ACCESS_CHANGED || query->terms[i].access == MICA_ACCESS_ADDED)
            return true;
    return false;
}

static mica_query *make_query(play *play, const model_query *query, bool sorted)
{
    mica_term terms[MODEL_TERMS_MAX];
    for (uint32_t i = 0; i < query->term_count; ++i)
        terms[i] = (mica_term){play->ids[query->terms[i].kind], query->terms[i].access};
    mica_query_def def = {.name = "drawn", .terms = terms, .term_count = query->term_count, .place = MICA_HERE};
    if (sorted) {
        def.order_by = play->ids[SAMPLE_SMALL];
        def.compare = sample_small_compare;
    }
    mica_query *made = mica_query_create(play->world, &def);
    EXPECT_SAYING(play, made, "%s", play->last_report);
    return made;
}

static void renew(play *play, play_query *slot)
{
    mica_query_destroy(slot->query);
    draw_query(play, &slot->model);
    slot->sorted = reads_small(&slot->model) && !asks_for_time(&slot->model) && random_one_in(&play->random, 2);
    slot->query = make_query(play, &slot->model, slot->sorted);
}

static play_query *draw_slot(play *play)
{
    play_query *slot = &play->queries[random_below(&play->random, PLAY_QUERIES)];
    if (!slot->query)
        renew(play, slot);
    return slot;
}

static void renew_one(play *play)
{
    renew(play, draw_slot(play));
}

void play_queries_end(play *play)
{
    for (uint32_t i = 0; i < PLAY_QUERIES; ++i)
        mica_query_destroy(play->queries[i].query);
}

typedef struct walk {
    const model_query *query;
    uint32_t shown; /* all of them */
    uint32_t sure;  /* of these, the ones the model insists on */
    bool writes;
} walk;

static walk walk_begin(play *play, const model_query *query)
{
    if (play->seen_count < play->model.slot_count) {
        play->seen = realloc(play->seen, play->model.slot_count * sizeof *play->seen);
        EXPECT(play, play->seen);
        memset(play->seen + play->seen_count, 0, (play->model.slot_count - play->seen_count) * sizeof *play->seen);
        play->seen_count = play->model.slot_count;
    }
    ++play->walk;
    return (walk){.query = query, .writes = random_one_in(&play->random, 2)};
}

/* Whether a term gives a column where the component is. */
static bool has_column(model_term term)
{
    switch (term.access) {
    case MICA_ACCESS_READ:
    case MICA_ACCESS_WRITE:
    case MICA_ACCESS_MAYBE_READ:
    case MICA_ACCESS_MAYBE_WRITE:
    case MICA_ACCESS_EITHER:
    case MICA_ACCESS_OR: return samples[term.kind].has_data;
    default: return false;
    }
}

static bool is_written(model_term term)
{
    return term.access == MICA_ACCESS_WRITE || term.access == MICA_ACCESS_MAYBE_WRITE;
}

static model_entity *walk_meets(play *play, walk *walk, mica_entity handle)
{
    model_entity *entity = model_find(&play->model, handle);
    EXPECT(play, entity);
    EXPECT_SAYING(play, play->seen[handle.index] != play->walk, "{%u, %u} is shown twice", handle.index,
                  handle.generation);
    play->seen[handle.index] = play->walk;
    model_answer answer = model_query_asks(walk->query, entity);
    EXPECT_SAYING(play, answer != MODEL_NO, "{%u, %u} does not match", handle.index, handle.generation);
    ++walk->shown;
    walk->sure += answer == MODEL_YES;
    return entity;
}

static void walk_column(play *play, walk *walk, mica_view *view, uint32_t term)
{
    model_term asked = walk->query->terms[term];
    const sample *sample = &samples[asked.kind];
    if (!has_column(asked))
        return;
    const char *column = mica_view_read_at(view, term);
    char *writable = walk->writes && is_written(asked) ? mica_view_write_at(view, term) : NULL;
    for (uint32_t i = 0; i < view->count; ++i) {
        model_entity *entity = model_find(&play->model, view->entities[i]);
        bool there = entity->components >> asked.kind & 1;
        EXPECT(play, (column != NULL) == there);
        if (!there)
            continue;
        size_t place = (size_t)i * sample->type->size_bytes;
        EXPECT_SAYING(play, sample->holds(column + place, entity->numbers[asked.kind]), "%s", sample->name);
        if (writable) {
            uint32_t number = play_draw_number(play);
            sample->assign(writable + place, number);
            model_touch_value(&play->model, entity, asked.kind, number);
        }
    }
}

/* How many the model insists on must be counted before the walk writes. */
static void walk_views(play *play, walk *walk, mica_view view)
{
    uint32_t sure = model_query_count(&play->model, walk->query, false);
    while (mica_view_next(&view)) {
        EXPECT(play, view.count > 0);
        for (uint32_t i = 0; i < view.count; ++i)
            walk_meets(play, walk, view.entities[i]);
        for (uint32_t term = 0; term < walk->query->term_count; ++term)
            walk_column(play, walk, &view, term);
    }
    EXPECT_SAYING(play, walk->sure == sure, "%u of %u were shown", walk->sure, sure);
}

static void walk_query(play *play)
{
    play_query *slot = draw_slot(play);
    model_query asked = slot->model;
    walk walk = walk_begin(play, &asked);
    mica_view view = mica_query_begin(slot->query);
    slot->model.since = model_mark(&play->model);
    walk_views(play, &walk, view);
}

static void walk_since_mark(play *play)
{
    play_query *slot = draw_slot(play);
    const play_mark *mark = &play->marks[random_below(&play->random, PLAY_MARKS)];
    model_query asked = slot->model;
    asked.since = mark->epoch;
    walk walk = walk_begin(play, &asked);
    mica_view view = mica_query_begin_since(slot->query, mark->version);
    walk_views(play, &walk, view);
}

static void take_mark(play *play)
{
    play_mark *mark = &play->marks[random_below(&play->random, PLAY_MARKS)];
    mark->version = mica_world_mark(play->world);
    mark->epoch = model_mark(&play->model);
}

/* Right after a mark nothing is newer than it. */
static void nothing_changed_yet(play *play)
{
    model_query query = {.term_count = 1, .terms = {{play_draw_sample_with_data(play), MICA_ACCESS_CHANGED}}};
    mica_query *changed = make_query(play, &query, false);
    mica_version mark = mica_world_mark(play->world);
    model_mark(&play->model);
    mica_view view = mica_query_begin_since(changed, mark);
    EXPECT(play, !mica_view_next(&view));
    mica_query_destroy(changed);
}

typedef struct each_context {
    play *play;
    walk walk;
} each_context;

static void meet_each(mica_entity handle, void *const *columns, void *context)
{
    each_context *each = context;
    const model_entity *entity = walk_meets(each->play, &each->walk, handle);
    for (uint32_t term = 0; term < each->walk.query->term_count; ++term) {
        model_term asked = each->walk.query->terms[term];
        bool there = has_column(asked) && (entity->components >> asked.kind & 1);
        EXPECT(each->play, (columns[term] != NULL) == there);
        if (there)
            EXPECT(each->play, samples[asked.kind].holds(columns[term], entity->numbers[asked.kind]));
    }
}

static void walk_each(play *play)
{
    play_query *slot = draw_slot(play);
    model_query asked = slot->model;
    each_context context = {play, walk_begin(play, &asked)};
    uint32_t sure = model_query_count(&play->model, &asked, false);
    slot->model.since = model_mark(&play->model);
    mica_query_each(slot->query, meet_each, &context);
    EXPECT(play, context.walk.sure == sure);
}

static void count(play *play)
{
    play_query *slot = draw_slot(play);
    uint64_t counted = mica_query_count(slot->query);
    uint32_t least = model_query_count(&play->model, &slot->model, false);
    uint32_t most = model_query_count(&play->model, &slot->model, true);
    EXPECT_SAYING(play, counted >= least && counted <= most, "%llu is not in %u .. %u", (unsigned long long)counted,
                  least, most);
    mica_entity first = mica_query_first(slot->query);
    EXPECT(play, mica_is_nil(first) == (counted == 0));
    if (counted)
        EXPECT(play, model_query_asks(&slot->model, model_find(&play->model, first)) != MODEL_NO);
}

static void test_one(play *play)
{
    play_query *slot = draw_slot(play);
    mica_entity handle = play_draw_any(play);
    const model_entity *entity = model_find(&play->model, handle);
    model_answer answer = entity ? model_query_asks(&slot->model, entity) : MODEL_NO;
    bool matches = mica_query_matches(slot->query, handle);
    EXPECT(play, matches ? answer != MODEL_NO : answer != MODEL_YES);
    if (!entity)
        play->dead_reports = 0;
}

/* What a plain walk shows, in its order. */
typedef struct shown_row {
    mica_entity entity;
    uint32_t components;
    uint32_t key;
} shown_row;

typedef struct shown_rows {
    shown_row *rows;
    uint32_t count;
} shown_rows;

static shown_rows walk_rows(play *play, mica_query *query)
{
    shown_rows shown = {malloc((play->model.living_count + 1) * sizeof(shown_row)), 0};
    EXPECT(play, shown.rows);
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            const model_entity *entity = model_find(&play->model, view.entities[i]);
            EXPECT(play, entity && shown.count < play->model.living_count);
            shown.rows[shown.count++] =
                (shown_row){view.entities[i], entity->components, sample_small_key(entity->numbers[SAMPLE_SMALL])};
        }
    return shown;
}

/* Keys are few: gathering them one after the other is a stable sort. */
static void sort_by_key(shown_row *rows, uint32_t count)
{
    shown_row *sorted = malloc((count + 1) * sizeof *sorted);
    uint32_t placed = 0;
    for (uint32_t key = 0; key <= sample_small_key(UINT32_MAX); ++key)
        for (uint32_t i = 0; i < count; ++i)
            if (rows[i].key == key)
                sorted[placed++] = rows[i];
    memcpy(rows, sorted, count * sizeof *rows);
    free(sorted);
}

static void expect_same_rows(play *play, const shown_rows *a, const shown_rows *b)
{
    EXPECT(play, a->count == b->count);
    for (uint32_t i = 0; i < a->count; ++i)
        EXPECT_SAYING(play, mica_same(a->rows[i].entity, b->rows[i].entity), "place %u", i);
}

static void walk_sorted(play *play)
{
    play_query *slot = draw_slot(play);
    if (!slot->sorted)
        return;
    mica_query *plain = make_query(play, &slot->model, false);
    shown_rows expected = walk_rows(play, plain);
    sort_by_key(expected.rows, expected.count);
    shown_rows sorted = walk_rows(play, slot->query);
    expect_same_rows(play, &sorted, &expected);
    free(expected.rows);
    free(sorted.rows);
    mica_query_destroy(plain);
}

/* Rows are sorted within each archetype: a run of the same components. */
static void sort_within_archetypes(shown_rows *shown)
{
    for (uint32_t first = 0, end; first < shown->count; first = end) {
        end = first + 1;
        while (end < shown->count && shown->rows[end].components == shown->rows[first].components)
            ++end;
        sort_by_key(shown->rows + first, end - first);
    }
}

static void sort_rows(play *play)
{
    model_query query = {.term_count = 1, .terms = {{SAMPLE_SMALL, MICA_ACCESS_READ}}};
    sample_kind other = play_draw_sample(play);
    if (other != SAMPLE_SMALL)
        push_term(&query, other, random_one_in(&play->random, 2) ? MICA_ACCESS_WITHOUT : MICA_ACCESS_HAS);
    mica_query *plain = make_query(play, &query, false);
    shown_rows expected = walk_rows(play, plain);
    sort_within_archetypes(&expected);
    mica_result result = mica_query_sort_rows(plain, play->ids[SAMPLE_SMALL], sample_small_compare, NULL);
    EXPECT_SAYING(play, result == MICA_OK, "%s", play->last_report);
    shown_rows sorted = walk_rows(play, plain);
    expect_same_rows(play, &sorted, &expected);
    free(expected.rows);
    free(sorted.rows);
    mica_query_destroy(plain);
}

/* Makes a query of its own, without CHANGED and ADDED: the model must know exactly who is in. Returns how many. */
static uint32_t draw_crowd(play *play, model_query *query, mica_entity **out_crowd)
{
    do
        draw_query(play, query);
    while (asks_for_time(query));
    uint32_t size = 0;
    *out_crowd = malloc((play->model.living_count + 1) * sizeof(mica_entity));
    EXPECT(play, *out_crowd);
    for (uint32_t i = 0; i < play->model.living_count; ++i)
        if (model_query_asks(query, model_find(&play->model, play->model.living[i])) == MODEL_YES)
            (*out_crowd)[size++] = play->model.living[i];
    return size;
}

static void add_to_all(play *play)
{
    model_query query;
    mica_entity *crowd;
    uint32_t size = draw_crowd(play, &query, &crowd);
    mica_query *made = make_query(play, &query, false);
    play_values values;
    play_values_begin(play, &values, 1u << play_draw_sample(play));
    EXPECT(play, mica_query_add_component(made, values.values[0]) == MICA_OK);
    play_values_end(&values);
    for (uint32_t i = 0; i < size; ++i) {
        model_entity *entity = model_find(&play->model, crowd[i]);
        if (!(entity->components >> values.kinds[0] & 1))
            model_put(&play->model, entity, values.kinds[0], values.numbers[0]);
        play_compare_entity(play, entity);
    }
    mica_query_destroy(made);
    free(crowd);
}

static void remove_from_all(play *play)
{
    model_query query;
    mica_entity *crowd;
    uint32_t size = draw_crowd(play, &query, &crowd);
    mica_query *made = make_query(play, &query, false);
    sample_kind kind = play_draw_sample(play);
    EXPECT(play, mica_query_remove_component(made, play->ids[kind]) == MICA_OK);
    for (uint32_t i = 0; i < size; ++i) {
        model_entity *entity = model_find(&play->model, crowd[i]);
        model_take(&play->model, entity, kind);
        play_compare_entity(play, entity);
    }
    mica_query_destroy(made);
    free(crowd);
}

static void destroy_all(play *play)
{
    model_query query;
    mica_entity *crowd;
    uint32_t size = draw_crowd(play, &query, &crowd);
    mica_query *made = make_query(play, &query, false);
    if (size <= 2 + play->model.living_count / 4) {
        EXPECT(play, mica_query_destroy_entities(made) == MICA_OK);
        for (uint32_t i = 0; i < size; ++i) {
            EXPECT(play, !mica_is_alive(play->world, crowd[i]));
            play_kill(play, model_find(&play->model, crowd[i]));
        }
    }
    mica_query_destroy(made);
    free(crowd);
}

const play_operation play_query_operations[] = {
    {"renew query", 2, renew_one, false},
    {"walk query", 12, walk_query, true},
    {"walk since mark", 8, walk_since_mark, true},
    {"take mark", 4, take_mark, false},
    {"nothing changed yet", 1, nothing_changed_yet, true},
    {"walk each", 4, walk_each, true},
    {"count", 8, count, true},
    {"test one", 20, test_one, false},
    {"walk sorted", 6, walk_sorted, true},
    {"sort rows", 2, sort_rows, true},
    {"add to all", 2, add_to_all, true},
    {"remove from all", 2, remove_from_all, true},
    {"destroy all", 2, destroy_all, true},
};
const uint32_t play_query_count = sizeof play_query_operations / sizeof *play_query_operations;
