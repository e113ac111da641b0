/* Relations with every trait, for tests. */
#ifndef MICA_TESTS_RELATION_RELATIONS_H
#define MICA_TESTS_RELATION_RELATIONS_H

#include "mica/mica.h"
#include "mica/relation.h"

typedef struct Distance {
    float meters;
    uint8_t lanes;
} Distance;
typedef struct DockedTo {
    uint32_t since;
} DockedTo;
typedef struct WritesTo {
    mica_text text;
} WritesTo;

MICA_RELATION(Likes)
MICA_RELATION(Distance, meters, lanes)
MICA_RELATION_WITH(DockedTo, (.exclusive = true, .on_target = MICA_TARGET_REMOVE), since)
MICA_RELATION_WITH(Borders, (.symmetric = true))
MICA_RELATION_WITH(MarriedTo, (.symmetric = true, .exclusive = true))
MICA_RELATION_WITH(DependsOn, (.acyclic = true, .transitive = true))
MICA_RELATION_WITH(PartOf, (.exclusive = true, .acyclic = true, .transitive = true, .ordered = true,
                            .on_target = MICA_TARGET_DESTROY))
MICA_RELATION_WITH(Remembers, (.on_target = MICA_TARGET_KEEP))
MICA_RELATION_WITH(Guards, (.on_target = MICA_TARGET_REFUSE))
MICA_RELATION(WritesTo, text)
MICA_RELATION_WITH(Needs, (.on_target = MICA_TARGET_DESTROY))
MICA_RELATION_WITH(Mourns, (.ordered = true, .on_target = MICA_TARGET_KEEP))
MICA_RELATION_WITH(LeadsTo, (.transitive = true))
MICA_RELATION_WITH(ConnectedTo, (.symmetric = true, .transitive = true))
MICA_RELATION_WITH(Follows, (.exclusive = true, .transitive = true))
MICA_RELATION_WITH(BondedTo, (.exclusive = true, .symmetric = true, .transitive = true))

#endif
