#include "resource/save/draft.h"

#include "base/argument.h"
#include "base/assert.h"
#include "base/hash.h"
#include "resource/format/asset_path.h"
#include "base/utf8.h"
#include "type/value_bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool micap_draft_refuse(mica_draft *draft, mica_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(draft->error.text, sizeof draft->error.text, format, arguments);
    va_end(arguments);
    draft->error.result = result;
    return false;
}

mica_draft *mica_draft_create(const mica_allocator *allocator)
{
    micap_memory memory;
    if (MICAP_INVALID(NULL, !micap_memory_init(&memory, allocator ? *allocator : (mica_allocator){0}), allocator,
                      "must have both functions, or none"))
        return NULL;
    mica_draft *draft = micap_allocate_zeroed(&memory, sizeof *draft, MICAP_ARRAY_ALIGNMENT);
    if (!draft)
        return NULL;
    micap_memory_init(&draft->memory, memory.allocator);
    return draft;
}

void mica_draft_destroy(mica_draft *draft)
{
    if (!draft)
        return;
    micap_memory *memory = &draft->memory;
    for (uint32_t i = 0; i < draft->part_count; ++i) {
        micap_draft_part *part = &draft->parts[i];
        if (part->data)
            micap_contents_clear(part->type, part->data, part->count);
        micap_release(memory, part->data, (size_t)part->data_capacity * part->type->size_bytes, MICAP_ARRAY_ALIGNMENT);
        MICAP_RELEASE_ARRAY(memory, part->runs, part->run_capacity);
        MICAP_RELEASE_ARRAY(memory, part->disabled, part->disabled_capacity);
    }
    MICAP_RELEASE_ARRAY(memory, draft->parts, draft->part_capacity);
    MICAP_RELEASE_ARRAY(memory, draft->parents, draft->parent_capacity);
    MICAP_RELEASE_ARRAY(memory, draft->names, draft->name_capacity);
    micap_strings_free(&draft->strings, draft);
    micap_strings_free(&draft->assets, draft);
    micap_memory last = {.allocator = memory->allocator};
    atomic_init(&last.bytes, sizeof *draft);
    micap_release(&last, draft, sizeof *draft, MICAP_ARRAY_ALIGNMENT);
}

const mica_resource_error *mica_draft_error(const mica_draft *draft)
{
    return MICAP_MISSING(NULL, draft) ? NULL : &draft->error;
}

static bool grow_string_table(micap_strings *strings, mica_draft *draft)
{
    if ((strings->text_count + 1) * 2 <= strings->table_capacity)
        return true;
    uint32_t grown = strings->table_capacity ? strings->table_capacity * 2 : 64;
    uint32_t *table = micap_allocate_zeroed(&draft->memory, grown * sizeof *table, MICAP_ARRAY_ALIGNMENT);
    if (!table)
        return false;
    for (uint32_t i = 0; i < strings->table_capacity; ++i) {
        if (!strings->table[i])
            continue;
        uint64_t at = micap_hash_text(strings->bytes + strings->table[i]);
        while (table[at & (grown - 1)])
            ++at;
        table[at & (grown - 1)] = strings->table[i];
    }
    MICAP_RELEASE_ARRAY(&draft->memory, strings->table, strings->table_capacity);
    strings->table = table;
    strings->table_capacity = grown;
    return true;
}

uint32_t micap_string_of(micap_strings *strings, mica_draft *draft, const char *text)
{
    size_t bytes = strlen(text) + 1;
    if (!MICAP_RESERVE(&draft->memory, strings->bytes, &strings->capacity, (uint64_t)strings->count + bytes + 1) ||
        !grow_string_table(strings, draft))
        return micap_draft_refuse_memory(draft), MICAP_NONE;
    if (!strings->count)
        strings->bytes[strings->count++] = 0; /* offset 0 is the empty string, and none */
    if (bytes == 1)
        return 0;
    uint64_t at = micap_hash_text(text);
    for (; strings->table[at & (strings->table_capacity - 1)]; ++at) {
        uint32_t offset = strings->table[at & (strings->table_capacity - 1)];
        if (strcmp(strings->bytes + offset, text) == 0)
            return offset;
    }
    uint32_t offset = strings->count;
    memcpy(strings->bytes + offset, text, bytes);
    strings->count += (uint32_t)bytes;
    strings->table[at & (strings->table_capacity - 1)] = offset;
    ++strings->text_count;
    return offset;
}

void micap_strings_free(micap_strings *strings, mica_draft *draft)
{
    MICAP_RELEASE_ARRAY(&draft->memory, strings->bytes, strings->capacity);
    MICAP_RELEASE_ARRAY(&draft->memory, strings->table, strings->table_capacity);
}

static bool check_name(mica_draft *draft, const char *what, const char *name)
{
    if (!*name || strlen(name) > MICA_RESOURCE_NAME_BYTES_MAX || !micap_is_utf8(name))
        return micap_draft_refuse(draft, MICA_ERROR_INVALID,
                                  "the %s \"%.80s\" can't be written: it is empty, longer than %d bytes, or not UTF-8",
                                  what, name, MICA_RESOURCE_NAME_BYTES_MAX);
    return true;
}

static bool check_type(mica_draft *draft, const mica_type *type)
{
    uint64_t bytes = 0;
    if (!check_name(draft, "type", type->name))
        return false;
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        bytes += (uint64_t)field->element_bytes * field->count;
        if (!check_name(draft, "field", field->name) || (field->type && !check_type(draft, field->type)))
            return false;
    }
    for (uint32_t i = 0; i < type->constant_count; ++i)
        if (!check_name(draft, "constant", type->constants[i].name))
            return false;
    if (type->field_count > MICA_RESOURCE_FIELDS_MAX || micap_scalars_count(type) > MICA_RESOURCE_LEAVES_MAX)
        return micap_draft_refuse(draft, MICA_ERROR_LIMIT, "type %.80s has too many fields to be written", type->name);
    if (bytes > type->size_bytes)
        return micap_draft_refuse(draft, MICA_ERROR_INVALID, "type %.80s can't be written: its fields overlap",
                                  type->name);
    return true;
}

/* A file knows components by the hashes of their names. */
static bool check_hash(mica_draft *draft, const char *name)
{
    for (uint32_t i = 0; i < draft->part_count; ++i)
        if (micap_hash_text(draft->parts[i].name) == micap_hash_text(name))
            return micap_draft_refuse(draft, MICA_ERROR_EXISTS,
                                      "the names %.80s and %.80s have the same hash: rename one of the components",
                                      draft->parts[i].name, name);
    return true;
}

uint32_t mica_draft_component(mica_draft *draft, const mica_draft_component_def *def)
{
    if (MICAP_MISSING(NULL, draft) || MICAP_MISSING_INTO(&draft->error, def) ||
        MICAP_MISSING_INTO(&draft->error, def->type))
        return MICA_DRAFT_NONE;
    const char *name = def->name ? def->name : def->type->name;
    for (uint32_t i = 0; i < draft->part_count; ++i)
        if (strcmp(draft->parts[i].name, name) == 0)
            return i;
    bool is_tag = def->storage == MICA_STORAGE_TAG || (def->storage == MICA_STORAGE_POOL && !def->type->size_bytes);
    mica_type plain = micap_plain_type(def->type, is_tag ? MICA_STORAGE_TAG : MICA_STORAGE_CHUNK);
    const char *problem = mica_type_problem(&plain);
    if (problem)
        return micap_draft_refuse(draft, MICA_ERROR_INVALID, "component %.80s can't be written: %s", name, problem),
               MICA_DRAFT_NONE;
    if (!check_name(draft, "component", name) || !check_type(draft, def->type) || !check_hash(draft, name))
        return MICA_DRAFT_NONE;
    if (!MICAP_RESERVE(&draft->memory, draft->parts, &draft->part_capacity, (uint64_t)draft->part_count + 1))
        return micap_draft_refuse_memory(draft), MICA_DRAFT_NONE;
    draft->parts[draft->part_count] = (micap_draft_part){
        .name = name,
        .type = def->type,
        .role = is_tag                                   ? MICAP_ROLE_TAG
                : def->storage == MICA_STORAGE_SINGLETON ? MICAP_ROLE_SINGLETON
                                                         : MICAP_ROLE_DATA,
        .spawn_order = def->spawn_order,
    };
    return draft->part_count++;
}

/* Room in what is kept by entity, and in what is from now on. */
static bool reserve_entities(mica_draft *draft, uint64_t needed, bool has_parent, bool has_name)
{
    bool first_parent = has_parent && !draft->parents, first_name = has_name && !draft->names;
    if (needed > UINT32_MAX / 2 || ((has_parent || draft->parents) &&
                                    !MICAP_RESERVE(&draft->memory, draft->parents, &draft->parent_capacity, needed)))
        return micap_draft_refuse_memory(draft);
    MICAP_ASSERT(draft->parents || !has_parent, "there is room for one at least");
    if (first_parent)
        memset(draft->parents, 0xFF, draft->entity_count * sizeof *draft->parents);
    if ((has_name || draft->names) && !MICAP_RESERVE(&draft->memory, draft->names, &draft->name_capacity, needed))
        return micap_draft_refuse_memory(draft);
    MICAP_ASSERT(draft->names || !has_name, "likewise");
    if (first_name)
        memset(draft->names, 0, draft->entity_count * sizeof *draft->names);
    return true;
}

uint32_t mica_draft_entity(mica_draft *draft, uint32_t parent, const char *name)
{
    if (MICAP_MISSING(NULL, draft))
        return MICA_DRAFT_NONE;
    if (parent != MICA_NO_PARENT && parent >= draft->entity_count)
        return micap_draft_refuse(draft, MICA_ERROR_INVALID, "the parent of an entity comes before it"),
               MICA_DRAFT_NONE;
    if (name && (strchr(name, '/') || !micap_is_utf8(name)))
        return micap_draft_refuse(draft, MICA_ERROR_INVALID, "the name \"%.80s\" contains a '/' or is not UTF-8", name),
               MICA_DRAFT_NONE;
    bool has_name = name && *name;
    if (!reserve_entities(draft, (uint64_t)draft->entity_count + 1, parent != MICA_NO_PARENT, has_name))
        return MICA_DRAFT_NONE;
    uint32_t text = has_name ? micap_string_of(&draft->strings, draft, name) : 0;
    if (text == MICAP_NONE)
        return MICA_DRAFT_NONE;
    if (draft->parents)
        draft->parents[draft->entity_count] = parent;
    if (draft->names)
        draft->names[draft->entity_count] = text;
    draft->name_count += text != 0;
    return draft->entity_count++;
}

/* A run that continues the last one is merged with it. */
static bool append_run(mica_draft *draft, micap_draft_part *part, micap_draft_run run)
{
    micap_draft_run *last = part->run_count ? &part->runs[part->run_count - 1] : NULL;
    const char *next = last && last->values ? last->values + (size_t)last->count * part->type->size_bytes : NULL;
    bool continues = last && run.entity == last->entity + last->count && run.values == next;
    uint64_t run_count = (uint64_t)part->run_count + !continues;
    if ((uint64_t)part->count + run.count > UINT32_MAX / 2 ||
        !MICAP_RESERVE(&draft->memory, part->runs, &part->run_capacity, run_count))
        return micap_draft_refuse_memory(draft);
    MICAP_ASSERT(part->runs, "there is room for one at least");
    if (continues)
        last->count += run.count;
    else
        part->runs[part->run_count++] = run;
    part->count += run.count;
    return true;
}

char *micap_draft_add_run(mica_draft *draft, uint32_t first, uint32_t component, uint32_t count)
{
    micap_draft_part *part = &draft->parts[component];
    uint32_t size_bytes = part->type->size_bytes, before = part->count;
    if (size_bytes &&
        !micap_array_reserve(&draft->memory, &part->data, &part->data_capacity, (uint64_t)before + count, size_bytes))
        return micap_draft_refuse_memory(draft), NULL;
    if (!append_run(draft, part, (micap_draft_run){first, count, NULL}))
        return NULL;
    if (!size_bytes)
        return (char *)part;
    char *instances = part->data + (size_t)before * size_bytes;
    memset(instances, 0, (size_t)count * size_bytes);
    return instances;
}

bool micap_draft_lend(mica_draft *draft, uint32_t first, uint32_t component, uint32_t count, const char *values)
{
    return append_run(draft, &draft->parts[component], (micap_draft_run){first, count, values});
}

void *mica_draft_add(mica_draft *draft, uint32_t entity, uint32_t component)
{
    if (MICAP_MISSING(NULL, draft))
        return NULL;
    if (component >= draft->part_count ||
        (entity >= draft->entity_count && draft->parts[component].role != MICAP_ROLE_SINGLETON))
        return micap_draft_refuse(draft, MICA_ERROR_INVALID, "there is no such entity or component"), NULL;
    const micap_draft_part *part = &draft->parts[component];
    if (part->role == MICAP_ROLE_SINGLETON && part->count)
        return micap_draft_refuse(draft, MICA_ERROR_EXISTS, "the singleton %.80s is there twice", part->name), NULL;
    return micap_draft_add_run(draft, entity, component, 1);
}

mica_asset mica_draft_asset(mica_draft *draft, const char *path)
{
    if (MICAP_MISSING(NULL, draft) || MICAP_MISSING_INTO(&draft->error, path))
        return (mica_asset){0};
    const char *problem = micap_asset_path_problem(path);
    if (problem)
        micap_draft_refuse(draft, MICA_ERROR_INVALID, "the path \"%.80s\" %s", path, problem);
    if (problem || micap_string_of(&draft->assets, draft, path) == MICAP_NONE)
        return (mica_asset){0};
    return micap_asset_of_path(path);
}

bool micap_draft_disable_instance(mica_draft *draft, uint32_t component, uint32_t instance)
{
    micap_draft_part *part = &draft->parts[component];
    if (!MICAP_RESERVE(&draft->memory, part->disabled, &part->disabled_capacity, (uint64_t)part->disabled_count + 1))
        return micap_draft_refuse_memory(draft);
    part->disabled[part->disabled_count++] = instance;
    return true;
}

bool mica_draft_disable(mica_draft *draft, uint32_t component)
{
    if (MICAP_MISSING(NULL, draft))
        return false;
    const micap_draft_part *part = component < draft->part_count ? &draft->parts[component] : NULL;
    if (!part || !part->count || part->role == MICAP_ROLE_SINGLETON)
        return micap_draft_refuse(draft, MICA_ERROR_INVALID, "there is nothing to switch off");
    bool is_off = part->disabled_count && part->disabled[part->disabled_count - 1] == part->count - 1;
    return is_off || micap_draft_disable_instance(draft, component, part->count - 1);
}
