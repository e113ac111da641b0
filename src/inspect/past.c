#include "inspect/past.h"

#include "inspect/writers.h"
#include "mica/flow.h"

#include <stdlib.h>

static const micap_past_frame *at(const micap_past *past, uint32_t position)
{
    return &past->frames[(past->first + position) % MICAP_PAST_FRAMES_MAX];
}

static micap_past_frame *last_of(micap_past *past)
{
    return past->count ? &past->frames[(past->first + past->count - 1) % MICAP_PAST_FRAMES_MAX] : NULL;
}

static void drop_first(micap_past *past, mica_world *world)
{
    mica_snapshot_drop(world, at(past, 0)->snapshot);
    past->bytes -= at(past, 0)->bytes;
    past->first = (past->first + 1) % MICAP_PAST_FRAMES_MAX;
    --past->count;
}

static void drop_last(micap_past *past, mica_world *world)
{
    micap_past_frame *last = last_of(past);
    mica_snapshot_drop(world, last->snapshot);
    past->bytes -= last->bytes;
    --past->count;
    if (past->count) { /* the last one counts nothing yet */
        past->bytes -= last_of(past)->bytes;
        last_of(past)->bytes = 0;
    }
}

void micap_past_forget(micap_past *past, mica_world *world)
{
    while (past->count)
        drop_first(past, world);
    past->is_off = false;
    past->component_count = 0;
}

/* Taking a snapshot of a world with a component that can't be copied would be reported, again in each frame. */
static bool can_be_kept(micap_past *past, const mica_world *world)
{
    uint32_t count = mica_world_get_stats(world).component_count;
    if (past->component_count == count)
        return !past->is_off;
    past->component_count = count;
    for (mica_component component = 0; (component = mica_component_next(world, component));) {
        const mica_type *type = mica_component_type(component);
        past->is_off |= (type->destruct || type->destroy_one) && !type->copy && !type->copy_one;
    }
    return !past->is_off;
}

void micap_past_keep(micap_past *past, mica_world *world)
{
    if (mica_world_get_stats(world).entity_count > past->entity_max) {
        micap_past_forget(past, world);
        return;
    }
    if (!can_be_kept(past, world))
        return;
    mica_time time = mica_time_get(world);
    micap_past_frame *last = last_of(past);
    micap_past_frame fresh = {.frame = time.frame, .seconds = time.seconds, .dt = time.dt};
    if (last && last->seconds == time.seconds) {
        fresh.frame = last->frame;
        fresh.dt = last->dt;
        drop_last(past, world);
    } else if (last) {
        last->bytes = mica_snapshot_bytes(world, last->snapshot);
        past->bytes += last->bytes;
    }
    while (past->count == MICAP_PAST_FRAMES_MAX || (past->bytes > MICAP_PAST_BYTES_MAX && past->count > 2))
        drop_first(past, world);
    fresh.snapshot = mica_snapshot_take(world);
    if (!fresh.snapshot.id) {
        micap_past_forget(past, world);
        past->is_off = true;
        return;
    }
    ++past->count;
    *last_of(past) = fresh;
}

/* Finds the frame that was there at a time: numbers of frames in which the world was paused belong to the one before. False if it is not
 * kept. */
static bool find(const micap_past *past, const mica_world *world, uint64_t frame, uint32_t *out_position)
{
    for (uint32_t i = past->count; i-- > 0 && frame <= mica_time_get(world).frame;)
        if (at(past, i)->frame <= frame) {
            *out_position = i;
            return true;
        }
    return false;
}

mica_result micap_past_branch(micap_past *past, mica_world *world, uint64_t frame)
{
    uint32_t position;
    bool is_paused = mica_is_paused(world);
    if (!find(past, world, frame, &position))
        return MICA_ERROR_UNKNOWN;
    mica_result result = mica_snapshot_restore(world, at(past, position)->snapshot);
    if (result != MICA_OK)
        return result;
    while (past->count > position + 1)
        drop_last(past, world);
    mica_pause(world, is_paused);
    return MICA_OK;
}

/* Runs the frame at a position again. */
static mica_result repeat(const micap_past *past, mica_world *world, uint32_t position, micap_writers_def *def,
                          micap_bytes *out)
{
    mica_result result = mica_snapshot_restore(world, at(past, position)->snapshot);
    char *after = result == MICA_OK ? micap_field_text(world, def->entity, def->component, def->path) : NULL;
    if (result == MICA_OK)
        result = mica_snapshot_restore(world, at(past, position - 1)->snapshot);
    char *before = result == MICA_OK ? micap_field_text(world, def->entity, def->component, def->path) : NULL;
    def->before = before;
    def->after = after;
    mica_pause(world, false);
    mica_time_set_scale(world, 1); /* dt is scaled */
    if (result == MICA_OK)
        result = before && after ? micap_writers_find(world, def, out) : MICA_ERROR_MEMORY;
    free(before);
    free(after);
    return result;
}

mica_result micap_past_find_writers(const micap_past *past, mica_world *world, uint64_t frame, mica_entity entity,
                                    mica_component component, const char *path, micap_bytes *out)
{
    uint32_t position;
    if (!find(past, world, frame, &position) || !position)
        return MICA_ERROR_UNKNOWN;
    mica_snapshot now = mica_snapshot_take(world);
    if (!now.id)
        return MICA_ERROR_MEMORY;
    micap_writers_def def = {.entity = entity, .component = component, .path = path, .dt = at(past, position)->dt};
    mica_result result = repeat(past, world, position, &def, out);
    mica_result restored = mica_snapshot_restore(world, now);
    mica_snapshot_drop(world, now);
    return result == MICA_OK ? restored : result;
}
