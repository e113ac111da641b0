/* Views of a query as columns. */
#ifndef MICAP_ARROW_ARROW_BATCH_H
#define MICAP_ARROW_ARROW_BATCH_H

#include "arrow/arrow_column.h"
#include "arrow/arrow_plan.h"

/* Creates a struct with the columns of a plan, without rows. Returns NULL if memory is short. */
micap_arrow_column *micap_arrow_batch_create(const micap_arrow_plan *plan);

/* Appends the rows of a view; with `borrow`, which is only for the first one, columns may refer to the memory of the world. Returns false if
 * memory is short or there is too much. */
bool micap_arrow_batch_append(micap_arrow_column *batch, const micap_arrow_plan *plan, const mica_view *view,
                              bool borrow);

#endif
