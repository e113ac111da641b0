/* Links: the parent, children and siblings of entities, as arrays by entity index in pages that never move.
 *
 *     entity index -> page (index >> 10) -> link, 32 bytes: two per cache line
 *
 * A link names other entities by index alone. It is in use while its entity is alive and has a parent or children, and an
 * entity that is destroyed is removed from the lists before its index is reused (micap_module_ops: destroying, forgotten). So
 * indices in links are never stale, and a handle is checked once, against the generation in its own link. Index 0 is nil and
 * ends lists. */
#ifndef MICAP_HIERARCHY_LINKS_H
#define MICAP_HIERARCHY_LINKS_H

#include "core/world/world.h"
#include "mica/hierarchy.h"

enum {
    MICAP_LINK_PAGE = 1024,
    MICAP_LINK_PAGE_SHIFT = 10,
    MICAP_RELINKED_MAX = 1024,
    /* Flags of a link: what happens to its children when it is destroyed; 0: what the world says. */
    MICAP_LINK_ORPHANS_DIE = 1,
    MICAP_LINK_ORPHANS_STAY = 2,
};

typedef struct micap_link {
    uint32_t generation; /* of the entity; 0: not in use */
    uint32_t parent;
    uint32_t next;
    uint32_t previous;
    uint32_t first_child;
    uint32_t last_child;
    uint32_t child_count;
    uint32_t flags;
} micap_link;

typedef struct micap_link_page {
    micap_link *links; /* NULL: none of its entities has a link */
    uint32_t used_count;
} micap_link_page;

struct micap_transforms;

typedef struct micap_hierarchy {
    mica_world *world;
    micap_link_page *pages;
    uint32_t page_count;
    uint32_t page_capacity;
    micap_arena arena;     /* the pages */
    uint32_t child_count;  /* entities that have a parent */
    uint32_t parent_count; /* and that have children */
    mica_orphans orphans;
    struct micap_transforms *transforms; /* NULL until the first update */
    mica_entity
        *relinked; /* entities whose parents changed since the last update of transforms; NULL without transforms */
    uint32_t relinked_count; /* more than MICAP_RELINKED_MAX: not all are listed */
} micap_hierarchy;

/* Returns NULL if the world has none. */
static inline micap_hierarchy *micap_hierarchy_of(const mica_world *world)
{
    return world->modules[MICAP_MODULE_HIERARCHY].state;
}

/* The link of an entity without parent, siblings and children. */
extern const micap_link micap_link_none;

/* Returns the link of an index whose page exists. */
static inline micap_link *micap_link_at(const micap_hierarchy *hierarchy, uint32_t index)
{
    return &hierarchy->pages[index >> MICAP_LINK_PAGE_SHIFT].links[index & (MICAP_LINK_PAGE - 1)];
}

/* Returns the link of any handle, to read. */
static inline const micap_link *micap_link_of(const micap_hierarchy *hierarchy, mica_entity entity)
{
    uint32_t page = entity.index >> MICAP_LINK_PAGE_SHIFT;
    if (MICAP_UNLIKELY(!hierarchy || page >= hierarchy->page_count || !hierarchy->pages[page].links))
        return &micap_link_none;
    const micap_link *link = micap_link_at(hierarchy, entity.index);
    return link->generation == entity.generation ? link : &micap_link_none;
}

/* Returns the handle of an index in a link; nil for 0. */
static inline mica_entity micap_link_entity(const micap_hierarchy *hierarchy, uint32_t index)
{
    mica_entity entity = {index, index ? micap_link_at(hierarchy, index)->generation : 0};
    return entity;
}

enum { MICAP_LINKS_SAVED = 16 }; /* that are copied together for a snapshot */

/* Copies a link, whose page exists, for snapshots, before it changes. */
MICAP_COLD void micap_links_save(const micap_hierarchy *hierarchy, uint32_t index);

/* Returns a link whose page exists, to write. */
static inline micap_link *micap_link_change(const micap_hierarchy *hierarchy, uint32_t index)
{
    if (MICAP_UNLIKELY(hierarchy->world->undo.before))
        micap_links_save(hierarchy, index);
    return micap_link_at(hierarchy, index);
}

/* Adds an entity whose parent changed to the list for transforms. */
static inline void micap_link_add_relinked(micap_hierarchy *hierarchy, mica_entity entity)
{
    if (!hierarchy->relinked || hierarchy->relinked_count > MICAP_RELINKED_MAX)
        return;
    if (hierarchy->relinked_count < MICAP_RELINKED_MAX)
        hierarchy->relinked[hierarchy->relinked_count] = entity;
    ++hierarchy->relinked_count;
}

/* Whether the page of an index exists. */
static inline bool micap_links_have_page(const micap_hierarchy *hierarchy, uint32_t index)
{
    uint32_t page = index >> MICAP_LINK_PAGE_SHIFT;
    return MICAP_LIKELY(page < hierarchy->page_count && hierarchy->pages[page].links);
}

/* Makes sure that it does. False if memory is short. */
MICAP_COLD bool micap_links_add_page(micap_hierarchy *hierarchy, uint32_t index);
static inline bool micap_links_reserve(micap_hierarchy *hierarchy, uint32_t index)
{
    return micap_links_have_page(hierarchy, index) || micap_links_add_page(hierarchy, index);
}

/* Returns the link of an entity, whose page exists, and marks it as used. */
static inline micap_link *micap_link_claim(micap_hierarchy *hierarchy, mica_entity entity)
{
    micap_link *link = micap_link_change(hierarchy, entity.index);
    if (!link->generation) {
        link->generation = entity.generation;
        micap_attach(&hierarchy->world->attachments, entity.index);
        ++hierarchy->pages[entity.index >> MICAP_LINK_PAGE_SHIFT].used_count;
    }
    return link;
}

/* Marks a link as unused if it is empty. */
static inline void micap_link_release_empty(micap_hierarchy *hierarchy, uint32_t index, micap_link *link)
{
    if (link->parent || link->first_child || link->flags)
        return;
    link->generation = 0;
    --hierarchy->pages[index >> MICAP_LINK_PAGE_SHIFT].used_count;
}

/* Inserts an entity without a parent before a child of the parent, or, for 0, after the last. Both pages exist. */
void micap_link_attach(micap_hierarchy *hierarchy, mica_entity child, mica_entity parent, uint32_t before);

/* Removes an entity from its parent, if it has one. */
void micap_link_detach(micap_hierarchy *hierarchy, uint32_t child);

/* Removes entities from their parents, and their children from them. */
void micap_links_remove(micap_hierarchy *hierarchy, const mica_entity *entities, uint32_t count);

/* Return the index after `at` in the tree of `root`, without and with what is below `at`, or 0 at the end. Parents come before
 * children. */
static inline uint32_t micap_link_next_beside(const micap_hierarchy *hierarchy, uint32_t root, uint32_t at)
{
    while (at && at != root) {
        const micap_link *link = micap_link_at(hierarchy, at);
        if (link->next)
            return link->next;
        at = link->parent;
    }
    return 0;
}

static inline uint32_t micap_link_next(const micap_hierarchy *hierarchy, uint32_t root, uint32_t at)
{
    uint32_t child = micap_link_at(hierarchy, at)->first_child;
    return child ? child : micap_link_next_beside(hierarchy, root, at);
}

/* Copies the first `count` children of an entity, with room for `more`. NULL with a report if memory is short. */
mica_entity *micap_links_copy_children(mica_world *world, mica_entity parent, uint32_t count, uint32_t more);

/* Frees pages without links. */
void micap_links_trim(micap_hierarchy *hierarchy);

/* Whether all links agree with each other, with a report if not. */
bool micap_links_validate(const micap_hierarchy *hierarchy);

#endif
