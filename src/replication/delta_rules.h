/* Components that are sent by a rule (mica/rule.h): those with functions, and others that have a rule with functions. */
#ifndef MICAP_REPLICATION_DELTA_RULES_H
#define MICAP_REPLICATION_DELTA_RULES_H

#include "mica/rule.h"
#include "type/each_value.h"
#include "type/type.h"

typedef struct micap_delta_rules {
    mica_resource_rule *list;
    uint32_t count;
    uint32_t capacity;
    bool has_default; /* of components without a rule that need one, the described fields are sent */
} micap_delta_rules;

/* Copies rules. False with a report if one is invalid or memory is short. */
bool micap_delta_rules_set(mica_world *world, micap_delta_rules *rules, const mica_resource_rule *from, uint32_t count);
void micap_delta_rules_free(mica_world *world, micap_delta_rules *rules);

/* Whether a component has functions of the program: new values are made by them. */
static inline bool micap_delta_has_functions(const micap_type *type)
{
    return !type->trivial && !type->owns;
}

/* Whether a component can only be sent by a rule: its values own something, or have no described fields. What a construct function makes is
 * bytes, if there is no other function. */
static inline bool micap_delta_needs_rule(const micap_type *type)
{
    return (!type->owns && micap_type_has_life(&type->type)) ||
           (type->type.size_bytes && !type->type.field_count && !type->companion);
}

const mica_resource_rule *micap_delta_rule_find(const micap_delta_rules *rules, const micap_type *type);

/* The rule that a component is sent by, or NULL: its values are sent as they are. */
static inline const mica_resource_rule *micap_delta_rule_of(const micap_delta_rules *rules, const micap_type *type)
{
    return rules->count || rules->has_default ? micap_delta_rule_find(rules, type) : NULL;
}

/* Whether a component can be sent at all: its values are bytes, text and lists, or there is a rule. Parents are sent by themselves. */
static inline bool micap_delta_can_carry(const micap_delta_rules *rules, const micap_type *type)
{
    return !type->type.parents && (!micap_delta_needs_rule(type) || micap_delta_rule_of(rules, type));
}

/* How values lie in a delta, for a sender and for a replica. */
static inline const mica_type *micap_delta_saved_layout(const mica_resource_rule *rule, const micap_type *type)
{
    return rule && rule->save && rule->recipe ? rule->recipe : &type->type;
}

static inline const mica_type *micap_delta_spawned_layout(const mica_resource_rule *rule, const micap_type *type)
{
    return rule && rule->spawn && rule->recipe ? rule->recipe : &type->type;
}

/* The hash of that layout. */
uint64_t micap_delta_layout_hash(const mica_type *layout, const micap_type *type);

#endif
