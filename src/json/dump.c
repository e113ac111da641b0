/* Writes a resource as JSON that compiles to the same bytes. */
#include "json/dump.h"

#include "base/argument.h"
#include "base/utf8.h"
#include "json/value_compile.h"
#include "mica/list.h"
#include "resource/format/scalar_fields.h"
#include "type/value_bytes.h"

#include <inttypes.h>
#include <stdio.h>
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

static uint64_t load(const char *at, uint32_t bytes)
{
    uint64_t eight;
    uint32_t four;
    uint16_t two;
    switch (bytes) {
    case 1: return (uint8_t)*at;
    case 2: memcpy(&two, at, 2); return two;
    case 4: memcpy(&four, at, 4); return four;
    default: memcpy(&eight, at, 8); return eight;
    }
}

static int64_t extend(uint64_t bits, uint32_t bytes)
{
    uint32_t shift = 64 - 8 * bytes;
    return (int64_t)(bits << shift) >> shift;
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

static void dump_reference(micap_dump *dump, const char *at)
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
static void dump_asset(micap_dump *dump, const char *at)
{
    mica_asset asset;
    memcpy(&asset, at, sizeof asset);
    const char *path = mica_resource_asset_path(dump->resource, asset);
    micap_write(&dump->writer, path ? "\"/" : "null");
    if (path)
        micap_write_inside_string(&dump->writer, path);
    micap_write(&dump->writer, path ? "\"" : "");
}

static void dump_enum(micap_dump *dump, const mica_type *type, const char *at)
{
    uint64_t bits = load(at, type->size_bytes), mask = UINT64_MAX >> (64 - 8 * type->size_bytes), left = bits;
    bool is_flags = type->kind == MICA_KIND_FLAGS;
    for (uint32_t i = 0; i < type->constant_count; ++i) {
        uint64_t constant = (uint64_t)type->constants[i].value & mask;
        if (!is_flags && constant == bits) {
            micap_write_string(&dump->writer, type->constants[i].name);
            return;
        }
        if (is_flags && constant && (bits & constant) == constant)
            left &= ~constant;
    }
    if (!is_flags || left) {
        micap_write(&dump->writer, "%" PRId64, type->size_bytes == 8 ? (int64_t)bits : (int64_t)(bits & mask));
        return;
    }
    micap_write(&dump->writer, "[");
    for (uint32_t i = 0, written = 0; i < type->constant_count; ++i) {
        uint64_t constant = (uint64_t)type->constants[i].value & mask;
        if (!constant || (bits & constant) != constant)
            continue;
        micap_write(&dump->writer, "%s", written++ ? ", " : "");
        micap_write_string(&dump->writer, type->constants[i].name);
    }
    micap_write(&dump->writer, "]");
}

static void dump_struct(micap_dump *dump, const mica_type *type, const char *at);

static void dump_element(micap_dump *dump, const mica_field *field, const char *at);

static void dump_elements(micap_dump *dump, const mica_field *field, const char *at, uint32_t count)
{
    micap_write(&dump->writer, "[");
    for (uint32_t i = 0; i < count; ++i) {
        micap_write(&dump->writer, "%s", i ? ", " : "");
        dump_element(dump, field, at + (size_t)i * field->element_bytes);
    }
    micap_write(&dump->writer, "]");
}

static void dump_any_text(micap_dump *dump, const mica_text *text)
{
    static const mica_field byte = {.name = "byte", .kind = MICA_KIND_CHAR, .element_bytes = 1, .count = 1};
    const char *bytes = mica_text_get(text);
    if (strlen(bytes) == mica_text_length(text) && micap_is_utf8(bytes))
        micap_write_string(&dump->writer, bytes);
    else
        dump_elements(dump, &byte, bytes, mica_text_length(text));
}

static void dump_list(micap_dump *dump, const mica_type *type, const mica_list *list)
{
    mica_field element = micap_element_field(type);
    dump_elements(dump, &element, mica_list_items_type(list, type), mica_list_count(list));
}

static void dump_element(micap_dump *dump, const mica_field *field, const char *at)
{
    mica_kind kind = micap_field_kind(field);
    micap_json_writer *writer = &dump->writer;
    float narrow;
    double real;
    switch (kind) {
    case MICA_KIND_BOOL: micap_write(writer, *at ? "true" : "false"); break;
    case MICA_KIND_F32:
        memcpy(&narrow, at, sizeof narrow);
        micap_write_real(writer, narrow, true);
        break;
    case MICA_KIND_F64:
        memcpy(&real, at, sizeof real);
        micap_write_real(writer, real, false);
        break;
    case MICA_KIND_ENTITY: dump_reference(dump, at); break;
    case MICA_KIND_ASSET: dump_asset(dump, at); break;
    case MICA_KIND_TEXT: dump_any_text(dump, (const mica_text *)(const void *)at); break;
    case MICA_KIND_LIST: dump_list(dump, field->type, (const mica_list *)(const void *)at); break;
    case MICA_KIND_STRUCT: dump_struct(dump, field->type, at); break;
    case MICA_KIND_ENUM:
    case MICA_KIND_FLAGS: dump_enum(dump, field->type, at); break;
    case MICA_KIND_U64: {
        uint64_t value = load(at, 8); /* JSON libraries read integers as signed */
        micap_write(writer, value > INT64_MAX ? "\"%" PRIu64 "\"" : "%" PRIu64, value);
        break;
    }
    case MICA_KIND_I8:
    case MICA_KIND_I16:
    case MICA_KIND_I32:
    case MICA_KIND_I64:
        micap_write(writer, "%" PRId64, extend(load(at, field->element_bytes), field->element_bytes));
        break;
    default: micap_write(writer, "%" PRIu64, load(at, field->element_bytes));
    }
}

/* Returns true if the array is valid UTF-8 padded with zeros, so that a string compiles to the same bytes. */
static bool is_text(const mica_field *field, const char *at)
{
    const char *end = memchr(at, 0, field->count);
    if (micap_field_kind(field) != MICA_KIND_CHAR || field->count == 1 || !end)
        return false;
    for (const char *rest = end; rest < at + field->count; ++rest)
        if (*rest)
            return false;
    json_t *valid = json_string(at);
    json_decref(valid);
    return valid != NULL;
}

static void dump_field(micap_dump *dump, const mica_field *field, const char *at)
{
    if (is_text(field, at)) {
        micap_write_string(&dump->writer, at);
        return;
    }
    if (field->count == 1) {
        dump_element(dump, field, at);
        return;
    }
    dump_elements(dump, field, at, field->count);
}

/* Writes a value on one line. */
static void dump_struct(micap_dump *dump, const mica_type *type, const char *at)
{
    micap_write(&dump->writer, "{");
    for (uint32_t i = 0; i < type->field_count; ++i) {
        micap_write(&dump->writer, "%s", i ? ", " : "");
        micap_write_string(&dump->writer, type->fields[i].name);
        micap_write(&dump->writer, ": ");
        dump_field(dump, &type->fields[i], at + type->fields[i].offset);
    }
    micap_write(&dump->writer, "}");
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
