/* Queries, loops that stay open while other things happen, and changes of all that a query shows. */
#include "program.h"

static void query_drop(scene *scene, kept_query *kept)
{
    scene_close_loops(scene, kept);
    mica_query_destroy(kept->query);
    kept->query = NULL;
}

static mica_access take_access(program *program, sample_kind kind)
{
    static const mica_access with_data[] = {
        MICA_ACCESS_READ,       MICA_ACCESS_WRITE,    MICA_ACCESS_HAS,         MICA_ACCESS_WITHOUT,
        MICA_ACCESS_MAYBE_READ, MICA_ACCESS_CHANGED,  MICA_ACCESS_MAYBE_WRITE, MICA_ACCESS_EITHER,
        MICA_ACCESS_ADDED,      MICA_ACCESS_DISABLED, MICA_ACCESS_OR,
    };
    static const mica_access membership[] = {MICA_ACCESS_HAS, MICA_ACCESS_WITHOUT, MICA_ACCESS_MAYBE_READ,
                                             MICA_ACCESS_EITHER, MICA_ACCESS_OR};
    return samples[kind].has_data ? with_data[take_below(program, 11)] : membership[take_below(program, 5)];
}

static bool shows_column(mica_access access)
{
    return access <= MICA_ACCESS_OR && access != MICA_ACCESS_HAS && access != MICA_ACCESS_WITHOUT;
}

static void create_in(program *program, scene *scene, kept_query *kept)
{
    if (kept->query)
        query_drop(scene, kept);
    mica_term terms[3];
    sample_kind first = take_kind(program, scene);
    uint32_t count = take_below(program, 4);
    uint8_t special = take(program);
    for (uint32_t i = 0; i < count; ++i) {
        sample_kind kind = i == 0 ? first : take_kind(program, scene);
        terms[i] = (mica_term){.component = sample_id(kind), .access = take_access(program, kind)};
        kept->kinds[i] = kind;
    }
    kept->reads = SAMPLE_COUNT;
    if (special % 2 == 1 && samples[first].has_data) { /* a query that is sure to show values */
        kept->kinds[0] = first;
        terms[0] = (mica_term){.component = sample_id(first),
                               .access = special % 4 == 1 ? MICA_ACCESS_READ : MICA_ACCESS_WRITE};
        count = count > 0 ? count : 1;
    }
    mica_query_def def = {
        .terms = terms, .term_count = count, .location = MICA_HERE, .with_hidden = special / 8 % 3 == 2};
    if (count > 0 && (terms[0].access == MICA_ACCESS_READ || terms[0].access == MICA_ACCESS_WRITE)) {
        kept->reads = first;
        kept->writes = terms[0].access == MICA_ACCESS_WRITE;
        if (special % 8 == 5 && sample_is_whole(first)) {
            def.order_by = sample_id(first);
            def.compare = sample_compare;
            def.context = (void *)(uintptr_t)&samples[first];
        } else if (special % 8 == 7 && is_many(first)) {
            def.instances_of = sample_id(first);
        }
    }
    for (uint32_t i = 0; i < count; ++i)
        kept->shows_switches[i] = samples[kept->kinds[i]].type->toggle && shows_column(terms[i].access);
    kept->term_count = count;
    kept->query = mica_query_create(scene->world, &def);
}

static void query_create(program *program, scene *scene)
{
    create_in(program, scene, &scene->queries[take_below(program, QUERIES)]);
}

/* One that there is; a new one when there is none. */
static kept_query *take_query(program *program, scene *scene)
{
    uint32_t first = take(program);
    for (uint32_t i = 0; i < QUERIES; ++i)
        if (scene->queries[(first + i) % QUERIES].query)
            return &scene->queries[(first + i) % QUERIES];
    kept_query *kept = &scene->queries[first % QUERIES];
    if (program->depth == 0)
        create_in(program, scene, kept);
    return kept;
}

static void query_destroy(program *program, scene *scene)
{
    query_drop(scene, take_query(program, scene));
}

static void query_facts(program *program, scene *scene)
{
    kept_query *kept = take_query(program, scene);
    if (!kept->query)
        return;
    uint64_t count = mica_query_count(kept->query);
    mica_entity first = mica_query_first(kept->query);
    EXPECT(program, mica_is_nil(first) == (count == 0), "a query counts other entities than it finds");
    EXPECT(program, mica_is_nil(first) || mica_query_matches(kept->query, first), "the first match does not match");
    mica_query_matches(kept->query, take_entity(program, scene));
}

/* A loop shows everything, although its query is destroyed in it. */
static void destroy_in_loop(program *program, mica_query *query)
{
    uint64_t expected = mica_query_count(query), shown = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); shown += view.count)
        if (shown == 0)
            mica_query_destroy(query);
    if (shown == 0)
        mica_query_destroy(query);
    EXPECT(program, shown == expected || program->used_faults, "a loop over a destroyed query shows something else");
}

/* A query is the text that it is written as. */
static void query_text(program *program, scene *scene)
{
    const kept_query *kept = take_query(program, scene);
    char text[2048];
    mica_value_error error;
    if (!kept->query)
        return;
    mica_query_write_text(kept->query, text, sizeof text);
    mica_query *again = mica_query_text(scene->world, text, &error);
    EXPECT(program, again || program->used_faults, "the text of a query is refused");
    EXPECT(program, !again || mica_query_terms(again, NULL, 0) == mica_query_terms(kept->query, NULL, 0),
           "the text of a query has other terms");
    mica_query_explain(kept->query, text, sizeof text);
    destroy_in_loop(program, again);
}

/* What a view says about its rows is what the world says about each entity. */
static void compare_presence(program *program, const mica_view *view, mica_component component, bool is_toggled)
{
    bool has = mica_view_has_id(view, component);
    const uint8_t *enabled = is_toggled ? mica_view_enabled_id(view, component) : NULL;
    for (uint32_t i = 0; i < view->count; ++i) {
        EXPECT(program, has == mica_has_id(view->world, view->entities[i], component),
               "a view shows a component that its entities do not have, or hides one");
        EXPECT(program, !enabled || enabled[i] == mica_is_enabled_id(view->world, view->entities[i], component),
               "a view shows another switch than the entity has");
    }
}

/* Looks at everything that a view shows, and writes it where it may. */
static void use_view(program *program, open_loop *loop)
{
    sample_kind kind = loop->query->reads;
    for (uint32_t i = 0; i < loop->query->term_count; ++i)
        compare_presence(program, &loop->view, sample_id(loop->query->kinds[i]), loop->query->shows_switches[i]);
    for (uint32_t i = 0; i < loop->view.count; ++i)
        EXPECT(program, !mica_is_nil(loop->view.entities[i]), "a view shows nil");
    if (kind == SAMPLE_COUNT || !sample_is_whole(kind))
        return;
    char *values =
        loop->query->writes ? mica_view_write_at(&loop->view, 0) : (char *)(uintptr_t)mica_view_read_at(&loop->view, 0);
    for (uint32_t i = 0; values && i < loop->view.count; ++i) {
        char *value = values + (size_t)i * samples[kind].type->size_bytes;
        if (loop->query->writes)
            samples[kind].assign(value, take(program));
        else
            samples[kind].key(value);
    }
}

static void loop_step(program *program, scene *scene, open_loop *loop)
{
    bool is_fresh = loop->structure == mica_world_structure(scene->world);
    if (STOPS_AT_MISTAKES_HERE && !is_fresh) {
        loop->query = NULL;
        return;
    }
    loop->has_rows = mica_view_next(&loop->view);
    EXPECT(program, !loop->has_rows || is_fresh, "a loop continues after a change of structure");
    if (loop->has_rows)
        use_view(program, loop);
    else
        loop->query = NULL;
}

/* A query that sorts or looks for changes has one loop at a time. */
static void loop_begin(program *program, scene *scene)
{
    open_loop *loop = &scene->loops[take_below(program, LOOPS)];
    kept_query *kept = take_query(program, scene);
    scene_close_loops(scene, kept);
    if (!kept->query)
        return;
    loop->query = kept;
    loop->view =
        take_one_in(program, 3) ? mica_query_begin_since(kept->query, scene->mark) : mica_query_begin(kept->query);
    loop->structure = mica_world_structure(scene->world);
    loop_step(program, scene, loop);
}

static void loop_next(program *program, scene *scene)
{
    open_loop *loop = &scene->loops[take_below(program, LOOPS)];
    if (loop->query)
        loop_step(program, scene, loop);
}

static void loop_read(program *program, scene *scene)
{
    open_loop *loop = &scene->loops[take_below(program, LOOPS)];
    if (loop->query && loop->has_rows && loop->structure == mica_world_structure(scene->world))
        use_view(program, loop);
}

static void loop_all(program *program, scene *scene)
{
    open_loop loop = {.query = take_query(program, scene)};
    scene_close_loops(scene, loop.query);
    if (!loop.query->query)
        return;
    loop.view = mica_query_begin(loop.query->query);
    while (mica_view_next(&loop.view))
        use_view(program, &loop);
}

static void react_to_each(mica_entity entity, void *const *columns, void *context)
{
    (void)columns;
    run_body(context, BODY_EACH, &entity, 1);
}

/* The body runs for each entity while the world records. */
static void query_each(program *program, scene *scene)
{
    kept_query *kept = take_query(program, scene);
    reaction *reaction = take_reaction(program, scene);
    if (!kept->query || !reaction)
        return;
    scene_close_loops(scene, kept);
    mica_defer(scene->world);
    mica_query_each(kept->query, react_to_each, reaction);
    mica_flush(scene->world);
}

static void query_sort(program *program, scene *scene)
{
    kept_query *kept = take_query(program, scene);
    if (!kept->query || kept->reads == SAMPLE_COUNT || !sample_is_whole(kept->reads))
        return;
    mica_query_sort_rows(kept->query, sample_id(kept->reads), sample_compare, (void *)(uintptr_t)&samples[kept->reads]);
}

static void query_add(program *program, scene *scene)
{
    sample_room room;
    kept_query *kept = take_query(program, scene);
    sample_kind kind = take_kind(program, scene);
    if (!kept->query)
        return;
    mica_add_all_id(kept->query, sample_value_begin(kind, take(program), &room));
    sample_value_end(kind, &room);
}

/* All of them, or none if some have a component that it excludes. */
static void query_add_rival(program *program, scene *scene)
{
    const mica_component rivals[] = {MICA_ID(FuzzDay), MICA_ID(FuzzNight), MICA_ID(FuzzDusk), MICA_ID(FuzzDawn)};
    kept_query *kept = take_query(program, scene);
    mica_component component = rivals[take_below(program, 4)];
    if (kept->query)
        mica_add_all_id(kept->query, (mica_value){component, 0, NULL});
}

static void query_remove(program *program, scene *scene)
{
    kept_query *kept = take_query(program, scene);
    if (kept->query)
        mica_remove_all_id(kept->query, sample_id(take_kind(program, scene)));
}

static void query_destroy_entities(program *program, scene *scene)
{
    kept_query *kept = take_query(program, scene);
    if (kept->query)
        mica_destroy_all(kept->query);
}

static bool is_tracked(sample_kind kind)
{
    return samples[kind].type->track_changed;
}

/* Rows of a tracked component that are marked one by one are those that count as changed. */
static void mark_rows(program *program, scene *scene)
{
    sample_kind kind = take_kind_that(program, scene, is_tracked);
    uint32_t odds = 1 + take_below(program, 5), marked = 0, rows = 0;
    if (kind == SAMPLE_COUNT)
        return;
    mica_component id = sample_id(kind);
    mica_term writes = {.component = id, .access = MICA_ACCESS_WRITE},
              changed = {.component = id, .access = MICA_ACCESS_CHANGED};
    mica_query *writer = mica_query_create(scene->world, &(mica_query_def){.terms = &writes, .term_count = 1});
    mica_query *finder = mica_query_create(scene->world, &(mica_query_def){.terms = &changed, .term_count = 1});
    mica_version since = mica_world_mark(scene->world);
    for (mica_view view = mica_query_begin(writer); mica_view_next(&view);) {
        char *values = sample_is_whole(kind) ? mica_view_write_unmarked_id(&view, id) : NULL;
        for (uint32_t i = 0; i < view.count; ++i, ++rows) {
            if (rows % odds)
                continue;
            if (values)
                samples[kind].assign(values + (size_t)i * samples[kind].type->size_bytes, rows);
            mica_view_mark_id(&view, id, i);
            ++marked;
        }
    }
    for (mica_view view = mica_query_begin_since(finder, since); mica_view_next(&view);)
        marked -= view.count;
    EXPECT(program, !writer || !finder || !marked, "other rows count as changed than those that were marked");
    mica_query_destroy(writer);
    mica_query_destroy(finder);
}

const operation query_operations[] = {
    {"query_create", query_create, WHILE_RECORDING | KEEPS_FOLLOWING},
    {"query_destroy", query_destroy, WHILE_RECORDING | KEEPS_FOLLOWING},
    {"query_facts", query_facts, IN_BODY},
    {"query_text", query_text, WHILE_RECORDING | KEEPS_FOLLOWING},
    {"loop_begin", loop_begin, 0},
    {"loop_next", loop_next, 0},
    {"loop_read", loop_read, 0},
    {"loop_all", loop_all, 0},
    {"query_each", query_each, SLOW},
    {"mark_rows", mark_rows, 0},
    {"query_sort", query_sort, IN_BODY},
    {"query_add", query_add, IN_BODY},
    {"query_add_rival", query_add_rival, IN_BODY},
    {"query_remove", query_remove, IN_BODY},
    {"query_destroy_entities", query_destroy_entities, IN_BODY},
};
OPERATIONS(query)
