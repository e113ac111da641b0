/* A world to which everything happens that a delta carries, and worlds that follow it. */
#ifndef MICA_TESTS_SUPPORT_FOLLOW_H
#define MICA_TESTS_SUPPORT_FOLLOW_H

#include "mica/delta.h"
#include "random.h"
#include "reports.h"

typedef struct Bond { mica_entity to; mica_entity also[2]; bool strong; } Bond;
MICA_COMPONENT(Bond, to, also, strong)
typedef struct Debt { mica_entity to; uint32_t amount; } Debt;
MICA_POOL_WITH(Debt, (.toggle = true, .dying = MICA_DYING_LAZILY), to, amount)

typedef struct Member { mica_text role; mica_entity entity; } Member;
MICA_STRUCT(Member, role, entity)
typedef struct Crowd { mica_text name; mica_list members; } Crowd;
MICA_COMPONENT(Crowd, name, (members, Member))
typedef struct Cards { mica_list numbers; mica_text suit; } Cards;
MICA_POOL_WITH(Cards, (.index = MICA_INDEX_DIRECT, .toggle = true), (numbers, uint16_t), suit)
typedef struct Errand { mica_entity giver; mica_text task; uint32_t urgency; } Errand;
MICA_POOL_WITH(Errand, (.many = true, .toggle = true, .index = MICA_INDEX_HASH), giver, task, urgency)
typedef struct Motto { mica_text text; mica_list friends; } Motto;
MICA_SINGLETON(Motto, text, (friends, mica_entity))

enum { LIVING_MAX = 3000 };

typedef struct sender_side {
    mica_world *world;
    reports heard;
    mica_sender *sender;
    random_source random;
    mica_entity living[LIVING_MAX];
    uint32_t living_count;
} sender_side;

typedef struct receiver_side {
    mica_world *world;
    reports heard;
    mica_replica *replica;
    mica_version acknowledged; /* as far as the sender knows */
} receiver_side;

/* Defines what a sender has. */
void define_carried(mica_world *world);
/* Rules for those of them that have functions. */
const mica_resource_rule *carried_rules(uint32_t *out_count);

void open_sender(sender_side *side, uint64_t seed);
void close_sender(sender_side *side);

void open_receiver(receiver_side *side, bool mapped);
void close_receiver(receiver_side *side);

/* Does some of everything to the sender's world. */
void live_a_tick(sender_side *side);

/* What is encoded is applied, unless it gets lost; and so is the acknowledgement. */
void follow(sender_side *from, receiver_side *to, bool is_reliable);

/* Says what differs. */
void expect_same(const mica_world *a, const mica_world *b, uint32_t tick);
/* Where handles differ: everything else must be the same. */
void expect_alike(const sender_side *from, const receiver_side *to);

#endif
