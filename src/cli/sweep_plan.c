#include "cli/sweep.h"
#include "mica/flow.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 10000 };
#define RUNS_MAX 100000000u

/* ---- fields of singletons */

static mica_member member_of_singleton(mica_world *world, mica_component component, const char *path)
{
    mica_member value = mica_member_of(component, mica_singleton_write_id(world, component));
    return mica_member_find(value, path, NULL);
}

/* How many singletons have a field; the last of them. */
static uint32_t find_short(mica_world *world, const char *path, mica_component *out_component)
{
    uint32_t count = 0;
    for (mica_component at = 0; (at = mica_component_next(world, at)) != 0;)
        if (mica_component_type(at)->storage == MICA_STORAGE_SINGLETON && member_of_singleton(world, at, path).data) {
            *out_component = at;
            ++count;
        }
    return count;
}

/* "Settings.speed", or "speed". Returns false with a message. */
static bool find_parameter(sweep_parameter *parameter, mica_world *world, const char *name)
{
    mica_component component = 0;
    const char *dot = strchr(name, '.'), *path = name;
    if (dot) {
        char type[96];
        snprintf(type, sizeof type, "%.*s", (int)(dot - name), name);
        component = mica_component_find(world, type);
        if (component && mica_component_type(component)->storage != MICA_STORAGE_SINGLETON)
            return complain("sweep: --vary %s: %s is no singleton", name, type), false;
        if (component && !member_of_singleton(world, component, dot + 1).data)
            return complain("sweep: --vary %s: %s has no field \"%s\"", name, type, dot + 1), false;
        path = component ? dot + 1 : name;
    }
    mica_component only = 0;
    uint32_t count = find_short(world, path, &only);
    if (!component && count != 1)
        return complain(
                   count ? "sweep: --vary %s: more than one singleton has such a field: write Settings.%s, for example"
                         : "sweep: --vary %s: no singleton of the modules has such a field (%s)",
                   name, path),
               false;
    component = component ? component : only;
    const char *type = mica_component_type(component)->name;
    snprintf(parameter->component, sizeof parameter->component, "%s", type);
    snprintf(parameter->path, sizeof parameter->path, "%.95s", path);
    snprintf(parameter->column, sizeof parameter->column, "%.30s%s%.95s", count == 1 ? "" : type, count == 1 ? "" : ".",
             path);
    mica_member member = member_of_singleton(world, component, path);
    parameter->is_number = !member.count && member.kind >= MICA_KIND_I8 && member.kind <= MICA_KIND_F64;
    return true;
}

/* ---- values */

/* Parses a value, and the text of a value that is written without quotes. */
static mica_result parse_value(mica_member member, const char *text, mica_value_error *out_error)
{
    char quoted[300];
    mica_result result = mica_value_parse(member, text, out_error);
    bool is_word = member.kind == MICA_KIND_ENUM || member.kind == MICA_KIND_TEXT || member.kind == MICA_KIND_CHAR;
    if (result == MICA_OK || !is_word || text[0] == '"' || strlen(text) + 3 > sizeof quoted)
        return result;
    snprintf(quoted, sizeof quoted, "\"%s\"", text);
    return mica_value_parse(member, quoted, out_error);
}

/* Adds a value as the world writes it: 0.10 is 0.1, and a float has the digits of a float. */
static bool add_value(sweep_parameter *parameter, mica_world *world, const char *text)
{
    mica_value_error error;
    mica_component component = mica_component_find(world, parameter->component);
    mica_member member =
        mica_member_write(mica_member_of(component, mica_singleton_write_id(world, component)), parameter->path, NULL);
    if (parse_value(member, text, &error) != MICA_OK)
        return complain("sweep: --vary %s: \"%s\": %s", parameter->column, text, error.text), false;
    size_t length = mica_value_write(member, NULL, 0);
    char *value = malloc(length + 1);
    char **values = realloc(parameter->values, (parameter->value_count + 1ull) * sizeof *values);
    if (values)
        parameter->values = values;
    if (!value || !values)
        return free(value), complain("out of memory"), false;
    mica_value_write(member, value, length + 1);
    for (uint32_t i = 0; i < parameter->value_count; ++i)
        if (strcmp(values[i], value) == 0) {
            complain("sweep: --vary %s: the value %s is there twice", parameter->column, value);
            return free(value), false;
        }
    values[parameter->value_count++] = value;
    return true;
}

static bool add_list(sweep_parameter *parameter, mica_world *world, const char *text)
{
    char value[256];
    for (;; ++text) {
        size_t length = strcspn(text, ",");
        if (!length || length >= sizeof value)
            return complain("sweep: --vary %s: expected values between commas, each of up to 255 characters",
                            parameter->column),
                   false;
        if (parameter->value_count == VALUES_MAX)
            return complain("sweep: --vary %s: there are more than %d values", parameter->column, VALUES_MAX), false;
        snprintf(value, sizeof value, "%.*s", (int)length, text);
        if (!add_value(parameter, world, value))
            return false;
        text += length;
        if (!*text)
            return true;
    }
}

/* FIRST:LAST[:STEP] */
static bool add_range(sweep_parameter *parameter, mica_world *world, const char *text)
{
    double bounds[3] = {0, 0, 1};
    const char *at = text;
    bool is_valid = parameter->is_number;
    uint32_t count = 0;
    for (; is_valid && count < 3; ++count) {
        char *after;
        bounds[count] = strtod(at, &after);
        is_valid = after != at && isfinite(bounds[count]) && (*after == ':' || !*after);
        at = after + (*after == ':');
        if (!*after)
            break;
    }
    if (!is_valid || *at)
        return complain("sweep: --vary %s=%s: %s", parameter->column, text,
                        parameter->is_number ? "expected FIRST:LAST or FIRST:LAST:STEP, three numbers"
                                             : "only numbers have a range: write VALUE,VALUE,..."),
               false;
    double steps = floor((bounds[1] - bounds[0]) / bounds[2] + 1e-9);
    if (!(bounds[2] > 0) || !(steps >= 0) || steps >= VALUES_MAX)
        return complain("sweep: --vary %s=%s: the step must be above 0, and there must be 1 to %d values",
                        parameter->column, text, VALUES_MAX),
               false;
    for (uint32_t i = 0; i <= (uint32_t)steps; ++i) {
        char value[32];
        snprintf(value, sizeof value, "%.15g", bounds[0] + i * bounds[2]); /* 0.3 for 0.1 + 2 * 0.1 */
        if (!add_value(parameter, world, value))
            return false;
    }
    return true;
}

static bool add_parameter(sweep_plan *plan, mica_world *world, const char *text)
{
    char name[200];
    const char *equals = strchr(text, '=');
    sweep_parameter *parameter = &plan->parameters[plan->parameter_count];
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof parameter->path)
        return complain("sweep: --vary %s: expected PARAMETER=VALUES", text), false;
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    *parameter = (sweep_parameter){.column = ""};
    if (!find_parameter(parameter, world, name))
        return false;
    ++plan->parameter_count;
    for (uint32_t i = 0; i + 1 < plan->parameter_count; ++i)
        if (strcmp(plan->parameters[i].column, parameter->column) == 0)
            return complain("sweep: --vary %s is there twice", parameter->column), false;
    bool is_range = strchr(equals, ':') && !strchr(equals, ',');
    return is_range ? add_range(parameter, world, equals + 1) : add_list(parameter, world, equals + 1);
}

/* ---- seeds and measurements */

/* COUNT or FIRST:LAST. */
static bool read_seeds(sweep_plan *plan, const char *text)
{
    char *after;
    plan->seed_first = plan->seed_count = 1;
    if (!text)
        return true;
    long long first = strtoll(text, &after, 10), last = first;
    bool is_valid = after != text && (*after == ':' || !*after);
    if (is_valid && *after) {
        text = after + 1;
        last = strtoll(text, &after, 10);
        is_valid = after != text && !*after;
    } else {
        first = 1;
    }
    if (!is_valid || first < 1 || last < first || last - first >= RUNS_MAX || last == INT64_MAX)
        return complain("sweep: --seeds is COUNT or FIRST:LAST, from 1 on, at most %u seeds", RUNS_MAX), false;
    plan->seed_first = (uint64_t)first;
    plan->seed_count = (uint64_t)(last - first + 1);
    return true;
}

/* Columns that the tables have anyway. */
static bool is_taken(const sweep_plan *plan, const char *column)
{
    static const char *const names[] = {"run", "seed", "status", "message", "frame", "frames", "hash"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        found = found || sqlite3_stricmp(names[i], column) == 0;
    for (uint32_t i = 0; i < plan->parameter_count; ++i)
        found = found || sqlite3_stricmp(plan->parameters[i].column, column) == 0;
    for (uint32_t i = 0; i < plan->measurement_count; ++i)
        found = found || sqlite3_stricmp(plan->measurements[i].column, column) == 0;
    return found;
}

static bool add_measurement(sweep_plan *plan, mica_world *world, const char *column, const char *text)
{
    char problem[256] = "";
    sweep_gauge gauge;
    if (plan->measurement_count == MEASUREMENTS_MAX)
        return complain("sweep: there are more than %d measurements", MEASUREMENTS_MAX), false;
    sweep_measurement *measurement = &plan->measurements[plan->measurement_count];
    if (!*column || strlen(column) >= sizeof measurement->column || strlen(text) >= sizeof measurement->text)
        return complain("sweep: measurement \"%s\": a column has 1 to 127 characters, a measurement up to 255", text),
               false;
    if (is_taken(plan, column))
        return complain("sweep: measurement \"%s\": there is a column \"%s\" already", text, column), false;
    bool is_valid = sweep_gauge_open(&gauge, world, text, problem, sizeof problem);
    sweep_gauge_close(&gauge);
    if (!is_valid)
        return complain("sweep: measurement \"%s\": %s", text, problem), false;
    snprintf(measurement->column, sizeof measurement->column, "%s", column);
    snprintf(measurement->text, sizeof measurement->text, "%s", text);
    ++plan->measurement_count;
    return true;
}

/* "rabbits=count: Rabbit", or "count: Rabbit", whose column has the same name. */
static bool add_option_measurement(sweep_plan *plan, mica_world *world, const char *text)
{
    char column[128];
    size_t length = strcspn(text, "=:");
    const char *rest = text[length] == '=' ? text + length + 1 : text;
    while (rest != text && length && text[length - 1] == ' ')
        --length;
    if (rest == text || length >= sizeof column)
        return add_measurement(plan, world, text, text);
    snprintf(column, sizeof column, "%.*s", (int)length, text);
    return add_measurement(plan, world, column, rest + strspn(rest, " "));
}

static bool add_measurements(sweep_plan *plan, model *model)
{
    for (uint32_t i = 0; i < plan->options.module_count; ++i) {
        const mica_measurement *at = mica_module_find(model->modules, i, "mica_module_measurements");
        for (; at && at->name; ++at)
            if (!add_measurement(plan, model->world, at->name, at->text ? at->text : ""))
                return false;
    }
    for (uint32_t i = 0; i < plan->options.measured_count; ++i)
        if (!add_option_measurement(plan, model->world, plan->options.measured[i]))
            return false;
    return true;
}

/* ---- the plan */

static bool fill(sweep_plan *plan, model *model)
{
    for (uint32_t i = 0; i < plan->options.varied_count; ++i)
        if (!add_parameter(plan, model->world, plan->options.varied[i]))
            return false;
    for (uint32_t i = 0; i < plan->parameter_count; ++i) { /* a short name that the tables have: the long one */
        sweep_parameter *parameter = &plan->parameters[i];
        char column[sizeof parameter->column];
        snprintf(column, sizeof column, "%s", parameter->column);
        parameter->column[0] = 0;
        if (is_taken(plan, column))
            snprintf(column, sizeof column, "%s.%s", parameter->component, parameter->path);
        memcpy(parameter->column, column, sizeof column);
    }
    if (!read_seeds(plan, plan->options.seeds) || !add_measurements(plan, model))
        return false;
    plan->run_count = plan->seed_count;
    for (uint32_t i = 0; i < plan->parameter_count; ++i) {
        plan->run_count *= plan->parameters[i].value_count;
        if (plan->run_count > RUNS_MAX)
            return complain("sweep: more than %u runs", RUNS_MAX), false;
    }
    return true;
}

int sweep_plan_make(sweep_plan *plan, const options *options)
{
    *plan = (sweep_plan){.options = *options};
    if (!options->module_count)
        return complain("sweep: expected a module; try mica help sweep");
    if (!options->output)
        return complain("sweep: expected --out RESULTS.db; try mica help sweep");
    plan->options.worker_count = 1;
    for (uint32_t i = 0; i < options->input_count; ++i) {
        mica_resource *level = load_or_complain(options->inputs[i]);
        if (!level)
            return EXIT_BAD;
        mica_resource_free(level);
    }
    model model = {.options = &plan->options};
    int status = model_load(&model);
    if (status == EXIT_FINE && !fill(plan, &model))
        status = EXIT_BAD;
    model_close(&model);
    return status;
}

void sweep_plan_free(sweep_plan *plan)
{
    for (uint32_t i = 0; i < plan->parameter_count; ++i) {
        for (uint32_t k = 0; k < plan->parameters[i].value_count; ++k)
            free(plan->parameters[i].values[k]);
        free(plan->parameters[i].values);
    }
    plan->parameter_count = 0;
}

const char *sweep_plan_value(const sweep_plan *plan, uint64_t run, uint32_t parameter)
{
    run /= plan->seed_count;
    for (uint32_t i = plan->parameter_count - 1; i > parameter; --i)
        run /= plan->parameters[i].value_count;
    return plan->parameters[parameter].values[run % plan->parameters[parameter].value_count];
}

uint64_t sweep_plan_seed(const sweep_plan *plan, uint64_t run)
{
    return plan->seed_first + run % plan->seed_count;
}
