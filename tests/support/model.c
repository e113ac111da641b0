#include "model.h"

#include <stdlib.h>
#include <string.h>

void *model_grow(void *array, size_t count, size_t element_bytes)
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
    model->next_flush = 1;
}

void model_free(model *model)
{
    for (uint32_t i = 0; i < model->slot_count; ++i)
        for (uint32_t many = 0; many < SAMPLE_MANY; ++many)
            free(model->slots[i].more[many].list);
    free(model->slots);
    free(model->used);
    free(model->living);
    for (uint32_t i = 0; i < MODEL_RELATIONS; ++i)
        free(model->edges[i].list);
    free(model->doomed.list);
    free(model->marked.list);
    free(model->fallen.list);
    memset(model, 0, sizeof *model);
}

static void *copy_array(const void *array, size_t count, size_t element_bytes)
{
    if (!array)
        return NULL;
    void *copy = model_grow(NULL, count + 1, element_bytes);
    memcpy(copy, array, count * element_bytes);
    return copy;
}

void model_copy(model *to, const model *from)
{
    *to = *from;
    to->slots = copy_array(from->slots, from->slot_count, sizeof *from->slots);
    to->used = copy_array(from->used, from->slot_count, sizeof *from->used);
    to->living = copy_array(from->living, from->slot_count, sizeof *from->living);
    for (uint32_t i = 0; i < MODEL_RELATIONS; ++i)
        to->edges[i].list = copy_array(from->edges[i].list, from->edges[i].capacity, sizeof(model_edge));
    to->doomed = to->marked = to->fallen = (model_handles){0}; /* empty between operations */
    for (uint32_t i = 0; i < to->slot_count; ++i)
        for (uint32_t many = 0; many < SAMPLE_MANY; ++many) {
            model_instances *more = &to->slots[i].more[many];
            more->list = copy_array(more->list, more->capacity, sizeof *more->list);
        }
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
    model->slots = model_grow(model->slots, count, sizeof *model->slots);
    model->used = model_grow(model->used, count, sizeof *model->used);
    model->living = model_grow(model->living, count, sizeof *model->living);
    memset(model->slots + model->slot_count, 0, (count - model->slot_count) * sizeof *model->slots);
    model->slot_count = count;
}

static void enlist(model *model, model_entity *entity)
{
    entity->life = MODEL_LIVING;
    entity->location = model->living_count;
    model->living[model->living_count++] = entity->handle;
}

static void delist(model *model, model_entity *entity)
{
    mica_entity last = model->living[--model->living_count];
    model->living[entity->location] = last;
    model->slots[last.index].location = entity->location;
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
    model_instances more[SAMPLE_MANY]; /* all empty; their memory is kept */
    memcpy(more, entity->more, sizeof more);
    memset(entity, 0, sizeof *entity);
    memcpy(entity->more, more, sizeof more);
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

static model_instances *more_of(model_entity *entity, sample_kind kind)
{
    return &entity->more[sample_many_number(kind)];
}

uint32_t model_instance_count(const model_entity *entity, sample_kind kind)
{
    if (!(entity->components >> kind & 1))
        return 0;
    return sample_is_many(kind) ? 1 + entity->more[sample_many_number(kind)].count : 1;
}

model_instance model_instance_at(const model_entity *entity, sample_kind kind, uint32_t which)
{
    if (which)
        return entity->more[sample_many_number(kind)].list[which - 1];
    return (model_instance){entity->numbers[kind], entity->added[kind], entity->changed[kind]};
}

void model_instance_touch(model *model, model_entity *entity, sample_kind kind, uint32_t which, uint32_t number)
{
    if (which) {
        model_instance *instance = &more_of(entity, kind)->list[which - 1];
        instance->number = number;
        instance->changed = model->epoch;
    } else {
        model_touch_value(model, entity, kind, number);
    }
}

static void apply_put(model *model, model_entity *entity, sample_kind kind, uint32_t number);

/* What comes along with a component that is new. */
static void bring(model *model, model_entity *entity, sample_kind of)
{
    uint32_t lacking = sample_required(of) & ~entity->components;
    for (sample_kind kind = 0; !model->copies && kind < SAMPLE_COUNT; ++kind) {
        if (!(lacking & ~entity->components & 1u << kind))
            continue;
        if (!entity->touched)
            ++model->events.adds[kind];
        apply_put(model, entity, kind, samples[kind].start);
    }
}

/* The changes without their events: a flush counts only what is left in the end. */
static bool put(model *model, model_entity *entity, sample_kind kind, uint32_t number)
{
    bool is_new = !(entity->components >> kind & 1);
    if (is_new) {
        bring(model, entity, kind);
        entity->components |= 1u << kind;
        entity->disabled &= ~(1u << kind);
        ++model->instances[kind];
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
    model->instances[kind] -= model_instance_count(entity, kind);
    entity->components &= ~(1u << kind);
    entity->disabled &= ~(1u << kind);
    if (sample_is_many(kind)) {
        more_of(entity, kind)->count = 0;
        entity->instances_kept[sample_many_number(kind)] = 0;
    }
    return true;
}

/* One more; it is switched on or off like the others. */
static void add_instance(model *model, model_entity *entity, sample_kind kind, uint32_t number)
{
    if (!(entity->components >> kind & 1)) {
        put(model, entity, kind, number);
        entity->added[kind] = model->epoch;
        return;
    }
    model_instances *more = more_of(entity, kind);
    if (more->count == more->capacity) {
        more->capacity = more->capacity ? 2 * more->capacity : 4;
        more->list = model_grow(more->list, more->capacity, sizeof *more->list);
    }
    more->list[more->count++] = (model_instance){number, model->epoch, model->epoch};
    ++model->instances[kind];
}

void model_rival(model_entity *entity, uint32_t rival, bool added, uint32_t number)
{
    if (added) {
        entity->rival = rival;
        entity->rival_number = number;
    } else if (entity->rival == rival) {
        entity->rival = 0;
    }
}

void model_opaque(model_entity *entity, uint32_t which, bool added, uint32_t number)
{
    entity->opaques &= ~(1u << which);
    entity->opaques |= (uint32_t)added << which;
    entity->opaque_numbers[which] = number;
}

static void end_life(model *model, model_entity *entity)
{
    if (entity->edge_count)
        model_edges_leave(model, entity);
    for (uint32_t kind = 0; kind < SAMPLE_COUNT; ++kind)
        take(model, entity, kind);
    entity->name[0] = '\0';
    entity->rival = 0;
    entity->opaques = 0;
    delist(model, entity);
}

static void count_events(uint64_t *counts, const model_entity *entity)
{
    for (uint32_t kind = 0; kind < SAMPLE_COUNT; ++kind)
        counts[kind] += model_instance_count(entity, kind);
}

void model_put(model *model, model_entity *entity, sample_kind kind, uint32_t number)
{
    if (put(model, entity, kind, number))
        ++model->events.adds[kind];
}

void model_take(model *model, model_entity *entity, sample_kind kind)
{
    model->events.removes[kind] += model_instance_count(entity, kind);
    take(model, entity, kind);
}

void model_instance_add(model *model, model_entity *entity, sample_kind kind, uint32_t number)
{
    add_instance(model, entity, kind, number);
    ++model->events.adds[kind];
}

void model_instance_remove(model *model, model_entity *entity, sample_kind kind, uint32_t which)
{
    model_instances *more = sample_is_many(kind) ? more_of(entity, kind) : NULL;
    if (!more || !more->count) {
        model_take(model, entity, kind);
        return;
    }
    if (which == 0) {
        entity->numbers[kind] = more->list[0].number;
        entity->added[kind] = more->list[0].added;
        entity->changed[kind] = more->list[0].changed;
        which = 1;
    }
    for (--more->count; which <= more->count; ++which)
        more->list[which - 1] = more->list[which];
    --model->instances[kind];
    ++model->events.removes[kind];
}

void model_kill(model *model, model_entity *entity)
{
    count_events(model->events.removes, entity);
    ++model->events.destroys;
    end_life(model, entity);
}

void model_clear(model *model)
{
    while (model->living_count)
        model_kill(model, &model->slots[model->living[0].index]);
    model->doomed.count = 0; /* they were destroyed before */
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

void model_record(model_buffer *buffer, model_command command)
{
    if (buffer->count == buffer->capacity) {
        buffer->capacity = buffer->capacity ? 2 * buffer->capacity : 64;
        buffer->commands = model_grow(buffer->commands, buffer->capacity, sizeof *buffer->commands);
    }
    buffer->commands[buffer->count++] = command;
}

void model_buffer_free(model_buffer *buffer)
{
    free(buffer->commands);
    memset(buffer, 0, sizeof *buffer);
}

static void learn_required(model_knowledge *knowledge, const model_command *command)
{
    sample_kind of = command->sample;
    bool brings = !command->copies && !(knowledge->components >> of & 1);
    uint32_t lacking = brings ? sample_required(of) & ~knowledge->components : 0;
    for (sample_kind kind = 0; kind < SAMPLE_COUNT; ++kind)
        if (lacking >> kind & 1)
            knowledge->numbers[kind] = samples[kind].start;
    knowledge->components |= lacking;
}

static void learn(model_knowledge *knowledge, const model_command *command)
{
    switch (command->kind) {
    case MODEL_COMMAND_CREATE: break;
    case MODEL_COMMAND_DESTROY: knowledge->doomed = true; break;
    case MODEL_COMMAND_PUT:
        learn_required(knowledge, command);
        knowledge->components |= 1u << command->sample;
        knowledge->numbers[command->sample] = command->number;
        break;
    case MODEL_COMMAND_INSTANCE:
        if (!(knowledge->components >> command->sample & 1))
            knowledge->numbers[command->sample] = command->number;
        learn_required(knowledge, command);
        knowledge->components |= 1u << command->sample;
        break;
    case MODEL_COMMAND_TAKE: knowledge->components &= ~(1u << command->sample); break;
    case MODEL_COMMAND_OPAQUE:
        knowledge->opaques &= ~(1u << command->rival);
        knowledge->opaques |= (uint32_t)command->enabled << command->rival;
        break;
    case MODEL_COMMAND_SWITCH:
    case MODEL_COMMAND_RIVAL:
    case MODEL_COMMAND_RELATE:
    case MODEL_COMMAND_UNRELATE: break;
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
    knowledge.opaques = promised->opaques;
    memcpy(knowledge.numbers, promised->numbers, sizeof knowledge.numbers);
    for (uint32_t i = 0; i < buffer->count; ++i)
        if (mica_same(buffer->commands[i].entity, entity))
            learn(&knowledge, &buffer->commands[i]);
    return knowledge;
}

/* Of many instances the first is kept when a value follows a removal. */
static void apply_put(model *model, model_entity *entity, sample_kind kind, uint32_t number)
{
    bool is_new = put(model, entity, kind, number);
    if (!is_new || !sample_is_many(kind))
        return;
    uint32_t many = sample_many_number(kind);
    if (entity->touched && entity->instances_before[many]) {
        entity->instances_kept[many] = 1;
        entity->added[kind] = entity->added_before[many];
    }
}

static void apply_to_living(model *model, model_entity *entity, const model_command *command)
{
    switch (command->kind) {
    case MODEL_COMMAND_CREATE: break;
    case MODEL_COMMAND_DESTROY: end_life(model, entity); break;
    case MODEL_COMMAND_PUT: apply_put(model, entity, command->sample, command->number); break;
    case MODEL_COMMAND_INSTANCE: add_instance(model, entity, command->sample, command->number); break;
    case MODEL_COMMAND_TAKE: take(model, entity, command->sample); break;
    case MODEL_COMMAND_SWITCH:
        if (entity->components >> command->sample & 1) {
            entity->disabled &= ~(1u << command->sample);
            entity->disabled |= (uint32_t)!command->enabled << command->sample;
        }
        break;
    case MODEL_COMMAND_RIVAL: model_rival(entity, command->rival, command->enabled, command->number); break;
    case MODEL_COMMAND_OPAQUE: model_opaque(entity, command->rival, command->enabled, command->number); break;
    case MODEL_COMMAND_RELATE:
    case MODEL_COMMAND_UNRELATE: break; /* when all else is done */
    }
}

static bool is_edge(const model_command *command)
{
    return command->kind == MODEL_COMMAND_RELATE || command->kind == MODEL_COMMAND_UNRELATE;
}

static void touch(model_entity *entity)
{
    if (entity->touched)
        return;
    entity->touched = true;
    entity->life_before = entity->life;
    entity->components_before = entity->components;
    for (uint32_t many = 0; many < SAMPLE_MANY; ++many) {
        entity->instances_before[many] = model_instance_count(entity, SAMPLE_POOL_MANY + many);
        entity->instances_kept[many] = entity->instances_before[many];
        entity->added_before[many] = entity->added[SAMPLE_POOL_MANY + many];
    }
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
    if (!entity || is_edge(command))
        return;
    touch(entity);
    model->copies = command->copies;
    apply_to_living(model, entity, command);
    model->copies = false;
}

/* Counts what is left of all that was done to an entity. */
static void settle(model *model, const model_command *command)
{
    model_entity *entity = &model->slots[command->entity.index];
    if (!entity->touched || !mica_same(entity->handle, command->entity))
        return;
    entity->touched = false;
    uint32_t added = entity->components & ~entity->components_before;
    uint32_t removed = entity->components_before & ~entity->components;
    for (sample_kind kind = 0; kind < SAMPLE_COUNT; ++kind) {
        if (sample_is_many(kind)) {
            uint32_t before = entity->instances_before[sample_many_number(kind)];
            uint32_t kept = entity->instances_kept[sample_many_number(kind)];
            model->events.adds[kind] += model_instance_count(entity, kind) - kept;
            model->events.removes[kind] += before - kept;
        } else {
            model->events.adds[kind] += added >> kind & 1;
            model->events.removes[kind] += removed >> kind & 1;
        }
    }
    model->events.destroys += entity->life == MODEL_DEAD && entity->life_before == MODEL_LIVING;
}

/* Edges in the order of the calls, and what is destroyed because of them. */
static uint32_t apply_edges(model *model, const model_buffer *buffers, uint32_t count)
{
    uint32_t refused = 0;
    for (uint32_t b = 0; b < count; ++b)
        for (uint32_t i = 0; i < buffers[b].count; ++i)
            if (is_edge(&buffers[b].commands[i]))
                refused += model_edges_apply(model, &buffers[b].commands[i]);
    return refused + model_cascade(model);
}

uint32_t model_flush(model *model, model_buffer *buffers, uint32_t count)
{
    ++model->next_flush;
    for (uint32_t b = 0; b < count; ++b)
        for (uint32_t i = 0; i < buffers[b].count; ++i) {
            if (is_edge(&buffers[b].commands[i]))
                model_edges_begin_flush(model, &buffers[b].commands[i]);
            apply_creation(model, &buffers[b].commands[i]);
        }
    for (uint32_t b = 0; b < count; ++b)
        for (uint32_t i = 0; i < buffers[b].count; ++i)
            apply(model, &buffers[b].commands[i]);
    for (uint32_t b = 0; b < count; ++b)
        for (uint32_t i = 0; i < buffers[b].count; ++i)
            settle(model, &buffers[b].commands[i]);
    uint32_t refused = apply_edges(model, buffers, count);
    for (uint32_t b = 0; b < count; ++b)
        buffers[b].count = 0;
    return refused;
}

/* An edge is one target, and the removal of an edge is fine without its ends. */
static bool finds_no_end(const model *model, const model_command *command)
{
    return command->kind == MODEL_COMMAND_RELATE &&
           !(model_find_promised(model, command->entity) && model_find_promised(model, command->target));
}

uint32_t model_count_dead_targets(model *model, const model_buffer *buffers, uint32_t count)
{
    uint32_t dead = 0;
    for (uint32_t b = 0; b < count; ++b)
        for (uint32_t i = 0; i < buffers[b].count; ++i) {
            const model_command *command = &buffers[b].commands[i];
            model_entity *entity = model_find_promised(model, command->entity);
            if (is_edge(command))
                dead += finds_no_end(model, command);
            else if (!entity || entity->touched)
                ++dead;
            else if (command->kind == MODEL_COMMAND_DESTROY)
                entity->touched = true; /* changes after the destruction have no effect */
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
