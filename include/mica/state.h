/* Mica, state: what a world has besides its entities and values, so that a loaded world continues exactly like the saved one.
 *
 *     mica_state_take(world, &state);                        handles, order of rows, time, clocks, messages
 *     ... write mica_state_bytes and all entities and values ...
 *     mica_resume_begin(other, bytes, byte_count, handles, count, &resume);
 *     ... create the entities with one batch (mica/batch.h), in the order of `handles` ...
 *     mica_resume_end(resume);                               both worlds have the same hash, now and after any number of ticks
 *
 * mica_save and mica_spawn do all of this (mica/resource.h); these functions are for programs with a file format of their own.
 *
 * The state has: which handles are in use, free and used next; the order of archetypes, rows and chunks, and of rows in pools; what
 * queries and systems consider changed; time, pause and scale; ticks and fixed steps of phases; whether systems and phases are
 * enabled, and how long systems have waited; messages in streams and the positions of their readers, waiting messages and requests; lists of
 * removals. It refers to components, phases, systems and streams by name: what the other world does not have is left out.
 * Numbers are little-endian on every machine. docs/format.md describes the bytes.
 */
#ifndef MICA_STATE_H
#define MICA_STATE_H

#include "mica/handle.h"
#include "mica/world.h"

MICA_BEGIN

/* The state of a world at one time, as bytes. */
typedef struct mica_state mica_state;

/* Copies the state of a world, which does not change. Returns MICA_ERROR_MEMORY if memory is short, and MICA_ERROR_REFUSED without a
 * report if the world is not at rest: inside a frame or a hook, while changes are recorded, or with recorded changes waiting for a
 * flush; then `*out_state` is NULL. Threads: owner. */
MICA_API mica_result mica_state_take(mica_world *world, mica_state **out_state);

/* Returns the bytes and their number. Valid until the state is freed. Threads: any. */
MICA_API const void *mica_state_bytes(const mica_state *state, size_t *out_byte_count);

/* Frees a state, before its world is destroyed. NULL is a no-op. Threads: owner. */
MICA_API void mica_state_free(mica_state *state);

/* Returns whether bytes consist of the records of a state. What the records say is checked when they are restored. Threads: any. */
MICA_API bool mica_state_check(const void *bytes, size_t byte_count);

/* Returns whether a state has a time and clocks, which a world has that uses mica/flow.h. Threads: any. */
MICA_API bool mica_state_has_time(const void *bytes, size_t byte_count);

/* A world that is being restored. */
typedef struct mica_resume mica_resume;

/* Returns whether a state can be restored into the world: it never had an entity, and no frame has run. Threads: reader. */
MICA_API bool mica_world_is_unused(const mica_world *world);

/* Begins to restore a state into an unused world that has the components, systems and streams. The entities that one batch creates
 * next get these handles, in this order; the bytes must stay valid until the end. Returns MICA_ERROR_MEMORY if memory is short,
 * MICA_ERROR_REFUSED if the world is not unused, and MICA_ERROR_DATA if the bytes are invalid; then `*out_resume` is NULL and an unused
 * world still is. Threads: owner. */
MICA_API mica_result mica_resume_begin(mica_world *world, const void *bytes, size_t byte_count,
                                       const mica_entity *entities, uint32_t entity_count, mica_resume **out_resume);

/* Restores the rest of the state, once the entities have their values, names and parents, and frees `resume`. If hooks changed what
 * was created, rows keep the order they have. On error, which is MICA_ERROR_MEMORY or MICA_ERROR_DATA, the entities stay.
 * Threads: owner. */
MICA_API mica_result mica_resume_end(mica_resume *resume);

/* Ends without restoring: handles that no entity has are free. NULL is a no-op. Threads: owner. */
MICA_API void mica_resume_cancel(mica_resume *resume);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_state_take(world, ...) mica_state_take(MICA_AT_(world), __VA_ARGS__)
#    define mica_state_bytes(state, ...) mica_state_bytes(MICA_AT_(state), __VA_ARGS__)
#    define mica_state_free(state) mica_state_free(MICA_AT_(state))
#    define mica_state_check(...) MICA_AT_(mica_state_check(__VA_ARGS__))
#    define mica_state_has_time(...) MICA_AT_(mica_state_has_time(__VA_ARGS__))
#    define mica_world_is_unused(world) mica_world_is_unused(MICA_AT_(world))
#    define mica_resume_begin(world, ...) mica_resume_begin(MICA_AT_(world), __VA_ARGS__)
#    define mica_resume_end(resume) mica_resume_end(MICA_AT_(resume))
#    define mica_resume_cancel(resume) mica_resume_cancel(MICA_AT_(resume))
#endif
#endif
