/* Deltas: the bytes, and what both ends know.
 *
 *     header: magic (8), mark (4, in the order of values), format (4), base (8), version (8), byte_count (8), checksum of the rest (8)
 *     groups: kind (4), byte_count (4), and
 *       TABLE      key (8), row_count (4), column_count (4), slice_count (4), columns: name hash (8), layout hash (8);
 *                  slices: row (4), row_count (4), has entities (4), column_count (4), numbers of columns (4 each), entities, values
 *       POOL       name hash (8), layout hash (8), row_limit (4), slice_count (4), row is the owner's index (4);
 *                  slices: row (4), row_count (4), parts (4), owners, rows of the next instances (4 each), values, toggles
 *       TAGS       name hash (8), word_count (4), words (8 each)
 *       SINGLETON  name hash (8), layout hash (8), value
 *       NAMES      count (4); entity (8), scope (8), length (4), text
 *       LINKS      page (4), parent_count (4); parent (8), child_count (4), children (8 each)
 *       STATE      record_count (4); kind (4), is sent (4), and if so: byte_count (4), bytes: see core/state/state_records.h
 *
 * The values of a component with a rule are recipes, with the layout hash of the recipe. Values with text or lists have zero there; after them: byte_count (4), text and lists of each row, as in
 * type/value_bytes.h.
 *
 * A table is an archetype of the sender's, known by the hash of its components' names. Words are little-endian; values and handles are in the
 * order that the mark has, usually that of the sender's machine. A receiver with the other order converts a copy while it reads. */
#ifndef MICAP_REPLICATION_DELTA_H
#define MICAP_REPLICATION_DELTA_H

#include "core/world/world.h"
#include "mica/delta.h"
#include "base/byte_stream.h"

#define MICAP_DELTA_MAGIC "MDLT\r\n\x1a\n"

enum {
    MICAP_DELTA_FORMAT = 2,
    MICAP_DELTA_MARK = 0x0A0B0C0D,
    MICAP_DELTA_HEADER_BYTES = 48,
    MICAP_DELTA_CHECKSUM_AT = 40,
    MICAP_DELTA_LINK_PAGE = 1024, /* parents of neighbouring indices that are sent together */
};

typedef enum micap_delta_kind {
    MICAP_DELTA_TABLE = 1,
    MICAP_DELTA_POOL,
    MICAP_DELTA_TAGS,
    MICAP_DELTA_SINGLETON,
    MICAP_DELTA_NAMES,
    MICAP_DELTA_LINKS,
    MICAP_DELTA_STATE,
} micap_delta_kind;

/* Parts of a slice of a pool. A pool for many instances has next: the row of the next instance of the same entity, or UINT32_MAX. */
enum {
    MICAP_DELTA_OWNERS = 1,
    MICAP_DELTA_VALUES = 2,
    MICAP_DELTA_TOGGLES = 4,
    MICAP_DELTA_NEXT = 8,
    MICAP_DELTA_PARTS = 15,
};

#endif
