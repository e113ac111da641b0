#include "snapshot/snapshot.h"

#include "base/argument.h"
#include "core/undo/copy_on_write.h"
#include "core/world/report.h"
#include "core/world/stale_pointers.h"
#include "snapshot/history.h"

static const mica_location no_place = {0};

static void free_snapshot(mica_world *world, micap_snapshot *snapshot)
{
    micap_saved_drop(world, &snapshot->saved);
    micap_release(&world->memory, snapshot, sizeof *snapshot, MICAP_ARRAY_ALIGNMENT);
}

static void free_snapshots(mica_world *world, void *state)
{
    micap_snapshots *snapshots = state;
    while (snapshots->histories)
        snapshots->histories = micap_history_free(snapshots->histories);
    while (snapshots->newest) {
        micap_snapshot *snapshot = snapshots->newest;
        snapshots->newest = snapshot->older;
        free_snapshot(world, snapshot);
    }
    micap_release(&world->memory, snapshots, sizeof *snapshots, MICAP_ARRAY_ALIGNMENT);
}

static const micap_module_ops ops = {.free = free_snapshots};

micap_snapshots *micap_snapshots_of(mica_world *world)
{
    micap_snapshots *snapshots = micap_module_state(world, MICAP_MODULE_SNAPSHOT);
    if (snapshots)
        return snapshots;
    snapshots = micap_allocate_zeroed(&world->memory, sizeof *snapshots, MICAP_ARRAY_ALIGNMENT);
    if (snapshots)
        micap_module_set(world, MICAP_MODULE_SNAPSHOT, &ops, snapshots);
    else
        micap_fail_memory(world, "snapshot");
    return snapshots;
}

micap_snapshot *micap_snapshot_find(const mica_world *world, mica_snapshot snapshot)
{
    const micap_snapshots *snapshots = micap_module_state(world, MICAP_MODULE_SNAPSHOT);
    bool has_any = snapshots && world->undo.count; /* a world that is being destroyed has no logs any more */
    micap_snapshot *at = has_any ? snapshots->newest : NULL;
    while (at && at->id != snapshot.id)
        at = at->older;
    return at;
}

uint32_t micap_snapshot_newer_count(const mica_world *world, mica_snapshot snapshot)
{
    const micap_snapshots *snapshots = micap_module_state(world, MICAP_MODULE_SNAPSHOT);
    uint32_t count = 0;
    for (const micap_snapshot *at = snapshots->newest; at && at->id != snapshot.id; at = at->older)
        ++count;
    return count;
}

/* Refuses while changes are recorded, flushed or waiting to be applied. */
static mica_result refuse(mica_world *world, const char *what)
{
    mica_result result = micap_refuse_while_recording(world, what);
    if (result == MICA_OK && world->flushing)
        result = micap_fail(world, MICA_ERROR_REFUSED, no_place, "%s: refused inside a flush", what);
    for (mica_commands *commands = world->first_commands; result == MICA_OK && commands; commands = commands->next)
        if (micap_recording_is_empty(&commands->recording))
            micap_recording_drop(world, &commands->recording);
        else
            result = micap_fail(world, MICA_ERROR_REFUSED, no_place,
                                "%s: refused while recorded changes wait: call mica_flush first", what);
    if (result == MICA_OK)
        micap_commands_fall_out(world);
    return result;
}

bool micap_can_copy_all(const mica_world *world, const char *what)
{
    mica_component id = 0;
    while ((id = micap_component_after(&world->components, id)))
        if (!micap_expect_copyable(world, micap_component_of(&world->components, id)->type, what))
            return false;
    return true;
}

mica_snapshot mica_snapshot_take(mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return (mica_snapshot){0};
    const mica_snapshot none = {0};
    if (refuse(world, "snapshot_take") != MICA_OK || !micap_can_copy_all(world, "snapshot"))
        return none;
    micap_snapshots *snapshots = micap_snapshots_of(world);
    micap_snapshot *snapshot =
        snapshots ? micap_allocate_zeroed(&world->memory, sizeof *snapshot, MICAP_ARRAY_ALIGNMENT) : NULL;
    bool done =
        snapshot &&
        MICAP_RESERVE(&world->memory, world->chunks.retired, &world->chunks.retired_capacity, world->chunks.count) &&
        micap_saved_take(world, &snapshot->saved);
    if (done) {
        snapshot->log = micap_undo_log_add(&world->undo, micap_version(world) + 1);
        if (!snapshot->log)
            micap_saved_drop(world, &snapshot->saved);
        done = snapshot->log != NULL;
    }
    if (!done) {
        micap_release(&world->memory, snapshot, sizeof *snapshot, MICAP_ARRAY_ALIGNMENT);
        micap_fail_memory(world, "snapshot");
        return none;
    }
    mica_world_mark(world);
    snapshot->id = (uint64_t)world->def.handle_space << 56 | snapshot->log->serial;
    snapshot->older = snapshots->newest;
    snapshots->newest = snapshot;
    micap_chunks_sweep(world);
    return (mica_snapshot){snapshot->id};
}

bool mica_snapshot_drop(mica_world *world, mica_snapshot snapshot)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    micap_snapshot *found = micap_snapshot_find(world, snapshot);
    if (!found || micap_refuse_inside(world, "snapshot_drop") != MICA_OK)
        return false;
    micap_snapshots *snapshots = micap_snapshots_of(world);
    micap_snapshot **link = &snapshots->newest;
    while (*link != found)
        link = &(*link)->older;
    *link = found->older;
    micap_undo_log_drop(&world->undo, found->log);
    free_snapshot(world, found);
    micap_chunks_sweep(world);
    return true;
}

size_t mica_snapshot_bytes(const mica_world *world, mica_snapshot snapshot)
{
    if (MICAP_MISSING(NULL, world))
        return 0;
    micap_snapshot *found = micap_snapshot_find(world, snapshot);
    return found ? atomic_load_explicit(&found->log->bytes, memory_order_relaxed) : 0;
}

/* Values that are not trivial are moved out of the log when they are restored. Newer snapshots need them too: copies are restored. */
static bool copy_owned(mica_world *world, micap_undo_entries *list)
{
    uint32_t i = 0;
    for (; i < list->count; ++i) {
        const micap_undo_entry *from = list->all[i];
        if (!from->is_owned)
            continue;
        micap_undo_entry *copy = micap_allocate(&world->memory, sizeof *copy, MICAP_ARRAY_ALIGNMENT);
        void *data = micap_allocate(&world->memory, from->bytes, from->alignment);
        if (copy && data) {
            *copy = *from;
            copy->data = data;
            copy->next = copy; /* marks a copy, which no log has */
            if (world->undo.ops->copy(copy, from)) {
                list->all[i] = copy;
                continue;
            }
        }
        micap_release(&world->memory, copy, sizeof *copy, MICAP_ARRAY_ALIGNMENT);
        micap_release(&world->memory, data, from->bytes, from->alignment);
        return false;
    }
    return true;
}

static void drop_copies(mica_world *world, micap_undo_entries *list)
{
    for (uint32_t i = 0; i < list->count; ++i) {
        micap_undo_entry *kept = list->all[i];
        if (kept->next != kept)
            continue;
        if (kept->is_owned)
            world->undo.ops->release(kept);
        micap_release(&world->memory, kept->data, kept->bytes, kept->alignment);
        micap_release(&world->memory, kept, sizeof *kept, MICAP_ARRAY_ALIGNMENT);
    }
    MICAP_RELEASE_ARRAY(&world->memory, list->all, list->capacity);
}

/* Everything that can fail. If there are newer snapshots, what is about to be overwritten is saved for the newest. */
static bool prepare(micap_restoring *restoring, micap_snapshot *snapshot, bool forget)
{
    mica_world *world = restoring->world;
    micap_undo_entries *list = &restoring->kept;
    if (!micap_undo_log_gather(&world->undo, snapshot->log, list) || !micap_saved_prepare(world, &snapshot->saved) ||
        !micap_restore_prepare(restoring))
        return false;
    if (forget || !snapshot->log->newer)
        return true;
    for (uint32_t i = 0; i < list->count; ++i)
        micap_undo_save_again(world, list->all[i]);
    micap_handles_save_fresh(world, &snapshot->saved.handles);
    /* Nothing has changed yet: if saving failed, no log is lost. */
    bool is_kept = !atomic_exchange_explicit(&world->undo.newest->is_lost, false, memory_order_relaxed);
    return is_kept && copy_owned(world, list);
}

static void forget_newer(mica_world *world, micap_snapshot *snapshot)
{
    micap_snapshots *snapshots = micap_snapshots_of(world);
    while (snapshots->newest != snapshot) {
        micap_snapshot *newer = snapshots->newest;
        snapshots->newest = newer->older;
        micap_undo_log_clear(&world->undo, newer->log); /* its entries are restored, or not needed */
        micap_undo_log_drop(&world->undo, newer->log);
        free_snapshot(world, newer);
    }
}

static mica_result restore(mica_world *world, mica_snapshot snapshot, bool forget)
{
    mica_result result = refuse(world, "snapshot_restore");
    if (result != MICA_OK)
        return result;
    micap_snapshot *found = micap_snapshot_find(world, snapshot);
    if (!found)
        return micap_fail(world, MICA_ERROR_UNKNOWN, no_place, "snapshot_restore: there is no snapshot %llu",
                          (unsigned long long)snapshot.id);
    if (micap_undo_log_is_lost(found->log))
        return micap_fail(world, MICA_ERROR_MEMORY, no_place,
                          "snapshot_restore: snapshot %llu is lost: memory was short when something changed",
                          (unsigned long long)snapshot.id);
    micap_restoring restoring = {.world = world, .handles = &found->saved.handles, .pools = found->saved.pools};
    if (!prepare(&restoring, found, forget)) {
        micap_restore_give_up(&restoring);
        drop_copies(world, &restoring.kept);
        return micap_fail_memory(world, "snapshot_restore");
    }
    bool is_newest = forget || !found->log->newer;
    micap_restore_entries(&restoring);
    drop_copies(world, &restoring.kept);
    if (is_newest) {
        forget_newer(world, found);
        micap_undo_log_clear(&world->undo, found->log);
        micap_chunks_sweep(world);
        micap_archetypes_forget(world, found->saved.archetype_count);
    }
    /* From here on there are changes since the snapshot: things that did not exist then are reset. */
    micap_saved_restore(world, &found->saved);
    world->restored = mica_world_mark(world);
    micap_lend_end(world); /* pointers to components are invalid */
    return MICA_OK;
}

mica_result mica_snapshot_restore(mica_world *world, mica_snapshot snapshot)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    return restore(world, snapshot, false);
}

mica_result micap_snapshot_roll_back(mica_world *world, mica_snapshot snapshot)
{
    return restore(world, snapshot, true);
}
