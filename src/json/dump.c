/* Writes a resource as JSON that compiles to the same bytes. */
#include "json/dump.h"

#include "base/argument.h"
#include "json/compiler.h"
#include "mica/value.h"

#include <string.h>

static bool find_family(micap_dump *dump)
{
    size_t bytes = (size_t)dump->count * sizeof(uint32_t);
    uint32_t *all = micap_allocate(&dump->writer.memory, 5 * bytes, MICAP_ARRAY_ALIGNMENT);
    if (!all)
        return false;
    memset(all, 0xFF, 5 * bytes);
    dump->first_child = all;
    dump->next = all + dump->count;
    dump->rank = all + 2 * (size_t)dump->count;
    uint32_t *last_child = all + 3 * (size_t)dump->count, *depth = all + 4 * (size_t)dump->count;
    uint32_t last_root = MICA_NO_PARENT;
    dump->first_root = MICA_NO_PARENT;
    for (uint32_t i = 0; i < dump->count; ++i) {
        uint32_t entity = mica_resource_entity_in_order(dump->resource, i);
        uint32_t parent = mica_resource_parent(dump->resource, entity);
        bool is_root = parent == MICA_NO_PARENT;
        uint32_t *last = is_root ? &last_root : &last_child[parent];
        uint32_t *first = is_root ? &dump->first_root : &dump->first_child[parent];
        depth[entity] = is_root ? 1 : depth[parent] + 1;
        dump->depth_max = depth[entity] > dump->depth_max ? depth[entity] : dump->depth_max;
        dump->rank[entity] = *last == MICA_NO_PARENT ? 0 : dump->rank[*last] + 1;
        *(*last == MICA_NO_PARENT ? first : &dump->next[*last]) = entity;
        *last = entity;
    }
    return true;
}

void micap_dump_path(micap_dump *dump, uint32_t entity)
{
    uint32_t parent = mica_resource_parent(dump->resource, entity);
    const char *name = mica_resource_name(dump->resource, entity);
    if (parent != MICA_NO_PARENT)
        micap_dump_path(dump, parent);
    micap_write(&dump->writer, "/");
    if (!name || *name == '#' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        micap_write(&dump->writer, "#%u", dump->rank[entity]);
        return;
    }
    micap_write_inside_string(&dump->writer, name);
}

static void dump_reference(micap_dump *dump, const void *at)
{
    mica_entity entity;
    memcpy(&entity, at, sizeof entity);
    if (mica_is_nil(entity)) {
        micap_write(&dump->writer, "null");
        return;
    }
    micap_write(&dump->writer, "\"");
    micap_dump_path(dump, entity.index);
    micap_write(&dump->writer, "\"");
}

/* Asset paths start at the root, so the text can be moved. */
static void dump_asset(micap_dump *dump, const void *at)
{
    mica_asset asset;
    memcpy(&asset, at, sizeof asset);
    const char *path = mica_resource_asset_path(dump->resource, asset);
    micap_write(&dump->writer, path ? "\"/" : "null");
    if (path)
        micap_write_inside_string(&dump->writer, path);
    micap_write(&dump->writer, path ? "\"" : "");
}

/* JSON libraries read integers as signed. */
static bool is_too_large(mica_member member)
{
    uint64_t value = 0;
    if (member.kind == MICA_KIND_U64)
        memcpy(&value, member.data, sizeof value);
    return value > INT64_MAX;
}

/* Returns true if a string would not compile to the same bytes: bytes follow the first zero byte. */
static bool has_hidden_bytes(mica_member member)
{
    const char *bytes = member.data;
    size_t length = member.count;
    if (!member.count && member.kind == MICA_KIND_TEXT) {
        bytes = mica_text_get(member.data);
        length = mica_text_length(member.data);
        return memchr(bytes, 0, length) != NULL;
    }
    const char *end = member.count && member.kind == MICA_KIND_CHAR ? memchr(bytes, 0, length) : NULL;
    while (end && end < bytes + length && !*end)
        ++end;
    return end && end < bytes + length;
}

/* The bytes of a text as an array. */
static void dump_bytes(micap_dump *dump, mica_member member)
{
    const char *bytes = member.count ? member.data : mica_text_get(member.data);
    size_t count = member.count ? member.count : mica_text_length(member.data);
    micap_write(&dump->writer, "[");
    for (size_t i = 0; i < count; ++i)
        micap_write(&dump->writer, "%s%u", i ? ", " : "", (unsigned)(unsigned char)bytes[i]);
    micap_write(&dump->writer, "]");
}

static void dump_member(micap_dump *dump, mica_member member);

/* Fields or elements, on one line. */
static void dump_members(micap_dump *dump, mica_member member, const char *brackets)
{
    uint32_t count = mica_member_count(member);
    micap_write(&dump->writer, "%c", brackets[0]);
    for (uint32_t i = 0; i < count; ++i) {
        mica_member part = mica_member_at(member, i);
        micap_write(&dump->writer, "%s", i ? ", " : "");
        if (part.name) {
            micap_write_string(&dump->writer, part.name);
            micap_write(&dump->writer, ": ");
        }
        dump_member(dump, part);
    }
    micap_write(&dump->writer, "%c", brackets[1]);
}

/* References are paths in levels; all other values are written as mica_value_write writes them. */
static void dump_member(micap_dump *dump, mica_member member)
{
    bool is_text = member.kind == MICA_KIND_TEXT || member.kind == MICA_KIND_CHAR;
    if (is_text && has_hidden_bytes(member))
        dump_bytes(dump, member);
    else if ((member.count && member.kind != MICA_KIND_CHAR) || member.kind == MICA_KIND_LIST)
        dump_members(dump, member, "[]");
    else if (member.kind == MICA_KIND_STRUCT)
        dump_members(dump, member, "{}");
    else if (member.kind == MICA_KIND_ENTITY)
        dump_reference(dump, member.data);
    else if (member.kind == MICA_KIND_ASSET)
        dump_asset(dump, member.data);
    else
        micap_write_value(&dump->writer, member, is_too_large(member));
}

static void dump_struct(micap_dump *dump, const mica_type *type, const void *value)
{
    mica_member whole = {.data = (void *)(uintptr_t)value,
                         .name = type->name,
                         .type = type,
                         .kind = MICA_KIND_STRUCT,
                         .element_bytes = type->size_bytes};
    dump_members(dump, whole, "{}");
}

void micap_dump_value(micap_dump *dump, uint32_t entity, uint32_t component)
{
    mica_resource_component about = mica_resource_component_at(dump->resource, component);
    const char *value = mica_resource_value(dump->resource, entity, component);
    uint32_t count = mica_resource_value_count(dump->resource, entity, component);
    if (about.storage == MICA_STORAGE_TAG) {
        micap_write(&dump->writer, "{}");
        return;
    }
    micap_write(&dump->writer, "%s", mica_resource_is_repeated(dump->resource, component) ? "[" : "");
    for (uint32_t i = 0; i < count; ++i) {
        micap_write(&dump->writer, "%s", i ? ", " : "");
        dump_struct(dump, about.type, value + (size_t)i * about.type->size_bytes);
    }
    micap_write(&dump->writer, "%s", mica_resource_is_repeated(dump->resource, component) ? "]" : "");
}

static void dump_components(micap_dump *dump, uint32_t entity)
{
    micap_json_writer *writer = &dump->writer;
    uint32_t component_count = mica_resource_component_count(dump->resource), count = 0, disabled = 0;
    for (uint32_t i = 0; i < component_count; ++i) {
        mica_resource_component about = mica_resource_component_at(dump->resource, i);
        if (about.storage == MICA_STORAGE_SINGLETON || !mica_resource_value(dump->resource, entity, i))
            continue;
        if (!count++) {
            micap_write_member(writer, "components");
            micap_write_open(writer, '{');
        }
        micap_write_member(writer, about.name);
        micap_dump_value(dump, entity, i);
        disabled += mica_resource_is_disabled(dump->resource, entity, i);
    }
    if (count)
        micap_write_close(writer, '}');
    if (!disabled)
        return;
    micap_write_member(writer, "disabled");
    micap_write(writer, "[");
    for (uint32_t i = 0, written = 0; i < component_count; ++i)
        if (mica_resource_value(dump->resource, entity, i) && mica_resource_is_disabled(dump->resource, entity, i)) {
            micap_write(writer, "%s", written++ ? ", " : "");
            micap_write_string(writer, mica_resource_component_at(dump->resource, i).name);
        }
    micap_write(writer, "]");
}

static void open_entity(micap_dump *dump, uint32_t entity)
{
    micap_json_writer *writer = &dump->writer;
    micap_write_member(writer, NULL);
    micap_write_open(writer, '{');
    const char *name = mica_resource_name(dump->resource, entity);
    if (name) {
        micap_write_member(writer, "name");
        micap_write_string(writer, name);
    }
    dump_components(dump, entity);
    if (dump->first_child[entity] != MICA_NO_PARENT) {
        micap_write_member(writer, "children");
        micap_write_open(writer, '[');
    }
}

static void close_entity(micap_dump *dump, uint32_t entity)
{
    if (dump->first_child[entity] != MICA_NO_PARENT)
        micap_write_close(&dump->writer, ']');
    micap_write_close(&dump->writer, '}');
}

static void dump_entities(micap_dump *dump)
{
    uint32_t entity = dump->first_root;
    if (entity != MICA_NO_PARENT)
        open_entity(dump, entity);
    while (entity != MICA_NO_PARENT) {
        uint32_t next = dump->first_child[entity];
        while (next == MICA_NO_PARENT && entity != MICA_NO_PARENT) {
            close_entity(dump, entity);
            next = dump->next[entity];
            entity = mica_resource_parent(dump->resource, entity);
        }
        entity = next;
        if (entity != MICA_NO_PARENT)
            open_entity(dump, entity);
    }
}

void micap_dump_singleton(micap_dump *dump, uint32_t component)
{
    mica_resource_component about = mica_resource_component_at(dump->resource, component);
    dump_struct(dump, about.type, about.instances);
}

static void dump_singletons(micap_dump *dump)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < mica_resource_component_count(dump->resource); ++i) {
        mica_resource_component about = mica_resource_component_at(dump->resource, i);
        if (about.storage != MICA_STORAGE_SINGLETON)
            continue;
        if (!count++) {
            micap_write_member(&dump->writer, "singletons");
            micap_write_open(&dump->writer, '{');
        }
        micap_write_member(&dump->writer, about.name);
        micap_dump_singleton(dump, i);
    }
    if (count)
        micap_write_close(&dump->writer, '}');
}

mica_result micap_dump_begin(micap_dump *dump, const mica_resource *resource)
{
    *dump = (micap_dump){.resource = resource, .count = mica_resource_entity_count(resource)};
    micap_writer_init(&dump->writer);
    mica_result result = find_family(dump) ? MICA_OK : MICA_ERROR_MEMORY;
    return dump->depth_max > MICAP_DEPTH_MAX ? MICA_ERROR_LIMIT : result;
}

void micap_dump_end(micap_dump *dump)
{
    MICAP_RELEASE_ARRAY(&dump->writer.memory, dump->writer.text, dump->writer.capacity);
    micap_release(&dump->writer.memory, dump->first_child, 5 * (size_t)dump->count * sizeof(uint32_t),
                  MICAP_ARRAY_ALIGNMENT);
}

mica_result mica_dump(const mica_resource *resource, mica_blob *out_text)
{
    if (MICAP_MISSING(NULL, resource) || MICAP_MISSING(NULL, out_text))
        return MICA_ERROR_INVALID;
    micap_dump dump;
    *out_text = (mica_blob){0};
    mica_result result = micap_dump_begin(&dump, resource);
    if (result == MICA_OK) {
        micap_write_open(&dump.writer, '{');
        micap_write_member(&dump.writer, "entities");
        micap_write_open(&dump.writer, '[');
        dump_entities(&dump);
        micap_write_close(&dump.writer, ']');
        dump_singletons(&dump);
        micap_write_close(&dump.writer, '}');
        result = micap_writer_finish(&dump.writer, out_text);
    }
    micap_dump_end(&dump);
    return result;
}
