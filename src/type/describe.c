#include "type/describe.h"

#include "base/bits.h"
#include "base/hash.h"
#include "type/attributes.h"
#include "type/each_value.h"
#include "type/owned.h"
#include "type/value_bytes.h"

#include <stdlib.h>
#include <string.h>

enum {
    NESTING_MAX = 16,
};

const char micap_problem_no_memory[] = "out of memory";
const char micap_problem_too_big[] = "it is too big: a component has at most 256 MiB";

static mica_kind kind_of(const mica_field *field)
{
    return field->type && field->kind != MICA_KIND_LIST ? field->type->kind : field->kind;
}

static const char *problem_of(const mica_type *type, uint32_t depth);

/* The elements of a list are structs, constants, or what a plain field can be. */
static const char *element_problem(const mica_type *type, uint32_t depth)
{
    if (!type)
        return "a list has no type of elements";
    if (type->alignment > 8 || type->size_bytes > MICA_LIST_BYTES_MAX)
        return "the elements of a list have an alignment of at most 8, and at most 256 MiB";
    bool is_described = type->kind == MICA_KIND_STRUCT || type->kind == MICA_KIND_ENUM || type->kind == MICA_KIND_FLAGS;
    if (is_described || type->kind == MICA_KIND_LIST)
        return problem_of(type, depth);
    return type->name && *type->name && type->size_bytes && micap_kind_bytes(type->kind) == type->size_bytes
               ? NULL
               : "the elements of a list have an unknown kind, or another size than their kind";
}

static const char *field_problem(const mica_type *type, const mica_field *field, uint32_t depth)
{
    uint32_t bytes = micap_kind_bytes(field->kind), alignment = _Alignof(mica_text);
    if (!field->name || !*field->name)
        return "a field has no name";
    if (field->count == 0 || field->element_bytes == 0)
        return "a field has no elements";
    if ((uint64_t)field->offset + (uint64_t)field->element_bytes * field->count > type->size_bytes)
        return "a field lies outside of the struct";
    const char *problem = NULL;
    if (field->kind == MICA_KIND_LIST)
        problem = bytes == field->element_bytes ? element_problem(field->type, depth + 1)
                                                : "a field's kind and size disagree";
    else if (field->type)
        problem = field->type->size_bytes == field->element_bytes ? problem_of(field->type, depth + 1)
                                                                  : "a field and its type differ in size";
    else if (bytes != field->element_bytes)
        problem = "a field's kind and size disagree";
    bool is_aligned = field->offset % alignment == 0 && type->alignment % alignment == 0;
    if (problem)
        return problem;
    if (!is_aligned && micap_type_owns(&(mica_type){.fields = field, .field_count = 1}))
        return "text or a list is not aligned";
    return micap_attributes_problem(field);
}

static bool fields_repeat(const mica_type *type)
{
    for (uint32_t i = 0; i < type->field_count; ++i)
        for (uint32_t j = 0; j < i; ++j)
            if (strcmp(type->fields[i].name, type->fields[j].name) == 0)
                return true;
    return false;
}

/* Whether the program has a function that makes values; others are derived from initial values. */
static bool has_construct(const mica_type *type)
{
    return type->construct && !micap_initial_is_derived(type);
}

static const char *pool_problem(const mica_type *type)
{
    if (type->index > MICA_INDEX_HASH || type->dying > MICA_DYING_LAZILY)
        return "its index or its way to die is unknown";
    if (type->many && type->index == MICA_INDEX_DIRECT)
        return "a direct index has room for one instance per entity";
    bool has_functions = type->construct || micap_type_has_life(type);
    bool has_traits = type->toggle || type->track_added || type->track_changed || type->split || type->index ||
                      type->dying || type->many;
    if (!type->size_bytes && (has_traits || has_functions))
        return "a pool tag has no traits: adding and removing it is as cheap as a switch";
    return NULL;
}

/* What is wrong with a relation, which is a pool for many whose fields begin with the target and the rank, after what the program sees. */
static const char *relation_problem(const mica_type *type)
{
    const mica_field *fields = type->fields;
    if (type->storage != MICA_STORAGE_POOL || !type->many || type->index != MICA_INDEX_MAP || type->dying ||
        type->toggle || type->track_added || type->track_changed || type->split || type->required || type->excludes ||
        type->handler_count)
        return "a relation has no traits of other components";
    if (has_construct(type) || (micap_type_has_life(type) && !micap_owned_is_derived(type)))
        return "a relation has no functions for its values";
    if (type->field_count < 2 || !fields || !fields[0].name || strcmp(fields[0].name, "target") != 0 ||
        fields[0].kind != MICA_KIND_ENTITY || fields[0].count != 1 || !fields[1].name ||
        strcmp(fields[1].name, "rank") != 0 || fields[1].kind != MICA_KIND_U32 || fields[1].count != 1)
        return "the fields of a relation begin with target, an entity, and rank, a uint32_t: use MICA_RELATION";
    for (uint32_t i = 2; i < type->field_count; ++i)
        if (fields[i].offset >= fields[0].offset)
            return "the fields of a relation lie before its target";
    if (type->on_target > MICA_TARGET_REFUSE)
        return "what happens when a target is destroyed is unknown";
    if (type->symmetric && (type->acyclic || type->ordered || type->on_target != MICA_TARGET_REMOVE))
        return "a symmetric relation is neither acyclic nor ordered, and removes edges of destroyed targets";
    bool is_child_of = type->exclusive && type->acyclic && !type->symmetric && !type->transitive &&
                       type->field_count == 2 && strcmp(type->name, "mica_child_of") == 0;
    if (type->parents && !is_child_of)
        return "parents are the edges of mica_child_of only";
    return NULL;
}

/* What is wrong with the components that one requires; what is wrong with one of them is found when it is interned. */
static const char *required_problem(const mica_type *type)
{
    if (type->required && type->storage == MICA_STORAGE_SINGLETON)
        return "a singleton can't require components";
    for (mica_type *const *required = type->required; required && *required; ++required) {
        if ((*required)->storage == MICA_STORAGE_SINGLETON)
            return "it requires a singleton, which entities can't have";
        if ((*required)->relation)
            return "it requires a relation, whose edges need a target";
    }
    return NULL;
}

/* What is wrong with the components that one excludes. Only their names count. */
static const char *excludes_problem(const mica_type *type)
{
    if (type->excludes && type->storage == MICA_STORAGE_SINGLETON)
        return "a singleton can't exclude components";
    for (mica_type *const *excluded = type->excludes; excluded && *excluded; ++excluded) {
        if (!(*excluded)->name)
            return "it excludes a component without a name";
        if ((*excluded)->storage == MICA_STORAGE_SINGLETON)
            return "it excludes a singleton, which entities can't have";
        if ((*excluded)->relation)
            return "it excludes a relation, which excludes nothing";
        if (strcmp((*excluded)->name, type->name) == 0)
            return "it excludes itself";
    }
    return NULL;
}

/* What is wrong with the storage traits of a description, or NULL. */
static const char *trait_problem(const mica_type *type)
{
    if (type->storage > MICA_STORAGE_POOL)
        return "its storage is unknown";
    if (type->hides && (type->storage == MICA_STORAGE_POOL || type->storage == MICA_STORAGE_SINGLETON))
        return "hides is for components and tags in chunks";
    if (type->track_changed && (type->storage == MICA_STORAGE_TAG || type->storage == MICA_STORAGE_SINGLETON))
        return "track_changed is for components with data in chunks and pools";
    const char *problem = required_problem(type);
    if (!problem)
        problem = excludes_problem(type);
    if (!problem && type->relation)
        problem = relation_problem(type);
    else if (!problem && (type->exclusive || type->symmetric || type->acyclic || type->transitive || type->ordered ||
                          type->parents || type->on_target))
        problem = "traits of relations are for relations: describe it with MICA_RELATION";
    if (problem || type->storage == MICA_STORAGE_POOL)
        return problem ? problem : pool_problem(type);
    if (type->index || type->dying || type->many)
        return "index, dying and many are for pools: describe it with MICA_POOL";
    return NULL;
}

static const char *split_problem(const mica_type *type)
{
    if (type->storage != MICA_STORAGE_CHUNK && type->storage != MICA_STORAGE_POOL)
        return "only components in chunks and pools can be split";
    if (micap_type_owns(type))
        return "a component with text or lists can't be split";
    if (has_construct(type) || micap_type_has_life(type))
        return "a component with functions for its life can't be split";
    uint32_t leaves = type->kind == MICA_KIND_STRUCT ? micap_describe_leaves(type, NULL, 0) : 0;
    return leaves == 0                 ? "there is no field to split it into"
           : leaves > MICAP_LEAVES_MAX ? "it can't be split into more than 64 columns"
                                       : NULL;
}

static const char *problem_of(const mica_type *type, uint32_t depth)
{
    if (depth > NESTING_MAX)
        return "structs are nested too deep";
    if (!type->name || !*type->name)
        return "it has no name";
    if (type->kind != MICA_KIND_STRUCT && type->kind != MICA_KIND_ENUM && type->kind != MICA_KIND_FLAGS)
        return "its kind is neither struct, enum nor flags";
    const char *problem = trait_problem(type);
    if (!problem)
        problem = micap_each_problem(type);
    if (problem)
        return problem;
    if (type->storage == MICA_STORAGE_TAG || (type->storage == MICA_STORAGE_POOL && !type->size_bytes))
        return type->size_bytes || type->field_count ? "a tag has no data" : NULL;
    if (type->size_bytes == 0)
        return "it has no size; describe it as a tag";
    if (type->size_bytes > MICA_COMPONENT_BYTES_MAX)
        return micap_problem_too_big;
    if (type->kind != MICA_KIND_STRUCT && (!micap_is_power_of_two(type->size_bytes) || type->size_bytes > 8))
        return "an enum or flags type has 1, 2, 4 or 8 bytes";
    if (!micap_is_power_of_two(type->alignment) || type->alignment > MICA_COMPONENT_ALIGNMENT_MAX)
        return "its alignment is not a power of two up to 4096";
    if (type->size_bytes % type->alignment != 0)
        return "its size is not a multiple of its alignment";
    if ((type->field_count && !type->fields) || (type->constant_count && !type->constants))
        return "it counts fields or constants that it does not have";
    for (uint32_t i = 0; i < type->field_count; ++i)
        if ((problem = field_problem(type, &type->fields[i], depth)))
            return problem;
    for (uint32_t i = 0; i < type->constant_count; ++i)
        if (!type->constants[i].name || !*type->constants[i].name)
            return "a constant has no name";
    if (fields_repeat(type))
        return "two fields have the same name";
    bool has_functions = type->construct || micap_type_has_life(type);
    if (has_functions && micap_type_owns(type) && !micap_owned_is_derived(type))
        return "a component with text or lists can't have functions of its own: it copies and destroys itself";
    if (has_construct(type) && micap_type_has_initial(type))
        return "a component with a construct function can't have initial values: the function makes them";
    return type->split && depth == 0 ? split_problem(type) : NULL;
}

const char *micap_describe_problem(const mica_type *type)
{
    return problem_of(type, 0);
}

static void hash_layout(micap_hasher *hasher, const mica_type *type)
{
    micap_hasher_integer(hasher, type->kind, 4);
    micap_hasher_integer(hasher, type->size_bytes, 4);
    micap_hasher_integer(hasher, type->alignment, 4);
    micap_hasher_integer(hasher, type->field_count, 4);
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        micap_hasher_bytes(hasher, field->name, strlen(field->name) + 1);
        micap_hasher_integer(hasher, kind_of(field), 4);
        micap_hasher_integer(hasher, field->offset, 4);
        micap_hasher_integer(hasher, field->count, 4);
        if (field->type)
            hash_layout(hasher, field->type);
    }
    for (uint32_t i = 0; i < type->constant_count; ++i) {
        micap_hasher_bytes(hasher, type->constants[i].name, strlen(type->constants[i].name) + 1);
        micap_hasher_integer(hasher, (uint64_t)type->constants[i].value, 8);
    }
}

uint64_t micap_describe_layout_hash(const mica_type *type)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    hash_layout(&hasher, type);
    return micap_hasher_finish(&hasher);
}

/* Fields are listed in any order and do not overlap: they cover all bytes if their sizes add up to them. */
bool micap_describe_has_padding(const mica_type *type)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        if (kind_of(field) == MICA_KIND_STRUCT && micap_describe_has_padding(field->type))
            return true;
        bytes += (uint64_t)field->element_bytes * field->count;
    }
    return bytes != type->size_bytes;
}

/* Leaves of `count` elements, one after the other. */
static uint32_t split_field(const mica_field *field, uint32_t base, micap_leaf *leaves, uint32_t used,
                            uint32_t capacity)
{
    bool is_struct = kind_of(field) == MICA_KIND_STRUCT;
    bool whole = !is_struct && (field->count > MICAP_LEAF_ARRAY_MAX || field->kind == MICA_KIND_CHAR);
    uint32_t pieces = whole ? 1 : field->count;
    for (uint32_t i = 0; i < pieces; ++i) {
        uint32_t offset = base + field->offset + i * field->element_bytes;
        if (is_struct) {
            for (uint32_t j = 0; j < field->type->field_count; ++j)
                used = split_field(&field->type->fields[j], offset, leaves, used, capacity);
            continue;
        }
        if (used < capacity)
            leaves[used] = (micap_leaf){.offset = offset,
                                        .bytes = whole ? field->element_bytes * field->count : field->element_bytes,
                                        .element_bytes = field->element_bytes,
                                        .kind = kind_of(field),
                                        .field = field};
        ++used;
    }
    return used;
}

uint32_t micap_describe_leaves(const mica_type *type, micap_leaf *leaves, uint32_t capacity)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < type->field_count; ++i)
        used = split_field(&type->fields[i], 0, leaves, used, capacity);
    return used;
}

/* Frees an incomplete copy. Complete copies live until the process ends. */
void micap_describe_free(mica_type *copy)
{
    for (uint32_t i = 0; copy->fields && i < copy->field_count; ++i) {
        mica_field *field = (mica_field *)&copy->fields[i];
        if (field->type) {
            micap_describe_free((mica_type *)field->type);
            free((void *)field->type);
        }
        free((void *)field->name);
        free((void *)field->attributes);
    }
    for (uint32_t i = 0; copy->constants && i < copy->constant_count; ++i)
        free((void *)copy->constants[i].name);
    for (mica_type *const *excluded = copy->excludes; excluded && *excluded; ++excluded) {
        free((void *)(*excluded)->name);
        free(*excluded);
    }
    free((void *)copy->excludes);
    free((void *)copy->fields);
    free((void *)copy->constants);
    free((void *)copy->name);
}

static const char *copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

static bool copy_attributes(mica_field *copy, const mica_field *field)
{
    if (!field->attributes)
        return true;
    void *memory = malloc(micap_attributes_bytes(field->attributes));
    if (memory)
        copy->attributes = micap_attributes_copy(memory, field->attributes);
    return memory;
}

static bool copy_field(mica_field *copy, const mica_field *field)
{
    *copy = *field;
    copy->kind = kind_of(field);
    copy->type = NULL;
    copy->attributes = NULL;
    copy->name = copy_text(field->name);
    if (!copy->name || !copy_attributes(copy, field))
        return false;
    if (!field->type)
        return true;
    mica_type *nested = calloc(1, sizeof *nested);
    copy->type = nested;
    return nested && micap_describe_copy(nested, field->type);
}

static bool copy_fields(mica_type *copy, const mica_type *type)
{
    mica_field *fields = calloc(type->field_count + 1, sizeof *fields);
    copy->fields = fields;
    if (!fields)
        return false;
    for (uint32_t i = 0; i < type->field_count; ++i)
        if (!copy_field(&fields[i], &type->fields[i]))
            return false;
    return true;
}

/* Descriptions with names only: descriptions may exclude each other. */
static bool copy_excludes(mica_type *copy, const mica_type *type)
{
    size_t count = 0;
    while (type->excludes && type->excludes[count])
        ++count;
    if (!count)
        return true;
    mica_type **list = calloc(count + 1, sizeof *list);
    copy->excludes = list;
    if (!list)
        return false;
    for (size_t i = 0; i < count; ++i) {
        mica_type *excluded = list[i] = calloc(1, sizeof *excluded);
        if (!excluded || !(excluded->name = copy_text(type->excludes[i]->name)))
            return false;
    }
    return true;
}

bool micap_describe_copy(mica_type *copy, const mica_type *type)
{
    *copy = *type;
    copy->required = NULL;
    copy->excludes = NULL;
    copy->fields = NULL;
    copy->constants = NULL;
    if (!(copy->name = copy_text(type->name)) || !copy_fields(copy, type) || !copy_excludes(copy, type))
        return false;
    mica_constant *constants = calloc(type->constant_count + 1, sizeof *constants);
    copy->constants = constants;
    if (!constants)
        return false;
    for (uint32_t i = 0; i < type->constant_count; ++i) {
        constants[i].value = type->constants[i].value;
        if (!(constants[i].name = copy_text(type->constants[i].name)))
            return false;
    }
    return true;
}
