/* Writes the dependency graph as text, and for Graphviz. */
#include "base/argument.h"
#include "base/assert.h"
#include "flow/schedule/dependency_graph.h"
#include "flow/schedule/fusion.h"
#include "flow/schedule/system.h"
#include "mica/schedule.h"

#include <stdarg.h>
#include <stdio.h>

/* Counts all characters and stores those that fit. */
typedef struct writer {
    char *out;
    size_t capacity;
    size_t length;
} writer;

static void put(writer *to, const char *format, ...) MICAP_FORMAT(2, 3);

static void put(writer *to, const char *format, ...)
{
    bool fits = to->length < to->capacity;
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(fits ? to->out + to->length : NULL, fits ? to->capacity - to->length : 0, format, arguments);
    va_end(arguments);
    to->length += bytes > 0 ? (size_t)bytes : 0;
}

static const char *reason_of(const micap_dependency *dependency)
{
    if (dependency->is_asked)
        return "asked";
    if (dependency->stream)
        return "stream";
    return micap_type_of(dependency->component)->type.name;
}

/* The systems that are fused with this one. */
static void put_chain(writer *to, const micap_phase *phase, const micap_segment *segment, uint32_t order)
{
    const micap_chain *chain = &segment->chains[phase->chain_of[order]];
    if (chain->system_count < 2)
        return;
    put(to, "  chain");
    for (uint32_t i = 0; i < chain->system_count; ++i)
        put(to, " %s", chain->systems[i]->def.name);
}

static void put_phase(writer *to, const micap_phase *phase)
{
    put(to, "%s%s\n", phase->name, phase->is_enabled ? "" : " (off)");
    for (uint32_t i = 0; i < phase->segment_count; ++i) {
        const micap_segment *segment = &phase->segments[i];
        for (uint32_t j = 0; j < segment->system_count; ++j) {
            const micap_system *system = segment->systems[j];
            put(to, "  %s%s%s", system->def.name,
                segment->exclusive        ? " (exclusive)"
                : system->def.flush_first ? " (after a flush)"
                                          : "",
                system->is_enabled ? "" : " (off)");
            const char *separator = "  waits for ";
            for (uint32_t k = phase->first_dependency[system->order]; k < phase->first_dependency[system->order + 1];
                 ++k) {
                const micap_dependency *dependency = &phase->dependencies[k];
                put(to, "%s%s (%s)", separator, phase->order[dependency->from]->def.name, reason_of(dependency));
                separator = ", ";
            }
            if (!segment->exclusive)
                put_chain(to, phase, segment, system->order);
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
    for (uint32_t i = 0; i < phase->dependency_count; ++i)
        put(to, "  \"%s\" -> \"%s\" [label=\"%s\"];\n", phase->order[phase->dependencies[i].from]->def.name,
            phase->order[phase->dependencies[i].to]->def.name, reason_of(&phase->dependencies[i]));
}

size_t mica_graph_write(mica_world *world, mica_graph_format format, char *out, size_t capacity)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, out, capacity) ||
        MICAP_INVALID(world, format != MICA_GRAPH_TEXT && format != MICA_GRAPH_DOT, format,
                      "must be MICA_GRAPH_TEXT or MICA_GRAPH_DOT"))
        return 0;
    micap_flow *flow = micap_flow_of(world);
    if (!flow || (!flow->is_stepping && micap_dependency_graph_update(flow) != MICA_OK))
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
