/* A monitor, and the set of entities that it was told of: it must be what a query with the same terms finds. */
#ifndef MICA_TESTS_SUPPORT_MATCH_SET_H
#define MICA_TESTS_SUPPORT_MATCH_SET_H

#include "mica/observer.h"

#include <stdlib.h>
#include <string.h>

typedef struct match_set {
    mica_observer observer; /* none: the set is not in use */
    mica_query *query;
    mica_entity *matches; /* by index; nil if none matches */
    uint32_t capacity;
    bool is_wrong; /* it was told something that it knew */
} match_set;

static inline void match_set_put(match_set *set, mica_entity entity, bool matches)
{
    if (entity.index >= set->capacity) {
        uint32_t capacity = entity.index * 2 + 64;
        set->matches = realloc(set->matches, capacity * sizeof *set->matches);
        if (!set->matches)
            abort();
        memset(set->matches + set->capacity, 0, (capacity - set->capacity) * sizeof *set->matches);
        set->capacity = capacity;
    }
    mica_entity *place = &set->matches[entity.index];
    set->is_wrong |= mica_same(*place, entity) == matches;
    *place = matches ? entity : mica_nil();
}

static inline void match_set_see(const mica_event *seen)
{
    for (uint32_t i = 0; i < seen->count; ++i)
        match_set_put(seen->context, seen->entities[i], seen->kind == MICA_EVENT_MATCH);
}

/* The set is what a query finds now. */
static inline void match_set_reset(match_set *set)
{
    if (set->capacity)
        memset(set->matches, 0, set->capacity * sizeof *set->matches);
    for (mica_view view = mica_query_begin(set->query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            match_set_put(set, view.entities[i], true);
    set->is_wrong = false;
}

/* The monitor is told first what matches already. False with a report if the terms are invalid or memory runs out. The set stays where it is. */
static inline bool match_set_open(match_set *set, mica_world *world, const mica_term *terms, uint32_t term_count)
{
    static const mica_event_kind events[] = {MICA_EVENT_MATCH, MICA_EVENT_UNMATCH};
    *set = (match_set){0};
    set->query = mica_query_create(world, &(mica_query_def){.terms = terms, .term_count = term_count});
    if (!set->query)
        return false;
    set->observer = mica_observer_add(world, &(mica_observer_def){.events = events,
                                                                  .event_count = 2,
                                                                  .terms = terms,
                                                                  .term_count = term_count,
                                                                  .fn = match_set_see,
                                                                  .context = set,
                                                                  .existing = true});
    if (!set->observer.id)
        mica_query_destroy(set->query);
    return set->observer.id != 0;
}

/* Whether the monitor was told of exactly the entities that match. */
static inline bool match_set_is_right(const match_set *set)
{
    uint64_t found = 0, told = 0;
    bool are_known = true;
    for (mica_view view = mica_query_begin(set->query); mica_view_next(&view); found += view.count)
        for (uint32_t i = 0; i < view.count; ++i)
            are_known &= view.entities[i].index < set->capacity &&
                         mica_same(set->matches[view.entities[i].index], view.entities[i]);
    for (uint32_t i = 0; i < set->capacity; ++i)
        told += !mica_is_nil(set->matches[i]);
    return are_known && found == told && !set->is_wrong;
}

/* The world may have ended: then it is NULL. */
static inline void match_set_close(match_set *set, mica_world *world)
{
    if (world && set->observer.id) {
        mica_observer_remove(world, set->observer);
        mica_query_destroy(set->query);
    }
    free(set->matches);
    *set = (match_set){0};
}

#endif
