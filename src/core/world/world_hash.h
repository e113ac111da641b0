/* The parts of the world's hash: mica_world_hash adds them up, the tree of hashes (snapshot/hash_tree.c) tells them apart. */
#ifndef MICAP_CORE_WORLD_WORLD_HASH_H
#define MICAP_CORE_WORLD_WORLD_HASH_H

#include "base/hash.h"
#include "core/world/world.h"

/* The described fields of `count` values, never padding. */
void micap_hash_values(micap_hasher *hasher, const micap_type *type, const char *values, uint32_t count);
/* The elements of one field. */
void micap_hash_field(micap_hasher *hasher, const mica_field *field, const char *value);
void micap_hash_entity(micap_hasher *hasher, mica_entity entity);
/* The value in a pool's row and whether it is switched on; the owner by itself. */
void micap_hash_pool_value(micap_hasher *hasher, const mica_pool *pool, uint32_t row);
uint64_t micap_hash_names(const mica_world *world);

/* The owner of a row in use; the row of a pool of tags is its owner's index. Nil when the owner is dead. */
mica_entity micap_pool_living_owner(const mica_world *world, const mica_pool *pool, uint32_t row);
/* Rows in use lie below it. */
uint32_t micap_pool_limit(const mica_pool *pool);

#endif
