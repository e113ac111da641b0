/* Queries from text and as text: see mica/query_text.h. */
#include "mica/query_text.h"

#include "base/argument.h"
#include "base/closest_name.h"
#include "base/utf8.h"
#include "core/query/query.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "mica/component.h"
#include "type/value_write.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 256 };

/* A word before a name, and what it means. The text of a term with this access begins with it. */
static const struct {
    const char *word;
    mica_access access;
} words[] = {{"write", MICA_ACCESS_WRITE},
             {"has", MICA_ACCESS_HAS},
             {"changed", MICA_ACCESS_CHANGED},
             {"added", MICA_ACCESS_ADDED},
             {"disabled", MICA_ACCESS_DISABLED}};
enum { WORDS = sizeof words / sizeof *words };

typedef struct parser {
    mica_world *world;
    const char *text;
    const char *at;
    mica_term terms[MICA_TERMS_MAX];
    uint32_t positions[MICA_TERMS_MAX]; /* of the terms in the text */
    uint32_t count;
    mica_value_error error;
} parser;

static bool fail_at(parser *parser, uint32_t position, const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool fail_at(parser *parser, uint32_t position, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    parser->error.result = MICA_ERROR_INVALID;
    parser->error.position = position;
    vsnprintf(parser->error.text, sizeof parser->error.text, format, arguments);
    va_end(arguments);
    return false;
}

static uint32_t position_of(const parser *parser)
{
    return (uint32_t)(parser->at - parser->text);
}

/* Says what stands here instead of what was expected. */
static bool fail_here(parser *parser, const char *expected)
{
    if (!*parser->at)
        return fail_at(parser, position_of(parser), "expected %s, found the end", expected);
    uint32_t bytes = micap_character_bytes((const unsigned char *)parser->at, strlen(parser->at));
    return fail_at(parser, position_of(parser), "expected %s, found '%.*s'", expected, (int)bytes, parser->at);
}

static void skip_blanks(parser *parser)
{
    parser->at += strspn(parser->at, " \t\r\n");
}

static bool take(parser *parser, char expected)
{
    skip_blanks(parser);
    bool found = *parser->at == expected;
    parser->at += found;
    return found;
}

static bool is_of_name(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           (letter && strchr("_.:", letter));
}

static size_t name_length(const char *at)
{
    size_t length = 0;
    while (is_of_name(at[length]))
        ++length;
    return length;
}

/* The number of the word that stands here before a name; WORDS if there is none. */
static uint32_t take_word(parser *parser)
{
    skip_blanks(parser);
    size_t length = name_length(parser->at);
    const char *next = parser->at + length + strspn(parser->at + length, " \t\r\n");
    for (uint32_t i = 0; i < WORDS; ++i)
        if (length == strlen(words[i].word) && memcmp(parser->at, words[i].word, length) == 0 &&
            (is_of_name(*next) || *next == '"')) {
            parser->at = next;
            return i;
        }
    return WORDS;
}

static bool fail_unknown(parser *parser, uint32_t position, const char *name)
{
    char hint[100];
    micap_guess guess = {.wrong = name};
    for (mica_component id = 0; (id = mica_component_next(parser->world, id));)
        micap_guess_try(&guess, mica_component_type(id)->name);
    return fail_at(parser, position, "there is no component \"%.60s\"%s", name,
                   micap_guess_text(&guess, hint, sizeof hint));
}

static bool take_component(parser *parser, mica_component *out)
{
    char name[NAME_BYTES];
    skip_blanks(parser);
    uint32_t position = position_of(parser);
    bool is_quoted = *parser->at == '"';
    parser->at += is_quoted;
    size_t length = is_quoted ? strcspn(parser->at, "\"") : name_length(parser->at);
    if (!length)
        return fail_here(parser, "the name of a component");
    if (length >= sizeof name)
        return fail_at(parser, position, "the name is longer than %d bytes", NAME_BYTES - 1);
    memcpy(name, parser->at, length);
    name[length] = 0;
    parser->at += length;
    if (is_quoted && !take(parser, '"'))
        return fail_here(parser, "the quotation mark at the end of a name");
    *out = mica_component_find(parser->world, name);
    return *out || fail_unknown(parser, position, name);
}

/* Adds a term, if it can be used with the others. */
static bool add_term(parser *parser, uint32_t position, mica_component component, mica_access access)
{
    if (parser->count == MICA_TERMS_MAX)
        return fail_at(parser, position, "there are more than %d terms", MICA_TERMS_MAX);
    if (access == MICA_ACCESS_READ && !mica_component_type(component)->size_bytes)
        access = MICA_ACCESS_HAS;
    parser->terms[parser->count++] = (mica_term){component, access};
    mica_query_def def = {.terms = parser->terms, .term_count = parser->count};
    micap_problem problem;
    if (micap_query_check_term(parser->world, &def, parser->count - 1, &problem))
        return true;
    fail_at(parser, position, "%.60s: %s", mica_component_type(component)->name, problem.text);
    parser->error.result = problem.result;
    return false;
}

/* The rest of a group, after the component that it begins with. */
static bool take_group(parser *parser, uint32_t position, mica_component component)
{
    if (!add_term(parser, position, component, MICA_ACCESS_EITHER))
        return false;
    while (take(parser, '|')) {
        skip_blanks(parser);
        position = position_of(parser);
        if (!take_component(parser, &component) || !add_term(parser, position, component, MICA_ACCESS_OR))
            return false;
    }
    return true;
}

static bool take_term(parser *parser)
{
    mica_component component;
    skip_blanks(parser);
    uint32_t position = position_of(parser);
    if (take(parser, '!'))
        return take_component(parser, &component) && add_term(parser, position, component, MICA_ACCESS_WITHOUT);
    bool is_optional = take(parser, '?');
    uint32_t word = take_word(parser);
    mica_access access = word < WORDS ? words[word].access : MICA_ACCESS_READ;
    if (is_optional && access != MICA_ACCESS_READ && access != MICA_ACCESS_WRITE)
        return fail_at(parser, position, "an optional component is read or written, not \"%s\"", words[word].word);
    if (is_optional)
        access = access == MICA_ACCESS_WRITE ? MICA_ACCESS_MAYBE_WRITE : MICA_ACCESS_MAYBE_READ;
    if (!take_component(parser, &component))
        return false;
    skip_blanks(parser);
    return access == MICA_ACCESS_READ && *parser->at == '|' ? take_group(parser, position, component)
                                                            : add_term(parser, position, component, access);
}

static bool parse(parser *parser)
{
    skip_blanks(parser);
    if (!*parser->at)
        return true;
    do
        if (!take_term(parser))
            return false;
    while (take(parser, ','));
    return !*parser->at || fail_here(parser, "a comma or the end");
}

mica_query *mica_query_text(mica_world *world, const char *text, mica_value_error *out_error)
{
    if (MICAP_MISSING_INTO(out_error, world) || MICAP_MISSING_INTO(out_error, text))
        return NULL;
    parser parser = {.world = world, .text = text, .at = text};
    mica_query *query = NULL;
    if (parse(&parser)) {
        query = mica_query_create(world, &(mica_query_def){.terms = parser.terms, .term_count = parser.count});
        if (!query) /* the world has reported it */
            parser.error = (mica_value_error){.result = MICA_ERROR_MEMORY, .text = "out of memory"};
    } else if (!out_error) {
        micap_fail(world, parser.error.result, (mica_location){0}, "query_text: at %u: %s", parser.error.position,
                   parser.error.text);
    }
    if (out_error)
        *out_error = parser.error;
    return query;
}

/* Names that could be taken for something else are put in quotes. */
static void put_name(micap_text_output *out, const char *name)
{
    bool is_plain = name[name_length(name)] == 0;
    for (uint32_t i = 0; i < WORDS; ++i)
        is_plain &= strcmp(name, words[i].word) != 0;
    micap_output_text(out, is_plain ? "" : "\"");
    micap_output_text(out, name);
    micap_output_text(out, is_plain ? "" : "\"");
}

static const char *prefix_of(mica_access access)
{
    switch (access) {
    case MICA_ACCESS_WITHOUT: return "!";
    case MICA_ACCESS_MAYBE_READ: return "?";
    case MICA_ACCESS_MAYBE_WRITE: return "?write ";
    default: return "";
    }
}

size_t mica_query_write_text(const mica_query *query, char *text, size_t capacity)
{
    if (MICAP_MISSING(NULL, query) || MICAP_MISSING_ARRAY(query->world, text, capacity))
        return 0;
    micap_text_output out = micap_output_begin(text, capacity);
    for (uint32_t i = 0; i < query->term_count; ++i) {
        mica_access access = query->terms[i].access;
        const mica_type *type = mica_component_type(query->terms[i].component);
        bool is_tag = access == MICA_ACCESS_HAS && !type->size_bytes;
        micap_output_text(&out, !i ? "" : access == MICA_ACCESS_OR ? " | " : ", ");
        micap_output_text(&out, prefix_of(access));
        for (uint32_t word = 0; word < WORDS; ++word)
            if (words[word].access == access && !is_tag) {
                micap_output_text(&out, words[word].word);
                micap_output_text(&out, " ");
            }
        put_name(&out, type->name);
    }
    return micap_output_end(&out);
}
