#include "flow/messaging/monitor.h"

#include "base/bits.h"
#include "core/query/pattern.h"
#include "core/events/settle.h"
#include "core/events/watch.h"
#include "core/query/query.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/rows.h"
#include "core/world/callback.h"
#include "core/world/report.h"
#include "flow/messaging/traffic.h"

enum {
    TABLE_FIRST = 16,
    PARTS_MAX = MICA_TERMS_MAX + 1,
};

_Static_assert(PARTS_MAX <= 64, "a bit per part");

/* What the terms depend on: a component, or, as the last part, the components that hide entities. */
typedef struct part {
    mica_component component; /* 0: those that hide */
    const mica_pool *pool;
    bool can_outlive; /* its rows in a pool may be there longer than the entity */
} part;

/* One list of the core that the monitor is in. */
typedef struct node {
    micap_watch watch; /* first */
    struct node *next; /* of the monitor */
    micap_monitor *monitor;
    mica_component component;
    mica_event_kind kind;
    uint32_t part;
} node;

/* What happened to an entity in this operation. */
typedef struct note {
    mica_entity entity;
    uint64_t is_known;    /* bit per part: whether it was enabled before is known, */
    uint64_t was_enabled; /* and what it was */
    int32_t added[];      /* by part: additions less removals */
} note;

struct micap_monitor {
    const char *name;
    mica_query *query; /* for its terms */
    mica_event_fn fn;
    void *context;
    uint32_t is_told; /* 1: MATCH, 2: UNMATCH */
    part parts[PARTS_MAX];
    uint32_t part_count;
    uint32_t part_of[MICA_TERMS_MAX]; /* by term */
    node *nodes;
    char *notes; /* in the order of the first change */
    uint32_t note_count;
    uint32_t note_capacity; /* in bytes */
    mica_entity *told;      /* room for all entities that have a note */
    uint32_t told_capacity;
    uint32_t *table; /* by entity, open addressing: 1 + its note */
    uint32_t table_capacity;
    uint32_t table_size; /* the part of it in use: a power of two */
};

/* The components of one entity that the terms name: whether it has them, and whether they are enabled. */
typedef struct state {
    int64_t counts[PARTS_MAX]; /* more than 1 of a pool with many instances */
    uint64_t enabled;
} state;

static size_t note_bytes(const micap_monitor *monitor)
{
    return micap_align_up(sizeof(note) + monitor->part_count * sizeof(int32_t), _Alignof(note));
}

static note *note_at(const micap_monitor *monitor, uint32_t at)
{
    return (note *)(void *)(monitor->notes + at * note_bytes(monitor));
}

/* The place of an entity in the table, or the empty one where it goes. */
static uint32_t place_of(const micap_monitor *monitor, mica_entity entity)
{
    uint64_t key = (uint64_t)entity.generation << 32 | entity.index;
    uint32_t mask = monitor->table_size - 1, place = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & mask;
    while (monitor->table[place] && !mica_same(note_at(monitor, monitor->table[place] - 1)->entity, entity))
        place = (place + 1) & mask;
    return place;
}

/* Room for one more note. */
static bool reserve(mica_world *world, micap_monitor *monitor)
{
    uint64_t count = (uint64_t)monitor->note_count + 1, size = monitor->note_count ? monitor->table_size : TABLE_FIRST;
    if (!MICAP_RESERVE(&world->memory, monitor->notes, &monitor->note_capacity, count * note_bytes(monitor)) ||
        !MICAP_RESERVE(&world->memory, monitor->told, &monitor->told_capacity, count))
        return false;
    while (size < count * 2)
        size *= 2;
    if (!MICAP_RESERVE(&world->memory, monitor->table, &monitor->table_capacity, size))
        return false;
    if (monitor->note_count && size == monitor->table_size)
        return true;
    monitor->table_size = (uint32_t)size;
    memset(monitor->table, 0, size * sizeof *monitor->table);
    for (uint32_t i = 0; i < monitor->note_count; ++i)
        monitor->table[place_of(monitor, note_at(monitor, i)->entity)] = i + 1;
    return true;
}

/* The note of an entity, or NULL. */
static note *find(const micap_monitor *monitor, mica_entity entity)
{
    if (!monitor->note_count)
        return NULL;
    note *last = note_at(monitor, monitor->note_count - 1);
    if (mica_same(last->entity, entity))
        return last;
    uint32_t at = monitor->table[place_of(monitor, entity)];
    return at ? note_at(monitor, at - 1) : NULL;
}

/* The note of an entity, a new one if there is none. NULL with a report if memory is short: then the monitor is not told. */
static note *note_of(mica_world *world, micap_monitor *monitor, mica_entity entity)
{
    note *found = find(monitor, entity);
    if (found)
        return found;
    if (!reserve(world, monitor)) {
        micap_fail_memory(world, "monitor");
        return NULL;
    }
    monitor->table[place_of(monitor, entity)] = monitor->note_count + 1;
    note *fresh = note_at(monitor, monitor->note_count++);
    memset(fresh, 0, note_bytes(monitor));
    fresh->entity = entity;
    micap_settle_later(world);
    return fresh;
}

/* The first row in a pool of an entity that may be dead. */
static uint32_t first_row(const mica_world *world, const part *part, mica_entity entity)
{
    return part->can_outlive ? micap_pool_row(part->pool, entity) : micap_pooled_row(world, part->pool, entity);
}

static bool is_enabled(const mica_world *world, const part *part, mica_entity entity)
{
    if (!part->pool)
        return part->component && mica_is_enabled_id(world, entity, part->component);
    uint32_t row = first_row(world, part, entity);
    return row != MICAP_ROW_NONE && (!part->pool->enabled || part->pool->enabled[row]);
}

static void note_one(mica_world *world, const node *node, mica_event_kind kind, mica_entity entity)
{
    micap_monitor *monitor = node->monitor;
    const part *part = &monitor->parts[node->part];
    uint64_t bit = (uint64_t)1 << node->part;
    if (part->can_outlive && !mica_is_alive(world, entity) && !find(monitor, entity))
        return; /* it died in an earlier operation */
    note *note = note_of(world, monitor, entity);
    if (!note || kind == MICA_EVENT_DESTROY)
        return;
    if (kind != MICA_EVENT_ADD && !(note->is_known & bit)) {
        bool was_enabled = kind == MICA_EVENT_REMOVE ? is_enabled(world, part, entity) : kind == MICA_EVENT_DISABLE;
        note->is_known |= bit;
        note->was_enabled |= was_enabled ? bit : 0;
    }
    note->added[node->part] += (kind == MICA_EVENT_ADD) - (kind == MICA_EVENT_REMOVE);
}

static void seen(micap_watch *watch, mica_event *event)
{
    for (uint32_t i = 0; i < event->count; ++i)
        note_one(event->world, (const node *)watch, event->kind, event->entities[i]);
}

static bool is_named(const mica_query *query, mica_component component)
{
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (query->terms[i].component == component)
            return true;
    return false;
}

static uint32_t count_now(const mica_world *world, const micap_monitor *monitor, const part *part, mica_entity entity)
{
    uint32_t count = 0;
    if (part->pool) {
        uint32_t row = first_row(world, part, entity);
        for (; row != MICAP_ROW_NONE; row = part->pool->next ? part->pool->next[row] : MICAP_ROW_NONE)
            ++count;
        return count;
    }
    micap_row spot = micap_locate(world, entity);
    if (!micap_is_row(spot))
        return 0;
    const micap_archetype *archetype = spot.chunk->archetype;
    if (part->component)
        return micap_archetype_has(archetype, part->component);
    for (uint32_t i = 0; archetype->is_hidden && i < archetype->component_count; ++i)
        count +=
            micap_type_of(archetype->components[i])->type.hides && !is_named(monitor->query, archetype->components[i]);
    return count;
}

static bool fits(const micap_monitor *monitor, const state *state)
{
    if (state->counts[monitor->part_count - 1])
        return false;   /* it is hidden */
    bool either = true; /* no group is open */
    for (uint32_t i = 0; i < monitor->query->term_count; ++i) {
        mica_access access = monitor->query->terms[i].access;
        uint32_t part = monitor->part_of[i];
        bool is_there = state->counts[part] > 0, is_on = state->enabled >> part & 1;
        if (access == MICA_ACCESS_OR) {
            either |= is_there;
            continue;
        }
        if (!either)
            return false;
        if (access == MICA_ACCESS_EITHER) {
            either = is_there;
            continue;
        }
        if (access == MICA_ACCESS_WITHOUT ? is_there : micap_access_demands(access) && !is_there)
            return false;
        if (micap_access_demands(access) && is_on == (access == MICA_ACCESS_DISABLED))
            return false;
    }
    return either;
}

/* Whether an entity matches now (bit 0), and whether it matched before the operation (bit 1). */
static uint32_t compare(const mica_world *world, const micap_monitor *monitor, const note *note)
{
    state now = {0}, before;
    MICAP_ASSERT(monitor->part_count, "the last part of a monitor is what hides");
    for (uint32_t i = 0; i < monitor->part_count; ++i) {
        now.counts[i] = count_now(world, monitor, &monitor->parts[i], note->entity);
        now.enabled |= (uint64_t)(now.counts[i] && is_enabled(world, &monitor->parts[i], note->entity)) << i;
    }
    before.enabled = (now.enabled & ~note->is_known) | (note->was_enabled & note->is_known);
    for (uint32_t i = 0; i < monitor->part_count; ++i)
        before.counts[i] = now.counts[i] - note->added[i];
    return (uint32_t)(mica_is_alive(world, note->entity) && fits(monitor, &now)) | (uint32_t)fits(monitor, &before)
                                                                                       << 1;
}

static void tell(mica_world *world, const micap_monitor *monitor, mica_event_kind kind, const mica_entity *entities,
                 uint32_t count)
{
    mica_event event = {
        .world = world, .kind = kind, .count = count, .entities = entities, .context = monitor->context};
    uint32_t depth = micap_callback_begin(world);
    if (MICAP_UNLIKELY(world->traffic))
        micap_traffic_tell_observer(monitor->name, &event);
    monitor->fn(&event);
    micap_callback_end(world, depth);
}

bool micap_monitor_settle(mica_world *world, micap_monitor *monitor)
{
    /* Those that stopped from the front, those that started from the back. */
    uint32_t stopped = 0, started = 0, count = monitor->note_count;
    if (!count)
        return false;
    for (uint32_t i = 0; i < count; ++i) {
        const note *note = note_at(monitor, i);
        uint32_t matches = compare(world, monitor, note);
        if (matches == 2)
            monitor->told[stopped++] = note->entity;
        if (matches == 1)
            monitor->told[count - ++started] = note->entity;
    }
    monitor->note_count = 0;
    mica_entity *first = monitor->told + count - started;
    for (uint32_t i = 0; i < started / 2; ++i) {
        mica_entity other = first[i];
        first[i] = first[started - 1 - i];
        first[started - 1 - i] = other;
    }
    if (stopped && monitor->is_told & 2)
        tell(world, monitor, MICA_EVENT_UNMATCH, monitor->told, stopped);
    if (started && monitor->is_told & 1)
        tell(world, monitor, MICA_EVENT_MATCH, first, started);
    return stopped || started;
}

void micap_monitor_tell_existing(mica_world *world, const micap_monitor *monitor)
{
    if (monitor->is_told & 1)
        for (mica_view view = mica_query_begin(monitor->query); mica_view_next(&view);)
            tell(world, monitor, MICA_EVENT_MATCH, view.entities, view.count);
}

void micap_monitor_forget(micap_monitor *monitor)
{
    monitor->note_count = 0;
}

static void release_notes(mica_world *world, micap_monitor *monitor)
{
    MICAP_RELEASE_ARRAY(&world->memory, monitor->notes, monitor->note_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, monitor->told, monitor->told_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, monitor->table, monitor->table_capacity);
}

void micap_monitor_trim(mica_world *world, micap_monitor *monitor)
{
    MICAP_ASSERT(!monitor->note_count, "no operation is under way");
    release_notes(world, monitor);
    monitor->notes = NULL;
    monitor->told = NULL;
    monitor->table = NULL;
    monitor->note_capacity = monitor->told_capacity = monitor->table_capacity = 0;
}

static bool add_node(mica_world *world, micap_monitor *monitor, uint32_t part, mica_component component,
                     mica_event_kind kind)
{
    node *fresh = micap_allocate_zeroed(&world->memory, sizeof *fresh, MICAP_ARRAY_ALIGNMENT);
    if (!fresh)
        return false;
    *fresh = (node){.watch.seen = seen, .next = monitor->nodes, .monitor = monitor};
    fresh->component = component;
    fresh->kind = kind;
    fresh->part = part;
    monitor->nodes = fresh;
    micap_watch_add(world, kind, component, &fresh->watch);
    return true;
}

static bool watch_component(mica_world *world, micap_monitor *monitor, uint32_t part, mica_component component)
{
    bool has_switch = monitor->parts[part].component && micap_type_of(component)->type.toggle;
    return add_node(world, monitor, part, component, MICA_EVENT_ADD) &&
           add_node(world, monitor, part, component, MICA_EVENT_REMOVE) &&
           (!has_switch || (add_node(world, monitor, part, component, MICA_EVENT_ENABLE) &&
                            add_node(world, monitor, part, component, MICA_EVENT_DISABLE)));
}

bool micap_monitor_use(mica_world *world, micap_monitor *monitor, mica_component component)
{
    return is_named(monitor->query, component) || watch_component(world, monitor, monitor->part_count - 1, component);
}

static void drop_node(mica_world *world, node **link)
{
    node *dropped = *link;
    *link = dropped->next;
    micap_watch_remove(world, dropped->kind, dropped->component, &dropped->watch);
    micap_release(&world->memory, dropped, sizeof *dropped, MICAP_ARRAY_ALIGNMENT);
}

void micap_monitor_leave(mica_world *world, micap_monitor *monitor, mica_component component)
{
    for (node **link = &monitor->nodes; *link;)
        if ((*link)->component == component)
            drop_node(world, link);
        else
            link = &(*link)->next;
}

static bool watch_hiding(mica_world *world, micap_monitor *monitor)
{
    for (mica_component at = 0; (at = micap_component_after(&world->components, at));)
        if (micap_type_of(at)->type.hides && !micap_monitor_use(world, monitor, at))
            return false;
    return true;
}

static uint32_t part_for(const mica_world *world, micap_monitor *monitor, mica_component component)
{
    uint32_t at = 0;
    while (at < monitor->part_count && monitor->parts[at].component != component)
        ++at;
    if (at < monitor->part_count)
        return at;
    const mica_pool *pool = micap_is_pooled(component) ? micap_pool_of(world, component) : NULL;
    monitor->parts[monitor->part_count++] =
        (part){component, pool, pool && pool->type->type.dying != MICA_DYING_AT_ONCE};
    return at;
}

/* Whether every entity that matches has a component that does not outlive it: its removal is noted when the entity is destroyed. */
static bool is_anchored(const micap_monitor *monitor)
{
    bool is_group_fine = false;
    for (uint32_t i = 0; i < monitor->query->term_count; ++i) {
        mica_access access = monitor->query->terms[i].access;
        bool is_fine = !monitor->parts[monitor->part_of[i]].can_outlive;
        if (micap_access_demands(access) && is_fine)
            return true;
        bool is_last = i + 1 == monitor->query->term_count || monitor->query->terms[i + 1].access != MICA_ACCESS_OR;
        if (access == MICA_ACCESS_EITHER)
            is_group_fine = is_fine;
        else if (access == MICA_ACCESS_OR)
            is_group_fine &= is_fine;
        else
            continue;
        if (is_last && is_group_fine)
            return true;
    }
    return false;
}

/* Finds the parts and begins to watch them. MAYBE terms decide nothing. */
static bool watch_terms(mica_world *world, micap_monitor *monitor)
{
    const mica_query *query = monitor->query;
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (query->terms[i].access != MICA_ACCESS_MAYBE_READ && query->terms[i].access != MICA_ACCESS_MAYBE_WRITE)
            monitor->part_of[i] = part_for(world, monitor, query->terms[i].component);
    ++monitor->part_count; /* the last is zero: what hides */
    for (uint32_t i = 0; i + 1 < monitor->part_count; ++i)
        if (!watch_component(world, monitor, i, monitor->parts[i].component))
            return false;
    if (!is_anchored(monitor) && !add_node(world, monitor, 0, 0, MICA_EVENT_DESTROY))
        return false;
    return watch_hiding(world, monitor);
}

/* Whether the terms are of a kind that entities start and stop to match, with a report if not. */
static bool are_terms_valid(mica_world *world, const mica_observer_def *def, const char *name)
{
    bool is_valid = false;
    for (uint32_t i = 0; def->terms && i < def->term_count; ++i) {
        mica_access access = def->terms[i].access;
        const micap_type *type = micap_type_of(def->terms[i].component);
        if (micap_term_is_pattern(&def->terms[i])) {
            micap_fail(world, MICA_ERROR_INVALID, def->location,
                       "monitor %s: term %u: terms about other entities and edges can't be monitored", name, i);
            return false;
        }
        if (access == MICA_ACCESS_CHANGED || access == MICA_ACCESS_ADDED ||
            (type && type->type.storage == MICA_STORAGE_SINGLETON)) {
            micap_fail(world, MICA_ERROR_INVALID, def->location,
                       "monitor %s: term %u: CHANGED, ADDED and singletons are not states of an entity", name, i);
            return false;
        }
        is_valid |= micap_access_demands(access) || access == MICA_ACCESS_EITHER;
    }
    if (!is_valid)
        micap_fail(world, MICA_ERROR_INVALID, def->location,
                   "monitor %s: some term must require a component: READ, WRITE, HAS, DISABLED or EITHER", name);
    return is_valid;
}

micap_monitor *micap_monitor_create(mica_world *world, const mica_observer_def *def, const char *name, uint32_t is_told)
{
    if (!are_terms_valid(world, def, name))
        return NULL;
    mica_query *query = mica_query_create(
        world,
        &(mica_query_def){.name = name, .terms = def->terms, .term_count = def->term_count, .location = def->location});
    if (!query)
        return NULL;
    micap_monitor *fresh = micap_allocate_zeroed(&world->memory, sizeof *fresh, MICAP_ARRAY_ALIGNMENT);
    if (!fresh) {
        micap_query_free(query);
        micap_fail_memory(world, "monitor");
        return NULL;
    }
    *fresh = (micap_monitor){.name = name, .query = query, .fn = def->fn, .context = def->context, .is_told = is_told};
    if (watch_terms(world, fresh))
        return fresh;
    micap_monitor_destroy(world, fresh, false);
    micap_fail_memory(world, "monitor");
    return NULL;
}

void micap_monitor_destroy(mica_world *world, micap_monitor *monitor, bool is_world_ending)
{
    while (!is_world_ending && monitor->nodes)
        drop_node(world, &monitor->nodes);
    for (node *at = monitor->nodes, *next; at; at = next) {
        next = at->next;
        micap_release(&world->memory, at, sizeof *at, MICAP_ARRAY_ALIGNMENT);
    }
    if (!is_world_ending)
        micap_query_free(monitor->query);
    release_notes(world, monitor);
    micap_release(&world->memory, monitor, sizeof *monitor, MICAP_ARRAY_ALIGNMENT);
}
