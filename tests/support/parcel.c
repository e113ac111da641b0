#include "parcel.h"

#include "components.h"
#include "require.h"
#include "replication/delta_checksum.h"
#include "replication/delta_format.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t parcel_word(const parcel *parcel, uint32_t at, uint32_t bytes)
{
    uint64_t word = 0;
    for (uint32_t i = 0; i < bytes && i < 8; ++i)
        word |= (uint64_t)(unsigned char)parcel->bytes[at + i] << 8 * i;
    return word;
}

void parcel_set_word(const parcel *parcel, uint32_t at, uint32_t bytes, uint64_t word)
{
    for (uint32_t i = 0; i < bytes && i < 8; ++i)
        parcel->bytes[at + i] = (char)(word >> 8 * i);
}

/* Notes the next field, and returns what is in it. */
__attribute__((format(printf, 3, 4))) static uint32_t walk(parcel *parcel, uint32_t bytes, const char *format, ...)
{
    REQUIRE(parcel->field_count < COUNT_OF(parcel->fields) && parcel->at + bytes <= parcel->count);
    field *field = &parcel->fields[parcel->field_count++];
    int length = snprintf(field->name, sizeof field->name, "%s: ", parcel->of);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(field->name + length, sizeof field->name - (size_t)length, format, arguments);
    va_end(arguments);
    field->at = parcel->at;
    field->bytes = bytes;
    field->group = parcel->group;
    parcel->at += bytes;
    return (uint32_t)parcel_word(parcel, field->at, bytes);
}

/* The first two and the last, and the list as a whole. */
static void walk_handles(parcel *parcel, uint32_t slice, uint32_t count)
{
    uint32_t begin = parcel->at;
    for (uint32_t i = 0; i < count; ++i) {
        parcel->at = begin + 8 * i;
        if (i > 1 && i + 1 < count)
            continue;
        walk(parcel, 4, "slice %u: entity %u: index", slice, i);
        walk(parcel, 4, "slice %u: entity %u: generation", slice, i);
    }
    parcel->at = begin;
    walk(parcel, count * 8, "slice %u: entities", slice);
}

static const micap_type *type_of_hash(uint64_t name_hash)
{
    const micap_type *type;
    for (mica_component id = 1; (type = micap_type_of(id)); ++id)
        if (type->name_hash == name_hash)
            return type;
    for (mica_component id = MICAP_POOL_IDS; (type = micap_type_of(id)); ++id)
        if (type->name_hash == name_hash)
            return type;
    ck_abort_msg("no component has the hash %llx", (unsigned long long)name_hash);
}

static void walk_table(parcel *parcel)
{
    const micap_type *types[80];
    walk(parcel, 8, "key");
    walk(parcel, 4, "rows");
    uint32_t columns = walk(parcel, 4, "columns"), slices = walk(parcel, 4, "slices");
    for (uint32_t i = 0; i < columns; ++i) {
        types[i] = type_of_hash(parcel_word(parcel, parcel->at, 8));
        walk(parcel, 8, "column %u: name", i);
        walk(parcel, 8, "column %u: layout", i);
    }
    for (uint32_t i = 0; i < slices; ++i) {
        uint32_t numbers[80];
        walk(parcel, 4, "slice %u: row", i);
        uint32_t rows = walk(parcel, 4, "slice %u: rows", i);
        uint32_t has_entities = walk(parcel, 4, "slice %u: with entities", i);
        uint32_t sent = walk(parcel, 4, "slice %u: columns", i);
        for (uint32_t j = 0; j < sent; ++j)
            numbers[j] = walk(parcel, 4, "slice %u: number %u", i, j);
        if (has_entities)
            walk_handles(parcel, i, rows);
        for (uint32_t j = 0; j < sent; ++j)
            walk(parcel, rows * types[numbers[j]]->type.size_bytes, "slice %u: values %u", i, j);
    }
}

static void walk_pool(parcel *parcel)
{
    const mica_type *type = &type_of_hash(parcel_word(parcel, parcel->at, 8))->type;
    walk(parcel, 8, "name");
    walk(parcel, 8, "layout");
    walk(parcel, 4, "rows");
    uint32_t slices = walk(parcel, 4, "slices");
    walk(parcel, 4, "is direct");
    for (uint32_t i = 0; i < slices; ++i) {
        walk(parcel, 4, "slice %u: row", i);
        uint32_t rows = walk(parcel, 4, "slice %u: rows", i), parts = walk(parcel, 4, "slice %u: parts", i);
        if (parts & MICAP_DELTA_OWNERS)
            walk_handles(parcel, i, rows);
        for (uint32_t j = 0; parts & MICAP_DELTA_NEXT && j < rows; ++j)
            walk(parcel, 4, "slice %u: next %u", i, j);
        if (parts & MICAP_DELTA_VALUES)
            walk(parcel, rows * type->size_bytes, "slice %u: values", i);
        if (parts & MICAP_DELTA_TOGGLES)
            walk(parcel, rows, "slice %u: toggles", i);
    }
}

static void walk_names(parcel *parcel)
{
    uint32_t count = walk(parcel, 4, "count");
    for (uint32_t i = 0; i < count; ++i) {
        walk(parcel, 8, "%u: entity", i);
        walk(parcel, 8, "%u: scope", i);
        uint32_t length = walk(parcel, 4, "%u: length", i);
        walk(parcel, length, "%u: text", i);
    }
}

static void walk_links(parcel *parcel)
{
    walk(parcel, 4, "page");
    uint32_t count = walk(parcel, 4, "parents");
    for (uint32_t i = 0; i < count; ++i) {
        walk(parcel, 8, "%u: parent", i);
        uint32_t children = walk(parcel, 4, "%u: count", i);
        walk(parcel, children * 8, "%u: children", i);
    }
}

static void walk_state(parcel *parcel)
{
    uint32_t count = walk(parcel, 4, "records");
    for (uint32_t i = 0; i < count; ++i) {
        walk(parcel, 4, "%u: kind", i);
        if (walk(parcel, 4, "%u: is sent", i))
            walk(parcel, 4 + (uint32_t)parcel_word(parcel, parcel->at, 4), "%u: content", i);
    }
}

static void walk_group(parcel *parcel)
{
    uint32_t kind = (uint32_t)parcel_word(parcel, parcel->at, 4), name_at = parcel->at + 8;
    parcel->group = parcel->at;
    name_at += kind == MICAP_DELTA_TABLE ? 20 : 0;
    bool is_bare = kind == MICAP_DELTA_TABLE && !parcel_word(parcel, parcel->at + 20, 4);
    parcel->of = kind == MICAP_DELTA_NAMES   ? "names"
                 : kind == MICAP_DELTA_LINKS ? "links"
                 : kind == MICAP_DELTA_STATE ? "state"
                 : is_bare                   ? "nothing"
                                             : type_of_hash(parcel_word(parcel, name_at, 8))->type.name;
    walk(parcel, 4, "kind");
    uint32_t end = parcel->at + 4 + walk(parcel, 4, "bytes");
    switch (kind) {
    case MICAP_DELTA_TABLE: walk_table(parcel); break;
    case MICAP_DELTA_POOL: walk_pool(parcel); break;
    case MICAP_DELTA_TAGS:
        walk(parcel, 8, "name");
        walk(parcel, 8 * walk(parcel, 4, "words"), "bits");
        break;
    case MICAP_DELTA_SINGLETON:
        walk(parcel, 8, "name");
        walk(parcel, 8, "layout");
        walk(parcel, end - parcel->at, "value");
        break;
    case MICAP_DELTA_NAMES: walk_names(parcel); break;
    case MICAP_DELTA_LINKS: walk_links(parcel); break;
    case MICAP_DELTA_STATE: walk_state(parcel); break;
    default: ck_abort_msg("a group of kind %u", kind);
    }
    REQUIRE(parcel->at == end);
}

void parcel_open(parcel *parcel, const char *bytes, uint32_t count)
{
    *parcel = (struct parcel){.bytes = malloc(count), .count = count, .of = "header"};
    memcpy(parcel->bytes, bytes, count);
    walk(parcel, 8, "magic");
    walk(parcel, 4, "mark");
    walk(parcel, 4, "format");
    walk(parcel, 8, "base");
    walk(parcel, 8, "version");
    walk(parcel, 8, "bytes");
    walk(parcel, 8, "checksum");
    while (parcel->at < parcel->count)
        walk_group(parcel);
}

void parcel_close(parcel *parcel)
{
    free(parcel->bytes);
}

const field *parcel_field(const parcel *parcel, const char *name)
{
    for (uint32_t i = 0; i < parcel->field_count; ++i)
        if (strcmp(parcel->fields[i].name, name) == 0)
            return &parcel->fields[i];
    ck_abort_msg("there is no field %s", name);
}

static void splice(parcel *parcel, uint32_t at, uint32_t bytes, uint32_t count)
{
    char *fresh = calloc(1, parcel->count - bytes + count);
    memcpy(fresh, parcel->bytes, at);
    memcpy(fresh + at + count, parcel->bytes + at + bytes, parcel->count - at - bytes);
    free(parcel->bytes);
    parcel->bytes = fresh;
    parcel->count += count - bytes;
}

void parcel_replace(parcel *parcel, uint32_t group, uint32_t at, uint32_t bytes, uint32_t count)
{
    splice(parcel, at, bytes, count);
    parcel_set_word(parcel, group + 4, 4, parcel_word(parcel, group + 4, 4) + count - bytes);
}

void parcel_repeat(parcel *parcel, uint32_t group)
{
    uint32_t bytes = 8 + (uint32_t)parcel_word(parcel, group + 4, 4);
    splice(parcel, group + bytes, 0, bytes);
    memcpy(parcel->bytes + group + bytes, parcel->bytes + group, bytes);
}

void parcel_seal(parcel *parcel, bool size, bool checksum)
{
    if (size)
        parcel_set_word(parcel, 32, 8, parcel->count);
    if (checksum)
        parcel_set_word(parcel, MICAP_DELTA_CHECKSUM_AT, 8, micap_delta_checksum(parcel->bytes, parcel->count));
}
