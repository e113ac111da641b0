#include "sample.h"

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
MICA_COMPONENT(SamplePadded, low, number, tail)

typedef struct SampleWide {
    _Alignas(64) uint32_t words[20];
} SampleWide;
MICA_COMPONENT(SampleWide, words)

typedef struct SampleBig {
    uint32_t words[750];
} SampleBig;
MICA_COMPONENT(SampleBig, words)

typedef struct SampleDated {
    uint64_t number;
} SampleDated;
MICA_COMPONENT_WITH(SampleDated, (.track_added = true), number)

typedef struct SampleSwitched {
    uint32_t number;
} SampleSwitched;
MICA_COMPONENT_WITH(SampleSwitched, (.toggle = true), number)

typedef struct SampleSeeded {
    uint32_t number;
} SampleSeeded;

/* `self` catches a move that was made by copying bytes. */
typedef struct SampleOwner {
    uint32_t number;
    uint32_t *box;
    struct SampleOwner *self;
} SampleOwner;

/* A name of its own for the same struct: descriptions go by name. */
typedef SampleOwner SampleSwitchedOwner;

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

MICA_COMPONENT_WITH(SampleOwner,
                    (.construct = owner_construct, .destruct = owner_destruct, .copy = owner_copy, .move = owner_move),
                    number)
MICA_COMPONENT_WITH(SampleSwitchedOwner,
                    (.construct = owner_construct, .destruct = owner_destruct, .copy = owner_copy, .move = owner_move,
                     .toggle = true, .track_added = true),
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

MICA_TAG(SampleTag)
MICA_TAG_WITH(SampleSwitchedTag, (.toggle = true))
MICA_TAG_WITH(SampleDatedTag, (.track_added = true))

static void byte_assign(void *value, uint32_t number)
{
    ((SampleByte *)value)->number = (uint8_t)number;
}

static bool byte_holds(const void *value, uint32_t number)
{
    return ((const SampleByte *)value)->number == (uint8_t)number;
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

const sample samples[SAMPLE_COUNT] = {
    [SAMPLE_BYTE] = {"byte", &mica_type_of_SampleByte, byte_assign, byte_assign, byte_holds, 0, true, false},
    [SAMPLE_SMALL] = {"small", &mica_type_of_SampleSmall, small_assign, small_assign, small_holds, 0, true, false},
    [SAMPLE_PADDED] = {"padded", &mica_type_of_SamplePadded, padded_assign, padded_assign, padded_holds, 0, true,
                       false},
    [SAMPLE_WIDE] = {"wide", &mica_type_of_SampleWide, wide_assign, wide_assign, wide_holds, 0, true, false},
    [SAMPLE_BIG] = {"big", &mica_type_of_SampleBig, big_assign, big_assign, big_holds, 0, true, false},
    [SAMPLE_SEEDED] = {"seeded", &mica_type_of_SampleSeeded, small_assign, small_assign, small_holds,
                       SAMPLE_SEEDED_START, true, false},
    [SAMPLE_OWNER] = {"owner", &mica_type_of_SampleOwner, owner_make, owner_assign, owner_holds, SAMPLE_OWNER_START,
                      true, true},
    [SAMPLE_SWITCHED] = {"switched", &mica_type_of_SampleSwitched, small_assign, small_assign, small_holds, 0, true,
                         false},
    [SAMPLE_DATED] = {"dated", &mica_type_of_SampleDated, dated_assign, dated_assign, dated_holds, 0, true, false},
    [SAMPLE_SWITCHED_OWNER] = {"switched owner", &mica_type_of_SampleSwitchedOwner, owner_make, owner_assign,
                               owner_holds, SAMPLE_OWNER_START, true, true},
    [SAMPLE_TAG] = {.name = "tag", .type = &mica_type_of_SampleTag},
    [SAMPLE_SWITCHED_TAG] = {.name = "switched tag", .type = &mica_type_of_SampleSwitchedTag},
    [SAMPLE_DATED_TAG] = {.name = "dated tag", .type = &mica_type_of_SampleDatedTag},
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
    if (samples[kind].owns)
        owner_destruct(room->bytes, 1, NULL);
}

uint32_t sample_small_key(uint32_t number)
{
    return number & 7;
}

int sample_small_compare(const void *a, const void *b, void *context)
{
    (void)context;
    uint32_t key_a = sample_small_key(((const SampleSmall *)a)->number);
    uint32_t key_b = sample_small_key(((const SampleSmall *)b)->number);
    return (key_a > key_b) - (key_a < key_b);
}
