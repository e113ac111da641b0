/* A recording that is looked at: its world runs here, with the modules that made it. A thread runs all ticks once and keeps snapshots of them,
 * of each tick while they fit, then of every second, and so on: a tick in between is run again from the one before it. From any tick the
 * world can branch off: then it runs in real time, and is changed like that of a program. */
#include "cli/inspector.h"
#include "inspect/stats_text.h"
#include "inspect/writers.h"
#include "mica/flow.h"
#include "os/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXTRAS_MAX = 128,                        /* ticks in between that are kept after they were run again */
    KEPT_MAX = MOMENTS_MAX - EXTRAS_MAX - 1, /* more are thinned out */
    STATS_FRAMES = 120,
};
#define TURN_NS ((uint64_t)5 * 1000 * 1000) /* that ticks run before the page gets its turn */
#define STATS_INTERVAL_NS ((uint64_t)250 * 1000 * 1000)

/* Removes a moment from the list. */
static void forget(source *source, uint32_t position)
{
    moment *one = history_at(source, position);
    mica_snapshot_drop(source->world, one->snapshot);
    source->moment_bytes -= one->bytes;
    source->replayed->extra_count -= one->is_extra;
    memmove(one, one + 1, (source->moment_count - position - 1) * sizeof *one); /* the ring begins at 0 */
    --source->moment_count;
    if (source->is_past && source->shown > position)
        --source->shown;
}

static void cut_after(source *source, uint32_t position)
{
    while (source->moment_count > position + 1)
        forget(source, source->moment_count - 1);
    moment *last = history_at(source, position);
    source->moment_bytes -= last->bytes; /* the last one counts nothing yet */
    last->bytes = 0;
}

/* Keeps every second moment. */
static void thin(source *source)
{
    replayed *replayed = source->replayed;
    replayed->stride *= 2;
    for (uint32_t i = source->moment_count - 1; i-- > 1;)
        if (history_at(source, i)->frame % replayed->stride)
            forget(source, i);
    source->moment_bytes = 0;
    for (uint32_t i = 0; i + 1 < source->moment_count; ++i) {
        moment *one = history_at(source, i);
        one->bytes = mica_snapshot_bytes(source->world, one->snapshot);
        source->moment_bytes += one->bytes;
    }
}

static moment moment_of(const source *source, uint64_t frame, float dt)
{
    return (moment){.frame = frame,
                    .seconds = mica_time_get(source->world).seconds,
                    .dt = dt,
                    .entity_count = mica_world_get_stats(source->world).entity_count,
                    .snapshot = mica_snapshot_take(source->world)};
}

/* Remembers the world as the newest moment. False if it can't be copied. */
static bool remember(source *source, uint64_t frame, float dt)
{
    moment *last = source->moment_count ? history_at(source, source->moment_count - 1) : NULL;
    const replayed *replayed = source->replayed;
    bool is_replaced = last && (last->frame == frame ||
                                (!replayed->is_branched && last->frame % replayed->stride)); /* a branch keeps all */
    if (is_replaced) {
        dt = last->frame == frame ? last->dt : dt;
        forget(source, source->moment_count - 1);
    } else if (last) {
        last->bytes = mica_snapshot_bytes(source->world, last->snapshot);
        source->moment_bytes += last->bytes;
    }
    if (source->moment_count >= KEPT_MAX || (source->moment_bytes > HISTORY_BYTES_MAX && source->moment_count > 16))
        thin(source);
    moment fresh = moment_of(source, frame, dt);
    if (fresh.snapshot.id)
        *history_at(source, source->moment_count++) = fresh;
    ++source->change;
    return fresh.snapshot.id != 0;
}

static void take_events(source *source)
{
    micap_traffic_log *log = &source->replayed->target.traffic;
    const char *data = log->bytes.count ? log->bytes.data : "";
    micap_reader reader = {.begin = data, .at = data, .end = data + log->bytes.count};
    if (!log->bytes.failed)
        events_take(source, &reader, log->left_out);
    micap_traffic_log_clear(log);
    events_observe(source);
}

static void update_stats(source *source)
{
    replayed *replayed = source->replayed;
    uint64_t now = micap_clock_ns();
    if (replayed->stats_ns && now - replayed->stats_ns < STATS_INTERVAL_NS)
        return;
    replayed->stats_ns = now;
    micap_bytes bytes = {.memory = &replayed->memory};
    micap_stats_write(&replayed->target, &bytes);
    char *copy = bytes.failed ? NULL : malloc(bytes.count);
    if (copy) {
        memcpy(copy, bytes.data, bytes.count);
        free(source->stats);
        source->stats = copy;
        source->stats_bytes = bytes.count;
    }
    micap_bytes_free(&bytes);
}

/* Runs the next recorded tick for the first time. */
static void advance(source *source)
{
    replayed *replayed = source->replayed;
    uint32_t tick = replayed->tick + 1;
    source->arriving = tick;
    recorded_run_tick(&replayed->run, tick);
    replayed->tick = tick;
    take_events(source);
    if (!recorded_run_agrees(&replayed->run, tick)) {
        replayed->is_different = true;
        snprintf(source->problem, sizeof source->problem, "tick %u is not as it was recorded: mica replay says why",
                 tick);
    } else if (!remember(source, tick, recorded_run_dt(&replayed->run, tick))) {
        replayed->is_different = true; /* the world has reported why */
    }
    watches_sample(source, tick);
}

/* Runs a frame of a branch. */
static void step(source *source)
{
    replayed *replayed = source->replayed;
    bool is_running = !mica_is_paused(source->world) || replayed->is_let_through;
    source->arriving = replayed->frame + is_running;
    mica_step(source->world, replayed->dt);
    replayed->is_let_through = false;
    replayed->frame += is_running;
    take_events(source);
    micap_breakpoint_check(&replayed->target.breakpoint, source->world);
    source->is_paused = mica_is_paused(source->world);
    if (is_running) {
        remember(source, replayed->frame, replayed->dt);
        watches_sample(source, replayed->frame);
    }
}

static void run_ahead(source *source)
{
    const replayed *replayed = source->replayed;
    uint64_t begin = micap_clock_ns();
    while (replayed->tick < replayed->run.tick_count && !replayed->is_different && micap_clock_ns() - begin < TURN_NS)
        advance(source);
    update_stats(source);
}

static void *keep_running(void *context)
{
    source *source = context;
    const replayed *replayed = source->replayed;
    pthread_mutex_lock(&source->lock);
    while (!source->is_stopping) {
        uint64_t pause_ns = 0;
        if (!source->is_past && replayed->is_branched) {
            step(source);
            update_stats(source);
            pause_ns = (uint64_t)((double)replayed->dt * 1e9);
        } else if (!source->is_past && replayed->tick < replayed->run.tick_count && !replayed->is_different) {
            run_ahead(source);
            pause_ns = TURN_NS / 10;
        } else {
            source_wait(source, 1);
            continue;
        }
        pthread_mutex_unlock(&source->lock);
        micap_sleep_ns(pause_ns);
        pthread_mutex_lock(&source->lock);
    }
    pthread_mutex_unlock(&source->lock);
    return NULL;
}

static void drop_extra(source *source)
{
    uint32_t oldest = UINT32_MAX;
    for (uint32_t i = 0; i < source->moment_count; ++i)
        if (history_at(source, i)->is_extra && !(source->is_past && source->shown == i) &&
            (oldest == UINT32_MAX || history_at(source, i)->serial < history_at(source, oldest)->serial))
            oldest = i;
    if (oldest != UINT32_MAX)
        forget(source, oldest);
}

/* Adds a moment in between. Returns its position. */
static uint32_t insert(source *source, uint64_t frame, float dt)
{
    if (source->replayed->extra_count >= EXTRAS_MAX)
        drop_extra(source);
    uint32_t position = 0;
    while (history_at(source, position)->frame < frame)
        ++position;
    moment fresh = moment_of(source, frame, dt), *at = history_at(source, position);
    if (!fresh.snapshot.id)
        return position - 1;
    fresh.is_extra = true;
    fresh.serial = ++source->replayed->serial;
    ++source->replayed->extra_count;
    memmove(at + 1, at, (source->moment_count - position) * sizeof *at);
    *at = fresh;
    ++source->moment_count;
    if (source->is_past && source->shown >= position)
        ++source->shown;
    return position;
}

bool recording_find(source *source, uint64_t frame, uint32_t *out_position)
{
    replayed *replayed = source->replayed;
    uint32_t position;
    if (!history_find_kept(source, frame, &position))
        return false;
    *out_position = position;
    uint64_t last = history_at(source, source->moment_count - 1)->frame;
    last = replayed->is_branched && replayed->branch_tick < last ? replayed->branch_tick : last;
    uint64_t from = history_at(source, position)->frame, to = frame < last ? frame : last;
    if (from >= to)
        return true;
    if (mica_snapshot_restore(source->world, history_at(source, position)->snapshot) != MICA_OK)
        return false;
    replayed->target.traffic.is_ignoring = true; /* what happens in these ticks has happened before */
    while (++from <= to) {
        recorded_run_tick(&replayed->run, (uint32_t)from);
        if (to - from < EXTRAS_MAX / 2)
            *out_position = insert(source, from, recorded_run_dt(&replayed->run, (uint32_t)from));
    }
    replayed->target.traffic.is_ignoring = false;
    return true;
}

mica_result recording_request(source *source, const char *line, const char *body, char *out_text, size_t capacity)
{
    replayed *replayed = source->replayed;
    char text[MICAP_EDIT_TEXT_MAX], words[256];
    if (!replayed->is_branched) {
        snprintf(out_text, capacity, "a recording can't be changed: branch from a tick first");
        return MICA_ERROR_REFUSED;
    }
    replayed->is_let_through |= strcmp(line, "step") == 0;
    snprintf(words, sizeof words, "%s", line);
    mica_result result = micap_edit_run(&replayed->target, words, body, text);
    snprintf(out_text, capacity, "%s", text);
    source->is_paused = mica_is_paused(source->world);
    remember(source, replayed->frame, 0);
    replayed->stats_ns = 0;
    return result;
}

/* Back to what was recorded. */
static mica_result end_branch(source *source)
{
    replayed *replayed = source->replayed;
    uint32_t position;
    if (!replayed->is_branched)
        return MICA_OK;
    mica_result result = mica_snapshot_restore(source->world, replayed->origin);
    if (result != MICA_OK)
        return result;
    source->is_past = false;
    if (history_find_kept(source, replayed->branch_tick, &position))
        cut_after(source, position);
    replayed->tick = replayed->branch_tick;
    float dt = history_at(source, source->moment_count - 1)->dt;
    remember(source, replayed->tick, dt); /* the moment there may have been edited */
    mica_snapshot_drop(source->world, replayed->origin);
    micap_breakpoint_clear(&replayed->target.breakpoint);
    replayed->is_branched = source->is_paused = false;
    source->is_read_only = true;
    return MICA_OK;
}

static mica_result begin_branch(source *source, uint64_t frame, uint32_t position)
{
    replayed *replayed = source->replayed;
    bool is_recorded = !replayed->is_branched || frame < replayed->branch_tick;
    mica_result result = history_show(source, position);
    if (result != MICA_OK)
        return result;
    cut_after(source, position);
    source->is_past = false;
    moment *now = history_at(source, position);
    replayed->extra_count -= now->is_extra;
    now->is_extra = false;
    if (is_recorded) {
        if (replayed->is_branched)
            mica_snapshot_drop(source->world, replayed->origin);
        replayed->origin = mica_snapshot_take(source->world);
        replayed->branch_tick = (uint32_t)now->frame;
    }
    replayed->frame = now->frame;
    replayed->dt = now->dt > 0 ? now->dt : 1.0f / 60;
    replayed->is_branched = source->is_paused = true;
    source->is_read_only = false;
    mica_pause(source->world, true);
    remember(source, replayed->frame, replayed->dt);
    return replayed->origin.id ? MICA_OK : MICA_ERROR_MEMORY;
}

int recording_branch(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    uint32_t position;
    uint64_t frame = parameter_number(request, "frame", UINT64_MAX);
    mica_result result = MICA_OK;
    if (parameter_number(request, "back", 0))
        result = end_branch(source);
    else if (!recording_find(source, frame, &position))
        return write_error(writer, 404, "there is no such tick");
    else
        result = begin_branch(source, history_at(source, position)->frame, position);
    ++source->change;
    pthread_cond_broadcast(&source->changed);
    if (result != MICA_OK)
        return write_error(writer, 503, mica_result_text(result));
    micap_write(writer, "{}");
    return 200;
}

/* The text of a field in a moment, which is restored; free it. NULL if memory is short. */
static char *text_at(source *source, uint32_t position, const micap_writers_def *def)
{
    return mica_snapshot_restore(source->world, history_at(source, position)->snapshot) == MICA_OK
               ? micap_field_text(source->world, def->entity, def->component, def->path)
               : NULL;
}

int recording_wrote(source *source, micap_writers_def def, uint64_t frame, micap_json_writer *writer)
{
    replayed *replayed = source->replayed;
    uint32_t before, after;
    if (!frame || !recording_find(source, frame - 1, &before) || !recording_find(source, frame, &after) ||
        history_at(source, after)->frame != frame || !recording_find(source, frame - 1, &before))
        return write_error(writer, 404, "there is no such tick");
    bool is_recorded = !replayed->is_branched || frame <= replayed->branch_tick;
    micap_bytes found = {.memory = &replayed->memory};
    char *last = text_at(source, after, &def), *first = text_at(source, before, &def);
    def.dt = history_at(source, after)->dt;
    def.before = first;
    def.after = last;
    replayed->target.traffic.is_ignoring = true;
    mica_pause(source->world, false);
    if (is_recorded)
        recorded_run_input(&replayed->run, (uint32_t)frame);
    bool fine = first && last && micap_writers_find(source->world, &def, &found) == MICA_OK && !found.failed;
    replayed->target.traffic.is_ignoring = false;
    if (fine) {
        micap_write(writer, "{\"frame\":%" PRIu64 ",\"changes\":", frame);
        micap_write_text(writer, found.data, found.count);
        micap_write(writer, "}");
    }
    free(first);
    free(last);
    micap_bytes_free(&found);
    history_show_again(source);
    return fine ? 200 : write_error(writer, 503, "memory is short");
}

static void hear_report(const mica_report *report, void *context)
{
    source *source = context;
    snprintf(source->problem, sizeof source->problem, "%s", report->text);
}

static bool begin(source *source)
{
    replayed *replayed = source->replayed;
    mica_stats_enable(source->world, STATS_FRAMES);
    events_observe(source);
    mica_traffic_watch(source->world, micap_traffic_log_add, &replayed->target.traffic);
    if (!remember(source, 0, 0))
        return complain("inspect: %s", source->problem) == EXIT_FINE;
    source->has_thread = pthread_create(&source->thread, NULL, keep_running, source) == 0;
    return source->has_thread || complain("inspect: no thread can be started") == EXIT_FINE;
}

bool recording_open(source *source, const options *options)
{
    replayed *replayed = source->replayed = calloc(1, sizeof *replayed);
    if (!replayed)
        return complain("out of memory") == EXIT_FINE;
    micap_memory_init(&replayed->memory, (mica_allocator){0});
    if (!recorded_run_open(&replayed->run, options, hear_report, source)) {
        if (*source->problem)
            complain("inspect: %s", source->problem);
        return false;
    }
    source->world = replayed->target.world = replayed->run.model.world;
    replayed->target.answer.memory = replayed->target.traffic.bytes.memory = &replayed->memory;
    replayed->stride = 1;
    source->is_connected = source->is_read_only = true;
    if (!recorded_run_agrees(&replayed->run, 0))
        return complain(
                   "inspect: %s was recorded in another world: give the modules with --module, and the levels after it",
                   options->inputs[0]) == EXIT_FINE;
    return begin(source);
}

void recording_close(source *source)
{
    replayed *replayed = source->replayed;
    if (!replayed)
        return;
    if (replayed->target.world)
        micap_breakpoint_clear(&replayed->target.breakpoint);
    recorded_run_close(&replayed->run);
    micap_bytes_free(&replayed->target.traffic.bytes);
    micap_bytes_free(&replayed->target.answer);
    free(replayed);
    source->replayed = NULL;
}
