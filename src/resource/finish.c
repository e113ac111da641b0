/* From a draft to the sections of a file. */
#include "base/bits.h"
#include "base/hash.h"
#include "resource/draft.h"

#include <stdlib.h>
#include <string.h>

typedef struct micap_type_list {
    const mica_type **list;
    uint32_t count;
    uint32_t capacity;
} type_list;

typedef struct micap_finishing {
    mica_draft *draft;
    micap_grouping grouping;
    micap_output output;
    type_list types;
    micap_asset_list assets;
    micap_strings
        strings; /* in the order they are written, so that equal drafts give equal bytes however they were made */
} finishing;

static uint32_t string_of(finishing *work, const char *text)
{
    return micap_string_of(&work->strings, work->draft, text);
}

static bool is_same_type(const mica_type *a, const mica_type *b)
{
    return a == b || (a->kind == b->kind && strcmp(a->name, b->name) == 0 &&
                      mica_type_layout_hash(a) == mica_type_layout_hash(b));
}

static uint32_t find_type(const type_list *types, const mica_type *type)
{
    for (uint32_t i = 0; i < types->count; ++i)
        if (is_same_type(types->list[i], type))
            return i;
    return MICAP_NONE;
}

/* Nested types first: a type's number is higher than those of what it is made of. */
static bool list_type(finishing *work, const mica_type *type)
{
    type_list *types = &work->types;
    if (find_type(types, type) != MICAP_NONE)
        return true;
    for (uint32_t i = 0; i < type->field_count; ++i)
        if (type->fields[i].type && !list_type(work, type->fields[i].type))
            return false;
    if (!MICAP_RESERVE(&work->draft->memory, types->list, &types->capacity, (uint64_t)types->count + 1))
        return micap_draft_refuse_memory(work->draft);
    types->list[types->count++] = type;
    return true;
}

static bool write_fields(finishing *work, micap_field_record *records, const mica_type *type)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        records[i] = (micap_field_record){
            .name = string_of(work, field->name),
            .kind = micap_field_kind(field),
            .offset = field->offset,
            .element_bytes = field->element_bytes,
            .count = field->count,
            .type = field->type ? find_type(&work->types, field->type) : MICAP_NONE,
        };
        if (records[i].name == MICAP_NONE)
            return false;
    }
    return true;
}

static bool write_constants(finishing *work, micap_constant_record *records, const mica_type *type)
{
    for (uint32_t i = 0; i < type->constant_count; ++i) {
        records[i] = (micap_constant_record){.value = (uint64_t)type->constants[i].value,
                                             .name = string_of(work, type->constants[i].name)};
        if (records[i].name == MICAP_NONE)
            return false;
    }
    return true;
}

static bool write_types(finishing *work)
{
    mica_draft *draft = work->draft;
    uint32_t field_count = 0, constant_count = 0;
    for (uint32_t rank = 0; rank < draft->part_count; ++rank) {
        const micap_draft_part *part = &draft->parts[work->grouping.rank[rank]];
        if (part->role != MICAP_ROLE_TAG && !list_type(work, part->type))
            return false;
    }
    for (uint32_t i = 0; i < work->types.count; ++i) {
        field_count += work->types.list[i]->field_count;
        constant_count += work->types.list[i]->constant_count;
    }
    micap_type_record *types = micap_output_add(&work->output, draft, MICAP_SECTION_TYPES, work->types.count, 24);
    micap_field_record *fields = micap_output_add(&work->output, draft, MICAP_SECTION_FIELDS, field_count, 24);
    micap_constant_record *constants =
        micap_output_add(&work->output, draft, MICAP_SECTION_CONSTANTS, constant_count, 16);
    if (!types || !fields || !constants)
        return false;
    for (uint32_t i = 0; i < work->types.count; ++i) {
        const mica_type *type = work->types.list[i];
        types[i] =
            (micap_type_record){string_of(work, type->name), type->kind,          type->size_bytes, type->alignment,
                                type->field_count,           type->constant_count};
        if (types[i].name == MICAP_NONE || !write_fields(work, fields, type) || !write_constants(work, constants, type))
            return false;
        fields += type->field_count;
        constants += type->constant_count;
    }
    return true;
}

/* The components of a group, read off the tree of sets from the end. */
static bool write_groups(finishing *work, uint32_t *totals)
{
    const micap_grouping *grouping = &work->grouping;
    uint32_t column_count = 0;
    for (uint32_t i = 0; i < grouping->group_count; ++i)
        column_count += grouping->sets[grouping->group_set[i]].depth;
    micap_group_record *groups =
        micap_output_add(&work->output, work->draft, MICAP_SECTION_GROUPS, grouping->group_count, sizeof *groups);
    micap_column_record *columns =
        micap_output_add(&work->output, work->draft, MICAP_SECTION_COLUMNS, column_count, sizeof *columns);
    if (!groups || !columns)
        return false;
    uint32_t first_column = 0;
    for (uint32_t i = 0; i < grouping->group_count; ++i) {
        uint32_t set = grouping->group_set[i], depth = grouping->sets[set].depth;
        groups[i] = (micap_group_record){grouping->group_first[i], grouping->group_size[i], first_column, depth};
        for (uint32_t at = first_column + depth; at-- > first_column; set = grouping->sets[set].without) {
            uint32_t component = grouping->sets[set].component;
            columns[at] = (micap_column_record){component, totals[component]};
            totals[component] += grouping->group_size[i];
        }
        first_column += depth;
    }
    return true;
}

static void note_firsts(finishing *work, uint32_t rank, uint32_t *first)
{
    const micap_grouping *grouping = &work->grouping;
    const struct micap_output_section *groups = &work->output.sections[0], *columns = groups;
    while (groups->record.kind != MICAP_SECTION_GROUPS)
        ++groups;
    while (columns->record.kind != MICAP_SECTION_COLUMNS)
        ++columns;
    for (uint32_t i = 0; i < grouping->group_count; ++i) {
        const micap_group_record *group = (const micap_group_record *)(const void *)groups->data + i;
        const micap_column_record *column = (const micap_column_record *)(const void *)columns->data;
        for (uint32_t at = group->first_column; at < group->first_column + group->column_count; ++at)
            if (column[at].component == rank)
                first[i] = column[at].first_instance;
    }
}

static int compare_pairs(const void *a, const void *b)
{
    const uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return first < second ? -1 : first > second;
}

/* Where each instance of a component goes: by its owner's place; instances of one owner stay in order. */
static bool place_instances(finishing *work, uint32_t rank, uint32_t *targets)
{
    mica_draft *draft = work->draft;
    const micap_draft_part *part = &draft->parts[work->grouping.rank[rank]];
    const micap_grouping *grouping = &work->grouping;
    if (part->role == MICAP_ROLE_SINGLETON)
        return true; /* one, at 0 */
    size_t bytes = part->repeats ? part->count * sizeof(uint64_t) : grouping->group_count * sizeof(uint32_t);
    void *scratch = micap_allocate_zeroed(&draft->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!scratch)
        return micap_draft_refuse_memory(draft);
    if (part->repeats) {
        uint64_t *pairs = scratch;
        for (uint32_t i = 0; i < part->count; ++i)
            pairs[i] = (uint64_t)grouping->place[part->owners[i]] << 32 | i;
        qsort(pairs, part->count, sizeof *pairs, compare_pairs);
        for (uint32_t i = 0; i < part->count; ++i)
            targets[(uint32_t)pairs[i]] = i;
    } else {
        note_firsts(work, rank, scratch);
        for (uint32_t i = 0; i < part->count; ++i) {
            uint32_t owner = part->owners[i], group = grouping->group[owner];
            targets[i] = ((uint32_t *)scratch)[group] + grouping->place[owner] - grouping->group_first[group];
        }
    }
    micap_release(&draft->memory, scratch, bytes, MICAP_ARRAY_ALIGNMENT);
    return true;
}

static bool write_references(finishing *work, const micap_draft_part *part, char *instances)
{
    mica_draft *draft = work->draft;
    micap_leaves leaves = {0};
    bool fine = micap_leaves_make_kind(&leaves, &draft->memory, part->type, MICA_KIND_ENTITY) ||
                micap_draft_refuse_memory(draft);
    if (fine && leaves.count)
        MICAP_EACH_REFERENCE(&leaves, part->type->size_bytes, instances, part->count, reference)
        {
            mica_entity entity;
            memcpy(&entity, reference, sizeof entity);
            bool is_nil = mica_is_nil(entity); /* whatever its index: a file has one way to write that */
            if (!is_nil && entity.index >= draft->entity_count)
                fine = micap_draft_refuse(draft, MICA_ERROR_INVALID,
                                          "component %.80s refers to entity %u, which there is not", part->name,
                                          entity.index);
            else
                entity = is_nil ? mica_nil() : (mica_entity){work->grouping.place[entity.index], 1};
            memcpy(reference, &entity, sizeof entity);
        }
    micap_leaves_free(&leaves, &draft->memory);
    return fine;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    return first < second ? -1 : first > second;
}

static bool write_lists(finishing *work, const micap_draft_part *part, const uint32_t *targets,
                        micap_component_record *record)
{
    micap_output *output = &work->output;
    if (part->repeats) {
        record->owners = output->count;
        uint32_t *owners = micap_output_add(output, work->draft, MICAP_SECTION_OWNERS, part->count, 4);
        if (!owners)
            return false;
        for (uint32_t i = 0; i < part->count; ++i)
            owners[targets[i]] = work->grouping.place[part->owners[i]];
    }
    if (part->disabled_count) {
        record->disabled = output->count;
        uint32_t *disabled = micap_output_add(output, work->draft, MICAP_SECTION_DISABLED, part->disabled_count, 4);
        if (!disabled)
            return false;
        for (uint32_t i = 0; i < part->disabled_count; ++i)
            disabled[i] = targets[part->disabled[i]];
        qsort(disabled, part->disabled_count, sizeof *disabled, compare_numbers);
    }
    return true;
}

static bool write_instances(finishing *work, uint32_t rank, uint32_t *targets, micap_component_record *record)
{
    const micap_draft_part *part = &work->draft->parts[work->grouping.rank[rank]];
    uint32_t size_bytes = part->type->size_bytes;
    if (!place_instances(work, rank, targets))
        return false;
    if (part->role != MICAP_ROLE_TAG) {
        record->instances = work->output.count;
        char *instances =
            micap_output_add(&work->output, work->draft, MICAP_SECTION_INSTANCES, part->count, size_bytes);
        if (!instances)
            return false;
        for (uint32_t i = 0; i < part->count; ++i)
            memcpy(instances + (size_t)targets[i] * size_bytes, part->data + (size_t)i * size_bytes, size_bytes);
        if (!write_references(work, part, instances) ||
            !micap_asset_list_note(&work->assets, work->draft, part, instances))
            return false;
    }
    return write_lists(work, part, targets, record);
}

static bool write_component(finishing *work, uint32_t rank, micap_component_record *record)
{
    mica_draft *draft = work->draft;
    const micap_draft_part *part = &draft->parts[work->grouping.rank[rank]];
    bool is_tag = part->role == MICAP_ROLE_TAG;
    mica_type tag = {.name = part->name, .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
    *record = (micap_component_record){
        .name_hash = micap_hash_text(part->name),
        .layout_hash = mica_type_layout_hash(is_tag ? &tag : part->type),
        .name = string_of(work, part->name),
        .type = is_tag ? MICAP_NONE : find_type(&work->types, part->type),
        .role = part->role,
        .spawn_order = (uint32_t)part->spawn_order,
        .instance_count = part->count,
        .instances = MICAP_NONE,
        .owners = MICAP_NONE,
        .disabled = MICAP_NONE,
    };
    if (part->role == MICAP_ROLE_SINGLETON && part->count != 1)
        return micap_draft_refuse(draft, MICA_ERROR_INVALID, "the singleton %.80s has no value", part->name);
    size_t bytes = ((size_t)part->count + 1) * sizeof(uint32_t);
    uint32_t *targets = micap_allocate_zeroed(&draft->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!targets)
        return micap_draft_refuse_memory(draft);
    bool fine = write_instances(work, rank, targets, record);
    micap_release(&draft->memory, targets, bytes, MICAP_ARRAY_ALIGNMENT);
    return fine;
}

static bool write_components(finishing *work)
{
    uint32_t count = work->draft->part_count;
    micap_component_record *records =
        micap_output_add(&work->output, work->draft, MICAP_SECTION_COMPONENTS, count, sizeof *records);
    uint32_t *totals = micap_allocate_zeroed(&work->draft->memory, count * sizeof *totals, MICAP_ARRAY_ALIGNMENT);
    bool fine = records && (totals || micap_draft_refuse_memory(work->draft)) && write_groups(work, totals);
    for (uint32_t rank = 0; fine && rank < count; ++rank)
        fine = write_component(work, rank, &records[rank]);
    micap_release(&work->draft->memory, totals, count * sizeof *totals, MICAP_ARRAY_ALIGNMENT);
    return fine;
}

static bool write_parents(finishing *work)
{
    const mica_draft *draft = work->draft;
    const uint32_t *place = work->grouping.place;
    uint32_t *parents =
        micap_output_add(&work->output, work->draft, MICAP_SECTION_PARENTS, draft->entity_count, sizeof *parents);
    if (!parents)
        return false;
    bool in_order = true;
    for (uint32_t i = 0; i < draft->entity_count; ++i) {
        parents[place[i]] = draft->parents[i] == MICA_NO_PARENT ? MICA_NO_PARENT : place[draft->parents[i]];
        in_order = in_order && place[i] == i;
    }
    if (in_order)
        return true;
    uint32_t *order =
        micap_output_add(&work->output, work->draft, MICAP_SECTION_ORDER, draft->entity_count, sizeof *order);
    for (uint32_t i = 0; order && i < draft->entity_count; ++i)
        order[i] = place[i];
    return order != NULL;
}

/* What a name is sorted by; the text is found through the draft, which qsort can't pass on. */
typedef struct micap_sorted_name {
    uint32_t parent;
    uint32_t entity;
    const char *text;
} sorted_name;

static int compare_names(const void *a, const void *b)
{
    const sorted_name *first = a, *second = b;
    if (first->parent != second->parent)
        return first->parent < second->parent ? -1 : 1;
    return strcmp(first->text, second->text);
}

static bool write_names(finishing *work)
{
    mica_draft *draft = work->draft;
    const uint32_t *place = work->grouping.place;
    if (!draft->name_count)
        return true;
    micap_name_record *records =
        micap_output_add(&work->output, draft, MICAP_SECTION_NAMES, draft->name_count, sizeof *records);
    size_t bytes = draft->name_count * sizeof(sorted_name);
    sorted_name *names = micap_allocate(&draft->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    bool fine = records && (names || micap_draft_refuse_memory(draft));
    for (uint32_t i = 0, at = 0; fine && i < draft->entity_count; ++i)
        if (draft->names[i])
            names[at++] =
                (sorted_name){.parent = draft->parents[i] == MICA_NO_PARENT ? MICA_NO_PARENT : place[draft->parents[i]],
                              .entity = place[i],
                              .text = draft->strings.bytes + draft->names[i]};
    if (fine)
        qsort(names, draft->name_count, sizeof *names, compare_names);
    for (uint32_t i = 0; fine && i < draft->name_count; ++i) {
        records[i] = (micap_name_record){names[i].entity, string_of(work, names[i].text)};
        fine = records[i].text != MICAP_NONE;
        fine = fine && (i == 0 || compare_names(&names[i - 1], &names[i]) ||
                        micap_draft_refuse(draft, MICA_ERROR_EXISTS, "the name \"%.80s\" is there twice in one scope",
                                           names[i].text));
    }
    micap_release(&draft->memory, names, bytes, MICAP_ARRAY_ALIGNMENT);
    return fine;
}

/* Without a field for assets there is no section, and the file is of the version that has none. */
static bool write_assets(finishing *work)
{
    bool has_field = false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < work->types.count; ++i)
        for (uint32_t j = 0; j < work->types.list[i]->field_count; ++j)
            has_field |= work->types.list[i]->fields[j].kind == MICA_KIND_ASSET;
    for (uint32_t i = 0; i < work->assets.count; ++i)
        count += work->assets.list[i].used;
    if (!has_field)
        return true;
    micap_asset_record *record =
        micap_output_add(&work->output, work->draft, MICAP_SECTION_ASSETS, count, sizeof *record);
    for (uint32_t i = 0; record && i < work->assets.count; ++i) {
        const struct micap_listed_asset *asset = &work->assets.list[i];
        if (!asset->used)
            continue;
        *record = (micap_asset_record){asset->path_hash, string_of(work, asset->path), 0};
        if (record++->path == MICAP_NONE)
            return false;
    }
    return record != NULL;
}

static bool write_strings(finishing *work)
{
    mica_draft *draft = work->draft;
    if (string_of(work, "") == MICAP_NONE) /* a draft of nothing has no string yet */
        return false;
    char *strings = micap_output_add(&work->output, draft, MICAP_SECTION_STRINGS, work->strings.count, 1);
    if (strings)
        memcpy(strings, work->strings.bytes, work->strings.count);
    return strings != NULL;
}

mica_result mica_draft_finish(mica_draft *draft, const mica_draft_finish_def *def, mica_blob *out_blob)
{
    static const mica_draft_finish_def defaults = {0};
    def = def ? def : &defaults;
    *out_blob = (mica_blob){0};
    finishing work = {.draft = draft};
    bool is_foreign = def->byte_order == (MICAP_IS_BIG_ENDIAN ? MICA_BYTE_ORDER_LITTLE : MICA_BYTE_ORDER_BIG);
    bool fine = micap_grouping_make(&work.grouping, draft) && micap_asset_list_make(&work.assets, draft) &&
                write_types(&work) && write_components(&work) && write_parents(&work) && write_names(&work) &&
                write_assets(&work) && write_strings(&work) &&
                micap_output_finish(&work.output, draft, def->compression, is_foreign, out_blob);
    micap_output_free(&work.output, draft);
    micap_strings_free(&work.strings, draft);
    micap_grouping_free(&work.grouping, draft);
    micap_asset_list_free(&work.assets, draft);
    MICAP_RELEASE_ARRAY(&draft->memory, work.types.list, work.types.capacity);
    return fine ? MICA_OK : draft->error.result;
}
