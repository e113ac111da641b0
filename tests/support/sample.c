#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct SampleByte {
    uint8_t number;
} SampleByte;
MICA_COMPONENT(SampleByte, number)

typedef struct SampleSmall {
    uint32_t number;
} SampleSmall;
MICA_COMPONENT(SampleSmall, number)

typedef struct SamplePadded {
    uint16_t low;
    double number;
    uint8_t tail;
} SamplePadded;
/* What they start with is in the description: SAMPLE_INITIAL_START, which is 5. */
/* Ranges that every number is in: worlds that check them look at all values. */
#define PADDED_FIELDS                                                                                                  \
    (low, uint16_t, .initial = 5, .minimum = 0, .maximum = UINT16_MAX), (number, double, .initial = 5), (tail, uint8_t, .initial = 15)
MICA_COMPONENT(SamplePadded, PADDED_FIELDS)

typedef struct SampleWide {
    _Alignas(64) uint32_t words[20];
} SampleWide;
MICA_COMPONENT_WITH(SampleWide, (.track_changed = true), words)

typedef struct SampleBig {
    uint32_t words[750];
} SampleBig;
MICA_COMPONENT(SampleBig, words)

typedef struct SampleDated {
    uint64_t number;
} SampleDated;
MICA_COMPONENT_WITH(SampleDated, (.track_added = true, .track_changed = true),
                    (number, uint64_t, .initial = 5 << 20, .minimum = 0, .maximum = 18446744073709551615.0))

typedef struct SampleSwitched {
    uint32_t number;
} SampleSwitched;
MICA_COMPONENT_WITH(SampleSwitched, (.toggle = true), number)

typedef struct SampleVector {
    float x, y, z;
} SampleVector;
MICA_STRUCT(SampleVector, x, y, z)

/* Every way in which a field is taken apart, or kept whole. */
typedef struct SampleSplit {
    uint32_t number;
    SampleVector location;
    uint8_t low;
    uint16_t words[6];
    uint32_t pair[2];
} SampleSplit;
typedef SampleSplit SampleSwitchedSplit, SamplePoolSplit, SamplePoolDirectSplit, SamplePoolManySplit;
MICA_COMPONENT_WITH(SampleSplit, (.split = true), number, (location, SampleVector), low, words, pair)
#define SPLIT_INITIAL                                                                                                  \
    (number, uint32_t, .initial = 5, .minimum = 0, .maximum = UINT32_MAX), (location, SampleVector, .initial_json = "[5, 0, 5]"),                           \
        (low, uint8_t, .initial = 5), (words, uint16_t, .initial_json = "[5, 10, 15, 20, 25, 30]"),                    \
        (pair, uint32_t, .initial_json = "[15, 25]")
MICA_COMPONENT_WITH(SampleSwitchedSplit, (.split = true, .toggle = true, .track_added = true, .track_changed = true),
                    SPLIT_INITIAL)
MICA_POOL_WITH(SamplePoolSplit,
               (.split = true, .index = MICA_INDEX_HASH, .dying = MICA_DYING_LAZILY, .track_added = true,
                .track_changed = true),
               SPLIT_INITIAL)
MICA_POOL_WITH(SamplePoolDirectSplit,
               (.split = true, .index = MICA_INDEX_DIRECT, .toggle = true, .track_changed = true), number,
               (location, SampleVector), low, words, pair)
MICA_POOL_WITH(SamplePoolManySplit, (.split = true, .many = true, .dying = MICA_DYING_AT_FLUSH), number,
               (location, SampleVector), low, words, pair)

const sample_leaf sample_leaves[SAMPLE_LEAVES] = {
    {offsetof(SampleSplit, number), 4},  {offsetof(SampleSplit, location.x), 4}, {offsetof(SampleSplit, location.y), 4},
    {offsetof(SampleSplit, location.z), 4}, {offsetof(SampleSplit, low), 1},     {offsetof(SampleSplit, words), 12},
    {offsetof(SampleSplit, pair[0]), 4}, {offsetof(SampleSplit, pair[1]), 4},
};

/* Names of their own for the same structs: descriptions go by name. */
typedef SampleSmall SamplePool;
typedef SamplePadded SamplePoolHash;
typedef SampleWide SamplePoolDirect;
MICA_POOL(SamplePool, number)
MICA_POOL_WITH(SamplePoolHash, (.index = MICA_INDEX_HASH, .dying = MICA_DYING_AT_FLUSH, .track_changed = true),
               PADDED_FIELDS)
MICA_POOL_WITH(SamplePoolDirect, (.index = MICA_INDEX_DIRECT, .dying = MICA_DYING_LAZILY, .track_changed = true), words)
MICA_POOL_TAG(SamplePoolTag)

typedef struct SampleSeeded {
    uint32_t number;
} SampleSeeded;
typedef SampleSeeded SamplePoolMany;

/* `self` catches a move that was made by copying bytes. */
typedef struct SampleOwner {
    uint32_t number;
    uint32_t *box;
    struct SampleOwner *self;
} SampleOwner;

typedef SampleOwner SampleSwitchedOwner, SamplePoolOwner, SamplePoolDirectOwner, SamplePoolManyOwner;

static int64_t owners_alive;
static const mica_allocator *owner_allocator;

int64_t sample_owners_alive(void)
{
    return __atomic_load_n(&owners_alive, __ATOMIC_RELAXED);
}

void sample_owners_use(const mica_allocator *allocator)
{
    owner_allocator = allocator;
}

static uint32_t *box_allocate(void)
{
    if (owner_allocator)
        return owner_allocator->allocate(sizeof(uint32_t), _Alignof(uint32_t), owner_allocator->context);
    return malloc(sizeof(uint32_t));
}

static void box_release(uint32_t *box)
{
    if (owner_allocator)
        owner_allocator->release(box, sizeof(uint32_t), _Alignof(uint32_t), owner_allocator->context);
    else
        free(box);
}

static bool owner_make_one(SampleOwner *owner, uint32_t number)
{
    owner->number = number;
    owner->self = owner;
    owner->box = box_allocate();
    if (!owner->box)
        return false;
    *owner->box = number;
    __atomic_fetch_add(&owners_alive, 1, __ATOMIC_RELAXED);
    return true;
}

static void owner_destruct(void *values, uint32_t count, void *context)
{
    (void)context;
    SampleOwner *owners = values;
    for (uint32_t i = 0; i < count; ++i) {
        if (owners[i].self != &owners[i])
            abort(); /* moved by bytes, or destructed twice: there is no sane way on */
        box_release(owners[i].box);
        owners[i].self = NULL;
        __atomic_fetch_sub(&owners_alive, 1, __ATOMIC_RELAXED);
    }
}

static bool owner_construct(void *values, uint32_t count, void *context)
{
    SampleOwner *owners = values;
    for (uint32_t i = 0; i < count; ++i)
        if (!owner_make_one(&owners[i], SAMPLE_OWNER_START)) {
            owner_destruct(owners, i, context);
            return false;
        }
    return true;
}

static bool owner_copy(void *to, const void *from, uint32_t count, void *context)
{
    SampleOwner *owners = to;
    const SampleOwner *originals = from;
    for (uint32_t i = 0; i < count; ++i) {
        if (originals[i].self != &originals[i])
            abort();
        if (!owner_make_one(&owners[i], originals[i].number)) {
            owner_destruct(owners, i, context);
            return false;
        }
    }
    return true;
}

static void owner_move(void *to, void *from, uint32_t count, void *context)
{
    (void)context;
    SampleOwner *owners = to;
    SampleOwner *originals = from;
    for (uint32_t i = 0; i < count; ++i) {
        if (originals[i].self != &originals[i])
            abort();
        owners[i] = originals[i];
        owners[i].self = &owners[i];
        originals[i].self = NULL;
    }
}

#define OWNER_LIFE .construct = owner_construct, .destruct = owner_destruct, .copy = owner_copy, .move = owner_move
MICA_COMPONENT_WITH(SampleOwner, (OWNER_LIFE), number)
MICA_COMPONENT_WITH(SampleSwitchedOwner, (OWNER_LIFE, .toggle = true, .track_added = true, .track_changed = true),
                    number)
MICA_POOL_WITH(SamplePoolOwner,
               (OWNER_LIFE, .dying = MICA_DYING_LAZILY, .toggle = true, .track_added = true, .track_changed = true),
               number)
MICA_POOL_WITH(SamplePoolDirectOwner, (OWNER_LIFE, .index = MICA_INDEX_DIRECT, .dying = MICA_DYING_AT_FLUSH), number)
MICA_POOL_WITH(SamplePoolManyOwner,
               (OWNER_LIFE, .index = MICA_INDEX_HASH, .many = true, .toggle = true, .track_added = true,
                .track_changed = true),
               number)

static bool seeded_construct(void *values, uint32_t count, void *context)
{
    (void)context;
    SampleSeeded *seeded = values;
    for (uint32_t i = 0; i < count; ++i)
        seeded[i].number = SAMPLE_SEEDED_START;
    return true;
}
MICA_COMPONENT_WITH(SampleSeeded, (.construct = seeded_construct), number)
MICA_POOL_WITH(SamplePoolMany, (.construct = seeded_construct, .dying = MICA_DYING_LAZILY, .many = true), number)

/* All zero for the number 0; else text in place or in a block, and lists of different lengths. */
typedef struct SamplePart {
    mica_text text;
    uint32_t number;
} SamplePart;
MICA_STRUCT(SamplePart, text, number)
typedef struct SampleText {
    uint32_t number;
    mica_text text;
    mica_list numbers;
    mica_list parts;
} SampleText;
typedef SampleText SamplePoolText;
MICA_COMPONENT(SampleText, number, text, (numbers, uint16_t), (parts, SamplePart))
MICA_POOL_WITH(SamplePoolText, (.index = MICA_INDEX_HASH, .dying = MICA_DYING_LAZILY), number, text,
               (numbers, uint16_t), (parts, SamplePart))

static void text_of(uint32_t number, char text[64])
{
    text[0] = 0;
    if (number)
        snprintf(text, 64, number % 2 ? "%u" : "the number %u, in a text of some length", number);
}

static void text_assign(void *value, uint32_t number)
{
    SampleText *sample = value;
    char text[64];
    text_of(number, text);
    sample->number = number;
    bool done = mica_text_set(&sample->text, text) == MICA_OK &&
                mica_list_resize(&sample->numbers, uint16_t, number % 5) == MICA_OK &&
                mica_list_resize(&sample->parts, SamplePart, number % 3) == MICA_OK;
    uint16_t *numbers = mica_list_write(&sample->numbers, uint16_t);
    SamplePart *parts = mica_list_write(&sample->parts, SamplePart);
    for (uint32_t i = 0; i < number % 5; ++i)
        numbers[i] = (uint16_t)(number + i);
    for (uint32_t i = 0; i < number % 3; ++i) {
        text_of(number + i, text);
        done = mica_text_set(&parts[i].text, text) == MICA_OK && done;
        parts[i].number = i;
    }
    if (!done)
        abort();
}

static void text_make(void *raw, uint32_t number)
{
    memset(raw, 0, sizeof(SampleText));
    text_assign(raw, number);
}

static bool text_holds(const void *value, uint32_t number)
{
    const SampleText *sample = value;
    char text[64];
    text_of(number, text);
    bool holds = sample->number == number && mica_text_is(&sample->text, text) &&
                 mica_list_count(&sample->numbers) == number % 5 && mica_list_count(&sample->parts) == number % 3;
    const uint16_t *numbers = mica_list_items(&sample->numbers, uint16_t);
    const SamplePart *parts = mica_list_items(&sample->parts, SamplePart);
    for (uint32_t i = 0; holds && i < number % 5; ++i)
        holds = numbers[i] == (uint16_t)(number + i);
    for (uint32_t i = 0; holds && i < number % 3; ++i) {
        text_of(number + i, text);
        holds = parts[i].number == i && mica_text_is(&parts[i].text, text);
    }
    return holds;
}

MICA_TAG(SampleTag)
MICA_TAG_WITH(SampleSwitchedTag, (.toggle = true))
MICA_TAG_WITH(SampleDatedTag, (.track_added = true))
MICA_TAG_WITH(SampleHidingTag, (.hides = true))

static void byte_assign(void *value, uint32_t number)
{
    ((SampleByte *)value)->number = (uint8_t)number;
}

static bool byte_holds(const void *value, uint32_t number)
{
    return ((const SampleByte *)value)->number == (uint8_t)number;
}

static uint32_t byte_key(const void *value)
{
    return sample_key(((const SampleByte *)value)->number);
}

/* SampleSmall, SampleSeeded and SampleSwitched are alike. */
static void small_assign(void *value, uint32_t number)
{
    memcpy(value, &number, sizeof number);
}

static bool small_holds(const void *value, uint32_t number)
{
    return memcmp(value, &number, sizeof number) == 0;
}

static uint32_t small_key(const void *value)
{
    uint32_t number;
    memcpy(&number, value, sizeof number);
    return sample_key(number);
}

static void padded_assign(void *value, uint32_t number)
{
    SamplePadded *padded = value;
    padded->low = (uint16_t)number;
    padded->number = number;
    padded->tail = (uint8_t)(number * 3);
}

static bool padded_holds(const void *value, uint32_t number)
{
    const SamplePadded *padded = value;
    return padded->low == (uint16_t)number && padded->number == number && padded->tail == (uint8_t)(number * 3);
}

static uint32_t padded_key(const void *value)
{
    return sample_key(((const SamplePadded *)value)->low);
}

static void words_assign(uint32_t *words, uint32_t count, uint32_t number)
{
    for (uint32_t i = 0; i < count; ++i)
        words[i] = number * (2 * i + 1);
}

static bool words_hold(const uint32_t *words, uint32_t count, uint32_t number)
{
    uint32_t difference = 0;
    for (uint32_t i = 0; i < count; ++i)
        difference |= words[i] ^ (number * (2 * i + 1));
    return difference == 0;
}

static void wide_assign(void *value, uint32_t number)
{
    words_assign(((SampleWide *)value)->words, 20, number);
}

static bool wide_holds(const void *value, uint32_t number)
{
    return (uintptr_t)value % 64 == 0 && words_hold(((const SampleWide *)value)->words, 20, number);
}

static void big_assign(void *value, uint32_t number)
{
    words_assign(((SampleBig *)value)->words, 750, number);
}

static bool big_holds(const void *value, uint32_t number)
{
    return words_hold(((const SampleBig *)value)->words, 750, number);
}

static void dated_assign(void *value, uint32_t number)
{
    ((SampleDated *)value)->number = (uint64_t)number << 20;
}

static bool dated_holds(const void *value, uint32_t number)
{
    return ((const SampleDated *)value)->number == (uint64_t)number << 20;
}

static uint32_t dated_key(const void *value)
{
    return sample_key((uint32_t)(((const SampleDated *)value)->number >> 20));
}

static void split_assign(void *value, uint32_t number)
{
    SampleSplit *split = value;
    split->number = number;
    split->location = (SampleVector){(float)(number & 0xFFFF), (float)(number >> 16), (float)(number & 0xFF)};
    split->low = (uint8_t)number;
    for (uint32_t i = 0; i < 6; ++i)
        split->words[i] = (uint16_t)(number * (i + 1));
    split->pair[0] = number * 3;
    split->pair[1] = number * 5;
}

static bool split_holds(const void *value, uint32_t number)
{
    const SampleSplit *split = value;
    SampleSplit expected;
    split_assign(&expected, number);
    for (uint32_t i = 0; i < SAMPLE_LEAVES; ++i)
        if (memcmp((const char *)split + sample_leaves[i].offset, (const char *)&expected + sample_leaves[i].offset,
                   sample_leaves[i].bytes) != 0)
            return false;
    return true;
}

static void owner_make(void *raw, uint32_t number)
{
    if (!owner_make_one(raw, number))
        abort(); /* tests make their own values while memory is plenty */
}

static void owner_assign(void *value, uint32_t number)
{
    SampleOwner *owner = value;
    owner->number = number;
    *owner->box = number;
}

static bool owner_holds(const void *value, uint32_t number)
{
    const SampleOwner *owner = value;
    return owner->self == owner && owner->number == number && *owner->box == number;
}

/* Each storage, and each trait that has code of its own where values are made. */
typedef SampleSmall SampleRequiring, SamplePoolRequiring;
MICA_COMPONENT_WITH(SampleRequiring,
                    (.required = MICA_TYPES(SampleSwitchedOwner, SampleSwitchedSplit, SampleDatedTag,
                                            SamplePoolManyOwner)),
                    number)
MICA_POOL_WITH(SamplePoolRequiring,
               (.required = MICA_TYPES(SampleRequiring, SampleSmall, SamplePoolOwner, SamplePoolTag)), number)

static const uint32_t required_in_chunks =
    1u << SAMPLE_SWITCHED_OWNER | 1u << SAMPLE_SWITCHED_SPLIT | 1u << SAMPLE_DATED_TAG | 1u << SAMPLE_POOL_MANY_OWNER;

uint32_t sample_required(sample_kind kind)
{
    return kind == SAMPLE_REQUIRING        ? required_in_chunks
           : kind == SAMPLE_POOL_REQUIRING ? required_in_chunks | 1u << SAMPLE_REQUIRING | 1u << SAMPLE_SMALL |
                                                 1u << SAMPLE_POOL_OWNER | 1u << SAMPLE_POOL_TAG
                                           : 0;
}

uint32_t sample_complete(uint32_t kinds)
{
    for (sample_kind kind = 0; kind < SAMPLE_COUNT; ++kind)
        if (kinds >> kind & 1)
            kinds |= sample_required(kind);
    return kinds;
}

/* The number is the first word of most values. */
#define PLAIN(name, T, shape, key, start)                                                                              \
    {name, &mica_type_of_##T, shape##_assign, shape##_assign, shape##_holds, key##_key, start, true, false}
#define OWNER(name, T)                                                                                                 \
    {name, &mica_type_of_##T, owner_make, owner_assign, owner_holds, small_key, SAMPLE_OWNER_START, true, true}
#define TEXT(name, T) {name, &mica_type_of_##T, text_make, text_assign, text_holds, small_key, 0, true, false}
#define TAG(name_, T) {.name = name_, .type = &mica_type_of_##T}

const sample samples[SAMPLE_COUNT] = {
    [SAMPLE_BYTE] = PLAIN("byte", SampleByte, byte, byte, 0),
    [SAMPLE_SMALL] = PLAIN("small", SampleSmall, small, small, 0),
    [SAMPLE_PADDED] = PLAIN("padded", SamplePadded, padded, padded, SAMPLE_INITIAL_START),
    [SAMPLE_WIDE] = PLAIN("wide", SampleWide, wide, small, 0),
    [SAMPLE_BIG] = PLAIN("big", SampleBig, big, small, 0),
    [SAMPLE_SEEDED] = PLAIN("seeded", SampleSeeded, small, small, SAMPLE_SEEDED_START),
    [SAMPLE_OWNER] = OWNER("owner", SampleOwner),
    [SAMPLE_SWITCHED] = PLAIN("switched", SampleSwitched, small, small, 0),
    [SAMPLE_DATED] = PLAIN("dated", SampleDated, dated, dated, SAMPLE_INITIAL_START),
    [SAMPLE_SWITCHED_OWNER] = OWNER("switched owner", SampleSwitchedOwner),
    [SAMPLE_SPLIT] = PLAIN("split", SampleSplit, split, small, 0),
    [SAMPLE_SWITCHED_SPLIT] = PLAIN("switched split", SampleSwitchedSplit, split, small, SAMPLE_INITIAL_START),
    [SAMPLE_POOL] = PLAIN("pool", SamplePool, small, small, 0),
    [SAMPLE_POOL_HASH] = PLAIN("pool hash", SamplePoolHash, padded, padded, SAMPLE_INITIAL_START),
    [SAMPLE_POOL_DIRECT] = PLAIN("pool direct", SamplePoolDirect, wide, small, 0),
    [SAMPLE_POOL_OWNER] = OWNER("pool owner", SamplePoolOwner),
    [SAMPLE_POOL_DIRECT_OWNER] = OWNER("pool direct owner", SamplePoolDirectOwner),
    [SAMPLE_POOL_SPLIT] = PLAIN("pool split", SamplePoolSplit, split, small, SAMPLE_INITIAL_START),
    [SAMPLE_POOL_DIRECT_SPLIT] = PLAIN("pool direct split", SamplePoolDirectSplit, split, small, 0),
    [SAMPLE_POOL_MANY] = PLAIN("pool many", SamplePoolMany, small, small, SAMPLE_SEEDED_START),
    [SAMPLE_POOL_MANY_OWNER] = OWNER("pool many owner", SamplePoolManyOwner),
    [SAMPLE_POOL_MANY_SPLIT] = PLAIN("pool many split", SamplePoolManySplit, split, small, 0),
    [SAMPLE_TEXT] = TEXT("text", SampleText),
    [SAMPLE_POOL_TEXT] = TEXT("pool text", SamplePoolText),
    [SAMPLE_POOL_TAG] = TAG("pool tag", SamplePoolTag),
    [SAMPLE_TAG] = TAG("tag", SampleTag),
    [SAMPLE_SWITCHED_TAG] = TAG("switched tag", SampleSwitchedTag),
    [SAMPLE_DATED_TAG] = TAG("dated tag", SampleDatedTag),
    [SAMPLE_HIDING_TAG] = TAG("hiding tag", SampleHidingTag),
    [SAMPLE_REQUIRING] = PLAIN("requiring", SampleRequiring, small, small, 0),
    [SAMPLE_POOL_REQUIRING] = PLAIN("pool requiring", SamplePoolRequiring, small, small, 0),
};

mica_value sample_value_begin(sample_kind kind, uint32_t number, sample_room *room)
{
    const sample *sample = &samples[kind];
    if (!sample->has_data)
        return (mica_value){sample_id(kind), 0, NULL};
    sample->make(room->bytes, number);
    return (mica_value){sample_id(kind), sample->type->size_bytes, room->bytes};
}

void sample_value_end(sample_kind kind, sample_room *room)
{
    sample_drop(kind, room->bytes, 1);
}

void sample_drop(sample_kind kind, void *values, uint32_t count)
{
    if (samples[kind].owns)
        owner_destruct(values, count, NULL);
    for (uint32_t i = 0; samples[kind].make == text_make && i < count; ++i)
        text_assign((SampleText *)values + i, 0); /* which owns nothing */
}

uint32_t sample_key(uint32_t number)
{
    return number & 7;
}

int sample_compare(const void *a, const void *b, void *context)
{
    const sample *sample = context;
    uint32_t key_a = sample->key(a), key_b = sample->key(b);
    return (key_a > key_b) - (key_a < key_b);
}

int sample_small_compare(const void *a, const void *b, void *context)
{
    (void)context;
    return sample_compare(a, b, (void *)(uintptr_t)&samples[SAMPLE_SMALL]);
}
