/* Descriptions of relations: which are refused, and what the report names. */
#include "../support/components.h"
#include "../support/test.h"
#include "mica/hierarchy.h"
#include "mica/message.h"
#include "relations.h"

#include <string.h>

static void expect_problem(const mica_type *type, const char *says, const char *change)
{
    const char *problem = mica_type_problem(type);
    ck_assert_msg(problem && strstr(problem, says), "%s: %s", change, problem ? problem : "is not refused");
}

/* A description that is fine except for one change of `type` or `fields`. */
#define REFUSED(T, says, change)                                                                                       \
    do {                                                                                                               \
        mica_type type = mica_type_of_##T;                                                                             \
        mica_field fields[8];                                                                                          \
        ck_assert_uint_le(type.field_count, 8);                                                                        \
        memcpy(fields, type.fields, type.field_count * sizeof *fields);                                                \
        type.fields = fields;                                                                                          \
        ck_assert_ptr_null(mica_type_problem(&type));                                                                  \
        change;                                                                                                        \
        expect_problem(&type, says, #change);                                                                          \
    } while (0)

static bool construct(void *values, uint32_t count, void *context)
{
    (void)values, (void)count, (void)context;
    return true;
}

static void destruct(void *values, uint32_t count, void *context)
{
    (void)values, (void)count, (void)context;
}

START_TEST(relations_have_no_traits_of_other_components)
{
    const char *says = "no traits of other components";
    REFUSED(Distance, says, type.storage = MICA_STORAGE_CHUNK);
    REFUSED(Distance, says, type.storage = MICA_STORAGE_SINGLETON);
    REFUSED(Distance, says, type.many = false);
    REFUSED(Distance, says, type.index = MICA_INDEX_DIRECT);
    REFUSED(Distance, says, type.index = MICA_INDEX_HASH);
    REFUSED(Distance, says, type.dying = MICA_DYING_LAZILY);
    REFUSED(Distance, says, type.toggle = true);
    REFUSED(Distance, says, type.track_added = true);
    REFUSED(Distance, says, type.track_changed = true);
    REFUSED(Distance, says, type.split = true);
    REFUSED(Distance, says, type.required = MICA_TYPES(Number));
    REFUSED(Distance, says, type.excludes = MICA_TYPES(Number));
    REFUSED(Distance, says, type.handler_count = 1);
    REFUSED(Distance, "hides", type.hides = true);
    REFUSED(Distance, "no functions for its values", type.construct = construct);
    REFUSED(Distance, "no functions for its values", type.destruct = destruct);
    REFUSED(WritesTo, "no functions for its values", type.destruct = destruct);
}
END_TEST

START_TEST(relations_begin_with_target_and_rank)
{
    const char *says = "begin with target, an entity, and rank";
    REFUSED(Distance, says, type.field_count = 0);
    REFUSED(Distance, says, type.field_count = 1);
    REFUSED(Distance, says, type.fields = NULL);
    REFUSED(Distance, says, fields[0].name = NULL);
    REFUSED(Distance, says, fields[0].name = "goal");
    REFUSED(Distance, says, fields[0].kind = MICA_KIND_U64);
    REFUSED(Distance, says, fields[0].count = 2);
    REFUSED(Distance, says, fields[1].name = NULL);
    REFUSED(Distance, says, fields[1].name = "order");
    REFUSED(Distance, says, fields[1].kind = MICA_KIND_I32);
    REFUSED(Distance, says, fields[1].count = 2);
    REFUSED(Distance, "lie before its target", fields[2].offset = fields[0].offset);
    REFUSED(Distance, "lie before its target", fields[3].offset = fields[1].offset);
}
END_TEST

START_TEST(traits_of_relations_that_contradict_are_refused)
{
    const char *says = "neither acyclic nor ordered";
    REFUSED(Distance, "is unknown", type.on_target = (mica_target_policy)(MICA_TARGET_REFUSE + 1));
    REFUSED(Borders, says, type.acyclic = true);
    REFUSED(Borders, says, type.ordered = true);
    REFUSED(Borders, says, type.on_target = MICA_TARGET_DESTROY);
    REFUSED(Borders, says, type.on_target = MICA_TARGET_KEEP);
    REFUSED(Borders, says, type.on_target = MICA_TARGET_REFUSE);
    REFUSED(Likes, "of mica_child_of only", type.parents = true);
    REFUSED(mica_child_of, "of mica_child_of only", type.transitive = true);
}
END_TEST

START_TEST(traits_of_relations_are_for_relations)
{
    const char *says = "are for relations";
    REFUSED(Number, says, type.exclusive = true);
    REFUSED(Number, says, type.symmetric = true);
    REFUSED(Number, says, type.acyclic = true);
    REFUSED(Number, says, type.transitive = true);
    REFUSED(Number, says, type.ordered = true);
    REFUSED(Number, says, type.parents = true);
    REFUSED(Number, says, type.on_target = MICA_TARGET_KEEP);
    REFUSED(Number, "a relation, whose edges need a target", type.required = MICA_TYPES(Likes));
    REFUSED(Number, "a relation, which excludes nothing", type.excludes = MICA_TYPES(Likes));
}
END_TEST

/* What is registered, with the functions that text and initial values bring along, describes a relation as well. */
START_TEST(registered_descriptions_are_accepted)
{
    const mica_component list[] = {MICA_ID(Likes),     MICA_ID(Distance),  MICA_ID(WritesTo),
                                   MICA_ID(MarriedTo), MICA_ID(Remembers), MICA_ID(PartOf)};
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i)
        ck_assert_ptr_null(mica_type_problem(mica_component_type(list[i])));
}
END_TEST

TEST_SUITE(description, relations_have_no_traits_of_other_components, relations_begin_with_target_and_rank,
           traits_of_relations_that_contradict_are_refused, traits_of_relations_are_for_relations,
           registered_descriptions_are_accepted)
