/* Which entities are saved, and in which order: parents before children, children in theirs. */
#include "mica/hierarchy.h"
#include "mica/name.h"
#include "mica/query.h"
#include "resource/saving.h"

#include <string.h>

static bool append_entities(micap_saving *work, const mica_entity *entities, uint32_t count)
{
    if (!MICAP_RESERVE(work->memory, work->entities, &work->capacity, (uint64_t)work->count + count))
        return micap_draft_refuse_memory(work->draft);
    for (uint32_t i = 0; i < count; ++i) {
        if (!mica_is_alive(work->world, entities[i]))
            continue;
        work->entities[work->count++] = entities[i];
        if (entities[i].index >= work->slot_count)
            work->slot_count = entities[i].index + 1;
    }
    return true;
}

static bool collect_entities(micap_saving *work)
{
    if (work->def->entities)
        return append_entities(work, work->def->entities, work->def->entity_count);
    mica_query *all = mica_query_create(work->world, &(mica_query_def){.name = "save"});
    bool fine = all || micap_draft_refuse_memory(work->draft);
    for (mica_view view = mica_query_begin(all); mica_view_next(&view);)
        fine = fine && append_entities(work, view.entities, view.count);
    mica_query_destroy(all);
    return fine;
}

static mica_entity parent_of(const micap_saving *work, mica_entity entity)
{
    if (work->def->parent)
        return work->def->parent(work->world, entity, work->def->parent_context);
    mica_entity parent = mica_parent(work->world, entity);
    return mica_is_nil(parent) ? mica_name_scope_of(work->world, entity) : parent;
}

/* 1 + the index among the entities as they were collected, repetitions dropped. */
static bool index_entities(micap_saving *work)
{
    work->index_of = micap_allocate_zeroed(work->memory, work->slot_count * sizeof(uint32_t), MICAP_ARRAY_ALIGNMENT);
    if (!work->index_of)
        return micap_draft_refuse_memory(work->draft);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < work->count; ++i) {
        mica_entity entity = work->entities[i];
        if (work->index_of[entity.index])
            continue;
        work->entities[kept] = entity;
        work->index_of[entity.index] = ++kept;
    }
    work->count = kept;
    return true;
}

uint32_t micap_saving_find(const micap_saving *work, mica_entity entity)
{
    if (mica_is_nil(entity) || entity.index >= work->slot_count || !work->index_of[entity.index] ||
        !mica_is_alive(work->world, entity))
        return MICAP_NONE;
    return work->index_of[entity.index] - 1;
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

static void find_family(const micap_saving *work, family family)
{
    for (uint32_t i = 0; i < work->count; ++i) {
        uint32_t parent = micap_saving_find(work, parent_of(work, work->entities[i]));
        family.parent[i] = parent == i ? MICAP_NONE : parent;
    }
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

static bool draft_entities(micap_saving *work, const uint32_t *order, const uint32_t *parents, uint32_t *draft_index)
{
    for (uint32_t i = 0; i < work->count; ++i) {
        uint32_t at = order[i], parent = parents[at];
        draft_index[at] = mica_draft_entity(work->draft, parent == MICAP_NONE ? MICA_NO_PARENT : draft_index[parent],
                                            mica_name_of(work->world, work->entities[at]));
        if (draft_index[at] == MICA_DRAFT_NONE)
            return false;
    }
    for (uint32_t i = 0; i < work->count; ++i)
        work->index_of[work->entities[i].index] = draft_index[i] + 1;
    return true;
}

static bool order_entities(micap_saving *work)
{
    size_t bytes = (size_t)work->count * sizeof(uint32_t);
    uint32_t *all = micap_allocate(work->memory, 6 * bytes, MICAP_ARRAY_ALIGNMENT);
    if (!all)
        return micap_draft_refuse_memory(work->draft);
    memset(all, 0xFF, 6 * bytes);
    uint32_t *column[6];
    for (uint32_t i = 0; i < 6; ++i)
        column[i] = all + (size_t)i * work->count;
    family family = {column[0], column[1], column[2], column[3]};
    find_family(work, family);
    bool fine =
        walk_family(work, family, column[4]) == work->count ||
        micap_draft_refuse(work->draft, MICA_ERROR_INVALID, "the parents of some entities go round in a circle");
    fine = fine && draft_entities(work, column[4], family.parent, column[5]);
    /* Entities in the order of the draft, so that values are added in that order too. */
    for (uint32_t i = 0; fine && i < work->count; ++i)
        column[0][column[5][i]] = i;
    mica_entity *sorted = micap_allocate(work->memory, work->count * sizeof *sorted, MICAP_ARRAY_ALIGNMENT);
    fine = fine && (sorted || micap_draft_refuse_memory(work->draft));
    for (uint32_t i = 0; fine && i < work->count; ++i)
        sorted[i] = work->entities[column[0][i]];
    if (fine && work->count)
        memcpy(work->entities, sorted, work->count * sizeof *sorted);
    micap_release(work->memory, sorted, work->count * sizeof *sorted, MICAP_ARRAY_ALIGNMENT);
    micap_release(work->memory, all, 6 * bytes, MICAP_ARRAY_ALIGNMENT);
    return fine;
}

bool micap_saving_order(micap_saving *work)
{
    return collect_entities(work) && index_entities(work) && order_entities(work);
}
