/* Which entities are saved, and in which order: parents before children, children in theirs. */
#include "base/assert.h"
#include "mica/hierarchy.h"
#include "mica/name.h"
#include "mica/query.h"
#include "resource/save/save_order.h"

#include <string.h>

static bool append_view(micap_saving *work, const mica_entity *entities, uint32_t count)
{
    if (!MICAP_RESERVE(work->memory, work->views, &work->view_capacity, (uint64_t)work->view_count + 1))
        return micap_draft_refuse_memory(work->draft);
    work->views[work->view_count++] = (micap_saved_view){.entities = entities, .first = work->count, .count = count};
    work->count += count;
    return true;
}

static bool collect_all(micap_saving *work)
{
    mica_query *all = mica_query_create(work->world, &(mica_query_def){.name = "save", .with_hidden = true});
    bool fine = all || micap_draft_refuse_memory(work->draft);
    for (mica_view view = mica_query_begin(all); fine && mica_view_next(&view);)
        fine = append_view(work, view.entities, view.count);
    mica_query_destroy(all);
    return fine;
}

static bool make_slots(micap_saving *work)
{
    work->slots = micap_allocate_zeroed(work->memory, work->slot_count * sizeof *work->slots, MICAP_ARRAY_ALIGNMENT);
    return work->slots || micap_draft_refuse_memory(work->draft);
}

static void enter(micap_saving *work, mica_entity entity, uint32_t index)
{
    work->slots[entity.index] = (micap_saved_slot){entity.generation, index + 1};
}

static void note_slots(micap_saving *work, const mica_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        if (entities[i].index >= work->slot_count)
            work->slot_count = entities[i].index + 1;
}

/* The living among those of a list, repetitions dropped. */
static bool collect_list(micap_saving *work, const mica_entity *list, uint32_t list_count)
{
    uint32_t kept = 0;
    if (!MICAP_RESERVE(work->memory, work->entities, &work->capacity, list_count))
        return micap_draft_refuse_memory(work->draft);
    for (uint32_t i = 0; i < list_count; ++i)
        if (mica_is_alive(work->world, list[i]))
            work->entities[kept++] = list[i];
    note_slots(work, work->entities, kept);
    if (!make_slots(work))
        return false;
    uint32_t living = kept;
    kept = 0;
    for (uint32_t i = 0; i < living; ++i) {
        mica_entity entity = work->entities[i];
        if (work->slots[entity.index].index)
            continue;
        work->entities[kept] = entity;
        enter(work, entity, kept++);
    }
    for (uint32_t i = 0, count; i < kept; i += count) {
        count = micap_saving_run(work, work->entities + i, kept - i);
        if (!count || !append_view(work, work->entities + i, count))
            return false;
    }
    return true;
}

bool micap_saving_index(micap_saving *work)
{
    if (work->slots)
        return true;
    for (uint32_t i = 0; i < work->view_count; ++i)
        note_slots(work, work->views[i].entities, work->views[i].count);
    if (!make_slots(work))
        return false;
    for (uint32_t i = 0, next = 0; i < work->view_count; ++i)
        for (uint32_t row = 0; row < work->views[i].count; ++row)
            enter(work, work->views[i].entities[row], next++);
    return true;
}

/* Collects all entities in one array. */
static bool gather_entities(micap_saving *work)
{
    if (work->entities)
        return true;
    if (!MICAP_RESERVE(work->memory, work->entities, &work->capacity, work->count))
        return micap_draft_refuse_memory(work->draft);
    MICAP_ASSERT(work->entities || !work->view_count, "views have rows");
    for (uint32_t i = 0; i < work->view_count; ++i)
        memcpy(work->entities + work->views[i].first, work->views[i].entities,
               work->views[i].count * sizeof *work->entities);
    return true;
}

static mica_entity parent_of(const micap_saving *work, mica_entity entity)
{
    if (work->def->parent)
        return work->def->parent(work->world, entity, work->def->parent_context);
    mica_entity parent = mica_parent(work->world, entity);
    return mica_is_nil(parent) && !work->has_circle ? mica_name_get_scope(work->world, entity) : parent;
}

uint32_t micap_saving_find(const micap_saving *work, mica_entity entity)
{
    bool is_saved = !mica_is_nil(entity) && entity.index < work->slot_count &&
                    work->slots[entity.index].generation == entity.generation;
    return is_saved ? work->slots[entity.index].index - 1 : MICAP_NONE;
}

/* Depth first, children in the order they were collected: links through three arrays, no recursion. */
typedef struct micap_family {
    uint32_t *parent, *first_child, *last_child, *next;
} family;

static void append_child(family family, uint32_t child)
{
    uint32_t parent = family.parent[child];
    if (parent == MICAP_NONE)
        return;
    bool is_first = family.first_child[parent] == MICAP_NONE;
    *(is_first ? &family.first_child[parent] : &family.next[family.last_child[parent]]) = child;
    family.last_child[parent] = child;
}

/* Returns whether any entity has one. */
static bool find_parents(const micap_saving *work, uint32_t *parents)
{
    bool has_any = false;
    for (uint32_t i = 0; i < work->count; ++i) {
        uint32_t parent = micap_saving_find(work, parent_of(work, work->entities[i]));
        parents[i] = parent == i ? MICAP_NONE : parent;
        has_any = has_any || parents[i] != MICAP_NONE;
    }
    return has_any;
}

static void find_children(const micap_saving *work, family family)
{
    /* Linked children have an order of their own; the others come as they were collected. */
    for (uint32_t i = 0; !work->def->parent && i < work->count; ++i)
        for (mica_entity child = mica_first_child(work->world, work->entities[i]); !mica_is_nil(child);
             child = mica_next_sibling(work->world, child))
            if (micap_saving_find(work, child) != MICAP_NONE)
                append_child(family, micap_saving_find(work, child));
    for (uint32_t i = 0; i < work->count; ++i)
        if (work->def->parent || mica_is_nil(mica_parent(work->world, work->entities[i])))
            append_child(family, i);
}

/* Returns how many were reached from a root: fewer than all when parents go round in a circle. */
static uint32_t walk_family(const micap_saving *work, family family, uint32_t *out_order)
{
    uint32_t count = 0;
    for (uint32_t root = 0; root < work->count; ++root) {
        if (family.parent[root] != MICAP_NONE)
            continue;
        for (uint32_t at = root; at != MICAP_NONE;) {
            out_order[count++] = at;
            if (family.first_child[at] != MICAP_NONE) {
                at = family.first_child[at];
                continue;
            }
            while (at != root && family.next[at] == MICAP_NONE)
                at = family.parent[at];
            at = at == root ? MICAP_NONE : family.next[at];
        }
    }
    return count;
}

/* Scopes can go round in a circle: then only links are parents. A function of the program must not say so. */
static bool break_circle(micap_saving *work, family family)
{
    work->has_circle = true;
    memset(family.first_child, 0xFF, 3 * (size_t)work->count * sizeof(uint32_t));
    if (!work->def->parent)
        find_parents(work, family.parent);
    find_children(work, family);
    return walk_family(work, family, work->order) == work->count ||
           micap_draft_refuse(work->draft, MICA_ERROR_INVALID, "the parents of some entities go round in a circle");
}

static bool order_family(micap_saving *work, uint32_t *parents)
{
    size_t bytes = (size_t)work->count * sizeof(uint32_t);
    uint32_t *links = micap_allocate(work->memory, 3 * bytes, MICAP_ARRAY_ALIGNMENT);
    work->order = micap_allocate(work->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    bool fine = (links && work->order) || micap_draft_refuse_memory(work->draft);
    if (fine) {
        memset(links, 0xFF, 3 * bytes);
        family family = {parents, links, links + work->count, links + 2 * (size_t)work->count};
        find_children(work, family);
        if (walk_family(work, family, work->order) != work->count)
            fine = break_circle(work, family);
    }
    micap_release(work->memory, links, 3 * bytes, MICAP_ARRAY_ALIGNMENT);
    return fine;
}

/* The name of an entity. In the scope of an entity that is destroyed, or whose creation is recorded, it is not found, and may be there twice, and in the scope of one that
 * is not the parent it may be there twice among the children: then it is in the state only. Without a state, it moves to the parent. */
static const char *name_of(const micap_saving *work, mica_entity entity)
{
    const mica_save_def *def = work->def;
    mica_entity scope = mica_name_get_scope(work->world, entity);
    bool is_lost = !mica_is_nil(scope) && (!mica_is_alive(work->world, scope) ||
                                           (!def->entities && micap_saving_find(work, scope) == MICAP_NONE));
    bool is_elsewhere =
        !def->entities && !def->skip_state && !def->parent && !mica_same(scope, parent_of(work, entity));
    return is_lost || is_elsewhere ? NULL : mica_name_get(work->world, entity);
}

/* A parent is in the draft before its children are: the index shows where. */
static bool draft_entities(micap_saving *work, const uint32_t *parents)
{
    for (uint32_t i = 0; i < work->count; ++i) {
        uint32_t at = work->order ? work->order[i] : i, parent = parents[at];
        uint32_t above = parent == MICAP_NONE ? MICA_NO_PARENT : micap_saving_find(work, work->entities[parent]);
        if (mica_draft_entity(work->draft, above, name_of(work, work->entities[at])) == MICA_DRAFT_NONE)
            return false;
        enter(work, work->entities[at], i);
    }
    return true;
}

/* Most worlds have far more entities than parents and names. */
static bool may_have_parents_or_names(const micap_saving *work)
{
    return work->def->parent || mica_linked_count(work->world) || mica_world_get_stats(work->world).name_count;
}

bool micap_saving_order(micap_saving *work)
{
    const mica_save_def *def = work->def;
    if (!(def->entities ? collect_list(work, def->entities, def->entity_count) : collect_all(work)))
        return false;
    if (!may_have_parents_or_names(work)) {
        work->draft->entity_count = work->count;
        return true;
    }
    if (!micap_saving_index(work) || !gather_entities(work))
        return false;
    size_t bytes = (size_t)work->count * sizeof(uint32_t);
    uint32_t *parents = micap_allocate(work->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!parents)
        return micap_draft_refuse_memory(work->draft);
    bool fine = (!find_parents(work, parents) || order_family(work, parents)) && draft_entities(work, parents);
    micap_release(work->memory, parents, bytes, MICAP_ARRAY_ALIGNMENT);
    return fine;
}
