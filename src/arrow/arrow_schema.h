/* Schemas of the Arrow C data interface. */
#ifndef MICAP_ARROW_ARROW_SCHEMA_H
#define MICAP_ARROW_ARROW_SCHEMA_H

#include "arrow/arrow_plan.h"

/* Describes the columns as a struct. Returns false if memory is short. */
bool micap_arrow_schema_make(const micap_arrow_plan *plan, struct ArrowSchema *out_schema);

#endif
