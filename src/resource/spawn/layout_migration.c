#include "resource/spawn/layout_migration.h"

#include "base/assert.h"
#include "mica/component.h"
#include "mica/list.h"
#include "resource/format/scalar_fields.h"
#include "type/value_bytes.h"

#include <stdio.h>
#include <string.h>

static const char *kind_text(mica_kind kind)
{
    static const char *const names[] = {"nothing", "bool", "char",  "i8",    "u8",   "i16", "u16",
                                        "i32",     "u32",  "i64",   "u64",   "f32",  "f64", "entity",
                                        "struct",  "enum", "flags", "asset", "text", "list"};
    return names[kind];
}

static bool is_signed(mica_kind kind)
{
    return kind == MICA_KIND_I8 || kind == MICA_KIND_I16 || kind == MICA_KIND_I32 || kind == MICA_KIND_I64;
}

/* Enums are signed or not as the compiler likes: those are that have something negative. */
static bool is_signed_field(const mica_field *field)
{
    mica_kind kind = micap_field_kind(field);
    bool has_negative = false;
    for (uint32_t i = 0; kind == MICA_KIND_ENUM && i < field->type->constant_count; ++i)
        has_negative |= field->type->constants[i].value < 0;
    return has_negative || is_signed(kind);
}

static bool is_integer(mica_kind kind)
{
    return kind >= MICA_KIND_I8 && kind <= MICA_KIND_U64;
}

/* Whether every value of one kind is a value of the other. */
static bool widens(mica_kind from, uint32_t from_bytes, mica_kind to, uint32_t to_bytes)
{
    if (is_integer(from) && is_integer(to))
        return is_signed(from) == is_signed(to) ? from_bytes <= to_bytes : !is_signed(from) && from_bytes < to_bytes;
    if (is_integer(from) && to == MICA_KIND_F32)
        return from_bytes <= 2;
    if (is_integer(from) && to == MICA_KIND_F64)
        return from_bytes <= 4;
    return from == MICA_KIND_F32 && to == MICA_KIND_F64;
}

static const mica_constant *find_constant(const mica_type *type, const char *name)
{
    for (uint32_t i = 0; i < type->constant_count; ++i)
        if (strcmp(type->constants[i].name, name) == 0)
            return &type->constants[i];
    return NULL;
}

static bool same_constants(const mica_type *from, const mica_type *to)
{
    for (uint32_t i = 0; i < from->constant_count; ++i) {
        const mica_constant *other = find_constant(to, from->constants[i].name);
        if (!other || other->value != from->constants[i].value)
            return false;
    }
    return from->size_bytes == to->size_bytes;
}

static const mica_field *find_field(const mica_type *type, const char *name)
{
    for (uint32_t i = 0; i < type->field_count; ++i)
        if (strcmp(type->fields[i].name, name) == 0)
            return &type->fields[i];
    return NULL;
}

static bool add_step(micap_migration *plan, micap_memory *memory, micap_migration_step step)
{
    micap_migration_step *last = plan->count ? &plan->steps[plan->count - 1] : NULL;
    /* Runs of plain copies become one: kind none, a byte each. */
    if (step.from_kind == step.to_kind && step.from_bytes == step.to_bytes && !step.from_type &&
        step.from_kind != MICA_KIND_ENTITY && step.from_kind != MICA_KIND_TEXT && step.from_kind != MICA_KIND_LIST) {
        step.count *= step.from_bytes;
        step.from_kind = step.to_kind = MICA_KIND_NONE;
        step.from_bytes = step.to_bytes = 1;
        if (last && last->to_kind == MICA_KIND_NONE && last->from + last->count == step.from &&
            last->to + last->count == step.to) {
            last->count += step.count;
            return true;
        }
    }
    if (!MICAP_RESERVE(memory, plan->steps, &plan->capacity, (uint64_t)plan->count + 1))
        return false;
    plan->has_contents |= step.name != NULL;
    plan->steps[plan->count++] = step;
    return true;
}

static bool plan_type(micap_migration *plan, micap_memory *memory, const mica_type *from, const mica_type *to,
                      uint32_t from_base, uint32_t to_base);

static bool plan_field(micap_migration *plan, micap_memory *memory, const mica_field *from, const mica_field *to,
                       uint32_t from_base, uint32_t to_base);

/* An element of an array or a list, as a field. */
static mica_field element_of(const mica_field *field)
{
    mica_field element = *field;
    element.offset = 0;
    element.count = 1;
    if (field->kind == MICA_KIND_LIST) {
        element.kind = field->type->kind;
        element.element_bytes = field->type->size_bytes;
    }
    return element;
}

/* Lists become lists, arrays become lists, and lists become arrays that have room for them. */
static bool plan_list(micap_migration *plan, micap_memory *memory, const mica_field *from, const mica_field *to,
                      micap_migration_step step)
{
    mica_field from_element = element_of(from), to_element = element_of(to);
    bool are_lists = from->kind == MICA_KIND_LIST && to->kind == MICA_KIND_LIST;
    step.from_type = from->kind == MICA_KIND_LIST ? from->type : NULL;
    step.to_type = to->kind == MICA_KIND_LIST ? to->type : NULL;
    step.count = are_lists ? from->count : from->kind == MICA_KIND_LIST ? to->count : from->count;
    if (are_lists && mica_type_layout_hash(from->type) == mica_type_layout_hash(to->type) &&
        !micap_contents_have(&(mica_type){.fields = from, .field_count = 1}, MICA_KIND_ENTITY))
        return add_step(plan, memory, step);
    step.elements = micap_allocate_zeroed(memory, sizeof *step.elements, MICAP_ARRAY_ALIGNMENT);
    if (!step.elements)
        return false;
    step.elements->from_bytes = from_element.element_bytes;
    step.elements->to_bytes = to_element.element_bytes;
    bool fine = plan_field(step.elements, memory, &from_element, &to_element, 0, 0);
    memcpy(plan->problem, step.elements->problem, sizeof plan->problem);
    if (fine && add_step(plan, memory, step))
        return true;
    micap_migration_free(step.elements, memory);
    micap_release(memory, step.elements, sizeof *step.elements, MICAP_ARRAY_ALIGNMENT);
    return false;
}

/* Text stays text, or becomes an array of char, or was one. */
static bool plan_text(micap_migration *plan, micap_memory *memory, const mica_field *from, const mica_field *to,
                      micap_migration_step step)
{
    step.from_bytes = step.from_kind == MICA_KIND_CHAR ? from->count : from->element_bytes;
    step.to_bytes = step.to_kind == MICA_KIND_CHAR ? to->count : to->element_bytes;
    step.count = step.from_kind == MICA_KIND_CHAR || step.to_kind == MICA_KIND_CHAR ? 1 : from->count;
    return add_step(plan, memory, step);
}

/* Whether the fields are text, or one is and the other an array of char. */
static bool are_text(const mica_field *from, const mica_field *to)
{
    mica_kind from_kind = micap_field_kind(from), to_kind = micap_field_kind(to);
    return (from_kind == MICA_KIND_TEXT && to_kind == MICA_KIND_TEXT) ||
           (from_kind == MICA_KIND_TEXT && to_kind == MICA_KIND_CHAR && from->count == 1) ||
           (from_kind == MICA_KIND_CHAR && to_kind == MICA_KIND_TEXT && to->count == 1);
}

/* Whether the fields are lists, or one is and the other an array. */
static bool are_lists(const mica_field *from, const mica_field *to)
{
    bool from_list = from->kind == MICA_KIND_LIST, to_list = to->kind == MICA_KIND_LIST;
    return (from_list && to_list) || (from_list && from->count == 1) || (to_list && to->count == 1);
}

static bool is_content(mica_kind kind)
{
    return kind == MICA_KIND_TEXT || kind == MICA_KIND_LIST;
}

static bool plan_contents(micap_migration *plan, micap_memory *memory, const mica_field *from, const mica_field *to,
                          uint32_t from_base, uint32_t to_base)
{
    micap_migration_step step = {.from = from_base + from->offset,
                                 .to = to_base + to->offset,
                                 .from_kind = micap_field_kind(from),
                                 .to_kind = micap_field_kind(to),
                                 .from_bytes = from->element_bytes,
                                 .to_bytes = to->element_bytes,
                                 .name = to->name};
    return are_text(from, to) ? plan_text(plan, memory, from, to, step) : plan_list(plan, memory, from, to, step);
}

static bool plan_field(micap_migration *plan, micap_memory *memory, const mica_field *from, const mica_field *to,
                       uint32_t from_base, uint32_t to_base)
{
    mica_kind from_kind = micap_field_kind(from), to_kind = micap_field_kind(to);
    bool has_contents = is_content(from_kind) || is_content(to_kind);
    if (has_contents && (from_kind != to_kind || from->count <= to->count) &&
        (are_text(from, to) || are_lists(from, to)))
        return plan_contents(plan, memory, from, to, from_base, to_base);
    bool has_constants = from_kind == MICA_KIND_ENUM || from_kind == MICA_KIND_FLAGS;
    if (from->count > to->count) {
        snprintf(plan->problem, sizeof plan->problem, "field %.60s has %u elements in the file and %u in the program",
                 to->name, from->count, to->count);
        return false;
    }
    if (from_kind == MICA_KIND_STRUCT && to_kind == MICA_KIND_STRUCT) {
        for (uint32_t i = 0; i < from->count; ++i)
            if (!plan_type(plan, memory, from->type, to->type, from_base + from->offset + i * from->element_bytes,
                           to_base + to->offset + i * to->element_bytes))
                return false;
        return true;
    }
    bool same = from_kind == to_kind &&
                (has_constants ? from->element_bytes <= to->element_bytes : from->element_bytes == to->element_bytes);
    if (!same && !widens(from_kind, from->element_bytes, to_kind, to->element_bytes)) {
        snprintf(plan->problem, sizeof plan->problem,
                 "field %.60s is %s (%u bytes) in the file and %s (%u bytes) in the program", to->name,
                 kind_text(from_kind), from->element_bytes, kind_text(to_kind), to->element_bytes);
        return false;
    }
    bool match = has_constants && !same_constants(from->type, to->type);
    return add_step(plan, memory,
                    (micap_migration_step){.from = from_base + from->offset,
                                           .to = to_base + to->offset,
                                           .count = from->count,
                                           .from_bytes = from->element_bytes,
                                           .to_bytes = to->element_bytes,
                                           .from_kind = from_kind,
                                           .to_kind = to_kind,
                                           .from_signed = is_signed_field(from),
                                           .from_type = match ? from->type : NULL,
                                           .to_type = match ? to->type : NULL});
}

static bool plan_type(micap_migration *plan, micap_memory *memory, const mica_type *from, const mica_type *to,
                      uint32_t from_base, uint32_t to_base)
{
    for (uint32_t i = 0; i < to->field_count; ++i) {
        const mica_field *source = find_field(from, to->fields[i].name);
        if (source && !plan_field(plan, memory, source, &to->fields[i], from_base, to_base))
            return false;
    }
    return true;
}

bool micap_migration_make(micap_migration *plan, micap_memory *memory, const mica_type *from, const mica_type *to)
{
    *plan = (micap_migration){.from_bytes = from->size_bytes, .to_bytes = to->size_bytes};
    return plan_type(plan, memory, from, to, 0, 0);
}

void micap_migration_free(micap_migration *plan, micap_memory *memory)
{
    for (uint32_t i = 0; plan->has_contents && i < plan->count; ++i) {
        micap_migration *elements = plan->steps[i].elements;
        if (elements)
            micap_migration_free(elements, memory);
        micap_release(memory, elements, elements ? sizeof *elements : 0, MICAP_ARRAY_ALIGNMENT);
    }
    MICAP_RELEASE_ARRAY(memory, plan->steps, plan->capacity);
    plan->steps = NULL;
    plan->capacity = plan->count = 0;
}

static uint64_t load_integer(const char *at, uint32_t bytes, bool is_signed_)
{
    uint64_t eight;
    uint32_t four;
    uint16_t two;
    switch (bytes) {
    case 1: return is_signed_ ? (uint64_t)(int64_t)(int8_t)*at : (uint8_t)*at;
    case 2: memcpy(&two, at, 2); return is_signed_ ? (uint64_t)(int64_t)(int16_t)two : two;
    case 4: memcpy(&four, at, 4); return is_signed_ ? (uint64_t)(int64_t)(int32_t)four : four;
    default: memcpy(&eight, at, 8); return eight;
    }
}

static void store_integer(char *at, uint32_t bytes, uint64_t value)
{
    uint32_t four = (uint32_t)value;
    uint16_t two = (uint16_t)value;
    switch (bytes) {
    case 1: *at = (char)value; break;
    case 2: memcpy(at, &two, 2); break;
    case 4: memcpy(at, &four, 4); break;
    default: memcpy(at, &value, 8);
    }
}

static void store_real(char *at, mica_kind kind, double value)
{
    float narrow = (float)value;
    if (kind == MICA_KIND_F32)
        memcpy(at, &narrow, 4);
    else
        memcpy(at, &value, 8);
}

/* A value without a name of its own stays the number it is. */
static uint64_t match_constants(const micap_migration_step *step, uint64_t value)
{
    uint64_t matched = 0, known = 0;
    for (uint32_t i = 0; i < step->from_type->constant_count; ++i) {
        const mica_constant *constant = &step->from_type->constants[i];
        const mica_constant *other = find_constant(step->to_type, constant->name);
        uint64_t bits = (uint64_t)constant->value;
        if (step->from_kind == MICA_KIND_ENUM && bits == value && other)
            return (uint64_t)other->value;
        if (step->from_kind == MICA_KIND_FLAGS && bits && (value & bits) == bits) {
            matched |= other ? (uint64_t)other->value : 0;
            known |= bits;
        }
    }
    return step->from_kind == MICA_KIND_FLAGS ? matched | (value & ~known) : value;
}

static void convert(const micap_migration_step *step, char *to, const char *from)
{
    if (step->from_kind == MICA_KIND_F32) {
        float narrow;
        memcpy(&narrow, from, sizeof narrow);
        store_real(to, step->to_kind, narrow);
        return;
    }
    uint64_t integer = load_integer(from, step->from_bytes, step->from_signed);
    if (step->from_type)
        integer = match_constants(step, integer);
    if (step->to_kind == MICA_KIND_F32 || step->to_kind == MICA_KIND_F64)
        store_real(to, step->to_kind, step->from_signed ? (double)(int64_t)integer : (double)integer);
    else
        store_integer(to, step->to_bytes, integer);
}

static void convert_reference(char *to, const char *from, const mica_entity *entities)
{
    mica_entity entity;
    memcpy(&entity, from, sizeof entity);
    if (!mica_is_nil(entity))
        entity = entities[entity.index];
    memcpy(to, &entity, sizeof entity);
}

/* The end of text in an array of char, which need not have a zero. */
static size_t char_length(const char *text, uint32_t count)
{
    const char *end = memchr(text, 0, count);
    return end ? (size_t)(end - text) : count;
}

/* These return what micap_migration_apply returns. */
static const char *convert_text(const micap_migration_step *step, char *to, const char *from)
{
    const mica_text *text = (const mica_text *)(const void *)from;
    mica_text *into = (mica_text *)(void *)to;
    if (step->from_kind == MICA_KIND_CHAR) {
        size_t length = char_length(from, step->from_bytes);
        mica_result result = length > MICA_TEXT_BYTES_MAX ? MICA_ERROR_LIMIT : mica_text_set_bytes(into, from, length);
        return result == MICA_OK ? NULL : result == MICA_ERROR_LIMIT ? step->name : "";
    }
    if (step->to_kind == MICA_KIND_TEXT)
        return mica_text_copy(into, text) == MICA_OK ? NULL : "";
    if (mica_text_length(text) >= step->to_bytes) /* readers expect a zero byte at the end */
        return step->name;
    memset(to, 0, step->to_bytes);
    memcpy(to, mica_text_get(text), mica_text_length(text));
    return NULL;
}

static const char *convert_list(const micap_migration_step *step, char *to, const char *from,
                                const mica_entity *entities)
{
    bool is_list = step->from_kind == MICA_KIND_LIST, becomes_list = step->to_kind == MICA_KIND_LIST;
    const mica_list *list = (const mica_list *)(const void *)from;
    mica_list *into = (mica_list *)(void *)to;
    uint32_t count = is_list ? mica_list_count(list) : step->count;
    if (!step->elements)
        return mica_list_copy_type(into, step->to_type, list) == MICA_OK ? NULL : "";
    const char *values = is_list ? mica_list_items_type(list, step->from_type) : from;
    MICAP_ASSERT(values || !count, "elements are somewhere");
    if (!becomes_list)
        return count > step->count ? step->name : micap_migration_apply(step->elements, to, values, count, entities);
    mica_list_clear_type(into, step->to_type);
    if (count > MICA_LIST_COUNT_MAX || (uint64_t)count * step->to_type->size_bytes > MICA_LIST_BYTES_MAX)
        return step->name;
    if (!count)
        return NULL;
    char *items = mica_list_insert_type(into, step->to_type, 0, count);
    return items ? micap_migration_apply(step->elements, items, values, count, entities) : "";
}

/* A text or a list, and arrays of them. Not in line, so that the loop over values without needs few registers. */
static MICAP_NOINLINE const char *convert_contents(const micap_migration_step *step, char *to, const char *from,
                                                   const mica_entity *entities)
{
    bool is_list = step->from_kind == MICA_KIND_LIST || step->to_kind == MICA_KIND_LIST;
    uint32_t count = step->from_kind == step->to_kind ? step->count : 1; /* else an array becomes one list, or is one */
    const char *problem = NULL;
    for (size_t i = 0; !problem && i < count; ++i) {
        char *into = to + i * step->to_bytes;
        const char *out_of = from + i * step->from_bytes;
        problem = is_list ? convert_list(step, into, out_of, entities) : convert_text(step, into, out_of);
    }
    return problem;
}

static void convert_elements(const micap_migration_step *step, char *to, const char *from, const mica_entity *entities)
{
    for (size_t i = 0; i < step->count; ++i) {
        char *into = to + i * step->to_bytes;
        const char *out_of = from + i * step->from_bytes;
        if (step->to_kind == MICA_KIND_ENTITY)
            convert_reference(into, out_of, entities);
        else
            convert(step, into, out_of);
    }
}

const char *micap_migration_apply(const micap_migration *plan, void *to, const void *from, uint64_t count,
                                  const mica_entity *entities)
{
    const char *problem = NULL;
    char *target = to;
    const char *source = from;
    for (uint64_t value = 0; value < count; ++value, target += plan->to_bytes, source += plan->from_bytes)
        for (uint32_t i = 0; i < plan->count; ++i) {
            const micap_migration_step *step = &plan->steps[i];
            if (step->to_kind == MICA_KIND_NONE)
                memcpy(target + step->to, source + step->from, step->count);
            else if (!step->name)
                convert_elements(step, target + step->to, source + step->from, entities);
            else if ((problem = convert_contents(step, target + step->to, source + step->from, entities)))
                return problem;
        }
    return NULL;
}
