/* The instances of a component: where each goes, and what is written of it. */
#include "resource/finish.h"

#include <string.h>

/* Pieces are in the order of the instances until they are sorted. */
static bool append_piece(micap_source *source, uint32_t target, uint32_t count, const char *values)
{
    uint32_t size_bytes = source->part->type->size_bytes;
    micap_piece *last = source->piece_count ? &source->pieces[source->piece_count - 1] : NULL;
    if (last && target == last->target + last->count &&
        (!values || values == last->values + (size_t)last->count * size_bytes)) {
        last->count += count;
        return true;
    }
    if (!MICAP_RESERVE(&source->draft->memory, source->pieces, &source->piece_capacity,
                       (uint64_t)source->piece_count + 1))
        return micap_draft_refuse_memory(source->draft);
    source->pieces[source->piece_count++] = (micap_piece){target, count, values};
    return true;
}

/* Behind those of earlier groups, in the order of the entities. */
static bool place_run(micap_source *source, const micap_draft_run *run, const char *values,
                      const uint32_t *group_firsts)
{
    const micap_grouping *grouping = source->grouping;
    const micap_stretch *stretch = micap_stretch_of(grouping, run->entity);
    uint32_t size_bytes = source->part->type->size_bytes;
    for (uint32_t done = 0; done < run->count; ++stretch) {
        uint32_t count = stretch[1].first - stretch->first, group = stretch->group; /* runs hold whole stretches */
        uint32_t target = group_firsts[group] + stretch->place - grouping->group_first[group];
        if (!append_piece(source, target, count, values ? values + (size_t)done * size_bytes : NULL))
            return false;
        done += count;
    }
    return true;
}

/* Behind those of entities with lower places; what one entity has stays in order. */
static bool place_repeated_run(micap_source *source, const micap_draft_run *run, const char *values, uint32_t *next,
                               uint32_t *owners)
{
    for (uint32_t i = 0; i < run->count; ++i) {
        uint32_t place = micap_place_of(source->grouping, run->entity + i), target = next[place]++;
        owners[target] = place;
        if (!append_piece(source, target, 1, values + (size_t)i * source->part->type->size_bytes))
            return false;
    }
    return true;
}

/* By place, where the instances of an entity begin. */
static uint32_t *count_repeated(const micap_source *source)
{
    const micap_draft_part *part = source->part;
    uint32_t entity_count = source->draft->entity_count, sum = 0;
    uint32_t *next = micap_allocate_zeroed(&source->draft->memory, entity_count * sizeof *next, MICAP_ARRAY_ALIGNMENT);
    if (!next)
        return micap_draft_refuse_memory(source->draft), NULL;
    for (const micap_draft_run *run = part->runs; run < part->runs + part->run_count; ++run)
        for (uint32_t i = 0; i < run->count; ++i)
            ++next[micap_place_of(source->grouping, run->entity + i)];
    for (uint32_t i = 0; i < entity_count; ++i) {
        uint32_t count = next[i];
        next[i] = sum;
        sum += count;
    }
    return next;
}

static bool place_runs(micap_source *source, const micap_placing *placing, uint32_t *next)
{
    const micap_draft_part *part = source->part;
    const char *own = part->data;
    for (const micap_draft_run *run = part->runs; run < part->runs + part->run_count; ++run) {
        const char *values = run->values ? run->values : own;
        if (!run->values && own)
            own += (size_t)run->count * part->type->size_bytes;
        bool fine = part->role == MICAP_ROLE_SINGLETON ? append_piece(source, 0, 1, values)
                    : next                             ? place_repeated_run(source, run, values, next, placing->owners)
                                                       : place_run(source, run, values, placing->group_firsts);
        if (!fine)
            return false;
    }
    return true;
}

static void find_disabled(const micap_source *source, uint32_t *out)
{
    const micap_draft_part *part = source->part;
    const micap_piece *piece = source->pieces;
    uint32_t first = 0; /* instance of the piece */
    for (uint32_t i = 0; i < part->disabled_count; ++i) {
        while (part->disabled[i] - first >= piece->count)
            first += piece++->count;
        out[i] = piece->target + (part->disabled[i] - first);
    }
}

/* Linear: every target is the beginning of one piece, or of none. */
static bool sort_pieces(micap_source *source)
{
    micap_memory *memory = &source->draft->memory;
    bool is_sorted = true;
    for (uint32_t i = 1; i < source->piece_count; ++i)
        is_sorted = is_sorted && source->pieces[i - 1].target < source->pieces[i].target;
    if (is_sorted)
        return true;
    size_t bytes = source->part->count * sizeof(uint32_t), sorted_bytes = source->piece_capacity * sizeof(micap_piece);
    uint32_t *by_target = micap_allocate_zeroed(memory, bytes, MICAP_ARRAY_ALIGNMENT);
    micap_piece *sorted = micap_allocate(memory, sorted_bytes, MICAP_ARRAY_ALIGNMENT);
    if (!by_target || !sorted) {
        micap_release(memory, by_target, bytes, MICAP_ARRAY_ALIGNMENT);
        micap_release(memory, sorted, sorted_bytes, MICAP_ARRAY_ALIGNMENT);
        return micap_draft_refuse_memory(source->draft);
    }
    for (uint32_t i = 0; i < source->piece_count; ++i)
        by_target[source->pieces[i].target] = i;
    for (uint32_t i = 0, target = 0; i < source->piece_count; target += sorted[i++].count)
        sorted[i] = source->pieces[by_target[target]];
    micap_release(memory, by_target, bytes, MICAP_ARRAY_ALIGNMENT);
    MICAP_RELEASE_ARRAY(memory, source->pieces, source->piece_capacity);
    source->pieces = sorted;
    return true;
}

bool micap_source_make(micap_source *source, const micap_placing *placing)
{
    mica_draft *draft = source->draft;
    const mica_type *type = source->part->type;
    if (!micap_leaves_make(&source->leaves, &draft->memory, type) ||
        !micap_leaves_make_kind(&source->references, &draft->memory, type, MICA_KIND_ENTITY))
        return micap_draft_refuse_memory(draft);
    source->is_whole = micap_leaves_cover(&source->leaves, type->size_bytes);
    uint32_t *next = source->part->repeats ? count_repeated(source) : NULL;
    bool fine = (next || !source->part->repeats) && place_runs(source, placing, next);
    micap_release(&draft->memory, next, draft->entity_count * sizeof *next, MICAP_ARRAY_ALIGNMENT);
    if (fine)
        find_disabled(source, placing->disabled);
    return fine && sort_pieces(source);
}

void micap_source_free(micap_source *source)
{
    micap_memory *memory = &source->draft->memory;
    micap_leaves_free(&source->leaves, memory);
    micap_leaves_free(&source->references, memory);
    MICAP_RELEASE_ARRAY(memory, source->pieces, source->piece_capacity);
}

/* References become places in the file. */
static bool place_references(const micap_source *source, char *instances, uint32_t count)
{
    mica_draft *draft = source->draft;
    MICAP_EACH_REFERENCE(&source->references, source->part->type->size_bytes, instances, count, reference)
    {
        mica_entity entity;
        memcpy(&entity, reference, sizeof entity);
        uint32_t index = mica_is_nil(entity) ? MICAP_NONE /* whatever its index: a file has one way to write that */
                         : draft->find       ? draft->find(draft->find_context, entity)
                                             : entity.index;
        if (index != MICAP_NONE && index >= draft->entity_count)
            return micap_draft_refuse(draft, MICA_ERROR_INVALID,
                                      "component %.80s refers to entity %u, which there is not", source->part->name,
                                      index);
        entity = index == MICAP_NONE ? mica_nil() : (mica_entity){micap_place_of(source->grouping, index), 1};
        memcpy(reference, &entity, sizeof entity);
    }
    return true;
}

bool micap_source_fill(micap_source *source, char *out, uint32_t count)
{
    size_t size_bytes = source->part->type->size_bytes;
    char *at = out;
    if (!source->is_whole)
        memset(out, 0, count * size_bytes);
    for (uint32_t left = count; left;) {
        const micap_piece *piece = &source->pieces[source->next_piece];
        uint32_t rest = piece->count - source->next_value, taken = rest < left ? rest : left;
        const char *values = piece->values + source->next_value * size_bytes;
        if (source->is_whole)
            memcpy(at, values, taken * size_bytes);
        else
            micap_leaves_copy(&source->leaves, (uint32_t)size_bytes, at, values, taken);
        source->next_value = taken == rest ? 0 : source->next_value + taken;
        source->next_piece += taken == rest;
        at += taken * size_bytes;
        left -= taken;
    }
    if (source->references.count && !place_references(source, out, count))
        return false;
    if (source->is_foreign)
        micap_leaves_swap(&source->leaves, (uint32_t)size_bytes, out, count);
    return true;
}
