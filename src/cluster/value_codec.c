#include "cluster/value_codec.h"

#include "cluster/link_codec.h"
#include "cluster/rule_codec.h"
#include "mica/component.h"
#include "mica/pool.h"
#include "mica/relation.h"
#include "mica/split.h"

#include <stdio.h>

enum { COMPONENTS_MAX = MICAP_CODEC_COMPONENTS_MAX, VALUE_ALIGNMENT = 16 };
#define NO_OFFSET UINT32_MAX
#define NO_KIND UINT32_MAX

bool micap_codec_is_flat(const mica_type *type)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        if (field->kind == MICA_KIND_TEXT || field->kind == MICA_KIND_LIST)
            return false;
        if (field->kind == MICA_KIND_STRUCT && !micap_codec_is_flat(field->type))
            return false;
    }
    return true;
}

bool micap_codec_has_entities(const mica_type *type)
{
    if (type && type->kind == MICA_KIND_ENTITY)
        return true;
    for (uint32_t i = 0; type && i < type->field_count; ++i)
        if (type->fields[i].kind == MICA_KIND_ENTITY || micap_codec_has_entities(type->fields[i].type))
            return true;
    return false;
}

const char *micap_codec_problem(mica_component component)
{
    const mica_type *type = mica_component_type(component);
    if (!type)
        return "is not known";
    if (type->storage == MICA_STORAGE_SINGLETON)
        return NULL;
    if (type->relation && (type->symmetric || type->acyclic || type->transitive || type->ordered))
        return "is a symmetric, acyclic, transitive or ordered relation, which needs the edges of all ranks";
    if (!type->relation && micap_codec_is_flat(type) &&
        (type->construct || type->destruct || type->copy || type->move || type->destroy_one || type->copy_one))
        return "has functions that construct or destroy it, and no rule in .rules";
    if (!type->relation && type->size_bytes && type->kind == MICA_KIND_STRUCT && !type->field_count)
        return "has no described fields, and no rule in .rules";
    if (type->alignment > VALUE_ALIGNMENT)
        return "is aligned to more than 16 bytes, and has no rule in .rules";
    return NULL;
}

const char *micap_codec_message_problem(mica_component component)
{
    const mica_type *type = mica_component_type(component);
    const char *problem = micap_codec_problem(component);
    if (problem)
        return problem;
    if (!type->size_bytes || type->relation)
        return "has no data";
    return micap_codec_has_entities(type) ? "has fields of type mica_entity" : NULL;
}

/* The place of an edge among those to the same target, which differs between ranks. */
static bool is_place_of_edge(const mica_type *type, const mica_field *field)
{
    return type->relation && field == &type->fields[1];
}

/* The identity of an entity; 0 if it is nil or dead. */
static void put_reference(micap_codec *codec, micap_bytes *bytes, const char *value)
{
    mica_entity target;
    memcpy(&target, value, sizeof target);
    bool is_alive = !mica_is_nil(target) && mica_is_alive(codec->world, target);
    const mica_identity *identity = is_alive ? mica_get(codec->world, target, mica_identity) : NULL;
    if (is_alive && !identity && codec->on_new)
        codec->on_new(target, bytes->count, codec->on_new_context);
    else if (is_alive && !identity)
        snprintf(codec->problem, sizeof codec->problem, MICAP_CODEC_NOT_SHARED);
    micap_bytes_put64(bytes, identity ? identity->value : 0);
}

static void put_text(micap_bytes *bytes, const mica_text *text)
{
    micap_bytes_put_number(bytes, mica_text_length(text));
    micap_bytes_put(bytes, mica_text_get(text), mica_text_length(text));
}

static void put_fields(micap_codec *codec, micap_bytes *bytes, const mica_type *type, const char *value);

/* One value of a type, which need not have fields: elements of lists can be numbers. */
void micap_codec_put_value(micap_codec *codec, micap_bytes *bytes, const mica_type *type, const char *value)
{
    if (type->field_count)
        put_fields(codec, bytes, type, value);
    else if (type->kind == MICA_KIND_ENTITY)
        put_reference(codec, bytes, value);
    else if (type->kind == MICA_KIND_TEXT)
        put_text(bytes, (const mica_text *)(const void *)value);
    else
        micap_bytes_put(bytes, value, type->size_bytes);
}

static void put_list(micap_codec *codec, micap_bytes *bytes, const mica_type *element, const mica_list *list)
{
    uint32_t count = mica_list_count(list);
    const char *items = mica_list_items_type(list, element);
    micap_bytes_put_number(bytes, count);
    for (uint32_t i = 0; i < count; ++i)
        micap_codec_put_value(codec, bytes, element, items + (size_t)i * element->size_bytes);
}

static void put_fields(micap_codec *codec, micap_bytes *bytes, const mica_type *type, const char *value)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        const char *at = value + field->offset;
        if (is_place_of_edge(type, field))
            continue;
        for (uint32_t k = 0; k < field->count; ++k, at += field->element_bytes) {
            if (field->kind == MICA_KIND_STRUCT) {
                micap_codec_put_value(codec, bytes, field->type, at);
            } else if (field->kind == MICA_KIND_LIST) {
                put_list(codec, bytes, field->type, (const mica_list *)(const void *)at);
            } else if (field->kind == MICA_KIND_TEXT) {
                put_text(bytes, (const mica_text *)(const void *)at);
            } else if (field->kind == MICA_KIND_ENTITY) {
                put_reference(codec, bytes, at);
            } else {
                micap_bytes_put(bytes, at, (size_t)field->element_bytes * field->count);
                break;
            }
        }
    }
}

static bool take_fields(micap_codec *codec, micap_reader *reader, const mica_type *type, char *value);

static bool take_scalars(micap_reader *reader, mica_kind kind, size_t byte_count, char *value)
{
    const char *from = micap_reader_take(reader, byte_count);
    for (size_t i = 0; from && kind == MICA_KIND_BOOL && i < byte_count; ++i)
        if ((unsigned char)from[i] > 1)
            return false;
    if (from && value)
        memcpy(value, from, byte_count);
    return from != NULL;
}

static bool take_reference(micap_codec *codec, micap_reader *reader, char *value)
{
    uint64_t identity = micap_reader_take64(reader);
    if (reader->failed || !value)
        return !reader->failed;
    mica_entity target = identity && codec->map ? micap_identity_map_require(codec->map, identity) : mica_nil();
    memcpy(value, &target, sizeof target);
    return !identity || !mica_is_nil(target);
}

static bool take_text(micap_reader *reader, mica_text *text)
{
    size_t count;
    const char *characters = micap_reader_take_text(reader, &count);
    return characters && (!text || mica_text_set_bytes(text, characters, count) == MICA_OK);
}

bool micap_codec_take_value(micap_codec *codec, micap_reader *reader, const mica_type *type, char *value)
{
    if (type->field_count)
        return take_fields(codec, reader, type, value);
    if (type->kind == MICA_KIND_ENTITY)
        return take_reference(codec, reader, value);
    if (type->kind == MICA_KIND_TEXT)
        return take_text(reader, (mica_text *)(void *)value);
    return take_scalars(reader, type->kind, type->size_bytes, value);
}

static bool take_list(micap_codec *codec, micap_reader *reader, const mica_type *element, mica_list *list)
{
    uint64_t count = micap_reader_take_up_to(reader, micap_reader_left(reader));
    if (reader->failed || count > MICA_LIST_COUNT_MAX)
        return false;
    char *items = NULL;
    if (list && count) {
        if (mica_list_resize_type(list, element, (uint32_t)count) != MICA_OK)
            return false;
        items = mica_list_write_type(list, element);
    }
    for (uint64_t i = 0; i < count; ++i)
        if (!micap_codec_take_value(codec, reader, element, items ? items + i * element->size_bytes : NULL))
            return false;
    return true;
}

static bool take_fields(micap_codec *codec, micap_reader *reader, const mica_type *type, char *value)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        for (uint32_t k = 0; k < field->count && !is_place_of_edge(type, field); ++k) {
            char *at = value ? value + field->offset + (size_t)k * field->element_bytes : NULL;
            bool done;
            if (field->kind == MICA_KIND_STRUCT)
                done = micap_codec_take_value(codec, reader, field->type, at);
            else if (field->kind == MICA_KIND_LIST)
                done = take_list(codec, reader, field->type, (mica_list *)(void *)at);
            else if (field->kind == MICA_KIND_TEXT)
                done = take_text(reader, (mica_text *)(void *)at);
            else if (field->kind == MICA_KIND_ENTITY)
                done = take_reference(codec, reader, at);
            else
                done = take_scalars(reader, field->kind, (size_t)field->element_bytes * field->count, at);
            if (!done)
                return false;
            if (field->kind != MICA_KIND_STRUCT && field->kind != MICA_KIND_LIST && field->kind != MICA_KIND_TEXT &&
                field->kind != MICA_KIND_ENTITY)
                break;
        }
    }
    return true;
}

bool micap_codec_copy_value(micap_codec *codec, const mica_type *type, const char *value, char *out)
{
    codec->scratch.count = 0;
    micap_codec_put_value(codec, &codec->scratch, type, value);
    micap_reader reader = {
        .begin = codec->scratch.data, .at = codec->scratch.data, .end = codec->scratch.data + codec->scratch.count};
    bool done = !codec->scratch.failed && micap_codec_take_value(codec, &reader, type, out);
    codec->scratch.failed = false;
    return done;
}

void micap_codec_clear_value(const mica_type *type, char *value)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        for (uint32_t k = 0; k < field->count; ++k) {
            char *at = value + field->offset + (size_t)k * field->element_bytes;
            if (field->kind == MICA_KIND_STRUCT)
                micap_codec_clear_value(field->type, at);
            else if (field->kind == MICA_KIND_LIST)
                mica_list_clear_type((mica_list *)(void *)at, field->type);
            else if (field->kind == MICA_KIND_TEXT)
                mica_text_clear((mica_text *)(void *)at);
        }
    }
}

/* ---- components by hash */

/* The bytes of a value that has no padding, and nothing that is checked or translated, and so is written as it is in memory. */
static uint32_t find_plain_bytes(const mica_type *type)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        bool is_other = field->kind == MICA_KIND_BOOL || field->kind == MICA_KIND_ENTITY ||
                        field->kind == MICA_KIND_TEXT || field->kind == MICA_KIND_LIST;
        if (field->offset != end || is_other || (field->kind == MICA_KIND_STRUCT && !find_plain_bytes(field->type)))
            return 0;
        end += field->element_bytes * field->count;
    }
    return end == type->size_bytes ? end : 0;
}

static micap_codec_kind make_kind(micap_codec *codec, mica_component component)
{
    const mica_type *type = mica_component_type(component);
    micap_codec_kind kind = {.hash = mica_component_name_hash(component), .component = component, .type = type};
    kind.rule = micap_codec_rule_find(codec, component);
    kind.layout = kind.rule ? micap_codec_rule_layout(kind.rule) : type;
    const char *problem = kind.rule ? NULL : micap_codec_problem(component);
    if (problem && !codec->problem[0])
        snprintf(codec->problem, sizeof codec->problem, "the component %.60s %s", type->name, problem);
    kind.can_arrive = !problem && type->storage != MICA_STORAGE_SINGLETON && component != MICA_ID(mica_identity) &&
                      component != MICA_ID(mica_remote);
    if (!kind.rule && !type->many && !type->split && !type->relation)
        kind.plain_bytes = find_plain_bytes(type);
    if (micap_codec_has_entities(type))
        codec->referring[codec->referring_count++] = component;
    codec->has_references = codec->has_references || codec->referring_count;
    return kind;
}

bool micap_codec_update(micap_codec *codec)
{
    mica_component component = 0;
    uint32_t count = 0;
    while ((component = mica_component_next(codec->world, component)))
        ++count;
    if (count == codec->kind_count)
        return true;
    if (!MICAP_RESERVE(codec->memory, codec->kinds, &codec->kind_capacity, count) ||
        !MICAP_RESERVE(codec->memory, codec->referring, &codec->referring_capacity, count))
        return false;
    codec->kind_count = codec->referring_count = codec->last.component_count = codec->last.kind_count = 0;
    while ((component = mica_component_next(codec->world, component))) {
        micap_codec_kind kind = make_kind(codec, component);
        uint32_t at = codec->kind_count++;
        for (; at && codec->kinds[at - 1].hash > kind.hash; --at)
            codec->kinds[at] = codec->kinds[at - 1];
        codec->kinds[at] = kind;
    }
    return true;
}

void micap_codec_free(micap_codec *codec)
{
    MICAP_RELEASE_ARRAY(codec->memory, codec->kinds, codec->kind_capacity);
    MICAP_RELEASE_ARRAY(codec->memory, codec->referring, codec->referring_capacity);
    micap_bytes_free(&codec->scratch);
}

/* The number of a kind; NO_KIND if there is none. */
static uint32_t find_by_hash(const micap_codec *codec, uint64_t hash)
{
    uint32_t begin = 0, end = codec->kind_count;
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (codec->kinds[middle].hash < hash)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < codec->kind_count && codec->kinds[begin].hash == hash ? begin : NO_KIND;
}

/* Finds the kinds of an entity. By the hash of the name, since ids depend on the order of registration. NULL if there are too many, or memory
 * is short. */
static const micap_codec_list *list_kinds(micap_codec *codec, mica_entity entity)
{
    mica_component components[COMPONENTS_MAX];
    micap_codec_list *list = &codec->last;
    uint32_t count = mica_get_components(codec->world, entity, components, COMPONENTS_MAX);
    if (count == list->component_count && !memcmp(components, list->components, count * sizeof *components))
        return list;
    if (count > COMPONENTS_MAX || !micap_codec_update(codec))
        return NULL;
    memcpy(list->components, components, count * sizeof *components);
    list->component_count = count;
    list->kind_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (components[i] == MICA_ID(mica_identity) || components[i] == MICA_ID(mica_remote))
            continue;
        uint32_t kind = find_by_hash(codec, mica_component_name_hash(components[i])), at = list->kind_count++;
        for (; at && list->kinds[at - 1] > kind; --at)
            list->kinds[at] = list->kinds[at - 1];
        list->kinds[at] = kind;
    }
    return list;
}

/* The kind of the next component that is read; NULL if there is none that can be. */
static const micap_codec_kind *take_kind(micap_codec *codec, micap_reader *reader, uint32_t place)
{
    uint64_t hash = micap_reader_take64(reader);
    uint32_t *expected = &codec->expected[place];
    if (*expected >= codec->kind_count || codec->kinds[*expected].hash != hash)
        *expected = find_by_hash(codec, hash);
    return *expected != NO_KIND && codec->kinds[*expected].can_arrive ? &codec->kinds[*expected] : NULL;
}

/* ---- entities */

static void put_one(micap_codec *codec, micap_bytes *bytes, mica_entity entity, const micap_codec_kind *kind,
                    const void *value)
{
    if (!kind->rule)
        micap_codec_put_value(codec, bytes, kind->type, value);
    else if (!micap_codec_rule_put(codec, bytes, kind->rule, entity, value))
        bytes->failed = true;
}

static void put_instances(micap_codec *codec, micap_bytes *bytes, mica_entity entity, const micap_codec_kind *kind)
{
    mica_pool *pool = mica_pool_of_id(codec->world, kind->component);
    uint32_t count = 0;
    for (mica_instance it = mica_pool_find(pool, entity); !mica_instance_is_nil(it); it = mica_pool_next(pool, it))
        ++count;
    micap_bytes_put_number(bytes, count);
    for (mica_instance it = mica_pool_find(pool, entity); kind->type->size_bytes && !mica_instance_is_nil(it);
         it = mica_pool_next(pool, it))
        put_one(codec, bytes, entity, kind, mica_instance_read_id(pool, it));
}

static void put_component(micap_codec *codec, micap_bytes *bytes, mica_entity entity, const micap_codec_kind *kind)
{
    const mica_type *type = kind->type;
    micap_bytes_put64(bytes, kind->hash);
    micap_bytes_put_number(bytes, type->toggle && !mica_is_enabled_id(codec->world, entity, kind->component));
    if (kind->plain_bytes) {
        micap_bytes_put(bytes, mica_get_id(codec->world, entity, kind->component), kind->plain_bytes);
    } else if (type->many) {
        put_instances(codec, bytes, entity, kind);
    } else if (type->split) {
        codec->scratch.count = 0;
        char *value = micap_bytes_grow(&codec->scratch, type->size_bytes);
        if (value && mica_get_value_id(codec->world, entity, kind->component, value))
            micap_codec_put_value(codec, bytes, type, value);
        else
            bytes->failed = true;
    } else if (type->size_bytes) {
        put_one(codec, bytes, entity, kind, mica_get_id(codec->world, entity, kind->component));
    }
}

void micap_codec_put_entity(micap_codec *codec, micap_bytes *bytes, mica_entity entity)
{
    const micap_codec_list *list = list_kinds(codec, entity);
    if (!list) {
        bytes->failed = true;
        return;
    }
    micap_codec_put_links(codec, bytes, entity, list->kind_count);
    for (uint32_t i = 0; i < list->kind_count; ++i)
        put_component(codec, bytes, entity, &codec->kinds[list->kinds[i]]);
}

static const char *check_component(micap_codec *codec, micap_reader *reader, const micap_codec_kind *kind)
{
    if (!kind)
        return "an entity has a component that this rank does not know";
    micap_reader_take_up_to(reader, kind->type->toggle);
    if (kind->plain_bytes) {
        micap_reader_take(reader, kind->plain_bytes);
        return NULL;
    }
    uint64_t values = kind->type->many ? micap_reader_take_up_to(reader, UINT32_MAX) : 1;
    if (!values)
        return "a component of an entity has no instances";
    for (uint64_t k = 0; k < values && kind->type->size_bytes && !reader->failed; ++k)
        if (!micap_codec_take_value(codec, reader, kind->layout, NULL))
            return "a value of an entity is invalid";
    return NULL;
}

const char *micap_codec_check_entity(micap_codec *codec, micap_reader *reader)
{
    micap_codec_links links;
    uint32_t count;
    const micap_codec_kind *last = NULL;
    const char *link_problem = micap_codec_take_links(codec, reader, &links, &count);
    if (link_problem)
        return link_problem;
    for (uint32_t i = 0; i < count && !reader->failed; ++i) {
        const micap_codec_kind *kind = take_kind(codec, reader, i);
        const char *problem = kind && last && kind <= last ? "the components of an entity are not in order"
                                                           : check_component(codec, reader, kind);
        if (problem && !reader->failed)
            return problem;
        last = kind;
    }
    return reader->failed ? "an entity is cut off" : NULL;
}

/* A component on its way into an entity. */
typedef struct arrival {
    const micap_codec_kind *kind;
    micap_reader bytes; /* of the first value */
    uint32_t offset;    /* of the first value in the scratch memory; NO_OFFSET if it is made from the bytes */
    bool is_disabled;
    uint64_t more_count;     /* instances after the first */
    micap_reader more_bytes; /* and where they are */
} arrival;

/* Reads a value to the scratch memory. */
static bool take_to_scratch(micap_codec *codec, micap_reader *reader, const mica_type *type, uint32_t *out_offset)
{
    size_t bytes = ((size_t)type->size_bytes + VALUE_ALIGNMENT - 1) / VALUE_ALIGNMENT * VALUE_ALIGNMENT;
    *out_offset = codec->scratch.count;
    if (!bytes) /* a tag */
        return true;
    char *value = micap_bytes_grow(&codec->scratch, bytes);
    if (!value)
        return false;
    memset(value, 0, bytes); /* empty text and lists */
    return micap_codec_take_value(codec, reader, type, value);
}

/* Of an entity that was verified. */
static bool take_arrival(micap_codec *codec, micap_reader *reader, uint32_t place, arrival *out)
{
    const micap_codec_kind *kind = take_kind(codec, reader, place);
    MICAP_ASSERT(kind, "the entity was verified");
    *out = (arrival){.kind = kind, .offset = NO_OFFSET};
    out->is_disabled = micap_reader_take_number(reader);
    out->more_count = kind->type->many ? micap_reader_take_number(reader) - 1 : 0;
    out->bytes = *reader;
    if (kind->plain_bytes)
        return micap_reader_take(reader, kind->plain_bytes) != NULL;
    bool done = kind->rule ? micap_codec_take_value(codec, reader, kind->layout, NULL)
                           : take_to_scratch(codec, reader, kind->type, &out->offset);
    out->more_bytes = *reader;
    for (uint64_t i = 0; i < out->more_count && kind->type->size_bytes && done; ++i)
        done = micap_codec_take_value(codec, reader, kind->layout, NULL);
    return done;
}

/* Adds the edges of a relation. */
static bool add_edges(micap_codec *codec, mica_entity entity, arrival *arrival)
{
    const mica_type *type = arrival->kind->type;
    uint32_t offset = arrival->offset;
    bool done = true;
    for (uint64_t i = 0; i <= arrival->more_count && done; ++i) {
        done = (!i || take_to_scratch(codec, &arrival->more_bytes, type, &offset)) &&
               mica_load_edges_id(codec->world, arrival->kind->component, &entity, codec->scratch.data + offset, 1) ==
                   MICA_OK;
        if (i && done)
            micap_codec_clear_value(type, codec->scratch.data + offset);
    }
    return done;
}

/* Adds what does not come with the creation. */
static bool complete(micap_codec *codec, mica_entity entity, arrival *arrival)
{
    const micap_codec_kind *kind = arrival->kind;
    if (kind->type->relation)
        return add_edges(codec, entity, arrival);
    if (kind->rule) {
        void *value = mica_add_id(codec->world, entity, kind->component);
        if (!value || !micap_codec_rule_take(codec, &arrival->bytes, kind->rule, entity, value))
            return false;
    }
    mica_pool *pool = arrival->more_count ? mica_pool_of_id(codec->world, kind->component) : NULL;
    for (uint64_t i = 0; i < arrival->more_count; ++i) {
        mica_instance instance = mica_pool_add(pool, entity);
        if (mica_instance_is_nil(instance))
            return false;
        void *value = kind->type->size_bytes ? mica_instance_write_id(pool, instance) : NULL;
        bool done = kind->rule ? micap_codec_rule_take(codec, &arrival->more_bytes, kind->rule, entity, value)
                               : !value || micap_codec_take_value(codec, &arrival->more_bytes, kind->type, value);
        if (!done)
            return false;
    }
    return !arrival->is_disabled || mica_enable_id(codec->world, entity, kind->component, false);
}

/* Components that came along because others require them, but that the entity did not have. */
static void remove_others(micap_codec *codec, mica_entity entity, const arrival *arrivals, uint32_t count)
{
    mica_component components[COMPONENTS_MAX];
    uint32_t present = mica_get_components(codec->world, entity, components, COMPONENTS_MAX);
    for (uint32_t i = 0; present > count + 1 && i < present && i < COMPONENTS_MAX; ++i) {
        bool is_wanted = components[i] == MICA_ID(mica_identity);
        for (uint32_t k = 0; k < count && !is_wanted; ++k)
            is_wanted = arrivals[k].kind->component == components[i];
        if (!is_wanted)
            mica_remove_id(codec->world, entity, components[i]);
    }
}

/* Creates an entity, or lets its stand-in become it. Nil if there is such an entity already, or the world refuses it. */
static mica_entity create_or_fill(micap_codec *codec, const mica_value *values, uint32_t count, uint64_t identity)
{
    mica_entity entity = codec->map ? micap_identity_map_find(codec->map, identity) : mica_nil();
    if (mica_is_nil(entity)) {
        entity = mica_create_id(codec->world, values, count);
        bool is_noted = !codec->map || mica_is_nil(entity) || micap_identity_map_note(codec->map, identity, entity);
        return is_noted ? entity : mica_nil();
    }
    bool done = mica_remove_id(codec->world, entity, MICA_ID(mica_remote));
    for (uint32_t i = 0; i < count && done; ++i)
        done = values[i].data ? mica_set_id(codec->world, entity, values[i])
                              : mica_add_id(codec->world, entity, values[i].component) != NULL;
    return done ? entity : mica_nil();
}

mica_entity micap_codec_create_entity(micap_codec *codec, micap_reader *reader, uint64_t identity)
{
    micap_codec_links links;
    arrival arrivals[COMPONENTS_MAX];
    mica_value values[COMPONENTS_MAX];
    uint32_t count = 0, taken = 0, value_count = 0;
    codec->scratch.count = 0;
    bool done = !micap_codec_take_links(codec, reader, &links, &count);
    for (; taken < count && done; ++taken)
        done = take_arrival(codec, reader, taken, &arrivals[taken]);
    for (uint32_t i = 0; i < taken && done; ++i) {
        const micap_codec_kind *kind = arrivals[i].kind;
        const char *data = arrivals[i].bytes.at;
        if (!kind->plain_bytes)
            data = kind->type->size_bytes && !kind->rule ? codec->scratch.data + arrivals[i].offset : NULL;
        if (!kind->type->relation && !kind->rule) /* edges, and what rules make, follow */
            values[value_count++] = (mica_value){kind->component, kind->type->size_bytes, data};
    }
    mica_identity own = {identity};
    values[value_count++] = (mica_value){MICA_ID(mica_identity), sizeof own, &own};
    mica_entity entity = done ? create_or_fill(codec, values, value_count, identity) : mica_nil();
    done = !mica_is_nil(entity);
    for (uint32_t i = 0; i < count && done; ++i)
        done = (arrivals[i].kind->plain_bytes && !arrivals[i].is_disabled) || complete(codec, entity, &arrivals[i]);
    if (done)
        remove_others(codec, entity, arrivals, count);
    done = done && micap_codec_set_links(codec, entity, &links);
    if (!done && !mica_is_nil(entity))
        mica_destroy(codec->world, entity);
    for (uint32_t i = 0; i < taken; ++i) {
        const mica_type *type = arrivals[i].kind->type;
        if (type->size_bytes && arrivals[i].offset < codec->scratch.count) /* otherwise there is nothing */
            micap_codec_clear_value(type, codec->scratch.data + arrivals[i].offset);
    }
    codec->scratch.failed = false;
    return done ? entity : mica_nil();
}

/* ---- references */

static void visit_value(const mica_type *type, const char *value, micap_codec_visit_fn fn, void *context)
{
    if (type->kind == MICA_KIND_ENTITY) {
        mica_entity target;
        memcpy(&target, value, sizeof target);
        fn(target, context);
    }
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        const char *at = value + field->offset;
        for (uint32_t k = 0; k < field->count; ++k, at += field->element_bytes) {
            if (field->kind == MICA_KIND_ENTITY) {
                visit_value(&(mica_type){.kind = MICA_KIND_ENTITY}, at, fn, context);
            } else if (field->kind == MICA_KIND_STRUCT) {
                visit_value(field->type, at, fn, context);
            } else if (field->kind == MICA_KIND_LIST && micap_codec_has_entities(field->type)) {
                const mica_list *list = (const mica_list *)(const void *)at;
                const char *items = mica_list_items_type(list, field->type);
                for (uint32_t item = 0; item < mica_list_count(list); ++item)
                    visit_value(field->type, items + (size_t)item * field->type->size_bytes, fn, context);
            }
        }
    }
}

/* If the entity has the component. */
static void visit_component(micap_codec *codec, mica_entity entity, mica_component component, micap_codec_visit_fn fn,
                            void *context)
{
    const mica_type *type = mica_component_type(component);
    if (type->many) {
        mica_pool *pool = mica_pool_of_id(codec->world, component);
        for (mica_instance it = mica_pool_find(pool, entity); !mica_instance_is_nil(it); it = mica_pool_next(pool, it))
            visit_value(type, mica_instance_read_id(pool, it), fn, context);
    } else if (type->split) {
        codec->scratch.count = 0;
        char *value = micap_bytes_grow(&codec->scratch, type->size_bytes);
        if (value && mica_get_value_id(codec->world, entity, component, value))
            visit_value(type, value, fn, context);
    } else {
        const char *value = mica_get_id(codec->world, entity, component);
        if (value)
            visit_value(type, value, fn, context);
    }
}

void micap_codec_visit(micap_codec *codec, mica_entity entity, micap_codec_visit_fn fn, void *context)
{
    for (uint32_t i = 0; i < codec->referring_count; ++i)
        visit_component(codec, entity, codec->referring[i], fn, context);
    micap_codec_visit_links(codec, entity, fn, context);
}

bool micap_codec_strip_entity(micap_codec *codec, mica_entity entity)
{
    mica_component components[COMPONENTS_MAX];
    uint32_t count = mica_get_components(codec->world, entity, components, COMPONENTS_MAX);
    for (uint32_t i = 0; i < count && i < COMPONENTS_MAX; ++i)
        if (components[i] != MICA_ID(mica_identity))
            mica_remove_id(codec->world, entity, components[i]);
    micap_codec_remove_links(codec, entity);
    return mica_add_id(codec->world, entity, MICA_ID(mica_remote)) != NULL;
}
