/* The components that tests share: one of every trait, so that a test only describes what it alone needs.
 * What is counted or allowed to fail lives in components.c: a description must be the same in every file. */
#ifndef MICA_TESTS_SUPPORT_COMPONENTS_H
#define MICA_TESTS_SUPPORT_COMPONENTS_H

#include "mica/mica.h"

#define COUNT_OF(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))

/* The usual three. */
typedef struct Position { float x, y, z; } Position;
typedef struct Velocity { float x, y, z; } Velocity;
typedef struct Mass { float value; } Mass;
MICA_COMPONENT(Position, x, y, z)
MICA_COMPONENT(Velocity, x, y, z)
MICA_COMPONENT(Mass, value)

/* A whole number that tells one entity from another, and that sorts. */
typedef struct Number { uint32_t value; } Number;
MICA_COMPONENT(Number, value)

/* Membership only. */
MICA_TAG(Frozen)
MICA_TAG(Enemy)
MICA_TAG(Player)

/* Switched off and on in place: a tag and a value. */
MICA_TAG_WITH(Visible, (.toggle = true))
typedef struct Health { int32_t current, maximum; } Health;
MICA_COMPONENT_WITH(Health, (.toggle = true), current, maximum)

/* Remembers when it was added. */
typedef struct Age { uint32_t frames; } Age;
MICA_COMPONENT_WITH(Age, (.track_added = true), frames)

/* Over-aligned: a cache line. */
typedef struct Matrix { _Alignas(64) float cells[16]; } Matrix;
MICA_COMPONENT(Matrix, cells)

/* The smallest column there is, and one that is no power of two. */
typedef struct Letter { char value; } Letter;
typedef struct Color { uint8_t red, green, blue; } Color;
MICA_COMPONENT(Letter, value)
MICA_COMPONENT(Color, red, green, blue)

/* Holes between the fields, and a field that is not described. */
typedef struct Padded { uint8_t small; uint64_t large; uint16_t tail; uint16_t hidden; } Padded;
MICA_COMPONENT(Padded, small, large, tail)

/* Every way to describe a field. */
typedef enum Mood { MOOD_CALM, MOOD_ANGRY = 7, MOOD_AFRAID } Mood;
MICA_ENUM(Mood, MOOD_CALM, MOOD_ANGRY, MOOD_AFRAID)
typedef enum Skills { SKILL_SWIM = 1, SKILL_CLIMB = 2, SKILL_SING = 4 } Skills;
MICA_FLAGS(Skills, SKILL_SWIM, SKILL_CLIMB, SKILL_SING)
typedef struct Vec3 { float x, y, z; } Vec3;
MICA_STRUCT(Vec3, x, y, z)
typedef struct Monster {
    Vec3 home;
    Vec3 path[4];
    Mood mood;
    Skills skills;
    mica_entity target;
    mica_entity friends[2];
    char title[16];
    double wealth;
} Monster;
MICA_COMPONENT(Monster, (home, Vec3), (path, Vec3), (mood, Mood), (skills, Skills), target, friends, title, wealth)

/* Refers to other resources. */
typedef struct Shape { mica_asset outline; mica_asset extra[2]; uint32_t colour; } Shape;
MICA_COMPONENT(Shape, outline, extra, colour)

/* One per world. */
typedef struct Clock { double seconds; uint32_t ticks; } Clock;
MICA_SINGLETON(Clock, seconds, ticks)

/* Owns memory. A sanitizer build sees each one that is lost or given back twice. */
typedef struct Text { char *characters; uint32_t length; } Text;
bool text_construct(void *values, uint32_t count, void *context);
void text_destruct(void *values, uint32_t count, void *context);
bool text_copy(void *to, const void *from, uint32_t count, void *context);
void text_move(void *to, void *from, uint32_t count, void *context);
MICA_COMPONENT_WITH(Text,
                    (.construct = text_construct, .destruct = text_destruct, .copy = text_copy, .move = text_move),
                    length)

/* How many Texts live now, and how many more may be made before construct and copy return false; it starts endless. */
extern int texts_alive;
extern int texts_allowed;

/* A Text on the stack of the caller that owns its characters; give it back with text_drop. */
Text text_make(const char *characters);
void text_drop(Text *text);

/* The id of Monster by the description of another translation unit. */
mica_component monster_id_elsewhere(void);

#endif
