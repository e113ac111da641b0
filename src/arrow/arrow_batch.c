#include "arrow/arrow_batch.h"

#include "arrow/arrow_field.h"
#include "mica/component.h"
#include "mica/split.h"

/* Rows of a view with a split component. */
typedef struct micap_arrow_split_rows {
    const mica_view *view;
    mica_component component;
    uint32_t row, count;
    bool repeats, borrow;
} split_rows;

micap_arrow_column *micap_arrow_batch_create(const micap_arrow_plan *plan)
{
    const mica_field row = {.name = "", .count = 1, .kind = MICA_KIND_STRUCT};
    mica_allocator allocator = plan->memory.allocator;
    micap_arrow_column *batch = micap_arrow_column_create(allocator, &row, plan->source_count);
    for (uint32_t i = 0; batch && i < plan->source_count; ++i) {
        const mica_field *field = &plan->sources[i].field;
        batch->children[i] = micap_arrow_column_create(allocator, field, micap_arrow_child_count(field));
        if (!batch->children[i]) {
            micap_arrow_column_destroy(batch);
            return NULL;
        }
        batch->children[i]->is_required = plan->sources[i].kind == MICAP_ARROW_SOURCE_ENTITY;
    }
    return batch;
}

/* Whether the elements of an array are in columns of their own: see mica/split.h. */
static bool has_pieces(const mica_field *field)
{
    enum { PIECES_MAX = 4 };
    return field->count > 1 && field->kind != MICA_KIND_CHAR &&
           (field->kind == MICA_KIND_STRUCT || field->count <= PIECES_MAX);
}

/* Appends rows [row, row + count) of a part of a split component: each number has a column, and so have longer arrays and text. */
static bool append_split(micap_arrow_column *column, const split_rows *rows, size_t offset)
{
    const mica_field *field = &column->field;
    if (has_pieces(field)) {
        for (uint32_t i = 0; i < rows->count * field->count; ++i) {
            split_rows one = {rows->view, rows->component, rows->row + i / field->count, 1, rows->repeats, false};
            if (!append_split(column->children[0], &one, offset + (size_t)(i % field->count) * field->element_bytes))
                return false;
        }
        return micap_arrow_append_rows(column, rows->count);
    }
    if (field->kind == MICA_KIND_STRUCT) {
        for (uint32_t i = 0; i < column->child_count; ++i)
            if (!append_split(column->children[i], rows, offset + column->children[i]->field.offset))
                return false;
        return micap_arrow_append_rows(column, rows->count);
    }
    size_t stride = rows->repeats ? 0 : (size_t)field->element_bytes * field->count;
    const char *values = mica_view_read_field_id(rows->view, rows->component, offset);
    return micap_arrow_append(column, values + rows->row * stride, stride, rows->count, rows->borrow);
}

static bool append_field(micap_arrow_column *column, const micap_arrow_plan *plan, const micap_arrow_source *source,
                         const mica_view *view, bool borrow)
{
    mica_component component = plan->terms[source->index].component;
    const mica_type *type = mica_component_type(component);
    if (source->is_nullable && !mica_view_has_at(view, source->index))
        return micap_arrow_append_none(column, view->count, true);
    if (type->split)
        return append_split(column, &(split_rows){view, component, 0, view->count, source->repeats, borrow},
                            source->field.offset);
    const char *values = mica_view_read_at(view, source->index);
    return micap_arrow_append(column, values + source->field.offset, source->repeats ? 0 : type->size_bytes,
                              view->count, borrow);
}

static bool append_source(micap_arrow_column *column, const micap_arrow_plan *plan, const micap_arrow_source *source,
                          const mica_view *view, bool borrow)
{
    switch (source->kind) {
    case MICAP_ARROW_SOURCE_ENTITY:
        return micap_arrow_append(column, (const char *)view->entities, sizeof(mica_entity), view->count,
                                  borrow && !plan->has_nodes);
    case MICAP_ARROW_SOURCE_VARIABLE: {
        mica_entity entity = mica_view_variable(view, source->index);
        return micap_arrow_append(column, (const char *)&entity, 0, view->count, false);
    }
    case MICAP_ARROW_SOURCE_TAG: {
        char has = mica_view_has_at(view, source->index) ? 1 : 0;
        return micap_arrow_append(column, &has, 0, view->count, false);
    }
    default: return append_field(column, plan, source, view, borrow);
    }
}

bool micap_arrow_batch_append(micap_arrow_column *batch, const micap_arrow_plan *plan, const mica_view *view,
                              bool borrow)
{
    for (uint32_t i = 0; i < plan->source_count; ++i)
        if (!append_source(batch->children[i], plan, &plan->sources[i], view, borrow))
            return false;
    return micap_arrow_append_rows(batch, view->count);
}
