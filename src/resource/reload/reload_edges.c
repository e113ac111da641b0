#include "resource/reload/reload_edges.h"

#include "mica/relation.h"
#include "resource/reload/reload_merge.h"

#include <string.h>

/* The edges of one relation from one entity, in both files. */
typedef struct edge_merge {
    micap_reloading *work;
    micap_reload_component at;
    mica_component relation;
    const mica_type *type;
    uint32_t guess; /* which edge of the other file is compared first: mostly the one after the last that was found */
} edge_merge;

static mica_entity target_of(const edge_merge *edges, const char *value)
{
    mica_entity target;
    memcpy(&target, value + edges->type->fields[0].offset, sizeof target);
    return target;
}

/* An edge of the old or the new file, in the room for its values. Ranks are places among the edges of all sources, not values. */
static char *read_edge(const edge_merge *edges, bool is_new, uint32_t i)
{
    const micap_reload_component *at = &edges->at;
    const micap_entry *entry = is_new ? at->entry : at->old_entry;
    const char *from = (is_new ? at->new : at->old) + (size_t)i * entry->block->type->size_bytes;
    char *value =
        micap_reload_read_value(edges->work, entry, from, is_new ? at->new_entities : at->old_entities, is_new);
    memset(value + edges->type->fields[1].offset, 0, sizeof(uint32_t));
    return value;
}

/* The edge to a target in one of the files, or NULL. */
static char *find_edge(edge_merge *edges, bool is_new, mica_entity target)
{
    uint32_t count = is_new ? edges->at.new_count : edges->at.old_count;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t at = (edges->guess + i) % count;
        char *value = read_edge(edges, is_new, at);
        if (mica_same(target_of(edges, value), target)) {
            edges->guess = at + 1;
            return value;
        }
    }
    return NULL;
}

/* The index of an entity in the new file, or MICAP_NONE. */
static uint32_t find_entity(const edge_merge *edges, mica_entity entity)
{
    uint32_t count = edges->work->after.resource->header.entity_count;
    for (uint32_t i = 0; i < count; ++i)
        if (mica_same(edges->at.new_entities[i], entity))
            return i;
    return MICAP_NONE;
}

/* Whether the new file has the edge of a symmetric relation in the other direction. */
static bool is_turned(const edge_merge *edges, mica_entity target, uint32_t copy)
{
    uint32_t other = edges->type->symmetric && edges->at.entry ? find_entity(edges, target) : MICAP_NONE;
    if (other == MICAP_NONE)
        return false;
    edge_merge turned = *edges;
    turned.guess = 0;
    turned.at =
        micap_reload_find_component(edges->work, (uint32_t)(edges->at.entry - edges->work->after.entries), other, copy);
    return find_edge(&turned, true, edges->at.entity) != NULL;
}

static bool refused(const edge_merge *edges)
{
    edges->work->result = MICA_ERROR_MEMORY; /* with a report of the world */
    return false;
}

/* Removes the edges that the new file does not have, unless the program has. Those to destroyed entities stay: nothing can be recorded of
 * them. */
static bool drop_edges(edge_merge *edges, uint32_t copy)
{
    mica_world *world = edges->work->world;
    edges->guess = 0;
    for (uint32_t i = 0; i < edges->at.old_count; ++i) {
        mica_entity target = target_of(edges, read_edge(edges, false, i));
        if (!mica_is_alive(world, target) || !mica_edge_get_id(world, edges->at.entity, edges->relation, target) ||
            (edges->at.entry && find_edge(edges, true, target)) || is_turned(edges, target, copy))
            continue;
        if (!mica_command_unrelate_id(edges->work->commands, edges->at.entity, edges->relation, target, MICA_HERE))
            return refused(edges);
        ++edges->work->stats.removed_count;
    }
    return true;
}

/* Whether an edge that is new in the file is left out, since the program has decided otherwise. */
static bool is_kept_out(edge_merge *edges, mica_entity target)
{
    mica_world *world = edges->work->world;
    if (mica_edge_get_id(world, edges->at.entity, edges->relation, target))
        return true;
    if (!edges->type->exclusive)
        return false;
    mica_entity old = edges->at.old_count ? target_of(edges, read_edge(edges, false, 0)) : mica_nil();
    bool is_changed = !mica_same(mica_target_id(world, edges->at.entity, edges->relation), old);
    edges->work->stats.kept_count += is_changed;
    return is_changed;
}

static bool add_edge(edge_merge *edges, char *value, mica_entity target)
{
    micap_reloading *work = edges->work;
    if (mica_same(edges->at.entity, target))
        return micap_reload_fail(work, MICA_ERROR_INVALID, "reload: the file relates an entity to itself, by %.80s",
                                 edges->type->name);
    char *staged = mica_command_relate_id(work->commands, edges->at.entity, edges->relation, target, MICA_HERE);
    if (!staged)
        return refused(edges);
    uint32_t offset = edges->type->fields[0].offset; /* the world sets the target */
    memcpy(value + offset, staged + offset, sizeof target);
    micap_reload_merge_value(work, edges->at.scalars, staged, staged, value);
    work->stats.added_count += edges->at.old_entry != NULL;
    return true;
}

/* An edge of both files. */
static bool update_edge(edge_merge *edges, const char *old, char *value, mica_entity target)
{
    micap_reloading *work = edges->work;
    const void *fields = mica_edge_get_id(work->world, edges->at.entity, edges->relation, target);
    if (!fields || micap_reload_is_same_value(edges->at.scalars, old, value))
        return true;
    char *staged = mica_command_relate_id(work->commands, edges->at.entity, edges->relation, target, MICA_HERE);
    if (!staged)
        return refused(edges);
    work->stats.updated_count += micap_reload_merge_value(work, edges->at.scalars, staged, old, value);
    return true;
}

static bool merge_edges(edge_merge *edges)
{
    uint32_t guess = 0;
    for (uint32_t i = 0; i < edges->at.new_count; ++i) {
        char *value = read_edge(edges, true, i);
        mica_entity target = target_of(edges, value);
        if (mica_is_nil(target) || !mica_is_alive(edges->work->world, target))
            continue;
        edges->guess = guess;
        const char *old = edges->at.old_count ? find_edge(edges, false, target) : NULL;
        guess = edges->guess;
        if (!(old                          ? update_edge(edges, old, value, target)
              : is_kept_out(edges, target) ? true
                                           : add_edge(edges, value, target)))
            return false;
    }
    return true;
}

bool micap_reload_edges(micap_reloading *work, uint32_t entity, uint32_t copy)
{
    bool fine = true;
    for (uint32_t e = 0; fine && e < work->after.entry_count; ++e) {
        const micap_entry *entry = &work->after.entries[e];
        if (!entry->component || !entry->type->relation)
            continue;
        edge_merge edges = {work, micap_reload_find_component(work, e, entity, copy), entry->component, entry->type, 0};
        fine = drop_edges(&edges, copy) && merge_edges(&edges);
    }
    uint32_t old_entity = work->old_of_new[entity];
    for (uint32_t e = 0; fine && old_entity != MICAP_NONE && e < work->before.entry_count; ++e) {
        const micap_entry *entry = &work->before.entries[e];
        if (!entry->component || !entry->type->relation || work->new_entry[e] != MICAP_NONE)
            continue;
        micap_reload_component at = {.old_entry = entry,
                                     .entity = micap_reload_new(work, copy)[entity],
                                     .old = mica_resource_value(work->before.resource, old_entity, e),
                                     .old_count = mica_resource_value_count(work->before.resource, old_entity, e),
                                     .old_entities = micap_reload_old(work, copy)};
        edge_merge edges = {work, at, entry->component, entry->type, 0};
        fine = drop_edges(&edges, copy);
    }
    return fine;
}
