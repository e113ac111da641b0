#include "inspect/edit.h"

#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "mica/relation.h"
#include "mica/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 3 };

typedef struct edit {
    micap_edit_target *target;
    mica_world *world;
    const char *arguments[ARGUMENTS_MAX];
    const char *body;
    char *text; /* MICAP_EDIT_TEXT_MAX */
} edit;

static mica_result fail(edit *edit, mica_result result, const char *text)
{
    snprintf(edit->text, MICAP_EDIT_TEXT_MAX, "%s", text);
    return result;
}

static mica_result answer(edit *edit, mica_result result)
{
    return result == MICA_OK ? result : fail(edit, result, mica_result_text(result));
}

/* Handles are numbers, as in SQL. */
static bool parse_entity(const char *text, mica_entity *out)
{
    char *end;
    uint64_t number = strtoull(text, &end, 10);
    out->index = (uint32_t)number;
    out->generation = (uint32_t)(number >> 32);
    return *text && !*end;
}

static bool take_entity(edit *edit, uint32_t argument, mica_entity *out)
{
    return parse_entity(edit->arguments[argument], out) && mica_is_alive(edit->world, *out);
}

static mica_result say_dead(edit *edit)
{
    return fail(edit, MICA_ERROR_DEAD, "there is no such entity: it was destroyed, or never existed");
}

static mica_result say_entity(edit *edit, mica_entity entity)
{
    if (mica_is_nil(entity))
        return fail(edit, MICA_ERROR_REFUSED, "the entity was not created: see the reports of the program");
    snprintf(edit->text, MICAP_EDIT_TEXT_MAX, "%" PRIu64, (uint64_t)entity.generation << 32 | entity.index);
    return MICA_OK;
}

static mica_result parse_into(edit *edit, mica_entity entity)
{
    mica_value_error error = {0};
    mica_result result = mica_entity_parse_json(edit->world, entity, edit->body, &error);
    return result == MICA_OK ? result : fail(edit, result, *error.text ? error.text : mica_result_text(result));
}

static mica_result run_pause(edit *edit)
{
    mica_pause(edit->world, strcmp(edit->arguments[0], "off") != 0);
    return MICA_OK;
}

static mica_result run_step(edit *edit)
{
    mica_pause(edit->world, true);
    mica_pause_step(edit->world);
    return MICA_OK;
}

static mica_result run_scale(edit *edit)
{
    char *end;
    double scale = strtod(edit->arguments[0], &end);
    if (!*edit->arguments[0] || *end)
        return fail(edit, MICA_ERROR_INVALID, "expected a number");
    return answer(edit, mica_time_set_scale(edit->world, scale));
}

static mica_result run_entity(edit *edit)
{
    mica_entity entity;
    return take_entity(edit, 0, &entity) ? parse_into(edit, entity) : say_dead(edit);
}

static mica_result run_create(edit *edit)
{
    mica_entity entity = mica_create_id(edit->world, NULL, 0);
    mica_result result = mica_is_nil(entity) || !*edit->body ? MICA_OK : parse_into(edit, entity);
    if (result == MICA_OK)
        return say_entity(edit, entity);
    mica_destroy(edit->world, entity);
    return result;
}

static mica_result run_destroy(edit *edit)
{
    mica_entity entity;
    return take_entity(edit, 0, &entity) && mica_destroy(edit->world, entity) ? MICA_OK : say_dead(edit);
}

static mica_result run_clone(edit *edit)
{
    mica_entity entity;
    return take_entity(edit, 0, &entity) ? say_entity(edit, mica_clone_tree(edit->world, entity)) : say_dead(edit);
}

static mica_result run_name(edit *edit)
{
    mica_entity entity;
    return take_entity(edit, 0, &entity) ? answer(edit, mica_name_child(edit->world, entity, edit->body))
                                         : say_dead(edit);
}

static mica_result run_parent(edit *edit)
{
    mica_entity entity, parent = mica_nil();
    bool is_detached = strcmp(edit->arguments[1], "0") == 0;
    if (!take_entity(edit, 0, &entity) || (!is_detached && !take_entity(edit, 1, &parent)))
        return say_dead(edit);
    return answer(edit, mica_set_parent(edit->world, entity, parent));
}

/* The relation is the body, since names of components may have blanks. */
static mica_result run_relate(edit *edit)
{
    mica_entity source, target;
    mica_component relation = mica_component_find(edit->world, edit->body);
    if (!relation || !mica_component_type(relation)->relation)
        return fail(edit, MICA_ERROR_UNKNOWN, "there is no relation of this name");
    if (!take_entity(edit, 0, &source) || !take_entity(edit, 1, &target))
        return say_dead(edit);
    if (strcmp(edit->arguments[2], "off") == 0)
        return mica_unrelate_id(edit->world, source, relation, target)
                   ? MICA_OK
                   : fail(edit, MICA_ERROR_UNKNOWN, "they are not related");
    return mica_relate_id(edit->world, source, relation, target)
               ? MICA_OK
               : fail(edit, MICA_ERROR_REFUSED, "the relation refuses it: see the reports of the program");
}

static mica_result run_system(edit *edit)
{
    mica_system system = mica_system_find(edit->world, edit->body);
    const char *what = edit->arguments[0];
    if (!system.id)
        return fail(edit, MICA_ERROR_UNKNOWN, "there is no system of this name");
    if (strcmp(what, "run") == 0)
        return answer(edit, mica_system_run(edit->world, system, mica_time_get(edit->world).dt));
    if (strcmp(what, "on") != 0 && strcmp(what, "off") != 0)
        return fail(edit, MICA_ERROR_INVALID, "expected on, off or run");
    return mica_system_enable(edit->world, system, strcmp(what, "on") == 0) ? MICA_OK
                                                                            : answer(edit, MICA_ERROR_REFUSED);
}

static bool parse_number(const char *text, uint64_t *out)
{
    char *end;
    *out = strtoull(text, &end, 10);
    return *text && !*end;
}

static mica_result say_not_kept(edit *edit, mica_result result)
{
    return result == MICA_ERROR_UNKNOWN
               ? fail(
                     edit, result,
                     edit->target->past.is_off
                         ? "the program keeps no past frames: a component can't be copied, or memory is short"
                         : "the program does not keep this frame: it is too old, or from before an inspector connected")
               : answer(edit, result);
}

static mica_result run_branch(edit *edit)
{
    uint64_t frame;
    if (!parse_number(edit->arguments[0], &frame))
        return fail(edit, MICA_ERROR_INVALID, "expected a number");
    return say_not_kept(edit, micap_past_branch(&edit->target->past, edit->world, frame));
}

/* The body has two lines: a component, and the path of a field. */
static mica_result run_wrote(edit *edit)
{
    uint64_t frame;
    mica_entity entity;
    char name[256];
    const char *path = strchr(edit->body, '\n');
    size_t length = path ? (size_t)(path - edit->body) : strlen(edit->body);
    if (!parse_entity(edit->arguments[0], &entity) || !parse_number(edit->arguments[1], &frame) ||
        length >= sizeof name)
        return fail(edit, MICA_ERROR_INVALID, "expected an entity, a frame and a field");
    snprintf(name, sizeof name, "%.*s", (int)length, edit->body);
    mica_component component = mica_component_find(edit->world, name);
    if (!component)
        return fail(edit, MICA_ERROR_UNKNOWN, "there is no such component");
    edit->target->traffic.is_ignoring = true; /* what passes in a past frame has passed before */
    mica_result result = micap_past_find_writers(&edit->target->past, edit->world, frame, entity, component,
                                                 path ? path + 1 : "", &edit->target->answer);
    edit->target->traffic.is_ignoring = false;
    if (result == MICA_OK)
        micap_bytes_put(&edit->target->answer, "", 1);
    else
        edit->target->answer.count = 0;
    return say_not_kept(edit, result);
}

static mica_result run_break(edit *edit)
{
    mica_value_error error;
    mica_result result = micap_breakpoint_set(&edit->target->breakpoint, edit->world, edit->body, &error);
    return result == MICA_OK ? result : fail(edit, result, error.text);
}

static mica_result run_timeline(edit *edit)
{
    edit->target->has_timeline = strcmp(edit->arguments[0], "on") == 0;
    return MICA_OK;
}

static const struct {
    const char *verb;
    mica_result (*run)(edit *edit);
    uint32_t argument_count;
} verbs[] = {
    {"pause", run_pause, 1},   {"step", run_step, 0},       {"scale", run_scale, 1},       {"entity", run_entity, 1},
    {"create", run_create, 0}, {"destroy", run_destroy, 1}, {"clone", run_clone, 1},       {"name", run_name, 1},
    {"parent", run_parent, 2}, {"relate", run_relate, 3},   {"system", run_system, 1},     {"branch", run_branch, 1},
    {"wrote", run_wrote, 2},   {"break", run_break, 0},     {"timeline", run_timeline, 1},
};

/* Returns the next word and moves past the blank after it; `rest` is NULL after the last word. */
static char *take_word(char **rest)
{
    char *word = *rest, *blank = strchr(word, ' ');
    *rest = blank ? blank + 1 : NULL;
    if (blank)
        *blank = 0;
    return word;
}

mica_result micap_edit_run(micap_edit_target *target, char *line, const char *body, char out_text[MICAP_EDIT_TEXT_MAX])
{
    edit edit = {.target = target, .world = target->world, .body = body, .text = out_text};
    char *rest = line;
    const char *verb = take_word(&rest);
    uint32_t count = 0;
    *out_text = 0;
    target->answer.count = 0;
    target->answer.failed = false;
    while (rest && count < ARGUMENTS_MAX)
        edit.arguments[count++] = take_word(&rest);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; ++i)
        if (strcmp(verb, verbs[i].verb) == 0)
            return count == verbs[i].argument_count && !rest
                       ? verbs[i].run(&edit)
                       : fail(&edit, MICA_ERROR_INVALID, "the request has another number of arguments");
    return fail(&edit, MICA_ERROR_UNKNOWN, "there is no such request");
}
