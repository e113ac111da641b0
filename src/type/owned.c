#include "type/owned.h"

#include "type/attributes.h"
#include "type/list.h"
#include "type/text.h"

/* Called for each text and each list of a value, in order; `element` is that of the list. False ends the walk. */
typedef bool (*part_fn)(void *part, mica_kind kind, const mica_type *element, void *context);

bool micap_type_owns(const mica_type *type)
{
    bool owns = type->kind == MICA_KIND_TEXT;
    for (uint32_t i = 0; !owns && i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        owns = field->kind == MICA_KIND_LIST || field->kind == MICA_KIND_TEXT ||
               (field->type && micap_type_owns(field->type));
    }
    return owns;
}

static bool walk(const mica_type *type, char *value, part_fn fn, void *context)
{
    if (type->kind == MICA_KIND_TEXT)
        return fn(value, MICA_KIND_TEXT, NULL, context);
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        bool is_part = field->kind == MICA_KIND_LIST || field->kind == MICA_KIND_TEXT;
        bool is_struct = !is_part && field->type && field->type->field_count;
        for (uint32_t j = 0; (is_part || is_struct) && j < field->count; ++j) {
            char *at = value + field->offset + (size_t)j * field->element_bytes;
            if (is_part ? !fn(at, field->kind, field->type, context) : !walk(field->type, at, fn, context))
                return false;
        }
    }
    return true;
}

static bool walk_all(const mica_type *type, char *values, uint32_t count, part_fn fn, void *context)
{
    for (uint32_t i = 0; i < count; ++i)
        if (!walk(type, values + (size_t)i * type->size_bytes, fn, context))
            return false;
    return true;
}

static bool release_part(void *part, mica_kind kind, const mica_type *element, void *context)
{
    (void)context;
    if (kind == MICA_KIND_TEXT)
        micap_text_release(part);
    else
        micap_list_release(part, element);
    return true;
}

void micap_owned_release(const mica_type *type, void *values, uint32_t count)
{
    walk_all(type, values, count, release_part, NULL);
}

static bool retain_part(void *part, mica_kind kind, const mica_type *element, void *context)
{
    uint64_t *done = context;
    if (kind == MICA_KIND_TEXT ? !micap_text_retain(part) : !micap_list_retain(part, element))
        return false;
    ++*done;
    return true;
}

static bool release_some(void *part, mica_kind kind, const mica_type *element, void *context)
{
    uint64_t *left = context;
    if (!*left)
        return false;
    --*left;
    return release_part(part, kind, element, NULL);
}

bool micap_owned_retain(const mica_type *type, void *values, uint32_t count)
{
    uint64_t done = 0;
    if (walk_all(type, values, count, retain_part, &done))
        return true;
    walk_all(type, values, count, release_some, &done);
    return false;
}

static bool check_part(void *part, mica_kind kind, const mica_type *element, void *context)
{
    const char **problem = context;
    *problem = kind == MICA_KIND_TEXT ? micap_text_problem(part) : micap_list_problem(part, element);
    return !*problem;
}

const char *micap_owned_problem(const mica_type *type, const void *value)
{
    const char *problem = NULL;
    walk(type, (char *)value, check_part, &problem);
    return problem;
}

static bool copy_values(void *to, const void *from, uint32_t count, void *context)
{
    const mica_type *type = context;
    memcpy(to, from, (size_t)count * type->size_bytes);
    return micap_owned_retain(type, to, count);
}

static void destruct_values(void *values, uint32_t count, void *context)
{
    micap_owned_release(context, values, count);
}

void micap_owned_derive(mica_type *type)
{
    type->copy = copy_values;
    type->destruct = destruct_values;
    type->context = type;
}

bool micap_owned_is_derived(const mica_type *type)
{
    return type->copy == copy_values && type->destruct == destruct_values && !type->move &&
           (!type->construct || micap_initial_is_derived(type));
}
