#include "index/world_index.h"

#include "base/argument.h"
#include "core/query/query.h"
#include "core/world/report.h"
#include "index/index_update.h"
#include "index/key_search.h"

typedef struct micap_indexes {
    mica_index *first;
} micap_indexes;

void micap_index_reset(mica_index *index)
{
    if (index->is_grid)
        micap_grid_clear(&index->grid);
    else
        micap_sorted_keys_clear(&index->head.world->memory, &index->keys);
    index->must_rebuild = true;
    ++index->update;
}

static void free_index(mica_index *index)
{
    micap_memory *memory = &index->head.world->memory;
    if (index->is_grid)
        micap_grid_free(memory, &index->grid);
    else
        micap_sorted_keys_free(memory, &index->keys);
    micap_tracked_free(memory, &index->tracked);
    micap_text_keys_free(memory, &index->texts);
    MICAP_RELEASE_ARRAY(memory, index->changes, index->change_capacity);
    micap_mark_log_remove(&index->head.world->mark_logs, &index->marks);
    MICAP_RELEASE_ARRAY(memory, index->marks.entities, index->marks.capacity);
    micap_query_free(index->query);
    if (index->name)
        micap_release(memory, index->name, strlen(index->name) + 1, MICAP_ARRAY_ALIGNMENT);
    pthread_mutex_destroy(&index->lock);
    micap_release(memory, index, sizeof *index, MICAP_ARRAY_ALIGNMENT);
}

static void free_indexes(mica_world *world, void *state)
{
    micap_indexes *indexes = state;
    while (indexes->first) {
        mica_index *index = indexes->first;
        indexes->first = index->next;
        free_index(index);
    }
    micap_release(&world->memory, indexes, sizeof *indexes, MICAP_ARRAY_ALIGNMENT);
}

static bool validate_indexes(mica_world *world, void *state)
{
    const micap_indexes *indexes = state;
    for (const mica_index *index = indexes->first; index; index = index->next) {
        const char *problem = index->is_grid ? micap_grid_check(&index->grid) : micap_sorted_keys_check(&index->keys);
        if (!problem)
            problem = micap_text_keys_check(&index->texts);
        if (problem) {
            micap_fail(world, MICA_ERROR_INVALID, index->location, "validate: %s: %s", index->name, problem);
            return false;
        }
    }
    return true;
}

static void trim_indexes(mica_world *world, void *state)
{
    const micap_indexes *indexes = state;
    for (mica_index *index = indexes->first; index; index = index->next) {
        micap_tracked_trim(&world->memory, &index->tracked);
        MICAP_RELEASE_ARRAY(&world->memory, index->changes, index->change_capacity);
        index->changes = NULL;
        index->change_capacity = 0;
        MICAP_RELEASE_ARRAY(&world->memory, index->marks.entities, index->marks.capacity);
        index->marks.entities = NULL;
        index->marks.capacity = 0; /* whatever is marked until the next update is read from versions */
    }
}

static bool each_between(mica_world *world, void *state, const micap_field_range *range, micap_found_fn fn,
                         void *context)
{
    const micap_indexes *indexes = state;
    (void)world;
    return micap_key_each_between(indexes->first, range, fn, context);
}

static const micap_module_ops ops = {
    .free = free_indexes, .validate = validate_indexes, .trim = trim_indexes, .each_between = each_between};

static micap_indexes *indexes_of(mica_world *world)
{
    micap_indexes *indexes = micap_module_state(world, MICAP_MODULE_INDEX);
    if (indexes)
        return indexes;
    indexes = micap_allocate_zeroed(&world->memory, sizeof *indexes, MICAP_ARRAY_ALIGNMENT);
    if (indexes)
        micap_module_set(world, MICAP_MODULE_INDEX, &ops, indexes);
    return indexes;
}

static char *copy_name(mica_world *world, const char *name)
{
    char *copy = micap_allocate(&world->memory, strlen(name) + 1, MICAP_ARRAY_ALIGNMENT);
    if (copy)
        memcpy(copy, name, strlen(name) + 1);
    return copy;
}

/* What is wrong with the def, or NULL. The index has its fields then. */
static const char *apply_def(mica_index *index, const mica_index_def *def, char note[MICAP_INDEX_NOTE])
{
    const mica_type *type = &index->type->type;
    index->is_grid = def->cell_size != 0;
    index->keys.is_hashed = def->hashed;
    index->is_unique = def->unique;
    if (type->storage == MICA_STORAGE_SINGLETON || !type->size_bytes || type->many)
        return "its component must have data, and one value per entity";
    if (!def->fields)
        return "it needs .fields";
    if (index->is_grid && (def->hashed || def->unique))
        return "a grid is neither .hashed nor .unique";
    index->source_count = micap_field_sources_find(&index->head.world->memory, index->type, def->fields, index->is_grid,
                                                   index->sources, note);
    if (!index->source_count)
        return note;
    index->tracked.width = index->source_count;
    if (index->is_grid)
        return micap_grid_init(&index->grid, def, index->source_count);
    index->keys.table.is_narrow = micap_field_is_narrow(&index->sources[0], &index->lowest_key, &index->key_span);
    return index->source_count > 1 ? "several .fields are a grid, which needs a .cell_size" : NULL;
}

/* Fills in a new index; false with a report. */
static bool set_up(mica_index *index, const mica_index_def *def)
{
    mica_world *world = index->head.world;
    char note[MICAP_INDEX_NOTE];
    uint32_t failures = micap_memory_failures(&world->memory);
    const char *name = def->name ? def->name : index->type->type.name, *problem = apply_def(index, def, note);
    if (problem && micap_memory_failures(&world->memory) == failures) {
        micap_fail(world, MICA_ERROR_INVALID, def->location, "index %.100s: %s", name, problem);
        return false;
    }
    index->name = copy_name(world, name);
    if (problem || !index->name || (index->is_grid && !micap_grid_allocate(&world->memory, &index->grid))) {
        micap_fail_memory(world, "index");
        return false;
    }
    mica_term term = {.component = def->component, .access = MICA_ACCESS_READ};
    index->query = mica_query_create(
        world, &(mica_query_def){.name = index->name, .terms = &term, .term_count = 1, .location = def->location});
    return index->query != NULL;
}

mica_index *mica_index_create(mica_world *world, const mica_index_def *def)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, def) ||
        micap_refuse_inside(world, "index_create") != MICA_OK)
        return NULL;
    const micap_type *type = micap_type_for_entities(world, def->component);
    if (!type)
        return NULL;
    micap_indexes *indexes = indexes_of(world);
    mica_index *index = indexes ? micap_allocate_zeroed(&world->memory, sizeof *index, MICAP_ARRAY_ALIGNMENT) : NULL;
    if (!index) {
        micap_fail_memory(world, "index");
        return NULL;
    }
    pthread_mutex_init(&index->lock, NULL);
    index->head = (micap_index_head){.world = world, .component = def->component, .update = micap_index_update};
    index->type = type;
    index->location = def->location;
    index->must_rebuild = true;
    if (!set_up(index, def)) {
        free_index(index);
        return NULL;
    }
    if (type->changed && !micap_is_pooled(def->component)) {
        index->marks.component = type->changed;
        micap_mark_log_add(&world->mark_logs, &index->marks);
    }
    index->next = indexes->first;
    indexes->first = index;
    return index;
}

/* Of several, the one that was created last. */
mica_index *mica_index_of_field_id(mica_world *world, mica_component component, size_t field_offset)
{
    if (MICAP_MISSING(NULL, world) || !micap_type_for_entities(world, component) || world->hook_depth ||
        micap_thread_context_of(world))
        return NULL;
    const micap_indexes *indexes = micap_module_state(world, MICAP_MODULE_INDEX);
    for (mica_index *index = indexes ? indexes->first : NULL; index; index = index->next) {
        const micap_field_source *source = &index->sources[0];
        if (!index->is_grid && index->head.component == component &&
            source->leaf_offset + source->offset == field_offset)
            return index;
    }
    return NULL;
}

bool micap_index_is_looped(const mica_index *index, const char *what)
{
    if (!atomic_load_explicit(&index->loop_count, memory_order_relaxed))
        return false;
    micap_fail(index->head.world, MICA_ERROR_REFUSED, index->location, "%s: %s: refused inside mica_grid_each", what,
               index->name);
    return true;
}

void mica_index_destroy(mica_index *index)
{
    if (!index)
        return;
    mica_world *world = index->head.world;
    if (micap_refuse_inside(world, "index_destroy") != MICA_OK || micap_index_is_looped(index, "index_destroy"))
        return;
    uint32_t users = micap_index_user_count(world, index);
    if (users) {
        micap_fail(world, MICA_ERROR_REFUSED, index->location, "index_destroy: %s: %u systems use it", index->name,
                   users);
        return;
    }
    micap_indexes *indexes = micap_module_state(world, MICAP_MODULE_INDEX);
    mica_index **link = &indexes->first;
    while (*link != index)
        link = &(*link)->next;
    *link = index->next;
    free_index(index);
}
