#include "cluster/link_codec.h"

#include "mica/entity.h"
#include "mica/hierarchy.h"
#include "mica/name.h"

#include <stdio.h>

enum { NAME_BYTES_MAX = 4096, HAS_SCOPE = 1, HAS_PARENT = 2, ALL_LINKS = 3 };

static void put_link(micap_codec *codec, micap_bytes *bytes, mica_entity to)
{
    micap_codec_put_value(codec, bytes, &(mica_type){.kind = MICA_KIND_ENTITY}, (const char *)&to);
}

void micap_codec_put_links(micap_codec *codec, micap_bytes *bytes, mica_entity entity, uint32_t component_count)
{
    const char *name = mica_name_get(codec->world, entity);
    mica_entity scope = mica_name_get_scope(codec->world, entity), parent = mica_parent(codec->world, entity);
    uint32_t links = (mica_is_nil(scope) ? 0 : HAS_SCOPE) | (mica_is_nil(parent) ? 0 : HAS_PARENT);
    if (links & HAS_SCOPE && !codec->has_references)
        snprintf(codec->problem, sizeof codec->problem,
                 "the name %.60s is in the scope of another entity, and the cluster has no .links", name);
    micap_bytes_put_text(bytes, name ? name : "");
    micap_bytes_put_number(bytes, component_count + links * MICAP_CODEC_COMPONENTS_MAX);
    if (links & HAS_SCOPE)
        put_link(codec, bytes, scope);
    if (links & HAS_PARENT)
        put_link(codec, bytes, parent);
}

static bool is_name(const char *text, size_t byte_count)
{
    return byte_count <= NAME_BYTES_MAX && !memchr(text, '/', byte_count) && !memchr(text, 0, byte_count);
}

const char *micap_codec_take_links(const micap_codec *codec, micap_reader *reader, micap_codec_links *out_links,
                                   uint32_t *out_component_count)
{
    micap_codec_links links = {0};
    links.name = micap_reader_take_text(reader, &links.name_bytes);
    if (!links.name || (links.name_bytes && !is_name(links.name, links.name_bytes)))
        return "the name of an entity is invalid";
    uint64_t counts = micap_reader_take_up_to(reader, (ALL_LINKS + 1) * MICAP_CODEC_COMPONENTS_MAX - 1);
    links.has_scope = counts / MICAP_CODEC_COMPONENTS_MAX & HAS_SCOPE;
    links.has_parent = counts / MICAP_CODEC_COMPONENTS_MAX & HAS_PARENT;
    links.scope = links.has_scope ? micap_reader_take64(reader) : 0;
    links.parent = links.has_parent ? micap_reader_take64(reader) : 0;
    bool needs_map = links.scope || links.has_parent;
    if ((links.has_scope && !links.name_bytes) || (links.has_parent && !links.parent) || (needs_map && !codec->map))
        return "an entity has a parent or scope that it can't have";
    *out_links = links;
    *out_component_count = (uint32_t)(counts % MICAP_CODEC_COMPONENTS_MAX);
    return NULL;
}

/* A scope that has died is an entity that dies when the name is given. */
static bool set_name(micap_codec *codec, mica_entity entity, const micap_codec_links *links)
{
    char name[NAME_BYTES_MAX + 1];
    memcpy(name, links->name, links->name_bytes);
    name[links->name_bytes] = 0;
    mica_entity scope = mica_nil();
    bool is_dead = links->has_scope && !links->scope;
    if (links->has_scope)
        scope = is_dead ? mica_create_id(codec->world, NULL, 0) : micap_identity_map_require(codec->map, links->scope);
    if (links->has_scope && mica_is_nil(scope))
        return false;
    bool done = mica_name_set(codec->world, entity, scope, name) == MICA_OK;
    if (is_dead)
        mica_destroy(codec->world, scope);
    return done;
}

bool micap_codec_set_links(micap_codec *codec, mica_entity entity, const micap_codec_links *links)
{
    if (links->has_parent) {
        mica_entity parent = micap_identity_map_require(codec->map, links->parent);
        if (mica_is_nil(parent) || mica_set_parent(codec->world, entity, parent) != MICA_OK)
            return false;
    }
    return !links->name_bytes || set_name(codec, entity, links);
}

void micap_codec_remove_links(const micap_codec *codec, mica_entity entity)
{
    if (mica_name_get(codec->world, entity))
        mica_name_set(codec->world, entity, mica_nil(), NULL);
    if (!mica_is_nil(mica_parent(codec->world, entity)))
        mica_set_parent(codec->world, entity, mica_nil());
}

void micap_codec_visit_links(const micap_codec *codec, mica_entity entity, micap_codec_visit_fn fn, void *context)
{
    mica_entity parent = mica_parent(codec->world, entity), scope = mica_name_get_scope(codec->world, entity);
    if (!mica_is_nil(parent))
        fn(parent, context);
    if (!mica_is_nil(scope))
        fn(scope, context);
}

bool micap_codec_has_shared_children(const mica_world *world, mica_entity parent, mica_component component)
{
    for (mica_entity child = mica_first_child(world, parent); !mica_is_nil(child);
         child = mica_next_sibling(world, child))
        if (!mica_has_id(world, child, component) && !mica_has(world, child, mica_remote))
            return false;
    return true;
}
