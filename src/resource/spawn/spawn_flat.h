/* Spawning a resource whose entities all have the same components, without names, parents or references: mostly a prefab of one
 * entity. It is one call of mica_create_many. */
#ifndef MICAP_RESOURCE_SPAWN_SPAWN_FLAT_H
#define MICAP_RESOURCE_SPAWN_SPAWN_FLAT_H

#include "resource/verify/resource.h"

/* Spawns one copy and stores the result. False, without a report, if the resource, the def or the world needs more than that. */
bool micap_spawn_flat(mica_world *world, const mica_resource *resource, const mica_spawn_def *def,
                      mica_result *out_result);

#endif
