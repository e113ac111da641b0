/* Recording for modules of the core; the public functions are in mica/command.h. See recorded_changes.h. */
#ifndef MICAP_CORE_COMMANDS_RECORD_H
#define MICAP_CORE_COMMANDS_RECORD_H

#include "mica/command.h"

struct mica_pool;

/* Records one more instance with a copy of the one in a row of the pool. False with a report on error. */
bool micap_command_copy_instance(mica_commands *commands, mica_entity entity, const struct mica_pool *pool,
                                 uint32_t row);

/* As mica_command_create_id, for a copy: without required components that are not given. */
mica_entity micap_command_create_exactly(mica_commands *commands, const mica_value *values, uint32_t count);

/* Records the removal of the instance in a row of the pool. False if this buffer removes it already, and with a report on error. */
bool micap_command_remove_instance(mica_commands *commands, const struct mica_pool *pool, uint32_t row);

/* Discards a creation, which must be the last change that was recorded. */
void micap_command_forget_create(mica_commands *commands, mica_entity entity);

#endif
