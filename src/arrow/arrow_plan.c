#include "arrow/arrow_plan.h"

#include "arrow/arrow_field.h"
#include "mica/component.h"

#include <stdio.h>
#include <string.h>

static bool add(micap_arrow_plan *plan, micap_arrow_source source)
{
    if (!MICAP_RESERVE(&plan->memory, plan->sources, &plan->source_capacity, plan->source_count + 1))
        return false;
    plan->sources[plan->source_count++] = source;
    return true;
}

static const mica_field entity_field = {
    .name = "entity", .element_bytes = sizeof(mica_entity), .count = 1, .kind = MICA_KIND_ENTITY};
static const mica_field tag_field = {.name = "", .element_bytes = 1, .count = 1, .kind = MICA_KIND_BOOL};

/* All numbers of variables in the terms, in order. */
static bool add_variables(micap_arrow_plan *plan)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < plan->term_count; ++i) {
        const mica_term *term = &plan->terms[i];
        used |= (uint32_t)(term->subject.kind == MICA_NODE_VARIABLE) << term->subject.variable;
        used |= (uint32_t)(term->target.kind == MICA_NODE_VARIABLE) << term->target.variable;
    }
    for (uint32_t i = 1; i <= MICA_VARIABLES_MAX; ++i)
        if (used >> i & 1 && !add(plan, (micap_arrow_source){.kind = MICAP_ARROW_SOURCE_VARIABLE,
                                                             .index = i,
                                                             .field = entity_field,
                                                             .is_nullable = true,
                                                             .repeats = true}))
            return false;
    return true;
}

static bool is_optional(mica_access access)
{
    return access == MICA_ACCESS_MAYBE_READ || access == MICA_ACCESS_MAYBE_WRITE || access == MICA_ACCESS_EITHER ||
           access == MICA_ACCESS_OR;
}

static bool has_column(mica_access access)
{
    return access == MICA_ACCESS_READ || access == MICA_ACCESS_WRITE || is_optional(access);
}

static bool is_about_row(const mica_term *term)
{
    return term->subject.kind <= MICA_NODE_THIS && !term->up && !term->down && !term->cascade;
}

/* The fields of a component, or the component itself if it is an enum. */
static bool add_fields(micap_arrow_plan *plan, uint32_t at, const mica_type *type)
{
    const mica_term *term = &plan->terms[at];
    micap_arrow_source source = {.kind = MICAP_ARROW_SOURCE_FIELD,
                                 .index = at,
                                 .is_nullable = is_optional(term->access),
                                 .repeats = !is_about_row(term) || type->storage == MICA_STORAGE_SINGLETON};
    bool is_struct = type->kind == MICA_KIND_STRUCT;
    for (uint32_t i = 0; i < (is_struct ? type->field_count : 1); ++i) {
        source.field = is_struct ? type->fields[i] : micap_arrow_value("", type);
        if (!add(plan, source))
            return false;
    }
    return true;
}

/* Fields of split components are found by component, not by term. */
static bool is_ambiguous(const micap_arrow_plan *plan, uint32_t at, const mica_type *type)
{
    for (uint32_t i = 0; type->split && i < at; ++i)
        if (plan->terms[i].component == plan->terms[at].component && has_column(plan->terms[i].access))
            return true;
    return false;
}

static mica_result add_term(micap_arrow_plan *plan, uint32_t at)
{
    const mica_term *term = &plan->terms[at];
    const mica_type *type = mica_component_type(term->component);
    bool is_done = true;
    if (!has_column(term->access))
        return MICA_OK;
    if (is_ambiguous(plan, at, type)) {
        char text[256];
        snprintf(text, sizeof text, "arrow: two terms read component %.100s, which is split", type->name);
        return mica_world_report(mica_query_begin_since(plan->query, 0).world, MICA_ERROR_REFUSED, text);
    }
    if (type->size_bytes)
        is_done = add_fields(plan, at, type);
    else if (is_optional(term->access))
        is_done =
            add(plan,
                (micap_arrow_source){.kind = MICAP_ARROW_SOURCE_TAG, .index = at, .field = tag_field, .repeats = true});
    return is_done ? MICA_OK : MICA_ERROR_MEMORY;
}

mica_result micap_arrow_plan_make(micap_arrow_plan *plan, mica_query *query)
{
    plan->query = query;
    plan->term_count = mica_query_terms(query, plan->terms, MICA_TERMS_MAX);
    if (!add(plan, (micap_arrow_source){.kind = MICAP_ARROW_SOURCE_ENTITY, .field = entity_field}) ||
        !add_variables(plan))
        return MICA_ERROR_MEMORY;
    mica_result result = MICA_OK;
    for (uint32_t i = 0; i < plan->term_count && result == MICA_OK; ++i) {
        const mica_term *term = &plan->terms[i];
        plan->has_nodes |= !is_about_row(term) || term->target.kind != MICA_NODE_DEFAULT || term->field;
        result = add_term(plan, i);
    }
    return result;
}

void micap_arrow_plan_free(micap_arrow_plan *plan)
{
    MICAP_RELEASE_ARRAY(&plan->memory, plan->sources, plan->source_capacity);
    plan->sources = NULL;
}

/* Appends text as long as there is room, and counts all of it. */
typedef struct micap_arrow_text {
    char *out;
    size_t capacity, count;
} text;

static void put(text *text, const char *word)
{
    for (size_t i = 0; word[i]; ++i, ++text->count)
        if (text->count + 1 < text->capacity)
            text->out[text->count] = word[i];
}

static void put_number(text *text, uint32_t number)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%u", number);
    put(text, digits);
}

static void put_variable(text *text, const mica_query *query, uint32_t variable)
{
    put(text, "$");
    const char *name = mica_query_variable_name(query, variable);
    if (name)
        put(text, name);
    else
        put_number(text, variable);
}

static void put_node(text *text, const mica_query *query, mica_node node)
{
    switch (node.kind) {
    case MICA_NODE_VARIABLE: put_variable(text, query, node.variable); break;
    case MICA_NODE_ENTITY:
        put(text, "#");
        put_number(text, node.entity.index);
        put(text, ":");
        put_number(text, node.entity.generation);
        break;
    case MICA_NODE_EACH: put(text, "*"); break;
    case MICA_NODE_ANY: put(text, "_"); break;
    default: put(text, "$this");
    }
}

/* What a term is about, as in the text of a query. */
static void put_nodes(text *text, const mica_query *query, const mica_term *term)
{
    const struct {
        mica_component relation;
        const char *words;
    } ways[] = {{term->up, " up "}, {term->down, " down "}, {term->cascade, " cascade "}};
    put(text, "(");
    put_node(text, query, term->subject);
    for (uint32_t i = 0; i < 3; ++i)
        if (ways[i].relation) {
            put(text, ways[i].words);
            put(text, mica_component_type(ways[i].relation)->name);
        }
    if (term->target.kind != MICA_NODE_DEFAULT) {
        put(text, ", ");
        put_node(text, query, term->target);
    }
    put(text, ")");
}

size_t micap_arrow_column_name(const micap_arrow_plan *plan, const micap_arrow_source *source, char *out,
                               size_t capacity)
{
    text text = {out, capacity, 0};
    if (source->kind == MICAP_ARROW_SOURCE_ENTITY) {
        put(&text, source->field.name);
    } else if (source->kind == MICAP_ARROW_SOURCE_VARIABLE) {
        put_variable(&text, plan->query, source->index);
    } else {
        const mica_term *term = &plan->terms[source->index];
        put(&text, mica_component_type(term->component)->name);
        if (!is_about_row(term) || term->target.kind != MICA_NODE_DEFAULT)
            put_nodes(&text, plan->query, term);
        if (*source->field.name)
            put(&text, ".");
        put(&text, source->field.name);
    }
    if (capacity)
        out[text.count < capacity ? text.count : capacity - 1] = 0;
    return text.count;
}
