#include "core/storage/names.h"

#include "base/argument.h"
#include "base/hash.h"
#include "core/undo/copy_on_write.h"
#include "core/world/report.h"

static const mica_location no_place = {0};

static uint64_t hash_of(mica_entity scope, const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < length; ++i)
        hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3ull;
    return micap_hash_mix(hash ^ ((uint64_t)scope.generation << 32 | scope.index));
}

static uint32_t *bucket_by_text(const micap_names *names, mica_entity scope, const char *text, size_t length)
{
    return &names->by_text[hash_of(scope, text, length) & (names->bucket_count - 1)];
}

static uint32_t *bucket_by_entity(const micap_names *names, mica_entity entity)
{
    return &names->by_entity[micap_hash_mix(entity.index) & (names->bucket_count - 1)];
}

static micap_name *find_text(const micap_names *names, mica_entity scope, const char *text, size_t length)
{
    if (!names->count)
        return NULL;
    for (uint32_t at = *bucket_by_text(names, scope, text, length); at; at = names->entries[at - 1].next_by_text) {
        micap_name *name = &names->entries[at - 1];
        if (mica_same(name->scope, scope) && strncmp(name->text, text, length) == 0 && !name->text[length])
            return name;
    }
    return NULL;
}

/* What refers to the entry of an entity; to none if it has no name. There are names. */
static inline uint32_t *find_link(const micap_names *names, mica_entity entity)
{
    uint32_t *link = bucket_by_entity(names, entity);
    while (*link && !mica_same(names->entries[*link - 1].entity, entity))
        link = &names->entries[*link - 1].next_by_entity;
    return link;
}

static micap_name *find_entity(const micap_names *names, mica_entity entity)
{
    uint32_t at = names->count ? *find_link(names, entity) : 0;
    return at ? &names->entries[at - 1] : NULL;
}

static void link_entry(micap_names *names, uint32_t index)
{
    micap_name *name = &names->entries[index];
    uint32_t *text = bucket_by_text(names, name->scope, name->text, strlen(name->text));
    uint32_t *entity = bucket_by_entity(names, name->entity);
    name->next_by_text = *text;
    name->next_by_entity = *entity;
    *text = *entity = index + 1;
}

static bool reserve_buckets(mica_world *world)
{
    micap_names *names = &world->names;
    if (names->count < names->bucket_count)
        return true;
    uint32_t grown = names->bucket_count ? names->bucket_count * 2 : 64;
    size_t bytes = grown * sizeof(uint32_t);
    uint32_t *by_text = micap_allocate_zeroed(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    uint32_t *by_entity = micap_allocate_zeroed(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!by_text || !by_entity) {
        micap_release(&world->memory, by_text, bytes, MICAP_ARRAY_ALIGNMENT);
        micap_release(&world->memory, by_entity, bytes, MICAP_ARRAY_ALIGNMENT);
        return false;
    }
    MICAP_RELEASE_ARRAY(&world->memory, names->by_text, names->bucket_count);
    MICAP_RELEASE_ARRAY(&world->memory, names->by_entity, names->bucket_count);
    names->by_text = by_text;
    names->by_entity = by_entity;
    names->bucket_count = grown;
    for (uint32_t i = 0; i < names->entry_count; ++i) /* none is free: there are more names than ever */
        link_entry(names, i);
    return true;
}

/* Takes an entry out of the table by text. */
static inline void unlink_text(micap_names *names, uint32_t index, size_t length)
{
    micap_name *name = &names->entries[index];
    uint32_t *link = bucket_by_text(names, name->scope, name->text, length);
    while (*link != index + 1)
        link = &names->entries[*link - 1].next_by_text;
    *link = name->next_by_text;
}

static void unlink_entry(micap_names *names, uint32_t index)
{
    const micap_name *name = &names->entries[index];
    unlink_text(names, index, strlen(name->text));
    *find_link(names, name->entity) = name->next_by_entity;
}

/* Every change of a name goes through this function first: it makes the copy that the newest snapshot needs. */
static void touch_name(mica_world *world, mica_entity entity)
{
    if (world->undo.before)
        micap_undo_save_name(world, entity);
}

static inline void free_entry(micap_names *names, uint32_t index)
{
    names->entries[index] = (micap_name){.next_by_text = names->first_free};
    names->first_free = index + 1;
    --names->count;
}

/* Takes an entry away; the caller owns its text. */
static micap_taken_name take_entry(mica_world *world, micap_name *name)
{
    micap_names *names = &world->names;
    uint32_t index = (uint32_t)(name - names->entries);
    micap_taken_name taken = {.scope = name->scope, .text = name->text};
    touch_name(world, name->entity);
    unlink_entry(names, index);
    free_entry(names, index);
    return taken;
}

void micap_name_release(mica_world *world, micap_taken_name *old)
{
    if (old->text)
        micap_release(&world->memory, old->text, strlen(old->text) + 1, 1);
    old->text = NULL;
}

static void drop_entry(mica_world *world, micap_name *name)
{
    micap_taken_name taken = take_entry(world, name);
    micap_name_release(world, &taken);
}

void micap_name_forget(mica_world *world, mica_entity entity)
{
    micap_names *names = &world->names;
    uint32_t *link = names->count ? find_link(names, entity) : NULL;
    if (!link || !*link)
        return;
    uint32_t index = *link - 1;
    char *text = names->entries[index].text;
    size_t length = strlen(text);
    touch_name(world, entity);
    unlink_text(names, index, length);
    *link = names->entries[index].next_by_entity;
    free_entry(names, index);
    micap_release(&world->memory, text, length + 1, 1);
}

/* The names themselves went with their entities. */
void micap_names_free(mica_world *world)
{
    micap_names *names = &world->names;
    MICAP_RELEASE_ARRAY(&world->memory, names->entries, names->entry_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, names->by_text, names->bucket_count);
    MICAP_RELEASE_ARRAY(&world->memory, names->by_entity, names->bucket_count);
}

/* An entry for which there is room. */
static void enter(micap_names *names, mica_entity entity, mica_entity scope, char *text)
{
    uint32_t index = names->first_free ? names->first_free - 1 : names->entry_count++;
    if (names->first_free)
        names->first_free = names->entries[index].next_by_text;
    names->entries[index] = (micap_name){.entity = entity, .scope = scope, .text = text};
    link_entry(names, index);
    ++names->count;
}

static micap_taken_name take_name(mica_world *world, mica_entity entity)
{
    micap_name *name = find_entity(&world->names, entity);
    return name ? take_entry(world, name) : (micap_taken_name){0};
}

static mica_result add_entry(mica_world *world, mica_entity entity, mica_entity scope, const char *text,
                             micap_taken_name *out_old)
{
    micap_names *names = &world->names;
    size_t bytes = strlen(text) + 1;
    char *copy = NULL;
    if (reserve_buckets(world) && micap_attachments_reserve(world, entity.index) &&
        MICAP_RESERVE(&world->memory, names->entries, &names->entry_capacity, (uint64_t)names->entry_count + 1))
        copy = micap_allocate(&world->memory, bytes, 1);
    if (!copy)
        return micap_fail_memory(world, "name");
    memcpy(copy, text, bytes);
    touch_name(world, entity);
    *out_old = take_name(world, entity);
    enter(names, entity, scope, copy);
    micap_attach(&world->attachments, entity.index);
    return MICA_OK;
}

bool micap_name_copy(mica_world *world, const micap_name *name)
{
    micap_taken_name none;
    return add_entry(world, name->entity, name->scope, name->text, &none) == MICA_OK;
}

mica_result micap_name_check(const mica_world *world, mica_entity entity, mica_entity scope, const char *name)
{
    if (!name || !*name)
        return MICA_OK;
    if (mica_same(entity, scope))
        return micap_fail(world, MICA_ERROR_INVALID, no_place, "name \"%.200s\": an entity can't be its own scope",
                          name);
    if (strchr(name, '/'))
        return micap_fail(world, MICA_ERROR_INVALID, no_place, "name \"%.200s\" contains a '/'", name);
    return MICA_OK;
}

mica_result micap_name_exchange(mica_world *world, mica_entity entity, mica_entity scope, const char *name,
                                micap_taken_name *out_old)
{
    *out_old = (micap_taken_name){0};
    if (!name || !*name) {
        *out_old = take_name(world, entity);
        return MICA_OK;
    }
    const micap_name *taken = find_text(&world->names, scope, name, strlen(name));
    out_old->is_kept = taken && mica_same(taken->entity, entity);
    if (out_old->is_kept)
        return MICA_OK;
    if (taken)
        return micap_fail(world, MICA_ERROR_EXISTS, no_place, "name \"%.200s\" belongs to entity %u already", name,
                          taken->entity.index);
    return add_entry(world, entity, scope, name, out_old);
}

void micap_name_give_back(mica_world *world, mica_entity entity, micap_taken_name *old)
{
    if (old->is_kept)
        return;
    micap_name_forget(world, entity);
    if (old->text)
        enter(&world->names, entity, old->scope, old->text);
    old->text = NULL;
}

const char *mica_name_get(const mica_world *world, mica_entity entity)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    const micap_name *name = find_entity(&world->names, entity);
    return name ? name->text : NULL;
}

bool micap_name_scope(const mica_world *world, mica_entity entity, mica_entity *out_scope)
{
    const micap_name *name = find_entity(&world->names, entity);
    *out_scope = name ? name->scope : mica_nil();
    return name != NULL;
}

bool micap_name_is_taken(const mica_world *world, mica_entity scope, const char *name)
{
    return find_text(&world->names, scope, name, strlen(name)) != NULL;
}

mica_result micap_name_rescope(mica_world *world, mica_entity entity, mica_entity scope, mica_location location)
{
    micap_names *names = &world->names;
    micap_name *name = find_entity(names, entity);
    MICAP_ASSERT(name, "the entity has a name");
    const micap_name *taken = find_text(names, scope, name->text, strlen(name->text));
    if (taken && taken != name)
        return micap_fail(world, MICA_ERROR_EXISTS, location, "name \"%.200s\" belongs to entity %u already",
                          name->text, taken->entity.index);
    uint32_t index = (uint32_t)(name - names->entries);
    touch_name(world, entity);
    unlink_entry(names, index);
    name->scope = scope;
    link_entry(names, index);
    return MICA_OK;
}

mica_entity mica_name_get_scope(const mica_world *world, mica_entity entity)
{
    if (MICAP_MISSING(NULL, world))
        return mica_nil();
    const micap_name *name = find_entity(&world->names, entity);
    return name ? name->scope : mica_nil();
}

mica_entity mica_find_from(const mica_world *world, mica_entity scope, const char *path)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, path))
        return mica_nil();
    if (!mica_is_nil(scope) && !mica_is_alive(world, scope))
        return mica_nil();
    while (path) {
        const char *slash = strchr(path, '/');
        size_t length = slash ? (size_t)(slash - path) : strlen(path);
        const micap_name *name = find_text(&world->names, scope, path, length);
        if (!name)
            break;
        scope = name->entity;
        if (!slash)
            return scope;
        path = slash + 1;
    }
    return mica_nil();
}

uint32_t micap_names_check(const mica_world *world)
{
    const micap_names *names = &world->names;
    uint32_t found = 0;
    for (uint32_t i = 0; i < names->entry_count; ++i) {
        const micap_name *name = &names->entries[i];
        if (!name->text)
            continue;
        if (find_text(names, name->scope, name->text, strlen(name->text)) != name ||
            find_entity(names, name->entity) != name || !mica_is_alive(world, name->entity))
            return UINT32_MAX;
        ++found;
    }
    return found;
}

/* A name as it is kept; its text follows. */
typedef struct kept_name {
    mica_entity scope;
    size_t text_bytes; /* with the end; 0: there is no name */
} kept_name;

void micap_undo_save_name(mica_world *world, mica_entity entity)
{
    const micap_name *name = find_entity(&world->names, entity);
    kept_name about = {.text_bytes = name ? strlen(name->text) + 1 : 0};
    if (name)
        about.scope = name->scope;
    micap_undo_entry *kept =
        micap_undo_open(&world->undo, MICAP_UNDO_NAME, (uint64_t)entity.generation << 32 | entity.index, 0,
                        sizeof about + about.text_bytes, _Alignof(kept_name));
    if (!kept)
        return;
    memcpy(kept->data, &about, sizeof about);
    if (name)
        memcpy((char *)kept->data + sizeof about, name->text, about.text_bytes);
    micap_undo_close(&world->undo, kept);
}

bool micap_name_prepare(mica_world *world, micap_undo_entry *kept)
{
    const kept_name *about = kept->data;
    if (!about->text_bytes)
        return true;
    char *text = micap_allocate(&world->memory, about->text_bytes, 1);
    if (text)
        memcpy(text, about + 1, about->text_bytes);
    kept->type = text;
    return text != NULL;
}

void micap_name_give_up(mica_world *world, micap_undo_entry *kept)
{
    micap_release(&world->memory, (char *)(uintptr_t)kept->type, ((const kept_name *)kept->data)->text_bytes, 1);
    kept->type = NULL;
}

static mica_entity owner_of(const micap_undo_entry *kept)
{
    return (mica_entity){(uint32_t)kept->key, (uint32_t)(kept->key >> 32)};
}

void micap_name_clear(mica_world *world, const micap_undo_entry *kept)
{
    micap_name *name = find_entity(&world->names, owner_of(kept));
    if (name)
        drop_entry(world, name);
}

void micap_name_restore(mica_world *world, micap_undo_entry *kept)
{
    if (kept->type)
        enter(&world->names, owner_of(kept), ((const kept_name *)kept->data)->scope, (char *)(uintptr_t)kept->type);
    kept->type = NULL;
}
