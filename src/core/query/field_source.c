#include "core/query/field_source.h"

#include "base/assert.h"
#include "base/float_bits.h"
#include "core/storage/archetype.h"
#include "pool/pool.h"
#include "type/member.h"

#include <math.h>
#include <stdio.h>

#define SIGN ((uint64_t)1 << 63)

/* Doubles sort as their bits do once the bits of negative ones are inverted and the sign of others is set. */
static uint64_t real_word(double value)
{
    if (value != value)
        return UINT64_MAX;
    uint64_t bits = micap_bits_of(value == 0 ? 0 : value); /* minus zero is zero */
    return bits & SIGN ? ~bits : bits | SIGN;
}

static bool is_real(mica_kind kind)
{
    return kind == MICA_KIND_F32 || kind == MICA_KIND_F64;
}

/* Constants of an enum are signed. */
static bool is_signed(mica_kind kind)
{
    return micap_kind_is_signed(kind) || kind == MICA_KIND_ENUM;
}

/* Of a field of integers: the lowest value, and the difference of the highest to it. */
static int64_t lowest_of(const micap_field_source *source)
{
    return is_signed(source->kind) ? (int64_t)(UINT64_MAX << (8 * source->bytes - 1)) : 0;
}

static uint64_t extent_of(const micap_field_source *source)
{
    return UINT64_MAX >> (64 - 8 * source->bytes);
}

bool micap_field_is_narrow(const micap_field_source *source, int64_t *out_lowest, uint64_t *out_span)
{
    if (is_real(source->kind) || source->kind == MICA_KIND_ENTITY || source->kind == MICA_KIND_TEXT ||
        source->bytes > sizeof(uint32_t))
        return false;
    *out_lowest = lowest_of(source);
    *out_span = extent_of(source) + 1;
    return true;
}

static bool can_be_indexed(mica_kind kind, bool is_coordinate)
{
    switch (kind) {
    case MICA_KIND_NONE:
    case MICA_KIND_STRUCT:
    case MICA_KIND_LIST: return false;
    case MICA_KIND_BOOL:
    case MICA_KIND_CHAR:
    case MICA_KIND_ENTITY:
    case MICA_KIND_ENUM:
    case MICA_KIND_FLAGS:
    case MICA_KIND_ASSET:
    case MICA_KIND_TEXT: return !is_coordinate;
    default: return true;
    }
}

static bool find_source(const micap_type *type, void *value, const char *path, micap_field_source *out,
                        char note[MICAP_INDEX_NOTE])
{
    mica_value_error error = {0};
    mica_member whole = mica_member_of_type(&type->type, value);
    mica_member member = mica_member_find(whole, path, &error);
    if (!member.data || !*path) {
        snprintf(note, MICAP_INDEX_NOTE, "%.200s", *path ? error.text : "a field is missing in .fields");
        return false;
    }
    if (member.count || !can_be_indexed(member.kind, out->is_coordinate)) {
        snprintf(note, MICAP_INDEX_NOTE, "\"%.60s\" is not %s", path,
                 out->is_coordinate ? "a number" : "a number, bool, constant, asset, entity or text");
        return false;
    }
    out->kind = member.kind;
    out->bytes = member.element_bytes;
    out->component = type->id;
    out->offset = (uint32_t)((char *)member.data - (char *)value);
    for (uint32_t i = 0; i < type->leaf_count; ++i) {
        const micap_leaf *leaf = &type->leaves[i];
        if (out->offset < leaf->offset || out->offset >= leaf->offset + leaf->bytes)
            continue;
        out->component = leaf->component ? leaf->component : type->id;
        out->leaf_offset = leaf->offset;
        out->offset -= leaf->offset;
        break;
    }
    return true;
}

/* Copies the next name of a list with commas, without blanks around it. Returns where the rest begins; NULL at the end. */
static const char *next_name(const char *list, char *out, size_t capacity)
{
    size_t length = strcspn(list, ","), begin = strspn(list, " "), end = length;
    while (end > begin && list[end - 1] == ' ')
        --end;
    size_t bytes = end > begin ? end - begin : 0;
    if (bytes >= capacity)
        bytes = capacity - 1;
    memcpy(out, list + begin, bytes);
    out[bytes] = 0;
    return list[length] ? list + length + 1 : NULL;
}

uint32_t micap_field_sources_find(micap_memory *memory, const micap_type *type, const char *fields,
                                  bool are_coordinates, micap_field_source *out, char note[MICAP_INDEX_NOTE])
{
    size_t bytes = type->type.size_bytes;
    void *value = micap_allocate_zeroed(memory, bytes, MICAP_ARRAY_ALIGNMENT);
    snprintf(note, MICAP_INDEX_NOTE, "out of memory");
    uint32_t count = 0;
    bool done = value != NULL;
    while (done && fields) {
        char path[128];
        if (count == MICAP_INDEX_FIELDS_MAX) {
            snprintf(note, MICAP_INDEX_NOTE, "it has more than %d .fields", MICAP_INDEX_FIELDS_MAX);
            done = false;
            break;
        }
        fields = next_name(fields, path, sizeof path);
        out[count] = (micap_field_source){.is_coordinate = are_coordinates};
        done = find_source(type, value, path, &out[count], note);
        ++count;
    }
    micap_release(memory, value, bytes, MICAP_ARRAY_ALIGNMENT);
    return done ? count : 0;
}

micap_indexed_rows micap_field_rows_in_chunk(const micap_field_source *sources, uint32_t source_count,
                                             const micap_chunk *chunk, uint32_t row, uint32_t count)
{
    micap_indexed_rows rows = {.entities = micap_chunk_entities(chunk) + row, .count = count};
    for (uint32_t i = 0; i < source_count; ++i) {
        const micap_finder *finder = micap_chunk_find(chunk, sources[i].component);
        rows.values[i] = (const char *)micap_finder_value(finder, row) + sources[i].offset;
        rows.strides[i] = finder->bytes;
    }
    return rows;
}

micap_indexed_rows micap_field_rows_in_pool(const micap_field_source *sources, uint32_t source_count,
                                            const mica_pool *pool, uint32_t row, uint32_t count)
{
    micap_indexed_rows rows = {.entities = pool->owners + row, .count = count};
    for (uint32_t i = 0; i < source_count; ++i) {
        const micap_pool_column *lane =
            pool->type->leaves ? micap_pool_column_at(pool, sources[i].leaf_offset) : &pool->lanes[1];
        rows.values[i] = lane->data + (size_t)row * lane->bytes + sources[i].offset;
        rows.strides[i] = lane->bytes;
    }
    return rows;
}

/* Each loads the value at an address. */
typedef uint64_t (*load_one)(const micap_field_source *source, const char *value);

static inline uint64_t load_float(const micap_field_source *source, const char *address)
{
    float value;
    memcpy(&value, address, sizeof value);
    return source->is_coordinate ? micap_bits_of(value) : real_word(value);
}

static inline uint64_t load_double(const micap_field_source *source, const char *address)
{
    double value;
    memcpy(&value, address, sizeof value);
    return source->is_coordinate ? micap_bits_of(value) : real_word(value);
}

static inline uint64_t load_integer(const micap_field_source *source, const char *address)
{
    bool has_sign = is_signed(source->kind);
    uint32_t unused = 64 - 8 * source->bytes;
    uint64_t bits = micap_load_bits(address, source->bytes);
    int64_t value = (int64_t)(bits << unused) >> unused;
    if (source->is_coordinate)
        return micap_bits_of(has_sign ? (double)value : (double)bits);
    return has_sign ? (uint64_t)value ^ SIGN : bits;
}

static uint64_t entity_word(mica_entity entity)
{
    return (uint64_t)entity.index << 32 | entity.generation;
}

static inline uint64_t load_entity(const micap_field_source *source, const char *address)
{
    (void)source;
    mica_entity entity;
    memcpy(&entity, address, sizeof entity);
    return entity_word(entity);
}

/* The function is a constant: each call is a loop of its own. */
static MICAP_INLINE void load_all(const micap_field_source *source, const char *values, size_t stride,
                                  const uint16_t *listed, uint32_t count, uint64_t *out, load_one load)
{
    const micap_field_source copy = *source; /* that no store to `out` can change */
    if (listed)
        for (uint32_t i = 0; i < count; ++i)
            out[i] = load(&copy, values + listed[i] * stride);
    else
        for (uint32_t i = 0; i < count; ++i, values += stride)
            out[i] = load(&copy, values);
}

void micap_field_load(const micap_field_source *source, const char *values, size_t stride, const uint16_t *listed,
                      uint32_t count, uint64_t *out_words)
{
    if (source->kind == MICA_KIND_F32)
        load_all(source, values, stride, listed, count, out_words, load_float);
    else if (source->kind == MICA_KIND_F64)
        load_all(source, values, stride, listed, count, out_words, load_double);
    else if (source->kind == MICA_KIND_ENTITY)
        load_all(source, values, stride, listed, count, out_words, load_entity);
    else
        load_all(source, values, stride, listed, count, out_words, load_integer);
}

static micap_key_fit real_key(const micap_field_source *source, mica_key key, uint64_t *out)
{
    double value = key.kind == MICA_KIND_F64   ? key.as.real
                   : key.kind == MICA_KIND_I64 ? (double)key.as.integer
                                               : (double)key.as.natural;
    *out = real_word(source->kind == MICA_KIND_F32 ? (double)(float)value : value);
    return MICAP_KEY_FITS;
}

/* A real key for integers: the integer at or next to it, as a key of integers. */
static micap_key_fit round_key(mica_key *key, micap_rounding rounding)
{
    double value = key->as.real;
    if (value != value)
        return MICAP_KEY_NEVER;
    if (value >= 0x1p64 || value < -0x1p63) {
        bool is_end = value > 0 ? rounding == MICAP_ROUND_DOWN : rounding == MICAP_ROUND_UP;
        *key = value > 0 ? mica_key_natural(UINT64_MAX) : mica_key_integer(INT64_MIN);
        return is_end ? MICAP_KEY_FITS : MICAP_KEY_NEVER;
    }
    if (value >= 0x1p63) {
        *key = mica_key_natural((uint64_t)value); /* such numbers are whole */
        return MICAP_KEY_FITS;
    }
    int64_t whole = (int64_t)value; /* towards zero */
    if ((double)whole != value && rounding == MICAP_ROUND_NONE)
        return MICAP_KEY_NEVER;
    whole += rounding == MICAP_ROUND_UP && (double)whole < value;
    whole -= rounding == MICAP_ROUND_DOWN && (double)whole > value;
    *key = mica_key_integer(whole);
    return MICAP_KEY_FITS;
}

/* An integer beyond the other half of the 64-bit numbers is an end of the range, or never equal. One that the field is too small for is
 * never equal either. */
static micap_key_fit integer_key(const micap_field_source *source, mica_key key, micap_rounding rounding, uint64_t *out)
{
    bool has_sign = is_signed(source->kind);
    bool is_above = has_sign && key.kind == MICA_KIND_U64 && key.as.natural > INT64_MAX;
    bool is_below = !has_sign && key.kind == MICA_KIND_I64 && key.as.integer < 0;
    if (is_above || is_below) {
        *out = is_above ? UINT64_MAX : 0;
        return rounding == (is_above ? MICAP_ROUND_DOWN : MICAP_ROUND_UP) ? MICAP_KEY_FITS : MICAP_KEY_NEVER;
    }
    *out = has_sign ? (uint64_t)key.as.integer ^ SIGN : key.as.natural;
    bool is_possible = key.as.natural - (uint64_t)lowest_of(source) <= extent_of(source);
    return is_possible || rounding != MICAP_ROUND_NONE ? MICAP_KEY_FITS : MICAP_KEY_NEVER;
}

micap_key_fit micap_key_word(const micap_field_source *source, mica_key key, micap_rounding rounding,
                             uint64_t *out_word)
{
    bool is_number = key.kind == MICA_KIND_I64 || key.kind == MICA_KIND_U64 || key.kind == MICA_KIND_F64;
    if (source->kind == MICA_KIND_ENTITY) {
        *out_word = entity_word(key.as.entity);
        return key.kind == MICA_KIND_ENTITY ? MICAP_KEY_FITS : MICAP_KEY_WRONG;
    }
    if (!is_number)
        return MICAP_KEY_WRONG;
    if (is_real(source->kind))
        return real_key(source, key, out_word);
    micap_key_fit fit = key.kind == MICA_KIND_F64 ? round_key(&key, rounding) : MICAP_KEY_FITS;
    return fit == MICAP_KEY_FITS ? integer_key(source, key, rounding, out_word) : fit;
}

mica_key micap_key_of_word(const micap_field_source *source, uint64_t word)
{
    if (source->kind == MICA_KIND_ENTITY)
        return mica_key_entity((mica_entity){(uint32_t)(word >> 32), (uint32_t)word});
    if (is_real(source->kind) && word == UINT64_MAX)
        return mica_key_real(NAN);
    if (is_real(source->kind))
        return mica_key_real(micap_double_of(word & SIGN ? word ^ SIGN : ~word));
    if (is_signed(source->kind))
        return mica_key_integer((int64_t)(word ^ SIGN));
    return word <= INT64_MAX ? mica_key_integer((int64_t)word) : mica_key_natural(word);
}
