#include "cluster/reference.h"

#include "base/assert.h"
#include "base/hash.h"
#include "cluster/exchange.h"
#include "cluster/link_codec.h"
#include "cluster/new_families.h"
#include "mica/component.h"
#include "mica/hierarchy.h"
#include "mica/hook.h"
#include "mica/name.h"

#include <stdio.h>
#include <stdlib.h>

/* What a home knows about an identity. */
typedef struct directory_entry {
    uint64_t identity;      /* 0: empty */
    uint32_t owner;         /* MICAP_NO_RANK: it has died */
    uint32_t first_watcher; /* 1 + its number; 0: none */
} directory_entry;

typedef struct watcher {
    uint32_t rank, next; /* 1 + the number of the next */
} watcher;

/* A list of identities, each with a rank. */
typedef struct notice {
    uint64_t identity;
    uint32_t rank;
} notice;

typedef struct notices {
    notice *list;
    uint32_t count, capacity;
} notices;

struct micap_references {
    directory_entry *entries; /* open addressing */
    uint32_t entry_capacity, entry_count;
    watcher *watchers;
    uint32_t watcher_count, watcher_capacity, free_watcher;
    notices born, died, gone, watches, lost;
    uint8_t *marks; /* by the index of an entity */
    uint32_t mark_capacity;
    uint64_t *identities; /* of stand-ins, by the index */
    uint32_t identity_capacity;
    mica_query *remotes;
    bool must_announce;
    bool is_moving;   /* what is destroyed has not died */
    bool is_cleaning; /* what is destroyed are stand-ins that are not needed any more */
};

static void fail_memory(mica_cluster *cluster)
{
    micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for references between ranks");
}

static void add_notice(mica_cluster *cluster, notices *to, uint64_t identity, uint32_t rank)
{
    if (MICAP_RESERVE(&cluster->memory, to->list, &to->capacity, (uint64_t)to->count + 1))
        to->list[to->count++] = (notice){identity, rank};
    else
        fail_memory(cluster);
}

/* ---- life */

static void fail_changed(mica_cluster *cluster, uint64_t identity, const char *how)
{
    char text[300];
    snprintf(text, sizeof text,
             "the stand-in of identity %llx %s: entities of other ranks are read-only, they are changed by messages",
             (unsigned long long)identity, how);
    micap_cluster_fail(cluster, MICA_ERROR_REFUSED, text);
}

/* An entity of this rank dies, or loses its identity. */
static void on_remove(const mica_event *event)
{
    mica_cluster *cluster = event->context;
    struct micap_references *state = cluster->references;
    const mica_identity *identities = event->values;
    for (uint32_t i = 0; i < event->count && !state->is_moving; ++i)
        if (!mica_has(event->world, event->entities[i], mica_remote)) {
            if (identities[i].value)
                add_notice(cluster, &state->died, identities[i].value, 0);
        } else if (!state->is_cleaning) {
            fail_changed(cluster, identities[i].value, "was destroyed");
        }
}

static void destroy_stand_in(mica_cluster *cluster, mica_entity entity)
{
    cluster->references->is_cleaning = true;
    mica_destroy(cluster->world, entity);
    cluster->references->is_cleaning = false;
}

/* Checked builds stop at the line where a system changes a stand-in; others find out at the end of the step. */
static const char *guard(const mica_world *world, mica_entity entity, void *context)
{
    (void)context;
    return mica_has(world, entity, mica_remote)
               ? "it stands for an entity of another rank, which is read-only here: send it a message"
               : NULL;
}

void micap_references_check_stand_ins(mica_cluster *cluster)
{
    struct micap_references *state = cluster->references;
    if (!state)
        return;
    for (mica_view view = mica_query_begin(state->remotes); mica_view_next(&view);) {
        const mica_identity *identities = mica_view_read_at(&view, 0);
        for (uint32_t i = 0; i < view.count; ++i) {
            mica_component components[3];
            uint32_t count = mica_get_components(cluster->world, view.entities[i], components, 3);
            const char *got = mica_name_get(cluster->world, view.entities[i]) ? "name" : NULL;
            if (!mica_is_nil(mica_parent(cluster->world, view.entities[i])))
                got = "parent";
            else if (!micap_codec_has_shared_children(cluster->world, view.entities[i], cluster->component))
                got = "child that is not shared";
            if (count <= 2 && !got)
                continue;
            char how[120];
            snprintf(how, sizeof how, "got a %s", got ? got : "");
            for (uint32_t k = 0; k < count && k < 3; ++k)
                if (components[k] != MICA_ID(mica_identity) && components[k] != MICA_ID(mica_remote))
                    snprintf(how, sizeof how, "got the component %.80s", mica_component_type(components[k])->name);
            fail_changed(cluster, identities[i].value, how);
            return;
        }
    }
}

bool micap_references_open(mica_cluster *cluster)
{
    if (!cluster->codec.has_references || cluster->references)
        return true;
    struct micap_references *state = micap_allocate_zeroed(&cluster->memory, sizeof *state, MICAP_ARRAY_ALIGNMENT);
    if (!state)
        return false;
    mica_term terms[] = {{.component = MICA_ID(mica_identity), .access = MICA_ACCESS_READ},
                         {.component = MICA_ID(mica_remote), .access = MICA_ACCESS_HAS}};
    state->remotes = mica_query_create(
        cluster->world,
        &(mica_query_def){.name = "cluster, stand-ins", .terms = terms, .term_count = 2, .with_hidden = true});
    state->must_announce = true;
    cluster->references = state;
    cluster->codec.map = &cluster->identities;
    mica_world_set_guard(cluster->world, guard, NULL);
    return state->remotes &&
           mica_hook_set_id(cluster->world, MICA_ID(mica_identity), MICA_EVENT_REMOVE, on_remove, cluster) == MICA_OK;
}

void micap_references_free(mica_cluster *cluster)
{
    struct micap_references *state = cluster->references;
    micap_identity_map_free(&cluster->identities);
    if (!state)
        return;
    mica_world_set_guard(cluster->world, NULL, NULL);
    mica_hook_set_id(cluster->world, MICA_ID(mica_identity), MICA_EVENT_REMOVE, NULL, NULL);
    mica_query_destroy(state->remotes);
    notices *lists[] = {&state->born, &state->died, &state->gone, &state->watches, &state->lost};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        MICAP_RELEASE_ARRAY(&cluster->memory, lists[i]->list, lists[i]->capacity);
    MICAP_RELEASE_ARRAY(&cluster->memory, state->entries, state->entry_capacity);
    MICAP_RELEASE_ARRAY(&cluster->memory, state->watchers, state->watcher_capacity);
    MICAP_RELEASE_ARRAY(&cluster->memory, state->marks, state->mark_capacity);
    MICAP_RELEASE_ARRAY(&cluster->memory, state->identities, state->identity_capacity);
    micap_release(&cluster->memory, state, sizeof *state, MICAP_ARRAY_ALIGNMENT);
    cluster->references = NULL;
}

void micap_references_add_born(mica_cluster *cluster, uint64_t identity)
{
    if (cluster->references && cluster->transport.rank_count > 1)
        add_notice(cluster, &cluster->references->born, identity, cluster->transport.rank);
}

/* ---- the directory of a home */

uint32_t micap_references_home(const mica_cluster *cluster, uint64_t identity)
{
    return (uint32_t)(micap_hash_mix(identity) >> 32) % cluster->transport.rank_count;
}

/* The entry of an identity, or the empty one where it would be. */
static directory_entry *entry_of(directory_entry *entries, uint32_t capacity, uint64_t identity)
{
    uint32_t at = (uint32_t)micap_hash_mix(identity) & (capacity - 1);
    while (entries[at].identity && entries[at].identity != identity)
        at = (at + 1) & (capacity - 1);
    return &entries[at];
}

/* Makes room for one more; entries of the dead are left out. */
static bool grow_directory(mica_cluster *cluster, struct micap_references *state)
{
    if (((uint64_t)state->entry_count + 1) * 2 <= state->entry_capacity)
        return true;
    uint32_t live = 0, capacity = 64;
    for (uint32_t i = 0; i < state->entry_capacity; ++i)
        live += state->entries[i].identity && state->entries[i].owner != MICAP_NO_RANK;
    while (capacity < 4 * (uint64_t)live)
        capacity *= 2;
    directory_entry *entries =
        micap_allocate_zeroed(&cluster->memory, capacity * sizeof *entries, MICAP_ARRAY_ALIGNMENT);
    if (!entries)
        return false;
    for (uint32_t i = 0; i < state->entry_capacity; ++i)
        if (state->entries[i].identity && state->entries[i].owner != MICAP_NO_RANK)
            *entry_of(entries, capacity, state->entries[i].identity) = state->entries[i];
    MICAP_RELEASE_ARRAY(&cluster->memory, state->entries, state->entry_capacity);
    state->entries = entries;
    state->entry_capacity = capacity;
    state->entry_count = live;
    return true;
}

/* NULL if the identity is not known, or its entity has died. */
static directory_entry *find_entry(const struct micap_references *state, uint64_t identity)
{
    directory_entry *entry = state->entry_capacity ? entry_of(state->entries, state->entry_capacity, identity) : NULL;
    return entry && entry->identity && entry->owner != MICAP_NO_RANK ? entry : NULL;
}

uint32_t micap_references_owner(const mica_cluster *cluster, uint64_t identity)
{
    const directory_entry *entry = cluster->references ? find_entry(cluster->references, identity) : NULL;
    return entry ? entry->owner : MICAP_NO_RANK;
}

static void set_owner(mica_cluster *cluster, struct micap_references *state, uint64_t identity, uint32_t owner)
{
    if (!grow_directory(cluster, state)) {
        fail_memory(cluster);
        return;
    }
    directory_entry *entry = entry_of(state->entries, state->entry_capacity, identity);
    state->entry_count += !entry->identity;
    entry->identity = identity;
    entry->owner = owner;
}

static void remove_watcher(struct micap_references *state, directory_entry *entry, uint32_t rank)
{
    for (uint32_t *at = &entry->first_watcher; *at; at = &state->watchers[*at - 1].next)
        if (state->watchers[*at - 1].rank == rank) {
            uint32_t number = *at;
            *at = state->watchers[number - 1].next;
            state->watchers[number - 1].next = state->free_watcher;
            state->free_watcher = number;
            return;
        }
}

static void add_watcher(mica_cluster *cluster, struct micap_references *state, directory_entry *entry, uint32_t rank)
{
    remove_watcher(state, entry, rank);
    uint32_t number = state->free_watcher;
    if (number) {
        state->free_watcher = state->watchers[number - 1].next;
    } else if (MICAP_RESERVE(&cluster->memory, state->watchers, &state->watcher_capacity,
                             (uint64_t)state->watcher_count + 1)) {
        number = ++state->watcher_count;
    } else {
        fail_memory(cluster);
        return;
    }
    state->watchers[number - 1] = (watcher){rank, entry->first_watcher};
    entry->first_watcher = number;
}

static void bury(mica_cluster *cluster, struct micap_references *state, uint64_t identity)
{
    directory_entry *entry = find_entry(state, identity);
    while (entry && entry->first_watcher) {
        uint32_t rank = state->watchers[entry->first_watcher - 1].rank;
        add_notice(cluster, &state->gone, identity, rank);
        remove_watcher(state, entry, rank);
    }
    if (entry)
        entry->owner = MICAP_NO_RANK;
}

/* ---- notes */

static void use_note(mica_cluster *cluster, uint32_t from, micap_reference_note note, uint64_t identity, uint32_t value)
{
    struct micap_references *state = cluster->references;
    directory_entry *entry;
    switch (note) {
    case MICAP_NOTE_OWNED: set_owner(cluster, state, identity, value); break;
    case MICAP_NOTE_DIED: bury(cluster, state, identity); break;
    case MICAP_NOTE_WATCH: add_notice(cluster, &state->watches, identity, from); break;
    case MICAP_NOTE_UNWATCH:
        entry = find_entry(state, identity);
        if (entry)
            remove_watcher(state, entry, from);
        break;
    case MICAP_NOTE_FAMILIES: micap_new_families_receive_count(cluster, from, identity, value); break;
    case MICAP_NOTE_NUMBER: micap_new_families_receive_number(cluster, identity, value); break;
    default: add_notice(cluster, &state->lost, identity, 0); break;
    }
}

void micap_references_tell(mica_cluster *cluster, uint32_t to, micap_reference_note note, uint64_t identity,
                           uint32_t value)
{
    if (to == cluster->transport.rank) {
        use_note(cluster, to, note, identity, value);
        return;
    }
    micap_bytes *bytes = micap_exchange_parcel(cluster, to);
    if (!bytes)
        return;
    uint8_t kinds[] = {MICAP_RECORD_NOTE, (uint8_t)note};
    micap_bytes_put(bytes, kinds, sizeof kinds);
    micap_bytes_put64(bytes, identity);
    micap_bytes_put32(bytes, value);
}

static void tell_home(mica_cluster *cluster, micap_reference_note note, uint64_t identity, uint32_t rank)
{
    micap_references_tell(cluster, micap_references_home(cluster, identity), note, identity, rank);
}

const char *micap_references_check(const mica_cluster *cluster, micap_reader *reader)
{
    const char *note = micap_reader_take(reader, 1);
    uint64_t identity = micap_reader_take64(reader);
    uint32_t value = micap_reader_take32(reader);
    bool is_rank = note && *note < MICAP_NOTE_FAMILIES;
    bool is_valid = note && *note >= MICAP_NOTE_OWNED && *note < MICAP_NOTE_COUNT && identity &&
                    (!is_rank || value < cluster->transport.rank_count) && cluster->references;
    return is_valid ? NULL : "a note about a reference is invalid";
}

void micap_references_receive(mica_cluster *cluster, uint32_t from, micap_reader *reader)
{
    micap_reference_note note = (micap_reference_note)*micap_reader_take(reader, 1);
    uint64_t identity = micap_reader_take64(reader);
    use_note(cluster, from, note, identity, micap_reader_take32(reader));
}

/* ---- marks */

typedef struct marking {
    mica_cluster *cluster;
    mica_entity source;
    bool has_new; /* there are entities without identity */
} marking;

static void mark(mica_entity target, void *context)
{
    marking *marking = context;
    mica_cluster *cluster = marking->cluster;
    struct micap_references *state = cluster->references;
    if (mica_is_nil(target) || !mica_is_alive(cluster->world, target))
        return;
    if (marking->has_new && !mica_has(cluster->world, target, mica_identity)) {
        if (mica_has_id(cluster->world, target, cluster->component))
            micap_new_families_note(cluster, marking->source);
        else
            micap_cluster_fail(cluster, MICA_ERROR_REFUSED, MICAP_CODEC_NOT_SHARED);
    }
    uint32_t before = state->mark_capacity;
    if (!MICAP_RESERVE(&cluster->memory, state->marks, &state->mark_capacity, (uint64_t)target.index + 1)) {
        fail_memory(cluster);
        return;
    }
    memset(state->marks + before, 0, state->mark_capacity - before);
    state->marks[target.index] = 1;
}

bool micap_references_is_marked(const mica_cluster *cluster, mica_entity entity)
{
    const struct micap_references *state = cluster->references;
    return state && entity.index < state->mark_capacity && state->marks[entity.index];
}

/* Destroys the stand-ins that nothing refers to. */
static void remove_unmarked(mica_cluster *cluster)
{
    notices unmarked = {0};
    for (mica_view view = mica_query_begin(cluster->references->remotes); mica_view_next(&view);) {
        const mica_identity *identities = mica_view_read_at(&view, 0);
        for (uint32_t i = 0; i < view.count; ++i)
            if (!micap_references_is_marked(cluster, view.entities[i]))
                add_notice(cluster, &unmarked, identities[i].value, 0);
    }
    for (uint32_t i = 0; i < unmarked.count; ++i) {
        destroy_stand_in(cluster, micap_identity_map_find(&cluster->identities, unmarked.list[i].identity));
        tell_home(cluster, MICAP_NOTE_UNWATCH, unmarked.list[i].identity, 0);
    }
    MICAP_RELEASE_ARRAY(&cluster->memory, unmarked.list, unmarked.capacity);
}

void micap_references_mark(mica_cluster *cluster)
{
    struct micap_references *state = cluster->references;
    marking marking = {.cluster = cluster, .has_new = state && mica_query_count(cluster->new_ones) > 0};
    if (!state || (cluster->transport.rank_count == 1 && !marking.has_new))
        return;
    micap_identity_map_forget(&cluster->identities);
    if (state->marks)
        memset(state->marks, 0, state->mark_capacity);
    for (mica_view view = mica_query_begin(cluster->shared); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            marking.source = view.entities[i];
            micap_codec_visit(&cluster->codec, view.entities[i], mark, &marking);
        }
    if (cluster->transport.rank_count > 1 && cluster->result == MICA_OK)
        remove_unmarked(cluster);
}

void micap_references_leave(mica_cluster *cluster, mica_entity entity, uint64_t identity, uint32_t rank)
{
    struct micap_references *state = cluster->references;
    micap_identity_map *map = &cluster->identities;
    if (!state) {
        mica_destroy(cluster->world, entity);
        return;
    }
    state->is_moving = true;
    if (!identity || !micap_references_is_marked(cluster, entity))
        mica_destroy(cluster->world, entity);
    else if (micap_codec_strip_entity(&cluster->codec, entity) &&
             MICAP_RESERVE(&cluster->memory, map->created, &map->created_capacity, (uint64_t)map->created_count + 1))
        map->created[map->created_count++] = identity;
    else
        fail_memory(cluster);
    state->is_moving = false;
    if (identity)
        tell_home(cluster, MICAP_NOTE_OWNED, identity, rank);
}

bool micap_references_list(mica_cluster *cluster, mica_entity **out, uint32_t *out_count, uint32_t *out_capacity)
{
    if (!cluster->references)
        return true;
    for (mica_view view = mica_query_begin(cluster->references->remotes); mica_view_next(&view);) {
        if (!MICAP_RESERVE(&cluster->memory, *out, out_capacity, (uint64_t)*out_count + view.count))
            return false;
        memcpy(*out + *out_count, view.entities, view.count * sizeof **out);
        *out_count += view.count;
    }
    return true;
}

/* ---- settling */

static void announce(mica_cluster *cluster)
{
    struct micap_references *state = cluster->references;
    state->must_announce = false;
    state->born.count = state->died.count = 0; /* everything that is alive follows */
    for (mica_view view = mica_query_begin(cluster->shared); mica_view_next(&view);) {
        const mica_identity *identities = mica_view_read_at(&view, 1);
        for (uint32_t i = 0; identities && i < view.count; ++i)
            tell_home(cluster, MICAP_NOTE_OWNED, identities[i].value, cluster->transport.rank);
    }
    for (mica_view view = mica_query_begin(state->remotes); mica_view_next(&view);) {
        const mica_identity *identities = mica_view_read_at(&view, 0);
        for (uint32_t i = 0; i < view.count; ++i)
            tell_home(cluster, MICAP_NOTE_WATCH, identities[i].value, 0);
    }
}

static void send_all(mica_cluster *cluster)
{
    struct micap_references *state = cluster->references;
    micap_identity_map *map = &cluster->identities;
    if (state->must_announce)
        announce(cluster);
    for (uint32_t i = 0; i < state->born.count; ++i)
        tell_home(cluster, MICAP_NOTE_OWNED, state->born.list[i].identity, cluster->transport.rank);
    for (uint32_t i = 0; i < state->died.count; ++i)
        tell_home(cluster, MICAP_NOTE_DIED, state->died.list[i].identity, 0);
    for (uint32_t i = 0; i < map->created_count; ++i)
        tell_home(cluster, MICAP_NOTE_WATCH, map->created[i], 0);
    for (uint32_t i = 0; i < state->gone.count; ++i)
        micap_references_tell(cluster, state->gone.list[i].rank, MICAP_NOTE_GONE, state->gone.list[i].identity, 0);
    state->born.count = state->died.count = state->gone.count = map->created_count = 0;
}

/* Adds those that watch, once the home knows all that were born. */
static void use_watches(mica_cluster *cluster)
{
    struct micap_references *state = cluster->references;
    for (uint32_t i = 0; i < state->watches.count; ++i) {
        const notice *watch = &state->watches.list[i];
        directory_entry *entry = find_entry(state, watch->identity);
        if (entry)
            add_watcher(cluster, state, entry, watch->rank);
        else
            add_notice(cluster, &state->gone, watch->identity, watch->rank);
    }
    state->watches.count = 0;
}

static int compare_notices(const void *a, const void *b)
{
    uint64_t x = ((const notice *)a)->identity, y = ((const notice *)b)->identity;
    return (x > y) - (x < y);
}

/* The stand-ins of the dead die, with the consequences that their relations state. */
static void destroy_lost(mica_cluster *cluster)
{
    struct micap_references *state = cluster->references;
    if (state->lost.count)
        qsort(state->lost.list, state->lost.count, sizeof *state->lost.list, compare_notices);
    for (uint32_t i = 0; i < state->lost.count; ++i) {
        mica_entity entity = micap_identity_map_find(&cluster->identities, state->lost.list[i].identity);
        if (!mica_is_nil(entity) && mica_has(cluster->world, entity, mica_remote))
            destroy_stand_in(cluster, entity);
    }
    state->lost.count = 0;
}

/* What systems can ask for without declaring that they read it. */
static void list_identities(mica_cluster *cluster)
{
    struct micap_references *state = cluster->references;
    if (state->identities)
        memset(state->identities, 0, state->identity_capacity * sizeof *state->identities);
    for (mica_view view = mica_query_begin(state->remotes); mica_view_next(&view);) {
        const mica_identity *identities = mica_view_read_at(&view, 0);
        for (uint32_t i = 0; i < view.count; ++i) {
            uint32_t before = state->identity_capacity, index = view.entities[i].index;
            if (!MICAP_RESERVE(&cluster->memory, state->identities, &state->identity_capacity, (uint64_t)index + 1)) {
                fail_memory(cluster);
                return;
            }
            MICAP_ASSERT(state->identities, "there is room for the identity of an entity");
            memset(state->identities + before, 0, (state->identity_capacity - before) * sizeof *state->identities);
            state->identities[index] = identities[i].value;
        }
    }
}

bool micap_references_settle(mica_cluster *cluster)
{
    struct micap_references *state = cluster->references;
    if (!state)
        return false;
    bool has_families = micap_new_families_exist(cluster);
    if (cluster->transport.rank_count == 1) {
        state->died.count = 0;
        return has_families;
    }
    for (uint64_t flags[2] = {1}; flags[0]; has_families = flags[1]) {
        send_all(cluster);
        micap_exchange_round(cluster);
        use_watches(cluster);
        destroy_lost(cluster);
        flags[0] = state->died.count || state->gone.count || state->lost.count;
        flags[1] = has_families;
        micap_transport_maximum(&cluster->transport, flags, 2);
    }
    return has_families;
}

void micap_references_send(mica_cluster *cluster)
{
    if (cluster->references && cluster->transport.rank_count > 1)
        send_all(cluster);
}

void micap_references_finish(mica_cluster *cluster)
{
    if (!cluster->references || cluster->transport.rank_count == 1)
        return;
    use_watches(cluster);
    list_identities(cluster);
}

uint64_t micap_references_identity(const mica_cluster *cluster, mica_entity entity)
{
    const struct micap_references *state = cluster->references;
    bool is_known = state && entity.index < state->identity_capacity && mica_is_alive(cluster->world, entity);
    return is_known ? state->identities[entity.index] : 0;
}
