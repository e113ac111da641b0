#include "index/index_read.h"

#include "base/argument.h"
#include "core/world/access_check.h"
#include "flow/schedule/job_run.h"

/* Another system may update the index while this one reads it. */
static void check_declared(const mica_index *index)
{
#ifdef MICA_CHECKED
    const micap_running_job *job = micap_running_job_of(index->head.world);
    if (job && !micap_system_uses_index(job->system, index) &&
        job->here.allows(&job->here, index->head.component, true) != MICAP_ALLOWED)
        micap_violation(index->head.world, "reads the index %s, which is not in its .uses", index->name);
#else
    (void)index;
#endif
}

const micap_grid *micap_index_read_grid(const mica_index *grid, const char *function)
{
    if (MICAP_MISSING_IN(function, grid))
        return NULL;
    check_declared(grid);
    if (MICAP_UNLIKELY(!grid->is_grid)) {
        micap_report_argument(grid->head.world, function, "grid", "must be a grid: an index with a .cell_size");
        return NULL;
    }
    return &grid->grid;
}

const micap_sorted_keys *micap_index_read_keys(const mica_index *index, const char *function)
{
    if (MICAP_MISSING_IN(function, index))
        return NULL;
    check_declared(index);
    if (MICAP_UNLIKELY(index->is_grid)) {
        micap_report_argument(index->head.world, function, "index", "must be an index of one field, not a grid");
        return NULL;
    }
    return &index->keys;
}

uint32_t mica_index_entity_count(const mica_index *index)
{
    if (MICAP_MISSING(NULL, index))
        return 0;
    check_declared(index);
    return index->is_grid ? index->grid.count : index->keys.count;
}
