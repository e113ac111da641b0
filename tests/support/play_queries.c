/* Operations that go through queries: walking, counting and testing. */
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
    case MICA_ACCESS_MAYBE_READ:
    case MICA_ACCESS_EITHER: return true;
    case MICA_ACCESS_ADDED: return samples[kind].type->track_added;
    case MICA_ACCESS_DISABLED: return samples[kind].type->toggle;
    default: return samples[kind].has_data;
    }
}

/* A pool with many instances, shown one by one: read or written, and now and then only the recent ones. */
static uint32_t draw_instances(play *play, model_query *query)
{
    sample_kind kind = play_draw_sample_that(play, sample_is_many);
    if (kind == SAMPLE_COUNT || !random_one_in(&play->random, 3))
        return 0;
    query->instances_of = kind;
    push_term(query, kind, random_one_in(&play->random, 2) ? MICA_ACCESS_READ : MICA_ACCESS_WRITE);
    if (random_one_in(&play->random, 4))
        push_term(query, kind, samples[kind].type->track_added ? MICA_ACCESS_ADDED : MICA_ACCESS_CHANGED);
    return 1u << kind;
}

void play_draw_query(play *play, model_query *query)
{
    uint32_t wanted = random_below(&play->random, 5);
    *query = (model_query){.term_count = 0, .with_hidden = random_one_in(&play->random, 3)};
    uint32_t used = draw_instances(play, query);
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

bool play_asks_for_time(const model_query *query)
{
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (query->terms[i].access == MICA_ACCESS_CHANGED || query->terms[i].access == MICA_ACCESS_ADDED)
            return true;
    return false;
}

/* What the query can be sorted by: something it reads or writes as a whole. */
static sample_kind draw_order(play *play, const model_query *query)
{
    if (query->instances_of || play_asks_for_time(query) || random_one_in(&play->random, 2))
        return SAMPLE_COUNT;
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (sample_is_whole(query->terms[i].kind) &&
            (query->terms[i].access == MICA_ACCESS_READ || query->terms[i].access == MICA_ACCESS_WRITE))
            return query->terms[i].kind;
    return SAMPLE_COUNT;
}

mica_query *play_make_query(play *play, const model_query *query, sample_kind sorted_by)
{
    mica_term terms[MODEL_TERMS_MAX];
    for (uint32_t i = 0; i < query->term_count; ++i)
        terms[i] = (mica_term){.component = play->ids[query->terms[i].kind], .access = query->terms[i].access};
    mica_query_def def = {.name = "drawn", .terms = terms, .term_count = query->term_count, .location = MICA_HERE};
    def.with_hidden = query->with_hidden;
    if (query->instances_of)
        def.instances_of = play->ids[query->instances_of];
    if (sorted_by != SAMPLE_COUNT) {
        def.order_by = play->ids[sorted_by];
        def.compare = sample_compare;
        def.context = (void *)(uintptr_t)&samples[sorted_by];
    }
    mica_query *made = mica_query_create(play->world, &def);
    EXPECT_SAYING(play, made, "%s", play->last_report);
    return made;
}

static void renew(play *play, play_query *slot)
{
    mica_query_destroy(slot->query);
    play_draw_query(play, &slot->model);
    slot->sorted_by = draw_order(play, &slot->model);
    slot->query = play_make_query(play, &slot->model, slot->sorted_by);
    slot->serial = ++play->query_serial;
}

play_query *play_draw_query_slot(play *play)
{
    play_query *slot = &play->queries[random_below(&play->random, PLAY_QUERIES)];
    if (!slot->query)
        renew(play, slot);
    return slot;
}

static void renew_one(play *play)
{
    renew(play, play_draw_query_slot(play));
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

static void *grow_by_slot(play *play, uint32_t *array)
{
    uint32_t count = play->model.slot_count;
    uint32_t *grown = realloc(array, count * sizeof *grown);
    EXPECT(play, grown);
    memset(grown + play->seen_count, 0, (count - play->seen_count) * sizeof *grown);
    return grown;
}

static walk walk_begin(play *play, const model_query *query)
{
    if (play->seen_count < play->model.slot_count) {
        play->seen = grow_by_slot(play, play->seen);
        play->seen_instances = grow_by_slot(play, play->seen_instances);
        play->seen_count = play->model.slot_count;
    }
    ++play->walk;
    return (walk){.query = query, .writes = random_one_in(&play->random, 2)};
}

/* Whether a term shows if the component is there. */
static bool is_shown(model_term term)
{
    switch (term.access) {
    case MICA_ACCESS_READ:
    case MICA_ACCESS_WRITE:
    case MICA_ACCESS_MAYBE_READ:
    case MICA_ACCESS_MAYBE_WRITE:
    case MICA_ACCESS_EITHER:
    case MICA_ACCESS_OR: return true;
    default: return false;
    }
}

/* Whether it gives a column with values then. */
static bool has_column(model_term term)
{
    return is_shown(term) && samples[term.kind].has_data;
}

static bool is_written(model_term term)
{
    return term.access == MICA_ACCESS_WRITE || term.access == MICA_ACCESS_MAYBE_WRITE;
}

/* Each entity is shown once, or each of its instances. */
static model_entity *walk_meets(play *play, walk *walk, mica_entity handle, uint32_t which)
{
    model_entity *entity = model_find(&play->model, handle);
    EXPECT(play, entity);
    if (play->seen[handle.index] != play->walk)
        play->seen_instances[handle.index] = 0;
    EXPECT_SAYING(play, !(play->seen_instances[handle.index] >> which % 32 & 1) || which >= 32,
                  "{%u, %u} is shown twice", handle.index, handle.generation);
    play->seen[handle.index] = play->walk;
    play->seen_instances[handle.index] |= 1u << which % 32;
    model_answer answer = model_query_asks_instance(walk->query, entity, which);
    EXPECT_SAYING(play, answer != MODEL_NO, "{%u, %u} does not match", handle.index, handle.generation);
    ++walk->shown;
    walk->sure += answer == MODEL_YES;
    return entity;
}

/* Which instance of an entity lies at that address: its value, or its first field. */
static uint32_t instance_at(play *play, sample_kind kind, mica_entity entity, const void *address)
{
    const mica_pool *pool = play->pools[kind];
    mica_instance instance = mica_pool_find(pool, entity);
    for (uint32_t which = 0;; ++which, instance = mica_pool_next(pool, instance)) {
        EXPECT_SAYING(play, !mica_instance_is_nil(instance), "%s", samples[kind].name);
        if (address == (sample_is_split(kind) ? mica_instance_read_field_id(pool, instance, 0)
                                              : mica_instance_read_id(pool, instance)))
            return which;
    }
}

/* Which instance a row of a view shows. */
static uint32_t shown_instance(play *play, const walk *walk, const mica_view *view, uint32_t row)
{
    sample_kind kind = walk->query->instances_of;
    if (!kind)
        return 0;
    bool split = sample_is_split(kind);
    size_t bytes = split ? sample_leaves[0].bytes : samples[kind].type->size_bytes;
    const char *column =
        split ? mica_view_read_field_id(view, play->ids[kind], 0) : mica_view_read_id(view, play->ids[kind]);
    return instance_at(play, kind, view->entities[row], column + row * bytes);
}

/* The columns of a term in a view: one, or one per field. */
typedef struct columns {
    uint32_t count;
    sample_leaf leaves[SAMPLE_LEAVES];
    const char *read[SAMPLE_LEAVES];
    char *write[SAMPLE_LEAVES];
    bool is_unmarked; /* the rows that are written are marked one by one */
} columns;

static columns columns_of(play *play, const walk *walk, mica_view *view, uint32_t term)
{
    model_term asked = walk->query->terms[term];
    mica_component id = play->ids[asked.kind];
    bool writes = walk->writes && is_written(asked);
    columns columns = {.count = 1, .leaves = {{0, samples[asked.kind].type->size_bytes}}};
    columns.is_unmarked = writes && samples[asked.kind].type->track_changed && random_one_in(&play->random, 2);
    if (!sample_is_split(asked.kind)) {
        columns.read[0] = mica_view_read_at(view, term);
        columns.write[0] = !writes               ? NULL
                           : columns.is_unmarked ? mica_view_write_unmarked_id(view, id)
                                                 : mica_view_write_at(view, term);
        return columns;
    }
    columns.count = SAMPLE_LEAVES;
    for (uint32_t i = 0; i < SAMPLE_LEAVES; ++i) {
        columns.leaves[i] = sample_leaves[i];
        columns.read[i] = mica_view_read_field_id(view, id, sample_leaves[i].offset);
        columns.write[i] = !writes               ? NULL
                           : columns.is_unmarked ? mica_view_write_field_unmarked_id(view, id, sample_leaves[i].offset)
                                                 : mica_view_write_field_id(view, id, sample_leaves[i].offset);
    }
    return columns;
}

static const void *read_row(const columns *columns, uint32_t row, sample_room *room)
{
    if (columns->count == 1)
        return columns->read[0] + (size_t)row * columns->leaves[0].bytes;
    for (uint32_t i = 0; i < columns->count; ++i)
        memcpy(room->bytes + columns->leaves[i].offset, columns->read[i] + (size_t)row * columns->leaves[i].bytes,
               columns->leaves[i].bytes);
    return room->bytes;
}

static void write_row(const columns *columns, sample_kind kind, uint32_t row, uint32_t number)
{
    if (columns->count == 1) {
        samples[kind].assign(columns->write[0] + (size_t)row * columns->leaves[0].bytes, number);
        return;
    }
    sample_room whole;
    samples[kind].assign(whole.bytes, number);
    for (uint32_t i = 0; i < columns->count; ++i)
        memcpy(columns->write[i] + (size_t)row * columns->leaves[i].bytes, whole.bytes + columns->leaves[i].offset,
               columns->leaves[i].bytes);
}

/* A view says whether its rows have a component, and which of them are enabled. */
static void walk_presence(play *play, const walk *walk, const mica_view *view, uint32_t term)
{
    model_term asked = walk->query->terms[term];
    bool has = mica_view_has_at(view, term);
    EXPECT(play, has == mica_view_has_id(view, play->ids[asked.kind]));
    bool toggles = samples[asked.kind].type->toggle && is_shown(asked);
    const uint8_t *enabled = toggles ? mica_view_enabled_id(view, play->ids[asked.kind]) : NULL;
    EXPECT_SAYING(play, !toggles || (enabled != NULL) == has, "%s", samples[asked.kind].name);
    for (uint32_t i = 0; i < view->count; ++i) {
        const model_entity *entity = model_find(&play->model, view->entities[i]);
        EXPECT_SAYING(play, has == (entity->components >> asked.kind & 1), "%s", samples[asked.kind].name);
        EXPECT_SAYING(play, !enabled || enabled[i] != (entity->disabled >> asked.kind & 1), "%s",
                      samples[asked.kind].name);
    }
}

static void walk_column(play *play, const walk *walk, mica_view *view, uint32_t term)
{
    model_term asked = walk->query->terms[term];
    walk_presence(play, walk, view, term);
    if (!has_column(asked))
        return;
    columns columns = columns_of(play, walk, view, term);
    for (uint32_t i = 0; i < view->count; ++i) {
        model_entity *entity = model_find(&play->model, view->entities[i]);
        bool there = entity->components >> asked.kind & 1;
        EXPECT_SAYING(play, (columns.read[0] != NULL) == there, "%s", samples[asked.kind].name);
        if (!there)
            continue;
        sample_room room;
        uint32_t which = asked.kind == walk->query->instances_of ? shown_instance(play, walk, view, i) : 0;
        EXPECT_SAYING(play,
                      samples[asked.kind].holds(read_row(&columns, i, &room),
                                                model_instance_at(entity, asked.kind, which).number),
                      "%s", samples[asked.kind].name);
        if (columns.write[0] && (!columns.is_unmarked || random_one_in(&play->random, 3))) {
            if (columns.is_unmarked)
                mica_view_mark_id(view, play->ids[asked.kind], i);
            uint32_t number = play_draw_number(play);
            write_row(&columns, asked.kind, i, number);
            model_instance_touch(&play->model, entity, asked.kind, which, number);
        }
    }
}

static void take_mark(play *play)
{
    play_mark *mark = &play->marks[random_below(&play->random, PLAY_MARKS)];
    mark->version = mica_world_mark(play->world);
    mark->epoch = model_mark(&play->model);
}

/* How many the model insists on must be counted before the walk writes. */
static void walk_views(play *play, walk *walk, mica_view view)
{
    uint32_t sure = model_query_count(&play->model, walk->query, false);
    while (mica_view_next(&view)) {
        EXPECT(play, view.count > 0);
        for (uint32_t i = 0; i < view.count; ++i)
            walk_meets(play, walk, view.entities[i], shown_instance(play, walk, &view, i));
        if (random_one_in(&play->random, 16))
            take_mark(play); /* what is written from now on is newer, also through a view from before */
        for (uint32_t term = 0; term < walk->query->term_count; ++term)
            walk_column(play, walk, &view, term);
    }
    EXPECT_SAYING(play, walk->sure == sure, "%u of %u were shown", walk->sure, sure);
}

static void walk_query(play *play)
{
    play_query *slot = play_draw_query_slot(play);
    model_query asked = slot->model;
    walk walk = walk_begin(play, &asked);
    mica_view view = mica_query_begin(slot->query);
    slot->model.since = model_mark(&play->model);
    walk_views(play, &walk, view);
}

static void walk_since_mark(play *play)
{
    play_query *slot = play_draw_query_slot(play);
    const play_mark *mark = &play->marks[random_below(&play->random, PLAY_MARKS)];
    model_query asked = slot->model;
    asked.since = mark->epoch;
    walk walk = walk_begin(play, &asked);
    mica_view view = mica_query_begin_since(slot->query, mark->version);
    walk_views(play, &walk, view);
}

static bool has_data(sample_kind kind)
{
    return samples[kind].has_data;
}

/* Right after a mark nothing is newer than it. */
static void nothing_changed_yet(play *play)
{
    model_query query = {.term_count = 1, .terms = {{play_draw_sample_that(play, has_data), MICA_ACCESS_CHANGED}}};
    mica_query *changed = play_make_query(play, &query, SAMPLE_COUNT);
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

/* Of a split component there is no column to hand out. */
static void meet_each(mica_entity handle, void *const *columns, void *context)
{
    each_context *each = context;
    sample_kind kind = each->walk.query->instances_of; /* which the first term reads or writes */
    uint32_t which = kind ? instance_at(each->play, kind, handle, columns[0]) : 0;
    model_entity *entity = walk_meets(each->play, &each->walk, handle, which);
    for (uint32_t term = 0; term < each->walk.query->term_count; ++term) {
        model_term asked = each->walk.query->terms[term];
        bool there = is_shown(asked) && !sample_is_split(asked.kind) && (entity->components >> asked.kind & 1);
        EXPECT(each->play, (columns[term] != NULL) == there);
        if (!there || !has_column(asked))
            continue;
        uint32_t instance = asked.kind == kind ? which : 0,
                 number = model_instance_at(entity, asked.kind, instance).number;
        EXPECT(each->play, samples[asked.kind].holds(columns[term], number));
        if (is_written(asked)) /* whether it is or not */
            model_instance_touch(&each->play->model, entity, asked.kind, instance, number);
    }
}

static void walk_each(play *play)
{
    play_query *slot = play_draw_query_slot(play);
    if (slot->model.instances_of && sample_is_split(slot->model.instances_of))
        return;
    model_query asked = slot->model;
    each_context context = {play, walk_begin(play, &asked)};
    uint32_t sure = model_query_count(&play->model, &asked, false);
    slot->model.since = model_mark(&play->model);
    mica_query_each(slot->query, meet_each, &context);
    EXPECT(play, context.walk.sure == sure);
}

static void count(play *play)
{
    play_query *slot = play_draw_query_slot(play);
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
    play_query *slot = play_draw_query_slot(play);
    mica_entity handle = play_draw_any(play);
    const model_entity *entity = model_find(&play->model, handle);
    model_answer answer = entity ? model_query_asks(&slot->model, entity) : MODEL_NO;
    bool matches = mica_query_matches(slot->query, handle);
    EXPECT(play, matches ? answer != MODEL_NO : answer != MODEL_YES);
    if (!entity)
        play->dead_reports = 0;
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
};
const uint32_t play_query_count = sizeof play_query_operations / sizeof *play_query_operations;
