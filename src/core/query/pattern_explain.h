/* The plan of a pattern as text: see mica_query_explain. */
#ifndef MICAP_CORE_QUERY_PATTERN_EXPLAIN_H
#define MICAP_CORE_QUERY_PATTERN_EXPLAIN_H

#include "core/query/pattern.h"
#include "type/value_write.h"

void micap_pattern_explain(const micap_pattern *pattern, micap_text_output *out);

#endif
