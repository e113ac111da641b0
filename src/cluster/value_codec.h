/* Entities as bytes: for migration, for hashes, and for the identities of new entities. Only described fields are written, in the byte
 * order of the machine, which all ranks have in common. What another rank sent is verified before it is used: it can be anything. */
#ifndef MICAP_CLUSTER_VALUE_CODEC_H
#define MICAP_CLUSTER_VALUE_CODEC_H

#include "base/byte_stream.h"
#include "cluster/identity_map.h"
#include "mica/cluster.h"

typedef struct micap_codec_kind {
    uint64_t hash; /* of the name */
    mica_component component;
} micap_codec_kind;

typedef struct micap_codec {
    micap_memory *memory;
    mica_world *world;
    micap_codec_kind *kinds; /* the components of the world, by hash */
    uint32_t kind_count;
    uint32_t kind_capacity;
    micap_identity_map *map; /* of the world, for references that arrive */
    bool has_references;     /* a component has entities */
    micap_bytes scratch;     /* for values on their way */
    char problem[200]; /* what can't be in a cluster: the first such component, or a name; empty if there is nothing */
} micap_codec;

/* NULL, or why a component can't be in a cluster. */
const char *micap_codec_problem(mica_component component);

/* Whether a value is only bytes: no text and no lists. */
bool micap_codec_is_flat(const mica_type *type);

/* Whether a value has entities. */
bool micap_codec_has_entities(const mica_type *type);

/* One value, with identities instead of entities; reading verifies, and only that if the value is NULL. Values are read into zeroed memory.
 * False if the bytes are wrong or memory is short. */
void micap_codec_put_value(micap_codec *codec, micap_bytes *bytes, const mica_type *type, const char *value);
bool micap_codec_take_value(micap_codec *codec, micap_reader *reader, const mica_type *type, char *value);

/* Frees text and lists of a value that is not in a world. */
void micap_codec_clear_value(const mica_type *type, char *value);

/* NULL, or why values of a type can't be messages: it has no data, or has entities. */
const char *micap_codec_message_problem(mica_component component);

/* Calls a function with each entity that the components of an entity refer to. */
typedef void (*micap_codec_visit_fn)(mica_entity target, void *context);
void micap_codec_visit(micap_codec *codec, mica_entity entity, micap_codec_visit_fn fn, void *context);

/* Lists components that the world got since. False if memory is short. */
bool micap_codec_update(micap_codec *codec);
void micap_codec_free(micap_codec *codec);

/* Writes what an entity is: its name and all its components except its identity. */
void micap_codec_put_entity(micap_codec *codec, micap_bytes *bytes, mica_entity entity);

/* Removes everything from an entity except its identity: it is a stand-in then. False if the world refuses it. */
bool micap_codec_strip_entity(micap_codec *codec, mica_entity entity);

/* Verifies an entity and moves the reader to its end. NULL, or what is wrong. */
const char *micap_codec_check_entity(micap_codec *codec, micap_reader *reader);

/* Creates an entity that was verified; a stand-in becomes it. Nil if memory is short, or the world refuses it: the world is unchanged then. */
mica_entity micap_codec_create_entity(micap_codec *codec, micap_reader *reader, uint64_t identity);

#endif
