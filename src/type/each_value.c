#include "type/each_value.h"

static void destruct_each(void *values, uint32_t count, void *context)
{
    const mica_type *type = context;
    for (uint32_t i = 0; i < count; ++i)
        type->destroy_one((char *)values + (size_t)i * type->size_bytes);
}

static bool copy_each(void *to, const void *from, uint32_t count, void *context)
{
    const mica_type *type = context;
    for (uint32_t i = 0; i < count; ++i) {
        size_t offset = (size_t)i * type->size_bytes;
        if (type->copy_one((char *)to + offset, (const char *)from + offset))
            continue;
        if (type->destroy_one)
            destruct_each(to, i, context);
        return false;
    }
    return true;
}

void micap_each_derive(mica_type *type)
{
    if (!type->destroy_one && !type->copy_one)
        return;
    type->destruct = type->destroy_one ? destruct_each : NULL;
    type->copy = type->copy_one ? copy_each : NULL;
    type->context = type;
}

const char *micap_each_problem(const mica_type *type)
{
    bool is_derived = type->destruct == destruct_each || type->copy == copy_each;
    bool has_other = type->destruct || type->copy || type->context;
    return (type->destroy_one || type->copy_one) && has_other && !is_derived
               ? "it has functions for one value and for several: destroy_one and copy_one replace destruct, copy and "
                 "context"
               : NULL;
}
