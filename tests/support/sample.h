/* The components that random tests play with: every trait and every awkward shape once. A value is made from one
 * number, fills every byte it owns, and can be checked against that number, so a reference model needs only to
 * remember the number. */
#ifndef MICA_TESTS_SUPPORT_SAMPLE_H
#define MICA_TESTS_SUPPORT_SAMPLE_H

#include "mica/mica.h"

typedef enum sample_kind {
    SAMPLE_BYTE,           /* one byte */
    SAMPLE_SMALL,          /* four bytes */
    SAMPLE_PADDED,         /* with padding inside and at the end; has initial values */
    SAMPLE_WIDE,           /* aligned to 64 */
    SAMPLE_BIG,            /* 3000 bytes: few rows per chunk */
    SAMPLE_SEEDED,         /* starts with a value other than zero, owns nothing */
    SAMPLE_OWNER,          /* owns memory and knows its own address: construct, destruct, copy and move */
    SAMPLE_SWITCHED,       /* can be toggled */
    SAMPLE_DATED,          /* remembers when it was added; has initial values */
    SAMPLE_SWITCHED_OWNER, /* all of it at once */
    SAMPLE_SPLIT,          /* a column per field */
    SAMPLE_SWITCHED_SPLIT, /* the same, toggled and tracked; has initial values */
    SAMPLE_TEXT,           /* text and lists, which the world owns */

    /* In pools: each index, layout and way to die, and each trait, without all their combinations. */
    SAMPLE_POOL,              /* map, dies at once */
    SAMPLE_POOL_HASH,         /* hash, dies at the flush; has initial values */
    SAMPLE_POOL_DIRECT,       /* direct, dies lazily; aligned to 64 */
    SAMPLE_POOL_OWNER,        /* map, dies lazily; toggled and tracked */
    SAMPLE_POOL_DIRECT_OWNER, /* direct, dies at the flush */
    SAMPLE_POOL_SPLIT,        /* hash, dies lazily; tracked; has initial values */
    SAMPLE_POOL_DIRECT_SPLIT, /* direct, dies at once; toggled */
    SAMPLE_POOL_MANY,         /* map, dies lazily; starts with a value other than zero */
    SAMPLE_POOL_MANY_OWNER,   /* hash, dies at once; toggled and tracked */
    SAMPLE_POOL_MANY_SPLIT,   /* map, dies at the flush */

    SAMPLE_POOL_TEXT, /* hash, dies lazily; text and lists */

    SAMPLE_POOL_TAG,
    SAMPLE_TAG,
    SAMPLE_SWITCHED_TAG,
    SAMPLE_DATED_TAG,
    SAMPLE_HIDING_TAG, /* queries skip those that have it */

    SAMPLE_REQUIRING,      /* in chunks: requires others of every kind */
    SAMPLE_POOL_REQUIRING, /* in a pool: the same */
    SAMPLE_COUNT,
} sample_kind;

enum {
    SAMPLE_BYTES_MAX = 3008,
    SAMPLE_SEEDED_START = 9,
    SAMPLE_INITIAL_START = 5,
    SAMPLE_OWNER_START = 7,
};

typedef struct sample {
    const char *name;
    mica_type *type;
    void (*make)(void *raw, uint32_t number);          /* turns raw memory into a value */
    void (*assign)(void *value, uint32_t number);      /* gives a value another number */
    bool (*holds)(const void *value, uint32_t number); /* whether every byte of it says so */
    uint32_t (*key)(const void *value);                /* what it sorts by: sample_key of its number */
    uint32_t start;                                    /* the number of a default value */
    bool has_data;
    bool owns; /* and counts: see sample_owners_alive */
} sample;

/* What comes along with a sample: a set, as bits. */
uint32_t sample_required(sample_kind kind);
/* A set with all that comes along with its samples. */
uint32_t sample_complete(uint32_t kinds);

extern const sample samples[SAMPLE_COUNT];

/* Large enough and aligned for any sample. */
typedef struct sample_room {
    _Alignas(64) unsigned char bytes[SAMPLE_BYTES_MAX];
} sample_room;

static inline bool sample_is_pooled(sample_kind kind)
{
    return samples[kind].type->storage == MICA_STORAGE_POOL;
}

static inline bool sample_is_many(sample_kind kind)
{
    return samples[kind].type->many;
}

static inline bool sample_is_split(sample_kind kind)
{
    return samples[kind].type->split;
}

enum { SAMPLE_MANY = SAMPLE_POOL_MANY_SPLIT - SAMPLE_POOL_MANY + 1 };

/* The number of a sample among those of which an entity can have many. */
static inline uint32_t sample_many_number(sample_kind kind)
{
    return kind - SAMPLE_POOL_MANY;
}

/* Whether there is a value to point to. */
static inline bool sample_is_whole(sample_kind kind)
{
    return samples[kind].has_data && !samples[kind].type->split;
}

/* The columns of a split sample; they are all alike. */
typedef struct sample_leaf {
    uint32_t offset;
    uint32_t bytes;
} sample_leaf;

enum { SAMPLE_LEAVES = 8 };
extern const sample_leaf sample_leaves[SAMPLE_LEAVES];

static inline mica_component sample_id(sample_kind kind)
{
    return mica_type_id(samples[kind].type);
}

/* A value for a call; the room must be given back with sample_value_end when the call is done. */
mica_value sample_value_begin(sample_kind kind, uint32_t number, sample_room *room);
void sample_value_end(sample_kind kind, sample_room *room);

/* Gives back what values own that make made. */
void sample_drop(sample_kind kind, void *values, uint32_t count);

/* Owning values alive in the process: expected to be zero after a world was destroyed. */
int64_t sample_owners_alive(void);

/* Where owning values get their memory from: malloc, or an allocator that fails (NULL context: malloc again). */
void sample_owners_use(const mica_allocator *allocator);

/* Orders values by the lowest bits of their numbers only, so that many are equal. The context is the sample. */
int sample_compare(const void *a, const void *b, void *context);
int sample_small_compare(const void *a, const void *b, void *context); /* of SAMPLE_SMALL, without a context */
uint32_t sample_key(uint32_t number);

typedef struct SampleClock {
    uint32_t number;
    uint32_t twice;
} SampleClock;
MICA_SINGLETON(SampleClock, number, twice)

#endif
