/* Queries about several entities, over the relations of a scene: what they show is compared with the edges themselves. */
#include "program.h"

enum { FIRST = 1, SECOND };

static mica_component take_relation(program *program)
{
    const mica_component relations[] = {MICA_ID(FuzzLikes),    MICA_ID(FuzzDocked),    MICA_ID(FuzzBorders),
                                        MICA_ID(FuzzBelow),    MICA_ID(FuzzRemembers), MICA_ID(FuzzGuards),
                                        MICA_ID(mica_child_of)};
    return relations[take_below(program, sizeof relations / sizeof *relations)];
}

/* Whether a node has what its term asks for, as far as the world can say: CHANGED and the like are not asked for. */
static mica_term take_node_term(program *program, scene *scene, uint32_t variable)
{
    sample_kind kind = take_kind(program, scene);
    return (mica_term){.component = sample_id(kind),
                       .access = take_one_in(program, 3) ? MICA_ACCESS_WITHOUT : MICA_ACCESS_HAS,
                       .subject = variable ? mica_variable(variable) : mica_this()};
}

static void join_drop(kept_join *kept)
{
    mica_query_destroy(kept->query);
    *kept = (kept_join){0};
}

/* Adds edges that a join asks for, or that it visits entities along. */
static void relate_some(program *program, scene *scene, const kept_join *kept)
{
    const mica_component relations[] = {kept->first, kept->second ? kept->second : kept->first, MICA_ID(FuzzUnder)};
    for (uint32_t i = 0; i < 3; ++i) {
        mica_entity source = take_entity(program, scene), target = take_entity(program, scene);
        if (relations[i] == MICA_ID(mica_child_of))
            mica_set_parent(scene->world, source, target);
        else
            mica_relate_id(scene->world, source, relations[i], target);
    }
}

/* An edge from this entity to a variable, and terms about both; often an edge from there to a second variable, which can be optional. */
static void create_in(program *program, scene *scene, kept_join *kept)
{
    mica_term terms[4];
    uint32_t count = 0, shape = take(program);
    join_drop(kept);
    kept->first = take_relation(program);
    terms[count++] = (mica_term){.component = kept->first, .access = MICA_ACCESS_HAS, .target = mica_variable(FIRST)};
    if (shape % 2)
        terms[count++] = take_node_term(program, scene, shape / 2 % 2);
    if (shape / 4 % 2) {
        kept->second = take_relation(program);
        kept->is_second_optional = shape / 8 % 2;
        terms[count++] = (mica_term){.component = kept->second,
                                     .access = kept->is_second_optional ? MICA_ACCESS_MAYBE_READ : MICA_ACCESS_HAS,
                                     .subject = mica_variable(FIRST),
                                     .target = mica_variable(SECOND)};
    }
    if (shape / 16 % 4 == 3) {
        mica_term along = {.component = sample_id(take_kind(program, scene)),
                           .access = MICA_ACCESS_MAYBE_READ,
                           .cascade = shape / 128 ? MICA_ID(FuzzUnder) : MICA_ID(mica_child_of)};
        terms[count++] = along;
    }
    kept->is_pair = count == 1;
    kept->with_hidden = shape / 64 % 2;
    mica_query_def def = {.terms = terms, .term_count = count, .location = MICA_HERE, .with_hidden = kept->with_hidden};
    kept->query = mica_query_create(scene->world, &def);
    char text[1024];
    if (!kept->query)
        return;
    mica_query_explain(kept->query, text, sizeof text);
    relate_some(program, scene, kept);
}

static void join_create(program *program, scene *scene)
{
    create_in(program, scene, &scene->joins[take_below(program, JOINS)]);
}

/* One that there is; a new one when there is none. NULL if it is refused. */
static kept_join *take_join(program *program, scene *scene)
{
    uint32_t first = take(program);
    for (uint32_t i = 0; i < JOINS; ++i)
        if (scene->joins[(first + i) % JOINS].query)
            return &scene->joins[(first + i) % JOINS];
    kept_join *kept = &scene->joins[first % JOINS];
    if (program->depth == 0)
        create_in(program, scene, kept);
    return kept->query ? kept : NULL;
}

static void join_destroy(program *program, scene *scene)
{
    kept_join *kept = take_join(program, scene);
    if (kept)
        join_drop(kept);
}

/* Which handles that the scene remembers an entity has; several if it was remembered again. */
static uint32_t places_of(const scene *scene, mica_entity entity)
{
    uint32_t places = 0;
    for (uint32_t i = 0; i < ENTITIES_KEPT; ++i)
        places |= (uint32_t)mica_same(scene->entities[i], entity) << i;
    return places;
}

/* Each combination has the edges, and nothing is shown that is not alive. */
static void check_shown(program *program, const kept_join *kept, const mica_view *view, mica_entity entity)
{
    const mica_world *world = view->world;
    mica_entity first = mica_view_variable(view, FIRST);
    EXPECT(program, mica_is_alive(world, entity) && mica_is_alive(world, first), "a join shows a dead entity");
    EXPECT(program, mica_is_related_id(world, entity, kept->first, first), "a join shows an edge that is not there");
    if (!kept->second)
        return;
    mica_entity second = mica_view_variable(view, SECOND);
    EXPECT(program, kept->is_second_optional || !mica_is_nil(second), "a join shows no entity for its variable");
    EXPECT(program, mica_is_nil(second) || mica_is_related_id(world, first, kept->second, second),
           "a join shows a second edge that is not there");
}

/* Loops to the end. Returns how many combinations there are, which remembered entities have one, and for each of
 * them those that its first edges lead to. */
static uint64_t loop_over(program *program, const scene *scene, const kept_join *kept, mica_view view,
                          uint32_t out_shown[ENTITIES_KEPT], uint32_t *out_matched)
{
    uint64_t count = 0;
    *out_matched = 0;
    while (mica_view_next(&view))
        for (uint32_t i = 0; i < view.count; ++i, ++count) {
            check_shown(program, kept, &view, view.entities[i]);
            uint32_t from = places_of(scene, view.entities[i]), to = places_of(scene, mica_view_variable(&view, FIRST));
            *out_matched |= from;
            for (uint32_t place = 0; place < ENTITIES_KEPT; ++place)
                out_shown[place] |= from >> place & 1 ? to : 0;
        }
    return count;
}

static bool is_asked_for(mica_query *everything, const kept_join *kept, mica_entity entity)
{
    return kept->with_hidden || mica_query_matches(everything, entity);
}

/* A query for nothing but an edge shows all of them. */
static void check_pairs(program *program, const scene *scene, const kept_join *kept, const uint32_t *shown)
{
    mica_query *everything = mica_query_create(scene->world, &(mica_query_def){0});
    for (uint32_t i = 0; everything && i < ENTITIES_KEPT; ++i)
        for (uint32_t k = 0; k < ENTITIES_KEPT; ++k) {
            mica_entity from = scene->entities[i], to = scene->entities[k];
            bool is_edge = mica_is_alive(scene->world, from) && mica_is_alive(scene->world, to) &&
                           is_asked_for(everything, kept, from) && is_asked_for(everything, kept, to) &&
                           mica_is_related_id(scene->world, from, kept->first, to);
            EXPECT(program, is_edge == (shown[i] >> k & 1), "a join misses an edge");
        }
    mica_query_destroy(everything);
}

/* Memory may be short in all of these calls: then they show less, which they report. */
static void join_loop(program *program, scene *scene)
{
    const kept_join *kept = take_join(program, scene);
    uint32_t shown[ENTITIES_KEPT] = {0}, bound_shown[ENTITIES_KEPT] = {0}, matched, bound_matched;
    if (!kept)
        return;
    uint64_t hash = mica_world_hash(scene->world);
    uint64_t count = loop_over(program, scene, kept, mica_query_begin(kept->query), shown, &matched);
    if (program->used_faults)
        return;
    EXPECT(program, mica_query_count(kept->query) == count, "a join counts other combinations than it shows");
    EXPECT(program, mica_is_nil(mica_query_first(kept->query)) == !count, "a join shows a first match only, or none");
    for (uint32_t i = 0; i < ENTITIES_KEPT; ++i)
        EXPECT(program, (matched >> i & 1) == mica_query_matches(kept->query, scene->entities[i]),
               "a join shows other entities than those that match");
    if (kept->is_pair)
        check_pairs(program, scene, kept, shown);
    uint32_t place = take_below(program, ENTITIES_KEPT), variable = take_below(program, 2);
    mica_view view = mica_query_begin(kept->query);
    if (!mica_is_alive(scene->world, scene->entities[place]))
        return;
    EXPECT(program, mica_view_bind(&view, variable ? FIRST : 0, scene->entities[place]), "a variable can't be bound");
    loop_over(program, scene, kept, view, bound_shown, &bound_matched);
    uint32_t bound = places_of(scene, scene->entities[place]);
    for (uint32_t i = 0; i < ENTITIES_KEPT; ++i)
        EXPECT(program,
               bound_shown[i] == (variable         ? shown[i] & bound
                                  : bound >> i & 1 ? shown[i]
                                                   : 0),
               "a bound variable changes what else is shown");
    EXPECT(program, mica_world_hash(scene->world) == hash, "a join changes what it only reads");
}

/* A loop that is left: its place is used again. */
static void join_leave(program *program, scene *scene)
{
    const kept_join *kept = take_join(program, scene);
    if (!kept)
        return;
    mica_view view = mica_query_begin(kept->query);
    if (mica_view_next(&view))
        check_shown(program, kept, &view, view.entities[0]);
}

static void join_text(program *program, scene *scene)
{
    const kept_join *kept = take_join(program, scene);
    char text[2048];
    mica_value_error error;
    if (!kept)
        return;
    mica_query_write_text(kept->query, text, sizeof text);
    mica_query *again = mica_query_text(scene->world, text, &error);
    EXPECT(program, again || program->used_faults, "the text of a join is refused");
    EXPECT(program,
           program->used_faults || kept->with_hidden || mica_query_count(again) == mica_query_count(kept->query),
           "the text of a join finds something else");
    mica_query_destroy(again);
}

static void join_add(program *program, scene *scene)
{
    sample_room room;
    const kept_join *kept = take_join(program, scene);
    sample_kind kind = take_kind(program, scene);
    if (!kept)
        return;
    mica_add_all_id(kept->query, sample_value_begin(kind, take(program), &room));
    sample_value_end(kind, &room);
}

static void join_remove(program *program, scene *scene)
{
    const kept_join *kept = take_join(program, scene);
    if (kept)
        mica_remove_all_id(kept->query, sample_id(take_kind(program, scene)));
}

static void join_relate(program *program, scene *scene)
{
    const kept_join *kept = take_join(program, scene);
    if (kept)
        relate_some(program, scene, kept);
}

/* With a limit a join finds less, or the same; a change of what it finds then changes all or nothing. */
static void join_limit(program *program, scene *scene)
{
    const kept_join *kept = take_join(program, scene);
    if (!kept)
        return;
    uint64_t count = mica_query_count(kept->query), hash = mica_world_hash(scene->world);
    mica_query_limit(kept->query, 1 + take(program));
    EXPECT(program, mica_query_count(kept->query) <= count || program->used_faults, "a join with a limit finds more");
    mica_result result = mica_remove_all_id(kept->query, sample_id(take_kind(program, scene)));
    EXPECT(program, result != MICA_ERROR_LIMIT || mica_world_hash(scene->world) == hash,
           "a join that reached its limit changes something");
    mica_query_limit(kept->query, 0);
}

const operation join_operations[] = {
    {"join_create", join_create, 0},       {"join_destroy", join_destroy, 0},     {"join_loop", join_loop, 0},
    {"join_leave", join_leave, IN_BODY},   {"join_text", join_text, 0},           {"join_add", join_add, IN_BODY},
    {"join_remove", join_remove, IN_BODY}, {"join_relate", join_relate, IN_BODY},
    {"join_limit", join_limit, SLOW},
};
OPERATIONS(join)
