/* Mica, list: an array of any length as a field of a component.
 *
 *     typedef struct Item { mica_text name; uint32_t count; } Item;
 *     MICA_STRUCT(Item, name, count)
 *
 *     typedef struct Person { mica_text name; mica_list inventory, scores; } Person;
 *     MICA_COMPONENT(Person, name, (inventory, Item), (scores, float))
 *
 *     Item *rope = mica_list_append(&person->inventory, Item);
 *     mica_text_set(&rope->name, "rope");
 *     mica_list_add(&person->scores, float, 7.5f);
 *
 *     const Item *items = mica_list_items(&person->inventory, Item);
 *     for (uint32_t i = 0; i < mica_list_count(&person->inventory); ++i)
 *         puts(mica_text_get(&items[i].name));
 *
 * The description of the component names the type of the elements, in parentheses: a described struct, enum or flags type, mica_text,
 * mica_entity, mica_asset, bool, char, float, double, int, or an integer such as uint8_t or int64_t. Their alignment is at most 8.
 *
 * A list that is a described field of a component, or of a struct or list inside one, belongs to the world: it is copied, destroyed,
 * hashed and kept by snapshots with the component, and the program frees nothing. Copies share the elements until one of them is written.
 * All zero is the empty list. A list that is no field of a component is freed with mica_list_clear. Assigning a struct does not copy its
 * lists: both would be the same list. Use mica_list_copy, or mica_set for a whole component.
 *
 * Every function takes the type of the elements. A list whose elements have another size is left alone, with a report. Pointers to
 * elements are valid until the list is written or copied, or the component moves or is destroyed.
 */
#ifndef MICA_LIST_H
#define MICA_LIST_H

#include "mica/text.h"

MICA_BEGIN

struct mica_type;

enum { MICA_LIST_COUNT_MAX = (1 << 26) - 1 }; /* and MICA_LIST_BYTES_MAX bytes */
enum { MICA_LIST_BYTES_MAX = 256 << 20 };

/* An array of any length. */
typedef struct mica_list {
    union {
        void *
            items; /* NULL: empty. Four bytes before it contain the number of elements, and what the allocator needs. */
        uint64_t bits; /* eight bytes on every machine */
    } private_;
} mica_list;

/* Returns the number of elements; 0 for NULL. Threads: reader. */
static inline uint32_t mica_list_count(const mica_list *list)
{
    uint32_t count = 0;
    if (list && list->private_.items)
        memcpy(&count, (const char *)list->private_.items - 4, sizeof count);
    return count & MICA_LIST_COUNT_MAX;
}

/* Returns all elements to read, or NULL if there are none. Threads: reader. */
#define mica_list_items(list, T) ((const T *)mica_list_items_type((list), &mica_type_of_##T))
MICA_API const void *mica_list_items_type(const mica_list *list, const struct mica_type *element);

/* Returns all elements to write; NULL if there are none, or if memory runs out while they are copied because another list shares them.
 * Threads: one per list. */
#define mica_list_write(list, T) ((T *)mica_list_write_type((list), &mica_type_of_##T))
MICA_API void *mica_list_write_type(mica_list *list, const struct mica_type *element);

/* Inserts a new element, which is zero, at the end or before `position`, and returns it. Returns NULL if memory runs out, the position is
 * greater than the count, or the list is full; the list is unchanged then. Threads: one per list, as for all below. */
#define mica_list_append(list, T) ((T *)mica_private_list_append((list), &mica_type_of_##T, sizeof(T)))
MICA_API void *mica_list_append_type(mica_list *list, const struct mica_type *element);
#define mica_list_insert(list, T, position) ((T *)mica_list_insert_type((list), &mica_type_of_##T, (position), 1))

/* The same for several elements. A position of UINT32_MAX is the end. Threads: one per list. */
MICA_API void *mica_list_insert_type(mica_list *list, const struct mica_type *element, uint32_t position,
                                     uint32_t count);

/* Appends copies of values: mica_list_add(&scores, float, 7.5f, 8), mica_list_add(&points, Vec3, {1, 2, 3}). Returns what
 * mica_list_assign returns. */
#define mica_list_add(list, T, ...)                                                                                    \
    mica_list_replace_type((list), &mica_type_of_##T, UINT32_MAX, 0, (const T[]){__VA_ARGS__},                         \
                           (uint32_t)(sizeof((const T[]){__VA_ARGS__}) / sizeof(T)))

/* Makes the elements copies of an array of `count` values, which may be a part of the list itself. Returns MICA_ERROR_MEMORY or
 * MICA_ERROR_LIMIT if there is no room; the list is unchanged then. */
#define mica_list_assign(list, T, values, count)                                                                       \
    mica_list_replace_type((list), &mica_type_of_##T, 0, UINT32_MAX, (const T *){(values)}, (count))

/* Replaces `removed` elements from `position` by copies of `count` values. A position of UINT32_MAX is the end; a `removed` of UINT32_MAX
 * is all from there on. Returns what mica_list_assign returns. Threads: one per list. */
MICA_API mica_result mica_list_replace_type(mica_list *list, const struct mica_type *element, uint32_t position,
                                            uint32_t removed, const void *values, uint32_t count);

/* Removes the element at a position; the order of the others stays. Returns what mica_list_assign returns, and MICA_ERROR_INVALID if
 * there is no such element. */
#define mica_list_remove(list, T, position) mica_list_remove_type((list), &mica_type_of_##T, (position), 1)
/* The same for several elements. Threads: one per list. */
MICA_API mica_result mica_list_remove_type(mica_list *list, const struct mica_type *element, uint32_t position,
                                           uint32_t count);

/* Removes elements from the end, or appends new ones, which are zero. Returns what mica_list_assign returns. Threads: one per list. */
#define mica_list_resize(list, T, count) mica_list_resize_type((list), &mica_type_of_##T, (count))
MICA_API mica_result mica_list_resize_type(mica_list *list, const struct mica_type *element, uint32_t count);

/* Makes `list` a copy of another, which costs the same for any length. Returns what mica_list_assign returns. Threads: one per
 * list. */
#define mica_list_copy(list, T, from) mica_list_copy_type((list), &mica_type_of_##T, (from))
MICA_API mica_result mica_list_copy_type(mica_list *list, const struct mica_type *element, const mica_list *from);

/* Removes all elements, and frees what the list has. NULL is a no-op. Threads: one per list. */
#define mica_list_clear(list, T) mica_list_clear_type((list), &mica_type_of_##T)
MICA_API void mica_list_clear_type(mica_list *list, const struct mica_type *element);

/* Private: what lies before the elements, for the inline fast path of mica_list_append: two numbers, the owners and the count. */
enum {
    MICA_PRIVATE_LIST_HEAD_BYTES = 8,
    MICA_PRIVATE_LIST_OWNER = 1 << 14, /* one owner; below are the bytes of an element, and MICA_PRIVATE_LIST_OWNS */
    MICA_PRIVATE_LIST_OWNS = 1 << 13,  /* the elements have text or lists */
    MICA_PRIVATE_LIST_ELEMENT_MAX = (1 << 13) - 1, /* bytes of an element, or more */
    MICA_PRIVATE_LIST_SIZE_SHIFT = 26,             /* the number of the size of the block is above the count */
};
/* The bytes of a block by the number of its size, with the head. Threads: any. */
MICA_API extern const uint32_t mica_private_block_bytes[];

/* Appends to a list with one owner and room for one more, and leaves everything else to the library. Threads: one per list. */
static inline void *mica_private_list_append(mica_list *list, const struct mica_type *element, size_t bytes)
{
    if (MICA_EXPECT_(!list || !list->private_.items || bytes >= MICA_PRIVATE_LIST_ELEMENT_MAX, 0))
        return mica_list_append_type(list, element);
    uint32_t *head = (uint32_t *)list->private_.items - 2;
    uint32_t owners = MICA_LOAD_(head, MICA_ACQUIRE_) & ~(uint32_t)MICA_PRIVATE_LIST_OWNS;
    size_t before = head[1] & MICA_LIST_COUNT_MAX, end = (before + 1) * bytes + MICA_PRIVATE_LIST_HEAD_BYTES;
    if (MICA_EXPECT_(owners != (MICA_PRIVATE_LIST_OWNER | (uint32_t)bytes) ||
                         (bytes < 4 && before == MICA_LIST_COUNT_MAX) || /* of larger ones, fewer fit into a block */
                         end > mica_private_block_bytes[head[1] >> MICA_PRIVATE_LIST_SIZE_SHIFT],
                     0))
        return mica_list_append_type(list, element);
    ++head[1];
    return memset((char *)list->private_.items + before * bytes, 0, bytes);
}

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_list_items_type(...) MICA_AT_(mica_list_items_type(__VA_ARGS__))
#    define mica_list_write_type(...) MICA_AT_(mica_list_write_type(__VA_ARGS__))
#    define mica_list_append_type(...) MICA_AT_(mica_list_append_type(__VA_ARGS__))
#    define mica_private_list_append(...) MICA_AT_(mica_private_list_append(__VA_ARGS__))
#    define mica_list_insert_type(...) MICA_AT_(mica_list_insert_type(__VA_ARGS__))
#    define mica_list_replace_type(...) MICA_AT_(mica_list_replace_type(__VA_ARGS__))
#    define mica_list_remove_type(...) MICA_AT_(mica_list_remove_type(__VA_ARGS__))
#    define mica_list_resize_type(...) MICA_AT_(mica_list_resize_type(__VA_ARGS__))
#    define mica_list_copy_type(...) MICA_AT_(mica_list_copy_type(__VA_ARGS__))
#    define mica_list_clear_type(...) MICA_AT_(mica_list_clear_type(__VA_ARGS__))
#endif

#endif
