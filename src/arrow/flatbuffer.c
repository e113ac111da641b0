#include "arrow/flatbuffer.h"

enum { FIELDS_MAX = 8 };

static void put_zeros(micap_bytes *bytes, uint32_t count)
{
    void *room = micap_bytes_grow(bytes, count);
    if (room)
        memset(room, 0, count);
}

/* Pads until the object after `before` more bytes is aligned. */
static void align(micap_bytes *bytes, uint32_t alignment, uint32_t before)
{
    put_zeros(bytes, -(bytes->count + before) & (alignment - 1));
}

void micap_flatbuffer_put(micap_bytes *bytes, uint32_t position, uint32_t byte_count, int64_t value)
{
    uint64_t little = micap_little64((uint64_t)value);
    if (!bytes->failed)
        memcpy(bytes->data + position, &little, byte_count);
}

static uint32_t read16(const micap_bytes *bytes, uint32_t position)
{
    return (uint8_t)bytes->data[position] | (uint32_t)(uint8_t)bytes->data[position + 1] << 8;
}

/* Where the offsets of the fields of a table are: the table begins with the distance, which is short. */
static uint32_t offsets_of(const micap_bytes *bytes, uint32_t table)
{
    return table - read16(bytes, table);
}

/* Refers from a place to a position after it. */
static void refer(micap_bytes *bytes, uint32_t place, uint32_t position)
{
    micap_flatbuffer_put(bytes, place, 4, (int64_t)position - place);
}

void micap_flatbuffer_begin(micap_bytes *bytes)
{
    bytes->count = 0;
    put_zeros(bytes, 8);
}

void micap_flatbuffer_end(micap_bytes *bytes)
{
    align(bytes, 8, 0);
}

uint32_t micap_flatbuffer_table(micap_bytes *bytes, uint32_t place, const uint8_t *field_bytes, uint32_t field_count)
{
    uint32_t offsets[FIELDS_MAX] = {0}, end = 4;
    for (uint32_t size = 8; size; size /= 2) /* large ones first, and each is aligned */
        for (uint32_t i = 0; i < field_count; ++i)
            if (field_bytes[i] == size) {
                end = (end + size - 1) & -size;
                offsets[i] = end;
                end += size;
            }
    align(bytes, 2, 0);
    uint32_t list = bytes->count, list_bytes = 4 + 2 * field_count;
    put_zeros(bytes, list_bytes);
    align(bytes, 8, 0);
    uint32_t table = bytes->count;
    put_zeros(bytes, end);
    micap_flatbuffer_put(bytes, list, 2, list_bytes);
    micap_flatbuffer_put(bytes, list + 2, 2, end);
    for (uint32_t i = 0; i < field_count; ++i)
        micap_flatbuffer_put(bytes, list + 4 + 2 * i, 2, offsets[i]);
    micap_flatbuffer_put(bytes, table, 4, (int64_t)table - list);
    refer(bytes, place, table);
    return table;
}

uint32_t micap_flatbuffer_vector(micap_bytes *bytes, uint32_t place, uint32_t count, uint32_t element_bytes)
{
    align(bytes, element_bytes >= 8 ? 8 : 4, 4);
    uint32_t vector = bytes->count;
    put_zeros(bytes, 4);
    put_zeros(bytes, count * element_bytes);
    micap_flatbuffer_put(bytes, vector, 4, count);
    refer(bytes, place, vector);
    return vector + 4;
}

void micap_flatbuffer_text(micap_bytes *bytes, uint32_t place, const char *text, uint32_t length)
{
    align(bytes, 4, 0);
    uint32_t position = bytes->count;
    put_zeros(bytes, 4);
    micap_bytes_put(bytes, text, length);
    put_zeros(bytes, 1);
    micap_flatbuffer_put(bytes, position, 4, length);
    refer(bytes, place, position);
}

uint32_t micap_flatbuffer_slot(const micap_bytes *bytes, uint32_t table, uint32_t field)
{
    return bytes->failed ? 0 : table + read16(bytes, offsets_of(bytes, table) + 4 + 2 * field);
}

void micap_flatbuffer_number(micap_bytes *bytes, uint32_t table, uint32_t field, uint32_t byte_count, int64_t value)
{
    micap_flatbuffer_put(bytes, micap_flatbuffer_slot(bytes, table, field), byte_count, value);
}
