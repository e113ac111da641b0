/* Edges between entities: one relation of each policy for destroyed targets, an exclusive one, and fields with and without text. The model
 * is a list of edges for each. */
#include "play.h"

#include "mica/relation.h"

#include <stdio.h>

enum { EDGES_MAX = 60 /* of a relation; clones can bring more */ };

typedef struct PlayOwes {
    uint32_t number;
    mica_text text;
} PlayOwes;
typedef struct PlayHolds {
    uint32_t number;
} PlayHolds;
MICA_RELATION(PlayLikes)
MICA_RELATION_WITH(PlayOwes, (.on_target = MICA_TARGET_KEEP), number, text)
MICA_RELATION_WITH(PlayHolds, (.exclusive = true, .on_target = MICA_TARGET_REMOVE), number)
MICA_RELATION_WITH(PlayNeeds, (.on_target = MICA_TARGET_DESTROY))
MICA_RELATION_WITH(PlayGuards, (.on_target = MICA_TARGET_REFUSE))

static mica_type *const types[MODEL_RELATIONS] = {[MODEL_LIKES] = &mica_type_of_PlayLikes,
                                                  [MODEL_OWES] = &mica_type_of_PlayOwes,
                                                  [MODEL_HOLDS] = &mica_type_of_PlayHolds,
                                                  [MODEL_NEEDS] = &mica_type_of_PlayNeeds,
                                                  [MODEL_GUARDS] = &mica_type_of_PlayGuards};

static mica_component id_of(model_relation relation)
{
    return mica_type_id(types[relation]);
}

void play_relations_begin(play *play)
{
    play->has_relations = play->config.seed % 5 % 2;
    for (model_relation relation = 0; play->has_relations && relation < MODEL_RELATIONS; ++relation)
        EXPECT(play, mica_component_define(play->world, types[relation]));
}

/* None for the number 0; else in place or in a block. */
static void text_of(uint32_t number, char text[64])
{
    text[0] = 0;
    if (number)
        snprintf(text, 64, number % 2 ? "%u" : "a debt of %u, in a text of some length", number);
}

/* Gives fields that exist another number. */
static void assign(play *play, model_relation relation, void *fields, uint32_t number)
{
    if (relation == MODEL_HOLDS)
        ((PlayHolds *)fields)->number = number;
    if (relation != MODEL_OWES)
        return;
    PlayOwes *owes = fields;
    char text[64];
    text_of(number, text);
    owes->number = number;
    EXPECT(play, mica_text_set(&owes->text, text) == MICA_OK);
}

static bool holds(model_relation relation, const void *fields, uint32_t number)
{
    if (relation == MODEL_HOLDS)
        return ((const PlayHolds *)fields)->number == number;
    if (relation != MODEL_OWES)
        return true;
    char text[64];
    text_of(number, text);
    return ((const PlayOwes *)fields)->number == number && mica_text_is(&((const PlayOwes *)fields)->text, text);
}

static bool relate_with(play *play, model_relation relation, const model_edge *edge)
{
    char text[64];
    text_of(edge->number, text);
    PlayHolds held = {edge->number};
    PlayOwes owed = {edge->number, mica_text_of(text)};
    mica_value fields = {id_of(relation), 0, NULL};
    if (relation == MODEL_HOLDS)
        fields.data = &held, fields.size_bytes = sizeof held;
    else if (relation == MODEL_OWES)
        fields.data = &owed, fields.size_bytes = sizeof owed;
    return mica_relate_with_id(play->world, edge->source, fields, edge->target);
}

uint32_t play_relations_of(const model_entity *entity)
{
    uint32_t count = 0;
    for (model_relation relation = 0; entity->edge_count && relation < MODEL_RELATIONS; ++relation)
        count += entity->target_counts[relation] != 0;
    return count;
}

static void compare_targets(play *play, model_relation relation, mica_entity source)
{
    const model_edges *edges = &play->model.edges[relation];
    mica_component id = id_of(relation);
    mica_edges at = mica_targets_id(play->world, source, id);
    mica_entity first = mica_nil();
    uint32_t count = 0;
    for (uint32_t i = 0; i < edges->count; ++i) {
        const model_edge *edge = &edges->list[i];
        if (!mica_same(edge->source, source))
            continue;
        first = count++ ? first : edge->target;
        EXPECT_SAYING(play, mica_edge_next(&at), "relation %d: %u targets", relation, count);
        EXPECT_SAYING(play, mica_same(at.entity, edge->target), "relation %d: target %u", relation, count);
        EXPECT_SAYING(play, holds(relation, at.fields, edge->number), "relation %d: not %u", relation, edge->number);
        if (!mica_is_alive(play->world, edge->target))
            continue;
        const void *fields = mica_edge_get_id(play->world, source, id, edge->target);
        EXPECT_SAYING(play, fields == at.fields, "relation %d: target %u", relation, count);
        EXPECT(play, mica_is_related_id(play->world, source, id, edge->target));
    }
    EXPECT_SAYING(play, !mica_edge_next(&at), "relation %d: more than %u targets", relation, count);
    EXPECT(play, mica_target_count_id(play->world, source, id) == count);
    EXPECT(play, mica_same(mica_target_id(play->world, source, id), first));
    EXPECT(play, mica_has_id(play->world, source, id) == (count > 0));
}

static void compare_sources(play *play, model_relation relation, mica_entity target)
{
    const model_edges *edges = &play->model.edges[relation];
    mica_edges at = mica_sources_id(play->world, target, id_of(relation));
    uint32_t count = 0;
    for (uint32_t i = 0; i < edges->count; ++i) {
        if (!mica_same(edges->list[i].target, target))
            continue;
        ++count;
        EXPECT_SAYING(play, mica_edge_next(&at), "relation %d: %u sources", relation, count);
        EXPECT_SAYING(play, mica_same(at.entity, edges->list[i].source), "relation %d: source %u", relation, count);
        EXPECT(play, holds(relation, at.fields, edges->list[i].number));
    }
    EXPECT_SAYING(play, !mica_edge_next(&at), "relation %d: more than %u sources", relation, count);
    EXPECT(play, mica_source_count_id(play->world, target, id_of(relation)) == count);
}

static void compare_relation(play *play, model_relation relation, const model_entity *entity)
{
    if (entity->edge_count) {
        compare_targets(play, relation, entity->handle);
        compare_sources(play, relation, entity->handle);
        return;
    }
    EXPECT(play, mica_target_count_id(play->world, entity->handle, id_of(relation)) == 0);
    EXPECT(play, mica_source_count_id(play->world, entity->handle, id_of(relation)) == 0);
}

void play_compare_edges(play *play, const model_entity *entity)
{
    if (play->has_relations)
        compare_relation(play, (model_relation)(play->step % MODEL_RELATIONS), entity);
}

void play_compare_all_edges(play *play, const model_entity *entity)
{
    for (model_relation relation = 0; play->has_relations && relation < MODEL_RELATIONS; ++relation)
        compare_relation(play, relation, entity);
}

void play_compare_edge_totals(play *play)
{
    for (model_relation relation = 0; play->has_relations && relation < MODEL_RELATIONS; ++relation) {
        uint32_t rows = mica_pool_count(mica_pool_of_id(play->world, id_of(relation)));
        EXPECT_SAYING(play, rows == play->model.edges[relation].count, "relation %d: %u edges, not %u", relation, rows,
                      play->model.edges[relation].count);
    }
}

/* An end of an edge for the most part, so that entities have several. */
static mica_entity draw_end(play *play, model_relation relation)
{
    const model_edges *edges = &play->model.edges[relation];
    if (!edges->count || random_one_in(&play->random, 3))
        return play_draw_living(play);
    const model_edge *edge = &edges->list[random_below(&play->random, edges->count)];
    mica_entity end = random_one_in(&play->random, 2) ? edge->source : edge->target;
    return model_find(&play->model, end) ? end : edge->source;
}

static model_relation draw_relation(play *play)
{
    return (model_relation)random_below(&play->random, MODEL_RELATIONS);
}

/* The edges of a source, and of a target that is alive; and all else of the source: an edge moves nothing. */
static void compare_ends(play *play, model_relation relation, mica_entity source, mica_entity target)
{
    const model_entity *other = model_find(&play->model, target);
    compare_relation(play, relation, model_find(&play->model, source));
    if (other)
        compare_relation(play, relation, other);
    play_compare_entity(play, model_find(&play->model, source));
}

static void relate(play *play)
{
    model_relation relation = draw_relation(play);
    model_edge edge = {draw_end(play, relation), draw_end(play, relation), play_draw_number(play)};
    if (mica_is_nil(edge.source) || mica_same(edge.source, edge.target) ||
        play->model.edges[relation].count >= EDGES_MAX)
        return;
    const model_edge *known = model_find_edge(&play->model, relation, edge.source, edge.target);
    bool sets = random_one_in(&play->random, 2);
    if (sets) {
        EXPECT_SAYING(play, relate_with(play, relation, &edge), "%s", play->last_report);
    } else {
        void *fields = mica_relate_id(play->world, edge.source, id_of(relation), edge.target);
        EXPECT_SAYING(play, fields, "%s", play->last_report);
        EXPECT(play, holds(relation, fields, known ? known->number : 0));
        sets = random_one_in(&play->random, 2);
        if (sets)
            assign(play, relation, fields, edge.number);
        else
            edge.number = 0;
    }
    model_relate(&play->model, relation, edge, sets);
    compare_ends(play, relation, edge.source, edge.target);
}

/* In order, as if each pair was related in turn. */
static void relate_many(play *play)
{
    enum { PAIRS = 8 };
    model_relation relation = draw_relation(play);
    mica_entity sources[PAIRS], targets[PAIRS];
    uint32_t count = 0;
    if (play->model.edges[relation].count + PAIRS > EDGES_MAX)
        return;
    for (uint32_t i = random_below(&play->random, PAIRS + 1); i > 0; --i) {
        sources[count] = draw_end(play, relation);
        targets[count] = draw_end(play, relation);
        count += !mica_is_nil(sources[count]) && !mica_same(sources[count], targets[count]);
    }
    EXPECT(play, mica_relate_many_id(play->world, id_of(relation), sources, targets, count) == count);
    for (uint32_t i = 0; i < count; ++i)
        model_relate(&play->model, relation, (model_edge){sources[i], targets[i], 0}, false);
    for (uint32_t i = 0; i < count; ++i)
        compare_ends(play, relation, sources[i], targets[i]);
}

static void unrelate(play *play)
{
    model_relation relation = draw_relation(play);
    const model_edges *edges = &play->model.edges[relation];
    if (!edges->count)
        return;
    model_edge gone = edges->list[random_below(&play->random, edges->count)];
    mica_component id = id_of(relation);
    EXPECT(play, mica_unrelate_id(play->world, gone.source, id, gone.target));
    model_unrelate(&play->model, relation, gone.source, gone.target);
    if (mica_is_alive(play->world, gone.target)) {
        EXPECT(play, !mica_is_related_id(play->world, gone.source, id, gone.target));
        EXPECT(play, !mica_unrelate_id(play->world, gone.source, id, gone.target));
    }
    compare_ends(play, relation, gone.source, gone.target);
}

static void unrelate_all(play *play)
{
    model_relation relation = draw_relation(play);
    mica_entity center = draw_end(play, relation);
    uint32_t way = random_below(&play->random, 3);
    if (mica_is_nil(center))
        return;
    uint32_t count = model_unrelate_all(&play->model, relation, center, way != 1);
    mica_component id = id_of(relation);
    if (way == 0)
        EXPECT(play, mica_unrelate_targets_id(play->world, center, id) == count);
    else if (way == 1)
        EXPECT(play, mica_unrelate_sources_id(play->world, center, id) == count);
    else
        EXPECT(play, mica_remove_id(play->world, center, id) == (count > 0));
    compare_relation(play, relation, model_find(&play->model, center));
}

static void write_edge(play *play)
{
    model_relation relation = draw_relation(play);
    const model_edges *edges = &play->model.edges[relation];
    if (!edges->count)
        return;
    model_edge *edge = &edges->list[random_below(&play->random, edges->count)];
    if (!mica_is_alive(play->world, edge->target))
        return;
    void *fields = mica_edge_write_id(play->world, edge->source, id_of(relation), edge->target);
    EXPECT(play, fields && holds(relation, fields, edge->number));
    edge->number = play_draw_number(play);
    assign(play, relation, fields, edge->number);
}

/* To itself, and with a handle that is not alive. */
static void relate_wrongly(play *play)
{
    mica_component id = id_of(draw_relation(play));
    mica_entity entity = play_draw_living(play);
    if (mica_is_nil(entity) || !play->stale_count)
        return;
    mica_entity stale = play->stale[random_below(&play->random, play->stale_count)];
    EXPECT(play, !mica_relate_id(play->world, entity, id, entity));
    EXPECT(play, play->other_reports == 1 && mica_world_take_error(play->world) == MICA_ERROR_INVALID);
    EXPECT(play, !mica_relate_id(play->world, entity, id, stale));
    EXPECT(play, !mica_relate_id(play->world, stale, id, entity));
    EXPECT(play, play->dead_reports == 2 && mica_world_take_error(play->world) == MICA_ERROR_DEAD);
    EXPECT(play, mica_target_count_id(play->world, stale, id) == 0);
    EXPECT(play, mica_source_count_id(play->world, stale, id) == 0);
    play->other_reports = play->dead_reports = 0;
    play_compare_entity(play, model_find(&play->model, entity));
}

static void release_guarded(play *play)
{
    const model_edges *edges = &play->model.edges[MODEL_GUARDS];
    while (edges->count) {
        mica_entity source = edges->list[0].source;
        uint32_t count = model_unrelate_all(&play->model, MODEL_GUARDS, source, true);
        EXPECT(play, mica_unrelate_targets_id(play->world, source, id_of(MODEL_GUARDS)) == count);
    }
}

/* A recorded destruction of an entity that is guarded is refused by the flush. */
static void destroy_guarded(play *play)
{
    const model_edges *edges = &play->model.edges[MODEL_GUARDS];
    if (!edges->count || !play_is_quiet(play))
        return;
    model_edge edge = edges->list[random_below(&play->random, edges->count)];
    EXPECT(play, !mica_destroy(play->world, edge.target));
    mica_defer(play->world);
    EXPECT(play, mica_destroy(play->world, edge.target));
    EXPECT(play, mica_flush(play->world) == MICA_ERROR_REFUSED);
    EXPECT(play, play->other_reports == 2 && mica_world_take_error(play->world) == MICA_ERROR_REFUSED);
    play->other_reports = 0;
    compare_ends(play, MODEL_GUARDS, edge.source, edge.target);
}

/* Recorded through the world, or through a buffer. */
static bool record_relate(play *play, uint32_t buffer, model_relation relation, model_edge *edge)
{
    if (!buffer && random_one_in(&play->random, 2))
        return relate_with(play, relation, edge);
    void *fields =
        buffer ? mica_command_relate_id(play->commands[buffer], edge->source, id_of(relation), edge->target, MICA_HERE)
               : mica_relate_id(play->world, edge->source, id_of(relation), edge->target);
    if (!fields)
        return false;
    const model_edge *known = model_find_edge(&play->model, relation, edge->source, edge->target);
    uint32_t number = known ? known->number : 0;
    EXPECT_SAYING(play, holds(relation, fields, number), "the staged fields of relation %d are not %u", relation,
                  number);
    if (random_one_in(&play->random, 2))
        assign(play, relation, fields, edge->number);
    else
        edge->number = number;
    return true;
}

static bool record_unrelate(play *play, uint32_t buffer, model_relation relation, const model_edge *edge)
{
    return buffer ? mica_command_unrelate_id(play->commands[buffer], edge->source, id_of(relation), edge->target,
                                             MICA_HERE)
                  : mica_unrelate_id(play->world, edge->source, id_of(relation), edge->target);
}

static bool is_reachable(const play *play, uint32_t buffer, mica_entity entity)
{
    model_knowledge knowledge = model_buffer_knows(&play->model, &play->buffers[buffer], entity);
    return knowledge.promised && !knowledge.doomed;
}

/* Edges that refuse are not recorded: what else a flush destroys could depend on its order. */
void play_record_edge(play *play, uint32_t buffer, mica_entity source, mica_entity target)
{
    model_relation relation = (model_relation)random_below(&play->random, MODEL_GUARDS);
    const model_edges *edges = &play->model.edges[relation];
    bool adds = edges->count < EDGES_MAX && !random_one_in(&play->random, 3);
    model_edge edge = {source, target, play_draw_number(play)};
    if (!adds && edges->count && random_one_in(&play->random, 2))
        edge = edges->list[random_below(&play->random, edges->count)];
    if (mica_same(edge.source, edge.target) ||
        (adds && relation == MODEL_NEEDS && !play_may_record_deaths(play, buffer)))
        return;
    bool expected = is_reachable(play, buffer, edge.source) && is_reachable(play, buffer, edge.target);
    bool done = adds ? record_relate(play, buffer, relation, &edge) : record_unrelate(play, buffer, relation, &edge);
    EXPECT_SAYING(play, done == expected, "relation %d: %s", relation, play->last_report);
    play->dead_reports = 0;
    if (done)
        model_record(&play->buffers[buffer],
                     (model_command){.kind = adds ? MODEL_COMMAND_RELATE : MODEL_COMMAND_UNRELATE,
                                     .entity = edge.source,
                                     .target = edge.target,
                                     .relation = relation,
                                     .number = edge.number});
}

void play_clone_edges(play *play, mica_entity from, mica_entity to)
{
    for (model_relation relation = 0; relation < MODEL_RELATIONS; ++relation) {
        const model_edges *edges = &play->model.edges[relation];
        for (uint32_t i = 0, count = edges->count; i < count; ++i) {
            model_edge copy = edges->list[i];
            if (!mica_same(copy.source, from) || !model_find(&play->model, copy.target))
                continue;
            copy.source = to;
            model_relate(&play->model, relation, copy, true);
        }
    }
}

/* Except edges to entities whose destruction is recorded already. */
void play_record_cloned_edges(play *play, mica_entity from, mica_entity to)
{
    for (model_relation relation = 0; relation < MODEL_RELATIONS; ++relation) {
        const model_edges *edges = &play->model.edges[relation];
        for (uint32_t i = 0; i < edges->count; ++i) {
            const model_edge *edge = &edges->list[i];
            if (mica_same(edge->source, from) && is_reachable(play, 0, edge->target))
                model_record(&play->buffers[0], (model_command){.kind = MODEL_COMMAND_RELATE,
                                                                .entity = to,
                                                                .target = edge->target,
                                                                .relation = relation,
                                                                .number = edge->number});
        }
    }
}

bool play_has_guard_edges(const play *play, mica_entity source)
{
    const model_edges *edges = &play->model.edges[MODEL_GUARDS];
    for (uint32_t i = 0; i < edges->count; ++i)
        if (mica_same(edges->list[i].source, source))
            return true;
    return false;
}

static void remove_ambiguous(play *play, uint32_t buffer_count)
{
    model_edge *found;
    while ((found = model_find_ambiguous(&play->model, play->buffers, buffer_count))) {
        model_edge edge = *found;
        EXPECT(play, mica_unrelate_id(play->world, edge.source, id_of(MODEL_GUARDS), edge.target));
        model_unrelate(&play->model, MODEL_GUARDS, edge.source, edge.target);
    }
}

void play_begin_deaths(play *play, const mica_entity *entities, uint32_t count)
{
    if (!play->model.edges[MODEL_GUARDS].count)
        return;
    for (uint32_t i = 0; i < count; ++i)
        model_expect_death(&play->model, entities[i], MODEL_MARK_DIES);
    remove_ambiguous(play, 0);
}

bool play_may_record_deaths(const play *play, uint32_t buffer)
{
    return buffer || !play->model.edges[MODEL_GUARDS].count;
}

void play_begin_deaths_of_flush(play *play)
{
    if (!play->model.edges[MODEL_GUARDS].count || mica_is_deferred(play->world))
        return;
    for (uint32_t b = 0; b < PLAY_BUFFERS; ++b)
        for (uint32_t i = 0; i < play->buffers[b].count; ++i)
            if (play->buffers[b].commands[i].kind == MODEL_COMMAND_DESTROY)
                model_expect_death(&play->model, play->buffers[b].commands[i].entity, MODEL_MARK_DIES);
    remove_ambiguous(play, PLAY_BUFFERS);
}

const play_operation play_relation_operations[] = {
    {"relate", 24, relate, false},
    {"relate many", 2, relate_many, false},
    {"unrelate", 6, unrelate, false},
    {"unrelate all", 3, unrelate_all, false},
    {"write edge", 6, write_edge, false},
    {"relate wrongly", 2, relate_wrongly, false},
    {"destroy guarded", 2, destroy_guarded, false},
    {"release guarded", 1, release_guarded, false},
};
const uint32_t play_relation_count = sizeof play_relation_operations / sizeof *play_relation_operations;
