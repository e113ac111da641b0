/* The columns of a query, and where a view has their values. */
#ifndef MICAP_ARROW_ARROW_PLAN_H
#define MICAP_ARROW_ARROW_PLAN_H

#include "base/memory.h"
#include "mica/arrow.h"

typedef enum micap_arrow_source_kind {
    MICAP_ARROW_SOURCE_ENTITY,
    MICAP_ARROW_SOURCE_VARIABLE,
    MICAP_ARROW_SOURCE_TAG,
    MICAP_ARROW_SOURCE_FIELD,
} micap_arrow_source_kind;

typedef struct micap_arrow_source {
    micap_arrow_source_kind kind;
    uint32_t index; /* of the term, or the number of the variable */
    mica_field field;
    bool is_nullable;
    bool repeats; /* one value for all rows of a view */
} micap_arrow_source;

typedef struct micap_arrow_plan {
    micap_memory memory;
    mica_query *query;
    mica_term terms[MICA_TERMS_MAX];
    uint32_t term_count;
    bool has_nodes; /* a term is about other entities: views have handles that the next view overwrites */
    micap_arrow_source *sources;
    uint32_t source_count;
    uint32_t source_capacity;
} micap_arrow_plan;

/* Lists the columns. The memory has been initialized. Free it in either case. */
mica_result micap_arrow_plan_make(micap_arrow_plan *plan, mica_query *query);
void micap_arrow_plan_free(micap_arrow_plan *plan);

/* Writes the name of a column, as snprintf does. */
size_t micap_arrow_column_name(const micap_arrow_plan *plan, const micap_arrow_source *source, char *out,
                               size_t capacity);

#endif
