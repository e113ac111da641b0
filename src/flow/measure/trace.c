/* Traces: every job with its thread, begin and end, written as Chrome trace events.
 * Format: docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU ("JSON Object Format"). */
#include "base/argument.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/system.h"
#include "flow/threads/worker_pool.h"
#include "mica/stats.h"
#include "os/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

typedef struct event {
    uint32_t system; /* the id; 0 is the flush */
    uint32_t slices;
    uint64_t rows;
    uint64_t begin_ns, end_ns;
} event;

/* One per worker, each in cache lines of its own. */
typedef struct log {
    _Alignas(MICAP_CACHE_LINE) event *events;
    uint32_t count;
    uint32_t capacity;
    uint64_t missed; /* because memory was short */
} log;

typedef struct trace {
    log *logs; /* by worker, and one more for frames */
    uint32_t log_count;
    char **names; /* by system id; NULL: unknown */
    uint32_t name_capacity;
    uint64_t begin_ns;
    uint64_t frame_ns; /* when the frame began */
    uint32_t process;  /* its number, where it is written */
} trace;

static void add_event(mica_world *world, log *log, const event *event)
{
    if (!MICAP_RESERVE(&world->memory, log->events, &log->capacity, (uint64_t)log->count + 1)) {
        ++log->missed;
        return;
    }
    log->events[log->count++] = *event;
}

static void job_ended(mica_world *world, void *state, const micap_job_report *report)
{
    trace *trace = state;
    add_event(world, &trace->logs[report->worker],
              &(event){.system = report->system ? report->system->id : 0,
                       .slices = report->slices,
                       .rows = report->rows,
                       .begin_ns = report->begin_ns,
                       .end_ns = report->end_ns});
}

static void frame_begin(mica_world *world, void *state)
{
    (void)world;
    trace *trace = state;
    trace->frame_ns = micap_clock_ns();
}

static void frame_end(mica_world *world, void *state)
{
    trace *trace = state;
    add_event(world, &trace->logs[trace->log_count - 1],
              &(event){.rows = mica_time_get(world).frame, .begin_ns = trace->frame_ns, .end_ns = micap_clock_ns()});
}

/* Stores the name of a system, which may be removed before the trace is written. */
static void store_name(mica_world *world, trace *trace, const micap_system *system)
{
    uint32_t id = system->id, known = trace->name_capacity;
    if (!MICAP_RESERVE(&world->memory, trace->names, &trace->name_capacity, (uint64_t)id + 1))
        return;
    if (trace->name_capacity > known)
        memset(trace->names + known, 0, (trace->name_capacity - known) * sizeof *trace->names);
    if (!trace->names[id])
        trace->names[id] = micap_flow_copy_text(world, system->def.name);
}

static void system_removed(mica_world *world, void *state, const micap_system *system)
{
    store_name(world, state, system);
}

static void free_trace(mica_world *world, void *state)
{
    trace *trace = state;
    for (uint32_t i = 0; i < trace->log_count; ++i)
        MICAP_RELEASE_ARRAY(&world->memory, trace->logs[i].events, trace->logs[i].capacity);
    micap_release(&world->memory, trace->logs, trace->log_count * sizeof *trace->logs, MICAP_CACHE_LINE);
    for (uint32_t i = 0; i < trace->name_capacity; ++i)
        micap_flow_free_text(world, trace->names[i]);
    MICAP_RELEASE_ARRAY(&world->memory, trace->names, trace->name_capacity);
    micap_release(&world->memory, trace, sizeof *trace, MICAP_ARRAY_ALIGNMENT);
}

static const micap_listener_ops listener = {
    .frame_begin = frame_begin,
    .frame_end = frame_end,
    .job_ended = job_ended,
    .system_removed = system_removed,
    .free = free_trace,
};

mica_result mica_trace_start(mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    const micap_flow *flow = micap_flow_of(world);
    if (!flow)
        return MICA_ERROR_MEMORY;
    if (flow->is_stepping || micap_listener_state(world, MICAP_LISTENER_TRACE))
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "trace_start: %s",
                          flow->is_stepping ? "refused inside a frame" : "a trace was already started");
    trace *fresh = micap_allocate_zeroed(&world->memory, sizeof *fresh, MICAP_ARRAY_ALIGNMENT);
    if (!fresh)
        return micap_fail_memory(world, "trace");
    uint32_t log_count = MICA_WORKERS_MAX + 1; /* the number of workers may change before the trace ends */
    fresh->logs = micap_allocate_zeroed(&world->memory, log_count * sizeof *fresh->logs, MICAP_CACHE_LINE);
    if (!fresh->logs) {
        free_trace(world, fresh);
        return micap_fail_memory(world, "trace");
    }
    fresh->log_count = log_count;
    fresh->begin_ns = fresh->frame_ns = micap_clock_ns();
    micap_listener_set(world, MICAP_LISTENER_TRACE, &listener, fresh);
    return MICA_OK;
}

static void write_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; ++text) {
        unsigned char character = (unsigned char)*text;
        if (character == '"' || character == '\\')
            fprintf(file, "\\%c", character);
        else if (character < 0x20)
            fprintf(file, "\\u%04x", character);
        else
            fputc(character, file);
    }
    fputc('"', file);
}

/* Writes what all events have: name, thread, and microseconds since the trace began. */
static void write_event(FILE *file, const trace *trace, const char *name, uint32_t thread, const event *event)
{
    fprintf(file, ",\n{\"ph\":\"X\",\"pid\":%" PRIu32 ",\"name\":", trace->process);
    write_text(file, name);
    fprintf(file, ",\"tid\":%" PRIu32 ",\"ts\":%.3f,\"dur\":%.3f", thread,
            (double)(event->begin_ns - trace->begin_ns) / 1000, (double)(event->end_ns - event->begin_ns) / 1000);
}

static void write_log(FILE *file, const trace *trace, uint32_t worker)
{
    const log *log = &trace->logs[worker];
    if (log->count)
        fprintf(file,
                ",\n{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
                ",\"name\":\"thread_name\",\"args\":{\"name\":\"worker %" PRIu32 "\"}}",
                trace->process, worker, worker);
    for (uint32_t i = 0; i < log->count; ++i) {
        const event *event = &log->events[i];
        const char *name = event->system < trace->name_capacity ? trace->names[event->system] : NULL;
        write_event(file, trace, event->system ? name ? name : "?" : "flush", worker, event);
        if (event->system)
            fprintf(file, ",\"cat\":\"system\",\"args\":{\"rows\":%" PRIu64 ",\"slices\":%" PRIu32 "}}", event->rows,
                    event->slices);
        else
            fputs(",\"cat\":\"flush\"}", file);
    }
}

/* Writes all events. The name of the process comes first. */
static uint64_t write_events(FILE *file, const trace *trace, const char *process_name)
{
    uint32_t frames = trace->log_count - 1;
    uint64_t missed = 0;
    fprintf(file, "{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"name\":\"process_name\",\"args\":{\"name\":", trace->process);
    write_text(file, process_name);
    fputs("}}", file);
    fprintf(file,
            ",\n{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
            ",\"name\":\"thread_name\",\"args\":{\"name\":\"frames\"}}",
            trace->process, frames);
    for (uint32_t i = 0; i < trace->logs[frames].count; ++i) {
        char name[32];
        snprintf(name, sizeof name, "frame %" PRIu64, trace->logs[frames].events[i].rows);
        write_event(file, trace, name, frames, &trace->logs[frames].events[i]);
        fputs(",\"cat\":\"frame\"}", file);
    }
    for (uint32_t worker = 0; worker < frames; ++worker)
        write_log(file, trace, worker);
    for (uint32_t i = 0; i < trace->log_count; ++i)
        missed += trace->logs[i].missed;
    return missed;
}

static void write_trace(FILE *file, trace *trace)
{
    trace->process = 1;
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", file);
    uint64_t missed = write_events(file, trace, "mica");
    fprintf(file, "\n],\"otherData\":{\"missed\":%" PRIu64 "}}\n", missed);
}

/* Takes the trace of a world, with the names of its systems. NULL with a report if there is none. */
static trace *take_trace(mica_world *world)
{
    const micap_flow *flow = micap_flow_get(world);
    trace *trace = micap_listener_state(world, MICAP_LISTENER_TRACE);
    if (!trace || flow->is_stepping) {
        micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "trace_stop: %s",
                   trace ? "refused inside a frame" : "no trace was started");
        return NULL;
    }
    for (uint32_t i = 0; i < flow->system_count; ++i)
        store_name(world, trace, flow->systems[i]);
    micap_listener_set(world, MICAP_LISTENER_TRACE, NULL, NULL);
    return trace;
}

mica_result mica_trace_stop(mica_world *world, const char *path)
{
    trace *trace = MICAP_MISSING(NULL, world) ? NULL : take_trace(world);
    if (!trace)
        return world ? MICA_ERROR_REFUSED : MICA_ERROR_INVALID;
    mica_result result = MICA_OK;
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file)
        write_trace(file, trace);
    bool failed = path && (!file || ferror(file) != 0);
    failed |= file && fclose(file) != 0;
    if (failed)
        result = micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "trace: %s: %s", path, strerror(errno));
    free_trace(world, trace);
    return result;
}

/* Ends the writing to a file of the program. */
static mica_result finish(mica_world *world, trace *trace, FILE *out)
{
    mica_result result = fflush(out) == 0 && !ferror(out)
                             ? MICA_OK
                             : micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                                          "trace: it can't be written: %s", strerror(errno));
    free_trace(world, trace);
    return result;
}

mica_result mica_trace_stop_to(mica_world *world, FILE *out)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, out))
        return MICA_ERROR_INVALID;
    trace *trace = take_trace(world);
    if (!trace)
        return MICA_ERROR_REFUSED;
    write_trace(out, trace);
    return finish(world, trace, out);
}

mica_result mica_trace_stop_part(mica_world *world, uint32_t process, const char *name, FILE *out)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, name) || MICAP_MISSING(world, out))
        return MICA_ERROR_INVALID;
    trace *trace = take_trace(world);
    if (!trace)
        return MICA_ERROR_REFUSED;
    trace->process = process;
    fputs(",\n", out);
    uint64_t missed = write_events(out, trace, name);
    if (missed)
        fprintf(out,
                ",\n{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"name\":\"process_labels\",\"args\":{\"labels\":\"%" PRIu64
                " events missed\"}}",
                process, missed);
    return finish(world, trace, out);
}
