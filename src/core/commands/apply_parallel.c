/* Applying a flush by several threads. Groups of steps that share an archetype must be applied one after the other, in their
 * order; groups that share none have nothing to do with each other. So archetypes are joined into families by the groups
 * between them, and each family is applied by one thread, in the order of its groups: what becomes of an archetype is what
 * would become of it in one thread.
 *
 * Only for changes of rows that nothing observes: no hooks, no values with functions of their own. Pools are tables of the world
 * and not of an archetype: they are changed afterwards, by one thread in the order of the flush, and so are handles of the
 * dead freed, and emptied chunks. */
#include "core/commands/apply_parallel.h"

#include "core/commands/apply_batch.h"
#include "core/commands/apply_each.h"
#include "core/commands/apply_single.h"
#include "core/world/world.h"
#include "core/storage/rows.h"
#include "core/entity/destroy.h"

enum { ENTITIES_MIN = 2048 }; /* fewer are applied before a worker wakes up */

typedef struct micap_families {
    mica_world *world;
    uint32_t *parents;  /* by archetype id */
    uint32_t *numbers;  /* by archetype id: of its family, where it is the head of one */
    uint32_t *group_of; /* the groups, family by family */
    uint32_t *first;    /* per family, and one more */
    uint32_t count;
    uint32_t archetype_count;
} families;

static uint32_t find(families *all, uint32_t archetype)
{
    while (all->parents[archetype] != archetype) {
        all->parents[archetype] = all->parents[all->parents[archetype]];
        archetype = all->parents[archetype];
    }
    return archetype;
}

static uint32_t family_of(families *all, const micap_group *group)
{
    return find(all, group->from ? group->from->id : group->to ? group->to->id : 0);
}

static bool is_plain(const micap_archetype *archetype, bool is_death)
{
    return !archetype || (archetype->trivial && !(is_death ? archetype->hook_mask : micap_change_hooks(archetype)));
}

/* Whether a death only removes a row: nothing observes it, and no other entity dies with it. */
static bool is_simple(const mica_world *world, const micap_group *group)
{
    bool is_death = !group->to;
    return is_plain(group->from, is_death) && is_plain(group->to, is_death) &&
           !(is_death && (world->has_dependents || world->sees_deaths));
}

static bool is_worth_sharing(const mica_world *world)
{
    const micap_flush *flush = &world->flush;
    if (!world->share || flush->group_count < 2 || flush->entity_count < ENTITIES_MIN)
        return false;
    for (uint32_t i = 0; i < world->pools.count; ++i)
        if (world->pools.all[i]->hook_mask)
            return false;
    for (uint32_t i = 0; i < flush->group_count; ++i)
        if (!is_simple(world, flush->groups[i]))
            return false;
    return true;
}

static size_t bytes_of(const families *all, uint32_t group_count)
{
    return (2 * (size_t)all->archetype_count + 2 * (size_t)group_count + 1) * sizeof(uint32_t);
}

/* Numbers the families in the order of their first groups, and lists the groups of each. */
static void list_families(families *all, const micap_flush *flush)
{
    for (uint32_t i = 0; i < all->archetype_count; ++i) {
        all->parents[i] = i;
        all->numbers[i] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < flush->group_count; ++i) {
        const micap_group *group = flush->groups[i];
        if (group->from && group->to)
            all->parents[find(all, group->to->id)] = find(all, group->from->id);
    }
    for (uint32_t i = 0; i < flush->group_count; ++i) {
        uint32_t head = family_of(all, flush->groups[i]);
        if (all->numbers[head] == UINT32_MAX) {
            all->numbers[head] = all->count;
            all->first[++all->count] = 0;
        }
        ++all->first[all->numbers[head] + 1];
    }
    all->first[0] = 0;
    for (uint32_t family = 1; family < all->count; ++family) /* from how many it has to where its groups end */
        all->first[family + 1] += all->first[family];
    for (uint32_t i = flush->group_count; i; --i) { /* then to where they begin */
        uint32_t family = all->numbers[family_of(all, flush->groups[i - 1])];
        all->group_of[--all->first[family + 1]] = i - 1;
    }
    for (uint32_t family = 0; family < all->count; ++family)
        all->first[family] = all->first[family + 1];
    all->first[all->count] = flush->group_count;
}

/* An entity that dies leaves its row. Its handle is freed later. */
static void apply_group(mica_world *world, const micap_group *group)
{
    const micap_flush_step *step = group->first, *next;
    for (; step; step = next) {
        next = step->next;
        if (step->each)
            micap_each_apply(world, group, step);
        else if (step->kind)
            next = micap_batch_apply(world, group, step);
        else if (!step->target->destroyed)
            micap_target_apply(world, step->target);
        else if (!step->target->created)
            micap_row_fill_hole(world, micap_locate(world, step->target->entity));
    }
}

static void apply_family(void *data, uint32_t family)
{
    families *all = data;
    mica_world *world = all->world;
    const micap_flush *flush = &world->flush;
    for (uint32_t i = all->first[family]; i < all->first[family + 1]; ++i)
        apply_group(world, flush->groups[all->group_of[i]]);
}

/* Keeps emptied chunks until all threads are done, because only one thread may use the arena. */
static void hold_chunks(const micap_flush *flush, bool hold)
{
    for (uint32_t i = 0; i < flush->group_count; ++i) {
        micap_archetype *from = flush->groups[i]->from;
        if (from)
            from->incoming += hold ? 1 : -1u;
    }
}

/* Applies what does not belong to an archetype: pools and handles. */
static void finish_step(mica_world *world, const micap_group *group, const micap_flush_step *step)
{
    if (step->kind) {
        micap_batch_finish(world, group, step);
    } else if (step->target->destroyed) {
        if (world->pools.count && !step->target->created)
            micap_pools_entity_dies(world, step->target->entity);
        micap_entity_forget(world, step->target->entity);
    } else if (world->pools.count) {
        micap_target_apply_pools(world, step->target);
    }
}

static void finish(mica_world *world)
{
    const micap_flush *flush = &world->flush;
    hold_chunks(flush, false);
    for (uint32_t i = 0; i < flush->group_count; ++i)
        if (flush->groups[i]->from)
            micap_rows_shrink(world, flush->groups[i]->from, 1);
    for (uint32_t i = 0; i < flush->group_count; ++i)
        for (const micap_flush_step *step = flush->groups[i]->first; step; step = step->next)
            finish_step(world, flush->groups[i], step);
    ++world->structure;
}

bool micap_flush_apply_parallel(mica_world *world)
{
    micap_flush *flush = &world->flush;
    families all = {.world = world, .archetype_count = world->archetypes.count};
    if (!is_worth_sharing(world))
        return false;
    uint32_t group_count = flush->group_count;
    all.parents = micap_allocate(&world->memory, bytes_of(&all, group_count), MICAP_ARRAY_ALIGNMENT);
    if (!all.parents) /* then by one */
        return false;
    all.numbers = all.parents + all.archetype_count;
    all.group_of = all.numbers + all.archetype_count;
    all.first = all.group_of + group_count;
    list_families(&all, flush);
    bool shared = all.count > 1;
    if (shared) {
        hold_chunks(flush, true);
        flush->is_shared = true;
        world->share(world, apply_family, &all, all.count);
        flush->is_shared = false;
        finish(world);
    }
    micap_release(&world->memory, all.parents, bytes_of(&all, group_count), MICAP_ARRAY_ALIGNMENT);
    return shared;
}
