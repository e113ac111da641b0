/* Every kind of term with every kind of storage, in everything that takes terms: each works, with the same result, or is rejected with a
 * report. docs/query_terms.md is the table that comes out. MICA_WRITE_TABLE=1 in the environment writes it. */
#include "../../support/reports.h"
#include "../../support/require.h"
#include "../../support/test.h"

#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "mica/mica.h"
#include "mica/relation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 30, LIMIT = 12, VARIABLE = 1, PAGE_BYTES = 16000, REASONS_MAX = 40, REASON_BYTES = 512 };

typedef struct Plain { uint32_t number; } Plain;
MICA_COMPONENT(Plain, number)
typedef struct Toggled { uint32_t number; } Toggled;
MICA_COMPONENT_WITH(Toggled, (.toggle = true, .track_added = true, .track_changed = true), number)
typedef struct Split { uint32_t number, other; } Split;
MICA_COMPONENT_WITH(Split, (.split = true), number, other)
MICA_TAG(Tag)
MICA_TAG_WITH(ToggledTag, (.toggle = true, .track_added = true))
typedef struct Pool { uint32_t number; } Pool;
MICA_POOL(Pool, number)
typedef struct ToggledPool { uint32_t number; } ToggledPool;
MICA_POOL_WITH(ToggledPool, (.index = MICA_INDEX_HASH, .toggle = true, .track_added = true, .track_changed = true),
               number)
typedef struct SplitPool { uint32_t number, other; } SplitPool;
MICA_POOL_WITH(SplitPool, (.index = MICA_INDEX_DIRECT, .split = true), number, other)
typedef struct Many { uint32_t number; } Many;
MICA_POOL_WITH(Many, (.many = true), number)
MICA_POOL_TAG(PoolTag)
typedef struct Single { uint32_t number; } Single;
MICA_SINGLETON(Single, number)
typedef struct Edge { uint32_t number; } Edge;
MICA_RELATION(Edge, number)
MICA_RELATION(BareEdge)

MICA_TAG(Anchor)
MICA_TAG(Other)
MICA_RELATION_WITH(Below, (.exclusive = true, .acyclic = true))

typedef struct storage {
    const char *name;
    mica_type *type;
} storage;

static const storage storages[] = {
    {"chunk", &mica_type_of_Plain},
    {"chunk, toggled, tracked", &mica_type_of_Toggled},
    {"chunk, split", &mica_type_of_Split},
    {"tag", &mica_type_of_Tag},
    {"tag, toggled, tracked", &mica_type_of_ToggledTag},
    {"pool", &mica_type_of_Pool},
    {"pool, toggled, tracked", &mica_type_of_ToggledPool},
    {"pool, split", &mica_type_of_SplitPool},
    {"pool of many", &mica_type_of_Many},
    {"pool tag", &mica_type_of_PoolTag},
    {"singleton", &mica_type_of_Single},
    {"relation", &mica_type_of_Edge},
    {"relation without fields", &mica_type_of_BareEdge},
    {"hierarchy (`mica_child_of`)", &mica_type_of_mica_child_of},
};

typedef enum term_kind {
    READ,
    WRITE,
    HAS,
    WITHOUT,
    MAYBE_READ,
    MAYBE_WRITE,
    EITHER,
    CHANGED,
    ADDED,
    DISABLED,
    COMPARED,
    TARGET,
    READ_TARGET,
    FIXED,
    UP,
    DOWN,
    CASCADE,
    TERM_KINDS,
} term_kind;

static const char *const term_names[TERM_KINDS] = {
    "READ",
    "WRITE",
    "HAS",
    "WITHOUT",
    "MAYBE_READ",
    "MAYBE_WRITE",
    "EITHER and OR",
    "CHANGED",
    "ADDED",
    "DISABLED",
    "HAS with .field",
    "HAS with a variable",
    "READ with a variable",
    "READ of a fixed entity",
    "READ with .up",
    "READ with .down",
    "MAYBE_READ with .cascade",
};

typedef enum use { LOOP, COUNT, FIRST, MATCHES, SYSTEM, OBSERVER, USES } use;
static const char *const use_names[USES] = {"loops",   "mica_query_count", "mica_query_first", "mica_query_matches",
                                            "systems", "observers"};

static reports heard;

typedef struct scene {
    mica_world *world;
    const storage *storage;
    mica_entity entities[ENTITIES];
    mica_entity hub; /* where edges lead, and what the ancestors of all have */
} scene;

/* Which entities a use found. */
typedef struct found {
    const scene *scene;
    uint32_t entities;
    uint64_t count;
} found;

static bool has_data(const storage *storage)
{
    return storage->type->size_bytes && !storage->type->relation;
}

/* Of each five entities, one has nothing, and one has a component that is switched off. */
static bool has_it(uint32_t entity)
{
    return entity % 5 != 0;
}

static bool is_switched_off(const storage *storage, uint32_t entity)
{
    return storage->type->toggle && entity % 5 == 1;
}

/* Whether an entity below it, without an anchor, has one. */
static bool has_below(uint32_t entity)
{
    return entity % 3 == 0;
}

static void give(scene *scene, mica_entity entity, uint32_t number)
{
    const mica_type *type = scene->storage->type;
    mica_component id = mica_type_id(scene->storage->type);
    uint32_t value[2] = {number, 0};
    if (type->parents)
        REQUIRE(mica_set_parent(scene->world, entity, scene->hub) == MICA_OK);
    else if (type->relation)
        REQUIRE(mica_relate_id(scene->world, entity, id, scene->hub) || !type->size_bytes);
    else if (type->storage != MICA_STORAGE_SINGLETON)
        REQUIRE(mica_set_id(scene->world, entity, (mica_value){id, 0, has_data(scene->storage) ? value : NULL}) ||
                !has_data(scene->storage));
}

static void open_scene(scene *scene, const storage *storage)
{
    *scene = (struct scene){.world = open_world(&heard), .storage = storage};
    mica_world *world = scene->world;
    mica_component id = mica_component_define(world, storage->type);
    REQUIRE(id);
    scene->hub = mica_create(world);
    if (!storage->type->relation)
        give(scene, scene->hub, 1);
    if (storage->type->storage == MICA_STORAGE_SINGLETON)
        REQUIRE(mica_singleton_write_id(world, id));
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        mica_entity entity = scene->entities[i] = mica_create(world, MICA_WITH(Anchor));
        if (i % 2)
            mica_add(world, entity, Other);
        REQUIRE(mica_relate(world, entity, Below, scene->hub));
        if (has_below(i)) {
            mica_entity leaf = mica_create(world);
            REQUIRE(mica_relate(world, leaf, Below, entity));
            give(scene, leaf, i);
        }
        if (has_it(i))
            give(scene, entity, i);
        if (has_it(i) && is_switched_off(storage, i))
            REQUIRE(mica_enable_id(world, entity, id, false));
    }
}

/* The terms of a kind, about entities with an anchor. */
static uint32_t make_terms(const scene *scene, term_kind kind, mica_term terms[3])
{
    static const mica_access accesses[] = {MICA_ACCESS_READ,     MICA_ACCESS_WRITE,      MICA_ACCESS_HAS,
                                           MICA_ACCESS_WITHOUT,  MICA_ACCESS_MAYBE_READ, MICA_ACCESS_MAYBE_WRITE,
                                           MICA_ACCESS_EITHER,   MICA_ACCESS_CHANGED,    MICA_ACCESS_ADDED,
                                           MICA_ACCESS_DISABLED, MICA_ACCESS_HAS,        MICA_ACCESS_HAS,
                                           MICA_ACCESS_READ,     MICA_ACCESS_READ,       MICA_ACCESS_READ,
                                           MICA_ACCESS_READ,     MICA_ACCESS_MAYBE_READ};
    mica_term term = {.component = mica_type_id(scene->storage->type), .access = accesses[kind]};
    uint32_t count = 0;
    terms[count++] = (mica_term){.component = MICA_ID(Anchor), .access = MICA_ACCESS_HAS};
    switch (kind) {
    case COMPARED:
        term.field = "number";
        term.compare = MICA_LESS;
        term.key = mica_key_integer(LIMIT);
        break;
    case TARGET:
    case READ_TARGET: term.target = mica_variable(VARIABLE); break;
    case FIXED: term.subject = mica_fixed(scene->hub); break;
    case UP: term.up = MICA_ID(Below); break;
    case DOWN: term.down = MICA_ID(Below); break;
    case CASCADE: term.cascade = MICA_ID(Below); break;
    default: break;
    }
    terms[count++] = term;
    if (kind == EITHER)
        terms[count++] = (mica_term){.component = MICA_ID(Other), .access = MICA_ACCESS_OR};
    return count;
}

static bool is_expected(const storage *storage, term_kind kind, uint32_t entity)
{
    bool is_single = storage->type->storage == MICA_STORAGE_SINGLETON;
    bool has = is_single || has_it(entity), is_on = has && !is_switched_off(storage, entity);
    switch (kind) {
    case WITHOUT: return !has;
    case MAYBE_READ:
    case MAYBE_WRITE:
    case CASCADE: return true;
    case EITHER: return has || entity % 2;
    case DISABLED: return has && !is_on;
    case COMPARED: return is_on && entity < LIMIT;
    case FIXED:
    case UP: return true; /* the hub has it */
    case DOWN: return has_below(entity);
    default: return is_on;
    }
}

static void find(found *found, const mica_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t k = 0; k < ENTITIES; ++k)
            found->entities |= (uint32_t)mica_same(entities[i], found->scene->entities[k]) << k;
    found->count += count;
}

static void find_in_view(mica_view *view)
{
    find(view->frame->context, view->entities, view->count);
}

static void find_in_event(const mica_event *event)
{
    find(event->context, event->entities, event->count);
}

static bool ask_system(scene *scene, const mica_term *terms, uint32_t term_count, found *found)
{
    mica_system_def def = {
        .name = "ask", .terms = terms, .term_count = term_count, .view = find_in_view, .context = found};
    if (!mica_system_add(scene->world, &def).id)
        return false;
    ck_assert_int_eq(mica_step(scene->world, 1), MICA_OK);
    return true;
}

static bool ask_observer(scene *scene, const mica_term *terms, uint32_t term_count, found *found)
{
    mica_observer_def def = {
        .event = MICA_EVENT_USER, .fn = find_in_event, .context = found, .terms = terms, .term_count = term_count};
    if (!mica_observer_add(scene->world, &def).id)
        return false;
    for (uint32_t i = 0; i < ENTITIES; ++i)
        REQUIRE(mica_event_emit(scene->world, MICA_EVENT_USER, 0, scene->entities[i], (mica_value){0}));
    return true;
}

static bool ask_query(scene *scene, use use, const mica_term *terms, uint32_t term_count, found *found)
{
    mica_query *query = mica_query_create(scene->world, &(mica_query_def){.terms = terms, .term_count = term_count});
    if (!query)
        return false;
    if (use == LOOP)
        for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
            find(found, view.entities, view.count);
    if (use == COUNT)
        found->count = mica_query_count(query);
    mica_entity first = use == FIRST ? mica_query_first(query) : mica_nil();
    if (!mica_is_nil(first))
        find(found, &first, 1);
    for (uint32_t i = 0; use == MATCHES && i < ENTITIES; ++i)
        if (mica_query_matches(query, scene->entities[i]))
            find(found, &scene->entities[i], 1);
    mica_query_destroy(query);
    return true;
}

/* Whether a use takes a term. If it does, it finds what is expected. */
static bool is_taken(const storage *storage, term_kind kind, use use)
{
    scene scene;
    mica_term terms[3];
    open_scene(&scene, storage);
    found found = {.scene = &scene};
    uint32_t expected = 0, count = 0, term_count = make_terms(&scene, kind, terms);
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        expected |= (uint32_t)is_expected(storage, kind, i) << i;
        count += is_expected(storage, kind, i);
    }
    bool taken = use == SYSTEM     ? ask_system(&scene, terms, term_count, &found)
                 : use == OBSERVER ? ask_observer(&scene, terms, term_count, &found)
                                   : ask_query(&scene, use, terms, term_count, &found);
    const char *where = use_names[use];
    if (!taken)
        ck_assert_msg(heard.count > 0, "%s of %s in %s is rejected without a report", term_names[kind], storage->name,
                      where);
    else
        ck_assert_msg(heard.count == 0, "%s of %s in %s: %s", term_names[kind], storage->name, where,
                      heard.list[0].text);
    if (taken && use == FIRST)
        ck_assert_msg(found.count == (expected != 0) && (found.entities & ~expected) == 0, "%s of %s: first",
                      term_names[kind], storage->name);
    else if (taken)
        ck_assert_msg(found.count == count && (use == COUNT || found.entities == expected),
                      "%s of %s in %s: %x, %llu times, expected %x", term_names[kind], storage->name, where,
                      found.entities, (unsigned long long)found.count, expected);
    mica_world_destroy(scene.world);
    return taken;
}

/* The page, and why terms are rejected. */
typedef struct page {
    char text[PAGE_BYTES];
    char reasons[REASONS_MAX][REASON_BYTES];
    uint32_t reason_count;
} page;

static void append(page *page, const char *text)
{
    ck_assert(strlen(page->text) + strlen(text) < sizeof page->text);
    strcat(page->text, text);
}

/* The number of a reason, from 1 on. What comes before it in a report names the term. */
static uint32_t number_of_reason(page *page, const char *report)
{
    const char *term = strstr(report, "): ");
    const char *reason = term ? term + 3 : report;
    for (uint32_t i = 0; i < page->reason_count; ++i)
        if (strcmp(page->reasons[i], reason) == 0)
            return i + 1;
    ck_assert(page->reason_count < REASONS_MAX);
    snprintf(page->reasons[page->reason_count], REASON_BYTES, "%s", reason);
    return ++page->reason_count;
}

static void append_cell(page *page, const storage *storage, term_kind kind)
{
    char cell[200] = "";
    uint32_t taken = 0, reason = 0;
    for (use use = 0; use < USES; ++use) {
        bool is = is_taken(storage, kind, use);
        taken |= (uint32_t)is << use;
        if (!is && !reason)
            reason = number_of_reason(page, heard.list[0].text);
        forget_reports(&heard);
    }
    uint32_t all = (1u << USES) - 1;
    if (taken == all)
        snprintf(cell, sizeof cell, " yes |");
    else if (!taken)
        snprintf(cell, sizeof cell, " no (%u) |", reason);
    else {
        snprintf(cell, sizeof cell, " not in");
        for (use use = 0; use < USES; ++use)
            if (!(taken >> use & 1)) {
                strcat(cell, " ");
                strcat(cell, use_names[use]);
            }
        snprintf(cell + strlen(cell), sizeof cell - strlen(cell), " (%u) |", reason);
    }
    append(page, cell);
}

static void make_page(page *page)
{
    append(page, "# Terms and storages\n\nWhich terms of [queries](guide/queries.md) work with which components: in "
                 "loops, `mica_query_count`, "
                 "`mica_query_first`,\n`mica_query_matches`, systems, and filters of observers. "
                 "Combinations that do not work are rejected with a report when the query, system or\nobserver is "
                 "created; the number says why. A test writes this page.\n\n| term |");
    for (uint32_t i = 0; i < sizeof storages / sizeof *storages; ++i) {
        append(page, " ");
        append(page, storages[i].name);
        append(page, " |");
    }
    append(page, "\n|---|");
    for (uint32_t i = 0; i < sizeof storages / sizeof *storages; ++i)
        append(page, "---|");
    for (term_kind kind = 0; kind < TERM_KINDS; ++kind) {
        append(page, "\n| ");
        append(page, term_names[kind]);
        append(page, " |");
        for (uint32_t i = 0; i < sizeof storages / sizeof *storages; ++i)
            append_cell(page, &storages[i], kind);
    }
    append(page, "\n\n");
    for (uint32_t i = 0; i < page->reason_count; ++i) {
        char line[REASON_BYTES + 20];
        snprintf(line, sizeof line, "%u. %s\n", i + 1, page->reasons[i]);
        append(page, line);
    }
}

START_TEST(every_term_works_with_every_storage_or_is_rejected)
{
    static page page;
    static char before[PAGE_BYTES];
    make_page(&page);
    const char *path = "docs/query_terms.md";
    bool is_written = getenv("MICA_WRITE_TABLE") != NULL;
    FILE *file = fopen(path, is_written ? "w" : "r");
    ck_assert_msg(file != NULL, "%s can't be opened", path);
    size_t bytes =
        is_written ? fwrite(page.text, 1, strlen(page.text), file) : fread(before, 1, sizeof before - 1, file);
    fclose(file);
    ck_assert_uint_eq(bytes, strlen(page.text));
    ck_assert_msg(is_written || strcmp(before, page.text) == 0, "%s is not what the library does", path);
}
END_TEST

TEST_SUITE(term_table, every_term_works_with_every_storage_or_is_rejected)
