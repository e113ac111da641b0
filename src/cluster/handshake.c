#include "cluster/handshake.h"

#include "base/assert.h"
#include "base/float_bits.h"
#include "base/hash.h"
#include "mica/component.h"
#include "mica/schedule.h"
#include "mica/stream.h"
#include "mica/system.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

MICAP_FORMAT(2, 3) static void put_line(micap_bytes *out, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    micap_bytes_put(out, line, strlen(line));
    micap_bytes_put(out, "\n", 1);
}

static void describe_def(const mica_cluster *cluster, micap_bytes *out)
{
    const micap_cell_space *space = &cluster->space;
    put_line(out, "Mica %d.%d.%d, %s byte order", MICA_VERSION_MAJOR, MICA_VERSION_MINOR, MICA_VERSION_PATCH,
             MICAP_IS_BIG_ENDIAN ? "big-endian" : "little-endian");
    put_line(out, "seed %" PRIu64, cluster->seed);
    put_line(out, "%s by %s, reach %.17g, balance_steps %" PRIu32 "%s%s",
             cluster->key ? "keys of entities" : "cells of a grid", mica_component_type(cluster->component)->name,
             cluster->reach, cluster->balance_steps, cluster->is_distributed ? ", distributed" : "",
             cluster->codec.has_references ? ", links" : "");
    for (uint32_t i = 0; !cluster->key && i < space->axis_count; ++i)
        put_line(out, "axis %" PRIu32 " of the grid: %" PRId32 " cells from %.17g on, %.17g long%s", i,
                 space->axes[i].count, space->axes[i].minimum, space->axes[i].extent, space->is_torus ? ", torus" : "");
    for (uint32_t i = 0; i < cluster->table.layout.count; ++i)
        put_line(out, "ghosts have %.100s", mica_component_type(cluster->table.layout.components[i])->name);
    for (uint32_t i = 0; i < cluster->codec.rule_count; ++i)
        put_line(out, "rule of %.100s, recipe %.100s", mica_component_type(cluster->rules[i].component)->name,
                 cluster->rules[i].recipe ? cluster->rules[i].recipe->name : "none");
    for (uint32_t i = 0; i < cluster->singleton_count; ++i)
        put_line(out, "singleton %.100s, layout %016" PRIx64, mica_component_type(cluster->singletons[i])->name,
                 mica_component_layout_hash(cluster->singletons[i]));
    for (uint32_t i = 0; i < cluster->message_count; ++i)
        put_line(out, "message %.100s, layout %016" PRIx64, mica_component_type(cluster->messages[i])->name,
                 mica_component_layout_hash(cluster->messages[i]));
    for (uint32_t i = 0; i < cluster->stream_count; ++i) {
        mica_component component = mica_stream_component(cluster->streams[i]);
        put_line(out, "stream of %.100s, layout %016" PRIx64, mica_component_type(component)->name,
                 mica_component_layout_hash(component));
    }
    for (uint32_t i = 0; i < cluster->request_count; ++i) {
        const mica_cluster_request *request = &cluster->requests[i];
        put_line(out, "question %.100s, layout %016" PRIx64 ", answer %.100s",
                 mica_component_type(request->question)->name, mica_component_layout_hash(request->question),
                 request->answer ? mica_component_type(request->answer)->name : "none");
    }
}

void micap_handshake_describe(mica_cluster *cluster, micap_bytes *out)
{
    describe_def(cluster, out);
    for (uint32_t i = 0; i < cluster->codec.kind_count; ++i) {
        mica_component component = cluster->codec.kinds[i].component;
        put_line(out, "component %.100s, layout %016" PRIx64, mica_component_type(component)->name,
                 mica_component_layout_hash(component));
    }
    for (mica_system system = {0}; (system = mica_system_next(cluster->world, system)).id;)
        put_line(out, "system %.200s", mica_system_name(cluster->world, system));
    put_line(out, "step %" PRIu64, cluster->tick);
    if (!cluster->is_distributed)
        put_line(out, "world at the start: hash %016" PRIx64, mica_world_hash_content(cluster->world));
}

/* Reports the first line that differs. */
static void report_difference(mica_cluster *cluster, const micap_bytes *own, const char *first, uint32_t first_count)
{
    uint32_t at = 0, line = 0;
    while (at < own->count && at < first_count && own->data[at] == first[at]) {
        line = own->data[at] == '\n' ? at + 1 : line;
        ++at;
    }
    char text[640], mine[256] = "nothing more", theirs[256] = "nothing more";
    if (line < own->count)
        snprintf(mine, sizeof mine, "%.*s", (int)strcspn(own->data + line, "\n"), own->data + line);
    if (line < first_count)
        snprintf(theirs, sizeof theirs, "%.*s", (int)strcspn(first + line, "\n"), first + line);
    snprintf(text, sizeof text, "rank %" PRIu32 " differs from rank 0: here \"%s\", there \"%s\"",
             cluster->transport.rank, mine, theirs);
    micap_cluster_fail(cluster, MICA_ERROR_LAYOUT, text);
}

void micap_handshake_run(mica_cluster *cluster)
{
    micap_bytes own = {.memory = &cluster->memory};
    micap_handshake_describe(cluster, &own);
    micap_bytes_put(&own, "", 1); /* lines end in a zero byte: strcspn stays inside */
    uint32_t count = own.count;
    micap_transport_share(&cluster->transport, &count, sizeof count);
    char *first = micap_allocate(&cluster->memory, count, MICAP_ARRAY_ALIGNMENT);
    uint64_t is_short = own.failed || !first;
    micap_transport_maximum(&cluster->transport, &is_short, 1);
    if (is_short || !first || !own.data) {
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for the comparison of all ranks");
    } else {
        if (cluster->transport.rank == 0)
            memcpy(first, own.data, count);
        micap_transport_share(&cluster->transport, first, count);
        if (count != own.count || memcmp(first, own.data, count) != 0)
            report_difference(cluster, &own, first, count);
    }
    micap_release(&cluster->memory, first, count, MICAP_ARRAY_ALIGNMENT);
    micap_bytes_free(&own);
}
