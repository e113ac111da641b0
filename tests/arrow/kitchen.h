/* A component with a field of every kind. */
#ifndef MICA_TESTS_ARROW_KITCHEN_H
#define MICA_TESTS_ARROW_KITCHEN_H

#include "mica/mica.h"

#include <string.h>

typedef struct Vec { float x, y; } Vec;
MICA_STRUCT(Vec, x, y)

typedef enum Mood { CALM = -1, ANGRY = 7 } Mood;
MICA_ENUM(Mood, CALM, ANGRY)
typedef enum Skill { SWIMS = 1, FLIES = 2 } Skill;
MICA_FLAGS(Skill, SWIMS, FLIES)
typedef struct Item {
    mica_text name;
    uint16_t price;
} Item;
MICA_STRUCT(Item, name, price)
typedef struct Kitchen {
    bool flag;
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
    char letter;
    char title[6];
    Mood mood;
    Skill skills;
    mica_entity friend;
    mica_asset model;
    mica_text story;
    mica_list scores;
    mica_list items;
    bool switches[2];
    mica_text words[2];
    Vec home;
    Vec corners[2];
} Kitchen;
MICA_COMPONENT(Kitchen, flag, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, letter, title, (mood, Mood),
               (skills, Skill), friend, model, story, (scores, float), (items, Item), switches, words, (home, Vec),
               (corners, Vec))

/* Writes one of every kind. */
static inline void fill_kitchen(Kitchen *kitchen, mica_entity friend)
{
    kitchen->flag = true;
    kitchen->i8 = -8;
    kitchen->u8 = 200;
    kitchen->i16 = -1600;
    kitchen->u16 = 60000;
    kitchen->i32 = -320000;
    kitchen->u32 = 4000000000;
    kitchen->i64 = INT64_MIN;
    kitchen->u64 = UINT64_MAX;
    kitchen->f32 = 0.5f;
    kitchen->f64 = 1e300;
    kitchen->letter = 'A';
    memcpy(kitchen->title, "f\xC3\xBCr\xFF!", 6);
    kitchen->mood = ANGRY;
    kitchen->skills = (Skill)(SWIMS | FLIES);
    kitchen->friend = friend;
    kitchen->model = (mica_asset){77};
    mica_text_set(&kitchen->story, "a story of more than fourteen bytes");
    mica_list_add(&kitchen->scores, float, 1, 2.5f);
    mica_text_set(&mica_list_append(&kitchen->items, Item)->name, "sword");
    mica_list_append(&kitchen->items, Item)->price = 9;
    kitchen->switches[1] = true;
    mica_text_set(&kitchen->words[1], "two");
    kitchen->home = (Vec){1, 2};
    kitchen->corners[1] = (Vec){3, 4};
}

#endif
