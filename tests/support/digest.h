/* A digest of what something answers, in the order in which it answers. */
#ifndef SUPPORT_DIGEST_H
#define SUPPORT_DIGEST_H

#include "mica/view.h"

typedef struct digest {
    uint64_t value;
} digest;

static inline void add_number(digest *digest, uint64_t number)
{
    digest->value = (digest->value ^ number) * 0x9e3779b97f4a7c15u;
    digest->value ^= digest->value >> 29;
}

static inline void add_bytes(digest *digest, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        add_number(digest, ((const unsigned char *)bytes)[i]);
}

static inline void add_entity(digest *digest, mica_entity entity)
{
    add_number(digest, (uint64_t)entity.generation << 32 | entity.index);
}

static inline void add_view(digest *digest, const mica_view *view)
{
    for (uint32_t i = 0; i < view->count; ++i)
        add_entity(digest, view->entities[i]);
}

#endif
