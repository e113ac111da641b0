/* The components of the conformance program: every storage and every trait. */
#ifndef MICA_TESTS_CONFORMANCE_PARTS_H
#define MICA_TESTS_CONFORMANCE_PARTS_H

#include "mica/flow.h"

typedef struct Place { float x, y; } Place;
typedef struct Speed { float x, y; } Speed;
typedef struct Count { uint32_t value; } Count;
MICA_COMPONENT(Place, x, y)
MICA_COMPONENT(Speed, x, y)
MICA_COMPONENT_WITH(Count, (.toggle = true, .track_added = true), value)
MICA_TAG(Asleep)
MICA_TAG_WITH(Shown, (.toggle = true))

typedef enum Mood { MOOD_CALM, MOOD_ANGRY = 7 } Mood;
typedef enum Skills { SKILL_SWIM = 1, SKILL_SING = 4 } Skills;
typedef struct Vec3 { float x, y, z; } Vec3;
MICA_ENUM(Mood, MOOD_CALM, MOOD_ANGRY)
MICA_FLAGS(Skills, SKILL_SWIM, SKILL_SING)
MICA_STRUCT(Vec3, x, y, z)
typedef struct Being {
    uint8_t age; /* followed by padding */
    int64_t wealth;
    Vec3 path[2];
    Mood mood;
    Skills skills;
    mica_entity friend;
    char title[12];
    bool awake;
    int16_t moves;
    double weight;
} Being;
MICA_COMPONENT(Being, age, wealth, (path, Vec3), (mood, Mood), (skills, Skills), friend, title, awake, moves, weight)

/* Refers to another file. */
typedef struct Shape { mica_asset mesh; } Shape;
MICA_COMPONENT(Shape, mesh)

/* Split: an array per field. */
typedef struct Body { Vec3 at; float mass; } Body;
MICA_COMPONENT_WITH(Body, (.split = true), (at, Vec3), mass)
typedef struct Grain { float x, v; } Grain;
MICA_POOL_WITH(Grain, (.split = true), x, v)

/* Pools of every kind. */
typedef struct Heat { float degrees; } Heat;
typedef struct Wear { uint32_t turns; } Wear;
typedef struct Seen { uint32_t count; } Seen;
typedef struct Item { uint32_t kind; } Item;
MICA_POOL_WITH(Heat, (.toggle = true, .track_added = true), degrees)
MICA_POOL_WITH(Wear, (.index = MICA_INDEX_HASH, .dying = MICA_DYING_AT_FLUSH), turns)
MICA_POOL_WITH(Seen, (.index = MICA_INDEX_DIRECT, .dying = MICA_DYING_LAZILY), count)
MICA_POOL_WITH(Item, (.many = true), kind)
MICA_POOL_TAG(Hot)

typedef struct Total { double sum; uint64_t seen; uint32_t deaths; } Total;
MICA_SINGLETON(Total, sum, seen, deaths)

/* Owns memory; how many live is counted. */
typedef struct Owner { uint32_t *memory; uint32_t number; } Owner;
bool owner_construct(void *values, uint32_t count, void *context);
void owner_destruct(void *values, uint32_t count, void *context);
bool owner_copy(void *to, const void *from, uint32_t count, void *context);
void owner_move(void *to, void *from, uint32_t count, void *context);
extern int32_t owners_alive;
MICA_COMPONENT_WITH(Owner,
                    (.construct = owner_construct, .destruct = owner_destruct, .copy = owner_copy, .move = owner_move),
                    number)

#endif
