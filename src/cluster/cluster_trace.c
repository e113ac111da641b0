#include "cluster/cluster_trace.h"

#include "base/argument.h"
#include "base/assert.h"
#include "mica/stats.h"
#include "os/clock.h"

#include <inttypes.h>
#include <stdio.h>

/* Numbers of threads in the file; those of workers begin at 0. */
enum { THREAD_STEPS = 1000, THREAD_WAITS };

typedef struct traced_step {
    uint64_t tick;
    uint64_t begin_ns, systems_end_ns, end_ns;
    mica_cluster_stats stats;
} traced_step;

struct micap_cluster_trace {
    uint64_t begin_ns; /* all ranks take it after a collective, so that their times are comparable */
    traced_step *steps;
    uint32_t step_count, step_capacity;
    uint64_t missed; /* steps, because memory was short */
};

void micap_cluster_trace_add(mica_cluster *cluster, uint64_t begin_ns, uint64_t systems_end_ns)
{
    struct micap_cluster_trace *trace = cluster->trace;
    if (!trace)
        return;
    if (MICAP_RESERVE(&cluster->memory, trace->steps, &trace->step_capacity, (uint64_t)trace->step_count + 1))
        trace->steps[trace->step_count++] =
            (traced_step){cluster->tick, begin_ns, systems_end_ns, micap_clock_ns(), cluster->stats};
    else
        ++trace->missed;
}

void micap_cluster_trace_free(mica_cluster *cluster)
{
    struct micap_cluster_trace *trace = cluster->trace;
    if (!trace)
        return;
    MICAP_RELEASE_ARRAY(&cluster->memory, trace->steps, trace->step_capacity);
    micap_release(&cluster->memory, trace, sizeof *trace, MICAP_ARRAY_ALIGNMENT);
    cluster->trace = NULL;
    cluster->transport.keeps_waits = false;
    cluster->transport.wait_count = 0;
}

/* The worst result of all ranks. */
static mica_result agree(mica_cluster *cluster, mica_result result)
{
    uint64_t worst = (uint64_t)result;
    micap_transport_maximum(&cluster->transport, &worst, 1);
    return (mica_result)worst;
}

mica_result mica_cluster_trace_start(mica_cluster *cluster)
{
    if (MICAP_MISSING(NULL, cluster))
        return MICA_ERROR_INVALID;
    if (cluster->trace)
        return mica_world_report(cluster->world, MICA_ERROR_REFUSED,
                                 "mica_cluster_trace_start: a trace was already started");
    struct micap_cluster_trace *trace = micap_allocate_zeroed(&cluster->memory, sizeof *trace, MICAP_ARRAY_ALIGNMENT);
    cluster->trace = trace;
    mica_result result =
        trace ? MICA_OK
              : mica_world_report(cluster->world, MICA_ERROR_MEMORY, "mica_cluster_trace_start: out of memory");
    result = agree(cluster, result);
    if (result == MICA_OK && trace) {
        result = mica_trace_start(cluster->world);
        trace->begin_ns = micap_clock_ns();
    }
    mica_result worst = agree(cluster, result);
    if (worst != MICA_OK && result == MICA_OK)
        mica_trace_stop(cluster->world, NULL);
    if (worst != MICA_OK)
        micap_cluster_trace_free(cluster);
    cluster->transport.keeps_waits = worst == MICA_OK;
    return worst;
}

/* ---- writing */

/* Some viewers have another use for process 0. */
static uint32_t process_of(const mica_cluster *cluster)
{
    return cluster->transport.rank + 1;
}

/* Begins an event of a rank; the caller ends it. */
static void begin_event(FILE *file, const mica_cluster *cluster, const char *phase, uint32_t thread, uint64_t ns)
{
    fprintf(file, ",\n{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":%.3f", phase, process_of(cluster),
            thread, (double)(ns - cluster->trace->begin_ns) / 1000);
}

static void put_span(FILE *file, const mica_cluster *cluster, uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
                     const char *name)
{
    begin_event(file, cluster, "X", thread, begin_ns);
    fprintf(file, ",\"dur\":%.3f,\"name\":\"%s\",\"cat\":\"cluster\"", (double)(end_ns - begin_ns) / 1000, name);
}

static void put_counters(FILE *file, const mica_cluster *cluster, const traced_step *step, const char *name,
                         const char *first, uint64_t first_value, const char *second, uint64_t second_value)
{
    begin_event(file, cluster, "C", 0, step->end_ns);
    fprintf(file, ",\"name\":\"%s\",\"args\":{\"%s\":%" PRIu64 ",\"%s\":%" PRIu64 "}}", name, first, first_value,
            second, second_value);
}

static void put_step(FILE *file, const mica_cluster *cluster, const traced_step *step)
{
    const mica_cluster_stats *stats = &step->stats;
    char name[48];
    snprintf(name, sizeof name, "step %" PRIu64, step->tick);
    put_span(file, cluster, THREAD_STEPS, step->begin_ns, step->end_ns, name);
    fprintf(file,
            ",\"args\":{\"owned\":%" PRIu64 ",\"ghosts\":%" PRIu64 ",\"arrived\":%" PRIu64 ",\"departed\":%" PRIu64
            ",\"sent bytes\":%" PRIu64 ",\"received bytes\":%" PRIu64 ",\"work seconds\":%.9f,\"wait seconds\":%.9f}}",
            stats->owned_count, stats->ghost_count, stats->arrived_count, stats->departed_count, stats->sent_bytes,
            stats->received_bytes, stats->work_seconds, stats->wait_seconds);
    put_span(file, cluster, THREAD_STEPS, step->begin_ns, step->systems_end_ns, "systems");
    fputs("}", file);
    put_span(file, cluster, THREAD_STEPS, step->systems_end_ns, step->end_ns, "exchange");
    fputs("}", file);
    put_counters(file, cluster, step, "entities", "owned", stats->owned_count, "ghosts", stats->ghost_count);
    put_counters(file, cluster, step, "migrated", "arrived", stats->arrived_count, "departed", stats->departed_count);
    put_counters(file, cluster, step, "bytes", "sent", stats->sent_bytes, "received", stats->received_bytes);
    put_counters(file, cluster, step, "microseconds", "work", (uint64_t)(stats->work_seconds * 1e6), "wait",
                 (uint64_t)(stats->wait_seconds * 1e6));
}

static void put_thread(FILE *file, const mica_cluster *cluster, uint32_t thread, const char *name)
{
    fprintf(file,
            ",\n{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
            ",\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}",
            process_of(cluster), thread, name);
}

static void put_events(FILE *file, const mica_cluster *cluster)
{
    put_thread(file, cluster, THREAD_STEPS, "steps of the cluster");
    put_thread(file, cluster, THREAD_WAITS, "waits for other ranks");
    for (uint32_t i = 0; i < cluster->trace->step_count; ++i)
        put_step(file, cluster, &cluster->trace->steps[i]);
    for (uint32_t i = 0; i < cluster->transport.wait_count; ++i) {
        const micap_wait *wait = &cluster->transport.waits[i];
        if (wait->begin_ns < cluster->trace->begin_ns)
            continue;
        put_span(file, cluster, THREAD_WAITS, wait->begin_ns, wait->end_ns, "wait");
        fputs("}", file);
    }
    if (cluster->trace->missed)
        fprintf(file,
                ",\n{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"name\":\"process_labels\",\"args\":{\"labels\":\"%" PRIu64
                " steps missed\"}}",
                process_of(cluster), cluster->trace->missed);
}

/* Appends what was written to a file. */
static bool read_back(FILE *file, micap_bytes *out)
{
    long count = ftell(file);
    char *room = count > 0 ? micap_bytes_grow(out, (size_t)count) : NULL;
    rewind(file);
    return room && fread(room, 1, (size_t)count, file) == (size_t)count;
}

/* The events of this rank. Ends the trace of its world. */
static mica_result write_own(mica_cluster *cluster, micap_bytes *out)
{
    char name[32];
    snprintf(name, sizeof name, "rank %" PRIu32, cluster->transport.rank);
    FILE *file = tmpfile();
    mica_result result = file ? mica_trace_stop_part(cluster->world, process_of(cluster), name, file)
                              : mica_trace_stop(cluster->world, NULL);
    if (file)
        put_events(file, cluster);
    bool done = file && result == MICA_OK && !ferror(file) && read_back(file, out);
    if (file)
        fclose(file);
    return done ? MICA_OK
                : mica_world_report(cluster->world, MICA_ERROR_REFUSED,
                                    "mica_cluster_trace_stop: there is no room for a temporary file, or in memory");
}

/* What other ranks wrote, at rank 0. */
typedef struct collected {
    micap_bytes *by_rank;
    bool is_short;
} collected;

static void receive(uint32_t from, const char *bytes, size_t byte_count, void *context)
{
    collected *all = context;
    micap_bytes_put(&all->by_rank[from], bytes, byte_count);
    all->is_short |= all->by_rank[from].failed;
}

/* Rank 0 writes what all ranks sent, in their order. */
static mica_result write_file(mica_cluster *cluster, collected *all, const char *path)
{
    static const char begin[] = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", end[] = "\n]}\n";
    micap_bytes text = {.memory = &cluster->memory};
    micap_bytes_put(&text, begin, sizeof begin - 1);
    for (uint32_t rank = 0; rank < cluster->transport.rank_count; ++rank) {
        const micap_bytes *part = &all->by_rank[rank];
        if (part->count > 2) /* the first event has no comma before it */
            micap_bytes_put(&text, part->data + (rank ? 0 : 2), part->count - (rank ? 0 : 2));
    }
    micap_bytes_put(&text, end, sizeof end - 1);
    mica_resource_error error;
    mica_result result = MICA_ERROR_MEMORY;
    if (text.failed || all->is_short)
        mica_world_report(cluster->world, result, "mica_cluster_trace_stop: out of memory");
    else if ((result = mica_write_file(path, text.data, text.count, &error)) != MICA_OK)
        mica_world_report(cluster->world, result, error.text);
    micap_bytes_free(&text);
    return result;
}

/* Sends the events to rank 0, which writes them. */
static mica_result collect(mica_cluster *cluster, micap_bytes *own, mica_result result, const char *path)
{
    micap_transport *transport = &cluster->transport;
    uint32_t rank_count = transport->rank ? 0 : transport->rank_count; /* other ranks receive nothing */
    collected all = {
        .by_rank = micap_allocate_zeroed(&cluster->memory, rank_count * sizeof *all.by_rank, MICAP_ARRAY_ALIGNMENT)};
    result = agree(cluster, all.by_rank ? result : MICA_ERROR_MEMORY);
    if (result == MICA_OK) {
        MICAP_ASSERT(all.by_rank, "without it, this rank does not agree");
        for (uint32_t rank = 0; rank < rank_count; ++rank)
            all.by_rank[rank].memory = &cluster->memory;
        micap_parcel parcel = {.rank = 0, .bytes = *own};
        if (!micap_transport_exchange(transport, &parcel, transport->rank ? 1 : 0, receive, &all))
            result = mica_world_report(cluster->world, MICA_ERROR_MEMORY, "mica_cluster_trace_stop: out of memory");
        if (transport->rank == 0) {
            micap_bytes_put(&all.by_rank[0], own->data, own->count);
            all.is_short |= all.by_rank[0].failed;
            result = result == MICA_OK ? write_file(cluster, &all, path) : result;
        }
        result = agree(cluster, result);
    }
    for (uint32_t rank = 0; rank < rank_count && all.by_rank; ++rank)
        if (all.by_rank[rank].memory)
            micap_bytes_free(&all.by_rank[rank]);
    micap_release(&cluster->memory, all.by_rank, rank_count * sizeof *all.by_rank, MICAP_ARRAY_ALIGNMENT);
    return result;
}

mica_result mica_cluster_trace_stop(mica_cluster *cluster, const char *path)
{
    if (MICAP_MISSING(NULL, cluster))
        return MICA_ERROR_INVALID;
    if (!cluster->trace)
        return mica_world_report(cluster->world, MICA_ERROR_REFUSED, "mica_cluster_trace_stop: no trace was started");
    micap_bytes own = {.memory = &cluster->memory};
    mica_result result = MICA_OK;
    if (path)
        result = write_own(cluster, &own);
    else
        mica_trace_stop(cluster->world, NULL);
    micap_cluster_trace_free(cluster);
    if (path)
        result = collect(cluster, &own, result, path);
    micap_bytes_free(&own);
    return result;
}
