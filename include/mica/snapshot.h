/* Mica, snapshot: restore an earlier state of a world.
 *
 *     mica_snapshot before = mica_snapshot_take(world);      microseconds, independent of the size of the world
 *     ...                                                    anything: systems, creation, destruction, messages
 *     mica_snapshot_restore(world, before);                  costs what changed meanwhile
 *     mica_snapshot_drop(world, before);
 *
 * Snapshots are copy-on-write: only singletons and counters are copied when one is taken. The first write to a slice of a column
 * afterwards copies the old values of that slice; restoring puts them back. Live data never moves for a snapshot.
 *
 * Restored: entities with their handles and generations, values, the order of rows, pools and tags, singletons, names, the
 * hierarchy, messages in streams and mailboxes, time, ticks, pause and random numbers, which systems and phases are enabled,
 * which handles are used next, and what queries and systems consider changed. The world hash is the same as before, and the same
 * inputs produce the same world again. Pointers to components are invalid, as after any change; mica_ref finds its component.
 *
 * Not restored: component definitions, queries, systems, hooks, observers, streams and command buffers. They continue to exist,
 * including those created since the snapshot. Pool groups created since are dissolved, because they moved rows: create them again. Hooks
 * and observers do not run. Code that keeps copies of values outside the world, such as a renderer, must look at everything once
 * (mica_query_begin_since with 0). Marks taken after the snapshot still detect writes made after the restore.
 *
 * Any number of snapshots can exist. Restoring one keeps older and newer ones, and they can be restored in any order, as undo and
 * redo need (examples/undo.c). Archetypes created since the restored snapshot are removed if no newer snapshot exists; otherwise
 * they stay, empty.
 *
 * Values that own something are copied with the copy function of their component before they change. Taking a snapshot is rejected
 * while the world uses a component with a destructor and no copy function.
 *
 * If memory for a copy runs out, the write still succeeds and the snapshots are lost: restoring one then returns
 * MICA_ERROR_MEMORY and changes nothing.
 */
#ifndef MICA_SNAPSHOT_H
#define MICA_SNAPSHOT_H

#include "mica/world.h"

MICA_BEGIN

/* A snapshot of one world, by value. All zero is none. */
typedef struct mica_snapshot {
    uint64_t id;
} mica_snapshot;

/* Takes a snapshot. Returns none with a report if memory runs out, inside hooks and systems that are not exclusive, while recording or
 * with recorded changes pending, and for components that cannot be copied. Valid until dropped, or the world is destroyed. One
 * that an exclusive system takes has the state in the middle of the frame. Threads: owner. */
MICA_API mica_snapshot mica_snapshot_take(mica_world *world);

/* Restores the state of a snapshot, which stays valid. Returns MICA_ERROR_UNKNOWN for none or a dropped one, MICA_ERROR_MEMORY if it
 * was lost or memory runs out, and MICA_ERROR_REFUSED where taking one is rejected; then nothing changes. Threads: owner. */
MICA_API mica_result mica_snapshot_restore(mica_world *world, mica_snapshot snapshot);

/* Drops a snapshot. Returns false if it does not exist. Threads: owner. */
MICA_API bool mica_snapshot_drop(mica_world *world, mica_snapshot snapshot);

/* Returns the size of the old data saved for this snapshot since it was taken; 0 right after it was taken. Threads: reader. */
MICA_API size_t mica_snapshot_bytes(const mica_world *world, mica_snapshot snapshot);

/* Creates a world with the same def and the same content: entities with their handles, values, the order of rows, pools and groups,
 * singletons, names and the hierarchy. Both worlds have the same mica_world_hash_content. Not copied: queries, systems, streams, hooks,
 * command buffers, snapshots, time, and entities whose creation is recorded. MICA_PHASE_START does not run again if it ran in the world.
 * Returns NULL with a report to the world if memory runs out, while changes are recorded, and for a component that can't be copied.
 * Threads: owner. */
MICA_API mica_world *mica_world_clone(mica_world *world);

/* History: the last ticks of a world, for rollback.
 *
 *     mica_history *history = mica_history_create(world, 60);
 *     for (;;) {
 *         if (late input for a tick arrived)
 *             mica_history_restore(history, late), step it, then take and step each later tick
 *         mica_history_take(history, tick);                  before the step of that tick
 *         mica_step(world, dt);
 *         ++tick;
 *     }
 */
typedef struct mica_history mica_history;

/* Creates a history of up to `capacity` ticks, at least one. Returns NULL if memory runs out. Destroyed with its world.
 * Threads: owner. */
MICA_API mica_history *mica_history_create(mica_world *world, uint32_t capacity);

/* Destroys a history and its snapshots. NULL is a no-op. Threads: owner. */
MICA_API void mica_history_destroy(mica_history *history);

/* Stores the current state under a tick number, which must be higher than the last one (else MICA_ERROR_INVALID). If the history
 * is full, the oldest tick is dropped. Other errors as for mica_snapshot_take. Threads: owner. */
MICA_API mica_result mica_history_take(mica_history *history, uint64_t tick);

/* Restores a tick and drops the later ones. Returns MICA_ERROR_UNKNOWN if the tick is not stored, else as mica_snapshot_restore; on
 * error nothing is dropped. Threads: owner. */
MICA_API mica_result mica_history_restore(mica_history *history, uint64_t tick);

/* Return whether a tick is stored, the number of stored ticks, and the first and last of them, 0 if none. Threads: reader. */
MICA_API bool mica_history_has(const mica_history *history, uint64_t tick);
MICA_API uint32_t mica_history_count(const mica_history *history);
MICA_API uint64_t mica_history_first(const mica_history *history);
MICA_API uint64_t mica_history_last(const mica_history *history);

/* Returns the memory that all ticks need together. Threads: reader. */
MICA_API size_t mica_history_bytes(const mica_history *history);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_snapshot_take(world) mica_snapshot_take(MICA_AT_(world))
#    define mica_snapshot_restore(world, ...) mica_snapshot_restore(MICA_AT_(world), __VA_ARGS__)
#    define mica_snapshot_drop(world, ...) mica_snapshot_drop(MICA_AT_(world), __VA_ARGS__)
#    define mica_snapshot_bytes(world, ...) mica_snapshot_bytes(MICA_AT_(world), __VA_ARGS__)
#    define mica_world_clone(world) mica_world_clone(MICA_AT_(world))
#    define mica_history_create(world, ...) mica_history_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_history_destroy(history) mica_history_destroy(MICA_AT_(history))
#    define mica_history_take(history, ...) mica_history_take(MICA_AT_(history), __VA_ARGS__)
#    define mica_history_restore(history, ...) mica_history_restore(MICA_AT_(history), __VA_ARGS__)
#    define mica_history_has(history, ...) mica_history_has(MICA_AT_(history), __VA_ARGS__)
#    define mica_history_count(history) mica_history_count(MICA_AT_(history))
#    define mica_history_first(history) mica_history_first(MICA_AT_(history))
#    define mica_history_last(history) mica_history_last(MICA_AT_(history))
#    define mica_history_bytes(history) mica_history_bytes(MICA_AT_(history))
#endif
#endif
