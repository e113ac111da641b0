/* From a draft to the sections of a file. */
#include "resource/save/file_sections.h"

#include "base/argument.h"
#include "base/handle_range.h"
#include "resource/save/file_assets.h"
#include "resource/save/file_output.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct micap_finishing {
    mica_draft *draft;
    micap_grouping grouping;
    micap_output output;
    micap_instance_source *sources; /* by rank */
    micap_instance_bench bench;
    const mica_type **types;
    uint32_t type_count;
    uint32_t type_capacity;
    micap_asset_list assets;
    micap_bytes contents; /* text and lists of all instances */
    bool has_contents;
    micap_strings strings; /* in the order they are written, so that equal drafts give equal bytes however made */
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

static uint32_t find_type(const finishing *work, const mica_type *type)
{
    for (uint32_t i = 0; i < work->type_count; ++i)
        if (is_same_type(work->types[i], type))
            return i;
    return MICAP_NONE;
}

/* Nested types first: a type's number is higher than those of what it is made of. */
static bool list_type(finishing *work, const mica_type *type)
{
    if (find_type(work, type) != MICAP_NONE)
        return true;
    for (uint32_t i = 0; i < type->field_count; ++i)
        if (type->fields[i].type && !list_type(work, type->fields[i].type))
            return false;
    if (!MICAP_RESERVE(&work->draft->memory, work->types, &work->type_capacity, (uint64_t)work->type_count + 1))
        return micap_draft_refuse_memory(work->draft);
    work->types[work->type_count++] = type;
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
            .type = field->type ? find_type(work, field->type) : MICAP_NONE,
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
    for (uint32_t i = 0; i < work->type_count; ++i) {
        field_count += work->types[i]->field_count;
        constant_count += work->types[i]->constant_count;
    }
    micap_type_record *types = micap_output_add(&work->output, draft, MICAP_SECTION_TYPES, work->type_count, 24);
    micap_field_record *fields = micap_output_add(&work->output, draft, MICAP_SECTION_FIELDS, field_count, 24);
    micap_constant_record *constants =
        micap_output_add(&work->output, draft, MICAP_SECTION_CONSTANTS, constant_count, 16);
    if (!types || !fields || !constants)
        return false;
    for (uint32_t i = 0; i < work->type_count; ++i) {
        const mica_type *type = work->types[i];
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

/* The sections of a component, in their order. */
static bool write_instances(finishing *work, micap_instance_source *source, micap_component_record *record)
{
    micap_output *output = &work->output;
    const micap_draft_part *part = source->part;
    uint32_t *owners = NULL, *disabled = NULL;
    if (!micap_instance_source_make(source))
        return false;
    if (part->role != MICAP_ROLE_TAG) {
        record->instances = output->count;
        if (!micap_output_add_source(output, source) || !micap_asset_list_note(&work->assets, source) ||
            (source->has_contents && !micap_instance_source_put_contents(source, &work->contents)))
            return false;
        work->has_contents |= source->has_contents;
    }
    if (part->repeats) {
        record->owners = output->count;
        owners = micap_output_add(output, work->draft, MICAP_SECTION_OWNERS, part->count, 4);
        if (!owners)
            return false;
    }
    if (part->disabled_count) {
        record->disabled = output->count;
        disabled = micap_output_add(output, work->draft, MICAP_SECTION_DISABLED, part->disabled_count, 4);
        if (!disabled)
            return false;
    }
    return micap_instance_source_list(source, owners, disabled);
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
        .type = is_tag ? MICAP_NONE : find_type(work, part->type),
        .role = part->role,
        .spawn_order = (uint32_t)part->spawn_order,
        .instance_count = part->count,
        .instances = MICAP_NONE,
        .owners = MICAP_NONE,
        .disabled = MICAP_NONE,
    };
    if (part->role == MICAP_ROLE_SINGLETON && part->count != 1)
        return micap_draft_refuse(draft, MICA_ERROR_INVALID, "the singleton %.80s has no value", part->name);
    micap_instance_source *source = &work->sources[rank];
    *source = (micap_instance_source){
        .draft = draft, .grouping = &work->grouping, .bench = &work->bench, .part = part, .rank = rank};
    return write_instances(work, source, record);
}

static size_t group_bytes(const finishing *work)
{
    return work->grouping.group_count * sizeof(uint32_t);
}

static bool write_components(finishing *work)
{
    mica_draft *draft = work->draft;
    uint32_t count = draft->part_count;
    micap_component_record *records =
        micap_output_add(&work->output, draft, MICAP_SECTION_COMPONENTS, count, sizeof *records);
    uint32_t *totals = micap_allocate_zeroed(&draft->memory, count * sizeof *totals, MICAP_ARRAY_ALIGNMENT);
    work->bench.group_firsts = micap_allocate(&draft->memory, group_bytes(work), MICAP_ARRAY_ALIGNMENT);
    work->sources = micap_allocate_zeroed(&draft->memory, count * sizeof *work->sources, MICAP_ARRAY_ALIGNMENT);
    bool fine = records &&
                ((totals && work->bench.group_firsts && work->sources) || micap_draft_refuse_memory(draft)) &&
                write_groups(work, totals);
    for (uint32_t rank = 0; fine && rank < count; ++rank)
        fine = write_component(work, rank, &records[rank]);
    micap_release(&draft->memory, totals, count * sizeof *totals, MICAP_ARRAY_ALIGNMENT);
    return fine;
}

static uint32_t parent_place(const finishing *work, uint32_t entity)
{
    const uint32_t *parents = work->draft->parents;
    return !parents || parents[entity] == MICA_NO_PARENT ? MICA_NO_PARENT
                                                         : micap_place_of(&work->grouping, parents[entity]);
}

static bool write_parents(finishing *work)
{
    mica_draft *draft = work->draft;
    const micap_grouping *grouping = &work->grouping;
    uint32_t count = draft->entity_count;
    uint32_t *parents = NULL, *order = NULL;
    if (draft->parents)
        parents = micap_output_add(&work->output, draft, MICAP_SECTION_PARENTS, count, sizeof *parents);
    if (!parents && (draft->parents || !micap_output_add_nones(&work->output, draft, MICAP_SECTION_PARENTS, count)))
        return false;
    if (!grouping->in_order) {
        order = micap_output_add(&work->output, draft, MICAP_SECTION_ORDER, count, sizeof *order);
        if (!order)
            return false;
    }
    for (uint32_t i = 0; parents && i < count; ++i)
        parents[micap_place_of(grouping, i)] = parent_place(work, i);
    for (uint32_t i = 0; order && i < count; ++i)
        order[i] = micap_place_of(grouping, i);
    return true;
}

/* The sort key of a name, with the draft that has the text, because qsort passes no context. */
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
    if (!draft->name_count)
        return true;
    micap_name_record *records =
        micap_output_add(&work->output, draft, MICAP_SECTION_NAMES, draft->name_count, sizeof *records);
    size_t bytes = draft->name_count * sizeof(sorted_name);
    sorted_name *names = micap_allocate(&draft->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    bool fine = records && (names || micap_draft_refuse_memory(draft));
    for (uint32_t i = 0, at = 0; fine && i < draft->entity_count; ++i)
        if (draft->names[i])
            names[at++] = (sorted_name){.parent = parent_place(work, i),
                                        .entity = micap_place_of(&work->grouping, i),
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
    for (uint32_t i = 0; i < work->type_count; ++i) {
        has_field |= work->types[i]->kind == MICA_KIND_ASSET;
        for (uint32_t j = 0; j < work->types[i]->field_count; ++j)
            has_field |= work->types[i]->fields[j].kind == MICA_KIND_ASSET;
    }
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

static int compare_stretches(const void *a, const void *b)
{
    const micap_stretch *first = *(const micap_stretch *const *)a, *second = *(const micap_stretch *const *)b;
    return first->location < second->location ? -1 : first->location > second->location;
}

/* Lists the handles of entities of the draft that follow each other, as runs. The last one may continue and is not in `out` yet, which
 * may be NULL. Returns how many there are. */
static uint32_t list_handles(const mica_draft *draft, uint32_t first, uint32_t count, micap_handles_record *last,
                             micap_handles_record *out, uint32_t run_count)
{
    micap_handles_record run = *last;
    for (uint32_t i = 0, left = 0; i < count; i += left) {
        const mica_entity *handles = draft->handles_of(draft->find_context, first + i, &left);
        left = left < count - i ? left : count - i;
        for (uint32_t k = 0, range; k < left; k += range) {
            mica_entity handle = handles[k];
            range = micap_handles_in_page(handles + k, left - k);
            if (handle.generation == run.generation && handle.index == run.index + run.count && run_count) {
                run.count += range;
                continue;
            }
            if (out && run_count)
                out[run_count - 1] = run;
            run = (micap_handles_record){handle.index, handle.generation, range};
            ++run_count;
        }
    }
    *last = run;
    return run_count;
}

/* The same for all entities, in the order of the file. */
static uint32_t list_all_handles(const finishing *work, const micap_stretch *const *sorted, micap_handles_record *out)
{
    const micap_grouping *grouping = &work->grouping;
    micap_handles_record last = {0};
    uint32_t run_count = 0;
    for (uint32_t i = 0; i < grouping->stretch_count; ++i)
        run_count =
            list_handles(work->draft, sorted[i]->first, sorted[i][1].first - sorted[i]->first, &last, out, run_count);
    if (out && run_count)
        out[run_count - 1] = last;
    return run_count;
}

static bool write_handles(finishing *work)
{
    mica_draft *draft = work->draft;
    const micap_grouping *grouping = &work->grouping;
    const micap_stretch **sorted =
        micap_allocate(&draft->memory, grouping->stretch_count * sizeof *sorted, MICAP_ARRAY_ALIGNMENT);
    if (!sorted)
        return micap_draft_refuse_memory(draft);
    for (uint32_t i = 0; i < grouping->stretch_count; ++i)
        sorted[i] = &grouping->stretches[i];
    qsort(sorted, grouping->stretch_count, sizeof *sorted, compare_stretches);
    micap_handles_record *records = micap_output_add(&work->output, draft, MICAP_SECTION_HANDLES,
                                                     list_all_handles(work, sorted, NULL), sizeof *records);
    if (records)
        list_all_handles(work, sorted, records);
    micap_release(&draft->memory, sorted, grouping->stretch_count * sizeof *sorted, MICAP_ARRAY_ALIGNMENT);
    return records != NULL;
}

static bool write_state(finishing *work)
{
    mica_draft *draft = work->draft;
    if (!draft->state)
        return true;
    char *state = micap_output_add(&work->output, draft, MICAP_SECTION_STATE, (uint32_t)draft->state_bytes, 1);
    if (!state)
        return false;
    memcpy(state, draft->state, draft->state_bytes);
    return !draft->entity_count || write_handles(work);
}

/* Without text and lists there is no section. */
static bool write_contents(finishing *work)
{
    if (!work->has_contents)
        return true;
    char *contents = micap_output_add(&work->output, work->draft, MICAP_SECTION_CONTENTS, work->contents.count, 1);
    if (contents && work->contents.count)
        memcpy(contents, work->contents.data, work->contents.count);
    micap_bytes_free(&work->contents);
    return contents != NULL;
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

static bool make(finishing *work, mica_draft *draft, const mica_draft_finish_def *def)
{
    return micap_grouping_make(&work->grouping, draft) && micap_asset_list_make(&work->assets, draft) &&
           write_types(work) && write_components(work) && write_parents(work) && write_names(work) &&
           write_assets(work) && write_contents(work) && write_state(work) && write_strings(work) &&
           micap_output_lay_out(&work->output, draft, def);
}

static void release(finishing *work, mica_draft *draft)
{
    micap_bytes_free(&work->contents);
    micap_output_free(&work->output, draft);
    for (uint32_t i = 0; work->sources && i < draft->part_count; ++i)
        if (work->sources[i].draft)
            micap_instance_source_free(&work->sources[i]);
    micap_release(&draft->memory, work->sources, draft->part_count * sizeof *work->sources, MICAP_ARRAY_ALIGNMENT);
    micap_release(&draft->memory, work->bench.group_firsts, group_bytes(work), MICAP_ARRAY_ALIGNMENT);
    MICAP_RELEASE_ARRAY(&draft->memory, work->bench.pieces, work->bench.piece_capacity);
    micap_strings_free(&work->strings, draft);
    micap_grouping_free(&work->grouping, draft);
    micap_asset_list_free(&work->assets, draft);
    MICAP_RELEASE_ARRAY(&draft->memory, work->types, work->type_capacity);
}

mica_result mica_draft_finish(mica_draft *draft, const mica_draft_finish_def *def, mica_blob *out_blob)
{
    if (MICAP_MISSING(NULL, draft) || MICAP_MISSING_INTO(&draft->error, out_blob))
        return MICA_ERROR_INVALID;
    static const mica_draft_finish_def defaults = {0};
    *out_blob = (mica_blob){0};
    finishing work = {.draft = draft, .contents.memory = &draft->memory};
    bool fine = make(&work, draft, def ? def : &defaults);
    if (fine) {
        mica_allocator allocator = micap_block_allocator(&draft->memory);
        size_t bytes = work.output.header.file_bytes;
        micap_sink sink = {.capacity = bytes};
        sink.buffer = allocator.allocate(bytes, MICAP_ALIGNMENT, allocator.context);
        mica_blob blob = {sink.buffer, bytes, allocator};
        fine = sink.buffer ? micap_output_write(&work.output, &sink) : micap_draft_refuse_memory(draft);
        if (fine)
            *out_blob = blob;
        else
            mica_blob_free(&blob);
    }
    release(&work, draft);
    return fine ? MICA_OK : draft->error.result;
}

static bool write_file(finishing *work, const char *path)
{
    mica_draft *draft = work->draft;
    micap_replacement file;
    micap_sink sink = {.file = &file, .capacity = micap_output_buffer_bytes(&work->output)};
    sink.buffer = micap_allocate_block(&draft->memory, sink.capacity, MICAP_ALIGNMENT);
    if (!sink.buffer)
        return micap_draft_refuse_memory(draft);
    int problem = micap_replacement_begin(&file, path, work->output.header.file_bytes);
    bool fine = !problem && micap_output_write(&work->output, &sink);
    if (!problem) {
        int written = micap_replacement_end(&file, fine ? 0 : sink.problem ? sink.problem : ECANCELED);
        problem = fine ? written : sink.problem;
    }
    micap_release_block(&draft->memory, sink.buffer, sink.capacity, MICAP_ALIGNMENT);
    if (problem)
        return micap_draft_refuse(draft, MICA_ERROR_FILE, "%.150s: %s", path, strerror(problem));
    return fine;
}

mica_result micap_draft_finish_file(mica_draft *draft, const mica_draft_finish_def *def, const char *path)
{
    finishing work = {.draft = draft, .contents.memory = &draft->memory};
    bool fine = make(&work, draft, def) && write_file(&work, path);
    release(&work, draft);
    return fine ? MICA_OK : draft->error.result;
}
