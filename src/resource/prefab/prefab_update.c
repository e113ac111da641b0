#include "resource/prefab/prefab.h"

#include "base/argument.h"
#include "mica/hierarchy.h"
#include "resource/reload/reload.h"

#include <string.h>

/* The prefabs that are being updated, innermost first: each contains instances of the next. */
typedef struct chain {
    const struct chain *up;
    mica_entity prefab;
} chain;

typedef struct updating {
    mica_world *world;
    const mica_prefab_def *def;
    mica_entity prefab;
    micap_prefab_state now;
    mica_prefab value;  /* for the root, when all is done */
    mica_prefab before; /* what the root had */
    mica_resource *old; /* files of both */
    mica_resource *new;
    mica_entity *instances;
    uint32_t instance_count;
    uint32_t instance_capacity;
    mica_reload_stats stats;
} updating;

static mica_result fail_memory(const updating *work)
{
    return mica_world_report(work->world, MICA_ERROR_MEMORY, "prefab: out of memory");
}

static void *allocate(updating *work, uint64_t count, size_t bytes)
{
    return micap_allocate_zeroed(&work->now.memory, count * bytes, MICAP_ARRAY_ALIGNMENT);
}

static void release(updating *work, void *array, uint64_t count, size_t bytes)
{
    micap_release(&work->now.memory, array, count * bytes, MICAP_ARRAY_ALIGNMENT);
}

/* The roots of instances that follow. */
static mica_result find_instances(updating *work)
{
    work->instance_capacity = mica_source_count(work->world, work->prefab, mica_instance_of);
    work->instances = allocate(work, work->instance_capacity, sizeof *work->instances);
    if (!work->instances)
        return fail_memory(work);
    mica_edges at = mica_sources(work->world, work->prefab, mica_instance_of);
    while (mica_edge_next(&at)) {
        const mica_instance_of *edge = at.fields;
        if (!edge->follows || edge->part)
            continue;
        if (mica_is_ancestor(work->world, work->prefab, at.entity))
            return mica_world_report(work->world, MICA_ERROR_REFUSED, "prefab: it contains an instance of itself");
        work->instances[work->instance_count++] = at.entity;
    }
    return MICA_OK;
}

/* Finds the entities of an instance, by entity of the old file. Nil: it has none any more. */
static void find_parts(const updating *work, mica_entity instance, mica_entity *out)
{
    const mica_entity *parts = mica_list_items(&work->before.parts, mica_entity);
    uint32_t count = mica_list_count(&work->before.parts);
    for (mica_entity at = instance; !mica_is_nil(at);) {
        mica_entity part;
        const mica_instance_of *edge = micap_prefab_edge(work->world, at, &part);
        if (edge && !edge->part && !mica_same(at, instance)) { /* another instance, that was put here */
            at = mica_tree_skip(work->world, instance, at);
            continue;
        }
        if (edge && edge->part < count && mica_same(part, parts[edge->part]))
            out[mica_resource_entity_in_order(work->old, edge->part)] = at;
        at = mica_tree_next(work->world, instance, at);
    }
}

/* Which parts of both files are the same: those with the same handle and the same parent, and the roots. */
static void match_parts(const updating *work, uint32_t *old_of_new)
{
    const mica_entity *old_parts = mica_list_items(&work->before.parts, mica_entity);
    uint32_t old_count = mica_list_count(&work->before.parts), guess = 0;
    for (uint32_t part = 0; part < work->now.part_count; ++part) {
        uint32_t entity = mica_resource_entity_in_order(work->new, part), parent, same = UINT32_MAX;
        for (uint32_t i = 0; same == UINT32_MAX && i < old_count; ++i)
            if (mica_same(old_parts[(guess + i) % old_count], work->now.parts[part]))
                same = (guess + i) % old_count;
        guess = same == UINT32_MAX ? guess : same + 1;
        if (same != UINT32_MAX)
            same = mica_resource_entity_in_order(work->old, same);
        parent = mica_resource_parent(work->new, entity);
        bool is_moved = same != UINT32_MAX && parent != MICA_NO_PARENT &&
                        mica_resource_parent(work->old, same) != old_of_new[parent];
        old_of_new[entity] = part ? (is_moved ? UINT32_MAX : same) : mica_resource_entity_in_order(work->old, 0);
    }
}

/* Gives the entity of an instance an edge to its part, unless it has it. */
static bool relate(const updating *work, mica_entity entity, uint32_t part)
{
    mica_entity target;
    const mica_instance_of *edge = micap_prefab_edge(work->world, entity, &target);
    return (edge && edge->part == part && mica_same(target, work->now.parts[part])) ||
           mica_relate_with(work->world, entity, mica_instance_of, work->now.parts[part],
                            {.part = part, .follows = true});
}

static bool relate_all(const updating *work, const mica_entity *entities)
{
    bool done = true;
    for (uint32_t i = 0; i < work->instance_count; ++i)
        for (uint32_t part = 0; part < work->now.part_count; ++part) {
            mica_entity entity =
                entities[(size_t)i * work->now.part_count + mica_resource_entity_in_order(work->new, part)];
            done = done && (!mica_is_alive(work->world, entity) || relate(work, entity, part));
        }
    return done;
}

/* Brings the instances, whose entities are found, from the old file to the new one. */
static mica_result merge_instances(updating *work, mica_spawned *spawned, uint32_t *old_of_new)
{
    for (uint32_t i = 0; i < work->instance_count; ++i)
        find_parts(work, work->instances[i], spawned->entities + (size_t)i * mica_list_count(&work->before.parts));
    match_parts(work, old_of_new);
    spawned->old_of_new = old_of_new;
    mica_result result = mica_reload(spawned, work->new, &work->stats);
    if (result != MICA_OK)
        return result;
    return relate_all(work, spawned->entities) ? MICA_OK : MICA_ERROR_MEMORY;
}

/* The merge of mica/reload.h, with all instances as copies of one file. */
static mica_result merge(updating *work)
{
    uint64_t count = (uint64_t)mica_list_count(&work->before.parts) * work->instance_count;
    mica_spawned spawned = {.world = work->world, .resource = work->old};
    micap_memory_init(&spawned.memory, work->def->allocator);
    spawned.def = (mica_spawn_def){.rules = work->def->rules,
                                   .rule_count = work->def->rule_count,
                                   .skip_without_rule = work->def->skip_without_rule,
                                   .skip_singletons = true,
                                   .copies = work->instance_count};
    uint32_t *old_of_new = allocate(work, work->now.part_count, sizeof *old_of_new);
    spawned.entities = micap_allocate_zeroed(&spawned.memory, count * sizeof *spawned.entities, MICAP_ARRAY_ALIGNMENT);
    spawned.entity_count = (uint32_t)count;
    bool has_memory = old_of_new && spawned.entities;
    mica_result result = has_memory ? merge_instances(work, &spawned, old_of_new) : fail_memory(work);
    micap_release(&spawned.memory, spawned.entities, spawned.entity_count * sizeof *spawned.entities,
                  MICAP_ARRAY_ALIGNMENT);
    release(work, old_of_new, work->now.part_count, sizeof *old_of_new);
    return result;
}

static bool is_unchanged(const updating *work)
{
    return mica_list_count(&work->before.bytes) == work->now.blob.byte_count &&
           memcmp(mica_list_items(&work->before.bytes, uint8_t), work->now.blob.bytes, work->now.blob.byte_count) ==
               0 &&
           memcmp(mica_list_items(&work->before.parts, mica_entity), work->now.parts,
                  work->now.part_count * sizeof *work->now.parts) == 0;
}

static mica_result apply(updating *work)
{
    if (!micap_prefab_hide(&work->now) || !micap_prefab_make_value(&work->now, &work->value))
        return MICA_ERROR_MEMORY;
    work->old = micap_prefab_open(work->world, &work->before, work->def);
    work->new = work->old ? micap_prefab_open(work->world, &work->value, work->def) : NULL;
    if (!work->new)
        return MICA_ERROR_MEMORY;
    mica_result result = work->instance_count ? merge(work) : MICA_OK;
    mica_prefab *value = result == MICA_OK ? mica_write(work->world, work->prefab, mica_prefab) : NULL;
    if (value) { /* a hook of an instance may have destroyed it */
        mica_prefab kept = *value;
        *value = work->value;
        work->value = kept;
    }
    return result;
}

/* The prefab that contains an entity, or nil. */
static mica_entity prefab_around(const mica_world *world, mica_entity entity)
{
    do
        entity = mica_parent(world, entity);
    while (!mica_is_nil(entity) && !mica_has_id(world, entity, MICA_ID(mica_prefab)));
    return entity;
}

static mica_result update(mica_world *world, const mica_prefab_def *def, const chain *from, mica_reload_stats *stats);

static void add_stats(mica_reload_stats *to, const mica_reload_stats *more)
{
    to->created_count += more->created_count;
    to->destroyed_count += more->destroyed_count;
    to->added_count += more->added_count;
    to->removed_count += more->removed_count;
    to->updated_count += more->updated_count;
    to->kept_count += more->kept_count;
}

/* Updates the prefabs that contain instances, since these have changed. */
static mica_result update_around(const updating *work, const chain *from, mica_reload_stats *stats)
{
    mica_result result = MICA_OK;
    mica_entity last = mica_nil();
    for (uint32_t i = 0; result == MICA_OK && i < work->instance_count; ++i) {
        mica_entity around = prefab_around(work->world, work->instances[i]);
        if (mica_is_nil(around) || mica_same(around, last))
            continue;
        for (const chain *at = from; at; at = at->up)
            if (mica_same(at->prefab, around))
                return mica_world_report(work->world, MICA_ERROR_REFUSED,
                                         "prefab: prefabs contain instances of each other");
        last = around;
        result = update(work->world, work->def, &(chain){from, around}, stats);
    }
    return result;
}

static mica_result update(mica_world *world, const mica_prefab_def *def, const chain *from, mica_reload_stats *stats)
{
    updating work = {.world = world, .def = def, .prefab = from->prefab};
    mica_result result = micap_prefab_read(&work.now, world, work.prefab, def);
    if (result == MICA_OK)
        result = micap_prefab_copy_value(world, work.prefab, &work.before) ? MICA_OK : fail_memory(&work);
    if (result == MICA_OK)
        result = find_instances(&work);
    bool is_done = result == MICA_OK && is_unchanged(&work);
    if (result == MICA_OK && !is_done)
        result = apply(&work);
    add_stats(stats, &work.stats);
    if (result == MICA_OK && !is_done)
        result = update_around(&work, from, stats);
    mica_resource_free(work.old);
    mica_resource_free(work.new);
    micap_prefab_clear_value(&work.before);
    micap_prefab_clear_value(&work.value);
    release(&work, work.instances, work.instance_capacity, sizeof *work.instances);
    micap_prefab_free(&work.now);
    return result;
}

mica_result mica_prefab_update(mica_world *world, mica_entity prefab, const mica_prefab_def *def,
                               mica_reload_stats *out_stats)
{
    static const mica_prefab_def defaults = {0};
    mica_reload_stats stats = {0};
    def = def ? def : &defaults;
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, def->rules, def->rule_count))
        return MICA_ERROR_INVALID;
    mica_result result = micap_prefab_check_open(world);
    if (result == MICA_OK && !(mica_is_alive(world, prefab) && mica_has_id(world, prefab, MICA_ID(mica_prefab))))
        result = mica_world_report(world, MICA_ERROR_INVALID, "prefab: the entity is no prefab");
    if (result == MICA_OK)
        result = update(world, def, &(chain){NULL, prefab}, &stats);
    if (out_stats)
        *out_stats = stats;
    return result;
}
