/* Sorting entities into groups of equal component sets. Sets are nodes of a tree that grows by one component at a time,
 * in rank order: entities walk down it as their instances come by, and end at their set. Those that no run of any component
 * tells apart go together. Exact, and linear in runs, plus one bit per entity. */
#include "base/assert.h"
#include "base/hash.h"
#include "resource/save/file_groups.h"

#include <string.h>

static uint32_t *numbers(mica_draft *draft, uint32_t count)
{
    return micap_allocate_zeroed(&draft->memory, count * sizeof(uint32_t), MICAP_ARRAY_ALIGNMENT);
}

static void release_numbers(mica_draft *draft, uint32_t *array, uint32_t count)
{
    micap_release(&draft->memory, array, count * sizeof(uint32_t), MICAP_ARRAY_ALIGNMENT);
}

/* By spawn order, then by name: the same however the draft was made. */
static bool comes_before(const micap_draft_part *a, const micap_draft_part *b)
{
    return a->spawn_order != b->spawn_order ? a->spawn_order < b->spawn_order : strcmp(a->name, b->name) < 0;
}

static void rank_parts(micap_grouping *grouping, const mica_draft *draft)
{
    for (uint32_t i = 0; i < draft->part_count; ++i) {
        uint32_t at = i;
        for (; at && comes_before(&draft->parts[i], &draft->parts[grouping->rank[at - 1]]); --at)
            grouping->rank[at] = grouping->rank[at - 1];
        grouping->rank[at] = i;
    }
}

static bool grow_table(micap_grouping *grouping, mica_draft *draft)
{
    if ((grouping->set_count + 1) * 2 <= grouping->table_capacity)
        return true;
    uint32_t grown = grouping->table_capacity ? grouping->table_capacity * 2 : 64;
    uint32_t *table = numbers(draft, grown);
    if (!table)
        return false;
    for (uint32_t set = 1; set < grouping->set_count; ++set) {
        uint64_t at = micap_hash_mix((uint64_t)grouping->sets[set].without << 32 | grouping->sets[set].component);
        while (table[at & (grown - 1)])
            ++at;
        table[at & (grown - 1)] = set;
    }
    release_numbers(draft, grouping->table, grouping->table_capacity);
    grouping->table = table;
    grouping->table_capacity = grown;
    return true;
}

/* The set with one component more; MICAP_NONE when memory is short. */
static uint32_t extend(micap_grouping *grouping, mica_draft *draft, uint32_t without, uint32_t component)
{
    if (!grow_table(grouping, draft) ||
        !MICAP_RESERVE(&draft->memory, grouping->sets, &grouping->set_capacity, (uint64_t)grouping->set_count + 1))
        return MICAP_NONE;
    uint64_t at = micap_hash_mix((uint64_t)without << 32 | component);
    for (;; ++at) {
        uint32_t set = grouping->table[at & (grouping->table_capacity - 1)];
        if (!set)
            break;
        if (grouping->sets[set].without == without && grouping->sets[set].component == component)
            return set;
    }
    grouping->table[at & (grouping->table_capacity - 1)] = grouping->set_count;
    grouping->sets[grouping->set_count] =
        (struct micap_set_node){without, component, grouping->sets[without].depth + 1, MICAP_NONE};
    return grouping->set_count++;
}

static void mark(micap_grouping *grouping, uint32_t entity)
{
    grouping->begins[entity / 64] |= (uint64_t)1 << entity % 64;
}

/* A stretch begins and ends wherever a run of a component does. */
static bool find_stretches(micap_grouping *grouping, mica_draft *draft)
{
    mark(grouping, 0);
    for (uint32_t i = 0; i < draft->part_count; ++i) {
        const micap_draft_part *part = &draft->parts[i];
        for (uint32_t run = 0; part->role != MICAP_ROLE_SINGLETON && run < part->run_count; ++run) {
            mark(grouping, part->runs[run].entity);
            mark(grouping, part->runs[run].entity + part->runs[run].count);
        }
    }
    mark(grouping, draft->entity_count);
    uint32_t count = 0;
    for (uint32_t word = 0; word < grouping->word_count; ++word) {
        grouping->begun[word] = count;
        count += (uint32_t)MICAP_ONE_BITS(grouping->begins[word]);
    }
    grouping->stretches = micap_allocate_zeroed(&draft->memory, count * sizeof(micap_stretch), MICAP_ARRAY_ALIGNMENT);
    if (!grouping->stretches)
        return micap_draft_refuse_memory(draft);
    grouping->stretch_count = count - 1;
    micap_stretch *at = grouping->stretches;
    for (uint32_t word = 0; word < grouping->word_count; ++word)
        for (uint64_t bits = grouping->begins[word]; bits; bits &= bits - 1)
            at++->first = word * 64 + (uint32_t)MICAP_TRAILING_ZEROS(bits);
    return true;
}

static uint32_t stretch_index(const micap_grouping *grouping, uint32_t entity)
{
    return (uint32_t)(micap_stretch_of(grouping, entity) - grouping->stretches);
}

/* Which components some entity has several of: these are not columns of groups. */
static bool find_repeats(micap_grouping *grouping, mica_draft *draft)
{
    for (uint32_t i = 0; i < draft->part_count; ++i) {
        micap_draft_part *part = &draft->parts[i];
        part->repeats = false;
        for (uint32_t run = 0; part->role != MICAP_ROLE_SINGLETON && run < part->run_count; ++run) {
            uint32_t end = stretch_index(grouping, part->runs[run].entity + part->runs[run].count);
            for (uint32_t at = stretch_index(grouping, part->runs[run].entity); at < end; ++at) {
                uint32_t *stamp = &grouping->stretches[at].location; /* not in use yet */
                part->repeats = part->repeats || *stamp == i + 1;
                *stamp = i + 1;
            }
        }
        if (part->repeats && part->role == MICAP_ROLE_TAG)
            return micap_draft_refuse(draft, MICA_ERROR_EXISTS, "an entity has the tag %.80s twice", part->name);
    }
    return true;
}

static bool extend_stretches(micap_grouping *grouping, mica_draft *draft, uint32_t rank)
{
    const micap_draft_part *part = &draft->parts[grouping->rank[rank]];
    uint32_t without = MICAP_NONE, with = MICAP_NONE; /* mostly those of the one before */
    for (uint32_t run = 0; run < part->run_count; ++run) {
        uint32_t end = stretch_index(grouping, part->runs[run].entity + part->runs[run].count);
        for (uint32_t at = stretch_index(grouping, part->runs[run].entity); at < end; ++at) {
            uint32_t *set = &grouping->stretches[at].group;
            if (*set != without) {
                without = *set;
                with = extend(grouping, draft, without, rank);
            }
            if (with == MICAP_NONE)
                return micap_draft_refuse_memory(draft);
            *set = with;
        }
    }
    return true;
}

static bool find_sets(micap_grouping *grouping, mica_draft *draft)
{
    if (!MICAP_RESERVE(&draft->memory, grouping->sets, &grouping->set_capacity, 1))
        return micap_draft_refuse_memory(draft);
    grouping->sets[0] = (struct micap_set_node){MICAP_NONE, MICAP_NONE, 0, MICAP_NONE};
    grouping->set_count = 1;
    for (uint32_t rank = 0; rank < draft->part_count; ++rank) {
        const micap_draft_part *part = &draft->parts[grouping->rank[rank]];
        if (!part->repeats && part->role != MICAP_ROLE_SINGLETON && !extend_stretches(grouping, draft, rank))
            return false;
    }
    return true;
}

/* Groups in order of first appearance, entities within a group as they came. */
static bool number_entities(micap_grouping *grouping, mica_draft *draft)
{
    uint32_t set_count = grouping->set_count;
    grouping->group_first = numbers(draft, set_count);
    grouping->group_size = numbers(draft, set_count);
    grouping->group_set = numbers(draft, set_count);
    grouping->group_stretches = numbers(draft, set_count);
    if (!grouping->group_first || !grouping->group_size || !grouping->group_set || !grouping->group_stretches)
        return micap_draft_refuse_memory(draft);
    for (uint32_t i = 0; i < grouping->stretch_count; ++i) {
        micap_stretch *stretch = &grouping->stretches[i];
        struct micap_set_node *set = &grouping->sets[stretch->group];
        if (set->group == MICAP_NONE) {
            grouping->group_set[grouping->group_count] = stretch->group;
            set->group = grouping->group_count++;
        }
        stretch->group = set->group;
        stretch->position = grouping->group_stretches[set->group]++;
        grouping->group_size[set->group] += stretch[1].first - stretch->first;
    }
    for (uint32_t i = 1; i < grouping->group_count; ++i)
        grouping->group_first[i] = grouping->group_first[i - 1] + grouping->group_size[i - 1];
    grouping->in_order = true;
    for (uint32_t i = 0; i < grouping->stretch_count; ++i) {
        micap_stretch *stretch = &grouping->stretches[i];
        stretch->location = grouping->group_first[stretch->group];
        grouping->group_first[stretch->group] += stretch[1].first - stretch->first;
        grouping->in_order = grouping->in_order && stretch->location == stretch->first;
    }
    for (uint32_t i = 0; i < grouping->group_count; ++i)
        grouping->group_first[i] -= grouping->group_size[i];
    return true;
}

bool micap_grouping_make(micap_grouping *grouping, mica_draft *draft)
{
    *grouping = (micap_grouping){.word_count = draft->entity_count / 64 + 1};
    grouping->rank = numbers(draft, draft->part_count);
    grouping->begins =
        micap_allocate_zeroed(&draft->memory, grouping->word_count * sizeof(uint64_t), MICAP_ARRAY_ALIGNMENT);
    grouping->begun = numbers(draft, grouping->word_count);
    if (!grouping->rank || !grouping->begins || !grouping->begun)
        return micap_draft_refuse_memory(draft);
    rank_parts(grouping, draft);
    return find_stretches(grouping, draft) && find_repeats(grouping, draft) && find_sets(grouping, draft) &&
           number_entities(grouping, draft);
}

void micap_grouping_free(micap_grouping *grouping, mica_draft *draft)
{
    release_numbers(draft, grouping->rank, draft->part_count);
    micap_release(&draft->memory, grouping->begins, grouping->word_count * sizeof(uint64_t), MICAP_ARRAY_ALIGNMENT);
    release_numbers(draft, grouping->begun, grouping->word_count);
    micap_release(&draft->memory, grouping->stretches, (grouping->stretch_count + 1) * sizeof(micap_stretch),
                  MICAP_ARRAY_ALIGNMENT);
    release_numbers(draft, grouping->group_first, grouping->set_count);
    release_numbers(draft, grouping->group_size, grouping->set_count);
    release_numbers(draft, grouping->group_set, grouping->set_count);
    release_numbers(draft, grouping->group_stretches, grouping->set_count);
    release_numbers(draft, grouping->table, grouping->table_capacity);
    MICAP_RELEASE_ARRAY(&draft->memory, grouping->sets, grouping->set_capacity);
}
