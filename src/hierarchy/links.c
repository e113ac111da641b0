#include "hierarchy/links.h"

#include "core/world/report.h"

const micap_link micap_link_none = {0};

bool micap_links_add_page(micap_hierarchy *hierarchy, uint32_t index)
{
    uint32_t page = index >> MICAP_LINK_PAGE_SHIFT;
    if (!MICAP_RESERVE(&hierarchy->world->memory, hierarchy->pages, &hierarchy->page_capacity, (uint64_t)page + 1) ||
        !micap_attachments_reserve(hierarchy->world, index | (MICAP_LINK_PAGE - 1)))
        return false;
    micap_link *links = micap_arena_allocate(&hierarchy->arena, MICAP_LINK_PAGE * sizeof *links);
    if (!links)
        return false;
    memset(links, 0, MICAP_LINK_PAGE * sizeof *links);
    while (hierarchy->page_count <= page)
        hierarchy->pages[hierarchy->page_count++] = (micap_link_page){0};
    hierarchy->pages[page].links = links;
    return true;
}

static MICAP_COLD void save_neighbours(const micap_hierarchy *hierarchy, uint32_t previous, uint32_t next)
{
    if (previous)
        micap_links_save(hierarchy, previous);
    if (next)
        micap_links_save(hierarchy, next);
}

void micap_link_attach(micap_hierarchy *hierarchy, mica_entity child, mica_entity parent, uint32_t before)
{
    micap_link *link = micap_link_claim(hierarchy, child);
    micap_link *above = micap_link_claim(hierarchy, parent);
    MICAP_ASSERT_HOT(!link->parent, "an entity that is attached has no parent");
    uint32_t previous = before ? micap_link_at(hierarchy, before)->previous : above->last_child;
    if (MICAP_UNLIKELY(hierarchy->world->undo.before))
        save_neighbours(hierarchy, previous, before);
    link->parent = parent.index;
    link->next = before;
    link->previous = previous;
    *(previous ? &micap_link_at(hierarchy, previous)->next : &above->first_child) = child.index;
    *(before ? &micap_link_at(hierarchy, before)->previous : &above->last_child) = child.index;
    hierarchy->parent_count += !above->child_count++;
    ++hierarchy->child_count;
    hierarchy->world->structure += hierarchy->world->sees_parents;
    micap_link_add_relinked(hierarchy, child);
}

/* An entity has fewer children. */
static inline void lose_children(micap_hierarchy *hierarchy, uint32_t index, micap_link *link, uint32_t count)
{
    hierarchy->child_count -= count;
    link->child_count -= count;
    if (link->child_count)
        return;
    --hierarchy->parent_count;
    micap_link_release_empty(hierarchy, index, link);
}

/* Removes an entity from the list of its siblings. Its own link is unchanged. */
static void leave_parent(micap_hierarchy *hierarchy, const micap_link *link)
{
    micap_link *above = micap_link_change(hierarchy, link->parent);
    *(link->previous ? &micap_link_change(hierarchy, link->previous)->next : &above->first_child) = link->next;
    *(link->next ? &micap_link_change(hierarchy, link->next)->previous : &above->last_child) = link->previous;
    lose_children(hierarchy, link->parent, above, 1);
}

void micap_link_detach(micap_hierarchy *hierarchy, uint32_t child)
{
    micap_link *link = micap_link_at(hierarchy, child);
    if (!link->parent)
        return;
    micap_link_change(hierarchy, child);
    micap_link_add_relinked(hierarchy, (mica_entity){child, link->generation});
    leave_parent(hierarchy, link);
    link->parent = link->next = link->previous = 0;
    micap_link_release_empty(hierarchy, child, link);
    hierarchy->world->structure += hierarchy->world->sees_parents;
}

static MICAP_COLD void leave_children(micap_hierarchy *hierarchy, const micap_link *link)
{
    hierarchy->child_count -= link->child_count;
    --hierarchy->parent_count;
    for (uint32_t child = link->first_child, next; child; child = next) {
        micap_link *orphan = micap_link_change(hierarchy, child);
        next = orphan->next;
        micap_link_add_relinked(hierarchy, (mica_entity){child, orphan->generation});
        orphan->parent = orphan->next = orphan->previous = 0;
        micap_link_release_empty(hierarchy, child, orphan);
    }
}

/* Clears the links of siblings that follow each other in a list, of which the first has a link, and takes them out of the list of their
 * parent together. Returns how many. */
static uint32_t remove_siblings(micap_hierarchy *hierarchy, const mica_entity *entities, uint32_t count)
{
    const micap_link first = *micap_link_at(hierarchy, entities[0].index);
    uint32_t removed = 0, next;
    do {
        uint32_t index = entities[removed].index;
        micap_link *link = micap_link_change(hierarchy, index);
        if (MICAP_UNLIKELY(link->first_child))
            leave_children(hierarchy, link);
        next = link->next;
        *link = micap_link_none;
        --hierarchy->pages[index >> MICAP_LINK_PAGE_SHIFT].used_count;
    } while (++removed < count && next == entities[removed].index);
    if (!first.parent)
        return removed;
    micap_link *above = micap_link_change(hierarchy, first.parent);
    *(first.previous ? &micap_link_change(hierarchy, first.previous)->next : &above->first_child) = next;
    *(next ? &micap_link_change(hierarchy, next)->previous : &above->last_child) = first.previous;
    lose_children(hierarchy, first.parent, above, removed);
    return removed;
}

/* Siblings that die together leave their parent together: a tree is destroyed list by list. */
void micap_links_remove(micap_hierarchy *hierarchy, const mica_entity *entities, uint32_t count)
{
    for (uint32_t begin = 0; begin < count;)
        begin += micap_link_of(hierarchy, entities[begin]) == &micap_link_none
                     ? 1
                     : remove_siblings(hierarchy, entities + begin, count - begin);
}

mica_entity *micap_links_copy_children(mica_world *world, mica_entity parent, uint32_t count, uint32_t more)
{
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    mica_entity *children =
        micap_allocate(&world->memory, ((size_t)count + more) * sizeof *children, MICAP_ARRAY_ALIGNMENT);
    if (!children) {
        micap_fail_memory(world, "hierarchy");
        return NULL;
    }
    uint32_t child = micap_link_of(hierarchy, parent)->first_child;
    for (uint32_t i = 0; i < count; ++i) {
        children[i] = micap_link_entity(hierarchy, child);
        child = micap_link_at(hierarchy, child)->next;
    }
    return children;
}

void micap_links_save(const micap_hierarchy *hierarchy, uint32_t index)
{
    micap_undo_save_bytes(&hierarchy->world->undo, MICAP_UNDO_LINKS, index / MICAP_LINKS_SAVED, 0,
                          micap_link_at(hierarchy, index & ~(uint32_t)(MICAP_LINKS_SAVED - 1)),
                          MICAP_LINKS_SAVED * sizeof(micap_link));
}

void micap_links_trim(micap_hierarchy *hierarchy)
{
    if (hierarchy->world->undo.before) /* a restore may need the pages again */
        return;
    for (uint32_t page = 0; page < hierarchy->page_count; ++page)
        if (hierarchy->pages[page].links && !hierarchy->pages[page].used_count) {
            micap_arena_release(&hierarchy->arena, hierarchy->pages[page].links,
                                MICAP_LINK_PAGE * sizeof *hierarchy->pages[page].links);
            hierarchy->pages[page].links = NULL;
        }
    micap_arena_trim(&hierarchy->arena);
}

static bool broken(const micap_hierarchy *hierarchy, const char *what, uint32_t index)
{
    micap_fail(hierarchy->world, MICA_ERROR_INVALID, (mica_location){0}, "broken invariant: %s (%u)", what, index);
    return false;
}

static bool check_children(const micap_hierarchy *hierarchy, uint32_t index, const micap_link *link)
{
    uint32_t count = 0, previous = 0;
    for (uint32_t child = link->first_child; child; child = micap_link_at(hierarchy, child)->next) {
        const micap_link *below = micap_link_at(hierarchy, child);
        if (below->parent != index || below->previous != previous || count++ == link->child_count)
            return broken(hierarchy, "children name their parent and each other", child);
        previous = child;
    }
    return (previous == link->last_child && count == link->child_count) ||
           broken(hierarchy, "a parent counts its children", index);
}

static bool check_link(const micap_hierarchy *hierarchy, uint32_t index)
{
    const micap_link *link = micap_link_at(hierarchy, index);
    if (!link->generation)
        return !memcmp(link, &micap_link_none, sizeof *link) || broken(hierarchy, "an unused link is empty", index);
    if (!mica_is_alive(hierarchy->world, (mica_entity){index, link->generation}))
        return broken(hierarchy, "an entity with a link is alive", index);
    if (!link->parent && (link->next || link->previous))
        return broken(hierarchy, "siblings have a parent", index);
    return check_children(hierarchy, index, link);
}

static uint64_t count_tree(const micap_hierarchy *hierarchy, uint32_t root)
{
    uint64_t count = 0;
    for (uint32_t at = root; at; at = micap_link_next(hierarchy, root, at))
        ++count;
    return count;
}

static bool check_counts(const micap_hierarchy *hierarchy)
{
    uint32_t children = 0, parents = 0;
    for (uint32_t page = 0; page < hierarchy->page_count; ++page)
        for (uint32_t i = 0; hierarchy->pages[page].links && i < MICAP_LINK_PAGE; ++i) {
            children += hierarchy->pages[page].links[i].parent != 0;
            parents += hierarchy->pages[page].links[i].first_child != 0;
        }
    return (children == hierarchy->child_count && parents == hierarchy->parent_count) ||
           broken(hierarchy, "children and parents are counted", children);
}

bool micap_links_validate(const micap_hierarchy *hierarchy)
{
    uint64_t link_count = 0, reached = 0;
    for (uint32_t page = 0; page < hierarchy->page_count; ++page) {
        uint32_t used = 0;
        for (uint32_t i = 0; hierarchy->pages[page].links && i < MICAP_LINK_PAGE; ++i) {
            used += hierarchy->pages[page].links[i].generation != 0;
            if (!check_link(hierarchy, page << MICAP_LINK_PAGE_SHIFT | i))
                return false;
        }
        if (used != hierarchy->pages[page].used_count)
            return broken(hierarchy, "a page counts its links", page);
        link_count += used;
    }
    for (uint32_t page = 0; page < hierarchy->page_count; ++page)
        for (uint32_t i = 0; hierarchy->pages[page].links && i < MICAP_LINK_PAGE; ++i) {
            const micap_link *link = &hierarchy->pages[page].links[i];
            if (link->generation && !link->parent)
                reached += count_tree(hierarchy, page << MICAP_LINK_PAGE_SHIFT | i);
        }
    if (reached != link_count)
        return broken(hierarchy, "every link is below a root", (uint32_t)reached);
    return check_counts(hierarchy);
}
