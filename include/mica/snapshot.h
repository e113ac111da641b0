/* Mica, snapshot: going back to what a world was.
 *
 *     mica_snapshot before = mica_snapshot_take(world);      microseconds, whatever the size of the world
 *     ...                                                    anything: systems, creation, destruction, messages
 *     mica_snapshot_restore(world, before);                  costs what has changed meanwhile
 *     mica_snapshot_drop(world, before);
 *
 * Nothing is copied when a snapshot is taken but what there is one of. The first write to a slice of a column behind it copies the old
 * values of that slice, and of no other; restoring puts them back. Live data never moves for a snapshot.
 *
 * What comes back: entities with their handles and generations, values, the order of rows, pools and tags, singletons,
 * names, the hierarchy, what is on its way in streams and messages, time, ticks, pause and random numbers, which systems
 * and phases are enabled, which handles are given out next, and what queries and systems count as changed. The world hash is
 * what it was, and the same inputs give the same world again. Pointers to components are void, as after any change;
 * mica_ref finds its component again.
 *
 * What stays: components, queries, systems, hooks, observers, streams and command buffers themselves, also those made
 * meanwhile. Pool groups made meanwhile are disbanded, since they moved rows: make them again. Hooks and observers do not run for what restoring changes. Whoever keeps copies of values outside of the world, a
 * renderer for example, looks at everything once (mica_query_begin_since with 0). Marks taken meanwhile stay good for what is
 * written from now on.
 *
 * Any number of snapshots may live. Restoring one is a change like others: older and newer ones stay, and can be restored
 * in any order, which is all that undo and redo need (examples/undo.c). Keep what is newer only if it is wanted: without, archetypes made
 * meanwhile are forgotten too, so that the world is as if they had never been; with, they stay, empty.
 *
 * Values that own something are copied by the copy function of their component when they are about to change; taking is refused
 * while the world uses a component with a destructor and no copy function.
 *
 * When there is no memory to keep what a write is about to change, the write goes on, and the snapshots are lost: restoring
 * them returns MICA_ERROR_MEMORY and changes nothing.
 */
#ifndef MICA_SNAPSHOT_H
#define MICA_SNAPSHOT_H

#include "mica/world.h"

MICA_BEGIN

/* A snapshot of one world, by value. All zero is none. */
typedef struct mica_snapshot {
    uint64_t id;
} mica_snapshot;

/* Takes a snapshot. Returns none, with a report, when memory is short, inside systems, hooks and loops that record, while
 * recorded changes wait for a flush, and for components that can't be copied. It lives until it is dropped, or the world
 * destroyed. Threads: owner. */
MICA_API mica_snapshot mica_snapshot_take(mica_world *world);

/* Makes the world what it was. Returns MICA_ERROR_UNKNOWN for one that was dropped or is none, MICA_ERROR_MEMORY when it was
 * lost or memory is short, and MICA_ERROR_REFUSED where taking is: nothing has changed then. The snapshot stays, and can be
 * restored again. Threads: owner. */
MICA_API mica_result mica_snapshot_restore(mica_world *world, mica_snapshot snapshot);

/* Forgets a snapshot. Returns false when there is none such. Threads: owner. */
MICA_API bool mica_snapshot_drop(mica_world *world, mica_snapshot snapshot);

/* Returns how many bytes are kept for it: what it alone needs, 0 right after it was taken. Threads: reader. */
MICA_API size_t mica_snapshot_bytes(const mica_world *world, mica_snapshot snapshot);

/* Creates a world with the same def and the same content: entities with their handles, values, the order of rows, pools and
 * groups, singletons, names and the hierarchy. Queries, systems, streams, hooks, command buffers and snapshots are not part of
 * it, nor are pending entities and their names. Both worlds have the same hash, unless messages wait in a stream. Returns NULL
 * with a report to the world if memory is short, while changes are recorded, and for a component that can't be copied.
 * Threads: owner. */
MICA_API mica_world *mica_world_clone(mica_world *world);

/* History: the last ticks of a world, to roll back to.
 *
 *     mica_history *history = mica_history_create(world, 60);
 *     for (;;) {
 *         if (late input for a tick arrived)
 *             mica_history_restore(history, tick), then step again up to now, as below
 *         mica_history_take(history, tick);                  before the step of that tick
 *         mica_step(world, dt);
 *         ++tick;
 *     }
 */
typedef struct mica_history mica_history;

/* Returns a history that keeps up to `capacity` ticks, at least one; NULL when memory is short. Destroyed with its world.
 * Threads: owner. */
MICA_API mica_history *mica_history_create(mica_world *world, uint32_t capacity);

/* Drops all it keeps. NULL is fine. Threads: owner. */
MICA_API void mica_history_destroy(mica_history *history);

/* Keeps the world as it is now under a number higher than the last one's; when it is full, the oldest goes. Fails as
 * mica_snapshot_take, and with MICA_ERROR_INVALID for a number that is not higher. Threads: owner. */
MICA_API mica_result mica_history_take(mica_history *history, uint64_t tick);

/* Goes back to a tick and forgets the later ones; that tick itself stays. Returns MICA_ERROR_UNKNOWN when it is not kept, else as
 * mica_snapshot_restore: nothing is forgotten when it fails. Threads: owner. */
MICA_API mica_result mica_history_restore(mica_history *history, uint64_t tick);

/* Returns whether a tick is kept; how many are; and the first and the last of them, 0 when there is none. Threads: reader. */
MICA_API bool mica_history_has(const mica_history *history, uint64_t tick);
MICA_API uint32_t mica_history_count(const mica_history *history);
MICA_API uint64_t mica_history_first(const mica_history *history);
MICA_API uint64_t mica_history_last(const mica_history *history);

/* Returns how many bytes all ticks together keep. Threads: reader. */
MICA_API size_t mica_history_bytes(const mica_history *history);

MICA_END
#endif
