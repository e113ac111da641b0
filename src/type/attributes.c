#include "type/attributes.h"

#include "base/number_text.h"
#include "type/describe.h"
#include "type/member.h"
#include "type/owned.h"
#include "type/value_bytes.h"
#include "type/values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_number(mica_kind kind)
{
    return kind >= MICA_KIND_I8 && kind <= MICA_KIND_F64;
}

bool micap_type_has_ranges(const mica_type *type)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        if (micap_attributes_limit(field->attributes) || (field->type && micap_type_has_ranges(field->type)))
            return true;
    }
    return false;
}

bool micap_range_has(const mica_attributes *attributes, mica_kind kind, const void *number)
{
    double value, minimum = attributes->minimum, maximum = attributes->maximum;
    float narrow;
    if (kind == MICA_KIND_F32) { /* 0.1 is in a range up to 0.1, although the float is larger than the double */
        memcpy(&narrow, number, sizeof narrow);
        value = narrow;
        minimum = (double)(float)minimum;
        maximum = (double)(float)maximum;
    } else if (kind == MICA_KIND_F64) {
        memcpy(&value, number, sizeof value);
    } else {
        uint32_t bytes = micap_kind_bytes(kind), shift = 64 - 8 * bytes;
        uint64_t bits = micap_load_bits(number, bytes);
        value = micap_kind_is_signed(kind) ? (double)((int64_t)(bits << shift) >> shift) : (double)bits;
    }
    return value >= minimum && value <= maximum;
}

void micap_range_text(const mica_attributes *attributes, const char *name, char text[MICAP_RANGE_TEXT_BYTES])
{
    char minimum[MICAP_NUMBER_TEXT_BYTES], maximum[MICAP_NUMBER_TEXT_BYTES];
    bool has_minimum = isfinite(attributes->minimum), has_maximum = isfinite(attributes->maximum);
    if (has_minimum)
        micap_number_text(attributes->minimum, false, minimum);
    if (has_maximum)
        micap_number_text(attributes->maximum, false, maximum);
    snprintf(text, MICAP_RANGE_TEXT_BYTES, "%.60s%s%s%s%s%s%.20s", name,
             has_minimum ? has_maximum ? " from " : " of at least " : " of at most ", has_minimum ? minimum : "",
             has_minimum && has_maximum ? " to " : "", has_maximum ? maximum : "", attributes->unit ? " " : "",
             attributes->unit ? attributes->unit : "");
}

/* A number of C as the scalar that a member of this kind takes. */
static mica_scalar scalar_of(mica_kind kind, double number)
{
    const double limit = 18446744073709551616.0;
    bool is_real = kind == MICA_KIND_F32 || kind == MICA_KIND_F64;
    uint64_t whole = number >= 0 && number < limit ? (uint64_t)number : 0;
    int64_t negative = number < 0 && number >= -limit / 2 ? (int64_t)number : 0;
    if (kind == MICA_KIND_BOOL && (number == 0 || number == 1))
        return (mica_scalar){.kind = MICA_KIND_BOOL, .integer = number != 0};
    if (!is_real && (double)whole == number)
        return (mica_scalar){.kind = MICA_KIND_U64, .integer = (int64_t)whole};
    if (!is_real && (double)negative == number)
        return (mica_scalar){.kind = MICA_KIND_I64, .integer = negative};
    return (mica_scalar){.kind = MICA_KIND_F64, .real = number};
}

/* Sets a field, or each element of an array, to its initial value. */
static mica_result set_initial(mica_member member)
{
    const mica_attributes *attributes = member.attributes;
    if (attributes->initial_json)
        return mica_value_parse(member, attributes->initial_json, NULL);
    uint32_t count = attributes->initial != 0 ? member.count ? member.count : 1 : 0;
    for (uint32_t i = 0; i < count; ++i) {
        mica_member one = member.count ? mica_member_at(member, i) : member;
        if (mica_value_assign(one, scalar_of(one.kind, attributes->initial), NULL) != MICA_OK)
            return MICA_ERROR_INVALID;
    }
    return MICA_OK;
}

static const char *initial_problem(const mica_field *field)
{
    static const char misfit[] = "the initial value of a field does not fit its type or its range";
    const mica_attributes *attributes = field->attributes;
    if (attributes->initial_json && attributes->initial != 0)
        return "a field has two initial values";
    if (!attributes->initial_json && attributes->initial == 0)
        return NULL;
    if (isnan(attributes->initial))
        return misfit;
    mica_field alone = *field;
    alone.offset = 0;
    uint32_t bytes = field->element_bytes * field->count;
    void *value = calloc(1, bytes);
    if (!value)
        return micap_problem_no_memory;
    mica_result result = set_initial(micap_member_of_field(&alone, value));
    micap_owned_release(&(mica_type){.fields = &alone, .field_count = 1, .size_bytes = bytes}, value, 1);
    free(value);
    return result == MICA_OK ? NULL : result == MICA_ERROR_MEMORY ? micap_problem_no_memory : misfit;
}

const char *micap_attributes_problem(const mica_field *field)
{
    const mica_attributes *attributes = field->attributes;
    if (!attributes)
        return NULL;
    mica_member member = micap_member_of_field(field, NULL);
    bool has_range = attributes->minimum != 0 || attributes->maximum != 0;
    mica_kind kind = member.kind == MICA_KIND_LIST ? field->type->kind : member.kind;
    if (has_range && !(attributes->minimum < attributes->maximum))
        return "the minimum of a field is not below its maximum: give both, and INFINITY for no limit";
    if (has_range && !is_number(kind))
        return "a range is for numbers";
    return initial_problem(field);
}

/* Finds the first number outside its range. Appends to the path of the member, which has `bytes` bytes so far. */
static bool find_outside(mica_member member, char path[128], size_t bytes, mica_value_error *error)
{
    if (micap_attributes_limit(member.attributes) && !member.count && is_number(member.kind)) {
        char expected[MICAP_RANGE_TEXT_BYTES], value[MICAP_NUMBER_TEXT_BYTES];
        if (micap_range_has(member.attributes, member.kind, member.data))
            return false;
        micap_range_text(member.attributes, path, expected);
        mica_value_write(member, value, sizeof value);
        micap_value_fail(error, 0, "expected %s, found %s", expected, value);
        return true;
    }
    bool is_struct = member.kind == MICA_KIND_STRUCT && !member.count;
    for (uint32_t i = 0; i < mica_member_count(member); ++i) {
        mica_member part = mica_member_at(member, i);
        int added = is_struct ? snprintf(path + bytes, 128 - bytes, bytes ? ".%s" : "%s", part.name)
                              : snprintf(path + bytes, 128 - bytes, "[%u]", i);
        size_t end = bytes + (size_t)added;
        if (find_outside(part, path, end < 127 ? end : 127, error))
            return true;
    }
    path[bytes] = 0;
    return false;
}

mica_result mica_value_check(mica_member member, mica_value_error *out_error)
{
    char path[128] = "";
    size_t bytes = 0;
    if (member.kind != MICA_KIND_STRUCT || member.count)
        bytes = (size_t)snprintf(path, sizeof path, "%.100s", member.name ? member.name : "an element");
    if (!member.data)
        return micap_value_fail(out_error, 0, "there is no value");
    return find_outside(member, path, bytes, out_error) ? MICA_ERROR_INVALID : MICA_OK;
}

/* An element of an array has the attributes of the array, whose initial value was set as a whole. */
bool micap_initial_write(mica_member member)
{
    uint32_t count = member.kind == MICA_KIND_STRUCT ? mica_member_count(member) : 0;
    for (uint32_t i = 0; i < count; ++i)
        if (!micap_initial_write(mica_member_at(member, i)))
            return false;
    return !member.attributes || !member.name || set_initial(member) == MICA_OK;
}

mica_result mica_value_reset(mica_member member)
{
    mica_field field;
    mica_type type;
    if (!member.data || member.is_read_only)
        return MICA_ERROR_INVALID;
    bool owns = micap_member_owner(member, &field, &type) != NULL;
    mica_member fresh = member;
    fresh.data = calloc(1, type.size_bytes);
    if (!fresh.data)
        return MICA_ERROR_MEMORY;
    if (!fresh.name)
        fresh.name = ""; /* an element starts like the array that it is in */
    if (fresh.attributes && fresh.attributes->initial_json && !member.name)
        fresh.attributes = NULL; /* which is not the value of one element */
    bool done = micap_initial_write(fresh);
    void *old = done ? member.data : fresh.data;
    if (owns)
        micap_owned_release(&type, old, 1);
    if (done)
        memcpy(member.data, fresh.data, type.size_bytes);
    free(fresh.data);
    return done ? MICA_OK : MICA_ERROR_MEMORY;
}

static bool construct_values(void *values, uint32_t count, void *context)
{
    const micap_type *type = context; /* which begins with its description */
    uint32_t bytes = type->type.size_bytes;
    for (uint32_t i = 0; i < count; ++i)
        memcpy((char *)values + (size_t)i * bytes, type->initial, bytes);
    return !type->owns || micap_owned_retain(&type->type, values, count);
}

bool micap_initial_make(micap_type *type)
{
    if (!micap_type_has_initial(&type->type))
        return true;
    type->initial = calloc(1, type->type.size_bytes);
    type->type.construct = construct_values;
    type->type.context = &type->type;
    return type->initial && micap_initial_write(mica_member_of_type(&type->type, type->initial));
}

void micap_initial_free(micap_type *type)
{
    if (type->initial && type->owns)
        micap_owned_release(&type->type, type->initial, 1);
    free(type->initial);
}

bool micap_initial_is_derived(const mica_type *type)
{
    return type->construct == construct_values;
}
