/* A small world with one of everything that a delta carries, and deltas to it, and to a second state in which everything has
 * changed. */
#ifndef MICA_TESTS_SUPPORT_PARTY_H
#define MICA_TESTS_SUPPORT_PARTY_H

#include "mica/delta.h"
#include "reports.h"

typedef struct Tie { mica_entity to; bool tight; } Tie;
MICA_STRUCT(Tie, to, tight)
typedef struct Knot { Tie ties[2]; } Knot;
MICA_COMPONENT(Knot, (ties, Tie))
typedef struct Wind { float x, y; } Wind;
MICA_COMPONENT_WITH(Wind, (.split = true), x, y)
typedef struct Weather { float a[4], b[4], c[4], d[4], e[4], f[4], g[4], h[4], i[4], j[4], k[4], l[4], m[4], n[4], o[4], p[4]; } Weather;
MICA_COMPONENT_WITH(Weather, (.split = true), a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) /* 64 columns */
typedef struct Loan { mica_entity to; bool due; } Loan;
MICA_POOL_WITH(Loan, (.toggle = true), to, due)
typedef struct Seat { mica_entity beside; uint32_t number; } Seat;
MICA_POOL_WITH(Seat, (.index = MICA_INDEX_DIRECT, .split = true), beside, number)
typedef struct Coat { uint32_t hook; } Coat;
MICA_POOL_WITH(Coat, (.index = MICA_INDEX_HASH), hook)
typedef struct Bag { uint32_t things; } Bag;
MICA_POOL_WITH(Bag, (.many = true, .toggle = true), things)
MICA_POOL_TAG(Guest)
typedef struct Lamp { bool is_on; } Lamp;
MICA_SINGLETON(Lamp, is_on)

enum { PARTY_CROWD = 150, PARTY_LATE = 100, PARTY_KNOTS = 4 };

typedef struct party {
    mica_world *world;
    reports heard;
    mica_entity crowd[PARTY_CROWD + PARTY_LATE]; /* the late ones come with the second delta */
    mica_entity knots[PARTY_KNOTS];
    mica_entity patient; /* with a toggle, a tag and two columns */
    mica_entity vane;    /* split */
    mica_entity quiet;   /* nothing happens to it, and two others */
    char *deltas[3];     /* from nothing to the first state; from there to the second; from nothing to the second */
    uint32_t delta_bytes[3];
    uint64_t hashes[2]; /* of the replica in these states */
} party;

void party_open(party *party, mica_allocator allocator);
void party_close(party *party);

/* Defines the components of the party in the world of a replica. */
void party_define(mica_world *world);

#endif
