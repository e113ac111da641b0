#include "type/value_assign.h"

#include "base/argument.h"
#include "base/assert.h"
#include "base/number_text.h"
#include "type/member.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static bool expect(micap_misfit *misfit, const char *format, ...) MICAP_FORMAT(2, 3);
static bool expect(micap_misfit *misfit, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(misfit->text, sizeof misfit->text, format, arguments);
    va_end(arguments);
    misfit->is_sentence = false;
    return false;
}

static bool is_integer(mica_scalar scalar)
{
    return scalar.kind == MICA_KIND_I64 || scalar.kind == MICA_KIND_U64;
}

static bool is_string(mica_scalar scalar, const char *text)
{
    return scalar.kind == MICA_KIND_TEXT && strlen(text) == scalar.text_bytes &&
           memcmp(text, scalar.text, scalar.text_bytes) == 0;
}

/* The integer that a string consists of: decimal, or hexadecimal after 0x. */
static bool read_integer(mica_scalar *scalar)
{
    char text[32], *end;
    if (scalar->text_bytes >= sizeof text)
        return false;
    memcpy(text, scalar->text, scalar->text_bytes);
    text[scalar->text_bytes] = 0;
    const char *digits = text + (*text == '-');
    int base = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 16 : 10;
    if (*digits < '0' || *digits > '9')
        return false;
    errno = 0;
    scalar->kind = *text == '-' ? MICA_KIND_I64 : MICA_KIND_U64;
    scalar->integer = *text == '-' ? strtoll(text, &end, base) : (int64_t)strtoull(text, &end, base);
    return errno == 0 && end == text + scalar->text_bytes;
}

/* Constants are written with and without a sign. */
static bool convert_integer(mica_member member, mica_scalar scalar, unsigned char *bytes, micap_misfit *misfit)
{
    bool is_constant = member.kind == MICA_KIND_ENUM || member.kind == MICA_KIND_FLAGS;
    bool is_signed = is_constant || micap_kind_is_signed(member.kind);
    uint64_t mask = micap_bit_mask(member.element_bytes), bits;
    uint64_t most = is_signed && !is_constant ? mask >> 1 : mask;
    int64_t least = is_signed ? -(int64_t)(mask >> 1) - 1 : 0;
    bool is_read =
        is_integer(scalar) || (scalar.kind == MICA_KIND_TEXT && member.kind != MICA_KIND_CHAR && read_integer(&scalar));
    bits = (uint64_t)scalar.integer;
    bool is_negative = scalar.kind == MICA_KIND_I64 && scalar.integer < 0;
    if (!is_read || (is_negative ? scalar.integer < least : bits > most))
        return expect(misfit, "an integer from %" PRId64 " to %" PRIu64, least, most);
    micap_store_bits(bytes, bits, member.element_bytes);
    return true;
}

static bool convert_real(mica_member member, mica_scalar scalar, unsigned char *bytes, micap_misfit *misfit)
{
    double value;
    if (scalar.kind == MICA_KIND_F64)
        value = scalar.real;
    else if (is_integer(scalar))
        value = scalar.kind == MICA_KIND_I64 ? (double)scalar.integer : (double)(uint64_t)scalar.integer;
    else if (is_string(scalar, "nan"))
        value = (double)NAN;
    else if (is_string(scalar, "inf") || is_string(scalar, "-inf"))
        value = *scalar.text == '-' ? -(double)INFINITY : (double)INFINITY;
    else
        return expect(misfit, "a number, \"nan\", \"inf\" or \"-inf\"");
    float narrow = (float)value;
    if (member.kind == MICA_KIND_F32 && isinf(narrow) && !isinf(value))
        return expect(misfit, "a number that fits a float");
    if (member.kind == MICA_KIND_F32)
        memcpy(bytes, &narrow, sizeof narrow);
    else
        memcpy(bytes, &value, sizeof value);
    return true;
}

static bool convert_constant(mica_member member, mica_scalar scalar, unsigned char *bytes, micap_misfit *misfit)
{
    const mica_type *type = member.type;
    if (is_integer(scalar))
        return convert_integer(member, scalar, bytes, misfit);
    if (scalar.kind != MICA_KIND_TEXT)
        return expect(misfit, "%s, or an integer",
                      member.kind == MICA_KIND_FLAGS ? "an array of names of constants" : "the name of a constant");
    for (uint32_t i = 0; i < type->constant_count; ++i)
        if (is_string(scalar, type->constants[i].name)) {
            micap_store_bits(bytes, (uint64_t)type->constants[i].value, member.element_bytes);
            return true;
        }
    expect(misfit, "%.60s has no constant \"%.*s\"", type->name, scalar.text_bytes < 60 ? (int)scalar.text_bytes : 60,
           scalar.text);
    misfit->is_sentence = true;
    return false;
}

/* Digits at the beginning of a text; false if there are none, or too many. Moves `at` to their end. */
static bool read_digits(const char **at, const char *end, uint32_t base, uint64_t most, uint64_t *out_number)
{
    const char *begin = *at;
    for (*out_number = 0; *at < end; ++*at) {
        char c = **at;
        uint64_t digit = c >= '0' && c <= '9'   ? (uint64_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a' + 10)
                                                : 16;
        if (digit >= base)
            break;
        if (*out_number > (most - digit) / base)
            return false;
        *out_number = *out_number * base + digit;
    }
    return *at != begin;
}

static bool read_handle(mica_scalar scalar, bool is_entity, uint64_t parts[2])
{
    const char *at = scalar.text, *end = at + scalar.text_bytes;
    if (at == end || *at++ != '#')
        return false;
    if (!is_entity)
        return read_digits(&at, end, 16, UINT64_MAX, &parts[0]) && at == end;
    return read_digits(&at, end, 10, UINT32_MAX, &parts[0]) && at < end && *at++ == ':' &&
           read_digits(&at, end, 10, UINT32_MAX, &parts[1]) && at == end;
}

static bool convert_handle(mica_member member, mica_scalar scalar, unsigned char *bytes, micap_misfit *misfit)
{
    bool is_entity = member.kind == MICA_KIND_ENTITY;
    uint64_t parts[2] = {0, 0};
    if (scalar.kind != MICA_KIND_NONE && !(scalar.kind == MICA_KIND_TEXT && read_handle(scalar, is_entity, parts)))
        return expect(misfit, is_entity ? "null or \"#index:generation\"" : "null or \"#\" and hexadecimal digits");
    mica_entity entity = {(uint32_t)parts[0], (uint32_t)parts[1]};
    mica_asset asset = {parts[0]};
    memcpy(bytes, is_entity ? (const void *)&entity : (const void *)&asset, sizeof asset);
    return true;
}

static bool convert_char(mica_member member, mica_scalar scalar, unsigned char *bytes, micap_misfit *misfit)
{
    if (is_integer(scalar))
        return convert_integer(member, scalar, bytes, misfit);
    if (scalar.kind != MICA_KIND_TEXT || scalar.text_bytes != 1)
        return expect(misfit, "a string of one byte, or an integer");
    bytes[0] = (unsigned char)*scalar.text;
    return true;
}

static bool convert_bool(mica_scalar scalar, unsigned char *bytes, micap_misfit *misfit)
{
    bytes[0] = scalar.integer != 0;
    return scalar.kind == MICA_KIND_BOOL || expect(misfit, "true or false");
}

static bool is_in_range(mica_member member, const char *name, const unsigned char *bytes, micap_misfit *misfit)
{
    if (!micap_attributes_limit(member.attributes) || micap_range_has(member.attributes, member.kind, bytes))
        return true;
    micap_range_text(member.attributes, name ? name : "an element", misfit->text);
    misfit->is_sentence = false;
    return false;
}

bool micap_scalar_convert(mica_member member, const char *name, mica_scalar scalar,
                          unsigned char bytes[MICAP_SCALAR_BYTES_MAX], micap_misfit *misfit)
{
    switch (member.kind) {
    case MICA_KIND_BOOL: return convert_bool(scalar, bytes, misfit);
    case MICA_KIND_CHAR: return convert_char(member, scalar, bytes, misfit);
    case MICA_KIND_ENTITY:
    case MICA_KIND_ASSET: return convert_handle(member, scalar, bytes, misfit);
    case MICA_KIND_ENUM:
    case MICA_KIND_FLAGS: return convert_constant(member, scalar, bytes, misfit);
    case MICA_KIND_F32:
    case MICA_KIND_F64: return convert_real(member, scalar, bytes, misfit) && is_in_range(member, name, bytes, misfit);
    default: return convert_integer(member, scalar, bytes, misfit) && is_in_range(member, name, bytes, misfit);
    }
}

/* What was found instead, for an error. */
static void found_text(mica_scalar scalar, char text[80])
{
    switch (scalar.kind) {
    case MICA_KIND_NONE: snprintf(text, 80, "null"); break;
    case MICA_KIND_BOOL: snprintf(text, 80, "%s", scalar.integer ? "true" : "false"); break;
    case MICA_KIND_I64: snprintf(text, 80, "%" PRId64, scalar.integer); break;
    case MICA_KIND_U64: snprintf(text, 80, "%" PRIu64, (uint64_t)scalar.integer); break;
    case MICA_KIND_F64:
        if (isfinite(scalar.real))
            micap_number_text(scalar.real, false, text);
        else
            snprintf(text, 80, "%s", isnan(scalar.real) ? "nan" : scalar.real > 0 ? "inf" : "-inf");
        break;
    case MICA_KIND_TEXT:
        snprintf(text, 80, "\"%.*s\"", scalar.text_bytes < 60 ? (int)scalar.text_bytes : 60, scalar.text);
        break;
    default: snprintf(text, 80, "%s", scalar.kind == MICA_KIND_LIST ? "an array" : "an object");
    }
}

static mica_result fail(mica_scalar scalar, const micap_misfit *misfit, mica_value_error *error)
{
    char found[80];
    if (misfit->is_sentence)
        return micap_value_fail(error, 0, "%s", misfit->text);
    found_text(scalar, found);
    return micap_value_fail(error, 0, "expected %s, found %s", misfit->text, found);
}

/* Readers expect a zero byte at the end. */
static mica_result assign_letters(mica_member member, mica_scalar scalar, mica_value_error *error)
{
    if (scalar.text_bytes >= member.count)
        return micap_value_fail(error, 0, "expected a text of at most %u bytes, found %zu", member.count - 1,
                                scalar.text_bytes);
    memset(member.data, 0, member.count);
    memcpy(member.data, scalar.text, scalar.text_bytes);
    return MICA_OK;
}

static mica_result assign_text(mica_member member, mica_scalar scalar, mica_value_error *error)
{
    if (scalar.text_bytes > MICA_TEXT_BYTES_MAX)
        return micap_value_fail(error, 0, "it is longer than text or a list can be");
    bool is_set = mica_text_set_bytes(member.data, scalar.text, scalar.text_bytes) == MICA_OK;
    return is_set ? MICA_OK : micap_value_fail_memory(error);
}

mica_result mica_value_assign(mica_member member, mica_scalar scalar, mica_value_error *out_error)
{
    unsigned char bytes[MICAP_SCALAR_BYTES_MAX];
    micap_misfit misfit = {.is_sentence = false};
    bool is_string = scalar.kind == MICA_KIND_TEXT;
    if (is_string && MICAP_MISSING_INTO(out_error, scalar.text))
        return MICA_ERROR_INVALID;
    if (!member.data)
        return micap_value_fail(out_error, 0, "there is no value");
    if (member.is_read_only)
        return micap_value_fail(out_error, 0,
                                "the value is in a list that others share: find it with mica_member_write");
    if (is_string && micap_member_is_text(member))
        return assign_letters(member, scalar, out_error);
    if (is_string && member.kind == MICA_KIND_TEXT && !member.count)
        return assign_text(member, scalar, out_error);
    if (member.count)
        expect(&misfit, "%s of at most %u elements",
               member.kind == MICA_KIND_CHAR ? "a string, or an array" : "an array", member.count);
    else if (member.kind == MICA_KIND_STRUCT)
        expect(&misfit, "an object of fields");
    else if (member.kind == MICA_KIND_LIST)
        expect(&misfit, "an array");
    else if (member.kind == MICA_KIND_TEXT)
        expect(&misfit, "a string, or an array of characters");
    else if (micap_scalar_convert(member, member.name, scalar, bytes, &misfit)) {
        memcpy(member.data, bytes, member.element_bytes);
        return MICA_OK;
    }
    return fail(scalar, &misfit, out_error);
}
