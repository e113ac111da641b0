#include "native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more element. Returns false if memory runs out; the old block stays valid. */
static bool reserve(void **block, uint64_t *capacity, uint64_t count, size_t element_bytes)
{
    if (count <= *capacity)
        return true;
    uint64_t wanted = *capacity ? *capacity : 1024;
    while (wanted < count)
        wanted *= 2;
    void *grown = wanted <= SIZE_MAX / element_bytes ? realloc(*block, (size_t)wanted * element_bytes) : NULL;
    if (!grown)
        return false;
    *block = grown;
    *capacity = wanted;
    return true;
}

static bool reserve_entities(mica_python_neighbours *found, uint64_t count)
{
    uint64_t capacity = found->entity_capacity;
    void *entities = found->entities, *offsets = found->offsets;
    bool fits = reserve(&entities, &capacity, count, sizeof *found->entities);
    found->entities = entities;
    capacity = found->entity_capacity;
    fits = fits && reserve(&offsets, &capacity, count, sizeof *found->offsets);
    found->offsets = offsets;
    if (fits)
        found->entity_capacity = capacity;
    return fits;
}

static void take_neighbours(mica_entity entity, const mica_neighbour *neighbours, uint32_t count, void *context)
{
    mica_python_neighbours *found = context;
    void *block = found->neighbours;
    uint64_t at = found->entity_count, total = found->neighbour_count + count;
    bool fits = !found->failed && reserve(&block, &found->neighbour_capacity, total, sizeof *neighbours);
    found->neighbours = block;
    if (!fits || !reserve_entities(found, at + 2)) {
        found->failed = true;
        return;
    }
    if (count)
        memcpy(found->neighbours + found->neighbour_count, neighbours, count * sizeof *neighbours);
    found->entities[at] = entity;
    found->offsets[at] = found->neighbour_count;
    found->offsets[at + 1] = total;
    found->neighbour_count = total;
    found->entity_count = at + 1;
}

mica_result mica_python_neighbours_find(const mica_index *grid, double radius, mica_query *query,
                                        mica_python_neighbours *out)
{
    *out = (mica_python_neighbours){0};
    mica_grid_loop loop = {.radius = radius, .query = query, .one_thread = true, .fn = take_neighbours, .context = out};
    mica_result result = mica_grid_each(grid, &loop);
    result = out->failed ? MICA_ERROR_MEMORY : result;
    if (result != MICA_OK)
        mica_python_neighbours_free(out);
    return result;
}

void mica_python_neighbours_free(mica_python_neighbours *found)
{
    free(found->entities);
    free(found->offsets);
    free(found->neighbours);
    *found = (mica_python_neighbours){0};
}

enum { LOOKUPS_AT_ONCE = 256 };

uint64_t mica_python_gather(const mica_world *world, const mica_entity *entities, uint64_t count,
                            mica_component component, void *out_values, uint8_t *out_found)
{
    const mica_type *type = mica_component_type(component);
    const void *pointers[LOOKUPS_AT_ONCE];
    uint64_t found = 0;
    for (uint64_t first = 0; type && first < count; first += LOOKUPS_AT_ONCE) {
        uint32_t some = count - first < LOOKUPS_AT_ONCE ? (uint32_t)(count - first) : LOOKUPS_AT_ONCE;
        found += mica_get_many_id(world, entities + first, some, component, pointers);
        for (uint32_t i = 0; i < some; ++i) {
            out_found[first + i] = pointers[i] != NULL;
            if (pointers[i])
                memcpy((char *)out_values + (first + i) * type->size_bytes, pointers[i], type->size_bytes);
        }
    }
    return found;
}

uint64_t mica_python_scatter(mica_world *world, const mica_entity *entities, uint64_t count, mica_component component,
                             const void *values)
{
    const mica_type *type = mica_component_type(component);
    uint64_t found = 0;
    for (uint64_t i = 0; type && i < count; ++i) {
        void *value = mica_write_id(world, entities[i], component);
        if (value)
            memcpy(value, (const char *)values + i * type->size_bytes, type->size_bytes);
        found += value != NULL;
    }
    return found;
}

mica_result mica_python_module_main(uintptr_t address, mica_world *world)
{
    mica_result (*function)(mica_world *);
    _Static_assert(sizeof function == sizeof address, "an address is a function pointer");
    memcpy(&function, &address, sizeof function);
    return function(world);
}

/* A schema from malloc: format, name and metadata, then the children. */
static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; ++i)
        if (schema->children[i] && schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
    free(schema->private_data);
    schema->release = NULL;
}

/* The bytes of metadata: the number of pairs, and each text with its length. */
static size_t metadata_bytes(const char *metadata)
{
    int32_t count = 0, length;
    size_t bytes = metadata ? sizeof count : 0;
    if (metadata)
        memcpy(&count, metadata, sizeof count);
    for (int32_t i = 0; i < 2 * count; ++i) {
        memcpy(&length, metadata + bytes, sizeof length);
        bytes += sizeof length + (size_t)length;
    }
    return bytes;
}

static bool copy_schema(const struct ArrowSchema *from, struct ArrowSchema *out)
{
    size_t children = (size_t)from->n_children, format = strlen(from->format) + 1, name = strlen(from->name) + 1;
    size_t begin = children * (sizeof(struct ArrowSchema) + sizeof(struct ArrowSchema *)),
           metadata = metadata_bytes(from->metadata);
    char *block = calloc(1, begin + format + name + metadata);
    if (!block)
        return false;
    struct ArrowSchema *copies = (void *)block, **pointers = (void *)(copies + children);
    *out = (struct ArrowSchema){
        .format = memcpy(block + begin, from->format, format),
        .name = memcpy(block + begin + format, from->name, name),
        .metadata = from->metadata ? memcpy(block + begin + format + name, from->metadata, metadata) : NULL,
        .flags = from->flags,
        .n_children = from->n_children,
        .children = children ? pointers : NULL,
        .release = release_schema,
        .private_data = block};
    bool is_done = true;
    for (size_t i = 0; i < children; ++i) {
        pointers[i] = &copies[i];
        is_done = is_done && copy_schema(from->children[i], &copies[i]);
    }
    if (!is_done)
        release_schema(out);
    return is_done;
}

/* Batches that were read in advance. */
typedef struct rows {
    struct ArrowSchema schema;
    struct ArrowArray *batches;
    uint64_t count, capacity, next;
} rows;

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    return copy_schema(&((rows *)stream->private_data)->schema, out) ? 0 : ENOMEM;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    rows *rows = stream->private_data;
    *out = rows->next < rows->count ? rows->batches[rows->next++] : (struct ArrowArray){.length = 0};
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "out of memory";
}

static void release_rows(struct ArrowArrayStream *stream)
{
    rows *rows = stream->private_data;
    if (rows->schema.release)
        rows->schema.release(&rows->schema);
    for (; rows->next < rows->count; ++rows->next)
        rows->batches[rows->next].release(&rows->batches[rows->next]);
    free(rows->batches);
    free(rows);
    stream->release = NULL;
}

/* Reads all batches of a stream. */
static mica_result take_rows(rows *rows, struct ArrowArrayStream *stream)
{
    struct ArrowArray batch;
    int problem = stream->get_schema(stream, &rows->schema);
    while (!problem && !(problem = stream->get_next(stream, &batch)) && batch.release) {
        void *block = rows->batches;
        bool fits = reserve(&block, &rows->capacity, rows->count + 1, sizeof *rows->batches);
        rows->batches = block;
        if (fits)
            rows->batches[rows->count++] = batch;
        else
            batch.release(&batch);
        problem = fits ? 0 : ENOMEM;
    }
    return problem == 0 ? MICA_OK : problem == ENOMEM ? MICA_ERROR_MEMORY : MICA_ERROR_REFUSED;
}

mica_result mica_python_arrow(mica_query *query, const mica_arrow_def *def, struct ArrowArrayStream **out_stream)
{
    struct ArrowArrayStream source;
    mica_result result = mica_arrow_stream(query, def, &source);
    *out_stream = NULL;
    if (result != MICA_OK)
        return result;
    rows *rows = calloc(1, sizeof *rows);
    struct ArrowArrayStream *stream = malloc(sizeof *stream);
    result = rows && stream ? take_rows(rows, &source) : MICA_ERROR_MEMORY;
    source.release(&source);
    if (stream)
        *stream = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_rows, rows};
    if (result == MICA_OK) {
        *out_stream = stream;
        return MICA_OK;
    }
    if (rows && stream)
        release_rows(stream);
    else
        free(rows);
    free(stream);
    return result;
}

/* Of the interpreter that loads this file. */
void *PyCapsule_GetPointer(void *capsule, const char *name);

void mica_python_capsule_free(void *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream && stream->release)
        stream->release(stream);
    free(stream);
}
