/* Components that exclude each other: rivals. Descriptions name what they exclude, and a world lists the rivals of each component when it
 * comes into use, on both sides. Rivals in chunks never share an archetype: the archetype is refused when it is first asked for, so that
 * changes along known edges cost nothing. Where one of them is in a pool, an archetype does not tell: such components have no fast path,
 * and each addition looks for rivals. */
#ifndef MICAP_CORE_STORAGE_RIVALS_H
#define MICAP_CORE_STORAGE_RIVALS_H

#include "core/storage/archetype.h"
#include "core/storage/component.h"

/* Lists the rivals of a component that is about to come into use, and makes room in their lists. False if memory is short. */
bool micap_rivals_find(mica_world *world, micap_component *fresh);

/* Enters a component that is in use now into the lists of its rivals, and ends their fast paths where one is in a pool. */
void micap_rivals_meet(mica_world *world, const micap_component *fresh);

/* Whether no two of these components, all in chunks, exclude each other; a report if two do. */
bool micap_components_agree(const mica_world *world, const mica_component *components, uint32_t count);

/* The same for a list of values in chunks and pools, of which those in chunks agree. */
bool micap_values_agree(const mica_world *world, const mica_value *values, uint32_t count);

/* Whether a component that a living entity lacks has no rival in a pool, or is in a pool and has no rival at all, among what the entity
 * has; a report if it has one. */
bool micap_entity_accepts(const mica_world *world, mica_entity entity, mica_component component);

/* The same for a component and all that comes along with it. */
bool micap_entity_accepts_all(const mica_world *world, mica_entity entity, const micap_type *type);

/* Whether an addition of a component, or of what comes along with it, has to look for rivals in each entity. */
bool micap_meets_pools(const mica_world *world, const micap_type *type);

/* Whether no entity of an archetype has two rivals. */
bool micap_rivals_are_apart(const mica_world *world, const micap_archetype *archetype);

/* Reports that an entity would have two rivals. Returns false. */
bool micap_fail_rivals(const mica_world *world, mica_entity entity, mica_component component, mica_component rival);

#endif
