/* Mica, command: structural changes recorded now and applied at the flush.
 *
 * While systems run or a loop walks a query, nothing may move. Record instead:
 *
 *     mica_defer(world);                                     from here on, the world records by itself
 *     for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
 *         for (uint32_t i = 0; i < view.count; ++i)
 *             mica_destroy(world, view.entities[i]);
 *     mica_flush(world);                                     applied here, recording ends
 *
 * Until the flush, has, get and queries show the world as it was.
 *
 * Threads record into buffers of their own: one mica_commands per task, made by the owner beforehand. A flush applies
 * the buffers in the order in which they were made, each in the order of its calls, so the outcome does not depend on
 * timing; the world's own buffer comes first. All changes to one entity become one move. Handles made by a recorded
 * create are valid at once and don't depend on timing either. Staged values stay where they are until the flush.
 *
 * A flush that runs out of memory, or that a seal refuses, changes nothing and can be tried again. What hooks record while
 * it runs is applied in further rounds, each whole or not at all. Changes that can never be made, for an entity that would
 * be too big for example, are reported and dropped, and the flush returns that after it has applied the others.
 */
#ifndef MICA_COMMAND_H
#define MICA_COMMAND_H

#include "mica/entity.h"

MICA_BEGIN

typedef struct mica_commands mica_commands;

/* Starts recording: until the flush, changes through the world are recorded, not made. Nests. Threads: owner. */
MICA_API void mica_defer(mica_world *world);

/* Ends one mica_defer (none is fine too) and, with the outermost, applies what every buffer recorded.
 * Threads: owner. */
MICA_API mica_result mica_flush(mica_world *world);

/* Makes a buffer, to be used by one thread at a time. Returns NULL when it can't. Threads: owner. */
MICA_API mica_commands *mica_commands_create(mica_world *world);

/* Drops what is recorded and gives the buffer back; NULL is fine. Refused inside a hook. Threads: owner. */
MICA_API void mica_commands_destroy(mica_commands *commands);

/* Names who records, for reports: a system, say. The text must live until the flush. Threads: one per buffer, any. */
MICA_API void mica_commands_set_label(mica_commands *commands, const char *label);

/* Records a creation. Returns the handle, valid at once, or nil. Threads: one per buffer, any. */
MICA_API mica_entity mica_command_create_id(mica_commands *commands, const mica_value *values, uint32_t count,
                                            mica_location location);

/* Records a destruction. Returns false when the entity is dead, or this buffer destroys it already.
 * Threads: one per buffer, any. */
MICA_API bool mica_command_destroy_id(mica_commands *commands, mica_entity entity, mica_location location);

/* Records an addition and returns the staged value, to be filled in until the flush. When the entity has the
 * component in the world, the staged value starts as a copy of that (so a system that does this reads it, and declares
 * that); what other buffers stage is not looked at. NULL when it can't. Threads: one per buffer, any. */
MICA_API void *mica_command_add_id(mica_commands *commands, mica_entity entity, mica_component component,
                                   mica_location location);

/* Records one more instance of a pool component for many, and returns its staged value, to be filled in until the flush. What is
 * recorded for such a component is done one after the other, hooks included, instead of becoming one change. NULL when it
 * can't. Threads: one per buffer, any. */
MICA_API void *mica_command_add_instance_id(mica_commands *commands, mica_entity entity, mica_component component,
                                            mica_location location);

/* Records a set. Returns false when it can't. Threads: one per buffer, any. */
MICA_API bool mica_command_set_id(mica_commands *commands, mica_entity entity, mica_value value,
                                  mica_location location);

/* Records a removal. Returns false when, as far as this buffer knows, there is nothing to remove; it still removes what
 * an earlier buffer adds. Threads: one per buffer, any. */
MICA_API bool mica_command_remove_id(mica_commands *commands, mica_entity entity, mica_component component,
                                     mica_location location);

/* Records switching a component on or off. Returns false when it can't be toggled. Threads: one per buffer, any. */
MICA_API bool mica_command_enable_id(mica_commands *commands, mica_entity entity, mica_component component,
                                     bool enabled, mica_location location);

MICA_END

#define mica_command_create(...) MICA_JOIN_(MICA_COMMAND_CREATE_, MICA_ONE_OR_MORE_(__VA_ARGS__))(__VA_ARGS__)
#define MICA_COMMAND_CREATE_1(commands) mica_command_create_id((commands), NULL, 0, MICA_HERE)
#define MICA_COMMAND_CREATE_2(commands, ...)                                                                           \
    mica_command_create_id((commands), MICA_VALUES_(__VA_ARGS__), MICA_HERE)
#define mica_command_destroy(commands, entity) mica_command_destroy_id((commands), (entity), MICA_HERE)
#define mica_command_add(commands, entity, T)                                                                          \
    ((T *)mica_command_add_id((commands), (entity), MICA_ID(T), MICA_HERE))
#define mica_command_add_instance(commands, entity, T)                                                                 \
    ((T *)mica_command_add_instance_id((commands), (entity), MICA_ID(T), MICA_HERE))
#define mica_command_set(commands, entity, T, ...)                                                                     \
    mica_command_set_id((commands), (entity), MICA_VALUE_(T, __VA_ARGS__), MICA_HERE)
#define mica_command_set_from(commands, entity, T, pointer)                                                            \
    mica_command_set_id((commands), (entity), (mica_value)MICA_FROM(T, pointer), MICA_HERE)
#define mica_command_remove(commands, entity, T)                                                                       \
    mica_command_remove_id((commands), (entity), MICA_ID(T), MICA_HERE)
#define mica_command_enable(commands, entity, T)                                                                       \
    mica_command_enable_id((commands), (entity), MICA_ID(T), true, MICA_HERE)
#define mica_command_disable(commands, entity, T)                                                                      \
    mica_command_enable_id((commands), (entity), MICA_ID(T), false, MICA_HERE)

#endif
