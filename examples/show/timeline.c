#include "timeline.h"

static mica_snapshot *of_tick(timeline *timeline, uint64_t tick)
{
    return &timeline->snapshots[tick % TIMELINE_TICKS];
}

bool timeline_begin(timeline *timeline, mica_world *world)
{
    *timeline = (struct timeline){.world = world};
    timeline->snapshots[0] = mica_snapshot_take(world);
    return timeline->snapshots[0].id != 0;
}

bool timeline_note(timeline *timeline)
{
    for (; timeline->last > timeline->at; --timeline->last)
        mica_snapshot_drop(timeline->world, *of_tick(timeline, timeline->last));
    if (timeline->last - timeline->first + 1 == TIMELINE_TICKS)
        mica_snapshot_drop(timeline->world, *of_tick(timeline, timeline->first++));
    timeline->at = ++timeline->last;
    *of_tick(timeline, timeline->at) = mica_snapshot_take(timeline->world);
    return of_tick(timeline, timeline->at)->id != 0;
}

bool timeline_go(timeline *timeline, uint64_t tick)
{
    tick = tick < timeline->first ? timeline->first : tick > timeline->last ? timeline->last : tick;
    if (tick == timeline->at)
        return true;
    timeline->at = tick;
    return mica_snapshot_restore(timeline->world, *of_tick(timeline, tick)) == MICA_OK;
}

size_t timeline_bytes(const timeline *timeline)
{
    size_t bytes = 0;
    for (uint64_t tick = timeline->first; tick <= timeline->last; ++tick)
        bytes += mica_snapshot_bytes(timeline->world, timeline->snapshots[tick % TIMELINE_TICKS]);
    return bytes;
}
