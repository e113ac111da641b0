/* Components with text and lists, which the world owns. */
#ifndef MICA_TESTS_SUPPORT_PEOPLE_H
#define MICA_TESTS_SUPPORT_PEOPLE_H

#include "components.h"

/* An element that has text and a list itself. */
typedef struct Thing { mica_text name; uint32_t count; mica_list tags; Vec3 place; } Thing;
MICA_STRUCT(Thing, name, count, (tags, mica_text), (place, Vec3))

/* In chunks: lists of structs, numbers, handles and constants; arrays of text and lists; and bytes that no field has. */
typedef struct Person {
    mica_text name;
    float age;
    mica_list inventory;
    mica_list scores;
    mica_list friends;
    mica_text titles[2];
    mica_list moods[2];
} Person;
MICA_COMPONENT(Person, name, age, (inventory, Thing), (scores, float), (friends, mica_entity), titles, (moods, Mood))

/* In a pool, in a pool with many instances, and one per world. */
typedef struct Diary { mica_text title; mica_list pages; } Diary;
MICA_POOL(Diary, title, (pages, mica_text))
typedef struct Letters { mica_text to; mica_list numbers; } Letters;
MICA_POOL_WITH(Letters, (.many = true), to, (numbers, uint16_t))
typedef struct Archive { mica_text path; mica_list things; } Archive;
MICA_SINGLETON(Archive, path, (things, Thing))

#endif
