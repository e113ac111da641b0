/* Conditions: terms that compare a field of a component with a key. They are part of patterns: see pattern.h. */
#ifndef MICAP_CORE_QUERY_CONDITION_H
#define MICAP_CORE_QUERY_CONDITION_H

#include "core/query/field_source.h"
#include "mica/pool.h"
#include "mica/query.h"

/* The words that a value must be between, both included; or must not, if it is inverted. */
typedef struct micap_condition {
    micap_field_source source;
    mica_component component;
    uint32_t field_offset; /* in the value of the component */
    const mica_pool *pool; /* NULL: in chunks */
    uint64_t low, high;
    const char *text; /* of a field of text: what it is compared with, which the query has; else NULL */
    mica_comparison compare;
    bool is_inverted;
    bool is_never; /* no value is possible */
    uint8_t node;  /* of the pattern */
    uint8_t term;
} micap_condition;

/* What is wrong with the condition of a term, or NULL. The note is room for the text. */
const char *micap_condition_problem(mica_world *world, const mica_term *term, char note[MICAP_INDEX_NOTE]);

/* Fills in the condition of a term that has no problem; false if memory is short. */
bool micap_condition_init(mica_world *world, const mica_term *term, micap_condition *out);

/* Whether it holds for an entity that has the component. */
bool micap_condition_holds(const micap_condition *condition, const mica_world *world, mica_entity entity);

#endif
