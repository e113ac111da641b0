#include "hierarchy/hierarchy_snapshot.h"

#include "base/byte_stream.h"
#include "hierarchy/hierarchy_module.h"
#include "hierarchy/transform_propagation.h"

/* Adds what links are to the counts of their page and of all pages, or takes it away. */
static void count_links(micap_hierarchy *hierarchy, uint32_t page, const micap_link *links, uint32_t step)
{
    for (uint32_t i = 0; i < MICAP_LINKS_SAVED; ++i) {
        hierarchy->pages[page].used_count += links[i].generation ? step : 0;
        hierarchy->child_count += links[i].parent ? step : 0;
        hierarchy->parent_count += links[i].first_child ? step : 0;
    }
}

void micap_hierarchy_load_kept(mica_world *world, void *state, const micap_undo_entry *kept)
{
    (void)world;
    micap_hierarchy *hierarchy = state;
    uint32_t first = (uint32_t)kept->key * MICAP_LINKS_SAVED, page = first >> MICAP_LINK_PAGE_SHIFT;
    micap_link *links = micap_link_at(hierarchy, first);
    count_links(hierarchy, page, links, UINT32_MAX); /* minus one */
    memcpy(links, kept->data, kept->bytes);
    count_links(hierarchy, page, links, 1);
}

void micap_hierarchy_keep_again(mica_world *world, void *state, const micap_undo_entry *kept)
{
    (void)world;
    micap_links_save(state, (uint32_t)kept->key * MICAP_LINKS_SAVED);
}

typedef struct saved_hierarchy {
    mica_orphans orphans;
    mica_version seen; /* by the last update of transforms; 0: there was none */
    uint32_t relinked_count;
} saved_hierarchy;

void *micap_hierarchy_save(mica_world *world, void *state)
{
    const micap_hierarchy *hierarchy = state;
    const micap_transforms *transforms = hierarchy->transforms;
    saved_hierarchy *saved = micap_allocate(&world->memory, sizeof *saved, MICAP_ARRAY_ALIGNMENT);
    if (saved)
        *saved = (saved_hierarchy){.orphans = hierarchy->orphans,
                                   .seen = transforms && !transforms->is_new ? transforms->seen : 0,
                                   .relinked_count = hierarchy->relinked_count};
    return saved;
}

void micap_hierarchy_drop(mica_world *world, void *state, void *data)
{
    (void)state;
    micap_release(&world->memory, data, sizeof(saved_hierarchy), MICAP_ARRAY_ALIGNMENT);
}

void micap_hierarchy_load(mica_world *world, void *state, const void *data)
{
    (void)world;
    micap_hierarchy *hierarchy = state;
    const saved_hierarchy *saved = data;
    hierarchy->orphans = saved ? saved->orphans : MICA_ORPHANS_DIE;
    if (!hierarchy->transforms)
        return;
    hierarchy->relinked_count = saved ? saved->relinked_count : 0;
    micap_transforms_restore(hierarchy, saved ? saved->seen : 0);
}

/* Creations that are recorded are not cloned: what they are linked to stays alone. */
static void forget_pending(micap_hierarchy *hierarchy)
{
    for (uint32_t page = 0; page < hierarchy->page_count; ++page)
        for (uint32_t i = 0; hierarchy->pages[page].used_count && i < MICAP_LINK_PAGE; ++i) {
            mica_entity entity = {page << MICAP_LINK_PAGE_SHIFT | i, hierarchy->pages[page].links[i].generation};
            if (entity.generation && !mica_is_alive(hierarchy->world, entity))
                micap_links_remove(hierarchy, &entity, 1);
        }
}

bool micap_hierarchy_clone(mica_world *to, const void *state)
{
    const micap_hierarchy *from = state;
    micap_hierarchy *hierarchy = micap_hierarchy_require(to);
    if (!hierarchy)
        return false;
    for (uint32_t page = 0; page < from->page_count; ++page) /* all pages first: links name entities on any page */
        if (from->pages[page].used_count && !micap_links_reserve(hierarchy, page << MICAP_LINK_PAGE_SHIFT))
            return false;
    hierarchy->orphans = from->orphans;
    hierarchy->child_count = from->child_count;
    hierarchy->parent_count = from->parent_count;
    for (uint32_t page = 0; page < hierarchy->page_count; ++page) {
        uint32_t used_count = from->pages[page].used_count;
        if (used_count)
            memcpy(hierarchy->pages[page].links, from->pages[page].links, MICAP_LINK_PAGE * sizeof(micap_link));
        hierarchy->pages[page].used_count = used_count;
        for (uint32_t i = 0; used_count && i < MICAP_LINK_PAGE; ++i)
            if (hierarchy->pages[page].links[i].generation)
                micap_attach(&to->attachments, page << MICAP_LINK_PAGE_SHIFT | i);
    }
    forget_pending(hierarchy);
    return true;
}

void micap_hierarchy_write(const mica_world *world, const void *state, micap_bytes *bytes)
{
    (void)world;
    const micap_hierarchy *hierarchy = state;
    const micap_transforms *transforms = hierarchy->transforms;
    micap_bytes_put_number(bytes, hierarchy->orphans);
    micap_bytes_put_number(bytes, transforms && !transforms->is_new ? transforms->seen : 0);
    micap_bytes_put_number(bytes, hierarchy->relinked_count);
}

void *micap_hierarchy_read(mica_world *world, void *state, micap_reader *reader)
{
    (void)state;
    saved_hierarchy *saved = micap_allocate_zeroed(&world->memory, sizeof *saved, MICAP_ARRAY_ALIGNMENT);
    if (!saved)
        return NULL;
    saved->orphans = (mica_orphans)micap_reader_take_up_to(reader, MICA_ORPHANS_STAY);
    saved->seen = micap_reader_take_number(reader);
    saved->relinked_count = micap_reader_take_number(reader) ? UINT32_MAX : 0; /* which they were is not stored */
    if (!reader->failed)
        return saved;
    micap_hierarchy_drop(world, state, saved);
    return NULL;
}
