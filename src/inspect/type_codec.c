#include "inspect/type_codec.h"

#include <stdlib.h>

enum { DEPTH_MAX = 16, COUNT_MAX = 4096 };

/* The traits of a type that are bits. */
#define EACH_FLAG(X)                                                                                                   \
    X(toggle) X(track_added) X(track_changed) X(split) X(many) X(hides) X(relation) X(exclusive) X(symmetric) X(acyclic)\
        X(transitive) X(ordered)

static void put_real(micap_bytes *bytes, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    micap_bytes_put64(bytes, bits);
}

static double take_real(micap_reader *reader)
{
    uint64_t bits = micap_reader_take64(reader);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void write_type(const mica_type *type, micap_bytes *bytes);

static void write_field(const mica_field *field, micap_bytes *bytes)
{
    micap_bytes_put_text(bytes, field->name);
    micap_bytes_put_number(bytes, field->offset);
    micap_bytes_put_number(bytes, field->element_bytes);
    micap_bytes_put_number(bytes, field->count);
    micap_bytes_put_number(bytes, (uint64_t)field->kind);
    micap_bytes_put_number(bytes, (field->type ? 1u : 0) | (field->attributes ? 2u : 0));
    if (field->type)
        write_type(field->type, bytes);
    if (field->attributes) {
        micap_bytes_put_text(bytes, field->attributes->unit ? field->attributes->unit : "");
        micap_bytes_put_text(bytes, field->attributes->note ? field->attributes->note : "");
        put_real(bytes, field->attributes->minimum);
        put_real(bytes, field->attributes->maximum);
    }
}

static void write_type(const mica_type *type, micap_bytes *bytes)
{
    uint32_t flags = 0, bit = 1;
#define PUT_FLAG(name)                                                                                                 \
    flags |= type->name ? bit : 0;                                                                                     \
    bit <<= 1;
    EACH_FLAG(PUT_FLAG)
#undef PUT_FLAG
    micap_bytes_put_text(bytes, type->name ? type->name : "");
    micap_bytes_put_number(bytes, (uint64_t)type->kind);
    micap_bytes_put_number(bytes, (uint64_t)type->storage);
    micap_bytes_put_number(bytes, flags);
    micap_bytes_put_number(bytes, (uint64_t)type->index);
    micap_bytes_put_number(bytes, (uint64_t)type->dying);
    micap_bytes_put_number(bytes, (uint64_t)type->on_target);
    micap_bytes_put_number(bytes, type->size_bytes);
    micap_bytes_put_number(bytes, type->alignment);
    micap_bytes_put_number(bytes, type->field_count);
    for (uint32_t i = 0; i < type->field_count; ++i)
        write_field(&type->fields[i], bytes);
    micap_bytes_put_number(bytes, type->constant_count);
    for (uint32_t i = 0; i < type->constant_count; ++i) {
        micap_bytes_put_text(bytes, type->constants[i].name);
        micap_bytes_put64(bytes, (uint64_t)type->constants[i].value);
    }
}

void micap_types_write(const mica_world *world, micap_bytes *bytes)
{
    for (mica_component component = 0; (component = mica_component_next(world, component));) {
        micap_bytes_put_number(bytes, 1);
        write_type(mica_component_type(component), bytes);
    }
    micap_bytes_put_number(bytes, 0);
}

/* Memory that is freed at once when a component is defined, since the registry copies descriptions. */
typedef struct block {
    struct block *next;
    max_align_t data[];
} block;

typedef struct decoder {
    micap_reader *reader;
    block *blocks;
    bool is_short; /* of memory */
} decoder;

static void *take_memory(decoder *decoder, size_t bytes)
{
    block *block = calloc(1, sizeof *block + bytes);
    if (!block) {
        decoder->is_short = decoder->reader->failed = true;
        return NULL;
    }
    block->next = decoder->blocks;
    decoder->blocks = block;
    return block->data;
}

static void free_memory(decoder *decoder)
{
    while (decoder->blocks) {
        block *next = decoder->blocks->next;
        free(decoder->blocks);
        decoder->blocks = next;
    }
}

static const char *take_text(decoder *decoder)
{
    size_t count;
    const char *text = micap_reader_take_text(decoder->reader, &count);
    char *copy = text ? take_memory(decoder, count + 1) : NULL;
    if (copy && count)
        memcpy(copy, text, count);
    return copy;
}

/* A count of things of which each takes at least a byte. */
static uint32_t take_count(decoder *decoder)
{
    size_t left = micap_reader_left(decoder->reader);
    return (uint32_t)micap_reader_take_up_to(decoder->reader, left < COUNT_MAX ? left : COUNT_MAX);
}

static mica_type *take_type(decoder *decoder, uint32_t depth);

static void take_field(decoder *decoder, mica_field *field, uint32_t depth)
{
    micap_reader *reader = decoder->reader;
    field->name = take_text(decoder);
    field->offset = (uint32_t)micap_reader_take_up_to(reader, MICA_COMPONENT_BYTES_MAX);
    field->element_bytes = (uint32_t)micap_reader_take_up_to(reader, MICA_COMPONENT_BYTES_MAX);
    field->count = (uint32_t)micap_reader_take_up_to(reader, MICA_COMPONENT_BYTES_MAX);
    field->kind = (mica_kind)micap_reader_take_up_to(reader, MICA_KIND_LIST);
    uint32_t has = (uint32_t)micap_reader_take_up_to(reader, 3);
    if (has & 1)
        field->type = take_type(decoder, depth + 1);
    mica_attributes *attributes = has & 2 ? take_memory(decoder, sizeof *attributes) : NULL;
    if (attributes) {
        attributes->unit = take_text(decoder);
        attributes->note = take_text(decoder);
        attributes->minimum = take_real(reader);
        attributes->maximum = take_real(reader);
    }
    field->attributes = attributes;
}

static mica_type *take_type(decoder *decoder, uint32_t depth)
{
    micap_reader *reader = decoder->reader;
    mica_type *type = depth < DEPTH_MAX ? take_memory(decoder, sizeof *type) : NULL;
    if (!type) {
        reader->failed = true;
        return NULL;
    }
    type->name = take_text(decoder);
    type->kind = (mica_kind)micap_reader_take_up_to(reader, MICA_KIND_LIST);
    type->storage = (mica_storage)micap_reader_take_up_to(reader, MICA_STORAGE_POOL);
    uint32_t flags = (uint32_t)micap_reader_take_up_to(reader, UINT32_MAX), bit = 1;
#define TAKE_FLAG(name)                                                                                                \
    type->name = flags & bit;                                                                                          \
    bit <<= 1;
    EACH_FLAG(TAKE_FLAG)
#undef TAKE_FLAG
    type->index = (mica_pool_index)micap_reader_take_up_to(reader, MICA_INDEX_HASH);
    type->dying = (mica_dying)micap_reader_take_up_to(reader, MICA_DYING_LAZILY);
    type->on_target = (mica_target_policy)micap_reader_take_up_to(reader, MICA_TARGET_REFUSE);
    type->size_bytes = (uint32_t)micap_reader_take_up_to(reader, MICA_COMPONENT_BYTES_MAX);
    type->alignment = (uint32_t)micap_reader_take_up_to(reader, MICA_COMPONENT_ALIGNMENT_MAX);
    type->field_count = take_count(decoder);
    mica_field *fields = take_memory(decoder, type->field_count * sizeof *fields);
    for (uint32_t i = 0; !reader->failed && i < type->field_count; ++i)
        take_field(decoder, &fields[i], depth);
    type->fields = fields;
    type->constant_count = take_count(decoder);
    mica_constant *constants = take_memory(decoder, type->constant_count * sizeof *constants);
    for (uint32_t i = 0; !reader->failed && i < type->constant_count; ++i) {
        constants[i].name = take_text(decoder);
        constants[i].value = (int64_t)micap_reader_take64(reader);
    }
    type->constants = constants;
    return type;
}

mica_result micap_types_read(mica_world *world, micap_reader *reader)
{
    mica_result result = MICA_OK;
    while (result == MICA_OK && micap_reader_take_up_to(reader, 1)) {
        decoder decoder = {.reader = reader};
        mica_type *type = take_type(&decoder, 0);
        if (decoder.is_short)
            result = MICA_ERROR_MEMORY;
        else if (reader->failed)
            result = MICA_ERROR_DATA;
        else if (!mica_component_define(world, type))
            result = MICA_ERROR_LAYOUT;
        free_memory(&decoder);
    }
    return result == MICA_OK && reader->failed ? MICA_ERROR_DATA : result;
}
