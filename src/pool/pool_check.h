/* The invariants of a pool. */
#ifndef MICAP_POOL_POOL_CHECK_H
#define MICAP_POOL_POOL_CHECK_H

#include "pool/pool.h"

/* Says which invariant is broken, or NULL. */
const char *micap_pool_check(const mica_pool *pool);

#endif
