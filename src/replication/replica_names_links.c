/* Names and links, through the public API. */
#include "replication/replica_names_links.h"

#include "core/storage/names.h"
#include "core/world/report.h"
#include "mica/entity.h"
#include "mica/hierarchy.h"
#include "mica/name.h"

/* Names may have changed places: all of the sender's go before they come. */
static void unname_all(micap_delta_work *work)
{
    const micap_entity_map *twins = &work->replica->twins;
    for (uint32_t i = 0; i < twins->capacity; ++i)
        if (!mica_is_nil(twins->entries[i].key) && mica_is_alive(work->world, twins->entries[i].other))
            mica_name_set(work->world, twins->entries[i].other, mica_nil(), NULL);
}

/* Names on their way, and the entities here that stand for scopes which the sender has destroyed. */
typedef struct naming {
    micap_delta_work *work;
    micap_entity_map scopes;
} naming;

/* Where names are that the sender has in a scope that it destroyed. Where handles are mapped, an entity that is destroyed when all names
 * are given. False if memory is short. */
static bool destroyed_scope(naming *naming, mica_entity sender, mica_entity *out_scope)
{
    mica_world *world = naming->work->world;
    *out_scope = sender;
    if (!naming->work->replica->mapped)
        return true;
    const micap_twin *known = micap_entity_map_find(&naming->scopes, sender);
    if (known) {
        *out_scope = known->other;
        return true;
    }
    *out_scope = micap_entity_map_reserve(world, &naming->scopes, 1) ? mica_create_id(world, NULL, 0) : mica_nil();
    if (mica_is_nil(*out_scope))
        return false;
    micap_entity_map_add(&naming->scopes, &(micap_twin){.key = sender, .other = *out_scope});
    return true;
}

static mica_result name_one(naming *naming, const micap_delta_name *name)
{
    const mica_replica *replica = naming->work->replica;
    mica_world *world = naming->work->world;
    mica_entity entity = micap_replica_living(replica, name->entity);
    mica_entity scope = micap_replica_living(replica, name->scope);
    bool is_destroyed = mica_is_nil(scope) && !mica_is_nil(name->scope);
    if (mica_is_nil(entity) || mica_same(name->entity, name->scope) ||
        (is_destroyed && !replica->mapped && mica_is_alive(world, name->scope))) /* which is the receiver's own */
        return MICA_OK;
    if (is_destroyed && !destroyed_scope(naming, name->scope, &scope))
        return micap_fail_memory(world, "delta");
    char *text = naming->work->name_text;
    memcpy(text, name->text, name->length);
    text[name->length] = 0;
    if (micap_name_is_taken(world, scope, text)) /* the receiver has it itself */
        return MICA_OK;
    micap_taken_name old;
    mica_result result = micap_name_exchange(world, entity, scope, text, &old);
    micap_name_release(world, &old);
    return result;
}

static mica_result name_all(micap_delta_work *work)
{
    mica_world *world = work->world;
    naming naming = {.work = work};
    mica_result result = MICA_OK;
    for (uint32_t i = 0; result == MICA_OK && i < work->names_count; ++i)
        result = name_one(&naming, &work->names[i]);
    for (uint32_t i = 0; i < naming.scopes.capacity; ++i)
        if (!mica_is_nil(naming.scopes.entries[i].key))
            mica_destroy(world, naming.scopes.entries[i].other);
    MICAP_RELEASE_ARRAY(&world->memory, naming.scopes.entries, naming.scopes.capacity);
    return result;
}

/* Before a sibling, or as the last child of a parent, or as a root. A name that the receiver gave is removed if another has it
 * already among those the child comes to. */
static mica_result link_child(mica_world *world, mica_entity child, mica_entity parent, mica_entity next)
{
    for (;;) {
        mica_result result =
            mica_is_nil(next) ? mica_set_parent(world, child, parent) : mica_place_before(world, child, next);
        if (result != MICA_ERROR_EXISTS)
            return result;
        mica_name_set(world, child, mica_nil(), NULL);
    }
}

/* Puts the children of a parent into their order, before those of the receiver's own. */
static mica_result link_parent(micap_delta_work *work, mica_entity parent, const char *children, uint32_t count)
{
    mica_world *world = work->world;
    mica_entity last = mica_nil();
    for (uint32_t i = 0; i < count; ++i) {
        mica_entity child = micap_replica_living(work->replica, micap_handle_at(children, i));
        if (mica_is_nil(child) || mica_same(child, parent) || mica_is_ancestor(world, child, parent))
            continue;
        mica_entity next = mica_is_nil(last) ? mica_first_child(world, parent) : mica_next_sibling(world, last);
        mica_result result = mica_same(next, child) ? MICA_OK : link_child(world, child, parent, next);
        if (result != MICA_OK)
            return result;
        last = child;
    }
    return MICA_OK;
}

/* Detaches the sender's children that are not among these, so that what moves down a tree does not find its former child above
 * it. That needs no memory. */
static void unlink_parent(micap_delta_work *work, mica_entity parent, const char *children, uint32_t count)
{
    mica_replica *replica = work->replica;
    mica_world *world = work->world;
    ++replica->mark;
    for (uint32_t i = 0; i < count; ++i) {
        micap_twin *twin = micap_entity_map_find(&replica->twins, micap_handle_at(children, i));
        if (twin)
            twin->mark = replica->mark;
    }
    mica_entity next = mica_first_child(world, parent);
    while (!mica_is_nil(next)) {
        mica_entity child = next;
        next = mica_next_sibling(world, child);
        const micap_twin *twin = micap_entity_map_find(&replica->twins, mica_replica_remote(replica, child));
        if (twin && twin->mark != replica->mark)
            link_child(world, child, mica_nil(), mica_nil());
    }
}

/* Where the children of a parent are listed in the page, or NULL. */
static const char *find_children(const micap_delta_links *links, mica_entity sender, uint32_t *out_count)
{
    const char *at = links->parents;
    for (uint32_t i = 0; i < links->parent_count; ++i) {
        uint32_t count;
        memcpy(&count, at + sizeof(mica_entity), sizeof count);
        *out_count = micap_little32(count);
        if (mica_same(micap_handle_at(at, 0), sender))
            return at + sizeof(mica_entity) + 4;
        at += sizeof(mica_entity) + 4 + (size_t)*out_count * sizeof(mica_entity);
    }
    *out_count = 0;
    return NULL;
}

static void unlink_page(micap_delta_work *work, const micap_delta_links *links)
{
    for (uint32_t i = 0; i < MICAP_DELTA_LINK_PAGE; ++i) {
        const micap_twin *twin = micap_entity_map_at(&work->replica->twins, links->page * MICAP_DELTA_LINK_PAGE + i);
        if (!twin || !mica_child_count(work->world, twin->other))
            continue;
        uint32_t count;
        const char *children = find_children(links, twin->key, &count);
        unlink_parent(work, twin->other, children, count);
    }
}

static mica_result link_page(micap_delta_work *work, const micap_delta_links *links)
{
    const char *at = links->parents;
    mica_result result = MICA_OK;
    for (uint32_t i = 0; result == MICA_OK && i < links->parent_count; ++i) {
        uint32_t count;
        memcpy(&count, at + sizeof(mica_entity), sizeof count);
        count = micap_little32(count);
        mica_entity parent = micap_replica_living(work->replica, micap_handle_at(at, 0));
        at += sizeof(mica_entity) + 4;
        if (!mica_is_nil(parent))
            result = link_parent(work, parent, at, count);
        at += (size_t)count * sizeof(mica_entity);
    }
    return result;
}

/* A delta from nothing: pages that it does not mention have no links. */
static void unlink_all(micap_delta_work *work)
{
    const micap_entity_map *twins = &work->replica->twins;
    for (uint32_t i = 0; i < twins->capacity; ++i) {
        const micap_twin *twin = &twins->entries[i];
        if (!mica_is_nil(twin->key) && mica_child_count(work->world, twin->other))
            unlink_parent(work, twin->other, NULL, 0);
    }
}

mica_result micap_replica_name_and_link(micap_delta_work *work)
{
    if (work->has_names)
        unname_all(work);
    if (!work->base)
        unlink_all(work);
    mica_result result = MICA_OK;
    for (uint32_t i = 0; i < work->links_count; ++i)
        unlink_page(work, &work->links[i]);
    for (uint32_t i = 0; result == MICA_OK && i < work->links_count; ++i)
        result = link_page(work, &work->links[i]);
    if (result == MICA_OK && work->has_names)
        result = name_all(work);
    return result;
}
