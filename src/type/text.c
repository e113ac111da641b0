#include "type/text.h"

#include "base/argument.h"

/* A text of up to MICA_TEXT_IN_PLACE bytes never has a block, and bytes that it does not use are zero: equal texts are equal bytes. */
static mica_text short_text(const char *bytes, size_t length)
{
    mica_text text = {0};
    if (length)
        memcpy(text.private_.bytes, bytes, length);
    text.private_.bytes[15] = (char)length;
    return text;
}

static mica_text long_text(const char *bytes, uint32_t length, uint8_t form)
{
    mica_text text = {0};
    memcpy(text.private_.bytes, &bytes, sizeof bytes);
    memcpy(text.private_.bytes + 8, &length, sizeof length);
    text.private_.bytes[15] = (char)form;
    return text;
}

static void finish(micap_heap_block *block, uint32_t length)
{
    ((char *)micap_heap_block_elements(block))[length] = 0;
    micap_heap_block_set_count(block, length);
}

/* A block with room for `capacity` bytes that contains `length` bytes. NULL if memory is short. */
static micap_heap_block *make_block(const char *bytes, uint32_t length, size_t capacity)
{
    micap_heap_block *block = micap_heap_block_create(capacity + 1, 1);
    if (!block)
        return NULL;
    memcpy(micap_heap_block_elements(block), bytes, length);
    finish(block, length);
    return block;
}

static micap_heap_block *block_of(const mica_text *text)
{
    return micap_heap_block_of(mica_text_get(text));
}

void micap_text_release(mica_text *text)
{
    if (micap_text_has_block(text) && micap_heap_block_leave(block_of(text)))
        micap_heap_block_destroy(block_of(text));
}

bool micap_text_retain(mica_text *text)
{
    uint8_t form = micap_text_form(text);
    if (form <= MICA_TEXT_IN_PLACE || (form == MICA_PRIVATE_TEXT_BLOCK && micap_heap_block_share(block_of(text))))
        return true;
    uint32_t length = mica_text_length(text);
    micap_heap_block *block = make_block(mica_text_get(text), length, length);
    if (block)
        *text = long_text(micap_heap_block_elements(block), length, MICA_PRIVATE_TEXT_BLOCK);
    return block != NULL;
}

const char *micap_text_problem(const mica_text *text)
{
    uint8_t form = micap_text_form(text);
    if (form <= MICA_TEXT_IN_PLACE)
        return form < MICA_TEXT_IN_PLACE && text->private_.bytes[form] ? "a text in place ends with zero" : NULL;
    if (form != MICA_PRIVATE_TEXT_BLOCK)
        return "a text of a world has its own memory";
    uint32_t length = mica_text_length(text);
    if (length <= MICA_TEXT_IN_PLACE || length != micap_heap_block_count(block_of(text)) || mica_text_get(text)[length])
        return "a long text has its length in its block, and ends with zero";
    return NULL;
}

mica_text mica_text_of(const char *characters)
{
    size_t length = characters ? strlen(characters) : 0;
    if (length <= MICA_TEXT_IN_PLACE)
        return short_text(characters, length);
    if (MICAP_INVALID(NULL, length > MICA_TEXT_BYTES_MAX, characters, "is longer than MICA_TEXT_BYTES_MAX"))
        return (mica_text){0};
    return long_text(characters, (uint32_t)length, MICA_PRIVATE_TEXT_BORROWED);
}

/* Whether the text has a block that no other text shares and that has room. */
static inline bool can_write(const mica_text *text, size_t length)
{
    return micap_text_has_block(text) && !micap_heap_block_is_shared(block_of(text)) &&
           micap_heap_block_has_room(block_of(text), length + 1);
}

/* The fast path of setting: a long text in the block that it has. Only its length changes. */
static inline bool overwrite(mica_text *text, const char *bytes, size_t length)
{
    if (length <= MICA_TEXT_IN_PLACE || length > MICA_TEXT_BYTES_MAX || !can_write(text, length))
        return false;
    micap_heap_block *block = block_of(text);
    uint32_t count = (uint32_t)length;
    memmove(micap_heap_block_elements(block), bytes, length);
    finish(block, count);
    memcpy(text->private_.bytes + 8, &count, sizeof count);
    return true;
}

mica_result mica_text_set_bytes(mica_text *text, const char *bytes, size_t length)
{
    if (MICAP_MISSING(NULL, text) || MICAP_MISSING_ARRAY(NULL, bytes, length))
        return MICA_ERROR_INVALID;
    if (MICAP_INVALID(NULL, length > MICA_TEXT_BYTES_MAX, length, "must not be more than MICA_TEXT_BYTES_MAX"))
        return MICA_ERROR_LIMIT;
    if (length <= MICA_TEXT_IN_PLACE) {
        mica_text fresh = short_text(bytes, length);
        micap_text_release(text);
        *text = fresh;
        return MICA_OK;
    }
    if (overwrite(text, bytes, length))
        return MICA_OK;
    micap_heap_block *block = make_block(bytes, (uint32_t)length, length);
    if (!block)
        return MICA_ERROR_MEMORY;
    micap_text_release(text);
    *text = long_text(micap_heap_block_elements(block), (uint32_t)length, MICA_PRIVATE_TEXT_BLOCK);
    return MICA_OK;
}

mica_result mica_text_set(mica_text *text, const char *characters)
{
    if (MICAP_MISSING(NULL, text) || MICAP_MISSING(NULL, characters))
        return MICA_ERROR_INVALID;
    size_t length = strlen(characters);
    return overwrite(text, characters, length) ? MICA_OK : mica_text_set_bytes(text, characters, length);
}

/* A block grows to at least twice what it has, so that appending many times costs as much as one copy. */
mica_result mica_text_append_bytes(mica_text *text, const char *bytes, size_t length)
{
    if (MICAP_MISSING(NULL, text) || MICAP_MISSING_ARRAY(NULL, bytes, length))
        return MICA_ERROR_INVALID;
    uint32_t before = mica_text_length(text);
    if (MICAP_INVALID(NULL, length > MICA_TEXT_BYTES_MAX - before, length, "must not be more than there is room for"))
        return MICA_ERROR_LIMIT;
    uint32_t after = before + (uint32_t)length;
    if (!length)
        return MICA_OK;
    if (after <= MICA_TEXT_IN_PLACE) {
        mica_text fresh = short_text(mica_text_get(text), before);
        memmove(fresh.private_.bytes + before, bytes, length);
        fresh.private_.bytes[15] = (char)after;
        *text = fresh;
        return MICA_OK;
    }
    bool in_place = can_write(text, after);
    micap_heap_block *block =
        in_place ? block_of(text) : make_block(mica_text_get(text), before, after > 2 * before ? after : 2 * before);
    if (!block)
        return MICA_ERROR_MEMORY;
    memmove((char *)micap_heap_block_elements(block) + before, bytes, length);
    finish(block, after);
    if (!in_place)
        micap_text_release(text);
    *text = long_text(micap_heap_block_elements(block), after, MICA_PRIVATE_TEXT_BLOCK);
    return MICA_OK;
}

mica_result mica_text_append(mica_text *text, const char *characters)
{
    if (MICAP_MISSING(NULL, text) || MICAP_MISSING(NULL, characters))
        return MICA_ERROR_INVALID;
    return mica_text_append_bytes(text, characters, strlen(characters));
}

mica_result mica_text_copy(mica_text *text, const mica_text *from)
{
    if (MICAP_MISSING(NULL, text) || MICAP_MISSING(NULL, from))
        return MICA_ERROR_INVALID;
    mica_text fresh = *from;
    if (!micap_text_retain(&fresh))
        return MICA_ERROR_MEMORY;
    micap_text_release(text);
    *text = fresh;
    return MICA_OK;
}

void mica_text_clear(mica_text *text)
{
    if (!text)
        return;
    micap_text_release(text);
    *text = (mica_text){0};
}

int mica_text_compare(const mica_text *a, const mica_text *b)
{
    uint32_t length_a = mica_text_length(a), length_b = mica_text_length(b);
    int order = memcmp(mica_text_get(a), mica_text_get(b), length_a < length_b ? length_a : length_b);
    return order ? order : (length_a > length_b) - (length_a < length_b);
}

bool mica_text_is(const mica_text *text, const char *characters)
{
    size_t length = characters ? strlen(characters) : 0;
    return length == mica_text_length(text) && (!length || memcmp(mica_text_get(text), characters, length) == 0);
}
