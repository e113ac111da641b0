/* Edges of the model: one list per relation, in the order in which they were added. */
#include "model.h"

#include <string.h>

const model_relation_traits model_relations[MODEL_RELATIONS] = {
    [MODEL_LIKES] = {.on_target = MICA_TARGET_REMOVE},
    [MODEL_OWES] = {.on_target = MICA_TARGET_KEEP, .has_fields = true},
    [MODEL_HOLDS] = {.on_target = MICA_TARGET_REMOVE, .exclusive = true, .has_fields = true},
    [MODEL_NEEDS] = {.on_target = MICA_TARGET_DESTROY},
    [MODEL_GUARDS] = {.on_target = MICA_TARGET_REFUSE},
};

static void push(model_handles *handles, mica_entity entity)
{
    if (handles->count == handles->capacity) {
        handles->capacity = handles->capacity ? 2 * handles->capacity : 16;
        handles->list = model_grow(handles->list, handles->capacity, sizeof *handles->list);
    }
    handles->list[handles->count++] = entity;
}

/* Of ends that are alive. */
static void count_ends(model *model, model_relation relation, const model_edge *edge, int change)
{
    model_entity *source = model_find(model, edge->source), *target = model_find(model, edge->target);
    if (source) {
        source->edge_count += (uint32_t)change;
        source->target_counts[relation] += (uint32_t)change;
    }
    if (target)
        target->edge_count += (uint32_t)change;
}

model_edge *model_find_edge(const model *model, model_relation relation, mica_entity source, mica_entity target)
{
    const model_edges *edges = &model->edges[relation];
    for (uint32_t i = 0; i < edges->count; ++i)
        if (mica_same(edges->list[i].source, source) && mica_same(edges->list[i].target, target))
            return &edges->list[i];
    return NULL;
}

static void erase(model *model, model_relation relation, uint32_t at)
{
    model_edges *edges = &model->edges[relation];
    model_edge gone = edges->list[at];
    --edges->count;
    memmove(edges->list + at, edges->list + at + 1, (edges->count - at) * sizeof *edges->list);
    count_ends(model, relation, &gone, -1);
}

static void append(model *model, model_relation relation, model_edge edge)
{
    model_edges *edges = &model->edges[relation];
    if (edges->count == edges->capacity) {
        edges->capacity = edges->capacity ? 2 * edges->capacity : 16;
        edges->list = model_grow(edges->list, edges->capacity, sizeof *edges->list);
    }
    edges->list[edges->count++] = edge;
    count_ends(model, relation, &edge, 1);
}

uint32_t model_unrelate_all(model *model, model_relation relation, mica_entity center, bool to_targets)
{
    const model_edges *edges = &model->edges[relation];
    uint32_t before = edges->count;
    for (uint32_t i = edges->count; i-- > 0;)
        if (mica_same(to_targets ? edges->list[i].source : edges->list[i].target, center))
            erase(model, relation, i);
    return before - edges->count;
}

void model_relate(model *model, model_relation relation, model_edge edge, bool sets)
{
    model_edge *known = model_find_edge(model, relation, edge.source, edge.target);
    if (known) {
        known->number = sets ? edge.number : known->number;
        return;
    }
    if (model_relations[relation].exclusive)
        model_unrelate_all(model, relation, edge.source, true);
    append(model, relation, edge);
}

bool model_unrelate(model *model, model_relation relation, mica_entity source, mica_entity target)
{
    const model_edge *found = model_find_edge(model, relation, source, target);
    if (found)
        erase(model, relation, (uint32_t)(found - model->edges[relation].list));
    return found != NULL;
}

bool model_is_guarded(const model *model, const model_entity *entity)
{
    const model_edges *edges = &model->edges[MODEL_GUARDS];
    for (uint32_t i = 0; entity->edge_count && i < edges->count; ++i)
        if (mica_same(edges->list[i].target, entity->handle))
            return true;
    return false;
}

void model_edges_leave(model *model, const model_entity *entity)
{
    for (model_relation relation = 0; relation < MODEL_RELATIONS; ++relation) {
        const model_edges *edges = &model->edges[relation];
        mica_target_policy policy = model_relations[relation].on_target;
        for (uint32_t i = edges->count; i-- > 0;) {
            bool is_target = mica_same(edges->list[i].target, entity->handle);
            if (is_target && policy == MICA_TARGET_DESTROY)
                push(&model->doomed, edges->list[i].source);
            if (mica_same(edges->list[i].source, entity->handle) || (is_target && policy != MICA_TARGET_KEEP))
                erase(model, relation, i);
        }
    }
}

/* Returns 1 if it is refused. */
static uint32_t destroy(model *model, model_entity *entity)
{
    if (model_is_guarded(model, entity))
        return 1;
    push(&model->fallen, entity->handle);
    model_kill(model, entity);
    return 0;
}

uint32_t model_cascade(model *model)
{
    uint32_t refused = 0;
    for (uint32_t i = 0; i < model->doomed.count; ++i) {
        model_entity *entity = model_find(model, model->doomed.list[i]);
        refused += entity ? destroy(model, entity) : 0;
    }
    model->doomed.count = 0;
    return refused;
}

void model_edges_begin_flush(const model *model, model_command *command)
{
    bool is_source = model_find_promised(model, command->entity) != NULL;
    command->applies =
        is_source && (command->kind == MODEL_COMMAND_UNRELATE || model_find_promised(model, command->target));
}

uint32_t model_edges_apply(model *model, const model_command *command)
{
    if (!command->applies)
        return 0;
    if (command->kind == MODEL_COMMAND_UNRELATE) {
        model_unrelate(model, command->relation, command->entity, command->target);
        return 0;
    }
    model_entity *source = model_find(model, command->entity);
    if (source && model_find(model, command->target))
        model_relate(model, command->relation, (model_edge){command->entity, command->target, command->number}, true);
    else if (source && model_relations[command->relation].on_target == MICA_TARGET_DESTROY)
        return destroy(model, source); /* as if the edge had been added before */
    return 0;
}

void model_expect_death(model *model, mica_entity entity, model_mark_kind mark)
{
    model_entity *found = model_find_promised(model, entity);
    if (!found || found->mark)
        return;
    found->mark = mark;
    push(&model->marked, entity);
}

static bool is_marked(const model *model, mica_entity entity)
{
    const model_entity *found = model_find_promised(model, entity);
    return found && found->mark;
}

/* Marks what may be destroyed together with those that are marked. Returns whether there are more now. */
static bool spread_marks(model *model, const model_buffer *buffers, uint32_t buffer_count)
{
    uint32_t before = model->marked.count;
    const model_edges *needs = &model->edges[MODEL_NEEDS];
    for (uint32_t i = 0; i < needs->count; ++i)
        if (is_marked(model, needs->list[i].target))
            model_expect_death(model, needs->list[i].source, MODEL_MARK_MAY_DIE);
    for (uint32_t b = 0; b < buffer_count; ++b)
        for (uint32_t i = 0; i < buffers[b].count; ++i) {
            const model_command *command = &buffers[b].commands[i];
            if (command->kind == MODEL_COMMAND_RELATE && command->relation == MODEL_NEEDS &&
                is_marked(model, command->target))
                model_expect_death(model, command->entity, MODEL_MARK_MAY_DIE);
        }
    return model->marked.count > before;
}

static void remove_marks(model *model)
{
    for (uint32_t i = 0; i < model->marked.count; ++i)
        model_find_promised(model, model->marked.list[i])->mark = MODEL_MARK_NONE;
    model->marked.count = 0;
}

model_edge *model_find_ambiguous(model *model, const model_buffer *buffers, uint32_t buffer_count)
{
    const model_edges *guards = &model->edges[MODEL_GUARDS];
    while (spread_marks(model, buffers, buffer_count)) {
    }
    for (uint32_t i = 0; i < guards->count; ++i) {
        const model_entity *target = model_find(model, guards->list[i].target);
        bool is_recorded = buffer_count && target->mark == MODEL_MARK_DIES;
        if (target->mark && (is_recorded || is_marked(model, guards->list[i].source)))
            return &guards->list[i];
    }
    remove_marks(model);
    return NULL;
}
