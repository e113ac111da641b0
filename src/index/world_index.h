/* The indexes of a world.
 *
 *     world_index     this file: creating, destroying; the list of a world     field_source    where the values are
 *     index_update    makes an index current                                   tracked_values  the values of the last update
 *     index_read      what functions that read check first                     sorted_keys     an index of one field, with key_table
 *     key_search      values and ranges                                        grid_*          a grid
 *     text_keys       values of a field of text as words
 *
 * An index is a function of the world, and remembers nothing else: snapshots and saves do not have it. It compares stamps with the version
 * of its last update, and everything with its copies after a snapshot was restored. */
#ifndef MICAP_INDEX_WORLD_INDEX_H
#define MICAP_INDEX_WORLD_INDEX_H

#include "core/query/field_source.h"
#include "core/storage/mark_log.h"
#include "core/world/world.h"
#include "flow/schedule/index_use.h"
#include "index/grid_cells.h"
#include "index/sorted_keys.h"
#include "index/text_keys.h"

#include <pthread.h>
#include <stdatomic.h>

struct mica_index {
    micap_index_head head; /* first: see flow/schedule/index_use.h */
    mica_index *next;      /* of the world */
    char *name;
    mica_location location;
    bool is_unique;
    bool is_grid;
    int64_t lowest_key; /* of a narrow table, for the fast path of mica_find_by: see mica_private_index */
    uint64_t key_span;
    const micap_type *type;
    mica_query *query; /* the entities that belong to it */
    micap_field_source sources[MICAP_INDEX_FIELDS_MAX];
    uint32_t source_count;

    atomic_uint loop_count;      /* of mica_grid_each that run */
    pthread_mutex_t lock;        /* for updates, which systems that start at the same time ask for */
    mica_version seen;           /* what has a stamp of at most this version is in the index */
    uint64_t update;             /* counts updates that changed something */
    mica_version failed_version; /* of the world, when memory was short for a system */
    bool must_rebuild;           /* the entries are not those of the tracked values; there are none */
    micap_mark_log marks;        /* of rows since the last update, if the component is tracked and in chunks */
    micap_tracked tracked;
    micap_index_change *changes;
    uint32_t change_count;
    uint32_t change_capacity;
    micap_text_keys texts;  /* of a field of text */
    micap_sorted_keys keys; /* of one field, */
    micap_grid grid;        /* or of a grid */
};

/* Whether mica_grid_each runs, with a report: its function can't change or destroy the index. */
bool micap_index_is_looped(const mica_index *index, const char *what);

/* Empties an index, which is rebuilt by its next update. */
void micap_index_reset(mica_index *index);

#endif
