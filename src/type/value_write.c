/* Values as text: see mica/value.h. */
#include "base/argument.h"
#include "base/number_text.h"
#include "base/utf8.h"
#include "type/member.h"
#include "type/value_write.h"

#include <inttypes.h>
#include <string.h>

typedef micap_text_output text_output;

enum { PATH_BYTES = 128 }; /* as much as is read */

static void put(text_output *out, const char *bytes, size_t count)
{
    if (out->count < out->capacity) {
        size_t room = out->capacity - out->count;
        memcpy(out->text + out->count, bytes, count < room ? count : room);
    }
    out->count += count;
}

void micap_output_text(text_output *out, const char *text)
{
    put(out, text, strlen(text));
}

/* Names of types need not be UTF-8. */
void micap_output_string(text_output *out, const char *text, size_t bytes)
{
    put(out, "\"", 1);
    while (bytes) {
        uint32_t count = micap_character_bytes((const unsigned char *)text, bytes);
        char escaped[8];
        if (count == 0)
            micap_output_text(out, "\xEF\xBF\xBD"); /* U+FFFD, the replacement character */
        else if (*text == '"' || *text == '\\' || (unsigned char)*text < 0x20 || *text == 0x7F) {
            snprintf(escaped, sizeof escaped, *text == '"' || *text == '\\' ? "\\%c" : "\\u%04x", (unsigned char)*text);
            micap_output_text(out, escaped);
        } else {
            put(out, text, count);
        }
        text += count ? count : 1;
        bytes -= count ? count : 1;
    }
    put(out, "\"", 1);
}

static void put_integer(text_output *out, uint64_t bits, uint32_t bytes, bool is_signed)
{
    char text[32];
    uint32_t shift = 64 - 8 * bytes;
    if (is_signed)
        snprintf(text, sizeof text, "%" PRId64, (int64_t)(bits << shift) >> shift);
    else
        snprintf(text, sizeof text, "%" PRIu64, bits);
    micap_output_text(out, text);
}

static void put_real(text_output *out, double value, bool is_f32)
{
    char text[MICAP_NUMBER_TEXT_BYTES];
    if (value - value != 0) {
        micap_output_text(out, value > 0 ? "\"inf\"" : value < 0 ? "\"-inf\"" : "\"nan\"");
        return;
    }
    micap_number_text(value, is_f32, text);
    micap_output_text(out, text);
}

static void put_enum(text_output *out, mica_member member, uint64_t bits)
{
    uint64_t mask = micap_bit_mask(member.type->size_bytes);
    for (uint32_t i = 0; i < member.type->constant_count; ++i)
        if (((uint64_t)member.type->constants[i].value & mask) == bits) {
            micap_output_string(out, member.type->constants[i].name, strlen(member.type->constants[i].name));
            return;
        }
    put_integer(out, bits, member.type->size_bytes, true);
}

/* The names of all flags that are set, if they cover every bit. */
static void put_flags(text_output *out, mica_member member, uint64_t bits)
{
    uint64_t mask = micap_bit_mask(member.type->size_bytes), left = bits;
    size_t before = out->count;
    put(out, "[", 1);
    for (uint32_t i = 0; i < member.type->constant_count; ++i) {
        uint64_t constant = (uint64_t)member.type->constants[i].value & mask;
        if (!constant || (bits & constant) != constant || !(left & constant))
            continue;
        micap_output_text(out, left == bits ? "" : ", ");
        micap_output_string(out, member.type->constants[i].name, strlen(member.type->constants[i].name));
        left &= ~constant;
    }
    put(out, "]", 1);
    if (left) {
        out->count = before;
        put_integer(out, bits, member.type->size_bytes, member.type->size_bytes == 8); /* as JSON libraries read them */
    }
}

static void put_handle(text_output *out, mica_member member)
{
    char text[48];
    mica_entity entity;
    mica_asset asset;
    if (member.kind == MICA_KIND_ENTITY) {
        char path[PATH_BYTES];
        memcpy(&entity, member.data, sizeof entity);
        if (out->path && !mica_is_nil(entity) && out->path(entity, path, sizeof path, out->context)) {
            micap_output_string(out, path, strlen(path));
            return;
        }
        snprintf(text, sizeof text, mica_is_nil(entity) ? "null" : "\"#%" PRIu32 ":%" PRIu32 "\"", entity.index,
                 entity.generation);
    } else {
        memcpy(&asset, member.data, sizeof asset);
        snprintf(text, sizeof text, asset.path_hash ? "\"#%016" PRIx64 "\"" : "null", asset.path_hash);
    }
    micap_output_text(out, text);
}

static void put_char(text_output *out, char value)
{
    if (value >= 0x20 && value < 0x7F)
        micap_output_string(out, &value, 1);
    else
        put_integer(out, (unsigned char)value, 1, false);
}

/* Fields or elements, with a comma between them. */
static void put_members(text_output *out, mica_member member)
{
    for (uint32_t i = 0; i < mica_member_count(member); ++i) {
        mica_member part = mica_member_at(member, i);
        micap_output_text(out, i ? ", " : "");
        if (part.name) {
            micap_output_string(out, part.name, strlen(part.name));
            micap_output_text(out, ": ");
        }
        micap_output_value(out, part);
    }
}

/* Whether an array of char is what a string can be read into: UTF-8 that ends with a zero byte. */
static bool is_string(mica_member member)
{
    return micap_member_is_text(member) && memchr(member.data, 0, member.count) && micap_is_utf8(member.data);
}

/* Whether all bytes are characters. */
static bool is_utf8(const char *bytes, uint32_t length)
{
    while (length) {
        uint32_t count = micap_character_bytes((const unsigned char *)bytes, length);
        if (!count)
            return false;
        bytes += count;
        length -= count;
    }
    return true;
}

static void put_dynamic_text(text_output *out, const mica_text *text)
{
    const char *bytes = mica_text_get(text);
    uint32_t length = mica_text_length(text);
    if (is_utf8(bytes, length)) {
        micap_output_string(out, bytes, length);
        return;
    }
    for (uint32_t i = 0; i < length; ++i) {
        micap_output_text(out, i ? ", " : "[");
        put_char(out, bytes[i]);
    }
    micap_output_text(out, "]");
}

void micap_output_value(text_output *out, mica_member member)
{
    float narrow;
    double real;
    if (is_string(member)) {
        micap_output_string(out, member.data, strlen(member.data));
        return;
    }
    if (member.count || member.kind == MICA_KIND_STRUCT || member.kind == MICA_KIND_LIST) {
        bool is_array = member.count || member.kind == MICA_KIND_LIST;
        micap_output_text(out, is_array ? "[" : "{");
        put_members(out, member);
        micap_output_text(out, is_array ? "]" : "}");
        return;
    }
    switch (member.kind) {
    case MICA_KIND_TEXT: put_dynamic_text(out, member.data); break;
    case MICA_KIND_CHAR: put_char(out, *(const char *)member.data); break;
    case MICA_KIND_BOOL: micap_output_text(out, *(const char *)member.data ? "true" : "false"); break;
    case MICA_KIND_F32:
        memcpy(&narrow, member.data, sizeof narrow);
        put_real(out, narrow, true);
        break;
    case MICA_KIND_F64:
        memcpy(&real, member.data, sizeof real);
        put_real(out, real, false);
        break;
    case MICA_KIND_ENTITY:
    case MICA_KIND_ASSET: put_handle(out, member); break;
    case MICA_KIND_ENUM: put_enum(out, member, micap_load_bits(member.data, member.element_bytes)); break;
    case MICA_KIND_FLAGS: put_flags(out, member, micap_load_bits(member.data, member.element_bytes)); break;
    default:
        put_integer(out, micap_load_bits(member.data, member.element_bytes), member.element_bytes,
                    micap_kind_is_signed(member.kind));
    }
}

text_output micap_output_begin(char *text, size_t capacity)
{
    return (text_output){.text = capacity ? text : NULL, .capacity = capacity ? capacity - 1 : 0};
}

size_t micap_output_end(text_output *out)
{
    if (out->text)
        out->text[out->count < out->capacity ? out->count : out->capacity] = 0;
    return out->count;
}

size_t mica_value_write(mica_member member, char *text, size_t capacity)
{
    if (MICAP_MISSING_ARRAY(NULL, text, capacity))
        return 0;
    text_output out = micap_output_begin(text, capacity);
    if (member.data)
        micap_output_value(&out, member);
    return micap_output_end(&out);
}
