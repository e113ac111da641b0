#include "type/value_bytes.h"

#include "base/assert.h"
#include "mica/list.h"

static mica_kind kind_of(const mica_field *field)
{
    return field->type && field->kind != MICA_KIND_LIST ? field->type->kind : field->kind;
}

mica_field micap_element_field(const mica_type *type)
{
    MICAP_ASSERT(type, "elements have a type");
    bool is_described = type->kind == MICA_KIND_STRUCT || type->kind == MICA_KIND_ENUM || type->kind == MICA_KIND_FLAGS;
    return (mica_field){.name = type->name,
                        .type = is_described ? type : NULL,
                        .element_bytes = type->size_bytes,
                        .count = 1,
                        .kind = type->kind};
}

/* Copies a number; in the other direction it is the same. An entity has two. */
static void copy_number(char *to, const char *from, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; ++i)
        to[i] = from[MICAP_IS_BIG_ENDIAN ? bytes - 1 - i : i];
}

static void copy_element(char *to, const char *from, mica_kind kind, uint32_t bytes)
{
    uint32_t number_bytes = kind == MICA_KIND_ENTITY ? bytes / 2 : bytes;
    for (uint32_t at = 0; at < bytes; at += number_bytes)
        copy_number(to + at, from + at, number_bytes);
}

typedef struct value_output {
    micap_bytes *bytes;
    micap_entity_fn fn;
    void *context;
} value_output;

static bool put_field(const value_output *out, const mica_field *field, const char *at);

static bool put_fields(const value_output *out, const mica_type *type, const char *value)
{
    for (uint32_t i = 0; i < type->field_count; ++i)
        if (!put_field(out, &type->fields[i], value + type->fields[i].offset))
            return false;
    return true;
}

static bool put_list(const value_output *out, const mica_type *type, const char *at)
{
    mica_list list;
    memcpy(&list, at, sizeof list);
    uint32_t count = mica_list_count(&list);
    const char *items = list.private_.items;
    mica_field element = micap_element_field(type);
    micap_bytes_put_number(out->bytes, count);
    for (uint32_t i = 0; i < count; ++i)
        if (!put_field(out, &element, items + (size_t)i * type->size_bytes))
            return false;
    return true;
}

static bool put_element(const value_output *out, const mica_field *field, const char *at)
{
    mica_kind kind = kind_of(field);
    mica_text text;
    mica_entity entity;
    if (kind == MICA_KIND_STRUCT)
        return put_fields(out, field->type, at);
    if (kind == MICA_KIND_LIST)
        return put_list(out, field->type, at);
    if (kind == MICA_KIND_TEXT) {
        memcpy(&text, at, sizeof text);
        micap_bytes_put_number(out->bytes, mica_text_length(&text));
        micap_bytes_put(out->bytes, mica_text_get(&text), mica_text_length(&text));
        return true;
    }
    if (kind == MICA_KIND_ENTITY && out->fn) {
        memcpy(&entity, at, sizeof entity);
        if (!out->fn(&entity, out->context))
            return false;
        at = (const char *)&entity;
    }
    char *room = micap_bytes_grow(out->bytes, field->element_bytes);
    if (room)
        copy_element(room, at, kind, field->element_bytes);
    return true;
}

static bool put_field(const value_output *out, const mica_field *field, const char *at)
{
    for (uint32_t i = 0; i < field->count; ++i)
        if (!put_element(out, field, at + (size_t)i * field->element_bytes))
            return false;
    return true;
}

void micap_value_put(micap_bytes *bytes, const mica_type *type, const char *value)
{
    put_fields(&(value_output){.bytes = bytes}, type, value);
}

typedef struct value_input {
    micap_reader *reader;
    uint64_t room; /* for text and lists */
    mica_result result;
} value_input;

static bool fail(value_input *in, mica_result result)
{
    in->result = result;
    in->reader->failed = true;
    return false;
}

static bool take_room(value_input *in, uint64_t bytes)
{
    if (bytes > in->room)
        return fail(in, MICA_ERROR_LIMIT);
    in->room -= bytes;
    return true;
}

/* The fewest bytes that values of a type take. */
static uint64_t least_bytes(const mica_field *field)
{
    mica_kind kind = kind_of(field);
    uint64_t bytes = 0;
    if (kind == MICA_KIND_TEXT || kind == MICA_KIND_LIST)
        return field->count;
    if (kind != MICA_KIND_STRUCT)
        return (uint64_t)field->element_bytes * field->count;
    for (uint32_t i = 0; i < field->type->field_count; ++i)
        bytes += least_bytes(&field->type->fields[i]);
    return bytes * field->count;
}

static bool take_field(value_input *in, const mica_field *field, char *at);

static bool take_text(value_input *in, mica_text *text)
{
    size_t count;
    const char *bytes = micap_reader_take_text(in->reader, &count);
    if (!bytes || count > MICA_TEXT_BYTES_MAX)
        return fail(in, MICA_ERROR_DATA);
    if (!take_room(in, count))
        return false;
    return mica_text_set_bytes(text, bytes, count) == MICA_OK || fail(in, MICA_ERROR_MEMORY);
}

static bool take_list(value_input *in, const mica_type *type, mica_list *list)
{
    MICAP_ASSERT(type, "a list says what its elements are");
    mica_field element = micap_element_field(type);
    uint64_t count = micap_reader_take_up_to(in->reader, MICA_LIST_COUNT_MAX), least = least_bytes(&element);
    if (in->reader->failed || count * type->size_bytes > MICA_LIST_BYTES_MAX ||
        count * least > micap_reader_left(in->reader))
        return fail(in, MICA_ERROR_DATA);
    if (!count)
        return true;
    if (!take_room(in, count * type->size_bytes))
        return false;
    char *items = mica_list_insert_type(list, type, 0, (uint32_t)count);
    if (!items)
        return fail(in, MICA_ERROR_MEMORY);
    for (uint64_t i = 0; i < count; ++i)
        if (!take_field(in, &element, items + i * type->size_bytes))
            return false;
    return true;
}

static bool take_fields(value_input *in, const mica_type *type, char *value)
{
    for (uint32_t i = 0; i < type->field_count; ++i)
        if (!take_field(in, &type->fields[i], value + type->fields[i].offset))
            return false;
    return true;
}

static bool take_element(value_input *in, const mica_field *field, char *at)
{
    mica_kind kind = kind_of(field);
    if (kind == MICA_KIND_STRUCT)
        return take_fields(in, field->type, at);
    if (kind == MICA_KIND_LIST)
        return take_list(in, field->type, (mica_list *)(void *)at);
    if (kind == MICA_KIND_TEXT)
        return take_text(in, (mica_text *)(void *)at);
    const char *from = micap_reader_take(in->reader, field->element_bytes);
    if (!from || (kind == MICA_KIND_BOOL && (uint8_t)*from > 1))
        return fail(in, MICA_ERROR_DATA);
    copy_element(at, from, kind, field->element_bytes);
    return true;
}

static bool take_field(value_input *in, const mica_field *field, char *at)
{
    for (uint32_t i = 0; i < field->count; ++i)
        if (!take_element(in, field, at + (size_t)i * field->element_bytes))
            return false;
    return true;
}

void micap_value_take(micap_reader *reader, const mica_type *type, char *value)
{
    take_fields(&(value_input){.reader = reader, .room = UINT64_MAX}, type, value);
}

/* Called for each text and each list of a value. False ends the walk. */
typedef bool (*part_fn)(const mica_field *field, char *at, void *context);

static bool walk(const mica_type *type, char *value, part_fn fn, void *context)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        mica_kind kind = kind_of(field);
        bool is_part = kind == MICA_KIND_TEXT || kind == MICA_KIND_LIST;
        for (uint32_t j = 0; (is_part || kind == MICA_KIND_STRUCT) && j < field->count; ++j) {
            char *at = value + field->offset + (size_t)j * field->element_bytes;
            if (is_part ? !fn(field, at, context) : !walk(field->type, at, fn, context))
                return false;
        }
    }
    return true;
}

static bool put_part(const mica_field *field, char *at, void *context)
{
    return put_element(context, field, at);
}

bool micap_contents_put(micap_bytes *bytes, const mica_type *type, const char *value, micap_entity_fn fn, void *context)
{
    value_output out = {bytes, fn, context};
    return walk(type, (char *)value, put_part, &out);
}

/* The number of texts and lists in a value. */
static uint64_t count_parts(const mica_type *type)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        mica_kind kind = kind_of(field);
        bool is_part = kind == MICA_KIND_TEXT || kind == MICA_KIND_LIST;
        count += is_part ? field->count : kind == MICA_KIND_STRUCT ? field->count * count_parts(field->type) : 0;
    }
    return count;
}

void micap_contents_put_empty(micap_bytes *bytes, const mica_type *type)
{
    size_t count = (size_t)count_parts(type);
    char *lengths = count ? micap_bytes_grow(bytes, count) : NULL;
    if (lengths)
        memset(lengths, 0, count); /* a length of 0 is one byte */
}

static bool take_part(const mica_field *field, char *at, void *context)
{
    return take_element(context, field, at);
}

mica_result micap_contents_take(micap_reader *reader, const mica_type *type, char *value, uint64_t *room)
{
    value_input in = {reader, *room, MICA_OK};
    walk(type, value, take_part, &in);
    *room = in.room;
    return in.result;
}

static bool is_same_field(const mica_field *field, const char *a, const char *b);

static bool is_same_list(const mica_list *a, const mica_list *b, const mica_type *type)
{
    mica_field element = micap_element_field(type);
    uint32_t count = mica_list_count(a);
    const char *first = a->private_.items, *second = b->private_.items;
    if (first == second || count != mica_list_count(b))
        return first == second;
    for (size_t i = 0; i < count; ++i)
        if (!is_same_field(&element, first + i * type->size_bytes, second + i * type->size_bytes))
            return false;
    return true;
}

bool micap_content_is_same(const void *a, const void *b, mica_kind kind, const mica_type *element)
{
    return kind == MICA_KIND_TEXT ? mica_text_compare(a, b) == 0 : is_same_list(a, b, element);
}

static bool is_same_field(const mica_field *field, const char *a, const char *b)
{
    mica_kind kind = kind_of(field);
    bool is_part = kind == MICA_KIND_TEXT || kind == MICA_KIND_LIST, same = true;
    if (!is_part && kind != MICA_KIND_STRUCT)
        return memcmp(a, b, (size_t)field->element_bytes * field->count) == 0;
    for (uint32_t i = 0; same && i < field->count; ++i, a += field->element_bytes, b += field->element_bytes) {
        same = !is_part || micap_content_is_same(a, b, kind, field->type);
        for (uint32_t j = 0; same && !is_part && j < field->type->field_count; ++j) {
            const mica_field *nested = &field->type->fields[j];
            same = is_same_field(nested, a + nested->offset, b + nested->offset);
        }
    }
    return same;
}

static bool clear_part(const mica_field *field, char *at, void *context)
{
    (void)context;
    if (field->kind == MICA_KIND_LIST)
        mica_list_clear_type((mica_list *)(void *)at, field->type);
    else
        mica_text_clear((mica_text *)(void *)at);
    return true;
}

void micap_contents_clear(const mica_type *type, void *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        walk(type, (char *)values + (size_t)i * type->size_bytes, clear_part, NULL);
}

static bool omit_part(const mica_field *field, char *at, void *context)
{
    (void)context;
    memset(at, 0, field->element_bytes);
    return true;
}

void micap_contents_omit(const mica_type *type, char *value)
{
    walk(type, value, omit_part, NULL);
}

static bool is_omitted(const mica_field *field, char *at, void *context)
{
    static const mica_text zero;
    (void)context;
    return memcmp(at, &zero, field->element_bytes) == 0;
}

bool micap_contents_are_omitted(const mica_type *type, const char *value)
{
    return walk(type, (char *)value, is_omitted, NULL);
}

typedef struct content_visit {
    mica_kind kind;
    bool writes;
    micap_content_fn fn;
    void *context;
} content_visit;

/* Whether a value of a type has fields of a kind, also in its lists. */
static bool has_kind(const mica_type *type, mica_kind kind)
{
    bool has = type->kind == kind;
    for (uint32_t i = 0; !has && i < type->field_count; ++i)
        has = kind_of(&type->fields[i]) == kind || (type->fields[i].type && has_kind(type->fields[i].type, kind));
    return has;
}

bool micap_contents_exist(const mica_type *type)
{
    return has_kind(type, MICA_KIND_TEXT) || has_kind(type, MICA_KIND_LIST);
}

bool micap_contents_have(const mica_type *type, mica_kind kind)
{
    bool have = false;
    for (uint32_t i = 0; !have && i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        have = field->type &&
               (field->kind == MICA_KIND_LIST ? has_kind(field->type, kind) : micap_contents_have(field->type, kind));
    }
    return have;
}

static bool visit_field(const content_visit *visit, const mica_field *field, char *at);

static bool visit_list(const content_visit *visit, const mica_type *type, mica_list *list)
{
    MICAP_ASSERT(type, "a list says what its elements are");
    mica_field element = micap_element_field(type);
    uint32_t count = mica_list_count(list);
    if (!count || !has_kind(type, visit->kind))
        return true;
    char *items = visit->writes ? mica_list_write_type(list, type) : list->private_.items;
    for (uint32_t i = 0; items && i < count; ++i)
        if (!visit_field(visit, &element, items + (size_t)i * type->size_bytes))
            return false;
    return items != NULL;
}

static bool visit_field(const content_visit *visit, const mica_field *field, char *at)
{
    mica_kind kind = kind_of(field);
    for (uint32_t i = 0; i < field->count; ++i, at += field->element_bytes) {
        bool fine = kind != visit->kind || visit->fn(at, visit->context);
        for (uint32_t j = 0; fine && kind == MICA_KIND_STRUCT && j < field->type->field_count; ++j)
            fine = visit_field(visit, &field->type->fields[j], at + field->type->fields[j].offset);
        if (!fine || (kind == MICA_KIND_LIST && !visit_list(visit, field->type, (mica_list *)(void *)at)))
            return false;
    }
    return true;
}

static bool visit_part(const mica_field *field, char *at, void *context)
{
    return field->kind != MICA_KIND_LIST || visit_list(context, field->type, (mica_list *)(void *)at);
}

bool micap_contents_visit(const mica_type *type, void *value, mica_kind kind, bool writes, micap_content_fn fn,
                          void *context)
{
    content_visit visit = {kind, writes, fn, context};
    return walk(type, value, visit_part, &visit);
}

bool micap_type_needs_rule(const mica_type *type)
{
    bool has_functions = (type->destruct || type->copy || type->move) && !micap_contents_exist(type);
    return has_functions || (type->size_bytes && type->kind == MICA_KIND_STRUCT && !type->field_count);
}

bool micap_type_has_initial(const mica_type *type)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        if (field->attributes && (field->attributes->initial_json || field->attributes->initial != 0))
            return true;
        if (field->type && field->kind != MICA_KIND_LIST && micap_type_has_initial(field->type))
            return true;
    }
    return false;
}

static size_t text_bytes(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

size_t micap_attributes_bytes(const mica_attributes *attributes)
{
    return sizeof *attributes + text_bytes(attributes->unit) + text_bytes(attributes->note) +
           text_bytes(attributes->initial_json);
}

static const char *copy_text(char **to, const char *text)
{
    size_t bytes = text_bytes(text);
    const char *copy = bytes ? memcpy(*to, text, bytes) : NULL;
    *to += bytes;
    return copy;
}

mica_attributes *micap_attributes_copy(void *memory, const mica_attributes *attributes)
{
    mica_attributes *copy = memory;
    char *texts = (char *)(copy + 1);
    *copy = *attributes;
    copy->unit = copy_text(&texts, attributes->unit);
    copy->note = copy_text(&texts, attributes->note);
    copy->initial_json = copy_text(&texts, attributes->initial_json);
    return copy;
}
