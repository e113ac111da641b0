/* Couriers that write streams, which all ranks read, and ask questions, which are answered in groups. All that they see of these depends on the
 * order, which must be the same on any number of ranks: each reader keeps a hash of everything it has read. */
#include "models.h"
#include "mica/singleton.h"
#include "mica/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Place { float x, y; } Place;
typedef struct Courier { uint64_t seen; uint32_t turn, answers; } Courier;
typedef struct Route { uint64_t digest; uint32_t rank_in_group, group_size; mica_text text; } Route;
typedef struct Parcel { uint64_t from; uint32_t weight; mica_text label; } Parcel;
typedef struct Bell { uint32_t tone; } Bell;
typedef struct Query { uint32_t number; mica_list stops; } Query;
typedef struct Toll { int32_t price; } Toll;
typedef struct Fee { int32_t paid; } Fee;
typedef struct Ledger { uint64_t parcels, bells, count; } Ledger;
MICA_COMPONENT(Place, x, y)
MICA_COMPONENT(Courier, seen, turn, answers)
MICA_COMPONENT(Route, digest, rank_in_group, group_size, text)
MICA_COMPONENT(Fee, paid)
MICA_STRUCT(Parcel, from, weight, label)
MICA_STRUCT(Bell, tone)
MICA_STRUCT(Query, number, (stops, uint32_t))
MICA_STRUCT(Toll, price)
MICA_SINGLETON(Ledger, parcels, bells, count)

enum { SIZE = 32 };

static mica_cluster *the_cluster;
static mica_stream *parcels, *bells;

static void post(mica_entity self, uint64_t identity, uint64_t chance)
{
    char label[48];
    for (uint64_t i = 0; i < chance % 3; ++i) {
        snprintf(label, sizeof label, "parcel %llu of %llx", (unsigned long long)i, (unsigned long long)identity);
        Parcel parcel = {identity, (uint32_t)(chance >> 8) + (uint32_t)i, mica_text_of(label)};
        mica_cluster_push(the_cluster, self, parcels, (mica_value)MICA_FROM(Parcel, &parcel));
    }
    if (chance >> 40 & 1)
        mica_cluster_push(the_cluster, self, bells, (mica_value)MICA_WITH(Bell, {(uint32_t)(chance >> 41)}));
    if (chance >> 16 & 1) {
        Query query = {.number = (uint32_t)(chance >> 20)};
        *mica_list_append(&query.stops, uint32_t) = (uint32_t)(chance >> 24);
        *mica_list_append(&query.stops, uint32_t) = 7;
        mica_cluster_ask(the_cluster, self, chance >> 32 & 15, (mica_value)MICA_FROM(Query, &query));
        mica_list_clear(&query.stops, uint32_t);
    }
}

static void ride(mica_view *view)
{
    Place *place = mica_view_write(view, Place);
    Courier *courier = mica_view_write(view, Courier);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity self = view->entities[i];
        mica_random random = mica_cluster_random(the_cluster, self, 1);
        uint64_t chance = mica_random_next(&random);
        post(self, mica_cluster_identity(the_cluster, self), chance);
        ++courier[i].turn;
        place[i].x = mica_random_range(&random, 0, SIZE);
        place[i].y += mica_random_range(&random, -1, 1);
        if (mica_random_below(&random, 40) == 0)
            mica_create(view->world, MICA_WITH(Place, {place[i].x, 3}), MICA_WITH(Courier, {.seen = chance}));
        if (mica_random_below(&random, 40) == 0)
            mica_destroy(view->world, self);
    }
}

/* A second writer and asker, in another system. */
static void ring(mica_view *view)
{
    const Courier *courier = mica_view_read(view, Courier);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity self = view->entities[i];
        if (courier[i].turn % 3 == 0)
            mica_cluster_push(the_cluster, self, bells, (mica_value)MICA_WITH(Bell, {courier[i].turn}));
        if (courier[i].turn % 4 == 0) {
            mica_cluster_ask(the_cluster, self, courier[i].seen % 5, (mica_value)MICA_WITH(Toll, {3}));
            mica_cluster_ask(the_cluster, self, courier[i].seen % 3 + 100, (mica_value)MICA_WITH(Toll, {5}));
        }
    }
}

/* Reads both streams, on every rank. */
static void listen(const mica_frame *frame)
{
    Ledger *ledger = mica_singleton_write(frame->world, Ledger);
    uint32_t count;
    for (const Parcel *some; (some = mica_stream_read(parcels, Parcel, &count));)
        for (uint32_t i = 0; i < count; ++i, ++ledger->count) {
            ledger->parcels = mix(mix(ledger->parcels, some[i].from), some[i].weight);
            for (const char *at = mica_text_get(&some[i].label); *at; ++at)
                ledger->parcels = mix(ledger->parcels, (unsigned char)*at);
        }
    for (const Bell *some; (some = mica_stream_read(bells, Bell, &count));)
        for (uint32_t i = 0; i < count; ++i, ++ledger->count)
            ledger->bells = mix(ledger->bells, some[i].tone);
}

/* What an answer says depends on all questions before it in the group. */
static void find_routes(const mica_cluster_group *group)
{
    const Query *queries = group->questions;
    Route *routes = group->answers;
    uint64_t digest = group->key;
    for (uint32_t i = 0; i < group->count; ++i) {
        const uint32_t *stops = mica_list_items(&queries[i].stops, uint32_t);
        digest = mix(mix(mix(digest, group->identities[i]), queries[i].number), stops[0] + stops[1]);
        routes[i] = (Route){.digest = digest, .rank_in_group = i, .group_size = group->count};
        char text[40];
        snprintf(text, sizeof text, "a route for question %u", queries[i].number);
        mica_text_set(&routes[i].text, text);
        group->answered[i] = queries[i].number % 5 != 0;
    }
}

static void take_toll(const mica_cluster_group *group)
{
    const Toll *tolls = group->questions;
    Fee *fees = group->answers;
    for (uint32_t i = 0; i < group->count; ++i)
        fees[i].paid = tolls[i].price + (int32_t)(group->key * 1000 + i + *(const uint32_t *)group->context);
}

/* Counts answers, so that it also matters when one arrives. */
static void note(mica_view *view)
{
    Courier *courier = mica_view_write(view, Courier);
    const Route *route = mica_view_read(view, Route);
    for (uint32_t i = 0; i < view->count; ++i) {
        courier[i].seen = mix(courier[i].seen, route[i].digest);
        ++courier[i].answers;
    }
}

static mica_cluster *create(mica_world *world, const settings *settings)
{
    static const uint32_t extra = 17;
    parcels = mica_stream_create(world, MICA_STREAM(Parcel));
    bells = mica_stream_create(world, MICA_STREAM(Bell));
    the_cluster = mica_cluster_create(
        world, &(mica_cluster_def){
                   .grid = {.component = MICA_ID(Place), .fields = "x, y", .cell_size = 2, .maximum = {SIZE, SIZE}},
                   .streams = (mica_stream *const[]){parcels, bells},
                   .stream_count = 2,
                   .requests =
                       (const mica_cluster_request[]){
                           {.question = MICA_ID(Query), .answer = MICA_ID(Route), .fn = find_routes},
                           {.question = MICA_ID(Toll),
                            .answer = MICA_ID(Fee),
                            .fn = take_toll,
                            .context = (void *)(uintptr_t)&extra,
                            .in_order = true}},
                   .request_count = 2,
                   .balance_steps = settings->balance,
                   .seed = settings->seed});
    mica_define(world, Route), mica_define(world, Fee);
    mica_singleton_write(world, Ledger)->count = 0;
    mica_system_add(world, MICA_SYSTEM(ride, MICA_WRITE(Place), MICA_WRITE(Courier), MICA_HAS(mica_identity)));
    mica_system_add(world, MICA_SYSTEM(ring, MICA_READ(Courier), MICA_HAS(mica_identity)));
    mica_system_add(world, MICA_SYSTEM(note, MICA_WRITE(Courier), MICA_READ(Route)));
    mica_system_add(world,
                    MICA_SYSTEM_ONCE_WITH(listen, (MICA_USES(MICA_USE_STREAM_READ(parcels), MICA_USE_STREAM_READ(bells),
                                                             MICA_USE_WRITE(Ledger)))));
    for (uint32_t i = 0; i < settings->agents && !settings->resume; ++i) {
        uint64_t seed = mix(settings->seed, i + 1);
        Place place = {(float)(seed & 0xFFF) / 4096 * SIZE, (float)(seed >> 12 & 0xFFF) / 4096 * SIZE};
        mica_create(world, MICA_FROM(Place, &place), MICA_WITH(Courier, {.seen = seed}));
    }
    return the_cluster;
}

static void must_be_equal(void *to, const void *from, void *context)
{
    if (memcmp(to, from, sizeof(uint64_t)) != 0)
        *(bool *)context = true;
}

/* What the streams contained, which is the same on all ranks. */
static uint64_t content(mica_world *world)
{
    const Ledger *ledger = mica_singleton_get(world, Ledger);
    uint64_t hash = mix(mix(ledger->parcels, ledger->bells), ledger->count);
    bool differs = false;
    mica_cluster_combine(the_cluster, &hash, sizeof hash, must_be_equal, &differs);
    if (differs)
        fprintf(stderr, "the streams of the ranks differ\n"), exit(EXIT_FAILURE);
    return mica_cluster_rank(the_cluster) ? 0 : hash; /* it is added up over all ranks */
}

const model couriers_model = {.name = "couriers", .create = create, .content = content};
