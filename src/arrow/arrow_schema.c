#include "arrow/arrow_schema.h"

#include "arrow/arrow_field.h"
#include "base/byte_stream.h"

#include <inttypes.h>
#include <stdio.h>

/* What a schema owns: one block with its children, and the metadata. */
typedef struct micap_arrow_schema_block {
    micap_memory memory;
    size_t bytes;
    uint32_t child_count;
    struct ArrowSchema *children;
    struct ArrowSchema **pointers;
    micap_bytes metadata;
    char format[MICAP_ARROW_FORMAT_BYTES];
    char *name;
} block;

static void release_schema(struct ArrowSchema *schema)
{
    block *block = schema->private_data;
    mica_allocator allocator = block->memory.allocator;
    for (uint32_t i = 0; i < block->child_count; ++i)
        if (block->children[i].release) /* else it was moved elsewhere, or was never made */
            block->children[i].release(&block->children[i]);
    MICAP_RELEASE_ARRAY(&block->memory, block->metadata.data, block->metadata.capacity);
    allocator.release(block, block->bytes, MICAP_ARRAY_ALIGNMENT, allocator.context);
    schema->release = NULL;
}

/* A schema without children and metadata, which can be released. */
static block *make_block(mica_allocator allocator, const mica_field *field, size_t name_length, uint32_t child_count,
                         struct ArrowSchema *out_schema)
{
    size_t bytes = sizeof(block) + child_count * (sizeof(struct ArrowSchema) + sizeof(struct ArrowSchema *));
    block *block = allocator.allocate(bytes + name_length + 1, MICAP_ARRAY_ALIGNMENT, allocator.context);
    if (!block)
        return NULL;
    memset(block, 0, bytes + name_length + 1);
    micap_memory_init(&block->memory, allocator);
    block->bytes = bytes + name_length + 1;
    block->child_count = child_count;
    block->children = (struct ArrowSchema *)(block + 1);
    block->pointers = (struct ArrowSchema **)(block->children + child_count);
    block->name = (char *)(block->pointers + child_count);
    block->metadata.memory = &block->memory;
    for (uint32_t i = 0; i < child_count; ++i)
        block->pointers[i] = &block->children[i];
    micap_arrow_format(field, block->format);
    *out_schema = (struct ArrowSchema){.format = block->format,
                                       .name = block->name,
                                       .n_children = child_count,
                                       .children = child_count ? block->pointers : NULL,
                                       .release = release_schema,
                                       .private_data = block};
    return block;
}

/* Numbers of metadata have the byte order of the machine. */
static void put_length(micap_bytes *bytes, size_t length)
{
    micap_bytes_put(bytes, &(int32_t){(int32_t)length}, sizeof(int32_t));
}

static void put_pair(micap_bytes *bytes, const char *key, const char *value)
{
    if (!value)
        return;
    put_length(bytes, strlen(key));
    micap_bytes_put(bytes, key, strlen(key));
    put_length(bytes, strlen(value));
    micap_bytes_put(bytes, value, strlen(value));
}

static void put_constants(micap_bytes *bytes, const mica_type *type)
{
    static const char key[] = "mica.constants";
    char number[32];
    put_length(bytes, sizeof key - 1);
    micap_bytes_put(bytes, key, sizeof key - 1);
    uint32_t before = bytes->count;
    put_length(bytes, 0);
    for (uint32_t i = 0; i < type->constant_count; ++i) {
        const mica_constant *constant = &type->constants[i];
        int length = snprintf(number, sizeof number, "=%" PRId64, constant->value);
        micap_bytes_put(bytes, ",", i > 0);
        micap_bytes_put(bytes, constant->name, strlen(constant->name));
        micap_bytes_put(bytes, number, (size_t)length);
    }
    int32_t length_of_all = (int32_t)(bytes->count - before - sizeof(int32_t));
    if (!bytes->failed)
        memcpy(bytes->data + before, &length_of_all, sizeof length_of_all);
}

static bool put_metadata(micap_bytes *bytes, const mica_field *field)
{
    bool is_constant = field->kind == MICA_KIND_ENUM || field->kind == MICA_KIND_FLAGS;
    bool has_constants = is_constant && field->count == 1 && field->type->constant_count;
    const mica_attributes *attributes = field->attributes;
    const char *unit = attributes ? attributes->unit : NULL, *note = attributes ? attributes->note : NULL;
    uint32_t count = (uint32_t)has_constants + (unit != NULL) + (note != NULL);
    if (!count)
        return true;
    put_length(bytes, count);
    if (has_constants)
        put_constants(bytes, field->type);
    put_pair(bytes, "unit", unit);
    put_pair(bytes, "note", note);
    return !bytes->failed;
}

/* Describes a field whose name is already known, and what is in it. */
static bool describe(mica_allocator allocator, const mica_field *field, size_t name_length,
                     struct ArrowSchema *out_schema)
{
    block *block = make_block(allocator, field, name_length, micap_arrow_child_count(field), out_schema);
    if (!block)
        return false;
    bool is_handle = micap_arrow_layout_of(field) == MICAP_ARROW_HANDLE;
    out_schema->flags = is_handle ? ARROW_FLAG_NULLABLE : 0;
    bool is_done = put_metadata(&block->metadata, field);
    out_schema->metadata = block->metadata.data;
    for (uint32_t i = 0; is_done && i < block->child_count; ++i) {
        mica_field child = micap_arrow_child(field, i);
        size_t length = strlen(child.name);
        is_done = describe(allocator, &child, length, &block->children[i]);
        if (is_done)
            memcpy((char *)block->children[i].name, child.name, length);
    }
    if (!is_done)
        release_schema(out_schema);
    return is_done;
}

static bool describe_source(const micap_arrow_plan *plan, const micap_arrow_source *source,
                            struct ArrowSchema *out_schema)
{
    size_t length = micap_arrow_column_name(plan, source, NULL, 0);
    if (!describe(plan->memory.allocator, &source->field, length, out_schema))
        return false;
    micap_arrow_column_name(plan, source, (char *)out_schema->name, length + 1);
    if (source->is_nullable)
        out_schema->flags |= ARROW_FLAG_NULLABLE;
    if (source->kind == MICAP_ARROW_SOURCE_ENTITY)
        out_schema->flags = 0;
    return true;
}

bool micap_arrow_schema_make(const micap_arrow_plan *plan, struct ArrowSchema *out_schema)
{
    const mica_field row = {.name = "", .count = 1, .kind = MICA_KIND_STRUCT};
    block *block = make_block(plan->memory.allocator, &row, 0, plan->source_count, out_schema);
    if (!block)
        return false;
    for (uint32_t i = 0; i < plan->source_count; ++i)
        if (!describe_source(plan, &plan->sources[i], &block->children[i])) {
            release_schema(out_schema);
            return false;
        }
    return true;
}
