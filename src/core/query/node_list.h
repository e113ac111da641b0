/* The entities of a node that has conditions, if an index finds them, in the order in which a loop over rows visits them: results don't
 * depend on the index. */
#ifndef MICAP_CORE_QUERY_NODE_LIST_H
#define MICAP_CORE_QUERY_NODE_LIST_H

#include "core/query/pattern.h"

typedef struct micap_listed_place {
    uint32_t archetype;
    uint32_t chunk;
    uint32_t row;
    mica_entity entity;
} micap_listed_place;

typedef enum micap_list_state { MICAP_LIST_UNKNOWN, MICAP_LIST_NONE, MICAP_LIST_FILLED } micap_list_state;

typedef struct micap_node_list {
    micap_listed_place *places;
    uint32_t count;
    uint32_t capacity;
    micap_list_state state;
} micap_node_list;

/* Lists the entities of a node, once for each search. False if no index has them, or memory is short: rows are visited then. Some of
 * those that are listed need not match. */
bool micap_node_list_fill(micap_node_list *list, const micap_pattern *pattern, uint32_t node);

#endif
