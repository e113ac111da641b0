#include "sql/component_copy.h"

#include <string.h>

bool micap_sql_copy_init(micap_sql_copy *copy, const mica_type *type)
{
    uint64_t alignment = type->alignment ? type->alignment : 1;
    *copy = (micap_sql_copy){.type = type, .memory = sqlite3_malloc64(type->size_bytes + alignment)};
    if (!copy->memory)
        return false;
    copy->value = (char *)(((uintptr_t)copy->memory + alignment - 1) / alignment * alignment);
    memset(copy->value, 0, type->size_bytes);
    return true;
}

void micap_sql_copy_free(micap_sql_copy *copy)
{
    sqlite3_free(copy->memory);
}

bool micap_sql_copy_take(const micap_sql_copy *copy, const void *from)
{
    const mica_type *type = copy->type;
    if (type->copy)
        return type->copy(copy->value, from, 1, type->context);
    memcpy(copy->value, from, type->size_bytes);
    return true;
}

void micap_sql_copy_drop(const micap_sql_copy *copy)
{
    const mica_type *type = copy->type;
    if (type->copy && type->destruct)
        type->destruct(copy->value, 1, type->context);
}

void micap_sql_copy_swap(char *a, char *b, uint32_t bytes)
{
    char kept[sizeof(mica_text)];
    memcpy(kept, a, bytes);
    memcpy(a, b, bytes);
    memcpy(b, kept, bytes);
}
