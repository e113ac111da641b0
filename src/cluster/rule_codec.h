/* Components whose values are written and made by rules of the program (mica/rule.h), because they own something. Their bytes are those of the
 * recipe. A value is made in its place in the world, where it has been constructed. */
#ifndef MICAP_CLUSTER_RULE_CODEC_H
#define MICAP_CLUSTER_RULE_CODEC_H

#include "cluster/cluster_state.h"

/* Copies the rules of the def. NULL, or what is wrong with them. */
const char *micap_cluster_rules_copy(mica_cluster *cluster, const mica_cluster_def *def);
void micap_cluster_rules_free(mica_cluster *cluster);

/* NULL if there is none. */
const mica_resource_rule *micap_codec_rule_find(const micap_codec *codec, mica_component component);

/* What the bytes of a component describe: its recipe, or its own fields. */
const mica_type *micap_codec_rule_layout(const mica_resource_rule *rule);

/* Writes a value. False if the rule can't, or memory is short. */
bool micap_codec_rule_put(micap_codec *codec, micap_bytes *bytes, const mica_resource_rule *rule, mica_entity entity,
                          const void *value);

/* Reads bytes that were verified into a value that has been constructed. */
bool micap_codec_rule_take(micap_codec *codec, micap_reader *reader, const mica_resource_rule *rule, mica_entity entity,
                           void *value);

#endif
