#include "type/values.h"

bool micap_values_construct(const micap_type *type, void *values, uint32_t count)
{
    if (type->type.construct)
        return type->type.construct(values, count, type->type.context);
    if (count == 1 && type->type.size_bytes == 4)
        memset(values, 0, 4);
    else
        memset(values, 0, (size_t)type->type.size_bytes * count);
    return true;
}

void micap_values_destruct(const micap_type *type, void *values, uint32_t count)
{
    if (type->type.destruct)
        type->type.destruct(values, count, type->type.context);
}

bool micap_values_copy(const micap_type *type, void *to, const void *from, uint32_t count)
{
    if (type->type.copy)
        return type->type.copy(to, from, count, type->type.context);
    memcpy(to, from, (size_t)type->type.size_bytes * count);
    return true;
}

void micap_values_move(const micap_type *type, void *to, void *from, uint32_t count)
{
    if (type->type.move)
        type->type.move(to, from, count, type->type.context);
    else
        memcpy(to, from, (size_t)type->type.size_bytes * count);
}
