/* The name of an entity, the scope of the name and the parent, as bytes. An entity comes as
 *
 *     name, number of components and links, identity of the scope, identity of the parent, components
 *
 * with identities only for the links that there are. A name in the scope of an entity that has died is in the scope of identity 0. */
#ifndef MICAP_CLUSTER_LINK_CODEC_H
#define MICAP_CLUSTER_LINK_CODEC_H

#include "cluster/value_codec.h"

/* On their way to an entity. */
typedef struct micap_codec_links {
    const char *name; /* without zero at its end */
    size_t name_bytes;
    bool has_scope, has_parent;
    uint64_t scope, parent;
} micap_codec_links;

/* Writes what comes before components. */
void micap_codec_put_links(micap_codec *codec, micap_bytes *bytes, mica_entity entity, uint32_t component_count);

/* Reads that, and verifies it. NULL, or what is wrong. */
const char *micap_codec_take_links(const micap_codec *codec, micap_reader *reader, micap_codec_links *out_links,
                                   uint32_t *out_component_count);

/* Links and names an entity of this rank. False if the world refuses it, or memory is short. */
bool micap_codec_set_links(micap_codec *codec, mica_entity entity, const micap_codec_links *links);

/* Takes the name and the parent from an entity. Children stay. */
void micap_codec_remove_links(const micap_codec *codec, mica_entity entity);

/* Calls a function with the parent and the scope of the name, as far as there are any. */
void micap_codec_visit_links(const micap_codec *codec, mica_entity entity, micap_codec_visit_fn fn, void *context);

/* Whether all children of an entity have the component of shared entities, or are stand-ins. */
bool micap_codec_has_shared_children(const mica_world *world, mica_entity parent, mica_component component);

#endif
