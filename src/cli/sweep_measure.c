#include "cli/sweep.h"
#include "mica/flow.h"
#include "mica/query_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_COUNT, KIND_SUM, KIND_MEAN, KIND_MINIMUM, KIND_MAXIMUM, KIND_VALUE, KIND_END };

static const char *const kinds[KIND_END] = {"count", "sum", "mean", "minimum", "maximum", "value"};

/* The kind before the colon; the rest begins at `out_rest`. KIND_END if there is none. */
static int read_kind(const char *text, const char **out_rest)
{
    text += strspn(text, " ");
    for (int kind = 0; kind < KIND_END; ++kind) {
        size_t length = strlen(kinds[kind]);
        if (strncmp(text, kinds[kind], length) == 0 && text[length + strspn(text + length, " ")] == ':') {
            *out_rest = strchr(text, ':') + 1;
            *out_rest += strspn(*out_rest, " ");
            return kind;
        }
    }
    return KIND_END;
}

/* Reads any number, false for anything else. */
static bool read_number(mica_member member, double *out)
{
    if (!member.data || member.count)
        return false;
    switch (member.kind) {
    case MICA_KIND_BOOL: *out = *(const bool *)member.data; return true;
    case MICA_KIND_I8: *out = *(const int8_t *)member.data; return true;
    case MICA_KIND_U8: *out = *(const uint8_t *)member.data; return true;
    case MICA_KIND_I16: *out = *(const int16_t *)member.data; return true;
    case MICA_KIND_U16: *out = *(const uint16_t *)member.data; return true;
    case MICA_KIND_I32: *out = *(const int32_t *)member.data; return true;
    case MICA_KIND_U32: *out = *(const uint32_t *)member.data; return true;
    case MICA_KIND_I64: *out = (double)*(const int64_t *)member.data; return true;
    case MICA_KIND_U64: *out = (double)*(const uint64_t *)member.data; return true;
    case MICA_KIND_F32: *out = (double)*(const float *)member.data; return true;
    case MICA_KIND_F64: *out = *(const double *)member.data; return true;
    default: return false;
    }
}

/* Splits "Energy.value" into the component and the path. */
static bool find_field(sweep_gauge *gauge, mica_world *world, const char *text, size_t length, char *out_error,
                       size_t error_bytes)
{
    char name[96];
    const char *dot = memchr(text, '.', length);
    if (!dot || (size_t)(dot - text) >= sizeof name || length - (size_t)(dot - text) > sizeof gauge->path) {
        snprintf(out_error, error_bytes, "expected a component and a field such as Energy.value, not \"%.*s\"",
                 (int)length, text);
        return false;
    }
    snprintf(name, sizeof name, "%.*s", (int)(dot - text), text);
    snprintf(gauge->path, sizeof gauge->path, "%.*s", (int)(length - (size_t)(dot - text) - 1), dot + 1);
    gauge->component = mica_component_find(world, name);
    const mica_type *type = mica_component_type(gauge->component);
    bool wants_singleton = gauge->kind == KIND_VALUE;
    if (!type || (type->storage == MICA_STORAGE_SINGLETON) != wants_singleton || type->many || type->split) {
        snprintf(out_error, error_bytes,
                 !type             ? "there is no component \"%s\""
                 : wants_singleton ? "%s is no singleton"
                                   : "%s is a singleton (write \"value: ...\"), split, or has many per entity",
                 name);
        return false;
    }
    char *zero = calloc(1, type->size_bytes + 1);
    double number;
    mica_value_error error = {0};
    bool found =
        zero && read_number(mica_member_find(mica_member_of(gauge->component, zero), gauge->path, &error), &number);
    if (!found)
        snprintf(out_error, error_bytes, "%.150s", error.text[0] ? error.text : "the field is no number");
    free(zero);
    return found;
}

static bool open_query(sweep_gauge *gauge, mica_world *world, const char *text, char *out_error, size_t error_bytes)
{
    mica_value_error error;
    gauge->query = mica_query_text(world, text, &error);
    if (!gauge->query)
        snprintf(out_error, error_bytes, "%.150s", error.text);
    return gauge->query != NULL;
}

bool sweep_gauge_open(sweep_gauge *gauge, mica_world *world, const char *text, char *out_error, size_t error_bytes)
{
    *gauge = (sweep_gauge){.kind = read_kind(text, &text)};
    if (gauge->kind == KIND_END) {
        snprintf(out_error, error_bytes, "expected count:, sum:, mean:, minimum:, maximum: or value:");
        return false;
    }
    if (gauge->kind == KIND_COUNT)
        return open_query(gauge, world, text, out_error, error_bytes);
    size_t length = strcspn(text, ","), end = length;
    while (end && text[end - 1] == ' ')
        --end;
    if (!find_field(gauge, world, text, end, out_error, error_bytes))
        return false;
    if (gauge->kind == KIND_VALUE) {
        if (text[length])
            snprintf(out_error, error_bytes, "the field of a singleton has no query");
        return !text[length];
    }
    char terms[512];
    snprintf(terms, sizeof terms, "\"%s\"%s", mica_component_type(gauge->component)->name, text + length);
    return open_query(gauge, world, terms, out_error, error_bytes);
}

void sweep_gauge_close(sweep_gauge *gauge)
{
    mica_query_destroy(gauge->query);
    gauge->query = NULL;
}

static double read_field(const sweep_gauge *gauge, const void *value)
{
    double number = NAN;
    read_number(mica_member_find(mica_member_of(gauge->component, (void *)value), gauge->path, NULL), &number);
    return number;
}

double sweep_gauge_read(const sweep_gauge *gauge, mica_world *world)
{
    if (gauge->kind == KIND_VALUE)
        return read_field(gauge, mica_singleton_get_id(world, gauge->component));
    uint64_t count = 0;
    double sum = 0, minimum = NAN, maximum = NAN;
    for (mica_view view = mica_query_begin(gauge->query); mica_view_next(&view);) {
        for (uint32_t i = 0; gauge->component && i < view.count; ++i) {
            double number = read_field(gauge, mica_get_id(world, view.entities[i], gauge->component));
            sum += number;
            minimum = number < minimum || isnan(minimum) ? number : minimum;
            maximum = number > maximum || isnan(maximum) ? number : maximum;
        }
        count += view.count;
    }
    switch (gauge->kind) {
    case KIND_COUNT: return (double)count;
    case KIND_SUM: return sum;
    case KIND_MEAN: return count ? sum / (double)count : NAN;
    case KIND_MINIMUM: return minimum;
    default: return maximum;
    }
}
