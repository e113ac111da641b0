/* Values from text: see mica/value.h. The text is read twice: the first time it is only checked, so that an error changes nothing. */
#include "base/argument.h"
#include "base/utf8.h"
#include "type/member.h"
#include "type/owned.h"
#include "type/value_assign.h"
#include "type/value_parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef micap_parser parser;

enum { NUMBER_BYTES_MAX = 400 };

static size_t position_of(const parser *parser, const char *at)
{
    return (size_t)(at - parser->text);
}

static void skip_blanks(parser *parser)
{
    parser->at += strspn(parser->at, " \t\r\n");
}

/* The bytes of the next token that an error shows: a sign, a string with its quotes, or a number or word. */
static int shown_bytes(const char *at)
{
    enum { SHOWN_MAX = 24 };
    bool is_string = *at == '"';
    size_t bytes = is_string ? 1 + strcspn(at + 1, "\"\r\n") : strcspn(at, " \t\r\n,:[]{}\"");
    if (is_string && at[bytes] == '"')
        ++bytes;
    return bytes == 0 ? 1 : bytes < SHOWN_MAX ? (int)bytes : SHOWN_MAX;
}

bool micap_parser_expected(const parser *parser, const char *what)
{
    uint32_t position = position_of(parser, parser->at);
    if (!*parser->at)
        micap_value_fail(parser->error, position, "expected %s, found the end", what);
    else
        micap_value_fail(parser->error, position, "expected %s, found %.*s", what, shown_bytes(parser->at), parser->at);
    return false;
}

bool micap_parser_take(parser *parser, const char *token)
{
    skip_blanks(parser);
    size_t bytes = strlen(token);
    if (strncmp(parser->at, token, bytes) != 0)
        return false;
    parser->at += bytes;
    return true;
}

static void store(const parser *parser, mica_member member, const void *from, size_t bytes)
{
    if (parser->writes)
        memcpy(member.data, from, bytes);
}

static void store_bits(const parser *parser, mica_member member, uint64_t bits)
{
    if (parser->writes)
        micap_store_bits(member.data, bits, member.element_bytes);
}

/* Four hexadecimal digits; -1 if they are something else. */
static int32_t hex_of(const char *at)
{
    int32_t value = 0;
    for (uint32_t i = 0; i < 4; ++i) {
        char c = at[i];
        int32_t digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static uint32_t encode_utf8(uint32_t character, char to[4])
{
    if (character < 0x80)
        return to[0] = (char)character, 1;
    uint32_t bytes = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (uint32_t i = bytes; --i; character >>= 6)
        to[i] = (char)(0x80 | (character & 0x3F));
    static const uint8_t first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    to[0] = (char)(first[bytes] | character);
    return bytes;
}

/* The character after a backslash and u, with its second half if it has one. Returns its bytes, or 0. Moves `at` to its end. */
static uint32_t read_unicode(const char **at, char to[4])
{
    int32_t high = hex_of(*at + 2), low;
    *at += 6;
    if (high < 0 || (high >= 0xDC00 && high < 0xE000))
        return 0;
    if (high < 0xD800 || high >= 0xE000)
        return encode_utf8((uint32_t)high, to);
    if ((*at)[0] != '\\' || (*at)[1] != 'u' || (low = hex_of(*at + 2)) < 0xDC00 || low >= 0xE000)
        return 0;
    *at += 6;
    return encode_utf8((uint32_t)(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), to);
}

/* One character of a string, which may be escaped. Returns its bytes, or 0 if it is invalid. Moves `at` to its end. */
static uint32_t read_character(const char **at, char to[4])
{
    static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (**at != '\\') {
        uint32_t bytes = micap_character_bytes((const unsigned char *)*at, 4);
        if ((unsigned char)**at < 0x20)
            return 0;
        memcpy(to, *at, bytes);
        *at += bytes;
        return bytes;
    }
    if ((*at)[1] == 'u')
        return read_unicode(at, to);
    const char *known = (*at)[1] ? strchr(escapes, (*at)[1]) : NULL;
    if (!known)
        return 0;
    to[0] = meanings[known - escapes];
    *at += 2;
    return 1;
}

/* A string. What does not fit into `capacity` bytes is only counted. False with an error. */
static bool read_string(parser *parser, char *to, size_t capacity, size_t *out_bytes)
{
    const char *at = parser->at + 1;
    *out_bytes = 0;
    while (*at != '"') {
        char character[4];
        const char *begin = at;
        uint32_t bytes = *at ? read_character(&at, character) : 0;
        if (!bytes) {
            micap_value_fail(parser->error, position_of(parser, begin),
                             *begin ? "this is not a character of a string"
                                    : "expected the end of the string, found the end");
            return false;
        }
        if (*out_bytes + bytes <= capacity)
            memcpy(to + *out_bytes, character, bytes);
        *out_bytes += bytes;
    }
    parser->at = at + 1;
    return true;
}

bool micap_parser_word(parser *parser, char word[MICAP_WORD_BYTES])
{
    const char *begin = parser->at;
    size_t bytes;
    if (!read_string(parser, word, MICAP_WORD_BYTES - 1, &bytes))
        return false;
    if (bytes >= MICAP_WORD_BYTES || memchr(word, 0, bytes)) {
        parser->at = begin;
        return micap_parser_expected(parser, "a shorter string");
    }
    word[bytes] = 0;
    return true;
}

/* Copies the number at which the parser is, as JSON writes numbers, and passes over it. */
static bool read_number(parser *parser, char number[NUMBER_BYTES_MAX])
{
    const char *at = parser->at + (*parser->at == '-');
    size_t whole = strspn(at, "0123456789");
    if (!whole || (*at == '0' && whole > 1))
        return false;
    at += whole;
    if (*at == '.') {
        size_t digits = strspn(at + 1, "0123456789");
        if (!digits)
            return false;
        at += 1 + digits;
    }
    if (*at == 'e' || *at == 'E') {
        const char *digits = at + 1 + (at[1] == '+' || at[1] == '-');
        if (!strspn(digits, "0123456789"))
            return false;
        at = digits + strspn(digits, "0123456789");
    }
    size_t bytes = (size_t)(at - parser->at);
    if (bytes >= NUMBER_BYTES_MAX)
        return false;
    memcpy(number, parser->at, bytes);
    number[bytes] = 0;
    parser->at = at;
    return true;
}

/* The C library reads numbers with the decimal point of the locale, which it also writes. */
static double real_of(char *number)
{
    char *point = strchr(number, '.'), sample[8];
    if (point) {
        snprintf(sample, sizeof sample, "%.1f", 0.5);
        *point = sample[1];
    }
    return strtod(number, NULL);
}

/* The number at which the parser is. A field of real numbers has the sign of -0, and numbers above 2^63. */
static mica_scalar number_of(const char *number, mica_kind kind)
{
    char copy[NUMBER_BYTES_MAX];
    bool is_whole = !strpbrk(number, ".eE") && kind != MICA_KIND_F32 && kind != MICA_KIND_F64;
    mica_scalar scalar = {.kind = *number == '-' ? MICA_KIND_I64 : MICA_KIND_U64};
    errno = 0;
    if (is_whole)
        scalar.integer = *number == '-' ? strtoll(number, NULL, 10) : (int64_t)strtoull(number, NULL, 10);
    if (is_whole && errno == 0)
        return scalar;
    memcpy(copy, number, strlen(number) + 1);
    return (mica_scalar){.kind = MICA_KIND_F64, .real = real_of(copy)};
}

/* A number, string, truth value or null. What is none of them is an array, and no value takes that. */
static bool read_scalar(parser *parser, mica_member member, char word[MICAP_WORD_BYTES], mica_scalar *out)
{
    char number[NUMBER_BYTES_MAX];
    *out = (mica_scalar){.kind = MICA_KIND_LIST};
    if (*parser->at == '"') {
        if (!micap_parser_word(parser, word))
            return false;
        *out = (mica_scalar){.kind = MICA_KIND_TEXT, .text = word, .text_bytes = strlen(word)};
    } else if (read_number(parser, number)) {
        *out = number_of(number, member.kind);
    } else if (micap_parser_take(parser, "null")) {
        out->kind = MICA_KIND_NONE;
    } else if (micap_parser_take(parser, "true")) {
        *out = (mica_scalar){.kind = MICA_KIND_BOOL, .integer = 1};
    } else if (micap_parser_take(parser, "false")) {
        out->kind = MICA_KIND_BOOL;
    }
    return true;
}

/* A reference by the path of an entity, which begins at `begin`. */
static bool parse_path(parser *parser, mica_member member, const char *path, const char *begin)
{
    mica_entity entity = parser->find(path, parser->context);
    if (mica_is_nil(entity)) {
        micap_value_fail(parser->error, position_of(parser, begin), "there is no entity \"%.100s\"", path);
        return false;
    }
    store(parser, member, &entity, sizeof entity);
    return true;
}

static bool parse_scalar(parser *parser, mica_member member)
{
    char word[MICAP_WORD_BYTES];
    unsigned char bytes[MICAP_SCALAR_BYTES_MAX];
    const char *begin = parser->at;
    micap_misfit misfit;
    mica_scalar scalar;
    if (!read_scalar(parser, member, word, &scalar))
        return false;
    bool is_string = scalar.kind == MICA_KIND_TEXT;
    if (is_string && member.kind == MICA_KIND_ENTITY && parser->find && *scalar.text && *scalar.text != '#')
        return parse_path(parser, member, scalar.text, begin);
    if (scalar.kind == MICA_KIND_F64 && scalar.real - scalar.real != 0) { /* no number of a text is infinite */
        parser->at = begin;
        return micap_parser_expected(parser, member.kind == MICA_KIND_F32 ? "a number that fits a float"
                                                                          : "a number that fits a double");
    }
    if (micap_scalar_convert(member, parser->field, scalar, bytes, &misfit)) {
        store(parser, member, bytes, member.element_bytes);
        return true;
    }
    parser->at = begin;
    if (!misfit.is_sentence)
        return micap_parser_expected(parser, misfit.text);
    micap_value_fail(parser->error, position_of(parser, begin), "%s", misfit.text);
    return false;
}

/* The names of flags. */
static bool parse_flags(parser *parser, mica_member member)
{
    uint64_t bits = 0;
    micap_parser_take(parser, "[");
    for (uint32_t i = 0; !micap_parser_take(parser, "]"); ++i) {
        if (i && !micap_parser_take(parser, ","))
            return micap_parser_expected(parser, ", or ]");
        skip_blanks(parser);
        if (*parser->at != '"')
            return micap_parser_expected(parser, "the name of a constant");
        uint64_t bit = 0;
        mica_member one = member;
        one.data = &bit;
        struct micap_parser writer = *parser;
        writer.writes = true;
        if (!parse_scalar(&writer, one))
            return false;
        parser->at = writer.at;
        bits |= micap_load_bits(&bit, member.element_bytes);
    }
    store_bits(parser, member, bits);
    return true;
}

/* Readers expect a zero byte at the end. */
static bool parse_text(parser *parser, mica_member member)
{
    const char *begin = parser->at;
    size_t bytes;
    if (!read_string(parser, member.data, 0, &bytes))
        return false;
    if (bytes >= member.count) {
        micap_value_fail(parser->error, position_of(parser, begin), "expected a text of at most %u bytes, found %zu",
                         member.count - 1, bytes);
        return false;
    }
    if (parser->writes) {
        parser->at = begin;
        memset(member.data, 0, member.count);
        read_string(parser, member.data, member.count, &bytes);
    }
    return true;
}

static bool fail_memory(const parser *parser)
{
    micap_value_fail_memory(parser->error);
    return false;
}

static bool append_text(parser *parser, mica_member member, const char *bytes, size_t count)
{
    return !parser->writes || mica_text_append_bytes(member.data, bytes, count) == MICA_OK || fail_memory(parser);
}

/* A string for a mica_text. */
static bool parse_string(parser *parser, mica_member member)
{
    const char *begin = parser->at;
    size_t bytes;
    if (!read_string(parser, NULL, 0, &bytes))
        return false;
    if (bytes > MICA_TEXT_BYTES_MAX) {
        micap_value_fail(parser->error, position_of(parser, begin), "expected a text of at most %u bytes, found %zu",
                         MICA_TEXT_BYTES_MAX, bytes);
        return false;
    }
    if (!parser->writes)
        return true;
    micap_heap_block *block = micap_heap_block_create(bytes, 1);
    if (!block)
        return fail_memory(parser);
    parser->at = begin;
    read_string(parser, micap_heap_block_elements(block), bytes, &bytes);
    bool done = append_text(parser, member, micap_heap_block_elements(block), bytes);
    micap_heap_block_destroy(block);
    return done;
}

/* A mica_text as a string, or as an array of characters. */
static bool parse_dynamic_text(parser *parser, mica_member member)
{
    if (parser->writes)
        mica_text_clear(member.data);
    if (*parser->at == '"')
        return parse_string(parser, member);
    if (!micap_parser_take(parser, "["))
        return micap_parser_expected(parser, "a string, or an array of characters");
    for (uint32_t i = 0; !micap_parser_take(parser, "]"); ++i) {
        char letter = 0;
        if (i && !micap_parser_take(parser, ","))
            return micap_parser_expected(parser, ", or ]");
        skip_blanks(parser);
        if (!parse_scalar(parser, (mica_member){.data = &letter, .kind = MICA_KIND_CHAR, .element_bytes = 1}) ||
            !append_text(parser, member, &letter, 1))
            return false;
    }
    return true;
}

/* The elements of a mica_list. When they are only checked, there are none to write to: `data` is then just an address. */
static bool parse_list(parser *parser, mica_member member)
{
    if (!micap_parser_take(parser, "["))
        return micap_parser_expected(parser, "an array");
    if (parser->writes)
        mica_list_clear_type(member.data, member.type);
    for (uint32_t i = 0; !micap_parser_take(parser, "]"); ++i) {
        if (i && !micap_parser_take(parser, ","))
            return micap_parser_expected(parser, ", or ]");
        void *at = parser->writes ? mica_list_insert_type(member.data, member.type, i, 1) : member.data;
        if (!at)
            return fail_memory(parser);
        mica_member element = micap_member_of_element(member.type, at);
        element.attributes = member.attributes;
        if (!micap_parser_value(parser, element))
            return false;
    }
    return true;
}

/* Sets all elements of an array to zero. */
static void reset(mica_member member)
{
    mica_field field;
    mica_type type;
    if (micap_member_owner(member, &field, &type))
        micap_owned_release(&type, member.data, 1);
    memset(member.data, 0, (size_t)member.count * member.element_bytes);
}

static bool parse_elements(parser *parser, mica_member member)
{
    const char *begin = parser->at;
    char what[80];
    if (!micap_parser_take(parser, "[")) {
        snprintf(what, sizeof what, "%s of at most %u elements",
                 micap_member_is_text(member) ? "a string, or an array" : "an array", member.count);
        return micap_parser_expected(parser, what);
    }
    if (parser->writes)
        reset(member);
    for (uint32_t i = 0; !micap_parser_take(parser, "]"); ++i) {
        if (i && !micap_parser_take(parser, ","))
            return micap_parser_expected(parser, ", or ]");
        if (i == member.count) {
            micap_value_fail(parser->error, position_of(parser, begin), "there are more than %u elements",
                             member.count);
            return false;
        }
        if (!micap_parser_value(parser, mica_member_at(member, i)))
            return false;
    }
    return true;
}

/* The fields of a struct in an array, all of them. */
static bool parse_positions(parser *parser, mica_member member)
{
    uint32_t count = member.type->field_count;
    micap_parser_take(parser, "[");
    for (uint32_t i = 0; i < count; ++i) {
        if (i && !micap_parser_take(parser, ","))
            return micap_parser_expected(parser, "all fields of the struct");
        if (!micap_parser_value(parser, mica_member_at(member, i)))
            return false;
    }
    return micap_parser_take(parser, "]") || micap_parser_expected(parser, "] after all fields of the struct");
}

static bool parse_fields(parser *parser, mica_member member)
{
    if (!micap_parser_take(parser, "{"))
        return micap_parser_expected(parser, "an object of fields");
    for (uint32_t i = 0; !micap_parser_take(parser, "}"); ++i) {
        char name[MICAP_WORD_BYTES];
        if (i && !micap_parser_take(parser, ","))
            return micap_parser_expected(parser, ", or }");
        skip_blanks(parser);
        if (*parser->at != '"')
            return micap_parser_expected(parser, "the name of a field");
        const char *begin = parser->at;
        if (!micap_parser_word(parser, name))
            return false;
        const mica_field *field = micap_field_find(member.type, name, strlen(name));
        if (!field) {
            micap_value_fail(parser->error, position_of(parser, begin), "%.60s has no field \"%.60s\"",
                             member.type->name, name);
            return false;
        }
        if (!micap_parser_take(parser, ":"))
            return micap_parser_expected(parser, ":");
        if (!micap_parser_value(parser, micap_member_of_field(field, member.data)))
            return false;
    }
    return true;
}

bool micap_parser_value(parser *parser, mica_member member)
{
    skip_blanks(parser);
    if (member.name)
        parser->field = member.name;
    if (micap_member_is_text(member) && *parser->at == '"')
        return parse_text(parser, member);
    if (member.count)
        return parse_elements(parser, member);
    switch (member.kind) {
    case MICA_KIND_TEXT: return parse_dynamic_text(parser, member);
    case MICA_KIND_LIST: return parse_list(parser, member);
    case MICA_KIND_STRUCT: return *parser->at == '[' ? parse_positions(parser, member) : parse_fields(parser, member);
    case MICA_KIND_FLAGS: return *parser->at == '[' ? parse_flags(parser, member) : parse_scalar(parser, member);
    default: return parse_scalar(parser, member);
    }
}

static bool parse_all(parser *parser, mica_member member)
{
    if (!micap_parser_value(parser, member))
        return false;
    skip_blanks(parser);
    return !*parser->at || micap_parser_expected(parser, "the end");
}

/* A value with text or lists is written to a copy, which replaces it if there is memory for all. */
static mica_result parse_copy(parser *parser, mica_member member, const mica_type *owner)
{
    micap_heap_block *block = micap_heap_block_create(owner->size_bytes, 1);
    if (!block)
        return micap_value_fail_memory(parser->error);
    mica_member copy = member;
    copy.data = micap_heap_block_elements(block);
    memcpy(copy.data, member.data, owner->size_bytes);
    bool done = micap_owned_retain(owner, copy.data, 1) || fail_memory(parser);
    if (done && !parse_all(parser, copy)) {
        micap_owned_release(owner, copy.data, 1);
        done = false;
    } else if (done) {
        micap_owned_release(owner, member.data, 1);
        memcpy(member.data, copy.data, owner->size_bytes);
    }
    micap_heap_block_destroy(block);
    return done ? MICA_OK : MICA_ERROR_MEMORY;
}

mica_result mica_value_parse(mica_member member, const char *text, mica_value_error *out_error)
{
    if (MICAP_MISSING_INTO(out_error, text))
        return MICA_ERROR_INVALID;
    if (!member.data)
        return micap_value_fail(out_error, 0, "there is no value");
    if (member.is_read_only)
        return micap_value_fail(out_error, 0,
                                "the value is in a list that others share: find it with mica_member_write");
    parser check = {.text = text, .at = text, .error = out_error};
    if (!parse_all(&check, member))
        return MICA_ERROR_INVALID;
    parser write = {.text = text, .at = text, .error = out_error, .writes = true};
    mica_field field;
    mica_type type;
    if (micap_member_owner(member, &field, &type))
        return parse_copy(&write, member, &type);
    parse_all(&write, member);
    return MICA_OK;
}
