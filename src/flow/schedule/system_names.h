/* The systems of a flow by name, and the names that systems mention in before and after: hash tables, so that adding a system takes the
 * same time however many there are. */
#ifndef MICAP_FLOW_SCHEDULE_SYSTEM_NAMES_H
#define MICAP_FLOW_SCHEDULE_SYSTEM_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct micap_flow;
struct micap_system;

/* Open addressing; capacities are powers of two, and at most half is used. */
typedef struct micap_system_names {
    struct micap_system **systems;
    uint32_t system_count; /* with those that are removed during a frame */
    uint32_t system_capacity;
    uint64_t *mentioned; /* hashes of names; 0 is empty */
    uint32_t mentioned_count;
    uint32_t mentioned_capacity;
} micap_system_names;

/* Enters a system and the names that it mentions. False if memory is short. */
bool micap_system_names_add(struct micap_flow *flow, struct micap_system *system);

/* Enters the systems of the flow again, after some were removed or replaced. */
void micap_system_names_rebuild(struct micap_flow *flow);

/* Returns NULL if no system that is not removed has the name. */
struct micap_system *micap_system_find_name(const struct micap_flow *flow, const char *name);

/* Whether a system may have the name in before or after; if not, none has. */
bool micap_system_names_mention(const struct micap_flow *flow, const struct micap_system *system);

void micap_system_names_free(struct micap_flow *flow);

#endif
