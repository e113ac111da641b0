#include "core/query/pattern_explain.h"

#include "core/query/condition.h"
#include "core/query/pattern_plan.h"
#include "pool/pool_edges.h"

#include <inttypes.h>
#include <stdio.h>

static void put_node(micap_text_output *out, const micap_pattern *pattern, uint32_t node)
{
    char text[40];
    const micap_pattern_node *known = &pattern->nodes[node];
    const char *name = node && node <= pattern->variable_count ? micap_pattern_name(pattern, node) : NULL;
    if (!node || name) {
        micap_output_text(out, "$");
        micap_output_text(out, node ? name : "this");
        return;
    }
    if (known->is_fixed)
        snprintf(text, sizeof text, "#%u:%u", known->fixed.index, known->fixed.generation);
    else if (node <= pattern->variable_count)
        snprintf(text, sizeof text, "$%u", node);
    else
        snprintf(text, sizeof text, "*%u", node - pattern->variable_count); /* one without a name */
    micap_output_text(out, text);
}

/* What the terms about a node ask for. */
static void put_terms(micap_text_output *out, const micap_pattern_node *node)
{
    for (uint32_t i = 0; node->query && i < node->query->term_count; ++i) {
        const mica_term *term = &node->query->terms[i];
        bool is_optional = term->access == MICA_ACCESS_MAYBE_READ || term->access == MICA_ACCESS_MAYBE_WRITE;
        micap_output_text(out, !i ? ": " : term->access == MICA_ACCESS_OR ? " | " : ", ");
        micap_output_text(out, term->access == MICA_ACCESS_WITHOUT ? "!" : is_optional ? "?" : "");
        micap_output_text(out, micap_type_of(term->component)->type.name);
    }
}

/* The fields of a node that are compared. */
static void put_conditions(micap_text_output *out, const micap_pattern *pattern, uint32_t node)
{
    for (uint32_t i = 0; i < pattern->condition_count; ++i)
        if (pattern->conditions[i].node == node) {
            micap_output_text(out, " by ");
            micap_output_text(out, pattern->query->terms[pattern->conditions[i].term].field);
        }
}

static void put_link(micap_text_output *out, const micap_pattern *pattern, const micap_pattern_link *link)
{
    static const char *const modes[] = {
        [MICAP_LINK_REQUIRED] = "", [MICAP_LINK_NEGATED] = "!", [MICAP_LINK_OPTIONAL] = "?"};
    const micap_type *type = link->pool ? link->pool->type : micap_type_of(pattern->query->terms[link->term].component);
    micap_output_text(out, modes[link->mode]);
    micap_output_text(out, type->type.name);
    micap_output_text(out, link->kind == MICAP_LINK_CLOSURE ? "+(" : link->kind == MICAP_LINK_NEAREST ? " up(" : "(");
    put_node(out, pattern, link->from);
    if (link->kind != MICAP_LINK_SAME) {
        micap_output_text(out, ", ");
        put_node(out, pattern, link->to);
    }
    micap_output_text(out, ")");
}

static void put_count(micap_text_output *out, uint64_t count, const char *what)
{
    char text[64];
    snprintf(text, sizeof text, ", %" PRIu64 " %s%s", count, what, count == 1 ? "" : "s");
    micap_output_text(out, text);
}

static void put_node_step(micap_text_output *out, const micap_pattern *pattern, const micap_plan_step *step)
{
    micap_output_text(out, step->kind == MICAP_STEP_CHECK     ? "check "
                           : step->kind == MICAP_STEP_CASCADE ? "visit level by level "
                                                              : "visit ");
    put_node(out, pattern, step->index);
    put_terms(out, &pattern->nodes[step->index]);
    put_conditions(out, pattern, step->index);
    if (step->kind != MICAP_STEP_CHECK)
        put_count(out, micap_pattern_node_rows(pattern, step->index), "row");
}

static void put_link_step(micap_text_output *out, const micap_pattern *pattern, const micap_plan_step *step)
{
    const micap_pattern_link *link = &pattern->links[step->index];
    static const char *const verbs[] = {[MICAP_STEP_TABLE] = "visit edges ",
                                        [MICAP_STEP_FORWARD] = "follow ",
                                        [MICAP_STEP_BACKWARD] = "follow back ",
                                        [MICAP_STEP_TEST] = "test "};
    uint32_t found = step->kind == MICAP_STEP_FORWARD ? link->to : link->from;
    micap_output_text(out, verbs[step->kind]);
    put_link(out, pattern, link);
    if (step->kind != MICAP_STEP_TEST && step->kind != MICAP_STEP_TABLE) {
        put_terms(out, &pattern->nodes[found]);
        put_conditions(out, pattern, found);
    }
    put_count(out, micap_edge_count(link->pool), "edge");
}

static void put_group(micap_text_output *out, const micap_pattern *pattern, uint32_t group)
{
    const char *separator = "test ";
    for (uint32_t i = 0; i < pattern->link_count; ++i) {
        if (pattern->links[i].group != group)
            continue;
        micap_output_text(out, separator);
        put_link(out, pattern, &pattern->links[i]);
        separator = " | ";
    }
}

void micap_pattern_explain(const micap_pattern *pattern, micap_text_output *out)
{
    micap_plan plan;
    char expected[48];
    micap_pattern_plan(pattern, 0, false, &plan);
    for (uint32_t i = 0; i < plan.count; ++i) {
        const micap_plan_step *step = &plan.steps[i];
        micap_output_text(out, i ? "\n" : "");
        if (step->kind == MICAP_STEP_GROUP)
            put_group(out, pattern, step->index);
        else if (step->kind <= MICAP_STEP_CASCADE)
            put_node_step(out, pattern, step);
        else
            put_link_step(out, pattern, step);
        snprintf(expected, sizeof expected, " -> about %.0f", step->rows);
        micap_output_text(out, expected);
    }
}
