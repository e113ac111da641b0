#include "core/commands/flush_plan.h"

#include "base/assert.h"
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

static MICAP_COLD bool grow_origins(mica_world *world)
{
    micap_flush *flush = &world->flush;
    if (MICAP_RESERVE(&world->memory, flush->origins, &flush->origin_capacity, (uint64_t)flush->origin_count + 1))
        return true;
    micap_fail_memory(world, "flush");
    return false;
}

/* What the flush knows of an archetype, whose place may be left over from another flush. NULL with a report if memory runs out. */
static MICAP_INLINE micap_origin *origin_of(mica_world *world, micap_archetype *archetype)
{
    micap_flush *flush = &world->flush;
    uint32_t place = archetype->flush_place;
    if (MICAP_LIKELY(place < flush->origin_count && flush->origins[place].archetype == archetype))
        return &flush->origins[place];
    if (MICAP_UNLIKELY(flush->origin_count == flush->origin_capacity) && !grow_origins(world))
        return NULL;
    archetype->flush_place = flush->origin_count;
    micap_origin *origin = &flush->origins[flush->origin_count++];
    *origin = (micap_origin){.archetype = archetype};
    return origin;
}

/* Adds the group of (from, to), if there is room for it in memory. */
static MICAP_INLINE micap_group *add_group(mica_world *world, micap_archetype *from, micap_archetype *to,
                                           micap_group *room)
{
    micap_flush *flush = &world->flush;
    if (!room ||
        !MICAP_RESERVE(&world->memory, flush->groups, &flush->group_capacity, (uint64_t)flush->group_count + 1))
        return micap_fail_memory(world, "flush"), NULL;
    *room = (micap_group){.from = from, .to = to};
    return flush->groups[flush->group_count++] = room;
}

/* The same if it is not the first one of its archetype: it may be there already. */
static micap_group *find_group(mica_world *world, micap_archetype *from, micap_archetype *to, micap_group *room)
{
    void **found = micap_flush_find(world, from, to);
    if (!found)
        return micap_fail_memory(world, "flush"), NULL;
    if (!*found)
        *found = add_group(world, from, to, room);
    return *found;
}

/* The group of (from, to), which is added if there is none; there may be room for it. NULL with a report if memory runs out. */
static MICAP_INLINE micap_group *group_of(mica_world *world, micap_archetype *from, micap_archetype *to,
                                          const micap_edge *edge, micap_group *room)
{
    micap_archetype *archetype = from ? from : to ? to : world->archetypes.by_id[0];
    micap_origin *origin = origin_of(world, archetype);
    if (MICAP_UNLIKELY(!origin))
        return NULL;
    micap_group *group = origin->first_group;
    if (!group)
        origin->first_group = group = add_group(world, from, to, room);
    else if (group->from != from || group->to != to)
        group = find_group(world, from, to, room);
    if (group && edge->path != MICAP_EDGE_GENERAL)
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
    return group_of(world, target->from, target->to, &target->edge, micap_flush_allocate(world, sizeof(micap_group)));
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

/* Makes room in a pool for the values of changes. Maps have pages; a direct index and the bits of a tag reach to the highest index. */
static bool expect_in_pool(mica_world *world, const micap_gathered *run, const micap_kind_value *value)
{
    mica_pool *pool = micap_pool_of(world, value->component);
    MICAP_ASSERT(pool, "kinds are interned when the pool exists");
    const char *at = (const char *)run->changes;
    uint32_t page = UINT32_MAX, stride = run->kind->stride;
    mica_entity highest = run->changes->entity;
    bool fine = true;
    pool->incoming += run->count;
    for (uint32_t left = run->count; fine && left; --left, at += stride) {
        mica_entity entity = ((const micap_recorded *)(const void *)at)->entity;
        if (entity.index > highest.index)
            highest = entity;
        if (entity.index >> MICAP_MAP_PAGE_SHIFT == page)
            continue;
        page = entity.index >> MICAP_MAP_PAGE_SHIFT;
        fine = micap_pools_make_room(world, pool, entity, pool->incoming);
    }
    if (fine && (pool->kind == MICAP_POOL_DIRECT || pool->kind == MICAP_POOL_TAG))
        fine = micap_pools_make_room(world, pool, highest, pool->incoming);
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

/* Whether required components may come along with changes of a kind that has some. */
static bool brings(const micap_recorded_kind *kind, const micap_archetype *from)
{
    const micap_kind_value *values = micap_kind_values(kind);
    for (uint32_t i = 0; i < kind->value_count; ++i)
        if (values[i].type->requires_pools || micap_archetype_lacks_required(from, values[i].type))
            return true;
    return false;
}

/* Whether changes of a kind are accepted or not depending on what the entity has in pools. Of creations, one is like the other. */
static bool is_judged_by_pools(const mica_world *world, const micap_recorded_kind *kind)
{
    const micap_kind_value *values = micap_kind_values(kind);
    bool meets = false;
    if (micap_kind_operation(kind) == MICAP_OPERATION_CREATE)
        return false;
    for (uint32_t i = 0; !meets && i < kind->value_count; ++i)
        meets = values[i].operation != MICAP_OPERATION_REMOVE && micap_meets_pools(world, values[i].type);
    return meets;
}

static inline bool meets_pools(const mica_world *world, const micap_recorded_kind *kind)
{
    return MICAP_UNLIKELY(world->components.meets_pools) && is_judged_by_pools(world, kind);
}

/* Chooses how the changes of a route are applied. False with a report if memory runs out. */
static bool judge(mica_world *world, micap_route *route)
{
    bool is_alone = !(route->kind->has_required && brings(route->kind, route->from)) &&
                    !meets_pools(world, route->kind); /* all that matters is in the log */
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

/* Where entities of an archetype go with changes of a kind, if that is known without a search: along one edge after the other. Otherwise
 * NULL. */
static micap_archetype *find_changed(const mica_world *world, micap_route *route)
{
    const micap_kind_value *values = micap_kind_values(route->kind);
    micap_archetype *to = route->from;
    uint32_t steps = 0;
    for (uint32_t i = 0; i < route->kind->value_count; ++i) {
        mica_component component = values[i].component;
        if (micap_is_pooled(component)) {
            if (!micap_pool_of(world, component))
                return NULL;
        } else if ((values[i].operation == MICAP_OPERATION_VALUE) != micap_archetype_has(route->from, component)) {
            const micap_edge *edge = to->edge_capacity ? micap_archetype_edge(to, component) : NULL;
            if (!edge || !edge->end)
                return NULL;
            route->edge = *edge;
            to = edge->end;
            ++steps;
        }
    }
    if (steps > 1)
        route->edge.path = MICAP_EDGE_GENERAL;
    return to;
}

/* Whether one component is added, removed or set, as most changes do, and nothing but the archetype matters. */
static inline bool is_of_one(const mica_world *world, const micap_recorded_kind *kind)
{
    return micap_kind_operation(kind) <= MICAP_OPERATION_REMOVE && kind->value_count == 1 && !kind->has_pools &&
           !kind->has_required && !world->components.meets_pools;
}

/* The fast path of the next function, for such a change without hooks along an edge with the fast path, or along none. False if it is not
 * for this route. Over a thousand archetypes, the flush takes a quarter less with it. */
static inline bool find_route_of_one(micap_route *route)
{
    const micap_recorded_kind *kind = route->kind;
    micap_archetype *from = route->from, *to = from;
    mica_component component = kind->value.component;
    if ((kind->value.operation == MICAP_OPERATION_VALUE) != micap_archetype_has(from, component)) {
        const micap_edge *edge = from->edge_capacity ? micap_archetype_edge(from, component) : &route->edge;
        if (!edge->end || edge->path == MICAP_EDGE_GENERAL)
            return false;
        route->edge = *edge;
        to = edge->end;
    } else if (!kind->is_trivial) {
        return false;
    }
    if (micap_change_hooks(from) | micap_change_hooks(to))
        return false;
    route->to = to;
    return route->is_known = route->is_batch = true;
}

/* Finds a route without a target, if the way is known: along an edge of the archetype, or by a creation plan. False with a report if
 * memory runs out. */
static MICAP_NOINLINE bool find_route_of_any(mica_world *world, micap_route *route)
{
    micap_operation operation = micap_kind_operation(route->kind);
    if (operation == MICAP_OPERATION_CREATE)
        route->to = find_created(world, route->kind);
    else if (operation != MICAP_OPERATION_DESTROY && !(route->kind->has_required && brings(route->kind, route->from)))
        route->to = find_changed(world, route);
    if (!route->to && operation != MICAP_OPERATION_DESTROY)
        return true;
    route->group = group_of(world, route->from, route->to, &route->edge, &route->own_group);
    return route->group && judge(world, route);
}

static MICAP_INLINE bool find_route(mica_world *world, micap_route *route)
{
    if (!is_of_one(world, route->kind) || !find_route_of_one(route))
        return find_route_of_any(world, route);
    route->group = group_of(world, route->from, route->to, &route->edge, &route->own_group);
    return route->group != NULL;
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
static MICAP_INLINE micap_route *add_route(mica_world *world, const micap_recorded_kind *kind, micap_archetype *from,
                                           void **place)
{
    micap_flush *flush = &world->flush;
    micap_route *route = micap_stage_allocate(&world->memory, &flush->stage, sizeof *route, _Alignof(micap_route));
    if (!route)
        return micap_fail_memory(world, "flush"), NULL;
    *route = (micap_route){.kind = kind, .from = from};
    *place = route;
    return find_route(world, route) ? route : NULL;
}

/* The same if it is not the first one of its archetype: it may be there already. */
static micap_route *find_other_route(mica_world *world, const micap_recorded_kind *kind, micap_archetype *from)
{
    void **found = micap_flush_find(world, kind, from);
    if (!found)
        return micap_fail_memory(world, "flush"), NULL;
    return *found ? *found : add_route(world, kind, from, found);
}

/* The route of a kind and an archetype, which may be unknown. NULL with a report if memory runs out. */
static MICAP_NOINLINE micap_route *look_up_route(mica_world *world, const micap_recorded_kind *kind,
                                                 micap_archetype *from)
{
    micap_flush *flush = &world->flush;
    micap_origin *origin = from ? origin_of(world, from) : NULL;
    if (from && !origin)
        return NULL;
    micap_route *route = from ? origin->first_route : NULL;
    if (from && !route) {
        void *place;
        route = add_route(world, kind, from, &place);
        origin->first_route = route; /* its group is of the same archetype: no other origin was added */
    } else if (!route || route->kind != kind) {
        route = find_other_route(world, kind, from);
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

/* Plans changes that take the same route, if it is known. */
static MICAP_INLINE bool plan_route(mica_world *world, const micap_gathered *run, const micap_chunk *chunk,
                                    micap_route *route)
{
    return route->is_batch || route->each ? plan_run(world, run, route) : plan_singles(world, run, chunk, route);
}

static bool plan_creations(mica_world *world, micap_gathered step)
{
    micap_route *route = route_of(world, step.kind, NULL);
    if (!route)
        return false;
    if (!route->is_known) { /* then the first one finds it */
        if (!plan_single(world, step.changes, step.kind, NULL, route))
            return false;
        step.changes = micap_recorded_after(step.changes, step.kind);
        --step.count;
    }
    return !step.count || plan_route(world, &step, NULL, route);
}

static inline uint32_t chunk_number_of(const mica_world *world, const micap_recorded *change)
{
    return micap_record_chunk(micap_record_of(&world->entities, change->entity));
}

/* Whether a change needs a target of its own, or no step at all: its entity is dead, or others may die with it. */
static inline bool is_odd(const mica_world *world, const micap_recorded *change, uint32_t number, bool asks)
{
    return MICAP_UNLIKELY(number <= MICAP_CHUNK_PENDING) ||
           (MICAP_UNLIKELY(asks) && micap_is_attached(&world->attachments, change->entity.index));
}

static bool plan_odd(mica_world *world, micap_recorded *change, const micap_recorded_kind *kind, uint32_t number)
{
    if (number <= MICAP_CHUNK_PENDING)
        return micap_flush_drop_dead(world, change, kind) || (micap_fail_memory(world, "flush"), false);
    return plan_single(world, change, kind, world->chunks.by_number[number], NULL);
}

/* How many changes, from the first one on, take its route. Its chunk is given, and afterwards that of the change after them, if there is
 * one. */
static MICAP_INLINE uint32_t count_run(const mica_world *world, const micap_gathered *rest, bool asks, bool is_known,
                                       uint32_t *in_out_number)
{
    const micap_archetype *archetype = is_known ? world->chunks.by_number[*in_out_number]->archetype : NULL;
    uint32_t number = is_known ? *in_out_number : UINT32_MAX, stride = rest->kind->stride, count = 1;
    const char *at = (const char *)rest->changes + stride;
    for (; count != rest->count; ++count, at += stride) {
        const micap_recorded *change = (const micap_recorded *)(const void *)at;
        uint32_t next = chunk_number_of(world, change);
        if (MICAP_UNLIKELY(next != number)) {
            *in_out_number = next;
            if (next <= MICAP_CHUNK_PENDING || world->chunks.by_number[next]->archetype != archetype)
                break;
            number = next;
        }
        if (MICAP_UNLIKELY(asks) && micap_is_attached(&world->attachments, change->entity.index))
            break;
    }
    return count;
}

/* Plans changes, split where the archetype of their entities changes. */
static bool plan_changes(mica_world *world, micap_gathered rest)
{
    const micap_recorded_kind *kind = rest.kind;
    bool asks = asks_modules(world, kind), fine = true;
    uint32_t number = chunk_number_of(world, rest.changes);
    while (fine && rest.count) {
        const micap_chunk *chunk = world->chunks.by_number[number];
        bool odd = is_odd(world, rest.changes, number, asks);
        micap_route *route = odd ? NULL : route_of(world, kind, chunk->archetype);
        micap_gathered run = {.kind = kind, .changes = rest.changes};
        if (!odd && !route)
            return false;
        run.count = count_run(world, &rest, asks, route && route->is_known, &number);
        fine = odd ? plan_odd(world, run.changes, kind, chunk->number) : plan_route(world, &run, chunk, route);
        rest.count -= run.count;
        rest.changes = (micap_recorded *)(void *)((char *)rest.changes + (size_t)run.count * kind->stride);
    }
    return fine;
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
    flush->origin_count = 0;
    flush->recent = NULL;
    flush->last_group = NULL;
    for (uint32_t i = 0; i < flush->gathered_count; ++i) {
        micap_gathered step = flush->gathered[i];
        if (step.kind) /* neighbours that were gathered one by one, or combined */
            while (i + 1 < flush->gathered_count && continues(&step, &flush->gathered[i + 1]))
                step.count += flush->gathered[++i].count;
        bool fine = !step.kind                                                  ? plan_target(world, step.target)
                    : micap_kind_operation(step.kind) == MICAP_OPERATION_CREATE ? plan_creations(world, step)
                                                                                : plan_changes(world, step);
        if (!fine)
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
