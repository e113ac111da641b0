#include "cluster/rule_codec.h"

#include "mica/component.h"

#include <stdio.h>

const mica_resource_rule *micap_codec_rule_find(const micap_codec *codec, mica_component component)
{
    for (uint32_t i = 0; i < codec->rule_count; ++i)
        if (codec->rules[i].component == component)
            return &codec->rules[i];
    return NULL;
}

const mica_type *micap_codec_rule_layout(const mica_resource_rule *rule)
{
    return rule->recipe ? rule->recipe : mica_component_type(rule->component);
}

static const char *find_problem(const mica_resource_rule *rule)
{
    const mica_type *type = mica_component_type(rule->component);
    if (!type || type->relation || type->split || !type->size_bytes || type->storage == MICA_STORAGE_SINGLETON)
        return "its .rules must be for components with data, not for relations, singletons and split components";
    if (!micap_codec_rule_layout(rule)->field_count || micap_codec_has_entities(micap_codec_rule_layout(rule)))
        return "its .rules must have described fields, without entities";
    return rule->recipe && (!rule->save || !rule->spawn) ? "its .rules with a recipe must have both functions" : NULL;
}

const char *micap_cluster_rules_copy(mica_cluster *cluster, const mica_cluster_def *def)
{
    if (!def->rules && def->rule_count)
        return "its .rules are NULL";
    for (uint32_t i = 0; i < def->rule_count; ++i) {
        const char *problem = find_problem(&def->rules[i]);
        if (problem)
            return problem;
    }
    mica_resource_rule *rules =
        micap_allocate(&cluster->memory, def->rule_count * sizeof *rules, MICAP_ARRAY_ALIGNMENT);
    if (!rules)
        return "out of memory";
    if (def->rule_count)
        memcpy(rules, def->rules, def->rule_count * sizeof *rules);
    cluster->rules = rules;
    cluster->codec.rules = rules;
    cluster->codec.rule_count = def->rule_count;
    return NULL;
}

void micap_cluster_rules_free(mica_cluster *cluster)
{
    MICAP_RELEASE_ARRAY(&cluster->memory, cluster->rules, cluster->codec.rule_count);
}

bool micap_codec_rule_put(micap_codec *codec, micap_bytes *bytes, const mica_resource_rule *rule, mica_entity entity,
                          const void *value)
{
    const mica_type *layout = micap_codec_rule_layout(rule);
    if (!rule->save) {
        micap_codec_put_value(codec, bytes, layout, value);
        return true;
    }
    char *instance = micap_allocate_zeroed(codec->memory, layout->size_bytes, MICAP_CACHE_LINE);
    if (!instance)
        return false;
    bool done = rule->save(codec->world, entity, value, instance, rule->context);
    if (!done && !codec->problem[0])
        snprintf(codec->problem, sizeof codec->problem, "the rule of the component %.60s can't save a value",
                 mica_component_type(rule->component)->name);
    micap_codec_put_value(codec, bytes, layout, instance);
    micap_codec_clear_value(layout, instance);
    micap_release(codec->memory, instance, layout->size_bytes, MICAP_CACHE_LINE);
    return true;
}

bool micap_codec_rule_take(micap_codec *codec, micap_reader *reader, const mica_resource_rule *rule, mica_entity entity,
                           void *value)
{
    const mica_type *layout = micap_codec_rule_layout(rule);
    if (!rule->spawn)
        return micap_codec_take_value(codec, reader, layout, value);
    char *instance = micap_allocate_zeroed(codec->memory, layout->size_bytes, MICAP_CACHE_LINE);
    if (!instance)
        return false;
    mica_spawn_run run = {.world = codec->world,
                          .component = rule->component,
                          .count = 1,
                          .entities = &entity,
                          .instances = instance,
                          .values = value};
    bool done = micap_codec_take_value(codec, reader, layout, instance) && rule->spawn(&run, rule->context);
    micap_codec_clear_value(layout, instance);
    micap_release(codec->memory, instance, layout->size_bytes, MICAP_CACHE_LINE);
    return done;
}
