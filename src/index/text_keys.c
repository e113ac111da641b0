#include "index/text_keys.h"

#include "base/assert.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* New words are spread over the middle half of all words. Those of texts before the first and after the last one are at most this far from
 * each other, so that texts which come in order leave room for more. */
#define FIRST_WORD ((uint64_t)1 << 62)
#define LAST_WORD ((uint64_t)3 << 62)
#define END_STEP ((uint64_t)1 << 32)

enum { SLOTS_MIN = 16 };

static size_t entry_bytes(uint32_t length)
{
    return sizeof(micap_text_entry) + length + 1;
}

static uint64_t hash_of(const char *text, uint32_t length)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_bytes(&hasher, text, length);
    return micap_hasher_finish(&hasher);
}

static int compare_bytes(const char *a, uint32_t a_length, const char *b, uint32_t b_length)
{
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order ? order : (a_length > b_length) - (a_length < b_length);
}

static int compare_entries(const void *one, const void *two)
{
    const micap_text_entry *a = *(micap_text_entry *const *)one, *b = *(micap_text_entry *const *)two;
    return compare_bytes(a->text, a->length, b->text, b->length);
}

/* The slot of a text, or the empty one where it would be. There is an empty one. */
static micap_text_entry **slot_of(const micap_text_keys *keys, const char *text, uint32_t length, uint64_t hash)
{
    uint32_t mask = keys->slot_count - 1, at = (uint32_t)hash & mask;
    for (const micap_text_entry *entry; (entry = keys->slots[at]) != NULL; at = (at + 1) & mask)
        if (entry->hash == hash && entry->length == length && memcmp(entry->text, text, length) == 0)
            break;
    return &keys->slots[at];
}

static void fill_slots(micap_text_keys *keys)
{
    memset(keys->slots, 0, keys->slot_count * sizeof *keys->slots);
    for (uint32_t i = 0; i < keys->count + keys->fresh_count; ++i) {
        micap_text_entry *entry = i < keys->count ? keys->sorted[i] : keys->fresh[i - keys->count];
        *slot_of(keys, entry->text, entry->length, entry->hash) = entry;
    }
}

/* Makes room for one more text: at least half of the slots stay empty. */
static bool reserve_slot(micap_memory *memory, micap_text_keys *keys)
{
    uint64_t used = (uint64_t)keys->count + keys->fresh_count + 1, wanted = SLOTS_MIN;
    while (wanted < 2 * used)
        wanted *= 2;
    if (wanted <= keys->slot_count)
        return true;
    micap_text_entry **slots = micap_allocate(memory, wanted * sizeof *slots, MICAP_ARRAY_ALIGNMENT);
    if (!slots)
        return false;
    MICAP_RELEASE_ARRAY(memory, keys->slots, keys->slot_count);
    keys->slots = slots;
    keys->slot_count = (uint32_t)wanted;
    fill_slots(keys);
    return true;
}

void micap_text_keys_begin(micap_text_keys *keys)
{
    ++keys->serial;
}

bool micap_text_keys_note(micap_memory *memory, micap_text_keys *keys, const char *text, uint32_t length)
{
    uint64_t hash = hash_of(text, length);
    micap_text_entry *known = keys->slot_count ? *slot_of(keys, text, length, hash) : NULL;
    if (known) {
        known->serial = keys->serial;
        return true;
    }
    if (!reserve_slot(memory, keys) ||
        !MICAP_RESERVE(memory, keys->fresh, &keys->fresh_capacity, (uint64_t)keys->fresh_count + 1))
        return false;
    micap_text_entry *entry = micap_allocate(memory, entry_bytes(length), MICAP_ARRAY_ALIGNMENT);
    if (!entry)
        return false;
    *entry = (micap_text_entry){.hash = hash, .serial = keys->serial, .length = length};
    memcpy(entry->text, text, length);
    entry->text[length] = 0;
    keys->fresh[keys->fresh_count++] = entry;
    *slot_of(keys, text, length, hash) = entry;
    return true;
}

/* How many texts with a word are less than this one, or, with `or_equal`, not greater. */
static uint32_t count_below(const micap_text_keys *keys, const char *text, uint32_t length, bool or_equal)
{
    uint32_t low = 0, end = keys->count;
    while (low < end) {
        uint32_t middle = low + (end - low) / 2;
        const micap_text_entry *entry = keys->sorted[middle];
        if (compare_bytes(entry->text, entry->length, text, length) < (or_equal ? 1 : 0))
            low = middle + 1;
        else
            end = middle;
    }
    return low;
}

/* Gives words to `count` texts that come one after the other between two words; false if there is no room. */
static bool spread(micap_text_entry **entries, uint32_t count, uint64_t before, uint64_t after)
{
    uint64_t step = (after - before) / ((uint64_t)count + 1);
    for (uint32_t i = 0; i < count && step; ++i)
        entries[i]->word = before + step * (i + 1);
    return step != 0;
}

/* The words between which texts at a place get theirs. */
static void find_room(const micap_text_keys *keys, uint32_t place, uint32_t count, uint64_t *out_before,
                      uint64_t *out_after)
{
    uint64_t near = END_STEP * ((uint64_t)count + 1);
    uint64_t before = place ? keys->sorted[place - 1]->word : 0;
    uint64_t after = place < keys->count ? keys->sorted[place]->word : UINT64_MAX;
    if (!keys->count) {
        before = FIRST_WORD;
        after = LAST_WORD;
    } else if (!place) {
        before = after > near ? after - near : 0;
    } else if (place == keys->count) {
        after = UINT64_MAX - before > near ? before + near : UINT64_MAX;
    }
    *out_before = before;
    *out_after = after;
}

/* Gives words to the fresh texts, which are sorted, between those of their neighbours; false if there is no room somewhere. */
static bool fit_fresh(micap_text_keys *keys)
{
    for (uint32_t i = 0, run; i < keys->fresh_count; i += run) {
        micap_text_entry *first = keys->fresh[i];
        uint32_t place = count_below(keys, first->text, first->length, false);
        uint64_t before, after;
        for (run = 1; i + run < keys->fresh_count; ++run)
            if (place < keys->count && compare_entries(&keys->fresh[i + run], &keys->sorted[place]) > 0)
                break;
        find_room(keys, place, run, &before, &after);
        if (!spread(keys->fresh + i, run, before, after))
            return false;
    }
    return true;
}

/* Moves the fresh texts to their places among the others, for which there is room. */
static void merge_fresh(micap_text_keys *keys)
{
    uint32_t old = keys->count, fresh = keys->fresh_count;
    keys->count += fresh;
    for (uint32_t at = keys->count; fresh; --at) {
        bool is_old = old && compare_entries(&keys->sorted[old - 1], &keys->fresh[fresh - 1]) > 0;
        keys->sorted[at - 1] = is_old ? keys->sorted[--old] : keys->fresh[--fresh];
    }
    keys->fresh_count = 0;
}

/* The text of a word. */
static micap_text_entry *find_word(const micap_text_keys *keys, uint64_t word)
{
    uint32_t low = 0, end = keys->count;
    while (end - low > 1) {
        uint32_t middle = low + (end - low) / 2;
        if (keys->sorted[middle]->word <= word)
            low = middle;
        else
            end = middle;
    }
    MICAP_ASSERT(low < end && keys->sorted[low]->word == word, "a tracked word is that of a text");
    return keys->sorted[low];
}

/* Frees the texts that no tracked entity has and that this update did not note. */
static void purge(micap_memory *memory, micap_text_keys *keys)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < keys->count; ++i) {
        micap_text_entry *entry = keys->sorted[i];
        if (entry->serial == keys->serial)
            keys->sorted[kept++] = entry;
        else
            micap_release(memory, entry, entry_bytes(entry->length), MICAP_ARRAY_ALIGNMENT);
    }
    keys->count = kept;
}

/* Replaces the word of each tracked value by its text, and back. */
static void replace_words(micap_text_keys *keys, micap_tracked *tracked, bool by_texts)
{
    for (uint32_t number = 0; number < tracked->page_count; ++number) {
        micap_tracked_page *page = tracked->pages[number];
        for (uint32_t slot = 0; page && slot < MICAP_TRACKED_PAGE; ++slot) {
            if (!page->generations[slot])
                continue;
            micap_text_entry *entry =
                by_texts ? find_word(keys, page->words[slot]) : (micap_text_entry *)(uintptr_t)page->words[slot];
            entry->serial = keys->serial;
            page->words[slot] = by_texts ? (uintptr_t)entry : entry->word;
        }
    }
}

bool micap_text_keys_place(micap_memory *memory, micap_text_keys *keys, micap_tracked *tracked, bool *out_is_changed)
{
    *out_is_changed = false;
    if (!keys->fresh_count)
        return true;
    uint64_t count = (uint64_t)keys->count + keys->fresh_count;
    if (!MICAP_RESERVE(memory, keys->sorted, &keys->capacity, count))
        return false;
    qsort(keys->fresh, keys->fresh_count, sizeof *keys->fresh, compare_entries);
    bool has_waste = keys->count / 2 > (uint64_t)tracked->count + SLOTS_MIN;
    if (!has_waste && fit_fresh(keys)) {
        merge_fresh(keys);
        return true;
    }
    replace_words(keys, tracked, true);
    purge(memory, keys);
    merge_fresh(keys);
    (void)spread(keys->sorted, keys->count, FIRST_WORD, LAST_WORD); /* fewer than there are words */
    fill_slots(keys);
    replace_words(keys, tracked, false);
    *out_is_changed = true;
    return true;
}

uint64_t micap_text_keys_word(const micap_text_keys *keys, const char *text, uint32_t length)
{
    const micap_text_entry *entry = keys->slot_count ? *slot_of(keys, text, length, hash_of(text, length)) : NULL;
    return entry ? entry->word : 0;
}

micap_key_fit micap_text_keys_fit(const micap_text_keys *keys, mica_key key, micap_rounding rounding,
                                  uint64_t *out_word)
{
    if (key.kind != MICA_KIND_TEXT || !key.as.text)
        return MICAP_KEY_WRONG;
    size_t length = strlen(key.as.text);
    if (length > MICA_TEXT_BYTES_MAX)
        return MICAP_KEY_NEVER;
    if (rounding == MICAP_ROUND_NONE) {
        *out_word = micap_text_keys_word(keys, key.as.text, (uint32_t)length);
        return *out_word ? MICAP_KEY_FITS : MICAP_KEY_NEVER;
    }
    bool is_down = rounding == MICAP_ROUND_DOWN;
    uint32_t below = count_below(keys, key.as.text, (uint32_t)length, is_down);
    if (is_down ? !below : below == keys->count)
        return MICAP_KEY_NEVER;
    *out_word = keys->sorted[below - is_down]->word;
    return MICAP_KEY_FITS;
}

const char *micap_text_keys_text(const micap_text_keys *keys, uint64_t word)
{
    return find_word(keys, word)->text;
}

void micap_text_keys_free(micap_memory *memory, micap_text_keys *keys)
{
    for (uint32_t i = 0; i < keys->count + keys->fresh_count; ++i) {
        micap_text_entry *entry = i < keys->count ? keys->sorted[i] : keys->fresh[i - keys->count];
        micap_release(memory, entry, entry_bytes(entry->length), MICAP_ARRAY_ALIGNMENT);
    }
    MICAP_RELEASE_ARRAY(memory, keys->sorted, keys->capacity);
    MICAP_RELEASE_ARRAY(memory, keys->fresh, keys->fresh_capacity);
    MICAP_RELEASE_ARRAY(memory, keys->slots, keys->slot_count);
    *keys = (micap_text_keys){0};
}

const char *micap_text_keys_check(const micap_text_keys *keys)
{
    for (uint32_t i = 0; i < keys->count; ++i) {
        const micap_text_entry *entry = keys->sorted[i];
        if (i &&
            (compare_entries(&keys->sorted[i - 1], &keys->sorted[i]) >= 0 || keys->sorted[i - 1]->word >= entry->word))
            return "texts are not in order";
        if (micap_text_keys_word(keys, entry->text, entry->length) != entry->word)
            return "a text is not found";
    }
    return NULL;
}
