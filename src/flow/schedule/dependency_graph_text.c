/* The graph for people: as text, and for Graphviz. */
#include "core/world/report.h"
#include "flow/schedule/flow.h"

#include <stdarg.h>
#include <stdio.h>

/* Counts everything and keeps what fits. */
typedef struct micap_writer {
    char *out;
    size_t capacity;
    size_t length;
} writer;

static void put(writer *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(writer *to, const char *format, ...)
{
    bool fits = to->length < to->capacity;
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(fits ? to->out + to->length : NULL, fits ? to->capacity - to->length : 0, format, arguments);
    va_end(arguments);
    to->length += bytes > 0 ? (size_t)bytes : 0;
}

static const char *reason_text(micap_reason reason)
{
    if (reason.is_asked)
        return "asked";
    if (reason.stream)
        return "stream";
    return micap_type_of(reason.component)->type.name;
}

/* Which of the phase's systems run slice by slice with this one. */
static void put_chain(writer *to, const micap_phase *phase, const micap_leg *leg, uint32_t location)
{
    const micap_chain *chain = &leg->chains[phase->chain_of[location]];
    if (chain->system_count < 2)
        return;
    put(to, "  chain");
    for (uint32_t i = 0; i < chain->system_count; ++i)
        put(to, " %s", chain->systems[i]->def.name);
}

static void put_phase(writer *to, const micap_phase *phase)
{
    put(to, "%s%s\n", phase->name, phase->is_enabled ? "" : " (off)");
    for (uint32_t i = 0; i < phase->leg_count; ++i) {
        const micap_leg *leg = &phase->legs[i];
        for (uint32_t j = 0; j < leg->system_count; ++j) {
            const micap_system *system = leg->systems[j];
            put(to, "  %s%s%s", system->def.name, leg->exclusive ? " (exclusive)" : "",
                system->is_enabled ? "" : " (off)");
            const char *separator = "  waits for ";
            for (uint32_t k = phase->link_first[system->order]; k < phase->link_first[system->order + 1]; ++k) {
                const micap_link *link = &phase->links[k];
                put(to, "%s%s (%s)", separator, phase->order[link->from]->def.name, reason_text(link->reason));
                separator = ", ";
            }
            if (!leg->exclusive)
                put_chain(to, phase, leg, system->order);
            put(to, "\n");
        }
    }
}

static void put_dot_phase(writer *to, const micap_phase *phase, uint32_t number)
{
    put(to, "  subgraph cluster_%u {\n    label=\"%s\";\n", number, phase->name);
    for (uint32_t i = 0; i < phase->system_count; ++i)
        put(to, "    \"%s\"%s;\n", phase->order[i]->def.name, phase->order[i]->def.exclusive ? " [shape=octagon]" : "");
    put(to, "  }\n");
    for (uint32_t i = 0; i < phase->link_count; ++i)
        put(to, "  \"%s\" -> \"%s\" [label=\"%s\"];\n", phase->order[phase->links[i].from]->def.name,
            phase->order[phase->links[i].to]->def.name, reason_text(phase->links[i].reason));
}

size_t mica_graph_write(mica_world *world, mica_graph_format format, char *out, size_t capacity)
{
    micap_flow *flow = micap_flow_of(world);
    if (!flow || (!flow->is_stepping && micap_graph_update(flow) != MICA_OK))
        return 0;
    writer to = {out, capacity, 0};
    if (capacity)
        out[0] = '\0';
    if (format == MICA_GRAPH_DOT)
        put(&to, "digraph systems {\n  node [shape=box];\n");
    for (uint32_t i = 0; i < flow->phase_count; ++i) {
        if (!flow->phases[i]->system_count)
            continue;
        if (format == MICA_GRAPH_DOT)
            put_dot_phase(&to, flow->phases[i], i);
        else
            put_phase(&to, flow->phases[i]);
    }
    if (format == MICA_GRAPH_DOT)
        put(&to, "}\n");
    return to.length;
}
