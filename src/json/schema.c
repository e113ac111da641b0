#include "json/schema.h"

#include "base/argument.h"
#include "base/assert.h"
#include "resource/format/scalar_fields.h"
#include "type/value_bytes.h"

#include <string.h>

mica_schema *mica_schema_create(void)
{
    micap_memory memory;
    micap_memory_init(&memory, (mica_allocator){0});
    mica_schema *schema = micap_allocate_zeroed(&memory, sizeof *schema, MICAP_ARRAY_ALIGNMENT);
    if (schema)
        micap_memory_init(&schema->memory, memory.allocator);
    return schema;
}

static void free_text(micap_memory *memory, const char *text)
{
    if (text)
        micap_release(memory, (void *)text, strlen(text) + 1, 1);
}

static char *copy_text(micap_memory *memory, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = micap_allocate(memory, bytes, 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

/* The components that one excludes: a list of descriptions with names, all in one block of memory. */
static size_t excludes_bytes(const mica_type *type)
{
    size_t bytes = sizeof(mica_type *);
    for (mica_type *const *list = type->excludes; list && *list; ++list)
        bytes += sizeof *list + sizeof **list + strlen((*list)->name) + 1;
    return bytes;
}

static bool copy_excludes(micap_memory *memory, mica_type *copy, const mica_type *type)
{
    uint32_t count = 0;
    while (type->excludes && type->excludes[count])
        ++count;
    if (!count)
        return true;
    mica_type **list = micap_allocate_zeroed(memory, excludes_bytes(type), MICAP_ARRAY_ALIGNMENT);
    mica_type *named = list ? (mica_type *)(void *)(list + count + 1) : NULL;
    char *text = list ? (char *)(named + count) : NULL;
    for (uint32_t i = 0; list && i < count; ++i) {
        size_t bytes = strlen(type->excludes[i]->name) + 1;
        named[i].name = memcpy(text, type->excludes[i]->name, bytes);
        text += bytes;
        list[i] = &named[i];
    }
    copy->excludes = list;
    return list != NULL;
}

static void free_type(micap_memory *memory, mica_type *type)
{
    if (type->excludes)
        micap_release(memory, (void *)type->excludes, excludes_bytes(type), MICAP_ARRAY_ALIGNMENT);
    for (uint32_t i = 0; type->fields && i < type->field_count; ++i) {
        mica_type *nested = (mica_type *)type->fields[i].type;
        if (nested) {
            free_type(memory, nested);
            micap_release(memory, nested, sizeof *nested, MICAP_ARRAY_ALIGNMENT);
        }
        free_text(memory, type->fields[i].name);
        const mica_attributes *attributes = type->fields[i].attributes;
        if (attributes)
            micap_release(memory, (void *)attributes, micap_attributes_bytes(attributes), MICAP_ARRAY_ALIGNMENT);
    }
    for (uint32_t i = 0; type->constants && i < type->constant_count; ++i)
        free_text(memory, type->constants[i].name);
    micap_release(memory, (void *)type->fields, type->field_count * sizeof *type->fields, MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, (void *)type->constants, type->constant_count * sizeof *type->constants,
                  MICAP_ARRAY_ALIGNMENT);
    free_text(memory, type->name);
}

static bool copy_attributes(micap_memory *memory, mica_field *copy, const mica_field *field)
{
    if (!field->attributes)
        return true;
    void *block = micap_allocate(memory, micap_attributes_bytes(field->attributes), MICAP_ARRAY_ALIGNMENT);
    if (block)
        copy->attributes = micap_attributes_copy(block, field->attributes);
    return block;
}

static bool copy_type(micap_memory *memory, mica_type *copy, const mica_type *type)
{
    *copy = *type;
    copy->excludes = NULL;
    mica_field *fields = micap_allocate_zeroed(memory, type->field_count * sizeof *fields, MICAP_ARRAY_ALIGNMENT);
    mica_constant *constants =
        micap_allocate_zeroed(memory, type->constant_count * sizeof *constants, MICAP_ARRAY_ALIGNMENT);
    copy->fields = fields;
    copy->constants = constants;
    copy->name = copy_text(memory, type->name);
    bool fine = fields && constants && copy->name;
    for (uint32_t i = 0; fine && i < type->field_count; ++i) {
        fields[i] = type->fields[i];
        fields[i].type = NULL;
        fields[i].attributes = NULL;
        fields[i].name = copy_text(memory, type->fields[i].name);
        fine = fields[i].name && copy_attributes(memory, &fields[i], &type->fields[i]);
        if (!fine || !type->fields[i].type)
            continue;
        mica_type *nested = micap_allocate_zeroed(memory, sizeof *nested, MICAP_ARRAY_ALIGNMENT);
        fields[i].type = nested;
        fields[i].kind = fields[i].kind == MICA_KIND_LIST ? MICA_KIND_LIST : type->fields[i].type->kind;
        fine = nested && copy_type(memory, nested, type->fields[i].type);
    }
    for (uint32_t i = 0; fine && i < type->constant_count; ++i) {
        constants[i].value = type->constants[i].value;
        constants[i].name = copy_text(memory, type->constants[i].name);
        fine = constants[i].name != NULL;
    }
    return fine;
}

static void free_entry(mica_schema *schema, micap_schema_entry *entry)
{
    free_type(&schema->memory, &entry->type);
    free_text(&schema->memory, entry->name);
    micap_release(&schema->memory, entry, sizeof *entry, MICAP_ARRAY_ALIGNMENT);
}

void mica_schema_destroy(mica_schema *schema)
{
    if (!schema)
        return;
    for (uint32_t i = 0; i < schema->count; ++i)
        free_entry(schema, schema->entries[i]);
    MICAP_RELEASE_ARRAY(&schema->memory, schema->entries, schema->capacity);
    micap_memory last = {.allocator = schema->memory.allocator};
    atomic_init(&last.bytes, sizeof *schema);
    micap_release(&last, schema, sizeof *schema, MICAP_ARRAY_ALIGNMENT);
}

const micap_schema_entry *micap_schema_find(const mica_schema *schema, const char *name)
{
    for (uint32_t i = 0; schema && i < schema->count; ++i)
        if (strcmp(schema->entries[i]->name, name) == 0)
            return schema->entries[i];
    return NULL;
}

bool micap_schema_excludes(const micap_schema_entry *entry, const char *name)
{
    mica_type *const *list = entry->type.excludes;
    while (list && *list && strcmp((*list)->name, name) != 0)
        ++list;
    return list && *list;
}

mica_result micap_schema_add(mica_schema *schema, const char *name, const mica_type *described, int32_t spawn_order)
{
    if (mica_type_problem(described))
        return MICA_ERROR_INVALID;
    /* Files do not store where a program keeps values: a pool becomes data, or a tag if it has no fields. */
    mica_storage storage = !described->size_bytes                         ? MICA_STORAGE_TAG
                           : described->storage == MICA_STORAGE_SINGLETON ? MICA_STORAGE_SINGLETON
                                                                          : MICA_STORAGE_CHUNK;
    mica_type plain = micap_plain_type(described, storage), *type = &plain;
    plain.toggle = described->toggle;
    plain.excludes = described->excludes;
    MICAP_ASSERT(schema, "there is one to add to");
    const micap_schema_entry *known = micap_schema_find(schema, name);
    if (known)
        return mica_type_layout_hash(&known->type) == mica_type_layout_hash(type) &&
                       known->type.storage == type->storage
                   ? MICA_OK
                   : MICA_ERROR_EXISTS;
    micap_schema_entry *entry = NULL;
    if (MICAP_RESERVE(&schema->memory, schema->entries, &schema->capacity, (uint64_t)schema->count + 1))
        entry = micap_allocate_zeroed(&schema->memory, sizeof *entry, MICAP_ARRAY_ALIGNMENT);
    if (!entry)
        return MICA_ERROR_MEMORY;
    entry->name = copy_text(&schema->memory, name);
    entry->spawn_order = spawn_order;
    if (!entry->name || !copy_type(&schema->memory, &entry->type, type) ||
        !copy_excludes(&schema->memory, &entry->type, type)) {
        free_entry(schema, entry);
        return MICA_ERROR_MEMORY;
    }
    schema->entries[schema->count++] = entry;
    return MICA_OK;
}

mica_result mica_schema_add(mica_schema *schema, const mica_type *type, int32_t spawn_order)
{
    if (MICAP_MISSING(NULL, schema) || MICAP_MISSING(NULL, type))
        return MICA_ERROR_INVALID;
    if (MICAP_MISSING(NULL, type->name))
        return MICA_ERROR_INVALID;
    mica_result result = micap_schema_add(schema, type->name, type, spawn_order);
    (void)MICAP_INVALID(NULL, result == MICA_ERROR_INVALID, type, "must be a valid description: see mica_type_problem");
    return result;
}

mica_result mica_schema_add_world(mica_schema *schema, const mica_world *world)
{
    if (MICAP_MISSING(NULL, schema) || MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    mica_result result = MICA_OK;
    for (mica_component id = 0; result == MICA_OK && (id = mica_component_next(world, id)) != 0;)
        result = mica_schema_add(schema, mica_component_type(id), 0);
    return result;
}

mica_result mica_schema_add_resource(mica_schema *schema, const mica_resource *resource)
{
    if (MICAP_MISSING(NULL, schema) || MICAP_MISSING(NULL, resource))
        return MICA_ERROR_INVALID;
    mica_result result = MICA_OK;
    for (uint32_t i = 0; result == MICA_OK && i < mica_resource_component_count(resource); ++i) {
        mica_resource_component component = mica_resource_component_at(resource, i);
        mica_type type = *component.type;
        type.storage = component.storage;
        type.toggle = component.storage != MICA_STORAGE_SINGLETON; /* unknown to the file, so allowed */
        result = micap_schema_add(schema, component.name, &type, component.spawn_order);
    }
    return result;
}

uint32_t mica_schema_count(const mica_schema *schema)
{
    if (MICAP_MISSING(NULL, schema))
        return 0;
    return schema->count;
}

const mica_type *mica_schema_type(const mica_schema *schema, uint32_t index)
{
    if (MICAP_MISSING(NULL, schema))
        return NULL;
    return index < schema->count ? &schema->entries[index]->type : NULL;
}

const char *mica_schema_name(const mica_schema *schema, uint32_t index)
{
    if (MICAP_MISSING(NULL, schema))
        return NULL;
    return index < schema->count ? schema->entries[index]->name : NULL;
}
