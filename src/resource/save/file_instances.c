/* The instances of a component: where each goes, and what is written of it. */
#include "resource/save/file_instances.h"

#include "type/value_bytes.h"

#include <stdlib.h>
#include <string.h>

bool micap_instance_source_make(micap_instance_source *source)
{
    micap_memory *memory = &source->draft->memory;
    const mica_type *type = source->part->type;
    if (!micap_scalars_make(&source->scalars, memory, type) ||
        !micap_scalars_make_kind(&source->references, memory, type, MICA_KIND_ENTITY))
        return micap_draft_refuse_memory(source->draft);
    source->is_whole = micap_scalars_cover(&source->scalars, type->size_bytes);
    source->has_contents = micap_contents_exist(type);
    return true;
}

void micap_instance_source_free(micap_instance_source *source)
{
    micap_scalars_free(&source->scalars, &source->draft->memory);
    micap_scalars_free(&source->references, &source->draft->memory);
}

/* Adds up a number by group over the groups that have the component. */
static uint32_t note_firsts(const micap_instance_source *source, const uint32_t *by_group)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < source->grouping->group_count; ++i)
        if (micap_group_has(source->grouping, i, source->rank)) {
            source->bench->group_firsts[i] = sum;
            sum += by_group[i];
        }
    return sum;
}

/* By place, where the instances of an entity begin, for a part that repeats. */
static uint32_t *make_firsts(const micap_instance_source *source)
{
    const micap_draft_part *part = source->part;
    uint32_t entity_count = source->draft->entity_count, sum = 0;
    uint32_t *firsts =
        micap_allocate_zeroed(&source->draft->memory, entity_count * sizeof *firsts, MICAP_ARRAY_ALIGNMENT);
    if (!firsts)
        return micap_draft_refuse_memory(source->draft), NULL;
    for (const micap_draft_run *run = part->runs; run < part->runs + part->run_count; ++run)
        for (uint32_t i = 0; i < run->count; ++i)
            ++firsts[micap_place_of(source->grouping, run->entity + i)];
    for (uint32_t i = 0; i < entity_count; ++i) {
        uint32_t count = firsts[i];
        firsts[i] = sum;
        sum += count;
    }
    return firsts;
}

static void release_firsts(const micap_instance_source *source, uint32_t *firsts)
{
    micap_release(&source->draft->memory, firsts, source->draft->entity_count * sizeof *firsts, MICAP_ARRAY_ALIGNMENT);
}

static bool list_repeated(const micap_instance_source *source, uint32_t *owners, uint32_t *disabled)
{
    const micap_draft_part *part = source->part;
    uint32_t *next = make_firsts(source), instance = 0, disabled_count = 0;
    if (!next)
        return false;
    for (const micap_draft_run *run = part->runs; run < part->runs + part->run_count; ++run)
        for (uint32_t i = 0; i < run->count; ++i, ++instance) {
            uint32_t location = micap_place_of(source->grouping, run->entity + i), target = next[location]++;
            owners[target] = location;
            if (disabled_count < part->disabled_count && part->disabled[disabled_count] == instance)
                disabled[disabled_count++] = target;
        }
    release_firsts(source, next);
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    return first < second ? -1 : first > second;
}

bool micap_instance_source_list(const micap_instance_source *source, uint32_t *owners, uint32_t *disabled)
{
    const micap_grouping *grouping = source->grouping;
    const micap_draft_part *part = source->part;
    const micap_draft_run *run = part->runs;
    uint32_t first = 0; /* instance of the run */
    if (part->repeats && !list_repeated(source, owners, disabled))
        return false;
    if (!part->repeats && part->disabled_count)
        note_firsts(source, grouping->group_size);
    for (uint32_t i = 0; !part->repeats && i < part->disabled_count; ++i) {
        while (part->disabled[i] - first >= run->count)
            first += run++->count;
        uint32_t entity = run->entity + (part->disabled[i] - first), group = micap_stretch_of(grouping, entity)->group;
        disabled[i] =
            source->bench->group_firsts[group] + micap_place_of(grouping, entity) - grouping->group_first[group];
    }
    if (part->disabled_count)
        qsort(disabled, part->disabled_count, sizeof *disabled, compare_numbers);
    return true;
}

/* Each stretch of a group has its run, after those of earlier groups. */
static void lay_run(const micap_instance_source *source, const micap_draft_run *run, const char *values)
{
    const micap_stretch *stretch = micap_stretch_of(source->grouping, run->entity);
    size_t size_bytes = source->part->type->size_bytes;
    for (uint32_t done = 0, count; done < run->count; done += count, ++stretch) {
        count = stretch[1].first - stretch->first; /* runs hold whole stretches */
        source->bench->pieces[source->bench->group_firsts[stretch->group] + stretch->position] =
            (micap_value_run){values + done * size_bytes, count};
    }
}

static void lay_repeated_run(const micap_instance_source *source, const micap_draft_run *run, const char *values,
                             uint32_t *next)
{
    for (uint32_t i = 0; i < run->count; ++i)
        source->bench->pieces[next[micap_place_of(source->grouping, run->entity + i)]++] =
            (micap_value_run){values + (size_t)i * source->part->type->size_bytes, 1};
}

/* Lays out where everything is taken from. */
static bool begin(micap_instance_source *source)
{
    micap_instance_bench *bench = source->bench;
    const micap_draft_part *part = source->part;
    bool is_single = part->role == MICAP_ROLE_SINGLETON;
    uint32_t *next = part->repeats ? make_firsts(source) : NULL;
    uint32_t piece_count =
        is_single || part->repeats ? part->count : note_firsts(source, source->grouping->group_stretches);
    bool fine = (next || !part->repeats) &&
                (MICAP_RESERVE(&source->draft->memory, bench->pieces, &bench->piece_capacity, piece_count) ||
                 micap_draft_refuse_memory(source->draft));
    const char *own = part->data;
    for (uint32_t i = 0; fine && i < part->run_count; ++i) {
        const micap_draft_run *run = &part->runs[i];
        const char *values = run->values ? run->values : own;
        own = run->values ? NULL : own + (size_t)run->count * part->type->size_bytes;
        if (is_single)
            bench->pieces[0] = (micap_value_run){values, 1};
        else if (next)
            lay_repeated_run(source, run, values, next);
        else
            lay_run(source, run, values);
    }
    release_firsts(source, next);
    source->is_begun = fine;
    return fine;
}

/* A reference becomes a place in the file. */
static bool place_reference(mica_entity *entity, void *context)
{
    const micap_instance_source *source = context;
    mica_draft *draft = source->draft;
    uint32_t index = mica_is_nil(*entity) ? MICAP_NONE /* whatever its index: a file has one way to write that */
                     : draft->find        ? draft->find(draft->find_context, *entity)
                                          : entity->index;
    if (index != MICAP_NONE && index >= draft->entity_count)
        return micap_draft_refuse(draft, MICA_ERROR_INVALID,
                                  "component %.80s refers to entity %u, which does not exist", source->part->name,
                                  index);
    *entity = index == MICAP_NONE ? mica_nil() : (mica_entity){micap_place_of(source->grouping, index), 1};
    return true;
}

static bool place_references(micap_instance_source *source, char *instances, uint32_t count)
{
    MICAP_EACH_REFERENCE(&source->references, source->part->type->size_bytes, instances, count, reference)
    {
        mica_entity entity;
        memcpy(&entity, reference, sizeof entity);
        if (!place_reference(&entity, source))
            return false;
        memcpy(reference, &entity, sizeof entity);
    }
    return true;
}

bool micap_instance_source_put_contents(micap_instance_source *source, micap_bytes *bytes)
{
    const mica_type *type = source->part->type;
    bool fine = begin(source);
    source->is_begun = false; /* other sources use the bench before this one is filled in */
    for (uint32_t done = 0, i = 0; fine && done < source->part->count; done += source->bench->pieces[i++].count) {
        const micap_value_run *piece = &source->bench->pieces[i];
        for (uint32_t at = 0; fine && at < piece->count; ++at)
            fine =
                micap_contents_put(bytes, type, piece->values + (size_t)at * type->size_bytes, place_reference, source);
    }
    return fine && (!bytes->failed || micap_draft_refuse_memory(source->draft));
}

bool micap_instance_source_fill(micap_instance_source *source, char *out, uint32_t count)
{
    size_t size_bytes = source->part->type->size_bytes;
    char *at = out;
    if (!source->is_begun && !begin(source))
        return false;
    if (!source->is_whole)
        memset(out, 0, count * size_bytes);
    for (uint32_t left = count; left;) {
        const micap_value_run *piece = &source->bench->pieces[source->next_piece];
        uint32_t rest = piece->count - source->next_value, taken = rest < left ? rest : left;
        const char *values = piece->values + source->next_value * size_bytes;
        if (source->is_whole)
            memcpy(at, values, taken * size_bytes);
        else
            micap_scalars_copy(&source->scalars, (uint32_t)size_bytes, at, values, taken);
        source->next_value = taken == rest ? 0 : source->next_value + taken;
        source->next_piece += taken == rest;
        at += taken * size_bytes;
        left -= taken;
    }
    for (uint32_t i = 0; source->has_contents && i < count; ++i)
        micap_contents_omit(source->part->type, out + i * size_bytes);
    if (source->references.count && !place_references(source, out, count))
        return false;
    if (source->is_foreign)
        micap_scalars_swap(&source->scalars, (uint32_t)size_bytes, out, count);
    return true;
}
