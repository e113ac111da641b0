#include "arrow/arrow_column.h"

#include "arrow/arrow_field.h"
#include "base/utf8.h"
#include "mica/list.h"
#include "mica/text.h"

/* A column, its children and their arrays are one block. */
static size_t column_bytes(uint32_t child_count)
{
    return sizeof(micap_arrow_column) +
           child_count * (sizeof(struct ArrowArray) + sizeof(struct ArrowArray *) + sizeof(micap_arrow_column *));
}

static bool add_children(micap_arrow_column *column)
{
    for (uint32_t i = 0; i < column->child_count; ++i) {
        mica_field field = micap_arrow_child(&column->field, i);
        column->children[i] =
            micap_arrow_column_create(column->memory.allocator, &field, micap_arrow_child_count(&field));
        if (!column->children[i])
            return false;
    }
    return true;
}

micap_arrow_column *micap_arrow_column_create(mica_allocator allocator, const mica_field *field, uint32_t child_count)
{
    micap_arrow_column *column =
        allocator.allocate(column_bytes(child_count), MICAP_ARRAY_ALIGNMENT, allocator.context);
    if (!column)
        return NULL;
    memset(column, 0, column_bytes(child_count));
    micap_memory_init(&column->memory, allocator);
    column->field = *field;
    column->child_count = child_count;
    column->arrays = (struct ArrowArray *)(column + 1);
    column->array_pointers = (struct ArrowArray **)(column->arrays + child_count);
    column->children = (micap_arrow_column **)(column->array_pointers + child_count);
    column->validity.memory = column->offsets.memory = column->data.memory = &column->memory;
    micap_arrow_layout layout = micap_arrow_layout_of(field);
    if (layout == MICAP_ARROW_TEXT || layout == MICAP_ARROW_LIST)
        micap_bytes_put(&column->offsets, &(int32_t){0}, sizeof(int32_t));
    if (!column->offsets.failed && (!(field->type || layout == MICAP_ARROW_ARRAY) || add_children(column)))
        return column;
    micap_arrow_column_destroy(column);
    return NULL;
}

/* Frees the column, but not its children. */
static void free_column(micap_arrow_column *column)
{
    MICAP_RELEASE_ARRAY(&column->memory, column->validity.data, column->validity.capacity);
    MICAP_RELEASE_ARRAY(&column->memory, column->offsets.data, column->offsets.capacity);
    MICAP_RELEASE_ARRAY(&column->memory, column->data.data, column->data.capacity);
    mica_allocator allocator = column->memory.allocator;
    allocator.release(column, column_bytes(column->child_count), MICAP_ARRAY_ALIGNMENT, allocator.context);
}

void micap_arrow_column_destroy(micap_arrow_column *column)
{
    if (!column)
        return;
    for (uint32_t i = 0; i < column->child_count; ++i)
        micap_arrow_column_destroy(column->children[i]);
    free_column(column);
}

/* Appends bits to a bitmap that has `before` of them. */
static bool put_bits(micap_bytes *bits, int64_t before, uint32_t count, bool value)
{
    uint64_t needed = ((uint64_t)before + count + 7) / 8;
    if (needed > bits->count) {
        size_t more = (size_t)(needed - bits->count);
        void *room = micap_bytes_grow(bits, more);
        if (!room)
            return false;
        memset(room, 0, more);
    }
    for (int64_t i = before; value && i < before + count; ++i)
        bits->data[i / 8] = (char)(bits->data[i / 8] | 1 << i % 8);
    return true;
}

/* Counts values. The bitmap begins with the first null. */
static bool count_values(micap_arrow_column *column, uint32_t count, bool is_null)
{
    if (is_null && !column->null_count && !put_bits(&column->validity, 0, (uint32_t)column->length, true))
        return false;
    if ((is_null || column->null_count) && !put_bits(&column->validity, column->length, count, !is_null))
        return false;
    column->length += count;
    column->null_count += is_null ? count : 0;
    return true;
}

bool micap_arrow_append_rows(micap_arrow_column *column, uint32_t count)
{
    return count_values(column, count, false);
}

static bool put_offset(micap_arrow_column *column, uint64_t end)
{
    micap_bytes_put(&column->offsets, &(int32_t){(int32_t)end}, sizeof(int32_t));
    return end <= INT32_MAX && !column->offsets.failed;
}

/* Values of one size, which the compiler knows. */
#define COPY_EACH(bytes)                                                                                               \
    for (uint32_t i = 0; i < count; ++i)                                                                               \
        memcpy(to + (size_t)i * (bytes), values + i * stride, (bytes));

static bool copy_numbers(micap_arrow_column *column, const char *values, size_t stride, uint32_t count)
{
    uint32_t bytes = column->field.element_bytes;
    char *to = micap_bytes_grow(&column->data, (size_t)count * bytes);
    if (!to)
        return false;
    if (stride == bytes)
        memcpy(to, values, (size_t)count * bytes);
    else if (bytes == 1)
        COPY_EACH(1)
    else if (bytes == 2)
        COPY_EACH(2)
    else if (bytes == 4)
        COPY_EACH(4)
    else
        COPY_EACH(8)
    return true;
}

/* Both numbers of an entity as one, wherever the machine has the low half. */
static uint64_t entity_number(const char *value)
{
    mica_entity entity;
    memcpy(&entity, value, sizeof entity);
    return (uint64_t)entity.generation << 32 | entity.index;
}

static bool is_zero(const char *value)
{
    uint64_t number;
    memcpy(&number, value, sizeof number);
    return number == 0;
}

static bool copy_handles(micap_arrow_column *column, const char *values, size_t stride, uint32_t count)
{
    if (column->field.kind == MICA_KIND_ASSET)
        return copy_numbers(column, values, stride, count);
    char *to = micap_bytes_grow(&column->data, (size_t)count * sizeof(uint64_t));
    for (uint32_t i = 0; to && i < count; ++i)
        memcpy(to + i * sizeof(uint64_t), &(uint64_t){entity_number(values + i * stride)}, sizeof(uint64_t));
    return to != NULL;
}

/* Runs of values that are null, or not. */
static bool count_handles(micap_arrow_column *column, const char *values, size_t stride, uint32_t count)
{
    uint32_t begin = 0;
    for (uint32_t i = 1; i <= count; ++i) {
        bool was_null = is_zero(values + begin * stride);
        if (i < count && is_zero(values + i * stride) == was_null)
            continue;
        if (!count_values(column, i - begin, was_null))
            return false;
        begin = i;
    }
    return true;
}

static bool append_numbers(micap_arrow_column *column, const char *values, size_t stride, uint32_t count, bool borrow)
{
    bool is_handle = micap_arrow_layout_of(&column->field) == MICAP_ARROW_HANDLE;
    bool has_layout = (!MICAP_IS_BIG_ENDIAN || column->field.kind != MICA_KIND_ENTITY) &&
                      stride == column->field.element_bytes && (uintptr_t)values % column->field.element_bytes == 0;
    if (borrow && has_layout)
        column->borrowed = values;
    else if (!(is_handle ? copy_handles : copy_numbers)(column, values, stride, count))
        return false;
    return is_handle && !column->is_required ? count_handles(column, values, stride, count)
                                             : count_values(column, count, false);
}

static bool append_bits(micap_arrow_column *column, const char *values, size_t stride, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        if (!put_bits(&column->data, column->length + i, 1, values[i * stride] != 0))
            return false;
    return count_values(column, count, false);
}

static void put_run(micap_bytes *bytes, const char *text, uint32_t begin, uint32_t end)
{
    if (begin < end)
        micap_bytes_put(bytes, text + begin, end - begin);
}

/* Text for readers that rely on UTF-8. */
static void put_characters(micap_bytes *bytes, const char *text, uint32_t length)
{
    uint32_t begin = 0;
    for (uint32_t at = 0; at < length;) {
        uint32_t character = micap_character_bytes((const unsigned char *)text + at, length - at);
        at += character ? character : 1;
        if (character)
            continue;
        put_run(bytes, text, begin, at - 1);
        micap_bytes_put(bytes, "\xEF\xBF\xBD", 3);
        begin = at;
    }
    put_run(bytes, text, begin, length);
}

/* An array of characters ends with the first zero byte, or is full. */
static uint32_t text_length(const char *text, uint32_t capacity)
{
    const char *end = memchr(text, 0, capacity);
    return end ? (uint32_t)(end - text) : capacity;
}

static bool append_text(micap_arrow_column *column, const char *values, size_t stride, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const char *text = values + i * stride;
        const mica_text *dynamic = (const void *)text; /* which is aligned then */
        if (column->field.kind == MICA_KIND_TEXT)
            put_characters(&column->data, mica_text_get(dynamic), mica_text_length(dynamic));
        else
            put_characters(&column->data, text, text_length(text, column->field.count));
        if (column->data.failed || !put_offset(column, column->data.count))
            return false;
    }
    return count_values(column, count, false);
}

static bool append_lists(micap_arrow_column *column, const char *values, size_t stride, uint32_t count)
{
    micap_arrow_column *child = column->children[0];
    for (uint32_t i = 0; i < count; ++i) {
        const mica_list *list = (const void *)(values + i * stride);
        uint32_t length = mica_list_count(list);
        if (length && !micap_arrow_append(child, mica_list_items_type(list, column->field.type),
                                          column->field.type->size_bytes, length, false))
            return false;
        if (!put_offset(column, (uint64_t)child->length))
            return false;
    }
    return count_values(column, count, false);
}

/* Arrays that follow each other are one. */
static bool append_arrays(micap_arrow_column *column, const char *values, size_t stride, uint32_t count, bool borrow)
{
    uint32_t bytes = column->field.element_bytes, elements = column->field.count;
    bool is_dense = stride == (size_t)bytes * elements && (uint64_t)elements * count <= UINT32_MAX;
    if (is_dense && !micap_arrow_append(column->children[0], values, bytes, elements * count, borrow))
        return false;
    for (uint32_t i = 0; !is_dense && i < count; ++i)
        if (!micap_arrow_append(column->children[0], values + i * stride, bytes, elements, false))
            return false;
    return count_values(column, count, false);
}

static bool append_structs(micap_arrow_column *column, const char *values, size_t stride, uint32_t count, bool borrow)
{
    for (uint32_t i = 0; i < column->child_count; ++i)
        if (!micap_arrow_append(column->children[i], values + column->children[i]->field.offset, stride, count, borrow))
            return false;
    return count_values(column, count, false);
}

bool micap_arrow_append(micap_arrow_column *column, const char *values, size_t stride, uint32_t count, bool borrow)
{
    switch (micap_arrow_layout_of(&column->field)) {
    case MICAP_ARROW_BITS: return append_bits(column, values, stride, count);
    case MICAP_ARROW_TEXT: return append_text(column, values, stride, count);
    case MICAP_ARROW_LIST: return append_lists(column, values, stride, count);
    case MICAP_ARROW_ARRAY: return append_arrays(column, values, stride, count, borrow);
    case MICAP_ARROW_STRUCT: return append_structs(column, values, stride, count, borrow);
    default: return append_numbers(column, values, stride, count, borrow);
    }
}

bool micap_arrow_append_none(micap_arrow_column *column, uint32_t count, bool is_null)
{
    static const char zero[16];
    micap_arrow_layout layout = micap_arrow_layout_of(&column->field);
    for (uint32_t i = 0; layout == MICAP_ARROW_STRUCT && i < column->child_count; ++i)
        if (!micap_arrow_append_none(column->children[i], count, false))
            return false;
    for (uint32_t i = 0; layout == MICAP_ARROW_ARRAY && i < count; ++i)
        if (!micap_arrow_append_none(column->children[0], column->field.count, false))
            return false;
    for (uint32_t i = 0; (layout == MICAP_ARROW_TEXT || layout == MICAP_ARROW_LIST) && i < count; ++i)
        if (!put_offset(column,
                        layout == MICAP_ARROW_TEXT ? column->data.count : (uint64_t)column->children[0]->length))
            return false;
    if (layout == MICAP_ARROW_BITS && !put_bits(&column->data, column->length, count, false))
        return false;
    bool is_number = layout == MICAP_ARROW_NUMBER || layout == MICAP_ARROW_HANDLE;
    if (is_number && !copy_numbers(column, zero, 0, count))
        return false;
    return count_values(column, count, is_null || layout == MICAP_ARROW_HANDLE);
}

static void release_array(struct ArrowArray *array)
{
    micap_arrow_column *column = array->private_data;
    for (uint32_t i = 0; i < column->child_count; ++i)
        if (column->arrays[i].release) /* else it was moved elsewhere */
            column->arrays[i].release(&column->arrays[i]);
    free_column(column);
    array->release = NULL;
}

void micap_arrow_column_export(micap_arrow_column *column, struct ArrowArray *out_array)
{
    micap_arrow_layout layout = micap_arrow_layout_of(&column->field);
    bool has_offsets = layout == MICAP_ARROW_TEXT || layout == MICAP_ARROW_LIST;
    bool has_data = layout <= MICAP_ARROW_TEXT;
    column->buffers[0] = column->null_count ? column->validity.data : NULL;
    if (has_offsets)
        column->buffers[1] = column->offsets.data;
    if (has_data)
        column->buffers[1 + has_offsets] = column->borrowed ? column->borrowed : column->data.data;
    for (uint32_t i = 0; i < column->child_count; ++i) {
        micap_arrow_column_export(column->children[i], &column->arrays[i]);
        column->array_pointers[i] = &column->arrays[i];
    }
    *out_array = (struct ArrowArray){.length = column->length,
                                     .null_count = column->null_count,
                                     .n_buffers = 1 + has_offsets + has_data,
                                     .n_children = column->child_count,
                                     .buffers = column->buffers,
                                     .children = column->child_count ? column->array_pointers : NULL,
                                     .release = release_array,
                                     .private_data = column};
}
