#include "cluster/value_codec.h"

#include "mica/component.h"
#include "mica/name.h"
#include "mica/pool.h"
#include "mica/relation.h"
#include "mica/split.h"

#include <stdio.h>

enum { COMPONENTS_MAX = 256, NAME_BYTES_MAX = 4096, VALUE_ALIGNMENT = 16 };

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
        return "has functions that construct or destroy it, which other processes can't use";
    if (type->alignment > VALUE_ALIGNMENT)
        return "is aligned to more than 16 bytes";
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
    if (is_alive && !identity)
        snprintf(
            codec->problem, sizeof codec->problem,
            "a component refers to an entity without identity: one that is not shared, or was created in this step");
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

bool micap_codec_update(micap_codec *codec)
{
    mica_component component = 0;
    uint32_t count = 0;
    while ((component = mica_component_next(codec->world, component)))
        ++count;
    if (count == codec->kind_count)
        return true;
    if (!MICAP_RESERVE(codec->memory, codec->kinds, &codec->kind_capacity, count))
        return false;
    codec->kind_count = 0;
    while ((component = mica_component_next(codec->world, component))) {
        micap_codec_kind kind = {mica_component_name_hash(component), component};
        uint32_t at = codec->kind_count++;
        for (; at && codec->kinds[at - 1].hash > kind.hash; --at)
            codec->kinds[at] = codec->kinds[at - 1];
        codec->kinds[at] = kind;
        codec->has_references = codec->has_references || micap_codec_has_entities(mica_component_type(component));
        const char *problem = micap_codec_problem(component);
        if (problem && !codec->problem[0])
            snprintf(codec->problem, sizeof codec->problem, "the component %.60s %s",
                     mica_component_type(component)->name, problem);
    }
    return true;
}

void micap_codec_free(micap_codec *codec)
{
    MICAP_RELEASE_ARRAY(codec->memory, codec->kinds, codec->kind_capacity);
    micap_bytes_free(&codec->scratch);
}

/* 0 if there is none. */
static mica_component find_by_hash(const micap_codec *codec, uint64_t hash)
{
    uint32_t begin = 0, end = codec->kind_count;
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (codec->kinds[middle].hash < hash)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < codec->kind_count && codec->kinds[begin].hash == hash ? codec->kinds[begin].component : 0;
}

/* ---- entities */

static void put_instances(micap_codec *codec, micap_bytes *bytes, mica_entity entity, mica_component component)
{
    mica_world *world = codec->world;
    const mica_type *type = mica_component_type(component);
    mica_pool *pool = mica_pool_of_id(world, component);
    uint32_t count = 0;
    for (mica_instance it = mica_pool_find(pool, entity); !mica_instance_is_nil(it); it = mica_pool_next(pool, it))
        ++count;
    micap_bytes_put_number(bytes, count);
    for (mica_instance it = mica_pool_find(pool, entity); type->size_bytes && !mica_instance_is_nil(it);
         it = mica_pool_next(pool, it))
        micap_codec_put_value(codec, bytes, type, mica_instance_read_id(pool, it));
}

static void put_component(micap_codec *codec, micap_bytes *bytes, mica_entity entity, mica_component component)
{
    const mica_type *type = mica_component_type(component);
    micap_bytes_put64(bytes, mica_component_name_hash(component));
    micap_bytes_put_number(bytes, type->toggle && !mica_is_enabled_id(codec->world, entity, component));
    if (type->many) {
        put_instances(codec, bytes, entity, component);
    } else if (type->split) {
        codec->scratch.count = 0;
        char *value = micap_bytes_grow(&codec->scratch, type->size_bytes);
        if (value && mica_get_value_id(codec->world, entity, component, value))
            micap_codec_put_value(codec, bytes, type, value);
        else
            bytes->failed = true;
    } else if (type->size_bytes) {
        micap_codec_put_value(codec, bytes, type, mica_get_id(codec->world, entity, component));
    }
}

void micap_codec_put_entity(micap_codec *codec, micap_bytes *bytes, mica_entity entity)
{
    mica_component components[COMPONENTS_MAX];
    uint32_t count = mica_get_components(codec->world, entity, components, COMPONENTS_MAX), kept = 0;
    if (count > COMPONENTS_MAX) {
        bytes->failed = true;
        return;
    }
    /* By the hash of the name: ids depend on the order of registration. */
    for (uint32_t i = 0; i < count; ++i) {
        mica_component component = components[i];
        if (component == MICA_ID(mica_identity) || component == MICA_ID(mica_remote))
            continue;
        uint32_t at = kept++;
        uint64_t hash = mica_component_name_hash(component);
        for (; at && mica_component_name_hash(components[at - 1]) > hash; --at)
            components[at] = components[at - 1];
        components[at] = component;
    }
    const char *name = mica_name_get(codec->world, entity);
    if (name && !mica_is_nil(mica_name_get_scope(codec->world, entity)))
        snprintf(codec->problem, sizeof codec->problem, "the name %.60s is in the scope of another entity", name);
    micap_bytes_put_text(bytes, name ? name : "");
    micap_bytes_put_number(bytes, kept);
    for (uint32_t i = 0; i < kept; ++i)
        put_component(codec, bytes, entity, components[i]);
}

static const char *check_component(micap_codec *codec, micap_reader *reader, uint64_t hash)
{
    mica_component component = find_by_hash(codec, hash);
    const mica_type *type = mica_component_type(component);
    if (!component || component == MICA_ID(mica_identity) || component == MICA_ID(mica_remote) ||
        type->storage == MICA_STORAGE_SINGLETON || micap_codec_problem(component))
        return "an entity has a component that this rank does not know";
    micap_reader_take_up_to(reader, type->toggle);
    uint64_t values = type->many ? micap_reader_take_up_to(reader, UINT32_MAX) : 1;
    if (!values)
        return "a component of an entity has no instances";
    for (uint64_t k = 0; k < values && type->size_bytes && !reader->failed; ++k)
        if (!micap_codec_take_value(codec, reader, type, NULL))
            return "a value of an entity is invalid";
    return NULL;
}

const char *micap_codec_check_entity(micap_codec *codec, micap_reader *reader)
{
    size_t name_bytes;
    const char *name = micap_reader_take_text(reader, &name_bytes);
    if (!name || name_bytes > NAME_BYTES_MAX || memchr(name, '/', name_bytes) || memchr(name, 0, name_bytes))
        return "the name of an entity is invalid";
    uint64_t count = micap_reader_take_up_to(reader, COMPONENTS_MAX - 1), last = 0;
    for (uint64_t i = 0; i < count && !reader->failed; ++i) {
        uint64_t hash = micap_reader_take64(reader);
        const char *problem =
            i && hash <= last ? "the components of an entity are not in order" : check_component(codec, reader, hash);
        if (problem && !reader->failed)
            return problem;
        last = hash;
    }
    return reader->failed ? "an entity is cut off" : NULL;
}

/* A component on its way into an entity. */
typedef struct arrival {
    mica_component component;
    uint32_t offset; /* of its value, in the scratch memory */
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

static bool take_arrival(micap_codec *codec, micap_reader *reader, arrival *out)
{
    *out = (arrival){.component = find_by_hash(codec, micap_reader_take64(reader))};
    const mica_type *type = mica_component_type(out->component);
    out->is_disabled = micap_reader_take_number(reader);
    out->more_count = type->many ? micap_reader_take_number(reader) - 1 : 0;
    bool done = take_to_scratch(codec, reader, type, &out->offset);
    out->more_bytes = *reader;
    for (uint64_t i = 0; i < out->more_count && type->size_bytes && done; ++i)
        done = micap_codec_take_value(codec, reader, type, NULL);
    return done;
}

/* Adds the edges of a relation. */
static bool add_edges(micap_codec *codec, mica_entity entity, arrival *arrival)
{
    const mica_type *type = mica_component_type(arrival->component);
    uint32_t offset = arrival->offset;
    bool done = true;
    for (uint64_t i = 0; i <= arrival->more_count && done; ++i) {
        done =
            (!i || take_to_scratch(codec, &arrival->more_bytes, type, &offset)) &&
            mica_load_edges_id(codec->world, arrival->component, &entity, codec->scratch.data + offset, 1) == MICA_OK;
        if (i && done)
            micap_codec_clear_value(type, codec->scratch.data + offset);
    }
    return done;
}

/* Adds what does not come with the creation. */
static bool complete(micap_codec *codec, mica_entity entity, arrival *arrival)
{
    const mica_type *type = mica_component_type(arrival->component);
    if (type->relation)
        return add_edges(codec, entity, arrival);
    mica_pool *pool = arrival->more_count ? mica_pool_of_id(codec->world, arrival->component) : NULL;
    for (uint64_t i = 0; i < arrival->more_count; ++i) {
        mica_instance instance = mica_pool_add(pool, entity);
        if (mica_instance_is_nil(instance))
            return false;
        if (type->size_bytes &&
            !micap_codec_take_value(codec, &arrival->more_bytes, type, mica_instance_write_id(pool, instance)))
            return false;
    }
    return !arrival->is_disabled || mica_enable_id(codec->world, entity, arrival->component, false);
}

/* Components that came along because others require them, but that the entity did not have. */
static void remove_others(micap_codec *codec, mica_entity entity, const arrival *arrivals, uint32_t count)
{
    mica_component components[COMPONENTS_MAX];
    uint32_t present = mica_get_components(codec->world, entity, components, COMPONENTS_MAX);
    for (uint32_t i = 0; present > count + 1 && i < present && i < COMPONENTS_MAX; ++i) {
        bool is_wanted = components[i] == MICA_ID(mica_identity);
        for (uint32_t k = 0; k < count && !is_wanted; ++k)
            is_wanted = arrivals[k].component == components[i];
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
    size_t name_bytes;
    const char *text = micap_reader_take_text(reader, &name_bytes);
    char name[NAME_BYTES_MAX + 1] = {0};
    if (name_bytes)
        memcpy(name, text, name_bytes);
    arrival arrivals[COMPONENTS_MAX];
    mica_value values[COMPONENTS_MAX];
    uint32_t count = (uint32_t)micap_reader_take_number(reader), taken = 0, value_count = 0;
    codec->scratch.count = 0;
    bool done = true;
    for (; taken < count && done; ++taken)
        done = take_arrival(codec, reader, &arrivals[taken]);
    for (uint32_t i = 0; i < taken && done; ++i) {
        const mica_type *type = mica_component_type(arrivals[i].component);
        char *data = type->size_bytes ? codec->scratch.data + arrivals[i].offset : NULL;
        if (!type->relation) /* edges follow */
            values[value_count++] = (mica_value){arrivals[i].component, type->size_bytes, data};
    }
    mica_identity own = {identity};
    values[value_count++] = (mica_value){MICA_ID(mica_identity), sizeof own, &own};
    mica_entity entity = done ? create_or_fill(codec, values, value_count, identity) : mica_nil();
    done = !mica_is_nil(entity);
    for (uint32_t i = 0; i < count && done; ++i)
        done = complete(codec, entity, &arrivals[i]);
    if (done)
        remove_others(codec, entity, arrivals, count);
    if (done && name_bytes)
        done = mica_name_set(codec->world, entity, mica_nil(), name) == MICA_OK;
    if (!done && !mica_is_nil(entity))
        mica_destroy(codec->world, entity);
    for (uint32_t i = 0; i < taken; ++i) {
        const mica_type *type = mica_component_type(arrivals[i].component);
        if (type->size_bytes && arrivals[i].offset < codec->scratch.count) /* otherwise there was no memory for it */
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
        visit_value(type, mica_get_id(codec->world, entity, component), fn, context);
    }
}

void micap_codec_visit(micap_codec *codec, mica_entity entity, micap_codec_visit_fn fn, void *context)
{
    mica_component components[COMPONENTS_MAX];
    uint32_t count = mica_get_components(codec->world, entity, components, COMPONENTS_MAX);
    for (uint32_t i = 0; i < count && i < COMPONENTS_MAX; ++i)
        if (micap_codec_has_entities(mica_component_type(components[i])))
            visit_component(codec, entity, components[i], fn, context);
}

bool micap_codec_strip_entity(micap_codec *codec, mica_entity entity)
{
    mica_component components[COMPONENTS_MAX];
    uint32_t count = mica_get_components(codec->world, entity, components, COMPONENTS_MAX);
    for (uint32_t i = 0; i < count && i < COMPONENTS_MAX; ++i)
        if (components[i] != MICA_ID(mica_identity))
            mica_remove_id(codec->world, entity, components[i]);
    if (mica_name_get(codec->world, entity))
        mica_name_set(codec->world, entity, mica_nil(), NULL);
    return mica_add_id(codec->world, entity, MICA_ID(mica_remote)) != NULL;
}
