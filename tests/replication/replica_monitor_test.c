/* Monitors and observers in the world of a replica: deltas tell them what changed. */
#include "../support/follow.h"
#include "../support/match_set.h"
#include "../support/sample.h"
#include "../support/test.h"
#include "mica/disable.h"

typedef struct Torch { int32_t watts; } Torch;
MICA_COMPONENT_WITH(Torch, (.toggle = true), watts)
typedef struct Fever { int32_t degrees; } Fever;
MICA_POOL_WITH(Fever, (.toggle = true), degrees)

START_TEST(deltas_tell_monitors_which_entities_match)
{
    for (uint32_t mapped = 0; mapped < 2; ++mapped) {
        static sender_side from;
        static receiver_side to;
        open_sender(&from, 7 + mapped);
        open_receiver(&to, mapped);
        const struct {
            mica_term terms[2];
            uint32_t count;
        } wanted[] = {
            {{MICA_READ(Bond)}, 1},
            {{MICA_READ(Debt), MICA_WITHOUT(Bond)}, 2},
            {{MICA_DISABLED(Debt)}, 1},
            {{MICA_READ(Cards), MICA_WITHOUT(Crowd)}, 2},
            {{MICA_EITHER(Cards), MICA_OR(Crowd)}, 2},
        };
        enum { COUNT = sizeof wanted / sizeof *wanted };
        match_set sets[COUNT];
        for (uint32_t i = 0; i < COUNT; ++i)
            ck_assert(match_set_open(&sets[i], to.world, wanted[i].terms, wanted[i].count));
        uint64_t found = 0;
        for (uint32_t tick = 0; tick < 60; ++tick) {
            live_a_tick(&from);
            follow(&from, &to, tick % 3 == 0);
            for (uint32_t i = 0; i < COUNT; ++i) {
                ck_assert_msg(match_set_is_right(&sets[i]), "tick %u, monitor %u", tick, i);
                found += mica_query_count(sets[i].query) != 0;
            }
        }
        ck_assert_uint_ge(found, 100);
        for (uint32_t i = 0; i < COUNT; ++i)
            match_set_close(&sets[i], to.world);
        close_receiver(&to);
        close_sender(&from);
    }
}
END_TEST

static void count_toggles(const mica_event *seen)
{
    uint32_t *counts = seen->context;
    counts[seen->kind == MICA_EVENT_ENABLE] += seen->count;
    ck_assert_int_eq(mica_is_enabled_id(seen->world, seen->entities[0], seen->component),
                     seen->kind == MICA_EVENT_ENABLE);
}

START_TEST(deltas_tell_what_is_enabled_and_disabled)
{
    for (uint32_t has_own = 0; has_own < 2; ++has_own) { /* entities, so that rows do not lie as the sender's do */
        reports heard[2];
        mica_world *from = open_world(&heard[0]), *to = open_world(&heard[1]);
        mica_sender *sender = mica_sender_create(from, NULL);
        mica_replica *replica = mica_replica_create(to, &(mica_replica_def){.mapped = has_own});
        uint32_t counts[2] = {0};
        static const mica_event_kind events[] = {MICA_EVENT_ENABLE, MICA_EVENT_DISABLE};
        const mica_component components[] = {MICA_ID(Torch), MICA_ID(Fever)};
        mica_observer_def def = {.events = events, .event_count = 2, .components = components, .component_count = 2};
        def.fn = count_toggles;
        def.context = counts;
        ck_assert_uint_ne(mica_observer_add(to, &def).id, 0);
        mica_entity entities[20];
        mica_version base = 0;
        for (uint32_t i = 0; i < 20; ++i) {
            if (has_own && i % 3 == 0)
                mica_create(to, MICA_WITH(Torch, {1}), MICA_WITH(Fever, {1}));
            entities[i] = mica_create(from, MICA_WITH(Torch, {1}), MICA_WITH(Fever, {1}));
        }
        static const struct {
            uint32_t step;
            bool on;
            uint32_t told[2];
        } rounds[] = {{20, true, {0, 0}}, {2, false, {20, 0}}, {4, true, {20, 10}}, {2, false, {30, 10}}};
        for (uint32_t round = 0; round < 4; ++round) {
            for (uint32_t i = 0; i < 20; i += rounds[round].step) {
                mica_enable_id(from, entities[i], MICA_ID(Torch), rounds[round].on);
                mica_enable_id(from, entities[i], MICA_ID(Fever), rounds[round].on);
            }
            mica_delta delta;
            ck_assert_int_eq(mica_delta_encode(sender, base, &delta), MICA_OK);
            ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
            base = mica_replica_version(replica);
            ck_assert_uint_eq(counts[0], rounds[round].told[0]);
            ck_assert_uint_eq(counts[1], rounds[round].told[1]);
        }
        mica_replica_destroy(replica);
        mica_sender_destroy(sender);
        close_world(to, &heard[1]);
        close_world(from, &heard[0]);
    }
}
END_TEST

TEST_SUITE(replica_monitor, deltas_tell_monitors_which_entities_match, deltas_tell_what_is_enabled_and_disabled)
