/* Queries of the model: a loop over everything that asks each term. */
#include "model.h"

#include <stdlib.h>

/* By slice, or by entity for what is tracked. */
static model_answer stamp_answer(sample_kind kind, uint32_t stamp, uint32_t since)
{
    return stamp >= since ? MODEL_YES : samples[kind].type->track_changed ? MODEL_NO : MODEL_MAYBE;
}

static model_answer term_answer(const model_query *query, model_term term, const model_entity *entity, uint32_t which)
{
    which = term.kind == query->instances_of ? which : 0;
    bool there = entity->components >> term.kind & 1;
    bool on = there && !(entity->disabled >> term.kind & 1);
    switch (term.access) {
    case MICA_ACCESS_READ:
    case MICA_ACCESS_WRITE:
    case MICA_ACCESS_HAS: return on ? MODEL_YES : MODEL_NO;
    case MICA_ACCESS_WITHOUT: return there ? MODEL_NO : MODEL_YES;
    case MICA_ACCESS_MAYBE_READ:
    case MICA_ACCESS_MAYBE_WRITE: return MODEL_YES;
    case MICA_ACCESS_EITHER:
    case MICA_ACCESS_OR: return there ? MODEL_YES : MODEL_NO;
    case MICA_ACCESS_CHANGED:
        return on ? stamp_answer(term.kind, model_instance_at(entity, term.kind, which).changed, query->since)
                  : MODEL_NO;
    case MICA_ACCESS_ADDED:
        return on && model_instance_at(entity, term.kind, which).added >= query->since ? MODEL_YES : MODEL_NO;
    case MICA_ACCESS_DISABLED: return there && !on ? MODEL_YES : MODEL_NO;
    }
    abort();
}

static model_answer least(model_answer a, model_answer b)
{
    return a < b ? a : b;
}

static model_answer most(model_answer a, model_answer b)
{
    return a > b ? a : b;
}

/* Whether the entity is hidden, and the query does not name what hides it. */
static bool is_skipped(const model_query *query, const model_entity *entity)
{
    if (query->with_hidden || !(entity->components >> SAMPLE_HIDING_TAG & 1))
        return false;
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (query->terms[i].kind == SAMPLE_HIDING_TAG)
            return false;
    return true;
}

/* A group is an EITHER and the ORs after it: its answer is the best of its terms. All else is an "and". */
model_answer model_query_asks_instance(const model_query *query, const model_entity *entity, uint32_t which)
{
    model_answer answer = is_skipped(query, entity) ? MODEL_NO : MODEL_YES;
    for (uint32_t i = 0; i < query->term_count;) {
        model_answer group = term_answer(query, query->terms[i++], entity, which);
        for (; i < query->term_count && query->terms[i].access == MICA_ACCESS_OR; ++i)
            group = most(group, term_answer(query, query->terms[i], entity, which));
        answer = least(answer, group);
    }
    return answer;
}

/* How many of its instances a query shows; an entity counts as one where it does not show instances. */
static uint32_t shown_count(const model_query *query, const model_entity *entity)
{
    return query->instances_of ? model_instance_count(entity, query->instances_of) : 1;
}

model_answer model_query_asks(const model_query *query, const model_entity *entity)
{
    model_answer answer = MODEL_NO;
    for (uint32_t which = 0; which < shown_count(query, entity); ++which)
        answer = most(answer, model_query_asks_instance(query, entity, which));
    return answer;
}

uint32_t model_query_count(const model *model, const model_query *query, bool maybe)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->living_count; ++i) {
        const model_entity *entity = &model->slots[model->living[i].index];
        for (uint32_t which = 0; which < shown_count(query, entity); ++which)
            count += model_query_asks_instance(query, entity, which) >= (maybe ? MODEL_MAYBE : MODEL_YES);
    }
    return count;
}
