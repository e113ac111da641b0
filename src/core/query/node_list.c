#include "core/query/node_list.h"

#include "core/query/condition.h"
#include "core/storage/rows.h"
#include "core/world/module.h"
#include "core/world/world.h"

#include <stdlib.h>

typedef struct filling {
    micap_node_list *list;
    mica_world *world;
    bool is_short; /* of memory */
} filling;

static void add(mica_entity entity, void *context)
{
    filling *filling = context;
    micap_node_list *list = filling->list;
    micap_row spot = micap_locate(filling->world, entity);
    if (!micap_is_row(spot) || filling->is_short)
        return;
    if (!MICAP_RESERVE(&filling->world->memory, list->places, &list->capacity, (uint64_t)list->count + 1)) {
        filling->is_short = true;
        return;
    }
    list->places[list->count++] = (micap_listed_place){spot.chunk->archetype->id, spot.chunk->index, spot.row, entity};
}

static int compare_places(const void *one, const void *two)
{
    const micap_listed_place *a = one, *b = two;
    if (a->archetype != b->archetype)
        return a->archetype < b->archetype ? -1 : 1;
    if (a->chunk != b->chunk)
        return a->chunk < b->chunk ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* What all conditions of a node leave of the values of one field. */
static micap_field_range range_of(const micap_pattern *pattern, const micap_condition *of)
{
    micap_field_range range = {of->component, of->field_offset, of->low, of->high, of->text, of->compare};
    for (uint32_t i = 0; i < pattern->condition_count; ++i) {
        const micap_condition *other = &pattern->conditions[i];
        if (other->node != of->node || other->component != of->component || other->field_offset != of->field_offset ||
            other->is_inverted)
            continue;
        range.low = other->low > range.low ? other->low : range.low;
        range.high = other->high < range.high ? other->high : range.high;
    }
    return range;
}

bool micap_node_list_fill(micap_node_list *list, const micap_pattern *pattern, uint32_t node)
{
    filling filling = {.list = list, .world = pattern->query->world};
    if (list->state != MICAP_LIST_UNKNOWN)
        return list->state == MICAP_LIST_FILLED;
    list->state = MICAP_LIST_NONE;
    /* The order of rows of pools is that of the pool with the fewest, which no index knows; and none has hidden entities. */
    const mica_query *query = pattern->nodes[node].query;
    for (uint32_t i = 0; !query->join_count && !query->with_hidden && i < pattern->condition_count; ++i) {
        const micap_condition *condition = &pattern->conditions[i];
        if (condition->node != node || condition->is_inverted)
            continue;
        micap_field_range range = range_of(pattern, condition);
        list->count = 0;
        if (micap_modules_each_between(filling.world, &range, add, &filling)) {
            if (list->count)
                qsort(list->places, list->count, sizeof *list->places, compare_places);
            list->state = filling.is_short ? MICAP_LIST_NONE : MICAP_LIST_FILLED;
            break;
        }
    }
    return list->state == MICAP_LIST_FILLED;
}
