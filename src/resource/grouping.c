/* Sorting entities into groups of equal component sets. Sets are nodes of a tree that grows by one component at a time,
 * in rank order: an entity walks down it as its instances come by, and ends at its set. Exact, and linear in instances. */
#include "base/hash.h"
#include "resource/draft.h"

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

/* Which components some entity has several of: these are not columns of groups. */
static bool find_repeats(micap_grouping *grouping, mica_draft *draft)
{
    uint32_t *last = grouping->place; /* not in use yet */
    for (uint32_t i = 0; i < draft->part_count; ++i) {
        micap_draft_part *part = &draft->parts[i];
        part->repeats = false;
        for (uint32_t instance = 0; part->role != MICAP_ROLE_SINGLETON && instance < part->count; ++instance) {
            uint32_t *stamp = &last[part->owners[instance]];
            part->repeats = part->repeats || *stamp == i + 1;
            *stamp = i + 1;
        }
        if (part->repeats && part->role == MICAP_ROLE_TAG)
            return micap_draft_refuse(draft, MICA_ERROR_EXISTS, "an entity has the tag %.80s twice", part->name);
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
        if (part->repeats || part->role == MICAP_ROLE_SINGLETON)
            continue;
        uint32_t without = MICAP_NONE, with = MICAP_NONE; /* mostly those of the one before */
        for (uint32_t i = 0; i < part->count; ++i) {
            uint32_t *set = &grouping->group[part->owners[i]];
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

/* Groups in order of first appearance, entities within a group as they came. */
static bool number_entities(micap_grouping *grouping, mica_draft *draft)
{
    uint32_t set_count = grouping->set_count;
    grouping->group_first = numbers(draft, set_count);
    grouping->group_size = numbers(draft, set_count);
    grouping->group_set = numbers(draft, set_count);
    if (!grouping->group_first || !grouping->group_size || !grouping->group_set)
        return micap_draft_refuse_memory(draft);
    for (uint32_t i = 0; i < draft->entity_count; ++i) {
        struct micap_set_node *set = &grouping->sets[grouping->group[i]];
        if (set->group == MICAP_NONE) {
            grouping->group_set[grouping->group_count] = grouping->group[i];
            set->group = grouping->group_count++;
        }
        grouping->group[i] = set->group;
        ++grouping->group_size[set->group];
    }
    for (uint32_t i = 1; i < grouping->group_count; ++i)
        grouping->group_first[i] = grouping->group_first[i - 1] + grouping->group_size[i - 1];
    for (uint32_t i = 0; i < draft->entity_count; ++i)
        grouping->place[i] = grouping->group_first[grouping->group[i]]++;
    for (uint32_t i = 0; i < grouping->group_count; ++i)
        grouping->group_first[i] -= grouping->group_size[i];
    return true;
}

bool micap_grouping_make(micap_grouping *grouping, mica_draft *draft)
{
    *grouping = (micap_grouping){0};
    grouping->rank = numbers(draft, draft->part_count);
    grouping->place = numbers(draft, draft->entity_count);
    grouping->group = numbers(draft, draft->entity_count);
    if (!grouping->rank || !grouping->place || !grouping->group)
        return micap_draft_refuse_memory(draft);
    rank_parts(grouping, draft);
    return find_repeats(grouping, draft) && find_sets(grouping, draft) && number_entities(grouping, draft);
}

void micap_grouping_free(micap_grouping *grouping, mica_draft *draft)
{
    release_numbers(draft, grouping->rank, draft->part_count);
    release_numbers(draft, grouping->place, draft->entity_count);
    release_numbers(draft, grouping->group, draft->entity_count);
    release_numbers(draft, grouping->group_first, grouping->set_count);
    release_numbers(draft, grouping->group_size, grouping->set_count);
    release_numbers(draft, grouping->group_set, grouping->set_count);
    release_numbers(draft, grouping->table, grouping->table_capacity);
    MICAP_RELEASE_ARRAY(&draft->memory, grouping->sets, grouping->set_capacity);
}
