/* Mica, command: record structural changes now and apply them at the flush.
 *
 * Rows must not move while systems run or a query is iterated. Record changes instead:
 *
 *     mica_defer(world);                                     from now on the world records
 *     for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
 *         for (uint32_t i = 0; i < view.count; ++i)
 *             mica_destroy(world, view.entities[i]);
 *     mica_flush(world);                                     applies the changes and ends recording
 *
 * Until the flush, has, get and queries see the world without the recorded changes.
 *
 * Each thread records into its own buffer (mica_commands), which the owner creates beforehand. A flush applies the world's own
 * buffer first, then the others in order of creation, each in call order, so the result does not depend on timing. All changes
 * to one entity become one move. A handle returned by a recorded create is valid immediately and does not depend on timing
 * either. Staged values stay at their address until the flush.
 * If a flush runs out of memory, or a sealed world rejects it, nothing changes and the flush can be repeated. Changes that hooks record
 * during a flush are applied in further rounds, each completely or not at all. Changes that are impossible (for example, an
 * entity with too many components) are reported and dropped; the flush applies all others and returns the error.
 */
#ifndef MICA_COMMAND_H
#define MICA_COMMAND_H

#include "mica/entity.h"

MICA_BEGIN

typedef struct mica_commands mica_commands;

/* Starts recording: until the flush, changes made through the world are recorded. Calls nest. If a hook or an
 * exclusive system calls mica_defer without mica_flush, recording ends when that function returns. Threads: owner. */
MICA_API void mica_defer(mica_world *world);

/* Ends one mica_defer, if there is one. The outermost flush applies the changes of all buffers. Returns MICA_OK, or an error as described
 * above. Threads: owner. */
MICA_API mica_result mica_flush(mica_world *world);

/* Creates a buffer, to be used by one thread at a time. Returns NULL on error. Threads: owner. */
MICA_API mica_commands *mica_commands_create(mica_world *world);

/* Discards the recorded changes and destroys the buffer. NULL is a no-op. Rejected inside a hook. Threads: owner. */
MICA_API void mica_commands_destroy(mica_commands *commands);

/* Sets the name that reports use for this buffer, such as the name of a system. The text must stay valid until the flush.
 * Threads: one per buffer, any. */
MICA_API void mica_commands_set_label(mica_commands *commands, const char *label);

/* Records a creation. Returns the new handle, which is valid immediately, or nil. Threads: one per buffer, any. */
MICA_API mica_entity mica_command_create_id(mica_commands *commands, const mica_value *values, uint32_t count,
                                            mica_location location);

/* Records a destruction. Returns false if the entity is not alive, or this buffer already destroys it.
 * Threads: one per buffer, any. */
MICA_API bool mica_command_destroy_id(mica_commands *commands, mica_entity entity, mica_location location);

/* Records an addition and returns the staged value, which can be written until the flush. If the entity has the component, the
 * staged value starts as a copy of it (so a system that calls this must declare the read). Values staged by other buffers are
 * ignored. Returns NULL on error. Threads: one per buffer, any. */
MICA_API void *mica_command_add_id(mica_commands *commands, mica_entity entity, mica_component component,
                                   mica_location location);

/* Records one more instance of a pool component with .many and returns its staged value. Changes to such a component are
 * applied one by one in call order, hooks included. Returns NULL on error. Threads: one per buffer, any. */
MICA_API void *mica_command_add_instance_id(mica_commands *commands, mica_entity entity, mica_component component,
                                            mica_location location);

/* Records a set. Returns false on error. Threads: one per buffer, any. */
MICA_API bool mica_command_set_id(mica_commands *commands, mica_entity entity, mica_value value,
                                  mica_location location);

/* Records a removal. Returns false if neither the entity nor this buffer has the component; it still removes what an earlier buffer adds.
 * Threads: one per buffer, any. */
MICA_API bool mica_command_remove_id(mica_commands *commands, mica_entity entity, mica_component component,
                                     mica_location location);

/* Records enabling or disabling. Returns false if the component has no .toggle. Threads: one per buffer, any. */
MICA_API bool mica_command_enable_id(mica_commands *commands, mica_entity entity, mica_component component,
                                     bool enabled, mica_location location);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_defer(world) mica_defer(MICA_AT_(world))
#    define mica_flush(world) mica_flush(MICA_AT_(world))
#    define mica_commands_create(world) mica_commands_create(MICA_AT_(world))
#    define mica_commands_destroy(commands) mica_commands_destroy(MICA_AT_(commands))
#    define mica_commands_set_label(commands, ...) mica_commands_set_label(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_create_id(commands, ...) mica_command_create_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_destroy_id(commands, ...) mica_command_destroy_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_add_id(commands, ...) mica_command_add_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_add_instance_id(commands, ...) mica_command_add_instance_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_set_id(commands, ...) mica_command_set_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_remove_id(commands, ...) mica_command_remove_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_enable_id(commands, ...) mica_command_enable_id(MICA_AT_(commands), __VA_ARGS__)
#endif

#define mica_command_create(...) MICA_COMMAND_CREATE_(__VA_ARGS__, {0, 0, NULL})
#define MICA_COMMAND_CREATE_(commands, ...) /* the last value only ends the list, which may be empty */                \
    mica_command_create_id((commands), (const mica_value[]){__VA_ARGS__},                                              \
                           (uint32_t)(sizeof((const mica_value[]){__VA_ARGS__}) / sizeof(mica_value)) - 1, MICA_HERE)
#define mica_command_destroy(commands, entity) mica_command_destroy_id((commands), (entity), MICA_HERE)
#define mica_command_add(commands, entity, T) ((T *)mica_command_add_id((commands), (entity), MICA_ID(T), MICA_HERE))
#define mica_command_add_instance(commands, entity, T)                                                                 \
    ((T *)mica_command_add_instance_id((commands), (entity), MICA_ID(T), MICA_HERE))
#define mica_command_set(commands, entity, T, ...)                                                                     \
    mica_command_set_id((commands), (entity), MICA_VALUE_(T, __VA_ARGS__), MICA_HERE)
#define mica_command_set_from(commands, entity, T, pointer)                                                            \
    mica_command_set_id((commands), (entity), (mica_value)MICA_FROM(T, pointer), MICA_HERE)
#define mica_command_remove(commands, entity, T) mica_command_remove_id((commands), (entity), MICA_ID(T), MICA_HERE)
#define mica_command_enable(commands, entity, T)                                                                       \
    mica_command_enable_id((commands), (entity), MICA_ID(T), true, MICA_HERE)
#define mica_command_disable(commands, entity, T)                                                                      \
    mica_command_enable_id((commands), (entity), MICA_ID(T), false, MICA_HERE)

#endif
