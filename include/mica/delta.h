/* Mica, delta: encode what changed in a world as bytes, and apply it to another world.
 *
 *     mica_sender *sender = mica_sender_create(server, NULL);
 *     mica_delta delta;
 *     mica_delta_encode(sender, client->acknowledged, &delta);      0: everything, for a new client
 *     send(client, delta.bytes, delta.byte_count);
 *
 *     mica_replica *replica = mica_replica_create(client, NULL);    in the other process
 *     mica_delta_apply(replica, bytes, byte_count);
 *     acknowledge(mica_replica_version(replica));
 *
 * A delta contains the current state of everything written since a base version, per slice and column. It can be applied to any
 * version from its base up to its own, so deltas may be lost or arrive late. Per receiver, the sender needs only the last
 * acknowledged version.
 *
 * The replica is identical to the sender's world: handles, row order and mica_world_hash_content, if it has all components and only the
 * sender changes it. With .mapped its entities have their own handles, and references in components are translated. The receiver
 * can have its own components and, if mapped, its own entities; deltas do not touch them. Entities of the sender that the receiver
 * destroys are not recreated. Hooks and observers run for added and removed components and destroyed entities, not for SET.
 *
 * Snapshots (mica/snapshot.h): a receiver may predict, if it restores a snapshot that it took after the last delta before it
 * applies the next one. After a restore to a snapshot from before the last delta, deltas are rejected until a later one is restored.
 * When the sender's world restores a snapshot, the next delta for each receiver contains everything.
 *
 * Deltas are verified before anything changes; invalid bytes return an error. Both machines must have the same byte order, and
 * both programs the same component layouts.
 *
 * Carried: chunk components, tags, toggles, split components, pools, singletons, text and lists, names and links (mica/hierarchy.h).
 * Not carried: components with construct, destruct, copy or move functions, fields that are not described, .many components, names in the scope
 * of a destroyed entity, streams, messages and the time of systems.
 */
#ifndef MICA_DELTA_H
#define MICA_DELTA_H

#include "mica/describe.h"
#include "mica/world.h"

MICA_BEGIN

typedef struct mica_sender mica_sender;

typedef struct mica_sender_def {
    const mica_component *excluded; /* components that are not sent */
    uint32_t excluded_count;
} mica_sender_def;

/* Creates a delta encoder for a world. NULL means the defaults. Returns NULL with a report if memory runs out. One sender serves any
 * number of receivers. Threads: owner. */
MICA_API mica_sender *mica_sender_create(mica_world *world, const mica_sender_def *def);

/* Destroys the encoder. Call this before destroying the world. NULL is a no-op. Threads: owner. */
MICA_API void mica_sender_destroy(mica_sender *sender);

/* An encoded delta. The bytes belong to the sender and are valid until it encodes again. */
typedef struct mica_delta {
    const void *bytes;
    size_t byte_count;
    mica_version base;
    mica_version version; /* of the world as it is now; a receiver acknowledges it after applying the delta */
    uint32_t slice_count; /* slices of chunks and pools in it */
    uint64_t value_bytes; /* bytes of their columns */
} mica_delta;

/* Encodes what changed since a version that an earlier delta had, or everything since 0, in time proportional to the changes, except for
 * singletons, names, links, and tags and toggles in pools, which are compared completely. If the world has restored a snapshot
 * since `base`, everything is encoded, and the base of the delta is 0. Returns MICA_ERROR_INVALID for a version
 * that the world has not reached, MICA_ERROR_MEMORY if memory runs out or the delta exceeds 2 GiB, and MICA_ERROR_REFUSED while
 * recording. Threads: owner. */
MICA_API mica_result mica_delta_encode(mica_sender *sender, mica_version base, mica_delta *out_delta);

typedef struct mica_replica mica_replica;

typedef struct mica_replica_def {
    bool mapped; /* entities get new handles instead of those of the sender */
    /* If not mapped, deltas with higher entity indices are rejected, because a world has tables by index; 0 means 16777216. */
    uint32_t index_limit;
} mica_replica_def;

/* Creates a replica: a world, usually an empty one, that deltas are applied to. NULL means the defaults. Returns NULL with a report if memory runs out.
 * Threads: owner. */
MICA_API mica_replica *mica_replica_create(mica_world *world, const mica_replica_def *def);

/* Destroys the replica; its entities stay. Call this before destroying the world. NULL is a no-op. Threads: owner. */
MICA_API void mica_replica_destroy(mica_replica *replica);

/* Applies a delta. A delta that is not newer than the replica is ignored. Errors, with a report:
 *   MICA_ERROR_DATA      the bytes are not a valid delta
 *   MICA_ERROR_REFUSED   its base is newer than the replica, the receiver has an entity of its own with one of its handles, or
 *                        changes are being recorded
 *   MICA_ERROR_UNKNOWN   this world does not know a component
 *   MICA_ERROR_LAYOUT    a component has other fields here
 *   MICA_ERROR_MEMORY    memory runs out
 * On error the world is unchanged, except if memory runs out while names or links are set: then the version is unchanged, and the
 * delta can be applied again. Threads: owner. */
MICA_API mica_result mica_delta_apply(mica_replica *replica, const void *bytes, size_t byte_count);

/* Returns the last applied version of the sender's world; 0 before the first. Threads: reader. */
MICA_API mica_version mica_replica_version(const mica_replica *replica);

/* Convert between entities of the sender and of this world; nil if there is none. Threads: reader. */
MICA_API mica_entity mica_replica_local(const mica_replica *replica, mica_entity sender_entity);
MICA_API mica_entity mica_replica_remote(const mica_replica *replica, mica_entity local_entity);

MICA_END
#endif
