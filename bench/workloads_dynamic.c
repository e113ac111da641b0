/* Text and lists in components, against malloc'ed strings and arrays in a struct. */
#include "bench.h"
#include "raw.h"

#include "mica/mica.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4, APPENDED = 8, PASSES = 32 };

typedef struct Named { mica_text name; } Named;
MICA_COMPONENT(Named, name)
typedef struct Scored { mica_list scores; } Scored;
MICA_COMPONENT(Scored, (scores, float))

/* Longer than what lies in place, and of two lengths. */
static const char *const names[2] = {"a name of twenty-five bytes", "a name that is longer, of forty-one bytes"};

static const char *const short_names[4] = {"Anna", "Bernadette", "Christopher", "Li"};

static measurement text_set_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_create_many(world, n, (const mica_value[]){MICA_WITH(Named)}, 1, NULL);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_WRITE(Named)));
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        mica_view view = mica_query_begin(query);
        uint32_t number = round;
        while (mica_view_next(&view)) {
            Named *named = mica_view_write(&view, Named);
            for (uint32_t i = 0; i < view.count; ++i)
                require(mica_text_set(&named[i].name, names[number++ % 2]) == MICA_OK, "there is memory");
        }
    }
    double time = (now_ns() - start) / n / ROUNDS;
    mica_view view = mica_query_begin(query);
    while (mica_view_next(&view)) {
        const Named *named = mica_view_read(&view, Named);
        for (uint32_t i = 0; i < view.count; ++i)
            sum += mica_text_length(&named[i].name);
    }
    mica_world_destroy(world);
    return (measurement){time, sum};
}

static measurement text_set_raw(uint32_t n)
{
    char **named = allocate_or_exit(n * sizeof *named);
    memset(named, 0, n * sizeof *named);
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t round = 0; round < ROUNDS; ++round)
        for (uint32_t i = 0; i < n; ++i) {
            const char *name = names[(i + round) % 2];
            size_t bytes = strlen(name) + 1;
            char *copy = malloc(bytes);
            require(copy != NULL, "there is memory");
            memcpy(copy, name, bytes);
            free(named[i]);
            named[i] = copy;
        }
    double time = (now_ns() - start) / n / ROUNDS;
    for (uint32_t i = 0; i < n; ++i) {
        sum += strlen(named[i]);
        free(named[i]);
    }
    free(named);
    return (measurement){time, sum};
}

static measurement list_append_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_create_many(world, n, (const mica_value[]){MICA_WITH(Scored)}, 1, NULL);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_WRITE(Scored)));
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t round = 0; round < APPENDED; ++round) {
        mica_view view = mica_query_begin(query);
        while (mica_view_next(&view)) {
            Scored *scored = mica_view_write(&view, Scored);
            for (uint32_t i = 0; i < view.count; ++i) {
                float *score = mica_list_append(&scored[i].scores, float);
                require(score != NULL, "there is memory");
                *score = (float)round;
            }
        }
    }
    double time = (now_ns() - start) / n / APPENDED;
    mica_view view = mica_query_begin(query);
    while (mica_view_next(&view)) {
        const Scored *scored = mica_view_read(&view, Scored);
        for (uint32_t i = 0; i < view.count; ++i)
            sum += mica_list_count(&scored[i].scores);
    }
    mica_world_destroy(world);
    return (measurement){time, sum};
}

typedef struct raw_scores {
    float *items;
    uint32_t count;
    uint32_t capacity;
} raw_scores;

static measurement list_append_raw(uint32_t n)
{
    raw_scores *scored = allocate_or_exit(n * sizeof *scored);
    memset(scored, 0, n * sizeof *scored);
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t round = 0; round < APPENDED; ++round)
        for (uint32_t i = 0; i < n; ++i) {
            raw_scores *scores = &scored[i];
            if (scores->count == scores->capacity) {
                scores->capacity = scores->capacity ? 2 * scores->capacity : 2;
                scores->items = realloc(scores->items, scores->capacity * sizeof *scores->items);
                require(scores->items != NULL, "there is memory");
            }
            scores->items[scores->count++] = (float)round;
        }
    double time = (now_ns() - start) / n / APPENDED;
    for (uint32_t i = 0; i < n; ++i) {
        sum += scored[i].count;
        free(scored[i].items);
    }
    free(scored);
    return (measurement){time, sum};
}

static measurement text_iterate_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_create_many(world, n, (const mica_value[]){MICA_WITH(Named)}, 1, NULL);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_WRITE(Named)));
    uint32_t number = 0;
    mica_view view = mica_query_begin(query);
    while (mica_view_next(&view)) {
        Named *named = mica_view_write(&view, Named);
        for (uint32_t i = 0; i < view.count; ++i)
            mica_text_set(&named[i].name, short_names[number++ % 4]);
    }
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t round = 0; round < PASSES; ++round) {
        view = mica_query_begin(query);
        while (mica_view_next(&view)) {
            const Named *named = mica_view_read(&view, Named);
            require(named != NULL, "the query reads it"); /* which also spares mica_text_get its test for NULL */
            for (uint32_t i = 0; i < view.count; ++i)
                sum += (unsigned char)mica_text_get(&named[i].name)[1];
        }
    }
    double time = (now_ns() - start) / n / PASSES;
    mica_world_destroy(world);
    return (measurement){time, sum};
}

static measurement text_iterate_raw(uint32_t n)
{
    char(*named)[16] = raw_allocate_large(n * sizeof *named);
    require(named != NULL, "out of memory");
    for (uint32_t i = 0; i < n; ++i)
        strcpy(named[i], short_names[i % 4]);
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t round = 0; round < PASSES; ++round)
        for (uint32_t i = 0; i < n; ++i)
            sum += (unsigned char)named[i][1];
    double time = (now_ns() - start) / n / PASSES;
    free(named);
    return (measurement){time, sum};
}

const workload dynamic_workloads[] = {
    {"text_set", 100000, text_set_mica, text_set_raw, 1.0, UNIT_RATIO},
    {"list_append", 100000, list_append_mica, list_append_raw, 1.0, UNIT_RATIO},
    {"text_iterate", 1000000, text_iterate_mica, text_iterate_raw, 1.1, UNIT_RATIO},
    {0},
};
