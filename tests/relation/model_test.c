/* Random histories of relations with all traits against a list of edges in the order in which they were added. */
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/snapshot.h"
#include "relations.h"

#include <string.h>

enum { ENTITIES = 24, EDGES_MAX = 4096, KINDS = 10, SNAPSHOTS = 4 };

typedef struct edge {
    uint32_t kind;
    mica_entity source;
    mica_entity target;
    float value;
} edge;

typedef struct model {
    mica_entity entities[ENTITIES]; /* nil: none */
    edge edges[EDGES_MAX];
    uint32_t count;
} model;

typedef struct saved {
    mica_snapshot snapshot;
    model model;
    uint64_t hash;
} saved;

typedef struct run {
    mica_world *world;
    random_source random;
    mica_component kinds[KINDS];
    const mica_type *types[KINDS];
    model now;
    saved saved[SNAPSHOTS];
    uint32_t saved_count;
    uint32_t hooked; /* edges that hooks have seen come, less those that went */
} run;

static reports heard;

static bool lives(const model *model, mica_entity entity)
{
    for (uint32_t i = 0; i < ENTITIES; ++i)
        if (!mica_is_nil(entity) && mica_same(model->entities[i], entity))
            return true;
    return false;
}

static edge *find(run *run, uint32_t kind, mica_entity source, mica_entity target)
{
    for (uint32_t i = 0; i < run->now.count; ++i) {
        edge *at = &run->now.edges[i];
        if (at->kind == kind &&
            ((mica_same(at->source, source) && mica_same(at->target, target)) ||
             (run->types[kind]->symmetric && mica_same(at->source, target) && mica_same(at->target, source))))
            return at;
    }
    return NULL;
}

static void erase(run *run, const edge *gone)
{
    uint32_t at = (uint32_t)(gone - run->now.edges);
    memmove(run->now.edges + at, run->now.edges + at + 1, (run->now.count - at - 1) * sizeof *gone);
    --run->now.count;
}

static bool reaches(run *run, uint32_t kind, mica_entity from, mica_entity to, uint32_t depth)
{
    for (uint32_t i = 0; depth && i < run->now.count; ++i) {
        const edge *at = &run->now.edges[i];
        if (at->kind == kind && mica_same(at->source, from) &&
            (mica_same(at->target, to) || reaches(run, kind, at->target, to, depth - 1)))
            return true;
    }
    return false;
}

static void make_way(run *run, uint32_t kind, mica_entity entity)
{
    for (uint32_t i = run->now.count; i-- > 0;) {
        const edge *at = &run->now.edges[i];
        if (at->kind == kind &&
            (mica_same(at->source, entity) || (run->types[kind]->symmetric && mica_same(at->target, entity))))
            erase(run, at);
    }
}

/* False: refused. */
static bool model_relate(run *run, uint32_t kind, mica_entity source, mica_entity target, float value)
{
    const mica_type *type = run->types[kind];
    edge *known = find(run, kind, source, target);
    if (known) {
        known->value = value >= 0 ? value : known->value;
        return true;
    }
    if (mica_same(source, target) || (type->acyclic && reaches(run, kind, target, source, ENTITIES)))
        return false;
    if (type->exclusive)
        make_way(run, kind, source);
    if (type->exclusive && type->symmetric)
        make_way(run, kind, target);
    REQUIRE(run->now.count < EDGES_MAX);
    run->now.edges[run->now.count++] = (edge){kind, source, target, value >= 0 ? value : 0};
    return true;
}

static bool is_guarded(const run *run, mica_entity entity)
{
    for (uint32_t i = 0; i < run->now.count; ++i) {
        const edge *at = &run->now.edges[i];
        if (run->types[at->kind]->on_target == MICA_TARGET_REFUSE && mica_same(at->target, entity))
            return true;
    }
    return false;
}

/* Sources that are destroyed later, in order. */
typedef struct doomed {
    mica_entity list[EDGES_MAX];
    uint32_t count;
} doomed;

static void model_bury(run *run, mica_entity entity, doomed *later)
{
    for (uint32_t i = 0; i < ENTITIES; ++i)
        if (mica_same(run->now.entities[i], entity))
            run->now.entities[i] = mica_nil();
    for (uint32_t i = 0; i < run->now.count; ++i) {
        const edge *at = &run->now.edges[i];
        if (mica_same(at->target, entity) && run->types[at->kind]->on_target == MICA_TARGET_DESTROY)
            later->list[later->count++] = at->source;
    }
    for (uint32_t i = run->now.count; i-- > 0;) {
        const edge *at = &run->now.edges[i];
        bool stays = run->types[at->kind]->on_target == MICA_TARGET_KEEP && mica_same(at->target, entity);
        if (mica_same(at->source, entity) || (mica_same(at->target, entity) && !stays))
            erase(run, at);
    }
}

static bool model_destroy(run *run, mica_entity entity)
{
    static doomed later;
    later.count = 0;
    if (is_guarded(run, entity))
        return false;
    model_bury(run, entity, &later);
    for (uint32_t i = 0; i < later.count; ++i)
        if (lives(&run->now, later.list[i]) && !is_guarded(run, later.list[i]))
            model_bury(run, later.list[i], &later);
    return true;
}

static mica_entity any(run *run)
{
    for (;;) {
        uint32_t i = random_below(&run->random, ENTITIES);
        if (!mica_is_nil(run->now.entities[i]))
            return run->now.entities[i];
        if (!run->world)
            return mica_nil();
        run->now.entities[i] = mica_create(run->world);
        return run->now.entities[i];
    }
}

static float value_of(uint32_t kind, const void *fields)
{
    if (kind == 1)
        return ((const Distance *)fields)->meters;
    if (kind == 2)
        return (float)((const DockedTo *)fields)->since;
    return kind == 9 ? (float)mica_text_length(&((const WritesTo *)fields)->text) : 0;
}

static void compare_edges(run *run, uint32_t kind, mica_entity entity, bool to_targets)
{
    bool both = run->types[kind]->symmetric;
    uint32_t count = 0;
    mica_edges at = to_targets ? mica_targets_id(run->world, entity, run->kinds[kind])
                               : mica_sources_id(run->world, entity, run->kinds[kind]);
    for (int pass = 0; pass < 1 + both; ++pass)
        for (uint32_t i = 0; i < run->now.count; ++i) {
            const edge *wanted = &run->now.edges[i];
            bool from = both ? pass == 0 : to_targets;
            if (wanted->kind != kind || !mica_same(from ? wanted->source : wanted->target, entity))
                continue;
            REQUIRE(mica_edge_next(&at));
            REQUIRE(mica_same(at.entity, from ? wanted->target : wanted->source));
            REQUIRE(value_of(kind, at.fields) == (kind == 1 || kind == 2 || kind == 9 ? wanted->value : 0));
            ++count;
        }
    REQUIRE(!mica_edge_next(&at) && !mica_edge_next(&at));
    REQUIRE(count == (to_targets ? mica_target_count_id(run->world, entity, run->kinds[kind])
                                 : mica_source_count_id(run->world, entity, run->kinds[kind])));
}

static void compare(run *run)
{
    REQUIRE(mica_world_validate(run->world) == MICA_OK);
    uint32_t living = 0;
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        mica_entity entity = run->now.entities[i];
        living += !mica_is_nil(entity);
        for (uint32_t kind = 0; !mica_is_nil(entity) && kind < KINDS; ++kind) {
            compare_edges(run, kind, entity, true);
            compare_edges(run, kind, entity, false);
        }
    }
    REQUIRE(living == mica_world_get_stats(run->world).entity_count);
    for (uint32_t i = 0; i < 40; ++i) {
        uint32_t kind = random_below(&run->random, KINDS);
        mica_entity source = run->now.entities[random_below(&run->random, ENTITIES)],
                    target = run->now.entities[random_below(&run->random, ENTITIES)];
        if (mica_is_nil(source) || mica_is_nil(target))
            continue;
        bool is_edge = find(run, kind, source, target) != NULL;
        REQUIRE((mica_edge_get_id(run->world, source, run->kinds[kind], target) != NULL) == is_edge);
        REQUIRE(mica_is_related_id(run->world, source, run->kinds[kind], target) ==
                (is_edge || (run->types[kind]->transitive && reaches(run, kind, source, target, ENTITIES))));
    }
}

/* Relates with a value if it is not negative. */
static bool relate(run *run, uint32_t kind, mica_entity source, mica_entity target, float value)
{
    mica_world *world = run->world;
    if (value < 0 || (kind != 1 && kind != 2 && kind != 9))
        return mica_relate_id(world, source, run->kinds[kind], target) != NULL;
    if (kind == 1)
        return mica_relate_with(world, source, Distance, target, {.meters = value});
    if (kind == 2)
        return mica_relate_with(world, source, DockedTo, target, {.since = (uint32_t)value});
    char text[128];
    memset(text, 'x', sizeof text);
    text[(uint32_t)value] = 0;
    return mica_relate_with(world, source, WritesTo, target, {mica_text_of(text)});
}

static float random_value(run *run)
{
    return random_one_in(&run->random, 2) ? -1 : (float)random_below(&run->random, 100);
}

static void step_relate(run *run)
{
    uint32_t kind = random_below(&run->random, KINDS);
    mica_entity source = any(run), target = any(run);
    float value = random_value(run);
    bool expected = model_relate(run, kind, source, target, value);
    REQUIRE(relate(run, kind, source, target, value) == expected);
    if (!expected)
        forget_reports(&heard);
}

static void step_unrelate(run *run)
{
    uint32_t kind = random_below(&run->random, KINDS);
    if (!run->now.count)
        return;
    edge gone = run->now.edges[random_below(&run->random, run->now.count)];
    if (random_one_in(&run->random, 8)) {
        mica_entity entity = any(run);
        bool to_targets = random_one_in(&run->random, 2);
        uint32_t count = 0;
        for (uint32_t i = run->now.count; i-- > 0;) {
            const edge *at = &run->now.edges[i];
            bool is_it = mica_same(to_targets ? at->source : at->target, entity) ||
                         (run->types[kind]->symmetric && mica_same(to_targets ? at->target : at->source, entity));
            if (at->kind == kind && is_it) {
                erase(run, at);
                ++count;
            }
        }
        REQUIRE((to_targets ? mica_unrelate_targets_id(run->world, entity, run->kinds[kind])
                            : mica_unrelate_sources_id(run->world, entity, run->kinds[kind])) == count);
        return;
    }
    REQUIRE(mica_unrelate_id(run->world, gone.source, run->kinds[gone.kind], gone.target));
    REQUIRE(!mica_unrelate_id(run->world, gone.source, run->kinds[gone.kind], gone.target));
    erase(run, find(run, gone.kind, gone.source, gone.target));
}

static void step_destroy(run *run)
{
    mica_entity entity = any(run);
    bool expected = model_destroy(run, entity);
    if (random_one_in(&run->random, 2))
        REQUIRE(mica_destroy(run->world, entity) == expected);
    else
        mica_destroy_many(run->world, &entity, 1);
    forget_reports(&heard);
}

static void step_clone(run *run)
{
    uint32_t to = random_below(&run->random, ENTITIES);
    if (!mica_is_nil(run->now.entities[to]))
        return;
    mica_entity from = any(run);
    if (!mica_is_nil(run->now.entities[to]))
        return;
    mica_entity clone = mica_clone(run->world, from);
    REQUIRE(!mica_is_nil(clone));
    run->now.entities[to] = clone;
    for (uint32_t kind = 0; kind < KINDS; ++kind)
        for (uint32_t i = 0, count = run->now.count; i < count; ++i) {
            edge copy = run->now.edges[i];
            bool is_taken = run->types[kind]->symmetric && run->types[kind]->exclusive;
            if (copy.kind == kind && mica_same(copy.source, from) && lives(&run->now, copy.target) && !is_taken)
                REQUIRE(model_relate(run, kind, clone, copy.target, copy.value));
        }
}

static void step_snapshot(run *run)
{
    uint32_t at = random_below(&run->random, SNAPSHOTS);
    if (at >= run->saved_count) {
        saved *saved = &run->saved[run->saved_count++];
        saved->snapshot = mica_snapshot_take(run->world);
        saved->model = run->now;
        saved->hash = mica_world_hash(run->world);
        return;
    }
    saved *saved = &run->saved[at];
    if (random_one_in(&run->random, 3)) {
        REQUIRE(mica_snapshot_drop(run->world, saved->snapshot));
        memmove(saved, saved + 1, (run->saved_count - at - 1) * sizeof *saved);
        --run->saved_count;
        return;
    }
    REQUIRE(mica_snapshot_restore(run->world, saved->snapshot) == MICA_OK);
    run->now = saved->model;
    REQUIRE(mica_world_hash(run->world) == saved->hash);
}

/* Relates and unrelates are applied in order, after one destruction. */
static void step_record(run *run)
{
    mica_defer(run->world);
    mica_entity dead = random_one_in(&run->random, 2) ? any(run) : mica_nil();
    bool gone = !mica_is_nil(dead) && model_destroy(run, dead);
    struct {
        uint32_t kind;
        mica_entity source, target;
        float value;
        bool adds;
    } list[8];
    uint32_t count = random_below(&run->random, 8);
    for (uint32_t i = 0; i < count; ++i) {
        list[i].kind = random_below(&run->random, KINDS);
        if (list[i].kind == 6) /* whose sources are destroyed in the next round, with the edges of this one */
            list[i].kind = 0;
        list[i].source = any(run);
        list[i].target = any(run);
        list[i].value = random_value(run);
        list[i].adds = !random_one_in(&run->random, 3);
        if (mica_same(list[i].source, list[i].target)) {
            --i, --count;
            continue;
        }
        if (list[i].adds)
            REQUIRE(relate(run, list[i].kind, list[i].source, list[i].target, list[i].value));
        else
            REQUIRE(mica_unrelate_id(run->world, list[i].source, run->kinds[list[i].kind], list[i].target));
    }
    if (!mica_is_nil(dead))
        mica_destroy(run->world, dead);
    mica_result result = mica_flush(run->world);
    (void)gone;
    for (uint32_t i = 0; i < count; ++i) {
        const edge *known = find(run, list[i].kind, list[i].source, list[i].target);
        if (list[i].adds)
            model_relate(run, list[i].kind, list[i].source, list[i].target, list[i].value);
        else if (known)
            erase(run, known);
    }
    REQUIRE(result == MICA_OK || heard.count);
    forget_reports(&heard);
}

static void step_world(run *run)
{
    mica_world *clone = mica_world_clone(run->world);
    REQUIRE(clone && mica_world_hash(clone) == mica_world_hash(run->world));
    struct run other = *run;
    other.world = clone;
    compare(&other);
    mica_world_destroy(clone);
}

static void on_edge(const mica_event *event)
{
    run *run = event->context;
    REQUIRE(event->count == 1 && mica_is_alive(event->world, event->entities[0]));
    run->hooked += event->kind == MICA_EVENT_ADD;
    run->hooked -= event->kind == MICA_EVENT_REMOVE;
}

static void play(uint64_t seed, uint32_t steps, bool hooks)
{
    static run run;
    memset(&run, 0, sizeof run);
    run.random.state = seed;
    mica_component kinds[] = {MICA_ID(Likes),     MICA_ID(Distance),  MICA_ID(DockedTo), MICA_ID(Borders),
                              MICA_ID(MarriedTo), MICA_ID(DependsOn), MICA_ID(PartOf),   MICA_ID(Remembers),
                              MICA_ID(Guards),    MICA_ID(WritesTo)};
    memcpy(run.kinds, kinds, sizeof kinds);
    run.world = open_world(&heard);
    for (uint32_t i = 0; i < KINDS; ++i) {
        run.types[i] = mica_component_type(kinds[i]);
        for (mica_event_kind kind = 0; hooks && kind <= MICA_EVENT_REMOVE; ++kind)
            REQUIRE(mica_hook_set_id(run.world, kinds[i], kind, on_edge, &run) == MICA_OK);
    }
    static void (*const list[])(struct run *) = {step_relate, step_relate, step_relate,   step_relate, step_unrelate,
                                                 step_clone,  step_record, step_snapshot, step_destroy};
    for (uint32_t i = 0; i < steps; ++i) {
        list[random_below(&run.random, sizeof list / sizeof *list)](&run);
        compare(&run);
        if (i % 64 == 0)
            step_world(&run);
    }
    expect_no_report(&heard);
    close_world(run.world, &heard);
}

START_TEST(random_histories_agree_with_a_list_of_edges)
{
    uint64_t seed = setting_from_environment("MICA_SEED", 1);
    uint32_t steps = (uint32_t)setting_from_environment("MICA_STEPS", UNDER_SANITIZER ? 150 : 400);
    for (uint64_t i = 0; i < 12; ++i)
        play(seed * 1000 + i, steps, i % 2);
}
END_TEST

TEST_SUITE(model, random_histories_agree_with_a_list_of_edges)
