/* Links: who is whose parent, as arrays by entity index in pages that never move.
 *
 *     entity index -> page (index >> 10) -> link, 32 bytes: two to a cache line
 *
 * A link names other entities by index alone: it is in use while its entity lives and has a parent or children, and whoever
 * dies is taken out of the lists before its slot is free again (micap_module_ops: destroying, forgotten). So indices in links
 * are never stale, and a handle is checked once, against the generation in its own link. Index 0 is nil's and ends lists. */
#ifndef MICAP_HIERARCHY_LINKS_H
#define MICAP_HIERARCHY_LINKS_H

#include "core/world/world.h"
#include "mica/hierarchy.h"

enum {
    MICAP_LINK_PAGE = 1024,
    MICAP_LINK_PAGE_SHIFT = 10,
    MICAP_RELINKED_MAX = 1024,
    /* Flags of a link: a word on its children for when it dies, over that of the world. */
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
    micap_link *links; /* NULL: none of its entities is linked */
    uint32_t used_count;
} micap_link_page;

struct micap_transforms;

typedef struct micap_hierarchy {
    mica_world *world;
    micap_link_page *pages;
    uint32_t page_count;
    uint32_t page_capacity;
    micap_arena arena; /* the pages */
    mica_orphans orphans;
    struct micap_transforms *transforms; /* NULL until the first update */
    mica_entity *relinked;   /* whose parents changed since the last update of transforms; NULL without those */
    uint32_t relinked_count; /* more than MICAP_RELINKED_MAX: not all are listed */
} micap_hierarchy;

/* NULL when this world has none yet. */
static inline micap_hierarchy *micap_hierarchy_of(const mica_world *world)
{
    return world->modules[MICAP_MODULE_HIERARCHY].state;
}

/* Makes one where there is none; NULL with a report when memory is short. For the owner. */
micap_hierarchy *micap_hierarchy_use(mica_world *world);

/* What has no parent, no siblings and no children. */
extern const micap_link micap_link_none;

/* The link of an index whose page is there. */
static inline micap_link *micap_link_at(const micap_hierarchy *hierarchy, uint32_t index)
{
    return &hierarchy->pages[index >> MICAP_LINK_PAGE_SHIFT].links[index & (MICAP_LINK_PAGE - 1)];
}

/* The link of any handle, to look at. */
static inline const micap_link *micap_link_of(const micap_hierarchy *hierarchy, mica_entity entity)
{
    uint32_t page = entity.index >> MICAP_LINK_PAGE_SHIFT;
    if (MICAP_UNLIKELY(!hierarchy || page >= hierarchy->page_count || !hierarchy->pages[page].links))
        return &micap_link_none;
    const micap_link *link = micap_link_at(hierarchy, entity.index);
    return link->generation == entity.generation ? link : &micap_link_none;
}

/* The handle of an index in a link, 0 giving nil. */
static inline mica_entity micap_link_entity(const micap_hierarchy *hierarchy, uint32_t index)
{
    mica_entity entity = {index, index ? micap_link_at(hierarchy, index)->generation : 0};
    return entity;
}

enum { MICAP_LINKS_KEPT = 16 }; /* at once, for a snapshot */

/* Keeps what snapshots need of a link whose page is there. */
MICAP_COLD void micap_links_keep(const micap_hierarchy *hierarchy, uint32_t index);

/* The same link, to be changed. */
static inline micap_link *micap_link_change(const micap_hierarchy *hierarchy, uint32_t index)
{
    if (MICAP_UNLIKELY(hierarchy->world->keeper.before))
        micap_links_keep(hierarchy, index);
    return micap_link_at(hierarchy, index);
}

/* Lists an entity for the transforms. */
static inline void micap_link_list_change(micap_hierarchy *hierarchy, mica_entity entity)
{
    if (!hierarchy->relinked || hierarchy->relinked_count > MICAP_RELINKED_MAX)
        return;
    if (hierarchy->relinked_count < MICAP_RELINKED_MAX)
        hierarchy->relinked[hierarchy->relinked_count] = entity;
    ++hierarchy->relinked_count;
}

/* Makes sure that an index has a link; false when memory is short. */
MICAP_COLD bool micap_links_add_page(micap_hierarchy *hierarchy, uint32_t index);
static inline bool micap_links_reserve(micap_hierarchy *hierarchy, uint32_t index)
{
    uint32_t page = index >> MICAP_LINK_PAGE_SHIFT;
    return MICAP_LIKELY(page < hierarchy->page_count && hierarchy->pages[page].links) ||
           micap_links_add_page(hierarchy, index);
}

/* The link of an entity whose page is there, in use from now on. */
static inline micap_link *micap_link_claim(micap_hierarchy *hierarchy, mica_entity entity)
{
    micap_link *link = micap_link_change(hierarchy, entity.index);
    if (!link->generation) {
        link->generation = entity.generation;
        ++hierarchy->pages[entity.index >> MICAP_LINK_PAGE_SHIFT].used_count;
    }
    return link;
}

/* No longer in use, when nothing is left in it. */
static inline void micap_link_settle(micap_hierarchy *hierarchy, uint32_t index, micap_link *link)
{
    if (link->parent || link->first_child || link->flags)
        return;
    link->generation = 0;
    --hierarchy->pages[index >> MICAP_LINK_PAGE_SHIFT].used_count;
}

/* Puts an entity without a parent, whose page is there as the parent's is, before a child of the parent; 0: behind the last. */
void micap_link_attach(micap_hierarchy *hierarchy, mica_entity child, mica_entity parent, uint32_t before);

/* Takes an entity from its parent, if it has one. */
void micap_link_detach(micap_hierarchy *hierarchy, uint32_t child);

/* Takes entities out of the tree: from their parents, and their children from them. */
void micap_links_remove(micap_hierarchy *hierarchy, const mica_entity *entities, uint32_t count);

/* What comes behind an index in its tree, parents before children; 0 at the end. The second passes over what is below it. */
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

/* Gives back pages without links. */
void micap_links_trim(micap_hierarchy *hierarchy);

/* Whether every link agrees with those it names; a report when not. */
bool micap_links_validate(const micap_hierarchy *hierarchy);

#endif
