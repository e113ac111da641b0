/* Queries from text and as text: see mica/query_text.h. */
#include "mica/query_text.h"

#include "base/argument.h"
#include "base/assert.h"
#include "base/closest_name.h"
#include "base/utf8.h"
#include "core/query/field_source.h"
#include "core/query/key_text.h"
#include "core/query/pattern.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "mica/component.h"
#include "mica/hierarchy.h"
#include "mica/name.h"
#include "type/value_write.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256, VARIABLE_BYTES = 64, KEY_BYTES = 4096 };

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
    char fields[MICA_TERMS_MAX][NAME_BYTES];
    uint32_t count;
    char keys[KEY_BYTES]; /* text that fields are compared with */
    uint32_t key_bytes;
    char variables[MICA_VARIABLES_MAX][VARIABLE_BYTES];
    const char *names[MICA_VARIABLES_MAX];
    uint32_t variable_count;
    mica_value_error error;
} parser;

static bool fail_at(parser *parser, uint32_t position, const char *format, ...) MICAP_FORMAT(3, 4);

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

/* A name, in quotes if it has other characters. */
static bool take_name(parser *parser, char name[NAME_BYTES], const char *expected)
{
    skip_blanks(parser);
    uint32_t position = position_of(parser);
    bool is_quoted = *parser->at == '"';
    parser->at += is_quoted;
    size_t length = is_quoted ? strcspn(parser->at, "\"") : name_length(parser->at);
    if (!length)
        return fail_here(parser, expected);
    if (length >= NAME_BYTES)
        return fail_at(parser, position, "the name is longer than %d bytes", NAME_BYTES - 1);
    memcpy(name, parser->at, length);
    name[length] = 0;
    parser->at += length;
    return !is_quoted || take(parser, '"') || fail_here(parser, "the quotation mark at the end of a name");
}

/* Finds a component of the world. That of the hierarchy is known before something uses it. */
static mica_component find_component(mica_world *world, const char *name)
{
    mica_component id = mica_component_find(world, name);
    bool is_parents = !id && strcmp(name, "mica_child_of") == 0;
    return is_parents && micap_component_use(world, MICA_ID(mica_child_of)) ? MICA_ID(mica_child_of) : id;
}

/* A component. */
static bool take_component(parser *parser, mica_component *out)
{
    char name[NAME_BYTES];
    skip_blanks(parser);
    uint32_t position = position_of(parser);
    if (!take_name(parser, name, "the name of a component"))
        return false;
    *out = find_component(parser->world, name);
    return *out || fail_unknown(parser, position, name);
}

/* The component of a term and, after a point, one of its fields. A component whose name has points comes first. */
static bool take_subject(parser *parser, mica_term *term)
{
    char *name = parser->fields[parser->count < MICA_TERMS_MAX ? parser->count : 0];
    skip_blanks(parser);
    uint32_t position = position_of(parser);
    if (!take_name(parser, name, "the name of a component"))
        return false;
    term->component = find_component(parser->world, name);
    for (size_t end = strlen(name); !term->component && end-- > 0;) {
        if (name[end] != '.')
            continue;
        name[end] = 0;
        term->component = find_component(parser->world, name);
        term->field = term->component ? name + end + 1 : NULL;
        name[end] = '.';
    }
    return term->component || fail_unknown(parser, position, name);
}

/* After the dollar sign. */
static bool take_variable(parser *parser, mica_node *out)
{
    uint32_t position = position_of(parser) - 1, i = 0;
    size_t length = name_length(parser->at);
    if (!length)
        return fail_here(parser, "the name of a variable");
    if (length >= VARIABLE_BYTES)
        return fail_at(parser, position, "the name of the variable is longer than %d bytes", VARIABLE_BYTES - 1);
    const char *name = parser->at;
    parser->at += length;
    *out = mica_this();
    if (length == 4 && memcmp(name, "this", 4) == 0)
        return true;
    while (i < parser->variable_count &&
           (strlen(parser->variables[i]) != length || memcmp(parser->variables[i], name, length) != 0))
        ++i;
    if (i == MICA_VARIABLES_MAX)
        return fail_at(parser, position, "there are more than %d variables", MICA_VARIABLES_MAX);
    if (i == parser->variable_count) {
        memcpy(parser->variables[i], name, length);
        parser->names[i] = parser->variables[i];
        ++parser->variable_count;
    }
    *out = mica_variable(i + 1);
    return true;
}

/* After the number sign: index and generation. */
static bool take_handle(parser *parser, mica_node *out)
{
    uint32_t position = position_of(parser) - 1;
    uint64_t numbers[2] = {0, 0};
    for (uint32_t i = 0; i < 2; ++i) {
        size_t digits = strspn(parser->at, "0123456789");
        if (!digits || digits > 10)
            return fail_here(parser, "a number of at most ten digits");
        numbers[i] = strtoull(parser->at, NULL, 10);
        parser->at += digits;
        if (!i && *parser->at++ != ':') {
            --parser->at;
            return fail_here(parser, "':' and the generation of the entity");
        }
    }
    *out = mica_fixed((mica_entity){(uint32_t)numbers[0], (uint32_t)numbers[1]});
    if (numbers[0] <= UINT32_MAX && numbers[1] <= UINT32_MAX && mica_is_alive(parser->world, out->entity))
        return true;
    return fail_at(parser, position, "the entity #%" PRIu64 ":%" PRIu64 " is not alive", numbers[0], numbers[1]);
}

static bool fail_unknown_entity(parser *parser, uint32_t position, const char *name)
{
    char hint[100];
    micap_guess guess = {.wrong = name};
    const micap_archetypes *archetypes = &parser->world->archetypes;
    for (uint32_t i = 0; i < archetypes->count; ++i)
        for (uint32_t k = 0; k < archetypes->by_id[i]->chunk_count; ++k)
            for (uint32_t row = 0; row < archetypes->by_id[i]->chunks[k]->count; ++row) {
                const char *known =
                    mica_name_get(parser->world, micap_chunk_entities(archetypes->by_id[i]->chunks[k])[row]);
                if (known)
                    micap_guess_try(&guess, known);
            }
    return fail_at(parser, position, "there is no entity \"%.60s\"%s", name,
                   micap_guess_text(&guess, hint, sizeof hint));
}

/* An entity: a variable, a name or path, a handle, '*' for each and '_' for any. */
static bool take_node(parser *parser, mica_node *out)
{
    char name[NAME_BYTES];
    skip_blanks(parser);
    uint32_t position = position_of(parser);
    if (take(parser, '$'))
        return take_variable(parser, out);
    if (take(parser, '#'))
        return take_handle(parser, out);
    if (take(parser, '*')) {
        *out = mica_each();
        return true;
    }
    if (*parser->at == '_' && !is_of_name(parser->at[1])) {
        ++parser->at;
        *out = mica_any();
        return true;
    }
    if (!take_name(parser, name, "an entity ($variable, name, #index:generation, * or _)"))
        return false;
    *out = mica_fixed(mica_find_from(parser->world, mica_nil(), name));
    return !mica_is_nil(out->entity) || fail_unknown_entity(parser, position, name);
}

/* Whether a certain word stands here, before another one or a relation; then it is taken. */
static bool take_keyword(parser *parser, const char *word)
{
    skip_blanks(parser);
    size_t length = strlen(word);
    if (name_length(parser->at) != length || memcmp(parser->at, word, length) != 0)
        return false;
    const char *next = parser->at + length + strspn(parser->at + length, " \t\r\n");
    if (!is_of_name(*next) && *next != '"')
        return false;
    parser->at = next;
    return true;
}

/* "up", "down" or "cascade" and a relation; "self" before it. */
static bool take_traversal(parser *parser, mica_term *term)
{
    term->or_self = take_keyword(parser, "self");
    mica_component *along = take_keyword(parser, "up")        ? &term->up
                            : take_keyword(parser, "down")    ? &term->down
                            : take_keyword(parser, "cascade") ? &term->cascade
                                                              : NULL;
    if (!along)
        return !term->or_self || fail_here(parser, "up, down or cascade");
    return take_component(parser, along);
}

/* How fields are compared; longer signs come first. */
static const struct {
    const char *sign;
    mica_comparison compare;
} comparisons[] = {{"<=", MICA_AT_MOST}, {">=", MICA_AT_LEAST}, {"!=", MICA_NOT_EQUAL},
                   {"<", MICA_LESS},     {">", MICA_GREATER},   {"=", MICA_EQUAL}};
enum { COMPARISONS = sizeof comparisons / sizeof *comparisons };

/* Whether a term compares a field of text. */
static bool is_about_text(const parser *parser, const mica_term *term)
{
    char note[MICAP_INDEX_NOTE];
    micap_field_source source;
    return micap_field_sources_find(&parser->world->memory, micap_type_of(term->component), term->field, false, &source,
                                    note) &&
           source.kind == MICA_KIND_TEXT;
}

/* A text in quotes, in which a backslash stands before quotation marks and backslashes. */
static bool take_text(parser *parser, mica_key *out)
{
    uint32_t position = position_of(parser);
    char *text = parser->keys + parser->key_bytes;
    if (!take(parser, '"'))
        return fail_here(parser, "a text in quotation marks");
    for (; *parser->at && *parser->at != '"'; ++parser->at) {
        parser->at += *parser->at == '\\' && parser->at[1];
        if (parser->key_bytes + 2 >= KEY_BYTES)
            return fail_at(parser, position, "the texts are longer than %d bytes", KEY_BYTES - 2);
        parser->keys[parser->key_bytes++] = *parser->at;
    }
    parser->keys[parser->key_bytes++] = 0;
    *out = mica_key_text(text);
    return take(parser, '"') || fail_here(parser, "the quotation mark at the end of a text");
}

/* A number, true, false, or an entity. */
static bool take_key(parser *parser, mica_key *out)
{
    skip_blanks(parser);
    const char *digits = parser->at + (*parser->at == '-');
    mica_node node;
    if ((*digits >= '0' && *digits <= '9') || *digits == '.' || name_length(digits) == 3) {
        const char *end = micap_number_key(parser->at, out);
        if (end) {
            parser->at = end;
            return true;
        }
    }
    for (uint32_t value = 0; value < 2; ++value) {
        const char *word = value ? "true" : "false";
        if (name_length(parser->at) == strlen(word) && memcmp(parser->at, word, strlen(word)) == 0) {
            parser->at += strlen(word);
            *out = mica_key_integer(value);
            return true;
        }
    }
    if (*parser->at != '#' && *parser->at != '"' && !name_length(parser->at))
        return fail_here(parser, "a number, true, false or an entity");
    if (!take_node(parser, &node))
        return false;
    *out = mica_key_entity(node.entity);
    return true;
}

/* What the field of a term is compared with, after what the term is about. */
static bool take_comparison(parser *parser, mica_term *term)
{
    if (!term->field)
        return true;
    skip_blanks(parser);
    uint32_t i = 0;
    while (i < COMPARISONS && strncmp(parser->at, comparisons[i].sign, strlen(comparisons[i].sign)) != 0)
        ++i;
    if (i == COMPARISONS)
        return fail_here(parser, "=, !=, <, <=, > or >=");
    parser->at += strlen(comparisons[i].sign);
    term->compare = comparisons[i].compare;
    skip_blanks(parser);
    return is_about_text(parser, term) ? take_text(parser, &term->key) : take_key(parser, &term->key);
}

/* What a term is about, in parentheses after the component. */
static bool take_arguments(parser *parser, mica_term *term)
{
    if (!take(parser, '('))
        return true;
    if (!take_traversal(parser, term))
        return false;
    if (!term->up && !term->down && !term->cascade &&
        (!take_node(parser, &term->subject) || !take_traversal(parser, term)))
        return false;
    if (take(parser, ',') && !take_node(parser, &term->target))
        return false;
    return take(parser, ')') || fail_here(parser, "')'");
}

static bool take_rest(parser *parser, mica_term *term)
{
    return take_arguments(parser, term) && take_comparison(parser, term);
}

/* The access of a term without a word: to read, if there is something to read. */
static mica_access plain_access(const mica_term *term)
{
    const mica_type *type = mica_component_type(term->component);
    bool has_column = type->relation
                          ? term->target.kind != MICA_NODE_DEFAULT && type->field_count > 2 && !type->transitive
                          : type->size_bytes != 0;
    return has_column && !term->field ? MICA_ACCESS_READ : MICA_ACCESS_HAS;
}

/* Adds a term, if it can be used with the others. */
static bool add_term(parser *parser, uint32_t position, mica_term term)
{
    mica_component component = term.component;
    if (parser->count == MICA_TERMS_MAX)
        return fail_at(parser, position, "there are more than %d terms", MICA_TERMS_MAX);
    if (term.access == MICA_ACCESS_READ)
        term.access = plain_access(&term);
    parser->positions[parser->count] = position;
    parser->terms[parser->count++] = term;
    mica_query_def def = {.terms = parser->terms, .term_count = parser->count};
    micap_problem problem;
    if (micap_query_check_term(parser->world, &def, parser->count - 1, &problem))
        return true;
    fail_at(parser, position, "%.60s: %s", mica_component_type(component)->name, problem.text);
    parser->error.result = problem.result;
    return false;
}

/* The rest of a group, after the component that it begins with. */
static bool take_group(parser *parser, uint32_t position, mica_term term)
{
    term.access = MICA_ACCESS_EITHER;
    if (!add_term(parser, position, term))
        return false;
    while (take(parser, '|')) {
        skip_blanks(parser);
        position = position_of(parser);
        term = (mica_term){.access = MICA_ACCESS_OR};
        if (!take_subject(parser, &term) || !take_rest(parser, &term) || !add_term(parser, position, term))
            return false;
    }
    return true;
}

static bool take_term(parser *parser)
{
    mica_term term = {.access = MICA_ACCESS_WITHOUT};
    skip_blanks(parser);
    uint32_t position = position_of(parser);
    if (take(parser, '!'))
        return take_subject(parser, &term) && take_rest(parser, &term) && add_term(parser, position, term);
    bool is_optional = take(parser, '?');
    uint32_t word = take_word(parser);
    mica_access access = word < WORDS ? words[word].access : MICA_ACCESS_READ;
    if (is_optional && access != MICA_ACCESS_READ && access != MICA_ACCESS_WRITE)
        return fail_at(parser, position, "an optional component is read or written, not \"%s\"", words[word].word);
    if (is_optional)
        access = access == MICA_ACCESS_WRITE ? MICA_ACCESS_MAYBE_WRITE : MICA_ACCESS_MAYBE_READ;
    term.access = access;
    if (!take_subject(parser, &term) || !take_rest(parser, &term))
        return false;
    skip_blanks(parser);
    return access == MICA_ACCESS_READ && *parser->at == '|' ? take_group(parser, position, term)
                                                            : add_term(parser, position, term);
}

/* Terms about other entities are also checked together. */
static bool check_pattern(parser *parser, const mica_query_def *def)
{
    bool is_pattern = false;
    for (uint32_t i = 0; i < parser->count; ++i)
        is_pattern |= micap_term_is_pattern(&parser->terms[i]);
    uint32_t term;
    const char *problem = is_pattern ? micap_pattern_problem(def, &term) : NULL;
    return !problem || fail_at(parser, parser->positions[term], "%.60s: %s",
                               mica_component_type(parser->terms[term].component)->name, problem);
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
    mica_query_def def = {.terms = parser.terms, .variables = parser.names};
    bool is_right = parse(&parser);
    def.term_count = parser.count;
    def.variable_count = parser.variable_count;
    if (is_right && check_pattern(&parser, &def)) {
        query = mica_query_create(world, &def);
        if (!query) /* the world has reported it */
            parser.error = (mica_value_error){.result = MICA_ERROR_MEMORY, .text = "out of memory"};
        else
            mica_query_limit(query, MICA_QUERY_TEXT_STEPS);
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

static void put_path(micap_text_output *out, const mica_world *world, mica_entity entity)
{
    mica_entity scope = mica_name_get_scope(world, entity);
    if (!mica_is_nil(scope)) {
        put_path(out, world, scope);
        micap_output_text(out, "/");
    }
    micap_output_text(out, mica_name_get(world, entity));
}

/* A path in quotes, if it leads to the entity; else its handle. */
static void put_entity(micap_text_output *out, const mica_world *world, mica_entity entity)
{
    char path[NAME_BYTES + 64];
    snprintf(path, sizeof path, "#%u:%u", entity.index, entity.generation);
    bool has_path = mica_name_get(world, entity) != NULL;
    for (mica_entity at = entity; has_path && !mica_is_nil(at); at = mica_name_get_scope(world, at))
        has_path = mica_name_get(world, at) != NULL;
    if (has_path) {
        char named[NAME_BYTES];
        micap_text_output to = micap_output_begin(named, sizeof named);
        put_path(&to, world, entity);
        has_path = micap_output_end(&to) < sizeof named && !strchr(named, '"') &&
                   mica_same(mica_find_from(world, mica_nil(), named), entity);
        if (has_path)
            snprintf(path, sizeof path, "\"%s\"", named);
    }
    micap_output_text(out, path);
}

static void put_node(micap_text_output *out, const mica_query *query, mica_node node)
{
    const char *name = node.kind == MICA_NODE_VARIABLE ? micap_pattern_name(query->pattern, node.variable) : NULL;
    char number[16];
    switch (node.kind) {
    case MICA_NODE_EACH: micap_output_text(out, "*"); break;
    case MICA_NODE_ANY: micap_output_text(out, "_"); break;
    case MICA_NODE_ENTITY: put_entity(out, query->world, node.entity); break;
    case MICA_NODE_VARIABLE:
        snprintf(number, sizeof number, "%u", node.variable);
        micap_output_text(out, "$");
        micap_output_text(out, name ? name : number);
        break;
    default: micap_output_text(out, "$this"); break;
    }
}

static void put_arguments(micap_text_output *out, const mica_query *query, const mica_term *term)
{
    mica_component along = term->up ? term->up : term->down ? term->down : term->cascade;
    bool has_subject = term->subject.kind > MICA_NODE_THIS || term->target.kind != MICA_NODE_DEFAULT;
    if (!has_subject && !along)
        return;
    micap_output_text(out, "(");
    if (has_subject)
        put_node(out, query, term->subject);
    if (along) {
        micap_output_text(out, has_subject ? " " : "");
        micap_output_text(out, term->or_self ? "self " : "");
        micap_output_text(out, term->up ? "up " : term->down ? "down " : "cascade ");
        put_name(out, mica_component_type(along)->name);
    }
    if (term->target.kind != MICA_NODE_DEFAULT) {
        micap_output_text(out, ", ");
        put_node(out, query, term->target);
    }
    micap_output_text(out, ")");
}

static void put_text(micap_text_output *out, const char *text)
{
    micap_output_text(out, "\"");
    for (; *text; ++text) {
        const char letter[] = {*text, 0};
        micap_output_text(out, *text == '"' || *text == '\\' ? "\\" : "");
        micap_output_text(out, letter);
    }
    micap_output_text(out, "\"");
}

static void put_comparison(micap_text_output *out, const mica_query *query, const mica_term *term)
{
    char number[MICAP_KEY_TEXT_BYTES];
    uint32_t i = 0;
    while (comparisons[i].compare != term->compare)
        ++i;
    micap_output_text(out, " ");
    micap_output_text(out, comparisons[i].sign);
    micap_output_text(out, " ");
    if (term->key.kind == MICA_KIND_TEXT) {
        put_text(out, term->key.as.text);
        return;
    }
    if (term->key.kind == MICA_KIND_ENTITY) {
        if (mica_is_alive(query->world, term->key.as.entity)) {
            put_entity(out, query->world, term->key.as.entity);
            return;
        }
        snprintf(number, sizeof number, "#%u:%u", term->key.as.entity.index, term->key.as.entity.generation);
    } else {
        micap_key_write(term->key, number);
    }
    micap_output_text(out, number);
}

/* The name of the component and of the field that is compared. */
static void put_term_name(micap_text_output *out, const mica_term *term)
{
    char name[2 * NAME_BYTES];
    snprintf(name, sizeof name, "%s%s%s", mica_component_type(term->component)->name, term->field ? "." : "",
             term->field ? term->field : "");
    put_name(out, name);
}

size_t mica_query_write_text(const mica_query *query, char *text, size_t capacity)
{
    if (MICAP_MISSING(NULL, query) || MICAP_MISSING_ARRAY(query->world, text, capacity))
        return 0;
    micap_text_output out = micap_output_begin(text, capacity);
    for (uint32_t i = 0; i < query->term_count; ++i) {
        const mica_term *term = &query->terms[i];
        bool is_plain = term->access == plain_access(term);
        micap_output_text(&out, !i ? "" : term->access == MICA_ACCESS_OR ? " | " : ", ");
        micap_output_text(&out, prefix_of(term->access));
        for (uint32_t word = 0; word < WORDS; ++word)
            if (words[word].access == term->access && !is_plain) {
                micap_output_text(&out, words[word].word);
                micap_output_text(&out, " ");
            }
        put_term_name(&out, term);
        put_arguments(&out, query, term);
        if (term->field)
            put_comparison(&out, query, term);
    }
    return micap_output_end(&out);
}
