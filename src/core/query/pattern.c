#include "core/query/pattern.h"

#include "core/query/condition.h"
#include "core/query/pattern_search.h"
#include "core/storage/pool_lookup.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "mica/entity.h"
#include "pool/pool_edges.h"

#include <stdio.h>

static mica_component traversal_of(const mica_term *term)
{
    return term->up ? term->up : term->down ? term->down : term->cascade;
}

static bool is_this(mica_node node)
{
    return node.kind == MICA_NODE_DEFAULT || node.kind == MICA_NODE_THIS;
}

/* The edges of mica_child_of are in no pool, so that every term about them is about an edge: to any entity if it does not say where. */
static bool is_about_parents(const mica_term *term)
{
    const micap_type *type = micap_type_of(term->component);
    return type && type->type.parents;
}

static mica_node target_of(const mica_term *term)
{
    return is_about_parents(term) && term->target.kind == MICA_NODE_DEFAULT ? mica_any() : term->target;
}

bool micap_term_is_pattern(const mica_term *term)
{
    return is_about_parents(term) || !is_this(term->subject) || term->target.kind != MICA_NODE_DEFAULT ||
           traversal_of(term) || term->or_self || term->field;
}

static bool is_group(mica_access access)
{
    return access == MICA_ACCESS_EITHER || access == MICA_ACCESS_OR;
}

static bool is_optional(mica_access access)
{
    return access == MICA_ACCESS_MAYBE_READ || access == MICA_ACCESS_MAYBE_WRITE;
}

static bool wants_column(mica_access access)
{
    return access == MICA_ACCESS_READ || access == MICA_ACCESS_WRITE || is_optional(access) || is_group(access);
}

/* A relation has its target and rank as fields, and those of the program. */
static bool has_edge_fields(const micap_type *type)
{
    return type->type.field_count > 2;
}

static bool same_nodes(mica_node a, mica_node b)
{
    if (is_this(a) && is_this(b))
        return true;
    return a.kind == b.kind && a.kind != MICA_NODE_EACH && a.kind != MICA_NODE_ANY && a.variable == b.variable &&
           mica_same(a.entity, b.entity);
}

bool micap_terms_are_alike(const mica_term *a, const mica_term *b)
{
    if (a->component != b->component || !same_nodes(a->subject, b->subject) || a->target.kind != b->target.kind)
        return false;
    return (a->target.kind == MICA_NODE_DEFAULT || same_nodes(a->target, b->target)) && a->up == b->up &&
           a->down == b->down && a->cascade == b->cascade && a->or_self == b->or_self;
}

static const char *node_problem(const mica_world *world, mica_node node)
{
    if ((uint32_t)node.kind > MICA_NODE_ANY)
        return "its subject or target is of an unknown kind";
    if (node.kind == MICA_NODE_VARIABLE && (!node.variable || node.variable > MICA_VARIABLES_MAX))
        return "the number of a variable must be from 1 to MICA_VARIABLES_MAX";
    if (node.kind == MICA_NODE_ENTITY && !mica_is_alive(world, node.entity))
        return "the entity it names is not alive";
    return NULL;
}

static const char *traversal_problem(mica_world *world, const mica_term *term)
{
    if ((term->up != 0) + (term->down != 0) + (term->cascade != 0) > 1)
        return "it has more than one of .up, .down and .cascade";
    if (!traversal_of(term))
        return term->or_self ? "it has .or_self, but none of .up, .down and .cascade" : NULL;
    micap_problem problem;
    const micap_component *used = micap_component_try(world, traversal_of(term), &problem);
    const mica_type *relation = used ? &used->type->type : NULL;
    if (!relation || !relation->relation || relation->symmetric)
        return "ancestors are found along a relation that is exclusive, acyclic and not symmetric";
    if (!relation->exclusive || !relation->acyclic)
        return relation->exclusive ? "its .up, .down or .cascade is a relation without .acyclic = true"
                                   : "its .up, .down or .cascade is a relation without .exclusive = true";
    if (term->target.kind != MICA_NODE_DEFAULT || is_about_parents(term))
        return "edges of ancestors and descendants: use a variable for the ancestor";
    if (term->cascade && !is_this(term->subject))
        return "only this entity can be visited after its ancestors: use .up for others";
    return NULL;
}

static const char *edge_problem(const micap_type *type, mica_access access)
{
    if (!type->type.relation)
        return "only a relation has a target";
    if (access >= MICA_ACCESS_CHANGED)
        return "edges can't be asked for changes";
    if (access != MICA_ACCESS_READ && access != MICA_ACCESS_WRITE && access != MICA_ACCESS_MAYBE_WRITE)
        return NULL;
    if (!has_edge_fields(type))
        return "its edges have no fields: use MICA_HAS";
    return type->type.transitive ? "what follows from several edges has no fields: use MICA_HAS" : NULL;
}

const char *micap_pattern_term_problem(mica_world *world, const mica_term *term)
{
    const micap_type *type = micap_type_of(term->component);
    const char *problem = node_problem(world, term->subject);
    if (!problem)
        problem = node_problem(world, term->target);
    if (!problem)
        problem = traversal_problem(world, term);
    if (!problem && type->type.storage == MICA_STORAGE_SINGLETON)
        problem = "a singleton belongs to no entity";
    if (!problem && term->target.kind != MICA_NODE_DEFAULT)
        problem = edge_problem(type, term->access);
    if (!problem && term->target.kind == MICA_NODE_DEFAULT && term->subject.kind == MICA_NODE_ANY)
        problem = "any entity as the subject of a component: use a variable or each";
    return problem;
}

/* Variables, as bits. Variable 0 is this entity. */
static uint32_t variable_bit(mica_node node)
{
    return node.kind == MICA_NODE_VARIABLE ? 1u << node.variable : node.kind == MICA_NODE_THIS;
}

static uint32_t variables_of(const mica_term *term)
{
    return variable_bit(term->subject) | (term->subject.kind == MICA_NODE_DEFAULT) | variable_bit(term->target);
}

/* Whether a group can be decided by one entity alone. `first` is its first term. */
static bool is_plain_group(const mica_query_def *def, uint32_t first)
{
    for (uint32_t i = first; i < def->term_count && (i == first || def->terms[i].access == MICA_ACCESS_OR); ++i) {
        const mica_term *term = &def->terms[i];
        if (!same_nodes(term->subject, def->terms[first].subject) || term->target.kind != MICA_NODE_DEFAULT ||
            traversal_of(term))
            return false;
    }
    return true;
}

static uint32_t group_start(const mica_query_def *def, uint32_t term)
{
    while (def->terms[term].access == MICA_ACCESS_OR)
        --term;
    return term;
}

/* The variables that every result has. */
static uint32_t required_variables(const mica_query_def *def)
{
    uint32_t required = 1;
    for (uint32_t i = 0; i < def->term_count; ++i) {
        const mica_term *term = &def->terms[i];
        bool binds =
            micap_access_demands(term->access) || (is_group(term->access) && is_plain_group(def, group_start(def, i)));
        required |= binds ? variables_of(term) : 0;
    }
    return required;
}

const char *micap_pattern_problem(const mica_query_def *def, uint32_t *out_term)
{
    uint32_t required = required_variables(def), bound = required, named = 0;
    if (def->compare || def->instances_of) {
        *out_term = 0;
        return "a query about other entities can't be sorted or show instances";
    }
    for (uint32_t i = 0; i < def->term_count; ++i) {
        const mica_term *term = &def->terms[i];
        uint32_t variables = variables_of(term);
        bool is_link = term->target.kind != MICA_NODE_DEFAULT || traversal_of(term);
        *out_term = i;
        named |= variables;
        if (is_optional(term->access) && is_link) {
            uint32_t subject = variable_bit(term->subject) | (term->subject.kind == MICA_NODE_DEFAULT);
            if (traversal_of(term) ? (subject & bound) != subject : variables && !(variables & bound))
                return "no term before it binds its variables";
            bound |= variables;
        } else if ((variables & ~bound) != 0 && is_group(term->access)) {
            return "a group binds no variable: another term must require it";
        } else if ((variables & ~bound) != 0) {
            return "no term requires its variable: use any, or an optional edge before it";
        }
    }
    *out_term = 0;
    return named & 1 ? NULL : "no term is about this entity";
}

/* What a pattern is built from. */
typedef struct builder {
    micap_pattern *pattern;
    const mica_query_def *def;
    mica_world *world;
    uint8_t owners[MICA_TERMS_MAX]; /* the node whose query has the term; MICAP_PATTERN_NODE_NONE: none */
    mica_access accesses[MICA_TERMS_MAX];
} builder;

static uint8_t add_node(micap_pattern *pattern, micap_pattern_node node)
{
    node.is_used = true;
    pattern->nodes[pattern->node_count] = node;
    return (uint8_t)pattern->node_count++;
}

/* Finds the node that a term names, or makes it. */
static uint8_t node_of(micap_pattern *pattern, mica_node named, bool is_target)
{
    if (named.kind == MICA_NODE_VARIABLE) {
        pattern->nodes[named.variable].is_used = true;
        return (uint8_t)named.variable;
    }
    if (named.kind == MICA_NODE_THIS || (!is_target && named.kind == MICA_NODE_DEFAULT))
        return 0;
    for (uint32_t i = pattern->variable_count + 1; named.kind == MICA_NODE_ENTITY && i < pattern->node_count; ++i)
        if (pattern->nodes[i].is_fixed && mica_same(pattern->nodes[i].fixed, named.entity))
            return (uint8_t)i;
    return add_node(
        pattern,
        (micap_pattern_node){.fixed = named.entity, .is_fixed = named.kind == MICA_NODE_ENTITY, .is_required = true});
}

static bool is_loose(mica_node node)
{
    return node.kind == MICA_NODE_ANY || node.kind == MICA_NODE_EACH;
}

static micap_pattern_link *add_link(builder *builder, uint32_t term, micap_pattern_link_kind kind)
{
    mica_access access = builder->def->terms[term].access;
    micap_pattern_link *link = &builder->pattern->links[builder->pattern->link_count++];
    *link = (micap_pattern_link){.kind = kind,
                                 .mode = access == MICA_ACCESS_WITHOUT             ? MICAP_LINK_NEGATED
                                         : is_optional(access) || is_group(access) ? MICAP_LINK_OPTIONAL
                                                                                   : MICAP_LINK_REQUIRED,
                                 .term = (uint8_t)term,
                                 .group = is_group(access) ? (uint8_t)builder->pattern->group_count : 0};
    builder->pattern->term_links[term] = (uint8_t)builder->pattern->link_count;
    builder->owners[term] = MICAP_PATTERN_NODE_NONE;
    return link;
}

/* An edge between two nodes. Unnamed nodes of edges that are not required, and those of any kind, are found once. */
static void add_edge(builder *builder, uint32_t at)
{
    const mica_term *term = &builder->def->terms[at];
    const mica_node target = target_of(term);
    const micap_type *type = micap_type_of(term->component);
    micap_pattern_link *link = add_link(builder, at, type->type.transitive ? MICAP_LINK_CLOSURE : MICAP_LINK_EDGE);
    link->pool = micap_pool_of(builder->world, term->component);
    link->from = node_of(builder->pattern, term->subject, false);
    link->to = node_of(builder->pattern, target, true);
    link->has_column = wants_column(term->access) && has_edge_fields(type) && !type->type.transitive;
    bool is_tested = link->mode == MICAP_LINK_NEGATED || link->group;
    link->is_once = term->subject.kind == MICA_NODE_ANY || target.kind == MICA_NODE_ANY ||
                    (is_tested && (is_loose(term->subject) || is_loose(target)));
    link->is_backward_only = link->is_once && is_loose(term->subject);
    link->is_single = type->type.exclusive && !type->type.symmetric && link->kind == MICAP_LINK_EDGE &&
                      link->mode == MICAP_LINK_REQUIRED;
    if (link->mode != MICAP_LINK_REQUIRED || link->is_once) {
        if (is_loose(term->subject))
            builder->pattern->nodes[link->from].is_required = false;
        if (is_loose(target))
            builder->pattern->nodes[link->to].is_required = false;
    }
}

/* A component of the nearest ancestor, or of each descendant. */
static void add_traversal(builder *builder, uint32_t at)
{
    const mica_term *term = &builder->def->terms[at];
    micap_pattern_link *link = add_link(builder, at, term->down ? MICAP_LINK_CLOSURE : MICAP_LINK_NEAREST);
    uint8_t subject = node_of(builder->pattern, term->subject, false);
    uint8_t other = add_node(builder->pattern, (micap_pattern_node){.is_required = link->mode == MICAP_LINK_REQUIRED,
                                                                    .is_derived = !term->down});
    link->pool = micap_pool_of(builder->world, traversal_of(term));
    link->from = term->down ? other : subject;
    link->to = term->down ? subject : other;
    link->or_self = term->or_self;
    link->is_once = link->mode == MICAP_LINK_NEGATED || link->group;
    link->is_backward_only = link->is_once && term->down;
    builder->owners[at] = other;
    builder->pattern->cascade = term->cascade ? link->pool : builder->pattern->cascade;
}

/* One of the components of a group that is about several entities or edges. */
static void add_member(builder *builder, uint32_t at)
{
    micap_pattern_link *link = add_link(builder, at, MICAP_LINK_SAME);
    link->from = node_of(builder->pattern, builder->def->terms[at].subject, false);
    link->to = add_node(builder->pattern, (micap_pattern_node){0});
    builder->owners[at] = link->to;
}

/* The access of a term in the query of its node, where it must be met unless that node finds no entity. */
static mica_access inner_access(const builder *builder, uint32_t at)
{
    mica_access access = builder->def->terms[at].access;
    bool has_data = micap_type_of(builder->def->terms[at].component)->type.size_bytes;
    if (!builder->pattern->term_links[at])
        return access;
    if (access == MICA_ACCESS_WITHOUT || !has_data)
        return MICA_ACCESS_HAS;
    return is_group(access) || access == MICA_ACCESS_MAYBE_READ ? MICA_ACCESS_READ
           : access == MICA_ACCESS_MAYBE_WRITE                  ? MICA_ACCESS_WRITE
                                                                : access;
}

static void add_term(builder *builder, uint32_t at)
{
    const mica_term *term = &builder->def->terms[at];
    const mica_type *type = &micap_type_of(term->component)->type;
    bool is_split_group = is_group(term->access) && !is_plain_group(builder->def, group_start(builder->def, at));
    if (is_split_group && term->access == MICA_ACCESS_EITHER)
        ++builder->pattern->group_count;
    bool is_presence = term->target.kind == MICA_NODE_ANY && !type->symmetric && term->subject.kind != MICA_NODE_ANY &&
                       (term->access == MICA_ACCESS_HAS || term->access == MICA_ACCESS_WITHOUT) && !type->parents;
    if (target_of(term).kind != MICA_NODE_DEFAULT && !is_presence)
        add_edge(builder, at);
    else if (traversal_of(term))
        add_traversal(builder, at);
    else if (is_split_group)
        add_member(builder, at);
    else
        builder->owners[at] = node_of(builder->pattern, term->subject, false);
}

/* The terms of the query have a copy of the text. */
static bool add_condition(builder *builder, uint32_t at)
{
    micap_pattern *pattern = builder->pattern;
    if (!pattern->conditions)
        pattern->conditions = micap_allocate_zeroed(
            &builder->world->memory, builder->def->term_count * sizeof *pattern->conditions, MICAP_ARRAY_ALIGNMENT);
    micap_condition *condition = pattern->conditions ? &pattern->conditions[pattern->condition_count] : NULL;
    if (!condition || !micap_condition_init(builder->world, &pattern->query->terms[at], condition)) {
        micap_fail_memory(builder->world, pattern->query->name);
        return false;
    }
    ++pattern->condition_count;
    condition->node = builder->owners[at];
    condition->term = (uint8_t)at;
    pattern->nodes[condition->node].has_conditions = true;
    return true;
}

/* Makes the query of a node. Nodes that only must exist have one without terms. */
static bool create_node_query(const builder *builder, uint32_t at)
{
    micap_pattern_node *node = &builder->pattern->nodes[at];
    mica_term terms[MICA_TERMS_MAX];
    mica_query_def def = {.name = builder->pattern->query->name,
                          .terms = terms,
                          .location = builder->def->location,
                          .with_hidden = builder->def->with_hidden || node->is_fixed};
    for (uint32_t i = 0; i < builder->def->term_count; ++i) {
        if (builder->owners[i] != at)
            continue;
        mica_access access = inner_access(builder, i);
        builder->pattern->term_nodes[i] = (uint8_t)at;
        builder->pattern->term_places[i] = (uint8_t)def.term_count;
        node->has_columns |= micap_access_reads(access);
        terms[def.term_count++] = (mica_term){.component = builder->def->terms[i].component, .access = access};
    }
    node->is_trivial = !def.term_count;
    node->query = mica_query_create(builder->world, &def);
    if (node->query)
        node->query->owner = builder->pattern->query;
    return node->query != NULL;
}

/* Whether nothing but an edge is asked for: it may lead to an entity that was destroyed. */
static bool is_anything(const micap_pattern *pattern, uint32_t node)
{
    bool is_any = false;
    for (uint32_t i = 0; i < pattern->link_count; ++i)
        is_any |= pattern->links[i].is_once && pattern->links[i].kind != MICAP_LINK_SAME &&
                  (pattern->links[i].is_backward_only ? pattern->links[i].from : pattern->links[i].to) == node;
    return is_any && node > pattern->variable_count && !pattern->nodes[node].is_fixed;
}

static bool owns_terms(const builder *builder, uint32_t node)
{
    for (uint32_t i = 0; i < builder->def->term_count; ++i)
        if (builder->owners[i] == node)
            return true;
    return false;
}

static bool copy_names(micap_pattern *pattern, const mica_query_def *def)
{
    if (!def->variables || !def->variable_count)
        return true;
    for (uint32_t i = 0; i < def->variable_count; ++i)
        pattern->name_bytes += (uint32_t)strlen(def->variables[i]) + 1;
    char *at = pattern->names = micap_allocate(&pattern->query->world->memory, pattern->name_bytes, 1);
    for (uint32_t i = 0; at && i < def->variable_count; ++i)
        at += sprintf(at, "%s", def->variables[i]) + 1;
    return at != NULL;
}

static uint32_t bytes_of(const char *text)
{
    return text ? (uint32_t)strlen(text) + 1 : 0;
}

static const char *text_of(const mica_term *term)
{
    return term->field && term->key.kind == MICA_KIND_TEXT ? term->key.as.text : NULL;
}

/* Copies a text to `*at`, which moves on; NULL stays NULL. */
static const char *copy_text(const char *text, char **at)
{
    char *copy = text ? memcpy(*at, text, bytes_of(text)) : NULL;
    *at += bytes_of(text);
    return copy;
}

/* The terms of the query point to the names of their fields, and to the text of their keys. */
static bool copy_fields(micap_pattern *pattern)
{
    mica_query *query = pattern->query;
    for (uint32_t i = 0; i < query->term_count; ++i)
        pattern->field_bytes += bytes_of(query->terms[i].field) + bytes_of(text_of(&query->terms[i]));
    if (!pattern->field_bytes)
        return true;
    char *at = pattern->fields = micap_allocate(&query->world->memory, pattern->field_bytes, 1);
    for (uint32_t i = 0; at && i < query->term_count; ++i) {
        mica_term *term = &query->terms[i];
        term->field = copy_text(term->field, &at);
        if (text_of(term))
            term->key.as.text = copy_text(term->key.as.text, &at);
    }
    return at != NULL;
}

const char *micap_pattern_name(const micap_pattern *pattern, uint32_t variable)
{
    uint32_t at = 0;
    for (; at < pattern->name_bytes && variable > 1; --variable)
        at += (uint32_t)strlen(pattern->names + at) + 1;
    return at < pattern->name_bytes && variable ? pattern->names + at : NULL;
}

static bool build(micap_pattern *pattern, const mica_query_def *def)
{
    builder builder = {.pattern = pattern, .def = def, .world = pattern->query->world};
    uint32_t required = required_variables(def);
    pattern->variable_count = def->variables ? def->variable_count : 0;
    for (uint32_t i = 0; i < def->term_count; ++i) {
        uint32_t variables = variables_of(&def->terms[i]);
        while (variables >> (pattern->variable_count + 1))
            ++pattern->variable_count;
    }
    pattern->node_count = pattern->variable_count + 1;
    memset(pattern->term_nodes, MICAP_PATTERN_NODE_NONE, sizeof pattern->term_nodes);
    for (uint32_t i = 0; i < pattern->node_count; ++i)
        pattern->nodes[i] = (micap_pattern_node){.is_used = !i, .is_required = required >> i & 1};
    for (uint32_t i = 0; i < def->term_count; ++i) {
        add_term(&builder, i);
        if (def->terms[i].field && !add_condition(&builder, i))
            return false;
    }
    for (uint32_t i = 0; i < pattern->node_count; ++i)
        if (pattern->nodes[i].is_used && (owns_terms(&builder, i) || !is_anything(pattern, i)) &&
            !create_node_query(&builder, i))
            return false;
    return true;
}

bool micap_pattern_create(mica_query *query, const mica_query_def *def, bool *out_is_reported)
{
    micap_pattern *pattern = micap_allocate_zeroed(&query->world->memory, sizeof *pattern, MICAP_ARRAY_ALIGNMENT);
    if (!pattern)
        return false;
    query->pattern = pattern;
    pattern->query = query;
    if (!copy_names(pattern, def) || !copy_fields(pattern))
        return false;
    if (!build(pattern, def)) {
        *out_is_reported = true;
        return false;
    }
    for (uint32_t i = 0; i < pattern->node_count; ++i)
        query->is_marked |= pattern->nodes[i].query && pattern->nodes[i].query->is_marked;
    for (uint32_t i = 0; i < pattern->link_count; ++i)
        if (pattern->links[i].pool)
            ((mica_pool *)(uintptr_t)pattern->links[i].pool)->is_queried = true;
    for (uint32_t i = 0; i < def->term_count; ++i)
        pattern->shows_more |= !micap_access_demands(def->terms[i].access) || micap_access_reads(def->terms[i].access);
    for (uint32_t i = 0; i < def->term_count; ++i) /* one row of this entity after the other */
        if (!pattern->term_links[i] && !pattern->term_nodes[i]) {
            const mica_query *terms = pattern->nodes[0].query;
            MICAP_ASSERT(terms, "terms about this entity have a query");
            query->term_bytes[i] = terms->term_bytes[pattern->term_places[i]];
        }
    return true;
}

void micap_pattern_free(mica_query *query)
{
    micap_pattern *pattern = query->pattern;
    micap_memory *memory = &query->world->memory;
    if (!pattern)
        return;
    for (uint32_t i = 0; i < pattern->search_count; ++i)
        micap_search_free(pattern->searches[i]);
    MICAP_RELEASE_ARRAY(memory, pattern->searches, pattern->search_capacity);
    for (uint32_t i = pattern->node_count; i-- > 0;)
        micap_query_free(pattern->nodes[i].query);
    if (pattern->names)
        micap_release(memory, pattern->names, pattern->name_bytes, 1);
    if (pattern->conditions)
        micap_release(memory, pattern->conditions, query->term_count * sizeof *pattern->conditions,
                      MICAP_ARRAY_ALIGNMENT);
    if (pattern->fields)
        micap_release(memory, pattern->fields, pattern->field_bytes, 1);
    micap_release(memory, pattern, sizeof *pattern, MICAP_ARRAY_ALIGNMENT);
}
