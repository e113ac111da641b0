/* Trees of slices tell which column of which rows differs. A tree of those rows alone then tells which entity, and if both worlds have
 * its value, comparing field by field tells which field. */
#include "snapshot/hash_diff.h"

#include "base/argument.h"
#include "base/assert.h"
#include "core/world/world_hash.h"
#include "mica/entity.h"
#include "snapshot/hash_tree.h"
#include "type/member.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

MICAP_FORMAT(3, 4) static void append(char *text, size_t capacity, const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, capacity - length, format, arguments);
    va_end(arguments);
}

void micap_difference_say(mica_difference *difference)
{
    char *text = difference->text;
    size_t capacity = sizeof difference->text;
    text[0] = 0;
    if (difference->tick)
        append(text, capacity, "tick %llu: ", (unsigned long long)difference->tick);
    if (difference->system[0])
        append(text, capacity, "first after system %s: ", difference->system);
    if (difference->component[0])
        append(text, capacity, "%s%s%s", difference->component, difference->field[0] ? "." : "", difference->field);
    else if (difference->row_count)
        append(text, capacity, "which entities there are, or their order");
    else
        append(text, capacity, "something");
    if (!mica_is_nil(difference->entity))
        append(text, capacity, " of entity %u (generation %u)", difference->entity.index,
               difference->entity.generation);
    if (difference->table[0])
        append(text, capacity, ", in %s", difference->table);
    if (difference->row_count == 1)
        append(text, capacity, ", row %u", difference->row);
    else if (difference->row_count)
        append(text, capacity, ", rows %u to %u", difference->row, difference->row + difference->row_count - 1);
}

static const char *name_in(const mica_hash_tree *a, const mica_hash_tree *b, uint64_t hash)
{
    const char *text = micap_hash_tree_name(a, hash);
    if (!text)
        text = micap_hash_tree_name(b, hash);
    const micap_type *type;
    for (mica_component id = 1; !text && (type = micap_type_of(id)); ++id)
        text = type->name_hash == hash ? type->type.name : NULL;
    for (mica_component id = MICAP_POOL_IDS; !text && (type = micap_type_of(id)); ++id)
        text = type->name_hash == hash ? type->type.name : NULL;
    return text;
}

static void describe(const mica_hash_tree *a, const mica_hash_tree *b, const mica_hash_leaf *leaf, mica_difference *out)
{
    memset(out, 0, sizeof *out);
    const char *component = leaf->component ? name_in(a, b, leaf->component) : "";
    const char *table = leaf->table ? name_in(a, b, leaf->table) : "";
    if (component)
        snprintf(out->component, sizeof out->component, "%s", component);
    else
        snprintf(out->component, sizeof out->component, "component #%016llx", (unsigned long long)leaf->component);
    if (table)
        snprintf(out->table, sizeof out->table, "%s", table);
    out->row = leaf->row;
    out->row_count = leaf->row_count;
    if (leaf->row_count == 1)
        out->entity = leaf->entity;
    micap_difference_say(out);
}

/* Returns the first leaf that differs, from either tree, or NULL if the trees are equal. */
static const mica_hash_leaf *first_difference(const mica_hash_tree *a, const mica_hash_tree *b)
{
    uint32_t common = a->count < b->count ? a->count : b->count;
    for (uint32_t i = 0; i < common; ++i) {
        int order = micap_hash_leaf_compare(&a->leaves[i], &b->leaves[i]);
        if (order || a->leaves[i].hash != b->leaves[i].hash || a->leaves[i].row_count != b->leaves[i].row_count)
            return order <= 0 ? &a->leaves[i] : &b->leaves[i];
    }
    return a->count > common ? &a->leaves[common] : b->count > common ? &b->leaves[common] : NULL;
}

bool mica_hash_tree_diff(const mica_hash_tree *a, const mica_hash_tree *b, mica_difference *out)
{
    if (MICAP_MISSING(NULL, a) || MICAP_MISSING(NULL, b))
        return false;
    const mica_hash_leaf *leaf = first_difference(a, b);
    if (leaf && out)
        describe(a, b, leaf, out);
    return leaf != NULL;
}

static uint64_t hash_of_field(const mica_field *field, const char *value)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hash_field(&hasher, field, value + field->offset);
    return micap_hasher_finish(&hasher);
}

static uint64_t hash_of_member(mica_member member)
{
    mica_field field = {.type = member.type,
                        .element_bytes = member.element_bytes,
                        .count = member.count ? member.count : 1,
                        .kind = member.kind};
    return hash_of_field(&field, member.data);
}

/* Appends the path to the first text, number or handle that differs inside of a field; of lists of different lengths that agree otherwise,
 * the first element that only one has. */
static void name_part(mica_member left, mica_member right, char *path, size_t capacity)
{
    bool is_list = left.count || left.kind == MICA_KIND_LIST;
    uint32_t left_count = mica_member_count(left), right_count = mica_member_count(right), at = 0;
    uint32_t common = left_count < right_count ? left_count : right_count;
    while (at < common && hash_of_member(mica_member_at(left, at)) == hash_of_member(mica_member_at(right, at)))
        ++at;
    if (at == common && left_count == right_count)
        return;
    if (is_list)
        append(path, capacity, "[%u]", at);
    else
        append(path, capacity, ".%s", mica_member_at(left, at).name);
    if (at < common)
        name_part(mica_member_at(left, at), mica_member_at(right, at), path, capacity);
}

/* The column of a field is a hidden component of its own: says which one it is of. */
static void name_leaf(const micap_type *type, uint64_t component, mica_difference *out)
{
    for (uint32_t i = 0; i < type->leaf_count; ++i) {
        const micap_leaf *leaf = &type->leaves[i];
        if (!leaf->component || micap_type_of(leaf->component)->name_hash != component)
            continue;
        snprintf(out->component, sizeof out->component, "%s", type->type.name);
        snprintf(out->field, sizeof out->field, "%s", leaf->field->name);
    }
}

/* Columns of fields, and whole values that both have; others stay without a field. */
static void find_field(const mica_world *a, const mica_world *b, uint64_t component, mica_difference *out)
{
    for (mica_component id = 0; (id = micap_component_after(&a->components, id)) != 0;) {
        const micap_type *type = micap_type_of(id);
        name_leaf(type, component, out);
        if (type->name_hash != component || type->companion || type->type.split || type->type.many)
            continue;
        const micap_component *in_a = micap_component_of(&a->components, id),
                              *in_b = micap_component_find(&b->components, id);
        bool is_singleton = type->type.storage == MICA_STORAGE_SINGLETON;
        const char *left = is_singleton ? in_a->singleton : mica_get_id(a, out->entity, id);
        const char *right = !in_b ? NULL : is_singleton ? in_b->singleton : mica_get_id(b, out->entity, id);
        for (uint32_t i = 0; left && right && i < type->type.field_count; ++i) {
            const mica_field *field = &type->type.fields[i];
            if (hash_of_field(field, left) == hash_of_field(field, right))
                continue;
            snprintf(out->field, sizeof out->field, "%s", field->name);
            if (type->owns)
                name_part(micap_member_of_field(field, (char *)left), micap_member_of_field(field, (char *)right),
                          out->field, sizeof out->field);
            return;
        }
    }
}

/* Among the rows of one leaf. */
static void find_entity(const mica_world *a, const mica_world *b, const mica_hash_leaf *leaf, mica_difference *out)
{
    micap_hash_filter filter = {MICA_HASH_ROWS, true, leaf->table, leaf->row, leaf->row_count};
    mica_hash_tree *rows_a = micap_hash_tree_of_world(a, &filter), *rows_b = micap_hash_tree_of_world(b, &filter);
    const mica_hash_leaf *row = rows_a && rows_b ? first_difference(rows_a, rows_b) : NULL;
    if (row) {
        describe(rows_a, rows_b, row, out);
        if (row->component)
            find_field(a, b, row->component, out);
    }
    mica_hash_tree_free(rows_a);
    mica_hash_tree_free(rows_b);
}

bool mica_hash_diff(const mica_world *a, const mica_world *b, mica_difference *out)
{
    if (MICAP_MISSING(NULL, a) || MICAP_MISSING(a, b))
        return false;
    mica_difference unheard;
    out = out ? out : &unheard;
    memset(out, 0, sizeof *out);
    micap_hash_filter filter = {.leaf_rows = MICA_HASH_SLICES};
    mica_hash_tree *tree_a = micap_hash_tree_of_world(a, &filter);
    mica_hash_tree *tree_b = tree_a ? micap_hash_tree_of_world(b, &filter) : NULL;
    bool differs = true;
    if (tree_b) {
        const mica_hash_leaf *leaf = first_difference(tree_a, tree_b);
        differs = leaf != NULL;
        if (leaf)
            describe(tree_a, tree_b, leaf, out);
        if (leaf && leaf->table)
            find_entity(a, b, leaf, out);
        else if (leaf)
            find_field(a, b, leaf->component, out);
    }
    mica_hash_tree_free(tree_a);
    mica_hash_tree_free(tree_b);
    if (differs)
        micap_difference_say(out);
    return differs;
}
