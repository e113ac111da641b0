#include "core/type.h"

#include "base/bits.h"
#include "base/hash.h"
#include "mica/component.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NESTING_MAX = 16,
};

static const char no_memory[] = "out of memory";
static const char too_many[] = "there are too many component types";
static const char too_big[] = "it is too big: a component has at most 256 MiB";

/* Half a megabyte of zero pages, touched only as far as ids go. Published with release, read with acquire. */
static _Atomic(const micap_type *) types[MICA_COMPONENTS_MAX + 1];

/* The rest is guarded by the lock: an open hash table from description to id. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t type_count;
static uint32_t *table;
static uint32_t table_capacity;

uint32_t micap_kind_bytes(mica_kind kind)
{
    switch (kind) {
    case MICA_KIND_BOOL:
    case MICA_KIND_CHAR:
    case MICA_KIND_I8:
    case MICA_KIND_U8: return 1;
    case MICA_KIND_I16:
    case MICA_KIND_U16: return 2;
    case MICA_KIND_I32:
    case MICA_KIND_U32:
    case MICA_KIND_F32: return 4;
    case MICA_KIND_I64:
    case MICA_KIND_U64:
    case MICA_KIND_F64:
    case MICA_KIND_ENTITY: return 8;
    default: return 0;
    }
}

static mica_kind kind_of(const mica_field *field)
{
    return field->type ? field->type->kind : field->kind;
}

static const char *problem_of(const mica_type *type, uint32_t depth);

static const char *field_problem(const mica_type *type, const mica_field *field, uint32_t depth)
{
    uint32_t bytes = micap_kind_bytes(field->kind);
    if (!field->name || !*field->name)
        return "a field has no name";
    if (field->count == 0 || field->element_bytes == 0)
        return "a field has no elements";
    if ((uint64_t)field->offset + (uint64_t)field->element_bytes * field->count > type->size_bytes)
        return "a field lies outside of the struct";
    if (field->type)
        return field->type->size_bytes == field->element_bytes ? problem_of(field->type, depth + 1)
                                                               : "a field and its type differ in size";
    return bytes == field->element_bytes ? NULL : "a field's kind and size disagree";
}

static bool fields_repeat(const mica_type *type)
{
    for (uint32_t i = 0; i < type->field_count; ++i)
        for (uint32_t j = 0; j < i; ++j)
            if (strcmp(type->fields[i].name, type->fields[j].name) == 0)
                return true;
    return false;
}

static const char *problem_of(const mica_type *type, uint32_t depth)
{
    if (depth > NESTING_MAX)
        return "structs are nested too deep";
    if (!type->name || !*type->name)
        return "it has no name";
    if (type->kind != MICA_KIND_STRUCT && type->kind != MICA_KIND_ENUM && type->kind != MICA_KIND_FLAGS)
        return "its kind is neither struct, enum nor flags";
    if (type->storage > MICA_STORAGE_SINGLETON)
        return "its storage is unknown";
    if (type->storage == MICA_STORAGE_TAG)
        return type->size_bytes || type->field_count ? "a tag has no data" : NULL;
    if (type->size_bytes == 0)
        return "it has no size; describe it as a tag";
    if (type->size_bytes > MICA_COMPONENT_BYTES_MAX)
        return too_big;
    if (type->kind != MICA_KIND_STRUCT && (!micap_is_power_of_two(type->size_bytes) || type->size_bytes > 8))
        return "an enum or flags type has 1, 2, 4 or 8 bytes";
    if (!micap_is_power_of_two(type->alignment) || type->alignment > MICA_COMPONENT_ALIGNMENT_MAX)
        return "its alignment is not a power of two up to 4096";
    if (type->size_bytes % type->alignment != 0)
        return "its size is not a multiple of its alignment";
    if ((type->field_count && !type->fields) || (type->constant_count && !type->constants))
        return "it counts fields or constants that it does not have";
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const char *problem = field_problem(type, &type->fields[i], depth);
        if (problem)
            return problem;
    }
    for (uint32_t i = 0; i < type->constant_count; ++i)
        if (!type->constants[i].name || !*type->constants[i].name)
            return "a constant has no name";
    return fields_repeat(type) ? "two fields have the same name" : NULL;
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

static uint64_t layout_hash_of(const mica_type *type)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    hash_layout(&hasher, type);
    return micap_hasher_finish(&hasher);
}

/* Fields may be listed in any order and may not overlap in a sane struct: covering all bytes means adding up to them. */
static bool is_gapless(const mica_type *type)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        if (field->type && field->type->kind == MICA_KIND_STRUCT && !is_gapless(field->type))
            return false;
        bytes += (uint64_t)field->element_bytes * field->count;
    }
    return bytes == type->size_bytes;
}

/* Copies live as long as the process: what a failed copy leaves behind is reachable by nobody, and freed here. */
static void free_copy(mica_type *copy)
{
    for (uint32_t i = 0; copy->fields && i < copy->field_count; ++i) {
        mica_field *field = (mica_field *)&copy->fields[i];
        if (field->type) {
            free_copy((mica_type *)field->type);
            free((void *)field->type);
        }
        free((void *)field->name);
    }
    for (uint32_t i = 0; copy->constants && i < copy->constant_count; ++i)
        free((void *)copy->constants[i].name);
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

static bool copy_type(mica_type *copy, const mica_type *type);

static bool copy_fields(mica_type *copy, const mica_type *type)
{
    mica_field *fields = calloc(type->field_count + 1, sizeof *fields);
    copy->fields = fields;
    if (!fields)
        return false;
    for (uint32_t i = 0; i < type->field_count; ++i) {
        fields[i] = type->fields[i];
        fields[i].kind = kind_of(&type->fields[i]);
        fields[i].type = NULL;
        if (!(fields[i].name = copy_text(type->fields[i].name)))
            return false;
        if (type->fields[i].type) {
            mica_type *nested = calloc(1, sizeof *nested);
            fields[i].type = nested;
            if (!nested || !copy_type(nested, type->fields[i].type))
                return false;
        }
    }
    return true;
}

static bool copy_type(mica_type *copy, const mica_type *type)
{
    *copy = *type;
    copy->fields = NULL;
    copy->constants = NULL;
    if (!(copy->name = copy_text(type->name)) || !copy_fields(copy, type))
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

static uint64_t key_of(const mica_type *type, uint64_t name_hash, uint64_t layout_hash)
{
    uint64_t traits = (uint64_t)type->storage << 2 | (uint64_t)type->toggle << 1 | type->track_added;
    return micap_hash_mix(name_hash ^ micap_hash_mix(layout_hash + traits));
}

static bool grow_table(void)
{
    if ((type_count + 1) * 2 <= table_capacity)
        return true;
    uint32_t grown = table_capacity ? table_capacity * 2 : 256;
    uint32_t *fresh = calloc(grown, sizeof *fresh);
    if (!fresh)
        return false;
    for (uint32_t id = 1; id <= type_count; ++id) {
        const micap_type *known = atomic_load_explicit(&types[id], memory_order_relaxed);
        uint64_t at = key_of(&known->type, known->name_hash, known->layout_hash);
        while (fresh[at & (grown - 1)])
            ++at;
        fresh[at & (grown - 1)] = id;
    }
    free(table);
    table = fresh;
    table_capacity = grown;
    return true;
}

static bool same_traits(const mica_type *a, const mica_type *b)
{
    return a->storage == b->storage && a->toggle == b->toggle && a->track_added == b->track_added;
}

/* Returns the slot of the description in the table: its id, or 0 where it would go. */
static uint32_t *find_slot(const mica_type *type, uint64_t name_hash, uint64_t layout_hash, micap_companion companion)
{
    for (uint64_t at = key_of(type, name_hash, layout_hash);; ++at) {
        uint32_t *slot = &table[at & (table_capacity - 1)];
        if (!*slot)
            return slot;
        const micap_type *known = atomic_load_explicit(&types[*slot], memory_order_relaxed);
        if (known->name_hash == name_hash && known->layout_hash == layout_hash && known->companion == companion &&
            same_traits(&known->type, type) && strcmp(known->type.name, type->name) == 0)
            return slot;
    }
}

static const micap_type *intern_locked(const mica_type *type, micap_companion companion, const char **out_problem);

static mica_component intern_companion(const mica_type *of, micap_companion companion, const char **out_problem)
{
    bool enabled = companion == MICAP_COMPANION_ENABLED;
    size_t bytes = strlen(of->name) + sizeof ".enabled";
    char *name = malloc(bytes);
    if (!name)
        return 0;
    snprintf(name, bytes, "%s.%s", of->name, enabled ? "enabled" : "added");
    mica_type type = {.name = name,
                      .kind = MICA_KIND_STRUCT,
                      .size_bytes = enabled ? 1 : 8,
                      .alignment = enabled ? 1 : _Alignof(uint64_t)};
    const micap_type *interned = intern_locked(&type, companion, out_problem);
    free(name);
    return interned ? interned->id : 0;
}

static const micap_type *intern_locked(const mica_type *type, micap_companion companion, const char **out_problem)
{
    uint64_t name_hash = micap_hash_text(type->name);
    uint64_t layout_hash = layout_hash_of(type);
    *out_problem = no_memory;
    if (!grow_table())
        return NULL;
    uint32_t id = *find_slot(type, name_hash, layout_hash, companion);
    if (id)
        return atomic_load_explicit(&types[id], memory_order_relaxed);

    micap_type *fresh = calloc(1, sizeof *fresh);
    if (!fresh || !copy_type(&fresh->type, type))
        goto failed;
    fresh->name_hash = name_hash;
    fresh->layout_hash = layout_hash;
    fresh->companion = companion;
    fresh->gapless = is_gapless(type);
    if (type->toggle && !(fresh->enabled = intern_companion(type, MICAP_COMPANION_ENABLED, out_problem)))
        goto failed;
    if (type->track_added && !(fresh->added = intern_companion(type, MICAP_COMPANION_ADDED, out_problem)))
        goto failed;
    if (type_count == MICA_COMPONENTS_MAX) {
        *out_problem = too_many;
        goto failed;
    }
    if (!grow_table()) /* the companions took places */
        goto failed;
    fresh->id = ++type_count;
    fresh->type.id_cache = fresh->id;
    atomic_store_explicit(&types[fresh->id], fresh, memory_order_release);
    *find_slot(type, name_hash, layout_hash, companion) = fresh->id;
    return fresh;

failed:
    if (fresh)
        free_copy(&fresh->type);
    free(fresh);
    return NULL;
}

mica_result micap_type_problem_result(const char *problem)
{
    return problem == no_memory                        ? MICA_ERROR_MEMORY
           : problem == too_big || problem == too_many ? MICA_ERROR_LIMIT
                                                       : MICA_ERROR_INVALID;
}

const micap_type *micap_type_intern(const mica_type *type, const char **out_problem)
{
    if ((*out_problem = mica_type_problem(type)))
        return NULL;
    pthread_mutex_lock(&lock);
    const micap_type *interned = intern_locked(type, MICAP_COMPANION_NONE, out_problem);
    pthread_mutex_unlock(&lock);
    return interned;
}

const micap_type *micap_type_of(mica_component id)
{
    return id <= MICA_COMPONENTS_MAX ? atomic_load_explicit(&types[id], memory_order_acquire) : NULL;
}

mica_component mica_type_intern(mica_type *type)
{
    const char *problem;
    const micap_type *interned = micap_type_intern(type, &problem);
    if (!interned) {
        fprintf(stderr, "mica: component %s can't be used: %s\n", type && type->name ? type->name : "?", problem);
        return 0;
    }
    __atomic_store_n(&type->id_cache, interned->id, __ATOMIC_RELEASE);
    return interned->id;
}

const char *mica_type_problem(const mica_type *type)
{
    return type ? problem_of(type, 0) : "there is no description";
}

uint64_t mica_type_layout_hash(const mica_type *type)
{
    return layout_hash_of(type);
}

const mica_type *mica_component_type(mica_component component)
{
    const micap_type *type = micap_type_of(component);
    return type ? &type->type : NULL;
}

uint64_t mica_component_name_hash(mica_component component)
{
    const micap_type *type = micap_type_of(component);
    return type ? type->name_hash : 0;
}

uint64_t mica_component_layout_hash(mica_component component)
{
    const micap_type *type = micap_type_of(component);
    return type ? type->layout_hash : 0;
}
