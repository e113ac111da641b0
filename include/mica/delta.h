/* Mica, delta: what changed in a world, as bytes, and another world that follows it.
 *
 *     mica_sender *sender = mica_sender_create(server, NULL);
 *     mica_delta delta;
 *     mica_delta_encode(sender, client->acknowledged, &delta);      0: everything, for who joins
 *     send(client, delta.bytes, delta.byte_count);
 *
 *     mica_replica *replica = mica_replica_create(client, NULL);    in the other process
 *     mica_delta_apply(replica, bytes, byte_count);
 *     acknowledge(mica_replica_version(replica));
 *
 * A delta holds what was written since a version, slice by slice and column by column as the stamps of changes say, in the state of
 * now. So it leads there from any version between its base and its own: deltas may be lost or come late, and the sender keeps
 * nothing for anybody but the version they acknowledged.
 *
 * The replica is the same world: handles, order of rows and hash (mica_world_hash), as long as it has all components and only
 * the sender changes it. With .mapped its entities have handles of their own, and references in components are translated. The
 * receiver may have components and, mapped, entities of its own, which deltas leave alone; what it destroys of the
 * sender's stays away. Hooks and observers of addition, removal and death run; those of setting don't.
 *
 * Snapshots (mica/snapshot.h): a receiver may predict, if it restores a snapshot that it took after the last delta before it
 * applies the next one. When the sender's world restores a snapshot, the next delta for each receiver holds everything.
 *
 * Deltas are verified before anything is changed: hostile bytes get an error. They go between machines of the same byte order
 * and programs with the same layouts of components.
 *
 * Carried are chunk components, tags, toggles, split components, pools, singletons, names and links (mica/hierarchy.h). Not
 * carried are components with construct, destruct, copy or move functions, fields that are not described, many
 * instances (.many), names in the scope of somebody who died, streams, messages and the time of systems.
 */
#ifndef MICA_DELTA_H
#define MICA_DELTA_H

#include "mica/describe.h"
#include "mica/world.h"

MICA_BEGIN

typedef struct mica_sender mica_sender;

typedef struct mica_sender_def {
    const mica_component *excluded; /* stay at home */
    uint32_t excluded_count;
} mica_sender_def;

/* Makes what remembers which parts of a world without stamps changed when; NULL means the defaults. NULL with a report when
 * memory is short. One serves any number of receivers. Threads: owner. */
MICA_API mica_sender *mica_sender_create(mica_world *world, const mica_sender_def *def);

/* Before its world; NULL is fine. Threads: owner. */
MICA_API void mica_sender_destroy(mica_sender *sender);

/* What changed. The bytes belong to the sender, and live until it encodes again. */
typedef struct mica_delta {
    const void *bytes;
    size_t byte_count;
    mica_version base;
    mica_version version; /* of the world as it is now: what a receiver that applied it acknowledges */
    uint32_t slice_count; /* in it, of chunks and pools */
    uint64_t value_bytes; /* of their columns */
} mica_delta;

/* Encodes what changed since a version that an earlier delta had, or everything since 0, in time that follows what changed but for
 * singletons, tags in pools, toggles in pools, names and links, which are looked through. If the world has restored a snapshot
 * since `base`, everything is encoded, and the base of the delta is 0. MICA_ERROR_INVALID for a version
 * that has not been, MICA_ERROR_MEMORY, also beyond 2 GiB. Refused while recording. Threads: owner. */
MICA_API mica_result mica_delta_encode(mica_sender *sender, mica_version base, mica_delta *out_delta);

typedef struct mica_replica mica_replica;

typedef struct mica_replica_def {
    bool mapped; /* entities get handles of this world instead of those they have in the sender's */
    /* When not mapped, deltas with handles of higher indices are refused, since a world has tables by index: 0 is 16777216. */
    uint32_t index_limit;
} mica_replica_def;

/* Makes a world, mostly an empty one, follow another; NULL means the defaults. NULL with a report when memory is short.
 * Threads: owner. */
MICA_API mica_replica *mica_replica_create(mica_world *world, const mica_replica_def *def);

/* Before its world; what was replicated stays. NULL is fine. Threads: owner. */
MICA_API void mica_replica_destroy(mica_replica *replica);

/* Applies a delta. One that is not newer than what is there is passed over. Errors, with a report: MICA_ERROR_DATA for bytes that are
 * no sound delta, MICA_ERROR_REFUSED when its base is newer than what is there, a handle is in use by an entity of the
 * receiver's own, or changes are being recorded, MICA_ERROR_UNKNOWN for a component that this world does not know,
 * MICA_ERROR_LAYOUT for one with other fields, MICA_ERROR_MEMORY: nothing has changed then; but when memory is short for
 * names or links, the rest has, the version has not, and the delta can be applied again. Threads: owner. */
MICA_API mica_result mica_delta_apply(mica_replica *replica, const void *bytes, size_t byte_count);

/* Returns the version of the sender's world that was applied last; 0 before the first. Threads: reader. */
MICA_API mica_version mica_replica_version(const mica_replica *replica);

/* Return the entity here of one there, and the other way round; nil when there is none. Threads: reader. */
MICA_API mica_entity mica_replica_local(const mica_replica *replica, mica_entity sender_entity);
MICA_API mica_entity mica_replica_remote(const mica_replica *replica, mica_entity local_entity);

MICA_END
#endif
