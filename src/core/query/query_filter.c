#include "core/query/query_filter.h"

/* A filter with its column found. */
typedef struct micap_test {
    micap_filter_kind kind;
    union {
        const uint8_t *enabled;
        const mica_version *versions; /* for ADDED and CHANGED_ROWS */
        const micap_type *split;      /* for CHANGED_SPLIT */
    } in;
    uint32_t column; /* for CHANGED and CHANGED_ROWS */
} test;

static uint32_t resolve(const mica_query *query, const micap_chunk *chunk, test *tests)
{
    for (uint32_t i = 0; i < query->filter_count; ++i) {
        const micap_filter *filter = &query->filters[i];
        uint32_t column = micap_archetype_column(chunk->archetype, filter->component);
        tests[i].kind = filter->kind;
        tests[i].column = column;
        switch (filter->kind) {
        case MICAP_FILTER_ENABLED:
        case MICAP_FILTER_DISABLED: tests[i].in.enabled = micap_chunk_column(chunk, column); break;
        case MICAP_FILTER_ADDED:
        case MICAP_FILTER_CHANGED_ROWS: tests[i].in.versions = micap_chunk_column(chunk, column); break;
        case MICAP_FILTER_CHANGED: break;
        case MICAP_FILTER_CHANGED_SPLIT: tests[i].in.split = micap_type_of(filter->component); break;
        }
    }
    return query->filter_count;
}

static bool split_changed(const micap_type *split, const micap_chunk *chunk, const mica_version *stamps,
                          mica_version since)
{
    for (uint32_t i = 0; i < split->leaf_count; ++i)
        if (stamps[1 + micap_archetype_column(chunk->archetype, split->leaves[i].component)] > since)
            return true;
    return false;
}

static bool slice_passes(const test *tests, uint32_t count, const micap_chunk *chunk, uint32_t row, mica_version since)
{
    const mica_version *stamps = micap_chunk_stamps(chunk, row);
    if (stamps[0] > since)
        return true;
    for (uint32_t i = 0; i < count; ++i) {
        bool by_column = tests[i].kind == MICAP_FILTER_CHANGED || tests[i].kind == MICAP_FILTER_CHANGED_ROWS;
        if (by_column && stamps[1 + tests[i].column] <= since)
            return false;
        if (tests[i].kind == MICAP_FILTER_CHANGED_SPLIT && !split_changed(tests[i].in.split, chunk, stamps, since))
            return false;
    }
    return true;
}

static bool row_passes(const test *tests, uint32_t count, uint32_t row, mica_version since)
{
    for (uint32_t i = 0; i < count; ++i) {
        switch (tests[i].kind) {
        case MICAP_FILTER_ENABLED:
            if (!tests[i].in.enabled[row])
                return false;
            break;
        case MICAP_FILTER_DISABLED:
            if (tests[i].in.enabled[row])
                return false;
            break;
        case MICAP_FILTER_ADDED:
        case MICAP_FILTER_CHANGED_ROWS:
            if (tests[i].in.versions[row] <= since)
                return false;
            break;
        case MICAP_FILTER_CHANGED:
        case MICAP_FILTER_CHANGED_SPLIT: break;
        }
    }
    return true;
}

bool micap_query_row_passes(const mica_query *query, const micap_chunk *chunk, uint32_t row, mica_version since)
{
    test tests[MICAP_FILTERS_MAX];
    uint32_t count = resolve(query, chunk, tests);
    return slice_passes(tests, count, chunk, row, since) && row_passes(tests, count, row, since);
}

static bool looks_at_rows(const test *tests, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        if (tests[i].kind < MICAP_FILTER_CHANGED)
            return true;
    return false;
}

static uint32_t slice_end(uint32_t row, uint32_t limit)
{
    uint32_t end = (row / MICA_SLICE_ROWS + 1) * MICA_SLICE_ROWS;
    return end < limit ? end : limit;
}

/* The usual case of one CHANGED term: nothing but a walk over stamps. */
static uint32_t next_changed_run(const micap_chunk *chunk, uint32_t column, uint32_t *row, uint32_t limit,
                                 mica_version since)
{
    if (*row >= limit)
        return 0;
    uint32_t first = *row / MICA_SLICE_ROWS, stride = chunk->stride;
    const mica_version *begin = micap_chunk_stamps(chunk, *row);
    const mica_version *end = micap_chunk_stamps(chunk, limit - 1) + stride, *stamps = begin;
    while (stamps < end && stamps[0] <= since && stamps[1 + column] <= since)
        stamps += stride;
    if (stamps == end)
        return 0;
    uint32_t skipped = (uint32_t)(stamps - begin) / stride;
    const mica_version *changed = stamps;
    while (stamps < end && (stamps[0] > since || stamps[1 + column] > since))
        stamps += stride;
    uint32_t last = (first + skipped + (uint32_t)(stamps - changed) / stride) * MICA_SLICE_ROWS;
    if (skipped)
        *row = (first + skipped) * MICA_SLICE_ROWS;
    return (last < limit ? last : limit) - *row;
}

/* The same for a tracked component: skips slices by their stamps, then compares rows. A row that was written lies in a slice that was,
 * so that the end of a run needs no stamps. */
static uint32_t next_marked_run(const micap_chunk *chunk, const test *test, uint32_t *row, uint32_t limit,
                                mica_version since)
{
    const mica_version *versions = test->in.versions;
    uint32_t begin = *row, end, last;
    for (; begin < limit; begin = end) {
        const mica_version *stamps = micap_chunk_stamps(chunk, begin);
        end = slice_end(begin, limit);
        if (stamps[0] <= since && stamps[1 + test->column] <= since)
            continue;
        while (begin < end && versions[begin] <= since)
            ++begin;
        if (begin < end)
            break;
    }
    if (begin >= limit)
        return 0;
    for (last = begin + 1; last < limit && versions[last] > since;)
        ++last;
    *row = begin;
    return last - begin;
}

/* The usual case of one toggle: a search for bytes, for which libc has the fastest loops there are. */
static uint32_t next_toggled_run(const uint8_t *toggles, bool wanted, uint32_t *row, uint32_t limit)
{
    const uint8_t *end = toggles + limit;
    if (*row >= limit)
        return 0;
    const uint8_t *begin = memchr(toggles + *row, wanted ? 1 : 0, limit - *row);
    if (!begin)
        return 0;
    const uint8_t *last = memchr(begin, wanted ? 0 : 1, (size_t)(end - begin));
    *row = (uint32_t)(begin - toggles);
    return (uint32_t)((last ? last : end) - begin);
}

uint32_t micap_query_next_run(const mica_query *query, const micap_chunk *chunk, uint32_t *row, uint32_t limit,
                              mica_version since)
{
    test tests[MICAP_FILTERS_MAX];
    uint32_t count = resolve(query, chunk, tests), begin = *row, end;
    if (count == 1 && tests[0].kind == MICAP_FILTER_CHANGED)
        return next_changed_run(chunk, tests[0].column, row, limit, since);
    if (count == 1 && tests[0].kind == MICAP_FILTER_CHANGED_ROWS)
        return next_marked_run(chunk, &tests[0], row, limit, since);
    if (count == 1 && tests[0].kind <= MICAP_FILTER_DISABLED)
        return next_toggled_run(tests[0].in.enabled, tests[0].kind == MICAP_FILTER_ENABLED, row, limit);
    bool by_row = looks_at_rows(tests, count);
    for (; begin < limit; begin = end) { /* the first row that passes */
        end = slice_end(begin, limit);
        if (!slice_passes(tests, count, chunk, begin, since))
            continue;
        while (by_row && begin < end && !row_passes(tests, count, begin, since))
            ++begin;
        if (begin < end)
            break;
    }
    if (begin >= limit)
        return 0;
    *row = begin;
    uint32_t last = begin; /* and the first after it that does not */
    while (last < limit && slice_passes(tests, count, chunk, last, since)) {
        end = slice_end(last, limit);
        while (by_row && last < end && row_passes(tests, count, last, since))
            ++last;
        if (!by_row)
            last = end;
        if (last < end)
            break;
    }
    return last - begin;
}
