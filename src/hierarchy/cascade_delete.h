/* Cascade delete: what happens to the children of an entity that is destroyed. They are destroyed with it, before it, or become
 * orphans: entities without a parent. The world has a default, which a single destruction can override. */
#ifndef MICAP_HIERARCHY_CASCADE_DELETE_H
#define MICAP_HIERARCHY_CASCADE_DELETE_H

#include "core/world/module.h"

/* For micap_module_ops. */
void micap_cascade_destroying(mica_world *world, void *state, const mica_entity *entities, uint32_t count);
void micap_cascade_each_dependent(mica_world *world, void *state, mica_entity entity, micap_dependents_fn fn,
                                  void *context);
void micap_cascade_forgotten(mica_world *world, void *state, mica_entity entity);

#endif
