/* Groups of pools whose first rows belong to the same entities, in the same order. */
#ifndef MICAP_POOL_POOL_GROUP_H
#define MICAP_POOL_POOL_GROUP_H

#include "pool/pool.h"

/* Group: after a row was added for an entity to one of the pools, and before one is taken away, which returns where it is
 * now. */
void micap_group_enter(micap_pool_group *group, mica_entity entity, mica_version version);
/* The same for many, one after the other. */
void micap_group_enter_list(micap_pool_group *group, const mica_entity *entities, uint32_t count, mica_version version);
uint32_t micap_group_leave(mica_pool *pool, uint32_t row, mica_version version);
/* Whether the pools of a group are kept in step: restoring a snapshot disbands groups that were created after it. */
static inline bool micap_group_is_active(const micap_pool_group *group)
{
    return group->pools[0]->group == group;
}
/* Brings the rows of all that have everything to the front. */
void micap_group_fill(micap_pool_group *group, mica_version version);

#endif
