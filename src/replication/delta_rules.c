#include "replication/delta_rules.h"

#include "core/world/report.h"
#include "core/world/world.h"
#include "mica/component.h"
#include "type/describe.h"

/* What is wrong with a rule, or NULL. */
static const char *find_problem(const mica_resource_rule *rule)
{
    if (!micap_type_of(rule->component))
        return "there is no such component";
    return rule->recipe ? micap_describe_problem(rule->recipe) : NULL;
}

bool micap_delta_rules_set(mica_world *world, micap_delta_rules *rules, const mica_resource_rule *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const char *problem = find_problem(&from[i]);
        if (!problem)
            continue;
        const micap_type *type = micap_type_of(from[i].component);
        micap_fail(world, MICA_ERROR_INVALID, (mica_location){0}, "delta: rule %u (component %s): %s", i,
                   type ? type->type.name : "?", problem);
        return false;
    }
    if (!MICAP_RESERVE(&world->memory, rules->list, &rules->capacity, count)) {
        micap_fail_memory(world, "delta");
        return false;
    }
    rules->count = count;
    if (count)
        memcpy(rules->list, from, count * sizeof *from);
    return true;
}

void micap_delta_rules_free(mica_world *world, micap_delta_rules *rules)
{
    MICAP_RELEASE_ARRAY(&world->memory, rules->list, rules->capacity);
}

const mica_resource_rule *micap_delta_rule_find(const micap_delta_rules *rules, const micap_type *type)
{
    if (!type->type.size_bytes || type->leaves || type->companion)
        return NULL;
    for (uint32_t i = 0; i < rules->count; ++i) {
        const mica_resource_rule *rule = &rules->list[i];
        if (rule->component == type->id && (micap_delta_needs_rule(type) || rule->save || rule->spawn))
            return rule;
    }
    static const mica_resource_rule without_functions = {0};
    return rules->has_default && type->type.field_count && micap_delta_needs_rule(type) ? &without_functions : NULL;
}

uint64_t micap_delta_layout_hash(const mica_type *layout, const micap_type *type)
{
    return layout == &type->type ? type->layout_hash : micap_describe_layout_hash(layout);
}
