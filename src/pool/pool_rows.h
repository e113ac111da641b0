/* Adding, removing and swapping rows of a pool, and creating, moving and destroying their values. */
#ifndef MICAP_POOL_POOL_ROWS_H
#define MICAP_POOL_POOL_ROWS_H

#include "pool/pool.h"

/* Makes the row at micap_pool_next_row exist, switched on and added now. No other row has this entity's index, unless it is
 * an instance of the very entity. */
void micap_pool_append(mica_pool *pool, mica_entity entity, mica_version version);

/* Swap-removes a row whose value was destroyed and that is in no group. */
void micap_pool_drop_row(mica_pool *pool, uint32_t row, mica_version version);

/* Exchanges two rows. */
void micap_pool_swap_rows(mica_pool *pool, uint32_t a, uint32_t b, mica_version version);

/* Puts all instances of an entity into the order of these rows. */
void micap_pool_order_instances(mica_pool *pool, const uint32_t *rows, uint32_t count);

/* Raw value <- the given one or, from NULL, the default; false when it can't. */
bool micap_pool_make_value(mica_pool *pool, uint32_t row, const void *from);
/* Raw value <- moved out of `from`, which is raw afterwards. */
void micap_pool_move_value_in(mica_pool *pool, uint32_t row, void *from);
void micap_pool_destruct_value(mica_pool *pool, uint32_t row);
/* Copies the bytes of a value, split or not. */
void micap_pool_read_value(const mica_pool *pool, uint32_t row, void *out);
/* Overwrites plain bytes, split or not. */
void micap_pool_write_value(mica_pool *pool, uint32_t row, const void *from);

#endif
