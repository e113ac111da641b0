#include "model.h"

#include <stdlib.h>
#include <string.h>

static void *grow(void *array, size_t count, size_t element_bytes)
{
    void *grown = realloc(array, count * element_bytes);
    if (!grown)
        abort(); /* the test machine is out of memory: no result would mean anything */
    return grown;
}

void model_init(model *model)
{
    memset(model, 0, sizeof *model);
    model->epoch = 1;
}

void model_free(model *model)
{
    free(model->slots);
    free(model->used);
    free(model->living);
    memset(model, 0, sizeof *model);
}

uint32_t model_mark(model *model)
{
    return ++model->epoch;
}

static void ensure_slot(model *model, uint32_t index)
{
    if (index < model->slot_count)
        return;
    uint32_t count = index + 1 + index / 2;
    model->slots = grow(model->slots, count, sizeof *model->slots);
    model->used = grow(model->used, count, sizeof *model->used);
    model->living = grow(model->living, count, sizeof *model->living);
    memset(model->slots + model->slot_count, 0, (count - model->slot_count) * sizeof *model->slots);
    model->slot_count = count;
}

static void enlist(model *model, model_entity *entity)
{
    entity->life = MODEL_LIVING;
    entity->place = model->living_count;
    model->living[model->living_count++] = entity->handle;
}

static void delist(model *model, model_entity *entity)
{
    mica_entity last = model->living[--model->living_count];
    model->living[entity->place] = last;
    model->slots[last.index].place = entity->place;
    entity->life = MODEL_DEAD;
}

model_entity *model_spawn(model *model, mica_entity handle, model_life life)
{
    if (mica_is_nil(handle))
        return NULL;
    ensure_slot(model, handle.index);
    model_entity *entity = &model->slots[handle.index];
    if (entity->life != MODEL_DEAD || handle.generation <= entity->handle.generation)
        return NULL;
    if (mica_is_nil(entity->handle))
        model->used[model->used_count++] = handle.index;
    memset(entity, 0, sizeof *entity);
    entity->handle = handle;
    if (life == MODEL_LIVING)
        enlist(model, entity);
    else
        ++model->pending_count;
    entity->life = life;
    return entity;
}

model_entity *model_find_promised(const model *model, mica_entity handle)
{
    if (handle.index >= model->slot_count)
        return NULL;
    model_entity *entity = &model->slots[handle.index];
    return entity->life != MODEL_DEAD && mica_same(entity->handle, handle) ? entity : NULL;
}

model_entity *model_find(const model *model, mica_entity handle)
{
    model_entity *entity = model_find_promised(model, handle);
    return entity && entity->life == MODEL_LIVING ? entity : NULL;
}

void model_touch_value(model *model, model_entity *entity, sample_kind kind, uint32_t number)
{
    entity->numbers[kind] = number;
    entity->changed[kind] = model->epoch;
}

/* The three changes without their events: a flush counts only what is left in the end. */
static bool put(model *model, model_entity *entity, sample_kind kind, uint32_t number)
{
    bool is_new = !(entity->components >> kind & 1);
    if (is_new) {
        entity->components |= 1u << kind;
        entity->disabled &= ~(1u << kind);
        ++model->holders[kind];
        /* Removed and added again by one flush, it was there all the time. */
        if (!entity->touched || !(entity->components_before >> kind & 1))
            entity->added[kind] = model->epoch;
    }
    model_touch_value(model, entity, kind, number);
    return is_new;
}

static bool take(model *model, model_entity *entity, sample_kind kind)
{
    if (!(entity->components >> kind & 1))
        return false;
    entity->components &= ~(1u << kind);
    entity->disabled &= ~(1u << kind);
    --model->holders[kind];
    return true;
}

static void end_life(model *model, model_entity *entity)
{
    for (uint32_t kind = 0; kind < SAMPLE_COUNT; ++kind)
        take(model, entity, kind);
    entity->name[0] = '\0';
    delist(model, entity);
}

static void count_events(uint64_t *counts, uint32_t components)
{
    for (uint32_t kind = 0; kind < SAMPLE_COUNT; ++kind)
        counts[kind] += components >> kind & 1;
}

void model_put(model *model, model_entity *entity, sample_kind kind, uint32_t number)
{
    if (put(model, entity, kind, number))
        ++model->events.adds[kind];
}

void model_take(model *model, model_entity *entity, sample_kind kind)
{
    if (take(model, entity, kind))
        ++model->events.removes[kind];
}

void model_kill(model *model, model_entity *entity)
{
    count_events(model->events.removes, entity->components);
    ++model->events.destroys;
    end_life(model, entity);
}

void model_clear(model *model)
{
    while (model->living_count)
        model_kill(model, &model->slots[model->living[0].index]);
}

model_entity *model_find_name(const model *model, mica_entity scope, const char *name)
{
    for (uint32_t i = 0; i < model->living_count; ++i) {
        model_entity *entity = &model->slots[model->living[i].index];
        if (entity->name[0] && mica_same(entity->scope, scope) && strcmp(entity->name, name) == 0)
            return entity;
    }
    return NULL;
}

static model_answer stamp_answer(uint32_t stamp, uint32_t since)
{
    return stamp >= since ? MODEL_YES : MODEL_MAYBE;
}

static model_answer term_answer(const model_query *query, model_term term, const model_entity *entity)
{
    bool there = entity->components >> term.kind & 1;
    bool on = there && !(entity->disabled >> term.kind & 1);
    switch (term.access) {
    case MICA_ACCESS_READ:
    case MICA_ACCESS_WRITE:
    case MICA_ACCESS_HAS: return on ? MODEL_YES : MODEL_NO;
    case MICA_ACCESS_WITHOUT: return there ? MODEL_NO : MODEL_YES;
    case MICA_ACCESS_MAYBE_READ:
    case MICA_ACCESS_MAYBE_WRITE: return MODEL_YES;
    case MICA_ACCESS_EITHER:
    case MICA_ACCESS_OR: return there ? MODEL_YES : MODEL_NO;
    case MICA_ACCESS_CHANGED: return on ? stamp_answer(entity->changed[term.kind], query->since) : MODEL_NO;
    case MICA_ACCESS_ADDED: return on && entity->added[term.kind] >= query->since ? MODEL_YES : MODEL_NO;
    case MICA_ACCESS_DISABLED: return there && !on ? MODEL_YES : MODEL_NO;
    }
    abort();
}

static model_answer least(model_answer a, model_answer b)
{
    return a < b ? a : b;
}

static model_answer most(model_answer a, model_answer b)
{
    return a > b ? a : b;
}

/* A group is an EITHER and the ORs after it: its answer is the best of its terms. All else is an "and". */
model_answer model_query_asks(const model_query *query, const model_entity *entity)
{
    model_answer answer = MODEL_YES;
    for (uint32_t i = 0; i < query->term_count;) {
        model_answer group = term_answer(query, query->terms[i++], entity);
        for (; i < query->term_count && query->terms[i].access == MICA_ACCESS_OR; ++i)
            group = most(group, term_answer(query, query->terms[i], entity));
        answer = least(answer, group);
    }
    return answer;
}

uint32_t model_query_count(const model *model, const model_query *query, bool maybe)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->living_count; ++i)
        count += model_query_asks(query, &model->slots[model->living[i].index]) >= (maybe ? MODEL_MAYBE : MODEL_YES);
    return count;
}

void model_record(model_buffer *buffer, model_command command)
{
    if (buffer->count == buffer->capacity) {
        buffer->capacity = buffer->capacity ? 2 * buffer->capacity : 64;
        buffer->commands = grow(buffer->commands, buffer->capacity, sizeof *buffer->commands);
    }
    buffer->commands[buffer->count++] = command;
}

void model_buffer_free(model_buffer *buffer)
{
    free(buffer->commands);
    memset(buffer, 0, sizeof *buffer);
}

static void learn(model_knowledge *knowledge, const model_command *command)
{
    switch (command->kind) {
    case MODEL_COMMAND_CREATE: break;
    case MODEL_COMMAND_DESTROY: knowledge->doomed = true; break;
    case MODEL_COMMAND_PUT:
        knowledge->components |= 1u << command->sample;
        knowledge->numbers[command->sample] = command->number;
        break;
    case MODEL_COMMAND_TAKE: knowledge->components &= ~(1u << command->sample); break;
    case MODEL_COMMAND_SWITCH: break;
    }
}

model_knowledge model_buffer_knows(const model *model, const model_buffer *buffer, mica_entity entity)
{
    model_knowledge knowledge = {0};
    const model_entity *promised = model_find_promised(model, entity);
    if (!promised)
        return knowledge;
    knowledge.promised = true;
    knowledge.components = promised->components;
    memcpy(knowledge.numbers, promised->numbers, sizeof knowledge.numbers);
    for (uint32_t i = 0; i < buffer->count; ++i)
        if (mica_same(buffer->commands[i].entity, entity))
            learn(&knowledge, &buffer->commands[i]);
    return knowledge;
}

static void apply_to_living(model *model, model_entity *entity, const model_command *command)
{
    switch (command->kind) {
    case MODEL_COMMAND_CREATE: break;
    case MODEL_COMMAND_DESTROY: end_life(model, entity); break;
    case MODEL_COMMAND_PUT: put(model, entity, command->sample, command->number); break;
    case MODEL_COMMAND_TAKE: take(model, entity, command->sample); break;
    case MODEL_COMMAND_SWITCH:
        if (entity->components >> command->sample & 1) {
            entity->disabled &= ~(1u << command->sample);
            entity->disabled |= (uint32_t)!command->enabled << command->sample;
        }
        break;
    }
}

static void touch(model_entity *entity)
{
    if (entity->touched)
        return;
    entity->touched = true;
    entity->life_before = entity->life;
    entity->components_before = entity->components;
}

static void apply_creation(model *model, const model_command *command)
{
    if (command->kind != MODEL_COMMAND_CREATE)
        return;
    model_entity *entity = model_find_promised(model, command->entity);
    touch(entity);
    --model->pending_count;
    enlist(model, entity);
}

static void apply(model *model, const model_command *command)
{
    model_entity *entity = model_find(model, command->entity);
    if (!entity)
        return;
    touch(entity);
    apply_to_living(model, entity, command);
}

/* Counts what is left of all that was done to an entity. */
static void settle(model *model, const model_command *command)
{
    model_entity *entity = &model->slots[command->entity.index];
    if (!entity->touched || !mica_same(entity->handle, command->entity))
        return;
    entity->touched = false;
    count_events(model->events.adds, entity->components & ~entity->components_before);
    count_events(model->events.removes, entity->components_before & ~entity->components);
    model->events.destroys += entity->life == MODEL_DEAD && entity->life_before == MODEL_LIVING;
}

void model_flush(model *model, model_buffer *buffers, uint32_t count)
{
    for (uint32_t b = 0; b < count; ++b)
        for (uint32_t i = 0; i < buffers[b].count; ++i)
            apply_creation(model, &buffers[b].commands[i]);
    for (uint32_t b = 0; b < count; ++b)
        for (uint32_t i = 0; i < buffers[b].count; ++i)
            apply(model, &buffers[b].commands[i]);
    for (uint32_t b = 0; b < count; ++b) {
        for (uint32_t i = 0; i < buffers[b].count; ++i)
            settle(model, &buffers[b].commands[i]);
        buffers[b].count = 0;
    }
}

uint32_t model_count_dead_targets(model *model, const model_buffer *buffers, uint32_t count)
{
    uint32_t dead = 0;
    for (uint32_t b = 0; b < count; ++b)
        for (uint32_t i = 0; i < buffers[b].count; ++i) {
            const model_command *command = &buffers[b].commands[i];
            model_entity *entity = model_find_promised(model, command->entity);
            if (!entity || entity->touched)
                ++dead;
            else if (command->kind == MODEL_COMMAND_DESTROY)
                entity->touched = true; /* borrowed: whoever comes after the destruction comes too late */
        }
    for (uint32_t b = 0; b < count; ++b)
        for (uint32_t i = 0; i < buffers[b].count; ++i)
            model->slots[buffers[b].commands[i].entity.index].touched = false;
    return dead;
}

void model_drop(model *model, model_buffer *buffers, uint32_t count)
{
    for (uint32_t b = 0; b < count; ++b) {
        for (uint32_t i = 0; i < buffers[b].count; ++i)
            if (buffers[b].commands[i].kind == MODEL_COMMAND_CREATE) {
                model->slots[buffers[b].commands[i].entity.index].life = MODEL_DEAD;
                --model->pending_count;
            }
        buffers[b].count = 0;
    }
}
