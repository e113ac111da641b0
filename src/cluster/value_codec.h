/* Entities as bytes: for migration, for hashes, and for the identities of new entities. Only described fields are written, in the byte
 * order of the machine, which all ranks have in common. What another rank sent is verified before it is used: it can be anything. */
#ifndef MICAP_CLUSTER_VALUE_CODEC_H
#define MICAP_CLUSTER_VALUE_CODEC_H

#include "base/byte_stream.h"
#include "cluster/identity_map.h"
#include "mica/cluster.h"

enum { MICAP_CODEC_COMPONENTS_MAX = 256 };

typedef struct micap_codec_kind {
    uint64_t hash; /* of the name */
    mica_component component;
    const mica_type *type;
    const mica_resource_rule *rule; /* or NULL */
    const mica_type *layout;        /* what its bytes describe: the recipe of its rule, or the type */
    uint32_t plain_bytes;           /* of a value that is copied as it is in memory; 0: it is not */
    bool can_arrive;
} micap_codec_kind;

/* The components of an entity, and their numbers among the kinds, by hash: those of the next one are often the same. */
typedef struct micap_codec_list {
    mica_component components[MICAP_CODEC_COMPONENTS_MAX]; /* as the world lists them */
    uint32_t component_count;
    uint32_t kinds[MICAP_CODEC_COMPONENTS_MAX]; /* without those that do not go to other ranks */
    uint32_t kind_count;
} micap_codec_list;

/* A new entity, to which an entity refers that is being written; `offset` is where its identity would be. */
typedef void (*micap_codec_new_fn)(mica_entity target, uint32_t offset, void *context);

typedef struct micap_codec {
    micap_memory *memory;
    mica_world *world;
    micap_codec_kind *kinds; /* the components of the world, by hash */
    uint32_t kind_count;
    uint32_t kind_capacity;
    mica_component *referring; /* the kinds that have entities */
    uint32_t referring_count;
    uint32_t referring_capacity;
    micap_codec_list last;                         /* of the entity that was written last */
    uint32_t expected[MICAP_CODEC_COMPONENTS_MAX]; /* kinds of the entity that was read last */
    micap_identity_map *map;                       /* of the world, for references that arrive */
    bool has_references;                           /* a component has entities, or the cluster has links */
    const mica_resource_rule *rules;               /* of components that own something */
    uint32_t rule_count;
    micap_codec_new_fn on_new; /* hears of references to entities without identity; NULL: these are a problem */
    void *on_new_context;
    micap_bytes scratch; /* for values on their way */
    char problem[200]; /* what can't be in a cluster: the first such component, or a name; empty if there is nothing */
} micap_codec;

#define MICAP_CODEC_NOT_SHARED "a component, name or child refers to an entity that is not shared"

/* NULL, or why a component can't be in a cluster without a rule. */
const char *micap_codec_problem(mica_component component);

/* Whether a value is only bytes: no text and no lists. */
bool micap_codec_is_flat(const mica_type *type);

/* Whether a value has entities. */
bool micap_codec_has_entities(const mica_type *type);

/* One value, with identities instead of entities; reading verifies, and only that if the value is NULL. Values are read into zeroed memory.
 * False if the bytes are wrong or memory is short. */
void micap_codec_put_value(micap_codec *codec, micap_bytes *bytes, const mica_type *type, const char *value);
bool micap_codec_take_value(micap_codec *codec, micap_reader *reader, const mica_type *type, char *value);

/* Copies a value, with its text and lists, to zeroed memory. False if memory is short. */
bool micap_codec_copy_value(micap_codec *codec, const mica_type *type, const char *value, char *out);

/* Frees text and lists of a value that is not in a world. */
void micap_codec_clear_value(const mica_type *type, char *value);

/* NULL, or why values of a type can't be messages: it has no data, or has entities. */
const char *micap_codec_message_problem(mica_component component);

/* Calls a function with each entity that the components of an entity refer to, its parent, and the scope of its name. */
typedef void (*micap_codec_visit_fn)(mica_entity target, void *context);
void micap_codec_visit(micap_codec *codec, mica_entity entity, micap_codec_visit_fn fn, void *context);

/* Lists components that the world got since. False if memory is short. */
bool micap_codec_update(micap_codec *codec);
void micap_codec_free(micap_codec *codec);

/* Writes what an entity is: its name, its parent and all its components except its identity. */
void micap_codec_put_entity(micap_codec *codec, micap_bytes *bytes, mica_entity entity);

/* Removes everything from an entity except its identity: it is a stand-in then. False if the world refuses it. */
bool micap_codec_strip_entity(micap_codec *codec, mica_entity entity);

/* Verifies an entity and moves the reader to its end. NULL, or what is wrong. */
const char *micap_codec_check_entity(micap_codec *codec, micap_reader *reader);

/* Creates an entity that was verified; a stand-in becomes it. Nil if memory is short, or the world refuses it: the world is unchanged then. */
mica_entity micap_codec_create_entity(micap_codec *codec, micap_reader *reader, uint64_t identity);

#endif
