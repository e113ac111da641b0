/* Components whose fields have attributes, in every storage. */
#ifndef MICA_TESTS_SUPPORT_TUNED_H
#define MICA_TESTS_SUPPORT_TUNED_H

#include "components.h"

#include <math.h>

/* A struct that starts with something, alone and in arrays. */
typedef struct Scale { float x, y; } Scale;
MICA_STRUCT(Scale, (x, float, .initial = 1), (y, float, .initial = 1, .minimum = 0.1, .maximum = 10))

/* Numbers, constants, text in place and structs. */
#define TUNED_FIELDS                                                                                                   \
    (level, int32_t, .unit = "m", .note = "above the sea", .minimum = -5, .maximum = 9000, .initial = 20),             \
        (speed, float, .minimum = 0, .maximum = INFINITY, .unit = "m/s"), (mood, Mood, .initial = MOOD_ANGRY),         \
        (on, bool, .initial = 1), (scale, Scale), (scales, Scale), (title, char, .initial_json = "\"new\""),           \
        (weights, uint8_t, .initial = 3, .minimum = 1, .maximum = 5)
#define TUNED_STRUCT(T)                                                                                                \
    typedef struct T {                                                                                                 \
        int32_t level;                                                                                                 \
        float speed;                                                                                                   \
        Mood mood;                                                                                                     \
        bool on;                                                                                                       \
        Scale scale;                                                                                                   \
        Scale scales[2];                                                                                               \
        char title[8];                                                                                                 \
        uint8_t weights[3];                                                                                            \
    } T;
#define TUNED_INITIAL                                                                                                  \
    "{\"level\": 20, \"speed\": 0, \"mood\": \"MOOD_ANGRY\", \"on\": true, \"scale\": {\"x\": 1, \"y\": 1}, "          \
    "\"scales\": [{\"x\": 1, \"y\": 1}, {\"x\": 1, \"y\": 1}], \"title\": \"new\", \"weights\": [3, 3, 3]}"

TUNED_STRUCT(Tuned)
MICA_COMPONENT(Tuned, TUNED_FIELDS)
TUNED_STRUCT(TunedToggle)
MICA_COMPONENT_WITH(TunedToggle, (.toggle = true, .track_added = true), TUNED_FIELDS)
TUNED_STRUCT(TunedSplit)
MICA_COMPONENT_WITH(TunedSplit, (.split = true), TUNED_FIELDS)
TUNED_STRUCT(TunedPool)
MICA_POOL(TunedPool, TUNED_FIELDS)
TUNED_STRUCT(TunedDirect)
MICA_POOL_WITH(TunedDirect, (.index = MICA_INDEX_DIRECT), TUNED_FIELDS)
TUNED_STRUCT(TunedHash)
MICA_POOL_WITH(TunedHash, (.index = MICA_INDEX_HASH, .toggle = true), TUNED_FIELDS)
TUNED_STRUCT(TunedSplitPool)
MICA_POOL_WITH(TunedSplitPool, (.split = true), TUNED_FIELDS)
TUNED_STRUCT(TunedMany)
MICA_POOL_WITH(TunedMany, (.many = true), TUNED_FIELDS)
TUNED_STRUCT(TunedSingleton)
MICA_SINGLETON(TunedSingleton, TUNED_FIELDS)

/* Text and lists, which are shared with the initial value until they change. */
typedef struct TunedText { mica_text name; mica_list scores; mica_list scales; } TunedText;
#define TUNED_TEXT "{\"name\": \"a name that is longer than fits in place\", \"scores\": [1, 2], \"scales\": []}"
MICA_COMPONENT(TunedText, (name, mica_text, .initial_json = "\"a name that is longer than fits in place\""),
               (scores, float, .initial_json = "[1, 2]", .minimum = 0, .maximum = 10), (scales, Scale))
typedef struct TunedPoolText { mica_text name; mica_list scores; mica_list scales; } TunedPoolText;
MICA_POOL(TunedPoolText, (name, mica_text, .initial_json = "\"a name that is longer than fits in place\""),
          (scores, float, .initial_json = "[1, 2]", .minimum = 0, .maximum = 10), (scales, Scale))

#endif
