/* A scene that uses everything a world has, driven by inputs: the same inputs give the same world. */
#ifndef MICA_TESTS_SUPPORT_SCENE_H
#define MICA_TESTS_SUPPORT_SCENE_H

#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "mica/snapshot.h"
#include "mica/transform.h"
#include "components.h"
#include "random.h"
#include "reports.h"
#include "test.h"

typedef struct Poison { float strength; } Poison;
MICA_POOL(Poison, strength)
typedef struct Item { uint32_t kind; mica_entity from; } Item;
MICA_POOL_WITH(Item, (.many = true, .dying = MICA_DYING_LAZILY), kind, from)
typedef struct Heat { float degrees; } Heat;
MICA_POOL_WITH(Heat,
               (.index = MICA_INDEX_HASH, .dying = MICA_DYING_AT_FLUSH, .track_added = true, .track_changed = true),
               degrees)
typedef struct Light { float x, y; } Light;
MICA_POOL_WITH(Light, (.index = MICA_INDEX_DIRECT, .split = true), x, y)
MICA_POOL_TAG(Marked)
typedef struct Score { uint32_t hits, answers, changes; } Score;
MICA_SINGLETON(Score, hits, answers, changes)
typedef struct Hit { mica_entity target; float force; } Hit;
MICA_STRUCT(Hit, target, force)
typedef struct Question { uint32_t number; } Question;
MICA_STRUCT(Question, number)

typedef struct scene {
    mica_world *world;
    reports heard;
    mica_stream *hits;
    mica_requests *questions;
    mica_removals *removals;
} scene;

void scene_open(scene *scene, uint32_t workers);
void scene_close(scene *scene);

/* What players do before a tick: follows from the number alone. */
void scene_input(scene *scene, uint64_t number);

/* The tick itself. */
void scene_step(scene *scene);

#endif
