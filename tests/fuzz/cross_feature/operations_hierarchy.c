/* Parents, children, and where things are. */
#include "program.h"

#include "mica/transform.h"

static void set_parent(program *program, scene *scene)
{
    mica_entity child = take_entity(program, scene);
    mica_set_parent(scene->world, child, take_one_in(program, 5) ? mica_nil() : take_entity(program, scene));
}

static void set_parents(program *program, scene *scene)
{
    mica_entity children[3], parents[3];
    for (uint32_t i = 0; i < 3; ++i) {
        children[i] = take_entity(program, scene);
        parents[i] = take_entity(program, scene);
    }
    mica_set_parents(scene->world, children, parents, 1 + take_below(program, 3));
}

static void place_beside(program *program, scene *scene)
{
    mica_entity child = take_entity(program, scene);
    mica_entity sibling = take_entity(program, scene);
    if (take_one_in(program, 2))
        mica_place_before(scene->world, child, sibling);
    else
        mica_place_after(scene->world, child, sibling);
}

static void detach_children(program *program, scene *scene)
{
    mica_detach_children(scene->world, take_entity(program, scene));
}

static void create_child(program *program, scene *scene)
{
    drawn_values drawn;
    mica_entity parent = take_entity(program, scene);
    if (is_full(scene))
        return;
    take_values(program, scene, &drawn);
    remember(scene, mica_create_child_id(scene->world, parent, drawn.values, drawn.count));
    give_values_back(&drawn);
}

static void destroy_with(program *program, scene *scene)
{
    mica_entity entity = take_entity(program, scene);
    mica_destroy_with(scene->world, entity, take_one_in(program, 2) ? MICA_ORPHANS_STAY : MICA_ORPHANS_DIE);
}

static void destroy_children(program *program, scene *scene)
{
    mica_destroy_children(scene->world, take_entity(program, scene));
}

static void set_orphans(program *program, scene *scene)
{
    mica_set_orphans(scene->world, take_one_in(program, 2) ? MICA_ORPHANS_STAY : MICA_ORPHANS_DIE);
}

static void name_child(program *program, scene *scene)
{
    static const char *names[] = {"a", "b", "c", NULL};
    mica_entity entity = take_entity(program, scene);
    mica_name_child(scene->world, entity, names[take_below(program, 4)]);
}

static void walk_tree(program *program, scene *scene)
{
    mica_entity root = take_entity(program, scene);
    uint32_t count = 0;
    for (mica_entity at = root; !mica_is_nil(at); at = mica_tree_next(scene->world, root, at))
        EXPECT(program, ++count < 100000, "a walk over a tree does not end");
    uint32_t children = 0;
    for (mica_entity child = mica_first_child(scene->world, root); !mica_is_nil(child);
         child = mica_next_sibling(scene->world, child)) {
        EXPECT(program, mica_same(mica_parent(scene->world, child), root), "a child has another parent");
        ++children;
    }
    EXPECT(program, children == mica_child_count(scene->world, root), "children are counted wrong");
    mica_depth(scene->world, root);
    mica_root(scene->world, root);
    mica_previous_sibling(scene->world, root);
    mica_last_child(scene->world, root);
    mica_is_ancestor(scene->world, root, take_entity(program, scene));
    mica_linked_count(scene->world);
}

static void clone_tree(program *program, scene *scene)
{
    mica_entity root = take_entity(program, scene);
    uint32_t count = 0;
    for (mica_entity at = root; count <= 8 && !mica_is_nil(at); at = mica_tree_next(scene->world, root, at))
        ++count;
    if (count <= 8 && !is_full(scene)) /* or trees would grow without end */
        remember(scene, mica_clone_tree(scene->world, root));
}

/* Hides an entity, or its tree, or shows it again. */
static void disable(program *program, scene *scene)
{
    mica_entity entity = take_entity(program, scene);
    switch (take_below(program, 5)) {
    case 0: mica_tree_disable(scene->world, entity); break;
    case 1: mica_tree_enable(scene->world, entity); break;
    case 2: mica_entity_enable(scene->world, entity); break;
    default: mica_entity_disable(scene->world, entity); break;
    }
    EXPECT(program, !mica_entity_is_disabled(scene->world, entity) || mica_is_alive(scene->world, entity),
           "a dead entity is disabled");
}

static void set_local(program *program, scene *scene)
{
    mica_entity entity = take_entity(program, scene);
    float x = take(program);
    scene->has_uncarried = true;
    mica_set(scene->world, entity, mica_local, MICA_LOCAL_AT(x, 0, 0));
    if (take_one_in(program, 2))
        mica_add(scene->world, entity, mica_global_matrix);
}

static void update_transforms(program *program, scene *scene)
{
    (void)program;
    mica_transform_update(scene->world);
}

static void add_transform_system(program *program, scene *scene)
{
    (void)program;
    if (!mica_system_find(scene->world, "update_transforms").id)
        mica_transform_add_system(scene->world, MICA_PHASE_END);
}

const operation hierarchy_operations[] = {
    {"set_parent", set_parent, IN_BODY | AS_INPUT},
    {"set_parents", set_parents, IN_BODY | AS_INPUT},
    {"place_beside", place_beside, IN_BODY | AS_INPUT},
    {"detach_children", detach_children, IN_BODY | AS_INPUT},
    {"create_child", create_child, IN_BODY | AS_INPUT},
    {"destroy_with", destroy_with, IN_BODY | AS_INPUT},
    {"destroy_children", destroy_children, IN_BODY | AS_INPUT},
    {"set_orphans", set_orphans, IN_BODY | AS_INPUT},
    {"name_child", name_child, IN_BODY | AS_INPUT},
    {"walk_tree", walk_tree, IN_BODY | READS},
    {"clone_tree", clone_tree, IN_BODY | AS_INPUT},
    {"disable", disable, IN_BODY | AS_INPUT},
    {"set_local", set_local, IN_BODY | AS_INPUT},
    {"update_transforms", update_transforms, IN_BODY | SLOW},
    {"add_transform_system", add_transform_system, 0},
};
OPERATIONS(hierarchy)
