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
 * destroys are not recreated. Hooks and observers run for components that are added, removed, enabled and disabled and
 * for destroyed entities, not for SET.
 *
 * Snapshots (mica/snapshot.h): a receiver may predict, if it restores a snapshot that it took after the last delta before it
 * applies the next one. After a restore to a snapshot from before the last delta, deltas are rejected until a later one is restored.
 * When the sender's world restores a snapshot, the next delta for each receiver contains everything.
 *
 * Deltas are verified before anything changes; invalid bytes return an error. Machines may have different byte orders; both programs must
 * have the same component layouts.
 *
 * Carried: chunk components, tags, toggles, split components, pools, all instances of .many components in their order, singletons, text and
 * lists, names and links (mica/hierarchy.h). Instances that the receiver adds to an entity of the sender come after the sender's.
 * Components with construct, destruct, copy or move functions need a rule on both sides (mica/rule.h). Encoding calls the save
 * function for each value that was written, and sends the recipe; applying replaces the value by a default value, and calls the spawn
 * function with it and the recipe. Rules are not used for tags and split components.
 * With .with_state, a delta also contains time, clocks, streams, messages and everything else that a world needs to continue exactly. The
 * replica does not use it; mica_replica_state returns it. Parts of a state that did not change are not sent again.
 * Not carried: fields that are not described, unless a rule saves them, and names in the scope of a destroyed entity.
 */
#ifndef MICA_DELTA_H
#define MICA_DELTA_H

#include "mica/describe.h"
#include "mica/rule.h"
#include "mica/world.h"

MICA_BEGIN

typedef struct mica_sender mica_sender;

typedef struct mica_sender_def {
    const mica_component *excluded; /* components that are not sent */
    uint32_t excluded_count;
    const mica_resource_rule *rules; /* for components with functions; copied, but not recipes and contexts */
    uint32_t rule_count;
    mica_byte_order byte_order; /* of values in deltas; any receiver converts them, the same order is fastest */
    bool with_state;            /* deltas contain the state of the world (mica/state.h): see mica_replica_state */
    bool skip_without_rule; /* do not send components with functions that have no rule; otherwise they are an error */
    bool
        fields_without_rule; /* of these, send the described fields, as with a rule without functions; for a replica that has no such functions */
} mica_sender_def;

/* Creates a delta encoder for a world. NULL means the defaults. Returns NULL with a report if memory runs out or a rule is invalid. One
 * sender serves any number of receivers. Threads: owner. */
MICA_API mica_sender *mica_sender_create(mica_world *world, const mica_sender_def *def);

/* Destroys the encoder. Call this before destroying the world. NULL is a no-op. Refused with a report inside mica_delta_encode.
 * Threads: owner. */
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
 * singletons, names, links, and in pools tags, toggles and the order of instances, which are compared completely. If the world has
 * restored a snapshot since `base`, everything is encoded, and the base of the delta is 0. Returns MICA_ERROR_INVALID for a version that
 * the world has not reached, MICA_ERROR_MEMORY if memory runs out or the delta exceeds 2 GiB, MICA_ERROR_DATA if a save function returns
 * false, and MICA_ERROR_REFUSED while recording and for a component with functions that has no rule. Threads: owner. */
MICA_API mica_result mica_delta_encode(mica_sender *sender, mica_version base, mica_delta *out_delta);

typedef struct mica_replica mica_replica;

typedef struct mica_replica_def {
    bool mapped; /* entities get new handles instead of those of the sender */
    /* If not mapped, deltas with higher entity indices are rejected, because a world has tables by index; 0 means 16777216. */
    uint32_t index_limit;
    const mica_resource_rule *rules; /* as of the sender, with the same recipes */
    uint32_t rule_count;
} mica_replica_def;

/* Creates a replica: a world, usually an empty one, that deltas are applied to. NULL means the defaults. Returns NULL with a report if memory
 * runs out or a rule is invalid. Threads: owner. */
MICA_API mica_replica *mica_replica_create(mica_world *world, const mica_replica_def *def);

/* Destroys the replica; its entities stay. Call this before destroying the world. NULL is a no-op. Refused with a report inside
 * mica_delta_apply, for example in a hook. Threads: owner. */
MICA_API void mica_replica_destroy(mica_replica *replica);

/* Applies a delta. A delta that is not newer than the replica is ignored. Errors, with a report:
 *   MICA_ERROR_DATA      the bytes are not a valid delta, or a spawn function returned false
 *   MICA_ERROR_REFUSED   its base is newer than the replica, the receiver has an entity of its own with one of its handles, or
 *                        changes are being recorded
 *   MICA_ERROR_UNKNOWN   this world does not know a component
 *   MICA_ERROR_LAYOUT    a component has other fields here, another recipe, or functions and no rule
 *   MICA_ERROR_MEMORY    memory runs out
 * On error the world is unchanged, except if memory runs out while names or links are set: then the version is unchanged, and the
 * delta can be applied again. Threads: owner. */
MICA_API mica_result mica_delta_apply(mica_replica *replica, const void *bytes, size_t byte_count);

/* Returns the last applied version of the sender's world; 0 before the first. Threads: reader. */
MICA_API mica_version mica_replica_version(const mica_replica *replica);

/* Returns the state of the sender's world (mica/state.h) at the version of the replica, and its number of bytes: time, ticks, clocks of
 * systems, streams, waiting messages and requests, handles, order of archetypes and chunks, and what counts as changed. With it, the world
 * continues exactly: save or pack the world of the replica with this state in mica_save_def, and spawn the result into an unused world with the
 * same components, systems and streams. Returns NULL and 0 if the sender does not send states, if its world was not at rest (inside a
 * frame, or with recorded changes waiting), or if the replica is mapped, since a state is about the sender's handles. Valid until the
 * next delta is applied. Threads: reader. */
MICA_API const void *mica_replica_state(const mica_replica *replica, size_t *out_byte_count);

/* Convert between entities of the sender and of this world; nil if there is none. Threads: reader. */
MICA_API mica_entity mica_replica_local(const mica_replica *replica, mica_entity sender_entity);
MICA_API mica_entity mica_replica_remote(const mica_replica *replica, mica_entity local_entity);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_sender_create(world, ...) mica_sender_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_sender_destroy(sender) mica_sender_destroy(MICA_AT_(sender))
#    define mica_delta_encode(sender, ...) mica_delta_encode(MICA_AT_(sender), __VA_ARGS__)
#    define mica_replica_create(world, ...) mica_replica_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_replica_destroy(replica) mica_replica_destroy(MICA_AT_(replica))
#    define mica_delta_apply(replica, ...) mica_delta_apply(MICA_AT_(replica), __VA_ARGS__)
#    define mica_replica_version(replica) mica_replica_version(MICA_AT_(replica))
#    define mica_replica_state(...) MICA_AT_(mica_replica_state(__VA_ARGS__))
#    define mica_replica_local(replica, ...) mica_replica_local(MICA_AT_(replica), __VA_ARGS__)
#    define mica_replica_remote(replica, ...) mica_replica_remote(MICA_AT_(replica), __VA_ARGS__)
#endif
#endif
