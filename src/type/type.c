#include "type/type.h"

#include "base/argument.h"
#include "base/assert.h"
#include "base/hash.h"
#include "mica/component.h"
#include "type/attributes.h"
#include "type/describe.h"
#include "type/each_value.h"
#include "type/owned.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char too_many[] = "there are too many component types";

/* Half a megabyte of zero pages, touched only as far as ids go. Published with release, read with acquire. */
static _Atomic(const micap_type *) types[MICAP_IDS];

/* The rest is guarded by the lock: an open hash table from description to id. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t type_count; /* ids from 1 on */
static uint32_t pool_count; /* ids from MICAP_POOL_IDS on */
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
    case MICA_KIND_ENTITY:
    case MICA_KIND_ASSET:
    case MICA_KIND_LIST: return 8;
    case MICA_KIND_TEXT: return 16;
    default: return 0;
    }
}

/* All storage traits in one number. */
static uint64_t traits_of(const mica_type *type)
{
    return (uint64_t)type->storage << 16 | (uint64_t)type->index << 12 | (uint64_t)type->dying << 8 |
           (uint64_t)type->hides << 4 | (uint64_t)type->split << 3 | (uint64_t)type->many << 2 |
           (uint64_t)type->toggle << 1 | type->track_added | (uint64_t)type->track_changed << 5 |
           (uint64_t)type->relation << 24 | (uint64_t)type->exclusive << 25 | (uint64_t)type->symmetric << 26 |
           (uint64_t)type->acyclic << 27 | (uint64_t)type->transitive << 28 | (uint64_t)type->ordered << 29 |
           (uint64_t)type->on_target << 30 | (uint64_t)type->parents << 32;
}

static void enter(uint32_t *into, uint32_t capacity, uint32_t id)
{
    const micap_type *known = atomic_load_explicit(&types[id], memory_order_relaxed);
    uint64_t at = micap_hash_mix(known->name_hash);
    while (into[at & (capacity - 1)])
        ++at;
    into[at & (capacity - 1)] = id;
}

static bool grow_table(void)
{
    if ((type_count + pool_count + 1) * 2 <= table_capacity)
        return true;
    uint32_t grown = table_capacity ? table_capacity * 2 : 256;
    uint32_t *fresh = calloc(grown, sizeof *fresh);
    if (!fresh)
        return false;
    for (uint32_t id = 1; id <= type_count; ++id)
        enter(fresh, grown, id);
    for (uint32_t number = 0; number < pool_count; ++number)
        enter(fresh, grown, MICAP_POOL_IDS + number);
    free(table);
    table = fresh;
    table_capacity = grown;
    return true;
}

/* A description that is being interned, with what it refers to. */
typedef struct micap_candidate {
    const mica_type *type;
    const struct micap_candidate *outer; /* that requires it, or NULL */
    mica_component *required;            /* see micap_type */
    uint32_t required_count;
} candidate;

static bool has_same_required(const micap_type *known, const candidate *candidate)
{
    if (known->required_count != candidate->required_count)
        return false;
    for (uint32_t i = 0; i < candidate->required_count; ++i)
        if (!micap_type_requires(known, candidate->required[i]))
            return false;
    return true;
}

static bool excludes(const micap_type *type, uint64_t name_hash)
{
    for (uint32_t i = 0; i < type->excluded_count; ++i)
        if (type->excluded[i] == name_hash)
            return true;
    return false;
}

bool micap_types_exclude(const micap_type *a, const micap_type *b)
{
    return a->companion == MICAP_COMPANION_NONE && b->companion == MICAP_COMPANION_NONE &&
           (excludes(a, b->name_hash) || excludes(b, a->name_hash));
}

/* Whether a description excludes a component of that name. */
static bool lists_excluded(const mica_type *type, uint64_t name_hash)
{
    mica_type *const *list = type->excludes;
    while (list && *list && micap_hash_text((*list)->name) != name_hash)
        ++list;
    return list && *list;
}

static bool has_same_excluded(const micap_type *known, const mica_type *type)
{
    for (mica_type *const *list = type->excludes; list && *list; ++list)
        if (!excludes(known, micap_hash_text((*list)->name)))
            return false;
    for (uint32_t i = 0; i < known->excluded_count; ++i)
        if (!lists_excluded(type, known->excluded[i]))
            return false;
    return true;
}

static bool is_same(const micap_type *known, const candidate *candidate, uint64_t layout_hash)
{
    return known->layout_hash == layout_hash && traits_of(&known->type) == traits_of(candidate->type) &&
           has_same_required(known, candidate) && has_same_excluded(known, candidate->type) &&
           strcmp(known->type.name, candidate->type->name) == 0;
}

/* Returns the slot of the description in the table: its id, or 0 where it would go; then `out_namesake` is some other type of
 * that name, or NULL. */
static uint32_t *find_slot(const candidate *candidate, uint64_t name_hash, uint64_t layout_hash,
                           micap_companion companion, const micap_type **out_namesake)
{
    *out_namesake = NULL;
    for (uint64_t at = micap_hash_mix(name_hash);; ++at) {
        uint32_t *slot = &table[at & (table_capacity - 1)];
        if (!*slot)
            return slot;
        const micap_type *known = atomic_load_explicit(&types[*slot], memory_order_relaxed);
        if (known->name_hash != name_hash || known->companion != companion)
            continue;
        if (is_same(known, candidate, layout_hash))
            return slot;
        *out_namesake = known;
    }
}

/* Types of one name are a ring. */
static void publish(micap_type *fresh, const micap_type *namesake)
{
    mica_component next = namesake ? namesake->namesake : fresh->id;
    fresh->namesake = next;
    atomic_store_explicit(&types[fresh->id], fresh, memory_order_release);
    if (namesake)
        MICAP_STORE((mica_component *)&namesake->namesake, fresh->id, MICAP_RELEASE);
}

static const micap_type *intern_locked(candidate *candidate, micap_companion companion, const char **out_problem);

static mica_component intern_companion(const mica_type *of, micap_companion companion, const char **out_problem)
{
    bool enabled = companion == MICAP_COMPANION_ENABLED;
    const char *suffix = enabled ? "enabled" : companion == MICAP_COMPANION_ADDED ? "added" : "changed";
    size_t bytes = strlen(of->name) + sizeof ".enabled";
    char *name = malloc(bytes);
    if (!name)
        return 0;
    snprintf(name, bytes, "%s.%s", of->name, suffix);
    mica_type type = {.name = name,
                      .kind = MICA_KIND_STRUCT,
                      .size_bytes = enabled ? 1 : 8,
                      .alignment = enabled ? 1 : _Alignof(uint64_t)};
    const micap_type *interned = intern_locked(&(candidate){.type = &type}, companion, out_problem);
    free(name);
    return interned ? interned->id : 0;
}

/* A leaf in a chunk is a hidden component whose name contains its offset in the value. */
static mica_component intern_leaf(const mica_type *of, const micap_leaf *leaf, const char **out_problem)
{
    size_t bytes = strlen(of->name) + sizeof ".4294967295";
    char *name = malloc(bytes);
    if (!name)
        return 0;
    snprintf(name, bytes, "%s.%u", of->name, leaf->offset);
    mica_field field = {.name = "value",
                        .type = leaf->field->type,
                        .element_bytes = leaf->element_bytes,
                        .count = leaf->bytes / leaf->element_bytes,
                        .kind = leaf->kind};
    mica_type type = {.name = name,
                      .fields = &field,
                      .field_count = 1,
                      .kind = MICA_KIND_STRUCT,
                      .size_bytes = leaf->bytes,
                      .alignment = leaf->element_bytes};
    const micap_type *interned = intern_locked(&(candidate){.type = &type}, MICAP_COMPANION_LEAF, out_problem);
    free(name);
    return interned ? interned->id : 0;
}

static bool find_leaves(micap_type *fresh, const char **out_problem)
{
    fresh->leaf_count = micap_describe_leaves(&fresh->type, NULL, 0);
    fresh->leaves = calloc(fresh->leaf_count, sizeof *fresh->leaves);
    if (!fresh->leaves)
        return false;
    micap_describe_leaves(&fresh->type, fresh->leaves, fresh->leaf_count);
    for (uint32_t i = 0; fresh->type.storage == MICA_STORAGE_CHUNK && i < fresh->leaf_count; ++i)
        if (!(fresh->leaves[i].component = intern_leaf(&fresh->type, &fresh->leaves[i], out_problem)))
            return false;
    return true;
}

/* Toggle, versions and leaves are hidden components in chunks, and columns of the pool in a pool. */
static bool find_companions(micap_type *fresh, const char **out_problem)
{
    const mica_type *type = &fresh->type;
    bool in_chunks = type->storage != MICA_STORAGE_POOL;
    if (in_chunks && type->toggle && !(fresh->enabled = intern_companion(type, MICAP_COMPANION_ENABLED, out_problem)))
        return false;
    if (in_chunks && type->track_added && !(fresh->added = intern_companion(type, MICAP_COMPANION_ADDED, out_problem)))
        return false;
    if (in_chunks && type->track_changed &&
        !(fresh->changed = intern_companion(type, MICAP_COMPANION_CHANGED, out_problem)))
        return false;
    return !type->split || find_leaves(fresh, out_problem);
}

/* The next id of its kind, or 0 if there are no more. */
static mica_component take_id(const mica_type *type)
{
    if (type->storage == MICA_STORAGE_POOL)
        return pool_count < MICAP_IDS - MICAP_POOL_IDS ? MICAP_POOL_IDS + pool_count++ : 0;
    return type_count < MICA_COMPONENTS_MAX ? ++type_count : 0;
}

static bool is_listed(const mica_component *list, uint32_t count, mica_component component)
{
    for (uint32_t i = 0; i < count; ++i)
        if (list[i] == component)
            return true;
    return false;
}

static bool list_required(candidate *candidate, mica_component component)
{
    if (is_listed(candidate->required, candidate->required_count, component))
        return true;
    mica_component *grown = calloc(candidate->required_count + 1, sizeof *grown);
    if (!grown)
        return false;
    if (candidate->required_count)
        memcpy(grown, candidate->required, candidate->required_count * sizeof *grown);
    free(candidate->required);
    candidate->required = grown;
    candidate->required[candidate->required_count++] = component;
    return true;
}

/* Whether a description is of a type that is being interned. */
static bool is_under_way(const candidate *candidate, const mica_type *type)
{
    for (; candidate; candidate = candidate->outer)
        if (strcmp(candidate->type->name, type->name) == 0)
            return true;
    return false;
}

/* Interns what a description requires, and lists it: what is required by others before them. */
static bool find_required(candidate *of, const char **out_problem)
{
    mica_type *const *list = of->type->required;
    for (; list && *list; ++list) {
        if ((*out_problem = micap_describe_problem(*list)))
            return false;
        if (is_under_way(of, *list)) {
            *out_problem = "it requires itself, or components that require each other";
            return false;
        }
        candidate inner = {.type = *list, .outer = of};
        const micap_type *required = intern_locked(&inner, MICAP_COMPANION_NONE, out_problem);
        if (!required)
            return false;
        *out_problem = micap_problem_no_memory;
        for (uint32_t i = 0; i < required->required_count; ++i)
            if (!list_required(of, required->required[i]))
                return false;
        if (!list_required(of, required->id))
            return false;
    }
    return true;
}

/* Whether a description and what it requires can be on one entity. */
static bool is_consistent(const candidate *of)
{
    uint64_t name_hash = micap_hash_text(of->type->name);
    for (uint32_t i = 0; i < of->required_count; ++i) {
        const micap_type *type = atomic_load_explicit(&types[of->required[i]], memory_order_relaxed);
        if (excludes(type, name_hash) || lists_excluded(of->type, type->name_hash))
            return false;
        for (uint32_t k = 0; k < i; ++k)
            if (micap_types_exclude(type, atomic_load_explicit(&types[of->required[k]], memory_order_relaxed)))
                return false;
    }
    return true;
}

/* Gives a new type the names that it excludes, each once. */
static bool keep_excluded(micap_type *fresh)
{
    mica_type *const *list = fresh->type.excludes;
    uint32_t count = 0;
    while (list && list[count])
        ++count;
    if (!count)
        return true;
    fresh->excluded = calloc(count, sizeof *fresh->excluded);
    for (; fresh->excluded && *list; ++list)
        if (!excludes(fresh, micap_hash_text((*list)->name)))
            fresh->excluded[fresh->excluded_count++] = micap_hash_text((*list)->name);
    return fresh->excluded != NULL;
}

/* Gives a new type the list of what it requires, and its copy of the description the types in it. */
static bool keep_required(micap_type *fresh, candidate *candidate)
{
    fresh->type.required = NULL;
    if (!candidate->required_count)
        return true;
    const mica_type **list = calloc(candidate->required_count + 1, sizeof *list);
    fresh->type.required = (mica_type *const *)(void *)list;
    if (!list)
        return false;
    fresh->required = candidate->required;
    fresh->required_count = candidate->required_count;
    candidate->required = NULL;
    for (uint32_t i = 0; i < fresh->required_count; ++i) {
        list[i] = &atomic_load_explicit(&types[fresh->required[i]], memory_order_relaxed)->type;
        fresh->requires_pools |= micap_is_pooled(fresh->required[i]);
    }
    return true;
}

static void free_type(micap_type *fresh)
{
    if (!fresh)
        return;
    micap_initial_free(fresh);
    micap_describe_free(&fresh->type);
    free((void *)fresh->type.required);
    free(fresh->required);
    free(fresh->excluded);
    free(fresh->leaves);
    free(fresh);
}

/* Adds a type that is not known yet. */
static const micap_type *add_type(candidate *candidate, uint64_t name_hash, uint64_t layout_hash,
                                  micap_companion companion, const char **out_problem)
{
    const mica_type *type = candidate->type;
    micap_type *fresh = calloc(1, sizeof *fresh);
    *out_problem = micap_problem_no_memory;
    if (!fresh || !micap_describe_copy(&fresh->type, type) || !keep_required(fresh, candidate) || !keep_excluded(fresh))
        goto failed;
    fresh->name_hash = name_hash;
    fresh->layout_hash = layout_hash;
    fresh->companion = companion;
    fresh->owns = micap_type_owns(type);
    if (fresh->owns)
        micap_owned_derive(&fresh->type);
    micap_each_derive(&fresh->type);
    bool has_construct = type->construct && !micap_initial_is_derived(type);
    fresh->trivial = !fresh->owns && !has_construct && !micap_type_has_life(type);
    fresh->has_padding = micap_describe_has_padding(type);
    if (!micap_initial_make(fresh) || !find_companions(fresh, out_problem) ||
        !grow_table()) /* which took places in the table */
        goto failed;
    if (!(fresh->id = take_id(type))) {
        *out_problem = too_many;
        goto failed;
    }
    fresh->type.id_cache = fresh->id;
    const micap_type *namesake;
    struct micap_candidate added = {.type = type, .required = fresh->required, .required_count = fresh->required_count};
    uint32_t *slot = find_slot(&added, name_hash, layout_hash, companion, &namesake);
    publish(fresh, namesake);
    *slot = fresh->id;
    return fresh;

failed:
    free_type(fresh);
    return NULL;
}

/* The lists of the candidate are released. */
static const micap_type *intern_locked(candidate *candidate, micap_companion companion, const char **out_problem)
{
    uint64_t name_hash = micap_hash_text(candidate->type->name);
    uint64_t layout_hash = micap_describe_layout_hash(candidate->type);
    const micap_type *found = NULL, *namesake;
    *out_problem = micap_problem_no_memory;
    bool fine = find_required(candidate, out_problem);
    if (fine && !is_consistent(candidate)) {
        *out_problem = "it requires components that exclude it, or each other";
        fine = false;
    }
    if (fine && grow_table()) {
        uint32_t id = *find_slot(candidate, name_hash, layout_hash, companion, &namesake);
        found = id ? atomic_load_explicit(&types[id], memory_order_relaxed)
                   : add_type(candidate, name_hash, layout_hash, companion, out_problem);
    }
    free(candidate->required);
    candidate->required = NULL;
    return found;
}

mica_result micap_type_problem_result(const char *problem)
{
    if (problem == micap_problem_no_memory)
        return MICA_ERROR_MEMORY;
    return problem == micap_problem_too_big || problem == too_many ? MICA_ERROR_LIMIT : MICA_ERROR_INVALID;
}

const micap_type *micap_type_intern(const mica_type *type, const char **out_problem)
{
    if ((*out_problem = type ? micap_describe_problem(type) : "there is no description"))
        return NULL;
    pthread_mutex_lock(&lock);
    const micap_type *interned = intern_locked(&(candidate){.type = type}, MICAP_COMPANION_NONE, out_problem);
    pthread_mutex_unlock(&lock);
    return interned;
}

const micap_type *micap_type_of(mica_component id)
{
    return id < MICAP_IDS ? atomic_load_explicit(&types[id], memory_order_acquire) : NULL;
}

const micap_type *micap_type_namesake(const micap_type *type)
{
    return micap_type_of(MICAP_LOAD(&type->namesake, MICAP_ACQUIRE));
}

const micap_leaf *micap_type_leaf(const micap_type *type, uint32_t offset)
{
    for (uint32_t i = 0; i < type->leaf_count; ++i)
        if (type->leaves[i].offset == offset)
            return &type->leaves[i];
    return NULL;
}

mica_component mica_type_intern(mica_type *type)
{
    const char *problem;
    const micap_type *interned = micap_type_intern(type, &problem);
    if (!interned) {
        char text[256];
        snprintf(text, sizeof text, "component %s can't be used: %s", type && type->name ? type->name : "?", problem);
        mica_world_report(NULL, MICA_ERROR_INVALID, text);
        return 0;
    }
    MICAP_STORE(&type->id_cache, interned->id, MICAP_RELEASE);
    return interned->id;
}

const char *mica_type_problem(const mica_type *type)
{
    return type ? micap_describe_problem(type) : "there is no description";
}

uint64_t mica_type_layout_hash(const mica_type *type)
{
    if (MICAP_MISSING(NULL, type) || MICAP_MISSING_ARRAY(NULL, type->fields, type->field_count) ||
        MICAP_MISSING_ARRAY(NULL, type->constants, type->constant_count))
        return 0;
    return micap_describe_layout_hash(type);
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
