#include "type/list.h"

#include "base/argument.h"
#include "type/owned.h"
#include "type/values.h"

enum { FIRST_BYTES = 16 }; /* of the elements that the first block has room for */

static micap_heap_block *block_of(const mica_list *list)
{
    return list->private_.items ? micap_heap_block_of(list->private_.items) : NULL;
}

static void set_block(mica_list *list, micap_heap_block *block)
{
    *list = (mica_list){0};
    list->private_.items = block ? micap_heap_block_elements(block) : NULL;
}

static uint32_t element_form(const mica_type *element)
{
    return element->size_bytes < MICA_PRIVATE_LIST_ELEMENT_MAX ? element->size_bytes : MICA_PRIVATE_LIST_ELEMENT_MAX;
}

static bool owns(const micap_heap_block *block)
{
    return micap_heap_block_form(block) & MICA_PRIVATE_LIST_OWNS;
}

static char *element_at(micap_heap_block *block, const mica_type *element, uint32_t position)
{
    return (char *)micap_heap_block_elements(block) + (size_t)position * element->size_bytes;
}

/* A block without elements that has room for so many. NULL if memory is short. */
static micap_heap_block *make_block(const mica_type *element, uint32_t capacity)
{
    uint32_t form = element_form(element) | (micap_type_owns(element) ? MICA_PRIVATE_LIST_OWNS : 0);
    return micap_heap_block_create((size_t)capacity * element->size_bytes, form);
}

/* Puts copies of values where the block has room. False if memory is short. */
static bool copy_into(micap_heap_block *block, const mica_type *element, uint32_t position, const void *values,
                      uint32_t count)
{
    if (count)
        memcpy(element_at(block, element, position), values, (size_t)count * element->size_bytes);
    return !owns(block) || micap_owned_retain(element, element_at(block, element, position), count);
}

/* A block with copies of values. NULL if memory is short. */
static micap_heap_block *copy_block(const mica_type *element, const void *values, uint32_t count, uint32_t capacity)
{
    micap_heap_block *block = make_block(element, capacity);
    if (!block || copy_into(block, element, 0, values, count)) {
        if (block)
            micap_heap_block_set_count(block, count);
        return block;
    }
    micap_heap_block_destroy(block);
    return NULL;
}

void micap_list_release(mica_list *list, const mica_type *element)
{
    micap_heap_block *block = block_of(list);
    if (!block || !micap_heap_block_leave(block))
        return;
    if (owns(block))
        micap_owned_release(element, list->private_.items, micap_heap_block_count(block));
    micap_heap_block_destroy(block);
}

bool micap_list_retain(mica_list *list, const mica_type *element)
{
    micap_heap_block *block = block_of(list);
    if (!block || micap_heap_block_share(block))
        return true;
    uint32_t count = micap_heap_block_count(block);
    micap_heap_block *fresh = copy_block(element, list->private_.items, count, count);
    set_block(list, fresh);
    return fresh != NULL;
}

const char *micap_list_problem(const mica_list *list, const mica_type *element)
{
    micap_heap_block *block = block_of(list);
    if (!block)
        return NULL;
    uint32_t count = micap_heap_block_count(block);
    if (!count || owns(block) != micap_type_owns(element) ||
        (micap_heap_block_form(block) & MICA_PRIVATE_LIST_ELEMENT_MAX) != element_form(element))
        return "the block of a list has elements of the described type";
    const char *problem = NULL;
    for (uint32_t i = 0; !problem && owns(block) && i < count; ++i)
        problem = micap_owned_problem(element, element_at(block, element, i));
    return problem;
}

/* The elements that a list of `count` gets room for when it needs `needed`: twice as many, and not less than a few, so that a list
 * that is filled one by one moves seldom. */
static uint32_t capacity_for(const mica_type *element, uint32_t count, uint32_t needed)
{
    uint32_t most = MICA_LIST_BYTES_MAX / element->size_bytes;
    uint32_t twice = count > most / 2 ? most : 2 * count, few = FIRST_BYTES / element->size_bytes;
    twice = twice > few ? twice : few;
    return needed > twice ? needed : twice;
}

/* Makes the list the only owner of a block with room for so many elements. NULL if memory is short: the list stays as it is. */
static MICAP_INLINE micap_heap_block *own(mica_list *list, const mica_type *element, uint32_t needed)
{
    micap_heap_block *block = block_of(list), *fresh;
    bool is_shared = block && micap_heap_block_is_shared(block);
    if (block && !is_shared && micap_heap_block_has_room(block, (size_t)needed * element->size_bytes))
        return block;
    uint32_t before = block ? micap_heap_block_count(block) : 0;
    uint32_t capacity = needed > before ? capacity_for(element, before, needed) : needed;
    if (!block) {
        fresh = make_block(element, capacity);
    } else if (!is_shared) {
        fresh = micap_heap_block_reserve(block, (size_t)capacity * element->size_bytes);
    } else {
        fresh = copy_block(element, list->private_.items, before, capacity);
        if (fresh)
            micap_list_release(list, element);
    }
    if (fresh)
        set_block(list, fresh);
    return fresh;
}

/* Whether the type can be that of the elements of the list. */
static MICAP_INLINE bool fits(const char *function, const mica_list *list, const mica_type *element)
{
    if (MICAP_INVALID_IN_(NULL, function, !list, "list", "must not be NULL") ||
        MICAP_INVALID_IN_(NULL, function, !element, "element", "must not be NULL") ||
        MICAP_INVALID_IN_(NULL, function, !element->size_bytes || element->alignment > 8, "element",
                          "must have a size, and an alignment of at most 8"))
        return false;
    const micap_heap_block *block = block_of(list);
    return !MICAP_INVALID_IN_(NULL, function,
                              block && (micap_heap_block_form(block) & MICA_PRIVATE_LIST_ELEMENT_MAX) !=
                                           element_form(element),
                              "element", "has another size than the elements of the list");
}

static bool is_too_long(const mica_type *element, uint64_t count)
{
    return count > MICA_LIST_COUNT_MAX || count * element->size_bytes > MICA_LIST_BYTES_MAX;
}

const void *mica_list_items_type(const mica_list *list, const mica_type *element)
{
    return fits(__func__, list, element) ? list->private_.items : NULL;
}

void *mica_list_write_type(mica_list *list, const mica_type *element)
{
    uint32_t count = mica_list_count(list);
    if (!fits(__func__, list, element) || !count || !own(list, element, count))
        return NULL;
    return list->private_.items;
}

/* Makes room for elements, which are uninitialized. NULL if memory is short: the list stays as it is. */
static MICAP_INLINE char *open_gap(mica_list *list, const mica_type *element, uint32_t position, uint32_t count)
{
    uint32_t before = mica_list_count(list);
    micap_heap_block *block = own(list, element, before + count);
    if (!block)
        return NULL;
    char *gap = element_at(block, element, position);
    if (position < before)
        memmove(gap + (size_t)count * element->size_bytes, gap, (size_t)(before - position) * element->size_bytes);
    micap_heap_block_set_count(block, before + count);
    return gap;
}

/* Removes elements that own nothing, but not all, from a block with one owner. */
static void close_gap(mica_list *list, const mica_type *element, uint32_t position, uint32_t count)
{
    micap_heap_block *block = block_of(list);
    uint32_t after = micap_heap_block_count(block) - count;
    char *gap = element_at(block, element, position);
    memmove(gap, gap + (size_t)count * element->size_bytes, (size_t)(after - position) * element->size_bytes);
    micap_heap_block_set_count(block, after);
}

/* Inserts elements that are zero, for the function of this name. */
static MICAP_INLINE void *insert(const char *function, mica_list *list, const mica_type *element, uint32_t position,
                                 uint32_t count)
{
    uint32_t before = mica_list_count(list);
    position = position == UINT32_MAX ? before : position;
    if (!fits(function, list, element) ||
        MICAP_INVALID_IN_(NULL, function, position > before, "position",
                          "must not be greater than the number of elements") ||
        MICAP_INVALID_IN_(NULL, function, !count || is_too_long(element, (uint64_t)before + count), "count",
                          "must not be 0, nor more than a list can have"))
        return NULL;
    char *gap = open_gap(list, element, position, count);
    return gap ? memset(gap, 0, (size_t)count * element->size_bytes) : NULL;
}

void *mica_list_insert_type(mica_list *list, const mica_type *element, uint32_t position, uint32_t count)
{
    return insert(__func__, list, element, position, count);
}

void *mica_list_append_type(mica_list *list, const mica_type *element)
{
    return insert(__func__, list, element, UINT32_MAX, 1);
}

/* Whether values lie in the block of a list, which may move. */
static bool is_inside(const mica_list *list, const mica_type *element, const void *values)
{
    uintptr_t at = (uintptr_t)values, begin = (uintptr_t)list->private_.items;
    return begin && at >= begin && at < begin + (size_t)mica_list_count(list) * element->size_bytes;
}

static mica_result assign(mica_list *list, const mica_type *element, const void *values, uint32_t count)
{
    micap_heap_block *block = count ? copy_block(element, values, count, count) : NULL;
    if (count && !block)
        return MICA_ERROR_MEMORY;
    micap_list_release(list, element);
    set_block(list, block);
    return MICA_OK;
}

/* `removed` elements are fewer than all, and the values are not in the list. */
static mica_result replace(mica_list *list, const mica_type *element, uint32_t position, uint32_t removed,
                           const void *values, uint32_t count)
{
    uint32_t before = mica_list_count(list);
    if (count ? !open_gap(list, element, position, count) : !own(list, element, before))
        return MICA_ERROR_MEMORY;
    if (!copy_into(block_of(list), element, position, values, count)) {
        close_gap(list, element, position, count);
        return MICA_ERROR_MEMORY;
    }
    if (removed && owns(block_of(list)))
        micap_owned_release(element, element_at(block_of(list), element, position + count), removed);
    close_gap(list, element, position + count, removed);
    return MICA_OK;
}

mica_result mica_list_replace_type(mica_list *list, const mica_type *element, uint32_t position, uint32_t removed,
                                   const void *values, uint32_t count)
{
    uint32_t before = mica_list_count(list);
    if (!fits(__func__, list, element) || MICAP_MISSING_ARRAY(NULL, values, count))
        return MICA_ERROR_INVALID;
    position = position == UINT32_MAX ? before : position;
    if (MICAP_INVALID(NULL, position > before, position, "must not be greater than the number of elements"))
        return MICA_ERROR_INVALID;
    removed = removed == UINT32_MAX ? before - position : removed;
    if (MICAP_INVALID(NULL, removed > before - position, removed, "must not be greater than the number of elements"))
        return MICA_ERROR_INVALID;
    if (MICAP_INVALID(NULL, is_too_long(element, (uint64_t)before - removed + count), count,
                      "is more than a list can have"))
        return MICA_ERROR_LIMIT;
    if (removed == before)
        return assign(list, element, values, count);
    if (!is_inside(list, element, values))
        return replace(list, element, position, removed, values, count);
    mica_list copy = {0};
    mica_result result = assign(&copy, element, values, count);
    if (result == MICA_OK)
        result = replace(list, element, position, removed, copy.private_.items, count);
    micap_list_release(&copy, element);
    return result;
}

mica_result mica_list_remove_type(mica_list *list, const mica_type *element, uint32_t position, uint32_t count)
{
    uint32_t before = mica_list_count(list);
    if (!fits(__func__, list, element) || MICAP_INVALID(NULL, position > before || count > before - position, position,
                                                        "must be the position of an element"))
        return MICA_ERROR_INVALID;
    return count == before ? assign(list, element, NULL, 0) : replace(list, element, position, count, NULL, 0);
}

mica_result mica_list_resize_type(mica_list *list, const mica_type *element, uint32_t count)
{
    uint32_t before = mica_list_count(list);
    if (!fits(__func__, list, element))
        return MICA_ERROR_INVALID;
    if (MICAP_INVALID(NULL, is_too_long(element, count), count, "is more than a list can have"))
        return MICA_ERROR_LIMIT;
    if (count <= before)
        return mica_list_remove_type(list, element, count, before - count);
    return mica_list_insert_type(list, element, before, count - before) ? MICA_OK : MICA_ERROR_MEMORY;
}

mica_result mica_list_copy_type(mica_list *list, const mica_type *element, const mica_list *from)
{
    if (!fits(__func__, list, element) || !fits(__func__, from, element))
        return MICA_ERROR_INVALID;
    mica_list fresh = *from;
    if (!micap_list_retain(&fresh, element))
        return MICA_ERROR_MEMORY;
    micap_list_release(list, element);
    *list = fresh;
    return MICA_OK;
}

void mica_list_clear_type(mica_list *list, const mica_type *element)
{
    if (!list || !fits(__func__, list, element))
        return;
    micap_list_release(list, element);
    set_block(list, NULL);
}
