#include "arrow/arrow_metadata.h"

#include "arrow/flatbuffer.h"

#include <stdlib.h>

enum {
    VERSION_5 = 4,
    MESSAGE_SCHEMA = 1,
    MESSAGE_BATCH = 3,
    TYPE_INT = 2,
    TYPE_FLOAT = 3,
    TYPE_UTF8 = 5,
    TYPE_BOOL = 6,
    TYPE_LIST = 12,
    TYPE_STRUCT = 13,
    TYPE_FIXED_SIZE_LIST = 16,
};

#define TABLE(bytes, place, ...)                                                                                       \
    micap_flatbuffer_table((bytes), (place), (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* Writes a type for the format of a column. Returns its number. */
static int64_t put_type(micap_bytes *bytes, uint32_t place, const char *format)
{
    static const char integers[] = "cCsSiIlL";
    const char *integer = strchr(integers, format[0]);
    if (integer) { /* pairs of signed and unsigned, each twice as large as the one before */
        uint32_t table = TABLE(bytes, place, 4, 1), number = (uint32_t)(integer - integers);
        micap_flatbuffer_number(bytes, table, 0, 4, (int64_t)8 << number / 2);
        micap_flatbuffer_number(bytes, table, 1, 1, number % 2 == 0);
        return TYPE_INT;
    }
    if (format[0] == 'f' || format[0] == 'g') {
        uint32_t table = TABLE(bytes, place, 2);
        micap_flatbuffer_number(bytes, table, 0, 2, format[0] == 'f' ? 1 : 2);
        return TYPE_FLOAT;
    }
    if (format[0] == '+' && format[1] == 'w') {
        uint32_t table = TABLE(bytes, place, 4);
        micap_flatbuffer_number(bytes, table, 0, 4, strtol(format + 3, NULL, 10));
        return TYPE_FIXED_SIZE_LIST;
    }
    TABLE(bytes, place, 0);
    return format[0] == 'b' ? TYPE_BOOL : format[0] == 'u' ? TYPE_UTF8 : format[1] == 'l' ? TYPE_LIST : TYPE_STRUCT;
}

static uint32_t take_length(const char **at)
{
    int32_t length;
    memcpy(&length, *at, sizeof length);
    *at += sizeof length;
    return (uint32_t)length;
}

/* Pairs of text, from the form of the C data interface. */
static void put_pairs(micap_bytes *bytes, uint32_t place, const char *metadata)
{
    uint32_t count = take_length(&metadata), vector = micap_flatbuffer_vector(bytes, place, count, 4);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t table = TABLE(bytes, vector + 4 * i, 4, 4);
        for (uint32_t j = 0; j < 2; ++j) {
            uint32_t length = take_length(&metadata);
            micap_flatbuffer_text(bytes, micap_flatbuffer_slot(bytes, table, j), metadata, length);
            metadata += length;
        }
    }
}

static void put_fields(micap_bytes *bytes, uint32_t place, const struct ArrowSchema *schema);

/* Name, nullable, number of the type, type, no dictionary, children, metadata. */
static void put_field(micap_bytes *bytes, uint32_t place, const struct ArrowSchema *schema)
{
    uint32_t table = TABLE(bytes, place, 4, 1, 1, 4, 0, 4, schema->metadata ? 4 : 0);
    micap_flatbuffer_text(bytes, micap_flatbuffer_slot(bytes, table, 0), schema->name, (uint32_t)strlen(schema->name));
    micap_flatbuffer_number(bytes, table, 1, 1, (schema->flags & ARROW_FLAG_NULLABLE) != 0);
    int64_t type = put_type(bytes, micap_flatbuffer_slot(bytes, table, 3), schema->format);
    micap_flatbuffer_number(bytes, table, 2, 1, type);
    put_fields(bytes, micap_flatbuffer_slot(bytes, table, 5), schema);
    if (schema->metadata)
        put_pairs(bytes, micap_flatbuffer_slot(bytes, table, 6), schema->metadata);
}

static void put_fields(micap_bytes *bytes, uint32_t place, const struct ArrowSchema *schema)
{
    uint32_t vector = micap_flatbuffer_vector(bytes, place, (uint32_t)schema->n_children, 4);
    for (uint32_t i = 0; i < schema->n_children; ++i)
        put_field(bytes, vector + 4 * i, schema->children[i]);
}

/* The columns, in the byte order of this machine. */
static void put_schema(micap_bytes *bytes, uint32_t place, const struct ArrowSchema *schema)
{
    uint32_t table = TABLE(bytes, place, 2, 4);
    micap_flatbuffer_number(bytes, table, 0, 2, MICAP_IS_BIG_ENDIAN);
    put_fields(bytes, micap_flatbuffer_slot(bytes, table, 1), schema);
}

/* Begins a message of a kind, with so many bytes after it. Returns where its header is referred to. */
static uint32_t begin_message(micap_bytes *bytes, int64_t kind, int64_t body_bytes)
{
    micap_flatbuffer_begin(bytes);
    uint32_t table = TABLE(bytes, 0, 2, 1, 4, 8);
    micap_flatbuffer_number(bytes, table, 0, 2, VERSION_5);
    micap_flatbuffer_number(bytes, table, 1, 1, kind);
    micap_flatbuffer_number(bytes, table, 3, 8, body_bytes);
    return micap_flatbuffer_slot(bytes, table, 2);
}

void micap_arrow_put_schema(micap_bytes *bytes, const struct ArrowSchema *schema)
{
    put_schema(bytes, begin_message(bytes, MESSAGE_SCHEMA, 0), schema);
    micap_flatbuffer_end(bytes);
}

void micap_arrow_put_batch(micap_bytes *bytes, const micap_arrow_body *body)
{
    uint32_t table = TABLE(bytes, begin_message(bytes, MESSAGE_BATCH, body->byte_count), 8, 4, 4);
    micap_flatbuffer_number(bytes, table, 0, 8, body->row_count);
    uint32_t nodes = micap_flatbuffer_vector(bytes, micap_flatbuffer_slot(bytes, table, 1), body->node_count, 16);
    for (uint32_t i = 0; i < body->node_count; ++i) {
        micap_flatbuffer_put(bytes, nodes + 16 * i, 8, body->nodes[i].length);
        micap_flatbuffer_put(bytes, nodes + 16 * i + 8, 8, body->nodes[i].null_count);
    }
    uint32_t pieces = micap_flatbuffer_vector(bytes, micap_flatbuffer_slot(bytes, table, 2), body->piece_count, 16);
    for (uint32_t i = 0; i < body->piece_count; ++i) {
        micap_flatbuffer_put(bytes, pieces + 16 * i, 8, body->pieces[i].offset);
        micap_flatbuffer_put(bytes, pieces + 16 * i + 8, 8, body->pieces[i].byte_count);
    }
    micap_flatbuffer_end(bytes);
}

void micap_arrow_put_footer(micap_bytes *bytes, const struct ArrowSchema *schema, const micap_arrow_block *blocks,
                            uint32_t block_count)
{
    micap_flatbuffer_begin(bytes);
    uint32_t table = TABLE(bytes, 0, 2, 4, 4, 4);
    micap_flatbuffer_number(bytes, table, 0, 2, VERSION_5);
    put_schema(bytes, micap_flatbuffer_slot(bytes, table, 1), schema);
    micap_flatbuffer_vector(bytes, micap_flatbuffer_slot(bytes, table, 2), 0, 24); /* dictionaries */
    uint32_t vector = micap_flatbuffer_vector(bytes, micap_flatbuffer_slot(bytes, table, 3), block_count, 24);
    for (uint32_t i = 0; i < block_count; ++i) {
        micap_flatbuffer_put(bytes, vector + 24 * i, 8, blocks[i].offset);
        micap_flatbuffer_put(bytes, vector + 24 * i + 8, 4, blocks[i].metadata_bytes);
        micap_flatbuffer_put(bytes, vector + 24 * i + 16, 8, blocks[i].body_bytes);
    }
    micap_flatbuffer_end(bytes);
}
