#include "core/commands/flush_plan.h"

#include "base/bits.h"
#include "core/commands/apply_batch.h"
#include "core/commands/apply_each.h"
#include "core/commands/flush_coalesce.h"
#include "core/commands/module_notes.h"
#include "core/entity/create_plan.h"
#include "core/storage/archetype_graph.h"
#include "core/storage/component_set.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/rivals.h"
#include "core/storage/rows.h"
#include "core/world/report.h"
#include "core/world/world.h"

static bool is_structural(const micap_command *command, const micap_archetype *from)
{
    if (micap_is_pooled(command->type->id))
        return false;
    return command->operation == MICAP_OPERATION_VALUE
               ? !micap_archetype_has(from, command->type->id)
               : command->operation == MICAP_OPERATION_REMOVE && micap_archetype_has(from, command->type->id);
}

/* Adds and removes several components at once, without creating the archetypes in between. */
static micap_archetype *jump(mica_world *world, const micap_archetype *from, const micap_target *target)
{
    micap_set set;
    uint32_t room = 0;
    for (const micap_command *command = target->first; command; command = command->next)
        room += micap_set_room(command->type->id);
    if (!micap_set_init(&set, world, from, room))
        return NULL;
    bool fine = true;
    for (const micap_command *command = target->first; fine && command; command = command->next) {
        if (!is_structural(command, from))
            continue;
        if (command->operation == MICAP_OPERATION_VALUE) {
            fine = micap_type_for_entities(world, command->type->id) != NULL;
            micap_set_insert(&set, command->type);
        } else {
            micap_set_erase(&set, command->type);
        }
    }
    micap_archetype *to = fine ? micap_archetype_of_set(world, set.ids, set.count) : NULL;
    micap_set_free(&set);
    return to;
}

/* The archetype a target goes to. A single addition or removal uses the cached edge. */
static micap_archetype *destination(mica_world *world, micap_archetype *from, micap_target *target)
{
    const micap_command *step = NULL;
    uint32_t steps = 0;
    for (const micap_command *command = target->first; command; command = command->next)
        if (is_structural(command, from)) {
            step = command;
            ++steps;
        }
    if (steps == 0)
        return from;
    if (steps > 1 || (step->operation == MICAP_OPERATION_VALUE && micap_archetype_lacks_required(from, step->type)))
        return jump(world, from, target);
    const micap_edge *edge = micap_archetype_step(world, from, step->type->id);
    if (!edge)
        return NULL;
    if (edge->path != MICAP_EDGE_GENERAL && !target->created)
        target->edge = *edge;
    return edge->end;
}

/* Whether two targets make the same change to the same archetype, as neighbours in a recording mostly do. */
static bool is_alike(const micap_target *a, const micap_target *b)
{
    if (a->from != b->from || a->destroyed || b->destroyed)
        return false;
    const micap_command *left = a->first, *right = b->first;
    for (; left && right; left = left->next, right = right->next)
        if (left->type != right->type || left->operation != right->operation)
            return false;
    return left == right;
}

static bool is_worth_another_try(const mica_world *world)
{
    mica_result result = micap_failure(world);
    return result == MICA_ERROR_MEMORY || result == MICA_ERROR_REFUSED;
}

void micap_flush_forget_incoming(mica_world *world)
{
    micap_flush *flush = &world->flush;
    for (uint32_t i = 0; i < world->pools.count; ++i)
        world->pools.all[i]->incoming = 0;
    for (uint32_t i = 0; i < flush->group_count; ++i)
        if (flush->groups[i]->to)
            flush->groups[i]->to->incoming = 0;
}

/* Discards the changes of a target that can't be made, so that they do not block all others. */
static bool refuse_target(mica_world *world, micap_target *target)
{
    bool fine = micap_flush_drop_values(world, target);
    world->flush.refusal = micap_failure(world);
    target->first = target->last = NULL;
    return fine || (micap_fail_memory(world, "flush"), false);
}

/* Makes room in pools for what a target adds. */
static bool expect_instances(mica_world *world, const micap_target *target)
{
    for (const micap_command *command = target->first; command; command = command->next) {
        bool adds = command->operation == MICAP_OPERATION_INSTANCE || command->operation == MICAP_OPERATION_VALUE;
        mica_pool *pool = adds && micap_is_pooled(command->type->id) ? micap_pool_of(world, command->type->id) : NULL;
        if (!pool)
            continue;
        if (!micap_pools_make_room(world, pool, target->entity, ++pool->incoming)) {
            micap_fail_memory(world, command->type->type.name);
            return false;
        }
    }
    return true;
}

/* Registers the pool components among the commands of a target; false with a report. */
static bool use_pools(mica_world *world, const micap_target *target)
{
    for (const micap_command *command = target->first; command; command = command->next)
        if (micap_is_pooled(command->type->id) && !micap_component_use(world, command->type->id))
            return false;
    return true;
}

/* Makes the default value of a component that comes along. */
static bool make_default(mica_world *world, micap_command *command)
{
    micap_flush *flush = &world->flush;
    const micap_type *type = command->type;
    command->is_default = false;
    if (!type->type.size_bytes)
        return true;
    if (!MICAP_RESERVE(&world->memory, flush->made, &flush->made_capacity, (uint64_t)flush->made_count + 1) ||
        !(command->value =
              micap_stage_allocate(&world->memory, &flush->stage, type->type.size_bytes, type->type.alignment)))
        return micap_fail_memory(world, "flush"), false;
    if (!micap_values_construct(type, command->value, 1)) {
        command->value = NULL;
        return micap_fail_value(world, type);
    }
    flush->made[flush->made_count++] = (micap_dropped){type, command->value};
    return true;
}

/* Finds out which required components a target lacks, and makes their values. False with a report. */
static bool resolve_required(mica_world *world, const micap_target *target)
{
    for (micap_command *command = target->first; command; command = command->next) {
        if (command->operation == MICAP_OPERATION_REQUIRED) {
            if (!micap_component_use(world, command->type->id))
                return false;
            bool is_there = mica_has_id(world, target->entity, command->type->id);
            command->operation = is_there ? MICAP_OPERATION_NONE : MICAP_OPERATION_VALUE;
            command->is_default = !is_there;
        }
        if (command->is_default && !make_default(world, command))
            return false;
    }
    return true;
}

/* Whether the entity of a target has a component once the target is applied. */
static bool has_after(const mica_world *world, const micap_target *target, mica_component component)
{
    const mica_pool *pool = micap_is_pooled(component) ? micap_pool_of(world, component) : NULL;
    uint64_t count = !target->created && mica_has_id(world, target->entity, component);
    for (uint32_t row = count && pool && pool->next ? micap_pool_row(pool, target->entity) : MICAP_ROW_NONE;
         row != MICAP_ROW_NONE && (row = pool->next[row]) != MICAP_ROW_NONE;)
        ++count;
    for (const micap_command *command = target->first; command; command = command->next) {
        if (command->type->id != component)
            continue;
        if (command->operation == MICAP_OPERATION_REMOVE)
            count = 0;
        else if (command->operation == MICAP_OPERATION_REMOVE_INSTANCE)
            count -= count != 0;
        else if (command->operation == MICAP_OPERATION_INSTANCE ||
                 (command->operation == MICAP_OPERATION_VALUE && !count))
            ++count;
    }
    return count != 0;
}

/* Whether what a target adds is accepted by the components that its entity has then, some of them in pools; a report if not. */
static bool is_accepted(const mica_world *world, const micap_target *target)
{
    for (const micap_command *command = target->first; world->components.meets_pools && command;
         command = command->next) {
        const micap_component *used = micap_component_find(&world->components, command->type->id);
        if (!used || !used->meets_pools || !has_after(world, target, command->type->id))
            continue;
        for (uint32_t i = 0; i < used->rival_count; ++i)
            if (has_after(world, target, used->rivals[i]))
                return micap_fail_rivals(world, target->entity, command->type->id, used->rivals[i]);
    }
    return true;
}

/* Finds where one target goes. Neighbours with the same change reuse the result. */
static bool find_place(mica_world *world, micap_target *target, const micap_target *before)
{
    if (target->destroyed)
        return true;
    micap_archetype *base = target->created ? world->archetypes.by_id[0] : target->from;
    bool fine = !target->brings || resolve_required(world, target);
    if (fine && before && is_alike(before, target)) {
        target->to = before->to;
        target->edge = before->edge;
    } else {
        target->to = fine && use_pools(world, target) ? destination(world, base, target) : NULL;
    }
    if (target->to && !is_accepted(world, target))
        target->to = NULL;
    if (!target->to && !is_worth_another_try(world)) {
        if (!refuse_target(world, target))
            return false;
        target->to = base;
    }
    return target->to;
}

/* Adds the group of (from, to). NULL if memory runs out. */
static micap_group *add_group(mica_world *world, micap_archetype *from, micap_archetype *to)
{
    micap_flush *flush = &world->flush;
    micap_group *group =
        MICAP_RESERVE(&world->memory, flush->groups, &flush->group_capacity, (uint64_t)flush->group_count + 1)
            ? micap_flush_allocate(world, sizeof *group)
            : NULL;
    if (group) {
        *group = (micap_group){.from = from, .to = to};
        flush->groups[flush->group_count++] = group;
    }
    return group;
}

/* The archetype whose first group may be that of (from, to). */
static inline micap_archetype *main_archetype(const mica_world *world, micap_archetype *from, micap_archetype *to)
{
    return from ? from : to ? to : world->archetypes.by_id[0];
}

/* The group of (from, to), which is added if there is none. NULL with a report if memory runs out. */
static micap_group *group_of(mica_world *world, micap_archetype *from, micap_archetype *to, const micap_edge *edge)
{
    micap_flush *flush = &world->flush;
    micap_archetype *archetype = main_archetype(world, from, to);
    uint32_t number = archetype->first_group;
    micap_group *group = number < flush->group_count ? flush->groups[number] : NULL;
    if (!group || main_archetype(world, group->from, group->to) != archetype) {
        archetype->first_group = flush->group_count;
        group = add_group(world, from, to);
    } else if (group->from != from || group->to != to) {
        void **found = micap_flush_find(world, from, to);
        if (found && !*found)
            *found = add_group(world, from, to);
        group = found ? *found : NULL;
    }
    if (!group)
        micap_fail_memory(world, "flush");
    else if (edge->path != MICAP_EDGE_GENERAL)
        group->edge = *edge;
    return group;
}

/* Adds a step to a group, and expects its rows. */
static MICAP_INLINE bool add_step(mica_world *world, micap_group *group, const micap_recorded_kind *kind, void *what,
                                  uint32_t count, const micap_each_plan *each)
{
    micap_flush_step *step = micap_stage_allocate(&world->memory, &world->flush.stage, sizeof *step, _Alignof(void *));
    if (MICAP_UNLIKELY(!step))
        return micap_fail_memory(world, "flush"), false;
    step->kind = kind;
    if (kind)
        step->changes = what;
    else
        step->target = what;
    step->each = each;
    step->next = NULL;
    step->count = count;
    *(group->last ? &group->last->next : &group->first) = step;
    group->last = step;
    world->flush.last_group = group;
    if (group->to && group->to != group->from)
        group->to->incoming += count;
    return true;
}

/* Makes room for a target, and adds its step. */
static bool add_target(mica_world *world, micap_target *target, micap_group *group)
{
    return (!world->pools.count || expect_instances(world, target)) && add_step(world, group, NULL, target, 1, NULL);
}

/* Finds the place of a target, and of its group. NULL with a report if memory runs out. */
static micap_group *place_target(mica_world *world, micap_target *target, const micap_chunk *chunk)
{
    const micap_flush *flush = &world->flush;
    const micap_flush_step *last = flush->last_group ? flush->last_group->last : NULL;
    const micap_target *before = last && !last->kind ? last->target : NULL;
    MICAP_ASSERT(target->created || chunk, "changes of dead entities are set aside");
    target->from = target->created ? NULL : chunk->archetype;
    target->to = NULL;
    target->edge.path = MICAP_EDGE_GENERAL;
    if (!find_place(world, target, before))
        return NULL;
    if (before && before->from == target->from && before->to == target->to)
        return flush->last_group;
    return group_of(world, target->from, target->to, &target->edge);
}

static bool plan_target(mica_world *world, micap_target *target)
{
    const micap_chunk *chunk = micap_locate(world, target->entity).chunk;
    if (!target->created && chunk->number <= MICAP_CHUNK_PENDING) {
        if (!micap_flush_drop_values(world, target) ||
            !micap_flush_set_aside(world, target->entity, target->kind->location, target->kind->label))
            return micap_fail_memory(world, "flush"), false;
        return true;
    }
    micap_group *group = place_target(world, target, chunk);
    return group && add_target(world, target, group);
}

/* Whether modules have to be asked about changes of a kind: they destroy entities with attachments, with which others may die. */
static bool asks_modules(const mica_world *world, const micap_recorded_kind *kind)
{
    return (world->has_dependents || world->sees_deaths) && micap_kind_operation(kind) == MICAP_OPERATION_DESTROY;
}

/* How many changes, from the first one on, are to living entities of the archetype of the first, in the same tier. */
static uint32_t count_alike(const mica_world *world, const micap_gathered *run, const micap_chunk *first)
{
    uint32_t count = 1, number = first->number, stride = run->kind->stride;
    const char *at = (const char *)run->changes + stride;
    bool asks = asks_modules(world, run->kind);
    for (; count < run->count; ++count, at += stride) {
        mica_entity entity = ((const micap_recorded *)(const void *)at)->entity;
        if (MICAP_UNLIKELY(asks) && micap_is_attached(&world->attachments, entity.index))
            break;
        uint32_t next = micap_record_chunk(micap_record_of(&world->entities, entity));
        if (MICAP_LIKELY(next == number))
            continue;
        if (next <= MICAP_CHUNK_PENDING || world->chunks.by_number[next]->archetype != first->archetype)
            break;
        number = next;
    }
    return count;
}

/* Makes room in a pool for the values of changes. */
static bool expect_in_pool(mica_world *world, const micap_gathered *run, const micap_kind_value *value)
{
    mica_pool *pool = micap_pool_of(world, value->component);
    micap_recorded *change = run->changes;
    uint32_t page = UINT32_MAX;
    bool fine = true;
    MICAP_ASSERT(pool, "kinds are interned when the pool exists");
    pool->incoming += run->count;
    for (uint32_t i = 0; fine && i < run->count; ++i, change = micap_recorded_after(change, run->kind)) {
        if (change->entity.index >> MICAP_MAP_PAGE_SHIFT == page && pool->kind == MICAP_POOL_MAP)
            continue;
        page = change->entity.index >> MICAP_MAP_PAGE_SHIFT;
        fine = micap_pools_make_room(world, pool, change->entity, pool->incoming);
    }
    return fine || (micap_fail_memory(world, value->type->type.name), false);
}

/* Makes room in pools for the values of changes. */
static bool expect_in_pools(mica_world *world, const micap_gathered *run)
{
    const micap_kind_value *values = micap_kind_values(run->kind);
    bool fine = true;
    for (uint32_t i = 0; fine && i < run->kind->value_count; ++i)
        if (values[i].operation == MICAP_OPERATION_VALUE && micap_is_pooled(values[i].component))
            fine = expect_in_pool(world, run, &values[i]);
    return fine;
}

/* Plans changes that are applied from the log. */
static MICAP_INLINE bool plan_run(mica_world *world, const micap_gathered *run, const micap_route *route)
{
    return (!run->kind->has_pools || expect_in_pools(world, run)) &&
           add_step(world, route->group, run->kind, run->changes, run->count, route->each);
}

/* Whether required components may come along with changes of a kind. */
static bool brings(const micap_recorded_kind *kind, const micap_archetype *from)
{
    const micap_kind_value *values = micap_kind_values(kind);
    for (uint32_t i = 0; kind->has_required && i < kind->value_count; ++i)
        if (values[i].type->requires_pools || micap_archetype_lacks_required(from, values[i].type))
            return true;
    return false;
}

/* Whether changes of a kind are accepted or not depending on what the entity has in pools. Of creations, one is like the other. */
static bool meets_pools(const mica_world *world, const micap_recorded_kind *kind)
{
    const micap_kind_value *values = micap_kind_values(kind);
    bool meets = false;
    if (!world->components.meets_pools || micap_kind_operation(kind) == MICAP_OPERATION_CREATE)
        return false;
    for (uint32_t i = 0; !meets && i < kind->value_count; ++i)
        meets = values[i].operation != MICAP_OPERATION_REMOVE && micap_meets_pools(world, values[i].type);
    return meets;
}

/* Chooses how the changes of a route are applied. False with a report if memory runs out. */
static bool judge(mica_world *world, micap_route *route)
{
    bool is_alone =
        !brings(route->kind, route->from) && !meets_pools(world, route->kind); /* all that matters is in the log */
    route->is_batch = is_alone && micap_is_for_batch(world, route);
    if (is_alone && !route->is_batch && micap_is_for_each(world, route)) {
        route->each = micap_each_make_plan(world, route);
        if (!route->each)
            return micap_fail_memory(world, "flush"), false;
    }
    return route->is_known = true;
}

enum { VALUES_MAX = 16 };

/* Lists the values of a creation as mica_create gets them. False if there are too many, or if some are removed again. */
static bool list_created(const micap_recorded_kind *kind, mica_value *out)
{
    const micap_kind_value *values = micap_kind_values(kind);
    bool fine = kind->value_count <= VALUES_MAX;
    for (uint32_t i = 0; fine && i < kind->value_count; ++i) {
        out[i] = (mica_value){.component = values[i].component, .size_bytes = values[i].size_bytes};
        fine = values[i].operation == MICAP_OPERATION_VALUE;
    }
    return fine;
}

/* The archetype of creations, if it has a plan. */
static micap_archetype *find_created(const mica_world *world, const micap_recorded_kind *kind)
{
    mica_value values[VALUES_MAX];
    return list_created(kind, values) ? micap_create_plan_find(world, values, kind->value_count) : NULL;
}

/* Where entities of an archetype go with changes of a kind, if that is known without a search; otherwise NULL. */
static micap_archetype *find_changed(const mica_world *world, micap_route *route)
{
    const micap_kind_value *values = micap_kind_values(route->kind);
    mica_component step = 0;
    for (uint32_t i = 0; i < route->kind->value_count; ++i) {
        mica_component component = values[i].component;
        if (micap_is_pooled(component)) {
            if (!micap_pool_of(world, component))
                return NULL;
        } else if ((values[i].operation == MICAP_OPERATION_VALUE) != micap_archetype_has(route->from, component)) {
            if (step)
                return NULL;
            step = component;
        }
    }
    if (!step)
        return route->from;
    const micap_edge *edge = route->from->edge_capacity ? micap_archetype_edge(route->from, step) : NULL;
    if (!edge || !edge->end)
        return NULL;
    route->edge = *edge;
    return edge->end;
}

/* Finds a route without a target, if the way is known: along an edge of the archetype, or by a creation plan. False with a report if
 * memory runs out. */
static bool find_route(mica_world *world, micap_route *route)
{
    micap_operation operation = micap_kind_operation(route->kind);
    if (operation == MICAP_OPERATION_CREATE)
        route->to = find_created(world, route->kind);
    else if (operation != MICAP_OPERATION_DESTROY && !brings(route->kind, route->from))
        route->to = find_changed(world, route);
    if (!route->to && operation != MICAP_OPERATION_DESTROY)
        return true;
    route->group = group_of(world, route->from, route->to, &route->edge);
    return route->group && judge(world, route);
}

/* Keeps what the target of the first change found. */
static bool learn_route(mica_world *world, micap_route *route, const micap_target *target, micap_group *group)
{
    mica_value values[VALUES_MAX];
    if (target->created && list_created(route->kind, values))
        micap_create_plan_archetype(world, values, route->kind->value_count); /* for the next flush */
    route->to = target->to;
    route->edge = target->edge;
    route->group = group;
    return judge(world, route);
}

/* Plans a change by its target. The first one of a kind and an archetype finds the route of those that follow; NULL: none do. */
static bool plan_single(mica_world *world, micap_recorded *change, const micap_recorded_kind *kind,
                        const micap_chunk *chunk, micap_route *route)
{
    micap_target *target = micap_flush_make_target(world, change, kind);
    if (!target)
        return micap_fail_memory(world, "flush"), false;
    bool is_own = (kind->has_required && kind->has_pools) || /* what comes along depends on the entity, */
                  meets_pools(world, kind);                  /* or whether it is accepted */
    if (route && route->is_known && !is_own) {
        target->from = route->from;
        target->to = route->to;
        target->edge = route->edge;
        return (!target->brings || resolve_required(world, target)) && add_target(world, target, route->group);
    }
    bool is_empty = !target->first;
    micap_group *group = place_target(world, target, chunk);
    if (!group)
        return false;
    bool is_refused = !is_empty && !target->first; /* and so is each that follows */
    return (!route || is_refused || learn_route(world, route, target, group)) && add_target(world, target, group);
}

static bool plan_singles(mica_world *world, const micap_gathered *run, const micap_chunk *chunk, micap_route *route)
{
    micap_recorded *change = run->changes;
    for (uint32_t i = 0; i < run->count; ++i, change = micap_recorded_after(change, run->kind))
        if (!plan_single(world, change, run->kind, chunk, route))
            return false;
    return true;
}

/* Adds the route of a kind and an archetype, which may stay unknown. NULL with a report if memory runs out. */
static micap_route *add_route(mica_world *world, const micap_recorded_kind *kind, micap_archetype *from, void **place)
{
    micap_flush *flush = &world->flush;
    micap_route *route =
        MICAP_RESERVE(&world->memory, flush->routes, &flush->route_capacity, (uint64_t)flush->route_count + 1)
            ? micap_flush_allocate(world, sizeof *route)
            : NULL;
    if (!route)
        return micap_fail_memory(world, "flush"), NULL;
    *route = (micap_route){.kind = kind, .from = from};
    flush->routes[flush->route_count++] = route;
    if (place)
        *place = route; /* it moves when the next one is found */
    return find_route(world, route) ? route : NULL;
}

/* The route of a kind and an archetype, which may be unknown. NULL with a report if memory runs out. */
static __attribute__((noinline)) micap_route *look_up_route(mica_world *world, const micap_recorded_kind *kind,
                                                            micap_archetype *from)
{
    micap_flush *flush = &world->flush;
    micap_route *route = from && from->first_route < flush->route_count ? flush->routes[from->first_route] : NULL;
    if (from && (!route || route->from != from)) {
        from->first_route = flush->route_count;
        route = add_route(world, kind, from, NULL);
    } else if (!route || route->kind != kind) {
        void **found = micap_flush_find(world, kind, from);
        if (!found)
            return micap_fail_memory(world, "flush"), NULL;
        route = *found ? *found : add_route(world, kind, from, found);
    }
    if (!route)
        return NULL;
    if (flush->recent)
        flush->recent->after = route;
    return flush->recent = route;
}

/* The same; mostly it is the one that followed the last one before. */
static MICAP_INLINE micap_route *route_of(mica_world *world, const micap_recorded_kind *kind, micap_archetype *from)
{
    micap_route *guess = world->flush.recent ? world->flush.recent->after : NULL;
    if (!guess || guess->kind != kind || guess->from != from)
        return look_up_route(world, kind, from);
    return world->flush.recent = guess;
}

/* Plans the first of these changes, and those after it that take the same route if it is known. Returns how many, or 0 on error. */
static uint32_t plan_first(mica_world *world, const micap_gathered *step)
{
    bool is_created = micap_kind_operation(step->kind) == MICAP_OPERATION_CREATE;
    const micap_chunk *chunk = is_created ? NULL : micap_locate(world, step->changes->entity).chunk;
    if (!is_created && MICAP_UNLIKELY(chunk->number <= MICAP_CHUNK_PENDING))
        return micap_flush_drop_dead(world, step->changes, step->kind) || (micap_fail_memory(world, "flush"), false);
    if (asks_modules(world, step->kind) && micap_is_attached(&world->attachments, step->changes->entity.index))
        return plan_single(world, step->changes, step->kind, chunk, NULL);
    micap_route *route = route_of(world, step->kind, is_created ? NULL : chunk->archetype);
    if (!route)
        return 0;
    micap_gathered run = *step;
    if (!route->is_known)
        run.count = 1;
    else if (run.count > 1 && !is_created)
        run.count = count_alike(world, step, chunk);
    bool fine = route->is_batch || route->each ? plan_run(world, &run, route) : plan_singles(world, &run, chunk, route);
    return fine ? run.count : 0;
}

static bool plan_changes(mica_world *world, micap_gathered step)
{
    while (step.count) {
        uint32_t done = plan_first(world, &step);
        if (!done)
            return false;
        step.count -= done;
        step.changes = (micap_recorded *)(void *)((char *)step.changes + (size_t)done * step.kind->stride);
    }
    return true;
}

/* Whether the changes of a step lie right after those of another one, and are of the same kind. */
static bool continues(const micap_gathered *step, const micap_gathered *next)
{
    return next->kind == step->kind &&
           (char *)next->changes == (char *)step->changes + (size_t)step->count * step->kind->stride;
}

/* Reserves rows where entities go. */
static bool reserve_rows(mica_world *world)
{
    const micap_flush *flush = &world->flush;
    for (uint32_t i = 0; i < flush->group_count; ++i) {
        micap_archetype *to = flush->groups[i]->to;
        bool has_room = !to || (to->open && to->open->capacity - to->open->count >= to->incoming);
        if (!has_room && !micap_rows_reserve(world, to, to->incoming))
            return micap_fail_memory(world, "flush"), false;
    }
    return true;
}

/* Finds where each entity goes, and reserves room for it. Dead entities are set aside. */
static bool find_places(mica_world *world)
{
    micap_flush *flush = &world->flush;
    flush->route_count = 0;
    flush->recent = NULL;
    flush->last_group = NULL;
    for (uint32_t i = 0; i < flush->gathered_count; ++i) {
        micap_gathered step = flush->gathered[i];
        if (step.kind) /* neighbours that were gathered one by one, or combined */
            while (i + 1 < flush->gathered_count && continues(&step, &flush->gathered[i + 1]))
                step.count += flush->gathered[++i].count;
        if (!(step.kind ? plan_changes(world, step) : plan_target(world, step.target)))
            return false;
    }
    return reserve_rows(world);
}

/* Notes come first, because they decide which entities die with others. */
mica_result micap_flush_plan(mica_world *world)
{
    mica_result result = MICA_OK;
    if (!micap_flush_coalesce(world))
        return micap_fail_memory(world, "flush");
    if (!micap_notes_apply(world, &result))
        return result;
    if (!micap_flush_doom_dependents(world))
        return micap_fail_memory(world, "flush");
    return find_places(world) ? MICA_OK : micap_failure(world);
}
