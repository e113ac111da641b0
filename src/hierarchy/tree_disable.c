/* Hiding and showing an entity with its descendants. */
#include "base/argument.h"
#include "core/world/report.h"
#include "hierarchy/links.h"
#include "mica/disable.h"

/* Links do not change, so that the iteration continues after each change. */
static uint32_t change_tree(mica_world *world, mica_entity root, bool disable, const char *what)
{
    if (MICAP_MISSING_IN(what, world))
        return 0;
    if (!mica_is_alive(world, root))
        return micap_fail_dead(world, root, what), 0;
    uint32_t count = 0;
    for (mica_entity at = root; !mica_is_nil(at); at = mica_tree_next(world, root, at)) {
        if (mica_entity_is_disabled(world, at) == disable)
            continue;
        if (!(disable ? mica_entity_disable(world, at) : mica_entity_enable(world, at)))
            break;
        ++count;
    }
    return count;
}

uint32_t mica_tree_disable(mica_world *world, mica_entity root)
{
    return change_tree(world, root, true, "mica_tree_disable");
}

uint32_t mica_tree_enable(mica_world *world, mica_entity root)
{
    return change_tree(world, root, false, "mica_tree_enable");
}
